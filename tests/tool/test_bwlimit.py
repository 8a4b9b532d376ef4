#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_bwlimit.py TOOL: `rpcrdma cp` and `sync` with --bwlimit copy all, in pieces of other sizes, and take rates alone."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap

TOOL = os.path.abspath(sys.argv[1])
RATES = ("1073741824", "1024G", "64m", "20M")
tap = Tap()


def run(*arguments, **options):
    return subprocess.run([TOOL, *arguments], capture_output=True, timeout=120, **options)


def check(name, good, result):
    tap.result(good, name, [f"exit status {result.returncode}", result.stdout[:500], result.stderr[:500]])


def write(path, octets):
    with open(path, "wb") as file:
        file.write(octets)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def same(a, b):
    return subprocess.run(["diff", "-r", a, b], capture_output=True).returncode == 0


def copies(work, server):
    source, served = f"{work}/source", f"{work}/served"
    for i, rate in enumerate(RATES):
        for version in ("3", "4.2"):
            name = f"{i}-{version}"
            url = f"{server.url}{name}?version={version}"
            result = run("cp", "-r", "--bwlimit", rate, source, url)
            check(f"a tree is pushed with --bwlimit {rate}, version {version}", result.returncode == 0 and same(source, f"{served}/{name}"), result)
            result = run("cp", "-r", f"--bwlimit={rate}", source + "/.", url)
            check(f"and over itself, version {version}", result.returncode == 0 and same(source, f"{served}/{name}"), result)
            result = run("sync", "--bwlimit", rate, url, f"{work}/{name}")
            check(f"and pulled, version {version}", result.returncode == 0 and same(source, f"{work}/{name}"), result)


def low(work, server):
    """A limit below the size of a small file: the file is copied in small pieces."""
    write(f"{work}/low", os.urandom(50000))
    result = run("cp", "--bwlimit", "100", f"{work}/low", server.url + "low")
    check("a file is copied at 100 KiB per second", result.returncode == 0 and read(f"{work}/low") == read(f"{work}/served/low"), result)


def streams(work, server):
    octets = os.urandom(700000)
    result = run("cp", "--bwlimit", "20M", "-", server.url + "stream", input=octets)
    check("a stream is copied", result.returncode == 0 and read(f"{work}/served/stream") == octets, result)
    result = run("cp", "--bwlimit", "20M", server.url + "stream", "-")
    check("and a file into a stream", result.returncode == 0 and result.stdout == octets, result)


def refusals():
    for command in ("cp", "sync"):
        for rate in ("0", "-1", "x", "", "10X", "1.5M", "10KB", "1025G", "99999999999999999999"):
            result = run(command, f"--bwlimit={rate}", "/dev/null", "nfs://127.0.0.1/x")
            wanted = f"rpcrdma {command}: --bwlimit takes a number of KiB per second, from 1 to 1024G, or with M or G behind it of MiB or GiB, not '{rate}'"
            check(f"{command} takes no rate '{rate}'", result.returncode == 2 and result.stderr.decode().splitlines()[0] == wanted, result)
        text = " ".join(run(command, "--help").stdout.decode().split())
        tap.result("--bwlimit RATE move at most RATE KiB of data per second; with M or G behind it, MiB or GiB" in text, f"{command} --help says what a rate is", [text])


def main():
    with tempfile.TemporaryDirectory(prefix="rpcrdma-rate-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as work:
        os.makedirs(f"{work}/source/below")
        os.mkdir(f"{work}/served")
        for i in range(20):
            write(f"{work}/source/below/{i}", os.urandom(i * 1000))
        write(f"{work}/source/large", os.urandom(1_500_001))
        with Server(TOOL, f"{work}/served") as server:
            copies(work, server)
            low(work, server)
            streams(work, server)
        refusals()
    tap.end()


main()
