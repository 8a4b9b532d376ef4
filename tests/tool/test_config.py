#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_config.py TOOL: the configuration file of `rpcrdma serve`: what is wrong with it, rules for clients, SIGHUP."""
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from attack.peers import Nfs4, words
from tap import Daemon, Server, Tap, free_port

TOOL = os.path.abspath(sys.argv[1])
tap = Tap()


def run(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=60)


def check(name, good, result):
    tap.result(good, name, [f"exit status {result.returncode}", result.stdout, result.stderr])


class Config:
    def __init__(self, folder, text=""):
        self.path = f"{folder}/serve.conf"
        self.write(text)

    def write(self, text):
        with open(self.path, "w") as file:
            file.write(text)


class ConfiguredServer(Daemon):
    def __init__(self, config, *arguments):
        self.port, self.tcp_port = free_port(), free_port()
        self.url = f"nfs://127.0.0.1:{self.port}"
        self.launch([TOOL, "serve", "--config", config.path, "--listen", f"127.0.0.1:{self.port}", "--tcp-port",
                     str(self.tcp_port), "--key", config.path + ".key", *arguments], subprocess.PIPE)

    def reload(self):
        """Sends SIGHUP. Returns what the server writes, up to the line that accepts or refuses the new rules."""
        self.process.send_signal(signal.SIGHUP)
        text = ""
        for line in self.process.stderr:
            text += line
            if "count from now on" in line or "refused;" in line:
                return text
        return text


def string(text):
    return struct.pack(">I", len(text)) + text.encode() + b"\0" * (-len(text) % 4)


class Mounts:
    """A client of MOUNT over a connection that stays open."""

    def __init__(self, port, address="127.0.0.1"):
        self.stream = socket.create_connection(("127.0.0.1", port), timeout=60, source_address=(address, 0))
        self.xid = 0

    def call(self, procedure, arguments):
        self.xid += 1
        credential = struct.pack(">6I", 1, 20, 0, 0, 7, 7) + struct.pack(">I", 0)
        call = struct.pack(">6I", self.xid, 0, 2, 100005, 3, procedure) + credential + struct.pack(">2I", 0, 0) + \
            arguments
        self.stream.sendall(struct.pack(">I", 0x80000000 | len(call)) + call)
        return self.take(struct.unpack(">I", self.take(4))[0] & 0x7fffffff)[24:]

    def status(self, path):
        return struct.unpack(">I", self.call(1, string(path))[:4])[0]

    def dump(self):
        """Returns (host, path) of each mount, by the procedure DUMP."""
        data, found = self.call(2, b""), []
        while struct.unpack(">I", data[:4])[0]:
            data = data[4:]
            for _ in range(2):
                length = struct.unpack(">I", data[:4])[0]
                found.append(data[4:4 + length].decode())
                data = data[4 + (length + 3) // 4 * 4:]
        return sorted(zip(found[::2], found[1::2]))

    def take(self, size):
        data = b""
        while len(data) < size:
            more = self.stream.recv(size - len(data))
            if not more:
                raise RuntimeError("the connection was closed")
            data += more
        return data

    def becomes(self, path, status):
        """Waits until mounting the path has that status. The threads of a server take new rules one after the other."""
        deadline = time.monotonic() + 60
        while self.status(path) != status and time.monotonic() < deadline:
            pass
        return self.status(path) == status


def errors(folder):
    config = Config(folder, "thread 2\nthreads two\nread-only now\n\n/no/such/dir *(rw)\n"
                    f"{folder} 192.0.2.0/33(rw)\n{folder}=/b *(rw,asink)\n{folder}=/c 192.0.2.7 (rw\n\"x\nread-only\nread-only\n"
                    "config other.conf\n")
    result = run("serve", "--config", config.path, "--check-config")
    lines = result.stderr.splitlines()

    def said(line, *parts):
        return any(f"{config.path}:{line}: " in text and all(part in text for part in parts) for text in lines)
    check("each line with an error is named", result.returncode == 2 and len(lines) == 10, result)
    check("an unknown word comes with those that are known", said(1, "'thread'", "threads, ", "listen, ", "tcp-port"), result)
    check("arguments are looked at", said(2, "--threads takes a number from 1 to 64, not 'two'")
          and said(3, "a word too many"), result)
    check("directories are looked for", said(5, "/no/such/dir", "exists"), result)
    check("clients and their options are looked at", said(6, "192.0.2.0/33") and said(7, "'asink'", "no_root_squash"), result)
    check("a blank between a client and its options is an error", said(8, "no space before"), result)
    check("quotation marks come in pairs", said(9, "quotation mark"), result)
    check("what is said twice is an error", said(11, "line 10"), result)
    check("a file names no other file", said(12, "'config'"), result)
    check("no server starts with such a file", run("serve", "--config", config.path).returncode == 2, result)
    config.write(f"{folder}\n")
    result = run("serve", "--config", config.path, "--check-config")
    check("a directory without clients is an error", result.returncode == 2 and ":1: no clients" in result.stderr, result)
    result = run("serve", "--config", f"{folder}/none", "--check-config")
    check("so is a file that is not there", result.returncode == 1 and "No such file" in result.stderr, result)
    config.write(f"# a comment\nthreads 2\n\"{folder}\" -ro,sync 192.0.2.1 \\\n  *(rw)\n{folder}=/b localhost\n")
    result = run("serve", "--config", config.path, "--check-config")
    check("a good file is said to be one", result.returncode == 0 and "no errors; 2 directories" in result.stdout, result)
    config.write(f"{folder} *.example.com(rw,async,hide) @trusted(mp) 192.168.*.*\n")
    result = run("serve", "--config", config.path, "--check-config")
    check("words that do not do what they say are noted", result.returncode == 0 and "async: " in result.stdout
          and "hide: file systems mounted below" in result.stdout and "mp: " not in result.stdout, result)
    check("a directory with mp at which nothing is mounted is warned of", "no file system is mounted there" in result.stderr, result)


def lines(folder):
    """One directory on several lines, names that have no address, all errors of a line, options without effect."""
    for name in ("twice", "other"):
        os.makedirs(f"{folder}/{name}", exist_ok=True)
    config = Config(folder, f"{folder}/twice=/twice 192.0.2.7(rw)\n{folder}/twice=/twice 127.0.0.1(ro,insecure)\n"
                    f"{folder}/other=/other no-such-host.invalid(rw) 127.0.0.1(insecure)\n{folder}=/none no-such-host.invalid\n")
    result = run("serve", "--config", config.path, "--check-config")
    check("a directory on two lines is one directory, and a name without an address a warning", result.returncode == 0
          and "3 directories" in result.stdout and result.stderr.count("no access until") == 2
          and f"{config.path}:3: the host no-such-host.invalid" in result.stderr, result)
    with ConfiguredServer(config) as server:
        mounts = Mounts(server.tcp_port)
        tap.result([mounts.status(path) for path in ("/twice", "/other", "/none")] == [0, 0, 13],
                   "the clients of all lines count; a directory without one that is known is nobody's")
        text = server.reload()
        tap.result("count from now on" in text and mounts.status("/twice") == 0, "so they do after SIGHUP", [text])
    for line, said in ((f"{folder}/other=/twice *(ro)", "two directories are served as /twice"),
                       (f"{folder}/none *(asink) gss/krb5i a(bsink)", "'asink'|'gss/krb5i' stands for|'bsink'|No such file"),
                       ("no-root-squash", "--no-root-squash is for directories without clients of their own")):
        config.write(f"{folder}/twice=/twice *(ro)\n{line}\n")
        result = run("serve", "--config", config.path, "--check-config")
        check(f"'{line.replace(folder, '')}' is an error", result.returncode != 0 and all(part in result.stderr for part in said.split("|")),
              result)
    result = run("serve", "--config", config.path, "--check-config", f"{folder}/other=/mine")
    check("no-root-squash is for the directories of the command line", result.returncode == 0, result)
    config.write(f"{folder}/twice=/twice *(asink)\n")
    result = run("serve", "--config", config.path, "--check-config")
    known = result.stderr.split("these are: ")[-1].split(", ")
    check("a list without room for all ends behind a whole word", result.stderr.count("\n") == 1 and known[-1] == "...\n"
          and set(known[:-1]) <= {"rw", "ro", "root_squash", "no_root_squash", "all_squash", "anonuid=", "anongid=", "sec=", "vers=", "xprtsec=", "tlsuser=", "secure", "refuse_unknown",
                                  "insecure", "acl", "no_acl", "fsid=", "no_all_squash", "mp", "mountpoint", "sync", "async", "subtree_check", "no_subtree_check", "crossmnt", "nohide",
                                  "wdelay", "no_wdelay"}, result)


def ceph(folder):
    """A line with an error is as if it were not there, also for the file system of a cluster that it names."""
    config = Config(folder, "ceph:/a=/n *(ro)\nceph:/b?fs=one=/n *(ro)\nceph:/cd?fs=two=/m *(ro)\nceph:/e?fs=two=/o *(ro)\n")
    result = run("serve", "--config", config.path, "--check-config")
    check("the file system of a line with an error does not count", result.returncode == 2
          and result.stderr.count("\n") == 1 and ":2: two directories" in result.stderr, result)
    config.write("ceph:/a?fs=one=/n *(ro)\nceph:/b?fs=two=/m *(ro)\n")
    result = run("serve", "--config", config.path, "--check-config")
    check("that of a good line does", result.returncode == 2 and ":2: one server serves one file system" in result.stderr, result)
    for first, second in ((folder, "ceph:/a=/a"), ("ceph:/a=/a", folder)):
        config.write(f"{first} *(ro)\n{second} *(ro)\n")
        result = run("serve", "--config", config.path, "--check-config")
        check("local directories and those of CephFS are not mixed", result.returncode == 2 and ":2: directories of " in result.stderr and "want a server each"
              in result.stderr, result)


def rules(folder):
    os.makedirs(f"{folder}/mine")
    os.makedirs(f"{folder}/theirs")
    os.makedirs(f"{folder}/read")
    for name in ("mine", "theirs", "read"):
        os.chmod(f"{folder}/{name}", 0o777)
        open(f"{folder}/{name}/file", "w").close()
    config = Config(folder, f"{folder}/mine=/mine 127.0.0.0/8(rw)\n{folder}/theirs=/theirs 192.0.2.1(rw)\n"
                    f"{folder}/read=/read *(ro,insecure)\nthreads 2\nlisten 192.0.2.99\n")
    with ConfiguredServer(config) as server:
        result = run("ls", f"{server.url}/mine")
        check("a client uses what a rule lets it use", result.returncode == 0 and result.stdout == "file\n", result)
        result = run("mkdir", f"{server.url}/mine/new")
        check("and changes it where the rule says rw", os.path.isdir(f"{folder}/mine/new"), result)
        result = run("ls", f"{server.url}/theirs")
        check("what is for others is not given", result.returncode == 1 and "theirs" in result.stderr
              and result.stdout == "", result)
        result = run("mkdir", f"{server.url}/read/new")
        check("what is for reading is not changed", result.returncode == 1 and "read" in result.stderr.lower()
              and not os.path.exists(f"{folder}/read/new"), result)
        mounts = Mounts(server.tcp_port)
        tap.result(mounts.status("/mine") == 13, "over TCP, a rule wants a port below 1024")
        tap.result(mounts.status("/read") == 0, "unless it says insecure")
        tap.result(server.stop() == 0, "such a server ends as any other")


def reload(folder):
    config = Config(folder, f"{folder}/mine=/mine *(rw,insecure)\n{folder}/read=/read *(insecure)\n")
    with ConfiguredServer(config, "--threads", "2") as server:
        mounts = Mounts(server.tcp_port)
        tap.result(mounts.status("/mine") == 0 and mounts.status("/read") == 0, "both are there before SIGHUP")
        config.write(f"{folder}/mine=/mine 192.0.2.1(rw)\n{folder}/read=/read *(insecure)\n")
        text = server.reload()
        tap.result(mounts.becomes("/mine", 13) and mounts.status("/read") == 0,
                   "new rules count, for connections that were there before", [text])
        config.write(f"{folder}/mine=/mine *(rw,insecure)\n{folder}/read=/read *(insekure)\n")
        text = server.reload()
        tap.result("count from now on" in text and f"{config.path}:2: 'insekure'" in text, "a line with an error is named", [text])
        tap.result(mounts.becomes("/mine", 0), "the other lines count")
        tap.result(mounts.status("/read") == 0, "and its directory keeps its rules")
        config.write(f"{folder}/mine=/mine 192.0.2.1(rw)\nlease 5\n{folder}/read=/read *(insecure)\n")
        text = server.reload()
        tap.result("refused" in text and mounts.status("/mine") == 0, "a file with an error in an option is refused as a whole", [text])
        config.write(f"{folder}/mine=/mine *(insecure)\n{folder}/theirs=/theirs *(insecure)\n")
        text = server.reload()
        tap.result("count from now on" in text and ":2: " in text and "restart" in text, "a new directory is named", [text])
        tap.result(mounts.becomes("/read", 13) and mounts.status("/mine") == 0, "and the other lines count")
        config.write(f"{folder}/mine=/mine *(insecure)\n")
        text = server.reload()
        tap.result(mounts.becomes("/mine", 0) and mounts.becomes("/read", 13),
                   "what is no longer in the file is for nobody", [text])
        with open(f"{config.path}.new", "w") as file, open(config.path) as before:
            file.write(before.read() + f"{folder}/read=/read *(insecure)\n")
        os.replace(file.name, config.path)
        text = server.reload()
        tap.result(mounts.becomes("/read", 0), "another file that took its place is read, in a sandbox, too", [text])
        os.unlink(config.path)
        text = server.reload()
        tap.result("refused" in text and mounts.status("/mine") == 0, "without a file, all stays as it is", [text])
        tap.result(server.stop() == 0, "SIGTERM ends the server")


def allow(folder):
    config = Config(folder, "allow 192.0.2.0/24\n")
    with ConfiguredServer(config, f"{folder}/mine") as server:
        result = run("ls", f"{server.url}/")
        check("--allow keeps others out", result.returncode == 1, result)
    with ConfiguredServer(config, "--allow", "127.0.0.1(ro)", f"{folder}/mine") as server:
        result = run("ls", f"{server.url}/")
        check("what the command line says counts instead", result.returncode == 0, result)
        result = run("mkdir", f"{server.url}/more")
        check("with its options", result.returncode == 1 and not os.path.exists(f"{folder}/mine/more"), result)
    result = run("serve", "--allow", "@", folder)
    check("clients on the command line are looked at", result.returncode == 2 and "netgroup" in result.stderr, result)
    result = run("serve")
    check("a server wants a directory, as an operand or in a file", result.returncode == 2 and "DIRECTORY[=/NAME]..., or --config FILE" in result.stderr, result)


def listed(folder):
    config = Config(folder, f"{folder}/mine=/mine 127.0.0.0/8(rw,insecure)\n{folder}/read=/read 127.0.0.1(insecure)\n")
    with ConfiguredServer(config, "--threads", "2") as server:
        first, second = Mounts(server.tcp_port), Mounts(server.tcp_port)
        other = Mounts(server.tcp_port, "127.0.0.2")
        for mounts, path in ((first, "/mine"), (first, "/read"), (first, "/read"), (other, "/mine"), (other, "/read"), (first, "/no")):
            mounts.status(path)
        all_of_them = [("127.0.0.1", "/mine"), ("127.0.0.1", "/read"), ("127.0.0.2", "/mine")]
        tap.result(second.dump() == all_of_them, "DUMP lists each mount once, and no refused one", second.dump())
        tap.result(other.dump() == all_of_them[2:], "a client for which not all directories are sees its own", other.dump())
        second.call(3, string("/mine"))
        tap.result(second.dump() == all_of_them[1:], "UMNT takes one away", second.dump())
        second.call(4, b"")
        tap.result(second.dump() == all_of_them[2:], "UMNTALL takes all of one client away", second.dump())


def addresses(folder):
    port, tcp_port = free_port(), free_port()
    config = Config(folder, f"listen *:{port}\nlisten [*]:{port}\ntcp-port {tcp_port}\nkey {folder}/key\n{folder}/mine=/ *(insecure)\n")
    process = subprocess.Popen([TOOL, "serve", "--config", config.path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    text = ""
    for line in process.stdout:
        text += line
        if line == "ready\n":
            break
    for host in ("127.0.0.1", "[::1]"):
        result = run("ls", f"nfs://{host}:{tcp_port}/?transport=tcp&mountport={tcp_port}")
        check(f"all addresses of both families are served at once: {host}", result.returncode == 0, result)
    process.terminate()
    tap.result(process.wait(60) == 0 and "nolock" in text, "clients of version 3 are to mount without locks, and that is said", [text])


def lease(folder):
    """FATTR4_LEASE_TIME is what the file says, or the command line instead of the file; there are bounds."""
    config = Config(folder, f"lease 17\n{folder}/mine=/ *(insecure)\n")
    for arguments, seconds in (([], 17), (["--lease", "3600"], 3600)):
        with ConfiguredServer(config, *arguments) as server:
            client = Nfs4(("127.0.0.1", server.tcp_port))
            client.mount()
            result = client.run(words(24), words(9, 1, 1 << 10))
            client.close()
        tap.result(result[-4:] == words(seconds), f"clients are told the lease of {seconds} s", [result])
    for seconds in ("9", "3601"):
        result = run("serve", "--lease", seconds, folder)
        check(f"a lease of {seconds} s is refused", result.returncode == 2 and "--lease takes a number from 10 to 3600" in result.stderr, result)


def gateway(folder):
    config = Config(folder, "listen tcp://127.0.0.1:0\n/srv *(rw)\nto nfs://127.0.0.1/here\n")
    result = run("gateway", "--config", config.path, "--check-config")
    check("the file of a gateway has no directories", result.returncode == 2 and f"{config.path}:2: '/srv' is no option"
          in result.stderr and f"{config.path}:3: --to: " in result.stderr, result)
    with Server(TOOL, f"{folder}/mine") as server:
        port = free_port()
        config.write(f"listen tcp://127.0.0.1:{port}\n")
        result = run("gateway", "--config", config.path, "--check-config")
        check("what it must have can be in the file or in the command line", result.returncode == 2 and "--to is missing"
              in result.stderr, result)
        config.write(f"listen tcp://127.0.0.1:{port}\nto nfs://127.0.0.1:{server.port}/\n")
        result = run("gateway", "--config", config.path, "--check-config")
        check("a good file of a gateway is said to be one", result.returncode == 0 and "no errors" in result.stdout, result)
        daemon = Daemon()
        daemon.launch([TOOL, "gateway", "--config", config.path])
        with daemon:
            result = run("ls", f"nfs://127.0.0.1:{port}/?transport=tcp&mountport={port}")
            check("a gateway does what its file says", result.returncode == 0 and "file" in result.stdout.split(), result)
            daemon.process.send_signal(signal.SIGHUP)
            tap.result(daemon.process.wait(60) == 0, "SIGHUP ends a gateway")


def main():
    with tempfile.TemporaryDirectory(prefix="rpcrdma-config-") as folder:
        os.chmod(folder, 0o755)
        errors(folder)
        lines(folder)
        ceph(folder)
        rules(folder)
        reload(folder)
        allow(folder)
        listed(folder)
        addresses(folder)
        lease(folder)
        gateway(folder)
    tap.end()


main()
