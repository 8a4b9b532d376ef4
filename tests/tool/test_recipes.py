#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_recipes.py TOOL SOURCE [PAGE]...: the commands of docs/recipes/ and of docs/tutorial.md, as they stand there (each block of sh), in a
network, a /run, an /etc/hosts, a /srv and processes of their own. There, rpcbind runs, and "server" serves /srv/data as /data. Wants root."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import ganesha
from tap import Tap

TOOL, SOURCE = map(os.path.abspath, sys.argv[1:3])
LIMIT = 240
APART = ["unshare", "--mount", "--net", "--pid", "--fork", "--mount-proc", "--kill-child"]
BACKGROUND = re.compile(r"^(rpcrdma (?:serve|gateway) .*) &$", re.MULTILINE)
# A server or gateway in the background says when it is ready.
READY = r"""{ \1 >>background 2>&1; echo ended >>background; } & until grep -qE '^(ready|ended)' background; do sleep 0.1; done
grep '^ended' background && { cat background; exit 1; }; mv background background.$! """


def commands(page):
    with open(page) as file:
        blocks = re.findall(r"^```sh\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
    return "".join(BACKGROUND.sub(READY, block) for block in blocks)


def has_engine():
    return "nfs" in subprocess.run(["fio", "--enghelp"], capture_output=True, text=True).stdout.split()


# What each page needs: programs, a server, and what else is to be there.
PAGES = {
    "recipes/libnfs.md": (("nfs-ls", "nfs-cp", "nfs-cat"), "rpcrdma", None),
    "recipes/fio.md": (("fio",), "rpcrdma", (has_engine, "this fio is built without the engine nfs")),
    "recipes/qemu.md": (("qemu-img", "qemu-io"), "rpcrdma", (lambda: "nfs" in subprocess.run(
        ["qemu-img", "--help"], capture_output=True, text=True).stdout.split(), "this qemu has no NFS driver")),
    "recipes/tcp-server.md": (("ganesha.nfsd",), "ganesha", None),
    "tutorial.md": (("cc", "pkg-config"), None, None),
}


def why_not(page):
    programs, _, more = PAGES[page]
    missing = [program for program in ("unshare", "ip", "rpcbind", "rpcinfo", *programs) if not shutil.which(program)]
    if missing:
        return "not installed: " + ", ".join(missing)
    if os.geteuid() or subprocess.run([*APART, "mount", "-t", "tmpfs", "none", "/srv"], capture_output=True).returncode:
        return "this takes root, and namespaces"
    if any(os.path.realpath(path).startswith("/srv/") for path in (TOOL, SOURCE)):
        return "the project lies below /srv, where this test mounts a directory of its own"
    return more[1] if more and not more[0]() else None


# ---- Inside ----

def wait_for(good, what):
    for _ in range(600):
        if good():
            return
        time.sleep(0.1)
    raise RuntimeError(f"{what} does not come")


def call(*command):
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode


def begin_rpcrdma(work):
    log = open(f"{work}/server.log", "w")
    subprocess.Popen([TOOL, "serve", "--listen", "server", "--no-root-squash", "--key", f"{work}/key", "/srv/data=/data"], stdout=log, stderr=log)
    wait_for(lambda: "ready" in open(log.name).read(), "the server")


def begin_ganesha(work):
    # nfs-ganesha 6 exports no tmpfs, and /srv is one.
    os.mkdir(f"{work}/data")
    text = ganesha.configuration(f"{work}/data", {"nfs": 2049, "mount": 20048}, "1, 2")
    with open(f"{work}/ganesha.conf", "w") as file:
        file.write(text.replace("127.0.0.1", "192.0.2.1"))
    log = f"{work}/ganesha.log"
    open(log, "w").close()
    subprocess.Popen(["ganesha.nfsd", "-F", "-f", f"{work}/ganesha.conf", "-L", log, "-p", f"{work}/ganesha.pid", "-N", "NIV_EVENT"])
    try:
        wait_for(lambda: "NFS SERVER INITIALIZED" in open(log).read(), "nfs-ganesha")
    except RuntimeError as error:
        raise RuntimeError(open(log).read()[-2000:]) from error


def inside(page, work):
    with open(f"{work}/hosts", "w") as file:
        file.write("127.0.0.1 localhost\n192.0.2.1 server\n")
    for command in (["ip", "link", "set", "lo", "up"], ["ip", "address", "add", "192.0.2.1/32", "dev", "lo"],
                    ["mount", "-t", "tmpfs", "none", "/run"], ["mount", "-t", "tmpfs", "none", "/srv"],
                    ["mount", "--bind", f"{work}/hosts", "/etc/hosts"]):
        subprocess.run(command, check=True)
    if os.path.isdir("/var/lib/nfs"):  # nfs-ganesha keeps its clients there
        subprocess.run(["mount", "-t", "tmpfs", "none", "/var/lib/nfs"], check=True)
    os.mkdir("/srv/data")
    subprocess.Popen(["rpcbind", "-f"])
    wait_for(lambda: os.path.exists("/run/rpcbind.sock") and call("rpcinfo", "-s", "127.0.0.1") == 0, "rpcbind")
    begin = {"rpcrdma": begin_rpcrdma, "ganesha": begin_ganesha}.get(PAGES[page][1])
    if begin:
        begin(work)
    os.makedirs(f"{work}/bin")
    os.symlink(TOOL, f"{work}/bin/rpcrdma")
    os.makedirs(f"{work}/here")
    build = os.path.dirname(os.path.dirname(os.path.dirname(TOOL)))
    paths = {"PATH": f"{work}/bin:{os.environ['PATH']}", "PKG_CONFIG_PATH": f"{build}/meson-uninstalled", "LD_LIBRARY_PATH": f"{build}/src"}
    with open(f"{work}/commands", "w") as file:
        file.write(commands(f"{SOURCE}/docs/{page}"))
    done = subprocess.run(["sh", "-ex", f"{work}/commands"], cwd=f"{work}/here", env={**os.environ, **paths})
    sys.exit(done.returncode)


def main():
    if len(sys.argv) > 4 and sys.argv[3] == "--inside":
        inside(*sys.argv[4:])
    tap = Tap()
    pages = {os.path.relpath(path, f"{SOURCE}/docs") for path in glob.glob(f"{SOURCE}/docs/**/*.md", recursive=True) if commands(path)}
    tap.result(pages == set(PAGES), "each page with commands is tried", [pages ^ set(PAGES)])
    for page in sys.argv[3:] or PAGES:
        reason = why_not(page)
        if reason:
            tap.skip(f"the commands of docs/{page} do what it says", reason)
            continue
        with tempfile.TemporaryDirectory(prefix="rpcrdma-recipe-") as work, open(f"{work}/output", "w+") as output:
            try:
                done = subprocess.run([*APART, sys.executable, *sys.argv[:3], "--inside", page, work], stdout=output, stderr=output, stdin=subprocess.DEVNULL, timeout=LIMIT)
                status = done.returncode
            except subprocess.TimeoutExpired:
                status = f"none within {LIMIT} s"
            output.seek(0)
            tap.result(status == 0, f"the commands of docs/{page} do what it says", [f"exit status {status}", output.read()[-6000:]])
            if os.environ.get("RPCRDMA_SHOW"):
                output.seek(0)
                tap.note(output.read())
    tap.end()


main()
