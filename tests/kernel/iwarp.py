# SPDX-License-Identifier: BSD-3-Clause
"""Our iWARP endpoint on the host and the kernel's siw in the guest: who connects to whom, for what."""
import re
import shlex
import subprocess

from tap import free_port

GUEST, HOST = "10.0.2.15", "10.0.2.2"
NO_REGION = ["--expect", "no region has this handle"]
NO_STAG = ["--expect", "invalid STag"]

# What siw's side does: an action of the peer, or what to call rping with. Then, where siw connects and we listen:
# our action and options.
SIW_CONNECTS = [
    ("transfers of all sizes are equal, without CRC", "exchange", "exchange", []),
    ("transfers of all sizes are equal, with CRC, which we ask for", "exchange", "exchange", ["--crc"]),
    ("rping, with 64 octets", ["-c", "-V", "-C", "10"], "rping", []),
    ("rping, with 65535 octets and CRC", ["-c", "-V", "-C", "10", "-S", "65535"], "rping", ["--crc"]),
    ("it is rejected, with a reason", "reject", "reject", []),
    ("its write to no region is refused", "write-astray", "write-astray", NO_REGION),
    ("its read from no region is refused", "read-astray", "read-astray", NO_REGION),
    ("its Sends end with what was allowed", "overrun", "overrun", ["--expect", "no receive is posted"]),
]
# The same where it listens and we connect. siw writes a Terminate with layer and error type exchanged, which
# our text sees through.
SIW_LISTENS = [
    ("transfers of all sizes are equal, without CRC", "exchange", "exchange", []),
    ("transfers of all sizes are equal, with CRC, which we ask for", "exchange", "exchange", ["--crc"]),
    ("transfers of all sizes are equal, in peer-to-peer mode", "exchange", "exchange", ["--peer-to-peer"]),
    ("rping, with what we send it", ["-s", "-S", "65535"], "rping", []),
    ("it rejects us, with a reason", "reject", "reject", []),
    ("it terminates a write to no region", "write-astray", "write-astray", NO_STAG),
    ("it terminates a read from no region", "read-astray", "read-astray", NO_STAG),
    # The damage may also be in a header, and be found by what that says.
    ("it terminates a frame with a wrong CRC", "damage", "damage", ["--crc", "--expect", "the peer terminated"]),
    ("it terminates a Send too many", "overrun", "overrun", ["--expect", "no buffer available"]),
]


def guest_program(action, role, address, port):
    if isinstance(action, list):
        return ["rping", *action, "-a", address, "-p", str(port)]
    return ["/test-kernel-peer", role, "verbs", address, str(port), action]


class Cases:
    """While it is entered, the host listens for those that siw connects to."""

    def __init__(self, peer, results, path):
        self.peer, self.results = peer, results
        self.ports = [free_port() for _ in SIW_CONNECTS + SIW_LISTENS]
        self.connects = list(zip(self.ports, SIW_CONNECTS))
        self.listens = list(zip(self.ports[len(SIW_CONNECTS):], SIW_LISTENS))
        # The guest listens at the ports that the host's are passed on from.
        self.forwarded = [(port, port) for port, _ in self.listens]
        self.heard = set()
        with open(path, "w") as file:
            for port, (name, action, _, _) in self.connects:
                words = guest_program(action, "connect", HOST, port)
                file.write(shlex.join(["siw_connects", f"siw connects: {name}", str(port), *words]) + "\n")
            for port, (name, action, _, _) in self.listens:
                words = guest_program(action, "listen", GUEST, port)
                file.write(shlex.join(["siw_listens", f"siw listens: {name}", str(port), *words]) + "\n")

    def run(self, options, role, port, action):
        return subprocess.Popen([self.peer, *options, role, "iwarp", "127.0.0.1", str(port), action],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def judge(self, process, name, limit):
        try:
            said = process.communicate(timeout=limit)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            said = process.communicate()[0] + "it takes too long\n"
        self.results.add(process.returncode == 0, name)
        if process.returncode:
            print("".join(f"    {line}\n" for line in said.splitlines()), end="", flush=True)

    def __enter__(self):
        self.listeners = [(self.run(options, "listen", port, action), name)
                          for port, (name, _, action, options) in self.connects]

    def hear(self, line):
        match = re.match(r"siw listens at (\d+)", line)
        for port, (name, _, action, options) in self.listens:
            if match and port == int(match[1]):
                self.heard.add(port)
                self.judge(self.run(options, "connect", port, action), f"we connect: {name}", 300)

    def __exit__(self, *error):
        for process, name in self.listeners:
            self.judge(process, f"we listen: {name}", 60)
        for port, (name, *_) in self.listens:
            if port not in self.heard:
                self.results.add(False, f"siw never listened: {name}")
