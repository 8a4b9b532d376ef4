# SPDX-License-Identifier: BSD-3-Clause
"""docs/interop.md: what `rpcrdma check` finds on Linux, both roles."""
import os
import re

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "interop.md")

HEAD = """# What `rpcrdma check` finds on Linux 6.1

Written by `make interop`, which boots the kernel of Debian 12 in QEMU, with siw, its software adapter of iWARP; `make check-kernel` fails where
anything else is found. [conformance.md](conformance.md) has the rows.

"""

SERVER = """## The server (knfsd)

`rpcrdma check --destructive nfs://SERVER/export`: each case has a connection of its own. Version 2 is not spoken by Linux, which answers
ERR_VERS.

"""

CLIENT = """
## The client

`rpcrdma check --serve --nfs 3,4`, while the client mounts it with versions 3, 4.1 and 4.2, writes files of several sizes, lists a directory
of 107 entries, reads, renames and removes, over more than one connection.

"""


def cell(text):
    """Without XIDs, which differ each time."""
    text = re.sub(r"0x[0-9a-f]{8}", "0x...", text)
    return text.replace("|", "\\|").replace("\n", " ")


def table_of_server(cases):
    lines = ["| row | case | of section | outcome |", "|---|---|---|---|"]
    for case in cases:
        outcome = {"pass": "passed", "fail": "**failed**", "skip": "skipped"}[case["verdict"]]
        why = f": {case['why']}" if case.get("why") else ""
        lines.append(f"| {case['row']} | {cell(case['text'])} | {case['section']} | {cell(outcome + why)} |")
    return "\n".join(lines) + "\n"


def table_of_client(findings, port):
    """Each kind of finding once, with its side."""
    kinds = {(f["row"], f["level"], "server" if f["from"].endswith(f":{port}") else "client", f["text"], f["section"]) for f in findings}
    if not kinds:
        return "Nothing was found.\n"
    lines = ["| row | level | side | what was found | of section |", "|---|---|---|---|---|"]
    return "\n".join(lines + [f"| {' | '.join(cell(part) for part in kind)} |" for kind in sorted(kinds)]) + "\n"


def hold(results, cases, findings, port):
    """Holds what was found to the document; or writes it, where RPCRDMA_INTEROP is set. A case of the server's that is new, so that the
    document does not have it, is no change of what is known of Linux: it is shown, and `make interop` adds it."""
    document = HEAD + SERVER + table_of_server(cases) + CLIENT + table_of_client(findings, port)
    if os.environ.get("RPCRDMA_INTEROP"):
        with open(PATH, "w") as file:
            file.write(document)
        return
    with open(PATH) as file:
        known = file.read()
    gone = set(known.splitlines()) - set(document.splitlines())
    same_client = known.split("## The client")[1] == document.split("## The client")[1]
    results.add(not gone and same_client, "what was found on Linux is what docs/interop.md says")
    for line in sorted(set(document.splitlines()) ^ set(known.splitlines())):
        print(f"# {'no longer' if line in gone else 'not in the document'}: {line}", flush=True)
