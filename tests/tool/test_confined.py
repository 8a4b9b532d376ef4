#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_confined.py TOOL: what the kernel says of the threads of `rpcrdma serve` and `gateway`, with and without --no-sandbox, and what
somebody could do there who has broken into them."""
import ctypes
import errno
import glob
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Gateway, Server, Tap, free_port, may_others_run

TOOL = os.path.abspath(sys.argv[1])
BREACH = os.environ.get("RPCRDMA_BREACH")
LIBRARY = os.path.dirname(os.path.dirname(TOOL))  # beside which the library was built
NOBODY = 65534
SEES = ("CapEff", "CapPrm", "NoNewPrivs", "Seccomp")
# capabilities(7), by number: CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER, FSETID, SETGID, SETUID, NET_BIND_SERVICE, IPC_LOCK, MKNOD, LEASE
FILES = sum(1 << number for number in (0, 1, 2, 3, 4, 6, 7, 10, 14, 27, 28))
RELAY = sum(1 << number for number in (1, 2, 10, 14))
tap = Tap()


def statuses(pid):
    """Of each thread, what the kernel says."""
    result = []
    for path in glob.glob(f"/proc/{pid}/task/*/status"):
        with open(path) as file:
            lines = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
        result.append({name: int(lines[name], 16) for name in SEES})
    return result


def held(threads, kept):
    return threads and all(one["NoNewPrivs"] == 1 and one["Seccomp"] == 2 and one["CapPrm"] & ~kept == 0 and one["CapEff"] & ~kept == 0 for one in threads)


def command(pid):
    """The name of a process; "": it has ended."""
    try:
        with open(f"/proc/{pid}/comm") as file:
            return file.read().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def children(pid, name):
    """The processes of that name that this one has made."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        found = [int(child) for child in file.read().split()]
    return [child for child in found if command(child) == name]


def client(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=60)


def test_serve(top):
    with Server(TOOL, f"{top}/served", "--threads", "2") as server:
        url = f"nfs://127.0.0.1:{server.port}/"
        got = client("cp", f"{top}/from", f"{url}to")
        tap.result(got.returncode == 0, "a confined server takes a file", [got.stderr])
        got = client("cp", f"{url}to", f"{top}/back")
        tap.result(got.returncode == 0 and open(f"{top}/back").read() == "data", "and gives it back", [got.stderr])
        threads = statuses(server.process.pid)
        tap.result(len(threads) > 2 and held(threads, FILES), "each of its threads is confined", threads)
    with Server(TOOL, f"{top}/served", "--no-sandbox") as server:
        threads = statuses(server.process.pid)
        own = statuses(os.getpid())[0]
        tap.result(all(one == own for one in threads), "with --no-sandbox it has the rights of who starts it", [own, *threads])


def test_gateway(top):
    with Server(TOOL, f"{top}/served", tcp_port=free_port()) as server:
        to = f"nfs://127.0.0.1:{server.tcp_port}/?transport=tcp&mountport={server.tcp_port}"
        with Gateway(TOOL, to) as gateway:
            got = client("ls", gateway.rdma_url)
            tap.result(got.returncode == 0 and "to" in got.stdout, "a confined gateway passes a listing on", [got.stdout, got.stderr])
            threads = statuses(gateway.process.pid)
            tap.result(held(threads, RELAY), "each of its threads is confined", threads)


def has_landlock():
    """Whether this kernel has rules for files and TCP: landlock_create_ruleset(2), asked for its version."""
    return ctypes.CDLL(None).syscall(444, None, 0, 1) >= 6


def breach(top, name, start):
    """What a thread of a service can do that somebody has broken into: breach.c. For each attempt, the errno."""
    log = f"{top}/{name}.log"
    open(log, "w").close()
    with socket.create_server(("127.0.0.1", 0)) as other:
        loads = {"LD_PRELOAD": BREACH, "RPCRDMA_BREACH_LOG": log, "RPCRDMA_BREACH_PORT": str(other.getsockname()[1])}
        os.environ.update(loads)
        try:
            daemon = start()
        finally:
            for variable in loads:
                del os.environ[variable]
        with daemon:
            url = daemon.url if isinstance(daemon, Server) else daemon.rdma_url
            got = client("ls", url)
            tap.result(got.returncode == 0, f"{name}: clients are served after a breach", [got.stderr])
    with open(log) as file:
        found = {word: int(number) for word, number in (line.split() for line in file)}
    tap.result("end" in found, f"{name}: all was tried", [found])
    return found


class Another(Server):
    """A server that another user runs."""

    def launch(self, command, stderr=None):
        super().launch(["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups", *command], stderr)


class Contained(Server):
    """A server in a container: with mounts and processes of its own, and a root that has little beside the directory `top`."""

    def launch(self, command, stderr=None):
        root = f"{self.top}/root"
        binds = [path for path in ("/usr", "/lib", "/lib64", "/bin", os.path.dirname(TOOL), LIBRARY) if os.path.exists(path)]
        lines = [f"mount -t tmpfs none {root}", f"mkdir -p {root}/proc {root}{self.top}"]
        for path in binds:
            lines += [f"mkdir -p {root}{path}", f"mount --rbind {path} {root}{path}"]
        lines += [f"mount --bind {self.top}/inside {root}{self.top}", f"mount -t proc proc {root}/proc", f'exec chroot {root} "$@"']
        super().launch(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", "\n".join(lines), "sh", *command], stderr)


    def stop(self):
        """unshare(1) has its child killed; it passes no other signal on."""
        self.kill()


def works(top, server, what):
    """Clients write, list, rename and read; says whether it is confined, too."""
    url = f"nfs://127.0.0.1:{server.port}/"
    for step in (["cp", f"{top}/from", f"{url}one"], ["mkdir", f"{url}below"], ["mv", f"{url}one", f"{url}below/two"], ["cp", f"{url}below/two", f"{top}/back"]):
        got = client(*step)
        tap.result(got.returncode == 0, f"{what}: {step[0]}", [got.stderr])
    os.unlink(f"{top}/back")


def test_user(top):
    if os.getuid() != 0 or not may_others_run(TOOL):
        tap.skip("a server of another user", "it cannot be started here")
        return
    with tempfile.TemporaryDirectory() as own:
        os.mkdir(f"{own}/served")
        os.chown(own, NOBODY, NOBODY)
        os.chown(f"{own}/served", NOBODY, NOBODY)
        with Another(TOOL, f"{own}/served") as server:
            works(top, server, "as a user")
            threads = statuses(server.process.pid)
            tap.result(held(threads, 0), "as a user it is confined", threads)


def test_container(top):
    probe = subprocess.run(["unshare", "--mount", "--pid", "--fork", "sh", "-c", "mount -t tmpfs none /mnt"], capture_output=True)
    if os.getuid() != 0 or probe.returncode != 0:
        tap.skip("a server in a container", "this user makes none")
        return
    os.makedirs(f"{top}/inside/served")
    os.mkdir(f"{top}/root")
    Contained.top = top
    with open(f"{top}/container.log", "w") as log, Contained(TOOL, f"{top}/served", stderr=log) as server:
        works(top, server, "in a container")
    with open(f"{top}/container.log") as log:
        said = log.read()
    tap.result("more rights" not in said, "in a container it is confined", [said])


def busy(pids, seconds):
    """The seconds of processor time that the threads of these processes take while that many seconds pass."""

    def taken():
        total = 0
        for path in (path for pid in pids for path in glob.glob(f"/proc/{pid}/task/*/schedstat")):
            with open(path) as file:
                total += int(file.read().split()[0])
        return total / 1e9

    before = taken()
    time.sleep(seconds)
    return taken() - before


def test_idle(top):
    """A service to which nobody speaks takes no processor time: no thread calls again and again what the filter refuses."""
    with Server(TOOL, f"{top}/served") as server:
        keeper = children(server.process.pid, "rpcrdma-keeper")
        helper = children(keeper[0], "rpcrdma-helper") if keeper else []
        if not tap.result(len(helper) == 1, "a server has a keeper and a helper", [keeper, helper]):
            return
        time.sleep(0.5)  # what it does as it starts is over
        for name, pid in (("service", server.process.pid), ("keeper", keeper[0]), ("helper", helper[0])):
            took = busy([pid], 0.5)
            tap.result(took < 0.05, f"an idle {name} takes no processor time", [f"{took} s in 0.5 s"])


def test_helper(top):
    """With --manage-gids, the groups of each user who calls are asked for once: of the helper, as the service cannot read /etc/passwd."""
    if os.getuid() != 0 or not may_others_run(TOOL):
        tap.skip("the helper of a server", "no other user can call")
        return
    with open(f"{top}/helper.log", "w") as log, Server(TOOL, f"{top}/served", "--manage-gids", stderr=log) as server:
        list_as = lambda uid: subprocess.Popen([TOOL, "ls", server.url], user=uid, group=uid, extra_groups=[], stdout=subprocess.DEVNULL)
        keeper = children(server.process.pid, "rpcrdma-keeper")
        helper = children(keeper[0], "rpcrdma-helper") if keeper else []
        if not tap.result(len(helper) == 1, "a server has a helper", [keeper, helper]):
            return
        tap.result(list_as(NOBODY).wait(timeout=60) == 0, "the helper knows a user")
        os.kill(helper[0], signal.SIGSEGV)
        while children(keeper[0], "rpcrdma-helper") in ([], helper):
            time.sleep(0.01)
        tap.result(list_as(1).wait(timeout=60) == 0, "so does the next one, after a crash")
        for pid in (keeper[0], *children(keeper[0], "rpcrdma-helper")):
            os.kill(pid, signal.SIGKILL)
        asking = list_as(2)
        tap.result(server.process.wait(timeout=60) == 1, "a server that cannot ask any more ends")
        asking.kill()
        asking.wait()
    with open(f"{top}/helper.log") as log:
        said = log.read()
    tap.result("another one takes its place" in said and "the service ends" in said, "both are said", [said])


def test_breach(top):
    if not BREACH or not has_landlock():
        tap.skip("a breach", "a sanitizer's library comes first" if not BREACH else "this kernel has no Landlock, or an older one")
        return
    served = f"{top}/served"
    no_files = {"shadow": errno.EACCES, "read": errno.EACCES, "write": errno.EACCES, "make": errno.EACCES}
    no_ports = {"connect": errno.EACCES, "listen": errno.EACCES}
    no_processes = {"signal": errno.EPERM, "execute": errno.EPERM}
    found = breach(top, "serve", lambda: Server(TOOL, served, "--nfs", "4"))
    for name, wanted in {**no_files, **no_ports, **no_processes}.items():
        tap.result(found[name] == wanted, f"serve: {name} is refused", [found])
    # Clients that wait for locks of version 3 are called.
    found = breach(top, "serve-3", lambda: Server(TOOL, served))
    tap.result(found["connect"] == 0 and found["read"] == errno.EACCES, "serve with version 3: connecting is left, files are not", [found])
    found = breach(top, "serve-free", lambda: Server(TOOL, served, "--no-sandbox"))
    tap.result(all(found[name] == 0 for name in ("read", "write", "make", "connect", "listen", "signal")) and found["execute"] == errno.ENOENT, "serve --no-sandbox: nothing of it is", [found])
    with Server(TOOL, served, tcp_port=free_port()) as server:
        to = f"nfs://127.0.0.1:{server.tcp_port}/?transport=tcp&mountport={server.tcp_port}"
        found = breach(top, "gateway", lambda: Gateway(TOOL, to))
    for name, wanted in {**no_files, **no_ports, **no_processes}.items():
        tap.result(found[name] == wanted, f"gateway: {name} is refused", [found])


with tempfile.TemporaryDirectory() as top:
    os.mkdir(f"{top}/served")
    with open(f"{top}/from", "w") as file:
        file.write("data")
    test_serve(top)
    test_gateway(top)
    test_idle(top)
    test_helper(top)
    test_user(top)
    test_container(top)
    test_breach(top)
tap.end()
