#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_version.py TOOL: --rpcrdma-version and --reply-chunks of every sub-command, and through the gateway (rows B13 and A13)."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Gateway, Server, Tap

TOOL = os.path.abspath(sys.argv[1])
VERSIONS = ("1", "2", "auto")
tap = Tap()


def run(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=60)


def agreed(client, server):
    """Returns the version that the client and the server agree on, or None."""
    both = {"1": {1}, "2": {2}, "auto": {1, 2}}
    return max(both[client] & both[server], default=None)


def ping(client, server, url):
    result = run("ping", "--json", "-c", "3", "-i", "0", "--rpcrdma-version", client, url)
    details = [result.stdout, result.stderr]
    wanted = agreed(client, server)
    if wanted is None:
        good = result.returncode == 1 and "version" in result.stderr
    else:
        told = json.loads(result.stdout)
        refused = told["counters"]["err_vers_received"]
        # A fallback takes one more message on the same connection, which is no call.
        good = (result.returncode == 0 and told["version"] == wanted and refused == (wanted == 1 and client == "auto")
                and told["counters"]["calls"] == 3 and told["reconnects"] == 0)
    tap.result(good, f"a client of {client} and a server of {server} agree on {wanted or 'nothing'}", details)


def properties(work):
    """draft-cel-nfsv4-rpcrdma-version-two-03, 5: ping shows the properties of both sides. Version 1 has none."""
    with Server(TOOL, f"{work}/served", "--inline", "16384") as server:
        for version in ("2", "1"):
            result = run("ping", "--json", "-c", "3", "-i", "0.01", "--rpcrdma-version", version, server.url)
            told = json.loads(result.stdout)
            size = told.get("properties", {}).get("receive_buffer_size")
            tap.result(size == ({"own": 12288, "peer": 16384} if version == "2" else None), f"properties of version {version}", [told])


def every_command(work, url):
    with open(f"{work}/file", "wb") as out:
        out.write(os.urandom(300001))
    for version in VERSIONS:
        option = ("--rpcrdma-version", version)
        for command in (("cp", *option, f"{work}/file", f"{url}file-{version}"), ("ls", *option, url),
                        ("stat", *option, f"{url}file-{version}"), ("cat", *option, f"{url}file-{version}"),
                        ("cp", *option, f"{url}file-{version}", f"{work}/back-{version}")):
            result = run(*command) if command[0] != "cat" else subprocess.run([TOOL, *command], capture_output=True, timeout=60)
            tap.result(result.returncode == 0, f"{command[0]} in version {version}", [result.stderr])
        with open(f"{work}/file", "rb") as a, open(f"{work}/back-{version}", "rb") as b:
            tap.result(a.read() == b.read(), f"what came back in version {version} is equal")


def reply_chunks(work, url):
    """Every command that makes calls takes --reply-chunks."""
    for choice in ("auto", "always", "never"):
        for command in (("ping", "-c", "1", url), ("cp", f"{work}/file", f"{url}{choice}"), ("ls", "-l", url),
                        ("stat", f"{url}{choice}"), ("cat", f"{url}{choice}"), ("cp", f"{url}{choice}", f"{work}/back")):
            result = subprocess.run([TOOL, command[0], "--reply-chunks", choice, *command[1:]], capture_output=True, timeout=60)
            tap.result(result.returncode == 0, f"{command[0]} --reply-chunks {choice}", [result.stderr])


def gateways(work, server):
    """A gateway agrees on a version with its clients and with its server separately."""
    for version in VERSIONS:
        with Gateway(TOOL, server.url, "--rpcrdma-version", version) as gateway:
            ping("auto", version, gateway.rdma_url)
            result = run("cp", gateway.rdma_url + "file-1", f"{work}/gateway-{version}")
            with open(f"{work}/file", "rb") as a:
                good = result.returncode == 0 and a.read() == open(f"{work}/gateway-{version}", "rb").read()
            tap.result(good, f"a copy through a gateway of {version}", [result.stderr])


def main():
    with tempfile.TemporaryDirectory() as top:
        os.mkdir(f"{top}/served")
        for kind in VERSIONS:
            with Server(TOOL, f"{top}/served", "--rpcrdma-version", kind) as server:
                for client in VERSIONS:
                    ping(client, kind, server.url)
                if kind == "auto":
                    every_command(top, server.url)
                    reply_chunks(top, server.url)
                    gateways(top, server)
        properties(top)
    result = run("ls", "--rpcrdma-version", "3", "nfs://127.0.0.1/")
    tap.result(result.returncode == 2 and "auto, 1 or 2" in result.stderr, "a version that there is not is a mistake", [result.stderr])
    tap.end()


main()
