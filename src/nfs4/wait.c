/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clients that wait for a lock: RFC 8881, sections 9.6 and 20.11. A client gets CB_NOTIFY_LOCK when its range
 * is free, and then asks again; the lock is not kept for it.
 *
 * Ownership: a struct wait belongs to the list tables->waits until its range is free; then its callback owns
 * it, and frees it when the callback has ended.
 */
#include <string.h>

#include "nfs4/state.h"

/* The most waits of all clients and of a single client; other clients just ask again and again.
 * WAIT_OWNER_MAX: octets of a lock-owner. */
enum { WAIT_MAX = 4096, WAIT_CLIENT_MAX = 64, WAIT_OWNER_MAX = 128 };

/* The most locked ranges that are compared with those waited for, after a range of a file was unlocked. */
enum { WAIT_COMPARED = 16384 };

/* A wait of a lock-owner for a range of a file. */
struct wait {
	struct rr_list link; /* in the tables' waits, until CB_NOTIFY_LOCK is sent */
	struct rr_nfs4_tables *tables;
	/* Valid while the wait is in the list: rr_nfs4_waits_leave() removes it when the client ends. */
	struct rr_nfs4_client *client;
	struct rr_vfs_id id;
	struct rr_vfs_handle handle;
	struct rr_nfs4_span span;
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

/* Finds the wait of the lock-owner for a range of this file, removes it from the list tables->waits, and
 * returns it; NULL if there is no such wait. Stores the number of all waits of the client, with this one, in
 * *count. */
static struct wait *
wait_take(struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client, const struct rr_vfs_id *id,
	struct rpcrdma_bytes owner, uint32_t *count)
{
	struct wait *found = NULL;

	*count = 0;
	rr_list_for_each (link, &tables->waits) {
		struct wait *wait = rr_container(link, struct wait, link);

		if (wait->client != client)
			continue;
		++*count;
		if (wait->owner_length == owner.length && rr_nfs4_id_same(&wait->id, id) &&
			memcmp(wait->owner, owner.data, owner.length) == 0)
			found = wait;
	}
	if (found)
		rr_list_remove(&found->link);
	return found;
}

void
rr_nfs4_wait(const struct rr_nfs4_state *state, struct rr_nfs4_span span, bool write)
{
	const struct rpcrdma_bytes owner = { state->owner, state->owner_length };
	struct rr_nfs4_tables *tables = state->tables;
	struct wait *wait;
	uint32_t count;

	if (owner.length > WAIT_OWNER_MAX || !rr_nfs4_back_works(state->client))
		return;
	/* A wait that the lock-owner has for this file already is used again, with the new range. */
	wait = wait_take(tables, state->client, &state->file->id, owner, &count);
	if (!wait && (count >= WAIT_CLIENT_MAX || tables->wait_count >= WAIT_MAX))
		return;
	if (!wait) {
		wait = rr_alloc(tables->env, sizeof(*wait));
		if (!wait)
			return;
		tables->wait_count++;
	}
	wait->tables = tables;
	wait->client = state->client;
	wait->clientid = rr_nfs4_client_id(state->client);
	wait->id = state->file->id;
	wait->handle = state->handle;
	wait->span = span;
	wait->write = write;
	wait->owner_length = owner.length;
	memcpy(wait->owner, owner.data, owner.length);
	rr_list_append(&tables->waits, &wait->link);
}

void
rr_nfs4_wait_end(struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, struct rpcrdma_bytes owner)
{
	uint32_t count;
	struct wait *wait = wait_take(tables, client, id, owner, &count);

	if (wait)
		wait_notify_ended(&wait->callback);
}

void
rr_nfs4_waits_leave(struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client)
{
	rr_list_for_each (link, &tables->waits) {
		struct wait *wait = rr_container(link, struct wait, link);

		if (wait->client != client)
			continue;
		rr_list_remove(link);
		wait_notify_ended(&wait->callback);
	}
}

/* The locks of a file are compared with as many waits as WAIT_COMPARED allows. The clients of the other waits
 * for octets of `unlocked` are notified without a comparison: RFC 8881, 20.11.3: the lock "might be
 * available". */
void
rr_nfs4_waits_look(struct rr_nfs4_tables *tables, const struct rr_vfs_id *id, struct rr_nfs4_span unlocked)
{
	uint32_t looks = 0;
	bool are_some = false;

	if (!rr_list_empty(&tables->waits))
		looks = WAIT_COMPARED / (1 + rr_nfs4_lock_count(tables, id));
	rr_list_for_each (link, &tables->waits) {
		struct wait *wait = rr_container(link, struct wait, link);
		const struct rpcrdma_bytes owner = { wait->owner, wait->owner_length };

		if (!rr_nfs4_id_same(&wait->id, id) || wait->span.first > unlocked.last ||
			wait->span.last < unlocked.first)
			continue;
		if (looks > 0) {
			looks--;
			if (rr_nfs4_is_locked(tables, wait->client, id, owner, wait->span, wait->write))
				continue;
		}
		rr_list_remove(link);
		rr_list_init(&wait->callback.link);
		rr_nfs4_callback_queue(&wait->callback, &notify_kind, &tables->sessions, wait->client);
		are_some = true;
	}
	/* Time 0: callbacks that have to wait for their time stay in the queue. */
	if (are_some)
		rr_nfs4_callbacks_go(&tables->sessions, 0);
}
