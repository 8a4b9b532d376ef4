/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_GATHER_H
#define RR_SERVER_NFS4_GATHER_H

#include "server/nfs4/compound.h"
#include "server/nfs4/names.h"

/* The data that the attributes of an object are written from (struct rr_attr_source points to it). Several
 * storage operations may be needed to get it. */
struct rr_nfs4_gathered {
	struct rr_vfs_statfs statfs;
	struct rr_vfs_limits limits;
	struct rr_vfs_handle handle;
	struct rr_attr_source source;
	/* These members are for the steps of the gathering. */
	struct rr_nfs4_fh *fh;
	uint32_t needs; /* RR_ATTR_STATFS, ...: data to ask the storage for */
	rr_nfs4_step *then;
	struct rr_nfs4_owners *named;  /* source has names from here; NULL: numbers */
	struct rr_idmap_asking asking; /* for the names in lists */
	struct rr_vfs_getacl *acl;     /* NULL: not asked for */
};

/* Gathers into c->own.gathered the data of the object of fh that the attributes in mask need, then goes on
 * with `then`; c->vfs_status says whether that succeeded. The memory of c->own.gathered lives until the
 * operation ends. */
uint32_t rr_nfs4_gather(struct rr_nfs4_compound *c, struct rr_nfs4_fh *fh, const struct rr_attr_mask *mask,
	rr_nfs4_step *then);

#endif
