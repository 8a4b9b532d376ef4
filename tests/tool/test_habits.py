#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_habits.py TOOL: options that cp(1), mv(1), rm(1), ls(1) and rsync(1) have, too: -v, -n, -i, -f, -p, -t, -1, -a, --exclude."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap

TOOL = os.path.abspath(sys.argv[1])
TIME = 1_234_567_890_123_456_789
tap = Tap()


def run(*arguments, answers="", **options):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=60, input=answers, **options)


def check(name, good, result, *details):
    tap.result(good, name, [*details, f"exit status {result.returncode}", result.stdout, result.stderr])


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def read(path):
    with open(path) as file:
        return file.read()


def lines(result):
    return sorted(line for line in result.stdout.splitlines() if line.split()[0] in ("copy", "make", "link", "set", "remove", "move"))


def make_tree(top):
    os.makedirs(f"{top}/a/b")
    for name in ("a/1", "a/2", "a/b/3"):
        write(f"{top}/{name}", name)
    write(f"{top}/large", "x" * 300000)
    os.link(f"{top}/large", f"{top}/other")
    os.symlink("a", f"{top}/link")


def listing(work, url):
    served, source = f"{work}/served", f"{work}/source"
    make_tree(source)
    result = run("cp", "-av", source, url + "up")
    wanted = ["copy a/1", "copy a/2", "copy a/b/3", "copy large", "copy link", "link other", "make a", "make a/b", f"make {url}up"]
    check("cp -v lists what is copied", result.returncode == 0 and lines(result) == sorted(wanted) and result.stderr == "", result)
    result = run("cp", "-v", f"{source}/large", url)
    check("also a single file", result.returncode == 0 and lines(result) == [f"copy {url}large"], result)
    result = run("cp", "-v", url + "large", "-")
    check("not in the middle of data", result.returncode == 0 and result.stdout == "x" * 300000 and "copy -\n" in result.stderr, result)
    result = run("cp", "-vv", f"{source}/a/1", url + "one")
    check("-vv says what the connection goes over", result.returncode == 0 and "over iwarp" in result.stderr, result)
    write(f"{source}/a/1", "changed, and longer")
    os.unlink(f"{source}/a/2")
    os.chmod(f"{source}/a/b/3", 0o600)
    result = run("sync", "-av", "--delete", source, url + "up")
    check("sync -av lists what is done", result.returncode == 0 and lines(result) == ["copy a/1", "remove a/2", "set a", "set a/b/3"],
          result)
    result = run("sync", "-av", "--json", source, url + "up")
    check("and nothing else", result.returncode == 0 and result.stdout.count("\n") == 1, result)
    result = run("mv", "-v", url + "one", url + "two")
    check("mv -v lists both names", result.returncode == 0 and result.stdout == f"move {url}one -> {url}two\n", result)
    result = run("mv", "-v", url + "two", url + "up")
    check("with the name in a directory", result.returncode == 0 and result.stdout == f"move {url}two -> {url}up/two\n", result)
    result = run("rm", "-rv", url + "up")
    names = ("", "/a", "/a/1", "/a/b", "/a/b/3", "/large", "/other", "/link", "/two")
    check("rm -v lists what is removed", result.returncode == 0 and lines(result) == sorted(f"remove {url}up{name}" for name in names)
          and result.stdout.endswith(f"remove {url}up\n") and not os.path.exists(f"{served}/up"), result)


def clobber(work, url):
    served = f"{work}/served"
    os.makedirs(f"{work}/new/in")
    for name in ("x", "in/y", "in/fresh"):
        write(f"{work}/new/{name}", "new " + name)
    os.symlink("new", f"{work}/new/link")

    def old():
        subprocess.run(["rm", "-rf", f"{served}/t"], check=True)
        os.makedirs(f"{served}/t/new/in")
        for name in ("x", "in/y", "link"):
            write(f"{served}/t/new/{name}", "old")

    def state():
        return [os.path.islink(f"{served}/t/new/link")] + [read(f"{served}/t/new/{name}") == "new " + name for name in ("x", "in/y", "in/fresh")]
    old()
    result = run("cp", "-rn", f"{work}/new", url + "t")
    check("cp -n leaves what is there", result.returncode == 0 and state() == [False, False, False, True] and "left 3" in result.stdout, result)
    old()
    result = run("cp", "-ri", f"{work}/new", url + "t", answers="y\nn\nyes\n")
    check("cp -i asks about each", result.returncode == 0 and result.stderr.count("write over") == 3 and state() == [False, True, True, True], result)
    old()
    result = run("cp", "-rni", f"{work}/new", url + "t")
    check("the last of -n and -i counts; no answer means no", result.returncode == 0 and result.stderr.count("write over") == 3
          and state() == [False, False, False, True], result)
    result = run("cp", "-in", f"{work}/new/x", url + "t/new/x")
    check("also for a single file", result.returncode == 0 and result.stderr == "" and read(f"{served}/t/new/x") == "old", result)
    result = run("cp", "-i", "-", url + "t/new/x")
    check("-i and a source that is standard input are a mistake", result.returncode == 2, result)
    os.mkdir(f"{work}/down")
    write(f"{work}/down/x", "old")
    result = run("cp", "-n", url + "t/new/in/fresh", f"{work}/down/x")
    check("cp -n leaves a local file, too", result.returncode == 0 and read(f"{work}/down/x") == "old", result)


def forced(work, url):
    """A file that the user may not write, in a directory that it may write."""
    if os.geteuid():
        tap.skip("cp -f replaces what cannot be written", "only root can become somebody else")
        return
    os.mkdir(f"{work}/served/open")
    os.chmod(f"{work}/served/open", 0o777)
    write(f"{work}/mine", "mine")
    for name in ("there", "plain"):
        write(f"{work}/served/open/{name}", "of root")
        os.chmod(f"{work}/served/open/{name}", 0o600)
    options = "?uid=7777&gid=7777"
    result = run("cp", f"{work}/mine", f"{url}open/plain{options}")
    check("what cannot be written stays", result.returncode == 1 and read(f"{work}/served/open/plain") == "of root", result)
    result = run("cp", "-f", f"{work}/mine", f"{url}open/there{options}")
    check("cp -f replaces what cannot be written", result.returncode == 0 and read(f"{work}/served/open/there") == "mine", result)


def preserve(work, url):
    os.umask(0o077)
    write(f"{work}/kept", "kept")
    os.chmod(f"{work}/kept", 0o664)
    os.utime(f"{work}/kept", ns=(TIME, TIME))
    owner = (1234, 2345) if os.geteuid() == 0 else (os.getuid(), os.getgid())
    os.chown(f"{work}/kept", *owner)
    for options, mode, ids in ((["-p"], 0o664, owner), ([], 0o600, (os.getuid(), os.getgid()))):
        for target, there in ((url + "kept", f"{work}/served/kept"), (f"{work}/down-kept", f"{work}/down-kept")):
            source = f"{work}/kept" if target.startswith("nfs") else url + "kept-source"
            subprocess.run(["cp", "-p", f"{work}/kept", f"{work}/served/kept-source"], check=True)
            result = run("cp", *options, source, target)
            st = os.stat(there)
            check(f"mode, owner and times with {options}", result.returncode == 0 and st.st_mode & 0o7777 == mode
                  and (st.st_uid, st.st_gid) == ids and st.st_mtime_ns == TIME, result, oct(st.st_mode), st.st_uid, st.st_gid)
            os.unlink(there)
    os.umask(0o022)


def asked(work, url):
    served = f"{work}/served"
    for name in ("1", "2", "3"):
        write(f"{served}/{name}", name)
    result = run("mv", "-i", url + "1", url + "2", answers="n\n")
    check("mv -i asks, and leaves both", result.returncode == 0 and "replace" in result.stderr and read(f"{served}/1") == "1"
          and read(f"{served}/2") == "2", result)
    result = run("mv", "-i", url + "1", url + "2", answers="y\n")
    check("mv -i replaces after a yes", result.returncode == 0 and not os.path.exists(f"{served}/1") and read(f"{served}/2") == "1", result)
    result = run("mv", "-n", "-f", url + "2", url + "3")
    check("mv: the last of -n and -f counts", result.returncode == 0 and result.stderr == "" and read(f"{served}/3") == "1", result)
    result = run("mv", "-f", "-n", url + "3", url + "kept-source")
    check("in either order", result.returncode == 1 and os.path.exists(f"{served}/3"), result)
    make_tree(f"{served}/tree")
    result = run("rm", "-ri", url + "tree/a", answers="y\nn\ny\n" * 10)
    check("rm -i asks about each, and a directory stays if anything in it does", result.returncode == 0 and os.path.isdir(f"{served}/tree/a")
          and result.stderr.count("remove the file") == 3 and 0 < sum(len(names) for _, _, names in os.walk(f"{served}/tree/a")) < 3, result)
    result = run("rm", "-ri", url + "tree/large", url + "tree/other", answers="n\ny\n")
    check("rm -i goes on after a no", result.returncode == 0 and os.path.exists(f"{served}/tree/large")
          and not os.path.exists(f"{served}/tree/other"), result)
    result = run("rm", "-i", "-rf", url + "tree", url + "none")
    check("rm: the last of -i and -f counts", result.returncode == 0 and result.stderr == "" and not os.path.exists(f"{served}/tree"), result)


def listed(work, url):
    os.mkdir(f"{work}/served/times")
    for i, name in enumerate(("b", "d", "a", "c")):
        write(f"{work}/served/times/{name}", name)
        os.utime(f"{work}/served/times/{name}", ns=(TIME, TIME + (i // 2) * 10**9 + i % 2))
    result = run("ls", "-t1", url + "times")
    check("ls -t lists the newest first", result.returncode == 0 and result.stdout.split() == ["c", "a", "d", "b"], result)
    os.utime(f"{work}/served/times/b", ns=(TIME, TIME + 10**9 + 1))
    result = run("ls", "-lt", url + "times")
    check("and by name what is equally old", [line.split()[-1] for line in result.stdout.splitlines()] == ["b", "c", "a", "d"], result)


def excluded(work, url):
    source, served = f"{work}/excluding", f"{work}/served/excluded"
    for name in ("a.o", "a.c", "cache/x", "in/cache/y", "in/a.o", "in/deep/b.o", "in/deep/b.c", "build/z", "in/build"):
        os.makedirs(os.path.dirname(f"{source}/{name}"), exist_ok=True)
        write(f"{source}/{name}", name)

    def there():
        return sorted(os.path.relpath(f"{path}/{name}", served) for path, _, names in os.walk(served) for name in names)
    patterns = {"*.o": {"a.o", "in/a.o", "in/deep/b.o"}, "/cache": {"cache/x"}, "cache": {"cache/x", "in/cache/y"}, "build/": {"build/z"},
                "in/*.o": {"in/a.o"}, "in/**.o": {"in/a.o", "in/deep/b.o"}, "?.c": {"a.c", "in/deep/b.c"}, "/in/**": {
                    "in/cache/y", "in/a.o", "in/deep/b.o", "in/deep/b.c", "in/build"}, "*" * 100 + "z": {"build/z"},
                "eep": set(), "a[.]o": set(), "/x/cache": set(), "in/?": set()}
    whole = {os.path.relpath(f"{path}/{name}", source) for path, _, names in os.walk(source) for name in names}
    for pattern, out in patterns.items():
        for command in (["cp", "-r"], ["sync"]):
            result = run(*command, "--exclude", pattern, source, url + "excluded")
            check(f"{command[0]} --exclude '{pattern}'", result.returncode == 0 and there() == sorted(whole - out), result, there())
            subprocess.run(["rm", "-rf", served], check=True)
    result = run("sync", "--exclude=*.o", "--exclude=/cache", source, url + "excluded")
    check("--exclude can be given twice", there() == sorted(whole - patterns["*.o"] - patterns["/cache"]), result, there())
    os.makedirs(f"{served}/old/deep")
    for name in ("old/deep/kept.o", "old/gone", "gone"):
        write(f"{served}/{name}", name)
    result = run("sync", "--delete", "--json", "--exclude=*.o", "--exclude=/cache", source, url + "excluded")
    check("what is excluded is not removed", result.returncode == 0 and result.stderr == "" and '"removed":2' in result.stdout
          and there() == sorted((whole - patterns["*.o"] - patterns["/cache"]) | {"old/deep/kept.o"}), result, there())
    for options in (["--exclude="], ["--exclude=" + "x" * 256], ["--exclude=x"] * 65):
        result = run("cp", "-r", *options, source, url + "excluded")
        check("patterns have bounds", result.returncode == 2 and "--exclude" in result.stderr, result)


def main():
    os.umask(0o022)
    with tempfile.TemporaryDirectory(prefix="rpcrdma-habits-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as work:
        os.chmod(work, 0o755)
        os.mkdir(f"{work}/served")
        with Server(TOOL, f"{work}/served") as server:
            for part in (listing, clobber, forced, preserve, asked, listed, excluded):
                part(work, server.url)
    tap.end()


main()
