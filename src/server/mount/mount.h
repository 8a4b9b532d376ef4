/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_MOUNT_MOUNT_H
#define RR_SERVER_MOUNT_MOUNT_H

#include "server/nfs3/proc.h"
#include "ulb/mount3.h"

/*
 * The MOUNT protocol: RFC 1813, appendix I, and for the versions 1 and 2 RFC 1094, appendix A. The list of
 * mounts (mounts.h) is for information only.
 */

/* Lists mounts: to a caller that may use all exports the mounts of all clients, to any other caller its
 * own. */
rpcrdma_handler rr_proc_dump;

/* Handles UMNT, and UMNTALL, which has no arguments. */
rpcrdma_handler rr_proc_umnt;

/* Lists the exports. */
rpcrdma_handler rr_proc_export;

/* Handles PATHCONF of version 2. */
rpcrdma_handler rr_proc_mount_pathconf;

#endif
