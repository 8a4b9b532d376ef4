#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A Kerberos realm of its own on the loopback, for tests: one process of MIT's key distribution centre (KDC), run by the current user, at
a port that the kernel chooses, with all its files in one directory. Tests import Realm. Scripts run

    realm.py serve DIRECTORY    starts a realm there; prints the environment of its clients and servers, then "ready"; ends with a signal
"""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time

REALM = "REALM.TEST"
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"
PROGRAMS = ("krb5kdc", "kdb5_util", "kadmin.local", "kinit", "klist", "ktutil")
HOSTS = ("localhost", "host.realm.test")
USERS = ("alice", "bob", "daemon", "root")

# Names of hosts are taken as they are written: a test asks no name server.
CLIENT = """[libdefaults]
  default_realm = {realm}
  dns_lookup_realm = false
  dns_lookup_kdc = false
  dns_canonicalize_hostname = false
  qualify_shortname = ""
  rdns = false
  udp_preference_limit = 1
  clockskew = {clockskew}
  forwardable = false
[realms]
  {realm} = {{
    kdc = {host}:{port}
  }}
[domain_realm]
  localhost = {realm}
  .realm.test = {realm}
  .elsewhere.test = ELSEWHERE.TEST
"""

KDC = """[kdcdefaults]
  kdc_listen = ""
  kdc_tcp_listen = 127.0.0.1:0
[realms]
  {realm} = {{
    database_name = {top}/principals
    key_stash_file = {top}/stash
    acl_file = {top}/acl
    max_life = {life}
    max_renewable_life = 7d
    default_principal_flags = +renewable
    supported_enctypes = {enctypes}
  }}
[logging]
  kdc = FILE:{top}/kdc.log
"""


def why_not():
    """What keeps a realm from being started here; None: nothing."""
    missing = [program for program in PROGRAMS if not shutil.which(program, path=PATH)]
    return "Kerberos is not installed (krb5-kdc, krb5-admin-server, krb5-user): no " + ", ".join(missing) if missing else None


def folders(top):
    """Makes the folder of a realm, and one that is served, where every user may write."""
    for name in ("realm", "served"):
        os.mkdir(f"{top}/{name}")
    os.chmod(top, 0o755)
    os.chmod(f"{top}/served", 0o777)


def listening_port(process):
    """The TCP port at which the process listens, as Linux says in /proc; None: it does not listen yet."""
    sockets = set()
    for number in os.listdir(f"/proc/{process}/fd"):
        with contextlib.suppress(OSError):
            sockets.update(re.findall(r"socket:\[(\d+)\]", os.readlink(f"/proc/{process}/fd/{number}")))
    with open(f"/proc/{process}/net/tcp") as table:
        for fields in map(str.split, table):
            if fields[3] == "0A" and fields[9] in sockets:
                return int(fields[1].split(":")[1], 16)
    return None


class Realm:
    """top: a directory of its own, which is empty. hosts: those that have a principal nfs/HOST, with keys in server.keytab. users: their
    keys are in NAME.keytab, and their passwords are their names. clockskew: seconds of it that libkrb5 lets pass. life: of the longest
    ticket."""

    def __init__(self, top, hosts=HOSTS, users=USERS, clockskew=300, life="10h", enctypes="aes256-cts-hmac-sha1-96 aes128-cts-hmac-sha256-128"):
        self.top, self.clockskew = os.path.abspath(top), clockskew
        self.environment = {"KRB5_CONFIG": f"{self.top}/krb5.conf", "KRB5_KTNAME": f"FILE:{self.top}/server.keytab",
                            "KRB5CCNAME": f"FILE:{self.top}/tickets", "KRB5RCACHENAME": f"file2:{self.top}/replays"}
        self.process = None
        with open(f"{self.top}/kdc.conf", "w") as file:
            file.write(KDC.format(realm=REALM, top=self.top, life=life, enctypes=enctypes))
        self.write_client("krb5.conf")
        self.run("kdb5_util", "create", "-r", REALM, "-s", "-P", "master")
        for host in hosts:
            self.service(f"nfs/{host}", "server.keytab")
        for user in users:
            self.administrate(f"addprinc -pw {user} {user}", f"ktadd -norandkey -k {self.top}/{user}.keytab {user}")
        self.start()

    def write_client(self, name, host="127.0.0.1", port=0):
        """A krb5.conf whose realm has its KDC at that host and port."""
        with open(f"{self.top}/{name}.new", "w") as file:
            file.write(CLIENT.format(realm=REALM, clockskew=self.clockskew, host=host, port=port))
        os.rename(f"{self.top}/{name}.new", f"{self.top}/{name}")

    def environ(self, **others):
        """The environment of a process that uses the realm."""
        return {**os.environ, **self.environment, "KRB5_KDC_PROFILE": f"{self.top}/kdc.conf", "PATH": PATH, **others}

    def run(self, *command, text=None, good=True, **others):
        """Runs a program of Kerberos. good: it has to succeed."""
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, env=self.environ(**others))
        if good and done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}: {done.stdout}{done.stderr}")
        return done

    def administrate(self, *commands):
        """Runs these commands of kadmin, which all have to succeed; it says so by its text only."""
        done = self.run("kadmin.local", "-r", REALM, text="".join(command + "\n" for command in commands))
        errors = [line for line in done.stderr.splitlines() if " while " in line or "rror" in line]
        if errors:
            raise RuntimeError("; ".join(errors))

    def start(self):
        """Starts the KDC, and has krb5.conf name its port."""
        self.process = subprocess.Popen([shutil.which("krb5kdc", path=PATH), "-n", "-r", REALM], env=self.environ(),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while (port := listening_port(self.process.pid)) is None:
            if self.process.poll() is not None:
                with open(f"{self.top}/kdc.log") as log:
                    raise RuntimeError("the KDC did not start: " + log.read())
            time.sleep(0.01)
        self.port = port
        self.write_client("krb5.conf", port=port)

    def stop(self):
        """Ends the KDC; tickets that were given stay as they are."""
        if self.process:
            self.process.terminate()
            self.process.wait()
        self.process = None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.stop()

    def service(self, principal, keytab):
        """Makes a principal whose key only a keytab has: top/keytab, to which it is added."""
        self.administrate(f"addprinc -randkey {principal}", f"ktadd -k {self.top}/{keytab} {principal}")

    def rekey(self, principal, keytab="server.keytab"):
        """Gives the principal a new key, which is added to the keytab beside the old one."""
        self.administrate(f"ktadd -k {self.top}/{keytab} {principal}")

    def cache(self, name):
        """The name of a cache of tickets in a file of top."""
        return f"FILE:{self.top}/{name}"

    def ticket(self, user, cache="tickets", life=None, renewable=None):
        """Gets the user a ticket. life and renewable: as for kinit, as 20s. Returns the environment that has it used."""
        cache = cache if ":" in cache else self.cache(cache)
        self.run("kinit", "-k", "-t", f"{self.top}/{user}.keytab", "-c", cache, *(("-l", life) if life else ()),
                 *(("-r", renewable) if renewable else ()), user)
        return {**self.environment, "KRB5CCNAME": cache}

    def renew(self, cache="tickets"):
        """Renews the ticket of the cache."""
        self.run("kinit", "-R", "-c", cache if ":" in cache else self.cache(cache))


def serve(top):
    os.makedirs(top, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    with Realm(top) as realm:
        for name, value in realm.environment.items():
            print(f"export {name}={value}")
        print("ready", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            realm.process.wait()


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] != "serve":
        sys.exit(__doc__)
    serve(sys.argv[2])
