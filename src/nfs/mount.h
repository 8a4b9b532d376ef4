/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_MOUNT_H
#define RR_NFS_MOUNT_H

#include "nfs/proc.h"
#include "ulb/mount3.h"

/*
 * The MOUNT protocol: RFC 1813, appendix I. The list of mounts (mounts.h) only informs: nothing depends on
 * it.
 */

/* Lists the mounts: to a caller that may use all exports those of everybody, to others their own. */
rpcrdma_handler rr_proc_dump;

/* UMNT, and UMNTALL, which has no arguments. */
rpcrdma_handler rr_proc_umnt;

/* Lists the exports. */
rpcrdma_handler rr_proc_export;

#endif
