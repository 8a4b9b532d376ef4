#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_names.py TOOL: `rpcrdma mkdir` and `rm` against `rpcrdma serve`."""
import os
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap

TOOL = os.path.abspath(sys.argv[1])
tap = Tap()


def run(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=60)


def check(name, good, result):
    tap.result(good, name, [f"exit status {result.returncode}", result.stdout, result.stderr])


def mkdir(url, top):
    result = run("mkdir", url + "a", url + "b")
    check("mkdir makes directories", result.returncode == 0 and os.path.isdir(f"{top}/a") and os.path.isdir(f"{top}/b")
          and stat.S_IMODE(os.stat(f"{top}/a").st_mode) == 0o755, result)
    result = run("mkdir", url + "a", url + "c")
    check("one that exists is an error, and the others are made", result.returncode == 1 and "exists" in result.stderr
          and os.path.isdir(f"{top}/c"), result)
    result = run("mkdir", url + "x/y")
    check("so is one in nothing", result.returncode == 1 and "no such file" in result.stderr, result)
    for _ in range(2):
        result = run("mkdir", "-p", url + "x/y//z/")
        check("-p makes all of them, and takes what exists", result.returncode == 0 and os.path.isdir(f"{top}/x/y/z"), result)
    open(f"{top}/file", "w").close()
    result = run("mkdir", "--parents", url + "file")
    check("but no file", result.returncode == 1 and os.path.isfile(f"{top}/file"), result)
    check("mkdir wants a URL", run("mkdir", "here").returncode == 2, run("mkdir", "here"))


def rm(url, top):
    outside = f"{top}/kept"
    os.mkdir(outside)
    open(f"{outside}/precious", "w").close()
    os.symlink(outside, f"{top}/a/link")
    os.symlink("../kept", f"{top}/link")
    for i in range(200):
        open(f"{top}/a/{i}", "w").close()
    os.makedirs(f"{top}/a/deep/deeper")
    result = run("rm", url + "file", url + "link")
    check("rm removes files and links", result.returncode == 0 and not os.path.lexists(f"{top}/file")
          and not os.path.lexists(f"{top}/link"), result)
    result = run("rm", url + "a")
    check("a directory needs -r", result.returncode == 1 and "-r" in result.stderr and os.path.isdir(f"{top}/a"), result)
    result = run("rm", "-r", url + "a", url + "none", url + "b/")
    check("-r removes all that is in it; what is missing is an error", result.returncode == 1 and "none" in result.stderr
          and not os.path.exists(f"{top}/a") and not os.path.exists(f"{top}/b"), result)
    check("links are not followed", os.listdir(outside) == ["precious"], result)
    for path in ("", "x/..", "x/."):
        result = run("rm", "-r", url + path)
        check(f"'/{path}' is not removed", result.returncode == 1 and os.path.isdir(f"{top}/x/y/z"), result)


def main():
    os.umask(0o022)
    with tempfile.TemporaryDirectory(prefix="rpcrdma-names-") as work:
        top = f"{work}/served"
        os.mkdir(top)
        with Server(TOOL, top) as server:
            mkdir(server.url, top)
            rm(server.url, top)
    tap.end()


main()
