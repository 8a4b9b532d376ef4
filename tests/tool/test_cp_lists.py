#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_cp_lists.py TOOL: `rpcrdma cp -a` and `rpcrdma sync` keep access lists, by each version of NFS."""
import json
import os
import shutil
import stat
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Daemon, Server, Tap, free_port

TOOL = os.path.abspath(sys.argv[1])
NOBODY = 0xffffffff
ACCESS, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"
OWNER, USER, GROUP_OBJ, GROUP, MASK, OTHER = 1, 2, 4, 8, 0x10, 0x20
tap = Tap()


def run(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=120)


def check(name, good, result, *details):
    tap.result(good, name, [*details, f"exit status {result.returncode}", result.stdout, result.stderr])


def encode(*entries):
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def a_list(user, mask):
    """The user of the file, user 1234, the group (which may read alone), group 77, the mask, and others."""
    return encode((OWNER, 6, NOBODY), (USER, user, 1234), (GROUP_OBJ, 4, NOBODY), (GROUP, 5, 77), (MASK, mask, NOBODY), (OTHER, 0, NOBODY))


# What version 4 says of a list is what its mask lets through: here, that is all.
LIST = a_list(7, 7)
OTHER_LIST = a_list(4, 5)


def write(path, octets=b"x", mode=0o640):
    with open(path, "wb") as file:
        file.write(octets)
    os.chmod(path, mode)


def make_tree(top):
    os.makedirs(f"{top}/listed/deep")
    os.makedirs(f"{top}/default/made-before")
    for name, size in (("small", 10), ("large", 300000), ("plain", 10), ("listed/small", 20), ("default/plain", 5)):
        write(f"{top}/{name}", b"x" * size)
    for name in ("small", "large", "listed", "listed/small"):
        os.setxattr(f"{top}/{name}", ACCESS, LIST)
    os.setxattr(f"{top}/default", DEFAULT, LIST)
    for path, _, names in os.walk(top, topdown=False):
        for name in [*names, "."]:
            os.utime(f"{path}/{name}", ns=(1_234_567_890_123_456_789, 1_222_222_222_987_654_321))


def describe(top):
    """Returns by path the mode, the time of modification, and the access lists."""
    found = {}
    for path, _, names in os.walk(top):
        for name in [*names, "."]:
            full = os.path.normpath(os.path.join(path, name))
            lists = {key: os.getxattr(full, key) for key in (ACCESS, DEFAULT) if key in os.listxattr(full)}
            found[os.path.relpath(full, top)] = [oct(os.stat(full).st_mode), os.stat(full).st_mtime_ns, lists]
    return found


def differences(a, b):
    a, b = describe(a), describe(b)
    return [(path, a.get(path), b.get(path)) for path in sorted(a.keys() | b.keys()) if a.get(path) != b.get(path)]


def again(command, source, url, place):
    """A second run of sync finds nothing to do."""
    result = run("sync", "-v", source, url)
    check(f"{command}: then sync finds nothing to do", result.returncode == 0 and not result.stdout.strip().startswith("set") and
          "set " not in result.stdout and "copy " not in result.stdout and not differences(source, place) if not source.startswith("nfs:")
          else result.returncode == 0 and "set " not in result.stdout and "copy " not in result.stdout, result)


def kept(work, served, server, version):
    """To a server, from it, and within it."""
    tree, option = f"{work}/tree", f"?version={version}"
    for command in (("cp", "-a"), ("sync",)):
        name = f"{' '.join(command)}, version {version}"
        for place in (f"{served}/tree", f"{served}/third", f"{work}/back"):
            shutil.rmtree(place, ignore_errors=True)
        result = run(*command, tree, f"{server.url}tree{option}")
        bad = differences(tree, f"{served}/tree")
        check(f"{name}: to a server", result.returncode == 0 and not bad and "ACL" not in result.stderr, result, *bad)
        again(name, tree, f"{server.url}tree{option}", f"{served}/tree")
        result = run(*command, f"{server.url}tree{option}", f"{work}/back")
        bad = differences(tree, f"{work}/back")
        check(f"{name}: from one", result.returncode == 0 and not bad, result, *bad)
        again(name, f"{server.url}tree{option}", f"{work}/back", f"{work}/back")
        result = run(*command, f"{server.url}tree{option}", f"{server.url}third{option}")
        bad = differences(tree, f"{served}/third")
        check(f"{name}: from one to one", result.returncode == 0 and not bad, result, *bad)
        again(name, f"{server.url}tree{option}", f"{server.url}third{option}", f"{served}/third")


def changed(work, served, server, version):
    """sync makes lists equal, whichever side has them; a copy takes away what the source does not have."""
    tree, place, url = f"{work}/tree", f"{served}/tree", f"{server.url}tree?version={version}"
    os.setxattr(f"{place}/small", ACCESS, OTHER_LIST)
    os.removexattr(f"{place}/large", ACCESS)
    os.chmod(f"{place}/large", stat.S_IMODE(os.stat(f"{tree}/large").st_mode))
    os.setxattr(f"{place}/plain", ACCESS, LIST)
    os.setxattr(f"{place}/listed", DEFAULT, LIST)
    os.removexattr(f"{place}/default", DEFAULT)
    result = run("sync", "-n", tree, url)
    said = {line.split(" ", 1)[1] for line in result.stdout.splitlines() if line.startswith("set ")}
    check(f"sync -n names what differs, version {version}", said == {"small", "large", "plain", "listed", "default"}, result, said)
    result = run("sync", tree, url)
    bad = differences(tree, place)
    check(f"sync makes lists equal, version {version}", result.returncode == 0 and not bad, result, *bad)
    back = f"{work}/back"
    os.setxattr(f"{back}/plain", ACCESS, LIST)
    os.removexattr(f"{back}/small", ACCESS)
    os.chmod(f"{back}/small", 0o640)
    os.setxattr(f"{back}/listed/small", ACCESS, OTHER_LIST)
    result = run("sync", url, back)
    bad = differences(tree, back)
    check(f"and so it does from a server, version {version}", result.returncode == 0 and not bad, result, *bad)
    # A list that changes no mode, on a server: only --checksum asks for each.
    os.setxattr(f"{place}/plain", ACCESS, encode((OWNER, 6, NOBODY), (USER, 4, 1234), (GROUP_OBJ, 4, NOBODY), (MASK, 4, NOBODY), (OTHER, 0, NOBODY)))
    for command in (("sync", "--checksum", url, back), ("sync", "--checksum", tree, url), ("sync", "--checksum", url, back)):
        result = run(*command)
        bad = differences(place, back if command[2] == url else tree)
        check(f"with --checksum, all lists are compared, version {version}", result.returncode == 0 and not bad, result, *bad)


def inherited(work, served, server, version):
    """What is made in a directory with a default list has the lists of its source, and nothing else."""
    tree = f"{work}/tree"
    for place, url in ((f"{served}/giving", f"{server.url}giving?version={version}"), (f"{work}/giving", f"{work}/giving")):
        for command in (("cp", "-a"), ("sync",)):
            shutil.rmtree(place, ignore_errors=True)
            os.makedirs(place)
            os.setxattr(place, DEFAULT, LIST)
            source = f"{tree}/." if command[0] == "cp" else tree
            if command[0] == "cp":
                result = run(*command, tree, f"{server.url}plain?version={version}") if place.startswith(work + "/giving") else None
                source = f"{server.url}plain/.?version={version}" if result else source
            elif url == place:
                source = f"{server.url}plain?version={version}"
            result = run(*command, source, url)
            bad = [one for one in differences(tree, place) if one[0] != "." or command[0] == "sync"]
            check(f"{' '.join(command)} into a directory with a default list: {'a server' if url != place else 'here'}, version {version}",
                  result.returncode == 0 and not bad, result, *bad)
    shutil.rmtree(f"{served}/plain")
    shutil.rmtree(f"{served}/giving")
    shutil.rmtree(f"{work}/giving")


def shown(server, version):
    """stat writes lists as getfacl does, where they say more than the mode."""
    words = ["user::rw-", "user:1234:rwx", "group::r--", "group:77:r-x", "mask::rwx", "other::---"]
    for name, want in (("small", {"acl": words}), ("default", {"default_acl": words}), ("plain", {})):
        url = f"{server.url}tree/{name}?version={version}"
        result = run("stat", "--json", url)
        found = {key: value for key, value in json.loads(result.stdout).items() if key.endswith("acl")}
        check(f"stat --json of {name}, version {version}", result.returncode == 0 and found == want, result)
        result = run("stat", url)
        check(f"stat of {name}, version {version}", result.returncode == 0 and result.stdout.count(",".join(words)) == len(want)
              and result.stdout.count("ACL") == len(want), result)


def masked(work, served, server, version):
    """Rights that a mask takes away: version 3 keeps them, version 4 does not show them. Nobody gets more by that."""
    source, place, url = f"{work}/masked", f"{served}/masked", f"{server.url}masked?version={version}"
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(source, exist_ok=True)
    write(f"{source}/file")
    os.setxattr(f"{source}/file", ACCESS, a_list(6, 4))
    result = run("cp", "-a", source, url)
    want = a_list(6, 4) if version == "3" else encode((OWNER, 6, NOBODY), (USER, 4, 1234), (GROUP_OBJ, 4, NOBODY), (GROUP, 4, 77),
                                                      (MASK, 4, NOBODY), (OTHER, 0, NOBODY))
    check(f"a mask takes rights away, version {version}", result.returncode == 0 and os.getxattr(f"{place}/file", ACCESS) == want, result)
    again(f"a mask, version {version}", source, url, source)


class Listless(Daemon):
    """A server of which a rule says that its callers have nothing to do with access lists."""

    def __init__(self, work, served):
        self.port = free_port()
        with open(f"{work}/serve.conf", "w") as file:
            file.write(f"{served}=/ 127.0.0.1(rw,insecure,no_root_squash,no_acl)\n")
        self.launch([TOOL, "serve", "--config", f"{work}/serve.conf", "--listen", f"127.0.0.1:{self.port}", "--tcp-port", "0",
                     "--key", f"{work}/key"], open(f"{work}/log", "w"))


def none(work, served, version):
    """A server that takes no lists, as a rule says: the group gets what its entry and the mask allow, and one line says so."""
    tree = f"{work}/tree"
    shutil.rmtree(f"{served}/tree", ignore_errors=True)
    with Listless(work, served) as server:
        url = f"nfs://127.0.0.1:{server.port}/tree?version={version}"
        for command in (("cp", "-a"), ("sync",)):
            result = run(*command, tree, url)
            found = {name: stat.S_IMODE(os.stat(f"{served}/tree/{name}").st_mode) for name in ("small", "large", "listed", "plain")}
            check(f"{command[0]}, version {version}: the group gets what its entry and the mask allow",
                  result.returncode == 0 and set(found.values()) == {0o640}, result, found)
            check("one line says that access lists are not kept", result.stderr.count("ACL") == 1 and ": 5 of" in result.stderr, result)
        with Server(TOOL, tree) as source:
            result = run("cp", "-a", f"{source.url}.?version={version}", f"nfs://127.0.0.1:{server.port}/from?version={version}")
        found = {name: stat.S_IMODE(os.stat(f"{served}/from/{name}").st_mode) for name in ("small", "large", "listed", "plain")}
        check(f"so it is from a server, version {version}", result.returncode == 0 and set(found.values()) == {0o640}
              and result.stderr.count("ACL") == 1 and ": 5 of" in result.stderr, result, found)
        shutil.rmtree(f"{served}/from")
        result = run("sync", "-v", tree, url)
        check("a second sync sets nothing", "set " not in result.stdout, result)


def main():
    os.umask(0o022)
    with tempfile.TemporaryDirectory() as work:
        os.chmod(work, 0o755)
        served = f"{work}/served"
        os.makedirs(served)
        try:
            make_tree(f"{work}/tree")
        except OSError as error:
            tap.skip("access lists", f"the file system has none: {error}")
            tap.end()
        for version in ("3", "4.1", "4.2"):
            with Server(TOOL, served) as server:
                kept(work, served, server, version)
                changed(work, served, server, version)
                inherited(work, served, server, version)
                shown(server, version)
                masked(work, served, server, version)
            none(work, served, version)
    tap.end()


main()
