# SPDX-License-Identifier: BSD-3-Clause
"""A capture file as a sequence of DDP segments: pcap and pcapng, TCP reassembly, MPA. Written apart from the library,
so that the two can disagree."""
import gzip
import struct
from dataclasses import dataclass, field


def packets(path):
    """Yields each packet's octets from its link layer on, with the link type."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        data = file.read()
    if data[:4] == b"\x0a\x0d\x0d\x0a":
        yield from pcapng_packets(data)
        return
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    link = struct.unpack_from(order + "I", data, 20)[0]
    at = 24
    while at + 16 <= len(data):
        size = struct.unpack_from(order + "I", data, at + 8)[0]
        yield link, data[at + 16:at + 16 + size]
        at += 16 + size


def pcapng_packets(data):
    at, order, links = 0, "<", []
    while at + 12 <= len(data):
        kind = struct.unpack_from(order + "I", data, at)[0]
        if kind == 0x0a0d0d0a:
            order = "<" if data[at + 8:at + 12] == b"\x4d\x3c\x2b\x1a" else ">"
            links = []
        size = struct.unpack_from(order + "I", data, at + 4)[0]
        if kind == 1:
            links.append(struct.unpack_from(order + "H", data, at + 8)[0])
        if kind == 6:
            interface, captured = struct.unpack_from(order + "I8xI", data, at + 8)
            yield links[interface], data[at + 28:at + 28 + captured]
        at += size


def tcp_segments(path):
    """Yields (source, destination, sequence, flags, payload) of each TCP segment over IPv4 or IPv6."""
    for link, packet in packets(path):
        network = {1: 14, 101: 0, 113: 16, 276: 20, 0: 4}[link]
        ip = packet[network:]
        if ip[0] >> 4 == 4 and ip[9] == 6:
            addresses = ip[12:16], ip[16:20]
            tcp = ip[(ip[0] & 15) * 4:struct.unpack_from(">H", ip, 2)[0] or None]
        elif ip[0] >> 4 == 6 and ip[6] == 6:
            addresses = ip[8:24], ip[24:40]
            tcp = ip[40:]
        else:
            continue
        source, destination, sequence = struct.unpack_from(">HHI", tcp)
        yield (addresses[0], source), (addresses[1], destination), sequence, tcp[13], tcp[(tcp[12] >> 4) * 4:]


@dataclass
class Stream:
    """One direction of a connection: octets in order, however they were segmented."""
    next: int = None
    early: dict = field(default_factory=dict)
    data: bytearray = field(default_factory=bytearray)
    started: bool = False  # past the MPA frame

    def add(self, sequence, flags, payload):
        if flags & 2:
            self.next = (sequence + 1) & 0xffffffff
            return
        if self.next is None or not payload:
            return
        self.early[sequence] = payload
        while True:
            for start in sorted(self.early, key=lambda s: (s - self.next) & 0xffffffff):
                skip = (self.next - start) & 0xffffffff
                if skip < 1 << 31:
                    piece = self.early.pop(start)[skip:]
                    self.data += piece
                    self.next = (self.next + len(piece)) & 0xffffffff
                    break
            else:
                return


@dataclass
class Segment:
    """One DDP segment (RFC 5041, section 4) with its RDMAP opcode."""
    connection: int
    from_client: bool
    opcode: int
    last: bool
    tagged: bool
    stag: int = 0     # tagged: where it goes; else the STag to invalidate
    offset: int = 0   # tagged
    queue: int = 0    # untagged, as the two below
    msn: int = 0
    mo: int = 0
    payload: bytes = b""


def mpa_frame(stream):
    """Takes the MPA request or reply off the front; None while it is not there."""
    if len(stream.data) < 20 or len(stream.data) < 20 + struct.unpack_from(">H", stream.data, 18)[0]:
        return None
    size = 20 + struct.unpack_from(">H", stream.data, 18)[0]
    frame = bytes(stream.data[:size])
    del stream.data[:size]
    stream.started = True
    return frame


def fpdus(stream):
    """Takes whole FPDUs off the front."""
    while len(stream.data) >= 2:
        ulpdu = struct.unpack_from(">H", stream.data)[0]
        size = (2 + ulpdu + 3) // 4 * 4 + 4
        if len(stream.data) < size:
            return
        yield bytes(stream.data[:size])
        del stream.data[:size]


def parse_ddp(frame):
    ulpdu = frame.octets[2:2 + struct.unpack_from(">H", frame.octets)[0]]
    control = struct.unpack_from(">H", ulpdu)[0]
    tagged = bool(control & 0x8000)
    segment = Segment(frame.connection, frame.from_client, control & 15, bool(control & 0x4000), tagged)
    if tagged:
        segment.stag, segment.offset = struct.unpack_from(">IQ", ulpdu, 2)
        segment.payload = ulpdu[14:]
    else:
        segment.stag, segment.queue, segment.msn, segment.mo = struct.unpack_from(">IIII", ulpdu, 2)
        segment.payload = ulpdu[18:]
    return segment


@dataclass
class Frame:
    """An MPA request or reply, or an FPDU."""
    connection: int
    from_client: bool
    is_mpa: bool
    octets: bytes


def frames(path, port):
    """Yields the frames of all connections to port, in the order in which they were complete."""
    connections = {}
    streams = {}
    for source, destination, sequence, flags, payload in tcp_segments(path):
        from_client = destination[1] == port
        if not from_client and source[1] != port:
            continue
        key = (source, destination) if from_client else (destination, source)
        if flags & 2 and from_client:
            connections[key] = len(connections)
            streams[key, True], streams[key, False] = Stream(), Stream()
        if (key, from_client) not in streams:
            continue
        stream = streams[key, from_client]
        stream.add(sequence, flags, payload)
        if not stream.started:
            frame = mpa_frame(stream)
            if frame is None:
                continue
            yield Frame(connections[key], from_client, True, frame)
        for fpdu in fpdus(stream):
            yield Frame(connections[key], from_client, False, fpdu)


def segments(path, port):
    """Yields the Segments of all connections to port."""
    for frame in frames(path, port):
        if not frame.is_mpa:
            yield parse_ddp(frame)


class Writer:
    """A capture file of connections to port, in which each frame has a TCP segment of its own."""

    def __init__(self, path, port):
        self.file, self.port = open(path, "wb"), port
        self.file.write(struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, 101))
        self.sequences = {}
        self.packets = 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.file.close()

    def segment(self, connection, from_client, flags, octets):
        client = 40000 + connection
        ports = (client, self.port) if from_client else (self.port, client)
        sequence = self.sequences.get((connection, from_client), 0)
        acknowledged = self.sequences.get((connection, not from_client), 0)
        tcp = struct.pack(">HHIIBBHHH", *ports, sequence, acknowledged, 0x50, flags, 0xffff, 0, 0) + octets
        ip = struct.pack(">BBHHHBBHII", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0, 0x7f000001, 0x7f000001)
        size = len(ip) + len(tcp)
        self.file.write(struct.pack("<IIII", self.packets // 1000000, self.packets % 1000000, size, size) + ip + tcp)
        self.sequences[connection, from_client] = sequence + len(octets) + (flags >> 1 & 1)
        self.packets += 1

    def frame(self, frame):
        if frame.is_mpa and frame.from_client:
            self.segment(frame.connection, True, 0x02, b"")
            self.segment(frame.connection, False, 0x12, b"")
        self.segment(frame.connection, frame.from_client, 0x18, frame.octets)


def resegment(path, port, out):
    """Writes the same streams with frames in TCP segments of their own. tshark finds no FPDU whose first octets are
    the last of a TCP segment, and of several RPC-over-RDMA messages in one it shows the first."""
    with Writer(out, port) as writer:
        for frame in frames(path, port):
            writer.frame(frame)
