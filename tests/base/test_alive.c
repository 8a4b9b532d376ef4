/* SPDX-License-Identifier: BSD-3-Clause */
#include "../stage.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alive.h"

/* Both ends of a TCP connection. The test moves the clock of the loop, but not that of the system's TCP. */
struct world {
	struct stage stage;
	struct rr_alive alive;
	uint32_t deaths;
	int fd, peer;
};

enum { TURNS = 300 }; /* of 10 ms at most: a repetition takes 200 ms to come */
#define LIMIT (100 * RR_MILLISECOND)

static void
died(struct rr_alive *alive)
{
	struct world *world = rr_container(alive, struct world, alive);

	world->deaths++;
	rr_alive_stop(alive);
}

static int
setup(void **state)
{
	static struct world world;
	struct sockaddr_in address = stage_loopback();
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	world = (struct world){ .fd = socket(AF_INET, SOCK_STREAM, 0) };
	stage_init(&world.stage);
	stage_loop(&world.stage);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
	assert_int_equal(connect(world.fd, (struct sockaddr *)&address, size), 0);
	world.peer = accept(listener, NULL, NULL);
	assert_true(world.peer >= 0);
	close(listener);
	rr_alive_init(&world.alive, died);
	rr_alive_start(&world.alive, world.stage.loop, world.fd, LIMIT);
	*state = &world;
	return 0;
}

static int
teardown(void **state)
{
	struct world *world = *state;

	rr_alive_stop(&world->alive);
	stage_end(&world->stage);
	close(world->fd);
	close(world->peer);
	return 0;
}

/* Drops every segment that comes to the peer, as if the peer had lost its power. */
static void
kill_peer(struct world *world)
{
	struct sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
	const struct sock_fprog program = { 1, &drop };

	assert_int_equal(setsockopt(world->peer, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)), 0);
}

static void
turn(struct world *world, int64_t wait)
{
	world->stage.now += LIMIT;
	assert_true(rr_loop_turn(world->stage.loop, wait) >= 0);
}

static void
a_peer_that_acknowledges_nothing_is_dead(void **state)
{
	struct world *world = *state;

	kill_peer(world);
	assert_int_equal(send(world->fd, "x", 1, 0), 1);
	for (int i = 0; i < TURNS && world->deaths == 0; i++) {
		poll(NULL, 0, 10); /* TCP repeats its segments in real time */
		turn(world, 0);
	}
	assert_int_equal(world->deaths, 1);
	turn(world, 0);
	assert_int_equal(world->deaths, 1);
}

static void
a_peer_that_has_nothing_to_say_lives(void **state)
{
	struct world *world = *state;

	assert_int_equal(send(world->fd, "x", 1, 0), 1);
	for (int i = 0; i < 50; i++)
		turn(world, 0);
	assert_int_equal(world->deaths, 0);
}

/* The peer's window is closed, but its TCP answers. */
static void
a_peer_that_reads_nothing_lives(void **state)
{
	static uint8_t octets[1 << 16];
	struct world *world = *state;

	while (send(world->fd, octets, sizeof(octets), MSG_DONTWAIT) > 0)
		;
	for (int i = 0; i < 50; i++)
		turn(world, RR_MILLISECOND);
	assert_int_equal(world->deaths, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_peer_that_acknowledges_nothing_is_dead, setup, teardown),
		cmocka_unit_test_setup_teardown(a_peer_that_has_nothing_to_say_lives, setup, teardown),
		cmocka_unit_test_setup_teardown(a_peer_that_reads_nothing_lives, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
