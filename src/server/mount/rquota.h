/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_MOUNT_RQUOTA_H
#define RR_SERVER_MOUNT_RQUOTA_H

#include "server/nfs3/proc.h"

/*
 * RQUOTA, versions 1 and 2: clients ask what a user, or by version 2 a group, may use of the file system of a
 * path, and uses. It has no RFC: the program is that of Sun and of Linux (ulb/rquota.x).
 */

/* Handles GETQUOTA and GETACTIVEQUOTA; the context is a struct rr_nfs_server. */
rpcrdma_handler rr_proc_getquota;

/* Handles SETQUOTA and SETACTIVEQUOTA: nobody may. */
rpcrdma_handler rr_proc_setquota;

#endif
