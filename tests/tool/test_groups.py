#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_groups.py TOOL: `serve --manage-gids` looks up the groups of users, and waits for no directory of users."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap

TOOL = os.path.abspath(sys.argv[1])
MANY, HANGING = 4321, 4322
GROUPS = range(5001, 5041)  # more than the 16 that a credential has room for
tap = Tap()


def user(server, name, uid, version, gid=100):
    return [TOOL, "cat", f"{server.url}{name}?uid={uid}&gid={gid}&version={version}"]


def cat(*command):
    return subprocess.run(user(*command), capture_output=True, text=True, timeout=60)


def prepare(folder):
    os.makedirs(f"{folder}/users")
    os.makedirs(f"{folder}/served")
    os.chmod(folder, 0o755)
    os.mkfifo(f"{folder}/users/gate")
    with open(f"{folder}/users/passwd", "w") as file:
        file.write(f"root:x:0:0::/:/bin/sh\nmany:x:{MANY}:{MANY}::/:/bin/sh\nhanging:x:{HANGING}:{HANGING}::/:/bin/sh\n")
    with open(f"{folder}/users/group", "w") as file:
        file.writelines(f"g{gid}:x:{gid}:someone,many,root,hanging\n" for gid in GROUPS)
    for name, gid in (("last", GROUPS[-1]), ("stranger", 6000), ("primary", 100)):
        with open(f"{folder}/served/{name}", "w") as file:
            file.write(name)
        os.chown(file.name, 0, gid)
        os.chmod(file.name, 0o640)


def believed(folder, version):
    """What the option changes: without it, the server knows the groups of the credential alone."""
    with Server(TOOL, f"{folder}/served") as server:
        tap.result(cat(server, "last", MANY, version).returncode == 1, f"without --manage-gids, what a client does not send is no group: {version}")


def managed(folder, version):
    with Server(TOOL, f"{folder}/served", "--manage-gids") as server:
        done = cat(server, "last", MANY, version)
        tap.result(done.stdout == "last", f"a user is in more than 16 groups: {version}", [done.stderr])
        tap.result(cat(server, "stranger", MANY, version).returncode == 1, f"but in no others: {version}")
        tap.result(cat(server, "primary", MANY, version).stdout == "primary", f"the group of the credential stays: {version}")
        tap.result(cat(server, "last", 999999, version).returncode == 1, f"a user that nobody knows has no groups: {version}")


def hangs(folder, version):
    with Server(TOOL, f"{folder}/served", "--manage-gids") as server:
        slow = subprocess.Popen(user(server, "last", HANGING, version), stdout=subprocess.PIPE, text=True)
        with open(f"{folder}/users/gate", "w"):  # there is somebody who reads: the look-up hangs
            pass
        slow.wait(timeout=60)
        tap.result(slow.stdout.read() == "last", f"a user whose look-up ends late is served then: {version}")
        slow.stdout.close()


def stuck(folder, version):
    with Server(TOOL, f"{folder}/served", "--manage-gids") as server:
        slow = [subprocess.Popen(user(server, "last", HANGING, version), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(4)]
        done = [cat(server, "last", MANY, version).stdout for _ in range(4)]
        tap.result(done == ["last"] * 4, f"others are served while a directory of users hangs: {version}")
        tap.result(all(process.poll() is None for process in slow), f"and those who need it wait: {version}")
        server.process.terminate()
        tap.result(server.process.wait(timeout=60) == 0, f"a server ends although the directory hangs: {version}")
        for process in slow:
            process.kill()
            process.wait()


def main():
    if os.geteuid() != 0 or "RPCRDMA_USERS" not in os.environ:
        tap.skip("groups of users", "only root acts as other users, and a sanitizer's library must be the first")
        tap.end()
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder)
        os.environ["LD_PRELOAD"] = os.environ["RPCRDMA_USERS"]
        os.environ["USERS"] = f"{folder}/users"
        for version in ("3", "4.1", "4.2"):
            believed(folder, version)
            managed(folder, version)
            hangs(folder, version)
            stuck(folder, version)
    tap.end()


main()
