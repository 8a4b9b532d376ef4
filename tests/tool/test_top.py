#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_top.py TOOL: what a server and a gateway say of themselves: to `rpcrdma top` on a Unix socket, and by HTTP."""
import fcntl
import json
import os
import pty
import re
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import termios

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
    lines = [line for line in text.splitlines() if not line.startswith(("# TYPE rpcrdma_", "# HELP rpcrdma_"))]
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
    test_families(text)
    tap.result(any(key.startswith('rpcrdma_info{command="serve",version="') for key in seen), "it has the version", [text[:300]])
    answer = http(port, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
    head, _, body = answer.partition("\r\n\r\n")
    tap.result(head.startswith("HTTP/1.1 200 ") and "version=0.0.4" in head and values(body).get("rpcrdma_connections") == 1,
               "so does --metrics by HTTP", [answer[:500]])
    tap.result(http(port, b"POST / HTTP/1.1\r\n\r\n").startswith("HTTP/1.1 404 "), "which has nothing else")
    page = run("top", "--count", "2", "--interval", "1", path).stdout
    tap.result(re.match("up \\d+ s, 2 threads, 1 connection, ", page) and "READDIRPLUS" in page and page.count("CONNECTION") == 2, "top shows pages", [page])
    connection.terminate()
    connection.communicate()


def test_families(text):
    """The text format of Prometheus, 0.0.4, and its conventions for names: "Only one HELP line may exist for any given metric name",
    all lines of a family follow each other, counters end in _total, units are base units."""
    family, kinds, helps, wrong = None, {}, set(), []
    for line in text.splitlines():
        word = line.split(" ", 3)
        if line.startswith("# HELP "):
            family = word[2]
            if family in helps or not word[3].endswith("."):
                wrong.append(line)
            helps.add(family)
        elif line.startswith("# TYPE "):
            if word[2] != family or family in kinds:
                wrong.append(line)
            kinds[word[2]] = word[3]
        else:
            name = re.match(r"\w+", line)[0]
            if kinds.get(family) == "histogram":
                name = re.sub("_(bucket|sum|count)$", "", name)
            if name != family:
                wrong.append(line)
    wrong += [name for name, kind in kinds.items() if (kind == "counter") != name.endswith("_total")
              or re.search("octets|_ns|microseconds", name)]
    tap.result(not wrong and helps == set(kinds) and len(kinds) > 55, "each family has a help and a type, and a name with base units", wrong)


def test_operations(path, url):
    """The operations of NFS version 4, which all are COMPOUND to RPC."""
    tap.result(run("cat", f"{url}file").stdout == "content" and run("stat", f"{url}missing").returncode == 1, "a file is read, another is missing")
    counted = {}
    for _ in range(200):  # an answer may be a tenth of a second old
        counted = {o["operation"]: o["latency"] for o in json.loads(run("top", "--json", path).stdout)["operations"]}
        if "LOOKUP" in counted:
            break
    tap.result({"SEQUENCE", "PUTFH", "GETATTR", "CREATE_SESSION"} <= set(counted) and counted["READ"]["calls"] == counted["CLOSE"]["calls"] == 1
               and counted["READ"]["errors"] == 0 and counted["READ"]["sum_ns"] > 0 and counted.get("LOOKUP", {"errors": 0})["errors"] > 0,
               "top --json has the operations, with errors and times", [counted])
    seen = values(run("top", "--prometheus", path).stdout)
    labels = '{operation="READ"}'
    tap.result(seen.get(f"rpcrdma_nfs4_operation_seconds_count{labels}") == 1 and seen.get(f"rpcrdma_nfs4_operation_seconds_sum{labels}") > 0
               and seen.get(f"rpcrdma_nfs4_operation_errors_total{labels}") == 0
               and seen.get('rpcrdma_nfs4_operation_errors_total{operation="LOOKUP"}') == counted["LOOKUP"]["errors"] > 0,
               "top --prometheus has the same", [seen])
    page = run("top", "--count", "2", "--interval", "1", path).stdout
    rows = [line.split() for line in page.splitlines() if line.startswith("READ ")]
    tap.result([row[2] for row in rows] == ["1", "1"] and float(rows[0][4]) > 0 and rows[1][3:] == ["-", "-"],
               "top shows their times: of all calls first, then of those since the last page", [page])


def test_exports(folder):
    """Calls and bytes of each export, in all that shows counts; an export that nobody uses has none."""
    for name in ("one", 'a "b\\', "unused"):
        os.makedirs(f"{folder}/exports/{name}")
    data = os.urandom(300001)
    with open(f"{folder}/exports/one/file", "wb") as file:
        file.write(data)
    path, errors = f"{folder}/exports.socket", open(f"{folder}/exports.err", "w+")
    with Server(TOOL, f"{folder}/exports/one=/one", f'{folder}/exports/a "b\\=/a "b\\', f"{folder}/exports/unused=/unused", "--monitor", path,
                "--threads", "1", stderr=errors) as server:
        made, other, told, exports, compounds = {}, f"{server.url}a%20%22b%5C/", None, [], []
        for version, text in (("3", "made by NFS 3"), ("4.2", "made by NFS 4.2, longer")):
            with open(f"{folder}/made", "w") as file:
                file.write(text)
            done = [run("cp", f"{server.url}one/file?version={version}", f"{folder}/copy"), run("cp", f"{folder}/made", f"{other}{version}?version={version}")]
            tap.result([d.returncode for d in done] == [0, 0], f"a file is read from an export, and one written to another: version {version}", done)
            made[version] = len(text)
            for _ in range(200):  # an answer may be a tenth of a second old
                told = json.loads(run("top", "--json", path).stdout)
                counted = {e["export"]: e for e in told["exports"]}
                if counted['/a "b\\']["octets_written"] == sum(made.values()):
                    break
            exports.append(counted["/one"]["calls"] + counted['/a "b\\']["calls"])
            compounds.append(sum(p["latency"]["calls"] for p in told["procedures"] if p["procedure"] == "NFSPROC4_COMPOUND"))
        tap.result(compounds[0] == 0 and 4 < exports[1] - exports[0] <= compounds[1], "a COMPOUND is one call in an export", [exports, compounds])
        tap.result(set(counted) == {"/one", '/a "b\\', "/unused"} and counted["/one"]["octets_read"] == 2 * len(data) and counted["/one"]["octets_written"] == 0
                   and counted["/one"]["calls"] > 4 and counted['/a "b\\']["octets_read"] == 0 and counted['/a "b\\']["octets_written"] == sum(made.values())
                   and counted['/a "b\\']["calls"] > 4 and {v for k, v in counted["/unused"].items() if k != "export"} == {0},
                   "top --json has calls and bytes of each export", [counted])
        seen = values(run("top", "--prometheus", path).stdout)
        tap.result(seen.get('rpcrdma_export_read_bytes_total{export="/one"}') == 2 * len(data)
                   and seen.get('rpcrdma_export_written_bytes_total{export="/a \\"b\\\\"}') == sum(made.values())
                   and seen.get('rpcrdma_export_calls_total{export="/one"}') == counted["/one"]["calls"]
                   and seen.get('rpcrdma_export_calls_total{export="/unused"}') == 0, "top --prometheus has the same, with marks escaped", [seen])
        page = run("top", "--count", "1", path).stdout
        rows = {line[:32].rstrip(): line[32:].split() for line in page.partition("EXPORT")[2].partition("CONNECTION")[0].splitlines()[1:] if line}
        tap.result(set(rows) == {"/one", '/a \\"b\\\\'} and float(rows["/one"][1]) == counted["/one"]["calls"], "top shows those that are used", [page])
        server.process.send_signal(signal.SIGUSR1)
        run("ls", server.url)
        server.stop()
    errors.seek(0)
    report = errors.read()
    tap.result(re.search(rf"^  export /one: \d+ calls, {2 * len(data)} bytes read, 0 written$", report, re.M)
               and re.search(rf'^  export /a "b\\: \d+ calls, 0 bytes read, {sum(made.values())} written$', report, re.M)
               and "export /unused" not in report, "so does the report at SIGUSR1", [report])


def test_keys(path):
    """On a terminal q ends the pages, and the terminal is then as it was."""
    terminal, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    command = [TOOL, "top", "--interval", "3600", path]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
                               preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    page = b""
    while b"CONNECTION" not in page:
        page += os.read(terminal, 65536)
    during = termios.tcgetattr(theirs)
    os.write(terminal, b"q")
    try:
        status = process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        status = process.wait()
    tap.result(status == 0 and during != before and termios.tcgetattr(theirs) == before, "q ends the pages", [status, page])
    os.close(terminal)
    os.close(theirs)


def test_http(port):
    """RFC 9110, 9.3.2: HEAD is as GET without content. RFC 9112, 3.2.2: a server MUST accept the absolute-form."""
    answer = http(port, b"HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
    tap.result(answer.startswith("HTTP/1.1 200 ") and answer.endswith("\r\n\r\n"), "HEAD has the head alone", [answer])
    for target, status in ((b"http://127.0.0.1/metrics", 200), (b"HTTP://[::1]:9/metrics?x", 200), (b"/metrics?x", 200),
                           (b"http://x/metricsx", 404), (b"http://x", 404), (b"http://x?/metrics", 404), (b"/metricsx", 404)):
        answer = http(port, b"GET " + target + b" HTTP/1.1\r\nHost: x\r\n\r\n")
        tap.result(answer.startswith(f"HTTP/1.1 {status} "), f"GET of {target.decode()} is {status}", [answer[:200]])
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]
    answers = []
    for _ in range(5):
        answers.append(http(port, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"))
        idle += [socket.create_connection(("127.0.0.1", port)) for _ in range(8)]
    tap.result(all(a.startswith("HTTP/1.1 200 ") for a in answers), "silent connections keep no scrape out", [a[:99] for a in answers])
    for peer in idle:
        peer.close()


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
    tap.result(len(re.findall(r"^/.*\.sock: \S+rpcrdma gateway --listen tcp://127.0.0.1:\d+ --to nfs://", found.stderr, re.MULTILINE)) == 2,
               "with what they serve", [found.stderr])
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
    with open(f"{top}/served/file", "w") as file:
        file.write("content")
    path, port = f"{top}/monitor", free_port()
    with Server(TOOL, f"{top}/served", "--threads", "2", "--monitor", path, "--metrics", str(port)) as server:
        mode = os.stat(path).st_mode
        tap.result(stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o600, "the socket is its owner's only", [oct(mode)])
        with open("/proc/net/tcp") as file:
            tap.result(f"0100007F:{port:04X}" in file.read(), "--metrics PORT is on the loopback")
        test_numbers(path, port, server.url + "?version=3")
        test_operations(path, server.url)
        test_keys(path)
        test_http(port)
        test_hostile(path, port, server.url)
        with Gateway(TOOL, server.url, "--monitor", f"{top}/gateway") as gateway:
            run("ls", gateway.rdma_url)
            told = json.loads(run("top", "--json", f"{top}/gateway").stdout)
            tap.result(told["command"] == "gateway" and told["calls"] > 3 and told["server_side"]["calls"] > 3,
                       "a gateway has both its sides", [told])
        tap.result(server.stop() == 0 and not os.path.exists(path), "the socket goes with the server")
    test_exports(top)
    taken = run("serve", "--monitor", f"{top}/no/such/place", f"{top}/served")
    tap.result(taken.returncode == 1 and "no/such/place" in taken.stderr, "a socket that cannot be made is an error", [taken.stderr])
    test_stale(top)
    if may_hide_run():
        test_service(top)
        test_default(top)
tap.end()
