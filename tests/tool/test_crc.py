#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_crc.py TOOL: --crc of every sub-command that connects, as the wire has it. RFC 5044, 7.1.1: "C: This bit declares an
endpoint's preferred CRC usage."; where it "is '1' in either the MPA Request Frame or MPA Reply Frame, CRCs MUST be generated
and checked by both endpoints." """
import os
import socket
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Gateway, Server, Tap

TOOL = os.path.abspath(sys.argv[1])
FLAGS, CRC = 16, 0x40  # in an MPA frame, after its key
tap = Tap()


class Relay:
    """Passes connections on to the server at `port`. `said` has [C of the request, C of the reply] of each connection."""

    def __init__(self, port):
        self.port, self.said = port, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"nfs://127.0.0.1:{self.listener.getsockname()[1]}/"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            client = self.listener.accept()[0]
            server = socket.create_connection(("127.0.0.1", self.port))
            said = []
            self.said.append(said)
            for ends in ((client, server), (server, client)):
                threading.Thread(target=self.pass_on, args=(*ends, said), daemon=True).start()

    @staticmethod
    def pass_on(source, sink, said):
        data = source.recv(65536)
        said.append(bool(data[FLAGS] & CRC))
        try:
            while data:
                sink.sendall(data)
                data = source.recv(65536)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # the other direction ended both


def check(name, relay, wanted, *command):
    relay.said.clear()
    result = subprocess.run([TOOL, *command], capture_output=True, timeout=60)
    good = result.returncode == 0 and relay.said and all(said == wanted for said in relay.said)
    tap.result(good, name, [relay.said, result.stderr])


def commands(work, relay, serving):
    """Runs each command with and without --crc. The request has C with --crc; the reply has C with --crc, or when `serving`
    has it."""
    for option in ([], ["--crc"]):
        asked = [bool(option), bool(option or serving)]
        name = f"{' '.join(option) or 'nothing'}, to a server with {' '.join(serving) or 'nothing'}"
        check(f"ping {name}", relay, asked, "ping", "-c", "1", *option, relay.url)
        check(f"cp to it {name}", relay, asked, "cp", *option, f"{work}/file", relay.url)
        check(f"cp from it {name}", relay, asked, "cp", *option, f"{relay.url}file", f"{work}/back")
        for command in ("ls", "stat", "cat"):
            check(f"{command} {name}", relay, asked, command, *option, f"{relay.url}file")
        with Gateway(TOOL, relay.url, *option) as gateway:
            check(f"gateway {name}", relay, asked, "ls", gateway.tcp_url())


with tempfile.TemporaryDirectory() as top:
    os.mkdir(f"{top}/served")
    with open(f"{top}/file", "wb") as file:
        file.write(os.urandom(100001))
    for options in ([], ["--crc"]):
        with Server(TOOL, f"{top}/served", *options) as server:
            commands(top, Relay(server.port), options)
tap.end()
