/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a state, and of the open of the storage that belongs to it. */
#include "nfs4/state.h"

#include <string.h>

/* The flags of SEQUENCE's result that a client gets as long as it has states that were revoked. */
static const uint32_t state_flags[] = {
	[RR_NFS4_EXPIRED] = SEQ4_STATUS_EXPIRED_SOME_STATE_REVOKED,
	[RR_NFS4_ADMIN_REVOKED] = SEQ4_STATUS_ADMIN_STATE_REVOKED,
	[RR_NFS4_RECALL_REVOKED] = SEQ4_STATUS_RECALLABLE_STATE_REVOKED,
};

/* Counts the states of the client that were revoked for the reason `revoked`. by: 1 if a state was revoked,
 * -1 if a revoked state was freed. As long as there are such states, SEQUENCE's result has the flag for this
 * reason. Does nothing if `revoked` is no reason of a revocation. */
static void
state_count_revoked(struct rr_nfs4_client *client, enum rr_nfs4_revoked revoked, int by)
{
	uint32_t *count;

	if (revoked != RR_NFS4_EXPIRED && revoked != RR_NFS4_ADMIN_REVOKED &&
		revoked != RR_NFS4_RECALL_REVOKED)
		return;
	count = &client->revoked[revoked - 1];
	*count += (uint32_t)by;
	if (*count > 0)
		client->status_flags |= state_flags[revoked];
	else
		client->status_flags &= ~state_flags[revoked];
}

/* Ends the effect of the state on other clients. The lock states of an open end, the recall of a delegation
 * is cancelled, and the ranges of a lock state are unlocked, so that waiting clients are notified. The state
 * is removed from its file. */
static void
state_drop_effect(struct rr_nfs4_state *state)
{
	struct rr_nfs4_tables *tables = state->tables;
	bool had_locks;

	while (!rr_list_empty(&state->locks))
		rr_nfs4_state_end(rr_container(state->locks.next, struct rr_nfs4_state, of_open));
	rr_list_remove(&state->of_open);
	rr_list_remove(&state->recall);
	rr_nfs4_callback_cancel(&state->callback);
	state->parent = NULL;
	had_locks = state->ranges.count > 0;
	tables->ranges -= state->ranges.count;
	rr_nfs4_quota_give(&tables->ranges_quota, &state->client->holding, state->ranges.count);
	rr_nfs4_ranges_free(&state->ranges, tables->env);
	/* A revoked state has left its file before. */
	if (state->file && had_locks)
		rr_nfs4_waits_look(tables, &state->file->id, (struct rr_nfs4_span){ 0, UINT64_MAX });
	if (state->file)
		rr_nfs4_file_leave(state);
}

void
rr_nfs4_state_close(struct rr_nfs4_state *state)
{
	struct rr_nfs4_opened *opened = state->opened;

	if (!opened)
		return;
	state->opened = NULL;
	/* If the storage's lease on this open breaks from now on, deleg_broken() recalls nothing. */
	opened->delegation = NULL;
	rr_nfs4_opened_release(state->tables, opened);
}

void
rr_nfs4_state_revoke(struct rr_nfs4_state *state, enum rr_nfs4_revoked revoked)
{
	if (state->revoked != RR_NFS4_VALID)
		return;
	state->revoked = revoked;
	state_drop_effect(state);
	rr_nfs4_state_close(state);
	state_count_revoked(state->client, revoked, 1);
}

void
rr_nfs4_state_end(struct rr_nfs4_state *state)
{
	struct rr_nfs4_client *client = state->client;

	if (state->revoked == RR_NFS4_GONE)
		return;
	state_count_revoked(client, state->revoked, -1);
	state->revoked = RR_NFS4_GONE;
	state_drop_effect(state);
	rr_nfs4_state_close(state);
	rr_map_remove(&state->tables->states, &state->by_number);
	rr_list_remove(&state->of_client);
	client->state_count--;
	rr_nfs4_quota_give(rr_nfs4_state_quota(state->tables, state->kind), &client->holding, 1);
	state->client = NULL;
	state->tables->count--;
	rr_nfs4_state_release(state);
}

struct rr_nfs4_state *
rr_nfs4_state_hold(struct rr_nfs4_state *state)
{
	state->holders++;
	return state;
}

void
rr_nfs4_state_release(struct rr_nfs4_state *state)
{
	struct rr_nfs4_tables *tables = state->tables;

	if (--state->holders > 0)
		return;
	rr_nfs4_state_close(state);
	rr_free(tables->env, state);
}

bool
rr_nfs4_state_opened(struct rr_nfs4_state *state, struct rr_vfs_open *open, struct rr_nfs4_principal opener)
{
	struct rr_nfs4_tables *tables = state->tables;
	struct rr_nfs4_opened *opened;

	if (state->revoked != RR_NFS4_VALID)
		return false;
	opened = rr_alloc(tables->env, sizeof(*opened));
	if (!opened)
		return false;
	opened->tables = tables;
	opened->delegation = state->kind == RR_NFS4_DELEGATION ? state : NULL;
	opened->open = open;
	opened->opener = state->opened ? state->opened->opener : opener;
	opened->holders = 1;
	rr_list_init(&opened->link);
	rr_nfs4_state_close(state);
	state->opened = opened;
	return true;
}

struct rr_nfs4_opened *
rr_nfs4_opened_of(const struct rr_nfs4_client *client, const struct rr_vfs_handle *handle)
{
	rr_list_for_each (link, &client->states) {
		struct rr_nfs4_state *state = rr_container(link, struct rr_nfs4_state, of_client);

		if (state->opened && state->handle.length == handle->length &&
			memcmp(state->handle.data, handle->data, handle->length) == 0)
			return state->opened;
	}
	return NULL;
}

struct rr_nfs4_opened *
rr_nfs4_opened_hold(struct rr_nfs4_opened *opened)
{
	opened->holders++;
	return opened;
}

void
rr_nfs4_opened_release(struct rr_nfs4_tables *tables, struct rr_nfs4_opened *opened)
{
	if (--opened->holders == 0)
		rr_list_append(&tables->unused, &opened->link);
}

struct rr_nfs4_opened *
rr_nfs4_opened_unused(struct rr_nfs4_tables *tables)
{
	struct rr_list *link = rr_list_pop(&tables->unused);

	return link ? rr_container(link, struct rr_nfs4_opened, link) : NULL;
}
