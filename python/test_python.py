#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_python.py PYTHON MODULE TOOL BLOB-SERVER SOURCE: the package of Python, with that interpreter, against servers of this
project."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests"))
from tap import Server, Tap

INSIDE = r"""
import sys, threading
import rpcrdma
url, port, tcp_port, source = sys.argv[1:]

def check(good, what):
    if not good:
        sys.exit(f"not so: {what}")

# ---- NFS ----
octets = bytes(range(256)) * 12000
with rpcrdma.Nfs(url) as nfs:
    nfs.mkdir("made")
    check(nfs.write("made/file", octets) == len(octets), "write")
    check(nfs.read("made/file") == octets, "read")
    check(nfs.read("made/file", 100, 50) == octets[100:150], "read of a part")
    check(nfs.read("made/file", len(octets) + 5) == b"", "read behind the end")
    check(nfs.list("made") == ["file"] and nfs.stat("made/file")["size"] == len(octets), "list, stat")
    memory = bytearray(1000)
    check(nfs.readinto("made/file", memory, 7) == 1000 and memory == octets[7:1007], "readinto")
    try:
        nfs.read("absent")
    except rpcrdma.Error as error:
        check(error.args[0] == 2 and "no such file" in error.args[1], error)
    else:
        check(False, "what is absent is an error")
    nfs.remove("made/file")
    nfs.rmdir("made")
    check("made" not in nfs.list(), "rmdir")
try:
    nfs.list()
except RuntimeError:
    pass
else:
    check(False, "a closed one is not used")

# ---- Calls by a schema ----
schema = rpcrdma.Schema(open(f"{source}/examples/blob.x").read())
for transport, at in (("rdma", port), ("tcp", tcp_port)):
    with rpcrdma.Client("127.0.0.1", int(at), schema, "BLOB_V1", transport=transport, reply_max=1 << 20) as blob:
        check(blob.BLOB_NULL() is None, "void")
        check(blob.BLOB_PUT({"data": octets[:3001]}) == 3001, "put")
        check(blob.BLOB_GET()["data"] == octets[:3001], "get")
        for bad in (lambda: blob.BLOB_PUT({"data": bytes(5 << 20)}), lambda: blob.BLOB_PUT({}), lambda: blob.BLOB_PUT()):
            try:
                bad()
            except rpcrdma.XdrError:
                pass
            else:
                check(False, "what breaks the schema is an error")
try:
    rpcrdma.Client("127.0.0.1", 1, schema, "BLOB_V1")
except rpcrdma.Error as error:
    check(error.args[0] < 0 and "127.0.0.1:1" in error.args[1], error)
else:
    check(False, "no server is an error")

# ---- XDR ----
schema = rpcrdma.Schema('''
const N = 0x4; enum colour { RED, GREEN = 5, };
typedef hyper big; typedef string text<10>;
union answer switch (colour c) { case RED: big b; case GREEN: text t; };
union maybe switch (bool yes) { case TRUE: unsigned int number; default: void; };
struct node { opaque fixed[3]; int many<N>; answer a; maybe m; double d; node *next; };
''')
node = {"fixed": b"abc", "many": [1, -2], "a": (0, -5), "m": (False, None), "d": 0.5, "next": None}
node = dict(node, a=(5, b"hi"), m=(True, 7), next=node)
packed = schema.pack("node", node)
check(packed[:16] == b"abc\0\0\0\0\2\0\0\0\1\xff\xff\xff\xfe" and schema.unpack("node", packed) == node, "pack, unpack")
for cut in range(len(packed)):
    try:
        schema.unpack("node", packed[:cut])
    except rpcrdma.XdrError:
        continue
    check(False, f"{cut} octets are too few")
for bad in (dict(node, fixed=b"ab"), dict(node, many=[1] * 5), dict(node, a=(1, 0)), dict(node, d="x"), {}):
    try:
        schema.pack("node", bad)
    except (rpcrdma.XdrError, TypeError):
        continue
    check(False, f"{bad} does not fit")
for name in ("mount3", "nfs3", "nfs40", "nfs41", "nfs42", "nlm4", "nsm1", "rpcb4", "nfs2", "nfsacl3", "portmap2"):
    check(rpcrdma.Schema(open(f"{source}/src/ulb/{name}.x").read()).versions, name)
print("good")
"""


def main():
    python, module, tool, blob, source = sys.argv[1:]
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder, subprocess.Popen([blob], stdout=subprocess.PIPE, text=True) as process:
        os.makedirs(f"{folder}/served")
        os.mkdir(f"{folder}/rpcrdma")
        for path in (f"{source}/python/rpcrdma/__init__.py", f"{source}/python/rpcrdma/xdr.py", os.path.abspath(module)):
            os.symlink(path, f"{folder}/rpcrdma/{os.path.basename(path)}")
        ports = process.stdout.readline().split()
        with Server(tool, f"{folder}/served") as server:
            environment = dict(os.environ, PYTHONPATH=folder, PYTHONDONTWRITEBYTECODE="1",
                               LD_LIBRARY_PATH=os.path.join(os.path.dirname(os.path.abspath(module)), "../src"))
            run = subprocess.run([python, "-c", INSIDE, server.url, *ports, source], capture_output=True, text=True, timeout=100,
                                 env=environment)
            tap.result(run.returncode == 0 and run.stdout == "good\n", "NFS, calls by a schema, XDR", [run.stdout, run.stderr])
            with open(f"{folder}/served/some", "wb") as file:
                file.write(os.urandom(100000))
            run = subprocess.run([python, f"{source}/examples/nfs_read.py", server.url, "some"], capture_output=True, timeout=100,
                                 env=environment)
            with open(f"{folder}/served/some", "rb") as file:
                tap.result(run.stdout == file.read(), "the example reads a file", [run.stderr])
        process.terminate()
    tap.end()


main()
