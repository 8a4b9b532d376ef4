#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""flood.py CASE COUNT SPREAD PORT PATH: COUNT clients that have as many calls under way as they can, each of which takes the
server as long as one call may, or nearly so. SPREAD: 1 if each comes from an address of its own. Says "ready" when it begins, ends at SIGTERM, and prints how many calls
were answered, how many of the answers were failures, and why."""
import collections
import contextlib
import json
import os
import selectors
import signal
import ssl
import struct
import sys

import peers
from peers import MIB, Nfs4, Tcp, call_header, opaque, words

ANYONE = bytes(16)
READABLE = words(2, 0x00180ffa, 0x00b0a23a)  # most attributes that a server may return for each entry
DEPTH, LEVELS = 120, 1500


def root():
    return words(24)


def lookup(name):
    return words(15) + opaque(name)


def putfh(handle):
    return words(22) + opaque(handle)


def path(target):
    return [root(), lookup(target.name)]


def access():
    return words(3, 63)


def getattr_all():
    return words(9) + READABLE


def readdir(size):
    return words(26) + bytes(16) + words(size, size) + READABLE


class Flood:
    """A connection with some calls under way; next() makes a record to send. Calls have the slot's number as their XID."""

    def __init__(self, connection, window):
        self.connection, self.window, self.buffer, self.out = connection, window, b"", []
        self.answered, self.failed = 0, collections.Counter()
        for slot in range(window):
            self.send(slot)
        connection.socket.setblocking(False)

    def send(self, slot):
        self.out.append(memoryview(self.record(slot)))

    def flush(self):
        while self.out:
            sent = self.connection.socket.send(self.out[0])
            if sent < len(self.out[0]):
                self.out[0] = self.out[0][sent:]
                return
            self.out.pop(0)

    def take(self):
        got = self.connection.socket.recv(1 << 20)
        if not got:
            raise EOFError
        self.buffer += got
        while len(self.buffer) >= 4:
            length = struct.unpack(">I", self.buffer[:4])[0] & 0x7fffffff
            if len(self.buffer) < 4 + length:
                return
            reply, self.buffer = self.buffer[4:4 + length], self.buffer[4 + length:]
            self.answered += 1
            status = struct.unpack(">I", reply[24:28])[0] if len(reply) >= 28 else -1
            if status:
                self.failed[status] += 1
            self.send(struct.unpack(">I", reply[:4])[0])


class Flood3(Flood):
    def __init__(self, connection, window, make, program=peers.NFS):
        self.make, self.program = make, program
        super().__init__(connection, window)

    def record(self, slot):
        procedure, arguments = self.make()
        message = call_header(slot, procedure, self.program) + arguments
        return words(0x80000000 | len(message)) + message


class Flood4(Flood):
    """make() returns operations; repeated: how often each call is sent."""

    def __init__(self, client, window, make, repeated=1, tag=b""):
        self.client, self.make, self.repeated, self.tag = client, make, repeated, tag
        self.sequences = collections.Counter({0: client.sequence})
        super().__init__(client.connection, window)

    def record(self, slot):
        self.sequences[slot] += 1
        operations = [words(53) + self.client.session + words(self.sequences[slot], slot, 63, 0), *self.make()]
        message = (call_header(slot, 1, (100003, 4)) + opaque(self.tag) + words(self.client.minor, len(operations)) +
                   b"".join(operations))
        again = call_header(1 << 20, 1, (100003, 4)) + message[len(call_header(0, 1, (100003, 4))):]
        return words(0x80000000 | len(message)) + message + (words(0x80000000 | len(again)) + again) * (self.repeated - 1)

    def send(self, slot):
        if slot < 1 << 20:
            super().send(slot)


class Target:
    """Where to, and the file handles of what is there."""

    def __init__(self, port, path):
        self.tcp = ("127.0.0.1", port)
        self.name = path.strip("/").encode()
        self.root = peers.mounted(self.tcp, path)
        self.file = peers.looked_up(self.tcp, self.root, "file")
        self.directory = peers.looked_up(self.tcp, self.root, "many")
        self.handles = []

    def deep_handles(self):
        """Handles of the last directories of the deep path, as far as the server lets anybody go: half of them, 2000 at most."""
        if not self.handles:
            connection, handle = Tcp(self.tcp), self.root
            while True:
                reply = connection.call(peers.LOOKUP, opaque(handle) + opaque(b"d"))
                if reply[:4] != bytes(4):
                    break
                handle = reply[8:8 + struct.unpack(">I", reply[4:8])[0]]
                self.handles.append(handle)
            if len(self.handles) < LEVELS:
                raise OSError(f"no path of {LEVELS} levels")
            self.handles = self.handles[-min(len(self.handles) // 2, 2000):]
        return self.handles


def mounted(address, minor=2):
    client = Nfs4(address, minor)
    client.exchange()
    client.create_session()
    client.run(words(58, 0))
    return client


def simple4(make, window=8, **more):
    """Operations that are the same in each call."""
    def begin(target, address):
        operations = make(target)
        return Flood4(mounted(address), window, lambda: operations, **more)
    return begin


def simple3(make, window=16, program=peers.NFS):
    def begin(target, address):
        call = make(target)
        return Flood3(Tcp(address), window, lambda: call, program)
    return begin


def lockt(target, address):
    """As many locked ranges of a file as a lock-owner may have, and then questions about it."""
    client = mounted(address)
    stateid = client.open(target.name, b"written-7")
    owner = client.clientid + opaque(client.name())
    result = client.run(root(), lookup(target.name), lookup(b"written-7"),
                        words(12, 1, 0) + struct.pack(">QQ", 1 << 62, 1) + words(1, 0) + stateid + words(0) + owner)
    locked = result[-16:]
    try:
        for at in range(0, 8192, 100):
            client.run(root(), lookup(target.name), lookup(b"written-7"),
                       *[words(12, 1, 0) + struct.pack(">QQ", (1 << 63) + 2 * (at + i), 1) + words(0) + locked + words(0)
                         for i in range(100)])
    except OSError as error:
        if "status" not in str(error):
            raise
    asked = words(13, 1) + struct.pack(">QQ", 1 << 63, 1 << 62) + client.clientid + opaque(b"asks")
    operations = [root(), lookup(target.name), lookup(b"written-7"), *[asked] * 120]
    return Flood4(client, 8, lambda: operations)


def open_file(client, owner):
    return words(18, 0, 1, 0) + client.clientid + opaque(owner) + words(0, 0) + opaque(b"file")


def opens(target, address):
    """Opens that stay, each of another owner, up to the quota."""
    client = mounted(address)

    def make():
        return [*path(target), words(32), *[op for _ in range(20) for op in (open_file(client, client.name()), words(31))]]
    return Flood4(client, 8, make)


def open_close(target, address):
    client = mounted(address)
    current = words(1) + bytes(12)

    def make():
        return [*path(target), words(32), *[open_file(client, client.name()), words(4, 0) + current, words(31)] * 20]
    return Flood4(client, 8, make)


def exchange(target, address):
    client = mounted(address)

    class Exchange(Flood4):
        def record(self, slot):
            message = (call_header(slot, 1, (100003, 4)) + opaque(b"") + words(1, 1) + words(42) + bytes(8) +
                       opaque(client.name()) + words(0, 0, 0))
            return words(0x80000000 | len(message)) + message
    return Exchange(client, 8, None)


def deep_handles3(target, address):
    handles, at = target.deep_handles(), [0]

    def make():
        at[0] = (at[0] + 7) % len(handles)
        return peers.GETATTR, opaque(handles[at[0]])
    return Flood3(Tcp(address), 16, make)


def deep_handles4(target, address):
    handles, at = target.deep_handles(), [0]

    def make():
        at[0] += 420
        return [op for i in range(60) for op in (putfh(handles[(at[0] + 7 * i) % len(handles)]), access())]
    return Flood4(mounted(address), 8, make)


def missing(target, address):
    """A name that is not there, another one each time."""
    client, at = mounted(address), [0]

    def make():
        at[0] += 1
        return [putfh(target.directory), lookup(b"missing-%d" % at[0])]
    return Flood4(client, 32, make)


# ---- Contexts of Kerberos ----

def tlv(tag, *parts):
    """A type, a length and a value, as ASN.1 has them."""
    value = b"".join(parts)
    length = len(value).to_bytes((len(value).bit_length() + 7) // 8 or 1, "big")
    return bytes([tag]) + (bytes([len(value)]) if len(value) < 128 else bytes([0x80 | len(length)]) + length) + value


def number(value):
    return tlv(2, bytes([value]))


def sealed(size):
    """An EncryptedData of aes256-cts-hmac-sha1-96 that nobody has encrypted."""
    return tlv(0x30, tlv(0xa0, number(18)), tlv(0xa1, number(1)), tlv(0xa2, tlv(4, os.urandom(size))))


def token():
    """RFC 4121, 4.1: an AP-REQ for nfs/localhost, of which all is right but what only a key can show."""
    name = tlv(0x30, tlv(0xa0, number(1)), tlv(0xa1, tlv(0x30, tlv(0x1b, b"nfs"), tlv(0x1b, b"localhost"))))
    ticket = tlv(0x61, tlv(0x30, tlv(0xa0, number(5)), tlv(0xa1, tlv(0x1b, b"REALM.TEST")), tlv(0xa2, name), tlv(0xa3, sealed(300))))
    request = tlv(0x6e, tlv(0x30, tlv(0xa0, number(5)), tlv(0xa1, number(14)), tlv(0xa2, tlv(3, b"\0\x20\0\0\0")),
                            tlv(0xa3, ticket), tlv(0xa4, sealed(180))))
    return tlv(0x60, tlv(6, b"\x2a\x86\x48\x86\xf7\x12\x01\x02\x02"), b"\1\0", request)


class Creation(Flood):
    """RFC 2203, 5.2: each call asks for a context, with a token that the server has to look at."""

    def record(self, slot):
        message = words(slot, 0, 2, 100003, 3, 0, 6, 20, 1, 1, 0, 1, 0, 0, 0) + opaque(token())
        return words(0x80000000 | len(message)) + message


class Guess(Flood):
    """RFC 2203, 5.3.1: each call names a context by a handle that is guessed, with a checksum that is made up."""

    def record(self, slot):
        self.number = getattr(self, "number", 0) + 1
        message = (words(slot, 0, 2, 100003, 3, 1, 6, 36, 1, 0, self.number, 2) + opaque(os.urandom(16)) +
                   words(6) + opaque(os.urandom(28)) + opaque(words(self.number) + opaque(os.urandom(28))) + opaque(os.urandom(28)))
        return words(0x80000000 | len(message)) + message


def hello():
    """The octets of a ClientHello."""
    context, outward = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), ssl.MemoryBIO()
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), outward).do_handshake()
    return outward.read()


class Handshake(Flood):
    """RFC 9289, 4.1: a probe, and once it is answered, the first octets of a ClientHello. A whole one costs the server a key
    exchange and a signature. Then the connection stays as it is, or is dropped, and another one comes. answered: by the server's
    own octets of TLS, or by STARTTLS where there are none to come."""

    HELLO = hello()

    def __init__(self, connection, octets, dropped):
        self.octets, self.dropped, self.agreed = octets, dropped, False
        super().__init__(connection, 1)

    def record(self, slot):
        return peers.PROBE

    def take(self):
        got = self.connection.socket.recv(1 << 16)
        if not got:
            raise EOFError
        if not self.agreed:
            self.buffer += got
            if len(self.buffer) < len(peers.STARTTLS):
                return
            if self.buffer != peers.STARTTLS:
                raise OSError("the server has no TLS")
            self.agreed = True
            self.out.append(memoryview(self.octets))
            self.answered += len(self.octets) == 1
            return
        self.answered += 1
        if self.dropped:
            raise EOFError("dropped")


def handshake(octets, dropped=False):
    return lambda target, address: Handshake(Tcp(address), octets, dropped)


def of(name):
    return lambda target: [*path(target), lookup(name)]


CASES = {
    "lockt": lockt, "deep-v3": deep_handles3, "deep-handles": deep_handles4,
    "lookups": simple4(lambda t: path(t) * 60),
    "deep": simple4(lambda t: [*path(t), *[lookup(b"d")] * DEPTH]),
    "access": simple4(lambda t: [*path(t), *[access()] * 124]),
    "getattr-all": simple4(lambda t: [*path(t), *[getattr_all()] * 120]),
    "test-stateid": simple4(lambda t: [words(55, 1000) + bytes(16000)] * 3),
    "tags": simple4(lambda t: [], tag=b"t" * 1024),
    "tags-100k": simple4(lambda t: [], tag=b"t" * 100000),
    "replays": simple4(lambda t: [putfh(t.directory), readdir(60000)], repeated=6),
    "readdir-all": simple4(lambda t: [putfh(t.directory), readdir(60000)]),
    "readdir-many": simple4(lambda t: [op for _ in range(14) for op in (putfh(t.directory), readdir(4096))]),
    "reads": simple4(lambda t: [putfh(t.file), words(25) + ANYONE + struct.pack(">QI", 0, MIB)], 4),
    "copy": simple4(lambda t: [putfh(t.file), words(32), *path(t), lookup(b"written-7"),
                               words(60) + ANYONE + ANYONE + struct.pack(">QQQ", 0, 0, MIB) + words(1, 1, 0)], 4),
    "opens": opens, "open-close": open_close, "exchange": exchange,
    "mounts": simple3(lambda t: (1, opaque(b"/" + t.name)), program=peers.MOUNT),
    "v3-access": simple3(lambda t: (4, opaque(t.file) + words(63)), 64),
    "v3-readdirplus": simple3(lambda t: (peers.READDIRPLUS, peers.readdirplus_args(t.directory, 65536))),
    "v3-create": simple3(lambda t: (8, opaque(t.root) + opaque(b"made") + words(0) + bytes(24))),
    "v3-commit": simple3(lambda t: (21, opaque(t.file) + bytes(12))),
    "seek": simple4(lambda t: [putfh(t.file), *[words(69) + ANYONE + bytes(8) + words(0)] * 120]),
    "read-plus": simple4(lambda t: [*of(b"holes")(t), *[words(68) + ANYONE + struct.pack(">QI", 0, 16384)] * 8]),
    "allocate": simple4(lambda t: [*of(b"written-7")(t), *[words(59) + ANYONE + struct.pack(">QQ", 0, 1 << 62)] * 100]),
    "xattr": simple4(lambda t: [*of(b"written-7")(t), *[words(74) + bytes(8) + words(4096)] * 100]),
    "open-missing": missing,
    "contexts": lambda target, address: Creation(Tcp(address), 16), "handles": lambda target, address: Guess(Tcp(address), 64),
    "tls-begun": handshake(Handshake.HELLO[:1]), "tls-half": handshake(Handshake.HELLO),
    "tls-dropped": handshake(Handshake.HELLO, True),
}
OF_TLS = {"tls-begun", "tls-half", "tls-dropped"}
HANDSHAKES = 32  # that each attacker of these has under way: more than a server takes of one address


def main():
    case, count, spread, port, path = sys.argv[1:]
    target, ended, floods = Target(int(port), path), [], []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    selector, lost, made, why = selectors.DefaultSelector(), 0, 0, ""
    print("ready", flush=True)
    answered, failed = 0, collections.Counter()
    while not ended:
        while len(floods) < int(count) * (HANDSHAKES if case in OF_TLS else 1):
            made += 1
            number = made % int(count) if case in OF_TLS else made  # handshakes: of the same addresses, again and again
            address = (*target.tcp, f"127.1.{number // 250 % 250}.{number % 250 + 1}") if int(spread) else target.tcp
            try:
                flood = CASES[case](target, address)
            except (OSError, EOFError) as error:
                lost, why = lost + 1, repr(error)
                break
            floods.append(flood)
            selector.register(flood.connection.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, flood)
        for key, _ in selector.select(0.1):
            flood = key.data
            try:
                flood.flush()
                selector.modify(flood.connection.socket, selectors.EVENT_READ, flood)
            except BlockingIOError:
                pass
            except OSError:
                pass
            try:
                flood.take()
                flood.flush()
            except BlockingIOError:
                pass
            except (OSError, EOFError) as error:
                lost, why = lost + 1, repr(error)
                answered += flood.answered
                failed += flood.failed
                selector.unregister(flood.connection.socket)
                flood.connection.socket.close()
                floods.remove(flood)
                continue
            if flood.out:
                selector.modify(flood.connection.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, flood)
    answered += sum(flood.answered for flood in floods)
    failed = sum((flood.failed for flood in floods), failed)
    print(json.dumps({"answered": answered, "failed": dict(failed.most_common(3)), "lost": lost, "why": why}), flush=True)


if __name__ == "__main__":
    main()
