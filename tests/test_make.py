#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_make.py SOURCE: the Makefile, ./run, scripts/check and scripts/bench, with stand-ins for what they call: what is asked of whom."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tap import Tap

SOURCE = os.path.abspath(sys.argv[1])
tap = Tap()


def program(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)


def called(command, **environment):
    """What the stand-ins for meson and ninja were called with."""
    if os.path.exists("calls"):
        os.unlink("calls")
    result = subprocess.run(command, capture_output=True, text=True, timeout=60,
                            env={"PATH": f"{os.getcwd()}/bin:{os.environ['PATH']}", **environment})
    calls = []
    if os.path.exists("calls"):
        with open("calls") as file:
            calls = file.read().splitlines()
    return result, calls


def installing():
    shutil.copy(f"{SOURCE}/Makefile", "Makefile")
    program("bin/ldconfig", 'echo "ldconfig" >>calls\n')
    program("bin/id", "echo ${AS:-1000}\n")
    for name in ("meson", "ninja"):
        program(f"bin/{name}", f'echo "{name} $*" >>calls\n[ "$1" != setup ] || {{ mkdir -p build; : >build/build.ninja; }}\n')
    program("scripts/need", "exit 0\n")
    result, calls = called(["make", "install", "PREFIX=/one"])
    tap.result(result.returncode == 0 and any(c.startswith("meson setup") and "--prefix=/one" in c for c in calls)
               and calls[-1] == "ninja -C build install", "make install PREFIX= sets the build up for that prefix",
               [result.stderr, *calls])
    result, calls = called(["make", "install", "PREFIX=/two"])
    tap.result("meson configure build --prefix=/two" in calls and calls[-1] == "ninja -C build install",
               "and a build that is there is set up anew for another", calls)
    result, calls = called(["make", "install"])
    tap.result(not [c for c in calls if "prefix" in c], "without it the build stays as it is", calls)
    shutil.rmtree("build")
    result, calls = called(["make", "install"])
    tap.result(calls and calls[0].startswith("meson setup") and not [c for c in calls if "prefix" in c],
               "and a new build has the prefix that Meson gives it", calls)
    result, calls = called(["make", "uninstall"])
    tap.result(calls == ["ninja -C build uninstall"], "make uninstall takes away what was installed", calls)
    for target in ("install", "uninstall"):
        result, calls = called(["make", target], AS="0")
        tap.result(calls[-2:] == [f"ninja -C build {target}", "ldconfig"], f"as root, make {target} has the loader look again", calls)
        result, calls = called(["make", target, "DESTDIR=/tree"], AS="0")
        tap.result(calls[-1:] == [f"ninja -C build {target}"], "but not for a tree elsewhere", calls)
    for name in ("ldconfig", "id"):
        os.unlink(f"bin/{name}")


def installing_daemons():
    """Packages of daemons, as root: nothing starts, nothing new starts at boot, and what the machine had stays as it was."""
    wants = "root/etc/systemd/system/multi-user.target.wants"
    os.makedirs(wants)
    os.makedirs("root/usr/sbin")
    os.symlink("/lib/systemd/system/ssh.service", f"{wants}/ssh.service")
    program("bin/id", "echo 0\n")
    program("bin/dpkg-query", 'case "$*" in *-S*getty*) echo "systemd: $2" ;; *) exit 1 ;; esac\n')
    program("bin/apt-get", f"""[ "$1" = install ] || exit 0
        root/usr/sbin/policy-rc.d rpcbind start; echo "policy $?" >>calls
        for unit in rpcbind getty ssh; do ln -sf /lib/systemd/system/$unit.service {wants}/$unit.service; done
        exit $(cat status)\n""")
    for status in 0, 100:
        with open("status", "w") as file:
            file.write(str(status))
        result, calls = called(["scripts/need", "check"], DPKG_ROOT="root")
        tap.result(result.returncode == status and calls == ["policy 101"] and not os.path.exists("root/usr/sbin/policy-rc.d"),
                   f"while packages are installed ({status}), nothing may be started", [result, calls])
        tap.result(sorted(os.listdir(wants)) == ["getty.service", "ssh.service"] and "rpcbind.service: not enabled" in result.stdout,
                   "new daemons are not enabled, others stay as they are", [result, os.listdir(wants)])
        os.unlink(f"{wants}/getty.service")
    program("root/usr/sbin/policy-rc.d", "exit 104\n")
    result, calls = called(["scripts/need", "check"], DPKG_ROOT="root")
    tap.result(calls == ["policy 104"] and os.path.exists("root/usr/sbin/policy-rc.d"), "a policy of the machine's own stays", [result, calls])


def demonstrating():
    shutil.rmtree("build")
    program("bin/meson", 'echo "meson $*" >>calls\n[ "$1" = test ] || { mkdir -p build/meson-logs; : >build/build.ninja; '
            ': >build/meson-logs/testlog.json; }\n')
    shutil.copy(f"{SOURCE}/Makefile", "Makefile")
    program("bin/ninja", 'echo "ninja $*" >>calls\n')
    program("scripts/demo", 'echo "demo $*" >>calls\n')
    result, calls = called(["make", "demo"])
    tap.result(result.returncode == 0 and calls[-2:] == ["ninja -C build src/tool/rpcrdma", "demo build"],
               "make demo builds the command, and not the tests", [result, calls])
    options = calls[0].split("meson setup build ")[1].split()
    _, calls = called([f"{SOURCE}/scripts/check", "build"])
    shutil.rmtree("build")
    _, fresh = called([f"{SOURCE}/scripts/check", "build"])
    tap.result(fresh[0].split("meson setup build ")[1].split() == options and not [c for c in calls if "configure" in c or "setup" in c],
               "make check takes such a build as it is, and makes the same", [options, calls, fresh])
    shutil.rmtree("build")


def needing():
    """An ordinary user without make, and without anything else."""
    shutil.copy(f"{SOURCE}/run", "run")
    shutil.copy(f"{SOURCE}/Makefile", "Makefile")
    shutil.copy(f"{SOURCE}/scripts/need", "scripts/need")
    program("bin/dpkg-query", "exit 1\n")
    program("bin/id", "echo 1000\n")
    program("bin/make", 'echo "make $*" >>calls\n')
    result, calls = called(["./run", "nonsense"])
    tap.result(result.returncode == 2 and "there is no target 'nonsense'" in result.stderr and not calls,
               "./run names a target that is not there, and asks for no packages", [result, calls])
    result, calls = called(["./run", "check"])
    lines = result.stderr.splitlines()
    tap.result(result.returncode == 1 and len(lines) == 2 and not calls and lines[1].startswith("  sudo apt-get install")
               and " make " in lines[1] and " clang " in lines[1], "./run prints the one line that installs what is missing",
               [result.stdout, result.stderr, *calls])
    installing_daemons()
    program("bin/dpkg-query", "echo install ok installed\n")
    result, calls = called(["./run", "check"])
    tap.result(result.returncode == 0 and calls == ["make check"], "and where all is there, it is make", calls)


def checking():
    """Two programs that fail, one of them in a single test, and one that nothing is wrong with."""
    programs = [{"name": "good", "result": "OK", "stdout": "ok 1 - one\n"},
                {"name": "broken", "result": "FAIL", "stdout": "ok 1 - one\nnot ok 2 - two_goes_wrong\n"},
                {"name": "left out", "result": "SKIP", "stdout": "ok 1 - one # SKIP there is no device\n"},
                {"name": "gone", "result": "TIMEOUT", "stdout": "ok 1 - one\n"}]
    os.makedirs("build/meson-logs", exist_ok=True)
    open("build/build.ninja", "w").close()
    with open("build/meson-logs/testlog.json", "w") as log:
        log.writelines(json.dumps(one) + "\n" for one in programs)
    for name in ("meson", "ninja"):
        program(f"bin/{name}", f'echo "{name} $*" >>calls\n')
    result, calls = called([f"{SOURCE}/scripts/check", "build"])
    end = result.stdout.split("What failed, each with the line that runs it again:\n")[-1].splitlines()
    tap.result(result.returncode == 1 and end == [
        "    build broken: two_goes_wrong",
        "        RPCRDMA_TEST=two_goes_wrong meson test -C build -t 4 -v broken",
        "    build gone: gone (TIMEOUT)",
        "        meson test -C build -t 4 -v gone",
        "3 passed, 2 failed, 1 skipped"], "the end of `make check` is what failed, and how that is run again", [result.stdout, result.stderr])
    with open("build/meson-logs/testlog.json", "w") as log:
        log.write(json.dumps(programs[0]) + "\n")
    result, calls = called([f"{SOURCE}/scripts/check", "build"])
    tap.result(result.returncode == 0 and result.stdout == "ok build good: 1\n1 passed, 0 failed, 0 skipped\n",
               "where nothing failed, there is nothing to run again", [result.stdout, result.stderr])
    program("bin/ninja", 'i=1; while [ $i -le 40 ]; do echo "[$i/40] Compiling"; i=$((i + 1)); done\n')
    program("bin/meson", 'i=1; while [ $i -le 3 ]; do echo " $i/3 program OK"; i=$((i + 1)); done\n')
    result, calls = called([f"{SOURCE}/scripts/check", "build"])
    lines = result.stdout.splitlines()
    tap.result(result.returncode == 0 and [line for line in lines if "steps" in line] == [f"build: steps of the build: {i} of 40" for i in range(2, 41, 2)]
               and [line for line in lines if "run" in line] == [f"build: programs that have run: {i} of 3" for i in (1, 2, 3)],
               "it says how far the build and the tests have come", [result])
    program("bin/ninja", 'echo "one.c:1:1: warning: this is odd [-Wodd]"\n')
    result, calls = called([f"{SOURCE}/scripts/check", "build"])
    tap.result(result.returncode == 1 and "one.c:1:1: warning" in result.stdout and "gcc warns in build" in result.stderr,
               "a warning is a fault", [result])
    program("bin/ninja", 'echo "FAILED: it"\nexit 1\n')
    result, calls = called([f"{SOURCE}/scripts/check", "build"])
    tap.result(result.returncode == 1 and result.stderr.endswith("CC=gcc ninja -C build\n"),
               "a build that fails is repeated by the line that it ends with", [result.stdout, result.stderr])
    shutil.rmtree("build")


def measuring():
    program("build/bench/bench-fabric", 'echo "target speed of a thing: wanted at least 0.9, measured 0.45"\nexit 1\n')
    program("build/bench/bench-walk", "echo some figures\n")
    program("bench/calls", "exit 0\n")
    program("bench/replies", "exit 0\n")
    program("bench/copy", 'echo "target memory, MB: wanted at most 100, measured 20"\n')
    program("bench/gateway", "exit 3\n")
    program("bench/rates", 'echo "point depth iWARP: 1 100"\necho "point depth iWARP: 64 900.5"\necho "point depth TCP: 1 120"\n')
    program("bench/bulk", 'echo "bar bulk to a file: limit: 900 MiB/s"\necho "bar bulk READ: 800 MiB/s"\n')
    program("bench/scale", "exit 0\n")
    os.mkdir("docs")
    result = subprocess.run([f"{SOURCE}/scripts/bench", "build"], capture_output=True, text=True, timeout=60)
    out = result.stdout
    tap.result("== bench/gateway build" in out, "measurements go on behind a target that was missed", [out])
    table = [line.split() for line in out.splitlines()]
    tap.result("speed of a thing at least 0.9 0.45 0.50 MISSED".split() in table
               and "memory, MB at most 100 20 0.20 met".split() in table, "a table at the end says which", [out])
    tap.result("FAILED bench/gateway: exit status 3" in out and "FAILED bench/storage: No such file" in out
               and out.endswith("1 passed, 3 failed\n") and result.returncode == 1,
               "and that a program failed, and another is not there", [out])
    with open("docs/performance.md", "w") as page:
        page.write("before\n<!-- targets: begin -->\nold\n<!-- targets: end -->\nafter\n")
    program("bench/copy", 'echo run >>runs\necho "target memory, MB: wanted at most 100, measured $(($(wc -l <runs) * 60))"\n')
    result = subprocess.run([f"{SOURCE}/scripts/bench", "build", "2"], capture_output=True, text=True, timeout=60)
    with open("docs/performance.md") as page:
        text = page.read()
    tap.result(text == "before\n<!-- targets: begin -->\n| | wanted | run 1 | run 2 |\n|---|---|---|---|\n"
               "| speed of a thing | at least 0.9 | **0.45** | **0.45** |\n| memory, MB | at most 100 | 60 | **120** |\n"
               "| met | | 1 of 2 | 0 of 2 |\n<!-- targets: end -->\nafter\n",
               "the page has a table of all targets, with what each run measured", [text, result.stderr])
    refused = [subprocess.run([f"{SOURCE}/scripts/bench", "build", count], capture_output=True, text=True, timeout=60)
               for count in ("0", "x")]
    tap.result([(result.returncode, result.stderr) for result in refused]
               == [(1, f"bench: RUNS is a number above 0, not '{count}'\n") for count in ("0", "x")], "a number of runs has to be one", [refused])
    os.unlink("docs/performance.md")
    pages = {name: "".join(xml.etree.ElementTree.parse(f"docs/{name}").getroot().itertext()) for name in sorted(os.listdir("docs"))}
    tap.result(list(pages) == ["performance-bulk.svg", "performance-depth.svg"] and "to a file: limit" in pages["performance-bulk.svg"]
               and all(word in pages["performance-depth.svg"] for word in ("iWARP", "TCP", "64")), "plots show what was measured", [pages])
    shutil.rmtree("docs")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for step in (installing, demonstrating, needing, checking, measuring):
            step()
        os.chdir("/")
    tap.end()


main()
