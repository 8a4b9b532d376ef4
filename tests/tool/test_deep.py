#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_deep.py TOOL: `rpcrdma cp`, `sync`, `ls -R` and `rm` of trees with more levels than a process may have descriptors, and with
longer paths than the system takes."""
import os
import resource
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap, stop_when

TOOL = os.path.abspath(sys.argv[1])
DESCRIPTORS = 300
tap = Tap()


def few_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))


def run(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=120, preexec_fn=few_descriptors)


def check(name, good, result, *details):
    tap.result(good, name, [*details, f"exit status {result.returncode}", result.stdout[-1000:], result.stderr[-1000:]])


def descend(top, visit):
    """Calls visit() with the descriptor of each directory from `top` on, until it returns none of a directory below."""
    at = os.open(top, os.O_RDONLY)
    while at is not None:
        below = visit(at)
        os.close(at)
        at = below


def make(top, levels, name):
    os.mkdir(top)
    made = []

    def visit(at):
        with os.fdopen(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=at), "wb") as file:
            file.write(b"x" * len(made))
        if len(made) == levels:
            return None
        made.append(os.mkdir(name, dir_fd=at))
        return os.open(name, os.O_RDONLY, dir_fd=at)
    descend(top, visit)


def sizes(top, name):
    """The sizes of the files of all levels."""
    found = []

    def visit(at):
        try:
            found.append(os.stat("file", dir_fd=at).st_size)
            return os.open(name, os.O_RDONLY, dir_fd=at)
        except FileNotFoundError:
            return None
    descend(top, visit)
    return found


def remove(*paths):
    subprocess.run(["rm", "-rf", *paths], check=True)


def walk(work, server, levels, name, version):
    what = f"{levels} levels with names of {len(name)} octets, version {version}"
    source, served, wanted = f"{work}/source", f"{work}/served", list(range(levels + 1))
    there = f"{server.url}up?version={version}"
    make(source, levels, name)
    result = run("cp", "-r", source, there)
    check(f"cp -r copies {what}", result.returncode == 0 and sizes(f"{served}/up", name) == wanted, result)
    result = run("sync", "--json", source, there)
    result = run("sync", "--json", source, there)
    check(f"sync leaves {what}", result.returncode == 0 and '"files":0' in result.stdout, result)
    result = run("ls", "-R", there)
    check(f"ls -R lists {what}", result.returncode == 0 and result.stdout.count("\nfile\n") == levels + 1, result)
    result = run("sync", there, f"{work}/down")
    check(f"sync fetches {what}", result.returncode == 0 and sizes(f"{work}/down", name) == wanted, result)
    os.mkdir(f"{served}/empty")
    result = run("sync", "--delete", f"{server.url}empty?version={version}", f"{work}/down")
    check(f"sync --delete removes {what} here", result.returncode == 0 and os.listdir(f"{work}/down") == [], result)
    result = run("rm", "-r", there)
    check(f"rm -r removes {what}", result.returncode == 0 and os.listdir(served) == ["empty"], result)
    remove(source, f"{work}/down", f"{served}/empty")


def moved(work, server):
    """A directory on the way is moved while a file below it is copied: the way back up is not found, and nothing else is taken for
    it."""
    source, target = f"{work}/source", f"{work}/served/up"
    for _ in range(50):
        make(source, 100, "d")
        deepest = source + "/d" * 100
        with open(f"{deepest}/large", "wb") as file:
            file.truncate(100 << 20)
        process = subprocess.Popen([TOOL, "cp", "-qr", "--sparse=never", source, f"{server.url}up"], stderr=subprocess.PIPE, text=True)
        stop_when(process, lambda: os.path.exists(target + "/d" * 100 + "/.large.rpcrdma-0"))
        early = os.path.exists(target + "/d" * 100 + "/.large.rpcrdma-0")
        os.rename(source + "/d" * 80, f"{source}/moved")
        process.send_signal(signal.SIGCONT)
        _, errors = process.communicate(timeout=60)
        left = os.path.getsize(target + "/d" * 100 + "/large")
        remove(source, target)
        if early:
            break
    else:
        tap.skip(moved.__doc__, "the copy was always faster than the test")
        return
    check("a directory that is moved meanwhile is a failure, and what is in it is copied", process.returncode == 1
          and errors.count("it was moved or removed meanwhile") == 1 and left == 100 << 20,
          subprocess.CompletedProcess([], process.returncode, "", errors))


def main():
    with tempfile.TemporaryDirectory(prefix="rpcrdma-deep-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as work:
        os.mkdir(f"{work}/served")
        with Server(TOOL, f"{work}/served") as server:
            walk(work, server, 600, "d", "4.2")
            walk(work, server, 450, "d", "3")
            walk(work, server, 40, "n" * 200, "4.2")
            moved(work, server)
        remove(f"{work}/served", f"{work}/source", f"{work}/down")
    tap.end()


main()
