#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_transport.py TOOL: what moves the data, as the commands are told, on a machine with or without RDMA adapters. (On
software adapters: tests/kernel.)"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap, free_port

TOOL = os.path.abspath(sys.argv[1])
tap = Tap()


def run(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=60)


def check(name, good, result):
    tap.result(good, name, [f"exit status {result.returncode}", result.stdout[:2000], result.stderr])


def choose(work, server):
    file = f"{work}/file"
    with open(file, "w") as out:
        out.write("contents")
    for kind in ("auto", "iwarp"):
        result = run("cp", "--transport", kind, file, server.url)
        check(f"cp --transport {kind} says that it went over iwarp", result.stdout.endswith("over iwarp\n"), result)
    url = f"nfs://127.0.0.1:{server.tcp_port}/file?transport=tcp"
    result = run("cp", "--json", "--transport", "verbs", url, f"{work}/back")
    check("what the URL says goes before --transport", result.returncode == 0 and json.loads(result.stdout)["over"] == "tcp", result)
    for command in ("ls", "stat", "cat", "ping"):
        result = run(command, "--transport", "iwarp", server.url + ("" if command == "ping" else "file"))
        check(f"{command} takes --transport", result.returncode == 0, result)
    for command in ("ls", "stat", "cat"):
        result = run(command, "-v", server.url + "file")
        check(f"{command} -v says what it went over", result.returncode == 0 and result.stderr == f"{server.url}file: over iwarp\n", result)
        result = run(command, server.url + "file")
        check(f"{command} says nothing of it", result.returncode == 0 and result.stderr == "", result)
    url = f"nfs://127.0.0.1:{server.tcp_port}/file"
    for command in ("ls", "stat", "cat"):
        result = run(command, "-v", "--transport", "tcp", url)
        check(f"{command} takes --transport tcp", result.returncode == 0 and "over tcp" in result.stderr, result)
    result = run("cp", "--json", "--transport", "tcp", url, f"{work}/back")
    check("so does cp", result.returncode == 0 and json.loads(result.stdout)["over"] == "tcp", result)
    result = run("ping", "-c", "1", "--transport", "tcp", f"nfs://127.0.0.1:{server.tcp_port}/")
    check("and ping", result.returncode == 0 and "over TCP" in result.stdout, result)
    result = run("ping", "-c", "1", server.url)
    check("ping says what it went over", "on iwarp" in result.stdout, result)


def without_adapters(work, server):
    """Without an adapter, --transport verbs fails with the reason."""
    reason = json.loads(run("devices", "--json").stdout).get("reason")
    if not reason:
        tap.skip("verbs without a device", "this machine has RDMA devices")
        return
    for command in ("ls", "stat", "cat", "ping"):
        result = run(command, "--transport", "verbs", server.url)
        check(f"{command} --transport verbs says what is missing", result.returncode == 1 and reason in result.stderr, result)
    result = run("ls", "--transport", "iwarp", f"{server.url}?transport=verbs")
    check("?transport=verbs goes before --transport", result.returncode == 1 and reason in result.stderr, result)
    result = run("serve", "--transport", "verbs", "--listen", f"127.0.0.1:{free_port()}", "--tcp-port", "0", "--key", f"{work}/key", work)
    check("serve --transport verbs says what is missing", result.returncode == 1 and reason in result.stderr, result)
    result = run("gateway", "--transport", "verbs", "--listen", f"127.0.0.1:{free_port()}", "--to", f"{server.url}?transport=tcp")
    check("and gateway --transport verbs", result.returncode == 1 and reason in result.stderr, result)


for command in ("serve", "ls", "ping", "cp", "gateway"):
    result = run(command, "--transport", "pigeons", "nfs://127.0.0.1/")
    check(f"{command}: there are four transports", result.returncode == 2 and "auto, iwarp, verbs or tcp" in result.stderr, result)
result = run("serve", "--transport", "tcp", "/")
check("serve --transport tcp is a usage error", result.returncode == 2 and "--tcp-port" in result.stderr, result)
for number in ("5000", "1023", "262145", "1k"):
    result = run("serve", "--inline", number, "/")
    check(f"serve --inline {number} is a usage error", result.returncode == 2 and "from 1024 to 262144" in result.stderr, result)
usage = run("--help").stdout
check("--help names each transport and option of a URL", all(word in usage for word in (
    "auto|iwarp|verbs|tcp", "mountport=", "port=", "version=", "uid=", "gid=")), run("--help"))
with tempfile.TemporaryDirectory() as work:
    os.mkdir(f"{work}/served")
    with Server(TOOL, f"{work}/served", "--transport", "auto", tcp_port=free_port()) as server:
        choose(work, server)
        without_adapters(work, server)
tap.end()
