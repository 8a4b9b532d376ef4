/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "transport/direction.h"
#include "wire/rpcrdma1.h"

enum { WORDS_MAX = 40 };

/* Of a copy that has no octet more. */
static enum rr_direction
of_octets(const uint8_t *octets, uint32_t length)
{
	uint8_t *copy = malloc(length + 1);
	enum rr_direction direction;

	assert_non_null(copy);
	memcpy(copy + 1, octets, length);
	direction = rr_direction(copy + 1, length);
	free(copy);
	return direction;
}

static enum rr_direction
of(const uint32_t *words, uint32_t count)
{
	uint8_t octets[4 * WORDS_MAX];

	for (uint32_t i = 0; i < count; i++)
		rr_put_be32(octets + 4 * (size_t)i, words[i]);
	return of_octets(octets, 4 * count);
}

#define OF(...)                                                                                              \
	of((const uint32_t[]){ __VA_ARGS__ }, sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))

static void
the_message_behind_any_lists_tells(void **state)
{
	(void)state;
	assert_int_equal(OF(1, 1, 2, RR_RDMA_MSG, 0, 0, 0, 1, RR_CALL), RR_DIRECTION_CALL);
	assert_int_equal(OF(1, 1, 2, RR_RDMA_MSG, 0, 0, 0, 1, RR_REPLY), RR_DIRECTION_REPLY);
	assert_int_equal(OF(1, 1, 2, RR_RDMA_MSG, 0, 0, 0, 1, 2), RR_DIRECTION_UNKNOWN);
	assert_int_equal(OF(1, 1, 2, RR_RDMA_MSG, 1, 9, 9, 9, 9, 9, 1, 9, 9, 9, 9, 9, 0, 0, 0, 1, RR_CALL),
		RR_DIRECTION_CALL);
	assert_int_equal(OF(1, 1, 2, RR_RDMA_MSG, 0, 1, 2, 9, 9, 9, 9, 9, 9, 9, 9, 1, 0, 0, 0, 1, RR_REPLY),
		RR_DIRECTION_REPLY);
	assert_int_equal(OF(1, 1, 2, RR_RDMA_MSG, 0, 0, 1, 1, 9, 9, 9, 9, 1, RR_REPLY), RR_DIRECTION_REPLY);
}

static void
without_a_message_the_header_tells(void **state)
{
	(void)state;
	assert_int_equal(OF(1, 1, 2, RR_RDMA_NOMSG, 1, 0, 9, 9, 9, 9, 0, 0, 0), RR_DIRECTION_CALL);
	assert_int_equal(OF(1, 1, 2, RR_RDMA_NOMSG, 0, 0, 1, 1, 9, 9, 9, 9), RR_DIRECTION_REPLY);
	/* draft-cel-nfsv4-rpcrdma-reliable-reply-02, 4.1: the "RPC Reply using a Position Zero Read chunk".
	 */
	assert_int_equal(OF(1, 2, 2, RR_RDMA_NOMSG, 1, 0, 9, 9, 9, 9, 0, 0, 0), RR_DIRECTION_UNKNOWN);
	assert_int_equal(OF(1, 1, 2, RR_RDMA_ERROR, RR_ERR_CHUNK), RR_DIRECTION_REPLY);
	assert_int_equal(OF(1, 1, 2, RR_RDMA_DONE, 0, 0, 0), RR_DIRECTION_UNKNOWN);
	assert_int_equal(OF(1, 1, 2, RR_RDMA_MSGP, 0, 0, 0, 0, 0, 1, RR_CALL), RR_DIRECTION_UNKNOWN);
	assert_int_equal(OF(1, 2, 2, RR_RDMA_MSG, 0, 0, 0, 1, RR_CALL), RR_DIRECTION_CALL);
	assert_int_equal(OF(1, 3, 2, RR_RDMA_MSG, 0, 0, 0, 1, RR_CALL), RR_DIRECTION_UNKNOWN);
}

static void
what_ends_early_tells_nothing(void **state)
{
	static const uint32_t words[] = { 1, 1, 2, RR_RDMA_MSG, 1, 9, 9, 9, 9, 9, 0, 1, 1, 9, 9, 9, 9, 0, 1,
		1, 9, 9, 9, 9, 1, RR_CALL };
	enum { COUNT = sizeof(words) / sizeof(words[0]) };
	uint8_t octets[sizeof(words)];

	(void)state;
	for (uint32_t i = 0; i < COUNT; i++)
		rr_put_be32(octets + 4 * (size_t)i, words[i]);
	assert_int_equal(of_octets(octets, sizeof(octets)), RR_DIRECTION_CALL);
	for (uint32_t length = 0; length < sizeof(octets); length++)
		assert_int_equal(of_octets(octets, length), RR_DIRECTION_UNKNOWN);
}

/* None of them may make it read past the end, or go on for ever. */
static void
any_bit_may_flip(void **state)
{
	static const uint32_t words[] = { 1, 1, 2, RR_RDMA_MSG, 1, 9, 9, 9, 9, 9, 0, 1, 1, 9, 9, 9, 9, 0, 1,
		1, 9, 9, 9, 9, 1, RR_CALL };
	uint8_t octets[sizeof(words)];

	(void)state;
	for (uint32_t i = 0; i < sizeof(words) / 4; i++)
		rr_put_be32(octets + 4 * (size_t)i, words[i]);
	for (uint32_t bit = 0; bit < 8 * sizeof(octets); bit++) {
		octets[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_true(of_octets(octets, sizeof(octets)) <= RR_DIRECTION_REPLY);
		octets[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_message_behind_any_lists_tells),
		cmocka_unit_test(without_a_message_the_header_tells),
		cmocka_unit_test(what_ends_early_tells_nothing),
		cmocka_unit_test(any_bit_may_flip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
