# SPDX-License-Identifier: BSD-3-Clause
"""What a conforming peer must show in a capture: rows A1 to A14. Each finding is (row, text)."""
import struct
from collections import Counter
from dataclasses import dataclass, field

import messages
import streams

WRITE, READ_REQUEST, READ_RESPONSE, SEND, SEND_INVALIDATE, TERMINATE = 0, 1, 2, 3, 4, 7
NFS, READ, WRITE3, READLINK, SYMLINK, READDIR, READDIRPLUS = 100003, 6, 7, 5, 10, 16, 17
THRESHOLD = 12288


def total(segments):
    return sum(length for _, length, _ in segments)


@dataclass
class Transaction:
    call: messages.Message
    rpc: messages.Call = None
    written: dict = field(default_factory=dict)  # handle: list of (offset, length), in order
    read: dict = field(default_factory=dict)     # the same, by Read Requests
    answered: bool = False


@dataclass
class Connection:
    sends: dict = field(default_factory=dict)        # from_client: octets of the Send under way
    msn: Counter = field(default_factory=Counter)
    open: dict = field(default_factory=dict)         # xid: Transaction
    handles: dict = field(default_factory=dict)      # handle: (Transaction, segment, kind)
    reads: dict = field(default_factory=dict)        # sink STag: [next offset, octets still to come] of each


class Checker:
    def __init__(self):
        self.findings = []
        self.counts = Counter()
        self.connections = {}
        self.xids = set()

    def find(self, row, text):
        self.findings.append((row, text))

    def run(self, path, port):
        for segment in streams.segments(path, port):
            connection = self.connections.setdefault(segment.connection, Connection())
            self.segment(connection, segment)
        for connection in self.connections.values():
            for transaction in connection.open.values():
                self.find("A2", f"call {transaction.call.xid:#x} has no reply")
        return self

    # ---- DDP and RDMAP ----

    def segment(self, connection, segment):
        if segment.opcode in (SEND, SEND_INVALIDATE):
            self.send(connection, segment)
        elif segment.opcode == WRITE:
            self.write(connection, segment)
        elif segment.opcode == READ_REQUEST:
            self.read_request(connection, segment)
        elif segment.opcode == READ_RESPONSE:
            self.read_response(connection, segment)
        elif segment.opcode == TERMINATE:
            self.find("A2", "a Terminate")

    def send(self, connection, segment):
        """A13: "a Send's segments are contiguous from offset 0 and exactly one has the L flag"."""
        so_far = connection.sends.setdefault(segment.from_client, bytearray())
        if segment.mo != len(so_far):
            self.find("A13", f"a Send's segment has offset {segment.mo}, {len(so_far)} octets came before")
        if not so_far and segment.mo == 0:
            connection.msn[segment.from_client] += 1
        if segment.msn != connection.msn[segment.from_client]:
            self.find("A13", f"a Send has MSN {segment.msn}, not {connection.msn[segment.from_client]}")
        so_far += segment.payload
        if segment.last:
            connection.sends[segment.from_client] = bytearray()
            self.message(connection, segment, bytes(so_far))

    def access(self, connection, handle, offset, length, kind):
        """A11: "RDMA Reads and Writes stay inside the segment that was offered"; the transaction, or None."""
        if handle not in connection.handles:
            self.find("A11", f"handle {handle:#x} was not offered")
            return None
        transaction, (_, size, start), offered = connection.handles[handle]
        if offered != kind or offset < start or offset + length > start + size:
            self.find("A11", f"{length} octets at {offset:#x} are outside of {handle:#x}: {size} at {start:#x}")
        if transaction.answered:
            self.find("A11", f"handle {handle:#x} is used after the reply")
        return transaction

    def write(self, connection, segment):
        if not segment.payload:  # a frame that only wakes the peer
            self.counts["empty writes"] += 1
            return
        transaction = self.access(connection, segment.stag, segment.offset, len(segment.payload), "write")
        if transaction:
            transaction.written.setdefault(segment.stag, []).append((segment.offset, len(segment.payload)))
        self.counts["octets written"] += len(segment.payload)

    def read_request(self, connection, segment):
        sink, sink_to, size, source, source_to = struct.unpack(">IQIIQ", segment.payload)
        transaction = self.access(connection, source, source_to, size, "read")
        if transaction:
            transaction.read.setdefault(source, []).append((source_to, size))
        connection.reads.setdefault(sink, []).append([sink_to, size])
        self.counts["octets read"] += size

    def read_response(self, connection, segment):
        """A12: "Read Requests carry the right STag, offset and length; responses cover exactly that"."""
        waiting = connection.reads.get(segment.stag)
        if not waiting or waiting[0][0] != segment.offset or waiting[0][1] < len(segment.payload):
            self.find("A12", f"a Read Response to {segment.stag:#x} at {segment.offset:#x} that nobody asked for")
            return
        first = waiting[0]
        first[0] += len(segment.payload)
        first[1] -= len(segment.payload)
        if segment.last != (first[1] == 0):
            self.find("A12", "a Read Response ends before or after what was asked for")
        if first[1] == 0:
            waiting.pop(0)

    # ---- RPC-over-RDMA ----

    def message(self, connection, segment, data):
        message = messages.parse(data)
        self.counts["messages"] += 1
        if len(data) > THRESHOLD:
            self.find("A6", f"a Send of {len(data)} octets is above the threshold")
        if message.version != 1:
            self.find("A2", f"version {message.version}")
        if message.proc == messages.RDMA_ERROR:
            self.find("A2", f"an RDMA_ERROR for {message.xid:#x}")
            connection.open.pop(message.xid, None)
        elif segment.from_client:
            self.xids.add(message.xid)
            self.call(connection, message)
        else:
            self.reply(connection, segment, message)

    def body_fits(self, message, chunked):
        """A2: "RDMA_MSG has a body, RDMA_NOMSG none"."""
        if (message.proc == messages.RDMA_MSG) != bool(message.body):
            self.find("A2", f"{message.xid:#x}: procedure {message.proc} with a body of {len(message.body)} octets")
        if message.proc == messages.RDMA_NOMSG and not chunked:
            self.find("A2", f"{message.xid:#x}: RDMA_NOMSG without a chunk that has the message")

    def call(self, connection, message):
        transaction = Transaction(message)
        chunks = message.read_chunks()
        self.body_fits(message, 0 in chunks)
        for position in chunks:
            if position and position > len(message.body) or (position == 0) != (message.proc == messages.RDMA_NOMSG):
                self.find("A5", f"{message.xid:#x}: a Read chunk at {position}, the body has {len(message.body)}")
        if message.reply is not None and any(length == 0 for _, length, _ in message.reply):
            self.find("A7", f"{message.xid:#x}: the Reply chunk has an empty segment")
        if message.xid in connection.open:
            self.find("A2", f"{message.xid:#x} is used twice")
        connection.open[message.xid] = transaction
        self.offer(connection, transaction)
        if message.body:
            transaction.rpc = messages.parse_call(message.body)
            self.expected_chunks(transaction)
        self.counts["calls"] += 1

    def offer(self, connection, transaction):
        """A4: "all handles of one call are distinct where they cover different memory; no two chunks overlap"."""
        call = transaction.call
        offered = [(segment, "read") for _, segment in call.reads]
        offered += [(segment, "write") for chunk in call.writes + [call.reply or []] for segment in chunk]
        seen = set()
        for segment, kind in offered:
            if segment[0] in seen:
                self.find("A4", f"{call.xid:#x}: handle {segment[0]:#x} is offered twice")
            if segment[1] == 0:
                self.find("A10", f"{call.xid:#x}: an empty segment is offered")
            seen.add(segment[0])
            connection.handles[segment[0]] = transaction, segment, kind

    def expected_chunks(self, transaction):
        """A3 and A6: chunks are what operation, direction and sizes call for."""
        call, rpc = transaction.call, transaction.rpc
        got = len(call.read_chunks()), len(call.writes), int(call.reply is not None)
        want = {(0, 0, 0)}
        name = f"{call.xid:#x}, program {rpc.prog}, procedure {rpc.proc}"
        if rpc.xid != call.xid:
            self.find("A2", f"{name}: the RPC XID is {rpc.xid:#x}")
        if rpc.prog == NFS and rpc.proc == READ:
            _, at = messages.opaque(rpc.args)
            count = struct.unpack_from(">QI", rpc.args, at)[1]
            want = {(0, 1, 0)} if count > THRESHOLD else {(0, 0, 0), (0, 1, 0)}
        elif rpc.prog == NFS and rpc.proc == WRITE3:
            _, at = messages.opaque(rpc.args)
            count = struct.unpack_from(">QI", rpc.args, at)[1]
            want = {(1, 0, 0)} if count > THRESHOLD else {(0, 0, 0), (1, 0, 0)}
            self.counts["small writes inline"] += count <= 2048 and got == (0, 0, 0)
            if count <= 2048 and got != (0, 0, 0):
                self.find("A6", f"{name}: {count} octets did not go inline")
        elif rpc.prog == NFS and rpc.proc == READLINK:
            want = {(0, 0, 0), (0, 1, 0), (0, 0, 1)}
        elif rpc.prog == NFS and rpc.proc in (READDIR, READDIRPLUS):
            want = {(0, 0, 0), (0, 0, 1)}
        elif rpc.prog == NFS and rpc.proc == SYMLINK:
            want = {(0, 0, 0), (1, 0, 0)}
        if rpc.prog in (NFS, 100005) and got not in want:
            self.find("A3", f"{name}: {got[0]} Read chunks, {got[1]} Write chunks, {got[2]} Reply chunks")
        self.counts[f"procedure {rpc.prog}.{rpc.proc}"] += 1

    def reply(self, connection, segment, message):
        transaction = connection.open.pop(message.xid, None)
        if transaction is None:
            self.find("A2", f"a reply for {message.xid:#x}, which nobody called")
            return
        call = transaction.call
        self.counts["replies"] += 1
        self.body_fits(message, message.reply is not None and total(message.reply) > 0)
        if message.reads:
            self.find("A8", f"{message.xid:#x}: a reply with a Read list")
        self.returned(message.xid, call.writes, message.writes)
        if call.reply is not None or message.reply is not None:
            self.returned(message.xid, [call.reply or []], [message.reply or []])
        if message.reply is not None and (total(message.reply) == 0) != (message.proc == messages.RDMA_MSG):
            self.find("A9", f"{message.xid:#x}: Reply chunk of {total(message.reply)} and procedure {message.proc}")
        for chunk in message.writes + [message.reply or []]:
            self.covered(transaction, chunk)
        self.pulled(transaction)
        if segment.opcode == SEND_INVALIDATE:
            self.counts["remote invalidations"] += 1
            if connection.handles.get(segment.stag, (None,))[0] is not transaction:
                self.find("A8", f"{message.xid:#x}: invalidates {segment.stag:#x}, which is not its own")
        transaction.answered = True

    def returned(self, xid, offered, returned):
        """A8: "the same chunks and segments as the call offered: handles and offsets equal, lengths not above"."""
        shapes = [[(handle, offset) for handle, _, offset in chunk] for chunk in offered]
        if shapes != [[(handle, offset) for handle, _, offset in chunk] for chunk in returned]:
            self.find("A8", f"{xid:#x}: the reply returns other segments than were offered")
            return
        for ours, theirs in zip(offered, returned):
            if any(b[1] > a[1] for a, b in zip(ours, theirs)):
                self.find("A8", f"{xid:#x}: a returned length is above the one offered")

    def covered(self, transaction, chunk):
        """A11: "cover it without holes, in order": what was written is what the reply says."""
        for handle, length, offset in chunk:
            at = offset
            for start, size in transaction.written.get(handle, []):
                if start != at:
                    self.find("A11", f"a Write to {handle:#x} at {start:#x}, expected at {at:#x}")
                at = start + size
            if at != offset + length:
                self.find("A11", f"{at - offset} octets were written to {handle:#x}, the reply says {length}")

    def pulled(self, transaction):
        """A11 for Read chunks, and A3 for a call that came in a position-zero chunk."""
        for _, (handle, length, offset) in transaction.call.reads:
            at = offset
            for start, size in transaction.read.get(handle, []):
                if start != at:
                    self.find("A11", f"a Read from {handle:#x} at {start:#x}, expected at {at:#x}")
                at = start + size
            if at != offset + length:
                self.find("A11", f"{at - offset} of {length} octets were read from {handle:#x}")
