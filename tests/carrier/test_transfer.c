/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include "carrier/rdma/core/transfer.h"

#include <string.h>

/* Carries out the Writes of a transfer on memory that stands for the peer's: segment i is at offset 100 *
 * i. Returns how many Writes there were. */
static uint32_t
carry_out(struct rr_transfer *transfer, uint8_t *memory, uint32_t sge_max)
{
	struct rr_sge sges[RR_MAX_SGE];
	struct rr_work work;
	uint32_t writes = 0;

	for (; rr_transfer_next(transfer, &work, sges, sge_max); writes++) {
		uint8_t *to = memory + work.remote_offset;

		assert_int_equal(work.kind, RR_WORK_WRITE);
		assert_true(work.sge_count > 0 && work.sge_count <= sge_max);
		for (uint32_t i = 0; i < work.sge_count; i++) {
			assert_true(sges[i].length > 0);
			memcpy(to, sges[i].addr, sges[i].length);
			to += sges[i].length;
		}
		assert_int_equal(work.remote_handle, 7 + work.remote_offset / 100);
	}
	return writes;
}

static struct rr_chunk
chunk_of(struct rr_segment *segments, uint32_t count, const uint32_t *lengths)
{
	for (uint32_t i = 0; i < count; i++)
		segments[i] = (struct rr_segment){ 7 + i, lengths[i], 100 * i };
	return (struct rr_chunk){ segments, count };
}

/* RFC 8166, 3.4.6: "filling the chunk contiguously and in segment array order until that data item has been
 * completely written", and "the Responder updates each segment length field" */
static void
segments_are_filled_in_order_and_shortened(void **state)
{
	const struct rr_piece pieces[] = { { "abcde", 5, false }, { "fgh", 3, true }, { "i", 1, false } };
	struct rr_segment segments[4];
	struct rr_chunk chunk = chunk_of(segments, 4, (uint32_t[]){ 4, 0, 3, 50 });
	struct rr_transfer transfer = rr_transfer(pieces, 3, &chunk);
	uint8_t memory[400] = { 0 };

	(void)state;
	assert_int_equal(carry_out(&transfer, memory, 16), 3);
	assert_memory_equal(memory, "abcd", 5);
	assert_memory_equal(memory + 200, "efg", 4);
	assert_memory_equal(memory + 300, "hi", 3);
	assert_int_equal(segments[0].length, 4);
	assert_int_equal(segments[1].length, 0);
	assert_int_equal(segments[2].length, 3);
	assert_int_equal(segments[3].length, 2);
}

static void
few_sges_make_more_writes(void **state)
{
	const struct rr_piece pieces[] = { { "ab", 2, false }, { "cd", 2, false }, { "ef", 2, false } };
	struct rr_segment segments[2];
	struct rr_chunk chunk = chunk_of(segments, 2, (uint32_t[]){ 5, 90 });
	struct rr_transfer transfer = rr_transfer(pieces, 3, &chunk);
	uint8_t memory[400] = { 0 };

	(void)state;
	assert_int_equal(carry_out(&transfer, memory, 1), 4);
	assert_memory_equal(memory, "abcde", 6);
	assert_memory_equal(memory + 100, "f", 2);
	assert_int_equal(segments[0].length, 5);
	assert_int_equal(segments[1].length, 1);
}

static void
a_chunk_that_is_just_full_keeps_its_lengths(void **state)
{
	const struct rr_piece pieces[] = { { "abcd", 4, true } };
	struct rr_segment segments[3];
	struct rr_chunk chunk = chunk_of(segments, 3, (uint32_t[]){ 3, 1, 9 });
	struct rr_transfer transfer = rr_transfer(pieces, 1, &chunk);
	uint8_t memory[400] = { 0 };

	(void)state;
	assert_int_equal(carry_out(&transfer, memory, 16), 2);
	assert_int_equal(segments[0].length, 3);
	assert_int_equal(segments[1].length, 1);
	assert_int_equal(segments[2].length, 0);
}

static void
nothing_is_written_of_nothing(void **state)
{
	struct rr_segment segments[2];
	struct rr_chunk chunk = chunk_of(segments, 2, (uint32_t[]){ 3, 1 });
	struct rr_transfer transfer = rr_transfer(NULL, 0, &chunk);

	(void)state;
	assert_int_equal(carry_out(&transfer, NULL, 16), 0);
	assert_int_equal(segments[0].length + segments[1].length, 0);
	chunk = chunk_of(segments, 2, (uint32_t[]){ 3, 1 });
	rr_transfer_nothing(&chunk);
	assert_int_equal(segments[0].length + segments[1].length, 0);
}

static void
pieces_are_stream_items_and_padding(void **state)
{
	const struct rpcrdma_item items[] = { { "xyz", 3, 4 }, { "12345", 5, 4 }, { "", 0, 8 },
		{ "end!", 4, 8 } };
	const struct rpcrdma_message message = {
		.stream = "aaaabbbb", .length = 8, .item_count = 4, .items = items
	};
	static const struct {
		const char *data;
		uint32_t length;
		bool item;
	} expected[] = { { "aaaa", 4, false }, { "xyz", 3, true }, { "", 1, false }, { "12345", 5, true },
		{ "\0\0", 3, false }, { "bbbb", 4, false }, { "end!", 4, true } };
	struct rr_piece pieces[RR_PIECES_MAX];
	uint32_t octets;

	(void)state;
	assert_int_equal(rr_message_check(&message, 24, &octets), 0);
	assert_int_equal(octets, 24);
	assert_int_equal(rr_message_check(&message, 23, &octets), -RPCRDMA_ERR_LIMIT);
	assert_int_equal(rr_pieces(&message, 0, pieces), 7);
	for (int i = 0; i < 7; i++) {
		assert_int_equal(pieces[i].length, expected[i].length);
		assert_memory_equal(pieces[i].data, expected[i].data, expected[i].length);
		assert_int_equal(pieces[i].item, expected[i].item);
	}
	assert_int_equal(rr_pieces(&message, 1 | 8, pieces), 4);
	assert_int_equal(rr_item_position(&message, 0), 4);
	assert_int_equal(rr_item_position(&message, 1), 8);
	assert_int_equal(rr_item_position(&message, 3), 20);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segments_are_filled_in_order_and_shortened),
		cmocka_unit_test(few_sges_make_more_writes),
		cmocka_unit_test(a_chunk_that_is_just_full_keeps_its_lengths),
		cmocka_unit_test(nothing_is_written_of_nothing),
		cmocka_unit_test(pieces_are_stream_items_and_padding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
