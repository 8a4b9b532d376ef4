#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_ganesha.py TOOL: the commands over versions 4.1 and 4.2 against a server that is not this project's: nfs-ganesha,
over TCP, and `rpcrdma check` of a gateway to it."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import ganesha
from tap import Gateway, Tap

TOOL = os.path.abspath(sys.argv[1])
tap = Tap()


def fill(top):
    os.makedirs(f"{top}/a/b")
    for size in (0, 1, 4096, 100001, 3333333):
        with open(f"{top}/a/size-{size}", "wb") as file:
            file.write(os.urandom(size))
    for i in range(100):
        with open(f"{top}/a/b/{i}", "w") as file:
            file.write(str(i))
    os.symlink("size-1", f"{top}/a/link")
    os.chmod(f"{top}/a/size-1", 0o640)
    os.utime(f"{top}/a/size-4096", ns=(1_000_000_000_123_456_789, 1_234_567_890_987_654_321))


def go(version, server, work, served):
    def url(path):
        return f"nfs://127.0.0.1:{server.ports['nfs']}/data/{path}?transport=tcp&version={version}"

    def run(name, *arguments):
        done = subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=120)
        tap.result(done.returncode == 0, f"{version}: {name}", [done.stdout, done.stderr])
        return done.stdout

    def same(a, b, name):
        done = subprocess.run(["diff", "-r", a, b], capture_output=True, text=True)
        tap.result(done.returncode == 0, f"{version}: {name}", [done.stdout, done.stderr])

    run("a tree is copied in", "cp", "-q", "-r", f"{work}/source", url(f"in-{version}"))
    same(f"{work}/source", f"{served}/in-{version}", "it is there")
    made = os.stat(f"{served}/in-{version}/a/size-4096")
    tap.result(made.st_mtime_ns == 1_234_567_890_987_654_321, f"{version}: with its times", [made])
    run("a tree is copied out", "cp", "-q", "-r", url(f"in-{version}"), f"{work}/out-{version}")
    same(f"{work}/source", f"{work}/out-{version}", "it is here")
    listed = run("a directory is listed", "ls", url(f"in-{version}/a/b"))
    tap.result(len(listed.split()) == 100, f"{version}: all of it", [listed])
    tap.result(run("a file is shown through a link", "cat", url(f"in-{version}/a/b/7")) == "7", f"{version}: as it is")
    run("an object is described", "stat", url(f"in-{version}/a"))
    run("a directory is made", "mkdir", url(f"made-{version}"))
    run("a tree is removed", "rm", "-r", url(f"in-{version}"))
    tap.result(not os.path.exists(f"{served}/in-{version}"), f"{version}: it is gone")


def checked(server, minors):
    """The cases of version 4: with sessions, and of version 4.0 where the server has no other one."""
    with Gateway(TOOL, f"nfs://127.0.0.1:{server.ports['nfs']}/?transport=tcp&mountport={server.ports['mount']}") as gateway:
        done = subprocess.run([TOOL, "check", "--format", "json", "--only", "B9", f"{gateway.rdma_url}data/source/a/size-100001"],
                              capture_output=True, text=True, timeout=120)
    cases = [json.loads(line) for line in done.stdout.splitlines()]
    verdicts = [case["verdict"] for case in cases if "verdict" in case]
    tap.result(len(verdicts) == 6 and set(verdicts) == {"pass"},
               f"rpcrdma check, with minor versions {minors}: several READs of a COMPOUND, in both versions", [done.stderr, *cases])


def main():
    reason = ganesha.why_not()
    if reason:
        tap.skip("nfs-ganesha", reason)
        tap.end()
    with tempfile.TemporaryDirectory(prefix="rpcrdma-ganesha-", dir="/var/tmp") as work:
        served = f"{work}/served"
        os.mkdir(served)
        fill(f"{work}/source")
        server = ganesha.Ganesha(work, served)
        try:
            for version in ("4.1", "4.2"):
                go(version, server, work, served)
        finally:
            server.stop()
        for minors in ("0, 1, 2", "0"):
            server = ganesha.Ganesha(work, work, minors)
            try:
                checked(server, minors)
            finally:
                server.stop()
    tap.end()


main()
