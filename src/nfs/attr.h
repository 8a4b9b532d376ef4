/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_ATTR_H
#define RR_NFS_ATTR_H

#include "nfs/proc.h"

/* Attributes: what statx(2) tells as fattr3 and its kin, and sattr3 put into effect. */

void rr_nfs_fattr(const struct statx *st, fattr3 *attributes);
nfstime3 rr_nfs_time(const struct statx_timestamp *time);

/* The attributes that object->st has. */
void rr_nfs_attributes(const struct rr_object *object, post_op_attr *attributes);

/* The attributes of this moment; none where they cannot be had. */
void rr_nfs_post_op(struct rr_object *object, post_op_attr *attributes);

/* The two halves of weak cache consistency data (RFC 1813, section 2.6, wcc_data): call one before the
 * change, with object->st as it then is, the other after it. */
void rr_nfs_before(const struct rr_object *object, wcc_data *wcc);
void rr_nfs_after(struct rr_object *object, wcc_data *wcc);

/* Sets all that attributes asks for, in the caller's name. */
nfsstat3 rr_nfs_set(struct rr_nfs_server *server, struct rr_object *object, const sattr3 *attributes);

/* Parts of it. */
nfsstat3 rr_nfs_set_size(struct rr_nfs_server *server, struct rr_object *object, uint64_t size);
nfsstat3 rr_nfs_set_owner(const struct rr_object *object, const sattr3 *attributes);
nfsstat3 rr_nfs_set_mode(const struct rr_object *object, uint32_t mode);
nfsstat3 rr_nfs_set_times(const struct rr_object *object, const sattr3 *attributes);

#endif
