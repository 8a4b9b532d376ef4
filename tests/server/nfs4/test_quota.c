/* SPDX-License-Identifier: BSD-3-Clause */
/* The clients of one address or of one connection cannot take what clients elsewhere need
 * (src/server/nfs4/tables/origin.h). */
#include "../../test.h"

#include "../../chain.h"

#include <stdio.h>
#include <string.h>

#include "server/nfs4/tables/deleg.h"
#include "server/nfs4/tables/lock.h"
#include "server/nfs4/tables/share.h"
#include "server/nfs4/tables/tables.h"

enum {
	CLIENTS = 64,
	CONNECTIONS = CLIENTS,
	GREEDY = 40,
	STATES = 4096,
	RANGES = 4096,
	SESSIONS = 256,
	LEAST = STATES / 2 / CLIENTS
};

static const struct rr_nfs4_tables_config config = {
	.lease = 90 * RR_SECOND,
	.clients = CLIENTS,
	.sessions = SESSIONS,
	.states = STATES,
	.ranges = RANGES,
	.delegations = 2 * CLIENTS,
	.owners = 32 * CLIENTS,
	.replies = (4 << 20) + (4 << 17), /* with the slots themselves */
};

/* The bounds in a process that may have few descriptors: far below the default of 4096 clients. */
enum { FEW_CLIENTS = 64 };

static const struct rr_nfs4_tables_config few = {
	.lease = 90 * RR_SECOND,
	.clients = 4096,
	.sessions = 2 * FEW_CLIENTS,
	.states = 8 * FEW_CLIENTS,
	.ranges = 8 * FEW_CLIENTS,
	.delegations = 2 * FEW_CLIENTS,
	.owners = 32 * FEW_CLIENTS,
	.replies = (4 << 20) + (4 << 17), /* with the slots themselves */
};

static const struct rr_vfs_id file = { { 1, 2 }, 3, 4 };
static const struct rr_vfs_handle handle = { 4, "file" };

struct world {
	struct rr_nfs4_tables tables;
	/* conns and same are connections from one address, other is from another address. The clients of same
	 * and other must be served. */
	struct rr_nfs4_conn conns[CONNECTIONS], same, other;
	uint32_t names;
	CREATE_SESSION4res created;
};

static void
conn_begin(struct world *world, struct rr_nfs4_conn *conn, const char *peer)
{
	rr_nfs4_conn_init(conn);
	assert_true(rr_nfs4_origin_join(&world->tables.clients.addresses, &conn->origin, peer));
}

static int
setup_with(void **state, const struct rr_nfs4_tables_config *bounds)
{
	struct world *world = rr_alloc(&rr_env_system, sizeof(*world));

	assert_int_equal(rr_nfs4_tables_init(&world->tables, &rr_env_system, bounds), 0);
	for (int i = 0; i < CONNECTIONS; i++)
		conn_begin(world, &world->conns[i], "192.0.2.1:700");
	conn_begin(world, &world->same, "192.0.2.1:701");
	conn_begin(world, &world->other, "192.0.2.2:700");
	*state = world;
	return 0;
}

static int
setup(void **state)
{
	return setup_with(state, &config);
}

static int
setup_few(void **state)
{
	return setup_with(state, &few);
}

static int
teardown(void **state)
{
	struct world *world = *state;

	for (int i = 0; i < CONNECTIONS; i++)
		rr_nfs4_conn_end(&world->conns[i]);
	rr_nfs4_conn_end(&world->same);
	rr_nfs4_conn_end(&world->other);
	rr_nfs4_tables_end(&world->tables);
	assert_int_equal(world->tables.count, 0);
	assert_int_equal(world->tables.clients.addresses.by_name.count, 0);
	rr_nfs4_tables_free(&world->tables);
	rr_free(&rr_env_system, world);
	return 0;
}

/* The caller of all calls. */
static const struct rr_caller maker = { .flavor = RR_AUTH_SYS, .named = true };

/* Makes a new client on that connection. NULL: the answer was NFS4ERR_DELAY. */
static struct rr_nfs4_client *
exchange(struct world *world, struct rr_nfs4_conn *conn)
{
	char name[16];
	client_owner4 owner = { .co_ownerid = { name,
					(uint32_t)snprintf(name, sizeof(name), "%u", ++world->names) } };
	const struct rr_nfs4_exchange exchange = { &owner, &maker, false, &conn->origin };
	struct rr_nfs4_client *made;
	nfsstat4 status = rr_nfs4_exchange_id(&world->tables.clients, &exchange, 0, &made);

	if (status != NFS4_OK)
		assert_int_equal(status, NFS4ERR_DELAY);
	return status == NFS4_OK ? made : NULL;
}

/* Makes a session with that many slots, and returns the number of slots that the session got. 0:
 * CREATE_SESSION failed. */
static uint32_t
create_session(struct world *world, struct rr_nfs4_client *client, struct rr_nfs4_conn *conn, uint32_t slots)
{
	const channel_attrs4 wanted = { .ca_maxrequestsize = 8192,
		.ca_maxresponsesize = 8192,
		.ca_maxresponsesize_cached = 4096,
		.ca_maxoperations = 16,
		.ca_maxrequests = slots };
	const CREATE_SESSION4args args = { .csa_clientid = rr_nfs4_client_id(client),
		.csa_sequence = client->sequence + 1,
		.csa_fore_chan_attrs = wanted,
		.csa_back_chan_attrs = wanted };
	const struct rr_nfs4_create create = { &args, &maker, { 1 << 20, 1 << 20, 4096, 128, 64, 4096 },
		conn };

	memset(&world->created, 0, sizeof(world->created));
	rr_nfs4_create_session(&world->tables.sessions, &world->tables.clients, &create, &world->created);
	return world->created.csr_status == NFS4_OK
		       ? world->created.u.csr_resok4.csr_fore_chan_attrs.ca_maxrequests
		       : 0;
}

/* Opens the file for a client, under a new owner of that length. NULL: the OPEN was refused. */
static struct rr_nfs4_state *
open_as(struct world *world, struct rr_nfs4_client *client, uint32_t length)
{
	char owner[NFS4_OPAQUE_LIMIT + 1];
	const struct rr_nfs4_share share = { &file, &handle, { owner, length }, OPEN4_SHARE_ACCESS_BOTH,
		OPEN4_SHARE_DENY_NONE };
	struct rr_nfs4_reserved reserved;

	snprintf(owner, sizeof(owner), "%0*u", (int)length, ++world->names);
	if (rr_nfs4_share(&world->tables, client, &share, &reserved) != NFS4_OK)
		return NULL;
	rr_nfs4_state_release(reserved.state);
	return reserved.state;
}

static struct rr_nfs4_state *
open_file(struct world *world, struct rr_nfs4_client *client)
{
	return open_as(world, client, 8);
}

/* Checks that a client on that connection can make a session, open a file, and lock ranges of it. */
static void
assert_is_served(struct world *world, struct rr_nfs4_conn *conn)
{
	struct rr_nfs4_client *client = exchange(world, conn);
	struct rr_nfs4_state *open, *locks;

	assert_non_null(client);
	assert_true(create_session(world, client, conn, 64) >= 8);
	for (int i = 0; i < LEAST - 1; i++) {
		open = open_file(world, client);
		assert_non_null(open);
	}
	locks = rr_nfs4_lock_state(&world->tables, open, (struct rpcrdma_bytes){ "o", 1 });
	assert_non_null(locks);
	for (uint32_t i = 0; i < RANGES / 2 / CLIENTS / 2; i++)
		assert_int_equal(rr_nfs4_lock(locks, (struct rr_span){ i * 20, i * 20 + 9 }, true), NFS4_OK);
}

/* Checks that a client at another address is served, and a client at the address of those that take what they
 * can. */
static void
assert_others_are_served(struct world *world)
{
	assert_is_served(world, &world->same);
	assert_is_served(world, &world->other);
}

static void
clients_that_are_not_confirmed_keep_nobody_out(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_client *client = exchange(world, &world->same);
	clientid4 id = rr_nfs4_client_id(client);

	for (int i = 0; i < 100 * CLIENTS; i++)
		assert_non_null(exchange(world, &world->conns[i % GREEDY]));
	for (int i = 0; i < 10 * CLIENTS; i++) { /* each on a connection of its own */
		rr_nfs4_conn_end(&world->conns[0]);
		conn_begin(world, &world->conns[0], "192.0.2.1:702");
		assert_non_null(exchange(world, &world->conns[0]));
	}
	/* The many new clients have not pushed out the client that another connection was about to
	 * confirm. */
	assert_ptr_equal(rr_nfs4_client_find(&world->tables.clients, id), client);
	assert_others_are_served(world);
}

/* Each client has a session and an open file, so that the server cannot forget a client without harm. */
static void
clients_that_hold_something_keep_nobody_out(void **state)
{
	struct world *world = *state;

	for (int i = 0; i < 10 * CLIENTS; i++) {
		struct rr_nfs4_conn *conn = &world->conns[i % 3];
		struct rr_nfs4_client *client = exchange(world, conn);

		if (!client)
			continue;
		create_session(world, client, conn, 64);
		open_file(world, client);
	}
	assert_int_equal(world->tables.clients.count, CLIENTS);
	assert_others_are_served(world);
}

/* The connections end as soon as their clients have been made. */
static void
clients_without_connection_keep_nobody_out(void **state)
{
	struct world *world = *state;

	for (int i = 0; i < 10 * CLIENTS; i++) {
		struct rr_nfs4_conn *conn = &world->conns[0];
		struct rr_nfs4_client *client = exchange(world, conn);

		if (client) {
			create_session(world, client, conn, 64);
			open_file(world, client);
		}
		rr_nfs4_conn_end(conn);
		conn_begin(world, conn, "192.0.2.1:702");
	}
	assert_others_are_served(world);
}

/* A client with an open file is not ended for new clients, when its connection has made no other client. */
static void
a_client_that_is_alone_on_its_connection_stays(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_client *client = exchange(world, &world->same);
	clientid4 id = rr_nfs4_client_id(client);

	rr_nfs4_client_confirm(client, 0);
	open_file(world, client);
	for (int i = 0; i < 10 * CLIENTS; i++) {
		struct rr_nfs4_client *made = exchange(world, &world->conns[i % CONNECTIONS]);

		if (made) {
			rr_nfs4_client_confirm(made, 0);
			open_file(world, made);
		}
	}
	assert_ptr_equal(rr_nfs4_client_find(&world->tables.clients, id), client);
}

/* The quota of states bounds the memory of their owners, too, whose names have up to 1024 octets: with such
 * names there are a fifth of the opens. */
static void
long_owners_count_for_more(void **state)
{
	struct world *world = *state;
	uint32_t opens[2] = { 0, 0 };

	for (int i = 0; i < 2; i++) {
		struct rr_nfs4_client *client = exchange(world, &world->conns[i]);

		rr_nfs4_client_confirm(client, 0);
		while (open_as(world, client, i == 0 ? 8 : NFS4_OPAQUE_LIMIT))
			opens[i]++;
		rr_nfs4_client_end(client);
		while (rr_nfs4_go_on(&world->tables, UINT32_MAX))
			continue;
	}
	assert_int_equal(opens[1], opens[0] / 5);
}

static void
opens_of_an_address_leave_some_to_others(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_client *last = NULL;

	for (int i = 0; i < CLIENTS / 2; i++) {
		struct rr_nfs4_client *client = exchange(world, &world->conns[i]);

		rr_nfs4_client_confirm(client, 0);
		for (int opens = 0; opens < STATES && open_file(world, client); opens++)
			;
		last = client;
	}
	assert_int_equal(last->state_count, LEAST);
	assert_others_are_served(world);
	/* Another address may make more opens than that, because the first one has left a quarter of the
	 * rest. */
	last = exchange(world, &world->other);
	rr_nfs4_client_confirm(last, 0);
	for (uint32_t i = 0; i < STATES && open_file(world, last); i++)
		;
	assert_true(last->state_count >= LEAST + STATES / 2 / 16);
}

static void
ranges_of_an_address_leave_some_to_others(void **state)
{
	struct world *world = *state;

	for (int i = 0; i < CLIENTS / 2; i++) {
		struct rr_nfs4_client *client = exchange(world, &world->conns[i]);
		struct rr_nfs4_state *locks;
		uint64_t at = 0;

		rr_nfs4_client_confirm(client, 0);
		locks = rr_nfs4_lock_state(
			&world->tables, open_file(world, client), (struct rpcrdma_bytes){ "o", 1 });
		while (rr_nfs4_lock(locks, (struct rr_span){ at, at }, false) == NFS4_OK && at < 2 * RANGES)
			at += 2;
	}
	assert_true(world->tables.ranges < RANGES);
	assert_others_are_served(world);
}

/* Unlocking the middle of a range makes two ranges of it, and fails when there are too many ranges. */
static void
unlocking_is_bounded_too(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_client *client = exchange(world, &world->other);
	const struct rr_span all = { 0, UINT64_MAX };
	struct rr_nfs4_state *locks;
	uint64_t at = 1;

	rr_nfs4_client_confirm(client, 0);
	locks = rr_nfs4_lock_state(
		&world->tables, open_file(world, client), (struct rpcrdma_bytes){ "o", 1 });
	assert_int_equal(rr_nfs4_lock(locks, all, true), NFS4_OK);
	while (at < 3 * RANGES && rr_nfs4_unlock(locks, (struct rr_span){ at, at }) == NFS4_OK)
		at += 2;
	assert_true(world->tables.ranges <= RANGES);
	assert_true(at < 3 * RANGES);
	/* An unlock that makes no new range always succeeds. */
	assert_int_equal(rr_nfs4_unlock(locks, all), NFS4_OK);
	assert_int_equal(world->tables.ranges, 0);
}

/* Locks every other octet for the lock-owner, to read, until the server refuses. Returns the lock state. */
static struct rr_nfs4_state *
lock_much(struct world *world, struct rr_nfs4_state *open, const char *owner)
{
	struct rr_nfs4_state *locks =
		rr_nfs4_lock_state(&world->tables, open, (struct rpcrdma_bytes){ owner, 1 });
	uint64_t at = 0;

	assert_non_null(locks);
	while (at < 4 * RR_NFS4_OWNER_RANGES &&
		rr_nfs4_lock(locks, (struct rr_span){ at, at }, false) == NFS4_OK)
		at += 2;
	return locks;
}

/* A lock or unlock may end all ranges of its owner, so their number has a bound, whatever the quota of the
 * client is. RFC 8881, 15.2: NFS4ERR_SERVERFAULT is an error of LOCK; NFS4ERR_NOSPC is not. The ranges of
 * others do not count: nobody can keep others from locking a file. */
static void
ranges_of_an_owner_are_bounded(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_client *client = exchange(world, &world->other);
	const struct rr_span all = { 0, UINT64_MAX };
	struct rr_nfs4_state *open, *first;

	rr_nfs4_client_confirm(client, 0);
	world->tables.ranges_quota.free = UINT32_C(1) << 24;
	open = open_file(world, client);
	first = lock_much(world, open, "1");
	for (const char *owner = "2345"; *owner; owner++)
		assert_in_range(lock_much(world, open, owner)->ranges.count, RR_NFS4_OWNER_RANGES - 2,
			RR_NFS4_OWNER_RANGES);
	assert_int_equal(
		rr_nfs4_lock(first, (struct rr_span){ 1 << 20, 1 << 20 }, true), NFS4ERR_SERVERFAULT);
	/* What an owner unlocks, it may lock again; and at its end its ranges go from the file. */
	assert_int_equal(rr_nfs4_unlock(first, (struct rr_span){ 0, 8 }), NFS4_OK);
	assert_int_equal(rr_nfs4_lock(first, (struct rr_span){ 1 << 20, 1 << 20 }, true), NFS4_OK);
	assert_int_equal(open->file->locks->locked.count, world->tables.ranges);
	rr_nfs4_state_end(first);
	assert_int_equal(open->file->locks->locked.count, world->tables.ranges);
	assert_int_equal(rr_nfs4_lock(lock_much(world, open, "2"), all, false), NFS4ERR_SERVERFAULT);
}

static void
sessions_of_an_address_leave_some_to_others(void **state)
{
	struct world *world = *state;

	for (int i = 0; i < CLIENTS / 2; i++) {
		struct rr_nfs4_conn *conn = &world->conns[i];
		struct rr_nfs4_client *client = exchange(world, conn);

		for (int sessions = 0; sessions < SESSIONS; sessions++)
			create_session(world, client, conn, 64);
	}
	assert_others_are_served(world);
}

/* Opens the file under a new owner, and locks a range under a new lock-owner. False: the server refused. */
static bool
open_and_lock(struct world *world, struct rr_nfs4_client *client)
{
	struct rr_nfs4_state *open = open_file(world, client), *locks;

	locks = open ? rr_nfs4_lock_state(&world->tables, open, (struct rpcrdma_bytes){ "o", 1 }) : NULL;
	return locks && rr_nfs4_lock(locks, (struct rr_span){ 0, 9 }, false) == NFS4_OK;
}

/* Gives the client a delegation of a new file. False: the server gave none. */
static bool
delegate(struct world *world, struct rr_nfs4_client *client)
{
	const struct rr_vfs_id other = { { 1, 2 }, 100 + ++world->names, 4 };
	struct rr_nfs4_state *state = rr_nfs4_deleg_reclaim(&world->tables, client, &other, &handle);

	if (state)
		rr_nfs4_state_release(state);
	return state != NULL;
}

/* Forty connections have a client each, which takes as much of everything as it can get. Afterwards honest
 * clients of the same address are served. */
static void
what_is_left_is_enough_for_many_clients_of_the_same_address(void **state)
{
	struct world *world = *state;

	for (int i = 0; i < GREEDY; i++) {
		struct rr_nfs4_client *client = exchange(world, &world->conns[i]);

		while (create_session(world, client, &world->conns[i], 64) > 0)
			;
		while (delegate(world, client))
			;
		while (open_and_lock(world, client))
			;
	}
	for (int i = 0; i < FEW_CLIENTS - GREEDY; i++) {
		struct rr_nfs4_client *client = exchange(world, &world->same);

		assert_non_null(client);
		assert_int_equal(create_session(world, client, &world->same, 8), 8);
		assert_true(delegate(world, client));
		assert_true(open_and_lock(world, client));
		assert_true(open_and_lock(world, client));
	}
	assert_int_equal(world->tables.clients.count, FEW_CLIENTS);
}

/* The server gives delegations unasked, so they do not count against the opens of a client. */
static void
delegations_take_no_opens(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_client *client = exchange(world, &world->other);
	uint64_t before = world->tables.states_quota.free;

	rr_nfs4_client_confirm(client, 0);
	for (int i = 0; i < 8; i++)
		assert_true(delegate(world, client));
	assert_int_equal(client->holding.held[RR_NFS4_DELEGATIONS], 8);
	assert_int_equal(client->holding.held[RR_NFS4_STATES], 0);
	assert_int_equal(world->tables.states_quota.free, before);
	while (!rr_list_empty(&client->states)) {
		struct rr_nfs4_state *given =
			rr_container(client->states.next, struct rr_nfs4_state, of_client);

		/* A revoked delegation counts until the client has freed it. */
		rr_nfs4_state_revoke(given, RR_NFS4_RECALL_REVOKED);
		assert_int_equal(client->holding.held[RR_NFS4_DELEGATIONS], client->state_count);
		rr_nfs4_state_end(given);
	}
	assert_int_equal(client->holding.held[RR_NFS4_DELEGATIONS], 0);
}

/* Each connection, and each client, has its address found. */
static void
an_address_is_found_without_a_search(void **state)
{
	enum { ADDRESSES = 4096, LONGEST = 24 };
	struct world *world = *state;
	struct rr_nfs4_addresses *addresses = &world->tables.clients.addresses;
	struct rr_nfs4_conn *conns = rr_alloc_array(&rr_env_system, ADDRESSES, sizeof(*conns));
	uint32_t before = addresses->by_name.count;
	char peer[32];

	assert_non_null(conns);
	for (uint32_t i = 0; i < ADDRESSES; i++) {
		snprintf(peer, sizeof(peer), "198.18.%u.%u:700", i / 256, i % 256);
		conn_begin(world, &conns[i], peer);
	}
	assert_int_equal(addresses->by_name.count, before + ADDRESSES);
	assert_in_range(longest_chain(&addresses->by_name), 1, LONGEST);
	for (uint32_t i = 0; i < ADDRESSES; i++)
		rr_nfs4_conn_end(&conns[i]);
	rr_free(&rr_env_system, conns);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(clients_that_are_not_confirmed_keep_nobody_out),
		TEST(clients_that_hold_something_keep_nobody_out),
		TEST(long_owners_count_for_more),
		TEST(clients_without_connection_keep_nobody_out),
		TEST(a_client_that_is_alone_on_its_connection_stays),
		TEST(opens_of_an_address_leave_some_to_others),
		TEST(ranges_of_an_address_leave_some_to_others),
		TEST(unlocking_is_bounded_too),
		TEST(ranges_of_an_owner_are_bounded),
		TEST(sessions_of_an_address_leave_some_to_others),
		TEST(delegations_take_no_opens),
		TEST(an_address_is_found_without_a_search),
		cmocka_unit_test_setup_teardown(
			what_is_left_is_enough_for_many_clients_of_the_same_address, setup_few, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
