/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * model [-n STEPS] [SEED]: random clients open, lock, expire and restart. After
 * the steps the tables of states are compared with a model, which knows each
 * open and each octet of each lock. A difference ends the program with the
 * seed that repeats the run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/nfs4/tables/lock.h"
#include "server/nfs4/tables/share.h"
#include "server/nfs4/tables/tables.h"

enum { CLIENTS = 4, OWNERS = 2, FILES = 3, PLACES = 12, LOOK_EVERY = 7 };

#define LEASE (90 * RR_SECOND)

struct model_open {
	bool there;
	uint32_t access, deny, combinations;
	stateid4 stateid;
	char locks[OWNERS][PLACES];
	bool has_lock[OWNERS];
	stateid4 lock_stateids[OWNERS];
};

struct model_client {
	struct rr_nfs4_client *client;
	clientid4 id;
	uint8_t verifier;
	bool courtesy, ended;
	uint64_t renewed;
	struct model_open opens[OWNERS][FILES];
};

static struct world {
	struct rr_nfs4_tables tables;
	struct model_client clients[CLIENTS];
	uint64_t now, random;
	unsigned long seed, step;
} world;

static void
model_check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "step %lu of seed %lu: %s\n", world.step, world.seed, what);
	exit(1);
}

static uint32_t
roll(uint32_t below)
{
	world.random = world.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(world.random >> 33) % below;
}

static struct rr_vfs_id
file_id(uint32_t file)
{
	return (struct rr_vfs_id){ { 1, 1 }, file + 1, 0 };
}

static struct rpcrdma_bytes
owner_bytes(uint32_t owner)
{
	static const char names[OWNERS][2] = { "o", "p" };

	return (struct rpcrdma_bytes){ names[owner], 1 };
}

static void
client_forget(struct model_client *client)
{
	memset(client->opens, 0, sizeof(client->opens));
	client->courtesy = false;
	client->ended = true;
}

static bool
client_has_state(const struct model_client *client)
{
	for (int o = 0; o < OWNERS; o++) {
		for (int f = 0; f < FILES; f++) {
			if (client->opens[o][f].there)
				return true;
		}
	}
	return false;
}

/* Makes a client, or restarts it. The state that the client had before ends when the new record is
 * confirmed. */
static void
step_start(uint32_t number)
{
	struct model_client *client = &world.clients[number];
	const char name = (char)('a' + number);
	client_owner4 owner = { .co_verifier = { ++client->verifier }, .co_ownerid = { &name, 1 } };
	static const struct rr_caller maker = { .flavor = RR_AUTH_SYS, .named = true };
	const struct rr_nfs4_exchange exchange = { &owner, &maker, false };

	model_check(
		rr_nfs4_exchange_id(&world.tables.clients, &exchange, world.now, &client->client) == NFS4_OK,
		"EXCHANGE_ID");
	rr_nfs4_client_confirm(client->client, world.now);
	client_forget(client);
	client->ended = false;
	client->id = rr_nfs4_client_id(client->client);
	client->renewed = world.now;
}

static void
step_renew(struct model_client *client)
{
	client->renewed = world.now;
	client->courtesy = false;
	rr_nfs4_client_renew(client->client, world.now);
}

/* Whether an open of a client with a lease denies this one. When only courtesy clients are in the way, they
 * are ended, and the result is false. */
static bool
model_denies(uint32_t file, uint32_t access, uint32_t deny)
{
	bool courtesies[CLIENTS] = { false };

	for (int c = 0; c < CLIENTS; c++) {
		for (int o = 0; o < OWNERS; o++) {
			const struct model_open *open = &world.clients[c].opens[o][file];

			if (!open->there || (!(access & open->deny) && !(deny & open->access)))
				continue;
			if (!world.clients[c].courtesy)
				return true;
			courtesies[c] = true;
		}
	}
	for (int c = 0; c < CLIENTS; c++) {
		if (courtesies[c])
			client_forget(&world.clients[c]);
	}
	return false;
}

static void
step_open(struct model_client *client, uint32_t owner, uint32_t file)
{
	struct model_open *open = &client->opens[owner][file];
	struct rr_vfs_id id = file_id(file);
	const struct rr_vfs_handle handle = { 1, { (uint8_t)file } };
	const struct rr_nfs4_share share = { &id, &handle, owner_bytes(owner), 1 + roll(3),
		roll(8) ? 0 : roll(4) };
	bool denied = model_denies(file, share.access, share.deny), fails = roll(8) == 0;
	struct rr_nfs4_reserved reserved;
	nfsstat4 status = rr_nfs4_share(&world.tables, client->client, &share, &reserved);

	model_check(status == (denied ? NFS4ERR_SHARE_DENIED : NFS4_OK), "OPEN");
	if (denied)
		return;
	if (fails) { /* the storage fails to open the file */
		rr_nfs4_share_undo(&reserved);
		return;
	}
	open->there = true;
	open->access |= share.access;
	open->deny |= share.deny;
	open->combinations |= UINT32_C(1) << (share.access * 4 + share.deny);
	rr_nfs4_stateid_next(reserved.state, &open->stateid);
	rr_nfs4_state_release(reserved.state);
	model_check(reserved.state->access == open->access && reserved.state->deny == open->deny,
		"share of an OPEN");
}

static struct rr_nfs4_state *
find(const struct model_client *client, const stateid4 *stateid, uint32_t file, uint32_t kind)
{
	struct rr_vfs_id id = file_id(file);
	struct rr_nfs4_state *state = NULL;

	model_check(rr_nfs4_state_find(&world.tables, client->client, stateid, &id, kind, &state) == NFS4_OK,
		"a stateid that is valid");
	return state;
}

static void
step_downgrade(struct model_client *client, uint32_t owner, uint32_t file)
{
	struct model_open *open = &client->opens[owner][file];
	uint32_t access = 1 + roll(3), deny = roll(4), left = 0, a = 0, d = 0;
	struct rr_nfs4_state *state = find(client, &open->stateid, file, RR_NFS4_OPEN);
	bool good;

	for (uint32_t i = 0; i < 16; i++) {
		if (!(open->combinations >> i & 1) || (i / 4 & ~access) || (i % 4 & ~deny))
			continue;
		left |= UINT32_C(1) << i;
		a |= i / 4;
		d |= i % 4;
	}
	good = a == access && d == deny;
	model_check(
		rr_nfs4_downgrade(state, access, deny) == (good ? NFS4_OK : NFS4ERR_INVAL), "OPEN_DOWNGRADE");
	if (!good)
		return;
	open->access = access;
	open->deny = deny;
	open->combinations = left;
	rr_nfs4_stateid_next(state, &open->stateid);
}

static void
step_close(struct model_client *client, uint32_t owner, uint32_t file)
{
	struct model_open *open = &client->opens[owner][file];
	struct rr_nfs4_state *state = find(client, &open->stateid, file, RR_NFS4_OPEN);
	stateid4 closed = open->stateid;

	rr_nfs4_state_end(state);
	memset(open, 0, sizeof(*open));
	model_check(rr_nfs4_test_stateid(&world.tables, client->client, &closed) == NFS4ERR_BAD_STATEID,
		"a stateid that was closed");
}

static bool
model_hits(const struct model_open *open, uint32_t lock_owner, uint32_t first, uint32_t last, bool write)
{
	for (uint32_t i = first; i <= last; i++) {
		if (open->locks[lock_owner][i] == 2 || (write && open->locks[lock_owner][i] == 1))
			return true;
	}
	return false;
}

/* Whether another lock-owner has a lock that conflicts. When only courtesy clients have such locks, they are
 * ended, and the result is false. A lock-owner is the same in all opens of the file that its client has. */
static bool
model_locked(const struct model_client *own, uint32_t lock_owner, uint32_t file, uint32_t first,
	uint32_t last, bool write)
{
	bool courtesies[CLIENTS] = { false };

	for (int i = 0; i < CLIENTS * OWNERS * OWNERS; i++) {
		struct model_client *client = &world.clients[i / (OWNERS * OWNERS)];
		uint32_t l = (uint32_t)i % OWNERS;

		if ((client == own && l == lock_owner) ||
			!model_hits(&client->opens[i / OWNERS % OWNERS][file], l, first, last, write))
			continue;
		if (!client->courtesy)
			return true;
		courtesies[i / (OWNERS * OWNERS)] = true;
	}
	for (int c = 0; c < CLIENTS; c++) {
		if (courtesies[c])
			client_forget(&world.clients[c]);
	}
	return false;
}

/* Returns the open that the lock state of a lock-owner belongs to: the open that the state was made for. */
static struct model_open *
lock_place(struct model_client *client, uint32_t lock_owner, uint32_t owner, uint32_t file)
{
	for (int o = 0; o < OWNERS; o++) {
		if (client->opens[o][file].has_lock[lock_owner])
			return &client->opens[o][file];
	}
	return &client->opens[owner][file];
}

static void
step_lock(struct model_client *client, uint32_t owner, uint32_t file)
{
	uint32_t lock_owner = roll(OWNERS), first = roll(PLACES), last = first + roll(PLACES - first),
		 what = roll(3);
	struct model_open *place = lock_place(client, lock_owner, owner, file);
	struct rr_span span = { first, last };
	struct rr_vfs_id id = file_id(file);
	struct rr_locks_holder conflict;
	struct rr_nfs4_state *state;
	bool locked;

	if (what > 0) {
		locked = model_locked(client, lock_owner, file, first, last, what == 2);
		model_check(rr_nfs4_lock_conflict(&world.tables, client->client, &id, owner_bytes(lock_owner),
				    span, what == 2, &conflict) == (locked ? NFS4ERR_DENIED : NFS4_OK),
			"a conflict of locks");
		if (locked)
			return;
	}
	state = rr_nfs4_lock_state(&world.tables,
		find(client, &client->opens[owner][file].stateid, file, RR_NFS4_OPEN),
		owner_bytes(lock_owner));
	model_check(state != NULL, "a lock state");
	model_check(
		(what == 0 ? rr_nfs4_unlock(state, span) : rr_nfs4_lock(state, span, what == 2)) == NFS4_OK,
		"LOCK");
	memset(place->locks[lock_owner] + first, (int)what, last - first + 1);
	place->has_lock[lock_owner] = true;
	rr_nfs4_stateid_next(state, &place->lock_stateids[lock_owner]);
}

/* Lets time pass. A client whose lease is over becomes a courtesy client when it has state, and is forgotten
 * when it has not. */
static void
step_time(void)
{
	world.now += roll(4) * LEASE / 3;
	rr_nfs4_clients_expire(&world.tables.clients, world.now);
	for (int c = 0; c < CLIENTS; c++) {
		struct model_client *client = &world.clients[c];

		if (client->ended || world.now - client->renewed < LEASE)
			continue;
		if (client_has_state(client))
			client->courtesy = true;
		else
			client_forget(client);
	}
}

static void
look_at_locks(const struct model_client *client, const struct model_open *open, uint32_t file)
{
	for (int l = 0; l < OWNERS; l++) {
		struct rr_nfs4_state *state;

		if (!open->has_lock[l])
			continue;
		state = find(client, &open->lock_stateids[l], file, RR_NFS4_LOCK);
		for (uint32_t i = 0; i < PLACES; i++) {
			char there = 0;

			for (const struct rr_range *range = rr_range_from(&state->ranges, 0); range;
				range = rr_range_next(range)) {
				if (range->span.first <= i && i <= range->span.last)
					there = range->write ? 2 : 1;
			}
			model_check(there == open->locks[l][i], "an octet of a lock");
		}
	}
}

static void
look(void)
{
	uint32_t states = 0, opens = 0;

	for (int c = 0; c < CLIENTS; c++) {
		struct model_client *client = &world.clients[c];

		model_check((rr_nfs4_client_find(&world.tables.clients, client->id) == NULL) == client->ended,
			"the life of a client");
		for (int o = 0; o < OWNERS && !client->ended; o++) {
			for (uint32_t f = 0; f < FILES; f++) {
				const struct model_open *open = &client->opens[o][f];

				if (!open->there)
					continue;
				find(client, &open->stateid, f, RR_NFS4_OPEN);
				look_at_locks(client, open, f);
				states += 1 + open->has_lock[0] + open->has_lock[1];
				opens++;
			}
		}
	}
	model_check(states == world.tables.count, "the number of states");
	model_check(opens == world.tables.opens, "the number of opens");
}

static void
step(void)
{
	uint32_t number = roll(CLIENTS), owner = roll(OWNERS), file = roll(FILES), what = roll(40);
	struct model_client *client = &world.clients[number];

	if (what == 0) {
		step_time();
		return;
	}
	if (client->ended || what == 1) {
		step_start(number);
		return;
	}
	step_renew(client);
	if (what < 14)
		step_open(client, owner, file);
	else if (!client->opens[owner][file].there)
		return;
	else if (what < 18)
		step_close(client, owner, file);
	else if (what < 22)
		step_downgrade(client, owner, file);
	else
		step_lock(client, owner, file);
}

int
main(int argc, char **argv)
{
	unsigned long steps = 20000;
	int next = 1;

	if (argc > 2 && strcmp(argv[1], "-n") == 0) {
		steps = strtoul(argv[2], NULL, 10);
		next = 3;
	}
	world.seed = next < argc ? strtoul(argv[next], NULL, 10) : 1;
	world.random = world.seed;
	world.now = 1000 * LEASE;
	if (rr_nfs4_tables_init(&world.tables, &rr_env_system, &rr_nfs4_tables_config_default) < 0)
		return 1;
	for (int c = 0; c < CLIENTS; c++)
		world.clients[c].ended = true;
	for (world.step = 0; world.step < steps; world.step++) {
		step();
		if (world.step % LOOK_EVERY == 0)
			look();
	}
	rr_nfs4_tables_end(&world.tables);
	model_check(world.tables.count == 0 && world.tables.ranges == 0 && world.tables.files.count == 0,
		"the end");
	rr_nfs4_tables_free(&world.tables);
	return 0;
}
