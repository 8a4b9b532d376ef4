/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include <string.h>

#include "base/endian.h"
#include "raw.h"
#include "wire/rpc.h"

/* This responder against a requester that sends what this project never sends. */

enum { XID = 0x77, ASKED = 16 };

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
		cmocka_unit_test(row_B10_no_segment_without_octets_is_invalidated),
	};

	return cmocka_run_group_tests_name("responder", tests, NULL, NULL);
}
