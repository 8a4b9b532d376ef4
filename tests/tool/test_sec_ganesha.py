#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_sec_ganesha.py TOOL: the commands with Kerberos (RPCSEC_GSS) against a server that is not this project's: nfs-ganesha over TCP.
Files go both ways by each version and flavor; the server starts anew, and forgets all contexts; tickets expire, and are renewed or not."""
import contextlib
import filecmp
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import ganesha
import realm
from tap import Tap

TOOL = os.path.abspath(sys.argv[1])
FLAVORS = ("krb5", "krb5i", "krb5p")
tap = Tap()


def url(server, path, sec, version="4.2", host="localhost"):
    return (f"nfs://{host}:{server.ports['nfs']}/data/{path}?transport=tcp&version={version}&sec={sec}"
            f"&mountport={server.ports['mount']}")


def run(one, *arguments, **others):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=120, env=one.environ(**others))


def said(done):
    return [f"exit status {done.returncode}", done.stdout, done.stderr]


def files_go_both_ways(one, server, top):
    """Also one that is so large that threads protect and open it, and many small ones."""
    os.makedirs(f"{top}/source")
    for size in (0, 1, 5000, 70001, 5 << 20):
        with open(f"{top}/source/{size}", "wb") as file:
            file.write(os.urandom(size))
    for version in ("3", "4.1", "4.2"):
        for sec in FLAVORS:
            there = f"{version}-{sec}"
            steps = [run(one, "cp", "-q", "-r", f"{top}/source", url(server, there, sec, version)),
                     run(one, "cp", "-q", "-r", url(server, there, sec, version), f"{top}/back-{there}")]
            same = all(filecmp.cmp(f"{top}/source/{name}", f"{folder}/{name}", False) for name in os.listdir(f"{top}/source")
                       for folder in (f"{top}/served/{there}", f"{top}/back-{there}") if os.path.exists(f"{folder}/{name}"))
            complete = len(os.listdir(f"{top}/back-{there}")) == 5 if os.path.isdir(f"{top}/back-{there}") else False
            tap.result(all(step.returncode == 0 for step in steps) and same and complete,
                       f"{version}, {sec}: files are copied in and out", [line for step in steps for line in said(step)])


def refusals(one, server):
    """Each is a sentence that says what to do."""
    def refused(name, sentence, host="localhost", **others):
        done = run(one, "ls", url(server, "", "krb5", host=host), **others)
        tap.result(done.returncode == 1 and sentence in done.stderr, name, [sentence, *said(done)])

    refused("without a ticket", "there is no ticket: get one (kinit)", KRB5CCNAME=one.cache("nothing"))
    one.ticket("alice", "short", life="1s")
    while one.run("kvno", "-c", one.cache("short"), "nfs/localhost", good=False).returncode == 0:
        time.sleep(0.05)
    refused("with a ticket that has expired", "the ticket has expired: renew it (kinit)", KRB5CCNAME=one.cache("short"))
    refused("a server whose name the realm does not have", "the server's name is not known in the realm", host="127.0.0.1")
    one.write_client("closed.conf", port=1)
    one.ticket("alice", "fresh")
    refused("no server of the realm answers", "no key distribution centre of the realm can be reached",
            KRB5_CONFIG=f"{one.top}/closed.conf", KRB5CCNAME=one.cache("fresh"))


def flavors_are_found(one, server):
    """Without sec= in the URL, the client takes what the server lists: in MOUNT's answer, or by SECINFO."""
    for version in ("3", "4.1", "4.2"):
        done = run(one, "ls", "-vv", url(server, "", "", version).replace("&sec=&", "&"))
        tap.result(done.returncode == 0 and f", as root@{realm.REALM}" in done.stderr, f"{version}: a flavor of Kerberos is taken by itself",
                   said(done))
        done = run(one, "ls", url(server, "", "sys", version))
        tap.result(done.returncode == 1 and "wants sec=krb5" in done.stderr, f"{version}: sec=sys says what the server wants", said(done))
        done = run(one, "ls", url(server, "", "", version).replace("&sec=&", "&"), KRB5CCNAME=one.cache("nothing"))
        tap.result(done.returncode == 1 and "wants sec=krb5" in done.stderr and "there is no ticket" in done.stderr,
                   f"{version}: and without a ticket, what to do", said(done))


def who_calls(one, server):
    """ping and doctor say the flavor and the user."""
    caller = f"krb5i, as root@{realm.REALM}"
    done = run(one, "ping", "-c", "1", url(server, "", "krb5i"))
    tap.result(done.returncode == 0 and f"calls by {caller}" in done.stdout, "ping says who calls", said(done))
    done = run(one, "ping", "--json", "-c", "1", url(server, "", "krb5i"))
    read = json.loads(done.stdout or "{}")
    tap.result((read.get("flavor"), read.get("principal")) == ("krb5i", f"root@{realm.REALM}"), "so does ping --json", said(done))
    done = run(one, "doctor", url(server, "", "krb5i"))
    tap.result(done.returncode == 0 and f"calls by {caller}" in done.stdout, "doctor says who calls", said(done))
    done = run(one, "doctor", url(server, "", "krb5i"), KRB5CCNAME=one.cache("nothing"))
    tap.result(done.returncode == 1 and "there is no ticket: get one (kinit)" in done.stdout, "and what is missing", said(done))


def begun(copy, path, before):
    """Waits until the copy has moved some octets into a new file there. False: it ended before that."""
    while copy.poll() is None:
        with contextlib.suppress(FileNotFoundError):  # it has got its name meanwhile
            if any(os.path.getsize(f"{path}/{name}") for name in set(os.listdir(path)) - before):
                return True
        time.sleep(0.002)
    return False


def server_forgets(one, server, top):
    """RFC 2203, 5.3.3.3: the client must refresh the context, and try the request again."""
    source, target = f"{top}/large", f"{top}/served/into"
    with open(source, "wb") as file:
        file.write(os.urandom(1 << 20) * 96)
    os.makedirs(target, exist_ok=True)
    os.chmod(target, 0o777)
    for sec in ("krb5", "krb5i"):
        before = set(os.listdir(target))
        copy = subprocess.Popen([TOOL, "cp", "-q", source, url(server, f"into/{sec}", sec)], env=one.environ(), stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)
        under_way = begun(copy, target, before)
        server.restart()
        output = copy.communicate(timeout=300)[0]
        tap.result(copy.returncode == 0 and filecmp.cmp(source, f"{target}/{sec}", False),
                   f"{sec}: a server that starts anew knows no context, and the copy goes on", [output])
        tap.note(f"the copy {'was under way' if under_way else 'was over'} when the server was killed")


def expires(one, server, top, renewed):
    """A copy that takes longer than its ticket lives. The server would go on for the clock skew that it lets pass; the client does not
    begin a call without a ticket that is good."""
    source = f"{top}/large"
    name = f"into/slow-{renewed}"
    one.ticket("root", "life", life="3s", renewable="1h")
    copy = subprocess.Popen([TOOL, "cp", "-q", "--resume", "--bwlimit", "16M", source, url(server, name, "krb5i")], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, env=one.environ(KRB5CCNAME=one.cache("life")))
    if renewed:
        for _ in range(2):
            time.sleep(1)
            one.ticket("root", "life", life="1h")
    output = copy.communicate(timeout=120)[0]
    if renewed:
        tap.result(copy.returncode == 0 and filecmp.cmp(source, f"{top}/served/{name}", False), "a ticket that is renewed: the copy goes on", [output])
    else:
        tap.result(copy.returncode == 1 and "the ticket has expired: renew it (kinit)" in output, "one that is not: the copy ends and says why",
                   [copy.returncode, output])
        done = run(one, "cp", "-q", "--resume", source, url(server, name, "krb5i"))
        tap.result(done.returncode == 0 and filecmp.cmp(source, f"{top}/served/{name}", False), "and cp --resume goes on with a new one", said(done))

def main():
    reason = ganesha.why_not() or realm.why_not()
    if reason:
        tap.skip("Kerberos with nfs-ganesha", reason)
        tap.end()
    with tempfile.TemporaryDirectory(prefix="rpcrdma-sec-", dir="/var/tmp") as top:
        realm.folders(top)
        with realm.Realm(f"{top}/realm", clockskew=1) as one:  # a ticket that has expired is good for as long as that
            one.ticket("root")
            server = ganesha.Ganesha(top, f"{top}/served", realm=one, sec="krb5, krb5i, krb5p")
            try:
                files_go_both_ways(one, server, top)
                flavors_are_found(one, server)
                who_calls(one, server)
                refusals(one, server)
                server_forgets(one, server, top)
                expires(one, server, top, False)
                expires(one, server, top, True)
            finally:
                server.stop()
    tap.end()


main()
