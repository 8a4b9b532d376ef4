#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_gateway.py TOOL: `rpcrdma gateway` between `rpcrdma cp` and `rpcrdma serve` in every combination of RDMA and TCP,
across restarts of the server, and between libnfs and nfs-ganesha over TCP, RDMA and TCP again."""
import filecmp
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import ganesha
from tap import Daemon, Gateway, Server, Tap, free_port, stop_when

TOOL = os.path.abspath(sys.argv[1])
SIZES = (0, 1, 3, 4, 1000, 4095, 4096, 65537, (1 << 20) - 1, 1 << 20, 5 << 20)
tap = Tap()


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=100, **options)


def check(name, good, *results):
    details = [line for r in results for line in (f"exit status {r.returncode}", r.stdout[-2000:], r.stderr[-2000:])]
    return tap.result(good, name, details)


def make_tree(top):
    os.makedirs(f"{top}/deeper")
    for size in SIZES:
        with open(f"{top}/size-{size}", "wb") as file:
            file.write(os.urandom(size))
    for i in range(120):
        with open(f"{top}/deeper/an-entry-with-a-name-of-some-length-{i}", "w") as file:
            file.write(str(i) * i)
    os.symlink("size-4", f"{top}/link")
    os.symlink("x" * 800, f"{top}/longlink")


def same_trees(a, b):
    both = filecmp.dircmp(a, b)
    links = [name for name in both.left_list if os.path.islink(f"{a}/{name}")]
    files = [name for name in both.left_list if name not in links and os.path.isfile(f"{a}/{name}")]
    return (sorted(both.left_list) == sorted(both.right_list)
            and all(os.readlink(f"{a}/{name}") == os.readlink(f"{b}/{name}") for name in links)
            and filecmp.cmpfiles(a, b, files, shallow=False)[0] == files
            and all(same_trees(f"{a}/{name}", f"{b}/{name}") for name in both.common_dirs))


def usage():
    for name, arguments, said in (
            ("--to must be given", ["--listen", "127.0.0.1"], "--to is missing"),
            ("--listen must be given", ["--to", "nfs://127.0.0.1/"], "--listen is missing"),
            ("a path is refused", ["--listen", "127.0.0.1", "--to", "nfs://127.0.0.1/x"], "leave out '/x'"),
            ("a program must be known", ["--program", "no=1"], "PROG=PORT"),
            ("a program needs a port", ["--program", "mount=0"], "PROG=PORT"),
            ("a bad address is told", ["--listen", "tcp://"], "--listen: '' is no address"),
            ("what is too much is refused", ["--listen", "127.0.0.1", "--to", "nfs://127.0.0.1/", "x"], "'x'")):
        result = run(TOOL, "gateway", *arguments)
        check(name, result.returncode == 2 and said in result.stderr, result)
    with Server(TOOL, WORK + "/served") as server:
        result = run(TOOL, "gateway", "--listen", f"127.0.0.1:{server.port}", "--to", server.url)
        check("a port in use is told", result.returncode == 1 and "in use" in result.stderr, result)


def default_ports():
    """RFC 8267, 6.3: NFS over RDMA is at "the alternative well-known port number", 20049, and over TCP at 2049."""
    address = ".".join(["127", *(str(random.randint(1, 254)) for _ in range(3))])
    with Server(TOOL, WORK + "/served") as server:
        gateway = Daemon()
        gateway.launch([TOOL, "gateway", "--listen", address, "--listen", f"tcp://{address}", "--to", server.url])
        with gateway:
            for port in (20049, 2049):
                socket.create_connection((address, port), timeout=10).close()
    tap.result(True, "a gateway listens at the ports that are known for it")


def unreachable():
    """A gateway that cannot reach its server says once what to do, not at each try."""
    null = struct.pack(">10I", 1, 0, 2, 100003, 3, 0, 0, 0, 0, 0)
    for query, advice in (("", "echo rdma 20049"), ("?transport=tcp", "usually at 2049")):
        log = Log()
        with Gateway(TOOL, f"nfs://127.0.0.1:{free_port()}/{query}", stderr=log) as gateway:
            with socket.create_connection(("127.0.0.1", gateway.tcp_port), timeout=10) as client:
                client.sendall(struct.pack(">I", 1 << 31 | len(null)) + null)
                client.settimeout(100)
                client.recv(1)  # ends when the server was sought in vain
        text = log.read_text()
        tap.result(text.count("refused") > 2 and text.count("to do: start the server") == text.count(advice) == 1,
                   f"what to do about a server that is not there is said, once {query}", text.splitlines())


def report(gateway, stderr):
    """Returns the report of the gateway at SIGUSR1."""
    gateway.process.send_signal(signal.SIGUSR1)
    for _ in range(6000):
        text = stderr.read_text()
        if "answered here" in text:
            return text
        time.sleep(0.01)
    return ""


class Log:
    """A file for standard error."""

    def __init__(self):
        self.file = tempfile.NamedTemporaryFile(dir=WORK)

    def fileno(self):
        return self.file.fileno()

    def read_text(self):
        with open(self.file.name) as file:
            return file.read()


def counted(text, name):
    match = re.search(rf"^  {name} (\d+)$", text, re.MULTILINE)
    return int(match.group(1)) if match else 0


def copy_both_ways(name, url, tree):
    """Copies a tree to `url`, a new directory, and back."""
    there = run(TOOL, "cp", "-q", "-r", tree, url)
    back = f"{WORK}/back"
    again = run(TOOL, "cp", "-q", "-r", url, back)
    listed = run(TOOL, "ls", url)
    check(f"{name}: a tree goes there and back and is equal",
          there.returncode == 0 and again.returncode == 0 and same_trees(tree, back) and "size-4096" in listed.stdout,
          there, again, listed)
    shutil.rmtree(back, ignore_errors=True)


def combinations(tree):
    tcp_port = free_port()
    with Server(TOOL, WORK + "/served", tcp_port=tcp_port) as server:
        for to_name, to in (("RDMA", server.url), ("TCP", f"nfs://127.0.0.1:{tcp_port}/?transport=tcp")):
            log = Log()
            with Gateway(TOOL, to, stderr=log) as gateway:
                copy_both_ways(f"TCP to {to_name}", gateway.tcp_url(f"tcp-{to_name}"), tree)
                copy_both_ways(f"RDMA to {to_name}", f"{gateway.rdma_url}rdma-{to_name}", tree)
                text = report(gateway, log)
                tap.result(0 == counted(text, "client side: long_calls") == counted(text, "client side: errors_sent")
                           and counted(text, "client side: octets_rdma_write") > 5 << 20
                           and counted(text, "client side: octets_rdma_read") > 5 << 20,
                           f"to {to_name}: data goes by chunks on the side of RDMA clients", [text])
                if to_name == "RDMA":
                    tap.result(counted(text, "server side: octets_rdma_write") > 10 << 20
                               and counted(text, "server side: octets_rdma_read") > 10 << 20
                               and counted(text, "server side: long_calls") == 0,
                               "and by chunks on the side of an RDMA server", [text])
                tap.result(gateway.stop() == 0, f"to {to_name}: SIGTERM ends it with status 0")
        with Gateway(TOOL, server.url, "--threads", "4", "--crc") as gateway:
            copy_both_ways("four threads, with CRC", gateway.tcp_url("threads"), tree)
        with Gateway(TOOL, server.url, "--program", f"mount={tcp_port}") as gateway:
            copy_both_ways("MOUNT at another port", gateway.tcp_url("program"), tree)
        with Gateway(TOOL, f"nfs://127.0.0.1:{tcp_port}/?transport=tcp&mountport={free_port()}") as gateway:
            result = run(TOOL, "ls", gateway.tcp_url() + "&version=3")
            check("where MOUNT is not there, that is told", result.returncode == 1 and "system error" in result.stderr,
                  result)


def provided():
    """The options --provided and --no-provided: whether the gateway sends large replies in Read chunks to a client that has
    provided no chunk for them."""
    os.mkdir(f"{WORK}/served/many")
    for i in range(300):
        open(f"{WORK}/served/many/{i:060}", "w").close()
    tcp_port = free_port()
    with Server(TOOL, WORK + "/served", tcp_port=tcp_port):
        to = f"nfs://127.0.0.1:{tcp_port}/?transport=tcp"
        for options, wanted in ((("--provided", "8"), True), (("--no-provided",), False)):
            log = Log()
            with Gateway(TOOL, to, *options, stderr=log) as gateway:
                result = run(TOOL, "ls", "--reply-chunks", "never", f"{gateway.rdma_url}many")
                text = report(gateway, log)
                tap.result(len(result.stdout.split()) == 300 and ("provided_replies" in text) == wanted,
                           f"{' '.join(options)}: {'' if wanted else 'no '}replies in Read chunks", [result.stderr, text])
    shutil.rmtree(f"{WORK}/served/many")


def begin_copy(source, url):
    """Starts a copy, and stops the process in the middle of it. A copy that was too quick is made again."""
    while True:
        copy = subprocess.Popen([TOOL, "cp", "-q", source, url], stderr=subprocess.PIPE, text=True)
        stop_when(copy, lambda: any(".rpcrdma-" in name for name in os.listdir(f"{WORK}/served")))
        if copy.poll() is None:
            return copy
        _, error = copy.communicate()
        if copy.returncode:
            raise RuntimeError(f"the copy to {url} failed before it could be stopped: {error}")


def restart(name, gateway_to, client_url):
    """The server restarts in the middle of a copy: the client repeats the calls that were not answered."""
    large = f"{WORK}/large"
    with open(large, "wb") as file:
        for _ in range(64):
            file.write(os.urandom(1 << 20))
    tcp_port = free_port()
    with Server(TOOL, WORK + "/served", tcp_port=tcp_port) as server:
        to = server.url if gateway_to == "RDMA" else f"nfs://127.0.0.1:{tcp_port}/?transport=tcp"
        with Gateway(TOOL, to, stderr=subprocess.DEVNULL) as gateway:
            target = f"{WORK}/served/restart-{name.replace(' ', '-')}"
            url = client_url(gateway, os.path.basename(target))
            copy = begin_copy(large, url)
            server.kill()
            copy.send_signal(signal.SIGCONT)
            server.start()
            _, error = copy.communicate(timeout=60)
            good = copy.returncode == 0 and filecmp.cmp(large, target, shallow=False)
            tap.result(good, f"{name}: a copy outlives a restart of the server", [error])
    os.unlink(large)


def through_ganesha():
    name = "libnfs over TCP, RDMA and TCP to nfs-ganesha"
    why = ganesha.why_not()
    if why:
        tap.skip(name, why)
        return
    data = f"{WORK}/data"
    os.mkdir(data)
    for size in SIZES:
        with open(f"{data}/size-{size}", "wb") as file:
            file.write(os.urandom(size))
    server = ganesha.Ganesha(WORK, data)
    ports = server.ports
    first_log = Log()
    try:
        with Gateway(TOOL, f"nfs://127.0.0.1:{ports['nfs']}/?transport=tcp&mountport={ports['mount']}",
                     stderr=first_log) as first, Gateway(TOOL, first.rdma_url) as second:
            for version in (3, 4):
                libnfs(name, version, second.tcp_port, data)
            text = report(first, first_log)
            tap.result(counted(text, "client side: octets_rdma_write") > 2 * sum(SIZES)
                       and counted(text, "client side: octets_rdma_read") >= 5 << 20
                       and counted(text, "client side: errors_sent") == 0,
                       f"{name}: data went by chunks between the gateways", [text])
    finally:
        server.stop()


def libnfs(name, version, port, data):
    def url(path):
        return ganesha.libnfs_url(port, port, path, version)

    listed = run("nfs-ls", url(""))
    check(f"{name}, v{version}: nfs-ls", all(f"size-{size}" in listed.stdout for size in SIZES), listed)
    bad = []
    for size in SIZES:
        out = f"{WORK}/out"
        if os.path.exists(out):
            os.unlink(out)
        result = run("nfs-cp", url(f"size-{size}"), out)
        if result.returncode or not filecmp.cmp(out, f"{data}/size-{size}", shallow=False):
            bad.append(result)
    check(f"{name}, v{version}: nfs-cp from the server", not bad, *bad)
    with open(f"{WORK}/cat", "wb") as out:
        done = subprocess.run(["nfs-cat", url(f"size-{5 << 20}")], stdout=out, timeout=60)
    tap.result(done.returncode == 0 and filecmp.cmp(f"{WORK}/cat", f"{data}/size-{5 << 20}", shallow=False),
               f"{name}, v{version}: nfs-cat")
    if version == 3:  # nfs-cp cannot write to nfs-ganesha over version 4, without a gateway either
        result = run("nfs-cp", f"{data}/size-{5 << 20}", url("new"))
        check(f"{name}, v{version}: nfs-cp to the server",
              result.returncode == 0 and filecmp.cmp(f"{data}/new", f"{data}/size-{5 << 20}", shallow=False), result)


WORK = tempfile.mkdtemp(prefix="rpcrdma-gateway-")
os.chmod(WORK, 0o755)
os.mkdir(f"{WORK}/served")
try:
    usage()
    default_ports()
    unreachable()
    make_tree(f"{WORK}/tree")
    combinations(f"{WORK}/tree")
    provided()
    restart("TCP to RDMA", "RDMA", lambda gateway, path: gateway.tcp_url(path))
    restart("RDMA to TCP", "TCP", lambda gateway, path: gateway.rdma_url + path)
    through_ganesha()
finally:
    shutil.rmtree(WORK, ignore_errors=True)
tap.end()
