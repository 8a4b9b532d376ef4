/* SPDX-License-Identifier: BSD-3-Clause */
/* The bound on lines of the log that threads write; the test moves the clock. */
#include "base/log_limit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "../test.h"

enum { THREADS = 8, ROUNDS = 300, EACH = 50 };

struct world {
	struct rr_env env;
	struct rr_log_limit limit;
	pthread_barrier_t barrier; /* of the threads, and of the test, which moves the clock for each round */
	_Atomic uint64_t now;
	_Atomic uint64_t lines;    /* lines of the kind */
	_Atomic uint64_t left_out; /* as lines have said */
};

static uint64_t
world_now(void *ctx)
{
	return ((struct world *)ctx)->now;
}

static void
world_log(void *ctx, enum rr_log_level level, const char *line)
{
	struct world *world = ctx;
	unsigned long long count;

	(void)level;
	if (sscanf(line, "%llu more lines about broken things were left out", &count) == 1)
		atomic_fetch_add(&world->left_out, count);
	else
		atomic_fetch_add(&world->lines, 1);
}

/* The last moment of a window. */
static void
world_init(struct world *world)
{
	memset(world, 0, sizeof(*world));
	world->env = (struct rr_env){
		.now = world_now, .log = world_log, .ctx = world, .log_level = RR_LOG_WARNING
	};
	world->limit = (struct rr_log_limit){ .level = RR_LOG_WARNING, .kind = "broken things" };
	world->now = 5 * RR_LOG_LIMIT_WINDOW - 1;
}

static void
log_many(struct world *world, int count)
{
	for (int i = 0; i < count; i++)
		rr_log_limited(&world->limit, &world->env, "thing %d is broken", i);
}

static void
lines_beyond_the_bound_are_counted_and_said_later(void **state)
{
	struct world world;

	(void)state;
	world_init(&world);
	log_many(&world, RR_LOG_LIMIT_LINES);
	assert_int_equal(world.lines, RR_LOG_LIMIT_LINES);
	log_many(&world, 100);
	assert_int_equal(world.lines, RR_LOG_LIMIT_LINES);
	assert_int_equal(world.left_out, 0);
	world.now++;
	log_many(&world, 1);
	assert_int_equal(world.lines, RR_LOG_LIMIT_LINES + 1);
	assert_int_equal(world.left_out, 100);
	log_many(&world, RR_LOG_LIMIT_LINES);
	assert_int_equal(world.lines, 2 * RR_LOG_LIMIT_LINES);
	rr_log_limit_end(&world.limit, &world.env);
	assert_int_equal(world.left_out, 101);
	rr_log_limit_end(&world.limit, &world.env);
	assert_int_equal(world.left_out, 101);
}

static void
a_clock_that_was_read_before_begins_no_window_again(void **state)
{
	struct world world;

	(void)state;
	world_init(&world);
	world.now++;
	log_many(&world, RR_LOG_LIMIT_LINES);
	world.now--;
	log_many(&world, 1);
	world.now++;
	log_many(&world, 1);
	assert_int_equal(world.lines, RR_LOG_LIMIT_LINES);
}

static void
a_log_that_wants_all_gets_all(void **state)
{
	struct world world;

	(void)state;
	world_init(&world);
	world.env.log_level = RR_LOG_INFO;
	log_many(&world, 100);
	assert_int_equal(world.lines, 100);
	world.env.log_level = RR_LOG_ERROR;
	log_many(&world, 100);
	rr_log_limit_end(&world.limit, &world.env);
	assert_int_equal(world.lines, 100);
	assert_int_equal(world.left_out, 0);
}

static void *
thread_logs(void *ctx)
{
	struct world *world = ctx;

	for (int round = 0; round < ROUNDS; round++) {
		pthread_barrier_wait(&world->barrier);
		log_many(world, EACH);
		pthread_barrier_wait(&world->barrier);
	}
	return NULL;
}

/* No line is written too much, and none is forgotten, whatever threads do at the same time. */
static void
threads_share_the_bound(void **state)
{
	struct world world;
	pthread_t threads[THREADS];

	(void)state;
	world_init(&world);
	assert_int_equal(pthread_barrier_init(&world.barrier, NULL, THREADS + 1), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, thread_logs, &world), 0);
	for (int round = 0; round < ROUNDS; round++) {
		pthread_barrier_wait(&world.barrier);
		pthread_barrier_wait(&world.barrier);
		world.now += RR_LOG_LIMIT_WINDOW;
	}
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	pthread_barrier_destroy(&world.barrier);
	assert_int_equal(world.lines, ROUNDS * RR_LOG_LIMIT_LINES);
	rr_log_limit_end(&world.limit, &world.env);
	assert_int_equal(world.left_out, ROUNDS * (THREADS * EACH - RR_LOG_LIMIT_LINES));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_beyond_the_bound_are_counted_and_said_later),
		cmocka_unit_test(a_clock_that_was_read_before_begins_no_window_again),
		cmocka_unit_test(a_log_that_wants_all_gets_all),
		cmocka_unit_test(threads_share_the_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
