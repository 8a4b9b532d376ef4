#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_devices.py TOOL: `rpcrdma devices`, on a machine with or without any."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Tap

TOOL = os.path.abspath(sys.argv[1])
tap = Tap()


def run(*arguments):
    return subprocess.run([TOOL, "devices", *arguments], capture_output=True, text=True, timeout=60)


def check(name, good, result):
    tap.result(good, name, [f"exit status {result.returncode}", (result.stdout or "")[:2000], result.stderr])


people, machine = run(), run("--json")
found = json.loads(machine.stdout)
devices = found["devices"]
check("both outputs agree whether there are devices", people.returncode == machine.returncode == (0 if devices else 1), machine)
check("where there is none, it says why", bool(devices) or found["reason"] in people.stderr, people)
check("and prints nothing else", bool(devices) or not people.stdout, people)
check("each device is listed", all(f"{d['device']}: " in people.stdout for d in devices), people)
check("one that is not usable has a reason", all(d["usable"] or d["reason"] for d in devices), machine)
with open("/dev/full", "w") as full:
    lost = subprocess.run([TOOL, "devices", "--json"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
check("output that cannot be written is an error", lost.returncode == 1 and "No space left" in lost.stderr, lost)
check("an unknown option is a usage error", run("--jason").returncode == 2, run("--jason"))
check("and so is an argument", run("rxe0").returncode == 2, run("rxe0"))
tap.end()
