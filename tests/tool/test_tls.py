#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_tls.py TOOL: RPC-with-TLS (RFC 9289) between the command's own client, server and gateway: what is protected, what a rule
demands, what is said about certificates that are wrong, and which octets are seen on the way."""
import contextlib
import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from pki import Pki, server_options
from recorder import Recorder
from tap import Gateway, Server, Tap, free_port

TOOL = os.path.abspath(sys.argv[1])
TEXT = b"what nobody on the way may read; " * 3000
tap = Tap()


def run(*arguments, **environment):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=60, env={**os.environ, **environment})


def check(name, good, result):
    return tap.result(good, name, [f"exit status {result.returncode}", result.stdout, result.stderr])


def url(port, path="", xprtsec="tls", *options, host="127.0.0.1"):
    return "&".join([f"nfs://{host}:{port}/{path}?transport=tcp", f"xprtsec={xprtsec}", *options])


def ours(pki, ca="ca.pem", cert=None):
    """Options of a URL: the authority, and the certificate of the client."""
    return [f"tls-ca={pki.path(ca)}"] + ([f"tls-cert={pki.path(cert + '.pem')}", f"tls-key={pki.path(cert + '.key')}"] if cert else [])


@contextlib.contextmanager
def serving(top, *options, log="log"):
    with open(f"{top}/{log}", "w") as file, Server(TOOL, f"{top}/served", *options, tcp_port=free_port(), stderr=file) as server:
        yield server


def test_protected(top, pki):
    """A file both ways by each version of NFS; and that only the plain way shows it to others."""
    with serving(top, *server_options(pki)) as server:
        for version in ("3", "4.1", "4.2"):
            there, back = f"{top}/served/there", f"{top}/back"
            for xprtsec, options in (("tls", ours(pki)), ("mtls", ours(pki, cert="client")), ("auto", ours(pki)), ("none", [])):
                recorder = Recorder(server.tcp_port)
                at = url(recorder.port, "there", xprtsec, f"version={version}", *options)
                put = run("cp", "-f", f"{top}/text", at)
                got = run("cp", "-f", at, back)
                with open(there, "rb") as one, open(back, "rb") as other:
                    same = one.read() == TEXT and other.read() == TEXT
                check(f"version {version}, xprtsec={xprtsec}: a file there and back", put.returncode == 0 and same, put if put.returncode else got)
                tap.result((TEXT[:33] in recorder.seen) == (xprtsec == "none"),
                           f"version {version}, xprtsec={xprtsec}: its octets are seen on the way only without TLS")
                os.remove(there)
        said = json.loads(run("ping", "-c", "1", "--json", url(server.tcp_port, "", "mtls", *ours(pki, cert="client"))).stdout)
        tap.result((said["tls"], said["tls_mutual"], said["tls_peer"]) == ("TLSv1.3", True, "server") and said["tls_cipher"].startswith("TLS_"), "ping --json says it", [said])
        said = json.loads(run("ping", "-c", "1", "--json", url(server.tcp_port, "", "none")).stdout)
        tap.result(said["tls"] is None, "ping --json says that there is none", [said])
        result = run("ls", "-v", url(server.tcp_port, "", "tls"), RPCRDMA_TLS_CA=pki.path("ca.pem"))
        check("the authority comes from the environment; ls -v says it", result.returncode == 0 and "TLSv1.3 with TLS_" in result.stderr, result)


def test_said(top, pki):
    """One sentence for what is wrong, with what to do. RFC 9289, 4.2, and RFC 9289, 5.2.1: who cannot prove its name is refused."""
    for name, options, at, texts, logged in (
            ("a server without TLS", [], ("tls", ours(pki)), ["has no TLS, which was demanded", "--tls-cert"], ""),
            ("an authority that nobody knows", server_options(pki), ("tls", ours(pki, "self.pem")), ["authority that is not", "tls-ca"],
             "refused this server's certificate"),
            ("a certificate that signs itself", server_options(pki, "self"), ("tls", ours(pki)), ["signed by itself", "tls-ca"], "refused this server's"),
            ("another name", server_options(pki, "other"), ("tls", ours(pki)), ["is not for 127.0.0.1", "use a name that it has"], "refused this server's"),
            ("an expired certificate", server_options(pki, "old"), ("tls", ours(pki)), ["has expired", "renew it"], "refused this server's"),
            ("a revoked certificate", server_options(pki, "gone"), ("tls", ours(pki, "revoked.pem")), ["was revoked", "new one"], "refused this server's"),
            ("a certificate of a revoked authority", server_options(pki, "below"), ("tls", ours(pki, "revoked.pem")), ["was revoked", "new one"],
             "refused this server's"),
            ("a client of an authority that nobody knows", server_options(pki), ("mtls", ours(pki, cert="self")),
             ["refused this client's certificate", "--tls-ca"], "client's certificate is signed by itself"),
            ("an expired client", server_options(pki), ("mtls", ours(pki, cert="old")), ["refused this client's certificate"], "has expired"),
            ("a revoked client", server_options(pki, ca="revoked.pem"), ("mtls", ours(pki, cert="gone")), ["refused this client's"], "was revoked"),
            ("mtls without a certificate", server_options(pki), ("mtls", ours(pki)), ["tls-cert and tls-key"], "")):
        with serving(top, *options) as server:
            for command in (["ls"], ["ping", "-c", "1"]):
                result = run(*command, url(server.tcp_port, "", at[0], *at[1]))
                check(f"{name}: {command[0]} says so", result.returncode == 1 and all(text in result.stderr for text in texts), result)
        with open(f"{top}/log") as file:
            log = file.read()
        tap.result(logged in log, f"{name}: the server's log says so", [log])
    with serving(top, *server_options(pki, "below")) as server:
        result = run("ls", url(server.tcp_port, "", "tls", *ours(pki)))
        check("whose certificates are taken where nobody knows that", result.returncode == 0, result)
    result = run("ls", url(1, "", "tls", "tls-ca=/nowhere"))
    check("a file that is not there", "/nowhere" in result.stderr and "No such file" in result.stderr and result.returncode == 1, result)


def test_names(top, pki):
    """RFC 9289, 5.2.1: the name of a server is one of its alternative names, without a wildcard; an address is one of its addresses."""
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        tap.skip("names of servers", "only who may have a table of hosts of its own can give this machine names")
        return
    with open(f"{top}/hosts", "w") as file:
        file.write("127.0.0.1 localhost one.lab.example\n")
    pki.request("common", "one.lab.example", ["subjectAltName=email:nobody@lab.example"], "-x509", "-days", "30", "-out", "common.pem")
    pki.request("bare", "one.lab.example", [], "-x509", "-days", "30", "-out", "bare.pem")
    for name, names in (("named", ["DNS:one.lab.example"]), ("star", ["DNS:*.lab.example"]), ("part", ["DNS:o*.lab.example"]), ("address", ["IP:127.0.0.1"])):
        pki.signed(name, *names)
    for name, ca, host, good in (("named", "ca.pem", "one.lab.example", True), ("star", "ca.pem", "one.lab.example", False), ("part", "ca.pem", "one.lab.example", False),
                                 ("common", "common.pem", "one.lab.example", False), ("bare", "bare.pem", "one.lab.example", False),
                                 ("address", "ca.pem", "127.0.0.1", True), ("address", "ca.pem", "one.lab.example", False), ("named", "ca.pem", "127.0.0.1", False)):
        with serving(top, *server_options(pki, name)) as server:
            for at in (url(server.tcp_port, "", "tls", *ours(pki, ca), host=host), f"nfs://{host}:{server.port}/?xprtsec=tls&{ours(pki, ca)[0]}"):
                result = subprocess.run(["unshare", "-m", "sh", "-c", f'mount --bind {top}/hosts /etc/hosts && exec "$@"', "sh", TOOL, "ls", at],
                                        capture_output=True, text=True, timeout=60)
                check(f"a certificate {name} for {host}, {'TCP' if 'tcp' in at else 'iWARP'}: {'taken' if good else 'refused'}",
                      result.returncode == (0 if good else 1) and (good or f"is not for {host}" in result.stderr), result)


def test_rules(top, pki):
    """RFC 9289, 5: mutual authentication. What each rule lets in, over each protection, by each version of NFS."""
    ways = {"none": [], "tls": ours(pki), "mtls": ours(pki, cert="client")}
    for words in ("none", "tls", "mtls", "none:tls", "tls:mtls", "none:tls:mtls"):
        with serving(top, *server_options(pki), "--allow", f"*(rw,xprtsec={words})") as server:
            for version in ("3", "4.2"):
                for way, options in ways.items():
                    result = run("ls", url(server.tcp_port, "", way, f"version={version}", *options))
                    wanted = way in words.split(":")
                    good = (result.returncode == 0) == wanted and (wanted or "xprtsec" in result.stderr)
                    check(f"xprtsec={words}, version {version}: {way} is {'served' if wanted else 'refused'}", good, result)
            result = run("ls", server.url)
            check(f"xprtsec={words}: RDMA without TLS counts as none", (result.returncode == 0) == ("none" in words.split(":")), result)
    for words, options, text in (("tls", [], "needs --tls-cert"), ("mtls:none,tlsuser=root", server_options(pki)[:4], "needs --tls-cert and --tls-ca"),
                                 ("mtls,tlsuser=nobody-of-that-name", server_options(pki), "the name of a user of this machine"), ("mtls", server_options(pki)[:4], "needs --tls-cert and --tls-ca"),
                                 ("tls,ro", ["--tls-ca", "x"], "needs --tls-cert"), ("ssl", [], "none:tls:mtls")):
        result = run("serve", "--allow", f"*(xprtsec={words})", *options, f"{top}/served")
        check(f"serve with xprtsec={words} and {' '.join(options[::2]) or 'no certificate'} does not start", result.returncode == 2 and text in result.stderr, result)
    result = run("serve", "--tls-cert", pki.path("server.pem"), "--tls-key", pki.path("client.key"), f"{top}/served")
    check("serve with another key does not start", result.returncode == 1 and "private key" in result.stderr, result)


def test_user(top, pki):
    """RFC 9289, 4.2, by a rule: who calls from a machine with a certificate is its user, whoever they say that they are."""
    if os.geteuid() != 0:
        tap.skip("the user of a certificate", "only the superuser can serve others")
        return
    user = pwd.getpwnam("daemon")
    os.chmod(f"{top}/served", 0o777)
    with serving(top, *server_options(pki), "--allow", "*(rw,xprtsec=tls:mtls,no_root_squash,tlsuser=daemon)") as server:
        for version in ("3", "4.2"):
            for way, options, owner in (("mtls", ours(pki, cert="client"), (user.pw_uid, user.pw_gid)), ("tls", ours(pki), (0, 0))):
                result = run("cp", "-f", f"{top}/text", url(server.tcp_port, "of-user", way, f"version={version}", *options))
                there = os.stat(f"{top}/served/of-user") if result.returncode == 0 else None
                check(f"tlsuser, version {version}: {way} makes a file of user {owner[0]}", there and (there.st_uid, there.st_gid) == owner, result)
                os.remove(f"{top}/served/of-user")


def test_mount(top, pki):
    """MOUNT of version 3 at a port of its own, which has no TLS, as Linux's mountd has none; NFS goes inside of TLS all the same."""
    shutil.copy(f"{top}/text", f"{top}/served/there")
    with serving(top, *server_options(pki), "--allow", "*(rw,xprtsec=tls)") as server, serving(top, "--nfs", "3", log="mount-log") as mountd:
        at, recorder = ours(pki) + [f"mountport={mountd.tcp_port}", "version=3"], Recorder(server.tcp_port)
        result = run("cat", url(recorder.port, "there", "tls", *at))
        check("MOUNT without TLS, NFS inside of it", result.returncode == 0 and result.stdout == TEXT.decode() and TEXT[:33] not in recorder.seen, result)
        result = run("ls", url(mountd.tcp_port, "", "tls", *at))
        check("NFS without TLS is refused all the same", result.returncode == 1 and "has no TLS" in result.stderr, result)


def wait_for(path, text):
    """Waits until a line with the text is in the file."""
    with open(path) as file:
        while text not in file.readline():
            time.sleep(0.01)


def test_renewed(top, pki):
    """A certificate that was renewed on disk is taken at SIGHUP, and one that is broken is not."""
    for end in ("pem", "key"):
        shutil.copy(pki.path(f"other.{end}"), f"{top}/live.{end}")
    with serving(top, "--tls-cert", f"{top}/live.pem", "--tls-key", f"{top}/live.key") as server:
        at = url(server.tcp_port, "", "tls", *ours(pki))
        check("the certificate is for another name", run("ls", at).returncode == 1, run("ls", at))
        for end in ("pem", "key"):
            shutil.copy(pki.path(f"server.{end}"), f"{top}/live.{end}")
        check("a certificate on disk alone changes nothing", run("ls", at).returncode == 1, run("ls", at))
        server.process.send_signal(signal.SIGHUP)
        wait_for(f"{top}/log", "was read again")
        check("after SIGHUP the new one counts", run("ls", at).returncode == 0, run("ls", at))
        with open(f"{top}/live.pem", "w") as file:
            file.write("nothing\n")
        server.process.send_signal(signal.SIGHUP)
        wait_for(f"{top}/log", "as it was")
        check("a broken one does not", run("ls", at).returncode == 0, run("ls", at))


def test_looked_at(top, pki):
    """A certificate that was renewed on disk is taken without a signal, by a server and by a gateway."""
    def put(name):
        for end in ("pem", "key"):
            shutil.copy(pki.path(f"{name}.{end}"), f"{top}/new.{end}")
            os.rename(f"{top}/new.{end}", f"{top}/live.{end}")

    live = ["--tls-cert", f"{top}/live.pem", "--tls-key", f"{top}/live.key", "--tls-look", "1"]
    put("other")
    with serving(top, *live) as server, open(f"{top}/gateway-log", "w") as log, \
            Gateway(TOOL, f"nfs://127.0.0.1:{server.tcp_port}/?transport=tcp", *live, stderr=log) as gateway:
        both = [url(server.tcp_port, "", "tls", *ours(pki)), url(gateway.tcp_port, "", "tls", *ours(pki), f"mountport={gateway.tcp_port}")]
        before = [run("ls", at) for at in both]
        check("the certificates are for another name", all(result.returncode == 1 for result in before), before[0])
        put("server")
        for path, at, name in ((f"{top}/log", both[0], "server"), (f"{top}/gateway-log", both[1], "gateway")):
            wait_for(path, "was read again")
            until = time.monotonic() + 30  # certificate and key are two files: the second one may come with the next look
            while (result := run("ls", at)).returncode and time.monotonic() < until:
                time.sleep(0.1)
            check(f"a {name} takes the renewed one by itself", result.returncode == 0, result)


def test_made_by_gateway(top, pki):
    """gateway --tls makes a certificate and says its fingerprint, which clients take."""
    with serving(top) as server:
        port = free_port()
        command = [TOOL, "gateway", "--listen", f"tcp://127.0.0.1:{port}", "--to", f"nfs://127.0.0.1:{server.tcp_port}/?transport=tcp", "--tls", "--tls-cert", f"{top}/made/here.pem"]
        result = run(*command[1:], "--check-config")
        check("gateway --tls --check-config makes nothing", result.returncode == 0 and not os.path.exists(f"{top}/made"), result)
        gateway = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            lines = []
            while not lines or lines[-1] not in ("ready\n", ""):
                lines.append(gateway.stdout.readline())
            shown = [line.split()[-1] for line in lines if "fingerprint" in line]
            tap.result(len(shown) == 1, "gateway --tls says the fingerprint of its key", lines)
            result = run("ls", url(port, "", "tls", f"fingerprint={shown[0] if shown else ''}", f"mountport={port}"))
            check("by which clients take it", result.returncode == 0, result)
        finally:
            gateway.terminate()
            gateway.wait()


def test_gateway(top, pki):
    """A gateway with TLS on both sides, and one that takes nothing else."""
    with serving(top, *server_options(pki), "--allow", "*(rw,xprtsec=tls)") as server:
        to = f"nfs://127.0.0.1:{server.tcp_port}/?transport=tcp&xprtsec=tls&tls-ca={pki.path('ca.pem')}"
        with Gateway(TOOL, to, *server_options(pki), "--tls-only") as gateway:
            for name, at, good in (("TLS", url(gateway.tcp_port, "", "tls", *ours(pki)), True),
                                   ("TLS over RDMA", f"{gateway.rdma_url}?xprtsec=tls&{ours(pki)[0]}", True),
                                   ("plain RDMA", gateway.rdma_url, False), ("plain TCP", url(gateway.tcp_port, "", "none"), False)):
                result = run("ls", at)
                check(f"gateway with --tls-only: {name} is {'passed on' if good else 'refused'}", (result.returncode == 0) == good, result)
    result = run("gateway", "--listen", "tcp://127.0.0.1:1", "--to", "nfs://127.0.0.1:1/?transport=tcp", "--tls-only")
    check("gateway: --tls-only wants a certificate", "--tls-only needs --tls-cert" in result.stderr, result)


def main():
    if not shutil.which("openssl"):
        tap.skip("TLS", "there is no command openssl to make certificates")
        tap.end()
    with tempfile.TemporaryDirectory() as top:
        pki = Pki(f"{top}/pki")
        for name, names in (("server", ["DNS:localhost", "IP:127.0.0.1"]), ("client", ["DNS:client.example"]), ("other", ["DNS:other.example"]),
                            ("gone", ["DNS:localhost", "IP:127.0.0.1"])):
            pki.signed(name, *names)
        pki.signed("old", "DNS:localhost", "IP:127.0.0.1", dates=["-startdate", "190101000000Z", "-enddate", "200101000000Z"])
        pki.self_signed("self", "self", "subjectAltName=DNS:localhost,IP:127.0.0.1")
        pki.below("below", "DNS:localhost", "IP:127.0.0.1")
        pki.revoke("gone")
        pki.revoke("below-ca")
        os.makedirs(f"{top}/served")
        with open(f"{top}/text", "wb") as file:
            file.write(TEXT)
        probe = run("serve", "--check-config", *server_options(pki), f"{top}/served")
        if "built without TLS" in probe.stderr:
            tap.skip("TLS", "this command was built without it")
            tap.end()
        for test in (test_protected, test_said, test_names, test_rules, test_user, test_mount, test_renewed, test_looked_at, test_made_by_gateway, test_gateway):
            test(top, pki)
    tap.end()


main()
