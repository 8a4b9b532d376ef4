#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_cp_holes.py TOOL: `rpcrdma cp` keeps holes, and has a server copy by itself what stays on that server."""
import errno
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap, free_port

TOOL = os.path.abspath(sys.argv[1])
NEWEST = "RPCRDMA_VERSION" not in os.environ
SIZE = 24 << 20
# The ranges with data: not at the beginning, not at the end, and with more than a READ can have.
PIECES = [(1 << 20, 5000), (3 << 20, 2 << 20), (9 << 20, 1), (20 << 20, 65536)]
tap = Tap()


def run(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=120)


def copy(*arguments):
    """Runs `cp --json`. Returns the result of the process, and the summary."""
    result = run("cp", "--json", *arguments)
    try:
        return result, json.loads(result.stdout)
    except json.JSONDecodeError:
        return result, {}


def make_sparse(path):
    with open(path, "wb") as file:
        for offset, length in PIECES:
            file.seek(offset)
            file.write(os.urandom(length - 1) + b"x")
        file.truncate(SIZE)
    os.utime(path, ns=(1_000_000_000_123_456_789, 1_234_567_890_987_654_321))
    return path


def extents(path):
    """Returns the (start, end) of each range of a file that has data."""
    found = []
    fd = os.open(path, os.O_RDONLY)
    try:
        end = 0
        while True:
            start = os.lseek(fd, end, os.SEEK_DATA)
            end = os.lseek(fd, start, os.SEEK_HOLE)
            found.append((start, end))
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
    finally:
        os.close(fd)
    return found


def equal(a, b):
    return (subprocess.run(["cmp", "-s", a, b]).returncode == 0 and
            os.stat(a).st_mtime_ns == os.stat(b).st_mtime_ns)


def moved(summary):
    """Returns how many octets of data were sent: those moved by RDMA, or, over TCP, all octets, calls among them."""
    placed = summary["octets_rdma_write"] + summary["octets_rdma_read"]
    return placed if summary["over"] != "tcp" else summary["octets_inline"]


def check(name, good, result, *details):
    tap.result(good, name, [*details, f"exit status {result.returncode}", result.stdout, result.stderr])


def keeps(work, url, transport):
    """Holes are kept on the way to a server and on the way back."""
    source = make_sparse(f"{work}/sparse")
    data = sum(end - start for start, end in extents(source))
    over = f"{url}%s?transport={transport}"
    result, summary = copy(source, over % "out")
    target = f"{work}/served/out"
    check(f"holes stay holes on the way to a server, over {transport}",
          result.returncode == 0 and equal(source, target) and extents(source) == extents(target),
          result, extents(source), extents(target))
    check(f"holes are not sent, over {transport}", result.returncode == 0 and moved(summary) <= data + 65536, result, data)
    result, summary = copy(over % "out", f"{work}/back")
    same = extents(source) == extents(f"{work}/back") or not NEWEST
    check(f"holes stay holes on the way from a server, over {transport}",
          result.returncode == 0 and equal(source, f"{work}/back") and same and
          os.stat(f"{work}/back").st_blocks * 512 <= data + 65536 * len(PIECES), result, extents(f"{work}/back"))
    if NEWEST:
        check(f"holes are not fetched, over {transport}", result.returncode == 0 and moved(summary) <= data + 65536, result,
              data)
    for name in ("served/out", "back"):
        os.unlink(f"{work}/{name}")


def options(work, server):
    source = make_sparse(f"{work}/sparse")
    result = run("cp", "--sparse=never", source, f"{server.url}never")
    check("--sparse=never writes zeroes", result.returncode == 0 and equal(source, f"{work}/served/never") and
          extents(f"{work}/served/never") == [(0, SIZE)], result)
    os.makedirs(f"{work}/tree/below")
    with open(f"{work}/tree/below/zeroes", "wb") as file:
        file.write(bytes(32768) + b"x")
    result = run("cp", "-r", "--sparse=always", f"{server.url}never", f"{work}/always")
    check("--sparse=always makes holes of zeroes", result.returncode == 0 and equal(source, f"{work}/always") and
          os.stat(f"{work}/always").st_blocks * 512 < SIZE / 2, result)
    result = run("cp", "-r", f"{work}/tree", server.url)
    again = run("cp", "-r", "--sparse=always", f"{server.url}tree", f"{work}/holes")
    check("so it does in small files of a tree", result.returncode == 0 and again.returncode == 0 and
          equal(f"{work}/tree/below/zeroes", f"{work}/holes/below/zeroes") and
          os.stat(f"{work}/holes/below/zeroes").st_blocks * 512 <= 8192, again)


def empty(work, server):
    """A file that consists of one hole is copied as one."""
    with open(f"{work}/hole", "wb") as file:
        file.truncate(SIZE)
    result = run("cp", f"{work}/hole", server.url)
    again, summary = copy(f"{server.url}hole", f"{work}/hole-back")
    check("a file that is one hole stays one", result.returncode == 0 and again.returncode == 0 and
          equal(f"{work}/hole", f"{work}/hole-back") and os.stat(f"{work}/hole-back").st_blocks <= 8 and
          os.stat(f"{work}/served/hole").st_blocks <= 8, again)


def within(work, server):
    """A copy from a server to the same server."""
    source = make_sparse(f"{work}/served/inside")
    data = sum(end - start for start, end in extents(source))
    result, summary = copy(f"{server.url}inside", f"{server.url}other")
    target = f"{work}/served/other"
    good = result.returncode == 0 and equal(source, target)
    if not NEWEST:
        check("a copy from a server to itself, which cannot copy", good and summary["octets_within_server"] == 0, result)
        return
    check("a server copies to itself what stays on it", good and summary["octets_within_server"] == data and
          moved(summary) == 0, result, data)
    check("and keeps holes", extents(source) == extents(target), result, extents(source), extents(target))
    result = run("cp", f"{server.url}inside", f"{server.url}other")
    check("cp says so, and writes over what is there", result.returncode == 0 and equal(source, target) and
          f"{data} were copied by the server itself, 0 went by RDMA Write" in result.stdout, result)
    os.link(target, f"{target}-name")
    with open(target, "wb") as file:
        file.write(b"longer than nothing" * 3)
    result, summary = copy(f"{server.url}inside", f"{server.url}other")
    check("so it does with a file of several names, in place", equal(source, target) and equal(source, f"{target}-name") and
          summary["octets_within_server"] == data, result)
    result, summary = copy("--sparse=always", f"{server.url}inside", f"{server.url}always")
    check("--sparse=always looks at the data itself", result.returncode == 0 and equal(source, f"{work}/served/always") and
          summary["octets_within_server"] == 0, result)
    result, summary = copy(f"{server.url}absent", f"{server.url}other")
    check("what is not there cannot be copied, and nothing is lost", result.returncode == 1 and equal(source, target), result)
    result, summary = copy(f"{server.url}inside", f"{server.url}inside")
    check("a file is not copied onto itself", result.returncode == 1 and "same file" in result.stderr and
          os.path.getsize(source) == SIZE, result)


def within_trees(work, server):
    top = f"{work}/served/from"
    os.makedirs(f"{top}/below")
    for i in range(300):
        with open(f"{top}/below/{i}", "wb") as file:
            file.write(os.urandom(i * 97))
    with open(f"{top}/large", "wb") as file:
        file.write(os.urandom(5 << 20))
    octets = sum(os.path.getsize(os.path.join(path, name)) for path, _, names in os.walk(top) for name in names)
    result, summary = copy("-r", f"{server.url}from", f"{server.url}to")
    difference = subprocess.run(["diff", "-r", top, f"{work}/served/to"], capture_output=True, text=True)
    check("a tree is copied within a server", result.returncode == 0 and difference.returncode == 0 and
          summary["octets_within_server"] == octets == summary["octets"], result, difference.stdout, octets)


def exports(work):
    """Copies between two exports of one server, and between two servers."""
    for name in ("one", "two", "three"):
        os.makedirs(f"{work}/{name}")
    with open(f"{work}/one/file", "wb") as file:
        file.write(os.urandom(3 << 20))
    with Server(TOOL, f"{work}/two", f"{work}/one") as server, Server(TOOL, f"{work}/three") as stranger:
        names = [f"{server.url}{name}" for name in ("one", "two")]
        result, summary = copy(f"{names[0]}/file", f"{names[1]}/file")
        check("between two exports of a server, no octet travels", result.returncode == 0 and
              equal(f"{work}/one/file", f"{work}/two/file") and summary["octets_within_server"] == 3 << 20 and
              moved(summary) == 0, result)
        result, summary = copy(f"{names[0]}/file", f"{stranger.url}file")
        check("two servers are not taken for one", result.returncode == 0 and
              equal(f"{work}/one/file", f"{work}/three/file") and summary["octets_within_server"] == 0, result)


def main():
    # The commands sync what they write to disk, which takes no time for files in memory.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as work:
        os.makedirs(f"{work}/served")
        port = free_port()
        with Server(TOOL, f"{work}/served", tcp_port=free_port()) as server:
            keeps(work, server.url, "iwarp")
            keeps(work, f"nfs://127.0.0.1:{server.tcp_port}/", "tcp")
            options(work, server)
            empty(work, server)
            within(work, server)
            if NEWEST:
                within_trees(work, server)
        if NEWEST:
            exports(work)
    tap.end()


main()
