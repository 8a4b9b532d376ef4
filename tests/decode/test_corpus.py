#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_corpus.py RPCRDMA JUDGE SOURCE: each capture of corpus/ breaks one rule, and `rpcrdma decode --check` names its row, in
the frame that breaks it. `test-decode-judge DIRECTORY` writes the captures: those of the repository are the same."""
import filecmp
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "capture"))
import roce
from tap import Tap

TOOL, JUDGE, SOURCE = (os.path.abspath(path) for path in sys.argv[1:4])
CORPUS = f"{SOURCE}/corpus"
CONFORMANCE = f"{SOURCE}/../../docs/conformance.md"
# A14 is about octets that another path brings, B11 about the memory of a peer: no capture shows them.
NOT_CAPTURED = {"A14", "B11"}
# What these break belongs to TCP, DDP or RDMAP: their captures as ones of RoCE break nothing.
IWARP_ONLY = {"A1-tcp.pcap", "A12-read-response.pcap", "A13-send-segments.pcap", "B1-no-receive.pcap"}
PORT = 20049
tap = Tap()


def frames_of(path):
    """How many packets a capture has."""
    with open(path, "rb") as file:
        data = file.read()
    at, count = 24, 0
    while at < len(data):
        at += 16 + int.from_bytes(data[at + 8:at + 12], "big")
        count += 1
    return count


def findings_in(path):
    done = subprocess.run([TOOL, "decode", "--check", "--json", path], capture_output=True, text=True, timeout=60)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return done, [line for line in lines if line["event"] == "finding"]


def check(name):
    path = f"{CORPUS}/{name}"
    done, findings = findings_in(path)
    row = name.split("-")[0]
    broken = any(finding["level"] == "MUST" for finding in findings)
    frames = frames_of(path)
    tap.result(findings and {finding["row"] for finding in findings} == {row}
               and all(0 < finding["frame"] <= frames and finding["section"] for finding in findings)
               and done.returncode == (1 if broken else 0) and not done.stderr,
               f"{name}: {row} is found, and no other row", [done.returncode, done.stderr, *findings])
    if name in IWARP_ONLY:
        return
    with tempfile.TemporaryDirectory(prefix="rpcrdma-corpus-") as directory:
        roce.write(f"{directory}/{name}", roce.convert(path, PORT))
        _, other = findings_in(f"{directory}/{name}")
    tap.result({finding["row"] for finding in other} == {row}, f"{name} as RoCE: the same", other)


captures = sorted(os.listdir(CORPUS))
for capture in captures:
    check(capture)
with open(CONFORMANCE) as file:
    rows = set(re.findall(r"^\| ([AB]\d+) \|", file.read(), re.MULTILINE))
tap.result(rows - NOT_CAPTURED == {name.split("-")[0] for name in captures}, "each row that a capture can show has a capture",
           sorted(rows - NOT_CAPTURED))
with tempfile.TemporaryDirectory(prefix="rpcrdma-corpus-") as directory:
    subprocess.run([JUDGE, directory], check=True)
    _, other, missing = filecmp.cmpfiles(directory, CORPUS, sorted(set(os.listdir(directory)) | set(captures)), shallow=False)
    tap.result(not other and not missing, f"the captures of the repository are what {os.path.basename(JUDGE)} writes",
               [*other, *missing, f"{JUDGE} {CORPUS} writes them"])
tap.end()
