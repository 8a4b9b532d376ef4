#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_cp_over.py TOOL: what `rpcrdma cp` writes over and into: files that exist, links, devices, pipes; and holes."""
import os
import stat
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap, may_others_run

TOOL = os.path.abspath(sys.argv[1])
ROOT = os.geteuid() == 0
tap = Tap()


def run(*arguments, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([TOOL, *arguments], capture_output=True, timeout=120, **options)


def check(name, good, result=None, *details):
    details = list(details)
    if result is not None:
        details += [f"exit status {result.returncode}", result.stdout[-500:], result.stderr[-500:]]
    tap.result(good, name, details)


def write(path, data, mode=0o644):
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, mode)
    return path


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Place:
    """A directory, on this side or on the server, and the prefix that names it as the target of a copy."""

    def __init__(self, name, path, prefix, source):
        self.name, self.path, self.prefix, self.source = name, path, prefix, source

    def copy(self, target, *options):
        return run("cp", *options, self.source, self.prefix + target)


def keeps(place, data):
    """A file that is written over keeps its mode and its owner."""
    target = write(f"{place.path}/private", b"old" * 1000, 0o600)
    if ROOT:
        os.chown(target, 1234, 1235)
    before = os.stat(target)
    result = place.copy("private")
    after = os.stat(target)
    check(f"{place.name}: mode and owner stay", result.returncode == 0 and read(target) == data
          and (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid), result, after)
    place.copy("fresh")
    os.chmod(f"{place.path}/fresh", 0o600)
    result = place.copy("fresh")
    check(f"{place.name}: the mode of a file of its own stays", result.returncode == 0
          and stat.S_IMODE(os.stat(f"{place.path}/fresh").st_mode) == 0o600 and read(f"{place.path}/fresh") == data, result)
    write(f"{place.path}/one", b"old")
    os.link(f"{place.path}/one", f"{place.path}/two")
    result = place.copy("one")
    check(f"{place.name}: other names of the file stay its names",
          result.returncode == 0 and read(f"{place.path}/two") == data and os.stat(f"{place.path}/one").st_nlink == 2, result)
    write(f"{place.path}/led-to", b"old", 0o640)
    os.symlink("led-to", f"{place.path}/link")
    result = place.copy("link")
    check(f"{place.name}: a symbolic link is followed", result.returncode == 0 and os.path.islink(f"{place.path}/link")
          and read(f"{place.path}/led-to") == data and stat.S_IMODE(os.stat(f"{place.path}/led-to").st_mode) == 0o640, result)
    os.symlink("nowhere", f"{place.path}/dangling")
    result = place.copy("dangling")
    check(f"{place.name}: one that leads nowhere is refused", result.returncode == 1 and b"symbolic link" in result.stderr
          and not os.path.lexists(f"{place.path}/nowhere") and os.path.islink(f"{place.path}/dangling"), result)
    write(f"{place.path}/longer", data + b"more")
    result = place.copy("longer")
    check(f"{place.name}: what was longer is cut", result.returncode == 0 and read(f"{place.path}/longer") == data, result)


def attributes(place, data):
    target = write(f"{place.path}/labelled", b"old")
    try:
        os.setxattr(target, "user.colour", b"red")
    except OSError:
        tap.skip("extended attributes stay", "the file system has none")
        return
    inode = os.stat(target).st_ino
    result = place.copy("labelled")
    check("extended attributes stay", result.returncode == 0 and os.listxattr(target)
          and os.stat(target).st_ino == inode and read(target) == data, result)


def refused(place, work):
    """A file is not written over by a user who may not write to it."""
    if not ROOT:
        tap.skip("a file that may not be written is refused", "needs root to be somebody else")
        return
    if not may_others_run(TOOL):
        tap.skip("a file that may not be written is refused", "another user cannot run the command")
        return
    target = write(f"{place.path}/forbidden", b"old", 0o444)
    os.chmod(place.path, 0o777)
    result = run("cp", place.source, place.prefix + "forbidden", user=65534, group=65534, extra_groups=[], cwd=work)
    check(f"{place.name}: a file that may not be written is refused", result.returncode == 1
          and b"ermission denied" in result.stderr and read(target) == b"old", result)


def streams(server, local, served, data):
    """cp reads and writes devices and pipes, and does not replace them."""
    null = f"{local}/null"
    if ROOT:
        os.mknod(null, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        result = run("cp", server.url + "file", null)
        check("a device is written into", result.returncode == 0 and stat.S_ISCHR(os.stat(null).st_mode), result)
        os.symlink("null", f"{local}/to-null")
        result = run("cp", server.url + "file", f"{local}/to-null")
        check("and by way of a link", result.returncode == 0 and os.path.islink(f"{local}/to-null")
              and stat.S_ISCHR(os.stat(null).st_mode), result)
        result = run("cp", "-r", server.url + "a-link", null)
        check("a link does not replace it", result.returncode == 1 and stat.S_ISCHR(os.stat(null).st_mode), result)
        os.mknod(f"{served}/device", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        result = run("cp", f"{local}/file", server.url + "device")
        check("a device of the server is not replaced", result.returncode == 1
              and stat.S_ISCHR(os.stat(f"{served}/device").st_mode), result)
        os.unlink(f"{served}/device")
    pipe = f"{local}/pipe"
    os.mkfifo(pipe)
    got = []
    thread = threading.Thread(target=lambda: got.append(read(pipe)))
    thread.start()
    result = run("cp", server.url + "file", pipe)
    thread.join()
    check("a named pipe is written into, in order", result.returncode == 0 and got == [data]
          and stat.S_ISFIFO(os.stat(pipe).st_mode), result)
    thread = threading.Thread(target=lambda: write_pipe(pipe, data))
    thread.start()
    result = run("cp", pipe, server.url + "from-pipe")
    thread.join()
    check("and read", result.returncode == 0 and read(f"{served}/from-pipe") == data, result)
    result = run("cp", server.url + "file", "-")
    check("- is standard output, with nothing else in it", result.returncode == 0 and result.stdout == data, result)
    result = run("cp", server.url + "file", "/dev/stdout")
    check("so is /dev/stdout", result.returncode == 0 and result.stdout == data, result)
    for name in ("-", "/dev/stdin"):
        result = run("cp", name, server.url + "typed", stdin=None, input=data)
        check(f"{name} is standard input", result.returncode == 0 and read(f"{served}/typed") == data, result)
    result = run("cp", "-", server.url + "empty", stdin=None, input=b"")
    check("which may be empty", result.returncode == 0 and read(f"{served}/empty") == b"", result)
    with open(f"{local}/file", "rb") as file:
        result = run("cp", "-", server.url + "redirected", stdin=file)
    check("or a file", result.returncode == 0 and read(f"{served}/redirected") == data, result)
    result = run("cp", "-", server.url, stdin=None, input=data)
    check("it needs a name in a directory", result.returncode == 1 and b"name" in result.stderr, result)
    script = f'{TOOL} cp -q <(cat {local}/file) {server.url}substituted && {TOOL} cp {server.url}substituted >(cat > {local}/out; ' \
        f'echo >{local}/over)'
    result = subprocess.run(["bash", "-c", script + f"; until test -e {local}/over; do sleep 0.01; done"],
                            capture_output=True, timeout=120)
    check("<(...) is read and >(...) written", result.returncode == 0 and read(f"{local}/out") == data, result)


def write_pipe(pipe, data):
    with open(pipe, "wb") as file:
        for i in range(0, len(data), 70001):
            file.write(data[i:i + 70001])
            file.flush()


def same(server, served, data):
    """A file that is both the source and the target is not copied, and keeps its data."""
    for source, target in ((f"{served}/file", server.url + "file"), (server.url + "file", f"{served}/file"),
                           (server.url + "file", server.url + "file")):
        result = run("cp", source, target)
        check(f"a file is not copied to itself ({'URL' if source != target else 'both URLs'})",
              result.returncode == 1 and b"same file" in result.stderr and read(f"{served}/file") == data, result)


def trees(server, local, served, data):
    """A copy of a tree does not follow symbolic links below its target."""
    os.makedirs(f"{served}/tree")
    write(f"{served}/tree/x", data)
    os.makedirs(f"{local}/tree")
    victim = write(f"{local}/victim", b"mine")
    os.symlink(victim, f"{local}/tree/x")
    result = run("cp", "-r", server.url + "tree", local)
    check("in a tree, a link is replaced and not followed", result.returncode == 0 and read(victim) == b"mine"
          and read(f"{local}/tree/x") == data, result)
    os.chmod(f"{local}/tree/x", 0o600)
    result = run("cp", "-r", server.url + "tree", local)
    check("a file in a tree keeps its mode", result.returncode == 0
          and stat.S_IMODE(os.stat(f"{local}/tree/x").st_mode) == 0o600, result)


def used(path):
    return os.stat(path).st_blocks * 512


def holes(server, local, served):
    sparse = f"{local}/sparse"
    size = 64 << 20
    with open(sparse, "wb") as file:
        file.truncate(size)
        file.seek(20 << 20)
        file.write(b"x" * 5000)
    result = run("cp", "--json", sparse, server.url + "sparse")
    there = f"{served}/sparse"
    equal = subprocess.run(["cmp", sparse, there]).returncode == 0
    check("holes stay holes on their way up", result.returncode == 0 and equal and used(there) < 1 << 20, result, used(there))
    result = run("cp", server.url + "sparse", f"{local}/back")
    equal = subprocess.run(["cmp", sparse, f"{local}/back"]).returncode == 0
    check("and down", result.returncode == 0 and equal and used(f"{local}/back") < 1 << 20, result, used(f"{local}/back"))
    result = run("cp", server.url + "sparse", server.url + "third")
    equal = subprocess.run(["cmp", sparse, f"{served}/third"]).returncode == 0
    check("and from server to server", result.returncode == 0 and equal and used(f"{served}/third") < 1 << 20, result,
          used(f"{served}/third"))
    run("cp", "--sparse=never", sparse, server.url + "full")
    check("--sparse=never writes them", used(f"{served}/full") >= size)
    run("cp", server.url + "full", f"{local}/full")
    check("zeroes that take storage are copied as they are", used(f"{local}/full") >= size)
    for source, target, path in ((server.url + "full", f"{local}/holes", f"{local}/holes"),
                                 (f"{local}/full", server.url + "holes", f"{served}/holes")):
        result = run("cp", "--sparse=always", source, target)
        equal = subprocess.run(["cmp", sparse, path]).returncode == 0
        check("--sparse=always makes holes of them", result.returncode == 0 and equal and used(path) < 1 << 20, result, used(path))
    result = run("cp", "--sparse=sometimes", sparse, server.url)
    check("there is no other --sparse", result.returncode == 2, result)
    with open(f"{local}/all-hole", "wb") as file:
        file.truncate(3 << 20)
    write(f"{served}/all-hole", b"old" * 5000)
    result = run("cp", f"{local}/all-hole", server.url + "all-hole")
    check("a file that is one hole replaces octets", result.returncode == 0 and read(f"{served}/all-hole") == bytes(3 << 20), result)


def main():
    os.umask(0o022)
    with tempfile.TemporaryDirectory(prefix="rpcrdma-over-") as work:
        os.chmod(work, 0o755)
        local, served = f"{work}/local", f"{work}/served"
        os.mkdir(local)
        os.mkdir(served)
        data = os.urandom(5 << 20) + b"end"
        with Server(TOOL, served) as server:
            write(f"{served}/file", data)
            write(f"{local}/file", data)
            os.symlink("file", f"{served}/a-link")
            for path in (f"{local}/to", f"{served}/to"):
                os.mkdir(path)
            here = Place("here", f"{local}/to", f"{local}/to/", server.url + "file")
            there = Place("there", f"{served}/to", server.url + "to/", f"{local}/file")
            for place in (here, there):
                keeps(place, data)
                refused(place, work)
            attributes(here, data)
            streams(server, local, served, data)
            same(server, served, data)
            trees(server, local, served, data)
            holes(server, local, served)
    tap.end()


main()
