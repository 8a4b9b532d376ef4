#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_hang_pace.py TOOL PACE: a file system in which one kind of request hangs for ever, and clients of NFS versions 3, 4.1
and 4.2 of other directories, which go on as fast as without it. Pairs of rounds, one with calls that hang and one without
them, tell; a round has so many calls, and no time of its own is asked for."""
import os
import select
import statistics
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attack"))
from fuse import FLUSH, GETATTR, SETLK, WRITE, Hanging
from peers import GETATTR as NFS_GETATTR
from peers import WRITE as NFS_WRITE
from peers import Nfs4, Tcp, looked_up, mounted, opaque, words, write_head
from tap import Server, Tap, free_port

TOOL, PACE = (os.path.abspath(name) for name in sys.argv[1:3])
VERSIONS = ("3", "4.1", "4.2")
CALLS = 900  # of each client in a round
PAIRS, PAIRS_MAX, LEAST = 7, 45, 0.9
CONNECTIONS, EACH = 6, 16  # 96 calls hang: more than the 64 threads that a server has for its storage
DELAY = 10008  # NFS4ERR_DELAY
STOPPED = 60  # seconds without an end of a round
tap = Tap()


class Version3:
    """Calls of version 3 for the file that hangs."""

    def __init__(self, address, procedure, arguments):
        handle = looked_up(address, mounted(address, "/"), "mounted")
        self.file = looked_up(address, handle, "file")
        self.connections = [Tcp(address) for _ in range(CONNECTIONS)]
        self.call = (procedure, arguments(self.file))

    def prepare(self):
        """Nothing has to be opened."""

    def begin(self):
        for connection in self.connections:
            connection.many(*[self.call] * EACH)

    def end(self):
        """The answers. OSError: one is a failure."""
        for connection in self.connections:
            for _ in range(EACH):
                if reply(connection)[:4] != bytes(4):
                    raise OSError("a call of version 3 failed")


class Version4:
    """Files that are open over version 4.1, and for each an operation that hangs."""

    def __init__(self, address, operation):
        self.clients = [Nfs4(address) for _ in range(CONNECTIONS)]
        self.operation = operation
        self.sequences = 0
        for client in self.clients:
            client.mount()
        found = self.clients[0].run(words(24), words(15) + opaque(b"mounted"), words(15) + opaque(b"file"), words(10))
        self.file = found[32:36 + struct.unpack(">I", found[32:36])[0] + 3 & -4]

    def prepare(self):
        self.opens = [[opened(client) for _ in range(EACH)] for client in self.clients]

    def send(self, operation):
        """Sends it for each open file, each in a slot of its own, behind slot 0, which Nfs4 uses."""
        self.sequences += 1
        for client, opens in zip(self.clients, self.opens):
            for place, stateid in enumerate(opens):
                sequence = words(53) + client.session + words(self.sequences, 1 + place, EACH, 0)
                operations = [sequence, words(22) + self.file, operation(client, stateid, place)]
                client.connection.many((1, opaque(b"") + words(1, len(operations)) + b"".join(operations), (100003, 4)))

    def receive(self):
        for client in self.clients:
            for _ in range(EACH):
                status = struct.unpack(">I", reply(client.connection)[:4])[0]
                if status != 0:
                    raise OSError(f"a call of version 4 failed: {status}")

    def begin(self):
        self.send(self.operation)

    def end(self):
        self.receive()
        if self.operation is not close:
            self.send(close)
            self.receive()


def opened(client):
    """The stateid of a new open. A server that has no thread to spare for the file system asks to come back."""
    while True:
        try:
            return client.open(b"mounted", b"file")
        except OSError as error:
            if str(DELAY) not in str(error):
                raise


def reply(connection):
    return connection.exactly(struct.unpack(">I", connection.exactly(4))[0] & 0x7fffffff)[24:]


def close(client, stateid, place):
    return words(4, 0) + stateid


def lock(client, stateid, place):
    """A LOCK of an octet that nobody else locks."""
    return words(12, 1, 0) + struct.pack(">QQ", place, 1) + words(1, 0) + stateid + words(0) + client.clientid + opaque(client.name())


CASES = {
    "FLUSH": (FLUSH, lambda address: Version4(address, close)),
    "LOCK": (SETLK, lambda address: Version4(address, lock)),
    "GETATTR": (GETATTR, lambda address: Version3(address, NFS_GETATTR, opaque)),
    "WRITE": (WRITE, lambda address: Version3(address, NFS_WRITE, lambda file: write_head(file, 0, 8) + b"8 octets")),
}


class Pace:
    """The clients that go on."""

    def __init__(self, url):
        self.process = subprocess.Popen([PACE, url, str(CALLS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def round(self):
        """The rates, or those of clients that have stopped. Nobody waits for ever for these."""
        if self.process.poll() is not None:
            return [0.0] * len(VERSIONS)
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], STOPPED)[0]:
            self.process.kill()
            self.process.wait()
        return [float(rate) for rate in self.process.stdout.readline().split()] or [0.0] * len(VERSIONS)

    def end(self):
        if self.process.poll() is None:
            self.process.stdin.close()
        return self.process.wait(timeout=60)


def pair(hanging, kind, waiting, pace, first):
    """The rates with calls that hang, by those without, for each version; and how many requests hung."""
    rates, held = {}, 0
    for hangs in (first, not first):
        if hangs:
            waiting.prepare()
            hanging.asked.clear()
            hanging.hang(kind)
            waiting.begin()
            hanging.asked.wait(60)
        rates[hangs] = pace.round()
        if hangs:
            held = hanging.recover()
            waiting.end()
    return [with_it / without if without else 0.0 for with_it, without in zip(rates[True], rates[False])], held


def case(folder, name, kind, make):
    for path in ("mounted", *VERSIONS):
        os.makedirs(f"{folder}/{path}")
    for version in VERSIONS:
        with open(f"{folder}/{version}/file", "wb") as file:
            file.write(bytes(4096))
    with Hanging(f"{folder}/mounted") as hanging, Server(TOOL, folder, tcp_port=free_port()) as server:
        waiting = make(("127.0.0.1", server.tcp_port))
        pace = Pace(server.url)
        pace.round()
        ratios, held = [], []
        while pace.process.poll() is None and (len(ratios) < PAIRS or (len(ratios) < PAIRS_MAX and min(middle(ratios)) < LEAST)):
            ratio, count = pair(hanging, kind, waiting, pace, len(ratios) % 2 == 0)
            ratios.append(ratio)
            held.append(count)
        tap.result(min(held) > 0, f"{name} hangs in each pair of rounds", [held])
        for version, ratio in zip(VERSIONS, middle(ratios)):
            tap.result(ratio >= LEAST, f"a client of version {version} goes on while {name} hangs",
                       [f"at {ratio:.3f} of its rate: {[round(one[VERSIONS.index(version)], 3) for one in ratios]}"])
        tap.note(f"{name}: {', '.join(f'{ratio:.3f}' for ratio in middle(ratios))} after {len(ratios)} pairs; {held} requests hung")
        tap.result(pace.end() == 0, "and none of its calls failed")


def middle(ratios):
    return [statistics.median(column) for column in zip(*ratios)]


if os.geteuid() != 0 or not os.access("/dev/fuse", os.R_OK | os.W_OK):
    tap.skip("a file system that hangs", "needs root and /dev/fuse")
    tap.end()
for name, (kind, make) in CASES.items():
    with tempfile.TemporaryDirectory() as directory:
        case(directory, name, kind, make)
tap.end()
