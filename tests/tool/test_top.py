#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_top.py TOOL: what a server and a gateway say of themselves: to `rpcrdma top` on a Unix socket, and by HTTP."""
import json
import os
import re
import socket
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Daemon, Gateway, Server, Tap, free_port

TOOL = os.path.abspath(sys.argv[1])
tap = Tap()


def run(*arguments, **options):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=120, **options)


def http(port, request):
    with socket.create_connection(("127.0.0.1", port), timeout=60) as peer:
        peer.sendall(request)
        answer = b""
        while part := peer.recv(65536):
            answer += part
    return answer.decode()


def values(text):
    """Returns {name and labels: value}; {} when a line does not have the format."""
    lines = [line for line in text.splitlines() if not line.startswith("# TYPE rpcrdma_")]
    matches = [re.fullmatch(r"(rpcrdma_\w+(?:\{[^}]*\})?) ([0-9.e+-]+)", line) for line in lines]
    return {m[1]: float(m[2]) for m in matches} if all(matches) else {}


def test_numbers(path, port, url):
    for _ in range(3):
        run("ls", url)
    connection = subprocess.Popen([TOOL, "ping", "-c", "1000000", "-i", "0.05", url], stdout=subprocess.PIPE, text=True)
    connection.stdout.readline()
    done = run("top", "--json", path)
    told = json.loads(done.stdout)
    names = {p["procedure"]: p for p in told["procedures"]}
    tap.result(told["command"] == "serve" and told["threads"] == 2 and told["silent"] == 0 and told["counters"]["calls"] > 9
               and told["counters"]["octets_inline"] > 1000 and names["NFSPROC3_READDIRPLUS"]["latency"]["calls"] == 3
               and names["NFSPROC3_READDIRPLUS"]["us_99"] > 0 and told["memory"]["max"] > 0 and {"clients", "opens", "locks", "delegations", "grace"} <= set(told["state"]),
               "top --json has counters, latencies, memory and state", [done.stderr, done.stdout[:3000]])
    tap.result(told["connections"] == 1 and told["connection"][0]["fabric"] == "iwarp" and told["connection"][0]["credits_granted"] > 0,
               "and each connection, with its credits", [told.get("connection")])
    text = run("top", "--prometheus", path).stdout
    seen = values(text)
    tap.result(seen.get("rpcrdma_connections") == 1 and seen.get('rpcrdma_calls_total{side="client"}', 0) > 9
               and any(k.startswith("rpcrdma_procedure_seconds_bucket") and 'le="+Inf"' in k for k in seen),
               "top --prometheus has the same in the text format", [text[:2000]])
    answer = http(port, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
    head, _, body = answer.partition("\r\n\r\n")
    tap.result(head.startswith("HTTP/1.1 200 ") and "version=0.0.4" in head and values(body).get("rpcrdma_connections") == 1,
               "so does --metrics by HTTP", [answer[:500]])
    tap.result(http(port, b"POST / HTTP/1.1\r\n\r\n").startswith("HTTP/1.1 404 "), "which has nothing else")
    page = run("top", "--count", "2", "--interval", "1", path).stdout
    tap.result("1 connections" in page and "READDIRPLUS" in page and page.count("CONNECTION") == 2, "top shows pages", [page])
    connection.terminate()
    connection.communicate()


def test_hostile(path, port, url):
    """Peers that send nothing, that send too much, and that do not read."""
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]
    http_too_long = socket.create_connection(("127.0.0.1", port))
    http_too_long.sendall(b"GET /" + b"x" * 100000)
    tap.result(run("top", "--json", path).returncode == 0, "top is answered while HTTP's peers are silent")
    local = []
    for _ in range(8):
        peer = socket.socket(socket.AF_UNIX)
        peer.connect(path)
        local.append(peer)
    tap.result(run("ls", url).returncode == 0, "the server serves meanwhile")
    for peer in local + idle:
        peer.settimeout(60)
        try:
            gone = peer.recv(1) == b""
        except ConnectionError:
            gone = True
        if not gone:
            break
    tap.result(gone and run("top", "--json", path).returncode == 0, "peers that say nothing are closed after a while")
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(path)
        peer.sendall(b"nonsense\n")
        tap.result(b"error" in peer.recv(1000), "an unknown request is answered by an error")
    for peer in local + idle + [http_too_long]:
        peer.close()


def top_alone(**environment):
    """`rpcrdma top --json` with an empty /run, so that no other server of this machine is found."""
    command = [TOOL, "top", "--json"]
    if os.geteuid() == 0:
        command = ["unshare", "--mount", "sh", "-ec", 'mount -t tmpfs none /run; exec "$@"', "sh", *command]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=dict(os.environ, **environment))


def may_hide_run():
    return os.geteuid() != 0 or subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/run"],
                                               capture_output=True).returncode == 0


def test_service(top):
    """Gateways as a service manager starts them: each instance has a directory of its own."""
    os.mkdir(f"{top}/services")
    gateways = []
    for name in ("one", "two"):
        own = f"{top}/services/rpcrdma-gateway-{name}"
        os.mkdir(f"{top}/services/private-{name}", 0o700)
        os.symlink(f"{top}/services/private-{name}", own)  # as for a user who exists only while the service runs
        os.environ["RUNTIME_DIRECTORY"] = own
        gateways.append(Daemon())
        gateways[-1].launch([TOOL, "gateway", "--listen", f"tcp://127.0.0.1:{free_port()}", "--to", f"nfs://127.0.0.1:{free_port()}/"])
        del os.environ["RUNTIME_DIRECTORY"]
        tap.result(len(os.listdir(own)) == 1, f"the service {name} has its socket in its own directory", [os.listdir(own)])
        if name == "one":
            found = top_alone(XDG_RUNTIME_DIR=f"{top}/services")
            tap.result(found.returncode == 0 and json.loads(found.stdout)["command"] == "gateway", "top finds the service", [found.stderr])
    found = top_alone(XDG_RUNTIME_DIR=f"{top}/services")
    tap.result(found.returncode == 1 and all(f"rpcrdma-gateway-{name}/" in found.stderr for name in ("one", "two")),
               "top lists all services", [found.stderr])
    for gateway in gateways:
        gateway.stop()


def test_default(top):
    """`rpcrdma top` without a name finds the socket."""
    os.mkdir(f"{top}/run")
    tap.result(top_alone(XDG_RUNTIME_DIR=f"{top}/run").returncode == 1, "no server is an error")
    servers = [Daemon(), Daemon()]
    command = [TOOL, "serve", "--tcp-port", "0", "--key", f"{top}/key", f"{top}/served"]
    real = os.environ.get("XDG_RUNTIME_DIR")
    os.environ["XDG_RUNTIME_DIR"] = f"{top}/run"
    try:
        servers[0].launch([*command, "--listen", f"127.0.0.1:{free_port()}"])
        found = top_alone()
        tap.result(found.returncode == 0 and json.loads(found.stdout)["command"] == "serve", "the only server is found", [found.stderr])
        servers[1].launch([*command, "--listen", f"127.0.0.1:{free_port()}"])
        found = top_alone()
        tap.result(found.returncode == 1 and "2 servers" in found.stderr, "of two, one is to be named", [found.stderr])
    finally:
        for server in servers:
            server.stop()
        del os.environ["XDG_RUNTIME_DIR"]
        if real:
            os.environ["XDG_RUNTIME_DIR"] = real
    tap.result(os.listdir(f"{top}/run/rpcrdma") == [], "sockets go with their servers")


def bound(path, listens):
    """A socket at that path. Without a listener, connections to it are refused, as after the death of a server."""
    peer = socket.socket(socket.AF_UNIX)
    peer.bind(path)
    if listens:
        peer.listen(0)
    return peer


def test_stale(top):
    """Servers that are killed leave their sockets: the next one removes these, and no others."""
    own = f"{top}/stale/rpcrdma"
    os.makedirs(own, mode=0o700)
    command = [TOOL, "serve", "--tcp-port", "0", "--key", f"{top}/key", f"{top}/served", "--listen"]
    kept = [bound(f"{own}/1234567.sock", True), bound(f"{own}/mine.sock", False), bound(f"{top}/elsewhere", False)]
    os.symlink(f"{top}/elsewhere", f"{own}/12345678.sock")
    open(f"{own}/123456789.sock", "w").close()
    full = socket.socket(socket.AF_UNIX)  # the listener has no room for another connection
    full.connect(f"{own}/1234567.sock")
    before = set(os.listdir(own))
    real = os.environ.get("XDG_RUNTIME_DIR")
    os.environ["XDG_RUNTIME_DIR"] = f"{top}/stale"
    servers = [Daemon(), Daemon(), Daemon()]
    try:
        for server in servers[:2]:
            server.launch([*command, f"127.0.0.1:{free_port()}"])
        servers[0].kill()
        left = f"{servers[0].process.pid}.sock"
        lives = f"{servers[1].process.pid}.sock"
        tap.result(set(os.listdir(own)) == before | {left, lives}, "a server that is killed leaves its socket", [os.listdir(own)])
        servers[2].launch([*command, f"127.0.0.1:{free_port()}"])
        tap.result(set(os.listdir(own)) == before | {lives, f"{servers[2].process.pid}.sock"},
                   "the next one removes it, and nothing that lives or has another name", [before, os.listdir(own)])
        if may_hide_run():
            servers[2].stop()
            found = top_alone(XDG_RUNTIME_DIR=f"{top}/stale")
            tap.result(found.returncode == 0 and json.loads(found.stdout)["command"] == "serve",
                       "top asks the one that answers, and passes over the others", [found.stderr])
    finally:
        for server in servers:
            if hasattr(server, "process") and server.process.poll() is None:
                server.stop()
        del os.environ["XDG_RUNTIME_DIR"]
        if real:
            os.environ["XDG_RUNTIME_DIR"] = real
    tap.result(set(os.listdir(own)) == before, "what they had made goes with them", [os.listdir(own)])
    taken = run("serve", "--monitor", f"{own}/1234567.sock", f"{top}/served")
    tap.result(taken.returncode == 1 and "in use" in taken.stderr and os.path.exists(f"{own}/1234567.sock"),
               "a socket is not taken from a program that has no room for connections", [taken.stderr])
    shown = run("top", f"{own}/1234567.sock")
    tap.result(shown.returncode == 1 and f"{own}/1234567.sock does not answer" in shown.stderr, "top does not wait for it for ever", [shown.stderr])
    for peer in [*kept, full]:
        peer.close()


with tempfile.TemporaryDirectory(prefix="rpcrdma-top-") as top:
    os.mkdir(f"{top}/served")
    path, port = f"{top}/monitor", free_port()
    with Server(TOOL, f"{top}/served", "--threads", "2", "--monitor", path, "--metrics", str(port)) as server:
        mode = os.stat(path).st_mode
        tap.result(stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o600, "the socket is its owner's only", [oct(mode)])
        with open("/proc/net/tcp") as file:
            tap.result(f"0100007F:{port:04X}" in file.read(), "--metrics PORT is on the loopback")
        test_numbers(path, port, server.url + "?version=3")
        test_hostile(path, port, server.url)
        with Gateway(TOOL, server.url, "--monitor", f"{top}/gateway") as gateway:
            run("ls", gateway.rdma_url)
            told = json.loads(run("top", "--json", f"{top}/gateway").stdout)
            tap.result(told["command"] == "gateway" and told["calls"] > 3 and told["server_side"]["calls"] > 3,
                       "a gateway has both its sides", [told])
        tap.result(server.stop() == 0 and not os.path.exists(path), "the socket goes with the server")
    taken = run("serve", "--monitor", f"{top}/no/such/place", f"{top}/served")
    tap.result(taken.returncode == 1 and "no/such/place" in taken.stderr, "a socket that cannot be made is an error", [taken.stderr])
    test_stale(top)
    if may_hide_run():
        test_service(top)
        test_default(top)
tap.end()
