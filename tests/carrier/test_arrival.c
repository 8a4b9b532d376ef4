/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "carrier/rdma/arrival.h"
#include "wire/rpc.h"
#include "wire/rpcrdma1.h"

enum { WORDS_MAX = 40 };

static struct rr_read_segment reads[4];
static struct rr_chunk writes[4];
static struct rr_segment segments[8];
static const struct rr_chunk_lists lists = { .reads = reads,
	.writes = writes,
	.segments = segments,
	.read_max = 4,
	.write_max = 4,
	.segment_max = 8 };

/* Decodes a copy of the octets that has no octet more. */
static struct rr_arrival
decode_octets(const uint8_t *octets, uint32_t length, enum rr_versions versions)
{
	uint8_t *copy = malloc(length + 1);
	const struct rr_event event = { .data = copy + 1, .length = length };
	struct rr_arrival arrival;

	assert_non_null(copy);
	memcpy(copy + 1, octets, length);
	rr_arrival_decode(&arrival, rr_version_range(versions), &lists, &event);
	free(copy);
	return arrival;
}

static enum rr_arrival_kind
of_octets(const uint8_t *octets, uint32_t length)
{
	return decode_octets(octets, length, RR_VERSIONS_AUTO).kind;
}

static struct rr_arrival
decode(const uint32_t *words, uint32_t count, enum rr_versions versions)
{
	uint8_t octets[4 * WORDS_MAX];

	for (uint32_t i = 0; i < count; i++)
		rr_put_be32(octets + 4 * (size_t)i, words[i]);
	return decode_octets(octets, 4 * count, versions);
}

#define WORDS(...) (const uint32_t[]){ __VA_ARGS__ }, sizeof((const uint32_t[]){ __VA_ARGS__ }) / 4
#define OF(...)    decode(WORDS(__VA_ARGS__), RR_VERSIONS_AUTO).kind
#define OF_1(...)  decode(WORDS(__VA_ARGS__), RR_VERSIONS_1)
#define OF_2(...)  decode(WORDS(__VA_ARGS__), RR_VERSIONS_2)

static void
the_message_behind_any_lists_tells(void **state)
{
	(void)state;
	assert_int_equal(OF(1, 1, 2, RR_RDMA_MSG, 0, 0, 0, 1, RR_CALL), RR_ARRIVAL_CALL);
	assert_int_equal(OF(1, 1, 2, RR_RDMA_MSG, 0, 0, 0, 1, RR_REPLY), RR_ARRIVAL_REPLY);
	assert_int_equal(OF(1, 1, 2, RR_RDMA_MSG, 0, 0, 0, 1, 2), RR_ARRIVAL_UNCLEAR);
	assert_int_equal(OF(1, 1, 2, RR_RDMA_MSG, 1, 8, 9, 9, 9, 9, 1, 8, 9, 9, 9, 9, 0, 0, 0, 1, RR_CALL),
		RR_ARRIVAL_CALL);
	assert_int_equal(OF(1, 1, 2, RR_RDMA_MSG, 0, 1, 2, 9, 9, 9, 9, 9, 9, 9, 9, 1, 0, 0, 0, 1, RR_REPLY),
		RR_ARRIVAL_REPLY);
	assert_int_equal(OF(1, 1, 2, RR_RDMA_MSG, 0, 0, 1, 1, 9, 9, 9, 9, 1, RR_REPLY), RR_ARRIVAL_REPLY);
}

static void
without_a_message_the_header_tells_or_leaves_it_open(void **state)
{
	(void)state;
	assert_int_equal(OF(1, 1, 2, RR_RDMA_NOMSG, 1, 0, 9, 9, 9, 9, 0, 0, 0), RR_ARRIVAL_UNCLEAR);
	assert_int_equal(OF(1, 1, 2, RR_RDMA_NOMSG, 0, 0, 1, 1, 9, 9, 9, 9), RR_ARRIVAL_UNCLEAR);
	assert_int_equal(OF(1, 1, 2, RR_RDMA_NOMSG, 0, 0, 0), RR_ARRIVAL_UNCLEAR);
	/* draft-cel-nfsv4-rpcrdma-reliable-reply-02, 4.1: the "RPC Reply using a Position Zero Read
	 * chunk". */
	assert_int_equal(OF(1, 2, 2, RR_RDMA_NOMSG, 1, 0, 9, 9, 9, 9, 0, 0, 0), RR_ARRIVAL_UNCLEAR);
	assert_int_equal(OF(1, 1, 2, RR_RDMA_ERROR, RR_ERR_CHUNK), RR_ARRIVAL_ERROR);
	assert_int_equal(OF(1, 1, 2, RR_RDMA_DONE, 0, 0, 0), RR_ARRIVAL_JUNK);
	assert_int_equal(OF(1, 2, 2, RR_RDMA_DONE), RR_ARRIVAL_DONE);
	assert_int_equal(OF(1, 1, 2, RR_RDMA_MSGP, 0, 0, 0, 0, 0, 1, RR_CALL), RR_ARRIVAL_UNCLEAR);
	assert_int_equal(OF(1, 2, 2, RR_RDMA_MSG, 0, 0, 0, 1, RR_CALL), RR_ARRIVAL_CALL);
	assert_int_equal(OF(1, 3, 2, RR_RDMA_MSG, 0, 0, 0, 1, RR_CALL), RR_ARRIVAL_UNCLEAR);
	assert_int_equal(OF(1, 2, 2, RR_RDMA_OPTIONAL, 1, 0), RR_ARRIVAL_OPTIONAL);
	assert_int_equal(
		OF(1, 2, 2, RR_RDMA_OPTIONAL, 1, 9, 0), RR_ARRIVAL_OPTIONAL); /* the header ends early */
	assert_int_equal(OF(1, 1, 2, RR_RDMA_OPTIONAL, 1, 0, 0), RR_ARRIVAL_UNCLEAR);
}

/*
 * RFC 8166, 4.5: a message shorter than a header: "it MUST silently discard the message before performing any
 * parsing"; "A receiver MUST silently discard an RDMA_ERROR procedure that it cannot decode."
 */
static void
what_must_be_discarded_is_junk(void **state)
{
	(void)state;
	assert_int_equal(OF(1, 1, 2, RR_RDMA_MSG, 0, 0), RR_ARRIVAL_JUNK);
	/* Version 2 has no RDMA_MSGP, so its least size is not known, and the sender must be answered. */
	assert_int_equal(OF(1, 2, 2, RR_RDMA_MSGP), RR_ARRIVAL_UNCLEAR);
	assert_int_equal(OF(1, 9, 2, RR_RDMA_DONE), RR_ARRIVAL_JUNK);
	assert_int_equal(OF(1, 1, 2, RR_RDMA_ERROR, 3, 0, 0), RR_ARRIVAL_JUNK);
	assert_int_equal(OF(1, 1, 2, RR_RDMA_ERROR, RR_ERR_VERS, 1), RR_ARRIVAL_JUNK);
	assert_int_equal(OF(1, 2, 2, RR_RDMA_ERROR, RR_ERR_CHUNK, 0),
		RR_ARRIVAL_JUNK); /* there are octets behind the header */
	assert_int_equal(OF(1, 9, 2, RR_RDMA_ERROR, RR_ERR_CHUNK, 0, 0), RR_ARRIVAL_JUNK);
	assert_int_equal(OF(1, 2, 2, RR_RDMA_DONE, 0, 0, 0), RR_ARRIVAL_JUNK);
}

static void
a_version_that_is_not_spoken_here_is_said_to_be(void **state)
{
	struct rr_arrival arrival = OF_1(7, 2, 2, RR_RDMA_MSG, 0, 0, 0, 1, RR_CALL);

	(void)state;
	assert_int_equal(arrival.result, RR_HEADER_VERS);
	assert_int_equal(arrival.kind, RR_ARRIVAL_UNCLEAR);
	assert_int_equal(arrival.header.xid, 7);
	assert_int_equal(OF_1(1, 2, 2, RR_RDMA_ERROR, RR_ERR_CHUNK, 0, 0).kind, RR_ARRIVAL_JUNK);
	arrival = OF_2(7, 1, 2, RR_RDMA_MSG, 0, 0, 0, 1, RR_CALL);
	assert_int_equal(arrival.result, RR_HEADER_VERS);
	assert_int_equal(arrival.kind, RR_ARRIVAL_CALL);
	/* A peer that uses version 1 only answers in version 1. */
	arrival = OF_2(7, 1, 2, RR_RDMA_ERROR, RR_ERR_VERS, 1, 1);
	assert_int_equal(arrival.kind, RR_ARRIVAL_ERROR);
	assert_int_equal(arrival.header.vers_high, 1);
}

static void
the_payload_is_what_follows_the_header(void **state)
{
	struct rr_arrival arrival = OF_1(1, 1, 2, RR_RDMA_MSG, 0, 0, 1, 1, 9, 9, 9, 9, 1, RR_REPLY, 7);

	(void)state;
	assert_int_equal(arrival.result, RR_HEADER_OK);
	assert_true(arrival.lists.has_reply);
	assert_int_equal(arrival.payload.length, 12);
	assert_ptr_equal(arrival.payload.data, arrival.receive + arrival.length - 12);
	arrival = OF_2(1, 2, 2, RR_RDMA_NOMSG, 0, 0, 1, 1, 9, 9, 9, 9);
	assert_int_equal(arrival.payload.length, 0);
}

static const uint32_t with_all_lists[] = { 1, 1, 2, RR_RDMA_MSG, 1, 8, 9, 9, 9, 9, 0, 1, 1, 9, 9, 9, 9, 0, 1,
	1, 9, 9, 9, 9, 1, RR_CALL };

static void
what_ends_early_is_unclear(void **state)
{
	uint8_t octets[sizeof(with_all_lists)];

	(void)state;
	for (uint32_t i = 0; i < sizeof(octets) / 4; i++)
		rr_put_be32(octets + 4 * (size_t)i, with_all_lists[i]);
	assert_int_equal(of_octets(octets, sizeof(octets)), RR_ARRIVAL_CALL);
	for (uint32_t length = 0; length < sizeof(octets); length++)
		assert_int_equal(of_octets(octets, length),
			length < RR_RDMA_HEADER_MIN ? RR_ARRIVAL_JUNK : RR_ARRIVAL_UNCLEAR);
}

/* A message with any bit wrong must not make the decoder read past its end, or run without end. */
static void
any_bit_may_flip(void **state)
{
	uint8_t octets[sizeof(with_all_lists)];

	(void)state;
	for (uint32_t i = 0; i < sizeof(octets) / 4; i++)
		rr_put_be32(octets + 4 * (size_t)i, with_all_lists[i]);
	for (uint32_t bit = 0; bit < 8 * sizeof(octets); bit++) {
		octets[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_true(of_octets(octets, sizeof(octets)) <= RR_ARRIVAL_JUNK);
		octets[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_message_behind_any_lists_tells),
		cmocka_unit_test(without_a_message_the_header_tells_or_leaves_it_open),
		cmocka_unit_test(what_must_be_discarded_is_junk),
		cmocka_unit_test(a_version_that_is_not_spoken_here_is_said_to_be),
		cmocka_unit_test(the_payload_is_what_follows_the_header),
		cmocka_unit_test(what_ends_early_is_unclear),
		cmocka_unit_test(any_bit_may_flip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
