/* SPDX-License-Identifier: BSD-3-Clause */
/* This file keeps the files that have states, and the states of each file. */
#include <string.h>

#include "server/nfs4/tables/tables.h"

/* Returns the key by which a file is found in the table of files. */
static uint64_t
file_hash(const struct rr_nfs4_tables *tables, const struct rr_vfs_id *id)
{
	return rr_locks_hash(tables->clients.secret, id);
}

struct rr_nfs4_file *
rr_nfs4_file_find(const struct rr_nfs4_tables *tables, const struct rr_vfs_id *id)
{
	struct rr_map_link *link = rr_map_find(&tables->files, file_hash(tables, id));

	for (; link; link = rr_map_next(link)) {
		struct rr_nfs4_file *file = rr_container(link, struct rr_nfs4_file, by_id);

		if (rr_locks_is_same(&file->id, id))
			return file;
	}
	return NULL;
}

/* Frees the entry of the file if no state is left. */
static void
file_let_go(struct rr_nfs4_tables *tables, struct rr_nfs4_file *file)
{
	if (!rr_list_empty(&file->states))
		return;
	rr_locks_leave(file->locks);
	rr_map_remove(&tables->files, &file->by_id);
	rr_free(tables->env, file);
}

/* Returns the entry of the file in the table of files, and makes the entry if it is not there yet. Returns
 * NULL if there is no memory. */
static struct rr_nfs4_file *
file_entry(struct rr_nfs4_tables *tables, const struct rr_vfs_id *id)
{
	struct rr_nfs4_file *file = rr_nfs4_file_find(tables, id);

	if (file)
		return file;
	file = rr_alloc(tables->env, sizeof(*file));
	if (!file)
		return NULL;
	file->id = *id;
	rr_list_init(&file->states);
	for (int i = 0; i < RR_NFS4_SHARES; i++)
		rr_list_init(&file->shares[i]);
	rr_list_init(&file->delegations[0]);
	rr_list_init(&file->delegations[1]);
	rr_map_add(&tables->files, &file->by_id, file_hash(tables, id));
	return file;
}

/* Returns the entry of the file for a new state of this kind: for a lock, with the locks of the file. Returns
 * NULL if there is no memory. */
static struct rr_nfs4_file *
file_make(struct rr_nfs4_tables *tables, const struct rr_vfs_id *id, enum rr_nfs4_kind kind)
{
	struct rr_nfs4_file *file = file_entry(tables, id);

	if (!file || kind != RR_NFS4_LOCK || file->locks)
		return file;
	file->locks = rr_locks_use(tables->locks, id);
	if (file->locks)
		return file;
	file_let_go(tables, file);
	return NULL;
}

uint64_t
rr_nfs4_owner_hash(const struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, enum rr_nfs4_kind kind, struct rpcrdma_bytes owner)
{
	uint64_t hash = file_hash(tables, id) ^ rr_nfs4_client_id(client) ^ (uint64_t)kind << 56;

	for (uint32_t i = 0; i < owner.length; i++)
		hash = (hash ^ ((const uint8_t *)owner.data)[i]) * UINT64_C(1099511628211);
	return hash;
}

struct rr_nfs4_state *
rr_nfs4_state_of_owner(const struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, enum rr_nfs4_kind kind, struct rpcrdma_bytes owner)
{
	struct rr_map_link *link = NULL;

	/* The states of a client that has ended may still be there, but nobody has them. */
	if (client->phase != RR_NFS4_ENDED)
		link = rr_map_find(&tables->owners, rr_nfs4_owner_hash(tables, client, id, kind, owner));

	for (; link; link = rr_map_next(link)) {
		struct rr_nfs4_state *state = rr_container(link, struct rr_nfs4_state, by_owner);

		if (state->client == client && state->kind == kind &&
			rr_locks_is_same(&state->file->id, id) && state->owner_length == owner.length &&
			memcmp(state->owner, owner.data, owner.length) == 0)
			return state;
	}
	return NULL;
}

struct rr_nfs4_quota *
rr_nfs4_state_quota(struct rr_nfs4_tables *tables, enum rr_nfs4_kind kind)
{
	return kind == RR_NFS4_DELEGATION ? &tables->delegations_quota : &tables->states_quota;
}

uint32_t
rr_nfs4_state_cost(uint32_t owner_length)
{
	return 1 + owner_length / RR_NFS4_OWNER_UNIT;
}

/* Returns a number for the stateid of a new state: no other state has it, and nobody can guess it. For a
 * client of version 4.0 it has the number of the client in it: see rr_nfs4_state_named(). */
static uint64_t
file_state_number(struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client)
{
	uint64_t number;

	do {
		tables->number++;
		if (rr_nfs4_client_is_plain(client))
			number = rr_nfs4_number(&tables->clients.numbers, RR_NFS4_NUMBER_STATE,
				client->plain.number, ++tables->plain_number);
		else
			number = rr_siphash_64(tables->secret, &tables->number, sizeof(tables->number));
	} while (number == 0 || number == UINT64_MAX || rr_map_find(&tables->states, number));
	return number;
}

struct rr_nfs4_state *
rr_nfs4_state_make(struct rr_nfs4_tables *tables, struct rr_nfs4_client *client, const struct rr_vfs_id *id,
	enum rr_nfs4_kind kind, struct rpcrdma_bytes owner)
{
	struct rr_nfs4_quota *quota = rr_nfs4_state_quota(tables, kind);
	struct rr_nfs4_state *state;

	/* A compound may still run for a client that has ended meanwhile: that client gets no new state. */
	if (client->phase == RR_NFS4_ENDED ||
		!rr_nfs4_quota_take(quota, &client->holding, rr_nfs4_state_cost(owner.length)))
		return NULL;
	state = rr_alloc(tables->env, sizeof(*state) + owner.length);
	if (state)
		state->file = file_make(tables, id, kind);
	if (!state || !state->file) {
		rr_nfs4_quota_give(quota, &client->holding, rr_nfs4_state_cost(owner.length));
		rr_free(tables->env, state);
		return NULL;
	}
	state->tables = tables;
	state->client = client;
	state->kind = kind;
	state->holders = 1;
	rr_list_init(&state->locks);
	rr_list_init(&state->ending);
	rr_ranges_init(&state->ranges, state->file->locks ? &state->file->locks->locked : NULL);
	rr_list_init(&state->of_open);
	rr_list_init(&state->of_owner);
	rr_list_init(&state->recall);
	rr_list_init(&state->of_delegations);
	for (int i = 0; i < RR_NFS4_SHARES; i++)
		rr_list_init(&state->of_shares[i]);
	rr_list_init(&state->callback.link);
	state->owner_length = owner.length;
	if (owner.length > 0)
		memcpy(state->owner, owner.data, owner.length);
	rr_map_add(&tables->states, &state->by_number, file_state_number(tables, client));
	rr_map_add(&tables->owners, &state->by_owner, rr_nfs4_owner_hash(tables, client, id, kind, owner));
	rr_list_append(&client->states, &state->of_client);
	rr_list_append(&state->file->states, &state->of_file);
	client->state_count++;
	tables->count++;
	tables->opens += kind == RR_NFS4_OPEN;
	tables->delegations += kind == RR_NFS4_DELEGATION;
	return state;
}

void
rr_nfs4_file_leave(struct rr_nfs4_state *state)
{
	struct rr_nfs4_file *file = state->file;

	for (int i = 0; i < RR_NFS4_SHARES; i++)
		rr_list_remove(&state->of_shares[i]);
	rr_list_remove(&state->of_delegations);
	state->tables->opens -= state->kind == RR_NFS4_OPEN;
	state->tables->delegations -= state->kind == RR_NFS4_DELEGATION;
	rr_map_remove(&state->tables->owners, &state->by_owner);
	rr_list_remove(&state->of_file);
	state->file = NULL;
	file_let_go(state->tables, file);
}
