#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_cp_times.py TOOL: times from 1901 to 2500 by `rpcrdma cp -a` and `rpcrdma sync`, and in what `ls` and `stat` show. Version 4
holds all of them, version 3 those from 1970 to 2106, and says of which files it does not."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap

TOOL = os.path.abspath(sys.argv[1])
BILLION = 1_000_000_000
# Seconds since 1970-01-01 00:00 UTC, and nanoseconds.
TIMES = {
    "1901": (-2_147_483_648, 123_456_789),  # 1901-12-13 20:45:52, the first that 32 bits with a sign have
    "1950": (-631_152_000, 1),
    "1969": (-1, 999_999_999),
    "1970": (0, 0),
    "1970-later": (0, 1),
    "2009": (1_234_567_890, 987_654_321),
    "2038": (2_147_483_648, 999_999_999),  # the second after the last that 32 bits with a sign have
    "2106": (4_294_967_295, 999_999_999),  # the last second that 32 bits without a sign have
    "2106-later": (4_294_967_296, 0),
    "2262": (9_223_372_036, 854_775_807),  # the last that 64 bits with a sign have in nanoseconds
    "2500": (16_725_225_600, 5),
}
VERSION_3 = {name for name, (seconds, _) in TIMES.items() if 0 <= seconds < 1 << 32}
tap = Tap()


def run(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=60, env={**os.environ, "TZ": "UTC"})


def check(name, good, result, *details):
    tap.result(good, name, [*details, f"exit status {result.returncode}", result.stdout, result.stderr])


def nanoseconds(name):
    return TIMES[name][0] * BILLION + TIMES[name][1]


def set_times(path, name):
    os.utime(path, ns=(nanoseconds(name), nanoseconds(name)), follow_symlinks=False)


def held(directory):
    """The times that the file system of the directory holds."""
    path = os.path.join(directory, "probe")
    open(path, "w").close()
    names = set()
    for name in TIMES:
        try:
            set_times(path, name)
        except OSError:
            continue
        if os.stat(path).st_mtime_ns == nanoseconds(name):
            names.add(name)
    os.unlink(path)
    return names


def make_tree(top, names):
    """For each time a small file, a large one, a symbolic link and a directory."""
    os.makedirs(top)
    for name in names:
        with open(f"{top}/small-{name}", "wb") as file:
            file.write(b"x" * 1000)
        with open(f"{top}/large-{name}", "wb") as file:
            file.write(b"x" * 200_000)
        open(f"{top}/empty-{name}", "w").close()
        os.symlink("small-" + name, f"{top}/link-{name}")
        os.mkdir(f"{top}/directory-{name}")
        for kind in ("small", "large", "empty", "link", "directory"):
            set_times(f"{top}/{kind}-{name}", name)


def wrong(top, names):
    """What does not have its time of modification."""
    return sorted(entry for entry in os.listdir(top) if entry.split("-", 1)[1] in names
                  and os.lstat(f"{top}/{entry}").st_mtime_ns != nanoseconds(entry.split("-", 1)[1]))


def kept(work, server, names):
    tree, there, back = f"{work}/tree", f"{work}/served/tree", f"{work}/back"
    result = run("cp", "-a", tree, server.url)
    bad = wrong(there, names)
    check("over version 4.2, cp -a keeps all times on the way to a server", result.returncode == 0 and
          len(os.listdir(there)) == 5 * len(names) and not bad, result, bad)
    accessed = [name for name in names if os.stat(f"{there}/empty-{name}").st_atime_ns != nanoseconds(name)]
    check("the times of access, too", not accessed, result, accessed)
    result = run("cp", "-a", f"{server.url}tree", back)
    bad = wrong(back, names)
    check("and on the way from one", result.returncode == 0 and len(os.listdir(back)) == 5 * len(names) and not bad, result, bad)
    for source, to in ((tree, f"{server.url}synced"), (f"{server.url}tree", f"{work}/synced")):
        result = run("sync", source, to)
        where = f"{work}/served/synced" if to.startswith("nfs:") else to
        bad = wrong(where, names)
        check("sync keeps them", result.returncode == 0 and not bad, result, bad)
        result = run("sync", "--json", source, to)
        check("and then has nothing to copy", result.returncode == 0 and json.loads(result.stdout)["files"] == 0, result)
    result = run("cp", "-a", tree, f"{server.url}older?version=4.1")
    bad = wrong(f"{work}/served/older", names)
    check("version 4.1 keeps them, too", result.returncode == 0 and not bad, result, bad)


def shown(server, names):
    result = run("ls", "--json", f"{server.url}tree")
    entries = {entry["name"]: (entry["mtime"], entry["mtime_nsec"]) for entry in json.loads(result.stdout)}
    bad = [name for name in names if entries[f"small-{name}"] != TIMES[name]]
    check("ls --json shows them", not bad, result, bad)
    lines = {line.split()[-1]: line for line in run("ls", "-l", f"{server.url}tree").stdout.splitlines()}
    bad = [name for name in names if f" {name[:4]}-" not in lines[f"small-{name}"]]
    check("ls -l shows the years", not bad, result, bad)
    result = run("ls", "-t", f"{server.url}tree")
    order = [line[len("small-"):] for line in result.stdout.splitlines() if line.startswith("small-")]
    check("ls -t sorts by them", order == sorted(names, key=nanoseconds, reverse=True), result)
    for name in sorted(names, key=nanoseconds):
        result = run("stat", "--json", f"{server.url}tree/large-{name}")
        found = json.loads(result.stdout)
        check(f"stat --json shows {name}", (found["mtime"], found["mtime_nsec"]) == TIMES[name], result)
    result = run("stat", f"{server.url}tree/small-1969")
    check("stat shows the last nanosecond before 1970", "Modify: 1969-12-31 23:59:59.999999999 +0000" in result.stdout, result)


def refused(work, server, names):
    """Version 3: a time that it does not hold is left out, and the file is named."""
    message = "its times are not kept: NFS version 3 holds times from 1970 to 2106: use version 4.2"
    others = names - VERSION_3
    for command in (("cp", "-a"), ("sync",)):
        place = f"{work}/served/version-3-{command[0]}"
        result = run(*command, f"{work}/tree", f"{server.url}{os.path.basename(place)}?version=3")
        bad = wrong(place, names & VERSION_3)
        said = sorted(line[:-len(message) - 2].rsplit("/", 1)[1] for line in result.stderr.splitlines() if line.endswith(message))
        want = sorted(f"{kind}-{name}" for kind in ("small", "large", "empty", "link", "directory") for name in others)
        check(f"over version 3, {command[0]} names what it cannot give its times", said == want and result.returncode == 1, result, said, want)
        check("all else has its times", len(os.listdir(place)) == 5 * len(names) and not bad, result, bad)
        sizes = [os.stat(f"{place}/{kind}-{name}").st_size for name in others for kind in ("small", "large", "empty")]
        check("and the data is copied", sizes == [1000, 200_000, 0] * len(others), result)
        check("no time has become another one of version 3", not [entry for entry in os.listdir(place)
              if os.lstat(f"{place}/{entry}").st_mtime_ns in (0, (1 << 32) * BILLION - BILLION) and entry.split("-", 1)[1] in others], result)


def main():
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as second:
        # The one of the two file systems that holds more.
        work = max((first, second), key=lambda directory: len(held(directory)))
        names = held(work)
        for name in sorted(TIMES.keys() - names):
            tap.skip(f"the time {name}", "no file system here holds it")
        make_tree(f"{work}/tree", names)
        os.mkdir(f"{work}/served")
        with Server(TOOL, f"{work}/served") as server:
            kept(work, server, names)
            shown(server, names)
            refused(work, server, names)
    tap.end()


main()
