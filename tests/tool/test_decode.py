#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_decode.py TOOL: what `rpcrdma decode` says of files that are no captures."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Tap

TOOL = os.path.abspath(sys.argv[1])
tap = Tap()


def decode(*arguments, **options):
    return subprocess.run([TOOL, "decode", *arguments], capture_output=True, text=True, timeout=60, **options)


def refused(name, path, **options):
    for check in (), ("--check",):
        done = decode(*check, path, **options)
        words = done.stderr.split(path)
        tap.result(done.returncode == 1 and len(words) == 2 and not done.stdout, " ".join((name, *check)),
                   [done.returncode, done.stdout, done.stderr])


with tempfile.TemporaryDirectory(prefix="rpcrdma-decode-") as directory:
    path = f"{directory}/capture"
    refused("a file that does not exist is named, once", path)
    for content, what in ((b"", "an empty file"), (b"no capture, but text" * 10, "a file that is no capture"),
                          (b"\xd4\xc3\xb2\xa1" + bytes(4), "a capture that breaks off in its header")):
        with open(path, "wb") as file:
            file.write(content)
        refused(f"{what} is named, once", path)
    refused("a folder is named, once", directory)
tap.end()
