#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_cp_small.py TOOL: `rpcrdma cp -r` of many small files: how many calls it takes, how many files are under way at a
time, and what stays behind."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap, stop_when

TOOL = os.path.abspath(sys.argv[1])
FILES = 600
tap = Tap()


def run(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=120)


def check(name, good, *details):
    tap.result(good, name, details)


def spent(server, *arguments):
    """Runs the command. Returns its result, and how often it has called each procedure."""
    before = server.calls()
    return run(*arguments), server.calls_since(before)


def temporaries(*tops):
    return [os.path.join(path, name) for top in tops for path, _, names in os.walk(top) for name in names if ".rpcrdma-" in name]


def fill(top):
    os.makedirs(f"{top}/sub")
    for i in range(FILES):
        with open(f"{top}/{i}", "wb") as file:
            file.write(os.urandom(2000 if i else 0))
        os.chmod(f"{top}/{i}", 0o640)
        os.utime(f"{top}/{i}", ns=(i, 1_234_567_890_000_000_000 + i))


def same(a, b):
    for i in range(FILES):
        x, y = os.stat(f"{a}/{i}"), os.stat(f"{b}/{i}")
        if (x.st_mode, x.st_mtime_ns, x.st_size) != (y.st_mode, y.st_mtime_ns, y.st_size):
            return False
    return subprocess.run(["diff", "-r", a, b], capture_output=True).returncode == 0


def version_3(server, name):
    """Returns a URL of version 3, whose calls a server counts by procedure."""
    return f"{server.url}{name}?version=3"


def counts(work, server):
    result, up = spent(server, "cp", "-r", f"{work}/source", version_3(server, "up"))
    check("many files are pushed", result.returncode == 0 and same(f"{work}/source", f"{work}/served/up"), result.stderr)
    check("each by its own calls and no more", up["CREATE"] == FILES and up["WRITE"] == FILES - 1 and up["RENAME"] == FILES
          and up["SETATTR"] <= FILES + 2 and "COMMIT" not in up and up.get("LOOKUP", 0) < 10 and up.get("GETATTR", 0) < 10, up)
    result, down = spent(server, "cp", "-r", version_3(server, "up"), f"{work}/down")
    check("and pulled", result.returncode == 0 and same(f"{work}/source", f"{work}/down"), result.stderr)
    check("by one READ each", down["READ"] == FILES and down.get("LOOKUP", 0) < 10 and down.get("GETATTR", 0) < 10, down)
    result = run("cp", "-r", version_3(server, "up"), version_3(server, "third"))
    check("and from the server to itself", result.returncode == 0 and same(f"{work}/source", f"{work}/served/third"), result.stderr)
    with open(f"{work}/served/up/7", "w") as file:
        file.write("an older one")
    os.unlink(f"{work}/served/up/8")
    result = run("cp", "-r", f"{work}/source/", version_3(server, "again"))
    os.rename(f"{work}/served/again", f"{work}/served/source")
    result = run("cp", "-r", f"{work}/source", version_3(server, ""))
    check("files that exist are written over", result.returncode == 0 and same(f"{work}/source", f"{work}/served/source"), result.stderr)


def compounds(work, log, server):
    """With version 4, a small file is made, written and renamed by one COMPOUND, and opened, read and closed by one."""
    for version in ("4.1", "4.2"):
        there = f"{server.url}{version}?version={version}"
        result, up = spent(server, "cp", "-r", f"{work}/source", there)
        check(f"many files are pushed with version {version}", result.returncode == 0 and same(f"{work}/source", f"{work}/served/{version}"),
              result.stderr)
        check("each by one COMPOUND", up["COMPOUND"] < 1.3 * FILES, up)
        result, down = spent(server, "cp", "-r", there, f"{work}/down-{version}")
        check("and pulled", result.returncode == 0 and same(f"{work}/source", f"{work}/down-{version}"), result.stderr)
        check("by one COMPOUND each", down["COMPOUND"] < 1.3 * FILES, down)
    with open(log) as file:
        check("and nothing stays open", file.read().splitlines()[-1] ==
              "state of NFS version 4: 0 clients, 0 sessions, 0 opens, 0 locks, 0 delegations")
    _, spoken = spent(server, "cp", f"{server.url}4.2/1?version=4.2", f"{work}/one")
    check("a file takes a COMPOUND for its path, and for its data", spoken["COMPOUND"] <= 12, spoken)


def together(work, server):
    """Several files are copied at a time: the server is stopped again and again, and has several temporary files then. A copy
    that was too quick is made again."""
    most = copies = status = 0
    while most < 4 and copies < 20 and status == 0:
        process = subprocess.Popen([TOOL, "cp", "-q", "-r", f"{work}/source", version_3(server, f"together-{copies}")])
        while process.poll() is None:
            server.process.send_signal(signal.SIGSTOP)
            most = max(most, len(temporaries(f"{work}/served")))
            server.process.send_signal(signal.SIGCONT)
            time.sleep(0.0005)
        status = process.returncode
        copies += 1
    check("several files are under way at a time", status == 0 and most >= 4, most, status)
    check("and none of them stays half made", not temporaries(work), temporaries(work))


def ended(work, server):
    process = subprocess.Popen([TOOL, "cp", "-q", "-r", f"{work}/source", server.url + "ended"], stderr=subprocess.PIPE)
    while process.poll() is None and not temporaries(f"{work}/served"):
        time.sleep(0.0005)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    check("an interrupted copy of many leaves none half made", process.returncode in (0, -signal.SIGINT)
          and not temporaries(work), process.returncode, temporaries(work))


def stale(work, server):
    for place, source, target in ((f"{work}/served", f"{work}/source/1", server.url + "new"),
                                  (work, server.url + "up/1", f"{work}/new")):
        for number, age in ((0, 7200), (1, 60), (2, 7200)):
            path = f"{place}/.new.rpcrdma-{number}"
            with open(path, "w") as file:
                file.write("left behind")
            os.utime(path, (time.time() - age, time.time() - age))
        result = run("cp", source, target)
        left = [os.path.basename(path) for path in temporaries(place) if os.path.dirname(path) == place]
        check("what a killed copy left is removed by a later one, when it is old", result.returncode == 0
              and left == [".new.rpcrdma-1"], left, result.stderr)
        os.unlink(f"{place}/.new.rpcrdma-1")


def stale_links(work, server):
    """Temporary links of a link in a tree: what is old is removed, and when all their names exist, the message says so."""
    for source in (f"{work}/linked", f"{work}/served/linked"):
        os.mkdir(source)
        os.symlink("target", f"{source}/link")
    for place, source, target in ((f"{work}/served/links", f"{work}/linked", server.url + "links"),
                                  (f"{work}/links", server.url + "linked", f"{work}/links")):
        into = f"{place}/linked"
        os.makedirs(into)
        for number, age in ((0, 7200), (1, 60), (2, 7200)):
            os.symlink("left behind", f"{into}/.link.rpcrdma-{number}")
            os.utime(f"{into}/.link.rpcrdma-{number}", (time.time() - age, time.time() - age), follow_symlinks=False)
        result = run("cp", "-r", source, target)
        left = sorted(os.listdir(into))
        check("so is an old link", result.returncode == 0 and left == [".link.rpcrdma-1", "link"], left, result.stderr)
        for number in range(16):
            if not os.path.lexists(f"{into}/.link.rpcrdma-{number}"):
                os.symlink("left behind", f"{into}/.link.rpcrdma-{number}")
        result = run("cp", "-r", source, target)
        check("a link whose temporary names all exist is an error with its own reason", result.returncode == 1
              and "too many copies" in result.stderr, result.stderr)


def grown(work, server):
    """A small file grows after its directory was listed, while the client waits for a large one that comes before it."""
    source, target = f"{work}/served/growing", f"{work}/served/grown/growing"
    os.makedirs(source)
    os.mkdir(f"{work}/served/grown")
    smalls = ("a", "z")
    for name in ("a", "large", "z"):
        open(f"{source}/{name}", "w").close()
    with open(f"{source}/large", "wb") as file:
        for _ in range(64):
            file.write(b"x" * (1 << 20))
    for _ in range(50):
        for name in smalls:
            with open(f"{source}/{name}", "w") as file:
                file.write("of the list")
        process = subprocess.Popen([TOOL, "cp", "-qr", server.url + "growing", server.url + "grown"], stderr=subprocess.PIPE, text=True)
        stop_when(process, lambda: os.path.exists(f"{target}/.large.rpcrdma-0"))
        late = [name for name in smalls if not os.path.exists(f"{target}/{name}") and not os.path.exists(f"{target}/.{name}.rpcrdma-0")]
        for name in late:
            with open(f"{source}/{name}", "a") as file:
                file.write(", and more")
        process.send_signal(signal.SIGCONT)
        errors = process.communicate(timeout=60)[1]
        if late:
            break
        shutil.rmtree(target)
    else:
        tap.skip("a small file that grew after it was listed is copied as a whole", "the copy was always faster than the test")
        return
    texts = []
    for name in late:
        with open(f"{target}/{name}") as file:
            texts.append(file.read())
    check("a small file that grew after it was listed is copied as a whole", process.returncode == 0
          and set(texts) == {"of the list, and more"}, process.returncode, texts, errors)
    shutil.rmtree(source)
    shutil.rmtree(target)


def main():
    with tempfile.TemporaryDirectory(prefix="rpcrdma-small-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as work:
        os.mkdir(f"{work}/served")
        fill(f"{work}/source")
        with open(f"{work}/log", "w") as log, Server(TOOL, f"{work}/served", stderr=log) as server:
            run("ls", version_3(server, ""))
            counts(work, server)
            compounds(work, f"{work}/log", server)
            together(work, server)
            ended(work, server)
            stale(work, server)
            stale_links(work, server)
            grown(work, server)
    tap.end()


main()
