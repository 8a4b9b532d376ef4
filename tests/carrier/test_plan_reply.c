/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include "base/checked.h"
#include "carrier/rdma/core/plan.h"

enum { T = 4096 };

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
	/* octets of each Write chunk in two segments; -1: no segments; -2: segments without octets; 0: there
	 * is no such chunk */
	int writes[3];
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

/* Makes a chunk of two segments that together have these octets. */
static struct rr_chunk
chunk_of(struct rr_chunk_lists *lists, uint32_t octets)
{
	struct rr_segment *segments = &lists->segments[lists->segment_count];

	segments[0] = (struct rr_segment){ .length = octets / 2 };
	segments[1] = (struct rr_segment){ .length = octets - octets / 2 };
	lists->segment_count += 2;
	return (struct rr_chunk){ segments, 2 };
}

/* Makes the write chunks and the reply chunk that a row describes; -1 stands for a write chunk without
 * segments. */
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
	/* A result that does not fit its chunk is still an error. */
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
		cmocka_unit_test(replies_are_planned_by_the_table),
		cmocka_unit_test(every_result_goes_into_the_chunk_that_is_there_for_it),
		cmocka_unit_test(an_empty_result_uses_up_its_chunk),
		cmocka_unit_test(what_cannot_be_gathered_does_not_go_inline),
		cmocka_unit_test(a_read_chunk_is_provided_where_nothing_else_conveys_the_reply),
		cmocka_unit_test(a_header_that_returns_too_much_is_an_error),
		cmocka_unit_test(the_room_of_a_reply_is_what_can_be_conveyed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
