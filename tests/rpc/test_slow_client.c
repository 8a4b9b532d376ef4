/* SPDX-License-Identifier: BSD-3-Clause */
/* What a server does with a client that asks for more than it takes, or sends less than it began: the
 * memory that the client may hold, and the time that it has while others wait. */
#include "octets.h"

#include <unistd.h>

#include "base/endian.h"
#include "suite.h"

/* The client sends calls and does not read the replies: the socket and the credits bound how many calls
 * are handled. */
static void
a_client_that_does_not_read_is_not_read_from(void **state)
{
	enum { CALLS = 100, LENGTH = 1 << 20 };
	struct world *world = *state;
	struct rr_octets call = rr_hex("8000002c" CALL "00000009" NO_AUTH "00100000");
	int fd = raw_connect(world);
	uint8_t *reply = malloc(LENGTH + 100);

	for (int i = 0; i < CALLS; i++)
		assert_int_equal(send(fd, call.data, call.size, MSG_NOSIGNAL), call.size);
	world_settle(world);
	assert_true(world->handled > 0);
	assert_true(world->handled < CALLS);
	assert_true(rr_pool_peak(world->stage.engine->results) <= world->stage.engine->config.memory_max / 2);
	for (int i = 0; i < CALLS; i++)
		assert_int_equal(raw_receive(world, fd, reply, LENGTH + 100), 24 + 4 + 4 + LENGTH + 4);
	assert_int_equal(world->handled, CALLS);
	free(reply);
	assert_alive(world, fd);
}

/* A server takes as many calls of a connection as the connection has credits; it takes further calls when
 * these are answered. */
static void
a_client_has_no_more_calls_outstanding_than_credits(void **state)
{
	enum { CALLS = 100 };
	struct world *world = *state;
	struct rr_octets call = rr_hex("8000002c" CALL "00000005" NO_AUTH "00000007");
	struct rpcrdma_counters counters;
	int fd = raw_connect(world);

	world_hold(world);
	for (int i = 0; i < CALLS; i++)
		raw_send(world, fd, call.data, call.size);
	world_settle(world);
	rr_server_counters(world->server, &counters);
	assert_int_equal(counters.calls, world->stage.engine->config.credits);
	world_let_go(world);
	for (int i = 0; i < CALLS; i++)
		assert_reply(world, fd, SUCCESS "00000007");
	assert_alive(world, fd);
}

/* Sends that many calls of ECHO_LATER in one piece. */
static void
send_at_once(int fd, size_t calls)
{
	struct rr_octets call = rr_hex("8000002c" CALL "00000005" NO_AUTH "00000007");
	uint8_t octets[100 * 48];

	assert_int_equal(call.size, 48);
	assert_true(calls <= 100);
	for (size_t i = 0; i < calls; i++)
		memcpy(octets + i * call.size, call.data, call.size);
	assert_int_equal(write(fd, octets, calls * call.size), calls * call.size);
}

/* Checks that another connection works, which reads into the same staging buffer. */
static void
assert_alive_beside(struct world *world)
{
	int fd = raw_connect(world);

	raw_send_hex(world, fd, NULL_CALL);
	assert_reply(world, fd, SUCCESS);
	close(fd);
}

/* Octets that were read and cannot be handled yet are kept: whole calls, and the beginning of another
 * call. */
static void
calls_beyond_the_credits_wait_though_they_were_read(void **state)
{
	struct world *world = *state;
	struct rr_octets call = rr_hex("8000002c" CALL "00000005" NO_AUTH "00000007");
	struct rpcrdma_counters counters;
	int fd = raw_connect(world);

	world_hold(world);
	send_at_once(fd, 99);
	assert_int_equal(write(fd, call.data, 20), 20);
	world_settle(world);
	rr_server_counters(world->server, &counters);
	assert_int_equal(counters.calls, world->stage.engine->config.credits);
	assert_alive_beside(world);
	world_let_go(world);
	for (int i = 0; i < 99; i++)
		assert_reply(world, fd, SUCCESS "00000007");
	raw_send(world, fd, call.data + 20, call.size - 20);
	assert_reply(world, fd, SUCCESS "00000007");
	assert_alive(world, fd);
}

/* A server that waits for its events answers in small batches, so that neither side falls asleep; a server
 * that does not wait needs fewer system calls with larger ones. */
static void
replies_leave_while_other_calls_of_the_batch_are_being_served(void **state)
{
	enum { CALLS = 60 };
	struct world *world = *state;
	int fd = raw_connect(world);

	for (int waits = 0; waits <= 1; waits++) {
		int64_t timeout = waits ? RR_MILLISECOND : 0;

		world_settle(world);
		world->peer = fd;
		world->heard = world->handled = 0;
		send_at_once(fd, CALLS);
		turn_until(
			world->handled == CALLS, assert_true(rr_loop_turn(world->stage.loop, timeout) >= 0));
		world->peer = 0;
		assert_in_range(world->heard, waits ? 2 : 18, waits ? 17 : 33);
		for (int i = 0; i < CALLS; i++)
			assert_reply(world, fd, SUCCESS "00000007");
	}
	assert_alive(world, fd);
}

/* More replies wait for their clients than there are blocks: the other calls have to wait, and are
 * answered then. */
static void
replies_that_nobody_reads_hold_up_the_others_for_a_while_only(void **state)
{
	enum { CLIENTS = 8, CALLS = 64, LENGTH = 1 << 17 };
	struct world *world = *state;
	struct rr_octets call = rr_hex("8000002c" CALL "00000009" NO_AUTH "00020000");
	uint8_t *reply = malloc(LENGTH + 100);
	int fds[CLIENTS];

	for (int i = 0; i < CLIENTS; i++) {
		fds[i] = raw_connect(world);
		for (int j = 0; j < CALLS; j++)
			assert_int_equal(send(fds[i], call.data, call.size, MSG_NOSIGNAL), call.size);
		world_settle(world);
	}
	assert_true(world->handled < CLIENTS * CALLS);
	assert_alive_beside(world);
	for (int i = 0; i < CLIENTS; i++) {
		for (int j = 0; j < CALLS; j++)
			assert_int_equal(raw_receive(world, fds[i], reply, LENGTH + 100), 36 + LENGTH);
		close(fds[i]);
	}
	free(reply);
	assert_alive(world, raw_connect(world));
}

/* ---- Others wait for memory ---- */

/* Makes a world whose engine has so little memory that a few large messages fill it. */
static struct world *
world_with_little_memory(void)
{
	struct rr_engine_config config = rr_engine_config_default;

	config.memory_max = 4 << 20;
	return world_new(&config);
}

/* Moves the clock until octets arrive, by no more than a call may have to wait. */
static void
assert_answered_soon(struct world *world, int fd)
{
	uint64_t began = world->stage.now;
	uint8_t octet;

	while (recv(fd, &octet, 1, MSG_PEEK) < 0 && world->stage.now - began <= 2 * RR_SECOND)
		world_pass(world, 25 * RR_MILLISECOND);
	assert_true(world->stage.now - began <= 2 * RR_SECOND);
}

static void
send_fetches(struct world *world, int fd, int count)
{
	struct rr_octets call = rr_hex("8000002c" CALL "00000009" NO_AUTH "00080000");

	for (int i = 0; i < count; i++)
		raw_send(world, fd, call.data, call.size);
}

/* Some clients ask for much and read no replies; another client asks for as much once. */
static void
a_client_that_reads_nothing_is_cut_off_while_others_wait_for_memory(void **state)
{
	enum { SILENT = 3, CALLS = 60, LENGTH = 1 << 19 };
	struct world *world = world_with_little_memory();
	uint8_t *reply = malloc(LENGTH + 100);
	int silent[SILENT], fd;

	(void)state;
	for (int i = 0; i < SILENT; i++) {
		silent[i] = raw_connect(world);
		send_fetches(world, silent[i], CALLS);
		world_settle(world);
	}
	world_pass(world, 10 * RR_SECOND);
	assert_int_equal(rr_server_connections(world->server), 1 + SILENT);
	assert_alive_beside(world);
	fd = raw_connect(world);
	send_fetches(world, fd, 1);
	world_settle(world);
	assert_answered_soon(world, fd);
	assert_int_equal(raw_receive(world, fd, reply, LENGTH + 100), 36 + LENGTH);
	assert_in_range(rr_server_connections(world->server), 2, 1 + SILENT);
	for (int i = 0; i < SILENT; i++)
		close(silent[i]);
	close(fd);
	free(reply);
	world_free(world);
}

/* Before a call is served there must be memory for its largest reply; afterwards only the memory of the
 * actual reply stays in use. */
static void
a_reply_that_nobody_reads_holds_no_more_memory_than_it_needs(void **state)
{
	enum { FIRST = 16, LARGE = 20, REPLY = 8192 };
	struct world *world = *state;
	struct rr_octets large = rr_hex("8000002c" CALL "00000004" NO_AUTH "000004e2"); /* 5000 octets */
	struct rr_octets small = rr_hex("8000002c" CALL "00000004" NO_AUTH "00000000");
	int fd = raw_connect(world);
	size_t before;

	send_fetches(world, fd, FIRST);
	world_settle(world);
	before = rr_pool_used(world->stage.engine->results);
	assert_true(before > 0);
	/* After a small reply, the server does not expect that the next reply is large. */
	for (int i = 0; i < LARGE; i++) {
		raw_send(world, fd, small.data, small.size);
		raw_send(world, fd, large.data, large.size);
	}
	world_settle(world);
	assert_int_equal(world->handled, FIRST + 2 * LARGE);
	/* The system may have taken some of the first replies meanwhile. */
	assert_true(rr_pool_used(world->stage.engine->results) > 0);
	assert_true(rr_pool_used(world->stage.engine->results) <= before + (size_t)LARGE * REPLY);
	close(fd);
	world_settle(world);
	assert_int_equal(world_memory(world), 0);
}

/* In whatever fragments a record comes, its first octets cost a peer no effort, and hold no memory. */
static void
a_record_of_which_little_came_holds_no_memory(void **state)
{
	enum { LENGTH = 600000, FRAGMENT = 1000, LITTLE = 20 };
	struct world *world = *state;
	struct rr_octets call = rr_hex(NULL_CALL);
	uint8_t *record = calloc(1, 4 + LENGTH), mark[4];
	int whole = raw_connect(world), cut = raw_connect(world);

	rr_put_be32(record, LENGTH | 0x80000000);
	memcpy(record + 4, call.data, call.size);
	raw_send(world, whole, record, LITTLE * FRAGMENT);
	for (int i = 0; i < LITTLE; i++) {
		rr_put_be32(mark, FRAGMENT);
		raw_send(world, cut, mark, sizeof(mark));
		raw_send(world, cut, record + 4 + i * FRAGMENT, FRAGMENT);
	}
	world_settle(world);
	assert_int_equal(world_memory(world), 0);
	raw_send(world, whole, record + LITTLE * FRAGMENT, LITTLE * FRAGMENT);
	world_settle(world);
	assert_in_range(world_memory(world), LENGTH, 2 * LENGTH);
	raw_send(world, whole, record + 2 * LITTLE * FRAGMENT, 4 + LENGTH - 2 * LITTLE * FRAGMENT);
	assert_reply(world, whole, GARBAGE_ARGS);
	raw_send(world, cut, "\x80\0\0\0", 4);
	assert_reply(world, cut, GARBAGE_ARGS);
	close(whole);
	close(cut);
	free(record);
	world_settle(world);
	assert_int_equal(world_memory(world), 0);
}

/* Clients begin a long record and do not go on, or go on by a single octet from time to time. */
static void
a_record_that_does_not_go_on_is_given_up_while_others_wait_for_memory(void **state)
{
	enum { SLOW = 3, LENGTH = 600000, BEGUN = 40000 };
	struct world *world = world_with_little_memory();
	struct rr_octets call = rr_hex(NULL_CALL);
	uint8_t *record = calloc(1, 4 + LENGTH);
	int slow[SLOW], fd;

	(void)state;
	rr_put_be32(record, LENGTH | 0x80000000);
	memcpy(record + 4, call.data, call.size);
	for (int i = 0; i < SLOW; i++) {
		slow[i] = raw_connect(world);
		raw_send(world, slow[i], record, BEGUN);
		world_settle(world);
	}
	world_pass(world, 10 * RR_SECOND);
	for (int i = 0; i < SLOW; i++)
		assert_int_equal(send(slow[i], record + BEGUN, 1, MSG_NOSIGNAL), 1);
	fd = raw_connect(world);
	for (int sent = 0; sent < 4 + LENGTH;) {
		ssize_t got = send(fd, record + sent, (size_t)(4 + LENGTH - sent), MSG_NOSIGNAL);

		sent += got > 0 ? (int)got : 0;
		world_pass(world, 25 * RR_MILLISECOND);
	}
	assert_answered_soon(world, fd);
	for (int i = 0; i < SLOW; i++)
		close(slow[i]);
	close(fd);
	free(record);
	world_free(world);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		suite_test(a_client_that_does_not_read_is_not_read_from),
		suite_test(a_client_has_no_more_calls_outstanding_than_credits),
		suite_test(calls_beyond_the_credits_wait_though_they_were_read),
		suite_test(replies_leave_while_other_calls_of_the_batch_are_being_served),
		suite_test(replies_that_nobody_reads_hold_up_the_others_for_a_while_only),
		cmocka_unit_test(a_client_that_reads_nothing_is_cut_off_while_others_wait_for_memory),
		suite_test(a_reply_that_nobody_reads_holds_no_more_memory_than_it_needs),
		suite_test(a_record_of_which_little_came_holds_no_memory),
		cmocka_unit_test(a_record_that_does_not_go_on_is_given_up_while_others_wait_for_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
