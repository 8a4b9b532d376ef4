/* SPDX-License-Identifier: BSD-3-Clause */
/* The owners of opens and locks in version 4.0, and the numbers of their requests: RFC 7530, section 9.1. */
#include "server/nfs4/tables/owner.h"

#include <string.h>

#include "server/nfs4/tables/tables.h"

/* The most owners that are forgotten in a look, and the most states that RELEASE_LOCKOWNER ends. */
enum { OWNER_LOOKS = 4096, OWNER_STATES = 256 };

/* Returns the key by which an owner is found. */
static uint64_t
owner_hash(const struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client, enum rr_nfs4_kind kind,
	struct rpcrdma_bytes name)
{
	struct rr_siphash hash;
	const uint64_t head[2] = { rr_nfs4_client_id(client), (uint64_t)kind };
	uint8_t tag[RR_SIPHASH_TAG];
	uint64_t key;

	rr_siphash_init(&hash, tables->secret);
	rr_siphash_add(&hash, head, sizeof(head));
	rr_siphash_add(&hash, name.data, name.length);
	rr_siphash_end(&hash, tag);
	memcpy(&key, tag, sizeof(key));
	return key;
}

struct rr_nfs4_owner *
rr_nfs4_owner_find(const struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	enum rr_nfs4_kind kind, struct rpcrdma_bytes name)
{
	struct rr_map_link *link = rr_map_find(&tables->names, owner_hash(tables, client, kind, name));

	for (; link; link = rr_map_next(link)) {
		struct rr_nfs4_owner *owner = rr_container(link, struct rr_nfs4_owner, by_name);

		if (owner->client == client && owner->kind == kind && owner->length == name.length &&
			memcmp(owner->name, name.data, name.length) == 0)
			return owner;
	}
	return NULL;
}

/* Gives back a reference to the owner, which is freed with the last one. */
static void
owner_release(struct rr_nfs4_owner *owner)
{
	const struct rr_env *env = owner->tables->env;

	if (--owner->holders > 0)
		return;
	rr_free(env, owner->reply);
	rr_free(env, owner);
}

/* Forgets which state the last CLOSE has ended. */
static void
owner_forget_closed(struct rr_nfs4_owner *owner)
{
	if (owner->by_closed.key)
		rr_map_remove(&owner->tables->closed, &owner->by_closed);
	owner->by_closed.key = 0;
}

/* Notes that the owner may be forgotten from now on, or not. */
static void
owner_set_idle(struct rr_nfs4_owner *owner, bool idle)
{
	rr_list_remove(&owner->of_idle);
	rr_list_remove(&owner->of_aging);
	if (!idle || !owner->client)
		return;
	rr_list_append(&owner->client->plain.idle, &owner->of_idle);
	rr_list_append(&owner->tables->aging[0], &owner->of_aging);
}

/* Removes the owner from the tables. It has no states any more. */
static void
owner_drop(struct rr_nfs4_owner *owner)
{
	struct rr_nfs4_tables *tables = owner->tables;

	owner_set_idle(owner, false);
	owner_forget_closed(owner);
	rr_map_remove(&tables->names, &owner->by_name);
	rr_list_remove(&owner->of_client);
	rr_nfs4_quota_give(&tables->owners_quota, &owner->client->holding, owner->cost);
	owner->client = NULL;
	owner_release(owner);
}

/* Ends the only open that an owner of opens which is not confirmed can have. */
static void
owner_end_states(struct rr_nfs4_owner *owner)
{
	while (!rr_list_empty(&owner->states))
		rr_nfs4_state_end(rr_container(owner->states.next, struct rr_nfs4_state, of_owner));
}

/* Forgets the owner of the client that has been idle longest, to make room for another. Returns false if none
 * is idle. */
static bool
owner_make_room(struct rr_nfs4_client *client)
{
	rr_list_for_each (link, &client->plain.idle) {
		struct rr_nfs4_owner *owner = rr_container(link, struct rr_nfs4_owner, of_idle);

		if (owner->busy)
			continue;
		owner_end_states(owner);
		owner_drop(owner);
		return true;
	}
	return false;
}

/* Takes so much of the quota of the client; if the client has it not, idle owners go. */
static bool
owner_take_quota(struct rr_nfs4_tables *tables, struct rr_nfs4_client *client, uint32_t cost)
{
	while (!rr_nfs4_quota_take(&tables->owners_quota, &client->holding, cost)) {
		if (!owner_make_room(client))
			return false;
	}
	return true;
}

struct rr_nfs4_owner *
rr_nfs4_owner_make(struct rr_nfs4_tables *tables, struct rr_nfs4_client *client, enum rr_nfs4_kind kind,
	struct rpcrdma_bytes name)
{
	uint32_t cost = rr_nfs4_state_cost(name.length);
	struct rr_nfs4_owner *owner;

	if (client->phase == RR_NFS4_ENDED || !owner_take_quota(tables, client, cost))
		return NULL;
	owner = rr_alloc(tables->env, sizeof(*owner) + name.length);
	if (!owner) {
		rr_nfs4_quota_give(&tables->owners_quota, &client->holding, cost);
		return NULL;
	}
	owner->tables = tables;
	owner->client = client;
	owner->kind = kind;
	owner->cost = cost;
	owner->holders = 1;
	owner->confirmed = kind == RR_NFS4_LOCK;
	rr_list_init(&owner->states);
	rr_list_init(&owner->of_idle);
	rr_list_init(&owner->of_aging);
	owner->length = name.length;
	memcpy(owner->name, name.data, name.length);
	rr_map_add(&tables->names, &owner->by_name, owner_hash(tables, client, kind, name));
	rr_list_append(&client->plain.owners, &owner->of_client);
	owner_set_idle(owner, true);
	return owner;
}

struct rr_nfs4_owner *
rr_nfs4_owner_closed(const struct rr_nfs4_tables *tables, const stateid4 *stateid)
{
	uint64_t number = rr_nfs4_stateid_number(tables, stateid);
	struct rr_map_link *link = number ? rr_map_find(&tables->closed, number) : NULL;

	return link ? rr_container(link, struct rr_nfs4_owner, by_closed) : NULL;
}

/* ---- Numbers of requests ---- */

/* Linux counts from 0xffffffff on to 0, and other clients to 1: RFC 7530, 9.1.11, calls 0 no valid number.
 */
static bool
owner_is_next(const struct rr_nfs4_owner *owner, uint32_t seqid)
{
	return seqid == owner->seqid + 1 || (owner->seqid == UINT32_MAX && seqid == 1);
}

enum rr_nfs4_owner_turn
rr_nfs4_owner_turn(const struct rr_nfs4_owner *owner, uint32_t seqid, nfs_opnum4 op)
{
	if (owner->busy)
		return RR_NFS4_TURN_BUSY;
	if (!owner->used || owner_is_next(owner, seqid))
		return RR_NFS4_TURN_NEW;
	/* RFC 7530, 9.1.9: "When the type of the operation does not match that originally used,
	 * NFS4ERR_BAD_SEQID is returned." */
	return seqid == owner->seqid && op == owner->op && owner->reply ? RR_NFS4_TURN_AGAIN
									: RR_NFS4_TURN_BAD;
}

void
rr_nfs4_owner_anew(struct rr_nfs4_owner *owner)
{
	owner_end_states(owner);
	owner_forget_closed(owner);
	owner->used = false;
}

void
rr_nfs4_owner_begin(struct rr_nfs4_owner *owner)
{
	owner->holders++;
	owner->busy = true;
}

/* Tells whether the client counts a request that got this status. RFC 7530, 9.1.7: "The client MUST advance
 * the sequence number ... The only exception to this rule is if the previous operation received one of the
 * following errors". */
static bool
owner_counts(nfsstat4 status)
{
	switch (status) {
	case NFS4ERR_STALE_CLIENTID:
	case NFS4ERR_STALE_STATEID:
	case NFS4ERR_BAD_STATEID:
	case NFS4ERR_BAD_SEQID:
	case NFS4ERR_BADXDR:
	case NFS4ERR_RESOURCE:
	case NFS4ERR_NOFILEHANDLE:
	case NFS4ERR_MOVED: return false;
	default: return true;
	}
}

/* Keeps the answer. Without memory for it, or quota, the owner has none: a repeated request then gets
 * NFS4ERR_BAD_SEQID, and is not executed again. */
static void
owner_keep(struct rr_nfs4_owner *owner, const struct rr_nfs4_owner_done *done)
{
	struct rr_nfs4_tables *tables = owner->tables;
	struct rr_nfs4_quota *quota = &tables->owners_quota;
	uint32_t size = done->reply.length + done->handle.length;
	uint32_t cost = rr_nfs4_state_cost(owner->length + size);

	rr_free(tables->env, owner->reply);
	owner->reply = NULL;
	if (cost > owner->cost && !rr_nfs4_quota_take(quota, &owner->client->holding, cost - owner->cost))
		return;
	if (cost < owner->cost)
		rr_nfs4_quota_give(quota, &owner->client->holding, owner->cost - cost);
	owner->cost = cost;
	owner->reply = rr_alloc(tables->env, size);
	if (!owner->reply)
		return;
	memcpy(owner->reply, done->reply.data, done->reply.length);
	if (done->handle.length > 0)
		memcpy(owner->reply + done->reply.length, done->handle.data, done->handle.length);
	owner->reply_length = done->reply.length;
	owner->handle_length = done->handle.length;
}

/* Drops an owner of locks that has no states: its LOCK was refused, or the last state has ended. Linux then
 * gives its name to another owner, which begins with 0. A LOCK that comes again is known by its open-owner.
 */
static void
owner_look(struct rr_nfs4_owner *owner)
{
	if (owner->kind == RR_NFS4_LOCK && owner->client && !owner->busy && rr_list_empty(&owner->states))
		owner_drop(owner);
}

void
rr_nfs4_owner_end(struct rr_nfs4_owner *owner, const struct rr_nfs4_owner_done *done)
{
	owner->busy = false;
	if (owner->client && owner_counts(done->status)) {
		owner->used = true;
		owner->seqid = done->seqid;
		owner->op = done->op;
		owner->status = done->status;
		owner->digest = done->digest;
		owner_keep(owner, done);
		if (done->op != OP_CLOSE || done->status != NFS4_OK)
			owner_forget_closed(owner);
	}
	owner_look(owner);
	owner_release(owner);
}

/* ---- States ---- */

void
rr_nfs4_owner_take(struct rr_nfs4_owner *owner, struct rr_nfs4_state *state)
{
	if (state->seq_owner || state->revoked != RR_NFS4_VALID || !owner->client)
		return;
	state->seq_owner = owner;
	rr_list_append(&owner->states, &state->of_owner);
	if (owner->confirmed)
		owner_set_idle(owner, false);
}

void
rr_nfs4_owner_leave(struct rr_nfs4_state *state)
{
	struct rr_nfs4_owner *owner = state->seq_owner;

	if (!owner)
		return;
	state->seq_owner = NULL;
	rr_list_remove(&state->of_owner);
	if (owner->kind == RR_NFS4_OPEN) {
		owner_forget_closed(owner);
		rr_map_add(&owner->tables->closed, &owner->by_closed, state->by_number.key);
	}
	if (rr_list_empty(&owner->states))
		owner_set_idle(owner, true);
	owner_look(owner);
}

void
rr_nfs4_owner_locked(const struct rr_nfs4_state *state, bool locked)
{
	if (state->seq_owner)
		state->seq_owner->locked += locked ? 1u : UINT32_MAX;
}

void
rr_nfs4_owner_confirm(struct rr_nfs4_owner *owner)
{
	owner->confirmed = true;
	owner_set_idle(owner, rr_list_empty(&owner->states));
}

nfsstat4
rr_nfs4_owner_release(struct rr_nfs4_owner *owner)
{
	nfsstat4 status = NFS4_OK;

	if (owner->locked > 0)
		return NFS4ERR_LOCKS_HELD;
	if (owner->busy)
		return NFS4ERR_RESOURCE;
	/* The owner goes with its last state. */
	owner->holders++;
	for (int i = 0; i < OWNER_STATES && !rr_list_empty(&owner->states); i++)
		rr_nfs4_state_end(rr_container(owner->states.next, struct rr_nfs4_state, of_owner));
	if (!rr_list_empty(&owner->states))
		status = NFS4ERR_RESOURCE;
	owner_release(owner);
	return status;
}

/* ---- The end ---- */

bool
rr_nfs4_owners_leave(struct rr_nfs4_client *client, uint32_t *units)
{
	while (!rr_list_empty(&client->plain.owners)) {
		if (*units == 0)
			return false;
		--*units;
		owner_drop(rr_container(client->plain.owners.next, struct rr_nfs4_owner, of_client));
	}
	return true;
}

/* Owners become idle in aging[0]. Once in a lease, these come to aging[1], and those that have been there are
 * forgotten: so each is kept for a lease, and for two at most, although no time is noted for it. */
void
rr_nfs4_owners_look(struct rr_nfs4_tables *tables, uint64_t now)
{
	struct rr_list *old = &tables->aging[1], *link;

	for (int i = 0; i < OWNER_LOOKS && (link = rr_list_pop(old)); i++) {
		struct rr_nfs4_owner *owner = rr_container(link, struct rr_nfs4_owner, of_aging);

		if (owner->busy) {
			rr_list_append(&tables->aging[0], link);
			continue;
		}
		owner_end_states(owner);
		owner_drop(owner);
	}
	if (!rr_list_empty(old) || now - tables->aged < tables->clients.lease)
		return;
	tables->aged = now;
	rr_list_move(&tables->aging[0], old);
}
