#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_cp_archive.py TOOL: what `rpcrdma cp -a` keeps, to, from and between servers."""
import errno
import json
import os
import socket
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap

TOOL = os.path.abspath(sys.argv[1])
NEWEST = "RPCRDMA_VERSION" not in os.environ
ROOT = os.geteuid() == 0
tap = Tap()


def run(*arguments, **options):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=120, **options)


def takes_xattrs(path):
    try:
        os.setxattr(path, "user.try", b"x")
        os.removexattr(path, "user.try")
        return True
    except OSError as error:
        if error.errno != errno.ENOTSUP:
            raise
        return False


def write(path, octets, mode=0o644):
    with open(path, "wb") as file:
        file.write(octets)
    os.chmod(path, mode)


def make_tree(top, xattrs):
    os.makedirs(f"{top}/below/deep")
    write(f"{top}/small", b"small" * 100, 0o444)
    write(f"{top}/large", os.urandom(300000))
    os.link(f"{top}/small", f"{top}/below/small-too")
    os.link(f"{top}/small", f"{top}/below/deep/and-here")
    os.link(f"{top}/large", f"{top}/below/large-too")
    write(f"{top}/below/own", b"x")
    os.symlink("../large", f"{top}/below/link")
    if xattrs:
        for path in ("small", "large", "below", "below/own"):
            os.chmod(f"{top}/{path}", 0o755)
            for name, value in (("colour", b"red"), ("empty", b""), ("large", bytes(range(256)) * 8), ("ünïcode", b"\0\1")):
                os.setxattr(f"{top}/{path}", f"user.{name}", value)
        for i in range(40):
            os.setxattr(f"{top}/below/deep", f"user.{'n' * 60}{i}", str(i).encode())
        os.chmod(f"{top}/small", 0o444)
    if ROOT:
        os.chown(f"{top}/below/own", 1234, 4321)
        os.chown(f"{top}/below/deep", 1234, 4321)
        os.chown(f"{top}/below/link", 1234, 4321, follow_symlinks=False)
        os.chmod(f"{top}/large", 0o6755)
    os.utime(f"{top}/below/link", ns=(1_000_000_001_000_000_007, 1_100_000_002_000_000_009), follow_symlinks=False)
    for path, _, names in os.walk(top, topdown=False):
        for name in names:
            if not os.path.islink(f"{path}/{name}"):
                os.utime(f"{path}/{name}", ns=(1_234_567_890_123_456_789, 1_222_222_222_987_654_321))
        os.utime(path, ns=(1_111_111_111_000_000_001, 1_222_222_222_000_000_002))


def describe(top, xattrs):
    """Returns by path what `cp -a` must keep of each file. A hard link is described by the first name of its file."""
    found, first = {}, {}
    for path, directories, names in os.walk(top):
        for name in ["."] + sorted(directories) + sorted(names):
            full = os.path.normpath(os.path.join(path, name))
            relative = os.path.relpath(full, top)
            st = os.lstat(full)
            entry = [stat.S_IFMT(st.st_mode), st.st_uid, st.st_gid, st.st_mtime_ns]
            if stat.S_ISLNK(st.st_mode):
                entry.append(os.readlink(full))
            else:
                entry.append(stat.S_IMODE(st.st_mode))
                if xattrs:
                    entry.append({key: os.getxattr(full, key) for key in os.listxattr(full)})
            if stat.S_ISREG(st.st_mode):
                entry += [first.setdefault(st.st_ino, relative), st.st_nlink]
                with open(full, "rb") as file:
                    entry.append(file.read())
            found[relative] = entry
    return found


def differences(a, b, xattrs):
    a, b = describe(a, xattrs), describe(b, xattrs)
    return [(path, str(a.get(path))[:600], str(b.get(path))[:600]) for path in sorted(a.keys() | b.keys())
            if a.get(path) != b.get(path)]


def check(name, good, result, *details):
    tap.result(good, name, [*details, f"exit status {result.returncode}", result.stdout, result.stderr])


def directions(work, server, xattrs):
    tree = f"{work}/tree"
    make_tree(tree, xattrs)
    kept = xattrs and NEWEST
    result = run("cp", "-a", "--json", tree, server.url)
    bad = differences(tree, f"{work}/served/tree", kept)
    check("everything is kept on the way to a server", result.returncode == 0 and not bad, result, *bad)
    sums = json.loads(result.stdout)
    check("the summary counts names", sums["files"] == 3 and sums["names"] == 3 and sums["links"] == 1, result)
    if xattrs and not NEWEST:
        check("an older version says once that it takes no extended attributes",
              result.stderr.count("extended attributes are left out") == 1, result)
    result = run("cp", "-a", f"{server.url}tree", f"{work}/back")
    bad = differences(f"{work}/served/tree", f"{work}/back", kept)
    check("and on the way from one", result.returncode == 0 and not bad, result, *bad)
    result = run("cp", "-a", f"{server.url}tree", f"{server.url}third")
    bad = differences(f"{work}/served/tree", f"{work}/served/third", kept)
    check("and between servers", result.returncode == 0 and not bad, result, *bad)
    result = run("cp", "-a", f"{tree}/.", f"{server.url}tree/")
    bad = differences(tree, f"{work}/served/tree", kept)
    check("a second copy over the first changes nothing", result.returncode == 0 and not bad, result, *bad)


def without(work, server):
    """`cp -r` keeps neither owners nor hard links."""
    result = run("cp", "-r", f"{work}/tree", f"{server.url}plain")
    top = f"{work}/served/plain"
    check("-r makes a file of each name", result.returncode == 0 and os.stat(f"{top}/small").st_nlink == 1 and
          os.stat(f"{top}/below/own").st_uid == os.geteuid() and not os.stat(f"{top}/large").st_mode & 0o6000, result)


def strangers(work, xattrs):
    """`cp -a` by a user who may not give files away."""
    if not ROOT:
        tap.skip("a user who may not give files away copies all the same", "only root can become somebody else")
        return
    os.makedirs(f"{work}/open")
    os.chmod(f"{work}/open", 0o777)
    with Server(TOOL, f"{work}/open") as server:
        result = run("cp", "-a", f"{work}/tree", f"{server.url}?uid=7777&gid=7777")
        made = f"{work}/open/tree"
        bad = os.path.exists(f"{made}/large") and os.stat(f"{made}/large")
        check("a user who may not give files away copies all the same", result.returncode == 0 and bad and
              bad.st_uid == 7777 and bad.st_mode & 0o7777 == 0o755 and
              os.stat(f"{made}/below/own").st_uid == 7777 and os.stat(f"{made}/small").st_nlink == 3, result, bad)


def describe_specials(top):
    return {name: (st.st_mode, st.st_rdev, st.st_uid, st.st_gid, st.st_mtime_ns)
            for name in sorted(os.listdir(top)) for st in [os.lstat(f"{top}/{name}")] if not stat.S_ISREG(st.st_mode)}


def special(work, server):
    """`cp -a` makes named pipes and devices anew; sockets are left out."""
    odd, served = f"{work}/odd", f"{work}/served"
    os.makedirs(odd)
    os.mkfifo(f"{odd}/pipe")
    os.chmod(f"{odd}/pipe", 0o624)
    devices = False
    try:
        os.mknod(f"{odd}/character", stat.S_IFCHR | 0o640, os.makedev(1, 3))
        os.mknod(f"{odd}/block", stat.S_IFBLK | 0o600, os.makedev(7, 1234))
        os.chown(f"{odd}/character", 12, 34)
        devices = True
    except PermissionError:
        pass
    write(f"{odd}/file", b"x")
    for name in os.listdir(odd):
        os.utime(f"{odd}/{name}", ns=(1_234_567_890_123_456_789, 1_222_222_222_987_654_321))
    want = describe_specials(odd)
    for command in (["cp", "-a"], ["sync"]):
        for source, to, place in ((odd, f"{server.url}odd", f"{served}/odd"), (f"{server.url}odd", f"{work}/odd-back", f"{work}/odd-back")):
            result = run(*command, source, to)
            found = describe_specials(place)
            check(f"{command[0]} makes named pipes and devices: {sorted(want)}", found == want and result.returncode == 0, result, found, want)
            if command[0] == "sync":
                result = run(*command, "--json", source, to)
                check("and leaves those that are there", json.loads(result.stdout)["specials"] == 0, result)
        subprocess.run(["rm", "-r", f"{served}/odd", f"{work}/odd-back"], check=True)
    os.makedirs(f"{served}/odd")
    os.mkfifo(f"{served}/odd/file")
    write(f"{served}/odd/pipe", b"x")
    result = run("sync", odd, f"{server.url}odd")
    check("sync replaces a pipe by a file, and a file by a pipe", result.returncode == 0 and
          describe_specials(f"{served}/odd") == want and os.path.isfile(f"{served}/odd/file"), result)
    subprocess.run(["rm", "-r", f"{served}/odd"], check=True)
    result = run("cp", "-r", odd, server.url)
    check("without -a a named pipe is left out, and what makes it is named", result.returncode == 1 and
          "odd/pipe: left out: it is a named pipe; -a" in result.stderr and os.listdir(f"{served}/odd") == ["file"], result)
    with socket.socket(socket.AF_UNIX) as own:
        own.bind(f"{odd}/socket")
        result = run("cp", "-a", odd, f"{server.url}socket")
    check("a socket is left out, and the rest is copied", result.returncode == 1 and "odd/socket: left out: it is a socket" in result.stderr and
          describe_specials(f"{served}/socket") == want, result)
    if not devices:
        tap.skip("a device that may not be made", "this user may make no devices")
        return
    os.makedirs(f"{served}/open")
    os.chmod(f"{served}/open", 0o777)
    result = run("cp", "-a", f"{odd}/character", f"{server.url}open/made?uid=7777&gid=7777")
    check("a device that may not be made is an error that says so", result.returncode == 1 and
          "a device cannot be made there" in result.stderr and not os.listdir(f"{served}/open"), result)


def main():
    os.umask(0o022)
    with tempfile.TemporaryDirectory() as work:
        os.chmod(work, 0o755)
        os.makedirs(f"{work}/served")
        xattrs = takes_xattrs(f"{work}/served")
        with Server(TOOL, f"{work}/served") as server:
            directions(work, server, xattrs)
            without(work, server)
            special(work, server)
        strangers(work, xattrs)
    tap.end()


main()
