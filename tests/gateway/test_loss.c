/* SPDX-License-Identifier: BSD-3-Clause */
/* When a connection is lost, a gateway neither answers nor repeats a call that may have been executed. */
#include "chain.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "ulb/nfs3.h"

enum { NFS = 100003, XID = 800 };

/* Makes a REMOVE, which must not be executed twice. */
static struct message *
removal(uint32_t xid)
{
	return call_message(xid, NFS, 3, NFSPROC3_REMOVE, NULL, 60);
}

static void
lose_server(struct chain *chain)
{
	close(chain->server);
	chain->server = -1;
}

/* Closes the client's socket with a reset, without a FIN: the client gives its calls up. */
static void
reset(int fd)
{
	static const struct linger none = { .l_onoff = 1, .l_linger = 0 };

	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none)), 0);
	close(fd);
}

static void
expect_no_connection(struct chain *chain)
{
	world_settle(chain->world);
	assert_int_equal(accept(chain->listener, NULL, NULL), -1);
	assert_int_equal(errno, EAGAIN);
}

/* Sends the same call over new connections, as the client's own protocol has it. */
static void
repeat(struct chain *chain, uint32_t xid)
{
	struct message *call = removal(xid);

	chain->client = chain_client(chain);
	send_message(chain, chain->client, call);
	chain->server = raw_accept(chain->world, chain->listener);
	expect_message(chain, chain->server, call);
	expect_nothing(chain, chain->server);
	pass_message(chain, chain->server, chain->client, reply_message(xid, 92));
	expect_nothing(chain, chain->client);
}

static void
a_lost_server_is_a_lost_connection_to_the_client(void **state)
{
	struct chain *chain = *state;

	pass_message(chain, chain->client, chain->server, removal(XID));
	lose_server(chain);
	assert_closed(chain->world, chain->client);
	expect_no_connection(chain);
	repeat(chain, XID);
	expect_no_connection(chain);
}

static void
answers_that_came_are_let_out_before(void **state)
{
	struct chain *chain = *state;
	struct message *reply = reply_message(XID, 92);

	pass_message(chain, chain->client, chain->server, removal(XID));
	pass_message(chain, chain->client, chain->server, removal(XID + 1));
	send_message(chain, chain->server, reply);
	lose_server(chain);
	expect_message(chain, chain->client, reply);
	assert_closed(chain->world, chain->client);
	expect_no_connection(chain);
	repeat(chain, XID + 1);
}

static void
a_lost_client_is_a_lost_connection_to_the_server(void **state)
{
	struct chain *chain = *state;

	pass_message(chain, chain->client, chain->server, removal(XID));
	reset(chain->client);
	chain->client = -1;
	assert_closed(chain->world, chain->server);
	repeat(chain, XID);
}

/* No more calls come from the client, but it may take the answers: the server's connection stays until
 * then. */
static void
a_client_that_ended_its_stream_gets_its_answers(void **state)
{
	struct chain *chain = *state;

	pass_message(chain, chain->client, chain->server, removal(XID));
	pass_message(chain, chain->client, chain->server, removal(XID + 1));
	assert_int_equal(shutdown(chain->client, SHUT_WR), 0);
	expect_nothing(chain, chain->server);
	pass_message(chain, chain->server, chain->client, reply_message(XID + 1, 92));
	pass_message(chain, chain->server, chain->client, reply_message(XID, 3000));
	assert_closed(chain->world, chain->client);
	assert_closed(chain->world, chain->server);
	chain->client = chain->server = -1;
}

/* A callback to such a client cannot be answered: it is not passed on, and does no harm to calls. */
static void
a_client_that_ended_its_stream_is_not_called_back(void **state)
{
	struct chain *chain = *state;
	struct message *callback = call_message(XID, 0x40000000, 1, 1, NULL, 60);

	pass_message(chain, chain->client, chain->server, removal(XID));
	assert_int_equal(shutdown(chain->client, SHUT_WR), 0);
	world_settle(chain->world);
	send_message(chain, chain->server, callback);
	free(callback);
	expect_nothing(chain, chain->client);
	pass_message(chain, chain->server, chain->client, reply_message(XID, 92));
	assert_closed(chain->world, chain->client);
	chain->client = -1;
}

/* The client has closed its receiving side, too: the first answer shows that. */
static void
an_answer_to_a_client_that_closed_ends_its_connections(void **state)
{
	struct chain *chain = *state;
	struct message *reply = reply_message(XID, 92);

	pass_message(chain, chain->client, chain->server, removal(XID));
	pass_message(chain, chain->client, chain->server, removal(XID + 1));
	close(chain->client);
	chain->client = -1;
	expect_nothing(chain, chain->server);
	send_message(chain, chain->server, reply);
	free(reply);
	assert_closed(chain->world, chain->server);
	repeat(chain, XID + 1);
}

/* Over RDMA the first call cannot have been lost: the second call waits with it for the answer. */
static void
a_call_that_comes_again_is_not_passed_on_twice(void **state)
{
	struct chain *chain = *state;

	pass_message(chain, chain->client, chain->server, removal(XID));
	for (int i = 0; i < 2; i++) {
		struct message *call = removal(XID);

		send_message(chain, chain->client, call);
		free(call);
		expect_nothing(chain, chain->server);
	}
	pass_message(chain, chain->server, chain->client, reply_message(XID, 92));
	expect_nothing(chain, chain->client);
}

static bool
is_closed(int fd)
{
	uint8_t octet;

	return recv(fd, &octet, 1, MSG_PEEK) == 0;
}

static void
lose_listener(struct chain *chain)
{
	close(chain->listener);
	chain->listener = -1;
}

/* No call was sent: the end of its connection tells that to the client, which may come again. A client
 * that does so at once does not connect more often than a few times a minute. */
static void
a_server_that_is_not_there_costs_the_connection_after_a_while(void **state)
{
	enum { TIMES_MAX = 6 };
	struct chain *chain = chain_new(NULL, NULL);
	uint64_t began = chain->world->stage.now;
	uint32_t times = 0;

	(void)state;
	lose_listener(chain);
	while (chain->world->stage.now - began < 60 * RR_SECOND) {
		struct message *call = removal(XID + times++);

		chain->client = chain_client(chain);
		send_message(chain, chain->client, call);
		free(call);
		while (!is_closed(chain->client)) {
			chain_pass(chain, 100 * RR_MILLISECOND);
			assert_true(chain->world->stage.now - began < 90 * RR_SECOND);
		}
		close(chain->client);
		chain->client = -1;
		assert_true(times <= TIMES_MAX);
	}
	chain_pass(chain, RR_SECOND);
	chain_free(chain);
}

/* No call was sent, so no call can be executed twice. */
static void
a_server_that_comes_back_gets_the_calls_that_waited(void **state)
{
	struct chain *chain = chain_new(NULL, NULL);
	struct message *calls[] = { removal(XID), removal(XID + 1) };
	struct sockaddr_in address;
	socklen_t size = sizeof(address);
	uint64_t began;

	(void)state;
	assert_int_equal(getsockname(chain->listener, (struct sockaddr *)&address, &size), 0);
	lose_listener(chain);
	chain->client = chain_client(chain);
	for (int i = 0; i < 2; i++) {
		send_message(chain, chain->client, calls[i]);
		chain_pass(chain, 2 * RR_SECOND);
	}
	chain->listener = raw_listen_at(&address);
	began = chain->world->stage.now;
	while ((chain->server = accept4(chain->listener, NULL, NULL, SOCK_NONBLOCK)) < 0) {
		chain_pass(chain, 100 * RR_MILLISECOND);
		assert_true(chain->world->stage.now - began < 10 * RR_SECOND);
	}
	for (int i = 0; i < 2; i++)
		expect_message(chain, chain->server, calls[i]);
	pass_message(chain, chain->server, chain->client, reply_message(XID + 1, 92));
	pass_message(chain, chain->server, chain->client, reply_message(XID, 92));
	chain_pass(chain, 20 * RR_SECOND);
	assert_false(is_closed(chain->client));
	chain_free(chain);
}

/* The gateway does not wait for a client that goes away. */
static void
a_client_may_go_while_its_server_is_sought(void **state)
{
	struct chain *chain = chain_new(NULL, NULL);
	struct message *call = removal(XID);
	struct rr_gateway_counters counters;

	(void)state;
	lose_listener(chain);
	chain->client = chain_client(chain);
	send_message(chain, chain->client, call);
	free(call);
	chain_pass(chain, RR_SECOND);
	reset(chain->client);
	chain->client = -1;
	chain_pass(chain, 0);
	rr_gateway_counters(chain->near, &counters);
	assert_int_equal(counters.open, 0);
	rr_gateway_counters(chain->far, &counters);
	assert_int_equal(counters.open, 0);
	chain_pass(chain, 20 * RR_SECOND);
	chain_free(chain);
}

/* Clients that connect and send no calls do not keep other clients out; a client that calls keeps its
 * connection. */
static void
silent_clients_keep_no_other_out(void **state)
{
	enum { SILENT = 12 };
	struct rr_engine_config config = rr_engine_config_default;
	struct message *call = removal(XID);
	struct chain *chain;
	int silent[SILENT];

	(void)state;
	config.connection_max = 4;
	chain = chain_new_on(&config, false, NULL, NULL);
	chain_connect(chain);
	for (int i = 0; i < SILENT; i++) {
		silent[i] = chain_client(chain);
		world_settle(chain->world);
	}
	assert_closed(chain->world, silent[0]);
	silent[0] = chain_client(chain);
	send_message(chain, silent[0], call);
	free(call);
	world_settle(chain->world);
	close(raw_accept(chain->world, chain->listener));
	pass_message(chain, chain->client, chain->server, removal(XID + 1));
	pass_message(chain, chain->server, chain->client, reply_message(XID + 1, 8));
	for (int i = 0; i < SILENT; i++)
		close(silent[i]);
	chain_free(chain);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_lost_server_is_a_lost_connection_to_the_client, chain_setup, chain_teardown),
		cmocka_unit_test_setup_teardown(
			answers_that_came_are_let_out_before, chain_setup, chain_teardown),
		cmocka_unit_test_setup_teardown(
			a_lost_client_is_a_lost_connection_to_the_server, chain_setup, chain_teardown),
		cmocka_unit_test_setup_teardown(
			a_client_that_ended_its_stream_gets_its_answers, chain_setup, chain_teardown),
		cmocka_unit_test_setup_teardown(
			a_client_that_ended_its_stream_is_not_called_back, chain_setup, chain_teardown),
		cmocka_unit_test_setup_teardown(
			an_answer_to_a_client_that_closed_ends_its_connections, chain_setup, chain_teardown),
		cmocka_unit_test_setup_teardown(
			a_call_that_comes_again_is_not_passed_on_twice, chain_setup, chain_teardown),
		cmocka_unit_test(a_server_that_is_not_there_costs_the_connection_after_a_while),
		cmocka_unit_test(a_server_that_comes_back_gets_the_calls_that_waited),
		cmocka_unit_test(a_client_may_go_while_its_server_is_sought),
		cmocka_unit_test(silent_clients_keep_no_other_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
