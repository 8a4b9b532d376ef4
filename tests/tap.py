# SPDX-License-Identifier: BSD-3-Clause
"""What tests of the command share: the Test Anything Protocol, and a server to talk to."""
import itertools
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time


class Tap:
    def __init__(self):
        self.number = self.failed = 0

    def result(self, good, name, details=()):
        self.number += 1
        self.failed += not good
        print(("ok" if good else "not ok") + f" {self.number} - {name}", flush=True)
        if not good:
            for detail in details:
                self.note(detail)
        return good

    def skip(self, name, reason):
        self.number += 1
        print(f"ok {self.number} - {name} # SKIP {reason}", flush=True)

    def note(self, text):
        for line in str(text).splitlines():
            print(f"# {line}", flush=True)

    def end(self):
        print(f"1..{self.number}")
        sys.exit(1 if self.failed else 0)


PORTS = itertools.count(random.randrange(10000, 30000))


def may_others_run(tool):
    """Whether other users reach the command: a checkout below /root, for one, is closed to them."""
    try:
        return subprocess.run([tool, "--help"], user=65534, group=65534, extra_groups=[], stdout=subprocess.DEVNULL).returncode == 0
    except PermissionError:
        return False


def stop_when(process, ready):
    """Stops the process once ready() is true, unless it ends before. SIGCONT has it go on."""
    while process.poll() is None and not ready():
        time.sleep(0.0002)
    process.send_signal(signal.SIGSTOP)  # which waits for it if it has ended, and then sends nothing
    if process.returncode is None:
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)


def free_port():
    """A port where nobody listens, never the same twice, and below those that the system gives to clients."""
    for port in PORTS:
        try:
            socket.create_server(("127.0.0.1", port)).close()
            return port
        except OSError:
            continue


class Daemon:
    """A sub-command that says when it is ready, and goes on until a signal ends it."""

    def launch(self, command, stderr=None):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True)
        for line in self.process.stdout:
            if line.strip() == "ready":
                return
        raise RuntimeError(f"{' '.join(command[:2])} did not start: exit status {self.process.wait()}")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """The exit status after SIGTERM."""
        self.process.terminate()
        return self.process.wait(timeout=60)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.process.poll() is None:
            self.stop()


class Server(Daemon):
    """`rpcrdma serve` on a port of its own; url ends in '/'."""

    def __init__(self, tool, directory, *options, port=None, tcp_port=0, stderr=None):
        self.port = port or free_port()
        self.tool, self.directory, self.options, self.tcp_port = tool, directory, options, tcp_port
        self.url = f"nfs://127.0.0.1:{self.port}/"
        self.stderr = stderr
        self.key = directory.split("=/")[0].rstrip("/") + ".key"
        self.start()

    def start(self):
        self.launch([self.tool, "serve", "--listen", f"127.0.0.1:{self.port}", "--tcp-port", str(self.tcp_port),
                     "--no-root-squash", "--key", self.key, *self.options, self.directory], self.stderr)

    def calls(self):
        """How often each procedure has been called, from the report at SIGUSR1 in the file that was given as stderr."""
        with open(self.stderr.name) as log:
            log.seek(0, os.SEEK_END)
            self.process.send_signal(signal.SIGUSR1)
            text = ""
            while "state of NFS version 4: " not in text or not text.endswith("\n"):
                text += log.read()
                time.sleep(0.01)
        return {name: int(count) for name, count in re.findall(r"NFSPROC[34]_([A-Z]+): (\d+) calls?", text)}

    def calls_since(self, before):
        """How often each procedure was called since calls() returned `before`; those that were not are left out."""
        after = self.calls()
        return {name: after[name] - before.get(name, 0) for name in after if after[name] > before.get(name, 0)}


class Gateway(Daemon):
    """`rpcrdma gateway` to a URL, on ports of its own."""

    def __init__(self, tool, to, *options, stderr=None):
        self.rdma_port, self.tcp_port = free_port(), free_port()
        self.rdma_url = f"nfs://127.0.0.1:{self.rdma_port}/"
        self.launch([tool, "gateway", "--listen", f"127.0.0.1:{self.rdma_port}",
                     "--listen", f"tcp://127.0.0.1:{self.tcp_port}", "--to", to, *options], stderr)

    def tcp_url(self, path=""):
        return f"nfs://127.0.0.1:{self.tcp_port}/{path}?transport=tcp&mountport={self.tcp_port}"
