#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_json_names.py TOOL: JSON of commands is UTF-8, and has each name whole, of whatever octets it consists."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap

TOOL = os.path.abspath(sys.argv[1])
# Octets that begin no sequence, overlong forms, surrogates, numbers above U+10FFFF, sequences that are cut off.
BAD = [b"\xff", b"\xff\xfe", b"\xfe\xff", b"\x80", b"a\xbfb", b"\xc0\xaf", b"\xc1\xbf", b"\xe0\x80\xaf", b"\xf0\x80\x80\xaf", b"\xed\xa0\x80",
       b"\xed\xbf\xbf", b"\xed\xa0\x80\xed\xb0\x80", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xc3", b"x\xe2\x82", b"\xf0\x9f\x98", b"\xe9t\xe9",
       b"\xff\n\"\\\x01", b"\xff" * 255]
GOOD = [b"plain", "\u00e9t\u00e9".encode(), "\ufffd".encode(), "\ud7ff\ue000\U0010ffff".encode(), "\u0080\u0085\u009f".encode(), b"tab\tline\nquote\"back\\slash",
        b"\x01\x1f\x7f", b"_hex", b"ff"]
tap = Tap()


def run(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, timeout=120)


def check(name, good, result, *details):
    tap.result(good, name, [*details, f"exit status {result.returncode}", result.stdout[:2000], result.stderr[:2000]])


def objects(result):
    """The objects of the output, which must be UTF-8: an array, or one in each line."""
    text = result.stdout.decode("utf-8", "strict")
    return json.loads(text) if text.startswith("[") else [json.loads(line) for line in text.split("\n") if line]


def octets(entry, key):
    """The octets of a name, by the rule of rpcrdma(1)."""
    whole = entry.get(key + "_hex")
    return entry[key].encode() if whole is None else bytes.fromhex(whole)


def listed(server, served):
    result = run("ls", "--json", server.url)
    entries = objects(result)
    names = {octets(entry, "name") for entry in entries}
    check("ls --json has all names", result.returncode == 0 and names == set(BAD + GOOD) == set(os.listdir(served)), result,
          names ^ set(BAD + GOOD))
    bad = [entry for entry in entries if octets(entry, "name") in BAD]
    check("those that are not UTF-8 have a member in hexadecimal, and their text has U+FFFD", len(bad) == len(BAD) and
          all("name_hex" in entry and "\ufffd" in entry["name"] for entry in bad), result)
    check("the others have none", not any("name_hex" in entry for entry in entries if octets(entry, "name") in GOOD), result)
    result = run("ls", "-R", "--json", server.url)
    check("nor has a directory that is UTF-8", not any("directory_hex" in entry for entry in objects(result)), result)


def each(server):
    """Each name of a list serves to name its object."""
    url = server.url.encode()
    found, wrong = [], []
    for entry in objects(run("ls", "--json", server.url)):
        name = octets(entry, "name")
        result = run("stat", "--json", url + name)
        (one,) = objects(result)
        found.append(name)
        if result.returncode or octets(one, "url") != url + name or one["size"] != entry["size"] or ("url_hex" in one) != (name in BAD):
            wrong.append((name, result.stdout, result.stderr))
    tap.result(len(found) == len(BAD + GOOD) and not wrong, "stat --json finds each, and says which it was", wrong)


def links(server, served):
    for target in (b"\xed\xa0\x80/\xff", b"\xc0", "\u00e9".encode()):
        os.symlink(target, served + b"/link")
        (one,) = objects(run("stat", "--json", server.url + "link"))
        (two,) = [entry for entry in objects(run("ls", "--json", server.url)) if entry["name"] == "link"]
        tap.result(octets(one, "target") == octets(two, "target") == target and ("target_hex" in one) == (b"\xc3\xa9" != target),
                   f"a link leads to {target}", [one, two])
        os.unlink(served + b"/link")


def below(server, served):
    """Paths: a directory that is not UTF-8, in lists and in a dry run of sync."""
    os.makedirs(served + b"/\xff/\xfe")
    url = server.url.encode()
    entries = objects(run("ls", "-R", "--json", url + b"\xff"))
    tap.result([(octets(entry, "directory"), octets(entry, "name")) for entry in entries] == [(url + b"\xff", b"\xfe")],
               "ls -R --json has the directory of a name", entries)
    result = run("sync", "-n", "--json", url + b"\xff", served + b".copy")
    check("sync -n --json has paths", [octets(entry, "path") for entry in objects(result)[:-1]] == [b".", b"\xfe"], result)
    result = run("df", "--json", url + b"\xff")
    check("df --json has the URL", octets(objects(result)[0], "url") == url + b"\xff", result)
    os.rmdir(served + b"/\xff/\xfe")
    os.rmdir(served + b"/\xff")


def changes(server, served):
    """Commands that change names say which they were."""
    url = server.url.encode() + b"new-\xc0\xaf"
    rows = [(("mkdir", url), {"url": url}), (("ln", "-s", b"\xfe", url + b"/l"), {"url": b"\xfe", "to": url + b"/l"}),
            (("mv", url + b"/l", url + b"/\xff"), {"url": url + b"/l", "to": url + b"/\xff"}), (("rm", "-r", url), {"url": url})]
    for (command, *operands), wanted in rows:
        result = run(command, "--json", *operands)
        (one,) = objects(result)
        check(f"{command} --json has all octets of its operands", result.returncode == 0 and {key: octets(one, key) for key in wanted} == wanted, result)
    result = run("rm", "--json", url)
    check("an error is a text, and UTF-8", result.returncode == 1 and "\ufffd" in objects(result)[0]["error"], result)


def long_urls(server, served):
    """A URL that is longer than most is whole."""
    path = b"/".join([b"d" * 200 + b"\xff"] * 10)
    os.makedirs(served + b"/" + path)
    url = server.url.encode() + path
    for command in (("stat",), ("df",)):
        result = run(*command, "--json", url)
        check(f"{command[0]} --json has a long URL", result.returncode == 0 and octets(objects(result)[0], "url") == url, result)
    result = run("mv", "--json", url, url + b"2")
    check("mv --json has two", result.returncode == 0 and octets(objects(result)[0], "url") == url and octets(objects(result)[0], "to") == url + b"2", result)
    result = run("rm", "-rv", url + b"2")
    check("rm -v has one", result.returncode == 0 and result.stdout.rstrip(b"\n").endswith(url + b"2"), result)
    result = run("rm", "--json", url + b"2")
    check("and a message has its reason behind one", result.returncode == 1 and objects(result)[0]["error"].endswith("no such file or directory (NFS4ERR_NOENT)"), result)
    run("rm", "-r", server.url.encode() + path.split(b"/")[0])


def main():
    with tempfile.TemporaryDirectory(prefix="rpcrdma-json-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as work:
        os.mkdir(f"{work}/served")
        served = os.fsencode(f"{work}/served")
        with Server(TOOL, f"{work}/served") as server:
            links(server, served)
            below(server, served)
            changes(server, served)
            long_urls(server, served)
            for i, name in enumerate(BAD + GOOD):
                with open(served + b"/" + name, "wb") as file:
                    file.write(b"x" * i)
            listed(server, served)
            each(server)
    tap.end()


main()
