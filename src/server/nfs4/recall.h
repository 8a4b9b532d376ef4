/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_RECALL_H
#define RR_SERVER_NFS4_RECALL_H

#include "server/nfs4/compound.h"

/* Recalls the delegations that other clients have of the objects that the operation changes, then runs the
 * operation. Returns NFS4ERR_DELAY as long as other clients have such delegations. */
uint32_t rr_nfs4_recall_first(struct rr_nfs4_compound *c);

/* Recalls the delegations that other clients have of a file. Returns NFS4ERR_DELAY if there are any, else
 * NFS4_OK. writes: the operation writes the file, so the client's own delegation is recalled, too: a
 * delegation has a lease of the storage, which lets nobody write. */
nfsstat4 rr_nfs4_recall(struct rr_nfs4_compound *c, const struct rr_vfs_id *id, bool writes);

#endif
