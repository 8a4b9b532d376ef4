/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include "carrier/rdma/core/chunks.h"

enum { MAX = 100000 };

struct row {
	const char *what;
	bool long_call;
	uint32_t body;
	struct {
		uint32_t position, length;
	} reads[6];
	bool good;
	uint32_t count;
	struct {
		uint32_t length, offset;
	} chunks[4];
};

#define NONE UINT32_MAX

/* clang-format off */
static const struct row rows[] = {
	{ "no Read list", false, 40, { { NONE } }, true, 0 },
	{ "one chunk", false, 40, { { 40, 1000 }, { NONE } }, true, 1, { { 1000, 40 } } },
	{ "one of many segments", false, 40, { { 20, 10 }, { 20, 11 }, { 20, 1 }, { NONE } }, true, 1, { { 22, 20 } } },
	{ "past the body", false, 40, { { 44, 8 }, { NONE } }, false },
	{ "position zero beside a body", false, 40, { { 0, 8 }, { NONE } }, false },
	{ "empty segments move nothing", false, 40, { { 20, 0 }, { 4000, 0 }, { NONE } }, true, 0 },
	{ "two chunks", false, 40, { { 20, 5 }, { 32, 8 }, { NONE } }, true, 2, { { 5, 20 }, { 8, 24 } } },
	{ "two chunks, unsorted", false, 40, { { 32, 8 }, { 20, 5 }, { NONE } }, true, 2, { { 5, 20 }, { 8, 24 } } },
	{ "two chunks, mingled", false, 40, { { 32, 8 }, { 20, 5 }, { 32, 4 }, { 20, 3 }, { NONE } }, true, 2,
		{ { 8, 20 }, { 12, 24 } } },
	{ "with padding in the chunk", false, 40, { { 20, 8 }, { 28, 8 }, { NONE } }, true, 2, { { 8, 20 }, { 8, 20 } } },
	{ "back to back", false, 40, { { 20, 5 }, { 28, 5 }, { NONE } }, true, 2, { { 5, 20 }, { 5, 20 } } },
	{ "overlapping", false, 40, { { 20, 9 }, { 28, 8 }, { NONE } }, false },
	{ "far overlapping", false, 40, { { 20, 5000 }, { 24, 8 }, { NONE } }, false },
	{ "the last at the end of the body", false, 40, { { 20, 100 }, { 140, 8 }, { NONE } }, true, 2,
		{ { 100, 20 }, { 8, 40 } } },
	{ "the last past the body", false, 40, { { 20, 100 }, { 144, 8 }, { NONE } }, false },
	{ "at the bound", false, 40, { { 40, MAX - 40 }, { NONE } }, true, 1, { { MAX - 40, 40 } } },
	{ "above the bound", false, 40, { { 40, MAX - 39 }, { NONE } }, false },
	{ "sum that wraps", false, 40, { { 40, 0xffffffff }, { 40, 2 }, { NONE } }, false },
	{ "sum of chunks above the bound", false, 40, { { 36, MAX / 2 }, { MAX / 2 + 36, MAX / 2 }, { NONE } }, false },
	{ "long call", true, 0, { { 0, 5000 }, { NONE } }, true, 1, { { 5000, 0 } } },
	{ "long call at the bound", true, 0, { { 0, MAX }, { NONE } }, true, 1, { { MAX, 0 } } },
	{ "long call above it", true, 0, { { 0, MAX }, { 0, 1 }, { NONE } }, false },
	{ "long call without its chunk", true, 40, { { 40, 5000 }, { NONE } }, false },
	{ "long call without any", true, 40, { { NONE } }, false },
	{ "long call of no octets", true, 0, { { 0, 0 }, { NONE } }, false },
	{ "long call with an item", true, 0, { { 0, 5000 }, { 4000, 3000 }, { NONE } }, true, 2,
		{ { 5000, 0 }, { 3000, 4000 } } },
	{ "long call with an item at its end", true, 0, { { 5000, 8 }, { 0, 5000 }, { NONE } }, true, 2,
		{ { 5000, 0 }, { 8, 5000 } } },
	{ "long call with an item past it", true, 0, { { 0, 5000 }, { 5004, 8 }, { NONE } }, false },
};
/* clang-format on */

/* Makes the read list that a row describes. */
static struct rr_chunk_lists
lists_of(const struct row *row, struct rr_read_segment *reads)
{
	struct rr_chunk_lists lists = { .reads = reads };

	for (int i = 0; row->reads[i].position != NONE; i++)
		reads[lists.read_count++] = (struct rr_read_segment){ .position = row->reads[i].position,
			.target.length = row->reads[i].length };
	return lists;
}

static void
read_lists_are_judged_by_the_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		struct rr_read_segment reads[6];
		struct rr_chunk_lists lists = lists_of(row, reads);
		struct rr_read_chunks chunks;

		if (rr_read_chunks(&lists, row->long_call, row->body, MAX, &chunks) != row->good)
			fail_msg("%s: not %s", row->what, row->good ? "good" : "bad");
		if (!row->good)
			continue;
		if (chunks.count != row->count)
			fail_msg("%s: %u chunks", row->what, chunks.count);
		for (uint32_t j = 0; j < row->count; j++) {
			if (chunks.chunks[j].length != row->chunks[j].length ||
				chunks.chunks[j].offset != row->chunks[j].offset)
				fail_msg("%s: chunk %u: length %u, offset %u", row->what, j,
					chunks.chunks[j].length, chunks.chunks[j].offset);
		}
	}
}

/* The segments of a chunk lie one behind the other in list order, the chunks apart, and all within the
 * memory. */
static void
segments_have_their_places_in_memory(void **state)
{
	static const struct row row = { .body = 40,
		.reads = { { 32, 7 }, { 20, 5 }, { 32, 5 }, { 20, 3 }, { NONE } } };
	struct rr_read_segment reads[6];
	struct rr_chunk_lists lists = lists_of(&row, reads);
	struct rr_read_chunks chunks;

	(void)state;
	assert_true(rr_read_chunks(&lists, false, 40, MAX, &chunks));
	assert_int_equal(chunks.chunks[0].at, 0);
	assert_int_equal(chunks.chunks[1].at, 8);
	assert_int_equal(chunks.memory, 24);
	assert_int_equal(rr_read_chunks_next(&chunks, &reads[0]), 8);
	assert_int_equal(rr_read_chunks_next(&chunks, &reads[1]), 0);
	assert_int_equal(rr_read_chunks_next(&chunks, &reads[2]), 15);
	assert_int_equal(rr_read_chunks_next(&chunks, &reads[3]), 5);
}

static void
more_chunks_than_items_are_refused(void **state)
{
	struct rr_read_segment reads[RR_MESSAGE_ITEMS + 2];
	struct rr_chunk_lists lists = { .reads = reads };
	struct rr_read_chunks chunks;

	(void)state;
	for (uint32_t i = 0; i < RR_MESSAGE_ITEMS + 2; i++)
		reads[i] = (struct rr_read_segment){ .position = 4 + i * 4, .target.length = 4 };
	lists.read_count = RR_MESSAGE_ITEMS;
	assert_true(rr_read_chunks(&lists, false, 40, MAX, &chunks));
	lists.read_count = RR_MESSAGE_ITEMS + 1;
	assert_false(rr_read_chunks(&lists, false, 40, MAX, &chunks));
	reads[0] = (struct rr_read_segment){ .position = 0,
		.target.length = 40 }; /* and sixteen items behind it */
	assert_true(rr_read_chunks(&lists, true, 0, MAX, &chunks));
	lists.read_count = RR_MESSAGE_ITEMS + 2;
	assert_false(rr_read_chunks(&lists, true, 0, MAX, &chunks));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read_lists_are_judged_by_the_table),
		cmocka_unit_test(segments_have_their_places_in_memory),
		cmocka_unit_test(more_chunks_than_items_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
