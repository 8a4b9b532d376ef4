#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""gss.py PROGRAM: runs a test program with a realm of Kerberos of its own, and a ticket of the user daemon, who is a user of every
machine; and what makes a ticket that ends soon."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import realm

if why := realm.why_not():
    print(why)
    sys.exit(77)
with tempfile.TemporaryDirectory() as top, realm.Realm(top) as one:
    one.ticket("daemon")
    one.clockskew = 2
    one.write_client("brief.conf", port=one.port)
    brief = {"BRIEF_CONFIG": f"{top}/brief.conf", "BRIEF_TICKETS": one.cache("brief"),
             "BRIEF_KINIT": f"kinit -k -t {top}/daemon.keytab -l 2s -c {one.cache('brief')} daemon"}
    sys.exit(subprocess.run(sys.argv[1:], env=one.environ(DAEMON_KEYTAB=f"{top}/daemon.keytab", **brief), check=False).returncode)
