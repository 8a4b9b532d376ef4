#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_report.py TOOL: what `rpcrdma ping --json` and a server at SIGUSR1 tell."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Server, Tap

TOOL = os.path.abspath(sys.argv[1])
tap = Tap()


def report(server):
    """Returns the reports of two threads at SIGUSR1. The signal is sent twice, because the heads of the second reports show
    that the first ones are complete."""
    lines, heads = [], 0
    for wanted in (2, 4):
        server.process.send_signal(signal.SIGUSR1)
        while heads < wanted:
            lines.append(server.process.stderr.readline())
            heads += lines[-1].startswith("thread ")
    return "".join(lines)


def report_of_one(server):
    """Returns the report of a server of one thread: the lines from its head to the head of the next report."""
    text = ""
    server.process.send_signal(signal.SIGUSR1)
    while not server.process.stderr.readline().startswith("thread "):
        pass
    server.process.send_signal(signal.SIGUSR1)
    while not (line := server.process.stderr.readline()).startswith("thread "):
        text += line
    return text


def counted(server):
    text = report_of_one(server)
    return {name: int(value) for name, value in re.findall(r"^  (\w+) (\d+)$", text, re.MULTILINE)}


def storage(top):
    """The report counts the operations of the storage. When the client has ended, all have ended."""
    with Server(TOOL, top, stderr=subprocess.PIPE) as server:
        subprocess.run([TOOL, "mkdir", server.url + "made"], timeout=60)
        text = report_of_one(server)
        found = re.search(r"^storage: (\d+) operations?, \d+ not at once, 0 cancelled; 0 under way, at most \d+; 0 opens, \d+ descriptors?$",
                          text, re.MULTILINE)
        tap.result(found is not None and int(found[1]) > 0, "a server tells what its storage does", [text])


def large_replies(top):
    """Row B14: --reply-chunks decides whether the client or the server provides the chunk for a reply that does not fit
    inline."""
    os.mkdir(f"{top}/many")
    for i in range(300):
        open(f"{top}/many/{i:060}", "w").close()
    with Server(TOOL, f"{top}/many", stderr=subprocess.PIPE) as server:
        for policy, wanted in (("never", "provided_replies"), ("always", "long_replies"), ("auto", "long_replies")):
            before = counted(server)
            result = subprocess.run([TOOL, "ls", "--reply-chunks", policy, server.url], capture_output=True, text=True, timeout=60)
            after = counted(server)
            grown = [name for name in ("provided_replies", "long_replies") if after.get(name, 0) > before.get(name, 0)]
            tap.result(len(result.stdout.split()) == 300 and grown == [wanted], f"--reply-chunks {policy}: {wanted}",
                       [result.stderr, before, after])
        tap.result(after["done_received"] == after["provided_replies"] and "done_unmatched" not in after,
                   "the server is told once of each", [after])
        server.stop()
        server.process.stderr.close()
    with Server(TOOL, f"{top}/many", "--no-provided", stderr=subprocess.PIPE) as server:
        result = subprocess.run([TOOL, "ls", "--reply-chunks", "never", server.url], capture_output=True, text=True, timeout=60)
        after = counted(server)
        tap.result(len(result.stdout.split()) == 300 and "provided_replies" not in after and after["long_replies"] > 0,
                   "serve --no-provided: no reply in Read chunks, whatever the client wants", [result.stderr, after])
        server.stop()
        server.process.stderr.close()
    result = subprocess.run([TOOL, "ls", "--reply-chunks", "often", server.url], capture_output=True, text=True, timeout=60)
    tap.result(result.returncode == 2 and "auto, always or never" in result.stderr, "another policy is a mistake", [result])


def main():
    with tempfile.TemporaryDirectory() as top:
        os.mkdir(f"{top}/served")
        with Server(TOOL, f"{top}/served", "--threads", "2", stderr=subprocess.PIPE) as server:
            result = subprocess.run([TOOL, "ping", "-c", "3", "-i", "0", "--json", server.url], capture_output=True,
                                    text=True, timeout=60)
            told = json.loads(result.stdout)
            counters, latency = told["counters"], told["latency"]["NULL"]
            tap.result(counters["calls"] == counters["replies"] == told["calls"] == 3, "ping --json has the counters", [told])
            tap.result(counters["why_reply"] == 0 and counters["inline_messages"] == 6, "NULL goes inline", [told])
            tap.result(latency["calls"] == 3 == sum(bucket[1] for bucket in latency["buckets"]),
                       "ping --json has a histogram of all calls", [told])
            tap.result(1 <= told["credits_min"] <= told["credits_max"] <= told["credits_asked"],
                       "ping --json has the extremes of the credits", [told])
            tap.result((told["own_send"], told["own_receive"], told["peer_send"], told["peer_receive"]) == (12288,) * 4,
                       "ping --json has the sizes of both sides", [told])
            asked = subprocess.Popen([TOOL, "ping", "-c", "100000", "-i", "0.01", server.url], stdout=subprocess.PIPE)
            while b"NULL 2" not in asked.stdout.readline():
                pass
            text = report(server)
            tap.result(re.search(r"^  127.0.0.1:\d+: iwarp version \d, thresholds 12288 and 12288 \(own 12288 and 12288, peer's 12288 "
                                 r"and 12288\), credits asked \d+, granted \d+ \(\d+ to \d+\), remote invalidation yes\n"
                                 r"    calls \d+\n    replies \d+\n", text, re.MULTILINE),
                       "SIGUSR1 has the server tell of each connection", [text])
            asked.kill()
            asked.communicate()
            text = report(server)
            tap.result(re.search(r"NFS_V3 NFSPROC3_NULL: \d+ calls?, 0 errors", text) and re.search(r"^  calls \d+$", text, re.MULTILINE),
                       "SIGUSR1 has the server tell what it counted", [text])
            tap.result("thread 0:" in text and "thread 1:" in text, "each thread tells", [text])
            tap.result("state of NFS version 4: 0 clients, 0 sessions, 0 opens, 0 locks, 0 delegations\n" in text,
                       "one of them tells what clients hold", [text])
            again = subprocess.run([TOOL, "ping", "-c", "1", server.url], capture_output=True, timeout=60)
            tap.result(again.returncode == 0, "the server goes on", [again])
            tap.result(server.stop() == 0, "and ends in good order")
            server.process.stderr.close()
        storage(f"{top}/served")
        large_replies(top)
    tap.end()


main()
