#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_keytab.py TOOL CLIENT: `rpcrdma serve` with Kerberos, and a client that is not this project's (tirpc_gss.c: libtirpc's): what is
served, what rules demand, which keys are taken, and what is said where a keytab or a ticket is wrong."""
import contextlib
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import realm
from tap import Server, Tap, free_port

TOOL, CLIENT = map(os.path.abspath, sys.argv[1:3])
SERVICES = ("krb5", "krb5i", "krb5p")
PSEUDO = {"sys": 1, "none": 0, "krb5": 390003, "krb5i": 390004, "krb5p": 390005}
DATA = os.urandom(1 << 20)
tap = Tap()


def run(*arguments, text=True, **environment):
    return subprocess.run(arguments, capture_output=True, text=text, timeout=60, env={**os.environ, **environment})


def check(name, good, result):
    return tap.result(good, name, [f"exit status {result.returncode}", str(result.stdout)[:200], str(result.stderr)])


@contextlib.contextmanager
def serving(top, *options):
    with open(f"{top}/log", "w") as file, Server(TOOL, f"{top}/served", *options, tcp_port=free_port(), stderr=file) as server:
        yield server


def log(top):
    with open(f"{top}/log") as file:
        return file.read()


def read(server, service, name="data", cache="tickets"):
    """What the client of libtirpc reads, by this service."""
    return run(CLIENT, str(server.tcp_port), service, name, text=False, KRB5CCNAME=os.environ["TOP"] + "/" + cache)


def test_served(top):
    """Large results are encrypted by threads of their own; another implementation takes them."""
    with serving(top, "--keytab", f"{top}/server.keytab", "--threads", "2") as server:
        for service in SERVICES:
            got = read(server, service)
            check(f"{service}: a file is read by libtirpc", got.returncode == 0 and got.stdout == DATA, got)
        got = read(server, "krb5p", "private")
        check("a file of the user is", got.stdout == b"of daemon", got)
        got = read(server, "krb5p", "private", "alice")
        check("and is not another's, who is no user here", got.returncode == 1, got)
        tap.result("the principal alice@REALM.TEST is no user of this machine" in log(top), "which the log says", [log(top)])
        with open(f"/proc/{server.process.pid}/limits") as file:
            limit = next(line for line in file if line.startswith("Max core file size"))
        tap.result(limit.split()[4:6] == ["1", "1"], "no core file has keys", [limit])


def test_rules(top):
    """What is told, and what is refused, as sec= says."""
    for words in ("krb5p", "krb5i:krb5p", "sys:krb5", "krb5:sys"):
        with serving(top, "--allow", f"*(rw,sec={words})") as server:
            for service in SERVICES:
                got = read(server, service)
                told = [line.split()[1] for line in got.stderr.decode().splitlines() if line.startswith("flavor")]
                tap.result(told == [str(PSEUDO[word]) for word in words.split(":")], f"sec={words}: MOUNT tells them in their order", [told])
                check(f"sec={words}: {service} is {'served' if service in words.split(':') else 'refused'}",
                      (got.stdout == DATA) == (service in words.split(":")), got)
            for version in ("3", "4.2"):
                done = run(TOOL, "ls", f"{server.url}?version={version}", KRB5CCNAME="FILE:/nowhere/tickets")
                check(f"sec={words}: AUTH_SYS by version {version}", (done.returncode == 0) == ("sys" in words.split(":")), done)


def test_unknown(top):
    """A principal that is no user of this machine is anonymous, or refused where the rule says so; others are served as ever."""
    with serving(top, "--keytab", f"{top}/server.keytab", "--allow", "*(rw,sec=krb5:krb5p,refuse_unknown)") as server:
        check("refuse_unknown: a user of this machine is served", (got := read(server, "krb5p")).stdout == DATA, got)
        check("refuse_unknown: a principal that is none is not", (got := read(server, "krb5p", cache="alice")).returncode == 1, got)
        for version in ("3", "4.2"):
            done = run(TOOL, "cat", f"nfs://localhost:{server.port}/data?version={version}&sec=krb5", text=False, KRB5CCNAME=f"{top}/alice")
            check(f"refuse_unknown: nor by version {version}", done.returncode == 1 and not done.stdout, done)
        tap.result("has the option refuse_unknown" in log(top), "and the log says why", [log(top)])


def test_ours(top):
    """The command's own client, by each version, over RDMA and TCP: files of two sizes there and back."""
    with serving(top, "--keytab", f"{top}/server.keytab") as server:
        for transport, port in (("auto", server.port), ("tcp", server.tcp_port)):
            for version in ("3", "4.1", "4.2"):
                for service in SERVICES:
                    options = f"version={version}&sec={service}" + ("&transport=tcp" if transport == "tcp" else "")
                    there, back = f"nfs://localhost:{port}/sub/there?{options}", f"{top}/back"
                    put = run(TOOL, "cp", "-f", f"{top}/served/data", there)
                    got = run(TOOL, "cp", "-f", there, back) if put.returncode == 0 else put
                    same = got.returncode == 0 and open(back, "rb").read() == DATA and os.stat(f"{top}/served/sub/there").st_uid == 1
                    check(f"{service}, version {version} over {transport}: a file there and back", same, got)
                    os.remove(back) if os.path.exists(back) else None


def test_directory(top):
    """Users and groups come from the directory of the server's machine. One that hangs keeps those alone who need it (users.c)."""
    if "RPCRDMA_USERS" not in os.environ:
        tap.skip("a directory of users", "a sanitizer's library must be the first")
        return
    os.mkdir(f"{top}/users")
    os.mkfifo(f"{top}/users/gate")
    for name, text in (("passwd", "root:x:0:0::/:/bin/sh\ndaemon:x:1:1::/:/bin/sh\nhanging:x:4322:4322::/:/bin/sh\n"),
                       ("group", "".join(f"g{gid}:x:{gid}:daemon\n" for gid in range(5001, 5013)))):
        with open(f"{top}/users/{name}", "w") as file:
            file.write(text)
    with open(f"{top}/served/grouped", "w") as file:
        file.write("of a group")
    os.chown(file.name, 0, 5012)
    os.chmod(file.name, 0o640)
    os.environ.update(LD_PRELOAD=os.environ["RPCRDMA_USERS"], USERS=f"{top}/users")
    with serving(top, "--keytab", f"{top}/server.keytab") as server:
        del os.environ["LD_PRELOAD"]

        def begin():
            return [subprocess.Popen([CLIENT, str(server.tcp_port), "krb5i", "data"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                     env={**os.environ, "KRB5CCNAME": f"{top}/hanging"}) for _ in range(4)]
        slow = begin()
        for service in SERVICES:
            got = read(server, service, "grouped")
            check(f"{service}: a user has the groups of the server's machine, though others hang", got.stdout == b"of a group", got)
        tap.result(all(process.poll() is None for process in slow), "those whose look-up hangs wait")
        with open(f"{top}/users/gate", "w"):  # there is somebody who reads: the look-ups end
            got = [process.communicate(timeout=60)[0] for process in slow]
        tap.result(got == [DATA] * 4, "and are served when it ends", [len(one) for one in got])
        slow = begin()
        read(server, "krb5")
        server.process.terminate()
        tap.result(server.process.wait(timeout=60) == 0, "a server ends although the directory hangs")
        for process in slow:
            process.kill()
            process.communicate()


def test_keys(top, one):
    """A key that is new is taken without a restart, and the old one stays good as long as it is there."""
    with serving(top, "--keytab", f"{top}/server.keytab") as server:
        one.rekey("nfs/localhost")
        one.ticket("daemon", "fresh")
        for cache in ("tickets", "fresh"):
            got = read(server, "krb5i", cache=cache)
            check(f"a keytab that has changed is taken: {cache}", got.stdout == DATA, got)
        one.rekey("nfs/localhost", "elsewhere.keytab")
        one.ticket("daemon", "newest")
        got = read(server, "krb5i", cache="newest")
        check("a key that the keytab lacks is none", got.returncode == 1, got)
        tap.result("the keytab does not have the version of the key" in log(top) and "ktadd" in log(top), "and the log says what to do", [log(top)])


def test_said(top):
    for name, options, environment, text in (
            ("is not there", ["--keytab", "/nowhere/keytab"], {}, "/nowhere/keytab cannot be read"),
            ("has no key of nfs/HOST", ["--keytab", f"{top}/daemon.keytab"], {}, "has no key of nfs/HOST"),
            ("of the environment is not there", ["--allow", "*(sec=krb5)"], {"KRB5_KTNAME": "FILE:/nowhere/keytab"}, "/nowhere/keytab cannot be read")):
        for more in ([], ["--check-config"]):
            done = run(TOOL, "serve", "--listen", "127.0.0.1:0", "--tcp-port", "0", "--key", f"{top}/key", *options, *more, f"{top}/served", **environment)
            check(f"a keytab that {name} is said at once", done.returncode == 1 and text in done.stderr and "keytab" in done.stderr, done)


def main():
    if why := realm.why_not():
        tap.skip("a server of Kerberos", why)
        tap.end()
    with tempfile.TemporaryDirectory() as top, realm.Realm(top, users=(*realm.USERS, "hanging")) as one:
        os.makedirs(f"{top}/served")
        os.chmod(top, 0o755)
        for name, data, mode in (("data", DATA, 0o644), ("private", b"of daemon", 0o600)):
            with open(f"{top}/served/{name}", "wb") as file:
                file.write(data)
            os.chmod(file.name, mode)
        os.chown(f"{top}/served/private", 1, 1)
        os.mkdir(f"{top}/served/sub")
        os.chown(f"{top}/served/sub", 1, 1)
        one.ticket("daemon")
        one.ticket("alice", "alice")
        one.ticket("hanging", "hanging")
        os.environ.update(one.environment, TOP=top)
        test_served(top)
        test_rules(top)
        test_unknown(top)
        test_ours(top)
        test_directory(top)
        test_keys(top, one)
        test_said(top)
    tap.end()


main()
