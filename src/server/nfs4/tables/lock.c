/* SPDX-License-Identifier: BSD-3-Clause */
/* Byte-range locks: RFC 8881, sections 9.1 to 9.6, 18.10 to 18.12. */
#include <string.h>

#include "server/nfs4/tables/lock.h"
#include "server/nfs4/tables/owner.h"
#include "server/nfs4/tables/tables.h"

/* Describes the lock that an owner of the client wants in the file. */
static struct rr_range_wanted
lock_wanted(const struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, struct rpcrdma_bytes owner, struct rr_span span, bool write)
{
	const struct rr_nfs4_state *own = rr_nfs4_state_of_owner(tables, client, id, RR_NFS4_LOCK, owner);

	return (struct rr_range_wanted){ span, write, own ? &own->ranges : NULL };
}

/* Returns the lock state that has the ranges. */
static struct rr_nfs4_state *
lock_holder(struct rr_ranges *ranges)
{
	return rr_container(ranges, struct rr_nfs4_state, ranges);
}

/* Tells what the ranges of a lock state are to others. Those of a courtesy client (its lease is over) give
 * way to all other clients: the courtesy client ends. Ranges that are about to be unlocked are in nobody's
 * way for long. */
static enum rr_locks_yield
lock_yields(struct rr_ranges *ranges, const void *asker)
{
	const struct rr_nfs4_state *state = lock_holder(ranges);

	if (!rr_nfs4_state_lives(state))
		return RR_LOCKS_ENDS;
	return state->client != asker && state->client->phase == RR_NFS4_COURTESY ? RR_LOCKS_CEDES
										  : RR_LOCKS_STAYS;
}

static void
lock_end_client(struct rr_ranges *ranges)
{
	rr_nfs4_client_end(lock_holder(ranges)->client);
}

static void
lock_describe(struct rr_ranges *ranges, struct rr_locks_holder *conflict)
{
	const struct rr_nfs4_state *state = lock_holder(ranges);

	conflict->client = rr_nfs4_client_id(state->client);
	conflict->svid = 0;
	conflict->owner_length = state->owner_length;
	memcpy(conflict->owner, state->owner, state->owner_length);
}

static const struct rr_locks_kind lock_kind = { lock_yields, lock_end_client, lock_describe };

nfsstat4
rr_nfs4_lock_conflict(struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, struct rpcrdma_bytes owner, struct rr_span span, bool write,
	struct rr_locks_holder *conflict)
{
	const struct rr_range_wanted wanted = lock_wanted(tables, client, id, owner, span, write);

	switch (rr_locks_ask(tables->locks, id, &wanted, client, conflict)) {
	case RR_LOCKS_HELD: return NFS4ERR_DENIED;
	case RR_LOCKS_SOON: return NFS4ERR_DELAY;
	default: return NFS4_OK;
	}
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
	state->ranges.kind = &lock_kind;
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
	if ((before > 0) != (state->ranges.count > 0))
		rr_nfs4_owner_locked(state, before == 0);
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
		rr_locks_look(state->file->locks);
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
	rr_locks_look(state->file->locks);
	return NFS4_OK;
}
