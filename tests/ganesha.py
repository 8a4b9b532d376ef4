# SPDX-License-Identifier: BSD-3-Clause
"""Debian's nfs-ganesha as a server over TCP, on ports of its own: a peer that is not the kernel's."""
import fcntl
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time

from tap import free_port

CONFIGURATION = """
NFS_CORE_PARAM {{ NFS_Port = {nfs}; MNT_Port = {mount}; Enable_NLM = false; Enable_RQUOTA = false; Protocols = 3, 4;
                 Bind_addr = 127.0.0.1; mount_path_pseudo = true; {newer} }}
NFSV4 {{ Graceless = true; Minor_Versions = {minors}; }}
EXPORT {{ Export_Id = 1; Path = {path}; Pseudo = /data; Access_Type = RW; Squash = no_root_squash; SecType = {sec};
         Protocols = 3, 4; Transports = TCP; FSAL {{ Name = VFS; }} }}
"""
KERBEROS = "NFS_KRB5 {{ PrincipalName = nfs; KeytabPath = {keytab}; Active_krb5 = true; }}\n"
PROGRAMS = ("ganesha.nfsd", "rpcbind", "nfs-ls", "nfs-cat", "nfs-cp")


def why_not():
    """What keeps it from being used here; None: nothing."""
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    if missing:
        return "not installed: " + ", ".join(missing)
    if not os.path.exists("/etc/mtab"):
        return "nfs-ganesha exports nothing where there is no /etc/mtab: ln -s ../proc/self/mounts /etc/mtab"
    return "only root can run nfs-ganesha" if os.geteuid() else None


def newer():
    """From version 5 on, it wants a right that containers do not have, unless it may do without."""
    version = subprocess.run(["ganesha.nfsd", "-v"], capture_output=True, text=True).stdout
    found = re.search(r"V(\d+)", version)
    return "allow_set_io_flusher_fail = true;" if found and int(found[1]) >= 5 else ""


def configuration(path, ports, minors, realm=None, sec="sys"):
    """ports: of "nfs" and of "mount"; minors: those of version 4 that it speaks; realm: whose services it has, for the flavors in sec."""
    text = CONFIGURATION.format(path=path, minors=minors, newer=newer(), sec=sec, **ports)
    return text + KERBEROS.format(keytab=f"{realm.top}/server.keytab") if realm else text


def wait_for_port(port):
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"nobody listens at port {port}")


def is_rpcbind_here():
    """Another one may run in a network of its own, for another test."""
    try:
        socket.create_connection(("127.0.0.1", 111)).close()
        return True
    except OSError:
        return False


class Ganesha:
    """work: a directory of its own; data: what it exports as /data; minors: those of version 4 that it speaks. realm: a Kerberos realm
    (realm.py) whose host "localhost" it is; sec: the flavors of the export."""

    def __init__(self, work, data, minors="0, 1, 2", realm=None, sec="sys"):
        # One at a time: the rpcbind that one of them starts, and ends, is the machine's.
        self.lock = open(f"{tempfile.gettempdir()}/rpcrdma-ganesha.lock", "w")
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.ports = {"nfs": free_port(), "mount": free_port()}
        with open(f"{work}/ganesha.conf", "w") as file:
            file.write(configuration(data, self.ports, minors, realm, sec))
        self.environment = realm.environ() if realm else None
        self.log = f"{work}/ganesha.log"
        self.rpcbind = None
        if not is_rpcbind_here():
            self.rpcbind = subprocess.Popen(["rpcbind", "-f", "-w"])
            wait_for_port(111)
        self.work = work
        self.process = None
        self.start()

    def start(self):
        open(self.log, "w").close()
        self.process = subprocess.Popen(["ganesha.nfsd", "-F", "-f", f"{self.work}/ganesha.conf", "-L", self.log,
                                         "-p", f"{self.work}/ganesha.pid", "-N", "NIV_EVENT"], env=self.environment)
        for _ in range(3000):
            if "NFS SERVER INITIALIZED" in open(self.log).read():
                wait_for_port(self.ports["nfs"])
                return
            time.sleep(0.1)
        self.stop()
        raise RuntimeError("nfs-ganesha did not start: " + open(self.log).read()[-2000:])

    def restart(self):
        """It is killed, and starts again at the same ports."""
        self.process.kill()
        self.process.wait()
        self.start()

    def url(self, name, version=3):
        """For libnfs."""
        return libnfs_url(self.ports["nfs"], self.ports["mount"], name, version)

    def stop(self):
        self.process.terminate()
        self.process.wait()
        if self.rpcbind:
            self.rpcbind.terminate()
            self.rpcbind.wait()
        self.lock.close()


def libnfs_url(nfs_port, mount_port, name, version):
    return f"nfs://127.0.0.1/data/{name}?nfsport={nfs_port}&mountport={mount_port}&version={version}"
