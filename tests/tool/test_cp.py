#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_cp.py TOOL: `rpcrdma cp` against `rpcrdma serve`, end to end."""
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap, free_port, stop_when

TOOL = os.path.abspath(sys.argv[1])
LARGE = 40 << 20
VERSION_4 = os.environ.get("RPCRDMA_VERSION") != "3"
tap = Tap()


def run(*arguments, **options):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=120, **options)


def make_tree(top):
    """Makes a tree with names, sizes and modes of every kind."""
    os.makedirs(f"{top}/empty")
    os.makedirs(f"{top}/a/b/c/d")
    for size in (0, 1, 3, 4, 1000, 4095, 4096, 4097, 100001, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3333333):
        with open(f"{top}/a/size-{size}", "wb") as file:
            file.write(os.urandom(size))
    for name in ("with space", "ünïcode", "quote\"'", "-r", ".hidden", "new\nline", "n" * 255, "per%cent", "b\\slash"):
        with open(f"{top}/a/b/{name}", "w", encoding="utf-8") as file:
            file.write(name)
    with open(os.fsencode(top) + b"/a/b/not-utf8-\xff\xfe", "wb") as file:
        file.write(b"x")
    for i in range(150):
        with open(f"{top}/a/b/c/{i}", "w") as file:
            file.write(str(i) * i)
    os.symlink("size-4096", f"{top}/a/link")
    os.symlink("/nowhere/at all", f"{top}/a/dangling")
    os.symlink(".", f"{top}/a/b/self")
    os.chmod(f"{top}/a/size-1", 0o400)
    os.chmod(f"{top}/a/size-3", 0o751)
    os.chmod(f"{top}/a/b/c", 0o555)
    os.utime(f"{top}/a/size-4", ns=(1_000_000_000_123_456_789, 1_234_567_890_987_654_321))
    for path, _, _ in os.walk(top, topdown=False):
        os.utime(path, ns=(1_111_111_111_000_000_001, 1_222_222_222_000_000_002))


def describe(top):
    """Returns by path what a copy keeps of each file: type, mode, time, contents or target."""
    found = {}
    top = os.fsencode(top)
    for path, directories, files in os.walk(top):
        for name in [b"."] + directories + files:
            full = os.path.join(path, name)
            st = os.lstat(full)
            entry = [stat.S_IFMT(st.st_mode)]
            if stat.S_ISLNK(st.st_mode):
                entry.append(os.readlink(full))
            else:
                entry += [stat.S_IMODE(st.st_mode), st.st_mtime_ns]
            if stat.S_ISREG(st.st_mode):
                with open(full, "rb") as file:
                    entry.append(file.read())
            found[os.path.relpath(full, top)] = entry
    return found


def differences(a, b):
    a, b = describe(a), describe(b)
    return [path for path in sorted(a.keys() | b.keys()) if a.get(path) != b.get(path)]


def leftovers(*tops):
    return [os.path.join(path, name) for top in tops for path, _, files in os.walk(top) for name in files
            if ".rpcrdma-" in name]


class World:
    def __init__(self, work):
        self.work = work
        self.served = f"{work}/served"
        self.local = f"{work}/local"
        os.makedirs(self.served)
        os.makedirs(self.local)

    def large(self, path):
        with open(path, "wb") as file:
            block = os.urandom(1 << 20)
            for i in range(LARGE >> 20):
                file.write(i.to_bytes(8, "big") + block[8:])
        return path

    def begin(self, source, target, watched):
        """Starts a copy, and stops the process in the middle of it, when its temporary file has some data. A copy that was
        too quick is made again."""
        while True:
            process = subprocess.Popen([TOOL, "cp", "--json", source, target], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
            stop_when(process, lambda: any(sizes(leftovers(watched))))
            if process.poll() is None and any(sizes(leftovers(watched))):
                return process
            process.kill()
            process.communicate()
            if process.returncode > 0:
                raise RuntimeError(f"the copy from {source} failed before it could be stopped")
            os.unlink(f"{watched}/{os.path.basename(target)}")


def sizes(paths):
    for path in paths:
        try:
            yield os.path.getsize(path)
        except FileNotFoundError:
            pass


def check(name, good, result=None, *details):
    details = list(details)
    if result is not None:
        details += [f"exit status {result.returncode}", result.stdout, result.stderr]
    tap.result(good, name, details)


def equal(a, b):
    return subprocess.run(["cmp", "-s", a, b]).returncode == 0


def check_fails(name, result, *words, status=1):
    text = result.stderr
    check(name, result.returncode == status and all(word in text for word in words) and "rpcrdma cp: " in text, result)


def copies(world, server):
    tree, out = f"{world.served}/tree", f"{world.local}/out"
    make_tree(tree)
    result = run("cp", "-r", server.url + "tree", out)
    bad = differences(tree, out)
    check("a tree is pulled, equal in data, modes and times", result.returncode == 0 and not bad, result, bad)
    check("the summary counts files, octets and RDMA Writes",
          "173 files, 6 directories, 3 links" in result.stdout and "by RDMA Write" in result.stdout, result)
    result = run("cp", "-r", "--json", out, server.url + "back")
    bad = differences(tree, f"{world.served}/back")
    check("and pushed", result.returncode == 0 and not bad, result, bad)
    sums = json.loads(result.stdout)
    check("--json tells the same to scripts", sums["files"] == 173 and sums["links"] == 3 and sums["failed"] == 0
          and sums["octets_rdma_read"] > 6_000_000 and sums["octets_rdma_write"] == 0, result)
    result = run("cp", "-r", "-q", server.url + "tree", server.url + "third")
    bad = differences(tree, f"{world.served}/third")
    check("and copied from the server to itself, quietly",
          result.returncode == 0 and not bad and result.stdout + result.stderr == "", result, bad)


def targets(world, server):
    with open(f"{world.served}/file", "w") as file:
        file.write("content")
    os.mkdir(f"{world.local}/dir")
    run("cp", server.url + "file", f"{world.local}/dir")
    check("a directory as destination takes the file under its name", os.path.exists(f"{world.local}/dir/file"))
    result = run("cp", server.url + "file", "name", cwd=f"{world.local}/dir")
    check("a name alone is in the working directory", equal(f"{world.local}/dir/name", f"{world.served}/file"), result)
    result = run("cp", "-r", server.url + "tree/a/b/c", ".", cwd=f"{world.local}/dir")
    check("-r puts a directory into one", len(os.listdir(f"{world.local}/dir/c")) == 151, result)
    result = run("cp", "-r", server.url + "tree/a/b/c", f"{world.local}/dir")
    check("a tree goes over a tree", result.returncode == 0, result)
    result = run("cp", "-r", server.url + "third/", f"{world.local}/all")
    check("a slash at the end changes nothing", not differences(f"{world.served}/third", f"{world.local}/all"), result)
    os.symlink("file", f"{world.served}/to-file")
    result = run("cp", server.url + "to-file", f"{world.local}/followed")
    check("without -r a link's file is copied", not os.path.islink(f"{world.local}/followed")
          and equal(f"{world.local}/followed", f"{world.served}/file"), result)
    os.mkdir(f"{world.local}/root")
    result = run("cp", "-r", server.url, f"{world.local}/root")
    check("the root's contents go into a directory", os.path.exists(f"{world.local}/root/file")
          and os.path.exists(f"{world.local}/root/tree/a/b/c/149"), result)


def several(world, server):
    """Copies several sources, local ones and URLs, into a directory."""
    os.makedirs(f"{world.local}/s/tree")
    os.mkdir(f"{world.served}/several")
    for name in ("s/one", "s/two", "s/tree/three"):
        with open(f"{world.local}/{name}", "w") as file:
            file.write(name)
    result = run("cp", "-r", "--json", f"{world.local}/s/one", f"{world.local}/s/none", server.url + "file", f"{world.local}/s/tree",
                 server.url + "several")
    sums = json.loads(result.stdout)
    check("several sources go into a directory; one that is missing is an error", result.returncode == 1
          and sorted(os.listdir(f"{world.served}/several")) == ["file", "one", "tree"] and "s/none" in result.stderr
          and sums["files"] == 3 and sums["failed"] == 1 and equal(f"{world.served}/several/file", f"{world.served}/file"), result)
    os.mkdir(f"{world.local}/back")
    result = run("cp", "-r", "--json", server.url + "several/one", server.url + "none", server.url + "several/tree", f"{world.local}/back")
    sums = json.loads(result.stdout)
    check("so do several URLs", result.returncode == 1 and sorted(os.listdir(f"{world.local}/back")) == ["one", "tree"]
          and sums["files"] == 2 and sums["failed"] == 1, result)
    check_fails("several sources need a directory", run("cp", server.url + "file", f"{world.local}/s/one", server.url + "several/new"),
                "need a directory")
    check("and make no file without one", not os.path.exists(f"{world.served}/several/new"))
    check_fails("each source is on a server, if the destination is not", run("cp", server.url + "file", "x", f"{world.local}/back"),
                "must be a URL", status=2)


def into_itself(world, server):
    """A tree is not copied into itself, however source and destination are named; what is beside the copy is copied."""
    os.makedirs(f"{world.served}/self/a/b")
    for i in range(100):
        with open(f"{world.served}/self/a/b/{i}", "w") as file:
            file.write("content")
    here, there = f"{world.served}/self", server.url + "self"
    os.symlink("self/a", f"{world.served}/to-self")
    for name, source, target in (("by URLs", there, there), ("from here to the server", here, there), ("from the server to here", there, here)):
        for below in ("a/b/copy", "copy"):
            result = run("cp", "-r", "--json", source, f"{target}/{below}")
            sums = json.loads(result.stdout)
            check(f"a tree is not copied into itself, {name}, at {below}", result.returncode == 1 and "into itself" in result.stderr
                  and sums["files"] == 100 and sums["failed"] == 1 and sorted(os.listdir(f"{here}/{below}")) == ["a"]
                  and not os.path.exists(f"{here}/{below}/a/b/copy"), result)
            shutil.rmtree(f"{here}/{below}", ignore_errors=True)
        os.mkdir(f"{here}/a/old")
        result = run("cp", "-r", source, f"{target.removesuffix('self')}to-self/old")
        check(f"nor into a directory that is there, over a link, {name}", result.returncode == 1 and "into itself" in result.stderr
              and os.listdir(f"{here}/a/old/self/a/old") == [], result)
        shutil.rmtree(f"{here}/a/old", ignore_errors=True)


def slashes(world, server):
    """A destination that ends with a slash is a directory."""
    with open(f"{world.served}/taken", "w") as file:
        file.write("taken")
    for options in ([], ["-r"]):
        check_fails(f"a file is no directory, {options}", run("cp", *options, f"{world.local}/dir/file", server.url + "taken/"),
                    "it is no directory")
        check_fails(f"nor is what does not exist, {options}", run("cp", *options, f"{world.local}/dir/file", server.url + "none/"),
                    "there is no such directory")
    with open(f"{world.served}/taken") as file:
        check("and the file stays", file.read() == "taken" and not os.path.lexists(f"{world.served}/none"))
    check_fails("a file here is no directory", run("cp", server.url + "file", f"{world.local}/dir/file/"), "ot a directory")
    result = run("cp", "-r", server.url + "tree/a/b/c", server.url + "made/")
    check("-r makes a directory with a slash", result.returncode == 0 and len(os.listdir(f"{world.served}/made")) == 151, result)


def refusals(world, server):
    out = f"{world.local}/refused"
    url = server.url
    check_fails("a directory needs -r", run("cp", url + "tree", out), "copy it with -r")
    check_fails("both sides local is a mistake", run("cp", "a", "b"), "must be a URL", status=2)
    check_fails("so is a single argument", run("cp", url), "DESTINATION", status=2)
    check_fails("so is an option that is not there", run("cp", "-x", url, out), "-x", status=2)
    check_fails("a URL that is none", run("cp", "nfs:/x", out), "nfs:/x: ", "nfs://HOST", status=2)
    check_fails("a file that is not there", run("cp", url + "none", out), "no such file", url + "none")
    check_fails("a local file that is not there", run("cp", f"{world.local}/none", url), "no such file")
    check_fails("no directory to put it in", run("cp", url + "file", f"{out}/x/y"), "does not exist")
    check_fails("no directory to put it in, on the server", run("cp", f"{world.local}/dir/file", url + "x/y"),
                "does not exist")
    os.makedirs(f"{world.local}/dir2/file")
    check_fails("a file does not replace a directory", run("cp", url + "file", f"{world.local}/dir2"),
                "directory of this name")
    check_fails("a directory does not replace a file", run("cp", "-r", url + "tree", f"{world.local}/dir/file"),
                "no directory")
    check_fails("a directory is not copied into itself", run("cp", "-r", url + "tree", url + "tree/a/b/c/new"),
                "into itself")
    shutil.rmtree(f"{world.served}/tree/a/b/c/new")
    check_fails("a name too long for the server", run("cp", f"{world.local}/dir/file", url + "n" * 256), "too long")
    check_fails("a name too long here", run("cp", url + "file", f"{world.local}/dir/" + "n" * 256), "too long")
    check_fails("a host that is not there", run("cp", "nfs://no-such-host.invalid/x", out), "no-such-host.invalid")
    check_fails("a port where nobody listens", run("cp", f"nfs://127.0.0.1:{free_port()}/x", out), "127.0.0.1:")
    check("nothing half-made stays", not os.path.lexists(out) and not leftovers(world.work), None,
          leftovers(world.work))


def strangers(world):
    """The program that listens at the port is no server of RPC-over-RDMA."""
    def answer(listener, octets):
        connection, _ = listener.accept()
        connection.recv(4096)
        connection.sendall(octets)
        connection.close()

    for name, octets in (("a web server", b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n" * 4), ("a shy one", b"")):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            threading.Thread(target=answer, args=(listener, octets), daemon=True).start()
            port = listener.getsockname()[1]
            check_fails(f"{name} at the port", run("cp", f"nfs://127.0.0.1:{port}/x", f"{world.local}/x"), str(port))


def partly(world, server):
    source = f"{world.local}/special"
    os.mkdir(source)
    os.mkfifo(f"{source}/pipe")
    for name in "ab":
        with open(f"{source}/{name}", "w") as file:
            file.write(name)
    result = run("cp", "-r", source, server.url + "special")
    check_fails("special files are left out with a warning", result, "special/pipe", "left out")
    check("and the others are copied", sorted(os.listdir(f"{world.served}/special")) == ["a", "b"], result)


def permissions(world, server):
    secret = f"{world.served}/secret"
    with open(secret, "w") as file:
        file.write("x")
    os.chmod(secret, 0)
    as_other = "?uid=65534&gid=65534" if os.geteuid() == 0 else ""
    os.mkdir(f"{world.served}/closed")
    os.chmod(f"{world.served}/closed", 0o500)
    check_fails("a file that may not be read", run("cp", server.url + "secret" + as_other, f"{world.local}/secret"),
                "permission denied", "ERR_ACCES")
    check_fails("a directory that may not be written", run("cp", f"{world.local}/dir/file", server.url + "closed/x" + as_other),
                "permission denied")
    check("leave nothing", not os.path.lexists(f"{world.local}/secret") and not os.listdir(f"{world.served}/closed"))


def modes(top):
    return {os.path.relpath(os.path.join(path, name), top): oct(stat.S_IMODE(os.lstat(os.path.join(path, name)).st_mode))
            for path, directories, files in os.walk(top) for name in [".", *directories, *files]}


def masks(world, server):
    """Without -a, new files and directories do not get the mode bits of the umask, as by cp(1)."""
    top = f"{world.local}/wide"
    os.makedirs(f"{top}/below")
    for name, size in (("wide/empty", 0), ("wide/small", 10), ("wide/below/large", 300000), ("alone", 5)):
        with open(f"{world.local}/{name}", "wb") as file:
            file.write(b"x" * size)
    for name in ("wide", "wide/below", "wide/empty", "wide/small", "wide/below/large", "alone"):
        os.chmod(f"{world.local}/{name}", 0o777)
    for source, to, place in ((top, server.url + "narrow", f"{world.served}/narrow"),
                              (server.url + "all", f"{world.local}/narrow", f"{world.local}/narrow")):
        for options, want in ((("-r",), "0o750"), (("-a",), "0o777")):
            shutil.rmtree(place, ignore_errors=True)
            result = run("cp", *options, source, to, umask=0o027)
            found = modes(place)
            check(f"the umask counts with {options[0]}: {want}", result.returncode == 0 and set(found.values()) == {want}, result, found)
            shutil.rmtree(f"{world.served}/all", ignore_errors=True)
            shutil.copytree(top, f"{world.served}/all")
    result = run("cp", f"{world.local}/alone", server.url, umask=0o077)
    check("and for a single file", modes(world.served).get("alone") == "0o700", result)
    os.chmod(f"{world.served}/alone", 0o666)
    result = run("cp", f"{world.local}/alone", server.url, umask=0o077)
    check("a file that is there keeps its mode", modes(world.served).get("alone") == "0o666", result)


def read_only(world):
    with Server(TOOL, world.served, "--read-only") as server:
        check_fails("a read-only server takes nothing", run("cp", f"{world.local}/dir/file", server.url), "read-only")


def changes(world, server):
    source = world.large(f"{world.local}/growing")
    process = world.begin(source, server.url + "growing", world.served)
    with open(source, "ab") as file:
        file.write(b"more")
    process.send_signal(signal.SIGCONT)
    _, errors = process.communicate(timeout=60)
    tap.result(process.returncode == 1 and "changed its size" in errors and not leftovers(world.work)
               and not os.path.exists(f"{world.served}/growing"), "a file that grows while it is copied is refused", [errors])
    os.rename(source, f"{world.served}/shrinking")
    process = world.begin(server.url + "shrinking", f"{world.local}/shrinking", world.local)
    os.truncate(f"{world.served}/shrinking", LARGE // 2)
    process.send_signal(signal.SIGCONT)
    _, errors = process.communicate(timeout=60)
    tap.result(process.returncode == 1 and "changed its size" in errors and not leftovers(world.work)
               and not os.path.exists(f"{world.local}/shrinking"), "so is one that shrinks", [errors])
    os.unlink(f"{world.served}/shrinking")


def put(path, text, seconds):
    with open(path, "w") as file:
        file.write(text)
    os.utime(path, ns=(0, seconds * 10**9 + 5))


def get(path):
    with open(path) as file:
        return file.read()


def updates(world, server):
    """Copies with --update and --checksum, to a server and from a server."""
    for number, (top, there) in enumerate(((f"{world.local}/u", f"{world.served}/u"), (f"{world.served}/v", f"{world.local}/v"))):
        os.makedirs(f"{top}/d")
        os.makedirs(f"{there}/d")
        for name, mine, when, theirs, then in (
                ("same", "text", 100, "text", 100), ("older", "mine", 101, "their", 100), ("newer", "mine", 100, "their", 101),
                ("touched", "text", 101, "text", 100), ("d/changed", "mine", 100, "them", 100), ("d/missing", "mine", 1, None, 0)):
            put(f"{top}/{name}", mine, when)
            if theirs:
                put(f"{there}/{name}", theirs, then)
        put(f"{top}/large", "x" * 3000000, 101)
        put(f"{there}/large", "x" * 2999999 + "y", 100)
        way = "to a server" if number == 0 else "from a server"
        source, target = (top, server.url) if number == 0 else (server.url + "v", world.local)
        result = run("cp", "-r", "--json", "--update", "--checksum", source, target)
        sums = json.loads(result.stdout)
        check(f"--update and --checksum leave what is not older, and what is the same, {way}", result.returncode == 0
              and sums["files"] == 3 and sums["skipped"] == 4 and get(f"{there}/newer") == "their" and get(f"{there}/older") == "mine"
              and get(f"{there}/d/changed") == "them" and get(f"{there}/d/missing") == "mine"
              and get(f"{there}/large") == get(f"{top}/large"), result)
        check(f"a file that is left keeps its times, {way}", os.stat(f"{there}/touched").st_mtime_ns == 100 * 10**9 + 5, result)
        result = run("cp", "-r", "-u", source, target)
        check(f"--update alone looks at times, {way}", result.returncode == 0 and "copied 1 file," in result.stdout
              and "left 6 as they are" in result.stdout and os.stat(f"{there}/touched").st_mtime_ns == 101 * 10**9 + 5, result)
        result = run("cp", "-r", "-c", source, target)
        check(f"--checksum alone looks at contents, {way}", result.returncode == 0 and "left 5 as they are" in result.stdout
              and get(f"{there}/newer") == "mine" and get(f"{there}/d/changed") == "mine", result)
        one = (f"{top}/same", server.url + "u/same") if number == 0 else (server.url + "v/same", f"{there}/same")
        for option in ("-u", "-c"):
            result = run("cp", "--json", option, *one)
            sums = json.loads(result.stdout)
            check(f"{option} of one file, {way}", result.returncode == 0 and sums["files"] == 0 and sums["skipped"] == 1, result)


def interruptions(world, server):
    source = world.large(f"{world.local}/large")
    shutil.copy(source, f"{world.served}/large")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for way, (a, b, watched) in {"push": (source, server.url + "x", world.served),
                                     "pull": (server.url + "large", f"{world.local}/x", world.local)}.items():
            process = world.begin(a, b, watched)
            process.send_signal(number)
            process.send_signal(signal.SIGCONT)
            _, errors = process.communicate(timeout=60)
            left = leftovers(world.work)
            tap.result(process.returncode == -number and "interrupted" in errors and "with --resume" in errors and not left
                       and "warning" not in errors
                       and not os.path.exists(f"{world.served}/x") and not os.path.exists(f"{world.local}/x"),
                       f"{signal.Signals(number).name} in a {way} leaves nothing", [errors, left])


def restarts(world, server):
    source = f"{world.local}/large"
    for way, (a, b, watched, made) in {
            "push": (source, server.url + "y", world.served, f"{world.served}/y"),
            "pull": (server.url + "large", f"{world.local}/y", world.local, f"{world.local}/y")}.items():
        process = world.begin(a, b, watched)
        server.kill()
        process.send_signal(signal.SIGCONT)
        server.start()
        output, errors = process.communicate(timeout=60)
        good = process.returncode == 0 and json.loads(output)["reconnects"] >= 1 and equal(made, source)
        tap.result(good and not leftovers(world.work), f"a {way} survives SIGKILL and restart of the server",
                   [output, errors, leftovers(world.work)])


def full(world):
    """The file system of the destination becomes full, on either side."""
    place = f"{world.work}/small"
    os.mkdir(place)
    names = ("the disk here is full", "the disk there is full")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", place], capture_output=True).returncode:
        for name in names:
            tap.skip(name, "needs root to mount a small file system")
        return
    try:
        with Server(TOOL, world.served) as server:
            check_fails(names[0], run("cp", server.url + "large", f"{place}/x"), "No space left", f"{place}/x")
            check("nothing stays there", not os.listdir(place), None, os.listdir(place))
        with Server(TOOL, place) as server:
            check_fails(names[1], run("cp", f"{world.local}/large", server.url + "x"), "no space left", server.url + "x")
            result = run("cp", f"{world.local}/large", server.url + "x")
            check("which says so and no more", len(result.stderr.splitlines()) == 1 and "warning" not in result.stderr, result)
            check("nothing stays there either", not leftovers(place) and not os.path.exists(f"{place}/x"), None,
                  os.listdir(place))
            server.stop()
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def main():
    os.umask(0o022)
    # The commands sync what they write to disk, which takes no time for files in memory.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="rpcrdma-cp-", dir=memory) as work:
        os.chmod(work, 0o755)
        world = World(work)
        with Server(TOOL, world.served) as server:
            for part in (copies, targets, several, into_itself, slashes, refusals, partly, permissions, masks, changes, updates, interruptions, restarts):
                part(world, server)
        strangers(world)
        read_only(world)
        full(world)
        subprocess.run(["chmod", "-R", "u+rwX", work], check=True)
    tap.end()


main()
