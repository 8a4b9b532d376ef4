#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_sec.py TOOL: Kerberos (RPCSEC_GSS) between the command's own client and server, over TCP and RDMA: files both ways by each version
and flavor; data that is placed, and data that must not be; the server that starts anew; and what is seen on the way."""
import contextlib
import filecmp
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import realm
from between import INIT, Between
from tap import Server, Tap, free_port

TOOL = os.path.abspath(sys.argv[1])
DISSECTOR = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "wireshark", "rpcrdma2.lua")
SIZE = 3_000_001
ENTRIES = 5000  # of at least 264 octets each in a listing: more than 1 MiB
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


def dissected(capture, display, *fields):
    """The fields of the packets that the display filter takes, as tshark shows them by the dissector of wireshark/."""
    options = [word for field in fields for word in ("-e", field)]
    done = subprocess.run(["tshark", "-X", f"lua_script:{DISSECTOR}", "-r", capture, "-Y", display, "-T", "fields", *options],
                          capture_output=True, text=True, timeout=120)
    return [tuple(line.split("\t")) for line in done.stdout.splitlines()]


def listed(top, server):
    """draft-cel-nfsv4-rpcrdma-reliable-reply-02, 5.2.2: "the use of the krb5i or krb5p GSS services with RPC-over-RDMA require that Payload
    reduction is not used." "The actual size of a READDIR reply is often unpredictable but is frequently large." A directory of more than
    1 MiB is listed by krb5p, with no Reply chunk: its READDIRs are answered in Read chunks that the server provides until an RDMA_DONE."""
    os.mkdir(f"{top}/served/wide")
    for i in range(ENTRIES):
        open(f"{top}/served/wide/{i:0240}", "w").close()
    for version in ("3", "4.2"):
        name, capture = f"a listing by krb5p, version {version}", f"{top}/listing-{version}.pcapng"
        done = run("ls", "--rpcrdma-version", "2", "--reply-chunks", "never", "--capture", capture,
                   url(server.port, "wide", "krb5p", "iwarp", version))
        tap.result(done.returncode == 0 and len(done.stdout.split()) == ENTRIES, f"{name}: all entries come", [done.stderr])
        decoded = run("decode", "--json", capture)
        messages = [message for message in map(json.loads, decoded.stdout.splitlines()) if message["event"] == "message"]
        calls = [message for message in messages if message["kind"] == "call"]
        tap.result(calls and not any(call["reply_chunk"] or call["write_list"] for call in calls), f"{name}: no call provides a chunk for its reply", calls)
        provided = {message["xid"]: sum(segment["length"] for segment in message["read_list"])
                    for message in messages if message["kind"] == "reply" and message.get("read_list")}
        tap.result(sum(provided.values()) > 1 << 20, f"{name}: more than 1 MiB lies in Read chunks that the server provides", [provided])
        tap.result(max(provided.values(), default=0) >= 900_000, f"{name}: one of them has nearly all of the 1 MiB that the client asks for", [provided])
        ended = sorted(message["xid"] for message in messages if message["kind"] == "done")
        tap.result(provided and ended == sorted(provided), f"{name}: one RDMA_DONE ends each of them", [ended, provided])
        judged = run("decode", "--check", capture)
        tap.result(judged.returncode == 0 and judged.stdout.endswith("0 times, 0 remarks\n"), f"{name}: the capture keeps to the rows", said(judged))
        if not shutil.which("tshark"):
            tap.skip(f"{name}: tshark shows the same", "there is no tshark")
            continue
        chunks = [int(xid, 0) for xid, in dissected(capture, "rpcrdma2.proc == 1 && rpcrdma2.position == 0", "rpcrdma2.xid")]
        dones = [int(xid, 0) for xid, in dissected(capture, "rpcrdma2.proc == 3", "rpcrdma2.xid")]
        tap.result(chunks and sorted(chunks) == sorted(dones) == ended, f"{name}: tshark shows the same chunks and the same RDMA_DONEs", [chunks, dones, ended])


def ended(one, cache):
    """A ticket that has ended, in that cache, for a client that allows for no difference of clocks. Returns its environment."""
    one.run("kinit", "-k", "-t", f"{one.top}/root.keytab", "-l", "1s", "-c", one.cache(cache), "root")
    while one.run("klist", "-s", "-c", one.cache(cache), good=False).returncode == 0:
        pass
    last = int(time.time())  # the ticket may be good to the end of this second
    while int(time.time()) <= last:
        pass
    return {"KRB5CCNAME": one.cache(cache)}


def keeps_core(server):
    """Who has a core file of a client has its keys: core(5): a limit of 1 keeps it from everybody."""
    with subprocess.Popen([TOOL, "cat", url(server.tcp_port, "judged-krb5", "krb5p", "tcp")], stdout=subprocess.PIPE,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)) as reading:
        reading.stdout.read(1)
        with open(f"/proc/{reading.pid}/limits") as file:
            limits = [line.split()[4] for line in file if line.startswith("Max core file size")]
        reading.kill()
    tap.result(limits == ["1"], "a client with Kerberos leaves no core file", [limits])


def ends_once(one, server):
    """A client whose ticket is in its last second, and then over, makes one context, or says that there is none, and does not ask for one
    after the other."""
    made = []
    one.run("kinit", "-k", "-t", f"{one.top}/root.keytab", "-l", "1s", "-c", one.cache("last"), "root")
    while True:
        calls = []
        with Between(server.tcp_port, watch=lambda call, calls=calls: calls.append(call.gss)) as between:
            done = run("ls", url(between.port, "", "krb5", "tcp"), KRB5CCNAME=one.cache("last"))
        made.append(calls.count(INIT))
        if done.returncode:
            break
    tap.result(max(made) == 1 and "the ticket has expired: renew it (kinit)" in done.stderr, "at the end of a ticket, one context is tried", [made, *said(done)])


def changed(one, name, old, new):
    """The realm's krb5.conf with another text in it. Returns the environment of who uses it."""
    with open(f"{one.top}/krb5.conf") as file:
        text = file.read()
    with open(f"{one.top}/{name}", "w") as file:
        file.write(text.replace(old, new))
    return {"KRB5_CONFIG": f"{one.top}/{name}"}


def diagnosed(top, one):
    """What is wrong with Kerberos is a sentence of doctor that says what to do."""
    strict = changed(one, "strict.conf", "clockskew = 300", "clockskew = 0")
    elsewhere = changed(one, "elsewhere.conf", "    kdc = ", "    admin_server = ")
    one.service("nfs/another.realm.test", "another.keytab")

    def says(port, name, text, host="localhost", **others):
        done = run("doctor", f"nfs://{host}:{port}/?transport=iwarp&version=4.2&sec=krb5", **others)
        tap.result(done.returncode == 1 and text in done.stdout + done.stderr, f"doctor says it: {name}", said(done))
    with serving(top, one) as server:
        done = run("doctor", f"nfs://localhost:{server.port}/?transport=iwarp&version=4.2&sec=krb5")
        tap.result(done.returncode == 0, "doctor finds nothing wrong with a ticket", said(done))
        says(server.port, "no ticket", "there is no ticket: get one (kinit)", KRB5CCNAME="FILE:/nowhere/tickets")
        says(server.port, "an expired ticket", "the ticket has expired: renew it (kinit)", **ended(one, "short"), **strict)
        says(server.port, "a realm that is unknown", "no key distribution centre of the realm is known: name it in krb5.conf", **{**one.ticket("root", "unused"), **elsewhere})
        says(server.port, "a name that the realm does not have", "the server's name is not known in the realm", host="127.0.0.1")
    # No clock is within less than nothing of another. The ticket is older than the one that has ended, so that it is valid.
    os.environ.update(changed(one, "skewed.conf", "clockskew = 300", "clockskew = -1"))
    with serving(top, one) as server:
        os.environ.update(one.environment)
        says(server.port, "clocks that differ", "the clocks of client and server differ by too much: set both by NTP")
    server = Server(TOOL, f"{top}/served", "--keytab", f"{one.top}/another.keytab", "--allow", "*(rw,sec=krb5)", tcp_port=free_port())
    with server:
        says(server.port, "a keytab that lacks the principal", "the keytab has no key of the name that the ticket is for: add it (kadmin, ktadd)")


def main():
    reason = realm.why_not()
    if reason:
        tap.skip("Kerberos", reason)
        tap.end()
    with tempfile.TemporaryDirectory(prefix="rpcrdma-sec-") as top:
        realm.folders(top)
        with realm.Realm(f"{top}/realm") as one:
            os.environ.update(one.ticket("root"))
            with serving(top, one) as server:
                go_both_ways(top, server)
                seen(top, server)
                judged(top, server)
                listed(top, server)
                ends_once(one, server)
                if resource.getrlimit(resource.RLIMIT_CORE)[1] == resource.RLIM_INFINITY or os.geteuid() == 0:
                    keeps_core(server)
            diagnosed(top, one)
    tap.end()


main()
