/* SPDX-License-Identifier: BSD-3-Clause */
/* Read delegations: RFC 8881, sections 10.2 and 10.4. The server gives no write delegations. */
#include "server/nfs4/tables/deleg.h"
#include "server/nfs4/tables/tables.h"

/* A client has at most one delegation of a file, so a delegation needs no owner. */
static const struct rpcrdma_bytes deleg_owner = { "", 0 };

/* Writes the arguments of CB_RECALL for the delegation that `callback` is a member of. */
static void
deleg_recall_put(struct rr_nfs4_callback *callback, nfs_cb_argop4 *op)
{
	const struct rr_nfs4_state *state = rr_container(callback, struct rr_nfs4_state, callback);

	op->argop = OP_CB_RECALL;
	rr_nfs4_stateid(state, &op->u.opcbrecall.stateid);
	op->u.opcbrecall.fh = (nfs_fh4){ state->handle.data, state->handle.length };
}

/* Returns true if the CB_RECALL is to be sent again, because the client answered with an error and the
 * delegation is still valid: the answer to its OPEN may not have reached the client yet, which then does not
 * know the stateid. */
static bool
deleg_recall_answered(struct rr_nfs4_callback *callback, nfsstat4 status)
{
	const struct rr_nfs4_state *state = rr_container(callback, struct rr_nfs4_state, callback);

	return status != NFS4_OK && state->revoked == RR_NFS4_VALID;
}

/* Runs when the CB_RECALL of a delegation has ended: releases the state of the delegation, which the callback
 * held. */
static void
deleg_recall_ended(struct rr_nfs4_callback *callback)
{
	rr_nfs4_state_release(rr_container(callback, struct rr_nfs4_state, callback));
}

static const struct rr_nfs4_callback_kind recall_kind = { deleg_recall_put, deleg_recall_answered,
	deleg_recall_ended };

/* Makes a read delegation of the file for the client, and returns it with a reference for the caller. Returns
 * NULL if the client has ended or has a delegation of the file already, or if memory or quota is missing. */
static struct rr_nfs4_state *
deleg_new(struct rr_nfs4_tables *tables, struct rr_nfs4_client *client, const struct rr_vfs_id *id,
	const struct rr_vfs_handle *handle)
{
	struct rr_nfs4_state *state;

	if (rr_nfs4_state_of_owner(tables, client, id, RR_NFS4_DELEGATION, deleg_owner))
		return NULL;
	state = rr_nfs4_state_make(tables, client, id, RR_NFS4_DELEGATION, deleg_owner);
	if (!state)
		return NULL;
	state->handle = *handle;
	state->access = OPEN4_SHARE_ACCESS_READ;
	rr_list_append(&state->file->delegations[0], &state->of_delegations);
	return rr_nfs4_state_hold(state);
}

/*
 * Makes a delegation of the file for the client, and returns it with a reference for the caller. Returns
 * NULL, with the reason in *why, in the grace period, if callbacks do not reach the client, if a delegation
 * that the client did not return was revoked, if the file is open for writing, or if a delegation of the file
 * was recalled in the last lease period. RFC 8881, 10.4: "The client must have responded properly to previous
 * recalls." "There must be no current OPEN conflicting with the requested delegation." "The probability of
 * future conflicting open requests should be low based on the recent history of the file."
 */
struct rr_nfs4_state *
rr_nfs4_deleg_make(struct rr_nfs4_tables *tables, struct rr_nfs4_client *client, const struct rr_vfs_id *id,
	const struct rr_vfs_handle *handle, uint64_t now, why_no_delegation4 *why)
{
	const struct rr_nfs4_file *file = rr_nfs4_file_find(tables, id);

	*why = WND4_RESOURCE;
	if (tables->grace.active || !rr_nfs4_back_works(client) ||
		client->revoked[RR_NFS4_RECALL_REVOKED - 1] > 0)
		return NULL;
	*why = WND4_CONTENTION;
	if (file && (!rr_list_empty(&file->shares[1]) ||
			    (file->recalled > 0 && now - file->recalled < tables->clients.lease)))
		return NULL;
	*why = WND4_RESOURCE;
	return deleg_new(tables, client, id, handle);
}

struct rr_nfs4_state *
rr_nfs4_deleg_reclaim(struct rr_nfs4_tables *tables, struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, const struct rr_vfs_handle *handle)
{
	return deleg_new(tables, client, id, handle);
}

void
rr_nfs4_deleg_lapse(struct rr_nfs4_state *state, uint64_t now)
{
	if (state->recalled > 0)
		return;
	state->recalled = state->file->recalled = now;
	rr_list_append(&state->tables->recalls, &state->recall);
	rr_list_remove(&state->of_delegations);
	rr_list_append(&state->file->delegations[1], &state->of_delegations);
}

/* Queues the CB_RECALL of the delegation, as rr_nfs4_deleg_recall() does, but does not send it yet. */
static void
deleg_recall(struct rr_nfs4_state *state, uint64_t now)
{
	if (!rr_nfs4_state_lives(state) || state->recalled > 0)
		return;
	/* No answer has named the delegation yet, so the client need not return it. The time of a recall is
	 * noted all the same, so that the file gets no new delegation for a lease period. */
	if (state->seqid == 0) {
		state->file->recalled = now;
		rr_nfs4_state_end(state);
		return;
	}
	rr_nfs4_deleg_lapse(state, now);
	rr_nfs4_state_hold(state);
	rr_nfs4_callback_queue(&state->callback, &recall_kind, &state->tables->sessions, state->client);
}

void
rr_nfs4_deleg_recall(struct rr_nfs4_state *state, uint64_t now)
{
	struct rr_nfs4_sessions *sessions = &state->tables->sessions;

	deleg_recall(state, now);
	rr_nfs4_callbacks_go(sessions, now);
}

/* The most delegations that are recalled, or whose clients end, at once. While others are left, the operation
 * that conflicts gets NFS4ERR_DELAY, and has more of them recalled when it comes again. */
enum { DELEG_RECALLS = 256 };

/* The most delegations to be returned that are looked at for one of a courtesy client. */
enum { DELEG_LOOKS = 32 };

/* Returns a delegation of the file that a client other than `client` has; NULL if there is none. A delegation
 * that was not recalled yet is preferred, then one whose client is a courtesy client (its lease is over), as
 * far as the delegations were looked at. A client has at most one delegation of a file. */
static struct rr_nfs4_state *
deleg_of_others(const struct rr_nfs4_file *file, const struct rr_nfs4_client *client)
{
	struct rr_nfs4_state *found = NULL;
	int looks = 0;

	for (int i = 0; i < 2; i++) {
		rr_list_for_each (link, &file->delegations[i]) {
			struct rr_nfs4_state *state =
				rr_container(link, struct rr_nfs4_state, of_delegations);

			if (state->client == client)
				continue;
			if (i == 0 || state->client->phase == RR_NFS4_COURTESY)
				return state;
			found = state;
			if (++looks >= DELEG_LOOKS)
				return found;
		}
	}
	return found;
}

bool
rr_nfs4_deleg_conflict(struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, uint64_t now)
{
	struct rr_nfs4_state *state = NULL;
	bool are_recalled = false;

	/* The end of a client or of a delegation may free the entry of the file, so the file is looked up
	 * again each time. */
	for (int recalls = 0; recalls < DELEG_RECALLS; recalls++) {
		const struct rr_nfs4_file *file = rr_nfs4_file_find(tables, id);

		state = file ? deleg_of_others(file, client) : NULL;
		if (!state || state->client->phase == RR_NFS4_ENDED ||
			(state->client->phase != RR_NFS4_COURTESY && state->recalled > 0))
			break;
		if (state->client->phase == RR_NFS4_COURTESY)
			rr_nfs4_client_end(state->client);
		else
			deleg_recall(state, now);
		are_recalled = true;
	}
	if (are_recalled)
		rr_nfs4_callbacks_go(&tables->sessions, now);
	return state != NULL;
}

void
rr_nfs4_deleg_own(struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, uint64_t now)
{
	struct rr_nfs4_state *state =
		rr_nfs4_state_of_owner(tables, client, id, RR_NFS4_DELEGATION, deleg_owner);

	if (!state)
		return;
	/* rr_nfs4_deleg_recall() may end the state. */
	rr_nfs4_state_hold(state);
	rr_nfs4_deleg_recall(state, now);
	rr_nfs4_state_close(state);
	rr_nfs4_state_release(state);
}

/* Revokes the delegations that were recalled at least a lease period ago, as many as DELEG_RECALLS at once.
 * RFC 8881, 10.4.5: "servers SHOULD revoke delegations that are not returned in a period of time equal to the
 * lease period." */
void
rr_nfs4_delegs_look(struct rr_nfs4_tables *tables, uint64_t now)
{
	for (int revoked = 0; revoked < DELEG_RECALLS && !rr_list_empty(&tables->recalls); revoked++) {
		struct rr_nfs4_state *state =
			rr_container(tables->recalls.next, struct rr_nfs4_state, recall);

		if (now - state->recalled < tables->clients.lease)
			return;
		rr_nfs4_state_revoke(state, RR_NFS4_RECALL_REVOKED);
	}
}
