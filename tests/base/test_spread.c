/* SPDX-License-Identifier: BSD-3-Clause */
/* Engines that listen at one address share the connections that come. In these tests, all of them turn in one
 * thread. */
#include "../stage.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/share/spread.h"

enum { ENGINES = 3, CONNECTIONS = 30 };

struct engine {
	struct stage stage;
	struct rr_spread_member *member;
	struct rr_spread_seat seat;
	int listener;
	int fds[CONNECTIONS];
	uint32_t count;
};

struct world {
	struct rr_spread *spread;
	struct engine engines[ENGINES];
};

static void
take(struct rr_spread_seat *seat, int fd, const struct sockaddr_storage *peer)
{
	struct engine *engine = rr_container(seat, struct engine, seat);

	assert_int_equal(peer->ss_family, AF_INET);
	engine->fds[engine->count++] = fd;
}

/* Makes an engine that listens at the address of all engines: their sockets share a port. */
static void
begin(struct world *world, struct engine *engine)
{
	struct sockaddr_in address = stage_loopback();
	socklen_t size = sizeof(address);
	const int on = 1;

	stage_init(&engine->stage);
	stage_loop(&engine->stage);
	assert_int_equal(rr_spread_join(world->spread, engine->stage.loop, &engine->member), 0);
	if (engine != world->engines)
		assert_int_equal(
			getsockname(world->engines[0].listener, (struct sockaddr *)&address, &size), 0);
	engine->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(engine->listener >= 0);
	assert_int_equal(setsockopt(engine->listener, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)), 0);
	assert_int_equal(bind(engine->listener, (struct sockaddr *)&address, sizeof(address)), 0);
	engine->seat.take = take;
	rr_spread_sit(engine->member, &engine->seat, engine->listener);
}

static int
setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	world->spread = rr_spread_new(&rr_env_system);
	assert_non_null(world->spread);
	for (int i = 0; i < ENGINES; i++)
		begin(world, &world->engines[i]);
	*state = world;
	return 0;
}

static void
drop(struct engine *engine)
{
	close(engine->fds[--engine->count]);
	rr_spread_ended(engine->member);
}

static int
teardown(void **state)
{
	struct world *world = *state;

	for (int i = 0; i < ENGINES; i++) {
		struct engine *engine = &world->engines[i];

		while (engine->count > 0)
			drop(engine);
		if (engine->listener >= 0)
			rr_spread_stand(&engine->seat);
		rr_spread_leave(engine->member);
		if (engine->listener >= 0)
			close(engine->listener);
		stage_end(&engine->stage);
	}
	rr_spread_free(world->spread);
	free(world);
	return 0;
}

/* The engine of that number accepts a connection, for which an eventfd stands. */
static void
arrive(struct world *world, int at)
{
	const struct sockaddr_storage peer = { .ss_family = AF_INET };
	struct engine *engine = &world->engines[at];
	int fd = eventfd(0, EFD_CLOEXEC);

	assert_true(fd >= 0);
	if (!rr_spread_offer(&engine->seat, fd, &peer))
		take(&engine->seat, fd, &peer);
}

static void
settle(struct world *world)
{
	for (int i = 0; i < ENGINES; i++)
		stage_settle(&world->engines[i].stage);
}

static void
all_get_the_same_number_whoever_accepts(void **state)
{
	struct world *world = *state;

	for (int i = 0; i < CONNECTIONS; i++)
		arrive(world, 1);
	settle(world);
	for (int i = 0; i < ENGINES; i++) {
		assert_int_equal(world->engines[i].count, CONNECTIONS / ENGINES);
		assert_int_equal(rr_spread_count(world->engines[i].member), CONNECTIONS / ENGINES);
	}
}

static void
the_place_of_one_that_ended_goes_to_the_next(void **state)
{
	struct world *world = *state;

	for (int i = 0; i < 9; i++)
		arrive(world, 0);
	settle(world);
	drop(&world->engines[2]);
	drop(&world->engines[2]);
	arrive(world, 0);
	arrive(world, 1);
	settle(world);
	assert_int_equal(world->engines[2].count, 3);
}

/* An engine that does not listen at the address any more gets no connections, and connections that were on
 * their way to it are closed. */
static void
one_that_ceases_to_listen_gets_no_more(void **state)
{
	struct world *world = *state;
	struct engine *gone = &world->engines[2];

	for (int i = 0; i < 3; i++)
		arrive(world, 0);
	rr_spread_stand(&gone->seat);
	close(gone->listener);
	gone->listener = -1;
	settle(world);
	assert_int_equal(gone->count, 0);
	assert_int_equal(rr_spread_count(gone->member), 0);
	for (int i = 0; i < 6; i++)
		arrive(world, 0);
	settle(world);
	assert_int_equal(gone->count, 0);
	assert_int_equal(world->engines[0].count, 4);
	assert_int_equal(world->engines[1].count, 4);
}

/* Connections that are on their way to an engine that ends are closed as well: no descriptor leaks. */
static void
one_that_ends_closes_what_was_on_its_way(void **state)
{
	struct world *world = *state;

	for (int i = 0; i < 6; i++)
		arrive(world, 0);
	assert_int_equal(world->engines[0].count, 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_get_the_same_number_whoever_accepts, setup, teardown),
		cmocka_unit_test_setup_teardown(
			the_place_of_one_that_ended_goes_to_the_next, setup, teardown),
		cmocka_unit_test_setup_teardown(one_that_ceases_to_listen_gets_no_more, setup, teardown),
		cmocka_unit_test_setup_teardown(one_that_ends_closes_what_was_on_its_way, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
