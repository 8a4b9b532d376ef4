#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_doctor_network.py TOOL: `rpcrdma doctor` on faults of a network: a client and a server in network namespaces of their
own, and a bridge between them. Needs root, ip, and nft for one of them."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Daemon, Tap

TOOL = os.path.abspath(sys.argv[1])
URL = "nfs://192.0.2.2/"
NAMES = {part: f"rr-{part}-{os.getpid()}" for part in ("client", "server", "bridge")}
tap = Tap()


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


def within(part, *command):
    return run("ip", "netns", "exec", NAMES[part], *command)


def build():
    """Makes the namespaces of a client, a bridge and a server. False: the system does not allow it. Both ends have an MTU of
    9000, and give no larger packets to the interface, because an adapter would not divide them either."""
    for name in NAMES.values():
        if run("ip", "netns", "add", name).returncode:
            return False
    good = within("bridge", "ip", "link", "add", "br0", "mtu", "9000", "type", "bridge").returncode == 0
    for part, address in (("client", "192.0.2.1/24"), ("server", "192.0.2.2/24")):
        good &= run("ip", "link", "add", "eth0", "netns", NAMES[part], "mtu", "9000", "gso_max_segs", "1", "type", "veth",
                    "peer", "name", part, "netns", NAMES["bridge"], "mtu", "9000").returncode == 0
        within("bridge", "ip", "link", "set", part, "master", "br0", "up")
        within(part, "ip", "addr", "add", address, "dev", "eth0")
        within(part, "ip", "link", "set", "lo", "up")
        good &= within(part, "ip", "link", "set", "eth0", "up").returncode == 0
    return good and within("bridge", "ip", "link", "set", "br0", "up").returncode == 0


class NetworkServer(Daemon):
    def __init__(self, directory):
        self.launch(["ip", "netns", "exec", NAMES["server"], TOOL, "serve", "--listen", "192.0.2.2", "--tcp-port", "0",
                     "--no-root-squash", "--key", f"{directory}.key", directory])


def doctor(*options):
    done = within("client", TOOL, "doctor", "--json", "--transport", "iwarp", *options, URL)
    return done, [json.loads(line) for line in done.stdout.splitlines()]


def diagnosed(name, step, found, advice):
    done, steps = doctor("--timeout", "2")
    failed = [s for s in steps if s["status"] == "fail"]
    tap.result(done.returncode == 1 and bool(failed) and failed[0]["step"] == step and found in failed[0]["found"]
               and advice in failed[0]["advice"], f"{name} is diagnosed", [done.stderr, *steps])


def test_mtu():
    for part in ("client", "server"):
        within("bridge", "ip", "link", "set", part, "mtu", "1500")
    diagnosed("a bridge that drops packets of the size that both ends have", "read", "", "MTU")
    for part in ("client", "server"):
        within("bridge", "ip", "link", "set", part, "mtu", "9000")


def test_firewall():
    name = "a firewall that drops packets"
    if not shutil.which("nft"):
        return tap.skip(name, "there is no nft")
    made = within("server", "nft", "add table inet t; add chain inet t in { type filter hook input priority 0; }; "
                  "add rule inet t in tcp dport 20049 drop")
    if made.returncode:
        return tap.skip(name, made.stderr)
    diagnosed(name, "port", "does not answer", "firewall")
    # A doctor that runs on the server can show the rule.
    done = within("server", TOOL, "doctor", "--json", "--transport", "iwarp", "--timeout", "2", URL)
    steps = [json.loads(line) for line in done.stdout.splitlines()]
    tap.result(any(s["step"] == "firewall" and s["status"] == "fail" and "tcp dport 20049 drop" in s["found"] for s in steps),
               "on the server, its rule is shown", steps)
    within("server", "nft", "flush", "ruleset")


def test_route():
    within("client", "ip", "link", "set", "eth0", "down")
    diagnosed("an interface that is down", "route", "no route", "ip route")
    within("client", "ip", "link", "set", "eth0", "up")


with tempfile.TemporaryDirectory(prefix="rpcrdma-doctor-") as top:
    os.mkdir(f"{top}/served")
    with open(f"{top}/served/file", "wb") as file:
        file.write(os.urandom(200000))
    try:
        if os.geteuid() != 0 or not build():
            tap.skip("faults of a network are diagnosed", "network namespaces need root")
        else:
            with NetworkServer(f"{top}/served"):
                done, steps = doctor()
                tap.result(done.returncode == 0, "a server across a bridge is found well", [done.stderr, *steps])
                test_mtu()
                test_firewall()
                test_route()
    finally:
        for name in NAMES.values():
            run("ip", "netns", "del", name)
tap.end()
