/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_TABLES_SHARE_H
#define RR_SERVER_NFS4_TABLES_SHARE_H

#include "server/nfs4/tables/state.h"

/* Share reservations: OPEN, OPEN_DOWNGRADE and CLOSE. */

struct rr_nfs4_share {
	const struct rr_vfs_id *id;
	const struct rr_vfs_handle *handle;
	struct rpcrdma_bytes owner;
	uint32_t access, deny;
	uint32_t once; /* access that the OPEN needs beside this, once: to truncate the file */
};

/* A share that was reserved for an OPEN. */
struct rr_nfs4_reserved {
	struct rr_nfs4_state *state;
	uint32_t access, deny, combinations; /* the share before; access 0: the state is new */
};
/* Reserves the share that an OPEN asks for: makes the open state, or raises its share. Stores in *reserved
 * the state, with a reference for the caller, and the share that it had before. Errors: NFS4ERR_SHARE_DENIED
 * if another open conflicts; NFS4ERR_DELAY if there is no memory or no quota, or state->opening is set. */
nfsstat4 rr_nfs4_share(struct rr_nfs4_tables *tables, struct rr_nfs4_client *client,
	const struct rr_nfs4_share *share, struct rr_nfs4_reserved *reserved);
/* Sets the share back to what *reserved says; if the operation has made the state, ends the state. Also
 * releases the reference to the state. The caller has not given the client a new stateid yet. */
void rr_nfs4_share_undo(struct rr_nfs4_reserved *reserved);

/* Lowers a share for OPEN_DOWNGRADE. Returns NFS4ERR_INVAL unless the new access and deny are the union of
 * what some OPENs in effect asked for. */
nfsstat4 rr_nfs4_downgrade(struct rr_nfs4_state *state, uint32_t access, uint32_t deny);

#endif
