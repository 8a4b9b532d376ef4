#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_show.py TOOL: `rpcrdma ls`, `stat` and `cat` against `rpcrdma serve`."""
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Daemon, Server, Tap, free_port

TOOL = os.path.abspath(sys.argv[1])
VERSION_4 = os.environ.get("RPCRDMA_VERSION") != "3"
LARGE = (37 << 20) + 12345
tap = Tap()


def subprocess_of(*command):
    return subprocess.run(command, capture_output=True, timeout=60)


def run(*arguments):
    return subprocess_of(TOOL, *arguments)


def check(name, good, result):
    tap.result(good, name, [f"exit status {result.returncode}", result.stdout[:2000], result.stderr])


def fill(top):
    os.mkdir(f"{top}/d")
    os.mkdir(f"{top}/void")
    for name in ("b", "a", "Z", ".hidden", "with space"):
        with open(f"{top}/d/{name}", "w") as file:
            file.write(name)
    os.symlink("a", f"{top}/d/link")
    os.symlink("d/a", f"{top}/to-a")
    os.symlink("nothing", f"{top}/dangling")
    os.chmod(f"{top}/d/a", 0o4755)
    os.utime(f"{top}/d/a", ns=(0, 1_234_567_890_123_456_789))
    open(f"{top}/empty", "w").close()
    with open(f"{top}/large", "wb") as file:
        file.write(os.urandom(LARGE))


def ls(url):
    result = run("ls", url + "d")
    check("ls lists by name", result.stdout.decode().split("\n") == ["Z", "a", "b", "link", "with space", ""]
          and result.returncode == 0, result)
    result = run("ls", "-a", url + "d")
    check("with -a, names that begin with a dot too", result.stdout.decode().split("\n")
          == [".hidden", "Z", "a", "b", "link", "with space", ""] and result.returncode == 0, result)
    result = run("ls", "-l", url + "d")
    line = next((line for line in result.stdout.decode().splitlines() if line.endswith(" a")), "")
    check("ls -l shows modes and sizes", line.startswith("-rwsr-xr-x") and " 1 2009-02-1" in line, result)
    check("and where links lead", b"link -> a\n" in result.stdout, result)
    result = run("ls", "--json", url + "d")
    entries = {entry["name"]: entry for entry in json.loads(result.stdout)}
    check("ls --json is JSON", len(entries) == 5 and entries["a"]["mode"] == "4755" and entries["b"]["size"] == 1
          and entries["link"]["target"] == "a", result)
    check("ls of a file is that file", run("ls", url + "d/b").stdout == b"b\n", run("ls", url + "d/b"))
    result = run("ls", "--json", url + "void")
    check("ls --json of an empty directory is an empty array", json.loads(result.stdout) == [], result)
    result = run("ls", url + "none")
    check("ls of nothing fails", result.returncode == 1 and not result.stdout and b"no such file" in result.stderr, result)


def ls_errors(top):
    """An entry that the server does not describe is an error, and the others are listed."""
    os.mkdir(f"{top}/shut")
    for name in ("first", "second"):
        os.mkdir(f"{top}/shut/{name}")
    os.chmod(f"{top}/shut", 0o444)  # names can be read, and nothing else
    server, port = Daemon(), free_port()
    server.launch([TOOL, "serve", "--listen", f"127.0.0.1:{port}", "--tcp-port", "0", "--key", top + ".key", top])  # root may not, either
    result = run("ls", f"nfs://127.0.0.1:{port}/shut")
    check("names need no attributes", result.stdout == b"first\nsecond\n" and result.returncode == 0, result)
    result = run("ls", "-l", f"nfs://127.0.0.1:{port}/shut")
    server.stop()
    check("ls -l reports each entry that it cannot describe", result.returncode == 1
          and b"shut/first: " in result.stderr and b"shut/second: " in result.stderr, result)


def ls_many(url, top):
    os.makedirs(f"{top}/r/one/deep")
    os.makedirs(f"{top}/r/.dot/below")
    for name in ("file", "one/f1", "one/.h", "one/deep/f2", ".dot/f3"):
        with open(f"{top}/r/{name}", "w") as file:
            file.write(name * 1000)
    os.symlink("..", f"{top}/r/one/up")
    root = url + "r"
    result = run("ls", "-R", root)
    check("ls -R lists what is below, and follows no links", result.returncode == 0 and result.stdout.decode()
          == f"{root}:\nfile\none\n\n{root}/one:\ndeep\nf1\nup\n\n{root}/one/deep:\nf2\n", result)
    result = run("ls", "-aR", root + "/")
    check("with -a, hidden directories too", result.returncode == 0 and result.stdout.decode()
          == f"{root}/:\n.dot\nfile\none\n\n{root}/.dot:\nbelow\nf3\n\n{root}/.dot/below:\n\n{root}/one:\n.h\ndeep\nf1\nup\n\n"
             f"{root}/one/deep:\nf2\n", result)
    result = run("ls", "-R", "--json", root)
    entries = json.loads(result.stdout)
    check("as JSON, each name has its directory", [(entry["directory"], entry["name"]) for entry in entries]
          == [(root, "file"), (root, "one"), (root + "/one", "deep"), (root + "/one", "f1"), (root + "/one", "up"),
              (root + "/one/deep", "f2")], result)
    result = run("ls", root + "/one/.h", root + "/none", root + "/one/deep")
    check("several URLs are listed; one that is missing is an error", result.returncode == 1 and b"no such file" in result.stderr
          and result.stdout.decode() == f".h\n\n{root}/one/deep:\nf2\n", result)
    result = run("ls", "--json", root + "/one/.h", root + "/one/deep")
    check("as JSON, too", [(entry["directory"], entry["name"]) for entry in json.loads(result.stdout)]
          == [(root + "/one/", ".h"), (root + "/one/deep", "f2")], result)
    result = run("ls", "-lh", root)
    check("ls -h shows sizes for people", any(line.split()[4:6] == ["4.0", "kB"] for line in result.stdout.decode().splitlines()), result)
    result = run("ls", "-lR", root)
    check("ls -lR shows attributes below", b"up -> ..\n" in result.stdout and b" 7000 " not in result.stdout
          and b" 6000 " in result.stdout, result)


def show(url, top):
    result = run("stat", "--json", url + "d/a")
    found, st = json.loads(result.stdout), os.stat(f"{top}/d/a")
    check("stat --json has all attributes", found["size"] == 1 and found["type"] == "regular file"
          and found["uid"] == st.st_uid and found["fileid"] == st.st_ino and found["nlink"] == 1
          and found["mtime"] == 1234567890 and found["mtime_nsec"] == 123456789
          and b", " not in result.stdout and len(found["handle"]) > 8, result)
    result = run("stat", url + "to-a")
    check("stat does not follow a link", b"symbolic link" in result.stdout and b"to-a -> d/a" in result.stdout, result)
    result = run("stat", url + "d/a/x")
    check("stat behind a file fails", result.returncode == 1 and b"not a directory" in result.stderr, result)


def cat(url, top):
    with open(f"{top}/large", "rb") as file:
        large = file.read()
    result = run("cat", url + "large")
    check("cat writes a file in order", result.stdout == large and result.returncode == 0, result)
    result = run("cat", url + "d/a", url + "empty", url + "to-a", url + "d/b")
    check("and several, through links", result.stdout == b"aab", result)
    result = run("cat", url + "d")
    check("but no directory", result.returncode == 1 and b"directory" in result.stderr, result)
    result = run("cat", url + "dangling")
    check("and no link to nothing", result.returncode == 1 and b"no such file" in result.stderr, result)
    result = subprocess.run(["sh", "-c", f"{{ '{TOOL}' cat '{url}large'; echo $? >&2; }} | head -c 100"],
                            capture_output=True, timeout=60)
    check("a reader that goes away ends it quietly", result.stdout == large[:100] and result.stderr == b"1\n", result)
    with open("/dev/full", "w") as full:
        result = subprocess.run([TOOL, "cat", url + "d/a"], stdout=full, stderr=subprocess.PIPE)
    tap.result(result.returncode == 1 and b"No space left" in result.stderr, "a full disk is told", [result.stderr])


def exports(top):
    """An export is found by its name, over RDMA and over TCP."""
    port = free_port()
    with Server(TOOL, f"{top}/d=/some/export", tcp_port=port) as server:
        result = run("cat", server.url + "some/export/a")
        check("an export has the name that it was given", result.stdout == b"a", result)
        result = run("ls", server.url + "other")
        check("what is not exported is refused, with what is", result.returncode == 1
              and (b"no such file" if VERSION_4 else b"/some/export") in result.stderr, result)
        result = run("cat", f"nfs://127.0.0.1:{port}/some/export/b?transport=tcp")
        check("the same over TCP", result.stdout == b"b", result)


def on_terminal(*arguments):
    """Returns what a command writes to a terminal."""
    master, slave = pty.openpty()
    process = subprocess.Popen([TOOL, *arguments], stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    seen = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:
            break
        if not part:
            break
        seen += part
    process.wait(timeout=60)
    os.close(master)
    return seen


def has_control(seen):
    """Whether the text has control characters, apart from the line ends of the terminal and the sequence that erases a
    progress line."""
    text = seen.replace(b"\r\n", b"\n").replace(b"\r\x1b[K", b"").decode(errors="surrogateescape")
    return any(ord(c) < 0x20 and c != "\n" or 0x7f <= ord(c) < 0xa0 or 0xdc80 <= ord(c) < 0xdca0 for c in text)


def terminals(url, top):
    """Names, links and texts of a server that have control characters do not control the terminal."""
    bad = b"\x1b]0;title\x07\x1b[31m\r\x9b2J\xc2\x9b3J\x7f\x01-\xc3\xa4\xc2\x85\n"
    directory = os.fsencode(top) + b"/bad"
    os.mkdir(directory)
    open(os.path.join(directory, bad), "w").close()
    os.mkfifo(os.path.join(directory, bad + b"pipe"))
    os.mkdir(os.path.join(directory, bad + b"dir"))
    os.symlink(bad, os.path.join(directory, b"link"))
    quoted = url + "bad/" + "".join(f"%{octet:02x}" for octet in bad)
    raw = (url + "bad/").encode() + bad
    with tempfile.TemporaryDirectory() as out:
        for name, arguments in (("ls", ["ls", url + "bad"]), ("ls -l", ["ls", "-l", url + "bad"]),
                                ("ls --json", ["ls", "--json", url + "bad"]), ("ls of a link", ["ls", "-l", url + "bad/link"]),
                                ("stat", ["stat", url + "bad/link"]), ("stat of raw octets", ["stat", raw]),
                                ("cat of a directory", ["cat", quoted + "dir"]), ("cat of nothing", ["cat", raw + b"none"]),
                                ("cp -r", ["cp", "-r", url + "bad", out])):
            seen = on_terminal(*arguments)
            tap.result(len(seen) > 0 and not has_control(seen), f"{name} gives a terminal no commands", [seen])
    result = run("ls", url + "bad")
    check("what is no terminal gets names as they are", bad in result.stdout, result)
    result = run("ls", "--json", url + "bad")
    check("JSON says what characters they are", not has_control(result.stdout) and "\x9b3J" in json.loads(result.stdout)[0]["name"], result)
    check("and letters stay letters", "ä".encode() in result.stdout, result)


def progress(url, top):
    """A large file has a progress line from the start, with its size."""
    os.mkdir(f"{top}/tall")
    for name in ("a", "b"):
        with open(f"{top}/tall/{name}", "wb") as file:
            file.truncate(100_000_000)
    with tempfile.TemporaryDirectory() as out:
        seen = on_terminal("cp", url + "tall/a", out)
        tap.result(b"] 0 B of 100.0 MB" in seen and b"/s    -:-- left  " in seen, "a large file has its progress line at once", [seen])
        seen = on_terminal("cp", "-r", url + "tall", out)
        tap.result(b"] 0 B of 200.0 MB" in seen, "that of a tree tells of all of it", [seen])


def highest(top):
    """A URL without a version uses the highest version that the server has."""
    for versions, spoken, other in (("3,4", "NFSPROC4_COMPOUND", "NFSPROC3_READDIRPLUS"),
                                    ("3", "NFSPROC3_READDIRPLUS", "NFSPROC4_COMPOUND")):
        with open(f"{top}.log", "w+") as log, Server(TOOL, top, "--nfs", versions, stderr=log) as server:
            result = run("ls", server.url)
            server.process.send_signal(signal.SIGUSR1)
            server.stop()
            log.seek(0)
            text = log.read()
            tap.result(result.returncode == 0 and spoken in text and other not in text,
                       f"of versions {versions}, the highest is spoken", [result, text])


def named(top):
    """--nfs names versions one by one. The client here speaks 3, 4.1 and 4.2."""
    for versions, version, works in (("4.1", "4.1", True), ("4.1", "4.2", False), ("4.0,4.2", "4.2", True), ("4.0,4.2", "4.1", False),
                                     ("4.0", "4.2", False), ("4.2,3", "3", True), ("4", "4.1", True), ("4.2", "3", False)):
        with Server(TOOL, top, "--nfs", versions) as server:
            result = run("ls", f"{server.url}?version={version}")
            tap.result((result.returncode == 0) == works, f"a server of versions {versions} is{'' if works else ' not'} one of version {version}",
                       [result])
    for wrong in ("5", "4.3", "3,", "", "3;4"):
        result = run("serve", "--nfs", wrong, top)
        tap.result(result.returncode == 2 and b"--nfs takes" in result.stderr, f"--nfs '{wrong}' is a usage error", [result])


def libnfs(top):
    """libnfs, which speaks version 4.0 for "4", asks for the files of a server that has this version alone."""
    if not shutil.which("nfs-cat"):
        print("# no libnfs")
        return
    with Server(TOOL, top, "--nfs", "4.0", tcp_port=free_port()) as server:
        options = f"?version=4&nfsport={server.tcp_port}"
        listed = subprocess_of("nfs-ls", f"nfs://127.0.0.1/{options}")
        tap.result(listed.returncode == 0 and b"large" in listed.stdout, "libnfs lists a server of version 4.0", [listed])
        read = subprocess_of("nfs-cat", f"nfs://127.0.0.1//large{options}")
        with open(f"{top}/large", "rb") as file:
            tap.result(read.stdout == file.read(), "and reads a file", [read.stderr])
        with open(f"{top}.small", "w") as file:
            file.write("small")
        written = subprocess_of("nfs-cp", f"{top}.small", f"nfs://127.0.0.1//written{options}")
        with open(f"{top}/written") as file:
            tap.result(file.read() == "small", "and writes one", [written])
        os.unlink(f"{top}/written")


def main():
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="rpcrdma-show-", dir=memory) as work:
        os.chmod(work, 0o755)
        top = f"{work}/served"
        os.mkdir(top)
        fill(top)
        with Server(TOOL, top) as server:
            ls(server.url)
            ls_many(server.url, top)
            show(server.url, top)
            cat(server.url, top)
            terminals(server.url, top)
            progress(server.url, top)
        ls_errors(top)
        exports(top)
        if "RPCRDMA_VERSION" not in os.environ:
            highest(top)
            named(top)
            libnfs(top)
    tap.end()


main()
