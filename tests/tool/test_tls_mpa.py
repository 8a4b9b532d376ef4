#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_tls_mpa.py TOOL: TLS under MPA (docs/draft-rpcrdma-mpa-tls.md): what is seen on the way, what rules and URLs demand, and peers that are
made here, by Python's ssl and record by record."""
import contextlib
import json
import os
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from pki import Pki, server_options
from recorder import Recorder
from records import ALERT, CLOSE_NOTIFY, INTERNAL_ERROR, Records
from tap import Server, Tap

TOOL = os.path.abspath(sys.argv[1])
TEXT = b"what nobody on the way may read; " * 8000
ALPN = "rpcrdma-mpa"
UPDATES = 64   # key updates that are taken within 1 MiB
PER_HOST = 24  # handshakes of one host that may be under way
EMPTY_MAX = 32  # records without octets that OpenSSL takes in a row
tap = Tap()


def run(*arguments, **environment):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=60, env={**os.environ, **environment})


def check(name, good, *details):
    return tap.result(good, name, details)


def told(name, good, result):
    return check(name, good, f"exit status {result.returncode}", result.stdout, result.stderr)


def url(port, path, xprtsec, *options, host="127.0.0.1", transport="iwarp"):
    return "&".join([f"nfs://{host}:{port}/{path}?transport={transport}", f"xprtsec={xprtsec}", *options])


def ours(pki, ca="ca.pem", cert=None):
    return [f"tls-ca={pki.path(ca)}"] + ([f"tls-cert={pki.path(cert + '.pem')}", f"tls-key={pki.path(cert + '.key')}"] if cert else [])


@contextlib.contextmanager
def serving(top, *options):
    with open(f"{top}/log", "w") as file, Server(TOOL, f"{top}/served", *options, stderr=file) as server:
        yield server


def log_of(top):
    with open(f"{top}/log") as file:
        return file.read()


def wait_for(top, text):
    """Waits until the server's log has a line with the text: what the client sent may still be on its way."""
    with open(f"{top}/log") as file:
        while text not in file.readline():
            time.sleep(0.01)


# ---- The command's own client and server ----

def test_seen(top, pki):
    """A file there and back, by RDMA Write and RDMA Read; only the plain way shows it, and MPA, to others."""
    with serving(top, *server_options(pki)) as server:
        for version in ("3", "4.2"):
            for xprtsec, options in (("tls", ours(pki)), ("mtls", ours(pki, cert="client")), ("auto", ours(pki)), ("none", [])):
                recorder = Recorder(server.port)
                at = url(recorder.port, "there", xprtsec, f"version={version}", *options)
                put, got = run("cp", "-f", f"{top}/text", at), run("cp", "-f", at, f"{top}/back")
                with open(f"{top}/served/there", "rb") as one, open(f"{top}/back", "rb") as other:
                    same = one.read() == TEXT and other.read() == TEXT
                name = f"version {version}, xprtsec={xprtsec}"
                told(f"{name}: a file there and back", put.returncode == 0 and same, put if put.returncode else got)
                told(f"{name}: its data is placed", f"{len(TEXT)} went by RDMA Write" in got.stderr + got.stdout, got)
                check(f"{name}: its octets are seen on the way only without TLS", (TEXT[:33] in recorder.seen) == (xprtsec == "none"))
                check(f"{name}: and so is MPA", (b"MPA ID Re" in recorder.seen) == (xprtsec == "none"))
                os.remove(f"{top}/served/there")
        result = run("ls", "-v", url(server.port, "", "mtls", *ours(pki, cert="client")))
        told("ls -v says what protects it", "over iwarp, TLSv1.3 with TLS_" in result.stderr and ", mutual" in result.stderr, result)
        result = run("ping", "-c", "1", url(server.port, "", "tls", *ours(pki)))
        told("ping says it, and whose certificate the server has shown", "on iwarp, TLSv1.3 with TLS_" in result.stdout and ", certificate of server\n" in result.stdout, result)
        said = json.loads(run("ping", "-c", "1", "--json", url(server.port, "", "mtls", *ours(pki, cert="client"))).stdout)
        check("and so does ping --json", (said["tls"], said["tls_mutual"], said["tls_peer"]) == ("TLSv1.3", True, "server"), said)
        result = run("cp", "-f", "--crc", url(server.port, "text", "tls", *ours(pki)), f"{top}/back")
        told("with CRCs inside of TLS, if they are asked for", result.returncode == 0, result)


def test_capture(top, pki):
    """--capture shows what was inside of TLS, and says so; --keylog has what others need to see it."""
    capture, keys = f"{top}/inside.pcapng", f"{top}/inside.keys"
    with serving(top, *server_options(pki)) as server:
        recorder = Recorder(server.port)
        result = run("cp", "-f", "--capture", capture, "--keylog", keys, url(recorder.port, "text", "tls", *ours(pki)), f"{top}/back")
    with open(capture, "rb") as file:
        octets = file.read()
    told("--capture inside of TLS has the file, and MPA", result.returncode == 0 and TEXT[:33] in octets and b"MPA ID Req Frame" in octets, result)
    check("and says that it shows them decrypted", b"inside of TLS are shown decrypted" in octets, octets[:200])
    told("decode reads it", run("decode", "--check", capture).returncode == 0, run("decode", "--check", capture))
    with open(keys) as file:
        words = [line.split() for line in file]
    hello = bytes(recorder.seen)
    check("--keylog has the secrets of the session that was seen on the way", {word[0] for word in words} >= {"CLIENT_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0"}
          and all(len(word) == 3 and bytes.fromhex(word[1]) in hello for word in words), words)
    check("and nobody else may read the file", os.stat(keys).st_mode & 0o777 == 0o600)
    result = run("ls", "--keylog", f"{top}/no/where", url(1, "", "tls", *ours(pki)))
    told("a file that cannot be made is said", "--keylog" in result.stderr and "No such file" in result.stderr and result.returncode == 1, result)


def test_rules(top, pki):
    ways = {"none": [], "tls": ours(pki), "mtls": ours(pki, cert="client")}
    for words in ("none", "tls", "mtls", "tls:mtls"):
        with serving(top, *server_options(pki), "--allow", f"*(rw,xprtsec={words})") as server:
            for way, options in ways.items():
                result = run("ls", url(server.port, "", way, *options))
                wanted = way in words.split(":")
                told(f"xprtsec={words}: {way} is {'served' if wanted else 'refused'}",
                     (result.returncode == 0) == wanted and (wanted or "xprtsec" in result.stderr), result)


def test_said(top, pki):
    """One sentence for what is wrong; and nothing of MPA in the clear where TLS was demanded."""
    for name, options, at, texts, logged in (
            ("a server without TLS", [], ("tls", ours(pki)), ["has no TLS for RDMA", "--tls-cert"], "asks for TLS"),
            ("another name", server_options(pki, "other"), ("tls", ours(pki)), ["is not for 127.0.0.1"], "refused this server's"),
            ("an authority that nobody knows", server_options(pki), ("tls", ours(pki, "self.pem")), ["authority that is not"], "refused this server's"),
            ("a certificate that signs itself", server_options(pki, "self"), ("tls", ours(pki)), ["signed by itself", "tls-ca"], "refused this server's"),
            ("an expired certificate", server_options(pki, "old"), ("tls", ours(pki)), ["has expired", "renew it"], "refused this server's"),
            ("a revoked certificate", server_options(pki, "gone"), ("tls", ours(pki, "revoked.pem")), ["was revoked", "new one"], "refused this server's"),
            ("a certificate of a revoked authority", server_options(pki, "below"), ("tls", ours(pki, "revoked.pem")), ["was revoked", "new one"], "refused this server's"),
            ("an expired client", server_options(pki), ("mtls", ours(pki, cert="old")), ["refused this client's certificate"], "has expired"),
            ("a revoked client", server_options(pki, ca="revoked.pem"), ("mtls", ours(pki, cert="gone")), ["refused this client's"], "was revoked"),
            ("a client of an authority that nobody knows", server_options(pki), ("mtls", ours(pki, cert="self")), ["refused this client's certificate"],
             "client's certificate is signed by itself")):
        with serving(top, *options) as server:
            recorder = Recorder(server.port)
            result = run("ls", url(recorder.port, "", at[0], *at[1]))
            told(f"{name}: it is said", result.returncode == 1 and all(text in result.stderr for text in texts), result)
            check(f"{name}: nothing of MPA was sent in the clear", b"MPA ID" not in recorder.seen and recorder.seen[:1] == b"\x16", recorder.seen.hex())
            wait_for(top, logged)
            check(f"{name}: the server's log says so", True)
    with serving(top) as server:
        result = run("ls", url(server.port, "", "auto", *ours(pki)))
        told("xprtsec=auto: a server without TLS is asked without it", result.returncode == 0, result)
    with serving(top, *server_options(pki, "other")) as server:
        recorder = Recorder(server.port)
        result = run("ls", url(recorder.port, "", "auto", *ours(pki)))
        told("xprtsec=auto: a certificate that is wrong is an attack, and not taken for no TLS",
             result.returncode == 1 and "is not for 127.0.0.1" in result.stderr and b"MPA ID" not in recorder.seen, result)
    result = run("ls", url(1, "", "tls", *ours(pki), transport="verbs"))
    told("an adapter has no TLS", "adapter has no TLS" in result.stderr and result.returncode == 1, result)


# ---- Clients that are made here ----

REQUEST = b"MPA ID Req Frame" + bytes([0, 1]) + struct.pack(">H", 0)  # RFC 5044, 7.1.1; revision 1
REPLY = b"MPA ID Rep Frame"


def call(xid):
    """A NULL call of NFS in a message of RPC-over-RDMA version 1 (RFC 8166, 4.2), without chunks."""
    return struct.pack(">7I", xid, 1, 8, 0, 0, 0, 0) + struct.pack(">10I", xid, 0, 2, 100003, 3, 0, 0, 0, 0, 0)


def send(message, number):
    """The FPDU of a Send (RFC 5044, 4.1; RFC 5041, 4.2; RFC 5040, 4.1)."""
    ulpdu = struct.pack(">BBIIII", 0x41, 0x43, 0, 0, number, 0) + message
    return struct.pack(">H", len(ulpdu)) + ulpdu + b"\0" * (-(2 + len(ulpdu)) % 4) + b"\0" * 4


def fpdu(read):
    """The ULPDU that comes next; b"" if none does."""
    head = read(2)
    if len(head) < 2:
        return b""
    size = struct.unpack(">H", head)[0]
    octets = read(size + -(2 + size) % 4 + 4)
    return octets[:size]


def replied(read):
    """An MPA reply, with its private data."""
    reply = read(20)
    return reply + read(reply[19]) if len(reply) == 20 else b""


def is_answer(ulpdu, xid):
    return ulpdu[18:22] == struct.pack(">I", xid) and ulpdu[18 + 28:18 + 28 + 12] == struct.pack(">3I", xid, 1, 0)


def context_of(pki, *protocols):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(pki.path("ca.pem"))
    if protocols:
        context.set_alpn_protocols(protocols)
    return context


def opened(top, pki, server):
    peer = Records(server.port, context_of(pki, ALPN), top)
    peer.send(REQUEST)
    return peer, replied(peer.read)


def works(top, pki, server):
    peer, reply = opened(top, pki, server)
    with peer:
        peer.send(send(call(1), 1))
        return reply[:16] == REPLY and is_answer(fpdu(peer.read), 1)


def test_protocol(top, pki, server):
    for protocols, good in (((ALPN,), True), (("http/1.1", ALPN), True), ((), False), (("sunrpc",), False), (("rpcrdma-mpa2",), False)):
        try:
            with Records(server.port, context_of(pki, *protocols), top) as peer:
                peer.send(REQUEST)
                taken = peer.read(20)[:16] == REPLY
                if good:
                    check("it is TLS 1.3, and the protocol was chosen", (peer.session.version(), peer.session.selected_alpn_protocol()) == ("TLSv1.3", ALPN))
        except (ssl.SSLError, ConnectionError):
            taken = False
        check(f"ALPN {', '.join(protocols) or 'absent'}: {'taken' if good else 'refused'}", taken == good)
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as stream:
        stream.sendall(REQUEST)
        check("the same port takes plain MPA", stream.recv(16) == REPLY)
        stream.sendall(b"\x16\3\1\1\0" + b"\1" * 256)
        octets = b""
        with contextlib.suppress(ConnectionError):
            while part := stream.recv(4096):
                octets += part
        check("TLS behind plain MPA ends the connection", b"\x16\3\3" not in octets, octets.hex())
    with Records(server.port, context_of(pki, ALPN), top) as peer:
        peer.send(b"\x16" + REQUEST[1:])
        check("no TLS is begun inside of TLS", peer.read(20) == b"")


def test_records(top, pki, server):
    peer, reply = opened(top, pki, server)
    with peer:
        for octet in send(call(1), 1):
            peer.send(bytes([octet]))
        check("an FPDU in records of one octet", is_answer(fpdu(peer.read), 1))
        octets = send(call(2), 2) + send(call(3), 3)
        peer.send(octets[:50], padding=1000)
        peer.send(b"")
        peer.send(octets[50:100])
        peer.send(b"", padding=9)
        peer.send(octets[100:])
        check("records with padding and without octets in the middle of FPDUs", is_answer(fpdu(peer.read), 2) and is_answer(fpdu(peer.read), 3))
        for _ in range(EMPTY_MAX + 1):
            peer.send(b"")
        check("records without octets and without end do end the connection", fpdu(peer.read) == b"")
    with Records(server.port, context_of(pki, ALPN), top) as peer:
        for octet in REQUEST:
            peer.send(bytes([octet]))
        check("an MPA request in records of one octet", peer.read(20)[:16] == REPLY)
    with Records(server.port, context_of(pki, ALPN), top) as peer:
        peer.send(REQUEST + send(call(1), 1) + send(call(2), 2))
        good = replied(peer.read)[:16] == REPLY and is_answer(fpdu(peer.read), 1) and is_answer(fpdu(peer.read), 2)
        check("an MPA request and what follows it in one record: nothing is left lying in the session", good)
    for name, octets, kind, spoilt in (("a fatal alert", INTERNAL_ERROR, ALERT, False), ("close_notify", CLOSE_NOTIFY, ALERT, False),
                                       ("a record that was changed on the way", send(call(1), 1)[40:], 23, True), ("a record of no known type", b"x", 99, False)):
        peer, reply = opened(top, pki, server)
        with peer:
            peer.send(send(call(1), 1)[:40])
            peer.send(octets, kind, spoilt=spoilt)
            check(f"{name} in the middle of an FPDU ends the connection", fpdu(peer.read) == b"")
        check(f"and others go on after {name}", works(top, pki, server))


def test_updates(top, pki, server):
    peer, reply = opened(top, pki, server)
    with peer:
        octets = send(call(1), 1)
        peer.send(octets[:30])
        peer.update(asks=True)
        peer.send(octets[30:])
        check("a key update of both sides in the middle of an FPDU", is_answer(fpdu(peer.read), 1))
        for _ in range(UPDATES - 1):
            peer.update()
        peer.send(send(call(2), 2))
        check("as many as may be are taken", is_answer(fpdu(peer.read), 2))
        peer.update()
        peer.send(send(call(3), 3))
        check("one more ends the connection", fpdu(peer.read) == b"")


def hello(pki):
    """The octets of a ClientHello."""
    outward = ssl.MemoryBIO()
    session = context_of(pki, ALPN).wrap_bio(ssl.MemoryBIO(), outward, server_hostname="localhost")
    with contextlib.suppress(ssl.SSLWantReadError):
        session.do_handshake()
    return outward.read()


def ended(stream):
    with contextlib.suppress(ConnectionError):
        while stream.recv(4096):
            pass
    return True


def test_floods(top, pki, server):
    """Handshakes that are begun and left there do not keep others from theirs."""
    octets = hello(pki)
    begun = []
    for _ in range(PER_HOST):
        begun.append(socket.create_connection(("127.0.0.1", server.port), timeout=30))
        begun[-1].sendall(octets)
        begun[-1].recv(1)  # of the ServerHello: it is under way
    more = [socket.create_connection(("127.0.0.1", server.port), timeout=30) for _ in range(8)]
    for stream in more:
        stream.sendall(octets[:1])
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as stream:
        stream.sendall(REQUEST)
        check("plain MPA goes on meanwhile", stream.recv(16) == REPLY)
    check("TLS of the same host has a place meanwhile", works(top, pki, server))
    check("the oldest handshakes give up their places to those beyond the bound of a host", all(ended(stream) for stream in begun[:2]))
    check("because others want them, and not because of their time", "made room" in log_of(top) and "10 s" not in log_of(top), log_of(top))
    for stream in begun + more:
        stream.close()
    check("TLS goes on after it", works(top, pki, server))
    for size in range(1, len(octets), 40):
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as stream:
            stream.sendall(octets[:size])
            stream.shutdown(socket.SHUT_WR)
            ended(stream)
    check("TLS goes on after handshakes that were cut", works(top, pki, server))


# ---- Servers that are made here ----

class Wrong:
    """A server whose connections talk(stream) has, in a thread."""

    def __init__(self, talk):
        self.talk, self.heard = talk, b""
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                stream = self.listener.accept()[0]
                stream.settimeout(30)
                with contextlib.suppress(OSError, ssl.SSLError, struct.error), stream:
                    self.heard += stream.recv(16, socket.MSG_PEEK)
                    self.talk(stream)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.listener.close()


def answering(pki, *protocols, version=ssl.TLSVersion.TLSv1_3, cut=None):
    """What talks TLS and MPA as a server, and answers NULL calls; with cut, only so many octets of the second answer, and then an end."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.maximum_version = version
    context.load_cert_chain(pki.path("server.pem"), pki.path("server.key"))
    if protocols:
        context.set_alpn_protocols(protocols)

    def talk(stream):
        with context.wrap_socket(stream, server_side=True) as inner:
            def read(count):
                octets = b""
                while len(octets) < count and (part := inner.recv(count - len(octets))):
                    octets += part
                return octets
            request = read(20)
            read(struct.unpack(">H", request[18:])[0])
            depths = struct.pack(">2H", 1, 1) if request[17] == 2 else b""
            inner.sendall(REPLY + bytes([request[16] & 0x10, request[17]]) + struct.pack(">H", len(depths)) + depths)
            number = 0
            while ulpdu := fpdu(read):
                if ulpdu[1] & 0xf != 3:
                    continue  # a zero-length RDMA Write
                number += 1
                xid = struct.unpack(">I", ulpdu[18:22])[0]
                octets = send(struct.pack(">7I", xid, 1, 8, 0, 0, 0, 0) + struct.pack(">6I", xid, 1, 0, 0, 0, 0), number)
                if cut and number == 2:
                    inner.sendall(octets[:cut])
                    inner.unwrap()
                    return
                for octet in octets:
                    inner.sendall(bytes([octet]))
    return talk


def test_client(pki):
    """`ping` to servers that are made here."""
    for name, talk, texts in (
            ("with ALPN rpcrdma-mpa, and records of one octet", answering(pki, ALPN), None),
            ("without ALPN", answering(pki), ["does not say that rpcrdma-mpa"]),
            ("with ALPN sunrpc", answering(pki, "sunrpc"), ["does not say that rpcrdma-mpa"]),
            ("with TLS 1.2 alone", answering(pki, ALPN, version=ssl.TLSVersion.TLSv1_2), ["no TLS 1.3"]),
            ("that closes at once", lambda stream: None, ["has no TLS for RDMA"]),
            ("that answers in the clear", lambda stream: (stream.sendall(REPLY + bytes([0, 1, 0, 0])), stream.recv(65536), stream.recv(65536)), ["TLS"]),
            ("that ends in the middle of an FPDU", answering(pki, ALPN, cut=30), ["closed the connection in the middle of a message"])):
        with Wrong(talk) as server:
            result = run("ping", "-c", "3", "-i", "0", url(server.port, "", "tls", *ours(pki), host="localhost"))
            good = result.returncode == 0 if texts is None else result.returncode == 1 and all(text in result.stderr for text in texts)
            told(f"a server {name}", good, result)
            check(f"a server {name}: it hears TLS from the first octet on", server.heard[:1] == b"\x16" and b"MPA" not in server.heard, server.heard.hex())


def main():
    if not shutil.which("openssl"):
        tap.skip("TLS", "there is no command openssl to make certificates")
        tap.end()
    with tempfile.TemporaryDirectory() as top:
        pki = Pki(f"{top}/pki")
        for name, names in (("server", ["DNS:localhost", "IP:127.0.0.1"]), ("client", ["DNS:client.example"]), ("other", ["DNS:other.example"]),
                            ("gone", ["DNS:localhost", "IP:127.0.0.1"])):
            pki.signed(name, *names)
        pki.signed("old", "DNS:localhost", "IP:127.0.0.1", dates=["-startdate", "190101000000Z", "-enddate", "200101000000Z"])
        pki.self_signed("self", "self", "subjectAltName=DNS:localhost,IP:127.0.0.1")
        pki.below("below", "DNS:localhost", "IP:127.0.0.1")
        pki.revoke("gone")
        pki.revoke("below-ca")
        os.makedirs(f"{top}/served")
        for path in ("text", "served/text"):
            with open(f"{top}/{path}", "wb") as file:
                file.write(TEXT)
        said = run("serve", "--check-config", *server_options(pki), f"{top}/served")
        if "built without TLS" in said.stderr:
            tap.skip("TLS", "this command was built without it")
            tap.end()
        for test in (test_seen, test_capture, test_rules, test_said):
            test(top, pki)
        with serving(top, *server_options(pki)) as server:
            for test in (test_protocol, test_records, test_updates, test_floods):
                test(top, pki, server)
        test_client(pki)
    tap.end()


main()
