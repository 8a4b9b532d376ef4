/* SPDX-License-Identifier: BSD-3-Clause */
/* Share reservations: RFC 8881, sections 9.7, 9.9, 18.16 and 18.18. */
#include "nfs4/state.h"

/* Sets the share of an open state: the access that it has and the access that it denies. Adjusts the counts
 * of the file, too. */
static void
share_set(struct rr_nfs4_state *state, uint32_t access, uint32_t deny)
{
	struct rr_nfs4_file *file = state->file;

	for (int write = 0; write < 2; write++) {
		file->access[write] += (access >> write & 1) - (state->access >> write & 1);
		file->deny[write] += (deny >> write & 1) - (state->deny >> write & 1);
	}
	state->access = access;
	state->deny = deny;
}

/*
 * Tells whether an open of the file conflicts with a new OPEN: it denies an access that the OPEN wants, or
 * has an access that the OPEN denies. The owner's own opens count, too: RFC 8881, 18.16.3: "checking of share
 * reservations for the new OPEN proceeds normally, with no exception for the existing OPEN held by the same
 * open-owner."
 */
static bool
share_conflicts(const struct rr_nfs4_file *file, uint32_t access, uint32_t deny)
{
	for (int write = 0; write < 2; write++) {
		if ((access >> write & 1 && file->deny[write] > 0) ||
			(deny >> write & 1 && file->access[write] > 0))
			return true;
	}
	return false;
}

/* Returns a client whose open of the file conflicts with the OPEN `share` of the client `own`. A courtesy
 * client (its lease is over) is returned only if all clients with such opens are courtesy clients other than
 * `own`. Returns NULL if no open conflicts. */
static struct rr_nfs4_client *
share_holder(
	const struct rr_nfs4_file *file, const struct rr_nfs4_client *own, const struct rr_nfs4_share *share)
{
	const uint32_t access = share->access | share->once;
	struct rr_nfs4_client *found = NULL;

	rr_list_for_each (link, &file->states) {
		struct rr_nfs4_state *state = rr_container(link, struct rr_nfs4_state, of_file);

		if (state->kind != RR_NFS4_OPEN || !((access & state->deny) || (share->deny & state->access)))
			continue;
		found = state->client;
		if (found == own || found->phase != RR_NFS4_COURTESY)
			return found;
	}
	return found;
}

/* Tells whether opens of the file conflict with the OPEN `share` of the client `own`. If only other clients
 * whose leases are over (courtesy clients) have such opens, these clients are ended, and false is returned.
 * The client `own` is not ended, even if its own lease is over meanwhile. The entry of the file may be freed
 * when a client ends, so it is looked up again each time. */
static bool
share_is_denied(
	struct rr_nfs4_tables *tables, const struct rr_nfs4_client *own, const struct rr_nfs4_share *share)
{
	struct rr_nfs4_client *holder;
	struct rr_nfs4_file *file;

	while ((file = rr_nfs4_file_find(tables, share->id)) &&
		share_conflicts(file, share->access | share->once, share->deny)) {
		holder = share_holder(file, own, share);
		if (holder == own || holder->phase != RR_NFS4_COURTESY)
			return true;
		rr_nfs4_client_end(holder);
	}
	return false;
}

nfsstat4
rr_nfs4_share(struct rr_nfs4_tables *tables, struct rr_nfs4_client *client, const struct rr_nfs4_share *share,
	struct rr_nfs4_reserved *reserved)
{
	struct rr_nfs4_state *state;

	if (share_is_denied(tables, client, share))
		return NFS4ERR_SHARE_DENIED;
	state = rr_nfs4_state_of_owner(tables, client, share->id, RR_NFS4_OPEN, share->owner);
	if (state && state->opening)
		return NFS4ERR_DELAY;
	/* access 0 says that the state is new. */
	*reserved = (struct rr_nfs4_reserved){ state, 0, 0, 0 };
	if (!state) {
		state = rr_nfs4_state_make(tables, client, share->id, RR_NFS4_OPEN, share->owner);
		if (!state)
			return NFS4ERR_DELAY;
		state->handle = *share->handle;
	} else {
		*reserved =
			(struct rr_nfs4_reserved){ state, state->access, state->deny, state->combinations };
	}
	reserved->state = rr_nfs4_state_hold(state);
	state->combinations |= UINT32_C(1) << (share->access * 4 + share->deny);
	share_set(state, state->access | share->access, state->deny | share->deny);
	return NFS4_OK;
}

void
rr_nfs4_share_undo(struct rr_nfs4_reserved *reserved)
{
	struct rr_nfs4_state *state = reserved->state;

	state->opening = false;
	/* The state has ended or was revoked meanwhile: it has no share any more. */
	if (state->revoked != RR_NFS4_VALID) {
		rr_nfs4_state_release(state);
		return;
	}
	/* 0: the operation has made the state. */
	if (reserved->access == 0) {
		rr_nfs4_state_end(state);
	} else {
		state->combinations = reserved->combinations;
		share_set(state, reserved->access, reserved->deny);
	}
	rr_nfs4_state_release(state);
}

/*
 * Lowers the share of an open state to access and deny. Returns NFS4ERR_INVAL unless both are the union of
 * the values that some OPENs of this state have asked for. RFC 8881, 18.18.3: "The bits in share_access
 * SHOULD equal the union of the share_access bits ... specified for some subset of the OPENs in effect", and
 * likewise those in share_deny; "the server SHOULD return the error NFS4ERR_INVAL". The union is made from
 * all OPENs that asked for no more than access and deny.
 */
nfsstat4
rr_nfs4_downgrade(struct rr_nfs4_state *state, uint32_t access, uint32_t deny)
{
	uint32_t left = 0, access_left = 0, deny_left = 0;

	if (access == 0 || (access & ~state->access) || (deny & ~state->deny))
		return NFS4ERR_INVAL;
	for (uint32_t combination = 0; combination < 16; combination++) {
		uint32_t a = combination / 4, d = combination % 4;

		if (!(state->combinations >> combination & 1) || (a & ~access) || (d & ~deny))
			continue;
		left |= UINT32_C(1) << combination;
		access_left |= a;
		deny_left |= d;
	}
	if (access_left != access || deny_left != deny)
		return NFS4ERR_INVAL;
	state->combinations = left;
	share_set(state, access, deny);
	return NFS4_OK;
}
