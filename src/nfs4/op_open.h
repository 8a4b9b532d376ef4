/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS4_OP_OPEN_H
#define RR_NFS4_OP_OPEN_H

#include "nfs4/attr.h"
#include "nfs4/ops.h"

/* An OPEN under way: op_open.c finds or makes the file, op_open_share.c opens it. */
struct rr_nfs4_open_work {
	struct rr_nfs4_reserved reserved;
	struct rr_vfs_set set;
	const bitmap4 *asked; /* attributes to be set; NULL: none */
	bool truncate;        /* an existing file, once the OPEN is sure to succeed */
	bool created, exclusive, unchecked;
	uint32_t applied; /* RR_VFS_SET_* */
	change_info4 cinfo;
	struct rr_vfs_id id;
	struct rr_nfs4_state *delegation; /* held; NULL: none is given */
	why_no_delegation4 why;
};

/* The bits of share_access and share_deny that are not wants: OPEN4_SHARE_ACCESS_READ to BOTH. */
static inline uint32_t
rr_open_access(uint32_t share_access)
{
	return share_access & OPEN4_SHARE_ACCESS_BOTH;
}

/* NFS4ERR_INVAL for values that section 18.16 or 18.18 does not have. */
nfsstat4 rr_open_check_share(uint32_t share_access, uint32_t share_deny);

/* The current filehandle is the file, whose attributes are known: the share is reserved, the file opened. */
uint32_t rr_open_file(struct rr_nfs4_compound *c);

/* The share that was reserved goes back to what it was before. */
void rr_open_undo(struct rr_nfs4_compound *c);

/* Whether what the owner has open already allows what it asked for: then it is not opened again. */
bool rr_open_is_enough(const struct rr_nfs4_reserved *reserved);

/* Opens the file for what the owner has now, in place of what it had before. */
uint32_t rr_open_storage(struct rr_nfs4_compound *c, rr_nfs4_step *then);

/*
 * The storage has answered rr_open_storage(). The state takes the new open, which is held in c->opened[1]
 * until the operation ends. Where the storage refused, the client has ended meanwhile, or memory is missing
 * (NFS4ERR_DELAY), the share goes back to what it was before.
 */
nfsstat4 rr_open_take(struct rr_nfs4_compound *c);

/* Whether the delegation that the claim names is there; id: of the file that it is to be of, or NULL. The
 * lock of the tables is held. */
nfsstat4 rr_open_check_delegation(struct rr_nfs4_compound *c, const struct rr_vfs_id *id);

/* op_open_share.c: the OPEN has succeeded. */
uint32_t rr_open_finish(struct rr_nfs4_compound *c);

/* op_open_deleg.c: the file is open; goes on with rr_open_finish() when it is known whether there is to be a
 * delegation. */
uint32_t rr_open_delegate(struct rr_nfs4_compound *c);

/* The delegation, or why there is none. The lock of the tables is held. */
void rr_open_give(struct rr_nfs4_compound *c, open_delegation4 *delegation);

#endif
