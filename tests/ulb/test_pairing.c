/* SPDX-License-Identifier: BSD-3-Clause */
/* Write chunks and results: RFC 8267, section 6.4.1, case by case. */
#include "../test.h"

#include <string.h>

#include "ulb/pairing.h"

enum { MOST = 4, I = -1 };

struct row {
	const char *what;
	uint32_t item_count;
	struct {
		uint32_t result, length;
	} items[MOST];
	uint32_t chunk_count;
	uint32_t chunks[MOST];
	bool good;
	int chunk_of[MOST]; /* I: inline */
};

static const struct row rows[] = {
	{ "no items, no chunks", 0, { { 0, 0 } }, 0, { 0 }, true, { 0 } },
	{ "no chunks: \"it leaves the Write list empty\"", 2, { { 0, 9 }, { 1, 9 } }, 0, { 0 }, true,
		{ I, I } },
	{ "\"the first READ operation\", \"the next READ operation\"", 2, { { 0, 9 }, { 1, 5 } }, 2, { 9, 9 },
		true, { 0, 1 } },
	{ "an empty chunk: \"MUST return all of its result data items inline\"", 3,
		{ { 0, 9 }, { 1, 5 }, { 2, 3 } }, 3, { 9, 0, 9 }, true, { 0, I, 2 } },
	{ "\"more READ operations than Write chunks\"", 3, { { 0, 9 }, { 1, 5 }, { 2, 3 } }, 1, { 9 }, true,
		{ 0, I, I } },
	{ "more chunks than results", 1, { { 0, 9 } }, 3, { 9, 9, 9 }, true, { 0 } },
	{ "a result that failed: its chunk is nobody's", 0, { { 0, 0 } }, 1, { 9 }, true, { 0 } },
	{ "a result without octets keeps its chunk", 2, { { 0, 0 }, { 1, 5 } }, 2, { 9, 9 }, true, { 0, 1 } },
	{ "a result without an item: the next operation's chunk is still its own", 1, { { 1, 5 } }, 2,
		{ 9, 9 }, true, { 1 } },
	{ "a result of two pieces: one chunk is one operation's", 3, { { 0, 4 }, { 0, 5 }, { 1, 6 } }, 2,
		{ 9, 9 }, true, { 0, I, 1 } },
	{ "a chunk that is just large enough", 1, { { 0, 9 } }, 1, { 9 }, true, { 0 } },
	{ "a chunk that is too small", 1, { { 0, 10 } }, 1, { 9 }, false, { 0 } },
	{ "the second one is too small", 2, { { 0, 9 }, { 1, 10 } }, 2, { 9, 9 }, false, { 0, 1 } },
};

/* Makes the items that a row describes; those that the row gives a chunk were sent as chunks. */
static void
items_of(const struct row *row, struct rr_walk_item *items)
{
	memset(items, 0, MOST * sizeof(*items));
	for (uint32_t i = 0; i < row->item_count; i++) {
		items[i].result = row->items[i].result;
		items[i].length = row->items[i].length;
		items[i].reduced = row->chunk_of[i] != I && items[i].length > 0;
	}
}

/* Sets the chunks. The chunks behind them must not be looked at. */
static void
chunks_of(const struct row *row, uint32_t *chunks)
{
	for (uint32_t i = 0; i < MOST + 1; i++)
		chunks[i] = i < row->chunk_count ? row->chunks[i] : 1000;
}

/* A reply by these rules passes the requester's check, and any other reply does not. */
static void
the_requester_sees_violations(void **state)
{
	struct rr_walk_item items[MOST];
	uint32_t chunks[MOST + 1];

	(void)state;
	for (size_t n = 0; n < sizeof(rows) / sizeof(*rows); n++) {
		const struct row *row = &rows[n];

		print_message("# %s\n", row->what);
		items_of(row, items);
		chunks_of(row, chunks);
		assert_int_equal(
			rr_results_are_paired(items, row->item_count, chunks, row->chunk_count), row->good);
		for (uint32_t i = 0; i < row->item_count && row->good; i++) {
			items[i].reduced = !items[i].reduced;
			assert_false(rr_results_are_paired(items, row->item_count, chunks, row->chunk_count));
			items[i].reduced = !items[i].reduced;
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_requester_sees_violations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
