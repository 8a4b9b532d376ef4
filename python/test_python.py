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
import errno, os, pathlib, sys, threading
import rpcrdma
url, port, tcp_port, source, served = sys.argv[1:]

def check(good, what):
    if not good:
        sys.exit(f"not so: {what}")

# ---- NFS ----
octets = bytes(range(256)) * 12000
with rpcrdma.Nfs(f"{url}rw") as nfs:
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
        check(error.args[0] == 2 and "no such file" in error.args[1] and isinstance(error, OSError) and error.errno == errno.ENOENT, error)
    else:
        check(False, "what is absent is an error")
    try:
        nfs.rmdir("made")
    except OSError as error:
        check(error.errno == errno.ENOTEMPTY and error.args[0] == 66, error)
    else:
        check(False, "a directory that is not empty stays")

    # ---- What a file has, and where it is ----
    check(nfs.write("made/w", b"a long text") == 11 and nfs.write("made/w", b"short") == 5 and nfs.read("made/w") == b"short", "write cuts")
    check(nfs.write("made/w", b"OR", 2) == 2 and nfs.read("made/w") == b"shORt", "write at an offset does not")
    nfs.write("made/w", b"x", 7)
    check(nfs.read("made/w") == b"shORt\0\0x", "write behind the end")
    nfs.truncate("made/w", 3)
    check(nfs.read("made/w") == b"shO", "truncate")
    nfs.write("made/w", b"")
    check(nfs.stat("made/w")["size"] == 0, "nothing is written")
    nfs.mkdir("made/in")
    nfs.rename("made/w", "made/in/v")
    check(nfs.list("made/in") == ["v"], "rename")
    odd = os.fsdecode(b"\xff\xfe")
    nfs.write(pathlib.PurePath("made", odd), b"odd")
    check(odd in nfs.list(b"made") and nfs.read(b"made/\xff\xfe") == b"odd" and nfs.read("made/" + nfs.list("made")[nfs.list("made").index(odd)]) == b"odd",
          "names that are no UTF-8")
    found = [(path, sorted(directories), sorted(others)) for path, directories, others in nfs.walk("made")]
    check(found == [("made", ["in"], sorted(["file", odd])), ("made/in", [], ["v"])], found)
    plain = ["user::rw-", "group::r--", "other::---"]
    try:
        nfs.set_acl("made/file", ["user::rw-", "user:1234:rw-", "group::r--", "mask::rw-", "other::---"])
        check(nfs.get_acl("made/file") == ["user::rw-", "user:1234:rw-", "group::r--", "mask::rw-", "other::---"], nfs.get_acl("made/file"))
        nfs.set_acl("made", ["user::rwx", "group::r-x", "group:77:r-x", "mask::r-x", "other::--x"], inherited=True)
        check(nfs.get_acl("made", True)[2:] == ["group:77:r-x", "mask::r-x", "other::--x"], nfs.get_acl("made", True))
        nfs.set_acl("made", [], True)
        check(nfs.get_acl("made", True) == [], "an inherited list is removed")
        nfs.set_acl("made/file", plain)
    except rpcrdma.Error as error:
        check(error.args[0] == 10004, error)  # the file system keeps none
    for bad in (["user::rwx", "nobody::r--"], plain[:2]):
        try:
            nfs.set_acl("made/file", bad)
        except (ValueError, rpcrdma.Error):
            continue
        check(False, f"{bad} was set")
    times = nfs.stat("made/file")
    check(isinstance(times["modified_ns"], int) and times["modified_ns"] // 10 ** 9 == int(times["modified"]), times)
    os.utime(os.path.join(served, "made/file"), ns=(1234567890123456789, 1700000000123456789))
    check(nfs.stat("made/file")["modified_ns"] == 1700000000123456789, "nanoseconds are kept")
    check(nfs.stat("made/file")["owner"] is None and nfs.stat("made/file")["uid"] == os.geteuid(), "an owner is a number, or has a name")

    # ---- File objects ----
    with nfs.open("made/text", "w", encoding="utf-8") as file:
        file.write("one\ntwo\u00e9\n")
    with nfs.open("made/text", encoding="utf-8") as file:
        check(file.readlines() == ["one\n", "two\u00e9\n"], "text")
    with nfs.open("made/text", "ab", 0) as file:
        check(file.tell() == 10 and file.seek(2) == 2 and file.write(b"three") == 5 and file.tell() == 15, "what is appended is at the end")
    with nfs.open("made/text", "r+b") as file:
        file.seek(-5, os.SEEK_END)
        check(file.read() == b"three" and file.seek(0) == 0, "seek")
        file.write(b"ONE")
        file.truncate(8)
    check(nfs.read("made/text") == b"ONE\ntwo\xc3", nfs.read("made/text"))
    with nfs.open("made/text", "w") as file:
        file.write("cut")
    check(nfs.read("made/text") == b"cut", "a file that is opened to write is cut")
    with nfs.open("made/text", "rb", 0) as file, nfs.open("made/text", "r+b", 0) as other, nfs.open("made/text", "ab", 0) as appended:
        closed = nfs.open("made/text", "rb", 0)
        closed.close()
        for use, error in ((lambda: file.write(b"x"), OSError), (lambda: file.truncate(), OSError), (lambda: appended.read(1), OSError),
                           (lambda: file.seek(-1), ValueError), (lambda: other.seek(-4, os.SEEK_END), ValueError), (lambda: closed.seek(0), ValueError),
                           (lambda: closed.readinto(bytearray(1)), ValueError), (lambda: nfs.open("made/text", "rb", encoding="utf-8"), ValueError),
                           (lambda: nfs.open("made/text", "r", 0), ValueError)):
            try:
                use()
            except error:
                continue
            check(False, f"{error} is raised by a file")
        check(file.tell() == 0 and nfs.read("made/text") == b"cut", "which changes nothing")
    with nfs.open("made/file", "rb", 0) as file:
        memory = bytearray(len(octets))
        check(file.readinto(memory) == 1 << 20 and file.tell() == 1 << 20 and memory[:1 << 20] == octets[:1 << 20], "no buffer")
    with nfs.open("made/file", "rb") as file:
        check(file.read() == octets, "all of it")
    for mode, error, path in (("x", OSError, "made/text"), ("r", OSError, "made/absent"), ("rw", ValueError, "made/text"), ("r", OSError, "made"),
                              ("", ValueError, "made/text"), ("rbt", ValueError, "made/text")):
        try:
            nfs.open(path, mode)
        except error:
            continue
        check(False, f"{path} is not opened with {mode}")

    # ---- What goes in is checked ----
    for use, error in ((lambda: nfs.read("a\0b"), ValueError), (lambda: nfs.remove("made/file\0"), ValueError), (lambda: nfs.mkdir(b"\0"), ValueError),
                       (lambda: nfs.rename("made/text", "made/t\0"), ValueError), (lambda: rpcrdma.Nfs(url + "\0"), ValueError),
                       (lambda: nfs.stat(5), TypeError), (lambda: nfs.list(None), TypeError),
                       (lambda: nfs.readinto("made/file", bytearray(5), -1), OverflowError),
                       (lambda: nfs.readinto("made/file", bytearray(5), 1 << 64), OverflowError),
                       (lambda: nfs.readinto("made/file", bytearray(5), 1.5), TypeError), (lambda: nfs.readinto("made/file", b"12345"), (TypeError, BufferError)),
                       (lambda: nfs.write("made/file", b"x", -1), OverflowError), (lambda: nfs.write("made/file", b"x", 1 << 64), OverflowError),
                       (lambda: nfs.write("made/file", "text"), TypeError), (lambda: nfs.truncate("made/file", -1), OverflowError),
                       (lambda: nfs.truncate("made/file", 1 << 64), OverflowError), (lambda: nfs.read("made/file", -1), ValueError),
                       (lambda: nfs.read("made/file", 0, -1), ValueError)):
        try:
            use()
        except error:
            continue
        check(False, f"{error} is raised")
    check(nfs.read("made/file") == octets and sorted(nfs.list("made")) == sorted(["file", "in", "text", odd]), "nothing has changed")
    for name in ("text", odd, "in/v", "file"):
        nfs.remove(f"made/{name}")
    nfs.rmdir("made/in")
    nfs.rmdir("made")
    check("made" not in nfs.list(), "rmdir")
for version in ("", "?version=3", "?version=4.1", "?version=4.2"):
    with rpcrdma.Nfs(f"{url}rw/sub{version}") as nfs:
        check(nfs.list() == ["victim"] and nfs.read("victim") == b"inner", f"what the URL names {version}")
        nfs.write("new", b"new")
        check(nfs.list("/") == ["new", "victim"] or nfs.list("/") == ["victim", "new"], nfs.list("/"))
        nfs.remove("new")
        for path in ("../victim", "..", "/../victim"):
            for use in (nfs.stat, nfs.read, nfs.remove, nfs.rmdir, nfs.mkdir, lambda path: nfs.write(path, b"x")):
                try:
                    use(path)
                except rpcrdma.Error:
                    continue
                check(False, f"{path} is not below the URL {version}")
    with rpcrdma.Nfs(f"{url}rw{version}") as nfs:
        check(sorted(nfs.list()) == ["sub", "victim"] and nfs.read("victim") == b"outer", f"an export {version}")
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
    check(error.args[0] < 0 and "127.0.0.1:1" in error.args[1] and error.errno == errno.ECONNREFUSED, error)
else:
    check(False, "no server is an error")
for host, number, more, wanted in (("127.0.0.1", 65537, {}, OverflowError), ("127.0.0.1", -1, {}, OverflowError), ("a\0b", 1, {}, ValueError),
                                   ("127.0.0.1", 1, {"reply_max": 1 << 32}, OverflowError), ("127.0.0.1", "1", {}, TypeError)):
    try:
        rpcrdma.Client(host, number, schema, "BLOB_V1", **more)
    except wanted as error:
        if isinstance(error, wanted):
            continue
    check(False, f"{host!r}, {number} and {more} are checked")
with rpcrdma.Client("127.0.0.1", int(tcp_port), schema, "BLOB_V1", transport="tcp") as blob:
    for arguments in ((1 << 32, 1, 0, b"", 8, 1.0), (-1, 1, 0, b"", 8, 1.0), (1, 1 << 32, 0, b"", 8, 1.0), (1, 1, 1 << 32, b"", 8, 1.0),
                      (1, 1, 0, b"abc", 8, 1.0), (1, 1, 0, b"", 1 << 32, 1.0), (1, 1, 0, b"", 8, -1.0), (1, 1, 0, b"", 8, float("nan"))):
        try:
            blob._inner.call(*arguments)
        except (OverflowError, ValueError):
            continue
        check(False, f"{arguments} are checked")

print("good")
"""

# A server that accepts, and sends a signal in place of an answer.
SIGNALS = r"""
import os, signal, socket, sys, threading
import rpcrdma

def silent(number):
    # The port of a server that takes one connection and sends the signal once something comes.
    listener = socket.create_server(("127.0.0.1", 0))
    def serve():
        connection, _ = listener.accept()
        kept.append(connection)
        connection.recv(1)
        os.kill(os.getpid(), number)
    threading.Thread(target=serve, daemon=True).start()
    return listener.getsockname()[1]

def interrupted(use, what, error=KeyboardInterrupt):
    try:
        use()
    except error:
        return
    sys.exit(f"not so: {what}")

kept = []
schema = rpcrdma.Schema("program P { version V { void NOTHING(void) = 0; } = 1; } = 0x20000001;")
for transport in ("rdma", "iwarp"):
    port = silent(signal.SIGINT)
    interrupted(lambda: rpcrdma.Client("127.0.0.1", port, schema, "V", transport=transport), f"a connection over {transport} is interrupted")
client = rpcrdma.Client("127.0.0.1", silent(signal.SIGINT), schema, "V", transport="tcp")
interrupted(client.NOTHING, "a call is interrupted")
client.close()
interrupted(lambda: rpcrdma.Nfs(f"nfs://127.0.0.1:{silent(signal.SIGINT)}/"), "an NFS client is interrupted")

def handler(number, frame):
    raise LookupError
signal.signal(signal.SIGUSR1, handler)
client = rpcrdma.Client("127.0.0.1", silent(signal.SIGUSR1), schema, "V", transport="tcp")
interrupted(client.NOTHING, "the exception of a handler ends a call", LookupError)
signal.signal(signal.SIGUSR1, lambda number, frame: kept.append(number))
client = rpcrdma.Client("127.0.0.1", silent(signal.SIGUSR1), schema, "V", transport="tcp", timeout=1.0)
interrupted(client.NOTHING, "a handler without an exception ends no call", rpcrdma.Error)
if signal.SIGUSR1 not in kept:
    sys.exit("not so: the handler has run")
print("good")
"""

# Schemas need no server. The compiler of `rpcrdma xdr` reads them: what that does not take is not taken here.
SCHEMAS = r"""
import array, json, os, pathlib, subprocess, sys
import rpcrdma
source, tool = sys.argv[1:]

def check(good, what):
    if not good:
        sys.exit(f"not so: {what}")

def refused(use, *texts):
    try:
        use()
    except rpcrdma.XdrError as error:
        check(all(text in str(error) for text in texts), (texts, str(error)))
        return
    check(False, f"refused: {texts}")

def length(text, value, name="s", **more):
    return len(rpcrdma.Schema(text, **more).pack(name, value))

schema = rpcrdma.Schema('''
const N = 0x4; enum colour { RED, GREEN = 5 };
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
for name in ("mount3", "nfs3", "nfs40", "nfs41", "nfs42", "nlm4", "nsm1", "rpcb4", "nfs2", "portmap2"):
    check(rpcrdma.Schema(open(f"{source}/src/ulb/{name}.x").read()).versions, name)

# ---- The preprocessor ----
check(length("struct s {\n int a;\n#if 0\n int b;\n#endif\n};", {"a": 1, "b": 2}) == 4, "what #if leaves out is not there")
check(length("struct s {\n#ifdef NEVER\n hyper a;\n#else\n int a;\n#endif\n};", {"a": 1}) == 4, "one branch of #ifdef")
check(length("struct s {\n#ifdef NEVER\n hyper a;\n#else\n int a;\n#endif\n};", {"a": 1}, options=("-DNEVER",)) == 8, "options")
check(length("#ifdef RPC_HDR\nstruct s { int a; };\n#endif\n%#define C 1\n", {"a": 1}) == 4, "RPC_HDR, lines for C")
check(length("#define N 3\n// a comment\nstruct s { opaque a[N]; /* another */ };", {"a": b"abc"}) == 4, "#define, comments")
refused(lambda: rpcrdma.Schema("#if 1\nstruct s { int a };\n#endif"), "schema.x:2:")
path = pathlib.Path("whole.x")
pathlib.Path("part.x").write_text("struct part { int a; };\n")
path.write_text('#include "part.x"\nstruct s { part p; };\n')
check(len(rpcrdma.Schema(path).pack("s", {"p": {"a": 1}})) == 4, "a file includes another")
for text in (path.read_text(), path.read_bytes()):
    check(length(text, {"p": {"a": 1}}, options=("-I", os.getcwd())) == 4, "and so does a text")
try:
    rpcrdma.Schema(pathlib.Path("absent.x"))
except FileNotFoundError:
    pass
else:
    check(False, "a file that is not there")
for options in ((5,), ("-D\0",)):
    try:
        rpcrdma.Schema("struct s { int a; };", options=options)
    except (TypeError, ValueError):
        continue
    check(False, f"{options} are no options")
environment, os.environ["PATH"] = os.environ["PATH"], os.getcwd()
refused(lambda: rpcrdma.Schema("\n#if 0\nint a;\n#endif"), "schema.x:2:1: #if is for the C preprocessor", "neither cpp nor cc")
check(length("struct s { int a; };", {"a": 1}) == 4, "which a schema without directives does not need")
os.environ["PATH"] = environment

# ---- What Sun's library has, and rpcgen takes ----
names = ("int8_t", "uint8_t", "int16_t", "uint32_t", "u_int32_t", "int32", "uint32", "u_int", "u_long", "short", "unsigned short",
         "unsigned char", "char", "long int", "unsigned", "bool_t", "rpcprog_t")
for size, group in ((4, names), (8, ("u_quad_t", "quad_t", "int64_t", "uint64_t", "u_int64_t", "longlong_t", "uint64", "hyper"))):
    for name in group:
        check(length(f"struct s {{ {name} a; }};", {"a": 1}) == size, f"{name} takes {size} octets")
check(length("struct s { netobj a; };", {"a": b"abc"}) == 8, "netobj")
check(length("const C = 'c'; const T = \"t\"; enum e { A, B = C, D }; struct s { int class; int errno; opaque d[2]; e e; };",
             {"class": 1, "errno": 2, "d": b"de", "e": 100}) == 16, "names are those of the schema")
check(rpcrdma.Schema('const T = "a \\" text";').constants["T"] == 'a \\" text', "a text")
check(length("typedef int t; union s switch (t a) { case 1: case 2: struct { int b; } in<>; default: void; };", (2, [{"b": 1}])) == 12,
      "bodies in bodies")
schema = rpcrdma.Schema("program P { version V { string F(int, string, int *) = 3; void G(void) = 4; } = 7; } = 8; struct F_args { int a; };")
version = schema.version("V")
check((version.program, version.number, version.procedures["F"].number) == (8, 7, 3), "numbers of a program")
check(len(schema.pack_all(version.procedures["F"].arguments, [1, "ab", None])) == 16 and list(schema.types) == ["F_args"], "arguments")
check(version.procedures["G"].arguments == [], "no arguments")
refused(lambda: rpcrdma.Schema("struct s { int a[ABSENT]; };"), "ABSENT")
refused(lambda: rpcrdma.Schema("union s switch (int a) { case ABSENT: int b; };"), "ABSENT")
refused(lambda: length("struct s { absent a; };", {"a": 1}), "absent")
refused(lambda: rpcrdma.Schema("struct s { s a; };"), "schema.x:1:12: s contains itself")
refused(lambda: rpcrdma.Schema("struct s { int a; int a; };"), "a is already a member")
refused(lambda: rpcrdma.Schema(b"struct s { int a\0; };"), "schema.x:1:17:")

# ---- Values that are none of the type ----
for text, value in (("opaque s<8>", 3), ("opaque s<8>", "text"), ("opaque s<8>", [1, 2]), ("string s<8>", 3), ("int s<8>", 3), ("int s", "1"),
                    ("int s", 1 << 31), ("unsigned s", -1), ("unsigned hyper s", 1 << 64), ("float s", 1e300), ("bool s", 2), ("bool s", "no"),
                    ("int s", None), ("int s", 1.5)):
    refused(lambda: length(f"typedef {text};", value))
refused(lambda: length("enum s { A };", []))
refused(lambda: length("enum s { A };", "A"))
refused(lambda: length("struct s { int a; };", "a"))
refused(lambda: length("union s switch (int a) { default: void; };", 5))
refused(lambda: length("union s switch (int a) { default: void; };", (1,)))
packed = rpcrdma.Schema("typedef opaque s<>;").pack("s", array.array("I", [1, 2]))
check(packed == b"\0\0\0\x08" + array.array("I", [1, 2]).tobytes(), "octets are counted, not elements")

# ---- Public schemas ----
yp = "/usr/include/rpcsvc/yp.x"
if os.path.exists(yp):
    schema = rpcrdma.Schema(pathlib.Path(yp))
    check([member.name for member in schema.types["ypresp_key_val"].members] == ["stat", "val", "key"], "yp.x has one branch")
    check(schema.version("YPVERS").number == 2, "yp.x has its program")
for name in sorted(os.listdir(os.path.dirname(yp)) if os.path.exists(yp) else []):
    if not name.endswith(".x"):
        continue
    shown = subprocess.run([tool, "xdr", "--json", f"/usr/include/rpcsvc/{name}"], capture_output=True, text=True)
    try:
        types = rpcrdma.Schema(pathlib.Path("/usr/include/rpcsvc", name)).types
    except rpcrdma.XdrError as error:
        check(shown.returncode == 1 and str(error) in shown.stderr or "is not known" in str(error), (name, str(error)))
    else:
        check(all(one in types for one in json.loads(shown.stdout)["types"]), name)
print("good")
"""


def main():
    python, module, tool, blob, source = sys.argv[1:]
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder, subprocess.Popen([blob], stdout=subprocess.PIPE, text=True) as process:
        for name in ("served/sub", "other"):
            os.makedirs(f"{folder}/{name}")
        for name, octets in (("victim", b"outer"), ("sub/victim", b"inner")):
            with open(f"{folder}/served/{name}", "wb") as file:
                file.write(octets)
        os.mkdir(f"{folder}/rpcrdma")
        for path in (f"{source}/python/rpcrdma/__init__.py", f"{source}/python/rpcrdma/xdr.py", os.path.abspath(module)):
            os.symlink(path, f"{folder}/rpcrdma/{os.path.basename(path)}")
        ports = process.stdout.readline().split()
        with Server(tool, f"{folder}/served=/rw", f"{folder}/other=/ro") as server:
            environment = dict(os.environ, PYTHONPATH=folder, PYTHONDONTWRITEBYTECODE="1",
                               LD_LIBRARY_PATH=os.path.join(os.path.dirname(os.path.abspath(module)), "../src"))
            run = subprocess.run([python, "-c", INSIDE, server.url, *ports, source, f"{folder}/served"], capture_output=True, text=True, timeout=100,
                                 env=environment)
            tap.result(run.returncode == 0 and run.stdout == "good\n", "NFS, calls by a schema", [run.stdout, run.stderr])
            run = subprocess.run([python, "-c", SCHEMAS, source, os.path.abspath(tool)], capture_output=True, text=True, timeout=100, env=environment,
                                 cwd=folder)
            tap.result(run.returncode == 0 and run.stdout == "good\n", "schemas", [run.stdout, run.stderr])
            run = subprocess.run([python, "-c", SIGNALS], capture_output=True, text=True, timeout=50, env=environment)
            tap.result(run.returncode == 0 and run.stdout == "good\n", "signals", [run.stdout, run.stderr])
            with open(f"{folder}/served/some", "wb") as file:
                file.write(os.urandom(100000))
            run = subprocess.run([python, f"{source}/examples/nfs_read.py", f"{server.url}rw", "some"], capture_output=True, timeout=100,
                                 env=environment)
            with open(f"{folder}/served/some", "rb") as file:
                tap.result(run.stdout == file.read(), "the example reads a file", [run.stderr])
        process.terminate()
    tap.end()


main()
