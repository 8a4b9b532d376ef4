#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_doctor.py TOOL: `rpcrdma doctor` on a server that is well, and on faults that are made here: the step that fails, what
was found, and what to do."""
import json
import os
import resource
import socket
import struct
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap, free_port, may_others_run

TOOL = os.path.abspath(sys.argv[1])
tap = Tap()


def doctor(*arguments, timeout="3", **options):
    done = subprocess.run([TOOL, "doctor", "--json", "--timeout", timeout, *arguments], capture_output=True, text=True, timeout=120,
                          **options)
    return done, [json.loads(line) for line in done.stdout.splitlines()]


def diagnosed(name, step, found, advice, *arguments, **options):
    """Runs the doctor, and checks that this step fails, with these texts, and no other step."""
    done, steps = doctor(*arguments, **options)
    failed = [s for s in steps if s["status"] == "fail"]
    tap.result(done.returncode == 1 and [s["step"] for s in failed] == [step] and found in failed[0]["found"]
               and advice in failed[0]["advice"], f"{name} is diagnosed", [done.stderr, *failed])


class Peer(threading.Thread):
    """Accepts connections, and gives each to a function."""

    def __init__(self, serve, backlog=16):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=backlog)
        self.port = self.listener.getsockname()[1]
        self.url = f"nfs://127.0.0.1:{self.port}/"
        self.serve = serve
        if serve:
            self.start()

    def run(self):
        while True:
            try:
                threading.Thread(target=self.one, args=(self.listener.accept()[0],), daemon=True).start()
            except OSError:
                return

    def one(self, peer):
        try:
            self.serve(peer)
        except (OSError, struct.error):
            pass


def mpa_reply(peer, flags, private=b""):
    request = peer.recv(20, socket.MSG_WAITALL)
    data = peer.recv(struct.unpack(">H", request[18:20])[0], socket.MSG_WAITALL)
    depths = data[:4] if request[17] == 2 else b""
    peer.sendall(b"MPA ID Rep Frame" + bytes([request[16] & 0x10 | flags, request[17]]) + struct.pack(">H", len(depths + private))
                 + depths + private)


def rejects(peer):
    mpa_reply(peer, 0x20)
    peer.recv(1)


def is_silent(peer):
    mpa_reply(peer, 0)
    while peer.recv(65536):
        pass


def loses_large(to):
    """Returns a function that passes a connection on as a network with a small MTU would: data of the server that come in
    more than 2000 octets at once are lost."""
    def serve(peer):
        server = socket.create_connection(("127.0.0.1", to))

        def back():
            try:
                while (data := server.recv(65536)) and len(data) <= 2000:
                    peer.sendall(data)
            except OSError:  # the other direction ended
                pass

        threading.Thread(target=back, daemon=True).start()
        while data := peer.recv(65536):
            server.sendall(data)
        server.close()
    return serve


def test_firewall(top):
    """With stand-ins for nft: rules that name the port, rules that do not, no rules, a failure, and no nft at all."""
    if os.geteuid() != 0:
        return tap.skip("what nft says", "only root can see the rules")
    port = free_port()
    for name, script, status, found in (
            ("a rule for the port", f"echo '  udp dport 1 drop'; echo '  tcp dport {port} drop'", "fail", f"tcp dport {port} drop"),
            ("a rule for a set with the port", f"echo 'tcp dport {{ 22, {port} }} reject'", "fail", "reject"),
            ("a rule for a range with the port", f"echo 'tcp dport {port - 1}-{port + 1} drop'", "fail", "drop"),
            ("a rule for another port", f"echo 'tcp dport {port + 1} drop'; echo 'tcp dport {port}0 drop'", "ok", f"{port + 1}"),
            ("no rule", "true", "skip", "no rule"), ("an nft that fails", "exit 1", "skip", "cannot be run"),
            ("no nft", None, "skip", "not installed")):
        bin = tempfile.mkdtemp(dir=top)
        if script:
            with open(f"{bin}/nft", "w") as file:
                file.write(f"#!/bin/sh\n{script}\n")
            os.chmod(f"{bin}/nft", 0o755)
        done, steps = doctor(f"nfs://127.0.0.1:{port}/", env={**os.environ, "PATH": bin})
        step = [s for s in steps if s["step"] == "firewall"]
        tap.result(len(step) == 1 and step[0]["status"] == status and found in step[0]["found"], f"{name} is shown as {status}",
                   [done.stderr, step])
    done = subprocess.run([TOOL, "doctor", f"nfs://127.0.0.1:{port}/"], capture_output=True, text=True, timeout=60)
    tap.result(done.stdout.endswith("\n1 step failed\n"), "one step is one step", done.stdout)


def test_drops():
    """A listener whose queue is full: the system drops SYNs, as a firewall does."""
    peer = Peer(None, backlog=0)
    fillers = [socket.socket() for _ in range(4)]
    for filler in fillers:
        filler.setblocking(False)
        filler.connect_ex(("127.0.0.1", peer.port))
    diagnosed("a port whose packets are dropped", "port", "does not answer within 1 s", "firewall", peer.url, timeout="1")
    for filler in fillers:
        filler.close()


def test_server(top):
    tcp_port = free_port()
    with Server(TOOL, f"{top}/served", tcp_port=tcp_port) as server:
        done, steps = doctor(server.url)
        names = [s["step"] for s in steps]
        tap.result(done.returncode == 0 and {s["status"] for s in steps} <= {"ok", "skip"}
                   and {"name", "route", "provider", "port", "handshake", "first call", "version", "mount", "read", "long reply"} <= set(names),
                   "a server that is well is found so", [done.stderr, *steps])
        text = subprocess.run([TOOL, "doctor", server.url], capture_output=True, text=True)
        tap.result(text.returncode == 0 and text.stdout.endswith("all is well\n"), "and in words", [text.stdout])
        diagnosed("the port of NFS over TCP", "handshake", "iWARP (MPA)", "20049", f"nfs://127.0.0.1:{tcp_port}/")
        diagnosed("a path that is not exported", "mount", "NFS3ERR_NOENT", "exports", f"{server.url}nothing")
        diagnosed("a network that loses large packets", "read", "", "MTU", Peer(loses_large(server.port)).url)
    test_rights(top)
    with Server(TOOL, f"{top}/served", "--rpcrdma-version", "1") as server:
        diagnosed("a version that the server does not speak", "first call", "versions 1 to 1", "--rpcrdma-version",
                  "--rpcrdma-version", "2", server.url)
    with Server(TOOL, f"{top}/served", "--rpcrdma-version", "2") as server:
        done, steps = doctor("--rpcrdma-version", "2", server.url)
        tap.result(done.returncode == 0 and "long reply" in [s["step"] for s in steps], "all steps are made in the version that is asked for",
                   [done.stderr, *steps])


def test_rights(top):
    """What the user of the URL may not read is found by asking the server as that user, and no file is said to be missing there."""
    if os.geteuid() != 0:
        return tap.skip("rights are asked for", "only root acts as other users")
    os.makedirs(f"{top}/served/secret")
    os.makedirs(f"{top}/served/listed")
    for name, mode in (("secret", 0o700), ("listed", 0o744)):
        with open(f"{top}/served/{name}/file", "wb") as file:
            file.write(b"x" * 6000)
        os.chmod(f"{top}/served/{name}/file", 0o600)
        os.chmod(f"{top}/served/{name}", mode)
    tcp_port = free_port()
    with Server(TOOL, f"{top}/served", tcp_port=tcp_port) as server:
        for host, tcp in ((server.url, ""), (f"nfs://127.0.0.1:{tcp_port}/", "&transport=tcp")):
            for path, said in (("secret", "may not list the directory /secret"), ("listed", "may not look up names in the directory /listed")):
                diagnosed(f"a directory of another user, {path}{tcp},", "rights", f"user 1234, group 1235 {said}", "?uid=",
                          f"{host}{path}?uid=1234&gid=1235{tcp}")
            done, steps = doctor(f"{host}secret?uid=0&gid=0{tcp}")
            right = [s for s in steps if s["step"] == "rights"]
            tap.result(done.returncode == 0 and right and right[0]["found"] == "user 0, group 0 may read /secret", f"root may{tcp}",
                       [done.stderr, *steps])
        os.chmod(f"{top}/served/secret", 0o755)
        diagnosed("a file of another user", "rights", "user 1234, group 1235 may not read the file /secret/file", "owner",
                  f"{server.url}secret/file?uid=1234&gid=1235")
        url = f"nfs://127.0.0.1:{tcp_port}/?transport=tcp"
        done, steps = doctor(url)
        tap.result(done.returncode == 0 and [s["step"] for s in steps if s["status"] == "ok" and s["step"] not in ("locked memory", "kernel")]
                   == ["name", "route", "port", "mount", "rights"], "a server over TCP is examined without RDMA", [done.stderr, *steps])
    diagnosed("a port of TCP where nobody listens", "port", "no program listens", "NFS over TCP", url)
    done = subprocess.run([TOOL, "ls", url], capture_output=True, text=True, timeout=60)
    tap.result(done.returncode == 1 and "NFS over TCP" in done.stderr and "modprobe" not in done.stderr,
               "the advice for TCP does not speak of RDMA", [done.stderr])


def test_memlock():
    """The process may not lock memory freely, and has a limit that is too low for any adapter."""
    def limit():
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536))
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)

    if os.geteuid() == 0 and not may_others_run(TOOL):
        return tap.skip("a limit on locked memory is diagnosed", "another user cannot run the command")
    _, steps = doctor("--transport", "verbs", "nfs://127.0.0.1/", preexec_fn=limit)
    failed = {s["step"]: s for s in steps if s["status"] == "fail"}
    tap.result("locked memory" in failed and "64 KiB" in failed["locked memory"]["found"] and "ulimit" in failed["locked memory"]["advice"],
               "a limit on locked memory is diagnosed", steps)


def test_others():
    """The other commands give the advice of the doctor, too."""
    port = free_port()
    for command in (["ls"], ["cat"], ["stat"], ["rm"], ["ping", "-c", "1"], ["check"]):
        done = subprocess.run([TOOL, *command, f"nfs://127.0.0.1:{port}/x"], capture_output=True, text=True)
        tap.result(done.returncode == 1 and "refused" in done.stderr and "to do: start the server" in done.stderr
                   and "rpcrdma doctor" in done.stderr, f"{command[0]} says what to do where no program listens", [done.stderr])


with tempfile.TemporaryDirectory(prefix="rpcrdma-doctor-") as top:
    os.mkdir(f"{top}/served")
    with open(f"{top}/served/file", "wb") as file:
        file.write(os.urandom(200000))
    test_server(top)
    test_firewall(top)
diagnosed("a port where nobody listens", "port", "no program listens", "portlist", f"nfs://127.0.0.1:{free_port()}/")
diagnosed("a name that does not exist", "name", "no-such-host.invalid", "spelling", "nfs://no-such-host.invalid/")
test_drops()
test_memlock()
test_others()
diagnosed("a rejected connection", "handshake", "reject", "log", Peer(rejects).url)
diagnosed("a server that never answers", "first call", "no answer came", "hang", Peer(is_silent).url, timeout="1")
diagnosed("an adapter that is not there", "provider", "", "rpcrdma devices", "--transport", "verbs", "nfs://127.0.0.1/")
tap.end()
