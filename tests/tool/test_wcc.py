#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_wcc.py TOOL: clients of a server with several threads change one directory and one file at the same time. A client that
finds its cached times in the first half of a reply's wcc_data takes all that is between the halves for its own change (RFC 1813,
2.6), so that no change of another client may be there."""
import os
import socket
import struct
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap, free_port

TOOL = os.path.abspath(sys.argv[1])
CLIENTS, CALLS = 8, 25
NFS, MOUNT = (100003, 3), (100005, 3)
MNT, WRITE, CREATE, GUARDED, FILE_SYNC = 1, 7, 8, 1, 2
FATTR_BEFORE_CTIME, NO_ATTRIBUTES = 76, bytes(24)  # of a fattr3; of a sattr3 that sets nothing
AUTH_SYS = bytes(20)  # stamp, no machine, uid and gid 0, no groups
tap = Tap()


def opaque(octets):
    return struct.pack(">I", len(octets)) + octets + bytes(-len(octets) % 4)


class Reader:
    def __init__(self, octets):
        self.octets, self.at = octets, 0

    def take(self, count):
        self.at += count
        return self.octets[self.at - count:self.at]

    def word(self):
        return struct.unpack(">I", self.take(4))[0]

    def opaque(self):
        length = self.word()
        return self.take(length + -length % 4)[:length]

    def time(self):
        return struct.unpack(">II", self.take(8))

    def attributes(self):
        """Reads a post_op_attr. Returns its time of change, or None."""
        if not self.word():
            return None
        self.take(FATTR_BEFORE_CTIME)
        return self.time()

    def wcc(self):
        """Reads a wcc_data. Returns the times of change before and after; None for a half without attributes."""
        before = None
        if self.word():
            self.take(16)  # size and mtime
            before = self.time()
        return before, self.attributes()


class Client:
    """A client over TCP that makes a call at a time."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.xid = 0

    def receive(self, count):
        octets = b""
        while len(octets) < count:
            more = self.socket.recv(count - len(octets))
            if not more:
                raise ConnectionError("the server closed the connection")
            octets += more
        return octets

    def call(self, program, procedure, arguments):
        """Makes a call, whose status must be 0. Returns a reader of the results after the status."""
        self.xid += 1
        message = struct.pack(">IIIIII", self.xid, 0, 2, *program, procedure) + struct.pack(">I", 1) + opaque(AUTH_SYS) + \
            struct.pack(">II", 0, 0) + arguments
        self.socket.sendall(struct.pack(">I", 1 << 31 | len(message)) + message)
        reply = Reader(self.receive(struct.unpack(">I", self.receive(4))[0] & 0x7fffffff))
        words = struct.unpack(">IIIIII", reply.take(24))
        status = reply.word()
        if words != (self.xid, 1, 0, 0, 0, 0) or status != 0:
            raise RuntimeError(f"procedure {procedure}: reply {words}, status {status}")
        return reply

    def create(self, directory, name):
        """Creates a file. Returns its handle, and the times of change of the directory before and after."""
        reply = self.call(NFS, CREATE, opaque(directory) + opaque(name.encode()) + struct.pack(">I", GUARDED) + NO_ATTRIBUTES)
        handle = reply.opaque() if reply.word() else None
        reply.attributes()
        return handle, reply.wcc()

    def write(self, file, offset):
        reply = self.call(NFS, WRITE, opaque(file) + struct.pack(">QII", offset, 8, FILE_SYNC) + opaque(b"eight888"))
        return reply.wcc()


def at_the_same_time(clients, change):
    """Calls change(client, number of the client, number of the call) in a thread for each client. Returns the results by
    client."""
    times = [[] for _ in clients]

    def run(number):
        for call in range(CALLS):
            times[number].append(change(clients[number], number, call))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(clients))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times


def enclosed(times):
    """Returns the replies with a change of another client between the times of their two halves."""
    found = []
    for one, mine in enumerate(times):
        others = sorted(after for other, theirs in enumerate(times) if other != one for _, after in theirs if after)
        found += [(one, before, change, after) for before, after in mine if before and after
                  for change in others if before < change < after]
    return found


def complete(times):
    return all(len(mine) == CALLS and all(after for _, after in mine) for mine in times)


def run(folder):
    port = free_port()
    with Server(TOOL, folder, "--threads", "4", tcp_port=port):
        clients = [Client(port) for _ in range(CLIENTS)]
        root = clients[0].call(MOUNT, MNT, opaque(b"/")).opaque()
        times = at_the_same_time(clients, lambda client, number, call: client.create(root, f"{number}-{call}")[1])
        found = enclosed(times)
        tap.result(complete(times) and not found, "no CREATE takes another client's change of the directory for its own", found[:5])
        file = clients[0].create(root, "file")[0]
        times = at_the_same_time(clients, lambda client, number, call: client.write(file, 8 * (number * CALLS + call)))
        found = enclosed(times)
        tap.result(complete(times) and not found, "no WRITE takes another client's change of the file for its own", found[:5])
        tap.result(not [before for mine in times for before, _ in mine if before], "a WRITE does not say what was before it")


def main():
    with tempfile.TemporaryDirectory() as folder:
        run(folder)
    tap.end()


main()
