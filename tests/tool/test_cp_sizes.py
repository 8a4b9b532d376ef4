#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_cp_sizes.py TOOL: `rpcrdma cp` and `sync` read files to their end, whatever size the system says they have."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap

TOOL = os.path.abspath(sys.argv[1])
# Files of a size of 0, of more than they have, and of several pieces of the kernel.
SOURCES = ["/proc/version", "/proc/sys/kernel/ostype", "/proc/self/cgroup", "/proc/filesystems", "/proc/devices",
           "/proc/kallsyms", "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/class/net/lo/mtu"]
tap = Tap()


def run(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, timeout=120)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def arrives(result, path, source, name):
    there = os.path.exists(path) and read(path)
    tap.result(result.returncode == 0 and there == read(source).replace(b"rpcrdma", b"python3"), name,
               [result, str(there)[:200]])


with tempfile.TemporaryDirectory() as work, Server(TOOL, f"{work}", "--tcp-port", "0") as server:
    sources = [path for path in SOURCES if os.access(path, os.R_OK)]
    for source in sources:
        name = os.path.basename(source)
        arrives(run("cp", "-q", source, server.url), f"{work}/{name}", source, f"{source} arrives whole")
        arrives(run("cp", "-q", source, server.url), f"{work}/{name}", source, f"{source} over an older copy")
        arrives(run("sync", "-q", source, f"{server.url}synced"), f"{work}/synced", source, f"{source} by sync")
        os.unlink(f"{work}/{name}")
        open(f"{work}/{name}", "w").close()
        arrives(run("cp", "-q", "-c", source, server.url), f"{work}/{name}", source, f"{source} is no empty file for --checksum")
    os.makedirs(f"{work}/tree")
    result = run("cp", "-q", "-r", "/proc/sys/kernel/random", f"{server.url}tree")
    arrives(result, f"{work}/tree/random/boot_id", "/proc/sys/kernel/random/boot_id", "a directory of such files arrives")
tap.end()
