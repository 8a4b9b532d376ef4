/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include "base/share/pool.h"

#include <stdlib.h>
#include <string.h>

/* An environment that counts, and fails on demand. */
static size_t allocations;
static bool no_memory;

static void *
counting_realloc(void *ctx, void *old, size_t size)
{
	(void)ctx;
	if (size == 0) {
		free(old);
		return NULL;
	}
	allocations++;
	return no_memory ? NULL : realloc(old, size);
}

static struct rr_env env;
static struct rr_loop *loop;
static struct rr_shares shares;
static struct rr_pool *pool;

enum { MAX = 64 << 10 };

static int
setup(void **state)
{
	(void)state;
	env = rr_env_system;
	env.realloc = counting_realloc;
	no_memory = false;
	loop = rr_loop_new(&env);
	rr_shares_init(&shares, loop);
	pool = rr_pool_new(&shares, RR_RESULTS, MAX);
	return pool ? 0 : -1;
}

static int
teardown(void **state)
{
	(void)state;
	rr_pool_free(pool);
	rr_shares_end(&shares);
	rr_loop_free(loop);
	return 0;
}

static void
buffers_are_aligned_and_counted_rounded_up(void **state)
{
	void *a = rr_pool_get(pool, NULL, 1), *b = rr_pool_get(pool, NULL, 4097);

	(void)state;
	assert_non_null(a);
	assert_non_null(b);
	assert_int_equal((uintptr_t)a % 4096, 0);
	assert_int_equal((uintptr_t)b % 4096, 0);
	memset(a, 1, 4096);
	memset(b, 2, 8192);
	assert_int_equal(rr_pool_used(pool), 4096 + 8192);
	rr_pool_put(pool, b);
	rr_pool_put(pool, a);
	rr_pool_put(pool, NULL);
	assert_int_equal(rr_pool_used(pool), 0);
	assert_int_equal(rr_pool_peak(pool), 4096 + 8192);
}

static void
a_stream_of_calls_does_not_allocate(void **state)
{
	size_t before;

	(void)state;
	rr_pool_put(pool, rr_pool_get(pool, NULL, 12 << 10));
	before = allocations;
	for (int i = 0; i < 100; i++)
		rr_pool_put(pool, rr_pool_get(pool, NULL, 9000));
	assert_int_equal(allocations, before);
}

/* If the sizes of buffers were powers of two, a message with much data and a header would take twice its
 * size. */
static void
a_buffer_is_at_most_a_quarter_larger_than_needed(void **state)
{
	(void)state;
	for (size_t size = 4096; size <= MAX; size += 512) {
		void *buffer = rr_pool_get(pool, NULL, size);
		size_t before;

		assert_non_null(buffer);
		assert_true(rr_pool_used(pool) >= size);
		assert_true(rr_pool_used(pool) - size < 4096 || rr_pool_used(pool) - size < size / 4);
		memset(buffer, 1, size);
		rr_pool_put(pool, buffer);
		before = allocations;
		rr_pool_put(pool, rr_pool_get(pool, NULL, size));
		assert_int_equal(allocations, before);
	}
}

static void
the_bound_holds(void **state)
{
	void *a = rr_pool_get(pool, NULL, 32 << 10), *b = rr_pool_get(pool, NULL, 32 << 10);

	(void)state;
	assert_non_null(b);
	assert_null(rr_pool_get(pool, NULL, 1));
	rr_pool_put(pool, a);
	a = rr_pool_get(pool, NULL, 4096);
	assert_non_null(a);
	assert_null(rr_pool_get(pool, NULL, 32 << 10));
	rr_pool_put(pool, a);
	rr_pool_put(pool, b);
}

static void
a_request_above_the_bound_is_granted_alone(void **state)
{
	void *small = rr_pool_get(pool, NULL, 1), *large;

	(void)state;
	assert_null(rr_pool_get(pool, NULL, 2 * MAX));
	rr_pool_put(pool, small);
	large = rr_pool_get(pool, NULL, 64 * MAX);
	assert_non_null(large);
	memset(large, 3, 64 * MAX);
	assert_null(rr_pool_get(pool, NULL, 1));
	rr_pool_put(pool, large);
	assert_null(rr_pool_get(pool, NULL, SIZE_MAX));
	assert_int_equal(rr_pool_used(pool), 0);
}

static void
no_memory_is_no_buffer(void **state)
{
	(void)state;
	no_memory = true;
	assert_null(rr_pool_get(pool, NULL, 1));
	assert_int_equal(rr_pool_used(pool), 0);
	assert_null(rr_pool_new(&shares, RR_RESULTS, MAX));
}

/* A waiter that takes size octets when it is woken, or waits on. */
struct taker {
	struct rr_pool_waiter waiter;
	size_t size;
	void *buffer;
	int woken, turn;
};

static int turns;

/* Gives a buffer back, and lets the loop wake the waiters. */
static void
put(void *buffer)
{
	rr_pool_put(pool, buffer);
	rr_loop_turn(loop, 0);
}

static void
take(struct rr_pool_waiter *waiter)
{
	struct taker *taker = rr_container(waiter, struct taker, waiter);

	taker->woken++;
	taker->buffer = rr_pool_get(pool, NULL, taker->size);
	if (!taker->buffer)
		rr_pool_wait(pool, NULL, waiter);
	else
		taker->turn = ++turns;
}

static void
wait_for(struct taker *taker, size_t size)
{
	*taker = (struct taker){ .waiter.wake = take, .size = size };
	rr_list_init(&taker->waiter.link);
	rr_pool_wait(pool, NULL, &taker->waiter);
}

static void
waiters_are_woken_in_their_order_and_keep_their_place(void **state)
{
	void *a = rr_pool_get(pool, NULL, MAX / 2), *b = rr_pool_get(pool, NULL, MAX / 2);
	struct taker first, second, third;

	(void)state;
	turns = 0;
	wait_for(&first, MAX);
	wait_for(&second, 4096);
	wait_for(&third, 4096);
	rr_pool_wait(pool, NULL, &first.waiter); /* the waiter waits already */
	put(a);
	assert_int_equal(first.woken, 1);
	assert_null(first.buffer);
	assert_int_equal(second.woken, 0);
	assert_null(rr_pool_get(pool, NULL, 1)); /* the request does not overtake the waiter */
	put(b);
	assert_int_equal(first.turn, 1);
	put(first.buffer);
	assert_int_equal(second.turn, 2);
	assert_int_equal(third.turn, 3);
	put(second.buffer);
	put(third.buffer);
}

/* A waiter that gives its buffer back at once: the next waiter must be woken all the same. */
static void
take_and_put(struct rr_pool_waiter *waiter)
{
	struct taker *taker = rr_container(waiter, struct taker, waiter);

	taker->woken++;
	rr_pool_put(pool, rr_pool_get(pool, NULL, taker->size));
}

static void
a_woken_waiter_may_put(void **state)
{
	void *a = rr_pool_get(pool, NULL, MAX);
	struct taker first, second;

	(void)state;
	wait_for(&first, MAX);
	wait_for(&second, MAX);
	first.waiter.wake = second.waiter.wake = take_and_put;
	put(a);
	assert_int_equal(first.woken, 1);
	assert_int_equal(second.woken, 1);
	assert_int_equal(rr_pool_used(pool), 0);
}

static void
one_that_left_is_not_woken(void **state)
{
	void *a = rr_pool_get(pool, NULL, MAX);
	struct taker taker;

	(void)state;
	wait_for(&taker, 1);
	rr_list_remove(&taker.waiter.link);
	put(a);
	assert_int_equal(taker.woken, 0);
}

/* A waiter of a party (a connection), which takes nothing when it is woken, but asks for memory of no
 * party. */
struct asker {
	struct rr_pool_waiter waiter;
	struct rr_party *party;
	bool woken, wanted;
	int turn;
	void *buffer;
};

static void
ask_for_another(struct rr_pool_waiter *waiter)
{
	struct asker *asker = rr_container(waiter, struct asker, waiter);

	asker->woken = true;
	asker->turn = ++turns;
	asker->wanted = rr_pool_is_wanted(pool);
	asker->buffer = rr_pool_get(pool, NULL, 4096);
}

static void
asker_wait(struct asker *asker, const char *peer)
{
	*asker = (struct asker){ .waiter.wake = ask_for_another,
		.party = rr_party_new(&shares, peer, NULL, asker) };
	assert_non_null(asker->party);
	rr_list_init(&asker->waiter.link);
	assert_null(rr_pool_get(pool, asker->party, 4096));
	rr_pool_wait(pool, asker->party, &asker->waiter);
}

static void
a_request_inside_wake_does_not_overtake_those_that_the_round_comes_to(void **state)
{
	void *a = rr_pool_get(pool, NULL, MAX);
	struct asker first, second;

	(void)state;
	asker_wait(&first, "192.0.2.1:1");
	asker_wait(&second, "192.0.2.2:1");
	put(a);
	assert_true(first.woken && second.woken);
	assert_null(first.buffer);
	assert_true(first.wanted);
	assert_non_null(second.buffer); /* no other request waits */
	assert_false(second.wanted);
	rr_pool_put(pool, second.buffer);
	rr_party_end(first.party, &first);
	rr_party_end(second.party, &second);
}

/* Of those that wait, that comes first whose connection has used least of the loop's time; the others come in
 * their order. */
static void
who_used_least_is_woken_first(void **state)
{
	static const uint64_t used[] = { 2000, 3000, 1000, 4000 };
	static const int expected[] = { 2, 3, 1, 4 };
	void *a = rr_pool_get(pool, NULL, MAX);
	struct asker askers[4];

	(void)state;
	turns = 0;
	for (int i = 0; i < 4; i++) {
		char peer[] = "192.0.2.1:1";

		peer[8] = (char)('1' + i % 3);
		asker_wait(&askers[i], peer);
		rr_payer_charge(rr_loop_payers(loop), &askers[i].party->payer, used[i]);
	}
	put(a);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(askers[i].turn, expected[i]);
		rr_pool_put(pool, askers[i].buffer);
		rr_party_end(askers[i].party, &askers[i]);
	}
}

static size_t frees;

static void *
free_counting_realloc(void *ctx, void *old, size_t size)
{
	frees += size == 0;
	return counting_realloc(ctx, old, size);
}

static void
what_is_kept_and_out_stays_below_the_bound(void **state)
{
	void *buffers[MAX / 4096];

	(void)state;
	env.realloc = free_counting_realloc;
	frees = 0;
	for (size_t i = 0; i < MAX / 4096; i++)
		buffers[i] = rr_pool_get(pool, NULL, 4096);
	for (size_t i = 0; i < MAX / 4096; i++)
		rr_pool_put(pool, buffers[i]);
	assert_int_equal(frees, 0);
	rr_pool_put(pool, rr_pool_get(pool, NULL, MAX / 2));
	assert_int_equal(frees, MAX / 2 / 4096);
}

static void
a_buffer_above_the_bound_is_not_kept(void **state)
{
	(void)state;
	env.realloc = free_counting_realloc;
	frees = 0;
	rr_pool_put(pool, rr_pool_get(pool, NULL, MAX + 1));
	assert_int_equal(frees, 1);
}

/* Takes a buffer for each multiple of 4096 octets up to the largest that is kept, fills it, and gives all
 * back. Returns how many octets they had together. */
static size_t
take_all_sizes(struct rr_pool *large)
{
	static void *buffers[RR_POOL_KEPT / 4096];
	size_t used;

	for (size_t i = 0; i < RR_POOL_KEPT / 4096; i++) {
		buffers[i] = rr_pool_get(large, NULL, (i + 1) * 4096);
		assert_non_null(buffers[i]);
		memset(buffers[i], (int)i, (i + 1) * 4096);
	}
	used = rr_pool_used(large);
	for (size_t i = 0; i < RR_POOL_KEPT / 4096; i++)
		rr_pool_put(large, buffers[i]);
	assert_int_equal(rr_pool_used(large), 0);
	return used;
}

static void
buffers_of_each_size_are_kept_for_that_size(void **state)
{
	struct rr_pool *large = rr_pool_new(&shares, RR_REPLIES, (size_t)1 << 30);
	size_t used, before;

	(void)state;
	assert_non_null(large);
	used = take_all_sizes(large);
	before = allocations;
	assert_int_equal(take_all_sizes(large), used);
	assert_int_equal(allocations, before);
	rr_pool_put(large, rr_pool_get(large, NULL, RR_POOL_KEPT + 1)); /* is not kept */
	rr_pool_put(large, rr_pool_get(large, NULL, RR_POOL_KEPT + 1));
	assert_int_equal(allocations, before + 2);
	rr_pool_free(large);
}

static void
a_size_that_cannot_be_is_refused(void **state)
{
	(void)state;
	assert_null(rr_pool_get(pool, NULL, SIZE_MAX));
	assert_null(rr_pool_get(pool, NULL, SIZE_MAX / 8 * 7 + 8));
	assert_int_equal(rr_pool_used(pool), 0);
}

static uint64_t proof_now;

static uint64_t
proof_clock(void *ctx)
{
	(void)ctx;
	return proof_now;
}

static uint64_t
proof_moved(void *ctx)
{
	return *(uint64_t *)ctx;
}

/* Takes a buffer, and gives it back when time has passed. */
static void
proof_hold(struct rr_party *party, uint64_t time)
{
	void *buffer = rr_pool_get(pool, party, 4096);

	assert_non_null(buffer);
	proof_now += time;
	rr_pool_put(pool, buffer);
}

/* The proof is at its bound then, and octets that move are not looked at. */
static void
a_late_buffer_takes_away_the_largest_proof(void **state)
{
	static const struct rr_party_ops ops = { .moved = proof_moved };
	uint64_t moved = 100;
	struct rr_party *party = rr_party_new(&shares, "192.0.2.1:1", &ops, &moved);

	(void)state;
	assert_non_null(party);
	env.now = proof_clock;
	proof_now = RR_SECOND;
	proof_hold(party, 0);
	moved += 100 * MAX;
	proof_hold(party, RR_SHARE_PROBATION / 2); /* on probation: what moved by now is no proof */
	assert_int_equal(party->accounts[RR_RESULTS].proven, 0);
	moved += 4096;
	proof_now += RR_SHARE_PROBATION;
	proof_hold(party, 0);
	assert_int_equal(party->accounts[RR_RESULTS].proven, 4096);
	moved += 2 * MAX;
	proof_hold(party, 0);
	proof_hold(party, 0);
	assert_int_equal(party->accounts[RR_RESULTS].proven, MAX);
	proof_hold(party, RR_SHARE_LATE + 1);
	assert_false(rr_pool_has_proved(pool, party));
	rr_party_end(party, &moved);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(buffers_are_aligned_and_counted_rounded_up, setup, teardown),
		cmocka_unit_test_setup_teardown(a_stream_of_calls_does_not_allocate, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_buffer_is_at_most_a_quarter_larger_than_needed, setup, teardown),
		cmocka_unit_test_setup_teardown(the_bound_holds, setup, teardown),
		cmocka_unit_test_setup_teardown(a_request_above_the_bound_is_granted_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(no_memory_is_no_buffer, setup, teardown),
		cmocka_unit_test_setup_teardown(
			waiters_are_woken_in_their_order_and_keep_their_place, setup, teardown),
		cmocka_unit_test_setup_teardown(a_woken_waiter_may_put, setup, teardown),
		cmocka_unit_test_setup_teardown(one_that_left_is_not_woken, setup, teardown),
		cmocka_unit_test_setup_teardown(who_used_least_is_woken_first, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_request_inside_wake_does_not_overtake_those_that_the_round_comes_to, setup,
			teardown),
		cmocka_unit_test_setup_teardown(what_is_kept_and_out_stays_below_the_bound, setup, teardown),
		cmocka_unit_test_setup_teardown(a_buffer_above_the_bound_is_not_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(buffers_of_each_size_are_kept_for_that_size, setup, teardown),
		cmocka_unit_test_setup_teardown(a_size_that_cannot_be_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(a_late_buffer_takes_away_the_largest_proof, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
