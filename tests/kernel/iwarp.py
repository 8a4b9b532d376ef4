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


# How often a case with CRCs is tried. Linux's siw (6.1) takes a CRC for wrong where a TCP segment ends within it: see
# misread() of the guest's script. Each try has a port of its own.
TRIES = 4


def guest_program(action, role, address, port):
    if isinstance(action, list):
        return ["rping", *action, "-a", address, "-p", str(port)]
    return ["/test-kernel-peer", role, "verbs", address, str(port), action]


class Case:
    """What is tried with siw in one role. Its name is said with "siw" for what siw did, with "we" for what we did."""

    def __init__(self, role, address, name, guest_action, host_action, options):
        self.role, self.address, self.name, self.guest_action = role, address, name, guest_action
        self.arguments = (options, "listen" if role == "connect" else "connect", host_action)
        self.ports = [free_port() for _ in range(TRIES if "--crc" in options else 1)]

    def lines(self):
        """What the guest's script is to do: the tries after the first are made only if siw misread a CRC."""
        for port in self.ports:
            words = [f"siw_{self.role}s", f"siw {self.role}s: {self.name}", str(port),
                     *guest_program(self.guest_action, self.role, self.address, port)]
            yield shlex.join((["again"] if port != self.ports[0] else []) + words)


class Cases:
    """While it is entered, the host listens for those that siw connects to."""

    def __init__(self, peer, results, path):
        self.peer, self.results = peer, results
        self.connects = [Case("connect", HOST, *case) for case in SIW_CONNECTS]
        self.listens = [Case("listen", GUEST, *case) for case in SIW_LISTENS]
        # The guest listens at the ports that the host's are passed on from.
        self.forwarded = [(port, port) for case in self.listens for port in case.ports]
        self.processes = {}
        self.misread = set()
        with open(path, "w") as file:
            for case in self.connects + self.listens:
                file.writelines(f"{line}\n" for line in case.lines())

    def run(self, options, role, action, port):
        self.processes[port] = subprocess.Popen([self.peer, *options, role, "iwarp", "127.0.0.1", str(port), action],
                                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def judge(self, process, name):
        try:
            said = process.communicate(timeout=60)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            said = process.communicate()[0] + "it takes too long\n"
        self.results.add(process.returncode == 0, name)
        if process.returncode:
            print("".join(f"    {line}\n" for line in said.splitlines()), end="", flush=True)

    def __enter__(self):
        for case in self.connects:
            for port in case.ports:
                self.run(*case.arguments, port)

    def hear(self, line):
        match = re.match(r"siw (listens|misread a CRC) at (\d+)", line)
        if not match:
            return
        port = int(match[2])
        if match[1] == "misread a CRC":
            self.misread.add(port)
            return
        for case in self.listens:
            if port in case.ports:
                self.run(*case.arguments, port)

    def __exit__(self, *error):
        """Judges of each case the first try that siw did not spoil; the tries behind it were not made."""
        for case in self.connects + self.listens:
            tries = [port for port in case.ports if port not in self.misread]
            if tries and tries[0] in self.processes:
                verb = "listen" if case.role == "connect" else "connect"
                self.judge(self.processes.pop(tries[0]), f"we {verb}: {case.name}")
            else:
                self.results.add(False, f"siw {case.role}s: no try came to its end: {case.name}")
        for process in self.processes.values():
            process.kill()
            process.communicate()
