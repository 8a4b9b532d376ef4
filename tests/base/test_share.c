/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections that share a pool: honest ones against some that hold what they get. A seed makes the schedule,
 * the clock is the test's, and each step is checked. RR_SHARE_SEED repeats one that failed.
 */
#include "../stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/share/pool.h"

enum { MAX = 32 << 20, PARTIES = 48, HELD = 64, STEPS = 1500, SEEDS = 40 };

#define STEP (10 * RR_MILLISECOND)

/* The kinds of members. HONEST gives each buffer back a step later; SILENT never gives one back; SLOW gives
 * one back in ten seconds; TRICKLING gives no buffer back, though some octets move in each step; RENEWED is
 * silent, and comes again as soon as it was cut off. NEWCOMER makes a connection for each buffer, which it
 * gives back as HONEST does, and pauses. */
enum kind { HONEST, SILENT, SLOW, TRICKLING, RENEWED, KINDS, NEWCOMER };

enum { PAUSE = 20 }; /* steps */

struct member {
	struct world *world;
	enum kind kind;
	const char *address;    /* NULL: one of two */
	struct rr_party *party; /* NULL: not connected */
	struct rr_pool_waiter waiter;
	void *held[HELD];
	size_t held_size[HELD];
	uint32_t count;
	size_t size;    /* of its requests */
	uint64_t since; /* the beginning of its wait; 0: it does not wait */
	uint64_t last, moved, grants;
	bool cut;
};

struct world {
	struct stage stage;
	uint64_t longest; /* wait of an honest member */
	uint32_t random;
	struct rr_shares shares;
	struct rr_pool *pool;
	struct member members[PARTIES];
	uint32_t count;
};

static uint32_t
below(struct world *world, uint32_t bound)
{
	world->random = world->random * 1664525 + 1013904223;
	return (world->random >> 8) % bound;
}

/* ---- A member ---- */

static bool
member_is_awaited(void *ctx)
{
	return ((struct member *)ctx)->count > 0;
}

static uint64_t
member_moved(void *ctx)
{
	return ((struct member *)ctx)->moved;
}

/* Ends the member later, from the loop, as a connection does. */
static void
member_cut(void *ctx, const char *why)
{
	(void)why;
	((struct member *)ctx)->cut = true;
}

static const struct rr_party_ops member_ops = {
	.is_awaited = member_is_awaited,
	.moved = member_moved,
	.cut = member_cut,
};

static bool
is_honest(const struct member *member)
{
	return member->kind == HONEST || member->kind == NEWCOMER;
}

static bool
member_get(struct member *member)
{
	struct world *world = member->world;
	void *buffer = rr_pool_get(world->pool, member->party, member->size);

	if (!buffer)
		return false;
	if (is_honest(member) && member->since > 0 && world->stage.now - member->since > world->longest)
		world->longest = world->stage.now - member->since;
	memset(buffer, 1, 64);
	member->since = 0;
	member->grants++;
	member->held_size[member->count] = member->size;
	member->held[member->count++] = buffer;
	return true;
}

static void
member_request(struct member *member)
{
	uint32_t most = member->kind == HONEST ? 2 : member->kind == NEWCOMER ? 1 : HELD;

	while (member->since == 0 && member->count < most) {
		if (member_get(member))
			continue;
		member->since = member->world->stage.now;
		rr_pool_wait(member->world->pool, member->party, &member->waiter);
	}
}

static void
member_woken(struct rr_pool_waiter *waiter)
{
	struct member *member = rr_container(waiter, struct member, waiter);

	if (member_get(member))
		member_request(member);
	else
		rr_pool_wait(member->world->pool, member->party, waiter);
}

static void
member_put(struct member *member)
{
	member->count--;
	member->moved += member->held_size[member->count];
	rr_pool_put(member->world->pool, member->held[member->count]);
}

static void
member_connect(struct member *member)
{
	char peer[32];

	/* Most members have the same address, as attackers and others may. */
	if (member->address)
		snprintf(peer, sizeof(peer), "%s:1", member->address);
	else
		snprintf(peer, sizeof(peer), "127.0.0.%u:%u", below(member->world, 4) ? 1 : 2,
			below(member->world, 60000));
	member->waiter.wake = member_woken;
	rr_list_init(&member->waiter.link);
	member->party = rr_party_new(&member->world->shares, peer, &member_ops, member);
	assert_non_null(member->party);
}

static void
member_end(struct member *member)
{
	rr_list_remove(&member->waiter.link);
	rr_party_end(member->party, member);
	while (member->count > 0)
		member_put(member);
	member->party = NULL;
	member->since = 0;
	member->cut = false;
}

static void
newcomer_step(struct member *member)
{
	struct world *world = member->world;

	if (member->count > 0) {
		member_put(member);
		member_end(member);
		member->last = world->stage.now;
	}
	if (!member->party && world->stage.now - member->last < PAUSE * STEP)
		return;
	if (!member->party)
		member_connect(member);
	member_request(member);
}

static void
member_step(struct member *member)
{
	struct world *world = member->world;

	if (member->kind == NEWCOMER) {
		newcomer_step(member);
		return;
	}
	if (member->cut) {
		assert_false(is_honest(member));
		member_end(member);
	}
	if (!member->party && member->kind == RENEWED)
		member_connect(member);
	if (!member->party)
		return;
	while (member->kind == HONEST && member->count > 0)
		member_put(member);
	if (member->kind == TRICKLING)
		member->moved += 100;
	if (member->kind == SLOW && member->count > 0 && world->stage.now - member->last >= 10 * RR_SECOND) {
		member->last = world->stage.now;
		member_put(member);
	}
	member_request(member);
}

/* ---- The world ---- */

static struct world *
world_new(uint32_t seed)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	stage_init(&world->stage);
	world->random = seed;
	stage_loop(&world->stage);
	rr_shares_init(&world->shares, world->stage.loop);
	world->pool = rr_pool_new(&world->shares, RR_RESULTS, MAX);
	assert_non_null(world->pool);
	return world;
}

static struct member *
world_add_at(struct world *world, const char *address, enum kind kind, size_t size)
{
	struct member *member = &world->members[world->count++];

	member->world = world;
	member->address = address;
	member->kind = kind;
	member->size = size;
	member->last = world->stage.now;
	member_connect(member);
	return member;
}

static struct member *
world_add(struct world *world, enum kind kind, size_t size)
{
	return world_add_at(world, NULL, kind, size);
}

static void
world_step(struct world *world)
{
	for (uint32_t i = 0; i < world->count; i++)
		member_step(&world->members[i]);
	while (rr_loop_turn(world->stage.loop, 0) > 0)
		;
	assert_true(rr_pool_used(world->pool) <= MAX);
	world->stage.now += STEP;
}

static void
world_steps(struct world *world, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		world_step(world);
}

static void
world_free(struct world *world)
{
	for (uint32_t i = 0; i < world->count; i++) {
		if (world->members[i].party)
			member_end(&world->members[i]);
	}
	while (rr_loop_turn(world->stage.loop, 0) > 0)
		;
	assert_int_equal(rr_pool_used(world->pool), 0);
	assert_true(rr_list_empty(&world->shares.parties));
	assert_true(rr_list_empty(&world->shares.hosts));
	rr_pool_free(world->pool);
	rr_shares_end(&world->shares);
	stage_end(&world->stage);
	free(world);
}

static void
run_schedule(uint32_t seed)
{
	struct world *world = world_new(seed);
	static const size_t sizes[] = { 4096, 64 << 10, 256 << 10, 1 << 20, 2 << 20 };
	uint32_t honest = 1 + below(world, 6), others = 1 + below(world, 40);

	for (uint32_t i = 0; i < others; i++)
		world_add(world, SILENT + below(world, KINDS - 1), sizes[below(world, 5)]);
	for (uint32_t i = 0; i < honest; i++)
		world_add(world, HONEST, sizes[below(world, 2)]);
	for (int i = 0; i < STEPS; i++)
		world_step(world);
	for (uint32_t i = 0; i < world->count; i++) {
		struct member *member = &world->members[i];

		if (member->kind != HONEST)
			continue;
		if (member->grants < STEPS / 2 || world->longest > 2 * RR_SECOND)
			print_error("seed %u: %lu grants, %lu ms\n", seed, (unsigned long)member->grants,
				(unsigned long)(world->longest / RR_MILLISECOND));
		assert_true(member->grants >= STEPS / 2);
		assert_true(world->longest <= 2 * RR_SECOND);
	}
	world_free(world);
}

static void
honest_connections_are_served_beside_all_others(void **state)
{
	const char *seed = getenv("RR_SHARE_SEED");

	(void)state;
	for (uint32_t i = 0; i < SEEDS && !seed; i++)
		run_schedule(i);
	if (seed)
		run_schedule((uint32_t)strtoul(seed, NULL, 0));
}

static void
one_that_is_alone_gets_much_and_leaves_enough_to_begin_with(void **state)
{
	struct world *world = world_new(1);
	struct member *alone = world_add(world, SILENT, 1 << 20), *late;

	(void)state;
	for (int i = 0; i < 1000; i++)
		world_step(world);
	assert_true(alone->count >= MAX / (1 << 20) / 3);
	late = world_add(world, HONEST, 1 << 20);
	world_step(world);
	assert_true(late->grants > 0);
	assert_false(alone->cut); /* no other member had to wait for its memory */
	world_free(world);
}

/* Each member gets a share, whatever their number and their order. */
static void
greedy_ones_leave_something_to_each_other(void **state)
{
	struct world *world = world_new(1);

	(void)state;
	for (int i = 0; i < 14; i++)
		world_add(world, SILENT, 64 << 10);
	for (int i = 0; i < 1000; i++)
		world_step(world);
	for (int i = 0; i < 14; i++) {
		assert_non_null(world->members[i].party);
		assert_true(world->members[i].count >= 4);
	}
	world_free(world);
}

static void
as_long_as_nobody_waits_a_peer_may_be_silent(void **state)
{
	struct world *world = world_new(1);
	struct member *silent = world_add(world, SILENT, 1 << 20);

	(void)state;
	for (int i = 0; i < 20; i++)
		world_add(world, HONEST, 64 << 10);
	for (int i = 0; i < STEPS; i++)
		world_step(world);
	assert_non_null(silent->party);
	world_free(world);
}

/* A first buffer of any size is due: members that hold all of the rest, and move nothing, are cut off for it.
 */
static void
a_large_request_is_granted_within_two_seconds(void **state)
{
	struct world *world = world_new(1);
	struct member *late;

	(void)state;
	for (int i = 0; i < 40; i++)
		world_add(world, SILENT, 1 << 20);
	for (int i = 0; i < 10; i++)
		world_step(world);
	late = world_add(world, HONEST, 2 << 20);
	for (int i = 0; i < 200; i++)
		world_step(world);
	assert_true(late->grants > 0);
	assert_true(world->longest <= 2 * RR_SECOND);
	world_free(world);
}

/*
 * Three honest members were served before many others came, which hold what they get and may come again. The
 * three go on as before, as memory that nobody has proved to move is only a part of the pool.
 */
static void
honest_large_requests_go_on(enum kind kind, uint32_t others)
{
	struct world *world = world_new(others);

	for (int i = 0; i < 3; i++)
		world_add(world, HONEST, 1 << 20);
	for (int i = 0; i < 300; i++)
		world_step(world);
	for (uint32_t i = 0; i < others; i++)
		world_add(world, kind, 1 << 20);
	for (int i = 0; i < STEPS; i++)
		world_step(world);
	for (int i = 0; i < 3; i++)
		assert_true(world->members[i].grants >= (uint64_t)2 * (300 + STEPS) - 20);
	assert_true(world->longest <= 100 * RR_MILLISECOND);
	world_free(world);
}

static void
those_that_have_proved_to_move_are_not_held_up(void **state)
{
	(void)state;
	for (int kind = SILENT; kind < KINDS; kind++) {
		honest_large_requests_go_on(kind, 5);
		honest_large_requests_go_on(kind, 40);
	}
}

/* Many members move all that they hold, and want more than there is room for. Memory that a member with a
 * larger request waits for is not given to requests that come later. */
static void
a_large_request_is_not_overtaken_for_ever(void **state)
{
	struct world *world = world_new(1);
	struct member *late;

	(void)state;
	for (int i = 0; i < 20; i++)
		world_add(world, HONEST, 1 << 20);
	world_steps(world, 300);
	late = world_add(world, HONEST, 16 << 20);
	world_steps(world, 300);
	assert_true(late->grants > 0);
	assert_true(world->longest <= 2 * RR_SECOND);
	world_free(world);
}

/* The members of an address have proved to move octets, and then keep what they get: a newcomer of another
 * address is served at once. */
static void
an_address_leaves_some_to_the_others(void **state)
{
	enum { GREEDY = 40 };
	struct world *world = world_new(1);
	struct member *late;

	(void)state;
	for (int i = 0; i < GREEDY; i++)
		world_add_at(world, "192.0.2.1", HONEST, 1 << 20);
	world_steps(world, 300);
	for (int i = 0; i < GREEDY; i++)
		world->members[i].kind = SILENT;
	world_step(world);
	late = world_add_at(world, "192.0.2.2", HONEST, 1 << 20);
	member_step(late);
	assert_true(late->grants > 0);
	world_free(world);
}

/* A member that moves some octets now and then does not keep the memory that another member waits for. */
static void
those_that_move_next_to_nothing_are_cut_off(void **state)
{
	struct world *world = world_new(1);
	struct member *late;

	(void)state;
	for (int i = 0; i < 40; i++)
		world_add(world, TRICKLING, 1 << 20);
	world_steps(world, 10);
	late = world_add(world, HONEST, 2 << 20);
	world_steps(world, 200);
	assert_true(late->grants > 0);
	assert_true(world->longest <= 2 * RR_SECOND);
	world_free(world);
}

/* A buffer that is held for too long takes away all proof: octets that moved before do not count again, also
 * if no buffer comes back until the new probation is over. */
static void
proof_that_is_lost_has_to_be_brought_anew(void **state)
{
	static const uint64_t pauses[] = { 0, RR_SHARE_PROBATION, 0, RR_SHARE_PROBATION };
	static const uint64_t holds[] = { STEP, STEP, RR_SHARE_LATE + STEP, STEP };
	static const size_t proven[] = { 0, 1 << 20, 0, 1 << 20 };
	struct world *world = world_new(1);
	struct member *member = world_add(world, HONEST, 1 << 20);

	(void)state;
	for (size_t i = 0; i < sizeof(holds) / sizeof(*holds); i++) {
		world->stage.now += pauses[i];
		assert_true(member_get(member));
		world->stage.now += holds[i];
		rr_loop_turn(world->stage.loop, 0);
		member_put(member);
		assert_int_equal(member->party->accounts[RR_RESULTS].proven, proven[i]);
	}
	world_free(world);
}

/*
 * Members that were cut off and come again have their turn before newcomers that move what they get. There is
 * room for a first buffer of each member, so newcomers hardly wait, as long as no connection gets more than
 * that.
 */
static void
newcomers_are_served_beside_those_that_come_again(void **state)
{
	enum { GREEDY = 24, NEWCOMERS = 3 };
	struct world *world = world_new(1);

	(void)state;
	for (int i = 0; i < GREEDY; i++)
		world_add(world, RENEWED, 512 << 10);
	for (int i = 0; i < NEWCOMERS; i++)
		world_add(world, NEWCOMER, 1 << 20);
	world_steps(world, STEPS);
	for (int i = GREEDY; i < GREEDY + NEWCOMERS; i++)
		assert_true(world->members[i].grants >= STEPS / (PAUSE + 1) / 2);
	assert_true(world->longest <= 700 * RR_MILLISECOND);
	world_free(world);
}

/* A part of a buffer that is kept in place of the whole, and a larger buffer in place of a smaller one, count
 * as held since the first one was granted, also beside a buffer that was granted later. */
static void
what_is_kept_of_an_old_buffer_is_as_old(void **state)
{
	(void)state;
	for (int grows = 0; grows < 2; grows++) {
		struct world *world = world_new(1);
		struct member *member = world_add(world, HONEST, 1 << 20);
		struct rr_pool *pool = world->pool;
		uint8_t *old, *later;

		for (int i = 0; i < 2; i++) {
			assert_true(member_get(member));
			member_put(member);
			world->stage.now += RR_SHARE_PROBATION;
			rr_loop_turn(world->stage.loop, 0);
		}
		assert_true(rr_pool_has_proved(pool, member->party));
		old = rr_pool_get(pool, member->party, 64 << 10);
		world->stage.now += RR_SHARE_LATE - STEP;
		rr_loop_turn(world->stage.loop, 0);
		later = rr_pool_get(pool, member->party, 4096);
		old = grows ? rr_pool_grow(pool, member->party, old, 100, 128 << 10)
			    : rr_pool_trim(pool, old, 4096);
		assert_non_null(old);
		rr_pool_doubt(pool, member->party);
		assert_true(rr_pool_has_proved(pool, member->party));
		world->stage.now += 2 * STEP;
		rr_pool_doubt(pool, member->party);
		assert_false(rr_pool_has_proved(pool, member->party));
		rr_pool_put(pool, later);
		rr_pool_put(pool, old);
		world_free(world);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(honest_connections_are_served_beside_all_others),
		cmocka_unit_test(one_that_is_alone_gets_much_and_leaves_enough_to_begin_with),
		cmocka_unit_test(greedy_ones_leave_something_to_each_other),
		cmocka_unit_test(as_long_as_nobody_waits_a_peer_may_be_silent),
		cmocka_unit_test(a_large_request_is_granted_within_two_seconds),
		cmocka_unit_test(those_that_have_proved_to_move_are_not_held_up),
		cmocka_unit_test(a_large_request_is_not_overtaken_for_ever),
		cmocka_unit_test(an_address_leaves_some_to_the_others),
		cmocka_unit_test(those_that_move_next_to_nothing_are_cut_off),
		cmocka_unit_test(proof_that_is_lost_has_to_be_brought_anew),
		cmocka_unit_test(what_is_kept_of_an_old_buffer_is_as_old),
		cmocka_unit_test(newcomers_are_served_beside_those_that_come_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
