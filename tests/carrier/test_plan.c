/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include "base/checked.h"
#include "carrier/rdma/core/plan.h"

enum { T = 4096, MAX = 2 << 20 };

static const struct rr_call_limits limits = {
	.call_threshold = T, .reply_threshold = T, .read_chunks = 1, .write_chunks = 1, .message_max = MAX
};

/* ---- Calls ---- */

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

/* What must hold for any sizes: nothing is above a threshold, and nothing is moved by RDMA without need. */
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

/* Row B14, draft-cel-nfsv4-rpcrdma-reliable-reply-02, 5.3.1: which reply mechanism the requester chooses, of
 * a responder that provides Read chunks. */
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
		/* Another responder is offered all that a reply may take. */
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

/* ---- Replies ---- */

static void
plan_reply(uint32_t threshold, uint32_t sge_max, const struct rr_chunk_lists *offered,
	const struct rpcrdma_message *reply, struct rr_reply_plan *plan)
{
	const struct rr_reply_limits no_more = { .threshold = threshold, .sge_max = sge_max };

	rr_plan_reply(&no_more, offered, reply, plan);
}

struct reply_row {
	const char *what;
	uint32_t stream, items[3];
	int writes[3]; /* octets of each Write chunk in two segments; -1: no segments; -2: segments without
			 octets; 0: there is no such chunk */
	uint32_t reply_chunk;
	struct rr_reply_plan plan;
};

/* clang-format off */
static const struct reply_row reply_rows[] = {
	{ "inline", 100, { 0 }, { 0 }, 0, { RR_REPLY_INLINE, 28, 100, 0 } },
	{ "inline at", T - 28, { 0 }, { 0 }, 0, { RR_REPLY_INLINE, 28, T - 28, 0 } },
	{ "above, and nothing offered", T - 27, { 0 }, { 0 }, 0, { RR_REPLY_ERROR, 28, T - 27, 0 } },
	{ "inline though a Reply chunk is there", T - 64, { 0 }, { 0 }, 9000, { RR_REPLY_INLINE, 64, T - 64, 0 } },
	{ "Reply chunk", T - 63, { 0 }, { 0 }, 9000, { RR_REPLY_LONG, 64, T - 63, 0 } },
	{ "Reply chunk at its length", 9000, { 0 }, { 0 }, 9000, { RR_REPLY_LONG, 64, 9000, 0 } },
	{ "Reply chunk too small", 9001, { 0 }, { 0 }, 9000, { RR_REPLY_ERROR, 64, 9001, 0 } },
	{ "result in its Write chunk", 100, { 5000 }, { 8000 }, 0, { RR_REPLY_INLINE, 68, 100, 1 } },
	{ "a small one, too", 100, { 5 }, { 8000 }, 0, { RR_REPLY_INLINE, 68, 100, 1 } },
	{ "exactly as long", 100, { 8000 }, { 8000 }, 0, { RR_REPLY_INLINE, 68, 100, 1 } },
	{ "longer than the chunk", 100, { 8001 }, { 8000 }, 0, { RR_REPLY_ERROR, 68, 0, 0 } },
	{ "longer, and a Reply chunk would hold it", 100, { 8001 }, { 8000 }, 20000,
		{ RR_REPLY_ERROR, 104, 0, 0 } },
	{ "empty Write chunk: inline", 100, { 5 }, { -1 }, 0, { RR_REPLY_INLINE, 36, 108, 0 } },
	{ "empty Write chunk, then one", 100, { 5, 6 }, { -1, 80 }, 0, { RR_REPLY_INLINE, 76, 108, 2 } },
	{ "Write chunk without octets: inline", 100, { 5 }, { -2 }, 0, { RR_REPLY_INLINE, 68, 108, 0 } },
	{ "Write chunk without octets, then one", 100, { 5, 6 }, { -2, 80 }, 0,
		{ RR_REPLY_INLINE, 108, 108, 2 } },
	{ "Write chunk, then one without octets", 100, { 5, 6 }, { 80, -2 }, 0,
		{ RR_REPLY_INLINE, 108, 108, 1 } },
	{ "Write chunk without octets, and a Reply chunk", 100, { 5001 }, { -2 }, 9000,
		{ RR_REPLY_LONG, 104, 5104, 0 } },
	{ "fewer chunks than results", 100, { 500, 501 }, { 800 }, 0, { RR_REPLY_INLINE, 68, 604, 1 } },
	{ "fewer results than chunks", 100, { 500 }, { 800, 800 }, 0, { RR_REPLY_INLINE, 108, 100, 1 } },
	{ "Write chunk and Reply chunk", 5000, { 500 }, { 800 }, 6000, { RR_REPLY_LONG, 104, 5000, 1 } },
	{ "items in the Reply chunk, padded", 100, { 5001 }, { 0 }, 5104, { RR_REPLY_LONG, 64, 5104, 0 } },
	{ "items in the Reply chunk, padding does not fit", 100, { 5001 }, { 0 }, 5103,
		{ RR_REPLY_ERROR, 64, 5104, 0 } },
};
/* clang-format on */

static struct rr_chunk
chunk_of(struct rr_chunk_lists *lists, uint32_t octets)
{
	struct rr_segment *segments = &lists->segments[lists->segment_count];

	segments[0] = (struct rr_segment){ .length = octets / 2 };
	segments[1] = (struct rr_segment){ .length = octets - octets / 2 };
	lists->segment_count += 2;
	return (struct rr_chunk){ segments, 2 };
}

static void
offer(const struct reply_row *row, struct rr_chunk_lists *lists)
{
	for (int i = 0; i < 3 && row->writes[i] != 0; i++) {
		if (row->writes[i] != -1)
			lists->writes[lists->write_count] =
				chunk_of(lists, row->writes[i] > 0 ? (uint32_t)row->writes[i] : 0);
		lists->write_count++;
	}
	lists->has_reply = row->reply_chunk > 0;
	if (lists->has_reply)
		lists->reply = chunk_of(lists, row->reply_chunk);
}

/*
 * RFC 8166, 4.3.2.2: what a result without an eligible item leaves over: "If there is a subsequent
 * DDP-eligible result data item in the RPC Reply message, it MUST be placed in that unconsumed Write chunk."
 * The first item of a reply has the first chunk, whatever results were before it. RFC 8267, 6.4.1: with a
 * chunk that is not empty, a result uses that chunk; with an empty one, or none, it goes inline.
 * draft-ietf-nfsv4-rfc5667bis-01, 4.1: a chunk is empty, too, "if the total size of the segments is zero".
 */
static void
replies_are_planned_by_the_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(reply_rows) / sizeof(reply_rows[0]); i++) {
		const struct reply_row *row = &reply_rows[i];
		struct rr_chunk writes[3] = { { 0 } };
		struct rr_segment segments[8];
		struct rr_chunk_lists lists = { .writes = writes, .segments = segments };
		struct rpcrdma_item items[3];
		struct rpcrdma_message reply = { .stream = "", .length = row->stream, .items = items };
		struct rr_reply_plan plan;

		offer(row, &lists);
		for (int j = 0; j < 3 && row->items[j] > 0; j++)
			items[reply.item_count++] = (struct rpcrdma_item){ .length = row->items[j] };
		plan_reply(T, 16, &lists, &reply, &plan);
		if (plan.form != row->plan.form || plan.header != row->plan.header ||
			(plan.form != RR_REPLY_ERROR &&
				(plan.body != row->plan.body || plan.reduced != row->plan.reduced)))
			fail_msg("%s: form %d header %u body %u reduced %llx", row->what, plan.form,
				plan.header, plan.body, (unsigned long long)plan.reduced);
	}
}

/* RFC 8267, 6.4.1: with "a matching non-empty Write chunk, then the corresponding READ operation MUST return
 * its DDP-eligible data item using that chunk." */
static void
every_result_goes_into_the_chunk_that_is_there_for_it(void **state)
{
	static struct rr_chunk writes[RR_MESSAGE_ITEMS];
	static struct rr_segment segments[RR_MESSAGE_ITEMS];
	static struct rpcrdma_item items[RR_MESSAGE_ITEMS];
	struct rr_chunk_lists lists = { .writes = writes, .segments = segments };
	struct rpcrdma_message reply = { .stream = "", .length = 100, .items = items };
	struct rr_reply_plan plan;

	(void)state;
	while (reply.item_count < RR_MESSAGE_ITEMS) {
		uint32_t i = reply.item_count++;

		items[i] = (struct rpcrdma_item){ .length = 1000 + i };
		segments[i].length = 2000;
		writes[i] = (struct rr_chunk){ &segments[i], 1 };
		lists.segment_count = lists.write_count = i + 1;
		plan_reply(T, 16, &lists, &reply, &plan);
		assert_int_equal(plan.form, RR_REPLY_INLINE);
		assert_int_equal(plan.body, 100);
		assert_true(plan.reduced == UINT64_MAX >> (63 - i));
	}
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

static void
an_empty_result_uses_up_its_chunk(void **state)
{
	struct rr_segment segments[2] = { { .length = 100 }, { .length = 100 } };
	struct rr_chunk writes[2] = { { &segments[0], 1 }, { &segments[1], 1 } };
	struct rr_chunk_lists lists = {
		.writes = writes, .segments = segments, .write_count = 2, .segment_count = 2
	};
	struct rpcrdma_item items[2] = { { .length = 0 }, { .length = 50 } };
	struct rpcrdma_message reply = { .stream = "", .length = 40, .item_count = 2, .items = items };
	struct rr_reply_plan plan;

	(void)state;
	plan_reply(T, 16, &lists, &reply, &plan);
	assert_int_equal(plan.form, RR_REPLY_INLINE);
	assert_int_equal(plan.reduced, 3);
	assert_int_equal(plan.body, 40);
}

static void
what_cannot_be_gathered_does_not_go_inline(void **state)
{
	struct rpcrdma_item item = { .length = 6, .offset = 20 };
	struct rpcrdma_message reply = { .stream = "", .length = 40, .item_count = 1, .items = &item };
	struct rr_segment segment = { .length = 100 };
	struct rr_chunk_lists lists = { .segments = &segment };
	struct rr_reply_plan plan;

	(void)state;
	plan_reply(T, 5, &lists, &reply, &plan); /* header, stream, item, padding, stream */
	assert_int_equal(plan.form, RR_REPLY_INLINE);
	plan_reply(T, 4, &lists, &reply, &plan);
	assert_int_equal(plan.form, RR_REPLY_ERROR);
	lists.has_reply = true;
	lists.segment_count = 1;
	lists.reply = (struct rr_chunk){ &segment, 1 };
	plan_reply(T, 4, &lists, &reply, &plan);
	assert_int_equal(plan.form, RR_REPLY_LONG);
}

/* Row B14, draft-cel-nfsv4-rpcrdma-reliable-reply-02, 4.1.1: "the inline threshold and any provided Reply
 * chunk are both too small to accommodate the Payload stream of the reply", and nothing less. 4.1: "a
 * responder must still make use of Write chunks provided by the requester." */
static void
a_read_chunk_is_provided_where_nothing_else_conveys_the_reply(void **state)
{
	const struct rr_reply_limits with = { .threshold = T, .sge_max = 16, .read_chunks = true };
	const struct rr_reply_limits without = { .threshold = T, .sge_max = 16 };
	struct rr_segment segments[8];
	struct rr_chunk writes[1];
	struct rr_chunk_lists lists = { .writes = writes, .segments = segments };
	struct rpcrdma_item item = { .length = 5000, .offset = 40 };
	struct rpcrdma_message reply = { .stream = "", .length = T - 28, .items = &item };
	struct rr_reply_plan plan;

	(void)state;
	rr_plan_reply(&with, &lists, &reply, &plan);
	assert_int_equal(plan.form, RR_REPLY_INLINE);
	reply.length++;
	/* "If a responder does not support responder-provided Read chunks in this case, it MUST return an
	 * appropriate permanent transport error". */
	rr_plan_reply(&without, &lists, &reply, &plan);
	assert_int_equal(plan.form, RR_REPLY_ERROR);
	rr_plan_reply(&with, &lists, &reply, &plan);
	assert_int_equal(plan.form, RR_REPLY_PROVIDED);
	assert_int_equal(plan.header, 28 + 24);
	assert_int_equal(plan.body, T - 27);
	writes[lists.write_count++] = chunk_of(&lists, 6000);
	reply.item_count = 1;
	rr_plan_reply(&with, &lists, &reply, &plan);
	assert_int_equal(plan.form, RR_REPLY_PROVIDED);
	assert_int_equal(plan.reduced, 1);
	assert_int_equal(plan.header, 28 + 24 + 8 + 32);
	lists.has_reply = true;
	lists.reply = chunk_of(&lists, T - 28);
	rr_plan_reply(&with, &lists, &reply, &plan);
	assert_int_equal(plan.form, RR_REPLY_PROVIDED);
	lists.reply.segments[0].length++;
	rr_plan_reply(&with, &lists, &reply, &plan);
	assert_int_equal(plan.form, RR_REPLY_LONG);
	/* A result that does not fit its chunk stays an error. */
	item.length = 6001;
	rr_plan_reply(&with, &lists, &reply, &plan);
	assert_int_equal(plan.form, RR_REPLY_ERROR);
}

static void
a_header_that_returns_too_much_is_an_error(void **state)
{
	static struct rr_segment segments[70];
	struct rr_chunk writes[1] = { { segments, 63 } };
	struct rr_chunk_lists lists = {
		.writes = writes, .segments = segments, .write_count = 1, .segment_count = 61
	};
	struct rpcrdma_message reply = { .stream = "", .length = 12 };
	struct rr_reply_plan plan;
	uint32_t item_room, stream_room;

	(void)state;
	plan_reply(1024, 16, &lists, &reply, &plan); /* 28 + 8 + 61 * 16 + 12 = 1024 */
	assert_int_equal(plan.form, RR_REPLY_INLINE);
	rr_plan_room(1024, 0, &lists, &item_room, &stream_room);
	assert_int_equal(stream_room, 12);
	lists.segment_count = 62;
	plan_reply(1024, 16, &lists, &reply, &plan);
	assert_int_equal(plan.form, RR_REPLY_ERROR);
	lists.segment_count = 63;
	rr_plan_room(1024, 0, &lists, &item_room, &stream_room);
	assert_int_equal(stream_room, 0);
	assert_int_equal(item_room, 0);
}

static void
the_room_of_a_reply_is_what_can_be_conveyed(void **state)
{
	struct rr_chunk writes[1];
	struct rr_segment segments[4];
	struct rr_chunk_lists lists = { .writes = writes, .segments = segments };
	uint32_t item_room, stream_room;

	(void)state;
	rr_plan_room(T, 0, &lists, &item_room, &stream_room);
	assert_int_equal(stream_room, T - 28);
	rr_plan_room(T, 70001, &lists, &item_room, &stream_room);
	assert_int_equal(stream_room, 70000);
	assert_int_equal(item_room, 70000 - 160);
	rr_plan_room(T, 100, &lists, &item_room, &stream_room);
	assert_int_equal(stream_room, T - 28);
	rr_plan_room(T, 0, &lists, &item_room, &stream_room);
	assert_int_equal(item_room, T - 28 - 160);
	writes[0] = (struct rr_chunk){ NULL, 0 };
	lists.write_count = 1;
	rr_plan_room(T, 0, &lists, &item_room, &stream_room);
	assert_int_equal(item_room, T - 36 - 160);
	lists.write_count = 0;
	/* draft-ietf-nfsv4-rfc5667bis-01, 4.1: the result is returned inline. */
	writes[lists.write_count++] = chunk_of(&lists, 0);
	rr_plan_room(T, 0, &lists, &item_room, &stream_room);
	assert_int_equal(stream_room, T - 68);
	assert_int_equal(item_room, T - 68 - 160);
	lists.write_count = lists.segment_count = 0;
	writes[lists.write_count++] = chunk_of(&lists, 70000);
	rr_plan_room(T, 0, &lists, &item_room, &stream_room);
	assert_int_equal(stream_room, T - 68);
	assert_int_equal(item_room, 70000);
	lists.has_reply = true;
	lists.reply = chunk_of(&lists, 100);
	rr_plan_room(T, 0, &lists, &item_room, &stream_room);
	assert_int_equal(stream_room, T - 104);
	segments[3].length = 100000;
	rr_plan_room(T, 0, &lists, &item_room, &stream_room);
	assert_int_equal(stream_room, 100048);
	segments[2].length = segments[3].length = UINT32_MAX;
	rr_plan_room(T, 0, &lists, &item_room, &stream_room);
	assert_int_equal(stream_room, UINT32_MAX - 3);
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
		cmocka_unit_test(replies_are_planned_by_the_table),
		cmocka_unit_test(every_result_goes_into_the_chunk_that_is_there_for_it),
		cmocka_unit_test(a_long_call_of_more_pieces_than_a_header_holds_is_refused),
		cmocka_unit_test(an_empty_result_uses_up_its_chunk),
		cmocka_unit_test(what_cannot_be_gathered_does_not_go_inline),
		cmocka_unit_test(a_read_chunk_is_provided_where_nothing_else_conveys_the_reply),
		cmocka_unit_test(a_header_that_returns_too_much_is_an_error),
		cmocka_unit_test(the_room_of_a_reply_is_what_can_be_conveyed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
