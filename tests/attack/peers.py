# SPDX-License-Identifier: BSD-3-Clause
"""Connections that do what they want: NFS version 3 calls over TCP, and over RPC-over-RDMA on iWARP, down to the octets."""
import random
import socket
import ssl
import struct

NFS, MOUNT = (100003, 3), (100005, 3)
NULL, GETATTR, LOOKUP, READ, WRITE, MKDIR, REMOVE, RMDIR, READDIRPLUS = 0, 1, 3, 6, 7, 9, 12, 13, 17
MIB = 1 << 20
SEND_MAX, CREDITS, WRITE_HANDLE = 4096, 64, 0x1000


def words(*values):
    return struct.pack(f">{len(values)}I", *values)


def opaque(data):
    return words(len(data)) + data + bytes(-len(data) % 4)


def read_args(handle, offset, count):
    return opaque(handle) + struct.pack(">QI", offset, count)


def write_head(handle, offset, count):
    """The arguments of a WRITE up to the length of its data."""
    return opaque(handle) + struct.pack(">QIII", offset, count, 0, count)


def readdirplus_args(handle, size):
    return opaque(handle) + bytes(16) + words(size, size)


def call_header(xid, procedure, program=NFS):
    credential = words(0, 0, 0, 0, 0)
    return words(xid, 0, 2, *program, procedure, 1, len(credential)) + credential + words(0, 0)


def read_count(results):
    """Octets that a READ brought, which may be fewer than it asked for; OSError: it failed."""
    if results[:4] != bytes(4):
        raise OSError("a READ failed")
    at = 8 + (84 if results[4:8] == words(1) else 0)
    return struct.unpack(">I", results[at:at + 4])[0]


class Connection:
    """To address: host, port, and perhaps the host from which to connect."""

    def __init__(self, address, receive_buffer=0):
        self.socket = socket.socket()
        for source in address[2:]:
            self.socket.bind((source, 0))
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(60)
        self.socket.connect(address[:2])
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.xid = random.getrandbits(30)

    def close(self):
        self.socket.close()

    def read(self, handle, offset, count):
        """Reads all of it, in as many calls as the server wants."""
        end = offset + count
        while offset < end:
            moved = self.read_once(handle, offset, end - offset)
            if moved == 0:
                raise OSError("a READ brought nothing")
            offset += moved

    def exactly(self, size):
        data = bytearray(size)
        view, at = memoryview(data), 0
        while at < size:
            got = self.socket.recv_into(view[at:])
            if got == 0:
                raise EOFError
            at += got
        return bytes(data)

    def next_xid(self):
        self.xid = (self.xid + 1) & 0xffffffff
        return self.xid


class Tcp(Connection):
    def record(self, procedure, arguments, program=NFS):
        message = call_header(self.next_xid(), procedure, program) + arguments
        return words(0x80000000 | len(message)) + message

    def call(self, procedure, arguments=b"", program=NFS):
        self.socket.sendall(self.record(procedure, arguments, program))
        return self.exactly(struct.unpack(">I", self.exactly(4))[0] & 0x7fffffff)[24:]

    def read_once(self, handle, offset, count):
        return read_count(self.call(READ, read_args(handle, offset, count)))

    def call_as(self, xid, procedure, arguments):
        """The reply to a call with that XID, from its XID on."""
        message = call_header(xid, procedure) + arguments
        self.socket.sendall(words(0x80000000 | len(message)) + message)
        return self.exactly(struct.unpack(">I", self.exactly(4))[0] & 0x7fffffff)

    def write(self, handle, data):
        if self.call(WRITE, write_head(handle, 0, len(data)) + data)[:4] != bytes(4):
            raise OSError("a WRITE failed")

    def many(self, *calls):
        """Sends calls and looks at no reply."""
        self.socket.sendall(b"".join(self.record(*call) for call in calls))


# RFC 9289, 4.1: a NULL call whose flavor is AUTH_TLS (7), as a record of TCP, and what a server with TLS answers.
PROBE = words(0x80000028, 0, 0, 2, *NFS, NULL, 7, 0, 0, 0)
STARTTLS = words(0x80000020, 0, 1, 0, 0, 8) + b"STARTTLS" + words(0)


class Tls(Tcp):
    """Inside of TLS, with a server whose certificate is not looked at."""

    def __init__(self, address):
        super().__init__(address)
        self.socket.sendall(PROBE)
        if self.exactly(len(STARTTLS)) != STARTTLS:
            raise OSError("the server has no TLS")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["sunrpc"])
        self.socket = context.wrap_socket(self.socket)


class Rdma(Connection):
    """MPA revision 1 without CRC; version: of RPC-over-RDMA. Sends take up one FPDU."""

    def __init__(self, address, version=1, receive_buffer=0):
        super().__init__(address, receive_buffer)
        self.version, self.sent, self.data = version, 0, b""
        private = bytes.fromhex("f6ab0e18") + bytes([1, 1, SEND_MAX // 1024 - 1, SEND_MAX // 1024 - 1])
        self.socket.sendall(b"MPA ID Req Frame" + bytes([0, 1]) + struct.pack(">H", len(private)) + private)
        reply = self.exactly(20)
        if reply[:16] != b"MPA ID Rep Frame" or reply[16] & 0x60:
            raise OSError("rejected")
        self.exactly(struct.unpack(">H", reply[18:])[0])

    @staticmethod
    def fpdu(payload):
        return struct.pack(">H", len(payload)) + payload + bytes(-(len(payload) + 2) % 4) + bytes(4)

    def send_frame(self, message):
        self.sent += 1
        return self.fpdu(bytes([0x41, 0x43]) + words(0, 0, self.sent, 0) + message)

    def send(self, *messages):
        self.socket.sendall(b"".join(self.send_frame(message) for message in messages))

    def header(self, xid, procedure):
        return words(xid, self.version, CREDITS, procedure)

    def announce(self):
        """Version 2: says by CONNPROP that it can pull replies that the responder provides."""
        xid = self.next_xid()
        self.send(self.header(xid, 5) + words(1, 60, 4, 1, 4, SEND_MAX, 2, 4, 1, 0xffffff00, 4, 1, 0xffffff01, 4, 1,
                                              1, 15))
        self.receive()

    def plain(self, procedure, arguments=b"", program=NFS):
        xid = self.next_xid()
        return self.header(xid, 0) + words(0, 0, 0) + call_header(xid, procedure, program) + arguments

    def read_call(self, handle, offset, count):
        """A READ with a Write chunk."""
        xid = self.next_xid()
        return self.header(xid, 0) + words(0, 1, 1, WRITE_HANDLE, count, 0, 0, 0, 0) + call_header(xid, READ) + read_args(
            handle, offset, count)

    def write_call(self, handle, count, segments=1):
        """A WRITE with its data in a Read chunk."""
        xid = self.next_xid()
        body = call_header(xid, WRITE) + write_head(handle, 0, count)
        piece, chunk = count // segments, b""
        for i in range(segments):
            length = piece if i < segments - 1 else count - piece * i
            chunk += words(1, len(body), WRITE_HANDLE, length) + struct.pack(">Q", piece * i)
        return self.header(xid, 0) + chunk + words(0, 0, 0) + body

    def frame(self):
        payload = self.exactly(struct.unpack(">H", self.exactly(2))[0])
        self.exactly(-(len(payload) + 2) % 4 + 4)
        return payload

    def answer_read(self, request):
        """Sends what an RDMA Read asks for, out of data."""
        sink, sink_at, size, _, source_at = struct.unpack(">IQIIQ", request)
        pieces, at = [], 0
        while at < size or size == 0:
            part = self.data[source_at + at:source_at + min(size, at + 32768)]
            at += len(part)
            last = at == size
            pieces.append(self.fpdu(bytes([0xc1 if last else 0x81, 0x42]) + struct.pack(">IQ", sink, sink_at + at - len(part))
                                    + part))
            if last:
                break
        self.socket.sendall(b"".join(pieces))

    def receive(self, on_read=None):
        """The next Send; RDMA Reads are answered, or given to on_read, and RDMA Writes go nowhere."""
        message = b""
        while True:
            payload = self.frame()
            if payload[0] & 0x80:
                continue
            queue = struct.unpack(">I", payload[6:10])[0]
            if queue == 1:
                (on_read or self.answer_read)(payload[18:])
                continue
            if queue == 2:
                raise OSError("terminated")
            message += payload[18:]
            if payload[0] & 0x40:
                return message

    def call(self, procedure, arguments=b"", program=NFS):
        self.send(self.plain(procedure, arguments, program))
        return self.receive()

    def call_as(self, xid, procedure, arguments):
        """The same as that of Tcp: the reply without its transport header."""
        self.send(self.header(xid, 0) + words(0, 0, 0) + call_header(xid, procedure) + arguments)
        return self.receive()[28:]

    def read_once(self, handle, offset, count):
        self.send(self.read_call(handle, offset, count))
        return read_count(self.results())

    def write(self, handle, data):
        self.data = data
        self.send(self.write_call(handle, len(data)))
        if self.results()[:4] != bytes(4):
            raise OSError("a WRITE failed")

    def results(self):
        """The results of the next reply, which has no Read chunk and no Reply chunk; a Write chunk at most."""
        message = self.receive()
        if message[12:16] != words(0):
            raise OSError("a call failed")
        at = 20
        if message[at:at + 4] != words(0):
            at += 8 + 16 * struct.unpack(">I", message[at + 4:at + 8])[0]
        return message[at + 8 + 24:]

    def many(self, *messages):
        """Sends calls beside each other, for which it first needs credits, and looks at no reply."""
        self.call(NULL)
        self.send(*messages)

class Nfs4:
    """Operations of NFS version 4.1 or 4.2 over a TCP connection; a client, a session, and what it opens and locks."""

    def __init__(self, address, minor=1):
        self.connection, self.minor = Tcp(address), minor
        self.connection.socket.settimeout(60)
        self.clientid, self.session, self.sequence, self.names = b"", b"", 0, random.getrandbits(60)

    def close(self):
        self.connection.close()

    def compound(self, *operations):
        """The results behind the status, tag and count. OSError: the COMPOUND failed."""
        arguments = opaque(b"") + words(self.minor, len(operations)) + b"".join(operations)
        reply = self.connection.call(1, arguments, (100003, 4))
        if reply[:4] != bytes(4):
            raise OSError(f"NFS version 4: status {struct.unpack('>I', reply[:4])[0]}")
        return reply[12:]

    def name(self):
        self.names += 1
        return b"client-%x" % self.names

    def exchange(self):
        """EXCHANGE_ID of a client that is new each time."""
        result = self.compound(words(42) + bytes(8) + opaque(self.name()) + words(0, 0, 0))
        self.clientid, self.create = result[8:16], struct.unpack(">I", result[16:20])[0]

    def create_session(self, slots=64):
        channel = words(0, 1 << 20, 1 << 20, 4096, 128, slots, 0)
        result = self.compound(words(43) + self.clientid + words(self.create, 0) + channel + channel + words(0x40000000, 1, 0))
        self.session, self.sequence = result[8:24], 0
        self.create += 1

    def run(self, *operations):
        """Behind a SEQUENCE; the results behind its own."""
        self.sequence += 1
        return self.compound(words(53) + self.session + words(self.sequence, 0, 0, 0), *operations)[44:]

    def mount(self):
        self.exchange()
        self.create_session()
        self.run(words(58, 0))

    def open(self, *path):
        """Opens for reading and writing, under a new owner; the stateid."""
        lookups = b"".join(words(15) + opaque(name) for name in path[:-1])
        count = len(path) - 1
        what = words(18, 0, 3, 0) + self.clientid + opaque(self.name()) + words(0, 0) + opaque(path[-1])
        result = self.run(words(24), *([lookups] if count == 1 else []), what)
        return result[8 + 8 * count + 8:8 + 8 * count + 24]

    def lock(self, stateid, offset, *path, kind=2):
        """Locks an octet under a new lock-owner, to write; kind 1: to read. The stateid of the locks, of any seqid."""
        lookups = [words(15) + opaque(name) for name in path]
        result = self.run(words(24), *lookups, words(12, kind, 0) + struct.pack(">QQ", offset, 1) + words(1, 0) + stateid + words(0) +
                          self.clientid + opaque(self.name()))
        return bytes(4) + result[8 + 8 * len(path) + 12:8 + 8 * len(path) + 24]

    def lock_more(self, stateid, offsets, *path):
        """Locks octets to read under the lock-owner of the stateid."""
        lookups = [words(15) + opaque(name) for name in path]
        self.run(words(24), *lookups,
                 *[words(12, 1, 0) + struct.pack(">QQ", offset, 1) + words(0) + stateid + words(0) for offset in offsets])

    def lockt(self, count, *path):
        """Asks so many times whether the whole file can be locked to read."""
        lookups = [words(15) + opaque(name) for name in path]
        self.run(words(24), *lookups, *[words(13, 1) + struct.pack(">QQ", 0, (1 << 64) - 1) + self.clientid + opaque(b"asks")] * count)

    def end(self):
        """DESTROY_SESSION; the client ends with its lease."""
        self.compound(words(44) + self.session)



def mounted(address, path):
    """The file handle of an export's root, over TCP."""
    reply = Tcp(address).call(1, opaque(path.encode()), MOUNT)
    if reply[:4] != bytes(4):
        raise OSError(f"{path} cannot be mounted")
    return reply[8:8 + struct.unpack(">I", reply[4:8])[0]]


def looked_up(address, root, name):
    reply = Tcp(address).call(LOOKUP, opaque(root) + opaque(name.encode()))
    if reply[:4] != bytes(4):
        raise OSError(f"there is no {name}")
    return reply[8:8 + struct.unpack(">I", reply[4:8])[0]]
