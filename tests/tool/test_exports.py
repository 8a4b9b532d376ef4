#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_exports.py TOOL: every command on exports with names of their own, and what a caller is told who may not use an export,
names one that is not there, or writes above them. Over versions 3, 4.1 and 4.2 of NFS."""
import os
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Daemon, Tap, free_port

TOOL = os.path.abspath(sys.argv[1])
tap = Tap()


def run(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=60)


def check(name, good, result):
    tap.result(good, name, [f"exit status {result.returncode}", result.stdout, result.stderr])


class Exports(Daemon):
    """A server with a file of rules."""

    def __init__(self, top, rules):
        self.port = free_port()
        with open(f"{top}/serve.conf", "w") as file:
            file.write(rules)
        self.launch([TOOL, "serve", "--config", f"{top}/serve.conf", "--listen", f"127.0.0.1:{self.port}", "--tcp-port", "0",
                     "--key", f"{top}/key"], open(f"{top}/log", "w"))

    def url(self, path, version):
        return f"nfs://127.0.0.1:{self.port}/{path}?version={version}"


def read(path):
    with open(path) as file:
        return file.read()


def test_commands(top, server, version):
    """Each command with a path in an export, and what it has done in the directory."""
    one, local = f"{top}/one", f"{top}/local"

    def url(path):
        return server.url("one" + path, version)
    rows = [
        (["mkdir", url("/d")], "", lambda: os.path.isdir(f"{one}/d")),
        (["mkdir", "-p", url("/d/e/f")], "", lambda: os.path.isdir(f"{one}/d/e/f")),
        (["cp", f"{local}/file", url("/d/a")], "", lambda: read(f"{one}/d/a") == "text"),
        (["cp", f"{local}/file", url("/")], "", lambda: read(f"{one}/file") == "text"),
        (["cp", f"{local}/file", url("")], "", lambda: read(f"{one}/file") == "text"),
        (["cp", url("/d/a"), f"{top}/back"], "", lambda: read(f"{top}/back") == "text"),
        (["cp", "-r", f"{local}", url("/tree")], "", lambda: read(f"{one}/tree/sub/deep") == "more"),
        (["sync", f"{local}", url("/synced")], "", lambda: read(f"{one}/synced/sub/deep") == "more"),
        (["ls", url("")], "d\nfile\nsynced\ntree\n", None),
        (["ls", url("/d/")], "a\ne\n", None),
        (["stat", url("/d/a")], "a", None),
        (["cat", url("/d/a")], "text", None),
        (["ln", url("/d/a"), url("/d/hard")], "", lambda: os.stat(f"{one}/d/hard").st_nlink == 2),
        (["ln", "-s", "a", url("/d/soft")], "", lambda: os.readlink(f"{one}/d/soft") == "a"),
        (["mv", url("/d/a"), url("/moved")], "", lambda: read(f"{one}/moved") == "text"),
        (["df", url("")], "", None),
        (["rm", url("/moved")], "", lambda: not os.path.exists(f"{one}/moved")),
        (["rm", "-r", url("/d"), url("/tree"), url("/synced"), url("/file")], "", lambda: os.listdir(one) == []),
    ]
    for command, output, done in rows:
        result = run(*command)
        check(f"version {version}: {' '.join(command[:-1])} in an export of its own name".replace(top, "").replace(str(server.port), "PORT"),
              result.returncode == 0 and result.stderr == "" and output in result.stdout and (done is None or done()), result)


def test_refusals(top, server, version):
    """What is said of an export that is closed to this host, of one that is not there, and of a name in an open one."""
    four = version != "3"
    status = "NFS4ERR_" if four else "NFS3ERR_"
    verb = "use" if four else "mount"
    file = f"{top}/local/file"
    for name, command, texts in (
            ("ls of a closed export", ["ls", "closed"], [f"does not let this host {verb} /closed", "it exports /", "/one", "to do: "]),
            ("stat in a closed export", ["stat", "closed/x"], [f"does not let this host {verb} /closed/x", "/one", "to do: "]),
            ("cp into a closed export", ["cp", file, "closed/x"], [f"does not let this host {verb} /closed/x", "/one", "to do: "]),
            ("ls of an export that is not there", ["ls", "nothing"], ["permission denied", f"{verb} /nothing", "/one"]),
            ("ls of a name in an export", ["ls", "one/nothing"], [f"no such file or directory ({status}NOENT)"]),
            ("cp into a read-only export", ["cp", file, "fixed/x"], [f"the export is read-only ({status}ROFS)"])):
        result = run(*command[:-1], server.url(command[-1], version))
        check(f"version {version}: {name} is explained", result.returncode == 1 and all(text in result.stderr for text in texts), result)


def test_all_open(top, server, version):
    """To a host that may use all exports, a name that is none of them is no refusal, and the list of exports takes no files."""
    for name, command, text in (
            ("ls of an export that is not there", ["ls", "nothing"], "127.0.0.1 has no export of the path /nothing; it exports /"),
            ("cp to above the exports", ["cp", f"{top}/local/file", ""],
             "127.0.0.1 has no export of the path /" if version == "3" else "nothing can be changed above the exports"),
            ("mkdir above the exports", ["mkdir", "new"],
             "127.0.0.1 has no export of the path /" if version == "3" else "nothing can be changed above the exports")):
        result = run(*command[:-1], server.url(command[-1], version))
        check(f"version {version}: {name} names the exports", result.returncode == 1 and text in result.stderr
              and "/one" in result.stderr and "/fixed" in result.stderr, result)


def test_no_rule(top):
    """A server that has no rule for this host."""
    with Exports(top, f"{top}/one=/one 192.0.2.7(rw)\n") as server:
        for version in ("3", "4.1", "4.2"):
            result = run("ls", server.url("one", version))
            check(f"version {version}: a host without a rule is told that it has none", result.returncode == 1
                  and "permission denied: 127.0.0.1 does not let this host" in result.stderr and "it exports nothing" in result.stderr
                  and "to do: the server's rules must name this host" in result.stderr, result)
        log = read(f"{top}/log")
        tap.result(log.count("refused: no export has a rule for this address") == 1
                   and log.count("refused: there is no rule for this address at /one") == 1, "the server's log names the host, once", [log])


def test_versions(top):
    """An export whose rule is for version 3 alone is found by a client that prefers version 4."""
    with Exports(top, f"{top}/one=/one *(rw,insecure,vers=3)\n{top}/fixed=/fixed *(ro,insecure)\n") as server:
        result = run("ls", server.url("one", 3).split("?")[0])
        check("an export of version 3 alone is found without ?version", result.returncode == 0, result)


def test_announcement(top):
    """What `serve` prints: a line that a client can type, and the name of this machine where it listens everywhere."""
    port = free_port()
    server = subprocess.Popen([TOOL, "serve", "--listen", f"*:{port}", "--tcp-port", "0", "--key", f"{top}/key2", f"{top}/one=/one"],
                              stdout=subprocess.PIPE, text=True)
    lines = []
    while not lines or lines[-1] not in ("ready\n", ""):
        lines.append(server.stdout.readline())
    server.terminate()
    server.wait(timeout=60)
    here = socket.gethostname()
    tap.result(f"a client types: rpcrdma ls nfs://{here}:{port}/one\n" in lines
               and any(f"mount -t nfs -o vers=4.2,proto=rdma,port={port} {here}:/one /mnt" in line for line in lines)
               and not any("0.0.0.0" in line for line in lines), "serve prints lines for clients, with the name of this machine", lines)


with tempfile.TemporaryDirectory(prefix="rpcrdma-exports-") as top:
    for name in ("one", "fixed", "closed", "local/sub"):
        os.makedirs(f"{top}/{name}")
    for name, text in (("file", "text"), ("sub/deep", "more")):
        with open(f"{top}/local/{name}", "w") as file:
            file.write(text)
    os.chmod(f"{top}/one", 0o777)
    options = "rw,insecure,no_root_squash" if os.geteuid() == 0 else "rw,insecure"
    some = f"{top}/one=/one *({options})\n{top}/fixed=/fixed *(ro,insecure)\n"
    for version in ("3", "4.1", "4.2"):
        with Exports(top, f"{some}{top}/closed=/closed 192.0.2.7(rw)\n") as server:
            test_commands(top, server, version)
            test_refusals(top, server, version)
        with Exports(top, some) as server:
            test_all_open(top, server, version)
    test_no_rule(top)
    test_versions(top)
    test_announcement(top)
tap.end()
