#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_before.py TOOL: `rpcrdma serve` in front of another server, whose directories it serves by NFS versions 3, 4.1 and 4.2."""
import filecmp
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Daemon, Server, Tap, free_port

TOOL = os.path.abspath(sys.argv[1])
tap = Tap()


def run(*arguments, **options):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, **options)


def check(name, good, *results):
    tap.result(good, name, [f"{result.args}: {result.returncode}\n{result.stdout}{result.stderr}" for result in results])


def make_tree(path):
    os.makedirs(f"{path}/a/b")
    for i in range(40):
        with open(f"{path}/a/{i:03}", "wb") as file:
            file.write(os.urandom(i * 997))
    with open(f"{path}/a/b/large", "wb") as file:
        file.write(os.urandom(3 << 20))
    os.symlink("a/b/large", f"{path}/link")
    os.link(f"{path}/a/001", f"{path}/a/again")


def same(one, other):
    compared = filecmp.dircmp(one, other)
    return not (compared.left_only or compared.right_only or compared.diff_files or compared.funny_files) and all(
        same(f"{one}/{name}", f"{other}/{name}") for name in compared.common_dirs)


def used_by_all_versions(work, front):
    for version in ("3", "4.1", "4.2"):
        options, by = f"?version={version}", f"by version {version}, and {front.version} behind"
        copy = f"{work}/down-{version}-{front.version}"
        down = run("cp", "-a", f"{front.url}tree{options}", copy)
        check(f"a tree is copied out of the server behind, {by}",
              down.returncode == 0 and same(f"{work}/behind/tree", copy) and os.readlink(f"{copy}/link") == "a/b/large"
              and os.stat(f"{copy}/a/again").st_nlink == 2, down)
        up = run("cp", "-a", copy, f"{front.url}up{options}")
        check(f"and into it, {by}", up.returncode == 0 and same(f"{work}/behind/tree", f"{work}/behind/up")
              and os.stat(f"{work}/behind/up/a/001").st_mtime_ns == os.stat(f"{work}/behind/tree/a/001").st_mtime_ns, up)
        moved = run("mv", f"{front.url}up/a{options}", f"{front.url}up/c{options}")
        removed = run("rm", "-r", f"{front.url}up{options}")
        check(f"names are changed and removed there, {by}", moved.returncode == 0 and removed.returncode == 0
              and sorted(os.listdir(f"{work}/behind")) == ["sub", "tree"], moved, removed)


def shows_what_is_there(work, front):
    result = run("ls", "-a", "-1", f"{front.url}tree/a?version=4.2")
    check("names are listed once each", sorted(result.stdout.split()) == sorted(os.listdir(f"{work}/behind/tree/a")), result)
    there, here = run("df", front.url), os.statvfs(f"{work}/behind")
    check("the space is that of the server behind", str(here.f_blocks * here.f_frsize) in there.stdout, there)


def waits_for_the_server_behind(work, behind, front):
    """The server behind is killed in the middle, and comes back at its address."""
    with open(f"{work}/behind/tree/huge", "wb") as file:
        file.truncate(200 << 20)
    name = f"huge-{front.version}"
    process = subprocess.Popen([TOOL, "cp", "--sparse=never", f"{front.url}tree/huge", f"{work}/{name}"], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
    while process.poll() is None and not any(found.lstrip(".").startswith(name) for found in os.listdir(work)):
        time.sleep(0.001)
    behind.kill()
    behind.launch(behind.command)
    output = process.communicate(timeout=120)[0]
    tap.result(process.returncode == 0 and os.path.getsize(f"{work}/{name}") == 200 << 20,
               f"a copy goes on when the server behind comes back, by version {front.version}", [output])
    os.unlink(f"{work}/behind/tree/huge")
    os.unlink(f"{work}/{name}")


class Behind(Daemon):
    def __init__(self, work, *options):
        self.port = free_port()
        self.url = f"nfs://127.0.0.1:{self.port}/"
        self.command = [TOOL, "serve", "--listen", f"127.0.0.1:{self.port}", "--tcp-port", "0", "--no-root-squash", "--key", f"{work}/key", "--lease", "10",
                        "--state", f"{work}/state", *options, f"{work}/behind"]
        self.launch(self.command)


class Front(Daemon):
    def __init__(self, work, behind, version):
        port = free_port()
        self.url, self.version = f"nfs://127.0.0.1:{port}/", version
        self.launch([TOOL, "serve", "--threads", "2", "--listen", f"127.0.0.1:{port}", "--tcp-port", "0", "--no-root-squash", "--key",
                     f"{work}/key-front", behind])


def refused(work, behind):
    def serve(*arguments):
        return run("serve", "--listen", f"127.0.0.1:{free_port()}", "--tcp-port", "0", "--key", f"{work}/key-x", *arguments)

    result = serve(f"nfs://127.0.0.1:{free_port()}/")
    check("a server that is not there is named", result.returncode == 1 and "127.0.0.1" in result.stderr, result)
    result = serve(f"{behind.url}nothing")
    check("a directory that is not there is named", result.returncode == 1 and "nothing" in result.stderr, result)
    result = serve(f"{behind.url}tree/a/001")
    check("a file is no directory", result.returncode == 1 and "no directory" in result.stderr, result)
    result = serve(f"{behind.url}tree=/a", f"{work}/behind=/b")
    check("directories of two kinds want a server each", result.returncode == 2 and "want a server each" in result.stderr, result)


def named(work, behind):
    port = free_port()
    front = Daemon()
    front.launch([TOOL, "serve", "--read-only", "--listen", f"127.0.0.1:{port}", "--tcp-port", "0", "--key", f"{work}/key-n",
                  f"{behind.url}tree", f"{behind.url}sub=/other/name"])
    with front:
        for version in ("3", "4.2"):
            url = f"nfs://127.0.0.1:{port}"
            first, second = run("ls", f"{url}/tree/a/b?version={version}"), run("ls", f"{url}/other/name?version={version}")
            check(f"two directories have the names that they were given, version {version}",
                  first.stdout.split() == ["large"] and second.stdout.split() == ["inside"], first, second)
            above = run("ls", f"{url}/tree/a/../../..?version={version}")
            check(f"nothing above a directory is reached, version {version}",
                  "sub" not in above.stdout.split() and above.stdout.split() == {"3": ["a", "link"], "4.2": ["other", "tree"]}[version], above)
            result = run("rm", f"{url}/tree/link?version={version}")
            check(f"--read-only holds in front of a server that can be written, version {version}",
                  result.returncode == 1 and os.path.islink(f"{work}/behind/tree/link"), result)


def in_front(work, behind, version):
    with Front(work, f"{behind.url}?version={version}", version) as front:
        used_by_all_versions(work, front)
        shows_what_is_there(work, front)
        if version != "4.1":
            waits_for_the_server_behind(work, behind, front)
        tap.result(front.stop() == 0, f"the server in front ends by SIGTERM, by version {version}")


def keeps_what_is_new(work, behind):
    """Times that version 3 does not hold, and holes, through two servers of version 4.2."""
    times = {"1901": (-2_147_483_648, 123_456_789), "1969": (-1, 999_999_999), "2106": (4_294_967_296, 1), "2500": (16_725_225_600, 5)}
    os.mkdir(f"{work}/new")
    for name, (seconds, nanoseconds) in times.items():
        with open(f"{work}/new/{name}", "wb") as file:
            file.write(b"x")
        os.utime(f"{work}/new/{name}", ns=(seconds * 10**9 + nanoseconds,) * 2)
    with open(f"{work}/new/holes", "wb") as file:
        file.truncate(64 << 20)
        file.seek(32 << 20)
        file.write(b"middle")
    with Front(work, f"{behind.url}?version=4.2", "4.2") as front:
        up = run("cp", "-a", f"{work}/new", f"{front.url}new?version=4.2")
        there = {name: os.stat(f"{work}/behind/new/{name}").st_mtime_ns for name in times} if up.returncode == 0 else {}
        check("times from 1901 to 2500 reach the server behind", there == {name: os.stat(f"{work}/new/{name}").st_mtime_ns for name in times}, up)
        down = run("cp", "-a", f"{front.url}new?version=4.2", f"{work}/newer")
        check("and come back", down.returncode == 0 and same(f"{work}/new", f"{work}/newer") and all(
            os.stat(f"{work}/newer/{name}").st_mtime_ns == os.stat(f"{work}/new/{name}").st_mtime_ns for name in times), down)
        check("and holes stay holes", os.stat(f"{work}/newer/holes").st_blocks * 512 < 8 << 20
              and os.stat(f"{work}/behind/new/holes").st_blocks * 512 < 8 << 20, down)


def main():
    with tempfile.TemporaryDirectory(prefix="rpcrdma-before-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as work:
        make_tree(f"{work}/behind/tree")
        os.mkdir(f"{work}/behind/sub")
        open(f"{work}/behind/sub/inside", "w").close()
        with Behind(work) as behind:
            for version in ("3", "4.1", "4.2"):
                in_front(work, behind, version)
            keeps_what_is_new(work, behind)
            named(work, behind)
            refused(work, behind)
    tap.end()


main()
