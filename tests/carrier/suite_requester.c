/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include <string.h>

#include "raw.h"
#include "wire/rpc.h"

/* This requester against a responder that sends any answer. */

/* ---- Credits ---- */

/* RFC 8166, 3.3.1: "A Requester MUST NOT send unacknowledged requests in excess of the Responder's granted
 * credit limit." */
static void
row_B1_credits_are_never_exceeded(void **state)
{
	enum { CALLS = 130 };
	static const uint32_t grants[] = { 3, 1, 0, 40, 1000, 2, 5 };
	struct raw *raw = raw_responder(NULL);
	struct call *calls[CALLS];
	uint32_t answered = 0, limit, in_flight;

	(void)state;
	for (uint32_t i = 0; i < CALLS; i++)
		calls[i] = call_begin(raw->world, i, 40);
	while (answered < CALLS) {
		uint32_t grant = grants[answered / 10 % 7];

		world_settle(raw->world);
		in_flight = raw->message_count;
		assert_true(in_flight > 0);
		raw_answer(raw, word(raw_next(raw), 0), grant);
		answered++;
		limit = grant == 0 ? 1 : grant > 64 ? 64 : grant;
		world_settle(raw->world);
		/* Calls that were in flight when the limit fell may stay above it, but no calls are added. */
		in_flight--;
		assert_int_equal(raw->message_count, in_flight > limit          ? in_flight
						     : CALLS - answered < limit ? CALLS - answered
										: limit);
	}
	for (uint32_t i = 0; i < CALLS; i++)
		assert_true(calls[i]->done && calls[i]->error == 0);
	raw_end_client(raw);
}

/* RFC 8166, 4.2.1: "This XID MUST be the same as the XID in the RPC message." */
static void
a_call_asks_for_credits_and_carries_its_xid(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct raw_message *message;

	(void)state;
	call_begin(raw->world, 0xabcdef01, 40);
	message = raw_next(raw);
	assert_int_equal(message->length, 68);
	assert_int_equal(word(message, 0), 0xabcdef01);
	assert_int_equal(word(message, 1), 1);
	assert_int_equal(word(message, 2), 64);
	assert_int_equal(word(message, 3), RR_RDMA_MSG);
	assert_int_equal(word(message, 7), 0xabcdef01);
	raw_end_client(raw);
}

/* ---- Messages that answer no call ---- */

static void
row_B8_what_answers_nothing_is_discarded(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct call *call;

	(void)state;
	raw_warm_up(raw, 32);
	call = call_begin(raw->world, 5, 40);
	raw_next(raw);
	for (int i = 0; i < 40; i++) {
		raw_answer(raw, 6, 32); /* unknown */
		raw_send(raw, "short", 5);
		SEND(raw, 5, 1, 32, RR_RDMA_DONE, 0, 0, 0);
		SEND(raw, 6, 1, 32, RR_RDMA_ERROR, RR_ERR_CHUNK);
		world_settle(raw->world);
	}
	assert_int_equal(raw->world->client->counters.discarded, 160);
	assert_false(call->done);
	raw_answer(raw, 5, 32);
	call_answered(call);
	raw_end_client(raw);
}

struct answer {
	const char *what;
	int error;
	uint32_t words[20], count;
};

/* clang-format off */
#define ROW(what, error, ...) { what, error, { __VA_ARGS__ }, sizeof((uint32_t[]){ __VA_ARGS__ }) / 4 }

static const struct answer definite[] = {
	ROW("ERR_VERS", RPCRDMA_ERR_VERS, 5, 1, 32, RR_RDMA_ERROR, RR_ERR_VERS, 2, 3),
	ROW("ERR_CHUNK", RPCRDMA_ERR_CHUNK, 5, 1, 32, RR_RDMA_ERROR, RR_ERR_CHUNK),
};

static const struct answer bad[] = {
	ROW("an unknown error", 0, 5, 1, 32, RR_RDMA_ERROR, 3, 0, 0),
	ROW("an ERR_VERS that breaks off", 0, 5, 1, 32, RR_RDMA_ERROR, RR_ERR_VERS, 2),
	ROW("an error of another version", 0, 5, 2, 32, RR_RDMA_ERROR, RR_ERR_CHUNK),
	ROW("an error of a version that there is not", 0, 5, 9, 32, RR_RDMA_ERROR, RR_ERR_CHUNK, 0, 0),
	ROW("another version", 0, 5, 2, 32, RR_RDMA_MSG, 0, 0, 0, 5, RR_REPLY, 0),
	ROW("a version that there is not", 0, 5, 9, 32, RR_RDMA_MSG, 0, 0, 0, 5, RR_REPLY, 0),
	ROW("RDMA_MSGP", 0, 5, 1, 32, RR_RDMA_MSGP, 0, 0, 0, 0, 0, 5, RR_REPLY, 0),
	ROW("RDMA_MSGP whose words look like a reply", 0, 5, 1, 32, RR_RDMA_MSGP, 5, RR_REPLY, 0, 0, 0, 5, RR_REPLY, 0),
	ROW("RDMA_DONE", 0, 5, 1, 32, RR_RDMA_DONE, 0, 0, 0),
	ROW("unknown procedure", 0, 5, 1, 32, 9, 0, 0, 0, 5, RR_REPLY, 0),
	ROW("a Read list", 0, 5, 1, 32, RR_RDMA_MSG, 1, 4, 9, 9, 9, 9, 0, 0, 0, 5, RR_REPLY, 0),
	ROW("a Read list and no message", 0, 5, 1, 32, RR_RDMA_NOMSG, 1, 0, 9, 9, 9, 9, 0, 0, 0),
	ROW("a Write chunk that was not offered", 0, 5, 1, 32, RR_RDMA_MSG, 0, 1, 1, 9, 0, 9, 9, 0, 0, 5, RR_REPLY),
	ROW("an empty one", 0, 5, 1, 32, RR_RDMA_MSG, 0, 1, 0, 0, 0, 5, RR_REPLY, 0),
	ROW("a Reply chunk that was not offered", 0, 5, 1, 32, RR_RDMA_MSG, 0, 0, 1, 1, 9, 0, 9, 9, 5, RR_REPLY, 0),
	ROW("RDMA_NOMSG without one", 0, 5, 1, 32, RR_RDMA_NOMSG, 0, 0, 0),
	ROW("another XID in the RPC message", 0, 5, 1, 32, RR_RDMA_MSG, 0, 0, 0, 6, RR_REPLY, 0),
	ROW("no RPC message", 0, 5, 1, 32, RR_RDMA_MSG, 0, 0, 0),
	ROW("neither call nor reply", 0, 5, 1, 32, RR_RDMA_MSG, 0, 0, 0, 5, 2, 0),
	ROW("huge counts", 0, 5, 1, 32, RR_RDMA_MSG, 0, 1, 0xffffffff, 9, 9, 9, 9, 0, 0, 5, RR_REPLY),
	ROW("lists that break off", 0, 5, 1, 32, RR_RDMA_MSG, 0, 1, 1, 9, 9),
};
/* clang-format on */

/*
 * RFC 8166, 4.5: "Receipt of this procedure completes the RPC transaction associated with XID in the rdma_xid
 * field." RFC 8267, 6.7.2: to an RDMA_ERROR, "the requester MUST respond to that error as prescribed by the
 * specification of the RPC transport."
 */
static void
row_B3_errors_end_the_one_transaction(void **state)
{
	struct raw *raw = raw_responder(NULL);

	(void)state;
	raw_warm_up(raw, 32);
	for (size_t i = 0; i < sizeof(definite) / sizeof(definite[0]); i++) {
		struct call *other = call_begin(raw->world, 4, 40);
		struct call *call = call_begin(raw->world, 5, 40);

		raw_next(raw);
		raw_next(raw);
		raw_send_words(raw, definite[i].words, definite[i].count, 0);
		world_settle(raw->world);
		if (!call->done || call->error != -definite[i].error)
			fail_msg("%s: %s", definite[i].what,
				call->done ? rpcrdma_strerror(call->error) : "not done");
		assert_false(other->done);
		raw_answer(raw, 4, 32);
		call_answered(other);
		raw_still_works(raw);
	}
	raw_end_client(raw);
}

/* RFC 8166, 4.5: with errors in the header of a reply, "a Requester MUST silently discard the message",
 * and "A receiver MUST silently discard an RDMA_ERROR procedure that it cannot decode." 4.6.1 says the
 * same of RDMA_MSGP: "Requesters MUST silently discard the message". No part of these messages is used, no
 * answer is sent, and the reply that follows counts. */
static void
row_B3_bad_replies_are_discarded_and_the_good_one_counts(void **state)
{
	const uint32_t count = sizeof(bad) / sizeof(bad[0]);
	struct raw *raw = raw_responder(NULL);
	struct rpcrdma_counters *counters;

	(void)state;
	raw_warm_up(raw, 32);
	counters = &raw->world->client->counters;
	for (uint32_t i = 0; i < count; i++) {
		struct call *call = call_begin(raw->world, 5, 40);

		raw_next(raw);
		raw_send_words(raw, bad[i].words, bad[i].count, 0);
		raw_send_words(raw, bad[i].words, bad[i].count, 0);
		world_settle(raw->world);
		if (call->done || counters->discarded != 2 * (i + 1))
			fail_msg("%s: %s", bad[i].what,
				call->done ? rpcrdma_strerror(call->error) : "not discarded");
		assert_int_equal(raw->message_count, 0);
		raw_answer(raw, 5, 32);
		call_answered(call);
	}
	assert_int_equal(counters->errors_received, 0);
	raw_still_works(raw);
	raw_end_client(raw);
}

/* The call of a bad reply waits as if the reply had been lost, until its owner gives up: the credit stays
 * in use until the responder answers. */
static void
the_call_of_a_bad_reply_can_be_given_up(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct raw_header header;
	struct call *call = raw_offered_write_chunk(raw, &header), *next;

	(void)state;
	SEND(raw, 5, 1, 1, RR_RDMA_MSGP, 0, 0, 0, 0, 0, 5, RR_REPLY, 0);
	world_settle(raw->world);
	rr_carrier_cancel(raw->world->client, &call->transaction);
	next = call_begin(raw->world, 6, 40);
	SEND(raw, 5, 1, 1, RR_RDMA_MSGP, 0, 0, 0, 0, 0, 5, RR_REPLY, 0);
	world_settle(raw->world);
	raw_answer(raw, 5, 32);
	raw_next(raw);
	raw_answer(raw, 6, 32);
	call_answered(next);
	assert_false(call->done);
	raw_end_client(raw);
}

/* ---- Chunks ---- */

/* RFC 8166, 3.4.6: Write chunks are "long enough to accommodate the maximum possible size of each returned
 * data item." 3.4.6.2: they have no "additional space for XDR roundup padding." */
static void
a_write_chunk_brings_an_item(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct raw_header header;
	struct call *call;
	uint8_t data[777];

	(void)state;
	call = raw_offered_write_chunk(raw, &header);
	raw_fill(raw, &header.segments[0], data, sizeof(data));
	header.segments[0].length = sizeof(data);
	SEND(raw, 5, 1, 32, RR_RDMA_MSG, 0, 1, 1, SEGMENT(header.segments[0]), 0, 0, 5, RR_REPLY, 777);
	call_answered(call);
	assert_int_equal(call->transaction.reply.item_count, 1);
	assert_int_equal(call->transaction.reply_items[0].length, 777);
	assert_int_equal(call->transaction.reply_items[0].offset, RPCRDMA_ITEM_NEXT);
	assert_memory_equal(call->transaction.sinks[0].data, data, 777);
	assert_int_equal(call->transaction.placed, 777);
	/* RFC 8166, 4.4.1: the memory is protected from the responder by now. */
	assert_int_not_equal(
		raw_rdma(raw, RR_WORK_WRITE, data, 4, header.segments[0].handle, header.segments[0].offset),
		0);
	raw_end_client(raw);
}

static void
row_A8_chunks_must_come_back_as_they_were_offered(void **state)
{
	struct raw *raw = raw_responder(NULL);

	(void)state;
	for (int i = 0; i < 5; i++) {
		struct raw_header header;
		struct call *call = raw_offered_write_chunk(raw, &header);
		struct rr_segment segment = header.segments[0];

		segment.handle += i == 0;
		segment.length += i == 1;
		segment.offset += i == 2;
		if (i == 3)
			SEND(raw, 5, 1, 32, RR_RDMA_MSG, 0, 1, 2, SEGMENT(segment), SEGMENT(segment), 0, 0, 5,
				RR_REPLY, 0);
		else if (i == 4)
			SEND(raw, 5, 1, 32, RR_RDMA_MSG, 0, 1, 1, SEGMENT(segment), 1, 1, SEGMENT(segment), 0,
				0, 5, RR_REPLY, 0);
		else
			SEND(raw, 5, 1, 32, RR_RDMA_MSG, 0, 1, 1, SEGMENT(segment), 0, 0, 5, RR_REPLY, 0);
		world_settle(raw->world);
		assert_false(call->done);
		SEND(raw, 5, 1, 32, RR_RDMA_MSG, 0, 1, 1, SEGMENT(header.segments[0]), 0, 0, 5, RR_REPLY, 0);
		call_answered(call);
		raw_still_works(raw);
	}
	raw_end_client(raw);
}

static void
row_A8_unused_chunks_may_come_back_empty_or_not_at_all(void **state)
{
	struct raw *raw = raw_responder(NULL);

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct raw_header header;
		struct call *call = raw_offered_write_chunk(raw, &header);

		header.segments[0].length = 0;
		if (i == 0)
			SEND(raw, 5, 1, 32, RR_RDMA_MSG, 0, 1, 1, SEGMENT(header.segments[0]), 0, 0, 5,
				RR_REPLY, 0);
		else
			SEND(raw, 5, 1, 32, RR_RDMA_MSG, 0, 0, 0, 5, RR_REPLY, 0);
		call_answered(call);
		assert_int_equal(call->transaction.reply.item_count, 0);
		assert_int_equal(call->transaction.placed, 0);
	}
	raw_end_client(raw);
}

/* Starts a call whose reply may have 9000 octets, and checks that its header offers one reply chunk of
 * that size. */
static struct call *
call_with_reply_chunk(struct raw *raw, struct raw_header *header)
{
	struct call *call = call_new(raw->world, 5, 40);

	call->transaction.reply_max = 9000;
	call_start(raw->world, call);
	raw_parse(raw_next(raw), header);
	assert_true(header->lists.has_reply);
	assert_int_equal(header->lists.reply.count, 1);
	assert_int_equal(header->segments[0].length, 9000);
	return call;
}

static void
a_reply_chunk_brings_the_reply(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct raw_header header;
	struct call *call;
	uint8_t data[8000];

	(void)state;
	call = call_with_reply_chunk(raw, &header);
	fill(data, sizeof(data), 1);
	memcpy(data, "\0\0\0\5\0\0\0\1", 8);
	assert_int_equal(raw_rdma(raw, RR_WORK_WRITE, data, sizeof(data), header.segments[0].handle,
				 header.segments[0].offset),
		0);
	header.segments[0].length = sizeof(data);
	SEND(raw, 5, 1, 32, RR_RDMA_NOMSG, 0, 0, 1, 1, SEGMENT(header.segments[0]));
	call_answered(call);
	assert_int_equal(call->reply.length, sizeof(data));
	assert_memory_equal(call->reply.stream, data, sizeof(data));
	raw_end_client(raw);
}

/* A9: a Reply chunk of length 0 means that the reply came inline, else RDMA_NOMSG. */
static void
row_A9_a_reply_chunk_and_a_body_contradict_each_other(void **state)
{
	struct raw *raw = raw_responder(NULL);

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct raw_header header;
		struct call *call = call_with_reply_chunk(raw, &header);

		if (i == 0)
			SEND(raw, 5, 1, 32, RR_RDMA_MSG, 0, 0, 1, 1, SEGMENT(header.segments[0]), 5, RR_REPLY,
				0);
		header.segments[0].length = i == 1 ? 0 : 9001;
		if (i > 0)
			SEND(raw, 5, 1, 32, RR_RDMA_NOMSG, 0, 0, 1, 1, SEGMENT(header.segments[0]));
		world_settle(raw->world);
		assert_false(call->done);
		raw_answer(raw, 5, 32);
		call_answered(call);
		raw_still_works(raw);
	}
	raw_end_client(raw);
}

static void
row_A9_an_inline_reply_leaves_the_reply_chunk_alone(void **state)
{
	struct raw *raw = raw_responder(NULL);

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct raw_header header;
		struct call *call = call_with_reply_chunk(raw, &header);

		header.segments[0].length = 0;
		if (i == 0)
			SEND(raw, 5, 1, 32, RR_RDMA_MSG, 0, 0, 1, 1, SEGMENT(header.segments[0]), 5, RR_REPLY,
				0);
		else
			SEND(raw, 5, 1, 32, RR_RDMA_MSG, 0, 0, 0, 5, RR_REPLY, 0);
		call_answered(call);
		assert_int_equal(call->reply.length, 12);
	}
	assert_int_equal(rr_pool_used(raw->world->stage.engine->pool), 0);
	raw_end_client(raw);
}

/*
 * RFC 8166, 3.4.5: the Position "in the unreduced Payload stream". 3.4.4.4: a chunk has "exactly one XDR data
 * item". 3.4.5.2: without roundup padding, "the chunk's total length MUST be the same as the encoded length
 * of the data item."
 */
static void
row_A5_read_chunks_say_where_the_item_was(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct call *call = call_new(raw->world, 5, 100);
	struct raw_header header;
	uint8_t data[5003];

	(void)state;
	call_add_item(raw->world, call, 20, 10);
	call_add_item(raw->world, call, 60, sizeof(data));
	call_start(raw->world, call);
	raw_parse(raw_next(raw), &header);
	assert_int_equal(header.fixed.proc, RR_RDMA_MSG);
	assert_int_equal(header.lists.read_count, 1);
	assert_int_equal(header.reads[0].position, 60 + 12);
	assert_int_equal(header.reads[0].target.length, sizeof(data));
	assert_int_equal(header.body_length, 112);
	assert_int_equal(raw_rdma(raw, RR_WORK_READ, data, sizeof(data), header.reads[0].target.handle,
				 header.reads[0].target.offset),
		0);
	assert_memory_equal(data, call->items[1].data, sizeof(data));
	raw_answer(raw, 5, 32);
	world_until(raw->world, call->done);
	assert_int_equal(call->transaction.pulled, sizeof(data));
	raw_end_client(raw);
}

/* RFC 8166, 3.5.3: "Every RDMA read segment in this chunk MUST contain zero in its Position field." */
static void
row_A5_a_long_call_is_a_position_zero_chunk(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct call *call = call_new(raw->world, 5, 6000);
	struct rpcrdma_message flat;
	struct raw_header header;
	uint8_t data[8000];
	uint32_t at = 0;

	(void)state;
	call_add_item(raw->world, call, 400, 1001);
	call_start(raw->world, call);
	raw_parse(raw_next(raw), &header);
	assert_int_equal(header.fixed.proc, RR_RDMA_NOMSG);
	assert_int_equal(header.body_length, 0);
	assert_int_equal(header.lists.read_count, 4);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(header.reads[i].position, 0);
		assert_true(header.reads[i].target.length > 0);
		assert_int_equal(raw_rdma(raw, RR_WORK_READ, data + at, header.reads[i].target.length,
					 header.reads[i].target.handle, header.reads[i].target.offset),
			0);
		at += header.reads[i].target.length;
	}
	flat = flatten(raw->world, &call->transaction.call, NULL);
	assert_int_equal(at, flat.length);
	assert_memory_equal(data, flat.stream, at);
	raw_answer(raw, 5, 32);
	world_until(raw->world, call->done);
	raw_end_client(raw);
}

/* ---- Remote invalidation ---- */

static void
row_B10_an_invalidated_handle_of_the_call_is_fine(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct raw_header header;
	struct call *call = raw_offered_write_chunk(raw, &header);
	uint32_t handle = header.segments[0].handle;

	(void)state;
	header.segments[0].length = 0;
	raw_send_words(raw,
		WORDS(5, 1, 32, RR_RDMA_MSG, 0, 1, 1, SEGMENT(header.segments[0]), 0, 0, 5, RR_REPLY, 0),
		handle);
	call_answered(call);
	assert_int_equal(raw->world->client->counters.remote_invalidations, 1);
	assert_int_equal(raw->world->client->counters.invalidations, 0);
	raw_still_works(raw);
	raw_end_client(raw);
}

/* RFC 8797, 4.1: "an STag associated only with the Transaction ID (XID) in the rdma_xid field" */
static void
row_B10_a_foreign_invalidated_handle_ends_the_connection(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct raw_header header;
	struct call *victim, *call;

	(void)state;
	raw_warm_up(raw, 32);
	victim = raw_offered_write_chunk(raw, &header);
	call = call_begin(raw->world, 6, 40);
	raw_next(raw);
	raw_send_words(raw, WORDS(6, 1, 32, RR_RDMA_MSG, 0, 0, 0, 6, RR_REPLY, 0), header.segments[0].handle);
	world_until(raw->world, raw->world->client_closed);
	assert_int_equal(raw->world->client_error, -RPCRDMA_ERR_PEER);
	assert_non_null(strstr(raw->world->client_text, "127.0.0.1"));
	assert_int_equal(victim->error, -RPCRDMA_ERR_DISCONNECTED);
	assert_int_equal(call->error, -RPCRDMA_ERR_DISCONNECTED);
	raw_end_client(raw);
}

/* ---- Private data ---- */

static void
row_B2_private_data_is_sent_and_that_of_the_peer_is_honoured(void **state)
{
	struct raw *raw = raw_new(world_listening(NULL));
	struct rpcrdma_negotiated negotiated;

	(void)state;
	raw->private_size = 0;
	raw_serve(raw);
	assert_int_equal(raw->peer_private_size, 8);
	assert_memory_equal(raw->peer_private_data, "\xf6\xab\x0e\x18\x01", 5);
	assert_memory_equal(raw->peer_private_data + 6, "\x03\x03", 2);
	rr_carrier_negotiated(raw->world->client, &negotiated);
	assert_false(negotiated.private_data);
	assert_int_equal(negotiated.inline_call, 1024);
	assert_int_equal(negotiated.inline_reply, 1024);
	assert_false(negotiated.remote_invalidation);
	call_begin(raw->world, 5, 996);
	assert_int_equal(raw_next(raw)->length, 1024);
	raw_answer(raw, 5, 8);
	call_begin(raw->world, 6, 1000);
	assert_int_equal(word(raw_next(raw), 3), RR_RDMA_NOMSG);
	raw_end_client(raw);
}

int
suite_requester(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(row_B1_credits_are_never_exceeded),
		cmocka_unit_test(a_call_asks_for_credits_and_carries_its_xid),
		cmocka_unit_test(row_B8_what_answers_nothing_is_discarded),
		cmocka_unit_test(row_B3_errors_end_the_one_transaction),
		cmocka_unit_test(row_B3_bad_replies_are_discarded_and_the_good_one_counts),
		cmocka_unit_test(the_call_of_a_bad_reply_can_be_given_up),
		cmocka_unit_test(a_write_chunk_brings_an_item),
		cmocka_unit_test(row_A8_chunks_must_come_back_as_they_were_offered),
		cmocka_unit_test(row_A8_unused_chunks_may_come_back_empty_or_not_at_all),
		cmocka_unit_test(a_reply_chunk_brings_the_reply),
		cmocka_unit_test(row_A9_a_reply_chunk_and_a_body_contradict_each_other),
		cmocka_unit_test(row_A9_an_inline_reply_leaves_the_reply_chunk_alone),
		cmocka_unit_test(row_A5_read_chunks_say_where_the_item_was),
		cmocka_unit_test(row_A5_a_long_call_is_a_position_zero_chunk),
		cmocka_unit_test(row_B10_an_invalidated_handle_of_the_call_is_fine),
		cmocka_unit_test(row_B10_a_foreign_invalidated_handle_ends_the_connection),
		cmocka_unit_test(row_B2_private_data_is_sent_and_that_of_the_peer_is_honoured),
	};

	return cmocka_run_group_tests_name("requester", tests, NULL, NULL);
}
