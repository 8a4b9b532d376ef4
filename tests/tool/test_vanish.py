#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_vanish.py TOOL: names that vanish while `rpcrdma cp -r`, `sync --delete` or `ls -R` walks through a tree."""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap, stop_when

TOOL = os.path.abspath(sys.argv[1])
KINDS = ("file", "link", "directory", "large", "small")
tap = Tap()


def check(name, good, result, *details):
    tap.result(good, name, [f"exit status {result.returncode}", result.stdout, result.stderr, *details])


def make(path, kind):
    if kind == "directory":
        os.mkdir(path)
    elif kind == "link":
        os.symlink("nowhere", path)
    else:
        with open(path, "wb") as file:
            file.write(b"x" * {"file": 100000, "large": 2000000, "small": 10}[kind])


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)


def pause(command, ready):
    """Runs the command, and stops it once ready() is true, unless it has ended. Returns its process."""
    process = subprocess.Popen([TOOL, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    stop_when(process, ready)
    return process


def go_on(process):
    process.send_signal(signal.SIGCONT)
    output, errors = process.communicate(timeout=60)
    return subprocess.CompletedProcess([], process.returncode, output, errors)


def summary(result):
    try:
        return json.loads(result.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        return {"failed": -1, "vanished": -1, "files": -1, "removed": -1}


def from_here(work, server, library):
    """An entry of the local source vanishes between the look at it and its opening."""
    for command in (["cp", "-r"], ["sync"]):
        for kind in KINDS:
            source, target = f"{work}/here", f"{work}/served/up"
            os.mkdir(source)
            make(f"{source}/gone", kind)
            make(f"{source}/kept", "file")
            result = subprocess.run([TOOL, *command, "--json", source, server.url + "up"], capture_output=True, text=True, timeout=60,
                                    env={**os.environ, "LD_PRELOAD": library, "VANISH": "gone"})
            check(f"what vanishes here is no failure of {command[0]}: {kind}", result.returncode == 0 and summary(result)["vanished"] == 1
                  and summary(result)["failed"] == 0 and f"{source}/gone: it vanished" in result.stderr
                  and os.listdir(target) == ["kept"], result, os.listdir(target))
            shutil.rmtree(source)
            shutil.rmtree(target)


def removed_here(work, server, library):
    """What `sync --delete` is to remove here is removed by another process first."""
    os.mkdir(f"{work}/served/empty")
    for kind in KINDS:
        os.mkdir(f"{work}/target")
        make(f"{work}/target/gone", kind)
        make(f"{work}/target/too", "file")
        result = subprocess.run([TOOL, "sync", "--json", "--delete", server.url + "empty", f"{work}/target"], capture_output=True, text=True,
                                timeout=60, env={**os.environ, "LD_PRELOAD": library, "VANISH": "gone"})
        check(f"what another process removes here is no failure of --delete: {kind}", result.returncode == 0 and result.stderr == ""
              and summary(result)["removed"] == 1 and os.listdir(f"{work}/target") == [], result)
        shutil.rmtree(f"{work}/target")


def from_server(work, server):
    """Entries of the source, on the server, vanish after they were listed, while a large file in front of them is copied."""
    source, target = f"{work}/served/many", f"{work}/down"
    names = [f"z-{kind}" for kind in KINDS]
    for command in (["cp", "-qr"], ["sync", "-q"]):
        for _ in range(50):
            os.mkdir(source)
            with open(f"{source}/first", "wb") as file:
                file.truncate(100 << 20)
            for name, kind in zip(names, KINDS):
                make(f"{source}/{name}", kind)
            make(f"{source}/z-directory/in", "small")
            process = pause(command + ["--sparse=never"] * (command[0] == "cp") + [server.url + "many", target],
                            lambda: os.path.exists(f"{target}/.first.rpcrdma-0"))
            early = os.path.exists(f"{target}/.first.rpcrdma-0")
            for name in names if early else []:
                remove(f"{source}/{name}")
            result = go_on(process)
            left = sorted(os.listdir(target))
            shutil.rmtree(source)
            shutil.rmtree(target)
            if early:
                break
        else:
            tap.skip(f"what vanishes on the server is no failure of {command[0]}", "the copy was always faster than the test")
            continue
        # The empty directory may have been made already, as it was on the server when it was listed.
        check(f"what vanishes on the server is no failure of {command[0]}", result.returncode == 0 and result.stderr.count("it vanished") >= 5
              and [name for name in left if name != "z-directory"] == ["first"], result, left)


def removed_there(work, server):
    """What `sync --delete` is to remove on the server is removed by another process, after it was listed."""
    os.makedirs(f"{work}/nothing", exist_ok=True)
    target = f"{work}/served/crowd"
    for _ in range(50):
        os.mkdir(target)
        for i in range(1500):
            make(f"{target}/{i:04}", "small" if i % 50 else "directory")
        make(f"{target}/1450/in", "small")
        process = pause(["sync", "--json", "--delete", f"{work}/nothing", server.url + "crowd"], lambda: len(os.listdir(target)) < 1500)
        left = os.listdir(target)
        for name in left:
            # The server may still be at calls that the command sent before it was stopped.
            with contextlib.suppress(FileNotFoundError):
                remove(f"{target}/{name}")
        result = go_on(process)
        shutil.rmtree(target, ignore_errors=True)
        if len(left) > 500:
            break
    else:
        tap.skip("what another process removes on the server is no failure of --delete", "the command was always faster than the test")
        return
    check("what another process removes on the server is no failure of --delete", result.returncode == 0 and result.stderr == ""
          and 0 < summary(result)["removed"] < 1500, result, len(left))


def listed(work, server):
    """Directories and links vanish while `ls -lR` waits for the reader of its output."""
    top = f"{work}/served/listed"
    os.makedirs(f"{top}/a")
    for i in range(1000):
        make(f"{top}/a/{'x' * 200}{i}", "small")
    make(f"{top}/a/y", "link")
    for name in ("b", "c", "d/e"):
        os.makedirs(f"{top}/{name}")
        make(f"{top}/{name}/in", "small")
    process = subprocess.Popen([TOOL, "ls", "-lR", server.url + "listed"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    begin = os.read(process.stdout.fileno(), 1)
    for name in ("a/y", "b"):
        remove(f"{top}/{name}")
    remove(f"{top}/d")
    output, errors = process.communicate(timeout=60)
    output = (begin + output).decode()
    result = subprocess.CompletedProcess([], process.returncode, output[-1000:], errors.decode())
    check("ls -lR leaves out directories and links that vanish", result.returncode == 0 and result.stderr == "" and " in\n" in output.split("/c:\n")[-1]
          and " y" not in output and "/b:" not in output and "/d:" not in output, result)
    process = subprocess.Popen([TOOL, "ls", "-R", server.url + "listed"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.read(process.stdout.fileno(), 1)
    remove(top)
    errors = process.communicate(timeout=60)[1].decode()
    check("but not when all that the URL names vanishes", process.returncode == 1 and errors,
          subprocess.CompletedProcess([], process.returncode, "", errors))


def main():
    library = os.environ.get("RPCRDMA_VANISH")
    with tempfile.TemporaryDirectory(prefix="rpcrdma-vanish-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as work:
        os.mkdir(f"{work}/served")
        with Server(TOOL, f"{work}/served") as server:
            for part in (from_here, removed_here):
                if library:
                    part(work, server, library)
                else:
                    tap.skip(part.__doc__, "there is no library that removes files")
            from_server(work, server)
            removed_there(work, server)
            listed(work, server)
    tap.end()


main()
