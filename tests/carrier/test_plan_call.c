/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include "base/checked.h"
#include "carrier/rdma/core/plan.h"

enum { T = 4096, MAX = 2 << 20 };

static const struct rr_call_limits limits = {
	.call_threshold = T, .reply_threshold = T, .read_chunks = 1, .write_chunks = 1, .message_max = MAX
};

struct call_row {
	const char *what;
	uint32_t stream, items[4], reply_max, sinks[4];
	struct rr_call_plan plan;
};

/* clang-format off */
static const struct call_row call_rows[] = {
	/* A header without chunks takes 28 octets, a read segment 24, a Write chunk 8 + 16, a Reply chunk 4 + 16. */
	{ "nothing", 0, { 0 }, 0, { 0 }, { .header = 28 } },
	{ "call one octet below", T - 29, { 0 }, 0, { 0 }, { .header = 28, .body = T - 29 } },
	{ "call at the threshold", T - 28, { 0 }, 0, { 0 }, { .header = 28, .body = T - 28 } },
	{ "call one octet above", T - 27, { 0 }, 0, { 0 }, { .header = 52, .long_call = true, .segments = 1 } },
	{ "item below", 100, { T - 28 - 100 - 4 }, 0, { 0 }, { .header = 28, .body = T - 32 } },
	{ "item at", 100, { T - 28 - 100 }, 0, { 0 }, { .header = 28, .body = T - 28 } },
	{ "item whose padding just fits", 100, { T - 28 - 100 - 3 }, 0, { 0 }, { .header = 28, .body = T - 28 } },
	{ "item above", 100, { T - 28 - 100 + 1 }, 0, { 0 },
		{ .header = 52, .body = 100, .reduced = 1, .segments = 1 } },
	{ "stream that fits beside a Read chunk", T - 52, { 5000 }, 0, { 0 },
		{ .header = 52, .body = T - 52, .reduced = 1, .segments = 1 } },
	{ "stream that does not", T - 51, { 5000 }, 0, { 0 },
		{ .header = 76, .long_call = true, .segments = 2 } },
	{ "stream that does not, with padding", T - 51, { 5001 }, 0, { 0 },
		{ .header = 100, .long_call = true, .segments = 3 } },
	{ "the largest of several items", 100, { 1000, 4000, 500 }, 0, { 0 },
		{ .header = 52, .body = 1600, .reduced = 2, .segments = 1 } },
	{ "two large items", 100, { 4000, 4000 }, 0, { 0 },
		{ .header = 100, .long_call = true, .segments = 3 } },
	{ "empty items are no chunks", T, { 0, 0 }, 0, { 0 }, { .header = 52, .long_call = true, .segments = 1 } },

	{ "reply below", 100, { 0 }, T - 29, { 0 }, { .header = 28, .body = 100 } },
	{ "reply at", 100, { 0 }, T - 28, { 0 }, { .header = 28, .body = 100 } },
	{ "reply above", 100, { 0 }, T - 27, { 0 }, { .header = 48, .body = 100, .reply_chunk = T - 27 } },
	{ "small result", 100, { 0 }, 100, { T - 128 }, { .header = 28, .body = 100 } },
	{ "small result whose padding just fits", 100, { 0 }, 100, { T - 131 }, { .header = 28, .body = 100 } },
	{ "result above", 100, { 0 }, 100, { T - 127 }, { .header = 52, .body = 100, .write_chunks = 1 } },
	{ "rest that fits beside a Write chunk", 100, { 0 }, T - 52, { 5000 },
		{ .header = 52, .body = 100, .write_chunks = 1 } },
	{ "rest that does not", 100, { 0 }, T - 51, { 5000 },
		{ .header = 48, .body = 100, .reply_chunk = T - 51 + 5000 } },
	{ "rest that does not, padding counts", 100, { 0 }, T, { 5001 },
		{ .header = 48, .body = 100, .reply_chunk = T + 5004 } },
	{ "one Write chunk, the other result inline", 100, { 0 }, 100, { 5000, 200 },
		{ .header = 52, .body = 100, .write_chunks = 1 } },
	{ "a later result is larger", 100, { 0 }, 100, { 200, 5000 },
		{ .header = 48, .body = 100, .reply_chunk = 5300 } },
	{ "a later result is larger, though it would fit inline", 100, { 0 }, 2900, { 200, 1000 },
		{ .header = 48, .body = 100, .reply_chunk = 4100 } },
	{ "two large results", 100, { 0 }, 100, { 5000, 5000 },
		{ .header = 48, .body = 100, .reply_chunk = 10100 } },
	{ "the call's header has the Write chunk, too", T - 52, { 0 }, 0, { 5000 },
		{ .header = 52, .body = T - 52, .write_chunks = 1 } },
	{ "and its segment counts", T - 51, { 0 }, 0, { 5000 },
		{ .header = 76, .long_call = true, .segments = 1, .write_chunks = 1 } },
	{ "Read and Write chunk", 1000, { 5000 }, 0, { 5000 },
		{ .header = 76, .body = 1000, .reduced = 1, .segments = 1, .write_chunks = 1 } },
	{ "long call and Reply chunk", 5000, { 0 }, 5000, { 0 },
		{ .header = 72, .long_call = true, .segments = 1, .reply_chunk = 5000 } },
};
/* clang-format on */

/* Makes the transaction that a row describes. */
static struct rr_transaction
transaction_of(const struct call_row *row, struct rpcrdma_item *items)
{
	struct rr_transaction transaction = { .call = { .stream = "", .length = row->stream, .items = items },
		.reply_max = row->reply_max };

	for (int i = 0; i < 4 && row->items[i] > 0; i++)
		items[transaction.call.item_count++] = (struct rpcrdma_item){ .length = row->items[i] };
	for (int i = 0; i < 4 && row->sinks[i] > 0; i++)
		transaction.sinks[transaction.sink_count++].length = row->sinks[i];
	return transaction;
}

/*
 * RFC 8166, 3.5.3: where the stream is too large, "the RDMA transport MUST use RDMA Read or Write operations
 * to convey the Payload stream itself." 4.3.3: "A Requester MUST provide a Reply chunk whenever the maximum
 * possible size of the RPC Reply message's Transport and Payload streams is larger than the inline
 * threshold". 4.3.2.2: "the Requester MUST provision each Write chunk so it can be filled with the largest
 * DDP-eligible data item that can be placed in it."
 */
static void
calls_are_planned_by_the_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(call_rows) / sizeof(call_rows[0]); i++) {
		const struct call_row *row = &call_rows[i];
		struct rpcrdma_item items[4];
		struct rr_transaction transaction = transaction_of(row, items);
		struct rr_call_plan plan;

		assert_int_equal(rr_plan_call(&limits, &transaction, &plan), 0);
		if (plan.header != row->plan.header || plan.body != row->plan.body ||
			plan.reduced != row->plan.reduced || plan.long_call != row->plan.long_call ||
			plan.segments != row->plan.segments || plan.write_chunks != row->plan.write_chunks ||
			plan.reply_chunk != row->plan.reply_chunk)
			fail_msg("%s: header %u body %u reduced %llx long %d segments %u writes %u reply %u",
				row->what, plan.header, plan.body, (unsigned long long)plan.reduced,
				plan.long_call, plan.segments, plan.write_chunks, plan.reply_chunk);
	}
}

/* Checks the rules for calls of any sizes: no message is above a threshold, and no data moves by RDMA
 * without need. */
static void
check(const struct rr_call_limits *with, const struct rr_transaction *transaction)
{
	const struct rpcrdma_item *items = transaction->call.items;
	uint32_t all = transaction->call.length, results = transaction->reply_max, placed = 0;
	struct rr_call_plan plan;

	assert_int_equal(rr_plan_call(with, transaction, &plan), 0);
	for (uint32_t i = 0; i < transaction->call.item_count; i++)
		all += items[i].length + rr_pad(items[i].length);
	assert_true(plan.header + plan.body <= with->call_threshold);
	assert_int_equal(
		plan.header, rr_rdma_header_size(plan.segments, plan.write_chunks, plan.reply_chunk > 0,
				     plan.write_chunks + (plan.reply_chunk > 0)));
	if (plan.segments > 0)
		assert_true(plan.header - 24 * plan.segments + all > with->call_threshold);
	else
		assert_int_equal(plan.body, all);
	if (plan.long_call)
		assert_true(plan.reduced == 0 && plan.body == 0);
	else
		assert_true(plan.segments <= with->read_chunks);

	for (uint32_t i = 0; i < transaction->sink_count; i++) {
		uint32_t length = transaction->sinks[i].length + rr_pad(transaction->sinks[i].length);

		results += length;
		placed += i < plan.write_chunks ? length : 0;
	}
	assert_true(plan.write_chunks <= with->write_chunks);
	assert_true(plan.write_chunks == 0 || plan.reply_chunk == 0);
	if (plan.reply_chunk > 0)
		assert_int_equal(plan.reply_chunk, results);
	else
		assert_true(rr_rdma_header_size(0, plan.write_chunks, false, plan.write_chunks) + results -
				    placed <=
			    with->reply_threshold);
	if (plan.reply_chunk > 0 || plan.write_chunks > 0)
		assert_true(28 + results > with->reply_threshold);
}

static void
plans_of_all_sizes_keep_the_rules(void **state)
{
	static const uint32_t sizes[] = { 1, 3, 4, 500, 940, 969, 970, 971, 972, 973, 992, 993, 994, 995, 996,
		997, 998, 1000, 1024, 4044, 4068, 4069, 5000, 70000 };
	enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

	(void)state;
	for (uint32_t chunks = 0; chunks <= 2; chunks++) {
		struct rr_call_limits with = limits;

		with.call_threshold = with.reply_threshold = 1024;
		with.read_chunks = with.write_chunks = chunks;
		for (size_t i = 0; i < SIZES * SIZES * SIZES; i++) {
			struct rpcrdma_item items[2] = { { .length = sizes[i / SIZES % SIZES] },
				{ .length = sizes[i / SIZES / SIZES] } };
			struct rr_transaction transaction = {
				.call = { .stream = "",
					.length = sizes[i % SIZES],
					.item_count = 2,
					.items = items },
				.reply_max = sizes[i % SIZES],
				.sink_count = 2,
				.sinks = { { .length = items[0].length }, { .length = items[1].length } },
			};

			check(&with, &transaction);
			transaction.call.item_count = transaction.sink_count = 1;
			check(&with, &transaction);
		}
	}
}

static void
a_peer_that_takes_more_chunks_gets_them(void **state)
{
	struct rr_call_limits with = limits;
	struct rpcrdma_item items[2] = { { .length = 5000 }, { .length = 6000 } };
	struct rr_transaction transaction = {
		.call = { .stream = "", .length = 100, .item_count = 2, .items = items },
		.reply_max = 100,
		.sink_count = 2,
		.sinks = { { .length = 6000 }, { .length = 5000 } }
	};
	struct rr_call_plan plan;

	(void)state;
	with.read_chunks = with.write_chunks = 2;
	assert_int_equal(rr_plan_call(&with, &transaction, &plan), 0);
	assert_int_equal(plan.reduced, 3);
	assert_int_equal(plan.write_chunks, 2);
	assert_int_equal(plan.reply_chunk, 0);
}

static void
what_is_too_large_or_wrong_is_refused(void **state)
{
	struct rpcrdma_item items[5] = { { .length = 8, .offset = 8 }, { .length = 8, .offset = 4 } };
	struct rr_transaction transaction = { .call = { .stream = "", .length = 100, .items = items } };
	struct rr_call_plan plan;

	(void)state;
	transaction.call.length = MAX;
	assert_int_equal(rr_plan_call(&limits, &transaction, &plan), 0);
	transaction.call.length = MAX + 1;
	assert_int_equal(rr_plan_call(&limits, &transaction, &plan), -RPCRDMA_ERR_LIMIT);
	transaction.call.length = MAX - 8;
	transaction.call.item_count = 1;
	assert_int_equal(rr_plan_call(&limits, &transaction, &plan), 0);
	items[0].length = 9;
	assert_int_equal(rr_plan_call(&limits, &transaction, &plan), -RPCRDMA_ERR_LIMIT);
	transaction.call.length = 100;
	transaction.call.item_count = 2;
	assert_int_equal(rr_plan_call(&limits, &transaction, &plan), -RPCRDMA_ERR_INVAL); /* out of order */
	items[1].offset = 104;
	assert_int_equal(rr_plan_call(&limits, &transaction, &plan), -RPCRDMA_ERR_INVAL); /* past the end */
	items[1].offset = 10;
	assert_int_equal(rr_plan_call(&limits, &transaction, &plan), -RPCRDMA_ERR_INVAL); /* odd */
	transaction.call.item_count = RR_CALL_ITEMS + 1;
	assert_int_equal(rr_plan_call(&limits, &transaction, &plan), -RPCRDMA_ERR_INVAL);
	transaction.call.item_count = 0;
	transaction.reply_max = UINT32_MAX;
	assert_int_equal(rr_plan_call(&limits, &transaction, &plan), -RPCRDMA_ERR_LIMIT);
	transaction.reply_max = 0;
	transaction.sink_count = 2;
	transaction.sinks[0].length = transaction.sinks[1].length = UINT32_MAX;
	assert_int_equal(rr_plan_call(&limits, &transaction, &plan), -RPCRDMA_ERR_LIMIT);
	transaction.sink_count = RPCRDMA_SINKS_MAX + 1;
	assert_int_equal(rr_plan_call(&limits, &transaction, &plan), -RPCRDMA_ERR_INVAL);
}

/* Row B14, draft-cel-nfsv4-rpcrdma-reliable-reply-02, 5.3.1: the reply mechanism that the requester
 * chooses, if the responder provides Read chunks. */
static const struct left_row {
	const char *what;
	enum rr_reply_chunks policy;
	uint32_t min, max, sink;
	uint32_t reply_chunk, write_chunks;
	bool left;
} left_rows[] = {
	{ "it fits: nothing", RR_REPLY_CHUNKS_AUTO, 100, T - 28, 0, 0, 0, false },
	{ "it may not fit", RR_REPLY_CHUNKS_AUTO, T - 28, T - 27, 0, 0, 0, true },
	{ "it will not fit: a Reply chunk", RR_REPLY_CHUNKS_AUTO, T - 27, T - 27, 0, T - 27, 0, false },
	{ "no maximum is known", RR_REPLY_CHUNKS_AUTO, 0, UINT32_MAX, 0, 0, 0, true },
	{ "always: it fits", RR_REPLY_CHUNKS_ALWAYS, 0, T - 28, 0, 0, 0, false },
	{ "always: it may not fit", RR_REPLY_CHUNKS_ALWAYS, 0, T - 27, 0, T - 27, 0, false },
	{ "never: it may not fit", RR_REPLY_CHUNKS_NEVER, 0, T - 27, 0, 0, 0, true },
	{ "never: it will not fit", RR_REPLY_CHUNKS_NEVER, 9000, 9000, 0, 0, 0, true },
	{ "a result is placed, the rest fits", RR_REPLY_CHUNKS_AUTO, 0, T - 52, 5000, 0, 1, false },
	{ "a result is placed, the rest may not fit", RR_REPLY_CHUNKS_AUTO, 0, T - 51, 5000, 0, 1, true },
	{ "always: it is placed in the Reply chunk", RR_REPLY_CHUNKS_ALWAYS, 0, T, 5000, T + 5000, 0, false },
};

static void
the_choice_of_the_reply_mechanism_follows_the_estimate(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(left_rows) / sizeof(left_rows[0]); i++) {
		const struct left_row *row = &left_rows[i];
		struct rr_transaction transaction = { .call = { .stream = "", .length = 100 },
			.reply_min = row->min,
			.reply_max = row->max,
			.sink_count = row->sink > 0,
			.sinks = { { .length = row->sink } } };
		struct rr_call_limits with = limits;
		struct rr_call_plan plan;

		with.provides = true;
		with.reply_chunks = row->policy;
		assert_int_equal(rr_plan_call(&with, &transaction, &plan), 0);
		if (plan.reply_chunk != row->reply_chunk || plan.write_chunks != row->write_chunks ||
			plan.left != row->left)
			fail_msg("%s: reply %u writes %u left %d", row->what, plan.reply_chunk,
				plan.write_chunks, plan.left);
		/* A responder that provides no Read chunks is offered room for the largest reply. */
		with.provides = false;
		if (row->max == UINT32_MAX) {
			assert_int_equal(rr_plan_call(&with, &transaction, &plan), -RPCRDMA_ERR_LIMIT);
			continue;
		}
		assert_int_equal(rr_plan_call(&with, &transaction, &plan), 0);
		assert_false(plan.left);
		assert_int_equal(plan.reply_chunk > 0, row->left || row->reply_chunk > 0);
	}
}

static void
results_must_have_a_bound_where_the_stream_needs_none(void **state)
{
	struct rr_transaction transaction = { .call = { .stream = "", .length = 100 },
		.reply_max = UINT32_MAX,
		.sink_count = 1,
		.sinks = { { .length = MAX } } };
	struct rr_call_limits with = limits;
	struct rr_call_plan plan;

	(void)state;
	with.provides = true;
	assert_int_equal(rr_plan_call(&with, &transaction, &plan), 0);
	transaction.sinks[0].length = MAX + 1;
	assert_int_equal(rr_plan_call(&with, &transaction, &plan), -RPCRDMA_ERR_LIMIT);
}

/* A long call has a read segment for each piece of memory, and its header must go inline. */
static void
a_long_call_of_more_pieces_than_a_header_holds_is_refused(void **state)
{
	struct rpcrdma_item items[RR_CALL_ITEMS];
	struct rr_transaction transaction = { .call = { .stream = "", .length = 100, .items = items } };
	struct rr_call_limits with = limits;
	struct rr_call_plan plan;

	(void)state;
	with.read_chunks = 0;
	for (uint32_t i = 0; i < RR_CALL_ITEMS; i++)
		items[i] = (struct rpcrdma_item){ .length = 501, .offset = 4 * i + 4 };
	transaction.call.item_count = RR_CALL_ITEMS;
	assert_int_equal(rr_plan_call(&with, &transaction, &plan), 0);
	assert_int_equal(plan.segments, 1 + 3 * RR_CALL_ITEMS);
	with.call_threshold = plan.header;
	assert_int_equal(rr_plan_call(&with, &transaction, &plan), 0);
	with.call_threshold--;
	assert_int_equal(rr_plan_call(&with, &transaction, &plan), -RPCRDMA_ERR_LIMIT);
}

/* rr_plan_call_is_plain() is true of a call exactly if rr_plan_call() plans no chunk for it. */
static void
a_plain_call_is_one_that_would_be_planned_without_chunks(void **state)
{
	static const uint32_t sizes[] = { 0, 40, 1023, T - 29, T - 28, T - 27, T, MAX, UINT32_MAX };
	enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };
	struct rr_call_plan plan;

	(void)state;
	for (uint32_t i = 0; i < 4 * SIZES * SIZES; i++) {
		struct rr_transaction transaction = { .call = { .stream = "", .length = sizes[i % SIZES] },
			.reply_max = sizes[i / SIZES % SIZES],
			.sink_count = i / SIZES / SIZES % 2,
			.sinks = { { .length = 10 * T } } };
		struct rpcrdma_item item = { .length = 10 * T };
		bool plain;

		transaction.call.items = &item;
		transaction.call.item_count = i / SIZES / SIZES / 2;
		plain = rr_plan_call_is_plain(&transaction, T, T);
		if (rr_plan_call(&limits, &transaction, &plan) < 0) {
			assert_false(plain);
			continue;
		}
		assert_int_equal(plain, plan.segments + plan.write_chunks + plan.reply_chunk == 0);
		if (plain)
			assert_true(plan.header == 28 && plan.body == transaction.call.length && !plan.left &&
				    !plan.long_call && plan.reduced == 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_planned_by_the_table),
		cmocka_unit_test(plans_of_all_sizes_keep_the_rules),
		cmocka_unit_test(a_peer_that_takes_more_chunks_gets_them),
		cmocka_unit_test(what_is_too_large_or_wrong_is_refused),
		cmocka_unit_test(the_choice_of_the_reply_mechanism_follows_the_estimate),
		cmocka_unit_test(results_must_have_a_bound_where_the_stream_needs_none),
		cmocka_unit_test(a_long_call_of_more_pieces_than_a_header_holds_is_refused),
		cmocka_unit_test(a_plain_call_is_one_that_would_be_planned_without_chunks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
