# SPDX-License-Identifier: BSD-3-Clause
"""A file system that hangs on demand, by the kernel's FUSE protocol alone: a directory with one file in it. Requests from
some moment on get no answer until the file system is gone. Taken: it has read them from /dev/fuse, and the kernel then lets
no signal end the thread that waits, not even SIGKILL. Not taken: a signal that kills ends the wait. only: requests of this
kind alone get no answer, from the first READ on, and are taken."""
import ctypes
import errno
import os
import select
import struct
import threading

LIBC = ctypes.CDLL(None, use_errno=True)
LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE, FLUSH, INIT, OPENDIR, READDIR, RELEASEDIR, INTERRUPT, BATCH_FORGET = \
    1, 2, 3, 14, 15, 17, 18, 25, 26, 27, 28, 29, 36, 42
ROOT, FILE = 1, 2
CONTENT = b"of a file system that hangs\n"
MNT_DETACH = 2


def attributes(node):
    mode, size = (0o040755, 0) if node == ROOT else (0o100644, len(CONTENT))
    return struct.pack("<QQQQQQIIIIIIIIII", node, size, 1, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


class Hanging:
    def __init__(self, path, takes, only=None):
        self.path, self.takes, self.only = path, takes, only
        self.hangs = threading.Event()
        self.was_read = False  # since it hangs
        self.asked = threading.Event()  # something got no answer
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
        os.write(self.fd, struct.pack("<IiQ", 16 + len(data), -error, unique) + data)

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
            if self.hangs.is_set() and (self.only is None or (self.was_read and opcode == self.only)):
                self.asked.set()
                continue
            self.was_read |= self.hangs.is_set() and opcode == READ
            if opcode in (FORGET, BATCH_FORGET, INTERRUPT):
                continue
            self.one(opcode, unique, node, request[40:])

    def one(self, opcode, unique, node, body):
        if opcode == INIT:
            major, minor = struct.unpack_from("<II", body)
            self.answer(unique, struct.pack("<IIIIHHIIHHI28x", major, min(minor, 31), 1 << 16, 0, 16, 16, 1 << 16, 1, 0, 0, 0))
        elif opcode == LOOKUP and node == ROOT and body.rstrip(b"\0") == b"file":
            self.answer(unique, struct.pack("<QQQQII", FILE, 0, 0, 0, 0, 0) + attributes(FILE))
        elif opcode == LOOKUP:
            self.answer(unique, error=errno.ENOENT)
        elif opcode == GETATTR:
            self.answer(unique, struct.pack("<QII", 0, 0, 0) + attributes(node))
        elif opcode in (OPEN, OPENDIR):
            self.answer(unique, struct.pack("<QII", 0, 0, 0))
        elif opcode == READ:
            offset, size = struct.unpack_from("<8xQI", body)
            self.answer(unique, CONTENT[offset:offset + size])
        elif opcode == STATFS:
            self.answer(unique, struct.pack("<QQQQQIIII24x", 8, 8, 8, 8, 8, 4096, 255, 4096, 0))
        elif opcode in (READDIR, RELEASE, FLUSH, RELEASEDIR):
            self.answer(unique)
        else:
            self.answer(unique, error=errno.ENOSYS)
