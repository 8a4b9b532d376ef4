#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_signals.py TOOL: a signal that is ignored when the command begins stays ignored, as nohup(1) wants it; and a limit of
the size of files is an error, and no death."""
import os
import resource
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap

TOOL = os.path.abspath(sys.argv[1])
tap = Tap()


def ignored(number):
    return lambda: signal.signal(number, signal.SIG_IGN)


def few_octets():
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))


with tempfile.TemporaryDirectory() as work:
    os.mkdir(f"{work}/served")
    with open(f"{work}/served/big", "wb") as file:
        file.truncate(256 << 20)
    for number in (signal.SIGHUP, signal.SIGINT):
        before = signal.signal(number, signal.SIG_IGN)
        server = Server(TOOL, f"{work}/served")
        signal.signal(number, before)
        with server:
            server.process.send_signal(number)
            command = [TOOL, "cp", "-q", "--sparse=never", f"{server.url}big", f"{work}/copy"]
            copy = subprocess.Popen(command, preexec_fn=ignored(number))
            while copy.poll() is None and not os.path.exists(f"{work}/.copy.rpcrdma-0"):
                pass
            copy.send_signal(number)
            status = copy.wait(timeout=60)
            tap.result(status == 0 and os.path.exists(f"{work}/copy") and os.path.getsize(f"{work}/copy") == 256 << 20, f"cp goes on after an ignored {number.name}", [status])
            os.path.exists(f"{work}/copy") and os.unlink(f"{work}/copy")
            tap.result(server.process.poll() is None, "so does serve")
    with Server(TOOL, f"{work}/served") as server:
        done = subprocess.run([TOOL, "cp", "-q", "--sparse=never", f"{server.url}big", f"{work}/limited"], preexec_fn=few_octets,
                              capture_output=True, text=True, timeout=60)
        tap.result(done.returncode == 1 and "File too large" in done.stderr and os.listdir(work).count("limited") == 0,
                   "a file that is too large for ulimit -f is an error with a message", [done, os.listdir(work)])
tap.end()
