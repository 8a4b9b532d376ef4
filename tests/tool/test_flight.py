#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_flight.py TOOL: --flight writes the last packets when something went wrong, and nothing when all is well."""
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from fuse import Hanging
from tap import Server, Tap

TOOL = os.path.abspath(sys.argv[1])
tap = Tap()


def messages(path):
    done = subprocess.run([TOOL, "decode", "--json", path], capture_output=True, text=True, timeout=120)
    return [m for m in map(json.loads, done.stdout.splitlines()) if m["event"] == "message"]


def ls(path, url):
    return subprocess.run([TOOL, "ls", "--flight", path, url], capture_output=True, text=True, timeout=120)


def await_file(path, process=None):
    """Waits until the file exists and has a whole message. False: it did not in time, or the process ended."""
    for _ in range(1200):
        if process and process.poll() is not None:
            return False
        if os.path.exists(path) and messages(path):
            return True
        time.sleep(0.1)
    return False


def mpa_peer(answer):
    """Starts a responder that agrees to iWARP, waits for a message, and then sends `answer`. Returns its URL."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            peer, _ = listener.accept()
            request = peer.recv(20, socket.MSG_WAITALL)
            data = peer.recv(struct.unpack(">H", request[18:20])[0], socket.MSG_WAITALL)
            peer.sendall(b"MPA ID Rep Frame" + request[16:20] + data)
            while peer.recv(65536):
                if answer:
                    try:
                        peer.sendall(answer)
                        peer.shutdown(socket.SHUT_WR)
                    except OSError:  # it went away
                        break

    threading.Thread(target=serve, daemon=True).start()
    return f"nfs://127.0.0.1:{listener.getsockname()[1]}/"


def test_server(top):
    with Server(TOOL, f"{top}/served", "--flight", f"{top}/server") as server:
        done = ls(f"{top}/well", server.url)
        tap.result(done.returncode == 0 and not os.path.exists(f"{top}/well") and not done.stderr, "nothing is written when all is well",
                   [done.stderr])
        done = ls(f"{top}/failed", f"{server.url}nothing")
        tap.result(done.returncode == 1 and len(messages(f"{top}/failed")) > 4 and "last packets" in done.stderr,
                   "a failure writes what went before it", [done.stderr])
        subprocess.run([TOOL, "ping", "-c", "2000", "-i", "0", server.url], capture_output=True, timeout=120)
        server.process.send_signal(signal.SIGUSR2)
        written = await_file(f"{top}/server")
        seen = messages(f"{top}/server") if written else []
        tap.result(500 < len(seen) <= 1024 and os.path.getsize(f"{top}/server") < 1 << 20,
                   f"SIGUSR2 writes the last packets, here {len(seen)} messages from the middle of a connection", [len(seen)])
        tap.result(server.stop() == 0, "and the server goes on until it is stopped")


def test_guarded(top):
    """A child process serves, as a file system that may hang is exported. The process that was started gets the signal."""
    if os.geteuid() != 0 or not os.access("/dev/fuse", os.R_OK | os.W_OK):
        tap.skip("SIGUSR2 reaches the child that serves", "needs root and /dev/fuse")
        return
    os.makedirs(f"{top}/guarded/mounted")
    with Hanging(f"{top}/guarded/mounted", True), Server(TOOL, f"{top}/guarded", "--flight", f"{top}/child") as server:
        done = ls(f"{top}/before", server.url)
        server.process.send_signal(signal.SIGUSR2)
        written = done.returncode == 0 and await_file(f"{top}/child", server.process)
        tap.result(written and server.process.poll() is None and server.stop() == 0,
                   "SIGUSR2 reaches the child that serves, which goes on until it is stopped", [done.stderr, server.process.poll()])


def test_protocol(top):
    """The peer sends an FPDU with an opcode that does not exist."""
    path = f"{top}/protocol"
    url = mpa_peer(struct.pack(">HHIIIII", 18, 0x414f, 0, 0, 1, 0, 0))
    process = subprocess.Popen([TOOL, "ping", "-c", "1", "--flight", path, url], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    tap.result(await_file(path), "an error of the protocol writes the last packets")
    process.terminate()
    process.wait()


def test_hang(top):
    path = f"{top}/hang"
    process = subprocess.Popen([TOOL, "ping", "-c", "1", "--rpcrdma-version", "1", "--flight", path, mpa_peer(b"")],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    tap.result(await_file(path) and process.poll() is None, "a call without an answer writes the last packets, while it waits")
    process.terminate()
    process.wait()


with tempfile.TemporaryDirectory(prefix="rpcrdma-flight-") as top:
    os.mkdir(f"{top}/served")
    test_server(top)
    test_guarded(top)
    test_protocol(top)
    test_hang(top)
tap.end()
