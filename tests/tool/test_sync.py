#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_sync.py TOOL: `rpcrdma sync` to, from and between servers."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap

TOOL = os.path.abspath(sys.argv[1])
TIME = 1_234_567_890_123_456_789
tap = Tap()


def run(*arguments, **options):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=120, **options)


def sync(*arguments):
    """Runs `sync --json`. Returns the result of the process, the summary, and the actions of a dry run."""
    result = run("sync", "--json", *arguments)
    try:
        *actions, summary = [json.loads(line) for line in result.stdout.splitlines()]
    except ValueError:
        return result, {}, []
    return result, summary, sorted((action["action"], action["path"]) for action in actions)


def write(path, octets, time=TIME):
    with open(path, "wb") as file:
        file.write(octets)
    os.utime(path, ns=(time, time))


def make_tree(top):
    os.makedirs(f"{top}/a/b")
    os.makedirs(f"{top}/empty")
    for i in range(60):
        write(f"{top}/a/{i}", os.urandom(i * 111))
    write(f"{top}/a/b/large", os.urandom(400000))
    write(f"{top}/name\nwith a line", b"x")
    os.link(f"{top}/a/b/large", f"{top}/a/too")
    os.symlink("b/large", f"{top}/a/link")


def describe(top):
    found = {}
    for path, directories, names in os.walk(top):
        for name in ["."] + directories + names:
            full = os.path.normpath(f"{path}/{name}")
            st = os.lstat(full)
            entry = [st.st_mode]
            if os.path.islink(full):
                entry.append(os.readlink(full))
            else:
                entry.append(st.st_mtime_ns)
            if os.path.isfile(full) and not os.path.islink(full):
                with open(full, "rb") as file:
                    entry += [st.st_nlink, file.read()]
            found[os.path.relpath(full, top)] = entry
    return found


def differences(a, b):
    a, b = describe(a), describe(b)
    return [(path, str(a.get(path))[:100], str(b.get(path))[:100]) for path in sorted(a.keys() | b.keys())
            if a.get(path) != b.get(path)]


def check(name, good, result, *details):
    tap.result(good, name, [*details, f"exit status {result.returncode}", result.stdout, result.stderr])


def change(top):
    """Makes a change of each kind in a tree."""
    write(f"{top}/a/1", b"longer than it was" * 20)
    write(f"{top}/a/2", b"newer", TIME + 1)
    write(f"{top}/a/new", b"new")
    os.unlink(f"{top}/a/3")
    os.unlink(f"{top}/a/link")
    os.symlink("b", f"{top}/a/link")
    os.rmdir(f"{top}/empty")
    write(f"{top}/empty", b"a file now")
    os.unlink(f"{top}/a/4")
    os.mkdir(f"{top}/a/4")
    write(f"{top}/a/4/in", b"in")
    os.makedirs(f"{top}/more/below")
    write(f"{top}/more/below/file", b"x" * 70000)
    os.chmod(f"{top}/a/5", 0o600)


def way(work, name, source, there, destination, here):
    """Syncs `there` to `here`, which are paths or URLs. `source` and `destination` are their directories on this machine."""
    make_tree(source)
    result, _, actions = sync("--dry-run", there, here)
    check(f"a dry run says what is missing, {name}", result.returncode == 0 and ("make", ".") in actions and
          ("copy", "a/b/large") in actions and not os.path.exists(destination), result)
    result = run("sync", "-n", there, here)
    check(f"and how much it would copy, {name}", result.returncode == 0 and "would copy 63 files, 4 directories, 1 link: " in
          result.stdout and "copied" not in result.stdout, result)
    result, summary, _ = sync(there, here)
    bad = differences(source, destination)
    check(f"a tree is made, {name}", result.returncode == 0 and not bad and summary["files"] == 62 and summary["names"] == 1 and
          summary["directories"] == 4, result, *bad)
    before = {path: os.lstat(f"{destination}/{path}").st_ino for path in describe(destination)}
    result, summary, _ = sync(there, here)
    after = {path: os.lstat(f"{destination}/{path}").st_ino for path in describe(destination)}
    check(f"what is the same is left, {name}", result.returncode == 0 and not differences(source, destination) and
          summary["files"] + summary["links"] + summary["names"] == 0 and before == after, result)
    check(f"directories that nothing changed are not counted, {name}", summary["directories"] == 0, result)
    change(source)
    os.makedirs(f"{destination}/strange/deep")
    write(f"{destination}/strange/deep/file", b"x")
    os.symlink("/", f"{destination}/strange/root")
    kept = describe(destination)
    result, summary, actions = sync("--delete", "-n", there, here)
    wanted = [("copy", path) for path in ("a/1", "a/2", "a/4/in", "a/link", "a/new", "empty", "more/below/file")]
    wanted += [("make", path) for path in ("a/4", "more", "more/below")]
    wanted += [("set", path) for path in (".", "a", "a/5")]
    wanted += [("remove", path) for path in ("a/3", "a/4", "empty", "strange", "strange/deep", "strange/deep/file", "strange/root")]
    check(f"a dry run says what changed, {name}", result.returncode == 0 and actions == sorted(wanted) and
          summary["removed"] == 7 and summary["directories"] == 5 and describe(destination) == kept, result,
          sorted(set(actions) ^ set(wanted)))
    result, summary, _ = sync(there, here)
    check(f"without --delete nothing is removed, {name}", result.returncode == 1 and summary["removed"] == 0 and
          os.path.exists(f"{destination}/strange/root") and os.path.isdir(f"{destination}/empty") and
          os.path.exists(f"{destination}/a/3") and os.path.exists(f"{destination}/a/new"), result)
    result, summary, _ = sync("--delete", there, here)
    bad = differences(source, destination)
    check(f"--delete removes what the source has not, {name}", result.returncode == 0 and not bad and
          summary["removed"] == 7, result, *bad)
    os.utime(f"{source}/a/b", ns=(TIME, TIME + 7))
    os.chmod(f"{source}/more", 0o700)
    result, summary, actions = sync("-n", there, here)
    check(f"a dry run says of directories, too, what would be set, {name}", result.returncode == 0 and
          actions == [("set", "a/b"), ("set", "more")] and summary["directories"] == 2, result)
    result, summary, _ = sync(there, here)
    bad = differences(source, destination)
    check(f"directories are counted whose attributes changed, {name}", result.returncode == 0 and not bad and
          summary["directories"] == 2, result, *bad)
    with open(f"{destination}/a/6", "r+b") as file:
        file.write(b"other")
    os.utime(f"{destination}/a/6", ns=(TIME, TIME))
    result, summary, _ = sync(there, here)
    check(f"equal times and sizes are taken for equal files, {name}", result.returncode == 0 and summary["files"] == 0, result)
    os.utime(f"{destination}/a/7", ns=(TIME, TIME + 5))
    result, summary, _ = sync("--checksum", there, here)
    bad = differences(source, destination)
    check(f"--checksum looks at contents, {name}", result.returncode == 0 and not bad and summary["files"] == 1, result, *bad)


def refusals(work, server):
    for operands in (["a", "b"], [f"{server.url}a"], [f"{server.url}a", "b", "c"]):
        result = run("sync", *operands)
        check(f"{len(operands)} operands, or no URL, are a mistake", result.returncode == 2, result)
    os.makedirs(f"{work}/source")
    os.makedirs(f"{work}/target/kept")
    result = run("sync", "--delete", f"{server.url}absent", f"{work}/target")
    check("a source that is not there removes nothing", result.returncode == 1 and os.path.isdir(f"{work}/target/kept"), result)
    result = run("sync", "--delete", f"{work}/source", f"{server.url}")
    check("an export can be emptied, as the user says so", result.returncode == 0 and os.listdir(f"{work}/served") == [], result)
    write(f"{work}/single", b"single")
    result = run("sync", f"{work}/single", f"{server.url}file")
    check("one file is a source, too", result.returncode == 0 and os.path.isfile(f"{work}/served/file"), result)


def nested(work, server):
    """With --delete, sync does not remove its own source, which lies in the destination."""
    here, there = f"{work}/served/nested", f"{server.url}nested"
    for name, source, target in (("by URLs", there, there), ("from here to the server", here, there), ("from the server to here", there, here)):
        os.makedirs(f"{here}/up/source/source")
        os.makedirs(f"{here}/other")
        for path in ("up/source/file", "up/source/source/in", "up/old"):
            write(f"{here}/{path}", b"x")
        before = describe(here)
        result, _, actions = sync("-n", "--delete", f"{source}/up/source", target)
        check(f"a dry run says nothing of removing the source, {name}", result.returncode == 1 and "and stays" in result.stderr
              and [path for action, path in actions if action == "remove"] == ["other", "up/old"] and describe(here) == before, result)
        result, summary, _ = sync("--delete", f"{source}/up/source", target)
        kept = describe(f"{here}/up/source") if os.path.exists(f"{here}/up/source") else {}
        check(f"the source stays, and what is above it, {name}", result.returncode == 1 and "up/source: it is what is copied, and stays" in
              result.stderr and kept.keys() == {".", "file", "source", "source/in"} and sorted(os.listdir(here)) == ["file", "source", "up"]
              and os.listdir(f"{here}/up") == ["source"] and summary["removed"] == 2, result)
        shutil.rmtree(here)
        os.makedirs(f"{here}/source/source")
        for path in ("source/file", "source/source/in"):
            write(f"{here}/{path}", b"x")
        result, summary, _ = sync("--delete", f"{source}/source", target)
        check(f"so does a source that has a directory of its own name, {name}", result.returncode == 1 and "and stays" in result.stderr
              and describe(f"{here}/source").keys() == {".", "file", "source", "source/in"} and os.path.exists(f"{here}/file"), result)
        result, summary, _ = sync("--delete", source, f"{target}/source")
        check(f"a destination in the source is made equal to it, and not copied into itself, {name}", result.returncode == 1
              and "into itself" in result.stderr and sorted(os.listdir(f"{here}/source")) == ["file", "source"]
              and sorted(os.listdir(here)) == ["file", "source"], result)
        shutil.rmtree(here)


def unreadable(work):
    """With --delete, sync removes nothing below a directory of the source that cannot be read."""
    os.makedirs(f"{work}/shut/in")
    os.makedirs(f"{work}/was/in")
    write(f"{work}/was/in/kept", b"x")
    with Server(TOOL, f"{work}/shut") as server:
        os.chmod(f"{work}/shut/in", 0)
        result = run("sync", "--delete", f"{server.url}?uid=7777&gid=7777", f"{work}/was")
        os.chmod(f"{work}/shut/in", 0o755)
        name = "what cannot be listed removes nothing"
        if os.geteuid():
            tap.skip(name, "only root can become somebody else")
        else:
            check(name, result.returncode == 1 and os.path.exists(f"{work}/was/in/kept"), result)


def coarse(work, unit):
    """Times count as equal where the destination keeps them in a coarse unit, and only there."""
    library = os.environ.get("RPCRDMA_COARSE")
    name = f"what was copied is left where times are kept in units of {unit} ns"
    if not library:
        tap.skip(name, "there is no library that makes times coarse")
        return
    rounded = {**os.environ, "LD_PRELOAD": library, "COARSE": str(unit)}
    here, there = f"{work}/fine-{unit}", f"{work}/coarse-{unit}"
    os.makedirs(f"{here}/in")
    os.makedirs(there)
    for i, (seconds, nanoseconds) in enumerate(((1, 123456789), (2, 999999999), (3, 0), (4, 1), (5, 500000000), (6, 700))):
        write(f"{here}/{i}", b"x" * 10, (1_700_000_000 + seconds) * 10**9 + nanoseconds)
        write(f"{here}/in/{i}", b"y" * 70000, (1_700_000_001 + seconds) * 10**9 + nanoseconds)
    os.utime(f"{here}/in", ns=(TIME, TIME))
    os.utime(here, ns=(TIME, TIME))
    environment = dict(os.environ)
    os.environ.update(rounded)
    try:
        with Server(TOOL, there) as server:
            os.environ.clear()
            os.environ.update(environment)
            for to, place, options in ((f"{server.url}to", f"{there}/to", {}), (f"{work}/local-{unit}", f"{work}/local-{unit}", {"env": rounded})):
                source = here if place == f"{there}/to" else f"{server.url}exact"
                if source != here:
                    shutil.copytree(here, f"{there}/exact")
                run("sync", source, to, **options)
                for command in (["sync", "--json"], ["sync", "-n", "--json"], ["cp", "-r", "-u", "--json"]):
                    last = [] if command[0] == "sync" else ["/."]
                    result = run(*command, source + "".join(last), to + ("/" if last else ""), **options)
                    summary = json.loads(result.stdout.splitlines()[-1])
                    check(f"{name}: {' '.join(command)} {'up' if source == here else 'down'}", summary["files"] == 0 and summary["skipped"] == 12 and
                          summary["directories"] == 0 and ".times" not in str(os.listdir(place)), result)
                # A change within the same unit is a change: only what the file system makes of the time of the source is equal.
                now = os.stat(f"{place}/1").st_mtime_ns
                os.utime(f"{place}/1", ns=(now, now // 10**9 * 10**9 if unit == 1 else now - 2 * 10**9))
                result = run("sync", "--json", source, to, **options)
                check("another time is another time", json.loads(result.stdout.splitlines()[-1])["files"] == 1, result)
    finally:
        os.environ.clear()
        os.environ.update(environment)


def main():
    os.umask(0o022)
    # The commands sync what they write to disk, which takes no time for files in memory.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as work:
        os.chmod(work, 0o755)
        os.makedirs(f"{work}/served")
        served = f"{work}/served"
        with Server(TOOL, served) as server:
            way(work, "to a server", f"{work}/one", f"{work}/one", f"{served}/one", f"{server.url}one")
            way(work, "from a server", f"{served}/two", f"{server.url}two", f"{work}/two", f"{work}/two")
            way(work, "on a server", f"{served}/three", f"{server.url}three", f"{served}/four", f"{server.url}four")
            shutil.rmtree(f"{work}/two")
            nested(work, server)
            refusals(work, server)
        unreadable(work)
        for unit in (1, 100, 10**6, 10**9, 2 * 10**9):
            coarse(work, unit)
    tap.end()


main()
