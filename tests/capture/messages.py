# SPDX-License-Identifier: BSD-3-Clause
"""RPC-over-RDMA version 1 headers (RFC 8166, section 4) and the RPC headers behind them."""
import struct
from dataclasses import dataclass, field

RDMA_MSG, RDMA_NOMSG, RDMA_ERROR = 0, 1, 4
CALL, REPLY = 0, 1


class Words:
    def __init__(self, data):
        self.data, self.at = data, 0

    def u32(self):
        value = struct.unpack_from(">I", self.data, self.at)[0]
        self.at += 4
        return value

    def segment(self):
        handle, length, offset = struct.unpack_from(">IIQ", self.data, self.at)
        self.at += 16
        return handle, length, offset


@dataclass
class Message:
    xid: int
    version: int
    credit: int
    proc: int
    reads: list = field(default_factory=list)   # (position, (handle, length, offset))
    writes: list = field(default_factory=list)  # lists of (handle, length, offset)
    reply: list = None
    body: bytes = b""

    def read_chunks(self):
        """Segments by position."""
        chunks = {}
        for position, segment in self.reads:
            chunks.setdefault(position, []).append(segment)
        return chunks


def parse(data):
    words = Words(data)
    message = Message(words.u32(), words.u32(), words.u32(), words.u32())
    if message.proc not in (RDMA_MSG, RDMA_NOMSG):
        return message
    while words.u32():
        position = words.u32()
        message.reads.append((position, words.segment()))
    while words.u32():
        message.writes.append([words.segment() for _ in range(words.u32())])
    if words.u32():
        message.reply = [words.segment() for _ in range(words.u32())]
    message.body = data[words.at:]
    return message


@dataclass
class Call:
    xid: int
    prog: int
    vers: int
    proc: int
    args: bytes


def parse_call(body):
    """The RPC call header of a stream, or None where the stream is no call."""
    xid, kind, rpcvers, prog, vers, proc = struct.unpack_from(">IIIIII", body)
    if kind != CALL or rpcvers != 2:
        return None
    at = 24
    for _ in range(2):
        at += 8 + (struct.unpack_from(">I", body, at + 4)[0] + 3) // 4 * 4
    return Call(xid, prog, vers, proc, body[at:])


def opaque(data, at=0):
    """The opaque<> at offset at, and the offset behind it."""
    length = struct.unpack_from(">I", data, at)[0]
    return data[at + 4:at + 4 + length], at + 4 + (length + 3) // 4 * 4
