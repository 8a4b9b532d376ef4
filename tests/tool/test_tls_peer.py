#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_tls_peer.py TOOL: RPC-with-TLS (RFC 9289) with a peer that is made here, by Python's ssl: the octets of the probe and of its
answer, what a server must take and refuse, and what a client does with servers that are wrong."""
import contextlib
import os
import select
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from pki import Pki, server_options
from records import ALERT, CLOSE_NOTIFY, INTERNAL_ERROR, Records
from tap import Server, Tap, free_port

TOOL = os.path.abspath(sys.argv[1])
AUTH_NONE, AUTH_TLS = 0, 7
BADCRED, REJECTEDCRED = 1, 2
STARTTLS = b"STARTTLS"
UPDATES = 64   # key updates that are taken within 1 MiB
EMPTY_MAX = 32  # records without octets that OpenSSL takes one after the other
PER_HOST = 24  # handshakes of one host that may be under way
tap = Tap()


def check(name, good, *details):
    return tap.result(good, name, details)


def call(xid, procedure=0, flavor=AUTH_NONE, body=b"", verifier=(0, b""), arguments=b"", versions=(2, 100003, 3)):
    rpcvers, program, version = versions
    message = struct.pack(">8I", xid, 0, rpcvers, program, version, procedure, flavor, len(body)) + body + struct.pack(">2I", verifier[0], len(verifier[1])) + verifier[1] + arguments
    return struct.pack(">I", 1 << 31 | len(message)) + message


def probe(xid=7, **more):
    return call(xid, flavor=AUTH_TLS, **more)


def denied(xid, stat):
    return struct.pack(">6I", 1 << 31 | 20, xid, 1, 1, 1, stat)


def done(xid):
    return struct.pack(">7I", 1 << 31 | 24, xid, 1, 0, 0, 0, 0)


# RFC 9289, 4.1, and figures 1 and 2 of its text.
AGREED = struct.pack(">6I", 1 << 31 | 32, 7, 1, 0, AUTH_NONE, len(STARTTLS)) + STARTTLS + struct.pack(">I", 0)


def connect(port):
    stream = socket.create_connection(("127.0.0.1", port), timeout=30)
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return stream


def read(stream, count):
    """So many octets, or fewer if the stream ends before; a reset is an end, too."""
    octets = b""
    with contextlib.suppress(ConnectionError):
        while len(octets) < count and (part := stream.recv(count - len(octets))):
            octets += part
    return octets


def client_context(pki, *protocols, version=ssl.TLSVersion.TLSv1_3):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1_2, version
    context.load_verify_locations(pki.path("ca.pem"))
    if protocols:
        context.set_alpn_protocols(protocols)
    return context


def inside(port, context):
    """A connection inside of TLS, after the probe; the session of Python's ssl."""
    stream = connect(port)
    stream.sendall(probe())
    if (answer := read(stream, len(AGREED))) != AGREED:
        raise RuntimeError(f"the probe was answered by {answer.hex()}")
    return context.wrap_socket(stream, server_hostname="localhost", suppress_ragged_eofs=False)


def refused(port, context):
    """What ends the handshake; None if nothing did. A refusal may come with the first read only."""
    try:
        with inside(port, context) as stream:
            stream.sendall(call(1))
            return None if read(stream, 28) == done(1) else "closed"
    except (ssl.SSLError, ConnectionError) as error:
        return error


def test_probe(pki, server):
    """RFC 9289, 4.1, and 5.1.1 of it: the probe, at the port of plain calls, and what is none, or comes behind it."""
    port = server.tcp_port
    with connect(port) as stream:
        stream.sendall(probe())
        check("the probe is answered by STARTTLS", (answer := read(stream, 36)) == AGREED, answer.hex())
    with connect(port) as stream:
        for octet in probe():
            stream.sendall(bytes([octet]))
        check("a probe in 44 pieces, too", read(stream, 36) == AGREED)
    for name, octets in (("on another procedure", probe(procedure=1)), ("with a body", probe(body=b"\0" * 4)), ("with arguments", probe(arguments=b"\0" * 4)),
                         ("with a verifier", probe(verifier=(0, b"\0" * 4))), ("with a verifier of its own flavor", probe(verifier=(7, b"")))):
        with connect(port) as stream:
            stream.sendall(octets + call(8))
            check(f"a probe {name} is denied, and the connection goes on", (answer := read(stream, 52)) == denied(7, BADCRED) + done(8), answer.hex())
    with connect(port) as stream:
        stream.sendall(call(6))
        read(stream, 28)
        stream.sendall(probe())
        check("a probe behind another call is denied", (answer := read(stream, 24)) == denied(7, BADCRED), answer.hex())
    for name, octets in (("a call", call(8)), ("one octet", b"\x16"), ("a mark", struct.pack(">I", 1 << 31 | 40))):
        with connect(port) as stream:
            stream.sendall(probe() + octets)
            check(f"{name} behind the probe ends the connection, without any answer", (answer := read(stream, 99)) == b"", answer.hex())
    for name, octets in (("a call", call(8)), ("a record of 16 KiB and an octet", b"\x16\3\3\x41\1" + b"\1" * 16641), ("an empty handshake record", b"\x16\3\3\0\0" * 40)):
        with connect(port) as stream:
            stream.sendall(probe())
            read(stream, 36)
            with contextlib.suppress(ConnectionError):
                stream.sendall(octets)
            # What comes is an alert of TLS at most.
            check(f"{name} in place of a ClientHello ends the connection", (answer := read(stream, 99))[:1] in (b"", b"\x15") and done(8) not in answer, answer.hex())
    for version in (1, 3):
        with connect(port) as stream:
            stream.sendall(probe(versions=(version, 100003, 3)))
            check(f"a probe of RPC version {version} gets no STARTTLS", STARTTLS not in read(stream, 24))


def test_session(pki, server):
    """RFC 9289, 5, and RFC 9289, 6: TLS 1.3 alone, ALPN, and nothing by which a client could send early data."""
    port = server.tcp_port
    for protocols, chosen in (((), None), (("sunrpc",), "sunrpc"), (("http/1.1", "sunrpc"), "sunrpc")):
        with inside(port, client_context(pki, *protocols)) as stream:
            stream.sendall(call(1))
            check(f"ALPN {', '.join(protocols) or 'absent'}: taken", read(stream, 28) == done(1) and stream.selected_alpn_protocol() == chosen and stream.version() == "TLSv1.3")
    for protocols in (("http/1.1",), ("sunrpcs",), ("sunrp",)):
        error = refused(port, client_context(pki, *protocols))
        check(f"ALPN {protocols[0]}: refused", error is not None, error)
    error = refused(port, client_context(pki, version=ssl.TLSVersion.TLSv1_2))
    check("TLS 1.2 is refused", isinstance(error, ssl.SSLError) and "version" in str(error).lower(), error)
    with inside(port, client_context(pki)) as stream:
        for octet in call(1):
            stream.sendall(bytes([octet]))
        check("a call in records of one octet", read(stream, 28) == done(1))
    with inside(port, client_context(pki)) as stream:
        stream.sendall(b"".join(call(xid) for xid in range(1, 101)))
        answers = read(stream, 2800)
        check("a hundred calls in one record are answered", {answers[at:at + 28] for at in range(0, 2800, 28)} == {done(xid) for xid in range(1, 101)})
        stream.sendall(probe() + call(8))
        check("a second probe, inside of TLS, is denied", (answer := read(stream, 52)) == denied(7, BADCRED) + done(8), answer.hex())
    with inside(port, client_context(pki)) as stream:
        check("no session ticket is sent", stream.session is None or not stream.session.has_ticket)
        stream.sendall(call(1))
        read(stream, 28)
        raw = stream.detach()
        with socket.socket(fileno=raw) as plain:
            plain.settimeout(30)
            plain.sendall(call(2))
            check("a plain call inside of a session ends it", done(2) not in read(plain, 999))


def test_ends(pki, top):
    """The server's end, and that of the client, are said inside of TLS."""
    with Server(TOOL, f"{top}/served", *server_options(pki), tcp_port=free_port()) as server:
        with inside(server.tcp_port, client_context(pki)) as stream:
            stream.sendall(call(1))
            read(stream, 28)
            server.process.send_signal(signal.SIGTERM)
            try:
                check("a server that ends sends close_notify", stream.recv(1) == b"")
            except ssl.SSLError as error:
                check("a server that ends sends close_notify", False, error)


def test_floods(pki, server):
    """Handshakes that are begun and left there do not keep others from theirs."""
    begun = []
    for _ in range(PER_HOST + 8):
        begun.append(connect(server.tcp_port))
        begun[-1].sendall(probe())
        read(begun[-1], len(AGREED))
    with connect(server.tcp_port) as stream:
        stream.sendall(call(1))
        check("plain calls go on meanwhile", read(stream, 28) == done(1))
    with inside(server.tcp_port, client_context(pki)) as stream:
        stream.sendall(call(1))
        check("TLS of the same host has a place meanwhile", read(stream, 28) == done(1))
    ends = [read(stream, 1) for stream in begun[:2]]
    check("the oldest handshakes give up their places to those beyond the bound of a host", ends == [b""] * 2, ends)
    with open(server.stderr.name) as file:
        log = file.read()
    check("because others want them, and not because of their time", "made room" in log and "10 s" not in log, log)
    for stream in begun:
        stream.close()
    with inside(server.tcp_port, client_context(pki)) as stream:
        stream.sendall(call(1))
        check("TLS goes on after it", read(stream, 28) == done(1))


class Updater:
    """`openssl s_client`, behind a probe, whose octets pass through here: its line K updates its keys and asks for an update of the
    server's, which Python's ssl cannot do."""

    def __init__(self, pki, port):
        self.far, listener = connect(port), socket.create_server(("127.0.0.1", 0))
        self.far.sendall(probe())
        read(self.far, len(AGREED))
        self.process = subprocess.Popen(["openssl", "s_client", "-connect", f"127.0.0.1:{listener.getsockname()[1]}", "-CAfile", pki.path("ca.pem"),
                                         "-tls1_3", "-quiet", "-no_ign_eof"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)
        self.near = listener.accept()[0]
        listener.close()
        self.sent, self.answers, self.ended = 0, b"", False

    def until(self, condition):
        """Passes octets on until the condition holds, or the server has ended; for 30 s at most."""
        while not condition() and not self.ended:
            ready = select.select([self.near, self.far, self.process.stdout], [], [], 30)[0]
            if not ready:
                return
            if self.process.stdout in ready:
                self.answers += os.read(self.process.stdout.fileno(), 65536)
            with contextlib.suppress(ConnectionError):
                if self.near in ready:
                    octets = self.near.recv(65536)
                    self.sent += len(octets)
                    self.far.sendall(octets)
                if self.far in ready:
                    octets = self.far.recv(65536)
                    self.ended = not octets
                    self.near.sendall(octets)
                continue
            self.ended = True

    def write(self, octets):
        """Gives a line to s_client, and waits until it has sent something for it: it would take two lines at once for one."""
        before = self.sent
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(octets)
        self.until(lambda: self.sent > before)

    def close(self):
        self.process.kill()
        self.process.communicate()
        self.near.close()
        self.far.close()


def test_records(pki, server):
    """Records as no library sends them, within a record of RPC."""
    def agree(stream):
        stream.sendall(probe())
        read(stream, len(AGREED))

    def opened():
        return Records(server.tcp_port, client_context(pki, "sunrpc"), pki.folder, begin=agree)

    with opened() as peer:
        for octet in call(1):
            peer.send(bytes([octet]))
        check("a call in records of one octet each", peer.read(28) == done(1))
        octets = call(2)
        peer.send(octets[:10], padding=1000)
        peer.send(b"")
        peer.send(octets[10:20])
        peer.send(b"", padding=9)
        peer.update(asks=True)
        peer.send(octets[20:])
        check("records with padding and without octets, and a key update, in the middle of a call", peer.read(28) == done(2))
        for _ in range(EMPTY_MAX + 1):
            peer.send(b"")
        check("records without octets and without end do end the connection", peer.read(28) == b"")
    for name, octets, kind, spoilt in (("a fatal alert", INTERNAL_ERROR, ALERT, False), ("close_notify", CLOSE_NOTIFY, ALERT, False),
                                       ("a record that was changed on the way", call(1)[20:], 23, True), ("a record of no known type", b"x", 99, False)):
        with opened() as peer:
            peer.send(call(1)[:20])
            peer.send(octets, kind, spoilt=spoilt)
            check(f"{name} in the middle of a call ends the connection", peer.read(28) == b"")
        with inside(server.tcp_port, client_context(pki)) as stream:
            stream.sendall(call(1))
            check(f"and others go on after {name}", read(stream, 28) == done(1))


def test_updates(pki, server):
    peer, answered = Updater(pki, server.tcp_port), 0
    # Each line K is behind the answer to a call, so that s_client reads it alone.
    while not peer.ended and answered <= 2 * UPDATES:
        peer.write(call(answered))
        peer.until(lambda: len(peer.answers) == 28)
        if peer.answers != done(answered):
            break
        answered, peer.answers = answered + 1, b""
        peer.write(b"K\n")
    check("calls are answered after key updates of both sides, as many as may be", answered == UPDATES + 1, answered)
    check("and then the connection ends", peer.ended)
    peer.close()


# ---- Servers that are made here ----

class Wrong:
    """A server over TCP that answers the first record of each connection by talk(stream, xid), in its own thread. heard has what it
    received outside of TLS."""

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
                with contextlib.suppress(OSError, ssl.SSLError), stream:
                    first = read(stream, 44)
                    self.heard += first
                    self.talk(stream, struct.unpack(">I", first[4:8])[0])
                    while octets := stream.recv(65536):
                        self.heard += octets

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.listener.close()


def agreed(xid):
    return AGREED[:4] + struct.pack(">I", xid) + AGREED[8:]


def answering(pki, *protocols, version=ssl.TLSVersion.TLSv1_3, stat=0):
    """What talks TLS as a server, and answers NULL calls inside of it; stat: the accept_stat of its answer to the probe. What knows
    protocols wants one of them offered."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1_2, version
    context.load_cert_chain(pki.path("server.pem"), pki.path("server.key"))
    if protocols:
        context.set_alpn_protocols(protocols)

    def talk(stream, xid):
        stream.sendall(agreed(xid)[:-4] + struct.pack(">I", stat))
        with context.wrap_socket(stream, server_side=True) as inner:
            if protocols and not inner.selected_alpn_protocol():
                return
            while octets := read(inner, 44):
                for octet in done(struct.unpack(">I", octets[4:8])[0]):
                    inner.sendall(bytes([octet]))
    return talk


def test_client(pki):
    """`ping` to servers that are made here. RFC 9289, 4.1, and RFC 9289, 5: the probe, what says that there is TLS, and ALPN."""
    for name, talk, texts in (
            ("without ALPN", answering(pki), None),
            ("with ALPN sunrpc", answering(pki, "sunrpc"), None),
            ("that does not know the program of the probe", answering(pki, "sunrpc", stat=1), None),
            ("whose answer was stripped of STARTTLS", lambda stream, xid: stream.sendall(done(xid)), ["has no TLS, which was demanded"]),
            ("that denies the probe", lambda stream, xid: stream.sendall(denied(xid, REJECTEDCRED)), ["has no TLS, which was demanded"]),
            ("that answers with another XID", lambda stream, xid: stream.sendall(agreed(xid ^ 1)), ["has no TLS, which was demanded"]),
            ("that answers with another token", lambda stream, xid: stream.sendall(agreed(xid).replace(STARTTLS, b"STARTTLX")), ["has no TLS, which was demanded"]),
            ("that answers in two fragments", lambda stream, xid: stream.sendall(b"\0\0\0\4" + agreed(xid)), ["does not speak RPC"]),
            ("that answers without end", lambda stream, xid: stream.sendall(b"\xff" * 4096), ["does not speak RPC"]),
            ("that closes", lambda stream, xid: stream.shutdown(socket.SHUT_RDWR), ["closed the connection when it was asked for TLS"]),
            ("that closes in the handshake", lambda stream, xid: (stream.sendall(agreed(xid)), stream.shutdown(socket.SHUT_WR)), ["during the handshake"]),
            ("that speaks RPC in place of TLS", lambda stream, xid: stream.sendall(agreed(xid) + done(xid)), ["TLS"]),
            ("with TLS 1.2 alone", answering(pki, version=ssl.TLSVersion.TLSv1_2), ["no TLS 1.3"]),
            ("that refuses the protocol", lambda stream, xid: (stream.sendall(agreed(xid) + b"\x15\3\3\0\2\2\x78")), ["not RPC"])):
        with Wrong(talk) as server:
            result = subprocess.run([TOOL, "ping", "-c", "2", "-i", "0", f"nfs://localhost:{server.port}/?transport=tcp&xprtsec=tls&tls-ca={pki.path('ca.pem')}"],
                                    capture_output=True, text=True, timeout=60)
            good = result.returncode == 0 if texts is None else result.returncode == 1 and all(text in result.stderr for text in texts)
            check(f"a server {name}", good, result.stdout, result.stderr)
            rest = server.heard[44:]
            check(f"a server {name}: it hears nothing but the probe in the clear", server.heard[:4] == probe()[:4] and server.heard[8:44] == probe(
                versions=(2, 100003, 4))[8:] and (rest == b"" or rest[0] in (0x15, 0x16)), server.heard.hex())


def main():
    if not shutil.which("openssl"):
        tap.skip("TLS", "there is no command openssl to make certificates")
        tap.end()
    with tempfile.TemporaryDirectory() as top:
        pki = Pki(f"{top}/pki")
        pki.signed("server", "DNS:localhost", "IP:127.0.0.1")
        os.makedirs(f"{top}/served")
        said = subprocess.run([TOOL, "serve", "--check-config", *server_options(pki), f"{top}/served"], capture_output=True, text=True)
        if "built without TLS" in said.stderr:
            tap.skip("TLS", "this command was built without it")
            tap.end()
        with Server(TOOL, f"{top}/served", *server_options(pki), tcp_port=free_port()) as server:
            for test in (test_probe, test_session, test_records, test_updates):
                test(pki, server)
        with open(f"{top}/log", "w") as log, Server(TOOL, f"{top}/served", *server_options(pki), tcp_port=free_port(), stderr=log) as server:
            test_floods(pki, server)
        test_ends(pki, top)
        test_client(pki)
    tap.end()


main()
