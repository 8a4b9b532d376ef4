/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_ATTR_H
#define RR_NFS_ATTR_H

#include "nfs/proc.h"

/* Attributes: what statx(2) tells as fattr3 and its kin, and sattr3 put into effect. */

/* An object that a call changes, and what its reply says of that. */
struct rr_nfs_subject {
	struct rr_object object;
	wcc_data wcc;
};

void rr_nfs_fattr(const struct statx *st, fattr3 *attributes);
nfstime3 rr_nfs_time(const struct statx_timestamp *time);

/* The attributes that object->st has. */
void rr_nfs_attributes(const struct rr_object *object, post_op_attr *attributes);

/* The attributes of this moment; none where they cannot be had. */
void rr_nfs_post_op(struct rr_object *object, post_op_attr *attributes);

/*
 * Weak cache consistency data. RFC 1813, 2.6: "If there is a window for the object to get modified between
 * the operation and either of the get attributes operations, then the client will not be able to determine
 * whether it was the only entity to modify the object." A client that finds its cached times in "before"
 * takes all that changed up to "after" for its own change. So both halves are there only where nothing but
 * that change lies between them: rr_nfs_change_begin() and rr_nfs_change_end() enclose the one system call
 * that changes an object, or two (two may be NULL); the other threads of this process change neither of them
 * meanwhile.
 */
void rr_nfs_change_begin(
	struct rr_nfs_server *server, struct rr_nfs_subject *one, struct rr_nfs_subject *two);
void rr_nfs_change_end(struct rr_nfs_server *server, struct rr_nfs_subject *one, struct rr_nfs_subject *two);

/* Both halves are those of object->st: nothing was changed. */
void rr_nfs_unchanged(const struct rr_object *object, wcc_data *wcc);

/* "after" alone: that of this moment. */
void rr_nfs_after(struct rr_object *object, wcc_data *wcc);

/* Sets all that attributes asks for, in the caller's name. */
nfsstat3 rr_nfs_set(struct rr_nfs_server *server, struct rr_object *object, const sattr3 *attributes);

/* Parts of it. */
nfsstat3 rr_nfs_set_size(struct rr_nfs_server *server, struct rr_object *object, uint64_t size);
nfsstat3 rr_nfs_set_owner(const struct rr_object *object, const sattr3 *attributes);
nfsstat3 rr_nfs_set_mode(const struct rr_object *object, uint32_t mode);
nfsstat3 rr_nfs_set_times(const struct rr_object *object, const sattr3 *attributes);

#endif
