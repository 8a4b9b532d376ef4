/* SPDX-License-Identifier: BSD-3-Clause */
/* What a server does with a client that means no good, or does things in an unusual way. */
#include "../mutate.h"
#include "raw.h"

#include <unistd.h>

#include "base/endian.h"
#include "base/peer_log.h"
#include "suite.h"

/* XID 0x2a, CALL, RPC 2, the echo program version 3; what follows is the procedure, the credential, the
 * verifier. */
#define CALL         "0000002a 00000000 00000002 20000099 00000003"
#define NO_AUTH      "00000000 00000000 00000000 00000000"
#define NULL_CALL    CALL "00000000" NO_AUTH
#define SUCCESS      "0000002a 00000001 00000000 00000000 00000000 00000000"
#define SYSTEM_ERR   "0000002a 00000001 00000000 00000000 00000000 00000005"
#define GARBAGE_ARGS "0000002a 00000001 00000000 00000000 00000000 00000004"
#define DENIED       "0000002a 00000001 00000001"

static void
send_hex(struct world *world, int fd, const char *hex)
{
	struct rr_octets octets = rr_hex(hex);

	raw_send_record(world, fd, octets.data, octets.size);
}

/* The server still answers, on this connection. */
static void
assert_alive(struct world *world, int fd)
{
	send_hex(world, fd, NULL_CALL);
	assert_reply(world, fd, SUCCESS);
	close(fd);
	world_settle(world);
	assert_int_equal(world_memory(world), 0);
}

static void
assert_ended(struct world *world, int fd)
{
	assert_closed(world, fd);
	world_settle(world);
	assert_int_equal(world_memory(world), 0);
	assert_alive(world, raw_connect(world));
}

/* Of a record that is longer than the server takes, only the beginning is looked at. */
static void
a_long_record_that_is_no_message_ends_the_connection(void **state)
{
	static const char *const texts[] = { "GET / HTTP/1.1\r\n", "\xff\xff\xff\xff\0\0\0\x2a\0\0\0\2" };
	static const size_t lengths[] = { 16, 12 };
	struct world *world = *state;

	for (int i = 0; i < 2; i++) {
		int fd = raw_connect(world);

		raw_send(world, fd, texts[i], lengths[i]);
		assert_ended(world, fd);
	}
}

/* A call of so many octets, NULL with more behind its arguments, in fragments of at most that size. */
static void
send_long_call(struct world *world, int fd, uint32_t octets, uint32_t fragment_max)
{
	static const uint8_t zeroes[1 << 16];
	struct rr_octets call = rr_hex(NULL_CALL);
	uint32_t left = octets;

	for (bool first = true; left > 0; first = false) {
		uint32_t length = left < fragment_max ? left : fragment_max;
		uint8_t mark[4];

		left -= length;
		rr_put_be32(mark, length | (left == 0 ? 0x80000000 : 0));
		raw_send(world, fd, mark, sizeof(mark));
		if (first)
			raw_send(world, fd, call.data, call.size);
		for (length -= first ? (uint32_t)call.size : 0; length > 0;) {
			uint32_t part = length < sizeof(zeroes) ? length : (uint32_t)sizeof(zeroes);

			raw_send(world, fd, zeroes, part);
			length -= part;
		}
	}
}

/* The call fails, and the connection, with what else is under way on it, stays. */
static void
a_call_longer_than_a_record_may_be_is_answered(void **state)
{
	static const uint32_t fragments[] = { 0x7fffffff, 1000000, 65536 };
	struct world *world = *state;
	int fd = raw_connect(world);

	for (int i = 0; i < 3; i++) {
		send_long_call(world, fd, 5000000, fragments[i]);
		assert_reply(world, fd, SYSTEM_ERR);
		send_hex(world, fd, NULL_CALL);
		assert_reply(world, fd, SUCCESS);
		world_settle(world);
		assert_int_equal(world_memory(world), 0);
	}
	assert_alive(world, fd);
}

static void
a_record_too_short_for_a_message_ends_the_connection(void **state)
{
	struct world *world = *state;

	for (size_t size = 0; size < 8; size++) {
		int fd = raw_connect(world);

		raw_send_record(world, fd, "\0\0\0\x2a\0\0\0", size);
		assert_ended(world, fd);
	}
}

static void
a_record_that_is_neither_call_nor_reply_ends_the_connection(void **state)
{
	int fd = raw_connect(*state);

	send_hex(*state, fd, "0000002a 00000002 00000002 20000099 00000003 00000000");
	assert_ended(*state, fd);
}

static void
fragments_without_end_end_the_connection(void **state)
{
	static const uint8_t marks[4 * 5000];
	int fd = raw_connect(*state);

	raw_send(*state, fd, marks, sizeof(marks));
	assert_ended(*state, fd);
}

static void
a_truncated_record_leaves_nothing_behind(void **state)
{
	static const uint32_t lengths[] = { 100, 5000, 500000 };
	struct world *world = *state;

	for (int i = 0; i < 3; i++) {
		int fd = raw_connect(world);
		uint8_t octets[54] = { 0 };

		rr_put_be32(octets, 0x80000000 | lengths[i]);
		raw_send(world, fd, octets, sizeof(octets));
		world_settle(world);
		close(fd);
		world_settle(world);
		assert_alive(world, raw_connect(world));
	}
}

static void
a_record_that_is_not_completed_in_time_ends_the_connection(void **state)
{
	static const uint32_t lengths[] = { 100, 500000, 0x7fffffff };
	struct world *world = *state;

	for (int i = 0; i < 3; i++) {
		int fd = raw_connect(world), idle = raw_connect(world);
		uint8_t octets[54] = { 0 };

		rr_put_be32(octets, 0x80000000 | lengths[i]);
		raw_send(world, fd, octets, sizeof(octets));
		world_settle(world);
		world_pass(world, 59 * RR_SECOND);
		assert_int_equal(rr_server_connections(world->server), 3);
		world_pass(world, RR_SECOND);
		assert_ended(world, fd);
		assert_alive(world, idle); /* it never began one */
	}
}

static void
a_reply_to_a_server_is_discarded(void **state)
{
	struct world *world = *state;
	struct rpcrdma_counters counters;
	int fd = raw_connect(world);

	send_hex(world, fd, SUCCESS);
	world_settle(world);
	rr_server_counters(world->server, &counters);
	assert_int_equal(counters.discarded, 1);
	assert_alive(world, fd);
}

/* RFC 5531, 11: a fragment has "0 to (2**31) - 1 bytes of fragment data". */
static void
a_call_in_fragments_of_any_size_is_answered(void **state)
{
	struct world *world = *state;
	struct rr_octets call = rr_hex(NULL_CALL);

	for (uint32_t size = 1; size < 30; size++) {
		int fd = raw_connect(world);

		for (uint32_t at = 0; at < call.size; at += size) {
			uint32_t length = call.size - at < size ? (uint32_t)call.size - at : size;
			uint8_t fragment[64];

			rr_put_be32(fragment, length | (at + length == call.size ? 0x80000000 : 0));
			memcpy(fragment + 4, call.data + at, length);
			raw_send(world, fd, fragment, 4 + length);
		}
		assert_reply(world, fd, SUCCESS);
		assert_alive(world, fd);
	}
}

static void
another_rpc_version_is_denied_with_the_range(void **state)
{
	int fd = raw_connect(*state);

	send_hex(*state, fd, "0000002a 00000000 00000003 20000099 00000003 00000000");
	assert_reply(*state, fd, DENIED "00000000 00000002 00000002");
	assert_alive(*state, fd);
}

static void
credentials_that_are_not_taken_are_denied(void **state)
{
	static const struct {
		const char *auth, *reply;
	} cases[] = {
		/* AUTH_SYS with 17 groups' worth of count, with a name that is too long, with octets to spare
		 */
		{ "00000001 00000014 00000000 00000000 00000000 00000000 00000011 00000000 00000000",
			DENIED "00000001 00000001" },
		{ "00000001 00000014 00000000 00000100 00000000 00000000 00000000 00000000 00000000",
			DENIED "00000001 00000001" },
		{ "00000001 00000018 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000",
			DENIED "00000001 00000001" },
		/* AUTH_NONE with a body */
		{ "00000000 00000004 00000000 00000000 00000000", DENIED "00000001 00000001" },
		/* RFC 5531, appendix A: AUTH_SHORT that is not known is AUTH_REJECTEDCRED; other flavors are,
		   too */
		{ "00000002 00000004 00000000 00000000 00000000", DENIED "00000001 00000002" },
		{ "00000006 00000004 00000000 00000000 00000000", DENIED "00000001 00000002" },
		/* a verifier that is not AUTH_NONE, or not empty */
		{ "00000000 00000000 00000001 00000000", DENIED "00000001 00000003" },
		{ "00000000 00000000 00000000 00000004 00000000", DENIED "00000001 00000003" },
		/* AUTH_SYS as it should be */
		{ "00000001 00000014 00000000 00000000 00000000 00000000 00000000 00000000 00000000",
			SUCCESS },
	};
	struct world *world = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int fd = raw_connect(world);
		char hex[512];

		snprintf(hex, sizeof(hex), CALL "00000000 %s", cases[i].auth);
		send_hex(world, fd, hex);
		assert_reply(world, fd, cases[i].reply);
		assert_alive(world, fd);
	}
}

/* RFC 5531, 9: GARBAGE_ARGS, and AUTH_ERROR with AUTH_BADCRED. */
static void
a_call_without_a_readable_header_is_answered(void **state)
{
	struct world *world = *state;
	int fd = raw_connect(world);

	send_hex(world, fd, "0000002a 00000000 00000002 20000099");
	assert_reply(world, fd, "0000002a 00000001 00000000 00000000 00000000 00000004");
	send_hex(world, fd, CALL "00000000 00000001 00000191 00000000"); /* a credential of 401 octets */
	assert_reply(world, fd, "0000002a 00000001 00000001 00000001 00000001");
	assert_alive(world, fd);
}

/* Sends calls and does not read the replies: what is handled is bounded by the socket and by the credits. */
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

/* As many calls are taken of one connection as it has credits; the others are when those are answered. */
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

/* So many calls of ECHO_LATER in one piece. */
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

/* Another connection reads, into the same staging buffer. */
static void
assert_alive_beside(struct world *world)
{
	int fd = raw_connect(world);

	send_hex(world, fd, NULL_CALL);
	assert_reply(world, fd, SUCCESS);
	close(fd);
}

/* What was read and cannot be handled yet is kept, whole calls and the beginning of another one. */
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

static void
replies_leave_while_other_calls_of_the_batch_are_being_served(void **state)
{
	enum { CALLS = 30 };
	struct world *world = *state;
	int fd = raw_connect(world);

	world_settle(world);
	world->peer = fd;
	send_at_once(fd, CALLS);
	world_until(world, world->handled == CALLS);
	assert_in_range(world->heard, 2, CALLS - 1);
	for (int i = 0; i < CALLS; i++)
		assert_reply(world, fd, SUCCESS "00000007");
	assert_alive(world, fd);
}

/* More replies wait for their clients than there are blocks: the other calls have to wait, and are answered.
 */
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

/* Engines whose memory a few large messages fill. */
static struct world *
world_with_little_memory(void)
{
	struct rr_engine_config config = rr_engine_config_default;

	config.memory_max = 4 << 20;
	return world_new(&config);
}

/* Moves the clock until octets arrive: by no more than a call may have to wait. */
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

/* Clients that ask for much and read nothing; another one that asks for as much once. */
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

/* Before a call is served there must be memory for its largest reply; what is left then is that of the reply.
 */
static void
a_reply_that_nobody_reads_holds_no_more_memory_than_it_needs(void **state)
{
	enum { FIRST = 16, CALLS = 40, REPLY = 8192 };
	struct world *world = *state;
	struct rr_octets call = rr_hex("8000002c" CALL "00000004" NO_AUTH "000004e2"); /* 5000 octets */
	int fd = raw_connect(world);
	size_t before;

	send_fetches(world, fd, FIRST);
	world_settle(world);
	before = rr_pool_used(world->stage.engine->results);
	assert_true(before > 0);
	for (int i = 0; i < CALLS; i++)
		raw_send(world, fd, call.data, call.size);
	world_settle(world);
	assert_int_equal(world->handled, FIRST + CALLS);
	/* The system may have taken some of the first ones meanwhile. */
	assert_true(rr_pool_used(world->stage.engine->results) > 0);
	assert_true(rr_pool_used(world->stage.engine->results) <= before + (size_t)CALLS * REPLY);
	close(fd);
	world_settle(world);
	assert_int_equal(world_memory(world), 0);
}

/* However the record is cut into fragments: its first octets cost a peer nothing, and hold no memory. */
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

/* Clients that begin a long record and do not go on, or by an octet now and then. */
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

enum { WITH_RAW = 2 }; /* connections: the world's client's, and the test's own */

/* A call that the server's handler keeps, the beginning of one more, and the end of the client's stream. */
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

/* More replies than the socket takes are written as the client reads them. */
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

/* The client closed its receiving side, too: that shows when the reply is written. */
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

/* The server's shutdown waits for what is being answered, whichever side ended its stream first. */
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

/* What the client sends after the shutdown is not read; it must not make the reply be lost, either. */
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
		send_hex(world, fd, CALL "00000009" NO_AUTH "00100000");
	world_settle(world);
	rr_server_shutdown(world->server);
	world_settle(world);
	send_hex(world, fd, NULL_CALL);
	world_settle(world);
	world_let_go(world);
	for (int i = 0; i < 8; i++)
		assert_int_equal(raw_receive(world, fd, reply, LENGTH + 100), 36 + LENGTH);
	world_settle(world);
	assert_int_equal(recv(fd, reply, 1, 0), 0);
	assert_false(rr_server_idle(world->server));
	world_pass(world, RR_SECOND); /* a client that does not close is not waited for any longer */
	assert_true(rr_server_idle(world->server));
	close(fd);
	free(reply);
}

struct mutations {
	struct world *world;
	int fd;
	uint32_t ended; /* connections that a mutation ended */
};

/* Behind each, a call that is good: it is answered, or the connection ends and the next one works. */
static const char *
check_mutation(const uint8_t *data, size_t size, void *context)
{
	struct mutations *mutations = context;
	struct rr_octets good = rr_hex("5a5a5a5a 00000000 00000002 20000099 00000003 00000000" NO_AUTH);
	uint8_t reply[1024];

	raw_send_record(mutations->world, mutations->fd, data, size);
	raw_send_record(mutations->world, mutations->fd, good.data, good.size);
	do {
		if (raw_receive(mutations->world, mutations->fd, reply, sizeof(reply)) > 0)
			continue;
		close(mutations->fd);
		mutations->fd = raw_connect(mutations->world);
		mutations->ended++;
		break;
	} while (rr_get_be32(reply) != 0x5a5a5a5a);
	return world_memory(mutations->world) == 0 ? NULL : "pool memory is left behind";
}

/* Each one-bit flip and truncation of a call with a credential and an item, and of one with an array. */
static void
no_mutation_of_a_call_does_harm(void **state)
{
	struct world *world = *state;
	struct mutations mutations = { world, raw_connect(world), 0 };
	struct rr_octets item = rr_hex(CALL "00000003 00000001 00000018 00000001 00000001 61000000 00000005"
					    "00000006 00000000 00000000 00000000 00000007 00000003 78797a00"
					    "00000008");
	struct rr_octets sum = rr_hex(CALL "00000002" NO_AUTH "00000002 00000001 00000002");

	rr_mutate(item.data, item.size, check_mutation, &mutations);
	rr_mutate(sum.data, sum.size, check_mutation, &mutations);
	assert_true(world->handled > 0);
	assert_true(mutations.ended > 0);
	assert_alive(world, mutations.fd);
}

static uint32_t warnings;

static void
count_warnings(void *ctx, enum rr_log_level level, const char *line)
{
	(void)ctx;
	(void)line;
	warnings += level <= RR_LOG_WARNING;
}

/* Calls that are too long, one for each connection. */
static void
many_connections_do_not_fill_the_log(void **state)
{
	enum { CONNECTIONS = 40, LENGTH = 1200000 };
	struct world *world = *state;

	world->stage.env.log = count_warnings;
	world->stage.env.log_level = RR_LOG_WARNING;
	warnings = 0;
	for (int i = 0; i < CONNECTIONS; i++) {
		int fd = raw_connect(world);

		send_long_call(world, fd, LENGTH, LENGTH);
		assert_reply(world, fd, SYSTEM_ERR);
		close(fd);
	}
	world_settle(world);
	assert_int_equal(warnings, RR_PEER_LOG_LINES);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		suite_test(a_long_record_that_is_no_message_ends_the_connection),
		suite_test(a_call_longer_than_a_record_may_be_is_answered),
		suite_test(a_record_too_short_for_a_message_ends_the_connection),
		suite_test(a_record_that_is_neither_call_nor_reply_ends_the_connection),
		suite_test(fragments_without_end_end_the_connection),
		suite_test(many_connections_do_not_fill_the_log),
		suite_test(a_truncated_record_leaves_nothing_behind),
		suite_test(a_record_that_is_not_completed_in_time_ends_the_connection),
		suite_test(a_reply_to_a_server_is_discarded),
		suite_test(a_call_in_fragments_of_any_size_is_answered),
		suite_test(another_rpc_version_is_denied_with_the_range),
		suite_test(credentials_that_are_not_taken_are_denied),
		suite_test(a_call_without_a_readable_header_is_answered),
		suite_test(a_client_that_does_not_read_is_not_read_from),
		suite_test(a_client_has_no_more_calls_outstanding_than_credits),
		suite_test(calls_beyond_the_credits_wait_though_they_were_read),
		suite_test(replies_leave_while_other_calls_of_the_batch_are_being_served),
		suite_test(replies_that_nobody_reads_hold_up_the_others_for_a_while_only),
		cmocka_unit_test(a_client_that_reads_nothing_is_cut_off_while_others_wait_for_memory),
		suite_test(a_reply_that_nobody_reads_holds_no_more_memory_than_it_needs),
		suite_test(a_record_of_which_little_came_holds_no_memory),
		cmocka_unit_test(a_record_that_does_not_go_on_is_given_up_while_others_wait_for_memory),
		suite_test(a_reply_survives_a_shutdown_while_more_calls_come),
		suite_test(a_client_that_ended_its_stream_gets_the_replies_to_its_calls),
		suite_test(large_replies_follow_the_end_of_the_clients_stream),
		suite_test(the_reply_to_a_client_that_closed_ends_the_connection),
		suite_test(a_server_shuts_down_after_the_end_of_the_clients_stream),
		suite_test(no_mutation_of_a_call_does_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
