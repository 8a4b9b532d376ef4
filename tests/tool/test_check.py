#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_check.py TOOL: `rpcrdma check` on our server, which passes, and on responders that each break a row, which it finds."""
import json
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Daemon, Server, Tap, free_port

TOOL = os.path.abspath(sys.argv[1])
tap = Tap()
PRIVATE = bytes.fromhex("f6ab0e1801010303")


def run(*arguments):
    return subprocess.run([TOOL, "check", *arguments], capture_output=True, text=True, timeout=120)


def results(*arguments):
    done = run("--format", "json", *arguments)
    return done, [json.loads(line) for line in done.stdout.splitlines()]


# ---- Our server ----

def test_server(directory):
    with open(f"{directory}/file", "wb") as file:
        file.write(os.urandom(20000))
    for i in range(200):
        open(f"{directory}/an-entry-with-a-long-enough-name-{i}", "w").close()
    before = sorted(os.listdir(directory))
    with Server(TOOL, directory) as server:
        done, found = results("--destructive", server.url)
        failed = [r for r in found if r["verdict"] == "fail"]
        passed = [r for r in found if r["verdict"] == "pass"]
        tap.result(done.returncode == 0 and not failed and len(passed) > 40 and {r["version"] for r in passed} == {1, 2},
                   f"our server passes {len(passed)} cases, of versions 1 and 2", [done.stderr, *failed])
        tap.result(sorted(os.listdir(directory)) == before, "nothing stays behind")
        reverse = {(r["version"], r["verdict"]) for r in found if r["name"] == "B6-reverse-call"}
        tap.result(reverse == {(1, "pass"), (2, "pass")}, "its calls in the reverse direction pass, in versions 1 and 2", [reverse])
        done, found = results(server.url)
        tap.result([r["name"] for r in found if "destructive" in r.get("why", "")] == ["B7-repeated-call"],
                   "cases that change something need --destructive", [found])
        done, found = results("--only", "B4", "--rpcrdma-version", "1", server.url)
        tap.result(done.returncode == 0 and found and {(r["row"], r["version"]) for r in found} == {("B4", 1)},
                   "--only takes a row, --rpcrdma-version a version", [found])
        test_formats(server.url)
    with Server(TOOL, directory, "--read-only") as server:
        done, found = results("--destructive", "--only", "B7-repeated-call", server.url)
        tap.result(done.returncode == 0 and [r["verdict"] for r in found] == ["skip"] and "MKDIR fails with status 30" in found[0]["why"],
                   "where nothing can be made, a repeated MKDIR shows nothing", [done.stderr, *found])
    with Server(TOOL, directory, "--nfs", "4") as server:
        done, found = results(server.url)
        tap.result(done.returncode == 0 and any(r["name"] == "B9-failed-read" and r["verdict"] == "pass" for r in found)
                   and any(r["verdict"] == "skip" and r["row"] == "B5" for r in found), "a server of version 4 alone fails no case",
                   [done.stderr, *[r for r in found if r["verdict"] == "fail"]])
    with Server(TOOL, directory, "--nfs", "4.0") as server:
        done, found = results(server.url)
        tap.result(done.returncode == 0 and any(r["name"] == "B9-failed-read" and r["verdict"] == "pass" for r in found),
                   "nor does one of version 4.0 alone", [done.stderr, *[r for r in found if r["verdict"] == "fail"]])
    tap.result(run("--only", "nothing", server.url).returncode != 0, "a server that is gone is an error")


def test_formats(url):
    listed = re.findall(r"^(\S+)", run("--list").stdout, re.MULTILINE)
    done = run("--format", "tap", "--only", listed[0], url)
    tap.result(done.stdout.startswith("1..2\nok 1 - ") and done.returncode == 0, "--list lists, and TAP is TAP", [done.stdout])
    done = run("--format", "junit", "--only", listed[0], url)
    suite = xml.etree.ElementTree.fromstring(done.stdout)
    tap.result(suite.get("tests") == "2" and len(suite.findall("testcase")) == 2, "JUnit's XML is well-formed", [done.stdout])
    done = run("--only", listed[0], url)
    tap.result(done.stdout.endswith("2 passed, 0 failed, 0 skipped\n"), "text ends with a count", [done.stdout])
    tap.result(run("--only", "nothing", url).returncode == 2, "a case that there is not is a usage error")
    done = run("--only", "B13-unknown-option", "--rpcrdma-version", "1", url)
    tap.result(done.returncode == 2 and "no such case" not in done.stderr and "version" in done.stderr,
               "so is one that is not made in the version that is allowed, with that reason", [done.stderr])


# ---- check --serve ----

def send_two_words(port):
    """Connects to the port over iWARP with revision 1 of MPA, and sends a message that is too short for any header."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as peer:
        peer.sendall(b"MPA ID Req Frame" + bytes([0, 1]) + struct.pack(">H", len(PRIVATE)) + PRIVATE)
        Responder.exactly(peer, struct.unpack(">H", Responder.exactly(peer, 20)[18:])[0])
        ulpdu = struct.pack(">BBIIII", 0x41, 0x43, 0, 0, 1, 0) + bytes(8)
        peer.sendall(struct.pack(">H", len(ulpdu)) + ulpdu + bytes(-(2 + len(ulpdu)) % 4 + 4))
        peer.shutdown(socket.SHUT_WR)
        while peer.recv(4096):
            pass


def test_serve(top):
    """`check --serve` finds no broken rows with our client, and those that `rpcrdma check` breaks on purpose. It finds none
    in its own answers."""
    for name, client, status in (("our client", ["cp", "-r", f"{top}/served"], 0), ("a requester that breaks rows", ["check"], 1)):
        port = free_port()
        server = Daemon()
        server.launch([TOOL, "check", "--serve", "--listen", f"127.0.0.1:{port}", "--tcp-port", "0", "--no-root-squash",
                       "--key", f"{top}/key", f"{top}/other"], subprocess.PIPE)
        url = f"nfs://127.0.0.1:{port}/"
        subprocess.run([TOOL, *client, url], capture_output=True, timeout=120)
        server.process.terminate()
        errors = server.process.communicate(timeout=60)[1]
        found = re.findall(r"^rpcrdma serve: (\S+) > \S+ XID \S+ ([AB]\d+) ", errors, re.MULTILINE)
        own = [line for line in found if line[0] == f"127.0.0.1:{port}"]
        tap.result(server.process.returncode == status and bool(found) == bool(status) and not own
                   and re.search(r"\d\d+ messages were judged", errors), f"check --serve judges {name}", [errors[-3000:]])
    port = free_port()
    server = Daemon()
    server.launch([TOOL, "check", "--serve", "--listen", f"127.0.0.1:{port}", "--tcp-port", "0", "--key", f"{top}/key", f"{top}/other"],
                  subprocess.PIPE)
    send_two_words(port)
    server.process.terminate()
    errors = server.process.communicate(timeout=60)[1]
    tap.result("a header does not decode" in errors and "XID" not in errors, "a message without an XID is judged without one",
               [errors[-3000:]])
    tap.result(run("--list", "--serve").returncode == 2, "--serve comes first")


# ---- Responders that break a row ----

class Responder(threading.Thread):
    """A responder over iWARP with revision 1 of MPA. answer(xid, words of the call) returns the messages to send."""

    def __init__(self, answer, private=PRIVATE, reads=False):
        super().__init__(daemon=True)
        self.answer, self.private = answer, private
        self.msn = {}  # of each connection
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"nfs://127.0.0.1:{self.listener.getsockname()[1]}/"
        self.start()

    def run(self):
        while True:
            try:
                threading.Thread(target=self.serve, args=(self.listener.accept()[0],), daemon=True).start()
            except OSError:
                return

    @staticmethod
    def exactly(peer, size):
        data = b""
        while len(data) < size:
            piece = peer.recv(size - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data

    def serve(self, peer):
        try:
            request = self.exactly(peer, 20)
            revision = request[17]
            data = self.exactly(peer, struct.unpack(">H", request[18:20])[0])
            depths = data[:4] if revision == 2 else b""
            private = depths + self.private
            peer.sendall(b"MPA ID Rep Frame" + bytes([request[16] & 0x10, revision]) + struct.pack(">H", len(private)) + private)
            self.msn[peer] = 0
            while True:
                self.frame(peer)
        except (EOFError, OSError):
            peer.close()

    def frame(self, peer):
        size = struct.unpack(">H", self.exactly(peer, 2))[0]
        ulpdu = self.exactly(peer, (2 + size + 3) // 4 * 4 - 2 + 4)[:size]
        if ulpdu[1] & 15 not in (3, 4) or not ulpdu[0] & 0x40:
            return
        data = ulpdu[18:]
        for message in self.answer(struct.unpack(f">{len(data) // 4}I", data[:len(data) // 4 * 4])):
            self.send(peer, message)

    def send(self, peer, message):
        self.msn[peer] += 1
        body = b"".join(struct.pack(">I", word & 0xffffffff) for word in message)
        ulpdu = struct.pack(">BBIIII", 0x41, 0x43, 0, 0, self.msn[peer], 0) + body
        frame = struct.pack(">H", len(ulpdu)) + ulpdu
        peer.sendall(frame + bytes(-len(frame) % 4 + 4))


def reply(xid, credit=32, version=1, proc=0, lists=(0, 0, 0), rpc_xid=None):
    return [xid, version, credit, proc, *lists, xid if rpc_xid is None else rpc_xid, 1, 0, 0, 0, 0]


def good(words):
    """Returns what a correct responder of version 1 answers to a message of the cases of headers and errors."""
    if len(words) < 7:
        return []
    xid, version, _, proc = words[:4]
    if version != 1:
        return [[xid, version, 32, 4, 1, 1, 1]]
    if proc in (3, 4):
        return []
    if proc != 0 or any(words[4:7]) or len(words) < 9 or words[7] != xid:
        return [[xid, 1, 32, 4, 2]]
    return [reply(xid)] if words[8] == 0 else []


BROKEN = {  # the case that fails, with what is broken where a case has several, and the responder
    "A2-null-reply": lambda w: [reply(w[0], rpc_xid=w[0] + 1)] if w[1] == 1 else good(w),
    "B1-grant": lambda w: [[*m[:2], 0, *m[3:]] for m in good(w)],
    "B1-credit-zero, as the call is discarded": lambda w: [] if w[1] == 1 and w[2] == 0 else good(w),
    "B3-unknown-version, by another error": lambda w: [[w[0], w[1], 32, 4, 2]] if w[1] == 99 else good(w),
    "B3-unknown-version": lambda w: [[w[0], 1, 32, 4, 1, 1, 1]] if w[1] == 99 else good(w),
    "B3-error-to-responder": lambda w: [[w[0], 1, 32, 4, 2]] if w[1] == 1 and w[3] == 4 else good(w),
    "B4-unknown-procedure": lambda w: [] if w[3] == 77 else good(w),
    "B4-unknown-procedure, as no error is named": lambda w: [[w[0], 1, 32, 4]] if w[3] == 77 else good(w),
    "B4-unknown-procedure, by ERR_VERS without versions": lambda w: [[w[0], 1, 32, 4, 1]] if w[3] == 77 else good(w),
    "B4-msgp": lambda w: [] if w[3] == 2 else good(w),
    "B4-done": lambda w: [[w[0], 1, 32, 4, 2]] if w[1] == 1 and w[3] == 3 else good(w),
    "B4-short": lambda w: [[w[0], 1, 32, 4, 2]] if len(w) < 7 else good(w),
    "B4-xid-mismatch": lambda w: [reply(w[0])] if len(w) > 8 and w[1] == 1 and w[7] != w[0] else good(w),
    "B4-nomsg-without-chunks": lambda w: [] if w[3] == 1 and not any(w[4:]) else good(w),
    "B8-stray-reply": lambda w: [[w[0], 1, 32, 4, 2]] if len(w) > 8 and w[8] == 1 else good(w),
}


def test_broken():
    responder = Responder(good)
    rows = ("A2", "B1", "B2", "B3", "B4", "B8")
    options = [word for row in rows for word in ("--only", row)]
    done, found = results("--rpcrdma-version", "1", *options, responder.url + "?mountport=1")
    failed = [r for r in found if r["verdict"] == "fail"]
    tap.result(done.returncode == 0 and not failed and len(found) > 15, "a good responder in Python passes", [done.stderr, *failed])
    responder.listener.close()
    for name, answer in BROKEN.items():
        responder = Responder(answer)
        done, found = results("--rpcrdma-version", "1", "--timeout", "2", "--only", name.split(",")[0], responder.url + "?mountport=1")
        tap.result(done.returncode == 1 and [r["verdict"] for r in found] == ["fail"], f"a responder that breaks {name} is found",
                   [done.stderr, *found])
        responder.listener.close()


with tempfile.TemporaryDirectory(prefix="rpcrdma-check-") as top:
    os.mkdir(f"{top}/served")
    test_server(f"{top}/served")
    os.mkdir(f"{top}/other")
    test_serve(top)
test_broken()
tap.end()
