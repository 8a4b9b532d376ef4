#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_realm.py: the realm that tests of Kerberos use: users get tickets there, short and renewable ones, and services have keys."""
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import realm
from tap import Tap

tap = Tap()


def said(done):
    return [f"exit status {done.returncode}", done.stdout, done.stderr]


def test_tickets(one):
    one.ticket("alice")
    listed = one.run("klist", "-c", one.cache("tickets"))
    tap.result(f"Default principal: alice@{realm.REALM}" in listed.stdout, "a user gets a ticket with a keytab", said(listed))
    done = one.run("kinit", "-c", one.cache("bob"), "bob", text="bob\n")
    tap.result(one.run("klist", "-s", "-c", one.cache("bob"), good=False).returncode == 0, "and with a password", said(done))
    done = one.run("kinit", "-c", one.cache("other"), "bob", text="alice\n", good=False)
    tap.result(done.returncode != 0 and "incorrect" in done.stderr, "but not with another one", said(done))
    done = one.run("kinit", "-c", one.cache("other"), "nobody-here", text="x\n", good=False)
    tap.result(done.returncode != 0 and "not found" in done.stderr, "a user who is unknown gets none", said(done))


def test_renewed(one):
    one.ticket("alice", "short", life="5s", renewable="1h")
    ends = [one.run("klist", "-c", one.cache("short")).stdout]
    one.ticket("bob", "brief", life="1s")
    while one.run("klist", "-s", "-c", one.cache("brief"), good=False).returncode == 0:
        time.sleep(0.1)
    tap.result(True, "a ticket ends after its life")
    done = one.run("kinit", "-R", "-c", one.cache("brief"), good=False)
    tap.result(done.returncode != 0, "and is not renewed then", said(done))
    one.renew("short")
    ends.append(one.run("klist", "-c", one.cache("short")).stdout)
    tap.result("renew until" in ends[1] and ends[0] != ends[1], "a renewable one is renewed before", ends)


def test_services(one):
    for host in realm.HOSTS:
        done = one.run("kvno", "-c", one.cache("tickets"), f"nfs/{host}")
        tap.result("kvno = 2" in done.stdout, f"a user gets a ticket for nfs/{host}", said(done))
    one.rekey("nfs/localhost")
    one.ticket("alice", "after")
    done = one.run("kvno", "-k", f"{one.top}/server.keytab", "-c", one.cache("after"), "nfs/localhost")
    tap.result("kvno = 3" in done.stdout and "keytab entry valid" in done.stdout, "a key is changed", said(done))
    keys = one.run("klist", "-k", f"{one.top}/server.keytab").stdout
    tap.result("2 nfs/localhost" in keys and "3 nfs/localhost" in keys, "the keytab keeps the old one", [keys])
    done = one.run("kvno", "-c", one.cache("tickets"), "nfs/nowhere.realm.test", good=False)
    tap.result(done.returncode != 0, "a service without a principal has none", said(done))


def test_stopped(one):
    one.stop()
    done = one.run("kinit", "-k", "-t", f"{one.top}/alice.keytab", "-c", one.cache("late"), "alice", good=False)
    tap.result(done.returncode != 0 and "Cannot contact any KDC" in done.stderr, "without the KDC there are no tickets", said(done))
    one.start()
    one.ticket("alice", "late")
    tap.result(True, "it starts again, with the same principals")


def main():
    reason = realm.why_not()
    if reason:
        tap.skip("a realm", reason)
        tap.end()
    with tempfile.TemporaryDirectory(prefix="rpcrdma-realm-") as top, realm.Realm(top) as one:
        test_tickets(one)
        test_renewed(one)
        test_services(one)
        test_stopped(one)
    tap.end()


main()
