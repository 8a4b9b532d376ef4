#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_refused.py TOOL: commands on a system that refuses getrandom(2) say so, and what to do, and fail in order."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Tap

TOOL = os.path.abspath(sys.argv[1])
tap = Tap()


def refused(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "LD_PRELOAD": os.environ["RPCRDMA_NO_RANDOM"]})


def main():
    if "RPCRDMA_NO_RANDOM" not in os.environ:
        tap.skip("a system without random numbers", "a sanitizer's library wants to be the first that is loaded")
        tap.end()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        for command in (["serve", "--listen", "127.0.0.1:1", folder], ["ls", "nfs://127.0.0.1:1/"], ["gateway", "--to", "nfs://127.0.0.1:1/"],
                        ["doctor", "nfs://127.0.0.1:1/"], ["ping", "nfs://127.0.0.1:1/"]):
            run = refused(*command)
            tap.result(run.returncode == 1 and run.stderr.startswith(f"rpcrdma {command[0]}: getrandom(2)")
                       and "Operation not permitted" in run.stderr and "seccomp" in run.stderr and run.stderr.count("\n") == 1,
                       f"{command[0]} says that getrandom(2) is refused, and what to do", [run])
        with open(f"{folder}/a.x", "w") as schema:
            schema.write("struct a { int b; };\n")
        run = refused("xdr", "-o", f"{folder}/a", f"{folder}/a.x")
        tap.result(run.returncode == 0 and os.path.exists(f"{folder}/a.h"), "the compiler of schemas needs no random numbers", [run])
    tap.end()


main()
