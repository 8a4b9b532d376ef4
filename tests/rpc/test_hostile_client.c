/* SPDX-License-Identifier: BSD-3-Clause */
/* What a server does with a client that breaks records and calls, or sends them in an unusual way. */
#include "../mutate.h"
#include "octets.h"

#include <unistd.h>

#include "base/endian.h"
#include "base/peer_log.h"
#include "suite.h"

static void
assert_ended(struct world *world, int fd)
{
	assert_closed(world, fd);
	world_settle(world);
	assert_int_equal(world_memory(world), 0);
	assert_alive(world, raw_connect(world));
}

/* The server looks only at the beginning of a record that is longer than it takes. */
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

/* Sends a call with that many octets, a NULL call with more octets behind its arguments, in fragments of
 * at most that size. */
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

/* The call fails, but the connection stays, with the other calls that are under way on it. */
static void
a_call_longer_than_a_record_may_be_is_answered(void **state)
{
	static const uint32_t fragments[] = { 0x7fffffff, 1000000, 65536 };
	struct world *world = *state;
	int fd = raw_connect(world);

	for (int i = 0; i < 3; i++) {
		send_long_call(world, fd, 5000000, fragments[i]);
		assert_reply(world, fd, SYSTEM_ERR);
		raw_send_hex(world, fd, NULL_CALL);
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

	raw_send_hex(*state, fd, "0000002a 00000002 00000002 20000099 00000003 00000000");
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
		assert_alive(world, idle); /* this connection never began a record */
	}
}

static void
a_reply_to_a_server_is_discarded(void **state)
{
	struct world *world = *state;
	struct rpcrdma_counters counters;
	int fd = raw_connect(world);

	raw_send_hex(world, fd, SUCCESS);
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

	raw_send_hex(*state, fd, "0000002a 00000000 00000003 20000099 00000003 00000000");
	assert_reply(*state, fd, DENIED "00000000 00000002 00000002");
	assert_alive(*state, fd);
}

static void
credentials_that_are_not_taken_are_denied(void **state)
{
	static const struct {
		const char *auth, *reply;
	} cases[] = {
		/* AUTH_SYS with 17 groups' worth of count, with a name that is too long, with octets to
		 * spare */
		{ "00000001 00000014 00000000 00000000 00000000 00000000 00000011 00000000 00000000",
			DENIED "00000001 00000001" },
		{ "00000001 00000014 00000000 00000100 00000000 00000000 00000000 00000000 00000000",
			DENIED "00000001 00000001" },
		{ "00000001 00000018 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000",
			DENIED "00000001 00000001" },
		/* AUTH_NONE with a body */
		{ "00000000 00000004 00000000 00000000 00000000", DENIED "00000001 00000001" },
		/* RFC 5531, appendix A: AUTH_SHORT that is not known is AUTH_REJECTEDCRED; other flavors
		 * are, too */
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
		raw_send_hex(world, fd, hex);
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

	raw_send_hex(world, fd, "0000002a 00000000 00000002 20000099");
	assert_reply(world, fd, "0000002a 00000001 00000000 00000000 00000000 00000004");
	raw_send_hex(world, fd, CALL "00000000 00000001 00000191 00000000"); /* a credential of 401 octets */
	assert_reply(world, fd, "0000002a 00000001 00000001 00000001 00000001");
	assert_alive(world, fd);
}

struct mutations {
	struct world *world;
	int fd;
	uint32_t ended; /* connections that a mutation ended */
};

/* Sends the mutation, and a good call behind it: the call is answered, or the connection ends and the next
 * connection works. */
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

/* Each one-bit flip and each truncation of a call with a credential and an item, and of a call with an
 * array. */
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

/* Each connection sends one call that is too long. */
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
		suite_test(no_mutation_of_a_call_does_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
