#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_sec.py TOOL: Kerberos (RPCSEC_GSS) between the command's own client and server, over TCP and RDMA: files both ways by each version
and flavor; data that is placed, and data that must not be; the server that starts anew; and what is seen on the way."""
import contextlib
import filecmp
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import realm
from tap import Server, Tap, free_port

TOOL = os.path.abspath(sys.argv[1])
SIZE = 3_000_001
TEXT = b"what nobody on the way may read; " * 4000
tap = Tap()


def run(*arguments, **others):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=120, env={**os.environ, **others})


def said(done):
    return [f"exit status {done.returncode}", done.stdout, done.stderr]


def url(port, path, sec, transport, version="4.2"):
    return f"nfs://localhost:{port}/{path}?transport={transport}&version={version}&sec={sec}"


@contextlib.contextmanager
def serving(top, one, *options):
    """What is served may be used by Kerberos alone; root of the realm is root here."""
    server = Server(TOOL, f"{top}/served", "--keytab", f"{one.top}/server.keytab", "--allow", "*(rw,sec=krb5:krb5i:krb5p)", *options,
                    tcp_port=free_port())
    with server:
        yield server


def go_both_ways(top, server):
    """Over RDMA, krb5 has its data placed as ever. RFC 8267, 6.1: krb5i and krb5p have none placed; then their replies travel whole."""
    with open(f"{top}/file", "wb") as file:
        file.write(os.urandom(SIZE))
    ways = [("tcp", server.tcp_port, [])] + [("iwarp", server.port, ["--rpcrdma-version", number]) for number in ("1", "2")]
    for transport, port, options in ways:
        for version in ("3", "4.1", "4.2"):
            for sec in ("krb5", "krb5i", "krb5p"):
                name = f"{transport}{''.join(options[1:])}-{version}-{sec}"
                into = run("cp", "--json", *options, f"{top}/file", url(port, name, sec, transport, version))
                out = run("cp", "--json", *options, url(port, name, sec, transport, version), f"{top}/back")
                good = into.returncode == out.returncode == 0 and filecmp.cmp(f"{top}/file", f"{top}/served/{name}", False)
                tap.result(good and filecmp.cmp(f"{top}/file", f"{top}/back", False), f"{name}: a file is copied in and out", said(into) + said(out))
                if good and transport == "iwarp" and sec == "krb5":
                    moved = json.loads(out.stdout)["octets_rdma_write"]
                    tap.result(moved == SIZE, f"{name}: what is read is placed, to the octet", [moved])


def seen(top, server):
    """Of what krb5p protects, nothing is in a capture of the connection; by krb5 all of it is."""
    with open(f"{top}/served/secret", "wb") as file:
        file.write(TEXT)
    for sec in ("krb5", "krb5p"):
        capture = f"{top}/{sec}.pcapng"
        done = run("cat", "--capture", capture, url(server.port, "secret", sec, "iwarp"))
        with open(capture, "rb") as file:
            found = TEXT[:64] in file.read()
        tap.result(done.returncode == 0 and found == (sec == "krb5"), f"{sec}: the text is {'' if found else 'not '}on the way", said(done))


def judged(top, server):
    """The messages of both ends keep to the rows of docs/conformance.md, whatever the flavor."""
    for sec in ("krb5", "krb5i", "krb5p"):
        for version in ("1", "2"):
            done = run("cp", "-q", "--judge", "--rpcrdma-version", version, f"{top}/file", url(server.port, f"judged-{sec}", sec, "iwarp"))
            tap.result(done.returncode == 0, f"{sec}, version {version} of RPC-over-RDMA: nothing breaks the rows", said(done))


def main():
    reason = realm.why_not()
    if reason:
        tap.skip("Kerberos", reason)
        tap.end()
    with tempfile.TemporaryDirectory(prefix="rpcrdma-sec-") as top:
        for name in ("realm", "served"):
            os.mkdir(f"{top}/{name}")
        os.chmod(top, 0o755)
        os.chmod(f"{top}/served", 0o777)
        with realm.Realm(f"{top}/realm") as one:
            os.environ.update(one.ticket("root"))
            with serving(top, one) as server:
                go_both_ways(top, server)
                seen(top, server)
                judged(top, server)
    tap.end()


main()
