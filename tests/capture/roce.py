# SPDX-License-Identifier: BSD-3-Clause
"""Captured iWARP as a capture of RoCEv2: the same operations, on queue pairs, in datagrams, with the connection managers'
messages. InfiniBand Architecture Specification, volume 1, chapters 9 and 12, annexes A11 and A17."""
import struct
from dataclasses import dataclass, field

import streams

MTU = 1024
SEND, WRITE, READ_RESPONSE = (0, 1, 2, 4), (6, 7, 8, 10), (13, 14, 15, 16)  # first, middle, last, only
READ_REQUEST, ACKNOWLEDGE, SEND_LAST_INVALIDATE, SEND_ONLY_INVALIDATE, DATAGRAM = 12, 17, 22, 23, 0x64


@dataclass
class Side:
    qp: int
    psn: int
    message: bytearray = field(default_factory=bytearray)  # under way
    head: tuple = None                                      # where it is written to
    reads: list = field(default_factory=list)               # (sink STag, PSN), in order
    responses: dict = field(default_factory=dict)           # octets so far, by sink STag


def pieces(octets):
    """(place in the message: 0 first, 1 middle, 2 last, 3 only, octets)"""
    count = max(1, -(-len(octets) // MTU))
    for i in range(count):
        place = 3 if count == 1 else 0 if i == 0 else 2 if i == count - 1 else 1
        yield place, bytes(octets[i * MTU:(i + 1) * MTU])


class Packets:
    """A list of packets, each as the octets of an IP packet."""

    def __init__(self, port):
        self.port, self.packets, self.sides = port, [], {}

    def add(self, from_client, opcode, qp, psn, rest, acknowledge=False):
        pad = -len(rest) % 4
        bth = struct.pack(">BBHII", opcode, 0x40 | pad << 4, 0xffff, qp, psn | (0x80000000 if acknowledge else 0))
        udp = bth + rest + bytes(pad + 4)
        addresses = (0x0a000001, 0x0a000002) if from_client else (0x0a000002, 0x0a000001)
        head = struct.pack(">HHHH", 49152 + qp % 1000, 4791, 8 + len(udp), 0)
        size = 20 + len(head) + len(udp)
        ip = struct.pack(">BBHHHBBHII", 0x45, 0, size, 0, 0x4000, 64, 17, 0, *addresses)
        self.packets.append(ip + head + udp)

    def sides_of(self, connection):
        if connection not in self.sides:
            self.sides[connection] = {True: Side(0x100 + 2 * connection, 0xfffff0), False: Side(0x101 + 2 * connection, 7)}
        return self.sides[connection]

    def manager(self, from_client, attribute, message):
        mad = struct.pack(">BBBBHHQHHI", 1, 7, 2, 3, 0, 0, 1, attribute, 0, 0) + message
        deth = struct.pack(">II", 0x80010000, 1)
        self.add(from_client, DATAGRAM, 1, 0, deth + mad)

    def opening(self, connection, from_client, frame):
        side = self.sides_of(connection)[from_client]
        flags = struct.unpack_from(">H", frame, 16)[0]
        private = frame[20 + (4 if flags & 0x1000 else 0):]
        message = bytearray(232)
        if from_client:
            struct.pack_into(">IIQ", message, 0, 0x1000 + connection, 0, 0x0106 << 16 | self.port)
            struct.pack_into(">I", message, 32, side.qp << 8 | 16)
            struct.pack_into(">I", message, 36, 16)
            struct.pack_into(">I", message, 44, side.psn << 8)
            message[50] = 3 << 4  # 1024
            gids = bytes(10) + b"\xff\xff\x0a\x00\x00\x01" + bytes(10) + b"\xff\xff\x0a\x00\x00\x02"
            message[56:88] = gids
            header = struct.pack(">BBH16s16s", 0, 0x40, 40000 + connection, gids[:16], gids[16:])
            message[140:140 + 36 + len(private)] = header + private
            self.manager(True, 0x10, bytes(message))
            return
        struct.pack_into(">II", message, 0, 0x2000 + connection, 0x1000 + connection)
        struct.pack_into(">I", message, 12, side.qp << 8)
        struct.pack_into(">I", message, 20, side.psn << 8)
        message[24:26] = b"\x10\x10"
        message[36:36 + len(private)] = private
        self.manager(False, 0x13, bytes(message))
        message = bytearray(232)
        struct.pack_into(">II", message, 0, 0x1000 + connection, 0x2000 + connection)
        self.manager(True, 0x14, bytes(message))

    def requests(self, sides, from_client, opcodes, octets, head=b"", tail=b""):
        """A message of requests, each packet of which takes a PSN; and its acknowledgement."""
        side = sides[from_client]
        for place, piece in pieces(octets):
            rest = (head if place in (0, 3) else b"") + (tail if place in (2, 3) else b"") + piece
            self.add(from_client, opcodes[place], sides[not from_client].qp, side.psn, rest, place in (2, 3))
            side.psn = side.psn + 1 & 0xffffff
        self.add(not from_client, ACKNOWLEDGE, side.qp, side.psn - 1 & 0xffffff, bytes(4))

    def segment(self, segment):
        sides = self.sides_of(segment.connection)
        side, peer = sides[segment.from_client], sides[not segment.from_client]
        if segment.opcode == 1:
            sink, _, size, source, offset = struct.unpack(">IQIIQ", segment.payload)
            self.add(segment.from_client, READ_REQUEST, peer.qp, side.psn, struct.pack(">QII", offset, source, size))
            side.reads.append((sink, side.psn))
            side.psn = side.psn + max(1, -(-size // MTU)) & 0xffffff
            return
        if segment.opcode == 2:
            octets = peer.responses.setdefault(segment.stag, bytearray())
            octets += segment.payload
            if segment.last:
                self.response(peer, segment, bytes(peer.responses.pop(segment.stag)))
            return
        if segment.opcode == 7:
            return
        if not side.message and segment.tagged:
            side.head = segment.stag, segment.offset
        side.message += segment.payload
        if not segment.last:
            return
        octets, side.message = bytes(side.message), bytearray()
        if segment.tagged:
            self.requests(sides, segment.from_client, WRITE, octets,
                          struct.pack(">QII", side.head[1], side.head[0], len(octets)))
        elif segment.opcode in (4, 6):
            self.requests(sides, segment.from_client, (0, 1, SEND_LAST_INVALIDATE, SEND_ONLY_INVALIDATE), octets,
                          tail=struct.pack(">I", segment.stag))
        else:
            self.requests(sides, segment.from_client, SEND, octets)

    def response(self, reader, segment, octets):
        index = next(i for i, read in enumerate(reader.reads) if read[0] == segment.stag)
        psn = reader.reads.pop(index)[1]
        for place, piece in pieces(octets):
            rest = (bytes(4) if place != 1 else b"") + piece
            self.add(segment.from_client, READ_RESPONSE[place], reader.qp, psn, rest)
            psn = psn + 1 & 0xffffff


def convert(path, port):
    """The packets of all connections to port."""
    packets = Packets(port)
    for frame in streams.frames(path, port):
        if frame.is_mpa:
            packets.opening(frame.connection, frame.from_client, frame.octets)
        else:
            packets.segment(streams.parse_ddp(frame))
    return packets.packets


def write(path, packets):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, 101))
        for i, packet in enumerate(packets):
            file.write(struct.pack("<IIII", i // 1000000, i % 1000000, len(packet), len(packet)) + packet)
