#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_tls_known.py TOOL: TLS without an authority: the certificate that `serve --tls` makes, fingerprints, and the list of known servers;
and what certificates are for (RFC 9289, 5.2.1.1)."""
import contextlib
import hashlib
import os
import pty
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from pki import Pki, server_options
from tap import Server, Tap, free_port

TOOL = os.path.abspath(sys.argv[1])
SERVER, CLIENT = "1.3.6.1.5.5.7.3.34", "1.3.6.1.5.5.7.3.33"  # id-kp-rpcTLSServer and id-kp-rpcTLSClient
tap = Tap()


def environment(top):
    return {**{name: value for name, value in os.environ.items() if name != "XDG_CONFIG_HOME"}, "HOME": f"{top}/home"}


def run(top, *arguments):
    return subprocess.run([TOOL, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, env=environment(top))


def asked(top, answer, *arguments):
    """Runs the command on a terminal, with that answer to what it asks: its exit status, and all that it said."""
    near, far = pty.openpty()
    process = subprocess.Popen([TOOL, *arguments], stdin=far, stdout=far, stderr=far, env=environment(top))
    os.close(far)
    os.write(near, f"{answer}\n".encode())
    said = b""
    with contextlib.suppress(OSError):  # the other end is closed
        while part := os.read(near, 4096):
            said += part
    os.close(near)
    return process.wait(), said.decode()


def check(name, good, *details):
    return tap.result(good, name, details)


def told(name, good, result):
    return check(name, good, f"exit status {result.returncode}", result.stdout, result.stderr)


def fingerprint_of(path):
    """SHA-256 of SubjectPublicKeyInfo, as the command openssl writes that."""
    key = subprocess.run(["openssl", "x509", "-in", path, "-noout", "-pubkey"], capture_output=True).stdout
    return "sha256:" + hashlib.sha256(subprocess.run(["openssl", "pkey", "-pubin", "-outform", "DER"], input=key, capture_output=True).stdout).hexdigest()


def known(top):
    with contextlib.suppress(FileNotFoundError), open(f"{top}/home/.config/rpcrdma/known_servers") as file:
        return file.read()
    return ""


def test_made(top):
    """The certificate is made once, is nobody else's to read, and its fingerprint is that of its key."""
    certificate = f"{top}/served.tls/tls.pem"
    os.makedirs(f"{top}/served.tls")
    key = ["--tls", "--key", f"{top}/served.tls/key"]
    with Server(TOOL, f"{top}/served", *key, tcp_port=free_port()) as server:
        fingerprint = fingerprint_of(certificate)
        check("the certificate is beside the key of handles, for its owner alone", os.stat(certificate).st_mode & 0o777 == 0o600)
        check("nothing half made is left there", not [name for name in os.listdir(f"{top}/served.tls") if name.startswith("tls.pem.")], os.listdir(f"{top}/served.tls"))
        text = subprocess.run(["openssl", "x509", "-in", certificate, "-noout", "-text"], capture_output=True, text=True).stdout
        check("it is for this host, and for an RPC server", "DNS:localhost" in text and "TLS Web Server Authentication" in text and SERVER in text, text)
        for transport, port in (("iwarp", server.port), ("tcp", server.tcp_port)):
            at = f"nfs://127.0.0.1:{port}/?transport={transport}&xprtsec=tls"
            result = run(top, "ls", f"{at}&fingerprint={fingerprint}")
            told(f"{transport}: a client with its fingerprint is served", result.returncode == 0 and "file" in result.stdout, result)
            result = run(top, "ls", f"{at}&fingerprint={fingerprint[7:].upper()}")
            told(f"{transport}: in capitals, without sha256:", result.returncode == 0, result)
            result = run(top, "ls", f"{at}&fingerprint=sha256:{'0' * 64}")
            told(f"{transport}: another one is refused", result.returncode == 1 and "another fingerprint" in result.stderr, result)
            result = run(top, "ls", at)
            told(f"{transport}: without any, it is refused, and its own is said", result.returncode == 1 and f"fingerprint={fingerprint}" in result.stderr, result)
            result = run(top, "ls", f"{at}&tls-ca={certificate}".replace("127.0.0.1", "localhost"))
            told(f"{transport}: it can be its own authority", result.returncode == 0, result)
        check("nobody was asked, so that nothing is known", known(top) == "", known(top))
    with Server(TOOL, f"{top}/served", *key):
        check("a second start takes the same", fingerprint_of(certificate) == fingerprint)
    for wrong in ("", "sha256:", "x" * 64, "0" * 63, "0" * 65, "sha256:" + "0" * 63 + "g"):
        result = run(top, "ls", f"nfs://127.0.0.1:1/?xprtsec=tls&fingerprint={wrong}")
        told(f"fingerprint={wrong[:20]} of {len(wrong)} octets is none", result.returncode == 2 and "64 hexadecimal digits" in result.stderr, result)
    result = run(top, "serve", "--tls", "--key", f"{top}/nowhere/key", "--check-config", f"{top}/served")
    told("--check-config makes none", result.returncode == 0 and not os.path.exists(f"{top}/nowhere"), result)


def test_printed(top):
    """`serve --tls` prints the fingerprint at its start."""
    command = [TOOL, "serve", "--tls", "--key", f"{top}/served.tls/key", "--listen", f"127.0.0.1:{free_port()}", "--tcp-port", "0", f"{top}/served"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        said = ""
        for line in process.stdout:
            said += line
            if line == "ready\n":
                break
        process.terminate()
    check("the fingerprint is printed", f"fingerprint {fingerprint_of(f'{top}/served.tls/tls.pem')}\n" in said, said)


def test_asked(top):
    """On a terminal the user is asked once."""
    certificate = f"{top}/served.tls/tls.pem"
    key = ["--tls", "--key", f"{top}/served.tls/key"]
    with Server(TOOL, f"{top}/served", *key) as server:
        at, name = f"nfs://127.0.0.1:{server.port}/?xprtsec=tls", f"127.0.0.1:{server.port}"
        fingerprint = fingerprint_of(certificate)
        status, said = asked(top, "n", "ls", at)
        check("the question has the server and its fingerprint", name in said and fingerprint in said, said)
        check("no: it is refused, and stays unknown", status == 1 and known(top) == "", status, said)
        status, said = asked(top, "y", "ls", at)
        check("yes: it is served, and known", status == 0 and "file" in said and known(top) == f"{name} {fingerprint}\n", status, said, known(top))
        for command in (["ls"], ["ping", "-c", "1"]):
            result = run(top, *command, at)
            told(f"{command[0]}: nobody is asked again", result.returncode == 0, result)
        port = server.port
    check("the list is its owner's alone", os.stat(f"{top}/home/.config/rpcrdma/known_servers").st_mode & 0o777 == 0o600)
    os.remove(certificate)
    with Server(TOOL, f"{top}/served", *key, port=port):
        for answer in ("y", "n"):
            status, said = asked(top, answer, "ls", at)
            check("a server with another key is refused, and nobody is asked", status == 1 and "is not the one that is known" in said and "(y or n)" not in said, status, said)
        result = run(top, "ls", f"{at}&fingerprint={fingerprint_of(certificate)}")
        told("unless the URL has its fingerprint", result.returncode == 0, result)
        with open(f"{top}/home/.config/rpcrdma/known_servers", "w") as file:
            file.write(f"# a comment\n\n127.0.0.1 sha256:12\n{name}\n{name} {fingerprint_of(certificate)} and more\n{name} {fingerprint}\n")
        result = run(top, "ls", at)
        told("lines that are none are passed over, and the first of a server counts", result.returncode == 0, result)


def test_purposes(top, pki):
    """RFC 9289, 5.2.1.1: certificates for RPC, and not for the web."""
    names = ("DNS:localhost", "IP:127.0.0.1")
    for name, purposes, good in (("rpc-server", SERVER, True), ("web-server", "serverAuth", True), ("any", "anyExtendedKeyUsage", True), ("rpc-client", CLIENT, False),
                                 ("web-client", "clientAuth", False), ("mail", "emailProtection", False)):
        pki.signed(name, *names, purposes=purposes)
        with Server(TOOL, f"{top}/served", *server_options(pki, name)) as server:
            result = run(top, "ls", f"nfs://127.0.0.1:{server.port}/?xprtsec=tls&tls-ca={pki.path('ca.pem')}")
            told(f"a server's certificate for {purposes} is {'taken' if good else 'refused'}",
                 result.returncode == (0 if good else 1) and (good or "is for another use" in result.stderr), result)
    with Server(TOOL, f"{top}/served", *server_options(pki, "rpc-server")) as server:
        for name, good in (("rpc-client", True), ("web-client", True), ("any", True), ("rpc-server", False), ("web-server", False), ("mail", False)):
            result = run(top, "ls", f"nfs://127.0.0.1:{server.port}/?xprtsec=mtls&tls-ca={pki.path('ca.pem')}&tls-cert={pki.path(name + '.pem')}&tls-key={pki.path(name + '.key')}")
            told(f"a client's certificate of {name} is {'taken' if good else 'refused'}", result.returncode == (0 if good else 1), result)


def main():
    if not shutil.which("openssl"):
        tap.skip("TLS", "there is no command openssl to make certificates")
        tap.end()
    with tempfile.TemporaryDirectory() as top:
        os.makedirs(f"{top}/home")
        os.makedirs(f"{top}/served")
        open(f"{top}/served/file", "w").close()
        pki = Pki(f"{top}/pki")
        pki.signed("server", "DNS:localhost")
        said = run(top, "serve", "--check-config", *server_options(pki), f"{top}/served")
        if "built without TLS" in said.stderr:
            tap.skip("TLS", "this command was built without it")
            tap.end()
        for test in (test_made, test_printed, test_asked):
            test(top)
        test_purposes(top, pki)
    tap.end()


main()
