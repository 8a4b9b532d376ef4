#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_decode.py TOOL: what `rpcrdma decode` says of files that are no captures, and of captures with less in them."""
import collections
import glob
import gzip
import json
import os
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Tap

TOOL = os.path.abspath(sys.argv[1])
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
tap = Tap()


def decode(*arguments, **options):
    return subprocess.run([TOOL, "decode", *arguments], capture_output=True, text=True, timeout=60, **options)


def refused(name, path, **options):
    for check in (), ("--check",):
        done = decode(*check, path, **options)
        words = done.stderr.split(path)
        tap.result(done.returncode == 1 and len(words) == 2 and not done.stdout, " ".join((name, *check)),
                   [done.returncode, done.stdout, done.stderr])


def records(data):
    """Yields each record of a capture, pcap or pcapng: the record, and what makes it of so many octets of its packet
    (None if it has no packet)."""
    if data[:4] == b"\x0a\x0d\x0d\x0a":
        at = 0
        while at < len(data):
            kind, size = struct.unpack_from("<II", data, at)
            block, at = data[at:at + size], at + size
            if kind != 6:
                yield block, None
                continue

            def enhanced(most, block=block):
                captured = min(most, struct.unpack_from("<I", block, 20)[0])
                padded = block[28:28 + captured] + bytes(-captured % 4)
                whole = struct.pack("<I", 32 + len(padded))
                return b"".join((block[:4], whole, block[8:20], struct.pack("<I", captured), block[24:28], padded, whole))

            yield block, enhanced
        return
    order = "<" if data[0] in (0xd4, 0x4d) else ">"
    yield data[:24], None
    at = 24
    while at < len(data):
        captured = struct.unpack_from(order + "I", data, at + 8)[0]
        record, at = data[at:at + 16 + captured], at + 16 + captured

        def plain(most, record=record):
            size = min(most, len(record) - 16)
            return record[:8] + struct.pack(order + "I", size) + record[12:16 + size]

        yield record, plain


def less(data, most, is_kept):
    """Returns the capture with at most that many octets of each packet, and of the packets those that are kept."""
    result, number = [], 0
    for record, cut in records(data):
        if cut is None:
            result.append(record)
            continue
        if is_kept(number):
            result.append(cut(most))
        number += 1
    return b"".join(result)


def findings(path, content):
    """Returns the findings on a capture, by row, connection and XID, and the summary."""
    with open(path, "wb") as file:
        file.write(content)
    done = decode("--check", "--json", path)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    rows = collections.Counter((event["row"], event["connection"], event.get("xid"), event["text"])
                               for event in events if event["event"] == "finding")
    return rows, events[-1] if events else done


WHOLE = 1 << 20
CUTS = [(f"cut to {most} octets", most, lambda number: True) for most in (54, 64, 68, 80, 96, 128, 160, 256, 400)]
LOSSES = [("without each seventh packet", WHOLE, lambda number: number % 7 != 3),
          ("without its beginning", WHOLE, lambda number: number > 5),
          ("cut and without each fifth packet", 128, lambda number: number % 5 != 2)]


def a_lesser_capture_shows_no_more(path):
    """RFC 8166 is not broken by a capture that has less: tcpdump -s, packets that it dropped, a late start."""
    captures = sorted(glob.glob(f"{SOURCE}/tests/capture/*.gz") + glob.glob(f"{SOURCE}/docs/captures/*") +
                      glob.glob(f"{SOURCE}/tests/decode/corpus/*.pcap"))
    for capture in captures:
        with (gzip.open if capture.endswith(".gz") else open)(capture, "rb") as file:
            data = file.read()
        whole = findings(path, data)[0]
        wrong = []
        # The corpus has no acknowledgements, which alone show that a last packet is missing.
        for name, most, is_kept in CUTS + ([] if "/corpus/" in capture else LOSSES):
            found, summary = findings(path, less(data, most, is_kept))
            if found - whole:
                wrong.append((name, found - whole, summary))
        tap.result(not wrong, f"{os.path.basename(capture)}: with less in it no more is found", wrong)


def cut_messages_are_shown_and_counted(path):
    with gzip.open(f"{SOURCE}/tests/capture/linux-nfs-4.1-callback.pcap.gz", "rb") as file:
        data = file.read()
    rows, summary = findings(path, less(data, 96, lambda number: True))
    tap.result(not rows and summary["messages"] == summary["cut"] == 38, "messages that are cut are counted, not judged",
               [rows, summary])
    shown = decode(path).stdout.splitlines()
    tap.result(sum(line.endswith("cut in the capture") for line in shown) == 38, "such messages are shown as cut", shown)
    text = decode("--check", path).stdout
    tap.result(text.endswith(", 38 not judged, as the capture has cut them\n"), "the summary says so", text)


def messages(path, content):
    """Returns the messages of a capture as rpcrdma decode prints them: in JSON, by their frames."""
    with open(path, "wb") as file:
        file.write(content)
    events = [json.loads(line) for line in decode("--json", path).stdout.splitlines()]
    return {event["frame"]: event for event in events if event["event"] == "message"}


def operations_are_shown(path):
    for version in "4.0", "4.1", "4.2", "4.1-callback":
        with gzip.open(f"{SOURCE}/tests/capture/linux-nfs-{version}.pcap.gz", "rb") as file:
            data = file.read()
        whole = messages(path, data)
        compounds = {frame: m for frame, m in whole.items() if m.get("procedure_name") in ("COMPOUND", "CB_COMPOUND")}
        wrong = [m for m in compounds.values() if not m.get("whole") or not m["operations"] or not all("name" in o for o in m["operations"])]
        for m in compounds.values():
            asked = [o.get("name") for o in compounds.get(m.get("call_frame"), m)["operations"]]
            got = [o.get("name") for o in m["operations"]]
            failed = m["kind"] == "reply" and m["operations"][-1]["status"] != 0
            if got != (asked[:len(got)] if failed else asked):
                wrong.append((asked, m))
        tap.result(len(compounds) > 30 and not wrong, f"{version}: all operations are read, and a reply has those of its call", wrong[:3])
        wrong = []
        for most in 128, 160, 200, 256:
            for frame, m in messages(path, less(data, most, lambda number: True)).items():
                front = [o["number"] for o in m.get("operations", [])]
                if front != [o["number"] for o in whole[frame].get("operations", [])][:len(front)]:
                    wrong.append((most, m))
        tap.result(not wrong, f"{version}: of messages that are cut, the front of the list is read", wrong[:3])
    with open(path, "wb") as file:
        file.write(data)
    text = decode(path).stdout
    tap.result(" COMPOUND (SEQUENCE, PUTFH, GETATTR)" in text and "CB_COMPOUND SUCCESS (CB_SEQUENCE, CB_RECALL)" in text,
               "the lines of text have them, too", text)
    lines = decode("--filter", "procedure=cb_recall", path).stdout.splitlines()
    tap.result(len(lines) == 2 and all("CB_RECALL" in line for line in lines), "a filter takes their names", lines)


with tempfile.TemporaryDirectory(prefix="rpcrdma-decode-") as directory:
    path = f"{directory}/capture"
    refused("a file that does not exist is named, once", path)
    for content, what in ((b"", "an empty file"), (b"no capture, but text" * 10, "a file that is no capture"),
                          (b"\xd4\xc3\xb2\xa1" + bytes(4), "a capture that breaks off in its header")):
        with open(path, "wb") as file:
            file.write(content)
        refused(f"{what} is named, once", path)
    refused("a folder is named, once", directory)
    a_lesser_capture_shows_no_more(path)
    cut_messages_are_shown_and_counted(path)
    operations_are_shown(path)
tap.end()
