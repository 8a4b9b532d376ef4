/* SPDX-License-Identifier: BSD-3-Clause */
/* Byte-range locks: RFC 8881, sections 9.1 to 9.6, 18.10 to 18.12. */
#include <string.h>

#include "nfs4/state.h"

/* Tells whether the lock state belongs to the lock-owner `owner` of the client. */
static bool
lock_is_owners(
	const struct rr_nfs4_state *state, const struct rr_nfs4_client *client, struct rpcrdma_bytes owner)
{
	return state->client == client && state->owner_length == owner.length &&
	       memcmp(state->owner, owner.data, owner.length) == 0;
}

/* Returns a locked range of another owner that conflicts with a lock of `span` (write: a lock to write), and
 * stores the state of that range in *holder. A range of a courtesy client (its lease is over) is returned
 * only if no other range conflicts. Returns NULL if there is no conflict. */
static const struct rr_nfs4_range *
lock_in_the_way(const struct rr_nfs4_file *file, const struct rr_nfs4_client *client,
	struct rpcrdma_bytes owner, struct rr_nfs4_span span, bool write, struct rr_nfs4_state **holder)
{
	const struct rr_nfs4_range *found = NULL;

	rr_list_for_each (link, &file->states) {
		struct rr_nfs4_state *state = rr_container(link, struct rr_nfs4_state, of_file);
		const struct rr_nfs4_range *range;

		if (state->kind != RR_NFS4_LOCK || lock_is_owners(state, client, owner))
			continue;
		range = rr_nfs4_range_conflict(&state->ranges, span, write);
		if (!range)
			continue;
		found = range;
		*holder = state;
		if (state->client->phase != RR_NFS4_COURTESY)
			return range;
	}
	return found;
}

bool
rr_nfs4_lock_conflict(struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, struct rpcrdma_bytes owner, struct rr_nfs4_span span, bool write,
	struct rr_nfs4_conflict *conflict)
{
	const struct rr_nfs4_range *range;
	struct rr_nfs4_state *holder;
	struct rr_nfs4_file *file;

	for (;;) {
		file = rr_nfs4_file_find(tables, id);
		range = file && file->lock_count > 0
				? lock_in_the_way(file, client, owner, span, write, &holder)
				: NULL;
		if (!range)
			return false;
		/* The client that asks is not ended, even if its own lease is over meanwhile. */
		if (holder->client == client || holder->client->phase != RR_NFS4_COURTESY)
			break;
		rr_nfs4_client_end(holder->client);
	}
	conflict->span = range->span;
	conflict->write = range->write;
	conflict->client = rr_nfs4_client_id(holder->client);
	conflict->owner_length = holder->owner_length;
	memcpy(conflict->owner, holder->owner, holder->owner_length);
	return true;
}

bool
rr_nfs4_is_locked(const struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, struct rpcrdma_bytes owner, struct rr_nfs4_span span, bool write)
{
	const struct rr_nfs4_file *file = rr_nfs4_file_find(tables, id);
	struct rr_nfs4_state *holder;

	return file && lock_in_the_way(file, client, owner, span, write, &holder);
}

uint32_t
rr_nfs4_lock_count(const struct rr_nfs4_tables *tables, const struct rr_vfs_id *id)
{
	const struct rr_nfs4_file *file = rr_nfs4_file_find(tables, id);
	uint32_t count = 0;

	if (!file || file->lock_count == 0)
		return 0;
	rr_list_for_each (link, &file->states)
		count += 1 + rr_container(link, struct rr_nfs4_state, of_file)->ranges.count;
	return count;
}

struct rr_nfs4_state *
rr_nfs4_lock_state(struct rr_nfs4_tables *tables, struct rr_nfs4_state *open, struct rpcrdma_bytes owner)
{
	struct rr_nfs4_state *state =
		rr_nfs4_state_of_owner(tables, open->client, &open->file->id, RR_NFS4_LOCK, owner);

	if (state)
		return state;
	state = rr_nfs4_state_make(tables, open->client, &open->file->id, RR_NFS4_LOCK, owner);
	if (!state)
		return NULL;
	state->handle = open->handle;
	state->parent = open;
	state->file->lock_count++;
	rr_list_append(&open->locks, &state->of_open);
	return state;
}

/* The most ranges that a lock or unlock may add: it may cut a range in two and put another range between.
 * They are taken from the quota before the change, and given back if the change needed fewer. */
enum { LOCK_ADDS = 2 };

/* Adjusts the number of all ranges and the quota after a lock or unlock of the state. taken: the number of
 * new ranges for which the quota was reduced in advance; the quota gets back what was not needed. before: the
 * number of ranges that the state had before. */
static void
lock_changed(struct rr_nfs4_state *state, uint32_t taken, uint32_t before)
{
	struct rr_nfs4_tables *tables = state->tables;

	tables->ranges += state->ranges.count - before;
	rr_nfs4_quota_give(
		&tables->ranges_quota, &state->client->holding, taken + before - state->ranges.count);
}

nfsstat4
rr_nfs4_lock(struct rr_nfs4_state *state, struct rr_nfs4_span span, bool write)
{
	struct rr_nfs4_tables *tables = state->tables;
	uint32_t before = state->ranges.count;
	int error;

	if (!rr_nfs4_quota_take(&tables->ranges_quota, &state->client->holding, LOCK_ADDS))
		return NFS4ERR_SERVERFAULT;
	error = rr_nfs4_range_lock(&state->ranges, tables->env, span, write);
	lock_changed(state, LOCK_ADDS, before);
	if (error < 0)
		return NFS4ERR_SERVERFAULT;
	rr_nfs4_wait_end(tables, state->client, &state->file->id,
		(struct rpcrdma_bytes){ state->owner, state->owner_length });
	/* A lock to write may have become a lock to read, which lets waiting readers in. */
	if (!write)
		rr_nfs4_waits_look(tables, &state->file->id, span);
	return NFS4_OK;
}

nfsstat4
rr_nfs4_unlock(struct rr_nfs4_state *state, struct rr_nfs4_span span)
{
	struct rr_nfs4_tables *tables = state->tables;
	/* adds: how many ranges the unlock adds; they are taken from the quota before the change. */
	uint32_t before = state->ranges.count, adds = rr_nfs4_range_is_cut(&state->ranges, span) ? 1 : 0;
	int error;

	if (!rr_nfs4_quota_take(&tables->ranges_quota, &state->client->holding, adds))
		return NFS4ERR_SERVERFAULT;
	error = rr_nfs4_range_unlock(&state->ranges, tables->env, span);
	lock_changed(state, adds, before);
	if (error < 0)
		return NFS4ERR_SERVERFAULT;
	rr_nfs4_waits_look(tables, &state->file->id, span);
	return NFS4_OK;
}
