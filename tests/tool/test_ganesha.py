#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_ganesha.py TOOL: the commands over versions 4.1 and 4.2 against a server that is not this project's: nfs-ganesha,
over TCP, also while it is killed and starts again, and `rpcrdma check` of a gateway to it."""
import filecmp
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import ganesha
from tap import Gateway, Tap

TOOL = os.path.abspath(sys.argv[1])
tap = Tap()


def fill(top):
    os.makedirs(f"{top}/a/b")
    for size in (0, 1, 4096, 100001, 3333333):
        with open(f"{top}/a/size-{size}", "wb") as file:
            file.write(os.urandom(size))
    for i in range(100):
        with open(f"{top}/a/b/{i}", "w") as file:
            file.write(str(i))
    os.symlink("size-1", f"{top}/a/link")
    os.chmod(f"{top}/a/size-1", 0o640)
    os.utime(f"{top}/a/size-4096", ns=(1_000_000_000_123_456_789, 1_234_567_890_987_654_321))


def go(version, server, work, served):
    def url(path):
        return f"nfs://127.0.0.1:{server.ports['nfs']}/data/{path}?transport=tcp&version={version}"

    def run(name, *arguments):
        done = subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=120)
        tap.result(done.returncode == 0, f"{version}: {name}", [done.stdout, done.stderr])
        return done.stdout

    def same(a, b, name):
        done = subprocess.run(["diff", "-r", a, b], capture_output=True, text=True)
        tap.result(done.returncode == 0, f"{version}: {name}", [done.stdout, done.stderr])

    run("a tree is copied in", "cp", "-q", "-r", f"{work}/source", url(f"in-{version}"))
    same(f"{work}/source", f"{served}/in-{version}", "it is there")
    made = os.stat(f"{served}/in-{version}/a/size-4096")
    tap.result(made.st_mtime_ns == 1_234_567_890_987_654_321, f"{version}: with its times", [made])
    run("a tree is copied out", "cp", "-q", "-r", url(f"in-{version}"), f"{work}/out-{version}")
    same(f"{work}/source", f"{work}/out-{version}", "it is here")
    listed = run("a directory is listed", "ls", url(f"in-{version}/a/b"))
    tap.result(len(listed.split()) == 100, f"{version}: all of it", [listed])
    tap.result(run("a file is shown through a link", "cat", url(f"in-{version}/a/b/7")) == "7", f"{version}: as it is")
    run("an object is described", "stat", url(f"in-{version}/a"))
    set_ids(run, url, version, work, served)
    run("a directory is made", "mkdir", url(f"made-{version}"))
    run("a directory is made with a mode", "mkdir", "-m", "3770", url(f"shared-{version}"))
    mode = os.stat(f"{served}/shared-{version}").st_mode & 0o7777
    tap.result(mode == 0o3770, f"{version}: which it has", [oct(mode)])
    run("a tree is removed", "rm", "-r", url(f"in-{version}"))
    tap.result(not os.path.exists(f"{served}/in-{version}"), f"{version}: it is gone")


def set_ids(run, url, version, work, served):
    """A change of owner, or of size, clears set-user-ID and set-group-ID bits."""
    top = f"{work}/set-{version}"
    os.makedirs(f"{top}/folder")
    for name, mode in (("user", 0o4755), ("group", 0o2755), ("both", 0o6711), ("empty", 0o4755), ("holed", 0o4755)):
        with open(f"{top}/{name}", "wb") as file:
            file.write(b"" if name == "empty" else b"x" * 5000)
            file.truncate(200000 if name == "holed" else file.tell())
        os.chown(f"{top}/{name}", 1234, 4321)
        os.chmod(f"{top}/{name}", mode)
    os.chown(f"{top}/folder", 1234, 4321)
    os.chmod(f"{top}/folder", 0o2775)

    def described(folder):
        return {name: (oct(st.st_mode), st.st_uid, st.st_gid, st.st_mtime_ns) for name in sorted(os.listdir(folder))
                for st in [os.stat(f"{folder}/{name}")]}

    run("a tree with set-ID bits is copied in", "cp", "-q", "-a", top, url(f"set-{version}"))
    there = described(f"{served}/set-{version}")
    tap.result(there == described(top), f"{version}: cp -a keeps owners and set-ID bits", [there, described(top)])
    said = run("sync has nothing to do then", "sync", "-q", "-n", top, url(f"set-{version}"))
    tap.result(said == "", f"{version}: and says so", [said])
    run("sync makes such a tree", "sync", "-q", top, url(f"synced-{version}"))
    there = described(f"{served}/synced-{version}")
    tap.result(there == described(top), f"{version}: sync keeps them, too", [there, described(top)])


def under_way(copy, folder, before):
    """Waits until the copy has put some data into a new file of the folder. False: the copy ended before that."""
    while copy.poll() is None:
        for name in set(os.listdir(folder)) - before:
            if os.path.exists(f"{folder}/{name}") and os.path.getsize(f"{folder}/{name}") > 0:
                return True
        time.sleep(0.005)
    return False


def over_a_restart(version, server, work, served):
    """The server is killed and starts again while a file is copied to it, and while it is copied back."""
    source, there, back = f"{work}/big", f"{served}/big-{version}", f"{work}/back-{version}"
    url = f"nfs://127.0.0.1:{server.ports['nfs']}/data/big-{version}?transport=tcp&version={version}"
    with open(source, "wb") as file:
        file.write(os.urandom(1 << 20) * 192)
    for name, arguments, target in (("in", (source, url), served), ("out", (url, back), work)):
        before = set(os.listdir(target))
        copy = subprocess.Popen([TOOL, "cp", "-q", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        begun = under_way(copy, target, before)
        server.restart()
        said = copy.communicate(timeout=300)[0]
        tap.result(copy.returncode == 0, f"{version}: a file is copied {name} while the server is killed and starts again", [said])
        print(f"# {name}: the copy {'was under way' if begun else 'was over'} when the server was killed")
    tap.result(filecmp.cmp(source, there, False) and filecmp.cmp(source, back, False), f"{version}: and both are equal")
    for path in (source, there, back):
        os.unlink(path)


def within_the_server(version, server, work, served):
    """Copies a file with a hole to the server, within the server, and back."""
    def url(name):
        return f"nfs://127.0.0.1:{server.ports['nfs']}/data/{name}?transport=tcp&version={version}"

    source, back = f"{work}/sparse", f"{work}/sparse-back"
    with open(source, "wb") as file:
        file.write(b"begin")
        file.seek(32 << 20)
        file.write(b"end")
    steps = ((source, url("sparse")), (url("sparse"), url("sparse-copy")), (url("sparse-copy"), back))
    done = [subprocess.run([TOOL, "cp", "-q", *step], capture_output=True, text=True, timeout=120) for step in steps]
    tap.result(all(one.returncode == 0 for one in done), f"{version}: a file with a hole is copied in, within the server, and out", done)
    tap.result(filecmp.cmp(source, f"{served}/sparse-copy", False) and filecmp.cmp(source, back, False), f"{version}: and is equal")
    blocks = [os.stat(path).st_blocks for path in (source, f"{served}/sparse", f"{served}/sparse-copy", back)]
    print(f"# blocks: {blocks}")
    if version == "4.2":
        tap.result(blocks[1] < 2048 and blocks[3] < 2048, f"{version}: with its hole", [blocks])
    for path in (source, back, f"{served}/sparse", f"{served}/sparse-copy"):
        os.unlink(path)


def checked(server, minors):
    """Runs the cases of version 4 through a gateway: with sessions, or by version 4.0 when the server has no later one."""
    with Gateway(TOOL, f"nfs://127.0.0.1:{server.ports['nfs']}/?transport=tcp&mountport={server.ports['mount']}") as gateway:
        done = subprocess.run([TOOL, "check", "--format", "json", "--only", "B9", f"{gateway.rdma_url}data/source/a/size-100001"],
                              capture_output=True, text=True, timeout=120)
    cases = [json.loads(line) for line in done.stdout.splitlines()]
    verdicts = [case["verdict"] for case in cases if "verdict" in case]
    tap.result(len(verdicts) == 6 and set(verdicts) == {"pass"},
               f"rpcrdma check, with minor versions {minors}: several READs of a COMPOUND, in both versions", [done.stderr, *cases])


def url_of_3(server, path):
    return f"nfs://127.0.0.1:{server.ports['nfs']}/data/{path}?transport=tcp&version=3&mountport={server.ports['mount']}"


def run_3(name, *arguments):
    done = subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=120)
    tap.result(done.returncode == 0, f"3: {name}", [done.stdout, done.stderr])
    return done.stdout


def main():
    reason = ganesha.why_not()
    if reason:
        tap.skip("nfs-ganesha", reason)
        tap.end()
    with tempfile.TemporaryDirectory(prefix="rpcrdma-ganesha-", dir="/var/tmp") as work:
        served = f"{work}/served"
        os.mkdir(served)
        fill(f"{work}/source")
        server = ganesha.Ganesha(work, served)
        try:
            set_ids(run_3, lambda path: url_of_3(server, path), "3", work, served)
            for version in ("4.1", "4.2"):
                go(version, server, work, served)
                within_the_server(version, server, work, served)
                over_a_restart(version, server, work, served)
        finally:
            server.stop()
        for minors in ("0, 1, 2", "0"):
            server = ganesha.Ganesha(work, work, minors)
            try:
                checked(server, minors)
            finally:
                server.stop()
    tap.end()


main()
