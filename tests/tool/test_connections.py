#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_connections.py TOOL: `rpcrdma cp --connections` spreads its calls, and goes on when one of its connections is cut in the
middle; `serve --connections` bounds the connections of a server, and `serve --threads` spreads them evenly."""
import collections
import filecmp
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap, free_port

TOOL = os.path.abspath(sys.argv[1])
CONNECTIONS = 4
CUT_AFTER = 512 << 10  # octets of a connection
tap = Tap()


class Relay:
    """Passes connections on to a port, counts the octets of each, and cuts one of them once, after CUT_AFTER octets."""

    def __init__(self, port):
        self.port, self.octets, self.cut, self.lock = port, [], None, threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.own = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.port))
            with self.lock:
                number = len(self.octets)
                self.octets.append(0)
            for pair in ((near, far), (far, near)):
                threading.Thread(target=self.carry, args=(number, *pair), daemon=True).start()

    def must_cut(self, number, octets):
        with self.lock:
            self.octets[number] += octets
            if self.cut is not None or number == 0 or self.octets[number] < CUT_AFTER:
                return False
            self.cut = number
            return True

    def carry(self, number, source, sink):
        try:
            while data := source.recv(65536):
                if self.must_cut(number, len(data)):
                    break
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.listener.close()


def make_tree(top):
    os.makedirs(f"{top}/small")
    for number in range(100):
        with open(f"{top}/small/{number}", "wb") as file:
            file.write(os.urandom(3000))
    for number in range(4):
        with open(f"{top}/{number}", "wb") as file:
            file.write(os.urandom(8 << 20))
    return top


def is_equal(one, other):
    same = filecmp.dircmp(one, other)
    files = [f"{name}/{entry}" for name in ("", "small") for entry in os.listdir(f"{one}/{name}")]
    return not same.left_only and not same.right_only and all(
        os.path.isdir(f"{one}/{file}") or filecmp.cmp(f"{one}/{file}", f"{other}/{file}", shallow=False) for file in files)


def copied(source, destination):
    return subprocess.run([TOOL, "cp", "-r", "--json", "--connections", str(CONNECTIONS), source, destination],
                          capture_output=True, text=True, timeout=100, stdin=subprocess.DEVNULL)


def spread(work, tree, port, options):
    """Copies a tree to a server and from it, each time through a new relay, which cuts a connection."""
    name = options.replace("=", "-").replace("&", "-").strip("?")
    for way in ("in", "out"):
        with Relay(port) as relay:
            url = f"nfs://127.0.0.1:{relay.own}/{name}{options}"
            result = copied(tree, url) if way == "in" else copied(url, f"{work}/{name}-out")
        words = json.loads(result.stdout) if result.returncode == 0 else {}
        details = (result.stderr, result.stdout, relay.octets)
        tap.result(result.returncode == 0 and is_equal(tree, f"{work}/served/{name}" if way == "in" else f"{work}/{name}-out"),
                   f"{name}, {way}: the copy is equal although a connection was cut", details)
        tap.result(words.get("reconnects") == 1 and len(relay.octets) == CONNECTIONS + 1,
                   f"{name}, {way}: that connection alone was made again", details)
        tap.result(all(octets > CUT_AFTER // 8 for octets in relay.octets[:CONNECTIONS]), f"{name}, {way}: each connection carried its part", details)


def is_open(connection):
    """Whether the connection is still open. The server sends nothing over it, so it can only be readable at its end."""
    connection.setblocking(False)
    try:
        return connection.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def bounded(folder):
    """With --connections 3, a server ends the oldest of six connections, and still serves a client."""
    tcp = free_port()
    with Server(TOOL, folder, "--connections", "3", tcp_port=tcp):
        connections = [socket.create_connection(("127.0.0.1", tcp)) for _ in range(6)]
        until = time.monotonic() + 60
        while sum(map(is_open, connections)) > 3 and time.monotonic() < until:
            time.sleep(0.05)
        tap.result(sum(map(is_open, connections)) == 3, "serve --connections 3 keeps three of six connections",
                   [is_open(connection) for connection in connections])
        result = subprocess.run([TOOL, "ls", f"nfs://127.0.0.1:{tcp}/?transport=tcp"], capture_output=True, text=True, timeout=60)
        tap.result(result.returncode == 0, "and serves another client", (result.stderr,))
        for connection in connections:
            connection.close()


def threads_of(path, count):
    """Waits until a server has `count` connections. Returns how many of them each thread has."""
    until = time.monotonic() + 60
    while True:
        result = subprocess.run([TOOL, "top", "--json", path], capture_output=True, text=True, timeout=60)
        connections = json.loads(result.stdout)["connection"] if result.returncode == 0 else []
        if len(connections) == count or time.monotonic() > until:
            return collections.Counter(connection["thread"] for connection in connections)
        time.sleep(0.05)


def even(folder, path):
    """The system gives a connection to any thread that listens. The server spreads connections, so that each thread has the
    same number."""
    tcp = free_port()
    with Server(TOOL, folder, "--threads", "3", "--monitor", path, tcp_port=tcp) as server:
        connections = [socket.create_connection(("127.0.0.1", tcp)) for _ in range(12)]
        counts = threads_of(path, 12)
        tap.result(sorted(counts.values()) == [4, 4, 4], "connections over TCP are spread evenly over threads", [counts])
        pings = [subprocess.Popen([TOOL, "ping", "-c", "1000000", "-i", "0.2", server.url], stdout=subprocess.PIPE) for _ in range(6)]
        for ping in pings:
            ping.stdout.readline()
        counts = threads_of(path, 18)
        tap.result(sorted(counts.values()) == [6, 6, 6], "and so are those over RDMA, together with them", [counts])
        for ping in pings:
            ping.terminate()
            ping.communicate()
        threads_of(path, 12)
        for connection in connections[:5]:
            connection.close()
        threads_of(path, 7)
        connections[:5] = [socket.create_connection(("127.0.0.1", tcp)) for _ in range(5)]
        counts = threads_of(path, 12)
        tap.result(sorted(counts.values()) == [4, 4, 4], "newcomers go to the threads that have the fewest", [counts])
        for connection in connections:
            connection.close()


def lost(served):
    """The server is killed in the middle of a copy: the user hears of it while the command tries it again."""
    with Server(TOOL, served) as server:
        copy = subprocess.Popen([TOOL, "cp", "-q", "-", f"{server.url}stream"], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        copy.stdin.write(b"x" * (4 << 20))
        copy.stdin.flush()
        server.kill()
        try:
            copy.stdin.write(b"x" * (1 << 20))
            copy.stdin.flush()
        except BrokenPipeError:
            pass  # the copy has ended: it says why
        said = copy.stderr.readline().decode()
        tap.result(f"127.0.0.1:{server.port}" in said and "tried again for 120 s" in said, "a server that is gone is said to be tried again",
                   [said])
        copy.terminate()
        copy.stdin.close()
        more = copy.stderr.read().decode()
        tap.result(copy.wait(timeout=60) == -15 and "tried again" not in more and "interrupted" in more, "once, until a signal comes", [more])


def main():
    with tempfile.TemporaryDirectory(prefix="rpcrdma-connections-") as work:
        tree = make_tree(f"{work}/tree")
        os.makedirs(f"{work}/served")
        tcp = free_port()
        with Server(TOOL, f"{work}/served", "--threads", "2", tcp_port=tcp) as server:
            spread(work, tree, server.port, "?version=3")
            spread(work, tree, server.port, "?version=4.2")
            spread(work, tree, tcp, "?version=4.2&transport=tcp")
        for number in ("0", "65"):
            result = subprocess.run([TOOL, "cp", "--connections", number, "a", "b"], capture_output=True, text=True, timeout=60)
            tap.result(result.returncode == 2 and "--connections takes a number from 1 to 64" in result.stderr,
                       f"cp --connections {number} is refused", (result.stderr,))
        lost(f"{work}/served")
        bounded(f"{work}/served")
        even(f"{work}/served", f"{work}/monitor")
    tap.end()


main()
