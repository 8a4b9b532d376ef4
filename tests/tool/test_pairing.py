#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_pairing.py TOOL: the octets on the wire of COMPOUNDs with many READs, through `rpcrdma gateway`. The client offers a
Write chunk for each READ over RDMA, the server answers over TCP, and both are played by this test. RFC 8267, 6.4.1: "The first
chunk in the Write list MUST be used by the first READ operation in an NFS version 4 COMPOUND procedure. The next Write chunk is
used by the next READ operation, and so on." """
import os
import socket
import struct
import sys
import threading

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path[:0] = [TESTS, os.path.join(TESTS, "attack")]
from peers import CREDITS, Connection, Rdma, call_header, opaque, words
from tap import Gateway, Tap

TOOL = os.path.abspath(sys.argv[1])
NFS4, COMPOUND, PUTROOTFH, READ = (100003, 4), 1, 24, 25
STALE = 70
ROOM, HANDLE = 8192, 0x5000
tap = Tap()


def data_of(place, length):
    return bytes((place * 37 + i * 11 + i // 251) & 0xff for i in range(length))


def read_results(lengths, fails_at):
    """Returns the answer of the server: the results of PUTROOTFH and of a READ of each length. The READ at fails_at fails,
    and ends the COMPOUND."""
    status, results = 0, [words(PUTROOTFH, 0)]
    for place, length in enumerate(lengths):
        if place == fails_at:
            status = STALE
            results.append(words(READ, STALE))
            break
        results.append(words(READ, 0, place % 2) + opaque(data_of(place, length)))
    return words(status, 0, len(results)) + b"".join(results)


class FakeServer(threading.Thread):
    """Answers calls over TCP with `answer`. Calls of other programs, such as a port mapper, get PROG_UNAVAIL."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.answer = b""
        self.start()

    def run(self):
        while True:
            threading.Thread(target=self.serve, args=(self.listener.accept()[0],), daemon=True).start()

    def serve(self, accepted):
        connection = Connection.__new__(Connection)
        connection.socket = accepted
        try:
            while True:
                call = connection.exactly(struct.unpack(">I", connection.exactly(4))[0] & 0x7fffffff)
                is_nfs4 = struct.unpack(">II", call[12:20]) == NFS4
                reply = call[:4] + words(1, 0, 0, 0, 0 if is_nfs4 else 1) + (self.answer if is_nfs4 else b"")
                accepted.sendall(words(0x80000000 | len(reply)) + reply)
        except (EOFError, OSError):
            accepted.close()


class Client(Rdma):
    """A client that keeps what is written into its chunks. Chunk i has the handle HANDLE + i, and ROOM octets from address i
    << 32."""

    def __init__(self, address):
        super().__init__(address)
        self.written = {}

    def frame(self):
        payload = super().frame()
        if payload[0] & 0x80:
            handle, at = struct.unpack(">IQ", payload[2:14])
            place = handle - HANDLE
            self.written.setdefault(place, bytearray(ROOM))[at - (place << 32):at - (place << 32) + len(payload) - 14] = payload[14:]
        return payload

    def compound(self, reads, chunks):
        """Makes a COMPOUND of READs. Returns the lengths of the chunks in the header of the reply, and the results in its
        stream."""
        xid = self.next_xid()
        chunk_list = b"".join(words(1, 1, HANDLE + i, ROOM) + struct.pack(">Q", i << 32) for i in range(chunks))
        operations = words(PUTROOTFH) + (words(READ) + bytes(16) + struct.pack(">QI", 0, ROOM)) * reads
        self.send(words(xid, 1, CREDITS, 0, 0) + chunk_list + words(0, 0) + call_header(xid, COMPOUND, NFS4) +
                  words(0, 0, 1 + reads) + operations)
        message = self.receive()
        if message[:8] != words(xid, 1) or message[12:20] != words(0, 0):
            raise OSError(f"the reply begins with {message[:20].hex()}")
        lengths, at = [], 20
        while message[at:at + 4] != words(0):
            count, handle, length = struct.unpack(">III", message[at + 4:at + 16])
            if count != 1 or handle != HANDLE + len(lengths):
                raise OSError(f"chunk {len(lengths)} came back as {message[at:at + 24].hex()}")
            lengths.append(length)
            at += 24
        return lengths, message[at + 8 + 24:]


def expected(lengths, chunks, fails_at):
    """Returns what compound() must return: the lengths of the chunks, and the results without the data that are in chunks."""
    returned, status = [0] * chunks, 0
    stream, count = words(PUTROOTFH, 0), 1
    for place, length in enumerate(lengths):
        count += 1
        if place == fails_at:
            status = STALE
            stream += words(READ, STALE)
            break
        stream += words(READ, 0, place % 2, length)
        if place < chunks:
            returned[place] = length
        else:
            stream += opaque(data_of(place, length))[4:]
    return returned, words(status, 0, count) + stream


def pairs(server, gateway, name, lengths, chunks, fails_at=-1):
    """Checks a COMPOUND of a READ for each length, with that many Write chunks."""
    server.answer = read_results(lengths, fails_at)
    client = Client(("127.0.0.1", gateway.rdma_port))
    try:
        got = client.compound(len(lengths), chunks)
        want = expected(lengths, chunks, fails_at)
        data = all(bytes(client.written.get(i, b"")[:length]) == data_of(i, length) for i, length in enumerate(want[0]))
        tap.result(got == want and data, name, [f"chunks {got[0]}, not {want[0]}", got[1].hex(), want[1].hex(), f"data equal: {data}"])
    except (OSError, EOFError) as error:
        tap.result(False, name, [repr(error)])
    finally:
        client.close()


def main():
    server = FakeServer()
    with Gateway(TOOL, f"nfs://127.0.0.1:{server.port}/?transport=tcp&mountport={server.port}") as gateway:
        for reads in (1, 2, 5, 16, 64):
            sizes = [1000 + 61 * i for i in range(reads)]
            pairs(server, gateway, f"each of {reads} READs has the chunk of its place", sizes, reads)
            pairs(server, gateway, f"{reads} READs, some without data", [0 if i % 3 == 1 else 1 + i for i in range(reads)], reads)
            pairs(server, gateway, f"{reads} READs, and the last one fails", sizes, reads, reads - 1)
            pairs(server, gateway, f"{reads} READs with a chunk that is too many" if reads < 64 else "64 READs once more", sizes,
                  min(reads + 1, 64))
        pairs(server, gateway, "READs behind the last chunk are in the stream", [100] * 5, 3)
        pairs(server, gateway, "READs without a chunk are in the stream", [100] * 5, 0)
        tap.result(gateway.stop() == 0, "SIGTERM ends the gateway with status 0")
    tap.end()


main()
