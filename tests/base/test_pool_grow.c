/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers that grow with the octets that come: peers that bring all they announce at once, and then pause,
 * beside peers that bring a part of it, and then next to nothing.
 */
#include "../stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/share/pool.h"

enum { MAX = 32 << 20, MEMBERS = 64, STAGING = 64 << 10, SIZE = (1 << 20) + 4096, PAUSE = 20, STEPS = 600 };

#define STEP (10 * RR_MILLISECOND)

struct world;

struct member {
	struct world *world;
	size_t brings; /* octets at once; SIZE: the member behaves well */
	struct rr_party *party;
	struct rr_pool_waiter waiter;
	void *buffer;
	size_t room;
	uint64_t moved, since, ended, whole; /* since: of its wait; whole: records that came whole */
	bool cut;
};

struct world {
	struct stage stage;
	struct rr_shares shares;
	struct rr_pool *pool;
	struct member members[MEMBERS];
	uint32_t count;
	uint64_t longest; /* wait of a member that behaves well */
};

/* ---- A member ---- */

/* Whether the next step is the peer's: the member does not wait for memory, and has not got all octets. */
static bool
member_is_awaited(void *ctx)
{
	const struct member *member = ctx;

	return member->buffer && member->since == 0 && member->brings < SIZE;
}

static uint64_t
member_moved(void *ctx)
{
	return ((struct member *)ctx)->moved;
}

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

/* Takes the octets that the peer has brought, a staging buffer at a time, as far as there is memory. False:
 * the member has to wait for memory. */
static bool
member_take(struct member *member)
{
	struct rr_pool *pool = member->world->pool;

	while (member->room < SIZE && member->room < member->brings) {
		size_t come =
			member->room + STAGING < member->brings ? member->room + STAGING : member->brings;
		size_t size = rr_pool_step(pool, member->party, member->buffer, come, SIZE);
		uint8_t *buffer =
			rr_pool_grow(pool, member->party, member->buffer, member->room > 0 ? 1 : 0, size);

		if (!buffer)
			return false;
		assert_true(member->room == 0 || buffer[0] == 1);
		buffer[0] = 1;
		member->moved += size - member->room;
		member->buffer = buffer;
		member->room = size;
	}
	return true;
}

static void
member_go_on(struct member *member)
{
	struct world *world = member->world;

	if (!member_take(member)) {
		if (member->since == 0)
			member->since = world->stage.now;
		rr_pool_wait(world->pool, member->party, &member->waiter);
		return;
	}
	if (member->brings == SIZE && member->since > 0 && world->stage.now - member->since > world->longest)
		world->longest = world->stage.now - member->since;
	member->since = 0;
}

static void
member_woken(struct rr_pool_waiter *waiter)
{
	member_go_on(rr_container(waiter, struct member, waiter));
}

static void
member_connect(struct member *member)
{
	member->waiter.wake = member_woken;
	rr_list_init(&member->waiter.link);
	member->party = rr_party_new(&member->world->shares, "192.0.2.1:1", &member_ops, member);
	assert_non_null(member->party);
}

static void
member_end(struct member *member)
{
	rr_list_remove(&member->waiter.link);
	rr_party_end(member->party, member);
	rr_pool_put(member->world->pool, member->buffer);
	member->party = NULL;
	member->buffer = NULL;
	member->room = 0;
	member->since = 0;
	member->cut = false;
	member->ended = member->world->stage.now;
}

static void
member_step(struct member *member)
{
	bool good = member->brings == SIZE;

	if (member->cut) {
		assert_false(good);
		member_end(member);
	}
	if (member->room == SIZE && good) {
		member->whole++;
		member_end(member);
	}
	if (!member->party && good && member->world->stage.now - member->ended < PAUSE * STEP)
		return;
	if (!member->party)
		member_connect(member);
	member->moved += good ? 0 : 100;
	if (member->since == 0)
		member_go_on(member);
}

/* ---- The world ---- */

static struct world *
world_new(void)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	stage_init(&world->stage);
	stage_loop(&world->stage);
	rr_shares_init(&world->shares, world->stage.loop);
	world->pool = rr_pool_new(&world->shares, RR_ARRIVALS, MAX);
	assert_non_null(world->pool);
	return world;
}

static void
world_add(struct world *world, uint32_t count, size_t brings)
{
	for (uint32_t i = 0; i < count; i++)
		world->members[world->count++] = (struct member){ .world = world, .brings = brings };
}

static void
world_steps(struct world *world, uint32_t count)
{
	for (uint32_t step = 0; step < count; step++) {
		for (uint32_t i = 0; i < world->count; i++)
			member_step(&world->members[i]);
		while (rr_loop_turn(world->stage.loop, 0) > 0)
			;
		assert_true(rr_pool_used(world->pool) <= MAX);
		world->stage.now += STEP;
	}
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
	rr_pool_free(world->pool);
	rr_shares_end(&world->shares);
	stage_end(&world->stage);
	free(world);
}

/* Three members behave well beside 40 others, which bring `brings` octets at once and 100 octets in each step
 * from then on. Each of the three gets `least` records at least, and no member waits for longer than
 * `longest`. */
static void
assert_served_beside(size_t brings, uint64_t least, uint64_t longest)
{
	struct world *world = world_new();

	world_add(world, 40, brings);
	world_add(world, 3, SIZE);
	world_steps(world, STEPS);
	for (uint32_t i = 40; i < world->count; i++) {
		if (world->members[i].whole < least || world->longest > longest)
			print_error("%zu octets: %lu records, longest wait %lu ms\n", brings,
				(unsigned long)world->members[i].whole,
				(unsigned long)(world->longest / RR_MILLISECOND));
		assert_true(world->members[i].whole >= least);
	}
	assert_true(world->longest <= longest);
	world_free(world);
}

/* The well-behaved members get nearly as many records as without the others. */
static void
a_part_of_a_record_holds_no_more_than_has_come(void **state)
{
	(void)state;
	assert_served_beside(40000, STEPS / (PAUSE + 2) - 5, 100 * RR_MILLISECOND);
	assert_served_beside(300000, STEPS / (PAUSE + 2) / 2, 500 * RR_MILLISECOND);
}

/* The others are cut off all the time, and have to bring that many octets again and again. */
static void
nearly_whole_records_keep_nobody_out(void **state)
{
	(void)state;
	assert_served_beside(600000, STEPS / (PAUSE + 2) / 8, 2 * RR_SECOND);
	assert_served_beside(900000, STEPS / (PAUSE + 2) / 8, 2 * RR_SECOND);
	assert_served_beside(1000000, STEPS / (PAUSE + 2) / 8, 2 * RR_SECOND);
}

/* More members than there is room for each hold a buffer and want a larger one. */
static void
those_that_grow_do_not_wait_for_each_other(void **state)
{
	struct world *world = world_new();

	(void)state;
	world_add(world, 60, SIZE);
	world_steps(world, STEPS);
	for (uint32_t i = 0; i < world->count; i++)
		assert_true(world->members[i].whole >= STEPS / (PAUSE + 2) / 4);
	world_free(world);
}

/* Members that all hold a part of their record bring the rest at the same time. No buffer can grow below the
 * bound on memory without proof then, so one member at a time may exceed the bound. */
static void
parts_that_fill_the_pool_become_whole(void **state)
{
	struct world *world = world_new();

	(void)state;
	world_add(world, 60, 350000);
	world_steps(world, 3);
	for (uint32_t i = 0; i < world->count; i++)
		world->members[i].brings = SIZE;
	world_steps(world, STEPS);
	for (uint32_t i = 0; i < world->count; i++)
		assert_true(world->members[i].whole >= 2);
	world_free(world);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_part_of_a_record_holds_no_more_than_has_come),
		cmocka_unit_test(nearly_whole_records_keep_nobody_out),
		cmocka_unit_test(those_that_grow_do_not_wait_for_each_other),
		cmocka_unit_test(parts_that_fill_the_pool_become_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
