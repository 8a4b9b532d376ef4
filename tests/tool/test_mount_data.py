#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_mount_data.py TOOL [OPERATIONS [SEED]]: a file on a mount holds what programs have written, by all ways in which they write and read: read and
write, mmap, holes, copies within the server, sizes, while another program has the file open, while it is closed and opened, and while the server is
killed and starts again. A file in memory says what is right. Each seed is another order; a seed that fails is printed, with its last operations."""
import ctypes
import errno
import mmap
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap

TOOL = os.path.abspath(sys.argv[1])
OPERATIONS = int(sys.argv[2]) if len(sys.argv) > 2 else 250
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
MOST = 3 << 20  # octets of the file
KEEP_SIZE, PUNCH_HOLE = 1, 2
libc = ctypes.CDLL(None, use_errno=True)
tap = Tap()


def fallocate(fd, mode, offset, length):
    if libc.fallocate(fd, mode, ctypes.c_long(offset), ctypes.c_long(length)):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


class Exerciser:
    """Does to the file of the path, in an order that the random numbers choose, what the model has done to itself."""

    def __init__(self, path, seed, version):
        self.path, self.random, self.version = path, random.Random(seed), version
        self.model, self.done = bytearray(), []
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)

    def close(self):
        os.close(self.fd)

    def say(self, *operation):
        self.done.append(operation)

    def place(self, most=MOST):
        offset = self.random.randrange(most)
        if self.random.random() < 0.3:
            offset &= ~4095
        return offset, min(self.random.choice((1, 7, 100, 4096, 5000, 65536, 70001, 300000)), most - offset)

    def grow(self, size):
        if size > len(self.model):
            self.model += bytes(size - len(self.model))

    def write(self):
        offset, length = self.place()
        self.say("write", offset, length)
        data = self.random.randbytes(length)
        assert os.pwrite(self.fd, data, offset) == length
        self.grow(offset + length)
        self.model[offset:offset + length] = data

    def append(self):
        length = self.random.randrange(1, 9000)
        if len(self.model) + length > MOST:
            return
        self.say("append", length)
        data = self.random.randbytes(length)
        fd = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        assert os.write(fd, data) == length
        os.close(fd)
        self.model += data

    def read(self):
        offset, length = self.place()
        self.say("read", offset, length)
        self.same(os.pread(self.fd, length, offset), offset, length)

    def same(self, got, offset, length):
        want = bytes(self.model[offset:offset + length])
        if got != want:
            at = next((i for i, pair in enumerate(zip(got, want)) if pair[0] != pair[1]), min(len(got), len(want)))
            raise AssertionError(f"{len(got)} octets for {len(want)}; octet {offset + at} is the first that differs")

    def truncate(self):
        size = self.random.randrange(MOST) if self.random.random() < 0.5 else self.random.randrange(len(self.model) + 1)
        self.say("truncate", size)
        if self.random.random() < 0.5:
            os.ftruncate(self.fd, size)
        else:
            os.truncate(self.path, size)
        del self.model[size:]
        self.grow(size)

    def mapped(self):
        if not self.model:
            return
        offset, length = self.place(len(self.model))
        start = offset & ~4095
        self.say("mapped", offset, length)
        with mmap.mmap(self.fd, offset + length - start, offset=start) as pages:
            self.same(pages[offset - start:], offset, length)
            data = self.random.randbytes(length)
            pages[offset - start:] = data
            if self.random.random() < 0.5:
                pages.flush()
        self.model[offset:offset + length] = data

    def punch(self):
        offset, length = self.place()
        self.say("punch", offset, length)
        try:
            fallocate(self.fd, KEEP_SIZE | PUNCH_HOLE, offset, length)
        except OSError as error:
            assert error.errno == errno.EOPNOTSUPP and self.version != "4.2", error
            return
        end = min(offset + length, len(self.model))
        if offset < end:
            self.model[offset:end] = bytes(end - offset)

    def allocate(self):
        offset, length = self.place()
        self.say("allocate", offset, length)
        try:
            fallocate(self.fd, 0, offset, length)
        except OSError as error:
            assert error.errno == errno.EOPNOTSUPP and self.version != "4.2", error
            return
        self.grow(offset + length)

    def copy(self):
        """Within the file, from its first half to its second."""
        length = self.random.randrange(1, len(self.model) // 2 + 2)
        source, target = 0, self.random.randrange(length, MOST)
        length = min(length, len(self.model), MOST - target)
        if length <= 0:
            return
        self.say("copy", source, target, length)
        copied = os.copy_file_range(self.fd, self.fd, length, source, target)
        self.grow(target + copied)
        self.model[target:target + copied] = self.model[source:source + copied]

    def sync(self):
        self.say("fsync")
        os.fsync(self.fd)

    def again(self):
        self.say("close, open")
        os.close(self.fd)
        self.fd = os.open(self.path, os.O_RDWR)

    def size(self):
        self.say("stat")
        assert os.stat(self.path).st_size == len(self.model) == os.fstat(self.fd).st_size

    def holes(self):
        """What SEEK_DATA passes over is zero."""
        self.say("seek")
        at = 0
        while at < len(self.model):
            try:
                data = os.lseek(self.fd, at, os.SEEK_DATA)
            except OSError as error:
                assert error.errno == errno.ENXIO, error
                data = len(self.model)
            assert not any(self.model[at:data]), f"{at} to {data} is no hole"
            if data >= len(self.model):
                return
            at = os.lseek(self.fd, data, os.SEEK_HOLE)
            assert at > data

    def rename(self):
        self.say("rename")
        os.rename(self.path, self.path + ".new")
        os.rename(self.path + ".new", self.path)

    def whole(self):
        self.say("read the whole")
        self.same(os.pread(self.fd, MOST + 1, 0), 0, MOST + 1)


STEPS = ("write",) * 6 + ("read",) * 5 + ("mapped",) * 3 + ("truncate", "append", "punch", "allocate", "copy", "sync", "again", "size", "holes", "rename")


def exercise(where, version, seed, pipe, restarts=0):
    """Runs in a process of its own: one that has files of the mount open cannot make another process while the server is away, as closing
    them there waits for it."""
    exerciser = Exerciser(f"{where}/file-{version}-{seed}", seed, version)
    other = os.open(exerciser.path, os.O_RDONLY)  # of another program
    every = OPERATIONS // (restarts + 1)
    try:
        for i in range(OPERATIONS):
            getattr(exerciser, exerciser.random.choice(STEPS))()
            if restarts and i % every == every - 1 and i + every <= OPERATIONS:
                exerciser.say("the server is killed")
                pipe.send("restart")
                pipe.recv()
            if i % 50 == 49:
                exerciser.whole()
        exerciser.sync()
        exerciser.whole()
        exerciser.same(os.pread(other, MOST + 1, 0), 0, MOST + 1)
        exerciser.close()
        pipe.send(bytes(exerciser.model))
    except (AssertionError, OSError) as error:
        pipe.send(f"seed {seed}: {type(error).__name__}: {error}; operations: {exerciser.done[-12:]}")


def run_process(name, server, here, there, version, seed, restarts):
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=exercise, args=(here, version, seed, theirs, restarts))
    process.start()
    theirs.close()
    said = None
    while ours.poll(240):
        said = ours.recv()
        if said != "restart":
            break
        server.kill()
        server.start()
        ours.send("done")
    good = isinstance(said, bytes)
    if good:
        with open(f"{there}/file-{version}-{seed}", "rb") as file:
            good = file.read() == said
    tap.result(good, name, [] if isinstance(said, bytes) else [said])
    process.kill()
    process.join()


def run_version(work, version):
    there, here = tempfile.mkdtemp(dir=work), tempfile.mkdtemp(dir=work)
    with Server(TOOL, f"{there}=/") as server:
        mounted = subprocess.run([TOOL, "mount", "-o", f"vers={version}", server.url, here], capture_output=True, text=True, timeout=60)
        if mounted.returncode:
            tap.result(False, f"a mount by version {version}", [mounted.stderr])
            return
        try:
            for what, restarts in (("in any order", 0), ("while the server is killed", 2)):
                run_process(f"all ways to write and to read, {what}, by version {version}", server, here, there, version, SEED + restarts, restarts)
        finally:
            subprocess.run([TOOL, "umount", "-f", here], timeout=60, check=False)


def main():
    with tempfile.TemporaryDirectory(prefix="rpcrdma-mount-") as work:
        here = f"{work}/try"
        os.mkdir(here)
        with Server(TOOL, f"{work}=/") as server:
            result = subprocess.run([TOOL, "mount", server.url, here], capture_output=True, text=True, timeout=60)
            if result.returncode:
                tap.skip("all ways to write and to read", "this machine lets nobody mount: " + result.stderr.strip())
                tap.end()
                return
            subprocess.run([TOOL, "umount", here], timeout=60, check=False)
        for version in ("3", "4.1", "4.2"):
            run_version(work, version)
    tap.end()


main()
