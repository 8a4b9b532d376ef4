# SPDX-License-Identifier: BSD-3-Clause
"""A TCP proxy that loses connections: whenever one has carried so much data, it is reset, wherever that is."""
import asyncio
import random
import threading

STEP = 65536


class Cutter:
    """Passes connections at `port` of the loopback on to `target`. Each is lost after about `octets` of data in one
    direction, until `limit` were lost with most of their data on its way `in` (from the target), and as many `out`."""

    def __init__(self, port, target, octets, limit, seed=1):
        self.target, self.octets, self.limit = target, octets, limit
        self.cuts = {"in": 0, "out": 0}
        self.random = random.Random(seed)
        self.loop = asyncio.new_event_loop()
        listening = threading.Event()
        threading.Thread(target=self.run, args=(port, listening), daemon=True).start()
        listening.wait()

    def run(self, port, listening):
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(asyncio.start_server(self.connected, "127.0.0.1", port, limit=STEP))
        listening.set()
        self.loop.run_forever()

    async def connected(self, reader, writer):
        try:
            peer_reader, peer_writer = await asyncio.open_connection("127.0.0.1", self.target, limit=STEP)
        except OSError:
            writer.transport.abort()
            return
        ends = (writer, peer_writer)
        left = {way: int(self.octets * self.random.uniform(0.5, 1.5)) for way in self.cuts}
        await asyncio.gather(self.carry("out", left, reader, peer_writer, ends),
                             self.carry("in", left, peer_reader, writer, ends))

    async def carry(self, way, left, reader, writer, ends):
        try:
            while data := await reader.read(STEP):
                cuts = self.cuts[way] < self.limit
                if cuts and len(data) >= left[way]:
                    data = data[:left[way]]
                left[way] -= len(data)
                writer.write(data)
                await writer.drain()
                if cuts and left[way] <= 0:
                    self.cuts[way] += 1
                    break
        except OSError:
            pass
        for end in ends:
            end.transport.abort()
