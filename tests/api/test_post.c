/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that other threads post to an engine, and timers. */
#include "../test.h"

#include <pthread.h>
#include <rpcrdma/engine.h>
#include <string.h>

enum { THREADS = 4, POSTS = 500 };

/* What ran, in its order. */
static char ran[16];

struct item {
	struct rpcrdma_post post;
	struct rpcrdma_engine *engine;
	char name;
	uint32_t again; /* times that it posts itself */
};

static void
run_item(void *ctx)
{
	struct item *item = ctx;

	ran[strlen(ran)] = item->name;
	if (item->again > 0) {
		item->again--;
		assert_int_equal(rpcrdma_engine_post(item->engine, &item->post), 0);
	}
}

static struct item
new_item(struct rpcrdma_engine *engine, char name)
{
	return (struct item){ .post = { .run = run_item }, .engine = engine, .name = name };
}

static int
post(struct item *item)
{
	item->post.ctx = item;
	return rpcrdma_engine_post(item->engine, &item->post);
}

static struct rpcrdma_engine *
new_engine(void)
{
	struct rpcrdma_engine *engine;

	memset(ran, 0, sizeof(ran));
	assert_int_equal(rpcrdma_engine_new(NULL, &engine), 0);
	return engine;
}

static void
functions_run_once_in_the_order_in_which_they_were_posted(void **state)
{
	struct rpcrdma_engine *engine = new_engine();
	struct item a = new_item(engine, 'a'), b = new_item(engine, 'b'), c = new_item(engine, 'c');

	(void)state;
	assert_int_equal(post(&b), 0);
	assert_int_equal(post(&a), 0);
	assert_int_equal(post(&b), 0);
	assert_int_equal(post(&c), 0);
	assert_string_equal(ran, "");
	assert_int_equal(rpcrdma_engine_turn(engine, -1), 1);
	assert_string_equal(ran, "bac");
	assert_int_equal(rpcrdma_engine_turn(engine, 0), 0);
	assert_int_equal(post(&a), 0);
	assert_int_equal(rpcrdma_engine_turn(engine, -1), 1);
	assert_string_equal(ran, "baca");
	rpcrdma_engine_free(engine);
}

/* One that posts itself again keeps nothing else waiting. */
static void
what_is_posted_by_a_posted_function_runs_in_the_next_turn(void **state)
{
	struct rpcrdma_engine *engine = new_engine();
	struct item a = new_item(engine, 'a');

	(void)state;
	a.again = 2;
	assert_int_equal(post(&a), 0);
	for (size_t turn = 1; turn <= 3; turn++) {
		assert_int_equal(rpcrdma_engine_turn(engine, 0), 1);
		assert_int_equal(strlen(ran), turn);
	}
	assert_int_equal(rpcrdma_engine_turn(engine, 0), 0);
	rpcrdma_engine_free(engine);
}

static void
what_was_posted_runs_before_the_engine_goes(void **state)
{
	struct rpcrdma_engine *engine = new_engine();
	struct item a = new_item(engine, 'a'), b = new_item(engine, 'b');

	(void)state;
	assert_int_equal(post(&a), 0);
	assert_int_equal(post(&b), 0);
	rpcrdma_engine_free(engine);
	assert_string_equal(ran, "ab");
}

static void
nothing(void *ctx)
{
	(void)ctx;
}

static void
an_engine_that_ends_takes_no_more(void **state)
{
	struct rpcrdma_engine *engine = new_engine();
	struct item a = new_item(engine, 'a');
	struct rpcrdma_timer *timer;

	(void)state;
	assert_int_equal(rpcrdma_timer_new(engine, nothing, NULL, &timer), 0);
	rpcrdma_engine_free(engine); /* the timer is left */
	assert_int_equal(post(&a), -RPCRDMA_ERR_CANCELLED);
	assert_string_equal(ran, "");
	rpcrdma_timer_free(timer);
}

/* The function was posted before the end, and woke the loop: a turn after the end finds the loop woken. */
static void
an_engine_that_was_woken_before_its_end_takes_no_more(void **state)
{
	struct rpcrdma_engine *engine = new_engine();
	struct item a = new_item(engine, 'a');
	struct rpcrdma_timer *timer;

	(void)state;
	assert_int_equal(rpcrdma_timer_new(engine, nothing, NULL, &timer), 0);
	assert_int_equal(post(&a), 0);
	rpcrdma_engine_free(engine); /* the timer is left */
	assert_string_equal(ran, "a");
	assert_int_equal(rpcrdma_engine_turn(engine, 0), 1);
	assert_int_equal(post(&a), -RPCRDMA_ERR_CANCELLED);
	rpcrdma_timer_free(timer);
}

static void
what_is_missing_is_refused(void **state)
{
	struct rpcrdma_engine *engine = new_engine();
	struct rpcrdma_post empty = { 0 };
	struct rpcrdma_timer *timer = NULL;

	(void)state;
	assert_int_equal(rpcrdma_engine_post(NULL, &empty), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_engine_post(engine, NULL), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_engine_post(engine, &empty), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_timer_new(NULL, nothing, NULL, &timer), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_timer_new(engine, NULL, NULL, &timer), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_timer_new(engine, nothing, NULL, NULL), -RPCRDMA_ERR_INVAL);
	assert_null(timer);
	rpcrdma_timer_arm(NULL, 0);
	rpcrdma_timer_disarm(NULL);
	rpcrdma_timer_free(NULL);
	rpcrdma_engine_free(engine);
}

/* ---- Threads ---- */

struct worker {
	struct rpcrdma_engine *engine;
	pthread_t thread;
	struct rpcrdma_post posts[POSTS];
	uint32_t count; /* the loop's */
};

static void
count_one(void *ctx)
{
	((struct worker *)ctx)->count++;
}

static void *
post_all(void *ctx)
{
	struct worker *worker = ctx;

	for (int i = 0; i < POSTS; i++) {
		worker->posts[i] = (struct rpcrdma_post){ .run = count_one, .ctx = worker };
		assert_int_equal(rpcrdma_engine_post(worker->engine, &worker->posts[i]), 0);
	}
	return NULL;
}

static uint32_t
count_all(const struct worker *workers)
{
	uint32_t count = 0;

	for (int i = 0; i < THREADS; i++)
		count += workers[i].count;
	return count;
}

static void
many_threads_post_at_a_time(void **state)
{
	static struct worker workers[THREADS];
	struct rpcrdma_engine *engine = new_engine();

	(void)state;
	for (int i = 0; i < THREADS; i++) {
		workers[i].engine = engine;
		assert_int_equal(pthread_create(&workers[i].thread, NULL, post_all, &workers[i]), 0);
	}
	while (count_all(workers) < THREADS * POSTS)
		assert_true(rpcrdma_engine_turn(engine, -1) >= 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	rpcrdma_engine_free(engine);
}

/* ---- Timers ---- */

struct alarm {
	struct rpcrdma_timer *timer;
	uint32_t expired, again;
	bool frees;
};

static void
expired(void *ctx)
{
	struct alarm *alarm = ctx;

	alarm->expired++;
	if (alarm->again > 0) {
		alarm->again--;
		rpcrdma_timer_arm(alarm->timer, 1);
	}
	if (alarm->frees)
		rpcrdma_timer_free(alarm->timer);
}

static void
a_timer_expires_once_each_time_it_was_armed(void **state)
{
	struct rpcrdma_engine *engine = new_engine();
	struct alarm first = { .again = 2 }, second = { 0 }, never = { 0 };

	(void)state;
	assert_int_equal(rpcrdma_timer_new(engine, expired, &first, &first.timer), 0);
	assert_int_equal(rpcrdma_timer_new(engine, expired, &second, &second.timer), 0);
	assert_int_equal(rpcrdma_timer_new(engine, expired, &never, &never.timer), 0);
	assert_true(rpcrdma_engine_due(engine) < 0);
	rpcrdma_timer_arm(never.timer, 0);
	rpcrdma_timer_arm(never.timer, UINT64_MAX);
	rpcrdma_timer_arm(first.timer, 1);
	rpcrdma_timer_arm(second.timer, 0);
	rpcrdma_timer_disarm(second.timer);
	while (first.expired < 3)
		assert_true(rpcrdma_engine_turn(engine, -1) >= 0);
	assert_int_equal(second.expired, 0);
	second.frees = true;
	rpcrdma_timer_arm(second.timer, 0);
	while (second.expired < 1)
		assert_true(rpcrdma_engine_turn(engine, -1) >= 0);
	assert_int_equal(first.expired, 3);
	assert_int_equal(never.expired, 0);
	rpcrdma_timer_free(first.timer);
	rpcrdma_timer_free(never.timer);
	rpcrdma_engine_free(engine);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_run_once_in_the_order_in_which_they_were_posted),
		cmocka_unit_test(what_is_posted_by_a_posted_function_runs_in_the_next_turn),
		cmocka_unit_test(what_was_posted_runs_before_the_engine_goes),
		cmocka_unit_test(an_engine_that_ends_takes_no_more),
		cmocka_unit_test(an_engine_that_was_woken_before_its_end_takes_no_more),
		cmocka_unit_test(what_is_missing_is_refused),
		cmocka_unit_test(many_threads_post_at_a_time),
		cmocka_unit_test(a_timer_expires_once_each_time_it_was_armed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
