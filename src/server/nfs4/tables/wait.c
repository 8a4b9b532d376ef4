/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clients that wait for a lock: RFC 8881, sections 9.6 and 20.11. A client gets CB_NOTIFY_LOCK when its range
 * is free, and then asks again; the lock is not kept for it.
 *
 * Ownership: a struct wait belongs to tables->waits, to its file and to its client until its range is free;
 * then its callback owns it, and frees it when the callback has ended.
 *
 * When a range was unlocked, the waits of the file are looked at one after another, some in each turn, so
 * that no operation takes longer where many clients wait. Nobody says when a local program has unlocked a
 * range: waits for such locks are also in tables->probes, and the storage is asked about them at intervals
 * (server_probe.c).
 */
#include <string.h>

#include "server/nfs4/tables/state.h"

/* The most waits of all clients and of a single client; other clients just ask again and again.
 * WAIT_OWNER_MAX: octets of a lock-owner. */
enum { WAIT_MAX = 4096, WAIT_CLIENT_MAX = 64, WAIT_OWNER_MAX = 128 };

/* A wait of a lock-owner for a range of a file. */
struct wait {
	struct rr_nfs4_tables *tables;
	/* Until CB_NOTIFY_LOCK is sent: its places in the tables' waits, and in those of its file and its
	 * client. rr_nfs4_waits_leave() ends the wait when the client ends, and the file stays as long. */
	struct rr_map_link by_owner;
	struct rr_list of_file, of_client;
	/* In tables->probes, while a local program has a lock of the range; when the storage was last asked
	 * about that; and the probe that asks now, or NULL. */
	struct rr_list of_probes;
	uint64_t asked;
	struct rr_nfs4_probe *probe;
	struct rr_nfs4_file *file;
	struct rr_nfs4_client *client;
	struct rr_vfs_handle handle;
	struct rr_span span;
	bool write;
	clientid4 clientid;
	struct rr_nfs4_callback callback;
	uint32_t owner_length;
	uint8_t owner[WAIT_OWNER_MAX];
};

/* Writes the arguments of CB_NOTIFY_LOCK for the lock-owner that waits. */
static void
wait_notify_put(struct rr_nfs4_callback *callback, nfs_cb_argop4 *op)
{
	struct wait *wait = rr_container(callback, struct wait, callback);
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

/* Frees the struct wait that `callback` is a member of. Runs when the CB_NOTIFY_LOCK has ended; also called
 * for a wait that ends before it needs a CB_NOTIFY_LOCK. */
static void
wait_notify_ended(struct rr_nfs4_callback *callback)
{
	struct wait *wait = rr_container(callback, struct wait, callback);

	wait->tables->wait_count--;
	rr_free(wait->tables->env, wait);
}

static const struct rr_nfs4_callback_kind notify_kind = { wait_notify_put, wait_notify_answered,
	wait_notify_ended };

/* Removes the wait from all places that it has: its range is free, or the lock-owner does not wait any more.
 */
static void
wait_leave(struct wait *wait)
{
	struct rr_nfs4_tables *tables = wait->tables;

	rr_map_remove(&tables->waits, &wait->by_owner);
	rr_list_remove(&wait->of_file);
	rr_list_remove(&wait->of_client);
	rr_list_remove(&wait->of_probes);
	if (wait->probe)
		wait->probe->wait = NULL;
	wait->probe = NULL;
	wait->client->wait_count--;
	wait->file->wait_count--;
	rr_nfs4_file_let_go(tables, wait->file);
	wait->file = NULL;
	wait->client = NULL;
}

/* Returns the wait of the lock-owner for a range of this file; NULL if there is none. */
static struct wait *
wait_find(const struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, struct rpcrdma_bytes owner)
{
	struct rr_map_link *link =
		rr_map_find(&tables->waits, rr_nfs4_owner_hash(tables, client, id, RR_NFS4_LOCK, owner));

	for (; link; link = rr_map_next(link)) {
		struct wait *wait = rr_container(link, struct wait, by_owner);

		if (wait->client == client && wait->owner_length == owner.length &&
			rr_nfs4_id_same(&wait->file->id, id) &&
			memcmp(wait->owner, owner.data, owner.length) == 0)
			return wait;
	}
	return NULL;
}

/* Makes the wait of the lock-owner of the state. Returns NULL if there is no memory, or there are too many.
 */
static struct wait *
wait_new(const struct rr_nfs4_state *state)
{
	const struct rpcrdma_bytes owner = { state->owner, state->owner_length };
	struct rr_nfs4_tables *tables = state->tables;
	struct wait *wait;

	if (state->client->wait_count >= WAIT_CLIENT_MAX || tables->wait_count >= WAIT_MAX)
		return NULL;
	wait = rr_alloc(tables->env, sizeof(*wait));
	if (!wait)
		return NULL;
	tables->wait_count++;
	wait->tables = tables;
	wait->client = state->client;
	wait->clientid = rr_nfs4_client_id(state->client);
	wait->file = state->file;
	wait->owner_length = owner.length;
	memcpy(wait->owner, owner.data, owner.length);
	rr_map_add(&tables->waits, &wait->by_owner,
		rr_nfs4_owner_hash(tables, state->client, &state->file->id, RR_NFS4_LOCK, owner));
	rr_list_append(&state->file->waits, &wait->of_file);
	state->file->wait_count++;
	rr_list_append(&state->client->waits, &wait->of_client);
	state->client->wait_count++;
	rr_list_init(&wait->of_probes);
	return wait;
}

void
rr_nfs4_wait(const struct rr_nfs4_state *state, struct rr_span span, bool write, bool local)
{
	const struct rpcrdma_bytes owner = { state->owner, state->owner_length };
	struct wait *wait;

	if (owner.length > WAIT_OWNER_MAX || !rr_nfs4_back_works(state->client))
		return;
	/* A wait that the lock-owner has for this file already is used again, with the new range. */
	wait = wait_find(state->tables, state->client, &state->file->id, owner);
	if (!wait)
		wait = wait_new(state);
	if (!wait)
		return;
	wait->handle = state->handle;
	wait->span = span;
	wait->write = write;
	if (!local || !rr_list_empty(&wait->of_probes))
		return;
	wait->asked = rr_now(state->tables->env);
	rr_list_append(&state->tables->probes, &wait->of_probes);
}

void
rr_nfs4_wait_end(struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, struct rpcrdma_bytes owner)
{
	struct wait *wait = wait_find(tables, client, id, owner);

	if (!wait)
		return;
	wait_leave(wait);
	wait_notify_ended(&wait->callback);
}

void
rr_nfs4_waits_leave(struct rr_nfs4_client *client)
{
	rr_list_for_each (link, &client->waits) {
		struct wait *wait = rr_container(link, struct wait, of_client);

		wait_leave(wait);
		wait_notify_ended(&wait->callback);
	}
}

void
rr_nfs4_waits_look(struct rr_nfs4_tables *tables, struct rr_nfs4_file *file)
{
	file->looks = file->wait_count;
	if (file->looks > 0 && rr_list_empty(&file->to_look))
		rr_list_append(&tables->to_look, &file->to_look);
}

/* If no client has a lock in the way of the wait, CB_NOTIFY_LOCK goes to the client that waits, and the wait
 * is over. The file may be freed. */
static void
wait_notify(struct rr_nfs4_tables *tables, struct wait *wait)
{
	const struct rpcrdma_bytes owner = { wait->owner, wait->owner_length };
	struct rr_nfs4_client *client = wait->client;

	if (rr_nfs4_is_locked(tables, client, &wait->file->id, owner, wait->span, wait->write))
		return;
	wait_leave(wait);
	rr_list_init(&wait->callback.link);
	rr_nfs4_callback_queue(&wait->callback, &notify_kind, &tables->sessions, client);
}

/* Looks at the next wait of the file: if its range is free now, CB_NOTIFY_LOCK goes to the client. Else the
 * wait becomes the last of the file's. The file may be freed. */
static void
wait_look(struct rr_nfs4_tables *tables, struct rr_nfs4_file *file)
{
	struct wait *wait = rr_container(file->waits.next, struct wait, of_file);

	file->looks--;
	rr_list_remove(&wait->of_file);
	rr_list_append(&file->waits, &wait->of_file);
	wait_notify(tables, wait);
}

uint32_t
rr_nfs4_waits_go(struct rr_nfs4_tables *tables, uint32_t looks)
{
	uint32_t left = looks;

	while (left > 0 && !rr_list_empty(&tables->to_look)) {
		struct rr_nfs4_file *file = rr_container(tables->to_look.next, struct rr_nfs4_file, to_look);

		/* Waits may have left since. */
		if (file->looks == 0 || file->wait_count == 0) {
			rr_list_remove(&file->to_look);
			continue;
		}
		wait_look(tables, file);
		left--;
	}
	/* Time 0: callbacks that have to wait for their time stay in the queue. */
	if (left < looks)
		rr_nfs4_callbacks_go(&tables->sessions, 0);
	return left;
}

/* ---- Waits for the locks of local programs ---- */

/* Returns an open that the client has of the file, by which the storage can be asked: that of the lock-owner,
 * whose own locks are then not in the way, or any other. NULL: the client has closed the file. */
static struct rr_nfs4_opened *
wait_open(struct rr_nfs4_tables *tables, const struct wait *wait)
{
	const struct rpcrdma_bytes owner = { wait->owner, wait->owner_length };
	const struct rr_nfs4_state *state =
		rr_nfs4_state_of_owner(tables, wait->client, &wait->file->id, RR_NFS4_LOCK, owner);

	return state && state->opened ? state->opened : rr_nfs4_opened_of(wait->client, &wait->handle);
}

struct rr_nfs4_opened *
rr_nfs4_probe_next(struct rr_nfs4_tables *tables, struct rr_nfs4_probe *probe, uint64_t now)
{
	while (!rr_list_empty(&tables->probes)) {
		struct wait *wait = rr_container(tables->probes.next, struct wait, of_probes);
		struct rr_nfs4_opened *opened;

		/* The list is in the order of the times. */
		if (now - wait->asked < RR_NFS4_PROBE_APART)
			return NULL;
		rr_list_remove(&wait->of_probes);
		opened = wait->probe ? NULL : wait_open(tables, wait);
		if (!opened)
			continue;
		wait->asked = now;
		rr_list_append(&tables->probes, &wait->of_probes);
		wait->probe = probe;
		*probe = (struct rr_nfs4_probe){ wait, wait->span, wait->write };
		return rr_nfs4_opened_hold(opened);
	}
	return NULL;
}

void
rr_nfs4_probe_end(struct rr_nfs4_tables *tables, struct rr_nfs4_probe *probe, enum rr_vfs_status status)
{
	struct wait *wait = probe->wait;

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
	wait_notify(tables, wait);
	rr_nfs4_callbacks_go(&tables->sessions, 0);
}
