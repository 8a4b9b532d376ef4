#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_sec_hostile.py TOOL: a server whose RPCSEC_GSS is wrong, at the command's client. The server is one of the project's own, behind
somebody on the way who changes its answers: whose are not signed, lie about lengths, belong to other calls, come for ever or never. Each ends
with an error that says so, within bounded memory."""
import os
import resource
import struct
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import realm
from between import CONTINUE_INIT, CONTINUE_NEEDED, INIT, Between
from tap import Server, Tap, free_port

TOOL = os.path.abspath(sys.argv[1])
MEMORY = 200 << 20  # octets; the client of an honest server needs less than a quarter
FLAVORS = ("krb5", "krb5i", "krb5p")
tap = Tap()


def of_data(change):
    """Changes the answers to calls with data; those that make the context stay as they are."""
    return lambda call, answer: change(call, answer) if call.gss == 0 else False


def of_init(change):
    def changed(call, answer):
        if call.gss not in (INIT, CONTINUE_INIT):
            return False
        answer.made(change)
        return True
    return changed


def flipped(octets, at):
    return octets[:at] + bytes([octets[at] ^ 1]) + octets[at + 1:]


def bad_mic(call, answer):
    answer.verifier = flipped(answer.verifier, len(answer.verifier) - 1)
    return True


def no_mic(call, answer):
    answer.verifier = b""
    return True


def other_flavor(call, answer):
    answer.flavor, answer.verifier = 0, b""
    return True


def sys_flavor(call, answer):
    answer.flavor = 1
    return True


def of_before(part):
    """A part of the answer before, which is a good one of another number."""
    last = []

    def change(call, answer):
        last.append(getattr(answer, part))
        if len(last) < 2:
            return False
        setattr(answer, part, last[-2])
        return True
    return change


def former():
    return of_before("verifier")


def former_body():
    """The results, which are well protected, with another number inside."""
    return of_before("rest")


def length(number):
    """Lies about the length of the protected results."""
    def change(call, answer):
        answer.rest = answer.rest[:4] + struct.pack(">I", number) + answer.rest[8:]
        return True
    return change


def cut(call, answer):
    answer.rest = answer.rest[:-4]
    return True


def turned(call, answer):
    answer.rest = flipped(answer.rest, len(answer.rest) - 5)
    return True


def more(call, answer):
    answer.rest += bytes(64)
    return True


def made_with(handle=None, major=None, window=None, token=None):
    def change(old, numbers, was):
        return (old if handle is None else handle,
                (numbers[0] if major is None else major, numbers[1], numbers[2] if window is None else window),
                was if token is None else token)
    return of_init(change)


def silent(call, answer):
    return None


MAKING = [
    ("the context's verifier is wrong", lambda c, a: bad_mic(c, a) if c.gss == INIT else False),
    ("the context's verifier has another flavor", lambda c, a: other_flavor(c, a) if c.gss == INIT else False),
    ("the window is not the one that is signed", made_with(window=7)),
    ("the window is 0", made_with(window=0)),
    ("the handle has no octets", made_with(handle=b"")),
    ("the handle has 1 MiB", made_with(handle=bytes(1 << 20))),
    ("the handle has 401 octets", made_with(handle=bytes(401))),
    ("the token has 1 MiB", made_with(token=bytes(1 << 20))),
    ("the token is none", made_with(token=b"\x60" + bytes(199))),
    ("the token is cut", of_init(lambda handle, numbers, token: (handle, numbers, token[:-1]))),
    ("GSS_S_CONTINUE_NEEDED comes for ever", made_with(major=CONTINUE_NEEDED)),
    ("GSS_S_CONTINUE_NEEDED comes for ever, with no token", made_with(major=CONTINUE_NEEDED, token=b"")),
    ("GSS_S_COMPLETE comes with no token", made_with(token=b"")),
]
DATA = [
    ("a verifier is wrong", bad_mic, FLAVORS),
    ("a verifier is empty", no_mic, FLAVORS),
    ("a verifier has the flavor AUTH_NONE", other_flavor, FLAVORS),
    ("a verifier has the flavor AUTH_SYS", sys_flavor, FLAVORS),
    ("a verifier is that of another number", former, FLAVORS),
    ("results are those of another number", former_body, FLAVORS[1:]),
    ("protected results have 0 octets", length(0), FLAVORS[1:]),
    ("protected results have 3 octets", length(3), FLAVORS[1:]),
    ("protected results claim 16 MiB", length(16 << 20), FLAVORS[1:]),
    ("protected results claim 4 GiB", length(0xffffffff), FLAVORS[1:]),
    ("protected results are cut", cut, FLAVORS[1:]),
    ("protected results have a bit changed", turned, FLAVORS[1:]),
    ("more follows the protected results", more, FLAVORS[1:]),
]


def limited():
    if "RPCRDMA_UNLIMITED" not in os.environ:
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def ended(server, name, change, sec, version="3"):
    """The client ends with an error in one sentence, not by a signal, and not for want of memory."""
    with Between(server.tcp_port, change) as between:
        done = subprocess.run([TOOL, "ls", f"nfs://localhost:{between.port}/?transport=tcp&mountport={server.tcp_port}&version={version}&sec={sec}"],
                              capture_output=True, text=True, timeout=100, preexec_fn=limited)
        text = done.stderr.strip()
        good = done.returncode == 1 and between.changed > 0 and text and "memory" not in text and "Success" not in text
        tap.result(good, f"version {version}, {sec}: {name}: {text.splitlines()[-1][-100:] if text else 'nothing is said'}",
                   [f"exit status {done.returncode}", f"{between.changed} answers were changed", done.stdout, text])


def main():
    reason = realm.why_not()
    if reason:
        tap.skip("a hostile server", reason)
        tap.end()
    with tempfile.TemporaryDirectory(prefix="rpcrdma-sec-") as top:
        for name in ("realm", "served"):
            os.mkdir(f"{top}/{name}")
        open(f"{top}/served/file", "w").close()
        with realm.Realm(f"{top}/realm") as one:
            os.environ.update(one.ticket("root"))
            with Server(TOOL, f"{top}/served", "--keytab", f"{one.top}/server.keytab", "--allow", "*(rw,sec=krb5:krb5i:krb5p)",
                        tcp_port=free_port()) as server:
                with Between(server.tcp_port, lambda call, answer: False) as between:
                    done = subprocess.run([TOOL, "ls", f"nfs://localhost:{between.port}/?transport=tcp&mountport={server.tcp_port}&version=3&sec=krb5p"],
                                          capture_output=True, text=True, timeout=100, preexec_fn=limited)
                    tap.result(done.returncode == 0 and done.stdout == "file\n", "answers that are not changed are taken", [done.stdout, done.stderr])
                for name, change in MAKING:
                    ended(server, name, change, "krb5")
                for name, change, flavors in DATA:
                    for sec in flavors:
                        ended(server, name, of_data(change() if change in (former, former_body) else change), sec)
                        if sec == "krb5i":
                            ended(server, name, of_data(change() if change in (former, former_body) else change), sec, "4.2")
                patient = [threading.Thread(target=ended, args=(server, name, change, "krb5i")) for name, change in (
                    ("a call gets no answer", of_data(silent)),
                    ("what makes a context gets no answer", lambda call, answer: None if call.gss == INIT else False))]
                for thread in patient:
                    thread.start()
                for thread in patient:
                    thread.join()
    tap.end()


main()
