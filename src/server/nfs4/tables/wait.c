/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clients that wait for a lock: RFC 8881, sections 9.6 and 20.11. A client gets CB_NOTIFY_LOCK when its range
 * is free, and then asks again; the lock is not kept for it.
 *
 * Ownership: a struct rr_nfs4_wait belongs to tables->waits, to its file and to its client until its range is
 * free; then its callback owns it, and frees it when the callback has ended.
 *
 * The waits of a file, of all protocols, have their turns in server/locks/wait.c. Nobody says when a local
 * program has unlocked a range: waits for such locks are also in tables->probes, and the storage is asked
 * about them at intervals (server_probe.c).
 */
#include <string.h>

#include "server/nfs4/tables/lock.h"
#include "server/nfs4/tables/tables.h"

/* The most waits of all clients and of a single client; other clients just ask again and again.
 * WAIT_OWNER_MAX: octets of a lock-owner. */
enum { WAIT_MAX = 4096, WAIT_CLIENT_MAX = 64, WAIT_OWNER_MAX = 128 };

/* A wait of a lock-owner for a range of a file. */
struct rr_nfs4_wait {
	struct rr_nfs4_tables *tables;
	/* Until CB_NOTIFY_LOCK is sent: its places in the tables' waits, and in those of its file and its
	 * client. rr_nfs4_waits_leave() ends the wait when the client ends, and the file stays as long. */
	struct rr_map_link by_owner;
	struct rr_list of_client;
	struct rr_locks_wait wait; /* for the range: server/locks/table.h */
	/* In tables->probes, while a local program has a lock of the range; when the storage was last asked
	 * about that; and the probe that asks now, or NULL. */
	struct rr_list of_probes;
	uint64_t asked;
	struct rr_nfs4_probe *probe;
	struct rr_nfs4_client *client;
	struct rr_vfs_handle handle;
	clientid4 clientid;
	struct rr_nfs4_callback callback;
	uint32_t owner_length;
	uint8_t owner[WAIT_OWNER_MAX];
};

/* Writes the arguments of CB_NOTIFY_LOCK for the lock-owner that waits. */
static void
wait_notify_put(struct rr_nfs4_callback *callback, nfs_cb_argop4 *op)
{
	struct rr_nfs4_wait *wait = rr_container(callback, struct rr_nfs4_wait, callback);
	CB_NOTIFY_LOCK4args *args = &op->u.opcbnotify_lock;

	op->argop = OP_CB_NOTIFY_LOCK;
	args->cnla_fh = (nfs_fh4){ wait->handle.data, wait->handle.length };
	args->cnla_lock_owner.clientid = wait->clientid;
	args->cnla_lock_owner.owner = (struct rpcrdma_bytes){ wait->owner, wait->owner_length };
}

/* Returns false, as a CB_NOTIFY_LOCK that the client has answered is never sent again. RFC 8881, 20.11.4:
 * "the client must still rely on polling for blocking locks". */
static bool
wait_notify_answered(struct rr_nfs4_callback *callback, nfsstat4 status)
{
	(void)callback, (void)status;
	return false;
}

/* Frees the struct rr_nfs4_wait that `callback` is a member of. Runs when the CB_NOTIFY_LOCK has ended; also
 * called for a wait that ends before it needs a CB_NOTIFY_LOCK. */
static void
wait_notify_ended(struct rr_nfs4_callback *callback)
{
	struct rr_nfs4_wait *wait = rr_container(callback, struct rr_nfs4_wait, callback);

	wait->tables->wait_count--;
	rr_free(wait->tables->env, wait);
}

static const struct rr_nfs4_callback_kind notify_kind = { wait_notify_put, wait_notify_answered,
	wait_notify_ended };

/* Returns the lock state that the lock-owner has of the file; NULL if it has none. */
static const struct rr_nfs4_state *
wait_state(const struct rr_nfs4_wait *wait)
{
	const struct rpcrdma_bytes owner = { wait->owner, wait->owner_length };

	return rr_nfs4_state_of_owner(wait->tables, wait->client, &wait->wait.file->id, RR_NFS4_LOCK, owner);
}

/* Removes the wait from all places that it has: its range is free, or the lock-owner does not wait any more.
 */
static void
wait_leave(struct rr_nfs4_wait *wait)
{
	struct rr_nfs4_tables *tables = wait->tables;

	rr_map_remove(&tables->waits, &wait->by_owner);
	rr_locks_wait_leave(&wait->wait);
	rr_list_remove(&wait->of_client);
	rr_list_remove(&wait->of_probes);
	if (wait->probe)
		wait->probe->wait = NULL;
	wait->probe = NULL;
	wait->client->wait_count--;
	wait->client = NULL;
}

static const struct rr_ranges *
wait_own(struct rr_locks_wait *member)
{
	const struct rr_nfs4_state *state = wait_state(rr_container(member, struct rr_nfs4_wait, wait));

	return state ? &state->ranges : NULL;
}

/* No client has a lock in the way of the wait: CB_NOTIFY_LOCK goes to the client that waits, and the wait is
 * over. */
static void
wait_is_free(struct rr_locks_wait *member)
{
	struct rr_nfs4_wait *wait = rr_container(member, struct rr_nfs4_wait, wait);
	struct rr_nfs4_sessions *sessions = &wait->tables->sessions;
	struct rr_nfs4_client *client = wait->client;

	wait_leave(wait);
	rr_list_init(&wait->callback.link);
	rr_nfs4_callback_queue(&wait->callback, &notify_kind, sessions, client);
	/* Time 0: callbacks that have to wait for their time stay in the queue. */
	rr_nfs4_callbacks_go(sessions, 0);
}

static const struct rr_locks_wait_kind wait_kind = { wait_own, wait_is_free };

/* Returns the wait of the lock-owner for a range of this file; NULL if there is none. */
static struct rr_nfs4_wait *
wait_find(const struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, struct rpcrdma_bytes owner)
{
	struct rr_map_link *link =
		rr_map_find(&tables->waits, rr_nfs4_owner_hash(tables, client, id, RR_NFS4_LOCK, owner));

	for (; link; link = rr_map_next(link)) {
		struct rr_nfs4_wait *wait = rr_container(link, struct rr_nfs4_wait, by_owner);

		if (wait->client == client && wait->owner_length == owner.length &&
			rr_locks_is_same(&wait->wait.file->id, id) &&
			memcmp(wait->owner, owner.data, owner.length) == 0)
			return wait;
	}
	return NULL;
}

/* Makes the wait of the lock-owner of the state. Returns NULL if there is no memory, or there are too many.
 */
static struct rr_nfs4_wait *
wait_new(const struct rr_nfs4_state *state)
{
	const struct rpcrdma_bytes owner = { state->owner, state->owner_length };
	struct rr_nfs4_tables *tables = state->tables;
	struct rr_nfs4_wait *wait;

	if (state->client->wait_count >= WAIT_CLIENT_MAX || tables->wait_count >= WAIT_MAX)
		return NULL;
	wait = rr_alloc(tables->env, sizeof(*wait));
	if (!wait)
		return NULL;
	tables->wait_count++;
	wait->tables = tables;
	wait->client = state->client;
	wait->clientid = rr_nfs4_client_id(state->client);
	wait->owner_length = owner.length;
	memcpy(wait->owner, owner.data, owner.length);
	rr_map_add(&tables->waits, &wait->by_owner,
		rr_nfs4_owner_hash(tables, state->client, &state->file->id, RR_NFS4_LOCK, owner));
	wait->wait.kind = &wait_kind;
	rr_locks_wait_begin(&wait->wait, state->file->locks);
	rr_list_append(&state->client->waits, &wait->of_client);
	state->client->wait_count++;
	rr_list_init(&wait->of_probes);
	return wait;
}

void
rr_nfs4_wait(const struct rr_nfs4_state *state, struct rr_span span, bool write, bool local)
{
	const struct rpcrdma_bytes owner = { state->owner, state->owner_length };
	struct rr_nfs4_wait *wait;

	if (owner.length > WAIT_OWNER_MAX || !rr_nfs4_back_works(state->client))
		return;
	/* A wait that the lock-owner has for this file already is used again, with the new range. */
	wait = wait_find(state->tables, state->client, &state->file->id, owner);
	if (!wait)
		wait = wait_new(state);
	if (!wait)
		return;
	wait->handle = state->handle;
	wait->wait.span = span;
	wait->wait.write = write;
	if (!local || !rr_list_empty(&wait->of_probes))
		return;
	wait->asked = rr_now(state->tables->env);
	rr_list_append(&state->tables->probes, &wait->of_probes);
}

void
rr_nfs4_wait_end(struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, struct rpcrdma_bytes owner)
{
	struct rr_nfs4_wait *wait = wait_find(tables, client, id, owner);

	if (!wait)
		return;
	wait_leave(wait);
	wait_notify_ended(&wait->callback);
}

void
rr_nfs4_waits_leave(struct rr_nfs4_client *client)
{
	rr_list_for_each (link, &client->waits) {
		struct rr_nfs4_wait *wait = rr_container(link, struct rr_nfs4_wait, of_client);

		wait_leave(wait);
		wait_notify_ended(&wait->callback);
	}
}

/* ---- Waits for the locks of local programs ---- */

/* Returns an open that the client has of the file, by which the storage can be asked: that of the lock-owner,
 * whose own locks are then not in the way, or any other. NULL: the client has closed the file. */
static struct rr_nfs4_opened *
wait_open(const struct rr_nfs4_wait *wait)
{
	const struct rr_nfs4_state *state = wait_state(wait);

	return state && state->opened ? state->opened : rr_nfs4_opened_of(wait->client, &wait->handle);
}

struct rr_nfs4_opened *
rr_nfs4_probe_next(struct rr_nfs4_tables *tables, struct rr_nfs4_probe *probe, uint64_t now)
{
	while (!rr_list_empty(&tables->probes)) {
		struct rr_nfs4_wait *wait = rr_container(tables->probes.next, struct rr_nfs4_wait, of_probes);
		struct rr_nfs4_opened *opened;

		/* The list is in the order of the times. */
		if (now - wait->asked < RR_NFS4_PROBE_APART)
			return NULL;
		rr_list_remove(&wait->of_probes);
		opened = wait->probe ? NULL : wait_open(wait);
		if (!opened)
			continue;
		wait->asked = now;
		rr_list_append(&tables->probes, &wait->of_probes);
		wait->probe = probe;
		*probe = (struct rr_nfs4_probe){ wait, wait->wait.span, wait->wait.write };
		return rr_nfs4_opened_hold(opened);
	}
	return NULL;
}

void
rr_nfs4_probe_end(struct rr_nfs4_probe *probe, enum rr_vfs_status status)
{
	struct rr_nfs4_wait *wait = probe->wait;

	probe->wait = NULL;
	/* The wait is over already. */
	if (!wait)
		return;
	wait->probe = NULL;
	if (status == RR_VFS_LOCK || status == RR_VFS_BUSY || status == RR_VFS_CANCELLED)
		return;
	rr_list_remove(&wait->of_probes);
	if (status != RR_VFS_OK)
		return;
	if (!rr_locks_wait_is_locked(&wait->wait))
		wait_is_free(&wait->wait);
}
