/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_TABLES_DELEG_H
#define RR_SERVER_NFS4_TABLES_DELEG_H

#include "server/nfs4/tables/state.h"

/* Delegations to read. */

/*
 * Makes a delegation of the file for the client, and returns it with a reference for the caller. Returns
 * NULL, with the reason in *why, if the client cannot have a delegation now. The client learns of the
 * delegation by the first answer that names it, whose stateid rr_nfs4_stateid_next() writes. Until then, the
 * delegation ends without a recall if the operation of another client conflicts with it.
 */
struct rr_nfs4_state *rr_nfs4_deleg_make(struct rr_nfs4_tables *tables, struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, const struct rr_vfs_handle *handle, uint64_t now,
	why_no_delegation4 *why);
/* Makes a delegation that the client had before the server started. Unlike rr_nfs4_deleg_make(), it does not
 * ask whether callbacks reach the client. Returns NULL if memory or quota is missing. */
struct rr_nfs4_state *rr_nfs4_deleg_reclaim(struct rr_nfs4_tables *tables, struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, const struct rr_vfs_handle *handle);

/* Recalls the delegation by CB_RECALL; the client has a lease period to return it. A delegation that no
 * answer has named yet ends at once instead, and may be freed. Does nothing if the delegation was recalled or
 * revoked before. */
void rr_nfs4_deleg_recall(struct rr_nfs4_state *state, uint64_t now);
/* Begins the lease period in which the client has to return a delegation, but sends no CB_RECALL: the caller
 * sends it, or its answer tells the client that the delegation is recalled. Does nothing if the delegation
 * was recalled before. */
void rr_nfs4_deleg_lapse(struct rr_nfs4_state *state, uint64_t now);

/* Recalls the delegations that other clients have of a file that is to be changed; courtesy clients (whose
 * leases are over) that have one are ended. Returns true if there are any left. client: the client that makes
 * the change; NULL if no client does. */
bool rr_nfs4_deleg_conflict(struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, uint64_t now);

/*
 * Recalls the client's own delegation of a file that the client itself is to change, and releases the
 * delegation's open, so that its lease in the storage ends at once: the lease would prevent the change.
 * Without the lease, local programs could change the file without the client's knowledge, so the delegation
 * may not stay.
 */
void rr_nfs4_deleg_own(struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, uint64_t now);

/* Revokes the delegations that were not returned in time. */
void rr_nfs4_delegs_look(struct rr_nfs4_tables *tables, uint64_t now);

#endif
