#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""nfs_read.py URL PATH: prints a file of an NFS server, read over RDMA."""
import sys

import rpcrdma

with rpcrdma.Nfs(sys.argv[1]) as nfs:
    sys.stdout.buffer.write(nfs.read(sys.argv[2]))
