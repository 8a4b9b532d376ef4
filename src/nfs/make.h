/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_MAKE_H
#define RR_NFS_MAKE_H

#include "nfs/attr.h"

/* What CREATE, MKDIR, SYMLINK and MKNOD have in common: a new entry of a directory. */

struct rr_nfs_recipe {
	uint32_t type;            /* S_IFREG, ... */
	const sattr3 *attributes; /* NULL: none are given */
	dev_t device;
	const char *target; /* of a symbolic link */
};

/* Where it is made. */
struct rr_nfs_place {
	struct rr_nfs_server *server;
	struct rr_request *request;
	struct rr_nfs_subject *directory;
	filename3 name;
	const char *text; /* name, as a C string */
};

/* The results of all four. */
struct rr_nfs_made {
	nfsstat3 status;
	post_op_fh3 obj;
	post_op_attr obj_attributes;
	wcc_data dir_wcc;
};

/* Makes the object, with its attributes; nothing is left of it where that fails. object is the caller's to
 * put. */
nfsstat3 rr_nfs_make(
	const struct rr_nfs_place *place, const struct rr_nfs_recipe *recipe, struct rr_object *object);

/* Makes (or finds) the object in the caller's name; args are the procedure's. */
typedef nfsstat3 rr_nfs_maker(const struct rr_nfs_place *place, const void *args, struct rr_object *object);

/* Resolves where, checks the name, runs maker, brings all to stable storage and fills in the results. */
void rr_nfs_make_at(struct rr_nfs_server *server, struct rr_request *request, const diropargs3 *where,
	rr_nfs_maker *maker, const void *args, struct rr_nfs_made *made);

#endif
