#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_lost.py TOOL: answers that are lost with their connection, once or until the client gives its call up, when the call has made
or renamed a temporary name of `rpcrdma cp -a`; and servers that die before they answer. No such name stays, whatever the call
was."""
import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap, free_port

TOOL = os.path.abspath(sys.argv[1])
GIVEN_UP = 6  # the first connection has answered other calls; five more without any answer, and the client gives the call up
tap = Tap()


class Relay:
    """Passes connections on to a port. The first `skip` calls that have the octets `name` pass; then, where a call has these octets,
    its answer is dropped, and the connection cut; that is done `cuts` times."""

    def __init__(self, port):
        self.port, self.name, self.skip, self.cuts, self.lock = port, None, 0, 0, threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.own = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def arm(self, name, skip, cuts):
        with self.lock:
            self.name, self.skip, self.cuts = name.encode(), skip, cuts

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.port))
            trapped = threading.Event()
            for source, sink, calls in ((near, far, True), (far, near, False)):
                threading.Thread(target=self.carry, args=(source, sink, trapped, calls), daemon=True).start()

    def must_cut(self, data):
        with self.lock:
            if not self.cuts or self.name not in data:
                return False
            self.skip -= 1
            if self.skip >= 0:
                return False
            self.cuts -= 1
            return True

    def carry(self, source, sink, trapped, calls):
        try:
            while data := source.recv(65536):
                if calls and not trapped.is_set() and self.must_cut(data):
                    trapped.set()
                elif not calls and trapped.is_set():
                    break
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.close()


def make(path, kind):
    """Makes an object of the kind in the directory `path`. Returns its name."""
    sizes = {"empty": 0, "small": 3000, "large": 300000, "first": 10}
    if kind in sizes:
        with open(f"{path}/{kind}", "wb") as file:
            file.write(os.urandom(sizes[kind]))
    elif kind == "link":
        os.symlink("somewhere", f"{path}/{kind}")
    elif kind == "pipe":
        os.mkfifo(f"{path}/{kind}")
    elif kind == "hard link":
        make(path, "first")
        os.link(f"{path}/first", f"{path}/{kind}")
    return kind


def temporaries(top):
    return [os.path.join(path, name) for path, _, names in os.walk(top) for name in names if ".rpcrdma-" in name]


def is_whole(source, target, result):
    return result.returncode == 0 and sorted(os.listdir(source)) == sorted(os.listdir(target)) and subprocess.run(
        ["diff", "-r", "--no-dereference", "-x", "pipe", source, target], stdout=subprocess.DEVNULL).returncode == 0


def cut(work, relay, version, kind, skip, cuts):
    source, target = f"{work}/source", f"{work}/served/to"
    os.mkdir(source)
    os.mkdir(target)
    name = make(source, kind)
    relay.arm(f".{name}.rpcrdma-0", skip, cuts)
    url = f"nfs://127.0.0.1:{relay.own}/to/?version={version}&transport=tcp&mountport={relay.own}"
    result = subprocess.run([TOOL, "cp", "-a", f"{source}/.", url], capture_output=True, text=True, timeout=120)
    left = temporaries(work)
    # A call that is given up may end the copy, but with an error, and nothing half made stays.
    good = is_whole(source, target, result) or (cuts == GIVEN_UP and result.returncode == 1 and "the connection was lost" in result.stderr)
    how = "once" if cuts == 1 else "until the call is given up"
    what = "renaming" if skip else "making"
    tap.result(good and not left and relay.cuts == 0, f"the answer to the {what} of a name is lost {how}, version {version}: {kind}",
               [f"exit status {result.returncode}", result.stdout, result.stderr, left, os.listdir(target), relay.cuts])
    shutil.rmtree(source)
    shutil.rmtree(target)


@contextlib.contextmanager
def doomed(library, function):
    """In the environment that servers get meanwhile, they die in their third call of the function for a temporary name."""
    environment = dict(os.environ)
    os.environ.update({"LD_PRELOAD": library, "FATAL_IN": function, "FATAL_NAME": ".rpcrdma-", "FATAL_AFTER": "3"})
    yield
    os.environ.clear()
    os.environ.update(environment)


def killed(work, library, version, function):
    """The server dies three times, each time in the third call of the function in its process, and is started again."""
    source, target = f"{work}/many", f"{work}/served/many"
    os.mkdir(source)
    for i in range(40):
        with open(f"{source}/{i}", "wb") as file:
            file.write(os.urandom(0 if i % 4 == 0 else 3000))
    make(source, "large")
    with doomed(library, function):
        server = Server(TOOL, f"{work}/served")
    process = subprocess.Popen([TOOL, "sync", source, f"{server.url}many?version={version}"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    for death in range(3):
        server.process.wait(timeout=60)
        with doomed(library, function if death < 2 else "none"):
            server.start()
    output, errors = process.communicate(timeout=120)
    server.stop()
    result = subprocess.CompletedProcess([], process.returncode, output, errors)
    left = temporaries(work)
    tap.result(is_whole(source, target, result) and not left, f"a server dies in {function}, version {version}",
               [f"exit status {result.returncode}", output, errors, left])
    shutil.rmtree(source)
    shutil.rmtree(target)


def main():
    library = os.environ.get("RPCRDMA_FATAL")
    with tempfile.TemporaryDirectory(prefix="rpcrdma-lost-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as work:
        os.mkdir(f"{work}/served")
        with Server(TOOL, f"{work}/served", tcp_port=free_port()) as server:
            relay = Relay(server.tcp_port)
            for version in ("3", "4.2"):
                for kind in ("empty", "small", "large", "link", "pipe", "hard link"):
                    for cuts in (1, GIVEN_UP):
                        cut(work, relay, version, kind, 0, cuts)
                for kind in ("empty", "large", "link"):
                    for cuts in (1, GIVEN_UP):
                        cut(work, relay, version, kind, 1, cuts)
            relay.close()
        for version in ("3", "4.1", "4.2"):
            for function in ("mknodat", "renameat"):
                if library:
                    killed(work, library, version, function)
                else:
                    tap.skip(f"a server dies in {function}, version {version}", "there is no library that ends servers")
    tap.end()


main()
