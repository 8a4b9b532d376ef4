#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_sync_calls.py TOOL: how many calls `rpcrdma sync` makes to find out what is to be done at a server, and that it believes the
lists of directories no further than they go."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap

TOOL = os.path.abspath(sys.argv[1])
DIRECTORIES, FILES = 10, 100
# READDIRs, SETATTR and LISTXATTRS of a directory, and what makes and ends a connection and a session.
MOST = 6 * DIRECTORIES + 20
tap = Tap()


def sync(server, command, source, url):
    """Runs the command with --json. Returns its result and summary, and how many calls it made."""
    before = server.calls()
    result = subprocess.run([TOOL, *command, "--json", source, url], capture_output=True, text=True, timeout=120)
    made = server.calls_since(before)
    try:
        summary = json.loads(result.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        summary = {}
    return result, summary, sum(made.values()), made


def check(name, good, result, *details):
    tap.result(good, name, [*details, f"exit status {result.returncode}", result.stdout, result.stderr])


def write(path, text, time=1_234_567_890_123_456_789):
    with open(path, "w") as file:
        file.write(text)
    os.utime(path, ns=(time, time))


def make_tree(top):
    for i in range(DIRECTORIES):
        os.makedirs(f"{top}/{i}")
        for k in range(FILES):
            write(f"{top}/{i}/{k}", f"{k}")


def same(a, b):
    def files(top):
        found = {}
        for path, directories, names in os.walk(top):
            for name in directories + names:
                status = os.lstat(f"{path}/{name}")
                found[os.path.relpath(f"{path}/{name}", top)] = (status.st_mode, status.st_size, status.st_mtime_ns)
        return found
    return files(a) == files(b) and subprocess.run(["diff", "-r", a, b], capture_output=True).returncode == 0


def unchanged(work, server, version):
    """A tree of many files that the server has already takes calls for its directories, not for its files."""
    source, there, url = f"{work}/source", f"{work}/served/{version}", f"{server.url}{version}?version={version}"
    result, summary, _, _ = sync(server, ["sync"], source, url)
    check(f"a tree is made, version {version}", result.returncode == 0 and summary["files"] == DIRECTORIES * FILES and same(source, there), result)
    plain = MOST
    for command in (["sync"], ["sync", "--delete"], ["sync", "-n"], ["sync", "-n", "--delete"]):
        result, summary, calls, made = sync(server, command, source, url)
        check(f"and found to be the same by lists of its directories: {' '.join(command)}, version {version}", result.returncode == 0
              and summary["files"] == summary["directories"] == summary["removed"] == 0 and calls <= plain, result, calls, made)
        # --delete needs no lists of its own.
        plain = MOST if "--delete" in command else calls + DIRECTORIES // 2
    for option in ("-u", "-n"):
        result, summary, calls, made = sync(server, ["cp", "-r", option], source + "/.", url)
        check(f"cp {option} finds so what it leaves, version {version}", result.returncode == 0 and summary["files"] == 0
              and summary["skipped"] == DIRECTORIES * FILES and calls <= MOST, result, calls, made)


def changed(work, server, version):
    """What has changed is found in the lists: sizes, times, types, and what the source has not."""
    source, there, url = f"{work}/source", f"{work}/served/{version}", f"{server.url}{version}?version={version}"
    write(f"{there}/0/1", "longer than that of the source")
    write(f"{there}/0/2", "2", 1)
    write(f"{there}/1/strange", "x")
    os.makedirs(f"{there}/strange/deep")
    for name, to_directory in (("2/1", True), ("2/2", False)):
        os.unlink(f"{there}/{name}")
        os.mkdir(f"{there}/{name}") if to_directory else os.symlink("/", f"{there}/{name}")
    shutil.rmtree(f"{there}/3")
    write(f"{there}/3", "where the source has a directory")
    os.unlink(f"{there}/4/0")
    os.chmod(f"{there}/5/0", 0o600)
    result, summary, calls, made = sync(server, ["sync", "--delete"], source, url)
    wanted = {"files": 5 + FILES, "removed": 5, "failed": 0}
    found = {name: summary.get(name) for name in wanted}
    check(f"changes are found in lists, version {version}", result.returncode == 0 and found == wanted and same(source, there)
          and calls <= MOST + 5 * (FILES + 20), result, found, calls, made)


def large(work, server, version):
    """A directory that has far more entries than the source is not listed for these; with --delete it is."""
    source, there, url = f"{work}/few", f"{work}/served/many-{version}", f"{server.url}many-{version}?version={version}"
    os.makedirs(there)
    for i in range(2000):
        write(f"{there}/{i}", "")
    if not os.path.exists(source):
        os.makedirs(source)
        for i in range(10):
            write(f"{source}/{i}", "")
    result, summary, calls, made = sync(server, ["sync"], source, url)
    check(f"few files are looked for in a large directory, version {version}", result.returncode == 0 and summary["files"] == 0
          and summary["skipped"] == 10 and calls <= 60 and made.get("READDIRPLUS", 0) <= 5, result, calls, made)
    result, summary, calls, made = sync(server, ["sync", "--delete"], source, url)
    check(f"and the others are removed, version {version}", result.returncode == 0 and summary["files"] == 0
          and summary["removed"] == 1990 and same(source, there), result, calls, made)


def hard_links(work, server, version):
    """The destination has two names of one file, and the source two files: what the list of the directory says of the second name
    is no longer true when the file was changed under the first."""
    source, there, url = f"{work}/two", f"{work}/served/two-{version}", f"{server.url}two-{version}?version={version}"
    os.makedirs(there)
    os.makedirs(source, exist_ok=True)
    for name, mode in (("a", 0o600), ("b", 0o644)):
        write(f"{source}/{name}", "text")
        os.chmod(f"{source}/{name}", mode)
    write(f"{there}/a", "text")
    os.link(f"{there}/a", f"{there}/b")
    result, _, _, _ = sync(server, ["sync"], source, url)
    mode = os.stat(f"{there}/b").st_mode & 0o777
    check(f"a file with a second name is looked at again, version {version}", result.returncode == 0 and mode == 0o644, result, oct(mode))


def main():
    os.umask(0o022)
    with tempfile.TemporaryDirectory(prefix="rpcrdma-sync-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as work:
        os.chmod(work, 0o755)
        os.mkdir(f"{work}/served")
        make_tree(f"{work}/source")
        with open(f"{work}/log", "w") as log, Server(TOOL, f"{work}/served", stderr=log) as server:
            for version in ("3", "4.2"):
                unchanged(work, server, version)
                changed(work, server, version)
                large(work, server, version)
                hard_links(work, server, version)
    tap.end()


main()
