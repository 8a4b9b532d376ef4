/* SPDX-License-Identifier: BSD-3-Clause */
/* The work of an operation does not grow with what clients have made. */
#include "../../test.h"

#include <stdio.h>
#include <string.h>

#include "server/nfs4/tables/deleg.h"
#include "server/nfs4/tables/lock.h"
#include "server/nfs4/tables/share.h"
#include "server/nfs4/tables/tables.h"

enum { R = OPEN4_SHARE_ACCESS_READ, W = OPEN4_SHARE_ACCESS_WRITE };

struct world {
	struct rr_nfs4_tables tables;
	uint32_t names;
};

static const struct rr_vfs_id file = { { 1, 2 }, 3, 4 };
static const struct rr_vfs_handle handle = { 4, "file" };

static int
setup(void **state)
{
	struct world *world = rr_alloc(&rr_env_system, sizeof(*world));

	assert_int_equal(
		rr_nfs4_tables_init(&world->tables, &rr_env_system, &rr_nfs4_tables_config_default), 0);
	*state = world;
	return 0;
}

static void
free_unused(struct world *world)
{
	struct rr_nfs4_opened *opened;

	while ((opened = rr_nfs4_opened_unused(&world->tables)))
		rr_free(&rr_env_system, opened);
}

/* Clients that wait for locks, and the waits of each: as many as there can be. Their sessions have
 * backchannels that seem to work. */
enum { WAITERS = 64, WAITS = 64 };
static struct rr_nfs4_session sessions[WAITERS];

static void
lose_sessions(void)
{
	for (int i = 0; i < WAITERS && sessions[i].of_client.next; i++)
		rr_list_remove(&sessions[i].of_client);
}

static int
teardown(void **state)
{
	struct world *world = *state;

	lose_sessions();
	rr_nfs4_tables_end(&world->tables);
	free_unused(world);
	assert_int_equal(world->tables.count, 0);
	assert_int_equal(world->tables.opens, 0);
	assert_int_equal(world->tables.ranges, 0);
	assert_int_equal(world->tables.delegations, 0);
	assert_int_equal(world->tables.files.count, 0);
	assert_int_equal(world->tables.waits.count, 0);
	assert_int_equal(world->tables.wait_count, 0);
	rr_nfs4_tables_free(&world->tables);
	rr_free(&rr_env_system, world);
	return 0;
}

/* Makes a client whose lease begins at `now`. */
static struct rr_nfs4_client *
client(struct world *world, uint64_t now)
{
	char name[16];
	client_owner4 owner = { .co_ownerid = { name,
					(uint32_t)snprintf(name, sizeof(name), "%u", ++world->names) } };
	static const struct rr_caller maker = { .flavor = RR_AUTH_SYS, .named = true };
	const struct rr_nfs4_exchange exchange = { &owner, &maker, false };
	struct rr_nfs4_client *made;

	assert_int_equal(rr_nfs4_exchange_id(&world->tables.clients, &exchange, now, &made), NFS4_OK);
	rr_nfs4_client_confirm(made, now);
	return made;
}

/* Has an owner of the client open the file. The owner's name is a number. */
static nfsstat4
open_file(struct world *world, struct rr_nfs4_client *who, uint32_t owner, uint32_t access, uint32_t deny,
	struct rr_nfs4_state **made)
{
	const struct rr_nfs4_share share = { &file, &handle, { &owner, sizeof(owner) }, access, deny };
	struct rr_nfs4_reserved reserved;
	stateid4 stateid;
	nfsstat4 status = rr_nfs4_share(&world->tables, who, &share, &reserved);

	if (status != NFS4_OK)
		return status;
	rr_nfs4_stateid_next(reserved.state, &stateid);
	rr_nfs4_state_release(reserved.state);
	*made = reserved.state;
	return NFS4_OK;
}

static struct rr_nfs4_state *
lock_state(struct world *world, struct rr_nfs4_state *open, uint32_t owner)
{
	struct rr_nfs4_state *state =
		rr_nfs4_lock_state(&world->tables, open, (struct rpcrdma_bytes){ &owner, sizeof(owner) });

	assert_non_null(state);
	return state;
}

/* Whether an owner of the client, which has no locks, may lock the whole file to write. */
static nfsstat4
may_lock(struct world *world, const struct rr_nfs4_client *who)
{
	const struct rr_span all = { 0, UINT64_MAX };
	struct rr_locks_holder conflict;

	return rr_nfs4_lock_conflict(
		&world->tables, who, &file, (struct rpcrdma_bytes){ "x", 1 }, all, true, &conflict);
}

/* Client A has `count` locked ranges or opens that deny writing, and loses its lease. Client B has one more
 * of its own, which comes later in a search. Returns whether A is there after a client has met with them. */
static bool
courtesy_stays(struct world *world, uint32_t count, bool locks)
{
	struct rr_nfs4_client *a = client(world, 0), *b;
	clientid4 id = rr_nfs4_client_id(a);
	const uint64_t later = world->tables.clients.lease;
	struct rr_nfs4_state *open, *lock;

	b = client(world, later - 1);
	if (!locks)
		assert_int_equal(open_file(world, b, 0, R, W, &open), NFS4_OK);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(open_file(world, a, i, R, locks ? 0 : W, &open), NFS4_OK);
		if (!locks)
			continue;
		lock = lock_state(world, open, i);
		assert_int_equal(rr_nfs4_lock(lock, (struct rr_span){ 2 * i, 2 * i }, false), NFS4_OK);
	}
	if (locks) {
		assert_int_equal(open_file(world, b, 0, R, 0, &open), NFS4_OK);
		lock = lock_state(world, open, 0);
		assert_int_equal(rr_nfs4_lock(lock, (struct rr_span){ 9000, 9000 }, false), NFS4_OK);
	}
	rr_nfs4_clients_expire(&world->tables.clients, later);
	assert_int_equal(a->phase, RR_NFS4_COURTESY);
	if (locks)
		assert_int_equal(may_lock(world, client(world, later)), NFS4ERR_DENIED);
	else
		assert_int_equal(
			open_file(world, client(world, later), 0, W, 0, &open), NFS4ERR_SHARE_DENIED);
	return rr_nfs4_client_find(&world->tables.clients, id) != NULL;
}

/* A courtesy client stays if another client, too, is in the way; but for that, only so many of its opens or
 * ranges are looked at. */
static void
few_opens_in_the_way_are_looked_at(void **state)
{
	assert_true(courtesy_stays(*state, 31, false));
}

static void
no_more_opens_in_the_way_are_looked_at(void **state)
{
	assert_false(courtesy_stays(*state, 32, false));
}

static void
few_ranges_in_the_way_are_looked_at(void **state)
{
	assert_true(courtesy_stays(*state, 31, true));
}

static void
no_more_ranges_in_the_way_are_looked_at(void **state)
{
	assert_false(courtesy_stays(*state, 32, true));
}

/* An operation that conflicts with very many delegations has a part of them recalled each time that it comes,
 * and waits until all are returned. */
static void
delegations_are_recalled_in_parts(void **state)
{
	enum { COUNT = 600, PART = 256 };
	struct world *world = *state;
	struct rr_nfs4_client *writer = client(world, 0);
	struct rr_nfs4_state *delegations[COUNT];
	uint32_t recalled = 0;
	stateid4 stateid;

	for (int i = 0; i < COUNT; i++) {
		delegations[i] = rr_nfs4_deleg_reclaim(&world->tables, client(world, 0), &file, &handle);
		assert_non_null(delegations[i]);
		rr_nfs4_stateid_next(delegations[i], &stateid);
	}
	assert_int_equal(world->tables.delegations, COUNT);
	for (uint32_t call = 1; call <= 4; call++) {
		assert_true(rr_nfs4_deleg_conflict(&world->tables, writer, &file, 1));
		recalled = 0;
		for (int i = 0; i < COUNT; i++)
			recalled += delegations[i]->recalled > 0;
		assert_int_equal(recalled, call * PART < COUNT ? call * PART : COUNT);
	}
	for (int i = 0; i < COUNT; i++) {
		assert_true(rr_nfs4_deleg_conflict(&world->tables, writer, &file, 1));
		rr_nfs4_state_end(delegations[i]);
		rr_nfs4_state_release(delegations[i]);
	}
	assert_false(rr_nfs4_deleg_conflict(&world->tables, writer, &file, 1));
}

/* The delegations that were not returned in time are revoked in parts, too. */
static void
delegations_are_revoked_in_parts(void **state)
{
	enum { COUNT = 600, PART = 256 };
	struct world *world = *state;
	const uint64_t late = 1 + world->tables.clients.lease;
	stateid4 stateid;

	for (int i = 0; i < COUNT; i++) {
		struct rr_nfs4_state *delegation =
			rr_nfs4_deleg_reclaim(&world->tables, client(world, 0), &file, &handle);

		rr_nfs4_stateid_next(delegation, &stateid);
		rr_nfs4_deleg_recall(delegation, 1);
		rr_nfs4_state_release(delegation);
	}
	rr_nfs4_delegs_look(&world->tables, late - 1);
	assert_int_equal(world->tables.delegations, COUNT);
	rr_nfs4_delegs_look(&world->tables, late);
	assert_int_equal(world->tables.delegations, COUNT - PART);
	rr_nfs4_delegs_look(&world->tables, late);
	rr_nfs4_delegs_look(&world->tables, late);
	assert_int_equal(world->tables.delegations, 0);
}

/* A client finds its open of a file that has lost its last name by the filehandle, however many opens it has,
 * of other files and of the same. */
static void
opens_are_found_by_their_filehandle_in_few_steps(void **state)
{
	/* LEVELS: 1.45 * log2(COUNT + 2). */
	enum { COUNT = 20000, LEVELS = 21, SAME = 5000 };
	struct world *world = *state;
	struct rr_nfs4_client *a = client(world, 0), *b = client(world, 0);
	struct rr_nfs4_state *open, *first = NULL;
	struct rr_vfs_handle wanted = { sizeof(uint32_t), { 0 } };

	for (uint32_t i = 0; i < COUNT; i++) {
		const struct rr_nfs4_share share = { &file, &wanted, { &i, sizeof(i) }, R, 0 };
		struct rr_nfs4_reserved reserved;
		uint32_t name = i < SAME ? 0 : i;

		memcpy(wanted.data, &name, sizeof(name));
		assert_int_equal(rr_nfs4_share(&world->tables, a, &share, &reserved), NFS4_OK);
		open = reserved.state;
		first = first ? first : open;
		rr_nfs4_state_release(open);
		assert_true(rr_nfs4_state_opened(
			open, (void *)world, &(struct rr_caller){ .flavor = RR_AUTH_SYS, .named = true }));
	}
	for (uint32_t name = 0; name < COUNT; name++) {
		bool is_there = name == 0 || name >= SAME;

		memcpy(wanted.data, &name, sizeof(name));
		a->opened.steps = 0;
		assert_int_equal(rr_nfs4_opened_of(a, &wanted) != NULL, is_there);
		assert_in_range(a->opened.steps, 1, LEVELS);
		assert_null(rr_nfs4_opened_of(b, &wanted));
	}
	/* Another open with the same filehandle is found when the first has ended. */
	memset(wanted.data, 0, sizeof(wanted.data));
	assert_ptr_equal(rr_nfs4_opened_of(a, &wanted), first->opened);
	rr_nfs4_state_end(first);
	assert_non_null(rr_nfs4_opened_of(a, &wanted));
	wanted.length--;
	assert_null(rr_nfs4_opened_of(a, &wanted));
}

/* Makes clients whose backchannels seem to work; each has many lock-owners that wait for the whole file, but
 * for the very last, which waits for the first octet. */
static void
many_wait(struct world *world)
{
	for (uint32_t i = 0; i < WAITERS; i++) {
		struct rr_nfs4_client *waiter = client(world, 0);
		struct rr_nfs4_state *open;

		sessions[i] = (struct rr_nfs4_session){ .back_count = 1, .back_works = true };
		rr_list_append(&waiter->sessions, &sessions[i].of_client);
		assert_int_equal(open_file(world, waiter, 0, R | W, 0, &open), NFS4_OK);
		for (uint32_t owner = 0; owner < WAITS; owner++) {
			struct rr_nfs4_state *lock = lock_state(world, open, owner);

			rr_nfs4_wait(lock, (struct rr_span){ 0, 0 }, true, false);
			/* The lock-owner that waits has one wait. */
			if (i < WAITERS - 1 || owner < WAITS - 1)
				rr_nfs4_wait(lock, (struct rr_span){ 0, UINT64_MAX }, true, false);
			rr_nfs4_state_end(lock);
		}
		rr_nfs4_wait(lock_state(world, open, WAITS), (struct rr_span){ 0, 9 }, true, false);
		assert_int_equal(waiter->wait_count, WAITS);
		rr_nfs4_state_end(open);
	}
	assert_int_equal(world->tables.waits.count, WAITERS * WAITS);
}

/* After an unlock, some of those who wait are looked at in each turn, until all were; they are called when
 * their ranges are free. RFC 8881, 20.11.4: "the client must still rely on polling": so they may be late. */
static void
those_who_wait_are_looked_at_in_parts(void **state)
{
	enum { PART = 16 };
	struct world *world = *state;
	struct rr_nfs4_state *open, *lock;
	uint32_t turns = 0;

	assert_int_equal(open_file(world, client(world, 0), 0, R | W, 0, &open), NFS4_OK);
	lock = lock_state(world, open, 0);
	for (uint64_t at = 0; at < 400; at += 2)
		assert_int_equal(rr_nfs4_lock(lock, (struct rr_span){ at, at }, false), NFS4_OK);
	many_wait(world);
	while (rr_nfs4_go_on(&world->tables, UINT32_MAX))
		continue;

	/* Other octets are still locked: each wait is looked at, once, and all but the last stay. */
	assert_int_equal(rr_nfs4_unlock(lock, (struct rr_span){ 0, 0 }), NFS4_OK);
	do {
		lock->file->locks->locked.tree.steps = 0;
		turns++;
	} while (rr_nfs4_go_on(&world->tables, PART));
	/* 11: 1.45 * log2(200 + 2), the levels of the tree of ranges. */
	assert_in_range(lock->file->locks->locked.tree.steps, 0, PART * 11);
	assert_in_range(turns, WAITERS * WAITS / PART, WAITERS * WAITS / PART + 1);
	assert_int_equal(world->tables.waits.count, WAITERS * WAITS - 1);

	/* All end their waits when the last lock goes, and with it all states of the file. */
	rr_nfs4_state_end(open);
	for (turns = 1; world->tables.waits.count > 0; turns++) {
		const uint32_t most = WAITERS * WAITS - 1 - turns * PART;

		assert_true(rr_nfs4_go_on(&world->tables, PART));
		assert_int_equal(world->tables.waits.count, turns < WAITERS * WAITS / PART ? most : 0);
	}
	lose_sessions();
}

static uint32_t
length(const struct rr_list *list)
{
	uint32_t count = 0;

	rr_list_for_each (link, list)
		count++;
	return count;
}

static void
send_never(struct rr_nfs4_callback *callback)
{
	(void)callback;
	fail();
}

/* Where very many callbacks wait for a slot, each event that may let callbacks go has a part of them looked
 * at, and the other parts follow in later turns. */
static void
callbacks_are_looked_at_in_parts(void **state)
{
	enum { LOOKS = 64, PART = 16, ALL = WAITERS * WAITS };
	struct world *world = *state;
	struct rr_nfs4_sessions *all = &world->tables.sessions;
	struct rr_nfs4_state *open;
	uint32_t turns = 0, before;

	/* The sessions have no slot. */
	all->send = send_never;
	assert_int_equal(open_file(world, client(world, 0), 0, R | W, 0, &open), NFS4_OK);
	assert_int_equal(rr_nfs4_lock(lock_state(world, open, 0), (struct rr_span){ 0, 9 }, true), NFS4_OK);
	many_wait(world);
	rr_nfs4_state_end(open);
	while (rr_nfs4_go_on(&world->tables, UINT32_MAX))
		continue;
	assert_int_equal(length(&all->looked_at), ALL);
	assert_int_equal(length(&all->callbacks), 0);

	rr_nfs4_callbacks_go(all, 0);
	assert_int_equal(length(&all->callbacks), ALL - LOOKS);
	for (bool is_left = true; is_left; turns++) {
		before = length(&all->callbacks);
		is_left = rr_nfs4_go_on(&world->tables, PART);
		assert_in_range(before - length(&all->callbacks), 0, PART);
	}
	assert_int_equal(turns, (ALL - LOOKS) / PART);
	assert_int_equal(length(&all->looked_at), ALL);
	lose_sessions();
}

/* The waits of a client end with it, and those of a lock-owner with its lock; the others stay. */
static void
waits_end_one_by_one(void **state)
{
	struct world *world = *state;
	struct rr_nfs4_client *waiter;
	uint32_t owner = 1;

	many_wait(world);
	waiter = rr_container(sessions[0].of_client.next, struct rr_nfs4_client, sessions);
	rr_nfs4_wait_end(&world->tables, waiter, &file, (struct rpcrdma_bytes){ &owner, sizeof(owner) });
	assert_int_equal(world->tables.waits.count, WAITERS * WAITS - 1);
	assert_int_equal(waiter->wait_count, WAITS - 1);
	rr_nfs4_wait_end(&world->tables, waiter, &file, (struct rpcrdma_bytes){ &owner, sizeof(owner) });
	assert_int_equal(world->tables.waits.count, WAITERS * WAITS - 1);
	lose_sessions();
	rr_nfs4_client_end(waiter);
	assert_int_equal(world->tables.waits.count, WAITERS * WAITS - WAITS);
	assert_int_equal(world->tables.wait_count, WAITERS * WAITS - WAITS);
}

/* Goes on with the work that is left over, so many steps at a time; in each, at most so many states and
 * ranges end. Returns the number of times. */
static uint32_t
go_on(struct world *world, uint32_t units)
{
	const struct rr_nfs4_tables *tables = &world->tables;
	uint32_t times = 0, before;
	bool is_left = true;

	for (; is_left; times++) {
		before = tables->count + tables->ranges;
		is_left = rr_nfs4_go_on(&world->tables, units);
		assert_in_range(before - (tables->count + tables->ranges), 0, units);
	}
	return times;
}

/* The most states and ranges that end at once. */
enum { AT_ONCE = 256 };

/* Has lock-owners of the open lock octets, `ranges` each, and stores the stateid of the last one. */
static void
lock_much(
	struct world *world, struct rr_nfs4_state *open, uint32_t owners, uint32_t ranges, stateid4 *stateid)
{
	uint64_t at = 0;

	for (uint32_t owner = 0; owner < owners; owner++) {
		struct rr_nfs4_state *lock = lock_state(world, open, owner);

		for (uint32_t i = 0; i < ranges; i++, at += 2)
			assert_int_equal(rr_nfs4_lock(lock, (struct rr_span){ at, at }, true), NFS4_OK);
		rr_nfs4_stateid_next(lock, stateid);
	}
}

/* A client with very many locked ranges ends at once, as far as its own stateids go, and a part in each turn
 * for all others. */
static void
a_client_with_very_many_ranges_ends_in_parts(void **state)
{
	enum { OWNERS = 3, RANGES = 2000, UNITS = 16 };
	struct world *world = *state;
	struct rr_nfs4_client *a = rr_nfs4_client_hold(client(world, 0)), *b = client(world, 0);
	const clientid4 id = rr_nfs4_client_id(a);
	struct rr_nfs4_state *open;
	stateid4 stateid;

	assert_int_equal(open_file(world, a, 0, R | W, 0, &open), NFS4_OK);
	lock_much(world, open, OWNERS, RANGES, &stateid);
	assert_int_equal(may_lock(world, b), NFS4ERR_DENIED);
	assert_int_equal(rr_nfs4_test_stateid(&world->tables, a, &stateid), NFS4_OK);
	rr_nfs4_client_end(a);
	assert_null(rr_nfs4_client_find(&world->tables.clients, id));
	assert_in_range(world->tables.ranges, OWNERS * RANGES - AT_ONCE, OWNERS * RANGES - 1);
	assert_int_equal(rr_nfs4_test_stateid(&world->tables, a, &stateid), NFS4ERR_BAD_STATEID);
	assert_int_equal(rr_nfs4_free_stateid(&world->tables, a, &stateid), NFS4ERR_BAD_STATEID);
	assert_int_equal(open_file(world, a, 0, R | W, 0, &open), NFS4ERR_DELAY);
	assert_int_equal(may_lock(world, b), NFS4ERR_DELAY);
	/* What it still holds counts for its address. */
	assert_int_equal(a->holding.held[RR_NFS4_RANGES], world->tables.ranges);
	assert_in_range(go_on(world, UNITS), (OWNERS * RANGES - AT_ONCE) / UNITS, OWNERS * RANGES / UNITS);
	assert_int_equal(world->tables.ranges, 0);
	assert_int_equal(may_lock(world, b), NFS4_OK);
	rr_nfs4_client_release(a);
}

/* RFC 8881, 18.2.3: CLOSE releases the share reservation of the open; with it, its lock states end. */
static void
an_open_with_very_many_lock_owners_ends_in_parts(void **state)
{
	enum { OWNERS = 1000, UNITS = 16 };
	struct world *world = *state;
	struct rr_nfs4_client *a = client(world, 0), *b = client(world, 0);
	const uint32_t last = OWNERS - 1;
	const struct rpcrdma_bytes owner = { &last, sizeof(last) };
	struct rr_nfs4_state *open, *again;
	stateid4 stateid;

	assert_int_equal(open_file(world, a, 0, R | W, W, &open), NFS4_OK);
	lock_much(world, open, OWNERS, 1, &stateid);
	rr_nfs4_state_end(open);
	assert_in_range(world->tables.ranges, OWNERS - AT_ONCE, OWNERS - 1);
	assert_int_equal(rr_nfs4_test_stateid(&world->tables, a, &stateid), NFS4ERR_BAD_STATEID);
	assert_int_equal(open_file(world, b, 0, R | W, 0, &open), NFS4_OK);
	assert_int_equal(may_lock(world, b), NFS4ERR_DELAY);
	/* The lock-owner that is about to end is not that of a new open, yet. */
	assert_int_equal(open_file(world, a, 1, R | W, 0, &again), NFS4_OK);
	assert_null(rr_nfs4_lock_state(&world->tables, again, owner));
	assert_in_range(go_on(world, UNITS), 2 * (OWNERS - AT_ONCE) / UNITS, 2 * OWNERS / UNITS);
	assert_int_equal(world->tables.count, 2);
	assert_non_null(rr_nfs4_lock_state(&world->tables, again, owner));
	assert_int_equal(may_lock(world, b), NFS4_OK);
	/* The client may end before the lock states of its open have. */
	lock_much(world, again, OWNERS, 1, &stateid);
	rr_nfs4_state_end(again);
	rr_nfs4_client_end(a);
	go_on(world, UNITS);
	assert_int_equal(world->tables.count, 1);
}

/* While the opens and the delegation of a client are about to end, operations that they conflict with get
 * NFS4ERR_DELAY. */
static void
a_client_with_very_many_opens_ends_in_parts(void **state)
{
	enum { COUNT = 1000, UNITS = 16 };
	struct world *world = *state;
	struct rr_nfs4_client *a = client(world, 0), *b;
	const uint64_t later = world->tables.clients.lease;
	struct rr_nfs4_state *open;
	stateid4 stateid;

	for (uint32_t i = 0; i < COUNT; i++)
		assert_int_equal(open_file(world, a, i, R, W, &open), NFS4_OK);
	open = rr_nfs4_deleg_reclaim(&world->tables, a, &file, &handle);
	rr_nfs4_stateid_next(open, &stateid);
	rr_nfs4_state_release(open);
	rr_nfs4_clients_expire(&world->tables.clients, later);
	b = client(world, later);
	/* A courtesy client ends, as its opens are in the way. */
	assert_int_equal(open_file(world, b, 0, W, 0, &open), NFS4ERR_DELAY);
	assert_int_equal(world->tables.count, 1 + COUNT - AT_ONCE);
	assert_true(rr_nfs4_deleg_conflict(&world->tables, b, &file, later));
	assert_true(rr_list_empty(&world->tables.sessions.callbacks));
	assert_true(rr_list_empty(&world->tables.sessions.looked_at));
	assert_in_range(go_on(world, UNITS), (COUNT - AT_ONCE) / UNITS, COUNT / UNITS);
	assert_int_equal(open_file(world, b, 0, W, 0, &open), NFS4_OK);
	assert_false(rr_nfs4_deleg_conflict(&world->tables, b, &file, later));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(few_opens_in_the_way_are_looked_at),
		TEST(no_more_opens_in_the_way_are_looked_at),
		TEST(few_ranges_in_the_way_are_looked_at),
		TEST(no_more_ranges_in_the_way_are_looked_at),
		TEST(delegations_are_recalled_in_parts),
		TEST(delegations_are_revoked_in_parts),
		TEST(a_client_with_very_many_ranges_ends_in_parts),
		TEST(an_open_with_very_many_lock_owners_ends_in_parts),
		TEST(a_client_with_very_many_opens_ends_in_parts),
		TEST(those_who_wait_are_looked_at_in_parts),
		TEST(waits_end_one_by_one),
		TEST(callbacks_are_looked_at_in_parts),
		TEST(opens_are_found_by_their_filehandle_in_few_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
