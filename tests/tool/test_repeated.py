#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_repeated.py TOOL: calls of NFS version 4.0 that come again, octet for octet, by another connection, as after a connection that was
lost: RFC 7530, 9.1.7, and the duplicate request cache."""
import os
import socket
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap, free_port

TOOL = sys.argv[1]
tap = Tap()
PUTROOTFH, CREATE, REMOVE, OPEN, SETCLIENTID, SETCLIENTID_CONFIRM, GETATTR = 24, 6, 28, 18, 35, 36, 9
NF4DIR, NOENT, EXIST = 2, 2, 17


def u32(*numbers):
    return struct.pack(f">{len(numbers)}I", *numbers)


def opaque(data):
    return u32(len(data)) + data + b"\0" * (-len(data) % 4)


def call(xid, *operations):
    """A COMPOUND of version 4.0 by user 0, as a record."""
    auth = u32(0) + opaque(b"host") + u32(0, 0, 0)
    message = u32(xid, 0, 2, 100003, 4, 1, 1) + opaque(auth) + u32(0, 0) + opaque(b"") + u32(0, len(operations)) + b"".join(operations)
    return u32(0x80000000 | len(message)) + message


def answer(connection, record):
    """Sends a record, and returns the answer."""
    connection.sendall(record)
    length = struct.unpack(">I", read(connection, 4))[0] & 0x7fffffff
    return read(connection, length)


def read(connection, length):
    data = b""
    while len(data) < length:
        more = connection.recv(length - len(data))
        if not more:
            sys.exit("the server has closed the connection")
        data += more
    return data


def status(reply):
    """The status of the COMPOUND: behind xid, reply, accepted, verifier of no octets, success."""
    return struct.unpack(">I", reply[24:28])[0]


def main():
    with tempfile.TemporaryDirectory(prefix="rpcrdma-repeated-") as work:
        top = f"{work}/served"
        os.mkdir(top)
        with Server(TOOL, top, "--nfs", "4.0", tcp_port=free_port()) as server:
            def connect():
                return socket.create_connection(("127.0.0.1", server.tcp_port), timeout=60)
            make = u32(PUTROOTFH), u32(CREATE, NF4DIR) + opaque(b"dir") + u32(0, 0)
            first, second = connect(), connect()
            made = answer(first, call(1, *make))
            tap.result(status(made) == 0 and os.path.isdir(f"{top}/dir"), "a directory is made", [made])
            first.close()
            tap.result(answer(second, call(1, *make)) == made, "the same call by another connection gets the same answer", [made])
            tap.result(status(answer(second, call(2, *make))) == EXIST, "another call is executed")
            remove = u32(PUTROOTFH), u32(REMOVE) + opaque(b"dir")
            removed = answer(second, call(3, *remove))
            tap.result(status(removed) == 0 and answer(connect(), call(3, *remove)) == removed and status(answer(second, call(4, *remove))) == NOENT,
                       "so it is with what is removed", [removed])
            client = u32(SETCLIENTID) + b"verifier" + opaque(b"client") + u32(0) + opaque(b"") + opaque(b"") + u32(0)
            known = answer(second, call(5, client))
            tap.result(status(known) == 0 and answer(connect(), call(5, client)) == known and answer(second, call(6, client))[44:] != known[44:],
                       "SETCLIENTID gives one client ID for one call", [known])
            look = u32(PUTROOTFH), u32(GETATTR, 1, 1 << 3)
            before = answer(second, call(7, *look))
            os.mkdir(f"{top}/other")
            tap.result(answer(connect(), call(7, *look)) != before, "what changes nothing is executed again", [before])
            tap.result(status(answer(second, call(8, u32(59)))) == 10044, "an operation of a later version is none")
    tap.end()


main()
