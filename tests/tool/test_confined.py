#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_confined.py TOOL: what the kernel says of the threads of `rpcrdma serve` and `gateway`, with and without --no-sandbox."""
import glob
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Gateway, Server, Tap, free_port

TOOL = os.path.abspath(sys.argv[1])
SEES = ("CapEff", "CapPrm", "NoNewPrivs", "Seccomp")
# capabilities(7), by number: CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER, FSETID, SETGID, SETUID, NET_BIND_SERVICE, IPC_LOCK, MKNOD, LEASE
FILES = sum(1 << number for number in (0, 1, 2, 3, 4, 6, 7, 10, 14, 27, 28))
RELAY = sum(1 << number for number in (1, 2, 10, 14))
tap = Tap()


def statuses(pid):
    """Of each thread, what the kernel says."""
    result = []
    for path in glob.glob(f"/proc/{pid}/task/*/status"):
        with open(path) as file:
            lines = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
        result.append({name: int(lines[name], 16) for name in SEES})
    return result


def held(threads, kept):
    return threads and all(one["NoNewPrivs"] == 1 and one["Seccomp"] == 2 and one["CapPrm"] & ~kept == 0 and one["CapEff"] & ~kept == 0 for one in threads)


def client(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=60)


def test_serve(top):
    with Server(TOOL, f"{top}/served", "--threads", "2") as server:
        url = f"nfs://127.0.0.1:{server.port}/"
        got = client("cp", f"{top}/from", f"{url}to")
        tap.result(got.returncode == 0, "a confined server takes a file", [got.stderr])
        got = client("cp", f"{url}to", f"{top}/back")
        tap.result(got.returncode == 0 and open(f"{top}/back").read() == "data", "and gives it back", [got.stderr])
        threads = statuses(server.process.pid)
        tap.result(len(threads) > 2 and held(threads, FILES), "each of its threads is confined", threads)
    with Server(TOOL, f"{top}/served", "--no-sandbox") as server:
        threads = statuses(server.process.pid)
        own = statuses(os.getpid())[0]
        tap.result(all(one == own for one in threads), "with --no-sandbox it has the rights of who starts it", [own, *threads])


def test_gateway(top):
    with Server(TOOL, f"{top}/served", tcp_port=free_port()) as server:
        to = f"nfs://127.0.0.1:{server.tcp_port}/?transport=tcp&mountport={server.tcp_port}"
        with Gateway(TOOL, to) as gateway:
            got = client("ls", gateway.rdma_url)
            tap.result(got.returncode == 0 and "to" in got.stdout, "a confined gateway passes a listing on", [got.stdout, got.stderr])
            threads = statuses(gateway.process.pid)
            tap.result(held(threads, RELAY), "each of its threads is confined", threads)


with tempfile.TemporaryDirectory() as top:
    os.mkdir(f"{top}/served")
    with open(f"{top}/from", "w") as file:
        file.write("data")
    test_serve(top)
    test_gateway(top)
tap.end()
