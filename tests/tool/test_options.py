#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_options.py TOOL: every sub-command reports what is wrong with an option, with its argument and with the number of operands in
the same words, and takes options before and after operands. What options there are comes from --help."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Tap

TOOL = os.path.abspath(sys.argv[1])
tap = Tap()


def run(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=60)


def refused(name, command, arguments, message):
    """Checks that the sub-command fails with status 2, and prints only this message and its usage."""
    result = run(command, *arguments)
    lines = result.stderr.splitlines()
    good = (result.returncode == 2 and len(lines) == 2 and re.fullmatch(f"rpcrdma {command}: (?:{message})", lines[0])
            and lines[1].startswith(f"Usage: rpcrdma {command}"))
    tap.result(bool(good), f"{command}: {name}", [arguments, result.returncode, result.stderr])


def options_of(command):
    """Returns (names, argument) of each option, from --help and --help-diagnostics."""
    text = run(command, "--help").stdout + run(command, "--help-diagnostics").stdout
    lines = re.findall(r"^ {2,6}(-[^ ,\n]+)(?:, (--[^ \n]+))?(?: ([^ \n]+))?(?: |$)", text, re.MULTILINE)
    return [([name for name in (first, second) if name], argument) for first, second, argument in lines]


def long_option(command, name, argument):
    if not argument:
        return refused(f"{name} takes no argument", command, [f"{name}=x"], f"{name} takes no argument")
    refused(f"{name} wants an argument", command, [name], f"{name} wants an argument: {re.escape(argument)}")
    word = f"({argument})"
    if argument in ("N", "MIB", "US", "SECONDS"):
        for bad in ("x", "-1", "1x", "", "99999999999999999999"):
            refused(f"{name} takes no '{bad}'", command, [f"{name}={bad}"],
                    rf"{name} takes a (number|multiple of \d+) from \d+ to \d+, not '{bad}'")
    elif "|" in argument and "[" not in argument:
        refused(f"{name} takes one of its words", command, [name, "x"],
                f"{name} takes ({word}, )+{word} or {word}, not 'x'")


def check(command):
    options = options_of(command)
    refused("an unknown option", command, ["--no-such-option"], "there is no option --no-such-option; --help lists them")
    refused("an unknown option with an argument", command, ["--no-such-option=1"],
            "there is no option --no-such-option; --help lists them")
    refused("an unknown letter", command, ["-Z"], "there is no option -Z; --help lists them")
    for names, argument in options:
        if names[-1].startswith("--"):
            long_option(command, names[-1], argument)
        if argument:
            refused(f"{names[0]} wants an argument", command, [names[0]],
                    f"{names[-1]} wants an argument: {re.escape(argument)}")
    flags = "".join(names[0][1] for names, argument in options if not names[0].startswith("--") and not argument)
    if flags:
        refused("an unknown letter behind others", command, [f"-{flags}Z"], "there is no option -Z; --help lists them")
    tap.result(run(command, "operand", "--help").stdout == run(command, "--help").stdout,
               f"{command}: an option may stand behind an operand")


def helps(command):
    """Lines fit a terminal of 80 columns; what `help` prints is what --help does; what shells ask for is all of it."""
    text, diagnosis = run(command, "--help").stdout, run(command, "--help-diagnostics").stdout
    wide = [line for line in (text + diagnosis).splitlines() if len(line) > 80]
    tap.result(not wide, f"{command}: --help has 80 columns", wide)
    tap.result(run("help", command).stdout == text, f"{command}: so has `rpcrdma help {command}`")
    has = "--capture" in [names[-1] for names, _ in options_of(command)]
    tap.result("--capture" not in text and has == ("--help-diagnostics" in text), f"{command}: options for diagnosis have a list of their own", [text])
    lines = [line.split("\t") for line in run("--complete", command).stdout.splitlines()]
    names = {line[0]: (None if line[1] == "-" else line[1]) for line in lines[1:]}
    wanted = {name: argument or None for options, argument in options_of(command) for name in options}
    tap.result(names == {**wanted, "--help": None} and all(len(line) == 4 for line in lines) and lines[0][1] in ("URL", "FILE"),
               f"{command}: --complete has each option", [set(names.items()) ^ set(wanted.items()), lines[0]])
    words = {line[0]: line[2] for line in lines}
    tap.result("--transport" not in words or "iwarp verbs" in words["--transport"], f"{command}: with the words that it takes", [words])


def itself():
    """What may stand in place of a sub-command."""
    usage, version = run("--help"), run("--version")
    for arguments in (["help"], ["-h"]):
        tap.result(run(*arguments).stdout == usage.stdout, f"rpcrdma {arguments[0]} is --help")
    for arguments in (["version"], ["-V"]):
        tap.result(version.stdout.startswith("rpcrdma ") and run(*arguments).stdout == version.stdout, f"rpcrdma {arguments[0]} is --version")
    tap.result(not [line for line in usage.stdout.splitlines() if len(line) > 80], "--help has 80 columns", [usage.stdout])
    for arguments in (["help", "nonsense"], ["nonsense"], ["--complete", "nonsense"]):
        done = run(*arguments)
        tap.result(done.returncode == 2 and "there is no command 'nonsense'" in done.stderr, f"rpcrdma {' '.join(arguments)} is an error", [done])
    commands = [line.split("\t")[0] for line in run("--complete").stdout.splitlines()]
    tap.result(commands == re.findall(r"^  ([a-z]+) ", usage.stdout, re.MULTILINE), "--complete lists the commands", [commands])


def operands():
    for command in ("ls", "stat", "cat", "rm", "mkdir", "df", "ping"):
        refused("an operand is missing", command, [], "an argument is missing: URL(\\.\\.\\.)?")
        refused("an operand is no URL", command, ["here"], r"'here' is no URL: nfs://HOST\[:PORT\]/PATH or HOST:/PATH")
        refused("a URL has a port that there is not", command, ["nfs://a:70000/"], "nfs://a:70000/: .*port.*")
    for command in ("mv", "ln"):
        refused("an operand is missing", command, ["nfs://a/"], "an argument is missing: .*")
        refused("an operand is no URL", command, ["nfs://a/", "here"], r"'here' is no URL: nfs://HOST\[:PORT\]/PATH or HOST:/PATH")
    for command in ("cp", "sync", "mv", "ln"):
        for urls in (["nfs://a/", "nfs://b/?transport=air"], ["nfs://b/?transport=air", "nfs://a/"]):
            refused("a URL has an option that there is not", command, urls, r"nfs://b/\?transport=air: .*transport.*")
    for command in ("stat", "ping"):
        refused("one operand too many", command, ["nfs://a/", "nfs://b/"], "'nfs://b/' is one argument too many")
    for command, few, many in (("cp", ["a"], None), ("sync", ["a"], ["a", "b", "c"]), ("decode", [], ["a", "b"]), ("xdr", [], ["a", "b"]),
                               ("serve", [], None), ("devices", None, ["x"])):
        if few is not None:
            refused("an operand is missing", command, few, "an argument is missing: .*")
        if many:
            refused("one operand too many", command, many, f"'{many[-1]}' is one argument too many")
    refused("an option without which it does nothing is missing", "gateway", ["--listen", "127.0.0.1:0"], "--to is missing")


for name in re.findall(r"^  ([a-z]+) ", run("--help").stdout, re.MULTILINE):
    check(name)
    helps(name)
itself()
operands()
tap.end()
