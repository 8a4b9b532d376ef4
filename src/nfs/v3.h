/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_V3_H
#define RR_NFS_V3_H

#include "nfs/procedure.h"

/* The client's procedures (procedure.h) in NFS version 3. */

/* NFS version 3 as the client calls it: with codecs that translate the procedures that have arguments or
 * results of their own in procedure.h. The table of the schema has the codecs of servers, too, which a
 * program that is only a client need not have. */
extern const struct rpcrdma_program rr_nfs_v3_program;

/* NFSACL, which is served beside it: the procedures RR_V4_GETACL and RR_V4_SETACL. */
extern const struct rpcrdma_program rr_nfs_v3_acl_program;

#endif
