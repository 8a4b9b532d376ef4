# SPDX-License-Identifier: BSD-3-Clause
"""Somebody on the way between a client and a server over TCP, who reads RPCSEC_GSS, and may change answers: for tests."""
import socket
import struct
import threading

RPCSEC_GSS = 6
INIT, CONTINUE_INIT = 1, 2
CONTINUE_NEEDED = 1
NONE, INTEGRITY = 1, 2  # services


def padded(octets):
    return octets + bytes(-len(octets) % 4)


def opaque(octets):
    return struct.pack(">I", len(octets)) + padded(octets)


def take(octets, at):
    """The opaque at that place, and the place behind it."""
    size, = struct.unpack_from(">I", octets, at)
    return octets[at + 4:at + 4 + size], at + 4 + (size + 3 & ~3)


def receive(stream, size):
    octets = b""
    while len(octets) < size:
        more = stream.recv(size - len(octets))
        if not more:
            raise ConnectionError
        octets += more
    return octets


def record(stream):
    octets, last = b"", False
    while not last:
        mark, = struct.unpack(">I", receive(stream, 4))
        last = mark >> 31
        octets += receive(stream, mark & 0x7fffffff)
    return octets


class Call:
    """What a call says of its credential, and which operation of NFS version 4 it begins with, unless that is encrypted; else None. gss: the
    procedure of RPCSEC_GSS; None: the call has another flavor. rest: what is behind that operation's number."""

    def __init__(self, octets):
        self.gss = self.service = self.operation = None
        _, _, _, program, version, procedure, flavor = struct.unpack_from(">7I", octets)
        if flavor == RPCSEC_GSS:
            _, self.gss, self.number, self.service = struct.unpack_from(">IIII", octets, 32)
        _, at = take(octets, 28)
        _, at = take(octets, at + 4)
        if (program, version, procedure) == (100003, 4, 1) and self.service in (None, NONE, INTEGRITY):
            at += 8 if self.service == INTEGRITY else 0
            _, at = take(octets, at)
            self.operation, = struct.unpack_from(">I", octets, at + 8)
            self.rest = octets[at + 12:]


class Answer:
    """An accepted answer, in parts that may be changed: the flavor and the verifier, and what follows it."""

    def __init__(self, octets):
        self.front = octets[:12]
        self.flavor, = struct.unpack_from(">I", octets, 12)
        self.verifier, at = take(octets, 16)
        self.rest = octets[at:]

    def octets(self):
        return self.front + struct.pack(">I", self.flavor) + opaque(self.verifier) + self.rest

    def made(self, change):
        """Changes the answer to an INIT: handle, major, minor, window, token."""
        handle, at = take(self.rest, 4)
        numbers = struct.unpack_from(">III", self.rest, at)
        token, _ = take(self.rest, at + 12)
        handle, numbers, token = change(handle, numbers, token)
        self.rest = self.rest[:4] + opaque(handle) + struct.pack(">III", *numbers) + opaque(token)


class Between:
    """Listens in front of a server, and has change(call, answer) change its answers: returns True if it has, False if not, or None: there is
    to be none. watch(call) sees each call, and has the connection end where it returns True; the server then has the call."""

    def __init__(self, port, change=lambda call, answer: False, watch=lambda call: False):
        self.to, self.change, self.watch, self.changed = port, change, watch, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        server = socket.create_connection(("127.0.0.1", self.to))
        try:
            while True:
                call = record(client)
                server.sendall(struct.pack(">I", len(call) | 1 << 31) + call)
                what = Call(call)
                if self.watch(what):
                    record(server)
                    return
                answer = self.answered(what, record(server))
                if answer is not None:
                    client.sendall(struct.pack(">I", len(answer) | 1 << 31) + answer)
        except OSError:
            pass
        finally:
            client.close()
            server.close()

    def answered(self, call, octets):
        if call.gss is None or struct.unpack_from(">I", octets, 8)[0] != 0:
            return octets
        answer = Answer(octets)
        changed = self.change(call, answer)
        self.changed += changed is not False
        return answer.octets() if changed else octets if changed is False else None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.listener.close()
