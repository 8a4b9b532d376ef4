/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS4_GATHER_H
#define RR_NFS4_GATHER_H

#include "nfs4/attr.h"
#include "nfs4/compound.h"

/* What the attributes of an object are made of, from as many storage operations as that takes. */
struct rr_nfs4_gathered {
	struct rr_vfs_statfs statfs;
	struct rr_vfs_limits limits;
	struct rr_vfs_handle handle;
	struct rr_attr_source source;
	/* The steps'. */
	struct rr_nfs4_fh *fh;
	uint32_t needs;
	rr_nfs4_step *then;
};

/*
 * Gathers what the attributes in mask need, of fh, into c->gathered, then goes on with `then`: c->vfs_status
 * says how it went. The memory lives until the operation ends.
 */
uint32_t rr_nfs4_gather(struct rr_nfs4_compound *c, struct rr_nfs4_fh *fh, const struct rr_attr_mask *mask,
	rr_nfs4_step *then);

#endif
