/* SPDX-License-Identifier: BSD-3-Clause */
/* An engine that looks for what comes next before it sleeps, and stops looking when nothing comes. */
#include "../test.h"

#include "carrier/engine.h"

/* The clock of the engine goes on by a microsecond with each look at it, or is that of the system. */
static uint64_t looks, the_time;
static bool is_real;

static uint64_t
look_at_clock(void *ctx)
{
	(void)ctx;
	looks++;
	the_time = is_real ? rr_now(&rr_env_system) : the_time + RR_MICROSECOND;
	return the_time;
}

static struct rpcrdma_engine *
new_engine(uint32_t poll)
{
	static struct rr_env env;
	struct rr_engine_config config = rr_engine_config_default;
	struct rpcrdma_engine *engine;

	env = rr_env_system;
	env.now = look_at_clock;
	config.poll = poll;
	assert_int_equal(rr_engine_new(&env, &config, &engine), 0);
	return engine;
}

/* How often a turn looks that finds nothing to do, and may last for a millisecond. */
static uint64_t
looks_of_an_empty_turn(struct rpcrdma_engine *engine)
{
	uint64_t before = looks;

	assert_int_equal(rpcrdma_engine_turn(engine, RR_MILLISECOND), 0);
	return looks - before;
}

static void
make_busy(struct rpcrdma_engine *engine)
{
	rpcrdma_engine_wake(engine);
	assert_int_equal(rpcrdma_engine_turn(engine, RR_SECOND), 1);
}

static void
an_engine_looks_again_for_so_long_after_it_was_busy(void **state)
{
	struct rpcrdma_engine *engine = new_engine(200);

	(void)state;
	make_busy(engine);
	assert_in_range(looks_of_an_empty_turn(engine), 200, 210);
	rpcrdma_engine_free(engine);
}

static void
an_idle_engine_looks_for_so_long_once_and_then_sleeps(void **state)
{
	struct rpcrdma_engine *engine = new_engine(200);

	(void)state;
	make_busy(engine);
	looks_of_an_empty_turn(engine);
	is_real = true; /* each turn below sleeps for a millisecond, which is more than the 200 us */
	for (int i = 0; i < 5; i++)
		assert_in_range(looks_of_an_empty_turn(engine), 0, 5);
	is_real = false;
	make_busy(engine);
	assert_in_range(looks_of_an_empty_turn(engine), 200, 210);
	rpcrdma_engine_free(engine);
}

static void
an_engine_sleeps_at_once_by_default(void **state)
{
	struct rpcrdma_engine *engine = new_engine(0);

	(void)state;
	make_busy(engine);
	assert_in_range(looks_of_an_empty_turn(engine), 0, 5);
	rpcrdma_engine_free(engine);
}

static void
an_engine_looks_for_a_millisecond_at_most(void **state)
{
	struct rpcrdma_engine_config config = { .size = sizeof(config), .poll = RR_ENGINE_POLL_MAX };
	struct rpcrdma_engine *engine = NULL;

	(void)state;
	assert_int_equal(rpcrdma_engine_new(&config, &engine), 0);
	assert_int_equal(engine->config.poll, 1000);
	rpcrdma_engine_free(engine);
	config.poll++;
	assert_int_equal(rpcrdma_engine_new(&config, &engine), -RPCRDMA_ERR_INVAL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_engine_looks_again_for_so_long_after_it_was_busy),
		cmocka_unit_test(an_idle_engine_looks_for_so_long_once_and_then_sleeps),
		cmocka_unit_test(an_engine_sleeps_at_once_by_default),
		cmocka_unit_test(an_engine_looks_for_a_millisecond_at_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
