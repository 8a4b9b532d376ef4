/* SPDX-License-Identifier: BSD-3-Clause */
/* What a server does with the calls of a client that has ended its stream, or has gone. */
#include "octets.h"

#include <unistd.h>

#include "suite.h"

static void
assert_ended(struct world *world, int fd)
{
	assert_closed(world, fd);
	world_settle(world);
	assert_int_equal(world_memory(world), 0);
	assert_alive(world, raw_connect(world));
}

enum { WITH_RAW = 2 }; /* connections: that of the world's client, and the test's own */

/* Sends a call that the server's handler keeps, the beginning of another call, and the end of the client's
 * stream. */
static int
call_and_end_stream(struct world *world)
{
	struct rr_octets calls = rr_hex("8000002c" CALL "0000000b" NO_AUTH "00000007"
					"8000002c" CALL "0000000b");
	int fd = raw_connect(world);

	world->keeping = true;
	raw_send(world, fd, calls.data, calls.size);
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	world_until(world, world->kept_count == 1);
	world_settle(world);
	return fd;
}

/* RFC 9293, 3.6: "The user who CLOSEs may continue to RECEIVE until the TCP receiver is told that the remote
 * peer has CLOSED also." */
static void
a_client_that_ended_its_stream_gets_the_replies_to_its_calls(void **state)
{
	struct world *world = *state;
	int fd = call_and_end_stream(world);

	assert_int_equal(world->lost, 0);
	assert_int_equal(rr_server_connections(world->server), WITH_RAW);
	world_answer_kept(world);
	assert_reply(world, fd, SUCCESS "00000007");
	assert_closed(world, fd);
	world_until(world, rr_server_connections(world->server) < WITH_RAW);
	assert_int_equal(world_memory(world), 0);
}

/* Replies that the socket has no room for are written as the client reads. */
static void
large_replies_follow_the_end_of_the_clients_stream(void **state)
{
	enum { CALLS = 32, LENGTH = 1 << 17 };
	struct world *world = *state;
	struct rr_octets call = rr_hex("8000002c" CALL "00000009" NO_AUTH "00020000");
	uint8_t *reply = malloc(LENGTH + 100);
	int fd = raw_connect(world);

	for (int i = 0; i < CALLS; i++)
		raw_send(world, fd, call.data, call.size);
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	for (int i = 0; i < CALLS; i++)
		assert_int_equal(raw_receive(world, fd, reply, LENGTH + 100), 36 + LENGTH);
	free(reply);
	assert_ended(world, fd);
}

/* The client closed its receiving side, too: the server sees that when it writes the reply. */
static void
the_reply_to_a_client_that_closed_ends_the_connection(void **state)
{
	struct world *world = *state;

	close(call_and_end_stream(world));
	world_settle(world);
	world_answer_kept(world);
	world_until(world, rr_server_connections(world->server) < WITH_RAW);
	assert_int_equal(world_memory(world), 0);
}

/* The server's shutdown waits for calls that are being answered, whichever side ended its stream first. */
static void
a_server_shuts_down_after_the_end_of_the_clients_stream(void **state)
{
	struct world *world = *state;
	int fd = call_and_end_stream(world);

	rr_server_shutdown(world->server);
	world_settle(world);
	world_answer_kept(world);
	assert_reply(world, fd, SUCCESS "00000007");
	assert_closed(world, fd);
}

/* The server does not read the calls that the client sends after the shutdown; they must not cause the
 * loss of the reply, either. */
static void
a_reply_survives_a_shutdown_while_more_calls_come(void **state)
{
	enum { LENGTH = 1 << 20 };
	struct world *world = *state;
	uint8_t *reply = malloc(LENGTH + 100);
	int fd = raw_connect(world);

	rr_client_free(world->client);
	world->client = NULL;
	world_hold(world);
	for (int i = 0; i < 8; i++)
		raw_send_hex(world, fd, CALL "00000009" NO_AUTH "00100000");
	world_settle(world);
	rr_server_shutdown(world->server);
	world_settle(world);
	raw_send_hex(world, fd, NULL_CALL);
	world_settle(world);
	world_let_go(world);
	for (int i = 0; i < 8; i++)
		assert_int_equal(raw_receive(world, fd, reply, LENGTH + 100), 36 + LENGTH);
	world_settle(world);
	assert_int_equal(recv(fd, reply, 1, 0), 0);
	assert_false(rr_server_idle(world->server));
	world_pass(world, RR_SECOND); /* the server does not wait longer for a client that does not close */
	assert_true(rr_server_idle(world->server));
	close(fd);
	free(reply);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		suite_test(a_reply_survives_a_shutdown_while_more_calls_come),
		suite_test(a_client_that_ended_its_stream_gets_the_replies_to_its_calls),
		suite_test(large_replies_follow_the_end_of_the_clients_stream),
		suite_test(the_reply_to_a_client_that_closed_ends_the_connection),
		suite_test(a_server_shuts_down_after_the_end_of_the_clients_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
