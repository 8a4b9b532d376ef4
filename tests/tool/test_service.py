#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_service.py TOOL SOURCE BUILD: `serve` tells the service manager when it is ready; the units are good ones; bash completes
what --help shows."""
import os
import shutil
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap

TOOL, SOURCE, BUILD = (os.path.abspath(argument) for argument in sys.argv[1:4])
tap = Tap()


def notified(folder, name, address):
    """Returns what a server sends to NOTIFY_SOCKET."""
    os.makedirs(f"{folder}/served", exist_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address.replace("@", "\0"))
        manager.settimeout(60)
        os.environ["NOTIFY_SOCKET"] = address
        with Server(TOOL, f"{folder}/served"):
            got = manager.recv(100)
        del os.environ["NOTIFY_SOCKET"]
    tap.result(got == b"READY=1", f"a server that is up says so, to {name}", [got])


def unreachable(folder):
    os.environ["NOTIFY_SOCKET"] = f"{folder}/nobody"
    with Server(TOOL, f"{folder}/served", stderr=subprocess.PIPE) as server:
        server.stop()
        text = server.process.stderr.read()
    del os.environ["NOTIFY_SOCKET"]
    tap.result("cannot be reached" in text, "it serves where nobody listens there, and says that", [text])


def units(folder):
    if not shutil.which("systemd-analyze"):
        tap.skip("the units are good ones", "there is no systemd-analyze")
        return
    for kind in ("serve", "gateway"):
        with open(f"{BUILD}/systemd/rpcrdma-{kind}@.service") as unit:
            lines = ["ExecStart=/bin/true\n" if line.startswith("ExecStart=") else line for line in unit]
        with open(f"{folder}/rpcrdma-{kind}@one.service", "w") as unit:
            unit.writelines(line for line in lines if not line.startswith("Documentation="))
        result = subprocess.run(["systemd-analyze", "verify", "--man=no", f"{folder}/rpcrdma-{kind}@one.service"],
                                capture_output=True, text=True)
        mine = [line for line in result.stderr.splitlines() if "rpcrdma" in line]
        tap.result(not mine, f"the unit of {kind} is a good one", mine)


def programs():
    """A small system has the shell, but not the packages of other programs, such as /bin/kill."""
    for kind in ("serve", "gateway"):
        with open(f"{BUILD}/systemd/rpcrdma-{kind}@.service") as unit:
            first = [line.split("=", 1)[1].split()[0] for line in unit if line.startswith("Exec")]
        tap.result(first and not [name for name in first if name != "/bin/sh" and not name.endswith("/rpcrdma")],
                   f"the unit of {kind} starts rpcrdma and the shell alone", first)


def completed(*words):
    script = f'source "{SOURCE}/completion/rpcrdma"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _rpcrdma; ' \
        'printf "%s\\n" "${COMPREPLY[@]}"'
    return subprocess.run(["bash", "-c", script, "bash", *words], capture_output=True, text=True).stdout.split()


def completion():
    tap.result(completed(TOOL, "s") == ["serve", "stat", "sync"], "bash completes sub-commands", completed(TOOL, "s"))
    tap.result(completed(TOOL, "serve", "--tcp") == ["--tcp-port"], "and their options", completed(TOOL, "serve", "--tcp"))


def main():
    with tempfile.TemporaryDirectory() as folder:
        notified(folder, "a socket with a path", f"{folder}/manager")
        notified(folder, "an abstract one", f"@rpcrdma-test-{os.getpid()}")
        unreachable(folder)
        units(folder)
    programs()
    completion()
    tap.end()


main()
