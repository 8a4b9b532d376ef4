#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_cp_resume.py TOOL: `rpcrdma cp --resume` goes on with what an interrupted copy left."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap

TOOL = os.path.abspath(sys.argv[1])
SIZE = (24 << 20) + 12345
tap = Tap()


def copy(*arguments):
    result = subprocess.run([TOOL, "cp", "--json", *arguments], capture_output=True, text=True, timeout=120)
    try:
        return result, json.loads(result.stdout)
    except json.JSONDecodeError:
        return result, {}


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, octets):
    with open(path, "wb") as file:
        file.write(octets)


def check(name, good, result, *details):
    tap.result(good, name, [*details, f"exit status {result.returncode}", result.stdout, result.stderr])


def goes_on(name, source, there, target, here):
    data = os.urandom(SIZE)
    write(source, data)
    left = os.path.join(os.path.dirname(target), f".{os.path.basename(target)}.rpcrdma-0")
    write(left, data[:10 << 20] + b"of another source" * 200000)
    result, summary = copy("--resume", there, here)
    placed = summary.get("octets_rdma_write", 0) + summary.get("octets_rdma_read", 0)
    check(f"a beginning that agrees is not sent again, {name}", result.returncode == 0 and read(target) == data and
          summary["octets_resumed"] == 10 << 20 and not os.path.exists(left), result, placed)
    os.unlink(target)
    write(left, data + b"and more")
    result, summary = copy("--resume", there, here)
    check(f"what is too long is cut off, {name}", result.returncode == 0 and read(target) == data and
          summary["octets_resumed"] == SIZE >> 20 << 20 and not os.path.exists(left), result)
    os.unlink(target)
    write(left, b"of another source" * 200000)
    result, summary = copy("--resume", there, here)
    check(f"what does not agree is left alone, {name}", result.returncode == 0 and read(target) == data and
          summary["octets_resumed"] == 0 and os.path.exists(left), result)
    os.unlink(left)
    os.unlink(target)
    write(left, data[:4 << 20])
    result, summary = copy(there, here)
    check(f"without --resume all is copied, {name}", result.returncode == 0 and read(target) == data and
          summary["octets_resumed"] == 0, result)
    os.unlink(left)
    os.unlink(target)


def over(source, target, url):
    """The target exists already: a new file is to replace it, under the same temporary name."""
    data = os.urandom(SIZE)
    write(source, data)
    write(target, b"old" * 1000)
    os.chmod(target, 0o640)
    left = os.path.join(os.path.dirname(target), f".{os.path.basename(target)}.rpcrdma-0")
    write(left, data[:10 << 20])
    result, summary = copy("--resume", source, url)
    check("so it is where a file is replaced, which keeps its mode", result.returncode == 0 and read(target) == data and
          summary["octets_resumed"] == 10 << 20 and not os.path.exists(left) and os.stat(target).st_mode & 0o7777 == 0o640, result)
    if os.geteuid() == 0:
        os.chown(target, 1234, 1235)
        write(left, data[:10 << 20])
        result, summary = copy("--resume", source, url)
        check("a file of another owner is written in place, from its beginning", result.returncode == 0 and read(target) == data
              and summary["octets_resumed"] == 0 and not os.path.exists(left) and os.stat(target).st_uid == 1234, result)
    os.unlink(target)


def interrupted(work, server):
    """A copy is interrupted when it has written something, and goes on with --resume."""
    source, target = f"{work}/large", f"{work}/served/large"
    left = f"{work}/served/.large.rpcrdma-0"
    write(source, os.urandom(SIZE))
    while True:
        process = subprocess.Popen([TOOL, "cp", "--resume", source, server.url], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        while process.poll() is None and not (os.path.exists(left) and os.path.getsize(left) > 0):
            time.sleep(0.0005)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
        if process.returncode != 0:
            break
        os.unlink(target)
    good = process.returncode == -signal.SIGINT and os.path.exists(left) and not os.path.exists(target)
    tap.result(good and "stays in .large.rpcrdma-0 beside it, for --resume" in errors, "an interrupted copy leaves what it has",
               [process.returncode, output, errors])
    result, summary = copy("--resume", source, server.url)
    check("the next one goes on", result.returncode == 0 and read(source) == read(target) and not os.path.exists(left), result)


def main():
    # The commands sync what they write to disk, which takes no time for files in memory.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as work:
        os.makedirs(f"{work}/served")
        with Server(TOOL, f"{work}/served") as server:
            goes_on("to a server", f"{work}/a", f"{work}/a", f"{work}/served/b", f"{server.url}b")
            goes_on("from a server", f"{work}/served/c", f"{server.url}c", f"{work}/d", f"{work}/d")
            goes_on("on a server", f"{work}/served/e", f"{server.url}e", f"{work}/served/f", f"{server.url}f")
            over(f"{work}/g", f"{work}/served/h", f"{server.url}h")
            interrupted(work, server)
    tap.end()


main()
