#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_languages.py TOOL SOURCE [SPECIFICATIONS]: `rpcrdma xdr` and the C preprocessor; and what it writes is C and C++
without a warning: for the schemas here, for the public ones that are installed, and, given a folder of specifications
(rfc5662.txt and so on), for those that are to be extracted from them."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Tap

TOOL, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
SPECIFICATIONS = os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 else None
STRICT = ["-Wall", "-Wextra", "-Werror", "-c", "-o", os.devnull, f"-I{SOURCE}/include"]
COMPILERS = [["gcc", "-std=gnu11"], ["g++", "-xc++"], ["g++", "-std=c++17", "-xc++"], ["clang", "-std=c11"],
             ["clang++", "-std=c++17", "-xc++"]]
TWO = [["gcc", "-std=gnu11"], ["g++", "-std=c++17", "-xc++"]]
# nis.x has functions in C without a % in front; rpcgen fails as well.
NO_SCHEMAS = {"nis.x"}
# Lines for the header that use Sun's library, and leave it to rpcgen to include that.
NEED_SUN = {"rpcb_prot.x": ["-include", "rpc/types.h", "-include", "rpc/xdr.h"]}
SUN = "/usr/include/tirpc"
# Those whose text is a whole schema. RFC 7861 defines LABEL and PRIVS twice, and RFC 8276 amends another schema.
RFCS = ["rfc5662", "rfc7531", "rfc7863", "rfc8166"]
# What RFC 5662 and RFC 7863 leave to the system's <rpc/auth_sys.h>.
AUTH_SYS = "struct authsys_parms {\n\tunsigned stamp;\n};\n"
tap = Tap()


def xdr(*arguments, environment=None):
    return subprocess.run([TOOL, "xdr", *arguments], capture_output=True, text=True, timeout=60, env=environment)


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def compiles(name, base, *options, compilers=COMPILERS):
    for compiler in compilers:
        if not shutil.which(compiler[0]):
            tap.skip(f"{name} is {' '.join(compiler)}", f"there is no {compiler[0]}")
            continue
        result = subprocess.run([*compiler, *STRICT, *options, f"{base}.c"], capture_output=True, text=True, timeout=120)
        tap.result(result.returncode == 0, f"{name} is {' '.join(compiler)}", [result.stderr[:3000]])


def schemas():
    for path in sorted([*glob.glob(f"{SOURCE}/src/ulb/*.x"), *glob.glob(f"{SOURCE}/tests/xdr/*.x"),
                        *glob.glob(f"{SOURCE}/examples/*.x")]):
        result = xdr("-o", "own", path)
        if tap.result(result.returncode == 0, f"{os.path.basename(path)} is taken", [result.stderr]):
            compiles(os.path.basename(path), "own", compilers=COMPILERS if "/tests/" in path else TWO)


def public():
    """Of Debian: libnsl-dev, libtirpc-dev, and whatever else puts schemas there."""
    for path in sorted([*glob.glob("/usr/include/rpcsvc/*.x"), *glob.glob(f"{SUN}/*/*.x")]):
        name = os.path.basename(path)
        result = xdr("-I", os.path.dirname(path), "-o", "public", path)
        if name in NO_SCHEMAS:
            tap.result(result.returncode == 1 and f"{name}:" in result.stderr, f"{name} is no schema, which is said",
                       [result.stderr])
        elif tap.result(result.returncode == 0, f"{name} is taken", [result.stderr]):
            compiles(name, "public", "-isystem", SUN, *NEED_SUN.get(name, []), compilers=TWO)


def specifications():
    os.makedirs("system/rpc")
    write("system/rpc/auth_sys.h", AUTH_SYS)
    for name in RFCS:
        with open(f"{SPECIFICATIONS}/{name}.txt") as text:
            write(f"{name}.x", "".join(re.findall(r"^ */// ?(.*\n)", text.read(), re.MULTILINE)))
        result = xdr(f"{name}.x")
        if tap.result(result.returncode == 0, f"{name}.x is taken", [result.stderr]):
            compiles(f"{name}.x", name, "-Isystem", compilers=TWO)


def preprocessor():
    write("if.x", "struct a {\n\tint x;\n#if 0\n\tint y;\n#endif\n#ifdef MORE\n\thyper z;\n#endif\n};\n")
    result = xdr("if.x")
    with open("if.h") as header:
        text = header.read()
    tap.result(result.returncode == 0 and "int32_t x;" in text and "y;" not in text and "#define XDR_MAX_a 4" in text,
               "what #if leaves out is not in the type", [result.stderr, text])
    xdr("-DMORE", "if.x")
    with open("if.h") as header:
        tap.result("#define XDR_MAX_a 12" in header.read(), "-D defines a macro")
    result = xdr("--no-cpp", "if.x")
    tap.result(result.returncode == 1 and "if.x:3:1: #if is for the C preprocessor" in result.stderr,
               "--no-cpp refuses what only the preprocessor understands", [result.stderr])
    result = xdr("if.x", environment={"PATH": os.getcwd()})
    tap.result(result.returncode == 1 and "if.x:3:1: #if is for the C preprocessor" in result.stderr
               and "neither cpp nor cc" in result.stderr, "so it is where there is no preprocessor", [result.stderr])
    write("plain.x", "#pragma somebody else\nstruct a { int x; };\n")
    result = xdr("plain.x", environment={"PATH": os.getcwd()})
    tap.result(result.returncode == 0, "which a schema without directives does not need", [result.stderr])


def included():
    os.mkdir("folder")
    write("folder/part.x", "struct part {\n\tint x;\n};\n")
    write("whole.x", '#include "part.x"\nstruct whole {\n\tpart p;\n};\n')
    result = xdr("-I", "folder", "whole.x")
    tap.result(result.returncode == 0, "#include includes a schema", [result.stderr])
    result = xdr("whole.x")
    tap.result(result.returncode == 1 and "part.x" in result.stderr and not os.path.exists("part.h"),
               "and fails where it is not found", [result.stderr])
    write("folder/part.x", "\n\nstruct part {\n\tint;\n};\n")
    result = xdr("-I", "folder", "whole.x")
    tap.result("folder/part.x:4:" in result.stderr, "errors name the file and the line that was included", [result.stderr])
    write("later.x", '#define NOTHING\n#include "folder/good.x"\n\nstruct b {\n\tint;\n};\n')
    write("folder/good.x", "struct good { int x; };\n")
    result = xdr("later.x")
    tap.result("later.x:5:" in result.stderr, "and those of the file itself behind an #include", [result.stderr])


def warnings():
    write("odd.x", "%typedef int elsewhere; struct other { int a; };\nstruct class { elsewhere new; struct other *o; };\n")
    result = xdr("odd.x")
    tap.result(result.returncode == 0 and "odd.x:2:8: warning: class has a meaning in C or C++: its name there is class_"
               in result.stderr and "new_" in result.stderr, "names that C++ reserves get another, which is said",
               [result.stderr])
    tap.result("odd.x:2:16: warning: elsewhere is not defined here" in result.stderr, "so are types from elsewhere",
               [result.stderr])
    compiles("a schema with types from elsewhere", "odd")
    write("mark.x", "struct a { elsewhere e; opaque data<>; };\n#pragma rpcrdma place a.data\n"
          "program P { version V { void Q(a) = 1; } = 1; } = 1;\n")
    result = xdr("mark.x")
    tap.result(result.returncode == 1 and "could not be found behind it" in result.stderr,
               "behind which nothing can be placed", [result.stderr])


def macros():
    """Names that macros of the C library have, as members, names of enums, types, constants and procedures."""
    headers = ("errno signal stdio stdlib stddef assert limits string ctype time unistd fcntl sys/stat sys/types sys/sysmacros sys/wait "
               "sys/time sys/socket netinet/in netdb math setjmp inttypes").split()
    names = ("errno stdin stdout stderr EOF BUFSIZ NULL major minor makedev assert unix linux SIGINT SIGKILL SIG_DFL sa_handler si_pid "
             "st_atime st_mtime s6_addr h_errno h_addr offsetof INT_MAX PATH_MAX S_IFREG S_ISDIR O_RDONLY ENOENT isdigit WIFEXITED "
             "CLOCK_REALTIME AF_INET INADDR_ANY HUGE_VAL setjmp PRIu64 RAND_MAX sched_priority d_fileno").split()
    # These are functions, too, which a type or an enumerator cannot stand beside.
    both = [name for name in names if name not in ("isdigit", "setjmp")]
    uses = {
        "members": "struct s {{ {0} }};".format(" ".join(f"int {name};" for name in names)),
        "discriminants": " ".join(f"union u{at} switch (int {name}) {{ case 0: s_{name} {name}; default: void; }}; typedef int s_{name};"
                                  for at, name in enumerate(names)),
        "enum": "enum e {{ {0} }};".format(", ".join(both)),
        "structs": " ".join(f"struct {name} {{ int a; }};" for name in both),
        "typedefs": " ".join(f"typedef hyper {name};" for name in both),
        "constants": " ".join(f"const {name} = {at};" for at, name in enumerate(names)) + " struct s { int errno_; };",
        "procedures": "program P {{ version V {{ {0} }} = 1; }} = 1;".format(
            " ".join(f"int {name}(int) = {at};" for at, name in enumerate(names))),
        "versions": "program P {{ {0} }} = 1;".format(
            " ".join(f"version {name} {{ int p{at}(int) = 1; }} = {at};" for at, name in enumerate(names))),
        "programs": " ".join(f"program {name} {{ version v{at} {{ void p{at}(void) = 1; }} = 1; }} = {at};"
                             for at, name in enumerate(names)),
    }
    includes = "".join(f"#include <{header}.h>\n" for header in headers)
    for what, schema in uses.items():
        write("macros.x", schema)
        result = xdr("macros.x")
        if tap.result(result.returncode == 0 and "errno has a meaning" in result.stderr, f"{what} with names of macros are taken",
                      [result.stderr]):
            with open("macros.c") as file:
                text = file.read()
            write("behind.c", includes + text)
            write("front.c", text + includes)
            compiles(f"{what} behind headers", "behind", compilers=TWO)
            compiles(f"{what} in front of headers", "front", compilers=TWO)
    write("macros.x", "const errno_ = 1;\ntypedef int errno;\nstruct s { errno minor; errno errno; };\n"
          "%#include <limits.h>\nstruct f { int a<PATH_MAX>; };\n")
    result = xdr("macros.x")
    with open("macros.h") as header:
        text = header.read()
    tap.result("its name there is errno__" in result.stderr and "errno__ minor;" in text, "a name that is taken gets another underscore",
               [result.stderr, text])
    tap.result("PATH_MAX_" not in text and "PATH_MAX is not defined here" in result.stderr, "a macro that a header defines is meant",
               [result.stderr, text])
    compiles("a schema that means a macro", "macros", compilers=TWO)


def calls():
    """Functions that call procedures have the procedures' types, whatever names the schema has."""
    write("typed.x", "const client = 1;\nconst args = 2;\nconst done = 3;\nconst size = 4;\nconst V1_call_TAKE = 5;\n"
          "typedef int row[3];\nstruct result { int config; };\n"
          "program P { version V1 { result TAKE(row) = 1; void NOTHING(void) = 2; } = 1;\n"
          "version V2 { row GIVE(string) = 1; result MANY(int, result) = 7; } = 2; } = 1;\n")
    result = xdr("typed.x")
    with open("typed.h") as header:
        text = header.read()
    tap.result(result.returncode == 0 and "#include <rpcrdma/client.h>" in text, "a program is taken", [result.stderr])
    compiles("a schema with the names of parameters", "typed")
    use = ('#include "typed.h"\nint use(struct rpcrdma_client *c, row *r, result *s);\n'
           "int use(struct rpcrdma_client *c, row *r, result *s)\n{\n"
           "\treturn V1_call_TAKE_(c, r, s, NULL) + V1_call_NOTHING(c, NULL);\n}\n")
    write("right.c", use)
    compiles("a call with the right types", "right")
    write("wrong.c", use.replace("row *r, ", "int *r, "))
    for compiler in TWO:
        wrong = subprocess.run([*compiler, *STRICT, "wrong.c"], capture_output=True, text=True, timeout=120)
        tap.result(wrong.returncode != 0 and "V1_call_TAKE_" in wrong.stderr,
                   f"a call with another type is an error in {' '.join(compiler)}", [wrong.stderr])
    with open("if.h") as header:
        tap.result("client.h" not in header.read(), "a schema without a program needs no client")


def described():
    """--json: what a schema declares, with the names of the schema, and what the preprocessor leaves."""
    write("json.x", 'const T = "a \\"text";\nconst N = -4;\n#if 0\nconst M = 1;\n#endif\nenum e { A, B = 7 };\nstruct class { int new; opaque '
          'd<>; absent *a; };\n#pragma rpcrdma place class.d\nunion u switch (e which) { case A: case B: string s<N_MAX>; default: '
          "void; };\nprogram P { version V { int F(void) = 1; void G(u, int b) = 2; } = 3; } = 0xffffffff;\n")
    result = xdr("--json", "json.x")
    wanted = {
        "constants": {"T": 'a \\"text', "N": -4},
        "types": {
            "e": {"type": {"enum": {"A": 0, "B": 7}}, "shape": "plain"},
            "class": {"type": {"struct": [
                {"name": "new", "type": "int", "shape": "plain"},
                {"name": "d", "type": "opaque", "shape": "variable", "placed": True},
                {"name": "a", "type": "absent", "shape": "optional"}]}, "shape": "plain"},
            "u": {"type": {"union": {
                "discriminant": {"name": "which", "type": "e", "shape": "plain"},
                "arms": [{"labels": [0, 7], "name": "s", "type": "string", "shape": "variable", "size": "N_MAX"},
                         {"default": True, "type": "void"}]}}, "shape": "plain"}},
        "programs": [{"name": "P", "number": 0xffffffff, "versions": [{"name": "V", "number": 3, "procedures": [
            {"name": "F", "number": 1, "result": {"type": "int", "shape": "plain"}, "arguments": []},
            {"name": "G", "number": 2, "result": {"type": "void"}, "arguments": [
                {"name": "arg1", "type": "u", "shape": "plain"}, {"name": "b", "type": "int", "shape": "plain"}]}]}]}]}
    try:
        found = json.loads(result.stdout)
    except ValueError as error:
        found = error
    tap.result(found == wanted and not os.path.exists("json.h"), "--json says what a schema declares", [found, result.stderr])
    result = xdr("--json", "-o", "json", "json.x")
    tap.result(result.returncode == 2, "--json and --output are not one command", [result.stderr])
    write("json.x", "const A = B;\n")
    result = xdr("--json", "json.x")
    tap.result(result.returncode == 0 and json.loads(result.stdout)["constants"] == {"A": "B"}, "a number of elsewhere is its name")
    write("json.x", "struct s { int a };\n")
    result = xdr("--json", "json.x")
    tap.result(result.returncode == 1 and result.stdout == "" and "json.x:1:18:" in result.stderr, "nothing is shown of what is wrong",
               [result.stdout, result.stderr])


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for step in (preprocessor, included, warnings, macros, calls, described, schemas, public):
            step()
        if SPECIFICATIONS:
            specifications()
        os.chdir("/")
    tap.end()


main()
