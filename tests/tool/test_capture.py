#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_capture.py TOOL: what --capture writes, of a client and of its server: both show the same messages and octets, which
keep to the specifications, and which tshark reads."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap

TOOL = os.path.abspath(sys.argv[1])
PLACES = {"frame", "time", "source", "destination", "call_frame", "latency_ns", "connection", "provided_octets"}
tap = Tap()


def run(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=120)


def decode(path):
    done = run("decode", "--json", path)
    if not tap.result(done.returncode == 0 and not done.stderr, f"{os.path.basename(path)} is a capture", [done.stderr]):
        return []
    return [m for m in map(json.loads, done.stdout.splitlines()) if m["event"] == "message"]


def contents(messages):
    return sorted(json.dumps({name: m[name] for name in m.keys() - PLACES}, sort_keys=True) for m in messages)


def test_version(top, version):
    paths = [f"{top}/client-{version}-{i}.pcapng" for i in range(3)]
    options = ("--rpcrdma-version", version, "--reply-chunks", "never")
    with Server(TOOL, f"{top}/served", "--capture", f"{top}/server-{version}.pcapng") as server:
        done = [run("cp", *options, "--capture", paths[0], "-r", f"{top}/tree", f"{server.url}tree-{version}"),
                run("cp", *options, "--capture", paths[1], "-r", f"{server.url}tree-{version}", f"{top}/back-{version}"),
                run("ls", *options, "--capture", paths[2], "-l", f"{server.url}tree-{version}/many")]
        server.stop()
    tap.result(not any(d.returncode for d in done), f"version {version}: all is copied", [d.stderr for d in done])
    client = [m for path in paths for m in decode(path)]
    seen = decode(f"{top}/server-{version}.pcapng")
    tap.result(len(client) > 100 and contents(client) == contents(seen),
               f"version {version}: client and server show the same {len(client)} messages", [len(client), len(seen)])
    for path in (*paths, f"{top}/server-{version}.pcapng"):
        done = run("decode", "--check", path)
        tap.result(done.returncode == 0 and done.stdout.endswith("0 times, 0 remarks\n"),
                   f"--check finds nothing in {os.path.basename(path)}", [done.stdout[-2000:]])
    if version == "1":
        test_tshark(paths[0])


def test_tshark(path):
    name = "tshark shows as many messages"
    if not shutil.which("tshark"):
        tap.skip(name, "there is no tshark")
        return
    done = subprocess.run(["tshark", "-o", "tcp.try_heuristic_first:TRUE", "-r", path, "-Y", "rpcordma"], capture_output=True, text=True)
    tap.result(len(done.stdout.splitlines()) == len(decode(path)), name, [done.stderr])


with tempfile.TemporaryDirectory(prefix="rpcrdma-capture-") as top:
    os.mkdir(f"{top}/served")
    os.makedirs(f"{top}/tree/many")
    for size in (0, 1, 4095, 65537, 1048577):
        with open(f"{top}/tree/file-{size}", "wb") as file:
            file.write(os.urandom(size))
    for i in range(200):
        open(f"{top}/tree/many/an-entry-with-a-long-enough-name-{i}", "w").close()
    test_version(top, "1")
    test_version(top, "2")
    done = run("ping", "-c", "1", "--capture", f"{top}/no/where", "nfs://127.0.0.1:1/")
    tap.result(done.returncode == 1 and "--capture" in done.stderr and f"{top}/no/where" in done.stderr,
               "a file that cannot be made is an error", [done.stderr])
tap.end()
