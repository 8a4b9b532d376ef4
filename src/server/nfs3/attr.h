/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS3_ATTR_H
#define RR_SERVER_NFS3_ATTR_H

#include "server/nfs3/proc.h"

/* These functions translate attributes between struct rr_vfs_attributes and its kin and the types of NFS
 * version 3. */

/* Translates all attributes of an object. */
void rr_nfs_fattr(const struct rr_vfs_attributes *given, fattr3 *attributes);
/* Translates the attributes that an object has after an operation, if they are known; else attributes_follow
 * is false. */
void rr_nfs_post_op(const struct rr_vfs_known *known, post_op_attr *attributes);
/* Translates the change that an operation made to an object. The attributes from before the operation are
 * sent only if the change is exact: no other operation came in between. */
void rr_nfs_wcc(const struct rr_vfs_change *change, wcc_data *wcc);
/* Translates a time. Version 3 has 32 bits for the seconds; higher bits are cut off. */
nfstime3 rr_nfs_time(struct rr_vfs_time time);

/* Translates the attributes that a call asks to set. */
void rr_nfs_set(const sattr3 *attributes, struct rr_vfs_set *set);

#endif
