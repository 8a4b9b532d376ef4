# SPDX-License-Identifier: BSD-3-Clause
"""ONC RPC and NFS over RDMA, by librpcrdma.

    with rpcrdma.Nfs("nfs://server/export") as nfs:
        print(nfs.list("/"))
        data = nfs.read("file")
        nfs.write("copy", data)

    schema = rpcrdma.Schema(open("blob.x").read())
    with rpcrdma.Client("server", 20049, schema, "BLOB_V1") as blob:
        stored = blob.BLOB_PUT({"data": b"octets"})

Errors are rpcrdma.Error, an OSError: its args are a number (negative: enum rpcrdma_error; positive: what an NFS server
answered) and a text; its errno is the number that the system has for it. An object is for one thread at a time; others run while it waits.
"""
import errno
import io
import os

from . import _rpcrdma
from ._rpcrdma import Error
from .xdr import Schema, XdrError

__all__ = ["Client", "Error", "Nfs", "Schema", "XdrError"]
_TRANSPORTS = {"rdma": 0, "tcp": 1, "iwarp": 2, "verbs": 3}
_NOENT = 2
_DIRECTORY = 2
_CREATE, _MKDIR, _REMOVE, _RMDIR = range(4)
_PIECE = 1 << 20


class _Closes:
    def close(self):
        self._inner.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


class Client(_Closes):
    """Calls a version of a program of a schema: each procedure is a method, with the arguments that the schema names."""

    def __init__(self, host, port, schema, version, *, transport="rdma", auth_none=False, timeout=60.0, reply_max=1 << 20):
        self._schema, self._version = schema, schema.version(version)
        self._timeout, self._reply_max = timeout, reply_max
        self._inner = _rpcrdma.Client(host, port, _TRANSPORTS[transport], auth_none, reply_max + 65536)

    def __getattr__(self, name):
        procedure = self._version.procedures.get(name) if not name.startswith("_") else None
        if procedure is None:
            raise AttributeError(name)

        def call(*arguments):
            octets = self._schema.pack_all(procedure.arguments, arguments)
            answer = self._inner.call(self._version.program, self._version.number, procedure.number, octets,
                                      self._reply_max, self._timeout)
            return self._schema.unpack(procedure.result, answer)

        call.__name__ = name
        return call


class Nfs(_Closes):
    """The directory that a URL, as `rpcrdma cp` takes it, names. Paths are below it: one that leads out of it is an error. A path is
    a str, bytes or os.PathLike; names that are no UTF-8 are as os.fsdecode() has them."""

    def __init__(self, url):
        self._inner = _rpcrdma.Nfs(url)

    def stat(self, path, follow=True):
        """A dictionary; modified_ns, accessed_ns and changed_ns are nanoseconds since 1970. owner and group are None, or names that the
        server sent in the place of numbers. follow: of a symbolic link, its target."""
        return self._inner.stat(path, follow)

    def list(self, path="/"):
        return self._inner.list(path)

    def walk(self, top="/"):
        """(path, directories, others) of top and each directory below it, as os.walk(); links are not followed."""
        top, directories, others = os.fsdecode(top), [], []
        for name in self.list(top):
            kind = self.stat(f"{top.rstrip('/')}/{name}", False)["type"]
            (directories if kind == _DIRECTORY else others).append(name)
        yield top, directories, others
        for name in directories:
            yield from self.walk(f"{top.rstrip('/')}/{name}")

    def open(self, path, mode="r", buffering=_PIECE, encoding=None, errors=None, newline=None):
        """A file object, as the built-in open() gives it. It goes by its path: after a rename it is another file, or none."""
        return _open(self, path, mode, buffering, encoding, errors, newline)

    def readinto(self, path, buffer, offset=0):
        """Octets that were read, straight into the buffer."""
        return self._inner.read(path, offset, buffer)

    def read(self, path, offset=0, length=None):
        """The octets of a file from offset on: length of them, or all."""
        if offset < 0 or (length is not None and length < 0):
            raise ValueError("an offset or a length is negative")
        if length is None:
            length = max(0, self.stat(path)["size"] - offset)
        data = bytearray(length)
        done = 0
        while done < length:
            with memoryview(data)[done:done + _PIECE] as piece:
                moved = self.readinto(path, piece, offset + done)
            if moved == 0:
                break
            done += moved
        return bytes(data[:done])

    def write(self, path, data, offset=None):
        """Writes all octets, and returns when the server has stored them. A file that does not exist is made. Without an offset,
        the file has these octets alone afterwards; with one, what is around them stays."""
        with memoryview(data).cast("B") as view:
            self._make(path, cut=offset is None)
            done = 0
            while done < len(view):
                done += self._inner.write(path, (offset or 0) + done, view[done:done + _PIECE])
        return done

    def truncate(self, path, size=0):
        """Cuts the file off, or makes it longer with zeroes."""
        self._inner.truncate(path, size)

    def rename(self, path, new):
        """Gives an object another path; what had that is replaced."""
        self._inner.rename(*_split(path), *_split(new))

    def mkdir(self, path):
        self._change(path, _MKDIR)

    def remove(self, path):
        self._change(path, _REMOVE)

    def rmdir(self, path):
        self._change(path, _RMDIR)

    def get_acl(self, path, inherited=False):
        """The access list as getfacl(1) writes it, an entry a string: "user::rw-", "user:1234:r--", "mask::r--". inherited: that which
        what is made in the directory inherits; without one, no entries."""
        return [f"{_TAGS[tag][0]}:{number if _TAGS[tag][1] else ''}:" + "".join(right if perm & bit else "-" for right, bit in _RIGHTS)
                for tag, perm, number in self._inner.get_acl(path, inherited)]

    def set_acl(self, path, entries, inherited=False):
        """Sets it. No entries: what is made in the directory inherits none."""
        self._inner.set_acl(path, [_entry(text) for text in entries], inherited)

    def _make(self, path, cut):
        try:
            if cut:
                self.truncate(path)
            else:
                self.stat(path)
        except Error as error:
            if error.args[0] != _NOENT:
                raise
            self._change(path, _CREATE)

    def _change(self, path, change):
        self._inner.change(*_split(path), change)


# The tags of access lists, with whether they name somebody.
_TAGS = {1: ("user", False), 2: ("user", True), 4: ("group", False), 8: ("group", True), 16: ("mask", False), 32: ("other", False)}
_RIGHTS = (("r", 4), ("w", 2), ("x", 1))


def _entry(text):
    word, number, rights = text.split(":")
    for tag, (name, names) in _TAGS.items():
        if name == word and names == bool(number):
            break
    else:
        raise ValueError(f"no entry of an access list: {text}")
    perm = 0
    for right in rights.replace("-", ""):
        perm |= dict(_RIGHTS)[right]
    return tag, perm, int(number or 0)


def _split(path):
    directory, _, name = os.fsdecode(path).rstrip("/").rpartition("/")
    return directory, name


class _File(io.RawIOBase):
    """A file of an Nfs, without a buffer."""

    def __init__(self, nfs, path, read, write, append):
        super().__init__()
        self.name, self._nfs, self._read, self._write, self._append, self._at = path, nfs, read, write, append, 0
        if append:
            self.seek(0, io.SEEK_END)

    def readable(self):
        return self._read

    def writable(self):
        return self._write

    def seekable(self):
        return True

    def readinto(self, buffer):
        self._check(self._read)
        with memoryview(buffer).cast("B") as view:
            moved = self._nfs.readinto(self.name, view[:_PIECE], self._at)
        self._at += moved
        return moved

    def write(self, data):
        self._check(self._write)
        if self._append:
            self.seek(0, io.SEEK_END)
        with memoryview(data).cast("B") as view:
            moved = self._nfs.write(self.name, view, self._at)
        self._at += moved
        return moved

    def seek(self, offset, whence=io.SEEK_SET):
        self._check(True)
        base = {io.SEEK_SET: lambda: 0, io.SEEK_CUR: lambda: self._at, io.SEEK_END: lambda: self._nfs.stat(self.name)["size"]}
        at = base[whence]() + offset
        if at < 0:
            raise ValueError(f"{at} is no place in a file")
        self._at = at
        return at

    def truncate(self, size=None):
        self._check(self._write)
        size = self._at if size is None else size
        self._nfs.truncate(self.name, size)
        return size

    def _check(self, allowed):
        if self.closed:
            raise ValueError("the file is closed")
        if not allowed:
            raise io.UnsupportedOperation("the file is not open for this")


def _open(nfs, path, mode, buffering, encoding, errors, newline):
    kind, text = mode.replace("b", "", 1).replace("t", "", 1), "b" not in mode
    if kind.replace("+", "", 1) not in ("r", "w", "a", "x") or ("b" in mode and "t" in mode):
        raise ValueError(f"{mode!r} is no mode")
    if not text and (encoding, errors, newline) != (None, None, None):
        raise ValueError("a file of octets has no encoding")
    if text and buffering == 0:
        raise ValueError("a file of text has a buffer")
    if kind[0] == "x":
        nfs._change(path, _CREATE)
    elif kind[0] != "r":
        nfs._make(path, cut=kind[0] == "w")
    elif nfs.stat(path)["type"] == _DIRECTORY:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    more = "+" in kind
    raw = _File(nfs, path, kind[0] == "r" or more, kind[0] != "r" or more, kind[0] == "a")
    if buffering == 0:
        return raw
    size = buffering if buffering > 1 else _PIECE
    buffered = (io.BufferedRandom if more else io.BufferedReader if kind[0] == "r" else io.BufferedWriter)(raw, size)
    return io.TextIOWrapper(buffered, encoding, errors, newline, line_buffering=buffering == 1) if text else buffered
