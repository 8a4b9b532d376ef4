/* SPDX-License-Identifier: BSD-3-Clause */
/* Byte-range locks: RFC 8881, sections 9.1 to 9.6, 18.10 to 18.12. */
#include <string.h>

#include "server/nfs4/tables/state.h"

/* The most ranges in the way of a lock that are looked at for one that is not of a courtesy client. */
enum { LOCK_LOOKS = 32 };

/* Describes the lock that an owner of the client wants in the file. */
static struct rr_range_wanted
lock_wanted(const struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, struct rpcrdma_bytes owner, struct rr_span span, bool write)
{
	const struct rr_nfs4_state *own = rr_nfs4_state_of_owner(tables, client, id, RR_NFS4_LOCK, owner);

	return (struct rr_range_wanted){ span, write, own ? &own->ranges : NULL };
}

/* Returns the lock state that the range belongs to. */
static struct rr_nfs4_state *
lock_holder(const struct rr_range *range)
{
	return rr_container(range->owner, struct rr_nfs4_state, ranges);
}

/* Tells whether the range of another owner refuses a lock to the client. A range of a courtesy client (its
 * lease is over) other than this client does not: the courtesy client ends instead. Neither does a range that
 * is about to be unlocked. */
static bool
lock_refuses(const struct rr_range *range, const struct rr_nfs4_client *client)
{
	const struct rr_nfs4_state *state = lock_holder(range);

	return rr_nfs4_state_lives(state) &&
	       (state->client == client || state->client->phase != RR_NFS4_COURTESY);
}

/* Returns a locked range of another owner that conflicts with the wanted lock of the client. A range that
 * does not refuse the lock is returned only if the first LOCK_LOOKS ranges that conflict are all such.
 * Returns NULL if there is no conflict. */
static const struct rr_range *
lock_in_the_way(
	struct rr_nfs4_file *file, const struct rr_nfs4_client *client, const struct rr_range_wanted *wanted)
{
	const struct rr_range *first = rr_range_conflict(&file->locked, wanted), *range = first;

	for (int looks = 0; range && looks < LOCK_LOOKS; looks++) {
		if (lock_refuses(range, client))
			return range;
		range = rr_range_conflict_next(&file->locked, wanted, range);
	}
	return first;
}

nfsstat4
rr_nfs4_lock_conflict(struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, struct rpcrdma_bytes owner, struct rr_span span, bool write,
	struct rr_nfs4_conflict *conflict)
{
	const struct rr_range_wanted wanted = lock_wanted(tables, client, id, owner, span, write);
	const struct rr_range *range;
	struct rr_nfs4_state *holder;
	struct rr_nfs4_file *file;

	for (;;) {
		file = rr_nfs4_file_find(tables, id);
		range = file ? lock_in_the_way(file, client, &wanted) : NULL;
		if (!range)
			return NFS4_OK;
		holder = lock_holder(range);
		if (lock_refuses(range, client))
			break;
		if (!rr_nfs4_state_lives(holder))
			return NFS4ERR_DELAY;
		rr_nfs4_client_end(holder->client);
	}
	conflict->span = range->span;
	conflict->write = range->write;
	conflict->client = rr_nfs4_client_id(holder->client);
	conflict->owner_length = holder->owner_length;
	memcpy(conflict->owner, holder->owner, holder->owner_length);
	return NFS4ERR_DENIED;
}

bool
rr_nfs4_is_locked(const struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, struct rpcrdma_bytes owner, struct rr_span span, bool write)
{
	struct rr_nfs4_file *file = rr_nfs4_file_find(tables, id);
	const struct rr_range_wanted wanted = lock_wanted(tables, client, id, owner, span, write);

	return file && rr_range_conflict(&file->locked, &wanted);
}

struct rr_nfs4_state *
rr_nfs4_lock_state(struct rr_nfs4_tables *tables, struct rr_nfs4_state *open, struct rpcrdma_bytes owner)
{
	struct rr_nfs4_state *state =
		rr_nfs4_state_of_owner(tables, open->client, &open->file->id, RR_NFS4_LOCK, owner);

	/* The lock state of an open that has ended may be about to end. */
	if (state)
		return rr_nfs4_state_lives(state) ? state : NULL;
	state = rr_nfs4_state_make(tables, open->client, &open->file->id, RR_NFS4_LOCK, owner);
	if (!state)
		return NULL;
	state->handle = open->handle;
	state->parent = open;
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

/* Tells whether the lock-owner may have `adds` more ranges of its file, and takes these from the quota of
 * the client if so. */
static bool
lock_take(struct rr_nfs4_state *state, uint32_t adds)
{
	if (adds > 0 && state->ranges.count + adds > RR_NFS4_OWNER_RANGES)
		return false;
	return rr_nfs4_quota_take(&state->tables->ranges_quota, &state->client->holding, adds);
}

nfsstat4
rr_nfs4_lock(struct rr_nfs4_state *state, struct rr_span span, bool write)
{
	struct rr_nfs4_tables *tables = state->tables;
	uint32_t before = state->ranges.count;
	int error;

	if (!lock_take(state, LOCK_ADDS))
		return NFS4ERR_SERVERFAULT;
	error = rr_range_lock(&state->ranges, tables->env, span, write);
	lock_changed(state, LOCK_ADDS, before);
	if (error < 0)
		return NFS4ERR_SERVERFAULT;
	rr_nfs4_wait_end(tables, state->client, &state->file->id,
		(struct rpcrdma_bytes){ state->owner, state->owner_length });
	/* A lock to write may have become a lock to read, which lets waiting readers in. */
	if (!write)
		rr_nfs4_waits_look(tables, state->file);
	return NFS4_OK;
}

nfsstat4
rr_nfs4_unlock(struct rr_nfs4_state *state, struct rr_span span)
{
	struct rr_nfs4_tables *tables = state->tables;
	/* adds: how many ranges the unlock adds; they are taken from the quota before the change. */
	uint32_t before = state->ranges.count, adds = rr_range_is_cut(&state->ranges, span) ? 1 : 0;
	int error;

	if (!lock_take(state, adds))
		return NFS4ERR_SERVERFAULT;
	error = rr_range_unlock(&state->ranges, tables->env, span);
	lock_changed(state, adds, before);
	if (error < 0)
		return NFS4ERR_SERVERFAULT;
	rr_nfs4_waits_look(tables, state->file);
	return NFS4_OK;
}
