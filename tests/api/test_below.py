#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_below.py BELOW TOOL: rpcrdma_nfs_find() begins at what the URL names and stays below it, in each version of NFS."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap

INVAL, NOTSUP, NOENT, NOTDIR = -2, -5, 2, 20
FILES = {"victim": 1, "sub/victim": 2, "sub/deep/victim": 3}
LINKS = {"sub/in": "deep/victim", "sub/up": "deep/../victim", "sub/absolute": "/rw/sub/victim", "sub/out": "../victim",
         "sub/deep/far": "../../victim", "sub/away": "/rw/victim", "sub/beside": "/rw/subway", "link": "sub"}
# What is below /rw/sub: the result of each path, and the octets of the file that it names.
SUB = {"": (0, 0), "/": (0, 0), ".": (0, 0), "victim": (0, 2), "/victim": (0, 2), "deep/victim": (0, 3), "deep/..": (0, 0),
       "deep/../victim": (0, 2), "deep/./../deep/victim": (0, 3), "in": (0, 3), "up": (0, 2), "deep/../in": (0, 3),
       "..": (INVAL, 0), "../victim": (INVAL, 0), "/../victim": (INVAL, 0), "deep/../../victim": (INVAL, 0), "./../sub/victim": (INVAL, 0),
       "deep/../../sub/deep/victim": (INVAL, 0), "out": (NOTSUP, 0), "deep/far": (NOTSUP, 0), "away": (NOTSUP, 0), "beside": (NOTSUP, 0),
       "sub": (NOENT, 0), "rw": (NOENT, 0)}
URLS = {
    "rw/sub": dict(SUB, absolute=(0, 2)),
    "rw/sub/": dict(SUB, absolute=(0, 2)),
    "rw/link": SUB,
    "rw": {"": (0, 0), "victim": (0, 1), "sub/victim": (0, 2), "sub/out": (0, 1), "sub/away": (0, 1), "sub/deep/far": (0, 1),
           "..": (INVAL, 0), "sub/../../ro/victim": (INVAL, 0), "../ro/victim": (INVAL, 0), "ro": (NOENT, 0)},
    "rw/sub/victim": {"": (0, 2), "victim": (NOTDIR, 0), "..": (INVAL, 0)},
    "rw/none": {"": (NOENT, 0), "victim": (NOENT, 0)},
}


def make_tree(folder):
    for name in ("one/sub/deep", "two"):
        os.makedirs(f"{folder}/{name}")
    for name, size in FILES.items():
        with open(f"{folder}/one/{name}", "wb") as file:
            file.write(bytes(size))
    for name, target in LINKS.items():
        os.symlink(target, f"{folder}/one/{name}")
    with open(f"{folder}/two/victim", "wb") as file:
        file.write(bytes(9))


def main():
    below, tool = (os.path.abspath(path) for path in sys.argv[1:])
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        make_tree(folder)
        os.environ["XDG_STATE_HOME"] = folder
        with Server(tool, f"{folder}/one=/rw", f"{folder}/two=/ro") as server:
            for version in ("", "?version=3", "?version=4.1", "?version=4.2"):
                for path, wanted in URLS.items():
                    run = subprocess.run([below, server.url + path + version, *wanted], capture_output=True, text=True, timeout=60)
                    lines = [f"{name} {result} {octets}" for name, (result, octets) in wanted.items()]
                    wrong = [line for line in run.stdout.splitlines() if line not in lines]
                    tap.result(run.returncode == 0 and run.stdout.splitlines() == lines, f"below /{path}{version}", [wrong, run.stderr])
    tap.end()


main()
