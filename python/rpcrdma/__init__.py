# SPDX-License-Identifier: BSD-3-Clause
"""ONC RPC and NFS over RDMA, by librpcrdma.

    with rpcrdma.Nfs("nfs://server/export") as nfs:
        print(nfs.list("/"))
        data = nfs.read("file")
        nfs.write("copy", data)

    schema = rpcrdma.Schema(open("blob.x").read())
    with rpcrdma.Client("server", 20049, schema, "BLOB_V1") as blob:
        stored = blob.BLOB_PUT({"data": b"octets"})

Errors are rpcrdma.Error: its args are a number (negative: enum rpcrdma_error; positive: what an NFS server answered) and
a text. An object is for one thread at a time; others run while it waits.
"""
from . import _rpcrdma
from ._rpcrdma import Error
from .xdr import Schema, XdrError

__all__ = ["Client", "Error", "Nfs", "Schema", "XdrError"]
_TRANSPORTS = {"rdma": 0, "tcp": 1, "iwarp": 2, "verbs": 3}
_NOENT = 2
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
    """A mounted directory; paths are below it. The URL is that of `rpcrdma cp`."""

    def __init__(self, url):
        self._inner = _rpcrdma.Nfs(url)

    def stat(self, path):
        return self._inner.stat(path)

    def list(self, path="/"):
        return self._inner.list(path)

    def readinto(self, path, buffer, offset=0):
        """Octets that were read, straight into the buffer."""
        return self._inner.read(path, buffer, offset)

    def read(self, path, offset=0, length=None):
        """The octets of a file from offset on: length of them, or all."""
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

    def write(self, path, data, offset=0):
        """Writes all octets, and returns when the server has stored them. A file that does not exist is made."""
        try:
            self.stat(path)
        except Error as error:
            if error.args[0] != _NOENT:
                raise
            self._change(path, _CREATE)
        done = 0
        with memoryview(data).cast("B") as view:
            while done < len(view):
                done += self._inner.write(path, view[done:done + _PIECE], offset + done)
        return done

    def mkdir(self, path):
        self._change(path, _MKDIR)

    def remove(self, path):
        self._change(path, _REMOVE)

    def rmdir(self, path):
        self._change(path, _RMDIR)

    def _change(self, path, change):
        directory, _, name = path.rstrip("/").rpartition("/")
        self._inner.change(directory, name, change)
