# SPDX-License-Identifier: BSD-3-Clause
"""Captures our client and our server at work."""
import os
import re
import signal
import shutil
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, free_port

SIZES = (0, 1, 2, 3, 4, 999, 2048, 4095, 4096, 4097, 12288, 12289, 65537, 524288, 1048576, 1048577, 5 << 20)


def require(reason, condition):
    if not condition:
        print(f"1..0 # SKIP {reason}")
        sys.exit(77)


def require_capturing():
    require("capturing needs root", os.geteuid() == 0)
    require("there is no dumpcap or tshark", shutil.which("dumpcap") and shutil.which("tshark"))


class Capture:
    """dumpcap on the loopback, for one port, and another one where it is given."""

    def __init__(self, path, port, other=None):
        self.path, self.port = path, port
        ports = f"port {port}" + (f" or port {other}" if other else "")
        self.process = subprocess.Popen(["dumpcap", "-q", "-i", "lo", "-B", "128", "-f", ports, "-w", path],
                                        stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if line.startswith("File:"):
                return
        sys.exit("dumpcap did not start")

    def catch_up(self):
        """Waits until a datagram that is sent now is in the file: what dumpcap has not taken yet, it drops at its end."""
        token = os.urandom(32)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(token, ("127.0.0.1", self.port))
        for _ in range(3000):
            with open(self.path, "rb") as file:
                file.seek(max(0, os.path.getsize(self.path) - 4096))
                if token in file.read():
                    return
            time.sleep(0.01)

    def stop(self):
        self.catch_up()
        self.process.send_signal(signal.SIGINT)
        return self.process.communicate()[1]


def make_tree(top):
    os.makedirs(f"{top}/many")
    for size in SIZES:
        with open(f"{top}/file-{size}", "wb") as file:
            file.write(os.urandom(size))
    for i in range(300):
        open(f"{top}/many/an-entry-with-a-long-enough-name-{i}", "w").close()
    os.symlink("file-1", f"{top}/short-link")
    os.symlink("y" * 1000, f"{top}/long-link")


def work(tool, server, directory, version):
    """Every operation of NFS version 3 that moves data, in both directions."""
    def url(name=""):
        return f"{server.url}{name}?version=3"

    for command, *arguments in (["ping", "-c", "2", url()], ["cp", "-r", f"{directory}/in", url("copy")],
                                ["ls", "-l", url("copy/many")], ["stat", url("copy/long-link")],
                                ["cp", "-r", url("copy"), f"{directory}/out"], ["cat", url("copy/file-12289")]):
        subprocess.run([tool, command, "--rpcrdma-version", version, *arguments], check=True,
                       stdout=subprocess.DEVNULL)
    if version == "2":
        # Replies that are left to the responder: it provides Read chunks, and gets RDMA_DONE.
        subprocess.run([tool, "ls", "-l", "--reply-chunks", "never", url("copy/many")], check=True,
                       stdout=subprocess.DEVNULL)


def capture(tool, directory, version, tcp_port=0):
    """A capture of that work in version 1 or 2, and of what goes to NFS's TCP port: its path and port, and what dumpcap says
    of packets that it dropped."""
    os.chmod(directory, 0o755)
    make_tree(f"{directory}/in")
    os.mkdir(f"{directory}/served")
    path, port = f"{directory}/capture.pcapng", free_port()
    recorder = Capture(path, port, tcp_port)
    with Server(tool, f"{directory}/served", port=port, tcp_port=tcp_port) as server:
        work(tool, server, directory, version)
    lost = re.search(r"dropped on interface 'Loopback.*?: (\d+)/(\d+)", recorder.stop())
    return path, port, f"packets received and dropped: {lost.groups() if lost else 'unknown'}"


def require_scripts(path, options):
    """From 4.4 on, tshark runs no script of Lua as root, and says nothing of it; a script that is wrong is another matter."""
    found = subprocess.run(["tshark", *options, "-r", path, "-Y", "rpcrdma2.xid"], capture_output=True, text=True)
    require("this tshark runs no scripts as root", os.geteuid() or not found.returncode or "lua" in found.stderr.lower())


def tshark(path, display, *fields, options=()):
    """What it looks like comes first: our ports may be those of some other protocol."""
    done = subprocess.run(["tshark", "-o", "tcp.try_heuristic_first:TRUE", *options, "-r", path, "-Y", display, "-T", "fields",
                           *[word for f in ("frame.number", *fields) for word in ("-e", f)]],
                          capture_output=True, text=True)
    if done.returncode:
        require_scripts(path, options)
        raise RuntimeError(f"tshark {display}: {done.stderr}")
    return [line.split("\t") for line in done.stdout.splitlines()]
