/* SPDX-License-Identifier: BSD-3-Clause */
/* Share reservations: RFC 8881, sections 9.7, 9.9, 18.16 and 18.18. */
#include "server/nfs4/tables/share.h"

/* The most opens in the way of an OPEN that are looked at for one that is not of a courtesy client. */
enum { SHARE_LOOKS = 32 };

/* Sets the share of an open state: the access that it has and the access that it denies. Adjusts the lists of
 * the file, too. */
static void
share_set(struct rr_nfs4_state *state, uint32_t access, uint32_t deny)
{
	const uint32_t shares = access | deny << 2;

	for (int i = 0; i < RR_NFS4_SHARES; i++) {
		if (!(shares >> i & 1))
			rr_list_remove(&state->of_shares[i]);
		else if (rr_list_empty(&state->of_shares[i]))
			rr_list_prepend(&state->file->shares[i], &state->of_shares[i]);
	}
	state->access = access;
	state->deny = deny;
}

/* Tells whether the opens of the client give way to those of others: its lease is over (it is a courtesy
 * client), or it has ended, and its states end soon. */
static bool
share_is_ceded(const struct rr_nfs4_client *client)
{
	return client->phase == RR_NFS4_COURTESY || client->phase == RR_NFS4_ENDED;
}

/*
 * Returns a client whose open of the file conflicts with the OPEN `share` of the client `own`: it denies an
 * access that the OPEN wants, or has an access that the OPEN denies. The owner's own opens count, too: RFC
 * 8881, 18.16.3: "checking of share reservations for the new OPEN proceeds normally, with no exception for
 * the existing OPEN held by the same open-owner." A client other than `own` whose opens give way is
 * returned only if the first SHARE_LOOKS opens that conflict are all of such clients. Returns NULL if no open
 * conflicts.
 */
static struct rr_nfs4_client *
share_holder(
	const struct rr_nfs4_file *file, const struct rr_nfs4_client *own, const struct rr_nfs4_share *share)
{
	const uint32_t conflicting = share->deny | (share->access | share->once) << 2;
	struct rr_nfs4_client *courtesy = NULL;
	int looks = 0;

	for (int i = 0; i < RR_NFS4_SHARES; i++) {
		if (!(conflicting >> i & 1))
			continue;
		rr_list_for_each (link, &file->shares[i]) {
			struct rr_nfs4_state *state = rr_container(link - i, struct rr_nfs4_state, of_shares);

			if (state->client == own || !share_is_ceded(state->client))
				return state->client;
			courtesy = state->client;
			if (++looks >= SHARE_LOOKS)
				return courtesy;
		}
	}
	return courtesy;
}

/* Returns NFS4ERR_SHARE_DENIED if opens of the file conflict with the OPEN `share` of the client `own`. If
 * only other clients whose leases are over (courtesy clients) have such opens, these clients are ended; then
 * NFS4ERR_DELAY says that they have so many states that these end later. The client `own` is not ended, even
 * if its own lease is over meanwhile. The entry of the file may be freed when a client ends, so it is looked
 * up again each time. */
static nfsstat4
share_check(
	struct rr_nfs4_tables *tables, const struct rr_nfs4_client *own, const struct rr_nfs4_share *share)
{
	struct rr_nfs4_client *holder;
	struct rr_nfs4_file *file;

	while ((file = rr_nfs4_file_find(tables, share->id)) && (holder = share_holder(file, own, share))) {
		if (holder != own && holder->phase == RR_NFS4_ENDED)
			return NFS4ERR_DELAY;
		if (holder == own || holder->phase != RR_NFS4_COURTESY)
			return NFS4ERR_SHARE_DENIED;
		rr_nfs4_client_end(holder);
	}
	return NFS4_OK;
}

nfsstat4
rr_nfs4_share(struct rr_nfs4_tables *tables, struct rr_nfs4_client *client, const struct rr_nfs4_share *share,
	struct rr_nfs4_reserved *reserved)
{
	nfsstat4 status = share_check(tables, client, share);
	struct rr_nfs4_state *state;

	if (status != NFS4_OK)
		return status;
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
