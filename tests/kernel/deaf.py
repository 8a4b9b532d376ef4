# SPDX-License-Identifier: BSD-3-Clause
"""A proxy between a client of NFS version 4 over TCP and its server, which keeps each CB_RECALL from the client, and answers
it in the client's place: the client goes on renewing its lease, and never returns a delegation."""
import asyncio
import struct
import threading

CALL, CB_COMPOUND, CB_RECALL = 0, 1, 4


def record(octets):
    return struct.pack(">I", len(octets) | 0x80000000) + octets


async def message(reader):
    """RFC 5531, 11: fragments, the last of which is marked."""
    octets, last = b"", False
    while not last:
        head = struct.unpack(">I", await reader.readexactly(4))[0]
        octets += await reader.readexactly(head & 0x7fffffff)
        last = head >> 31
    return octets


def opaque_end(octets, at):
    """Behind an opaque that begins there."""
    return at + 4 + (struct.unpack_from(">I", octets, at)[0] + 3) // 4 * 4


def answer_recall(octets):
    """The answer to a CB_COMPOUND of CB_SEQUENCE and CB_RECALL (RFC 8881, 20.9 and 20.2); None: it is another message."""
    xid, kind = struct.unpack_from(">II", octets)
    if kind != CALL or struct.unpack_from(">I", octets, 20)[0] != CB_COMPOUND:
        return None
    at = 24
    for _ in ("credential", "verifier"):
        at = opaque_end(octets, at + 4)
    tag = octets[at:opaque_end(octets, at)]
    at += len(tag) + 8
    count, operation = struct.unpack_from(">II", octets, at)
    session, numbers = octets[at + 8:at + 24], struct.unpack_from(">5I", octets, at + 24)
    if count != 2 or numbers[4] != 0 or struct.unpack_from(">I", octets, at + 44)[0] != CB_RECALL:
        return None
    sequence, slot, highest = numbers[0], numbers[1], numbers[2]
    return (struct.pack(">6I", xid, 1, 0, 0, 0, 0) + struct.pack(">I", 0) + tag + struct.pack(">III", 2, operation, 0) + session +
            struct.pack(">4I", sequence, slot, highest, highest) + struct.pack(">II", CB_RECALL, 0))


class Deaf:
    """Passes connections at `port` of the loopback on to `target`."""

    def __init__(self, port, target):
        self.target, self.recalls = target, 0
        self.loop = asyncio.new_event_loop()
        self.server = self.loop.run_until_complete(asyncio.start_server(self.connected, "127.0.0.1", port))
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def close(self):
        def end():
            self.server.close()
            self.loop.stop()

        self.loop.call_soon_threadsafe(end)
        self.thread.join()

    async def connected(self, reader, writer):
        try:
            there = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            return
        ways = [asyncio.ensure_future(self.carry(reader, there[1])),
                asyncio.ensure_future(self.carry(there[0], writer, there[1]))]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        there[1].close()
        writer.close()

    async def carry(self, reader, writer, back=None):
        """Message by message, as an answer of the proxy's goes between those of the client. back: to the server, of the way to
        the client."""
        while True:
            octets = await message(reader)
            answer = answer_recall(octets) if back else None
            if answer is None:
                writer.write(record(octets))
                await writer.drain()
            else:
                self.recalls += 1
                back.write(record(answer))
