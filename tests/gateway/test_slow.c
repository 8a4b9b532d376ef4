/* SPDX-License-Identifier: BSD-3-Clause */
/* One side takes no messages for a while: memory is bounded, the other side is held up, and no message is
 * lost. */
#include "chain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/endian.h"

enum { CALLS = 64, LARGE = 400000, SMALL = 40, FIRST = 1000, MEMORY = 4 << 20, BUFFER = 1 << 19 };
enum { UNKNOWN_PROGRAM = 0x20000001 };

/* The client's end or the server's end. */
struct end {
	int fd;
	uint32_t size; /* octets of arguments or results in each message that it sends */
	uint8_t *out;  /* the octets that it has to send */
	size_t length, sent;
	uint8_t *in; /* the octets of the next record that it has */
	size_t have;
	uint32_t count; /* records that came */
	bool seen[CALLS];
};

struct pair {
	struct chain *chain;
	struct end client, server;
};

/* ---- One end ---- */

/* Adds a message to the octets that the end has to send. */
static void
queue(struct end *end, struct message *message)
{
	end->out = realloc(end->out, end->length + 4 + message->length);
	assert_non_null(end->out);
	rr_put_be32(end->out + end->length, rr_record_mark(message->length, true));
	memcpy(end->out + end->length + 4, message->octets, message->length);
	end->length += 4 + message->length;
	free(message);
}

/* Sends as many octets as the socket takes now. */
static void
send_some(struct end *end)
{
	while (end->sent < end->length) {
		ssize_t sent = send(end->fd, end->out + end->sent, end->length - end->sent, MSG_NOSIGNAL);

		if (sent < 0) {
			assert_int_equal(errno, EAGAIN);
			return;
		}
		end->sent += (size_t)sent;
	}
}

/* Receives up to size octets. True: a whole record has come. */
static bool
receive_some(struct end *end, size_t size)
{
	while (end->have < size) {
		ssize_t got = recv(end->fd, end->in + end->have, size - end->have, 0);

		if (got < 0) {
			assert_int_equal(errno, EAGAIN);
			return false;
		}
		assert_true(got > 0);
		end->have += (size_t)got;
	}
	return true;
}

static struct message *
call_of(const struct end *client, uint32_t xid)
{
	return call_message(xid, UNKNOWN_PROGRAM, 1, 1, NULL, client->size);
}

static struct message *
answer_of(const struct end *server, uint32_t xid)
{
	return reply_message(xid, server->size);
}

/* Takes the next message, which must be unchanged, and must not have come before. */
static bool
take(struct end *end, const struct end *sender,
	struct message *(*make)(const struct end *sender, uint32_t xid), uint32_t *xid)
{
	struct message *expected = make(sender, FIRST);
	size_t size = 4 + expected->length;

	free(expected);
	if (!receive_some(end, size))
		return false;
	end->have = 0;
	*xid = rr_get_be32(end->in + 4);
	assert_in_range(*xid, FIRST, FIRST + CALLS - 1);
	assert_false(end->seen[*xid - FIRST]);
	end->seen[*xid - FIRST] = true;
	expected = make(sender, *xid);
	assert_memory_equal(end->in + 4, expected->octets, expected->length);
	free(expected);
	end->count++;
	return true;
}

/* ---- Both ends ---- */

static void
serve(struct pair *pair)
{
	uint32_t xid;

	while (take(&pair->server, &pair->client, call_of, &xid))
		queue(&pair->server, answer_of(&pair->server, xid));
	send_some(&pair->server);
}

static void
receive_answers(struct pair *pair)
{
	uint32_t xid;

	while (take(&pair->client, &pair->server, answer_of, &xid))
		;
}

static size_t
progress(const struct pair *pair)
{
	return pair->client.sent + pair->client.have + pair->client.count + pair->server.sent +
	       pair->server.have + pair->server.count;
}

/* Turns everything once; each end takes messages or leaves them, as told. */
static void
run(struct pair *pair, bool client_takes, bool server_takes)
{
	send_some(&pair->client);
	if (server_takes)
		serve(pair);
	if (client_takes)
		receive_answers(pair);
	world_settle(pair->chain->world);
}

/* Runs until neither end makes progress for PATIENCE turns: the system's TCP lets some time pass before it
 * looks again whether there is room. */
static void
run_until_stuck(struct pair *pair, bool client_takes, bool server_takes)
{
	enum { PATIENCE = 30 };
	size_t before = progress(pair);

	for (int idle = 0; idle < PATIENCE; idle++) {
		run(pair, client_takes, server_takes);
		if (progress(pair) != before)
			idle = 0;
		before = progress(pair);
	}
}

static void
run_until_done(struct pair *pair)
{
	for (int rounds = 0; pair->client.count < CALLS; rounds++) {
		assert_true(rounds < 5000);
		run(pair, true, true);
	}
}

/* Makes an end on this socket, whose buffers are small. */
static void
init_end(struct end *end, int fd, uint32_t size)
{
	static const int buffer = BUFFER;

	*end = (struct end){ .fd = fd, .size = size, .in = malloc(LARGE + 1024) };
	assert_non_null(end->in);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof(buffer)), 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer)), 0);
}

/* Makes engines whose memory is a third of the messages under way. */
static void
begin(struct pair *pair, bool over_tcp, uint32_t call_size, uint32_t reply_size)
{
	struct rr_engine_config config = rr_engine_config_default;

	config.memory_max = MEMORY;
	config.message_max = 450000;
	pair->chain = chain_new_on(&config, over_tcp, NULL, NULL);
	chain_connect(pair->chain);
	init_end(&pair->client, pair->chain->client, call_size);
	init_end(&pair->server, pair->chain->server, reply_size);
	for (uint32_t i = 0; i < CALLS; i++)
		queue(&pair->client, call_of(&pair->client, FIRST + i));
}

static void
assert_bounded(const struct rpcrdma_engine *engine)
{
	assert_true(rr_pool_peak(engine->pool) <= MEMORY / 2);
	assert_true(rr_pool_peak(engine->arrivals) <= MEMORY / 2);
}

static void
free_end(struct end *end)
{
	free(end->in);
	free(end->out);
}

/* Checks that all messages came, and that memory stayed bounded. */
static void
end(struct pair *pair)
{
	assert_int_equal(pair->server.count, CALLS);
	assert_int_equal(pair->client.count, CALLS);
	assert_bounded(pair->chain->world->stage.engine);
	assert_bounded(pair->chain->engine);
	free_end(&pair->client);
	free_end(&pair->server);
	chain_free(pair->chain);
}

/* ---- The tests ---- */

/* With TCP all the way, the sockets alone may have room for all messages under way. */

/* The server takes nothing until all else has stopped, and then takes all. */
static void
server_is_slow(bool over_tcp)
{
	struct pair pair;

	begin(&pair, over_tcp, LARGE, SMALL);
	run_until_stuck(&pair, true, false);
	assert_true(over_tcp || pair.client.sent < pair.client.length);
	run_until_done(&pair);
	end(&pair);
}

static void
a_server_that_takes_no_calls_holds_up_its_client(void **state)
{
	(void)state;
	server_is_slow(false);
}

static void
the_same_over_tcp(void **state)
{
	(void)state;
	server_is_slow(true);
}

/* The client takes nothing until all else has stopped, and then takes all. */
static void
client_is_slow(bool over_tcp)
{
	struct pair pair;

	begin(&pair, over_tcp, SMALL, LARGE);
	run_until_stuck(&pair, false, true);
	assert_int_equal(pair.client.count, 0);
	/* Calls wait for memory for their replies; or the replies wait, if the responder provides the
	 * memory. */
	assert_true(over_tcp || pair.server.count < CALLS || pair.server.sent < pair.server.length);
	run_until_done(&pair);
	end(&pair);
}

static void
a_client_that_takes_no_replies_holds_up_the_server(void **state)
{
	(void)state;
	client_is_slow(false);
}

static void
that_too_over_tcp(void **state)
{
	(void)state;
	client_is_slow(true);
}

/* Replies that one client does not take hold no more than its share of the gateway's memory, and are given
 * up when another client waits for memory. */
static void
another_client_is_served(bool over_tcp)
{
	struct pair silent, other = { 0 };
	uint64_t began;

	begin(&silent, over_tcp, SMALL, LARGE);
	run_until_stuck(&silent, false, true);
	other.chain = silent.chain;
	init_end(&other.client, chain_client(other.chain), SMALL);
	queue(&other.client, call_of(&other.client, FIRST));
	send_some(&other.client);
	init_end(&other.server, raw_accept(other.chain->world, other.chain->listener), LARGE);
	began = other.chain->world->stage.now;
	while (other.client.count == 0 && other.chain->world->stage.now - began <= 2 * RR_SECOND) {
		run(&other, true, true);
		chain_pass(other.chain, 25 * RR_MILLISECOND);
	}
	assert_int_equal(other.client.count, 1);
	free_end(&other.client);
	free_end(&other.server);
	close(other.client.fd);
	close(other.server.fd);
	free_end(&silent.client);
	free_end(&silent.server);
	chain_free(silent.chain);
}

static void
replies_that_one_client_does_not_take_leave_memory_to_others(void **state)
{
	(void)state;
	another_client_is_served(false);
	another_client_is_served(true);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_server_that_takes_no_calls_holds_up_its_client),
		cmocka_unit_test(the_same_over_tcp),
		cmocka_unit_test(a_client_that_takes_no_replies_holds_up_the_server),
		cmocka_unit_test(that_too_over_tcp),
		cmocka_unit_test(replies_that_one_client_does_not_take_leave_memory_to_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
