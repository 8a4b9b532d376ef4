# SPDX-License-Identifier: BSD-3-Clause
"""A TCP proxy that loses connections: whenever one has carried so much data, it ends, wherever that is."""
import asyncio
import random
import threading

STEP = 65536


class Cutter:
    """Passes connections at `port` of the loopback on to `target`. Each is lost after about `octets` of data in one
    direction, until `limit` were lost with most of their data on its way `in` (from the target), and as many `out`. `guest`
    tells which end is in QEMU, "source" or "target": the other one is reset."""

    def __init__(self, port, target, octets, limit, guest, seed=1):
        self.target, self.octets, self.limit, self.guest = target, octets, limit, guest
        self.cuts = {"in": 0, "out": 0}
        self.random = random.Random(seed)
        self.loop = asyncio.new_event_loop()
        self.server = self.loop.run_until_complete(asyncio.start_server(self.connected, "127.0.0.1", port, limit=STEP))
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    def close(self):
        """Nobody listens at the port any more."""
        def end():
            self.server.close()
            self.loop.stop()

        self.loop.call_soon_threadsafe(end)
        self.thread.join()

    async def connected(self, *source):
        try:
            target = await asyncio.open_connection("127.0.0.1", self.target, limit=STEP)
        except OSError:
            source[1].transport.abort()
            return
        left = {way: int(self.octets * self.random.uniform(0.5, 1.5)) for way in self.cuts}
        ways = [asyncio.ensure_future(self.carry("out", left, source[0], target[1])),
                asyncio.ensure_future(self.carry("in", left, target[0], source[1]))]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        ends = (source, target) if self.guest == "source" else (target, source)
        ends[1][1].transport.abort()
        await self.let_go(*ends[0])

    async def let_go(self, reader, writer):
        """Ends a connection in the middle of a message, but not by a reset: libslirp, QEMU's network, fails an assertion when
        one comes while its buffer is full."""
        try:
            writer.write_eof()
            while await reader.read(STEP):
                pass
        except OSError:
            pass
        writer.transport.abort()

    async def carry(self, way, left, reader, writer):
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
                    return
        except OSError:
            pass
