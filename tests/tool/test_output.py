#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_output.py TOOL: standard output that takes nothing: it is closed, full, or a pipe that nobody reads any more."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap

TOOL = os.path.abspath(sys.argv[1])
tap = Tap()


def with_output(output, *arguments, **options):
    return subprocess.run([TOOL, *arguments], stdout=output, stderr=subprocess.PIPE, text=True, timeout=60, **options)


def check(name, good, result):
    tap.result(good, name, [f"exit status {result.returncode}", result.stderr])


def unread():
    """The end for writing of a pipe whose other end is closed."""
    reading, writing = os.pipe()
    os.close(reading)
    return writing


def each(url, monitor, schema):
    """Commands that write, without an end of their own where there is one."""
    yield ["--help"]
    yield ["--version"]
    yield ["ls", "--help"]
    yield ["ls", url]
    yield ["stat", f"{url}file"]
    yield ["cat", f"{url}file"]
    yield ["df", url]
    yield ["ping", "--count", "1000000000", url]
    yield ["ping", "--json", url]
    yield ["top", monitor]
    yield ["top", "--json", monitor]
    yield ["check", "--list"]
    yield ["doctor", url]
    yield ["xdr", "-o", f"{schema}.made", schema]


def main():
    with tempfile.TemporaryDirectory(prefix="rpcrdma-output-") as work:
        os.mkdir(f"{work}/served")
        with open(f"{work}/served/file", "w") as file:
            file.write("text")
        with open(f"{work}/schema.x", "w") as file:
            file.write("struct pair { int a; int b; };\n")
        with Server(TOOL, f"{work}/served", "--monitor", f"{work}/monitor") as server, open("/dev/full", "w") as full:
            for command in each(server.url, f"{work}/monitor", f"{work}/schema.x"):
                shown = " ".join(word for word in command[:2] if work not in word and "nfs:" not in word)
                result = with_output(full, *command)
                check(f"{shown} to a full device fails", result.returncode == 1 and
                      result.stderr.count("standard output: No space left") == 1, result)
                pipe = unread()
                result = with_output(pipe, *command)
                os.close(pipe)
                check(f"{shown} ends where nobody reads", result.returncode in (1, -13) and "standard output" not in result.stderr,
                      result)
            for command in (["ls", server.url], ["cat", f"{server.url}file"], ["stat", f"{server.url}file"]):
                result = with_output(subprocess.DEVNULL, *command, preexec_fn=lambda: os.close(1))
                check(f"{command[0]} with standard output closed writes into nothing else", result.returncode == 1 and
                      "standard output: Bad file descriptor" in result.stderr, result)
            result = with_output(subprocess.DEVNULL, "cp", "-q", f"{server.url}file", f"{work}/copy",
                                 preexec_fn=lambda: os.closerange(0, 3))
            with open(f"{work}/copy") as file:
                text = file.read()
            check("cp needs none of the three", result.returncode == 0 and text == "text", result)
    tap.end()


main()
