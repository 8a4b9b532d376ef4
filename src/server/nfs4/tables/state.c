/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a state, and of the open of the storage that belongs to it. */
#include "server/nfs4/tables/owner.h"
#include "server/nfs4/tables/tables.h"

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

bool
rr_nfs4_state_lives(const struct rr_nfs4_state *state)
{
	return state->revoked == RR_NFS4_VALID && state->client->phase != RR_NFS4_ENDED &&
	       (!state->parent || state->parent->revoked == RR_NFS4_VALID);
}

/* Unlocks ranges of a lock state, `most` at most, and returns how many. Those who wait for a lock of the file
 * are looked at. */
static uint32_t
state_unlock(struct rr_nfs4_state *state, uint32_t most)
{
	struct rr_nfs4_tables *tables = state->tables;
	uint32_t freed = rr_ranges_free(&state->ranges, tables->env, most);

	tables->ranges -= freed;
	rr_nfs4_quota_give(&tables->ranges_quota, &state->client->holding, freed);
	if (freed > 0)
		rr_locks_look(state->file->locks);
	if (freed > 0 && state->ranges.count == 0)
		rr_nfs4_owner_locked(state, false);
	return freed;
}

/* Ends the effect of the state on other clients. The lock states of an open end, the recall of a delegation
 * is cancelled, and the ranges of a lock state are unlocked, so that waiting clients are notified. The state
 * is removed from its file. */
static void
state_drop_effect(struct rr_nfs4_state *state)
{
	rr_nfs4_ending_open(state);
	rr_list_remove(&state->of_open);
	rr_list_remove(&state->recall);
	rr_nfs4_callback_cancel(&state->callback);
	state->parent = NULL;
	state_unlock(state, UINT32_MAX);
	rr_nfs4_owner_leave(state);
	/* A revoked state has left its file before. */
	if (state->file)
		rr_nfs4_file_leave(state);
}

bool
rr_nfs4_state_end_part(struct rr_nfs4_state *state, uint32_t *units)
{
	while (!rr_list_empty(&state->locks)) {
		if (!rr_nfs4_state_end_part(
			    rr_container(state->locks.next, struct rr_nfs4_state, of_open), units))
			return false;
	}
	*units -= state_unlock(state, *units);
	if (*units == 0)
		return false;
	--*units;
	rr_nfs4_state_end(state);
	return true;
}

void
rr_nfs4_state_close(struct rr_nfs4_state *state)
{
	struct rr_nfs4_opened *opened = state->opened;

	if (!opened)
		return;
	state->opened = NULL;
	rr_avl_remove(&state->client->opened, &state->of_opened);
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
	rr_nfs4_quota_give(rr_nfs4_state_quota(state->tables, state->kind), &client->holding,
		rr_nfs4_state_cost(state->owner_length));
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

/* Returns how the filehandle of a state compares with another: 0 if both are the same, else a negative or a
 * positive number. */
static int
state_compare_handle(struct rr_avl_link *link, const struct rr_vfs_handle *handle)
{
	const struct rr_nfs4_state *state = rr_container(link, struct rr_nfs4_state, of_opened);

	if (state->handle.length != handle->length)
		return state->handle.length < handle->length ? -1 : 1;
	return memcmp(state->handle.data, handle->data, handle->length);
}

/* Tells whether the filehandle of a comes before that of b in the client's tree `opened`. */
static bool
state_handle_is_before(struct rr_avl_link *a, struct rr_avl_link *b)
{
	return state_compare_handle(a, &rr_container(b, struct rr_nfs4_state, of_opened)->handle) < 0;
}

/* Tells whether the state has the wanted filehandle, or one that comes after it. */
static bool
state_has_handle(struct rr_avl_link *link, const void *wanted)
{
	return state_compare_handle(link, wanted) >= 0;
}

bool
rr_nfs4_state_opened(struct rr_nfs4_state *state, struct rr_vfs_open *open, const struct rr_caller *opener)
{
	struct rr_nfs4_tables *tables = state->tables;
	struct rr_nfs4_opened *opened;

	if (!rr_nfs4_state_lives(state))
		return false;
	opened = rr_alloc(tables->env, sizeof(*opened));
	if (!opened)
		return false;
	if (!rr_caller_keep(tables->env, state->opened ? &state->opened->opener : opener, &opened->opener)) {
		rr_free(tables->env, opened);
		return false;
	}
	opened->tables = tables;
	opened->delegation = state->kind == RR_NFS4_DELEGATION ? state : NULL;
	opened->open = open;
	opened->holders = 1;
	rr_list_init(&opened->link);
	rr_nfs4_state_close(state);
	state->opened = opened;
	state->client->opened.before = state_handle_is_before;
	rr_avl_add(&state->client->opened, &state->of_opened);
	return true;
}

struct rr_nfs4_opened *
rr_nfs4_opened_of(struct rr_nfs4_client *client, const struct rr_vfs_handle *handle)
{
	struct rr_avl_link *link = rr_avl_find(&client->opened, state_has_handle, handle);

	return link && state_compare_handle(link, handle) == 0
		       ? rr_container(link, struct rr_nfs4_state, of_opened)->opened
		       : NULL;
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
	if (--opened->holders > 0)
		return;
	rr_caller_drop(tables->env, &opened->opener);
	rr_list_append(&tables->unused, &opened->link);
	atomic_fetch_add_explicit(&tables->unused_count, 1, memory_order_relaxed);
}

struct rr_vfs_open *
rr_nfs4_opened_take(struct rr_nfs4_opened *opened)
{
	struct rr_vfs_open *open = opened->open;

	if (--opened->holders > 0)
		return NULL;
	rr_caller_drop(opened->tables->env, &opened->opener);
	rr_free(opened->tables->env, opened);
	return open;
}

struct rr_nfs4_opened *
rr_nfs4_opened_unused(struct rr_nfs4_tables *tables)
{
	struct rr_list *link = rr_list_pop(&tables->unused);

	if (!link)
		return NULL;
	atomic_fetch_sub_explicit(&tables->unused_count, 1, memory_order_relaxed);
	return rr_container(link, struct rr_nfs4_opened, link);
}
