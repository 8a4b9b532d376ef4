/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_MOUNT_H
#define RR_NFS_MOUNT_H

#include "nfs/proc.h"
#include "ulb/mount3.h"

/*
 * The MOUNT protocol: RFC 1813, appendix I. No list of mounts is kept, so that
 * DUMP has nothing to tell: nothing depends on that list, and clients that go
 * away leave their entries in it for ever.
 */

/* Lists the exports. */
rpcrdma_handler rr_proc_export;

#endif
