#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_walk_cost.py BENCH-WALK: how many instructions the walker takes for typical messages, which is the same on every run
and on every machine of a kind; `bench/walk` tells how long that is."""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Tap

WALKS = 200
LIMITS = {"open-call": 2500, "open-reply": 2500, "read-call": 1500, "read-reply": 1500,
          "open-estimate": 3500, "read-estimate": 2000}
tap = Tap()


def instructions(message, walks):
    result = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.argv[1], message, str(walks)],
                            capture_output=True, text=True, timeout=100)
    found = re.search(r"Collected : (\d+)", result.stderr)
    if result.returncode or not found:
        raise RuntimeError(result.stderr)
    return int(found.group(1))


at_rest = instructions("none", 0) if shutil.which("valgrind") else 0
for name, limit in LIMITS.items():
    title = f"{name} takes fewer than {limit} instructions"
    if not shutil.which("valgrind"):
        tap.skip(title, "there is no valgrind")
        continue
    each = (instructions(name, WALKS) - at_rest) / WALKS
    tap.result(0 < each < limit, title, [f"{each:.0f}"])
tap.end()
