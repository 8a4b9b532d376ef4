/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_ATTR_H
#define RR_NFS_ATTR_H

#include "nfs/proc.h"

/* Attributes of what is exported as those of replies, and the other way round. */

void rr_nfs_fattr(const struct rr_vfs_attributes *given, fattr3 *attributes);
void rr_nfs_post_op(const struct rr_vfs_known *known, post_op_attr *attributes);
void rr_nfs_wcc(const struct rr_vfs_change *change, wcc_data *wcc);
nfstime3 rr_nfs_time(struct rr_vfs_time time);

/* What a call asks to be set. */
void rr_nfs_set(const sattr3 *attributes, struct rr_vfs_set *set);

#endif
