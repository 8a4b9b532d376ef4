# SPDX-License-Identifier: BSD-3-Clause
"""A file system that hangs on demand, by the kernel's FUSE protocol alone: a directory with one file in it. Requests from
some moment on get no answer until the file system is gone. Taken: it has read them from /dev/fuse, and the kernel then lets
no signal end the thread that waits, not even SIGKILL. Not taken: a signal that kills ends the wait. After hang(), requests
of one kind alone get no answer, and are taken, until recover()."""
import ctypes
import errno
import os
import select
import struct
import threading

LIBC = ctypes.CDLL(None, use_errno=True)
LOOKUP, FORGET, GETATTR, SETATTR, OPEN, READ, WRITE, STATFS, RELEASE, FLUSH, INIT, OPENDIR, READDIR, RELEASEDIR, GETLK, SETLK, INTERRUPT, BATCH_FORGET = \
    1, 2, 3, 4, 14, 15, 16, 17, 18, 25, 26, 27, 28, 29, 31, 32, 36, 42
POSIX_LOCKS = 2  # a flag of INIT: the file system keeps locks of octets itself
ROOT, FILE = 1, 2
CONTENT = b"of a file system that hangs\n"
MNT_DETACH = 2


def attributes(node):
    mode, size = (0o040755, 0) if node == ROOT else (0o100644, len(CONTENT))
    return struct.pack("<QQQQQQIIIIIIIIII", node, size, 1, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


class Hanging:
    def __init__(self, path, takes=True):
        self.path, self.takes, self.only, self.after = path, takes, None, None
        self.hangs = threading.Event()
        self.asked = threading.Event()  # something got no answer
        self.held, self.lock = [], threading.Lock()  # taken, without an answer
        self.fd = os.open("/dev/fuse", os.O_RDWR)
        options = f"fd={self.fd},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
        if LIBC.mount(b"hanging", path.encode(), b"fuse", 0, options) != 0:
            os.close(self.fd)
            raise OSError(ctypes.get_errno(), "mount")
        threading.Thread(target=self.serve, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        """What waits for an answer fails."""
        LIBC.umount2(self.path.encode(), MNT_DETACH)
        os.close(self.fd)

    def answer(self, unique, data=b"", error=0):
        try:
            os.write(self.fd, struct.pack("<IiQ", 16 + len(data), -error, unique) + data)
        except FileNotFoundError:
            pass  # nobody waits for it any more

    def hang(self, only, after=None):
        """Requests of the kind `only` get no answer. after: from the first request of this kind on."""
        self.only, self.after = only, after
        self.hangs.set()

    def recover(self):
        """All requests are answered again, those that got no answer, too. Returns how many these were."""
        with self.lock:
            self.hangs.clear()
            held, self.held = self.held, []
        for request in held:
            self.one(*request)
        return len(held)

    def serve(self):
        while True:
            try:
                select.select([self.fd], [], [])
                if self.hangs.is_set() and not self.only:
                    self.asked.set()
                    if not self.takes:
                        return
                request = os.read(self.fd, 1 << 17)
            except OSError:
                return
            _, opcode, unique, node = struct.unpack_from("<IIQQ", request)
            with self.lock:
                if opcode == self.after:
                    self.after = None
                holds = self.hangs.is_set() and (self.only is None or (opcode == self.only and self.after is None))
                if holds:
                    self.held.append((opcode, unique, node, request[40:]))
            if holds:
                self.asked.set()
                continue
            if opcode in (FORGET, BATCH_FORGET, INTERRUPT):
                continue
            self.one(opcode, unique, node, request[40:])

    def one(self, opcode, unique, node, body):
        if opcode == INIT:
            major, minor = struct.unpack_from("<II", body)
            self.answer(unique, struct.pack("<IIIIHHIIHHI28x", major, min(minor, 31), 1 << 16, POSIX_LOCKS, 0, 16, 1 << 16, 1, 0, 0, 0))
        elif opcode == LOOKUP and node == ROOT and body.rstrip(b"\0") == b"file":
            self.answer(unique, struct.pack("<QQQQII", FILE, 0, 0, 0, 0, 0) + attributes(FILE))
        elif opcode == LOOKUP:
            self.answer(unique, error=errno.ENOENT)
        elif opcode in (GETATTR, SETATTR):
            self.answer(unique, struct.pack("<QII", 0, 0, 0) + attributes(node))
        elif opcode in (OPEN, OPENDIR):
            self.answer(unique, struct.pack("<QII", 0, 0, 0))
        elif opcode == READ:
            offset, size = struct.unpack_from("<8xQI", body)
            self.answer(unique, CONTENT[offset:offset + size])
        elif opcode == WRITE:
            self.answer(unique, struct.pack("<II", struct.unpack_from("<16xI", body)[0], 0))
        elif opcode == GETLK:
            self.answer(unique, struct.pack("<QQII", 0, 0, 2, 0))  # F_UNLCK
        elif opcode == STATFS:
            self.answer(unique, struct.pack("<QQQQQIIII24x", 8, 8, 8, 8, 8, 4096, 255, 4096, 0))
        elif opcode in (READDIR, RELEASE, FLUSH, RELEASEDIR, SETLK):
            self.answer(unique)
        else:
            self.answer(unique, error=errno.ENOSYS)
