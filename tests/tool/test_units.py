#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_units.py SOURCE: the filters of system calls of the units of systemd let the commands enter their own sandbox, and allow what that allows."""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Tap

SOURCE = sys.argv[1]
# Made once, as the sandbox is entered.
ENTERS = {"capget", "capset", "prctl", "seccomp", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"}
# A gateway has no files of others and acts as nobody else.
NOT_GATEWAY = {"chown", "fchown", "fchownat", "lchown", "setgroups", "setfsuid", "setfsgid", "setresuid", "setresgid", "name_to_handle_at",
               "open_by_handle_at", "sched_setaffinity", "sched_setparam", "sched_setscheduler", "setpriority", "setrlimit", "prlimit64", "quotactl_fd"}
tap = Tap()


def groups():
    """The groups of systemd: for each, what `systemd-analyze syscall-filter` lists."""
    said = subprocess.run(["systemd-analyze", "syscall-filter"], capture_output=True, text=True).stdout
    found, name = {}, None
    for line in said.splitlines():
        if line.startswith("@"):
            name = line.strip()
            found[name] = set()
        elif name and line.startswith(" ") and not line.strip().startswith("#"):
            found[name].add(line.strip())
    return found


def expand(word, known):
    if not word.startswith("@"):
        return {word}
    return set().union(*(expand(member, known) for member in known[word]))


def unit_allows(unit, known):
    """systemd.exec(5): the first line makes a list of what is allowed; later lines add to it, or, with ~, take away."""
    allowed = set()
    with open(os.path.join(SOURCE, "systemd", unit)) as file:
        for line in re.findall(r"^SystemCallFilter=(.*)$", file.read(), re.M):
            words = set().union(*(expand(word, known) for word in line.lstrip("~").split()))
            allowed = allowed - words if line.startswith("~") else allowed | words
    return allowed


def listed():
    with open(os.path.join(SOURCE, "src/base/confine/calls.c")) as file:
        table = re.search(r"calls_allowed\[\] = \{(.*?)\n\};", file.read(), re.S)[1]
    return set(re.findall(r"\bSYS_(\w+),", table)) - {"ptrace", "process_vm_readv"}


if not shutil.which("systemd-analyze"):
    tap.skip("filters of units", "there is no systemd-analyze")
    tap.end()
known = groups()
# What this systemd does not know, no unit of it can name in a group.
calls = listed() & (set().union(*known.values()))
for unit, without in (("rpcrdma-serve@.service.in", set()), ("rpcrdma-gateway@.service.in", NOT_GATEWAY)):
    allowed = unit_allows(unit, known)
    tap.result(ENTERS <= allowed, f"{unit}: a sandbox can be entered", [sorted(ENTERS - allowed)])
    tap.result(len(calls) > 150 and calls - without <= allowed, f"{unit}: what the sandbox allows, the unit does", [sorted(calls - without - allowed)])
tap.end()
