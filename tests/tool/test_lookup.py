#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_lookup.py TOOL: clients ask rpcbind for the port of NFS (?rpcbind), and for that of MOUNT: an rpcbind of this test, and libtirpc's
in a network and a /run of its own, where root may make these."""
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap, free_port

TOOL = os.path.abspath(sys.argv[1])
NFS, MOUNT = 100003, 100005
tap = Tap()


def run(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=60)


def check(name, good, result):
    tap.result(good, name, [f"exit status {result.returncode}", result.stdout, result.stderr])


# ---- An rpcbind that answers what a test wants ----

def string(text):
    data = text if isinstance(text, bytes) else text.encode()
    return struct.pack(">I", len(data)) + data + bytes(-len(data) % 4)


def listed(entries):
    return b"".join(struct.pack(">3I", 1, prog, vers) + string(netid) + string(address) + string("superuser")
                    for prog, vers, netid, address in entries) + bytes(4)


def universal(port, host="0.0.0.0"):
    return f"{host}.{port >> 8}.{port & 255}"


class Rpcbind:
    """An rpcbind. Its version 4 answers with `results`, the list of all entries (None: there is no version 4); its version 2
    with `ports`."""

    def __init__(self, results=None, ports=None):
        self.results, self.ports, self.calls = results, ports or {}, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            stream, _ = self.listener.accept()
            threading.Thread(target=self.one, args=(stream,), daemon=True).start()

    def one(self, stream):
        try:
            with stream, stream.makefile("rb") as file:
                while mark := file.read(4):
                    stream.sendall(self.answer(file.read(struct.unpack(">I", mark)[0] & 0x7fffffff)))
        except (OSError, struct.error):
            pass

    def answer(self, call):
        xid, _, _, prog, vers, proc, _, size = struct.unpack(">8I", call[:32])
        arguments = call[40 + size:]
        self.calls.append((prog, vers, proc))
        if vers == 4 and self.results is not None:
            body = struct.pack(">I", 0) + self.results
        elif vers == 2:
            body = struct.pack(">2I", 0, self.ports.get(struct.unpack(">3I", arguments[:12]), 0))
        else:
            body = struct.pack(">3I", 2, 2, 2)  # PROG_MISMATCH
        reply = struct.pack(">5I", xid, 1, 0, 0, 0) + body
        return struct.pack(">I", 0x80000000 | len(reply)) + reply


class Relay:
    """Passes NFS over TCP on to a server, and answers MOUNT with PROG_UNAVAIL, as the NFS port of a Linux server does."""

    def __init__(self, to, address=("127.0.0.1", 0), family=socket.AF_INET):
        self.to = to
        self.listener = socket.create_server(address, family=family)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            threading.Thread(target=self.one, args=(self.listener.accept()[0],), daemon=True).start()

    def one(self, client):
        try:
            with client, client.makefile("rb") as calls, socket.create_connection(self.to) as server, server.makefile("rb") as replies:
                while mark := calls.read(4):
                    call = calls.read(struct.unpack(">I", mark)[0] & 0x7fffffff)
                    if struct.unpack(">I", call[12:16])[0] == MOUNT:
                        client.sendall(struct.pack(">I", 0x80000018) + call[:4] + struct.pack(">5I", 1, 0, 0, 0, 1))
                        continue
                    server.sendall(mark + call)
                    mark = replies.read(4)
                    client.sendall(mark + replies.read(struct.unpack(">I", mark)[0] & 0x7fffffff))
        except (OSError, struct.error):
            pass


def ls(rpcbind, *options):
    return run("ls", "nfs://127.0.0.1/?" + "&".join((f"rpcbind={rpcbind.port}", *options)))


def found(server):
    rdma, tcp = universal(server.port), universal(server.tcp_port)
    one = Rpcbind(listed([(NFS, 3, "tcp", universal(9)), (MOUNT, 3, "rdma", universal(9)), (NFS, 2, "rdma", universal(9)),
                          (NFS, 3, "rdma", "127.0.0.1.1.1"), (NFS, 4, "rdma", rdma), (NFS, 4, "rdma6", universal(9, "::"))]))
    result = ls(one)
    check("NFS over RDMA is at the port of the entry with the highest version", result.stdout == "file\n" and one.calls == [(100000, 4, 4)],
          result)
    result = ls(Rpcbind(listed([(NFS, 4, "rdma", universal(9)), (NFS, 3, "rdma", rdma)])), "version=3")
    check("version 3 is looked for where the URL says so", result.stdout == "file\n", result)
    result = ls(Rpcbind(listed([(NFS, 3, "rdma", universal(9)), (NFS, 4, "rdma", rdma)])), "version=4.1")
    check("and version 4 for 4.1", result.stdout == "file\n", result)
    both = Rpcbind(listed([(NFS, 4, "rdma", universal(9)), (NFS, 3, "tcp", tcp), (NFS, 4, "tcp", tcp)]))
    result = ls(both, "transport=tcp")
    check("the name of TCP is tcp", result.stdout == "file\n", result)
    result = run("cat", "--transport", "tcp", f"nfs://127.0.0.1/file?rpcbind={both.port}")
    check("also with --transport tcp", result.stdout == "content", result)
    old = Rpcbind(ports={(NFS, 3, 6): server.tcp_port})
    result = ls(old, "transport=tcp")
    check("a port mapper of version 2 is asked for TCP", result.stdout == "file\n" and [vers for _, vers, _ in old.calls] == [4, 2, 2],
          result)
    result = ls(old)
    check("and knows no RDMA", result.returncode == 1 and "rpcbind" in result.stderr, result)


def mount_elsewhere(server):
    relay = Relay(("127.0.0.1", server.tcp_port))
    tcp = ("version=3", "transport=tcp")
    nfs = (NFS, 3, "tcp", universal(relay.port))
    result = ls(Rpcbind(listed([nfs, (MOUNT, 1, "tcp", universal(9)), (MOUNT, 3, "tcp6", universal(9)),
                                (MOUNT, 3, "tcp", universal(server.tcp_port))])), *tcp)
    check("MOUNT that is not at the port of NFS is where rpcbind says", result.stdout == "file\n", result)
    result = ls(Rpcbind(ports={(NFS, 3, 6): relay.port, (MOUNT, 3, 6): server.tcp_port}), *tcp)
    check("or a port mapper", result.stdout == "file\n", result)
    result = ls(Rpcbind(listed([nfs])), *tcp)
    check("MOUNT that is nowhere is an error that says what to do", result.returncode == 1 and "MOUNT is not served" in result.stderr
          and "mountport" in result.stderr, result)


def not_found(server):
    for name, entries in (("nothing", []), ("an address without a port", [(NFS, 4, "rdma", "")]),
                          ("a port of 0", [(NFS, 4, "rdma", "0.0.0.0.0.0")]), ("a port above 255.255", [(NFS, 4, "rdma", "0.0.0.0.256.1")]),
                          ("no dots", [(NFS, 4, "rdma", "11")]), ("one dot", [(NFS, 4, "rdma", "7.8")]),
                          ("what is no number", [(NFS, 4, "rdma", "0.0.0.0.a.1")]),
                          ("many digits", [(NFS, 4, "rdma", "0.0.0.0.0000000078.1")]), ("a longer netid", [(NFS, 4, "rdma7", universal(9))])):
        result = ls(Rpcbind(listed(entries)))
        check(f"an entry with {name} is none", result.returncode == 1 and "no entry of the program 100003" in result.stderr
              and "give the port" in result.stderr, result)
    for name, results in (("that never ends", listed([(NFS, 4, "rdma", universal(9))] * 4000)[:-4]), ("that is cut off", listed([(NFS, 4, "rdma", "x")])[:-8]),
                          ("with a length of 4 GiB", struct.pack(">4I", 1, NFS, 4, 0xffffffff)), ("with octets behind it", listed([]) + bytes(4))):
        result = ls(Rpcbind(results))
        check(f"a list {name} is refused", result.returncode == 1 and "rpcbind cannot be asked" in result.stderr, result)
    closed = free_port()
    result = run("ls", f"nfs://127.0.0.1/?rpcbind={closed}")
    check("without rpcbind, the message says so", result.returncode == 1 and "rpcbind cannot be asked" in result.stderr
          and str(closed) in result.stderr, result)
    result = run("gateway", "--to", "nfs://127.0.0.1/?rpcbind", "--listen", "127.0.0.1")
    check("a gateway wants a port", result.returncode == 2 and "rpcbind" in result.stderr, result)


def of_others(server):
    """Sub-commands that connect by code of their own find the port, too."""
    rpcbind = Rpcbind(listed([(NFS, version, "rdma", universal(server.port)) for version in (3, 4)]))
    url = f"nfs://127.0.0.1/?rpcbind={rpcbind.port}"
    result = run("ping", "--json", "-c", "1", url)
    check("ping looks the port up", result.returncode == 0 and json.loads(result.stdout)["port"] == server.port, result)
    result = run("check", "--only", "A11", url)
    check("so does check", result.returncode == 0, result)
    result = run("doctor", "--json", url)
    steps = {step["step"]: step for step in map(json.loads, result.stdout.splitlines())}
    check("doctor has a step for it", steps["rpcbind"]["status"] == "ok" and f"at port {server.port}" in steps["rpcbind"]["found"]
          and steps["mount"]["status"] == "ok", result)
    result = run("doctor", "--json", f"nfs://127.0.0.1/?rpcbind={Rpcbind(listed([])).port}")
    last = [step for step in map(json.loads, result.stdout.splitlines()) if step["status"] == "fail"]
    check("which fails where there is no entry, and says what to do", result.returncode == 1 and [step["step"] for step in last] == ["rpcbind"]
          and "rpcinfo -s" in last[0]["advice"], result)


# ---- libtirpc's rpcbind ----

INSIDE = """
mount -t tmpfs none /run
ip link set lo up
rpcbind -f &
rpcbind=$!
for i in $(seq 600); do [ -S /run/rpcbind.sock ] && rpcinfo -s 127.0.0.1 >/dev/null 2>&1 && break; sleep 0.1; done
"$@"
status=$?
kill $rpcbind
exit $status
"""


def may_have_namespaces():
    return os.geteuid() == 0 and shutil.which("rpcbind") and shutil.which("rpcinfo") and shutil.which("ip") and subprocess.run(
        ["unshare", "--mount", "--net", "mount", "-t", "tmpfs", "none", "/run"], capture_output=True).returncode == 0


def inside(folder):
    """Runs in the namespaces. Serves at unusual ports, which only rpcbind knows. Prints the results by name, as a JSON
    object."""
    results = {}
    options = ["--rpcbind", "/run/rpcbind.sock", "--rpcbind-rdma", "--listen", "[::1]:4321"]
    with Server(TOOL, folder, *options, port=5432, tcp_port=6543):
        for name, url in (("over RDMA", "nfs://127.0.0.1/?rpcbind"), ("over IPv6", "nfs://[::1]/?rpcbind"),
                          ("over TCP", "nfs://127.0.0.1/?rpcbind&transport=tcp"), ("over TCP and IPv6", "nfs://[::1]/?rpcbind&transport=tcp"),
                          ("of version 3", "nfs://127.0.0.1/?rpcbind&version=3")):
            done = run("ls", url)
            results[f"an NFS service {name} is found by rpcbind"] = [done.stdout == "file\n", done.stderr]
        for name, family, host in (("", socket.AF_INET, "127.0.0.1"), (" over IPv6", socket.AF_INET6, "::1")):
            Relay((host, 6543), (host, 2049), family)
            done = run("ls", f"nfs://{f'[{host}]' if ':' in host else host}/?version=3&transport=tcp")
            results[f"MOUNT of a server at the standard port{name} is found by rpcbind"] = [done.stdout == "file\n", done.stderr]
        done = run("doctor", "--timeout", "3", "nfs://127.0.0.1/")
        results["doctor says what rpcbind knows where the standard port is closed"] = ["rpcbind there says port 5432" in done.stdout, done.stdout]
    done = run("ls", "nfs://127.0.0.1/?rpcbind")
    results["a server that ended is not"] = ["no entry" in done.stderr, done.stderr]
    print(json.dumps(results))


def of_libtirpc(folder):
    if not may_have_namespaces():
        tap.skip("a service is found by libtirpc's rpcbind", "this takes root, rpcbind, rpcinfo, ip and namespaces")
        return
    done = subprocess.run(["unshare", "--mount", "--net", "sh", "-c", INSIDE, "sh", sys.executable, *sys.argv, folder], capture_output=True,
                          text=True, timeout=110)
    results = json.loads(done.stdout) if done.returncode == 0 else {"a service is found by libtirpc's rpcbind": [False, done.stderr]}
    for name, (good, text) in results.items():
        tap.result(good, name, [text])


def as_mount_takes_it(work):
    """HOST:/PATH, at the standard port; a local name of this form is written with "./" in front."""
    folder, host = f"{work}/short", f"127.{os.getpid() >> 16 & 127}.{os.getpid() >> 8 & 255}.{os.getpid() & 255 or 1}"
    os.makedirs(f"{folder}/a%20b")
    os.makedirs(f"{work}/local:")
    for path in f"{folder}/a%20b/file", f"{work}/local:/file":
        with open(path, "w") as file:
            file.write("content")
    with Server(TOOL, folder, "--listen", f"{host}:20049", "--state", f"{work}/state"):
        done = run("ls", f"{host}:/a%20b")
        check("HOST:/PATH is the server of that name, and nothing in PATH has another meaning", done.stdout == "file\n", done)
        done = subprocess.run([TOOL, "cp", "./local:/file", f"{host}:/copy"], capture_output=True, text=True, timeout=60, cwd=work)
        check("./NAME:/PATH is a local file", done.returncode == 0 and os.path.exists(f"{folder}/copy"), done)
        done = subprocess.run([TOOL, "cp", "local:/file", f"{host}:/copy"], capture_output=True, text=True, timeout=60, cwd=work)
        check("NAME:/PATH is not", done.returncode == 1 and "local" in done.stderr, done)


def main():
    if len(sys.argv) > 2:
        inside(sys.argv.pop())
        return
    with tempfile.TemporaryDirectory(prefix="rpcrdma-lookup-") as work:
        folder = f"{work}/served"
        os.mkdir(folder)
        with open(f"{folder}/file", "w") as file:
            file.write("content")
        with Server(TOOL, folder, tcp_port=free_port()) as server:
            found(server)
            mount_elsewhere(server)
            not_found(server)
            of_others(server)
        as_mount_takes_it(work)
        of_libtirpc(folder)
    tap.end()


main()
