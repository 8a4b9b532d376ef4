/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_OP_OPEN_H
#define RR_SERVER_NFS4_OP_OPEN_H

#include "server/nfs4/ops.h"
#include "server/nfs4/tables/share.h"
#include "vfs/fattr4/attr.h"

/* An OPEN under way: op/open.c finds or makes the file, open_share.c opens it, and open_deleg.c gives a
 * delegation. OPEN_DOWNGRADE uses `reserved` alone. */
struct rr_nfs4_open_work {
	struct rr_nfs4_reserved reserved; /* the open state, held, with its share before this operation */
	bool opening;                     /* this operation has set `opening` of the state */
	struct rr_vfs_set set;            /* attributes that a new file gets */
	const bitmap4 *asked;             /* attributes to be set; NULL: there are no such attributes */
	bool truncate;                    /* truncate an existing file, once the OPEN is sure to succeed */
	/* created: this OPEN has made the file; the others say how it asks to make the file. */
	bool created, exclusive, unchecked;
	uint32_t applied;   /* RR_VFS_SET_*: the attributes that were set */
	change_info4 cinfo; /* of the directory, for the result */
	struct rr_vfs_id id;
	struct rr_nfs4_state *delegation; /* held; NULL: no delegation is given */
	why_no_delegation4 why;           /* the reason, if no delegation is given */
};

/* Returns the access that share_access asks for, OPEN4_SHARE_ACCESS_READ, WRITE or BOTH, without the bits
 * that say which delegation the client wants. */
static inline uint32_t
rr_open_access(uint32_t share_access)
{
	return share_access & OPEN4_SHARE_ACCESS_BOTH;
}

/* Checks share_access and share_deny: returns NFS4ERR_INVAL for values that RFC 8881, 18.16 and 18.18, do not
 * have; nor has RFC 7530 in version 4.0. */
nfsstat4 rr_open_check_share(const struct rr_nfs4_compound *c, uint32_t share_access, uint32_t share_deny);

/* Goes on when the current filehandle is the file and its attributes have been read; c->vfs_status says
 * whether that succeeded. Reserves the share and opens the file. */
uint32_t rr_open_file(struct rr_nfs4_compound *c);

/* Sets the share of the open state back to what it was before this OPEN reserved its share. */
void rr_open_undo(struct rr_nfs4_compound *c);

/* Tells whether the file need not be opened again: the state has an open, and this operation has not changed
 * the share of the state. */
bool rr_open_is_enough(const struct rr_nfs4_reserved *reserved);

/* Has the storage open the file with the access and deny that the open state has now, in place of the state's
 * earlier open if there is one. Goes on with `then`. */
uint32_t rr_open_storage(struct rr_nfs4_compound *c, rr_nfs4_step *then);

/* Handles the answer of the storage to rr_open_storage(). Stores the new open in the open state, and with a
 * reference in c->opened[1] until the operation ends. If the storage refused, the client has ended meanwhile,
 * or memory is missing (NFS4ERR_DELAY), the share is set back to what it was before. */
nfsstat4 rr_open_take(struct rr_nfs4_compound *c);

/* Returns NFS4_OK if the client has the delegation that the claim of the OPEN names. id: the file that the
 * delegation must be of; NULL if the file is not known yet. The caller holds the lock of the tables. */
nfsstat4 rr_open_check_delegation(struct rr_nfs4_compound *c, const struct rr_vfs_id *id);

/* Completes an OPEN that has succeeded: fills its result and releases the references to the open state and to
 * the delegation; in open_share.c. */
uint32_t rr_open_finish(struct rr_nfs4_compound *c);

/* Makes a delegation for the client, if the OPEN of the file allows one, and goes on with rr_open_finish();
 * in open_deleg.c. */
uint32_t rr_open_delegate(struct rr_nfs4_compound *c);

/* Fills in the delegation of the OPEN's result, or the reason why there is none, and releases the reference
 * to the delegation. The caller holds the lock of the tables. */
void rr_open_give(struct rr_nfs4_compound *c, open_delegation4 *delegation);

#endif
