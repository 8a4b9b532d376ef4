/* SPDX-License-Identifier: BSD-3-Clause */
/* Who pays for the time of a loop, and in which order descriptors are handled. */
#include "../test.h"

#include "base/loop.h"

#include <unistd.h>

enum { WATCHES = 6 };

struct source {
	struct rr_watch watch;
	struct rr_task task;
	struct rr_payer payer, *pays;
	int ends[2];
};

static uint64_t the_time, takes;
static struct rr_env env;
static struct rr_loop *loop;
static struct source sources[WATCHES];
static struct rr_payer_host hosts[2];
static int order[4 * WATCHES], handled;

static uint64_t
now(void *ctx)
{
	(void)ctx;
	return the_time;
}

static void
ready(struct rr_watch *watch, unsigned events)
{
	char octet;

	(void)events;
	assert_int_equal(read(watch->fd, &octet, 1), 1);
	order[handled++] = (int)(rr_container(watch, struct source, watch) - sources);
	the_time += takes;
}

static void
run(struct rr_task *task)
{
	(void)task;
	the_time += takes;
}

/* The even sources belong to one host, the odd ones to the other. */
static int
setup(void **state)
{
	(void)state;
	env = rr_env_system;
	env.now = now;
	the_time = 1000;
	handled = 0;
	takes = RR_LOOP_SLICE / 100;
	loop = rr_loop_new(&env);
	assert_non_null(loop);
	for (int i = 0; i < 2; i++) {
		hosts[i] = (struct rr_payer_host){ .turn.tag = 0 };
		rr_payer_host_init(rr_loop_payers(loop), &hosts[i], (uint64_t)i + 1);
	}
	for (int i = 0; i < WATCHES; i++) {
		struct source *source = &sources[i];

		*source = (struct source){ .watch.ready = ready };
		assert_int_equal(pipe(source->ends), 0);
		rr_payer_init(&source->payer, &hosts[i % 2]);
		rr_task_init(&source->task, run);
		source->pays = &source->payer;
		source->watch.payer = source->task.payer = &source->pays;
		assert_int_equal(rr_loop_watch(loop, &source->watch, source->ends[0], RR_READABLE), 0);
	}
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	for (int i = 0; i < WATCHES; i++) {
		rr_loop_unwatch(loop, &sources[i].watch);
		close(sources[i].ends[0]);
		close(sources[i].ends[1]);
	}
	rr_loop_free(loop);
	return 0;
}

static void
let_be_ready(int i)
{
	assert_int_equal(write(sources[i].ends[1], "x", 1), 1);
}

static void
turn(void)
{
	handled = 0;
	assert_int_equal(rr_loop_turn(loop, 0), 1);
}

/* Who has used least is handled first: of the hosts, and of the payers of a host. What has no payer comes
 * before all of them. */
static void
who_used_least_is_handled_first(void **state)
{
	static const int expected[] = { 4, 1, 3, 2, 0 };

	(void)state;
	sources[4].pays = NULL;
	rr_payer_charge(rr_loop_payers(loop), &sources[0].payer, 3000);
	rr_payer_charge(rr_loop_payers(loop), &sources[2].payer, 2000);
	rr_payer_charge(rr_loop_payers(loop), &sources[3].payer, 1000);
	takes = 1;
	for (int i = 0; i < 5; i++)
		let_be_ready(i);
	turn();
	assert_int_equal(handled, 5);
	for (int i = 0; i < 5; i++)
		assert_int_equal(order[i], expected[i]);
}

/* Each pays for its own time, in callbacks and in tasks; a payer has no claim from a host that used more. */
static void
each_pays_for_its_own_time(void **state)
{
	(void)state;
	let_be_ready(0);
	let_be_ready(1);
	rr_loop_defer(loop, &sources[1].task);
	turn();
	assert_int_equal(sources[0].payer.turn.tag, takes);
	assert_int_equal(hosts[0].turn.tag, takes);
	assert_int_equal(sources[1].payer.turn.tag, 2 * takes);
	assert_int_equal(hosts[1].turn.tag, 2 * takes);
	/* A task alone pays, too, if something else was done before it: here, that of a watch without a
	 * payer. */
	sources[4].pays = NULL;
	let_be_ready(4);
	rr_loop_defer(loop, &sources[3].task);
	turn();
	assert_int_equal(sources[3].payer.turn.tag, takes);
}

/* Nobody is charged where nobody waits. */
static void
who_is_alone_pays_nothing(void **state)
{
	(void)state;
	let_be_ready(0);
	rr_loop_defer(loop, &sources[0].task);
	turn();
	assert_int_equal(sources[0].payer.turn.tag, 0);
	assert_false(rr_loop_charges(loop));
}

/* A turn ends when its time is over; those that are left come in the next turns, of which each handles one at
 * least, and those that come new and have used little are not behind them. */
static void
a_turn_has_an_end(void **state)
{
	(void)state;
	takes = RR_LOOP_SLICE;
	for (int i = 0; i < WATCHES - 1; i++)
		let_be_ready(i);
	turn();
	assert_int_equal(handled, 1);
	assert_int_equal(order[0], 0);
	turn();
	assert_int_equal(handled, 1);
	assert_int_equal(order[0], 1);
	rr_payer_charge(rr_loop_payers(loop), &sources[1].payer, RR_MILLISECOND);
	let_be_ready(0);
	turn();
	assert_int_equal(handled, 1);
	assert_in_range(order[0], 2, 4);
	for (int i = 0; i < 3; i++)
		turn();
	assert_int_equal(rr_loop_turn(loop, 0), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(who_used_least_is_handled_first, setup, teardown),
		cmocka_unit_test_setup_teardown(each_pays_for_its_own_time, setup, teardown),
		cmocka_unit_test_setup_teardown(who_is_alone_pays_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(a_turn_has_an_end, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
