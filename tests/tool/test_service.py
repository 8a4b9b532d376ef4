#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_service.py TOOL SOURCE BUILD: `serve` tells the service manager when it is ready; the units are good ones; shells complete
what --help shows, and paths on servers."""
import os
import shutil
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap

TOOL, SOURCE, BUILD = (os.path.abspath(argument) for argument in sys.argv[1:4])
tap = Tap()


def notified(folder, name, address):
    """Returns what a server sends to NOTIFY_SOCKET."""
    os.makedirs(f"{folder}/served", exist_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address.replace("@", "\0"))
        manager.settimeout(60)
        os.environ["NOTIFY_SOCKET"] = address
        with Server(TOOL, f"{folder}/served"):
            got = manager.recv(100)
        del os.environ["NOTIFY_SOCKET"]
    tap.result(got == b"READY=1", f"a server that is up says so, to {name}", [got])


def unreachable(folder):
    os.environ["NOTIFY_SOCKET"] = f"{folder}/nobody"
    with Server(TOOL, f"{folder}/served", stderr=subprocess.PIPE) as server:
        server.stop()
        text = server.process.stderr.read()
    del os.environ["NOTIFY_SOCKET"]
    tap.result("cannot be reached" in text, "it serves where nobody listens there, and says that", [text])


def units(folder):
    if not shutil.which("systemd-analyze"):
        tap.skip("the units are good ones", "there is no systemd-analyze")
        return
    for kind in ("serve", "gateway"):
        with open(f"{BUILD}/systemd/rpcrdma-{kind}@.service") as unit:
            lines = ["ExecStart=/bin/true\n" if line.startswith("ExecStart=") else line for line in unit]
        with open(f"{folder}/rpcrdma-{kind}@one.service", "w") as unit:
            unit.writelines(line for line in lines if not line.startswith("Documentation="))
        result = subprocess.run(["systemd-analyze", "verify", "--man=no", f"{folder}/rpcrdma-{kind}@one.service"],
                                capture_output=True, text=True)
        mine = [line for line in result.stderr.splitlines() if "rpcrdma" in line]
        tap.result(not mine, f"the unit of {kind} is a good one", mine)


def programs():
    """A small system has the shell, but not the packages of other programs, such as /bin/kill."""
    for kind in ("serve", "gateway"):
        with open(f"{BUILD}/systemd/rpcrdma-{kind}@.service") as unit:
            first = [line.split("=", 1)[1].split()[0] for line in unit if line.startswith("Exec")]
        tap.result(first and not [name for name in first if name != "/bin/sh" and not name.endswith("/rpcrdma")],
                   f"the unit of {kind} starts rpcrdma and the shell alone", first)


def completed(*words):
    script = f'source "{SOURCE}/completion/rpcrdma"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _rpcrdma; ' \
        'printf "%s\\n" "${COMPREPLY[@]}"'
    return subprocess.run(["bash", "-c", script, "bash", *words], capture_output=True, text=True).stdout.split()


def in_zsh(*words):
    """What the script gives to the functions of zsh that show it, which a shell without a terminal does not have."""
    script = 'compadd() { shift; print -rl -- $@ }; _describe() { print -rl -- ${(P)2%%:*} }; _files() { print -rl -- *(N) }; _message() { : }; ' \
        'compset() { PREFIX=${PREFIX#*=} }; words=("$@"); CURRENT=$#; PREFIX=$@[-1]; ' f'source "{SOURCE}/completion/_rpcrdma"'
    found = subprocess.run(["zsh", "-fc", script, "zsh", *words], capture_output=True, text=True).stdout.split()
    return [word for word in found if word.startswith(words[-1].split("=")[-1])]


def in_fish(*words):
    script = f'source "{SOURCE}/completion/rpcrdma.fish"; complete -C "$argv"'
    path = f"{os.path.dirname(TOOL)}:{os.environ['PATH']}"
    found = subprocess.run(["fish", "--no-config", "-c", script, "rpcrdma", *words[1:]], capture_output=True, text=True,
                           env={**os.environ, "PATH": path, "HOME": os.getcwd()}).stdout
    return [line.split("\t")[0].split("=")[-1] for line in found.splitlines()]


def completion(folder):
    os.chdir(folder)
    for name in "file-one", "other":
        open(name, "w").close()
    for shell, complete in ("bash", completed), ("zsh", in_zsh), ("fish", in_fish):
        if not shutil.which(shell):
            tap.skip(f"{shell} completes", f"{shell} is not installed")
            continue
        equals = (["--transport", "=", "tc"],) if shell == "bash" else (["--transport=tc"],)
        for words, wanted in ((["s"], ["serve", "stat", "sync"]), (["help", "sy"], ["sync"]), (["serve", "--tcp"], ["--tcp-port"]),
                              (["ls", "--transport", ""], ["auto", "iwarp", "verbs", "tcp"]), *((["ls", *e], ["tcp"]) for e in equals),
                              (["ls", "--cap"], ["--capture"]), (["ls", "--capture", "fi"], ["file-one"]), (["ls", "fi"], []),
                              (["cp", "fi"], ["file-one"]), (["serve", "--threads", ""], []), (["serve", "--read-only", "fi"], ["file-one"])):
            found = complete(TOOL, *words)
            tap.result(sorted(found) == sorted(wanted), f"{shell} completes {' '.join(words)}", [found])
    os.chdir("/")


def paths(folder):
    """Paths on a server. bash has nfs, the colon and the rest as three words."""
    for name in "alpha", "alps", "b c%d?e", ".hidden", "sub/inner":
        os.makedirs(f"{folder}/paths/{name}")
    with Server(TOOL, f"{folder}/paths") as server:
        rest = server.url.removeprefix("nfs:")
        gone = "//127.0.0.1:1/"
        for shell, complete in ("bash", completed), ("zsh", in_zsh), ("fish", in_fish):
            if not shutil.which(shell):
                tap.skip(f"{shell} completes paths on a server", f"{shell} is not installed")
                continue
            front = ("nfs", ":") if shell == "bash" else ()
            url = (lambda text: text) if shell == "bash" else (lambda text: "nfs:" + text)
            for typed, wanted in (("al", ["alpha", "alps"]), ("alph", ["alpha"]), ("b", ["b%20c%25d%3Fe"]), ("b%20", ["b%20c%25d%3Fe"]), ("sub/", ["sub/inner"]),
                                  (".h", [".hidden"]), ("", ["alpha", "alps", "b%20c%25d%3Fe", "sub"]), ("none/", []), ("al?transport=", [])):
                found = complete(TOOL, "cp", *front, url(rest + typed))
                tap.result(sorted(found) == sorted(url(rest + name) for name in wanted), f"{shell} completes '{typed}' on a server", [found])
            tap.result(complete(TOOL, "ls", *front, url(gone)) == [], f"{shell} completes nothing where there is no server")
        found = completed(TOOL, "ls", server.url + "al")
        tap.result(sorted(found) == [server.url + "alpha", server.url + "alps"], "bash does so where a URL is one word", [found])


def main():
    with tempfile.TemporaryDirectory() as folder:
        notified(folder, "a socket with a path", f"{folder}/manager")
        notified(folder, "an abstract one", f"@rpcrdma-test-{os.getpid()}")
        unreachable(folder)
        units(folder)
        programs()
        completion(folder)
        paths(folder)
    tap.end()


main()
