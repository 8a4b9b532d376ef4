# SPDX-License-Identifier: BSD-3-Clause
"""Somebody on the way, for tests of what is seen there."""
import contextlib
import socket
import threading


class Recorder:
    """Passes TCP connections on to a port, and keeps what it sees."""

    def __init__(self, port):
        self.to, self.seen = port, bytearray()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                near, far = self.listener.accept()[0], socket.create_connection(("127.0.0.1", self.to))
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=self.pass_on, args=(one, other), daemon=True).start()

    def pass_on(self, one, other):
        with contextlib.suppress(OSError):
            while octets := one.recv(65536):
                self.seen += octets
                other.sendall(octets)
        with contextlib.suppress(OSError):
            other.shutdown(socket.SHUT_WR)
