#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_mount.py TOOL: `rpcrdma mount` through the kernel's FUSE, by each version of NFS."""
import errno
import fcntl
import mmap
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap, free_port, may_others_run

TOOL = os.path.abspath(sys.argv[1])
VERSIONS = ("3", "4.1", "4.2")
tap = Tap()


def run(*arguments, **options):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, **options)


def why(result):
    return [f"{result.args}: {result.returncode}\n{result.stdout}{result.stderr}"]


class Mount:
    """A mount in the background; options as for -o."""

    def __init__(self, url, directory, *options):
        self.directory = directory
        self.result = run("mount", "-o", ",".join(options) or "rw", url, directory)

    def __enter__(self):
        if self.result.returncode:
            raise RuntimeError("\n".join(why(self.result)))
        return self

    def __exit__(self, *error):
        run("umount", "-f" if error[0] else "-l", self.directory)


def can_mount(work):
    """Whether this process may mount FUSE file systems; else why not."""
    if not os.path.exists("/dev/fuse"):
        return "there is no /dev/fuse"
    os.mkdir(f"{work}/try")
    with Server(TOOL, f"{work}/try=/") as server:
        os.mkdir(f"{work}/there")
        result = run("mount", server.url, f"{work}/there")
        if result.returncode:
            return "this machine lets nobody mount: " + result.stderr.strip()
        return "" if run("umount", f"{work}/there").returncode == 0 else "umount failed"


def check(name, function, *arguments):
    """A test: the function ends well, or raises what is wrong."""
    try:
        function(*arguments)
        tap.result(True, name)
    except (AssertionError, OSError, RuntimeError, subprocess.SubprocessError) as error:
        import traceback
        tap.result(False, name, [traceback.format_exc()])


def refused(number, function, *arguments):
    """The function fails with that errno."""
    try:
        function(*arguments)
    except OSError as error:
        assert error.errno == number, error
    else:
        raise AssertionError(f"not refused with {errno.errorcode[number]}")


def put(path, data):
    with open(path, "wb") as file:
        file.write(data)


def got(path):
    with open(path, "rb") as file:
        return file.read()


# ---- What each version does; here: below the mount; there: below the server's directory ----

def files(here, there):
    data = os.urandom(5 << 20)
    put(f"{here}/a", data)
    assert got(f"{there}/a") == data and got(f"{here}/a") == data
    with open(f"{here}/a", "ab") as file:
        file.write(b"more")
    assert got(f"{there}/a") == data + b"more"
    os.truncate(f"{here}/a", 3)
    assert got(f"{there}/a") == data[:3] and os.stat(f"{here}/a").st_size == 3
    fd = os.open(f"{here}/sparse", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o640)
    assert os.pwrite(fd, b"end", 1 << 30) == 3 and os.pread(fd, 3, 1 << 30) == b"end" and os.pread(fd, 2, 5) == bytes(2)
    assert os.fstat(fd).st_size == (1 << 30) + 3
    os.fsync(fd)
    os.close(fd)
    assert stat.S_IMODE(os.stat(f"{there}/sparse").st_mode) == 0o640
    refused(errno.EEXIST, os.open, f"{here}/sparse", os.O_CREAT | os.O_EXCL)
    refused(errno.ENOENT, os.open, f"{here}/none", os.O_RDONLY)


def small_writes(here, there):
    """Writes of 4 KiB are gathered: what was written last counts, where they overlap."""
    with open(f"{here}/gathered", "wb", buffering=0) as file:
        for i in range(512):
            file.write(bytes([i % 251]) * 4096)
        file.seek(4096 * 3 + 100)
        file.write(b"over")
        file.seek(4096 * 3 + 102)
        file.write(b"OVER")
    want = b"".join(bytes([i % 251]) * 4096 for i in range(512))
    at = 4096 * 3 + 100
    assert got(f"{there}/gathered") == want[:at] + b"ovOVER" + want[at + 6:]
    # What was closed is no open file, although it is not stable yet: it is removed by its name.
    os.mkdir(f"{here}/short")
    put(f"{here}/short/lived", b"x" * 9000)
    os.remove(f"{here}/short/lived")
    os.rmdir(f"{here}/short")


def names(here, there):
    os.mkdir(f"{here}/d", 0o750)
    put(f"{here}/d/one", b"1")
    os.link(f"{here}/d/one", f"{here}/d/two")
    os.symlink("d/one", f"{here}/link")
    os.mkfifo(f"{here}/pipe")
    assert os.stat(f"{here}/d/two").st_nlink == 2 and os.readlink(f"{here}/link") == "d/one" and got(f"{here}/link") == b"1"
    assert stat.S_ISFIFO(os.lstat(f"{there}/pipe").st_mode)
    os.rename(f"{here}/d/one", f"{here}/three")
    os.rename(f"{here}/d/two", f"{here}/three")  # the same file: nothing happens
    assert sorted(os.listdir(f"{here}/d")) == ["two"] == os.listdir(f"{there}/d")
    refused(errno.ENOTEMPTY, os.rmdir, f"{here}/d")
    refused(errno.ENOTDIR, os.listdir, f"{here}/three")
    refused(errno.ENAMETOOLONG, os.mkdir, f"{here}/" + "n" * 256)
    os.mkdir(f"{here}/" + "n" * 255)
    os.remove(f"{here}/d/two")
    os.rmdir(f"{here}/d")
    odd = os.fsencode(here) + b"/\xff\xfe odd"
    put(odd, b"odd")
    assert got(os.fsencode(there) + b"/\xff\xfe odd") == b"odd" and b"\xff\xfe odd" in os.listdir(os.fsencode(here))


def listing(here, there):
    os.mkdir(f"{there}/many")
    for i in range(1500):
        put(f"{there}/many/{i}-" + "x" * (i % 200), b"")
    assert sorted(os.listdir(f"{here}/many")) == sorted(os.listdir(f"{there}/many"))
    with os.scandir(f"{here}/many") as entries:
        assert sum(entry.is_file(follow_symlinks=False) for entry in entries) == 1500
    for i, name in enumerate(os.listdir(f"{here}/many")):
        if i % 2:
            os.remove(f"{here}/many/{name}")
    assert len(os.listdir(f"{here}/many")) == 750 == len(os.listdir(f"{there}/many"))


def attributes(here, there):
    put(f"{here}/attr", b"x")
    os.chmod(f"{here}/attr", 0o4711)
    os.utime(f"{here}/attr", ns=(1234567890123456789, 987654321987654321))
    os.chown(f"{here}/attr", 1234, 4321)
    os.chmod(f"{here}/attr", 0o640)
    one, other = os.stat(f"{here}/attr"), os.stat(f"{there}/attr")
    for name in ("st_mode", "st_uid", "st_gid", "st_size", "st_mtime_ns", "st_atime_ns", "st_nlink", "st_ino", "st_blocks"):
        assert getattr(one, name) == getattr(other, name), (name, one, other)
    put(f"{here}/times", b"written")  # and not closed before its times are set
    with open(f"{here}/times", "ab", buffering=0) as file:
        file.write(b"more")
        os.utime(file.fileno(), ns=(5, 7000000000))
    assert os.stat(f"{there}/times").st_mtime_ns == 7000000000
    space = os.statvfs(here)
    assert abs(space.f_blocks * space.f_frsize - os.statvfs(there).f_blocks * os.statvfs(there).f_frsize) < 1 << 20


def removed_while_open(here, there):
    fd = os.open(f"{here}/gone", os.O_RDWR | os.O_CREAT, 0o600)
    os.write(fd, b"x" * 10000)
    os.remove(f"{here}/gone")
    assert not os.path.exists(f"{here}/gone")
    os.write(fd, b"y")
    assert os.pread(fd, 20000, 0) == b"x" * 10000 + b"y" and os.fstat(fd).st_size == 10001
    put(f"{here}/new", b"new")
    other = os.open(f"{here}/new", os.O_RDONLY)
    put(f"{here}/newer", b"newer")
    os.rename(f"{here}/newer", f"{here}/new")
    assert os.pread(other, 9, 0) == b"new" and got(f"{here}/new") == b"newer"
    os.close(fd)
    os.close(other)
    until = time.monotonic() + 20
    while any(name.startswith(".nfs") for name in os.listdir(there)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(name.startswith(".nfs") for name in os.listdir(there)), os.listdir(there)


def mapped(here, there):
    fd = os.open(f"{here}/mapped", os.O_RDWR | os.O_CREAT, 0o600)
    os.ftruncate(fd, 16384)
    memory = mmap.mmap(fd, 16384)
    memory[5000:5005] = b"hello"
    memory.flush()
    assert got(f"{there}/mapped")[5000:5005] == b"hello"
    memory[9000:9003] = b"end"
    memory.close()
    os.close(fd)
    assert got(f"{here}/mapped")[9000:9003] == b"end"


def locks(here, there):
    """Two processes of the mount meet each other's locks, and one that waits gets its turn, or is interrupted."""
    put(f"{here}/locked", bytes(100))
    one = os.open(f"{here}/locked", os.O_RDWR)
    fcntl.lockf(one, fcntl.LOCK_EX, 10, 0)
    script = """if 1:
        import fcntl, os, signal, sys
        fd = os.open(sys.argv[1], os.O_RDWR)
        try:
            fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 5)
            print("granted")
        except OSError as error:
            print(error.errno)
        fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 10)
        def ended(*_):
            raise InterruptedError
        signal.signal(signal.SIGALRM, ended)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        try:
            fcntl.lockf(fd, fcntl.LOCK_EX, 10, 0)
            print("granted")
        except InterruptedError:
            print("interrupted")
        print("waits", flush=True)
        fcntl.lockf(fd, fcntl.LOCK_EX, 10, 0)
        print("got it")
    """
    other = subprocess.Popen([sys.executable, "-c", script, f"{here}/locked"], stdout=subprocess.PIPE, text=True)
    said = [other.stdout.readline().strip() for _ in range(3)]
    assert said == [str(errno.EAGAIN), "interrupted", "waits"], said
    fcntl.lockf(one, fcntl.LOCK_UN, 10, 0)
    assert other.stdout.readline().strip() == "got it" and other.wait(60) == 0
    os.close(one)


def programs(here, there):
    """Programs that use a file system hard."""
    os.mkdir(f"{here}/work")
    script = """set -e
        cd "$1/work"
        mkdir in && for i in $(seq 40); do echo "$i" > in/$i; done
        tar cf t.tar in && mkdir out && tar xf t.tar -C out && diff -r in out/in
        cp -a in again && diff -r in again && rm -rf again out
        find . -type f | wc -l
        git init -q repo && cd repo && git config user.email a@b && git config user.name a
        cp ../in/1 f && git add f && git commit -qm one && echo two >> f && git commit -qam two && git fsck --strict 2>/dev/null
        test "$(git log --oneline | wc -l)" = 2 && git clone -q . ../clone && git -C ../clone status --porcelain | wc -l
    """
    result = subprocess.run(["bash", "-c", script, "bash", here], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, why(result)
    assert subprocess.run(["diff", "-r", f"{here}/work", f"{there}/work"], timeout=120).returncode == 0


def copied(here, there):
    data = os.urandom(300000)
    put(f"{here}/from", data)
    one, other = os.open(f"{here}/from", os.O_RDONLY), os.open(f"{here}/to", os.O_RDWR | os.O_CREAT)
    assert os.copy_file_range(one, other, 100000, 50000, 0) == 100000
    assert got(f"{here}/to") == data[50000:150000] == got(f"{there}/to")
    os.setxattr(f"{here}/to", "user.key", b"value")
    assert os.getxattr(f"{there}/to", "user.key") == b"value" == os.getxattr(f"{here}/to", "user.key")
    assert os.listxattr(f"{here}/to") == ["user.key"]
    refused(errno.ENODATA, os.getxattr, f"{here}/to", "user.none")
    os.removexattr(f"{here}/to", "user.key")
    assert not os.listxattr(f"{there}/to")
    os.posix_fallocate(other, 0, 200000)
    assert os.fstat(other).st_size == 200000
    os.ftruncate(other, 1 << 20)
    os.pwrite(other, b"x", 900000)
    assert 0 < os.lseek(other, 300000, os.SEEK_DATA) <= 900000 and os.lseek(other, 0, os.SEEK_HOLE) <= 1 << 20


COMMON = (files, small_writes, names, listing, attributes, removed_while_open, mapped, programs)


def by_each_version(work):
    for version in VERSIONS:
        for transport in ("iwarp", "tcp") if version == "4.2" else ("iwarp",):
            there, here = tempfile.mkdtemp(dir=work), tempfile.mkdtemp(dir=work)
            os.chmod(there, 0o755)
            port = free_port()
            with Server(TOOL, f"{there}=/", tcp_port=port) as server:
                url = server.url if transport == "iwarp" else f"nfs://127.0.0.1:{port}/?transport=tcp&mountport={port}"
                with Mount(url, here, f"vers={version}"):
                    tests = COMMON + (locks, lists) + ((copied,) if version == "4.2" else ())
                    for test in tests:
                        check(f"{test.__name__} by version {version} over {transport}", test, here, there)


def lists(here, there):
    """Access lists: setfacl on the mount is getfacl at the server, and the other way round; new files take those of their directory."""
    def facl(*arguments):
        return subprocess.run(arguments, capture_output=True, text=True, timeout=60)

    if not shutil.which("setfacl"):
        return
    os.mkdir(f"{here}/lists")
    probe = facl("setfacl", "-m", "u:1234:r", f"{there}/lists")
    if probe.returncode:
        return  # the file system of the server keeps none
    facl("setfacl", "-b", f"{there}/lists")
    assert "user:1234" not in facl("getfacl", "-pn", f"{here}/lists").stdout
    result = facl("setfacl", "-m", "u:1234:rwx,g:77:r,d:u:99:rx", f"{here}/lists")
    assert result.returncode == 0, why(result)
    want = facl("getfacl", "-pcn", f"{there}/lists").stdout
    assert "user:1234:rwx" in want and "default:user:99:r-x" in want, want
    assert facl("getfacl", "-pcn", f"{here}/lists").stdout == want
    assert stat.S_IMODE(os.stat(f"{here}/lists").st_mode) == stat.S_IMODE(os.stat(f"{there}/lists").st_mode)
    put(f"{here}/lists/file", b"x")
    # Lists of version 4 have no mask: rights that it takes away are not in them.
    assert "user:99:r" in facl("getfacl", "-pcn", f"{here}/lists/file").stdout
    result = facl("setfacl", "-b", f"{here}/lists")
    assert result.returncode == 0, why(result)
    assert facl("getfacl", "-pcn", f"{there}/lists").stdout.count("user:") == 1


# ---- Two mounts, and a server that ends ----

def close_to_open(one, other):
    put(f"{one}/shared", b"first")
    assert got(f"{other}/shared") == b"first"
    put(f"{one}/shared", b"second, and longer")
    assert got(f"{other}/shared") == b"second, and longer"
    assert os.stat(f"{other}/shared").st_size == 18
    with open(f"{one}/shared", "r+b") as file:
        file.write(b"SECOND")
    assert got(f"{other}/shared") == b"SECOND, and longer"


def server_restarts(server, here, there):
    """A hard mount goes on where it was: what was written and not yet stable is written again. Another process has the file
    open: it would be flushed, and wait for the server, where this process makes another one."""
    script = """if 1:
        import os, random, sys
        fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
        data = random.Random(1).randbytes(3 << 20)
        os.write(fd, data)
        print("written", flush=True)
        input()
        os.fsync(fd)
        assert os.pread(fd, 4 << 20, 0) == data
        print("stable")
    """
    writer = subprocess.Popen([sys.executable, "-c", script, f"{here}/before"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert writer.stdout.readline() == "written\n"
    server.kill()
    writer.stdin.write("go on\n")
    writer.stdin.flush()
    time.sleep(0.5)
    server.start()
    assert writer.stdout.readline() == "stable\n" and writer.wait(60) == 0
    assert got(f"{there}/before") == random.Random(1).randbytes(3 << 20)


def two_mounts(work):
    there, one, other = (tempfile.mkdtemp(dir=work) for _ in range(3))
    for version in VERSIONS:
        with Server(TOOL, f"{there}=/") as server:
            with Mount(server.url, one, f"vers={version}"), Mount(server.url, other, f"vers={version}"):
                check(f"close-to-open between two mounts by version {version}", close_to_open, one, other)
                check(f"locks between two mounts by version {version}", locks_meet, one, other, there)
                check(f"a server that starts again, by version {version}", server_restarts, server, one, there)


def locks_meet(one, other, there):
    """The locks of two mounts and of a program on the server are in one table; closing the file unlocks it."""
    put(f"{there}/met", bytes(100))
    files = [os.open(f"{where}/met", os.O_RDWR) for where in (one, other, there)]
    for i, fd in enumerate(files):
        fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 10 * i)
        for other_fd in files[:i] + files[i + 1:]:
            refused(errno.EAGAIN, fcntl.lockf, other_fd, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, 10 * i)
    os.close(files[0])
    fcntl.lockf(files[1], fcntl.LOCK_EX, 10, 0)
    fcntl.lockf(files[1], fcntl.LOCK_UN, 10, 0)
    fcntl.lockf(files[2], fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 0)
    for fd in files[1:]:
        os.close(fd)
    whole = [os.open(f"{where}/met", os.O_RDWR) for where in (one, other)]
    fcntl.flock(whole[0], fcntl.LOCK_EX)
    refused(errno.EAGAIN, fcntl.flock, whole[1], fcntl.LOCK_SH | fcntl.LOCK_NB)
    fcntl.flock(whole[0], fcntl.LOCK_UN)
    fcntl.flock(whole[1], fcntl.LOCK_EX)
    for fd in whole:
        os.close(fd)


def soft(work):
    there, here = tempfile.mkdtemp(dir=work), tempfile.mkdtemp(dir=work)
    put(f"{there}/file", b"x")
    with Server(TOOL, f"{there}=/") as server:
        with Mount(server.url, here, "vers=3", "soft", "timeo=10", "retrans=1", "noac"):
            assert got(f"{here}/file") == b"x"
            server.process.send_signal(signal.SIGSTOP)
            try:
                # A program that waits can be killed.
                reader = subprocess.Popen(["cat", f"{here}/none"], stderr=subprocess.DEVNULL)
                time.sleep(0.3)
                reader.kill()
                reader.wait(30)
                forced = run("umount", "-f", here)
                assert forced.returncode == 0, why(forced)
            finally:
                server.process.send_signal(signal.SIGCONT)


def killed(work):
    """The process of a mount is killed: umount takes the rest away, and the next mount cleans up."""
    there, here = tempfile.mkdtemp(dir=work), tempfile.mkdtemp(dir=work)
    with Server(TOOL, f"{there}=/") as server:
        for how in ("umount", "mount"):
            daemon = subprocess.Popen([TOOL, "mount", "-f", "-o", "vers=3", server.url, here])
            until = time.monotonic() + 30
            while not os.path.ismount(here) and time.monotonic() < until:
                time.sleep(0.02)
            daemon.kill()
            daemon.wait(30)
            refused(errno.ENOTCONN, os.listdir, here)
            if how == "umount":
                result = run("umount", here)
                assert result.returncode == 0 and os.listdir(here) == [], why(result)
            else:
                with Mount(server.url, here, "vers=3"):
                    put(f"{here}/again", b"x")
                    assert got(f"{there}/again") == b"x"


def by_mount(work):
    """mount(8) runs the helper of the type: `mount -t rpcrdma`, with words of fstab(5) and nfs(5)."""
    there, here, sbin = (tempfile.mkdtemp(dir=work) for _ in range(3))
    helper = f"{sbin}/mount.rpcrdma"
    os.symlink(TOOL, helper)
    with Server(TOOL, f"{there}=/") as server:
        def helped(*arguments):
            return subprocess.run([helper, *arguments], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)

        fake = helped(server.url, here, "-f", "-o", "rw")
        assert fake.returncode == 0 and not os.path.ismount(here), why(fake)
        for wrong, told in ((("-o", "bogus"), "bogus"), (("-x",), "mount.rpcrdma takes"), (("more",), "mount.rpcrdma takes")):
            result = helped(server.url, here, *wrong)
            assert result.returncode == 2 and told in result.stderr and not os.path.ismount(here), why(result)
        words = "rw,noauto,_netdev,x-systemd.automount,lookupcache=none,uid=1234,gid=1234,nosuid,vers=4.2"
        result = helped("127.0.0.1:/", here, "-v", "-n", "-o", f"{words},port={server.port}", "-t", "rpcrdma")
        assert result.returncode == 0 and os.path.ismount(here), why(result)
        minor = os.minor(os.stat(here).st_dev)
        ahead = f"/sys/class/bdi/0:{minor}/read_ahead_kb"
        if os.access(ahead, os.W_OK) and os.geteuid() == 0:
            assert got(ahead) == b"4096\n", got(ahead)
        result = run("umount", here)
        assert result.returncode == 0, why(result)


def lookups(work):
    """lookupcache=none: a name that another machine makes is there at once."""
    there, here = tempfile.mkdtemp(dir=work), tempfile.mkdtemp(dir=work)
    with Server(TOOL, f"{there}=/") as server:
        for word, seen in (("all", False), ("positive", True), ("none", True)):
            with Mount(server.url, here, f"lookupcache={word}"):
                assert not os.path.exists(f"{here}/{word}")
                put(f"{there}/{word}", b"x")
                assert os.path.exists(f"{here}/{word}") == seen, word
                os.rename(f"{there}/{word}", f"{there}/gone")
                if word == "none":
                    assert not os.path.exists(f"{here}/{word}")


def ended_by_signal(work):
    """SIGTERM: what was written is at the server, and nothing is mounted any more."""
    there, here = tempfile.mkdtemp(dir=work), tempfile.mkdtemp(dir=work)
    with Server(TOOL, f"{there}=/") as server:
        daemon = subprocess.Popen([TOOL, "mount", "-f", "-o", "vers=3", server.url, here])
        until = time.monotonic() + 30
        while not os.path.ismount(here) and time.monotonic() < until:
            time.sleep(0.02)
        fd = os.open(f"{here}/late", os.O_WRONLY | os.O_CREAT)
        os.write(fd, b"late")
        daemon.terminate()
        assert daemon.wait(60) == 0 and not os.path.ismount(here)
        assert got(f"{there}/late") == b"late"
        refused(errno.ENOTCONN, os.close, fd)


def full(work):
    """A disk that is full is told by close(2) or fsync(2), and once."""
    there, here = tempfile.mkdtemp(dir=work), tempfile.mkdtemp(dir=work)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", there], check=True)
    try:
        with Server(TOOL, f"{there}=/") as server, Mount(server.url, here, "vers=3"):
            fd = os.open(f"{here}/large", os.O_WRONLY | os.O_CREAT)
            try:
                for _ in range(8):
                    os.write(fd, bytes(1 << 20))
                os.fsync(fd)
            except OSError as error:
                assert error.errno == errno.ENOSPC, error
            else:
                raise AssertionError("no error")
            try:
                os.close(fd)
            except OSError as error:  # what was under way has failed since
                assert error.errno == errno.ENOSPC, error
            os.remove(f"{here}/large")
            put(f"{here}/small", b"small")
            assert got(f"{there}/small") == b"small"
    finally:
        subprocess.run(["umount", "-l", there], check=True)


def users(work):
    """Each user acts as itself, with its groups."""
    there, here = tempfile.mkdtemp(dir=work), tempfile.mkdtemp(dir=work)
    os.chmod(there, 0o777)
    os.chmod(here, 0o755)
    put(f"{there}/secret", b"s")
    os.chmod(f"{there}/secret", 0o640)
    os.chown(f"{there}/secret", 0, 4321)
    with Server(TOOL, f"{there}=/") as server, Mount(server.url, here, "vers=3", "noac"):
        def as_user(command, groups):
            return subprocess.run(["sh", "-c", command], user=1234, group=1234, extra_groups=groups, capture_output=True, text=True,
                                  timeout=60)
        assert as_user(f"cat {here}/secret", []).returncode != 0
        assert as_user(f"cat {here}/secret", [4321]).stdout == "s"
        assert as_user(f"echo mine > {here}/mine", []).returncode == 0
        assert os.stat(f"{there}/mine").st_uid == 1234


def is_mounted(directory):
    with open("/proc/self/mounts") as mounts:
        return any(line.split()[1] == directory for line in mounts)


def ordinary_user(work):
    """A user who is not the superuser mounts by fusermount3, acts as itself, and unmounts."""
    there, here = tempfile.mkdtemp(dir=work), tempfile.mkdtemp(dir=work)
    os.chmod(there, 0o777)
    os.chown(here, 65534, 65534)
    as_user = {"user": 65534, "group": 65534, "extra_groups": [], "cwd": "/"}
    with Server(TOOL, f"{there}=/") as server:
        try:
            mounted = run("mount", "-o", "vers=4.2", server.url, here, **as_user)
            assert mounted.returncode == 0 and is_mounted(here), why(mounted)
            used = subprocess.run(["sh", "-c", f"echo mine > {here}/mine && cat {here}/mine"], capture_output=True, text=True, timeout=60,
                                  **as_user)
            assert used.stdout == "mine\n" and os.stat(f"{there}/mine").st_uid == 65534, used
            refused(errno.EACCES, os.listdir, here)  # the superuser is another user
            ended = run("umount", here, **as_user)
            assert ended.returncode == 0 and not is_mounted(here), why(ended)
        finally:
            if is_mounted(here):
                run("umount", "-l", here)


def mistakes(work):
    there, here = tempfile.mkdtemp(dir=work), tempfile.mkdtemp(dir=work)
    port = free_port()
    with Server(TOOL, f"{there}=/") as server:
        for arguments, status, words in (
                ((f"nfs://127.0.0.1:{port}/", here), 1, "refused"),
                ((server.url, f"{here}/none"), 1, "No such file"),
                ((server.url, __file__), 1, "no directory"),
                ((server.url + "none", here), 1, ""),
                (("-o", "wrong", server.url, here), 2, "'wrong' is no option"),
                (("-o", "timeo=soon", server.url, here), 2, "tenths of a second"),
                ((server.url,), 2, "Usage"),
                (("ftp://host/", here), 2, "")):
            result = run("mount", *arguments)
            tap.result(result.returncode == status and words in result.stderr and result.stderr and not os.path.ismount(here),
                       f"mount {' '.join(arguments[:-1])[-40:]}: {words or 'an error'}", why(result))
        result = run("umount", here)
        tap.result(result.returncode == 1 and here in result.stderr, "umount of what is not mounted", why(result))


def main():
    with tempfile.TemporaryDirectory() as work:
        os.chmod(work, 0o755)
        reason = can_mount(work)
        if reason:
            tap.skip("mounts", reason)
            tap.end()
        by_each_version(work)
        two_mounts(work)
        check("a server that is silent, and umount -f", soft, work)
        check("a process that is killed", killed, work)
        check("the helper of mount(8)", by_mount, work)
        check("names that the kernel keeps", lookups, work)
        check("a mount that a signal ends", ended_by_signal, work)
        check("users and their groups", users, work)
        if os.geteuid() == 0:
            check("a disk that is full", full, work)
        if os.geteuid() == 0 and shutil.which("fusermount3") and may_others_run(TOOL):
            check("a mount of an ordinary user", ordinary_user, work)
        else:
            tap.skip("a mount of an ordinary user", "there is no fusermount3, or other users do not reach the command")
        mistakes(work)
    tap.end()


main()
