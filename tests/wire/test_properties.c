/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/properties.h"

#include "../mutate.h"

/* The specification: draft-cel-nfsv4-rpcrdma-version-two-03, section 5. */

static const char all_told[] = "00000004 00000001 00000004 00004000 00000002 00000004 00000002"
			       "ffffff00 00000004 00000001 ffffff01 00000004 00000001 00000001 0000000e";
static const char strangers[] = "00000003 00000063 00000005 0102030405000000 00000001 00000004 00002000"
				"ffffff02 00000000 00000001 00000007";
static const char want[] = "00000001 00000001 00000004 00010000";
static const char response[] = "00000001 00000001 00000001 00000002 00000001 00000001 00000004 00008000";

static bool
get(enum rr_property_operation operation, const char *hex, struct rr_property_message *message)
{
	static struct rr_octets octets;

	octets = rr_hex(hex);
	return rr_property_get(
		operation, (struct rpcrdma_bytes){ octets.data, (uint32_t)octets.size }, message);
}

static void
each_known_property_has_its_value(void **state)
{
	struct rr_property_message message;

	(void)state;
	assert_true(get(RR_CONNPROP, all_told, &message));
	assert_int_equal(message.set.count, 4);
	assert_int_equal(message.set.has, 0xf);
	assert_int_equal(message.set.values[RR_PROPERTY_RECEIVE_SIZE], 16384);
	assert_int_equal(message.set.values[RR_PROPERTY_REVERSE], RR_REVERSE_GENERAL);
	assert_int_equal(message.set.values[RR_PROPERTY_READ_CHUNKS], 1);
	assert_int_equal(message.set.values[RR_PROPERTY_INVALIDATION], 1);
	assert_int_equal(rr_property_selected(&message.set, &message.nochg), 0xe);
}

/* 5.1.1: "Note that no error is to be reported if rdma_which is unknown to the receiver. In that case, that
 * rpcrdma2_propval is not processed and processing continues using the next rpcrdma2_propval". */
static void
unknown_properties_only_count(void **state)
{
	struct rr_property_message message;

	(void)state;
	assert_true(get(RR_CONNPROP, strangers, &message));
	assert_int_equal(message.set.count, 3);
	assert_int_equal(message.set.has, 1 << RR_PROPERTY_RECEIVE_SIZE);
	assert_int_equal(message.set.values[RR_PROPERTY_RECEIVE_SIZE], 8192);
	assert_int_equal(message.set.positions[RR_PROPERTY_RECEIVE_SIZE], 1);
	assert_int_equal(rr_property_selected(&message.set, &message.nochg), 1);
}

/* "A rdma_data field which is of zero length is interpreted as indicating the default value". */
static void
an_empty_value_is_the_default(void **state)
{
	struct rr_property_message message;

	(void)state;
	assert_true(get(RR_UPDPROP,
		"00000004 00000001 00000000 00000002 00000000 ffffff00 00000000 ffffff01 00000000",
		&message));
	assert_int_equal(message.set.values[RR_PROPERTY_RECEIVE_SIZE], 4096);
	assert_int_equal(message.set.values[RR_PROPERTY_REVERSE], RR_REVERSE_INLINE);
	assert_int_equal(message.set.values[RR_PROPERTY_READ_CHUNKS], 0);
	assert_int_equal(message.set.values[RR_PROPERTY_INVALIDATION], 0);
}

/* 5.1.1: "the receiver also MUST report an XDR error if [...] The nominally opaque data within rdma_data is
 * not valid when interpreted using the property-associated typedef. The length of rdma_data is insufficient
 * to contain the data represented by the property-associated typedef." */
static void
values_are_of_their_type(void **state)
{
	static const char *const wrong[] = {
		"00000001 00000001 00000003 00100000",          /* too short */
		"00000001 00000001 00000008 00001000 00001000", /* too long */
		"00000001 00000002 00000004 00000003",          /* no such enumerator */
		"00000001 ffffff00 00000004 00000002",          /* no bool */
		"00000001 ffffff01 00000004 80000000",
	};
	struct rr_property_message message;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(get(RR_REQPROP, wrong[i], &message));
	assert_true(get(RR_REQPROP, "00000001 00000001 00000004 ffffffff", &message));
}

/* 5.1.1: "The receiver of a message containing an rpcrdma2_propval MUST report an XDR error if the length of
 * rdma_data is such that it extends beyond the bounds of the message transferred." */
static void
values_stay_inside_the_message(void **state)
{
	struct rr_property_message message;

	(void)state;
	assert_false(get(RR_REQPROP, "00000001 00000063 00000005 01020304", &message));
	assert_false(get(RR_REQPROP, "00000001 00000063 ffffffff 01020304", &message));
	assert_false(get(RR_REQPROP, "ffffffff 00000001 00000004 00001000", &message));
	assert_false(get(RR_REQPROP, "00000002 00000001 00000004 00001000", &message));
	assert_false(get(RR_REQPROP, "", &message));
}

static void
nothing_may_follow(void **state)
{
	struct rr_property_message message;

	(void)state;
	assert_false(get(RR_REQPROP, "00000001 00000001 00000004 00001000 00000000", &message));
	assert_true(get(RR_CONNPROP, "00000001 00000001 00000004 00001000 00000000", &message));
	assert_false(get(RR_UPDPROP, "00000000 00", &message));
}

static void
a_property_is_in_a_set_once(void **state)
{
	struct rr_property_message message;

	(void)state;
	assert_false(
		get(RR_REQPROP, "00000002 00000001 00000004 00001000 00000001 00000004 00001000", &message));
	assert_true(get(RR_REQPROP, "00000002 00000009 00000000 00000009 00000000", &message));
}

static void
a_set_has_an_end(void **state)
{
	static uint8_t memory[4 + 8 * (RR_PROPERTY_SET_MAX + 1)];
	struct rr_property_message message;

	(void)state;
	memory[2] = RR_PROPERTY_SET_MAX >> 8;
	assert_true(rr_property_get(
		RR_REQPROP, (struct rpcrdma_bytes){ memory, 4 + 8 * RR_PROPERTY_SET_MAX }, &message));
	assert_int_equal(message.set.count, RR_PROPERTY_SET_MAX);
	memory[3] = 1;
	assert_false(rr_property_get(RR_REQPROP, (struct rpcrdma_bytes){ memory, sizeof(memory) }, &message));
}

/* 5.1.1: "bit number N mod 32 in word N div 32 specifies whether that particular rpcrdma2_propval is included
 * in the defined subset. Words beyond the last one specified are treated as containing zero." */
static void
subsets_select_by_position(void **state)
{
	struct rr_property_set set = { .count = 40, .has = 3, .positions = { 33, 5 } };
	struct rr_property_subset subset;
	struct rr_property_message message;

	(void)state;
	subset = rr_property_subset(&set, 1 << RR_PROPERTY_RECEIVE_SIZE | 1 << RR_PROPERTY_READ_CHUNKS);
	assert_int_equal(subset.words[0], 0);
	assert_int_equal(subset.words[1], 2);
	assert_int_equal(rr_property_selected(&set, &subset), 1 << RR_PROPERTY_RECEIVE_SIZE);
	assert_true(get(RR_RESPPROP, "00000001 00000020 00000000 00000000", &message));
	assert_int_equal(rr_property_selected(&set, &message.done), 1 << RR_PROPERTY_REVERSE);
	assert_int_equal(rr_property_selected(&set, &message.rejected), 0);
}

static void
a_set_of_ours_is_in_the_order_of_its_properties(void **state)
{
	static const uint32_t values[RR_PROPERTIES] = { 4096, RR_REVERSE_GENERAL, 1, 0 };
	struct rr_property_set set =
		rr_property_set(1 << RR_PROPERTY_REVERSE | 1 << RR_PROPERTY_INVALIDATION, values);

	(void)state;
	assert_int_equal(set.count, 2);
	assert_int_equal(set.values[RR_PROPERTY_REVERSE], RR_REVERSE_GENERAL);
	assert_int_equal(set.positions[RR_PROPERTY_INVALIDATION], 1);
	assert_int_equal(rr_property_subset(&set, 1 << RR_PROPERTY_INVALIDATION).words[0], 2);
}

static void
a_subset_may_go_on_beyond_any_set(void **state)
{
	char hex[512] = "00000009";
	struct rr_property_message message;

	(void)state;
	for (int i = 0; i < 9; i++)
		strcat(hex, "ffffffff");
	strcat(hex, "00000000 00000000");
	assert_true(get(RR_RESPPROP, hex, &message));
	assert_int_equal(message.done.words[7], UINT32_MAX);
	assert_int_equal(message.rejected.words[0], 0);
	assert_false(get(RR_RESPPROP, "40000001 00000000 00000000 00000000", &message));
}

static void
writes_what_it_reads(void **state)
{
	static const struct {
		enum rr_property_operation operation;
		const char *hex;
		uint32_t elements;
	} cases[] = { { RR_CONNPROP, all_told, 4 }, { RR_REQPROP, want, 0 }, { RR_RESPPROP, response, 2 },
		{ RR_UPDPROP, want, 0 } };
	struct rr_property_message message;
	struct rpcrdma_xdr_writer writer;
	uint8_t out[RR_PROPERTY_INFO_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rr_octets octets = rr_hex(cases[i].hex);

		assert_true(get(cases[i].operation, cases[i].hex, &message));
		rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
		rr_property_put(&writer, cases[i].operation, &message, cases[i].elements);
		assert_false(writer.failed);
		assert_int_equal(rpcrdma_xdr_length(&writer), octets.size);
		assert_memory_equal(out, octets.data, octets.size);
	}
}

static void
the_largest_answer_fits_its_room(void **state)
{
	static const uint32_t values[RR_PROPERTIES];
	struct rr_property_message message = { .set = rr_property_set((1 << RR_PROPERTIES) - 1, values) };
	struct rpcrdma_xdr_writer writer;
	uint8_t out[RR_PROPERTY_INFO_MAX];

	(void)state;
	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_property_put(&writer, RR_RESPPROP, &message, RR_PROPERTY_SET_MAX);
	assert_false(writer.failed);
	assert_int_equal(rpcrdma_xdr_length(&writer), 2 * (4 + RR_PROPERTY_SET_MAX / 8) + 4 + 4 * 12);
	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_property_put(&writer, RR_RESPPROP, &message, RR_PROPERTY_SET_MAX + 1);
	assert_true(writer.failed);
}

static const char *
message_holds(const uint8_t *data, size_t size, void *context)
{
	const enum rr_property_operation *operation = context;
	struct rr_property_message message;

	if (!rr_property_get(*operation, (struct rpcrdma_bytes){ data, (uint32_t)size }, &message))
		return NULL;
	if (message.set.count > RR_PROPERTY_SET_MAX)
		return "more properties than a set has";
	for (uint32_t i = 0; i < RR_PROPERTIES; i++) {
		if (!(message.set.has & 1 << i))
			continue;
		if (message.set.positions[i] >= message.set.count)
			return "a property outside its set";
		if (message.set.values[i] > rr_property_kinds[i].max)
			return "a value that is none of its type";
	}
	return NULL;
}

static void
mutations_hold(void **state)
{
	static const char *const messages[] = { all_told, strangers, want, response };

	(void)state;
	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		struct rr_octets octets = rr_hex(messages[i]);

		for (enum rr_property_operation operation = RR_CONNPROP; operation <= RR_UPDPROP; operation++)
			rr_mutate(octets.data, octets.size, message_holds, &operation);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_known_property_has_its_value),
		cmocka_unit_test(unknown_properties_only_count),
		cmocka_unit_test(an_empty_value_is_the_default),
		cmocka_unit_test(values_are_of_their_type),
		cmocka_unit_test(values_stay_inside_the_message),
		cmocka_unit_test(nothing_may_follow),
		cmocka_unit_test(a_property_is_in_a_set_once),
		cmocka_unit_test(a_set_has_an_end),
		cmocka_unit_test(subsets_select_by_position),
		cmocka_unit_test(a_set_of_ours_is_in_the_order_of_its_properties),
		cmocka_unit_test(a_subset_may_go_on_beyond_any_set),
		cmocka_unit_test(writes_what_it_reads),
		cmocka_unit_test(the_largest_answer_fits_its_room),
		cmocka_unit_test(mutations_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
