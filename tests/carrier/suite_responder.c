/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include <string.h>

#include "base/endian.h"
#include "raw.h"
#include "wire/rpc.h"

/* This responder against a requester that sends what this project never sends. */

enum { XID = 0x77, ASKED = 16 };

/* Checks that the connection still works: a call gets its reply. */
static void
still_works(struct raw *raw)
{
	struct raw_message *message;

	SEND(raw, 0x1234, 1, ASKED, RR_RDMA_MSG, 0, 0, 0, 0x1234, 0, 2);
	answer_small(raw->world, world_one_call(raw->world));
	message = raw_next(raw);
	assert_int_equal(word(message, 0), 0x1234);
	assert_int_equal(word(message, 3), RR_RDMA_MSG);
	assert_false(raw->disconnected);
}

/* ---- Chunks of every shape ---- */

static void
row_A11_a_read_chunk_of_many_segments_is_one_item(void **state)
{
	struct raw *raw = raw_requester(NULL);
	uint8_t data[1000];
	struct rr_region a = raw_register(raw, data, 1, RR_REMOTE_READ);
	struct rr_region b = raw_register(raw, data + 1, 600, RR_REMOTE_READ);
	struct rr_region c = raw_register(raw, data + 601, 102, RR_REMOTE_READ);
	struct rr_exchange *exchange;

	(void)state;
	fill(data, sizeof(data), 1);
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 1, 12, SEGMENT(a), 1, 12, SEGMENT(b), 1, 12, SEGMENT(c), 0, 0,
		0, XID, 0, 703, 99);
	exchange = world_one_call(raw->world);
	assert_int_equal(exchange->call.length, 16);
	assert_int_equal(rr_get_be32((const uint8_t *)exchange->call.stream + 12), 99);
	assert_int_equal(exchange->call.item_count, 1);
	assert_int_equal(exchange->call.items[0].offset, 12);
	assert_int_equal(exchange->call.items[0].length, 703);
	assert_memory_equal(exchange->call.items[0].data, data, 703);
	answer_small(raw->world, exchange);
	assert_int_equal(word(raw_next(raw), 0), XID);
	raw_end(raw);
}

/* RFC 8166, 3.4.5.2: chunks come with and without roundup padding, and in any order. */
static void
row_B4_two_read_chunks_in_any_order(void **state)
{
	struct raw *raw = raw_requester(NULL);
	uint8_t data[64];
	struct rr_region first = raw_register(raw, data, 8, RR_REMOTE_READ);
	struct rr_region second = raw_register(raw, data + 20, 5, RR_REMOTE_READ);
	struct rr_exchange *exchange;

	(void)state;
	fill(data, sizeof(data), 2);
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 1, 24, SEGMENT(second), 1, 12, SEGMENT(first), 0, 0, 0, XID, 0,
		5, 6, 7);
	exchange = world_one_call(raw->world);
	assert_int_equal(exchange->call.item_count, 2);
	assert_int_equal(exchange->call.items[0].offset, 12);
	assert_int_equal(exchange->call.items[0].length, 8);
	assert_memory_equal(exchange->call.items[0].data, data, 8);
	assert_int_equal(exchange->call.items[1].offset, 16);
	assert_int_equal(exchange->call.items[1].length, 5);
	assert_memory_equal(exchange->call.items[1].data, data + 20, 5);
	answer_small(raw->world, exchange);
	raw_next(raw);
	raw_end(raw);
}

static void
row_B9_a_long_call_with_an_item_beside_it(void **state)
{
	struct raw *raw = raw_requester(NULL);
	uint8_t data[5000], item[3000];
	struct rr_region zero = raw_register(raw, data, sizeof(data), RR_REMOTE_READ);
	struct rr_region apart = raw_register(raw, item, sizeof(item), RR_REMOTE_READ);
	struct rr_exchange *exchange;

	(void)state;
	fill(data, sizeof(data), 3);
	fill(item, sizeof(item), 4);
	rr_put_be32(data, XID);
	rr_put_be32(data + 4, 0);
	SEND(raw, XID, 1, ASKED, RR_RDMA_NOMSG, 1, 0, SEGMENT(zero), 1, 400, SEGMENT(apart), 0, 0, 0);
	exchange = world_one_call(raw->world);
	assert_int_equal(exchange->call.length, sizeof(data));
	assert_memory_equal(exchange->call.stream, data, sizeof(data));
	assert_int_equal(exchange->call.item_count, 1);
	assert_int_equal(exchange->call.items[0].offset, 400);
	assert_memory_equal(exchange->call.items[0].data, item, sizeof(item));
	answer_small(raw->world, exchange);
	raw_next(raw);
	raw_end(raw);
}

/*
 * RFC 8166, 3.4.6: filled contiguously and in order. "The Responder MUST copy the segment count and all
 * segments". 3.4.6.2: it "MUST NOT write XDR roundup padding into a Write chunk", whose length "MUST be the
 * same as the encoded length of the result data item." 4.3.2: "the Responder MUST push data corresponding to
 * DDP-eligible result data items". 4.3.2.2: "the Responder MUST return this Write chunk as an unused Write
 * chunk". draft-ietf-nfsv4-rfc5667bis-01, 3: it "MUST ignore" "any Write chunks beyond the first".
 */
static void
row_A8_write_chunks_are_filled_and_returned(void **state)
{
	struct raw *raw = raw_requester(NULL);
	struct world *world = raw->world;
	uint8_t sink[400];
	struct rr_region a = raw_register(raw, sink, 100, RR_REMOTE_WRITE);
	struct rr_region b = raw_register(raw, sink + 100, 100, RR_REMOTE_WRITE);
	struct rr_region c = raw_register(raw, sink + 200, 200, RR_REMOTE_WRITE);
	struct rr_exchange *exchange;
	struct reply *reply = reply_new(world, XID, 32);
	struct raw_header header;

	(void)state;
	memset(sink, 0xee, sizeof(sink));
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 0, 1, 2, SEGMENT(a), SEGMENT(b), 1, 1, SEGMENT(c), 0, 0, XID,
		0);
	exchange = world_one_call(world);
	assert_int_equal(exchange->item_room, 200);
	reply_add_item(world, reply, 24, 133);
	reply_send(world, exchange, reply);
	raw_parse(raw_next(raw), &header);
	assert_int_equal(header.fixed.proc, RR_RDMA_MSG);
	assert_int_equal(header.lists.write_count, 2);
	assert_int_equal(header.lists.writes[0].count, 2);
	assert_int_equal(header.lists.writes[0].segments[0].handle, a.handle);
	assert_int_equal(header.lists.writes[0].segments[0].length, 100);
	assert_int_equal(header.lists.writes[0].segments[1].handle, b.handle);
	assert_int_equal(header.lists.writes[0].segments[1].length, 33);
	assert_int_equal(header.lists.writes[0].segments[1].offset, b.offset);
	assert_int_equal(header.lists.writes[1].segments[0].handle, c.handle);
	assert_int_equal(header.lists.writes[1].segments[0].length, 0);
	assert_int_equal(header.body_length, 32);
	assert_memory_equal(header.body, reply->message.stream, 32);
	assert_memory_equal(sink, reply->items[0].data, 133);
	assert_int_equal(sink[133], 0xee);
	assert_int_equal(sink[200], 0xee);
	raw_end(raw);
}

/* RFC 8166, 4.3.2.3: "return the corresponding result data item inline and MUST return an empty Write
 * chunk" */
static void
row_B9_an_empty_write_chunk_means_inline(void **state)
{
	struct raw *raw = raw_requester(NULL);
	struct world *world = raw->world;
	struct reply *reply = reply_new(world, XID, 12);
	struct raw_header header;

	(void)state;
	reply_add_item(world, reply, 12, 6);
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 0, 1, 0, 0, 0, XID, 0);
	reply_send(world, world_one_call(world), reply);
	raw_parse(raw_next(raw), &header);
	assert_int_equal(header.lists.write_count, 1);
	assert_int_equal(header.lists.writes[0].count, 0);
	assert_int_equal(header.body_length, 20);
	assert_memory_equal(header.body + 12, reply->items[0].data, 6);
	raw_end(raw);
}

/* draft-ietf-nfsv4-rfc5667bis-01, 4.1: "if the total size of the segments is zero, then the corresponding
 * READ or READLINK operation MUST return its result inline." The chunk goes back unchanged. */
static void
row_B9_a_write_chunk_without_octets_means_inline(void **state)
{
	struct raw *raw = raw_requester_uninvalidated(NULL);
	struct world *world = raw->world;
	struct reply *reply = reply_new(world, XID, 12);
	struct rr_exchange *exchange;
	struct raw_header header;

	(void)state;
	reply_add_item(world, reply, 12, 6);
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 0, 1, 2, 7, 0, 1, 8, 9, 0, 0, 0, 0, 0, XID, 0);
	exchange = world_one_call(world);
	assert_true(exchange->item_room > 6);
	reply_send(world, exchange, reply);
	raw_parse(raw_next(raw), &header);
	assert_int_equal(header.fixed.proc, RR_RDMA_MSG);
	assert_int_equal(header.lists.write_count, 1);
	assert_int_equal(header.lists.writes[0].count, 2);
	assert_int_equal(header.lists.writes[0].segments[0].handle, 7);
	assert_int_equal(header.lists.writes[0].segments[0].offset, UINT64_C(0x100000008));
	assert_int_equal(header.lists.writes[0].segments[1].handle, 9);
	assert_int_equal(rr_chunk_length(&header.lists.writes[0]), 0);
	assert_int_equal(header.body_length, 20);
	assert_memory_equal(header.body + 12, reply->items[0].data, 6);
	raw_end(raw);
}

/*
 * A Reply chunk as Linux makes them: several segments of odd lengths. RFC 8166, 3.5.3: "the Responder MUST
 * use the Requester-provided Reply chunk for the reply", and it "MUST include appropriate XDR roundup
 * padding".
 */
static void
row_A11_a_reply_chunk_of_odd_segments(void **state)
{
	struct raw *raw = raw_requester(NULL);
	struct world *world = raw->world;
	uint8_t sink[9000];
	struct rr_region a = raw_register(raw, sink, 121, RR_REMOTE_WRITE);
	struct rr_region b = raw_register(raw, sink + 121, 7000, RR_REMOTE_WRITE);
	struct rr_region c = raw_register(raw, sink + 7121, 4, RR_REMOTE_WRITE);
	struct reply *reply = reply_new(world, XID, 5000);
	struct rpcrdma_message flat;
	struct raw_header header;

	(void)state;
	reply_add_item(world, reply, 4000, 2001);
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 0, 0, 1, 3, SEGMENT(a), SEGMENT(b), SEGMENT(c), XID, 0);
	world_until(world, world->call_count == 1);
	assert_int_equal(world->calls[0]->stream_room, 7124); /* the largest multiple of four */
	reply_send(world, world_next_call(world), reply);
	raw_parse(raw_next(raw), &header);
	assert_int_equal(header.fixed.proc, RR_RDMA_NOMSG);
	assert_int_equal(header.body_length, 0);
	assert_true(header.lists.has_reply);
	assert_int_equal(header.lists.reply.count, 3);
	assert_int_equal(header.lists.reply.segments[0].length, 121);
	assert_int_equal(header.lists.reply.segments[1].length, 7004 - 121);
	assert_int_equal(header.lists.reply.segments[2].length, 0);
	flat = flatten(world, &reply->message, NULL);
	assert_memory_equal(sink, flat.stream, 7004);
	raw_end(raw);
}

/* RFC 8166, 4.3.3: "the Responder MAY return the RPC Reply message as a Short message", but "MUST copy that
 * chunk into the Transport header of the RPC Reply message." */
static void
row_A9_an_unused_reply_chunk_is_returned_empty(void **state)
{
	struct raw *raw = raw_requester(NULL);
	uint8_t sink[64];
	struct rr_region a = raw_register(raw, sink, 64, RR_REMOTE_WRITE);
	struct raw_header header;

	(void)state;
	raw->world->answer = answer_small;
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 0, 0, 1, 1, SEGMENT(a), XID, 0);
	raw_parse(raw_next(raw), &header);
	assert_int_equal(header.fixed.proc, RR_RDMA_MSG);
	assert_true(header.lists.has_reply);
	assert_int_equal(header.lists.reply.count, 1);
	assert_int_equal(header.lists.reply.segments[0].length, 0);
	assert_int_equal(header.body_length, 24);
	raw_end(raw);
}

/* ---- Wrong messages ---- */

struct bad {
	const char *what;
	uint32_t err;
	uint32_t words[24], count;
};

/* clang-format off */
#define ROW(what, err, ...) { what, err, { __VA_ARGS__ }, sizeof((uint32_t[]){ __VA_ARGS__ }) / 4 }

static const struct bad bad[] = {
	ROW("version 2", RR_ERR_VERS, XID, 2, ASKED, RR_RDMA_MSG, 0, 0, 0, XID, 0),
	ROW("version 0", RR_ERR_VERS, XID, 0, ASKED, RR_RDMA_MSG, 0, 0, 0, XID, 0),
	ROW("RDMA_MSGP", RR_ERR_CHUNK, XID, 1, ASKED, RR_RDMA_MSGP, 0, 0, 0, 0, 0, XID, 0),
	ROW("RDMA_MSGP whose words look like a call", RR_ERR_CHUNK, XID, 1, ASKED, RR_RDMA_MSGP, XID, RR_CALL, 2),
	ROW("unknown procedure", RR_ERR_CHUNK, XID, 1, ASKED, 5, 0, 0, 0, XID, 0),
	ROW("RDMA_NOMSG without a chunk", RR_ERR_CHUNK, XID, 1, ASKED, RR_RDMA_NOMSG, 0, 0, 0),
	ROW("RDMA_NOMSG with a Reply chunk alone", RR_ERR_CHUNK, XID, 1, ASKED, RR_RDMA_NOMSG, 0, 0, 1, 1, 9, 9, 9, 9),
	ROW("RDMA_NOMSG with a later position", RR_ERR_CHUNK, XID, 1, ASKED, RR_RDMA_NOMSG, 1, 4, 9, 9, 9, 9, 0, 0, 0),
	ROW("position zero and a body", RR_ERR_CHUNK, XID, 1, ASKED, RR_RDMA_MSG, 1, 0, 9, 9, 9, 9, 0, 0, 0, XID, 0),
	ROW("position past the body", RR_ERR_CHUNK, XID, 1, ASKED, RR_RDMA_MSG, 1, 12, 9, 9, 9, 9, 0, 0, 0, XID, 0),
	ROW("odd position", RR_ERR_CHUNK, XID, 1, ASKED, RR_RDMA_MSG, 1, 6, 9, 9, 9, 9, 0, 0, 0, XID, 0),
	ROW("overlapping Read chunks", RR_ERR_CHUNK, XID, 1, ASKED, RR_RDMA_MSG, 1, 4, 9, 9, 9, 9, 1, 8, 9, 9, 9, 9, 0, 0, 0, XID, 0),
	ROW("a length above the bound", RR_ERR_CHUNK, XID, 1, ASKED, RR_RDMA_MSG, 1, 8, 9, 0xfffffff0, 9, 9, 0, 0, 0, XID, 0),
	ROW("a bool that is none", RR_ERR_CHUNK, XID, 1, ASKED, RR_RDMA_MSG, 2, 0, 0, XID, 0),
	ROW("a list that does not end", RR_ERR_CHUNK, XID, 1, ASKED, RR_RDMA_MSG, 1, 8, 9, 9),
	ROW("a huge count", RR_ERR_CHUNK, XID, 1, ASKED, RR_RDMA_MSG, 0, 1, 0xffffffff, 9, 9, 9, 9, 0, 0, XID, 0),
	ROW("another XID in the RPC message", RR_ERR_CHUNK, XID, 1, ASKED, RR_RDMA_MSG, 0, 0, 0, XID + 1, 0),
	ROW("no RPC message", RR_ERR_CHUNK, XID, 1, ASKED, RR_RDMA_MSG, 0, 0, 0),
};
/* clang-format on */

static void
answered(struct raw *raw)
{
	assert_int_equal(word(raw_next(raw), 3), RR_RDMA_MSG);
}

static void
answered_by_err_chunk(struct raw *raw)
{
	struct raw_header header;

	raw_parse(raw_next(raw), &header);
	assert_int_equal(header.fixed.proc, RR_RDMA_ERROR);
	assert_int_equal(header.fixed.err, RR_ERR_CHUNK);
}

/* Numbers of chunks and segments within the configured limits are served; with one more, the answer is
 * ERR_CHUNK. */
static void
row_B4_limits_of_chunks_and_segments_are_kept(void **state)
{
	struct rr_engine_config config = rr_engine_config_default;
	uint8_t data[64];
	struct rr_region r;
	struct raw *raw;

	(void)state;
	config.chunk_max = 2;
	config.segment_max = 3;
	raw = raw_requester_uninvalidated(&config);
	raw->world->answer = answer_small;
	r = raw_register(raw, data, sizeof(data), RR_REMOTE_WRITE);
	/* Two Write chunks, then three. */
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 0, 1, 0, 1, 0, 0, 0, XID, 0);
	answered(raw);
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 0, 1, 0, 1, 0, 1, 0, 0, 0, XID, 0);
	answered_by_err_chunk(raw);
	/* Three segments, then four. */
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 0, 1, 3, SEGMENT(r), SEGMENT(r), SEGMENT(r), 0, 0, XID, 0);
	answered(raw);
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 0, 1, 2, SEGMENT(r), SEGMENT(r), 0, 1, 2, SEGMENT(r),
		SEGMENT(r), XID, 0);
	answered_by_err_chunk(raw);
	raw_end(raw);
}

/* The same limit holds of Read chunks. */
static void
row_B4_limits_of_read_chunks_are_kept(void **state)
{
	struct rr_engine_config config = rr_engine_config_default;
	uint8_t data[64];
	struct rr_region r;
	struct raw *raw;

	(void)state;
	config.chunk_max = 2;
	raw = raw_requester_uninvalidated(&config);
	raw->world->answer = answer_small;
	r = raw_register(raw, data, 4, RR_REMOTE_READ);
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 1, 8, SEGMENT(r), 1, 12, SEGMENT(r), 0, 0, 0, XID, 0);
	answered(raw);
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 1, 8, SEGMENT(r), 1, 12, SEGMENT(r), 1, 16, SEGMENT(r), 0, 0, 0,
		XID, 0);
	answered_by_err_chunk(raw);
	raw_end(raw);
}

/* RFC 8166, 4.5: "a Responder MUST send an RDMA_ERROR message back to the Requester": the same XID, the
 * same version, RDMA_ERROR. 4.5.1: ERR_VERS, with "the low and high inclusive version numbers it does, in
 * fact, support". 4.5.2: for a version that it knows, it "MUST reply with an RDMA_ERROR procedure and set
 * the rdma_err value to ERR_CHUNK." 4.6.1 says the same of an RDMA_MSGP. */
static void
row_B4_bad_headers_are_answered_by_errors(void **state)
{
	struct raw *raw = raw_requester(NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct raw_message *message;

		raw_send_words(raw, bad[i].words, bad[i].count, 0);
		message = raw_next(raw);
		if (word(message, 0) != XID || word(message, 1) != bad[i].words[1] || word(message, 2) == 0 ||
			word(message, 3) != RR_RDMA_ERROR || word(message, 4) != bad[i].err)
			fail_msg("%s: answered by %x %x %x %x %x", bad[i].what, word(message, 0),
				word(message, 1), word(message, 2), word(message, 3), word(message, 4));
		if (bad[i].err == RR_ERR_VERS) {
			assert_int_equal(message->length, 28);
			assert_int_equal(word(message, 5), 1);
			assert_int_equal(word(message, 6), 1);
		}
		still_works(raw);
	}
	assert_int_equal(raw->world->server->counters.errors_sent, sizeof(bad) / sizeof(bad[0]));
	assert_int_equal(raw->world->arrived, sizeof(bad) / sizeof(bad[0]));
	raw_end(raw);
}

/* RFC 8166, 4.5: shorter than 28 octets; 4.6.2: RDMA_DONE; 4.2.4: RDMA_ERROR: "MUST silently discard" */
static void
row_B3_some_messages_are_discarded_silently(void **state)
{
	struct raw *raw = raw_requester(NULL);

	(void)state;
	/* There are more messages than credits: each message gives its Receive back. */
	for (int i = 0; i < 80; i++) {
		SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 0, 0);
		raw_send(raw, "short", 5);
		/* These would be answered by errors if they were long enough. */
		SEND(raw, XID, 9, ASKED, RR_RDMA_DONE);
		SEND(raw, XID, 1, ASKED, 77, 0, 0);
		SEND(raw, XID, 1, ASKED, RR_RDMA_DONE, 0, 0, 0);
		SEND(raw, XID, 1, ASKED, RR_RDMA_ERROR, RR_ERR_CHUNK);
		SEND(raw, XID, 1, ASKED, RR_RDMA_ERROR, RR_ERR_VERS, 1, 1);
		SEND(raw, XID, 2, ASKED, RR_RDMA_ERROR, RR_ERR_VERS, 1, 1);
		SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 0, 0, 0, XID, RR_REPLY, 0); /* answers no call */
		world_settle(raw->world);
	}
	assert_int_equal(raw->message_count, 0);
	assert_int_equal(raw->world->server->counters.discarded, 720);
	still_works(raw);
	raw_end(raw);
}

/* RFC 8166, 4.5.4: a requester gets an answer to each message that may be a call. */
static void
row_B3_a_message_that_is_neither_call_nor_reply_is_err_chunk(void **state)
{
	struct raw *raw = raw_requester(NULL);
	struct raw_message *message;

	(void)state;
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 0, 0, 0, XID, 2, 0);
	message = raw_next(raw);
	assert_int_equal(word(message, 0), XID);
	assert_int_equal(word(message, 3), RR_RDMA_ERROR);
	assert_int_equal(word(message, 4), RR_ERR_CHUNK);
	assert_int_equal(raw->world->arrived, 0);
	still_works(raw);
	raw_end(raw);
}

static void
row_B3_a_reply_that_does_not_fit_is_err_chunk(void **state)
{
	struct raw *raw = raw_requester(NULL);
	struct world *world = raw->world;
	uint8_t sink[5000];
	struct rr_region a = raw_register(raw, sink, 5000, RR_REMOTE_WRITE);
	struct reply *reply;

	(void)state;
	/* No chunk was offered, and the reply is above the threshold. */
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 0, 0, 0, XID, 0);
	reply_send(world, world_one_call(world), reply_new(world, XID, 4072));
	assert_int_equal(word(raw_next(raw), 4), RR_ERR_CHUNK);
	/* The Reply chunk is too small. */
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 0, 0, 1, 1, SEGMENT(a), XID, 0);
	reply_send(world, world_one_call(world), reply_new(world, XID, 5004));
	assert_int_equal(word(raw_next(raw), 4), RR_ERR_CHUNK);
	/* The Write chunk is too small. */
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 0, 1, 1, SEGMENT(a), 0, 0, XID, 0);
	world_until(world, world->call_count == 1);
	reply = reply_new(world, XID, 40);
	reply_add_item(world, reply, 40, 5001);
	reply_send(world, world_next_call(world), reply);
	assert_int_equal(word(raw_next(raw), 4), RR_ERR_CHUNK);
	assert_int_equal(world->sent, 3);
	still_works(raw);
	raw_end(raw);
}

/* A reply that would fit inline is refused if the engine is configured to send no message as long as that. */
static void
a_reply_above_message_max_is_err_chunk(void **state)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct raw *raw;

	(void)state;
	config.message_max = 2048;
	raw = raw_requester(&config);
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 0, 0, 0, XID, 0);
	reply_send(raw->world, world_one_call(raw->world), reply_new(raw->world, XID, 2048));
	answered(raw);
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 0, 0, 0, XID, 0);
	reply_send(raw->world, world_one_call(raw->world), reply_new(raw->world, XID, 2052));
	answered_by_err_chunk(raw);
	raw_end(raw);
}

/* The chunk's handle does not exist: RFC 8166, 4.5.3: "RDMA operational errors are typically fatal to the
 * connection." */
static void
a_handle_that_is_not_there_costs_the_connection(void **state)
{
	struct raw *raw = raw_requester_uninvalidated(NULL);
	const struct rr_segment none = { 0x11223344, 5000, 0x1000 };

	(void)state;
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 1, 8, SEGMENT(none), 0, 0, 0, XID, 0);
	world_until(raw->world, raw->disconnected && raw->world->server_closed);
	assert_int_equal(raw->world->arrived, 0);
	assert_int_equal(rr_pool_used(raw->world->stage.engine->arrivals), 0);
	raw_connect(raw);
	raw->world->answer = answer_small;
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 0, 1, 1, SEGMENT(none), 0, 0, XID, 0);
	raw_next(raw); /* the memory of an unused chunk is not accessed */
	raw_end(raw);
}

static void
a_write_chunk_that_is_not_there_costs_the_connection(void **state)
{
	struct raw *raw = raw_requester(NULL);
	struct world *world = raw->world;
	const struct rr_segment none = { 0x11223344, 5000, 0x1000 };
	struct reply *reply = reply_new(world, XID, 40);

	(void)state;
	reply_add_item(world, reply, 40, 5000);
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 0, 1, 1, SEGMENT(none), 0, 0, XID, 0);
	reply_send(world, world_one_call(world), reply);
	world_until(world, raw->disconnected && world->server_closed);
	world_until(world, world->sent == 1);
	raw_end(raw);
}

/* ---- Remote invalidation ---- */

/* Answers the call that came last with a reply whose first item has that many octets, and returns the
 * message that arrives. */
static struct raw_message *
replied_with(struct raw *raw, uint32_t octets)
{
	struct world *world = raw->world;
	struct rr_exchange *exchange = world_one_call(world);
	struct reply *reply = reply_new(world, exchange->xid, 60);

	if (octets > 0)
		reply_add_item(world, reply, 24, octets);
	reply_send(world, exchange, reply);
	return raw_next(raw);
}

/* RFC 8797, 4.1: "Each RDMA Send with Invalidate MUST invalidate an STag associated only with the
 * Transaction ID (XID)". A segment without octets may have no memory, and no STag: it is passed over, also
 * after the lengths of used segments became 0. */
static void
row_B10_no_segment_without_octets_is_invalidated(void **state)
{
	struct raw *raw = raw_requester(NULL);
	struct rr_region write, read;
	uint8_t sink[800], data[64] = { 0 };
	struct raw_message *message;

	(void)state;
	write = raw_register(raw, sink, sizeof(sink), RR_REMOTE_WRITE);
	SEND(raw, 5, 1, 2, RR_RDMA_MSG, 0, 1, 2, 0, 0, 0, 0, SEGMENT(write), 0, 0, 5, RR_CALL, 2);
	message = replied_with(raw, 700);
	assert_true(message->invalidated);
	assert_int_equal(message->handle, write.handle);
	/* The chunk is not used. */
	write = raw_register(raw, sink, sizeof(sink), RR_REMOTE_WRITE);
	SEND(raw, 6, 1, 2, RR_RDMA_MSG, 0, 1, 2, 0, 0, 0, 0, SEGMENT(write), 0, 0, 6, RR_CALL, 2);
	message = replied_with(raw, 0);
	assert_true(message->invalidated);
	assert_int_equal(message->handle, write.handle);
	/* The first chunk has no octets at all. */
	write = raw_register(raw, sink, sizeof(sink), RR_REMOTE_WRITE);
	SEND(raw, 7, 1, 2, RR_RDMA_MSG, 0, 1, 1, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, SEGMENT(write), 7, RR_CALL,
		2);
	message = replied_with(raw, 0);
	assert_true(message->invalidated);
	assert_int_equal(message->handle, write.handle);
	read = raw_register(raw, data, sizeof(data), RR_REMOTE_READ);
	SEND(raw, 8, 1, 2, RR_RDMA_MSG, 1, 12, 0x999, 0, 0, 0, 1, 12, SEGMENT(read), 0, 0, 0, 8, RR_CALL, 2);
	message = replied_with(raw, 0);
	assert_true(message->invalidated);
	assert_int_equal(message->handle, read.handle);
	SEND(raw, 9, 1, 2, RR_RDMA_MSG, 1, 12, 0x999, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 9, RR_CALL, 2);
	assert_false(replied_with(raw, 0)->invalidated);
	raw_end(raw);
}

int
suite_responder(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(row_A11_a_read_chunk_of_many_segments_is_one_item),
		cmocka_unit_test(row_B4_two_read_chunks_in_any_order),
		cmocka_unit_test(row_B9_a_long_call_with_an_item_beside_it),
		cmocka_unit_test(row_A8_write_chunks_are_filled_and_returned),
		cmocka_unit_test(row_B9_an_empty_write_chunk_means_inline),
		cmocka_unit_test(row_B9_a_write_chunk_without_octets_means_inline),
		cmocka_unit_test(row_A11_a_reply_chunk_of_odd_segments),
		cmocka_unit_test(row_A9_an_unused_reply_chunk_is_returned_empty),
		cmocka_unit_test(row_B4_limits_of_chunks_and_segments_are_kept),
		cmocka_unit_test(row_B4_limits_of_read_chunks_are_kept),
		cmocka_unit_test(row_B4_bad_headers_are_answered_by_errors),
		cmocka_unit_test(row_B3_some_messages_are_discarded_silently),
		cmocka_unit_test(row_B3_a_message_that_is_neither_call_nor_reply_is_err_chunk),
		cmocka_unit_test(row_B3_a_reply_that_does_not_fit_is_err_chunk),
		cmocka_unit_test(a_reply_above_message_max_is_err_chunk),
		cmocka_unit_test(a_handle_that_is_not_there_costs_the_connection),
		cmocka_unit_test(a_write_chunk_that_is_not_there_costs_the_connection),
		cmocka_unit_test(row_B10_no_segment_without_octets_is_invalidated),
	};

	return cmocka_run_group_tests_name("responder", tests, NULL, NULL);
}
