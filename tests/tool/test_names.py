#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_names.py TOOL: `rpcrdma mkdir`, `rm`, `mv`, `ln` and `df` against `rpcrdma serve`."""
import json
import os
import pty
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap

TOOL = os.path.abspath(sys.argv[1])
tap = Tap()


def run(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=60)


def check(name, good, result):
    tap.result(good, name, [f"exit status {result.returncode}", result.stdout, result.stderr])


def mkdir(url, top):
    result = run("mkdir", url + "a", url + "b")
    check("mkdir makes directories", result.returncode == 0 and os.path.isdir(f"{top}/a") and os.path.isdir(f"{top}/b")
          and stat.S_IMODE(os.stat(f"{top}/a").st_mode) == 0o755, result)
    result = run("mkdir", url + "a", url + "c")
    check("one that exists is an error, and the others are made", result.returncode == 1 and "exists" in result.stderr
          and os.path.isdir(f"{top}/c"), result)
    result = run("mkdir", url + "x/y")
    check("so is one in nothing", result.returncode == 1 and "no such file" in result.stderr, result)
    for _ in range(2):
        result = run("mkdir", "-p", url + "x/y//z/")
        check("-p makes all of them, and takes what exists", result.returncode == 0 and os.path.isdir(f"{top}/x/y/z"), result)
    open(f"{top}/file", "w").close()
    result = run("mkdir", "--parents", url + "file")
    check("but no file", result.returncode == 1 and os.path.isfile(f"{top}/file"), result)
    for mode, names in (("700", ["m1"]), ("02775", ["m2"]), ("1777", ["m3"]), ("0", ["m4"]), ("0750", ["-p", "m5/in"])):
        result = run("mkdir", "-m", mode, *names[:-1], url + names[-1])
        check(f"-m {mode} is the mode, whatever the umask", result.returncode == 0
              and stat.S_IMODE(os.stat(f"{top}/{names[-1]}").st_mode) == int(mode, 8), result)
    result = run("mkdir", "-p", "--mode=700", url + "m5/in", url + "m6/in/deep")
    check("the mode is of the last directory alone, and of none that exists", result.returncode == 0
          and [stat.S_IMODE(os.stat(f"{top}/{name}").st_mode) for name in ("m5", "m5/in", "m6", "m6/in", "m6/in/deep")]
          == [0o755, 0o750, 0o755, 0o755, 0o700], result)
    result = run("mkdir", "-m", "700", url + "m2/in")
    check("what a directory has from the one above by its set-group-ID bit stays", result.returncode == 0
          and stat.S_IMODE(os.stat(f"{top}/m2/in").st_mode) == 0o2700, result)
    for mode in ("", "8", "u+x", "10000", "-1", "0x1ff", "700 ", "77777777777777777777777"):
        result = run("mkdir", f"--mode={mode}", url + "m7")
        check(f"'{mode}' is no mode", result.returncode == 2 and "--mode takes" in result.stderr and f"'{mode}'" in result.stderr
              and not os.path.exists(f"{top}/m7"), result)
    check("mkdir wants a URL", run("mkdir", "here").returncode == 2, run("mkdir", "here"))


def rm(url, top):
    outside = f"{top}/kept"
    os.mkdir(outside)
    open(f"{outside}/precious", "w").close()
    os.symlink(outside, f"{top}/a/link")
    os.symlink("../kept", f"{top}/link")
    for i in range(200):
        open(f"{top}/a/{i}", "w").close()
    os.makedirs(f"{top}/a/deep/deeper")
    result = run("rm", url + "file", url + "link")
    check("rm removes files and links", result.returncode == 0 and not os.path.lexists(f"{top}/file")
          and not os.path.lexists(f"{top}/link"), result)
    result = run("rm", url + "a")
    check("a directory needs -r", result.returncode == 1 and "-r" in result.stderr and os.path.isdir(f"{top}/a"), result)
    result = run("rm", "-r", url + "a", url + "none", url + "b/")
    check("-r removes all that is in it; what is missing is an error", result.returncode == 1 and "none" in result.stderr
          and not os.path.exists(f"{top}/a") and not os.path.exists(f"{top}/b"), result)
    put(f"{top}/is a file", "")
    os.symlink("kept", f"{top}/link")
    for options in ([], ["-r"], ["-rf"]):
        result = run("rm", *options, url + "is%20a%20file/", url + "link/")
        check(f"what ends with a slash is a directory, or is not removed, {options}", result.returncode == 1
              and result.stderr.count("it is no directory") == 2 and os.path.isfile(f"{top}/is a file")
              and os.path.islink(f"{top}/link"), result)
    result = run("rm", "-f", url + "none/")
    check("or is missing", result.returncode == 0, result)
    result = run("rm", url + "none")
    check("what cannot be removed is named once", result.stderr.startswith(f"rpcrdma rm: {url}none: no such file"), result)
    check("what does not exist is an error", result.returncode == 1 and "no such file" in result.stderr, result)
    put(f"{top}/forced", "")
    result = run("rm", "-rf", url + "none", url + "none/none", url + "forced")
    check("but with -f, which says nothing", result.returncode == 0 and result.stderr == ""
          and not os.path.exists(f"{top}/forced"), result)
    result = run("rm", "--force", url + "kept")
    check("a directory needs -r nevertheless", result.returncode == 1 and os.path.isdir(outside), result)
    check("links are not followed", os.listdir(outside) == ["precious"], result)
    for path in ("", "x/..", "x/."):
        result = run("rm", "-r", url + path)
        check(f"'/{path}' is not removed", result.returncode == 1 and os.path.isdir(f"{top}/x/y/z"), result)


def put(path, text):
    with open(path, "w") as file:
        file.write(text)


def get(path):
    with open(path) as file:
        return file.read()


def mv(url, top):
    os.makedirs(f"{top}/m/into")
    for name in ("a", "b", "c", "d"):
        put(f"{top}/m/{name}", name)
    url, top = url + "m/", f"{top}/m"
    result = run("mv", url + "a", url + "A")
    check("mv gives a file another name", result.returncode == 0 and get(f"{top}/A") == "a" and not os.path.exists(f"{top}/a"),
          result)
    result = run("mv", url + "A", url + "b")
    check("a file that has the name is replaced", result.returncode == 0 and get(f"{top}/b") == "a", result)
    result = run("mv", "-n", url + "b", url + "c")
    check("but not with -n, which is an error", result.returncode == 1 and "exists" in result.stderr and get(f"{top}/b") == "a"
          and get(f"{top}/c") == "c", result)
    result = run("mv", "-n", url + "b", url + "e")
    check("-n moves to a new name", result.returncode == 0 and get(f"{top}/e") == "a", result)
    result = run("mv", url + "c", url + "none", url + "d", url + "into")
    check("several go into a directory; what is missing is an error", result.returncode == 1 and "none" in result.stderr
          and sorted(os.listdir(f"{top}/into")) == ["c", "d"], result)
    result = run("mv", url + "e", url + "into/c", url + "new")
    check("and into nothing else", result.returncode == 1 and "directory" in result.stderr
          and sorted(os.listdir(top)) == ["e", "into"], result)
    put(f"{top}/f", "f")
    for options in ([], ["-n"]):
        result = run("mv", *options, url + "f", url + "e/")
        check(f"a slash does not follow a file, which stays, {options}", result.returncode == 1 and "e/: it is no directory" in result.stderr
              and get(f"{top}/e") == "a" and get(f"{top}/f") == "f", result)
        result = run("mv", *options, url + "f", url + "new/")
        check(f"nor becomes a file what a slash follows, {options}", result.returncode == 1 and "there is no such directory" in result.stderr
              and sorted(os.listdir(top)) == ["e", "f", "into"], result)
    result = run("mv", url + "missing", url + "new/")
    check("a missing source is named", result.returncode == 1 and "missing: no such file" in result.stderr, result)
    result = run("mv", url + "into/", url + "new/")
    check("but a directory does", result.returncode == 0 and sorted(os.listdir(top)) == ["e", "f", "new"], result)
    os.rename(f"{top}/new", f"{top}/into")
    os.unlink(f"{top}/f")
    os.symlink("nowhere", f"{top}/link")
    result = run("mv", url + "link", url + "into/")
    check("a link is moved, and not what it leads to", result.returncode == 0 and os.readlink(f"{top}/into/link") == "nowhere", result)
    result = run("mv", url + "into", url + "other")
    check("a directory is moved", result.returncode == 0 and sorted(os.listdir(f"{top}/other")) == ["c", "d", "link"], result)
    result = run("mv", url + "other", url + "other/below")
    check("but not into itself", result.returncode == 1 and os.path.isdir(f"{top}/other"), result)
    for operands in (["here", url + "x"], [url + "e", "there"]):
        result = run("mv", *operands)
        check(f"mv {operands[0][:4]} {operands[1][:5]} is a mistake: URLs are wanted", result.returncode == 2, result)
    result = run("mv", url + "e", url.replace("127.0.0.1", "localhost") + "f")
    check("nothing is moved to what may be another server", result.returncode == 1 and "another server" in result.stderr
          and get(f"{top}/e") == "a", result)


def ln(url, top):
    os.makedirs(f"{top}/l/into")
    put(f"{top}/l/a", "a")
    put(f"{top}/l/b", "b")
    url, top = url + "l/", f"{top}/l"
    result = run("ln", url + "a", url + "hard")
    check("ln makes a hard link", result.returncode == 0 and os.path.samefile(f"{top}/a", f"{top}/hard"), result)
    result = run("ln", url + "b", url + "hard")
    check("a name that exists is an error", result.returncode == 1 and "exists" in result.stderr
          and os.path.samefile(f"{top}/a", f"{top}/hard"), result)
    result = run("ln", "-f", url + "b", url + "hard")
    check("-f replaces it", result.returncode == 0 and os.path.samefile(f"{top}/b", f"{top}/hard"), result)
    result = run("ln", "-f", url + "b", url + "hard")
    check("-f does not remove a name of the same file", result.returncode == 1 and os.path.samefile(f"{top}/b", f"{top}/hard"), result)
    result = run("ln", url + "a", url + "b", url + "into")
    check("several are linked in a directory", result.returncode == 0 and os.path.samefile(f"{top}/into/b", f"{top}/b"), result)
    result = run("ln", url + "into", url + "x")
    check("a directory is not", result.returncode == 1 and "-s" in result.stderr, result)
    result = run("ln", "-s", "../some/where", url + "soft")
    check("-s makes a symbolic link of any text", result.returncode == 0 and os.readlink(f"{top}/soft") == "../some/where", result)
    result = run("ln", "-s", "/x/y", url + "into")
    check("with its last name, in a directory", result.returncode == 0 and os.readlink(f"{top}/into/y") == "/x/y", result)
    result = run("ln", "-s", "other", url + "soft")
    check("over nothing", result.returncode == 1 and os.readlink(f"{top}/soft") == "../some/where", result)
    result = run("ln", "-sf", "other", url + "soft")
    check("but with -f", result.returncode == 0 and os.readlink(f"{top}/soft") == "other", result)
    for source in ([url + "b"], ["-f", url + "b"], ["-s", "text"], ["-sf", "text"]):
        result = run("ln", *source, url + "a/")
        check(f"a slash does not follow a file, which stays, {source[:-1]}", result.returncode == 1 and "a/: it is no directory" in result.stderr
              and get(f"{top}/a") == "a", result)
        result = run("ln", *source, url + "new/")
        check(f"nor does a link, {source[:-1]}", result.returncode == 1 and "there is no such directory" in result.stderr
              and not os.path.lexists(f"{top}/new"), result)
    result = run("ln", "-s", "there", "here")
    check("a link is a URL", result.returncode == 2, result)
    result = run("ln", "there", url + "here")
    check("so is what a hard link leads to", result.returncode == 2, result)
    put(f"{top}/taken", "")
    for command in (["ln", "-s", "text", f"{url}taken"], ["ln", f"{url}a", f"{url}taken"], ["mv", "-n", f"{url}a", f"{url}taken"]):
        result = run(*command)
        check(f"{command[0]} names both ends of what failed", result.returncode == 1 and "exists already" in result.stderr
              and f"{command[-2]} -> {command[-1]}: " in result.stderr, result)
    result = run("ln", "-s", "x" * 5000, url + "long")
    check("a target may be too long", result.returncode == 1 and "long" in result.stderr and not os.path.lexists(f"{top}/long"), result)


def df(url, top):
    there = os.statvfs(top)
    result = run("df", url, url + "none", url + "l/soft", url + "m")
    lines = result.stdout.splitlines()
    check("df shows a line for each URL that is there", result.returncode == 1 and len(lines) == 3 and "none" in result.stderr
          and lines[1].split()[0] == str(there.f_blocks * there.f_frsize) and lines[2].split()[-1].endswith("/m"), result)
    result = run("df", "-h", url)
    check("-h is for people", result.returncode == 0 and "B " in result.stdout.splitlines()[1], result)
    result = run("df", "-i", url)
    check("-i counts files", result.returncode == 0 and result.stdout.splitlines()[1].split()[0] == str(there.f_files), result)
    result = run("df", "--json", url, url + "m")
    both = json.loads(result.stdout)
    check("--json is JSON", len(both) == 2 and both[0]["size"] == there.f_blocks * there.f_frsize
          and both[1]["files"] == there.f_files and both[1]["url"].endswith("/m"), result)
    check("of nothing, too", json.loads(run("df", "--json", url + "none").stdout) == [], result)


def objects(text):
    return [json.loads(line) for line in text.splitlines()]


def json_of_each(url, top):
    """With --json there is an object for each operand: what was done, or the error."""
    top, url = f"{top}/j", url + "j/"
    os.mkdir(top)
    put(f"{top}/file", "")
    result = run("mkdir", "--json", "-p", url + "a/b", url + "file/x")
    said = objects(result.stdout)
    check("mkdir --json counts directories", result.returncode == 1 and [o["directories"] for o in said] == [2, 0] and said[0]["done"]
          and said[0]["url"] == url + "a/b" and said[0]["seconds"] >= 0 and "error" not in said[0], result)
    result = run("mkdir", "--json", url + "a", url + "c")
    said = objects(result.stdout)
    check("what fails has an error, and so has standard error", [o["done"] for o in said] == [False, True] and "exists" in said[0]["error"]
          and said[0]["failed"] == 1 and "exists" in result.stderr, result)
    put(f"{top}/a/five", "12345")
    put(f"{top}/c/three", "123")
    result = run("mv", "--json", url + "a/five", url + "none", url + "c")
    said = objects(result.stdout)
    check("mv --json says where each source went", [o["done"] for o in said] == [True, False] and said[0]["url"] == url + "a/five"
          and said[0]["to"] == url + "c/five" and "no such" in said[1]["error"], result)
    result = run("ln", "--json", "-s", "five", url + "c/soft")
    said = objects(result.stdout)
    check("ln --json says which link was made", said == [{**said[0], "url": "five", "to": url + "c/soft", "done": True}], result)
    result = run("ln", "--json", url + "c/five", url + "none/hard")
    said = objects(result.stdout)
    check("a destination that is not there is an error of its own", len(said) == 1 and said[0]["url"] == url + "none/hard"
          and not said[0]["done"] and "no such" in said[0]["error"], result)
    result = run("cat", "--json", url + "c/five", url + "c/soft")
    check("cat --json writes to standard error how many octets there were", result.stdout == "12345" * 2
          and [o["octets"] for o in objects(result.stderr)] == [5, 5], result)
    result = run("cat", "--json", url + "c")
    check("cat of a directory has an error", "directory" in objects(result.stderr.splitlines()[-1])[0]["error"], result)
    result = run("rm", "--json", "-r", url + "c", url + "none")
    said = objects(result.stdout)
    check("rm --json counts what it removed", said[0]["files"] == 3 and said[0]["directories"] == 1 and said[0]["octets"] == 8
          and not said[1]["done"], result)
    closed = "nfs://127.0.0.1:9/x"
    for command in (["mkdir", closed], ["rm", closed], ["mv", url + "a", closed], ["ln", "-s", "x", closed]):
        result = run(command[0], "--json", *command[1:])
        said = objects(result.stdout)
        check(f"{command[0]} --json has an object without a server, too", len(said) == 1 and said[0]["url"] == closed
              and "refused" in said[0]["error"].lower(), result)


def on_terminal(*arguments):
    """Returns what a command writes to a terminal."""
    control, terminal = pty.openpty()
    process = subprocess.Popen([TOOL, *arguments], stdout=terminal, stderr=terminal)
    os.close(terminal)
    shown = b""
    try:
        while data := os.read(control, 4096):
            shown += data
    except OSError:
        pass
    os.close(control)
    process.wait(timeout=60)
    return shown


def terminal(url, top):
    """A URL can have control characters as %XX. The commands do not write them to a terminal."""
    bad = "%1b[2J%0d"
    for command in (["mv", url + bad, url + "x"], ["ln", url + bad, url + "x"], ["ln", "-s", "x", url + "none/" + bad],
                    ["ln", "-s", "\x1b[2J", url + "x/y/z/n/o"], ["df", url + bad]):
        shown = on_terminal(*command)
        check(f"{command[0]} shows no control characters", shown and b"\x1b" not in shown,
              subprocess.CompletedProcess(command, 0, shown, ""))


def paths(url, top):
    """Version 4 looks up many names in a call, version 3 one. Both find the same files, also over symbolic links."""
    os.makedirs(f"{top}/p/q/r/s")
    put(f"{top}/p/q/r/file", "text")
    for name, target in (("p/link", "q/r"), ("p/q/up", ".."), ("p/q/r/last", "file"), ("p/absolute", "/p/q/r"), ("p/none", "nowhere"),
                         ("p/loop", "loop"), ("p/q/far", "../q/../link/s/..")):
        os.symlink(target, f"{top}/{name}")
    deep = "/".join(["d"] * 20)
    os.makedirs(f"{top}/{deep}")
    put(f"{top}/{deep}/file", "deep")
    for path in ("p/q/r/last", "p/link/last", "p/q/up/q/r/file", "p/absolute/file", "p/none/file", "p/loop/file", "p/q/far/file",
                 "./p/./q/r/file", "p/link/../r/file", "p/q/r/file/", "p/q/r/last/", "p/q/r/file/more", "p/q/r/file/..", "p/missing/file",
                 "missing/q/r", "../p/q/r/file", "p/q/r/../../../..", f"{deep}/file", f"{deep}/missing", f"p/{'x' * 300}/file", "p//q///r/file"):
        found = [run("cat", f"{url}{path}?version={version}") for version in ("3", "4.1")]
        results = [(each.returncode, each.stdout, each.stderr.replace("?version=4.1", "?version=3").replace("NFS4ERR_", "NFS3ERR_")) for each in found]
        if results[0] != results[1]:
            tap.result(False, f"cat {path[:80]} is the same in versions 3 and 4.1", results)
    tap.result(True, "paths lead to the same objects in versions 3 and 4.1", [])


def at_once(url, top):
    """Several commands remove one tree."""
    for i in range(40):
        os.makedirs(f"{top}/shared/{i}")
        for j in range(40):
            put(f"{top}/shared/{i}/{j}", "x")
    all = [subprocess.Popen([TOOL, "rm", "-r", "-f", f"{url}shared"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
           for _ in range(3)]
    said = [one.communicate(timeout=60)[0] for one in all]
    tap.result(all and not any(one.returncode for one in all) and not os.path.exists(f"{top}/shared"),
               "three rm -r -f of one tree at once all succeed", [text[:300] for text in said])


def named(work):
    """An export that has a name of its own: in version 4, the directory above it is none of the server's storage."""
    os.makedirs(f"{work}/named")
    with Server(TOOL, f"{work}/named=/x/y") as server:
        for version in ("3", "4.1", "4.2"):
            result = run("mkdir", "-p", f"{server.url}x/y/a{version}/b?version={version}")
            check(f"mkdir -p below an export with a name, by version {version}",
                  result.returncode == 0 and os.path.isdir(f"{work}/named/a{version}/b"), result)


def main():
    os.umask(0o022)
    with tempfile.TemporaryDirectory(prefix="rpcrdma-names-") as work:
        top = f"{work}/served"
        os.mkdir(top)
        with Server(TOOL, top) as server:
            mkdir(server.url, top)
            rm(server.url, top)
            mv(server.url, top)
            ln(server.url, top)
            df(server.url, top)
            json_of_each(server.url, top)
            terminal(server.url, top)
            at_once(server.url, top)
            if "RPCRDMA_VERSION" not in os.environ:
                paths(server.url, top)
        if "RPCRDMA_VERSION" not in os.environ:
            named(work)
    tap.end()


main()
