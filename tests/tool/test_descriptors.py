#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_descriptors.py TOOL: what clients of NFS version 4.1 can open and lock where the server may have few descriptors."""
import os
import resource
import sys
import tempfile

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path[:0] = [TESTS, os.path.join(TESTS, "attack")]
from peers import Nfs4
from tap import Server, Tap, free_port

TOOL = os.path.abspath(sys.argv[1])
SOFT, HARD, FEW = 256, 2048, 512
tap = Tap()


class Client(Nfs4):
    """A client that opens and locks a file under new owners."""

    def __init__(self, port, name):
        super().__init__(("127.0.0.1", port))
        self.path = (*name.strip("/").encode().split(b"/"), b"file")
        self.locked = 0
        self.mount()

    def open_path(self):
        return self.open(*self.path)

    def lock_next(self, stateid):
        self.locked += 2
        self.lock(stateid, self.number() + self.locked, *self.path)

    def lock_for_ever(self):
        stateid = self.open_path()
        while True:
            self.lock_next(stateid)

    def number(self):
        """Returns a number of the connection, so that no two clients lock the same octets."""
        return self.connection.socket.getsockname()[1] << 32


class Limited(Server):
    """A server of DIRECTORY=/NAME, whose key is in that directory."""

    def start(self):
        self.key = self.directory.split("=")[0] + "/key"
        super().start()


def count(work, most):
    """Returns how often work() succeeds before the server refuses it, `most` at most."""
    for done in range(most):
        try:
            work()
        except OSError as error:
            if "status" not in str(error):
                raise
            return done
    return most


def served(soft, hard, use):
    """Runs use(port, name of the export) with a server whose limits of descriptors are these."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    with tempfile.TemporaryDirectory() as top:
        with open(f"{top}/file", "w"):
            os.chmod(f"{top}/file", 0o666)
        port = free_port()
        with Limited(TOOL, f"{top}=/x", "--state", f"{top}/state", tcp_port=port):
            use(port, "/x")


def one_client(port, name):
    client = Client(port, name)
    opened = count(client.open_path, 2 * SOFT)
    tap.result(opened > SOFT, "a client opens more files than the soft limit has descriptors, as the hard one has more",
               [f"{opened} opened"])


def greedy_and_honest(port, name):
    """Ten clients of an address lock as much as they can. Ten other clients of that address can still open and lock a file
    each."""
    clients = [Client(port, name) for _ in range(10)]
    for client in clients:
        count(client.lock_for_ever, 1)
    refused = []
    for i in range(10):
        try:
            clients.append(Client(port, name))
            clients[-1].lock_next(clients[-1].open_path())
            clients[-1].lock_next(clients[-1].open_path())
        except OSError as error:
            refused.append(f"client {i}: {error}")
    tap.result(not refused, "clients of the same address leave each other what they need, whatever they lock", refused)


served(SOFT, min(HARD, resource.getrlimit(resource.RLIMIT_NOFILE)[1]), one_client)
served(SOFT, FEW, greedy_and_honest)
tap.end()
