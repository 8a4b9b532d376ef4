#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_hang.py TOOL: storage that does not answer stops those who wait for it, and nobody else."""
import os
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from fuse import CONTENT, FLUSH, READ, Hanging
from tap import Server, Tap

TOOL = os.path.abspath(sys.argv[1])
WAITING = 48  # more than the 32 threads that a server has for its storage
tap = Tap()


def cat(server, path, limit=60):
    """Returns what `rpcrdma cat` prints. None: there was no answer in time."""
    try:
        return subprocess.run([TOOL, "cat", server.url + path], capture_output=True, timeout=limit).stdout
    except subprocess.TimeoutExpired:
        return None


def others_go_on(server, folder):
    names = [f"f{number}" for number in range(20)]
    for name in names:
        with open(f"{folder}/{name}", "w") as file:
            file.write(name)
    tap.result(all(cat(server, name) == name.encode() for name in names), "files elsewhere are read meanwhile")
    listing = subprocess.run([TOOL, "ls", server.url], capture_output=True, text=True, timeout=60).stdout
    tap.result(all(name in listing.split() for name in names), "the directory above is listed", [listing])
    done = subprocess.run([TOOL, "mkdir", server.url + "made"], timeout=60).returncode
    tap.result(done == 0 and os.path.isdir(f"{folder}/made"), "and changed")
    os.rmdir(f"{folder}/made")


def wait_for(condition, limit=60):
    """Waits until the condition holds. False: it did not in time."""
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def refused(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def ends(server, folder, name):
    start = time.monotonic()
    server.process.terminate()
    try:
        status = server.process.wait(timeout=60)
    except subprocess.TimeoutExpired:
        status = None
    took = time.monotonic() - start
    tap.result(status == 0 and took < 6, f"the server ends within 5 s of SIGTERM: {name}", [f"status {status} after {took} s"])
    tap.result(refused(server.port), "its port is free")
    with Server(TOOL, f"{folder}/other", port=server.port) as after:
        tap.result(cat(after, "file") == b"other", "and the next server serves there")


def hang(folder, takes):
    name = "its requests were taken" if takes else "its requests were not taken"
    for path in ("served/mounted", "other"):
        os.makedirs(f"{folder}/{path}")
    with open(f"{folder}/other/file", "w") as file:
        file.write("other")
    with Hanging(f"{folder}/served/mounted", takes) as hanging, Server(TOOL, f"{folder}/served") as server:
        tap.result(cat(server, "mounted/file") == CONTENT, "the file system is served while it answers")
        hanging.hangs.set()
        readers = [subprocess.Popen([TOOL, "cat", server.url + "mounted/file"], stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL) for _ in range(WAITING)]
        hanging.asked.wait(60)
        others_go_on(server, f"{folder}/served")
        tap.result(all(reader.poll() is None for reader in readers), "those who read from it wait")
        for reader in readers:
            reader.kill()
            reader.wait()
        ends(server, folder, name)


def closed(folder):
    """close(2) tells a file system, and waits for its answer."""
    for path in ("served/mounted", "other"):
        os.makedirs(f"{folder}/{path}")
    with open(f"{folder}/other/file", "w") as file:
        file.write("other")
    with Hanging(f"{folder}/served/mounted") as hanging, Server(TOOL, f"{folder}/served") as server:
        tap.result(cat(server, "mounted/file") == CONTENT, "files are closed while the file system answers")
        hanging.hang(FLUSH, after=READ)
        readers = [subprocess.Popen([TOOL, "cat", server.url + "mounted/file"], stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL) for _ in range(WAITING)]
        tap.result(hanging.asked.wait(60), "the file system does not answer when a file is closed")
        others_go_on(server, f"{folder}/served")
        states = [reader.poll() for reader in readers]
        tap.result(None in states and 0 not in states, "those who closed the file wait, and none is told that it is closed", [states])
        for reader in readers:
            reader.kill()
            reader.wait()
        others_go_on(server, f"{folder}/served")
        ends(server, folder, "it did not answer when files were closed")


def killed(folder):
    """A child process serves. When the process that was started is killed, the child ends, too."""
    os.makedirs(f"{folder}/served/mounted")
    with Hanging(f"{folder}/served/mounted", True), Server(TOOL, f"{folder}/served") as server:
        tap.result(cat(server, "mounted/file") == CONTENT, "a child serves")
        server.kill()
        tap.result(wait_for(lambda: refused(server.port)), "SIGKILL ends the child, too")


if os.geteuid() != 0 or not os.access("/dev/fuse", os.R_OK | os.W_OK):
    tap.skip("storage that hangs", "needs root and /dev/fuse")
    tap.end()
for case in (lambda folder: hang(folder, False), lambda folder: hang(folder, True), closed, killed):
    with tempfile.TemporaryDirectory() as directory:
        case(directory)
tap.end()
