#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_rpcbind.py TOOL: `rpcrdma serve --rpcbind` registers its programs at a socket where a rpcbind of this test answers."""
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Gateway, Server, Tap, free_port

TOOL = os.path.abspath(sys.argv[1])
tap = Tap()
SET, UNSET = 1, 2


class Rpcbind:
    """An rpcbind. RFC 1833, section 2: SET returns true unless another program has registered that program, version and
    transport."""

    def __init__(self, path, taken=()):
        self.calls, self.taken = [], taken  # taken: names of transports, or programs
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            stream, _ = self.listener.accept()
            with stream, stream.makefile("rb") as file:
                while mark := file.read(4):
                    stream.sendall(self.answer(file.read(struct.unpack(">I", mark)[0] & 0x7fffffff)))

    def answer(self, call):
        xid, kind, rpc, prog, vers, proc, _, size = struct.unpack(">8I", call[:32])
        at = 32 + size
        at += 8 + struct.unpack(">2I", call[at:at + 8])[1]
        number, version = struct.unpack(">2I", call[at:at + 8])
        at += 8
        texts = []
        for _ in range(3):
            length = struct.unpack(">I", call[at:at + 4])[0]
            texts.append(call[at + 4:at + 4 + length].decode())
            at += 4 + (length + 3) // 4 * 4
        good = (kind, rpc, prog, vers) == (0, 2, 100000, 4) and at == len(call) and texts[2] == str(os.geteuid())
        self.calls.append((proc, number, version, texts[0], texts[1]) if good else ("bad", call))
        reply = struct.pack(">7I", xid, 1, 0, 0, 0, 0, texts[0] not in self.taken and number not in self.taken)
        return struct.pack(">I", 0x80000000 | len(reply)) + reply


def universal(host, port):
    return f"{host}.{port >> 8}.{port & 255}"


# MOUNT has versions 1 and 2, too; the last is NFSACL.
NFS3 = ((100003, 3), (100005, 1), (100005, 2), (100005, 3), (100227, 3))
LOCKS = ((100021, 1), (100021, 3), (100021, 4), (100024, 1))
# With RQUOTA, all that is served beside NFS version 3.
BESIDE = LOCKS + ((100011, 1), (100011, 2))
# What is served over UDP, too.
DATAGRAMS = ((100005, 1), (100005, 2), (100005, 3)) + BESIDE


def expected(proc, addresses, programs=NFS3 + ((100003, 4),) + BESIDE):
    beside = {netid.replace("tcp", "udp"): address for netid, address in addresses.items() if netid.startswith("tcp")}
    return sorted([(proc, *program, netid, address) for netid, address in addresses.items() for program in programs] +
                  [(proc, *program, netid, address) for netid, address in beside.items() for program in DATAGRAMS if program in programs
                   and BESIDE[0] in programs])


def served(folder, name, taken, *options):
    """Runs a server and ends it. Returns the calls that came to rpcbind before and after the end, and what the server
    wrote."""
    rpcbind = Rpcbind(f"{folder}/{name}", taken)
    with Server(TOOL, folder, "--rpcbind", f"{folder}/{name}", *options, tcp_port=free_port(), stderr=subprocess.PIPE) as server:
        up = sorted(rpcbind.calls)
        status = server.stop()
        text = server.process.stderr.read()
    return server, up, sorted(rpcbind.calls[len(up):]), text, status


def main():
    with tempfile.TemporaryDirectory(prefix="rpcrdma-rpcbind-") as folder:
        server, up, down, text, status = served(folder, "one", (), "--rpcbind-rdma")
        addresses = {"rdma": universal("127.0.0.1", server.port), "tcp": universal("127.0.0.1", server.tcp_port)}
        tap.result(up == expected(SET, addresses), "a server that is up has registered its programs over RDMA and TCP", up)
        tap.result(down == expected(UNSET, addresses), "one that ends takes them away", down)
        tap.result(status == 0 and text == "", "and says nothing", [text])

        other = free_port()
        server, up, down, text, status = served(folder, "two", (), "--rpcbind-rdma", "--listen", f"[::1]:{other}", "--listen",
                                                f"127.0.0.2:{free_port()}", "--nfs", "3")
        addresses = {"rdma": universal("127.0.0.1", server.port), "tcp": universal("0.0.0.0", server.tcp_port),
                     "rdma6": universal("::1", other), "tcp6": universal("::1", server.tcp_port)}
        tap.result(up == expected(SET, addresses, NFS3 + BESIDE),
                   "IPv6 has names of its own; several addresses at one port are all addresses, and of several ports the first one counts", up)

        server, up, down, text, status = served(folder, "three", ("tcp",), "--rpcbind-rdma")
        down = [call for call in down if call[:2] not in [(UNSET, program) for program, _ in LOCKS]]
        tap.result("under tcp by another server" in text and len(down) == 13 and all(call[3] in ("rdma", "udp") for call in down),
                   "what another server has is said, and left alone", [text, down])

        server, up, down, text, status = served(folder, "lockd", (100021,))
        unset = [call[1] for call in up if call[0] == UNSET]
        tap.result(unset == [100024, 100024] and text.count("\n") == 1 and "nolock" in text and len(down) == 13,
                   "where the machine's lockd has NLM, that is said in a sentence, and all else is registered", [text, up, down])

        server, up, down, text, status = served(folder, "four", ())
        tap.result(up == expected(SET, {"tcp": universal("127.0.0.1", server.tcp_port)}),
                   "RDMA is registered where that is asked for alone", up)

        rpcbind = Rpcbind(f"{folder}/five")
        with Gateway(TOOL, "nfs://127.0.0.1:1/", "--rpcbind", f"{folder}/five", "--rpcbind-rdma", stderr=subprocess.PIPE) as gateway:
            up = sorted(rpcbind.calls)
            status, text = gateway.stop(), gateway.process.stderr.read()
        programs = NFS3 + ((100003, 4),)
        addresses = {"rdma": universal("127.0.0.1", gateway.rdma_port), "tcp": universal("127.0.0.1", gateway.tcp_port)}
        tap.result((status, text, up, sorted(rpcbind.calls[len(up):])) == (0, "", expected(SET, addresses, programs), expected(UNSET, addresses, programs)),
                   "a gateway registers likewise while it is up", [status, text, up])

        with Server(TOOL, folder, "--rpcbind", f"{folder}/none", tcp_port=free_port(), stderr=subprocess.PIPE) as server:
            status = server.stop()
            text = server.process.stderr.read()
        tap.result(status == 0 and f"rpcbind at {folder}/none: " in text and "do not find" in text,
                   "without rpcbind a server serves, and says what is missing", [text])
        result = subprocess.run([TOOL, "serve", "--rpcbind", "x", "--tcp-port", "0", folder], capture_output=True, text=True, timeout=60)
        tap.result(result.returncode == 2 and "--rpcbind-rdma" in result.stderr, "there must be something to register", [result])
    tap.end()


main()
