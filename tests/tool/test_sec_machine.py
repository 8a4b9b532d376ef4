#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_sec_machine.py TOOL: SP4_MACH_CRED (RFC 8881, 2.10.8.3) between the command's own client and server: what manages clients and sessions
is protected against changes whatever sec= says, and connections that are lost are bound again, so that each call is executed once."""
import filecmp
import os
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import realm
from between import INTEGRITY, NONE, Between
from tap import Server, Tap, free_port

TOOL = os.path.abspath(sys.argv[1])
BIND_CONN_TO_SESSION, EXCHANGE_ID, CREATE_SESSION, DESTROY_SESSION, SEQUENCE, DESTROY_CLIENTID = 41, 42, 43, 44, 53, 57
MANAGING = (BIND_CONN_TO_SESSION, EXCHANGE_ID, CREATE_SESSION, DESTROY_SESSION, DESTROY_CLIENTID)
SP4_NONE, SP4_MACH_CRED = 0, 1
SIZE = 30_000_001
tap = Tap()


def run(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=120)


def said(done):
    return [f"exit status {done.returncode}", done.stdout, done.stderr]


def url(between, path, sec, version="4.2"):
    return f"nfs://localhost:{between.port}/{path}?transport=tcp&version={version}&sec={sec}"


def asked(call):
    """What EXCHANGE_ID asks for: the word behind the verifier, the owner, and the flags."""
    size, = struct.unpack_from(">I", call.rest, 8)
    return struct.unpack_from(">I", call.rest, 12 + (size + 3 & ~3) + 4)[0]


def managed(server):
    """RFC 8881, 18.35.3: "The client MUST send the operations with RPCSEC_GSS credentials that specify the RPC_GSS_SVC_INTEGRITY or
    RPC_GSS_SVC_PRIVACY security service." """
    for version in ("4.1", "4.2"):
        for sec, other in (("krb5", NONE), ("krb5i", INTEGRITY)):
            seen = []
            with Between(server.tcp_port, watch=lambda call: seen.append(call)) as between:
                done = run("ls", url(between, "", sec, version))
            managing = [(call.operation, call.service) for call in seen if call.operation in MANAGING]
            tap.result(done.returncode == 0 and managing == [(number, INTEGRITY) for number in MANAGING[1:]],
                       f"version {version}, {sec}: EXCHANGE_ID, CREATE_SESSION, DESTROY_SESSION and DESTROY_CLIENTID are protected against changes",
                       [managing, *said(done)])
            services = {call.service for call in seen if call.operation == SEQUENCE}
            tap.result(services == {other}, f"version {version}, {sec}: other calls have the service that sec= says", [services])
            tap.result([asked(call) for call in seen if call.operation == EXCHANGE_ID] == [SP4_MACH_CRED], f"version {version}, {sec}: SP4_MACH_CRED is asked for")


def unprotected(top):
    """By AUTH_SYS there is no principal."""
    seen = []
    with Server(TOOL, f"{top}/served", tcp_port=free_port()) as server, Between(server.tcp_port, watch=lambda call: seen.append(call)) as between:
        done = run("ls", url(between, "", "sys"))
    tap.result(done.returncode == 0 and [asked(call) for call in seen if call.operation == EXCHANGE_ID] == [SP4_NONE], "by AUTH_SYS, no protection is asked for",
               said(done))


def bound_again(top, server, connections, what):
    """RFC 8881, 2.10.11.3: "If the client wants to use additional connections for the fore channel, then it needs to call BIND_CONN_TO_SESSION
    if it specified SP4_SSV or SP4_MACH_CRED state protection when the client ID was created." """
    seen = []

    def watch(call):
        seen.append((call.operation, call.service))
        calls = sum(operation == SEQUENCE for operation, _ in seen)
        return call.operation == SEQUENCE and calls % 20 == 19 and calls < 60

    with Between(server.tcp_port, watch=watch) as between:
        done = run("cp", "-q", "--connections", connections, f"{top}/file", url(between, "bound", "krb5"))
    count = {operation: sum(number == operation for number, _ in seen) for operation in MANAGING}
    tap.result(done.returncode == 0 and filecmp.cmp(f"{top}/file", f"{top}/served/bound", False), f"{what}: a file is copied while connections are lost",
               said(done))
    tap.result(count[BIND_CONN_TO_SESSION] >= 2 and count[CREATE_SESSION] == count[EXCHANGE_ID] == 1,
               f"{what}: the session goes on: connections are bound to it, and no other is made", [count])
    tap.result(all(service == INTEGRITY for operation, service in seen if operation in MANAGING), f"{what}: and that is protected against changes")
    os.unlink(f"{top}/served/bound")


def main():
    reason = realm.why_not()
    if reason:
        tap.skip("SP4_MACH_CRED", reason)
        tap.end()
    with tempfile.TemporaryDirectory(prefix="rpcrdma-sec-") as top:
        realm.folders(top)
        with open(f"{top}/file", "wb") as file:
            file.write(os.urandom(SIZE))
        with realm.Realm(f"{top}/realm") as one:
            os.environ.update(one.ticket("root"))
            with Server(TOOL, f"{top}/served", "--keytab", f"{one.top}/server.keytab", "--allow", "*(rw,sec=krb5:krb5i:krb5p)",
                        tcp_port=free_port()) as server:
                managed(server)
                bound_again(top, server, "1", "one connection")
                bound_again(top, server, "4", "four connections")
            unprotected(top)
    tap.end()


main()
