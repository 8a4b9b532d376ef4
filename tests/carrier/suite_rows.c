/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include <string.h>

#include "base/endian.h"
#include "raw.h"
#include "wire/private_data.h"
#include "wire/rpc.h"

/* Rows of conformance that are in no other suite. */

enum { XID = 0x77, ASKED = 16 };

/* ---- What a requester offers ---- */

/* Collects all segments of a header, those of Read chunks first. Returns how many there are. */
static uint32_t
all_segments(const struct raw_header *header, struct rr_segment segments[64])
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < header->lists.read_count; i++)
		segments[count++] = header->reads[i].target;
	for (uint32_t i = 0; i < header->lists.segment_count; i++)
		segments[count++] = header->segments[i];
	return count;
}

/* RFC 8166, 3.4.3: a handle "identifies a region": two handles must differ, and cover different memory. */
static void
assert_distinct(const struct raw_header *header)
{
	struct rr_segment segments[64];
	uint32_t count = all_segments(header, segments);

	for (uint32_t i = 0; i < count; i++) {
		assert_true(segments[i].length > 0);
		for (uint32_t j = 0; j < i; j++)
			assert_int_not_equal(segments[i].handle, segments[j].handle);
	}
}

static void
row_A4_handles_of_a_call_are_distinct_and_its_chunks_do_not_overlap(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct world *world = raw->world;
	struct raw_header header;

	(void)state;
	/* One result has a Write chunk; several share a Reply chunk, at a peer that may take one Write
	 * chunk. */
	for (uint32_t sinks = 1; sinks <= 3; sinks++) {
		struct call *call = call_new(world, XID + sinks, 80);

		call_add_item(world, call, 64, 9000);
		for (uint32_t i = 0; i < sinks; i++)
			call_add_sink(world, call, 8192);
		call->transaction.reply_max = 100;
		call_start(world, call);
		raw_parse(raw_next(raw), &header);
		assert_int_equal(header.lists.read_count, 1);
		assert_int_equal(header.lists.write_count, sinks == 1);
		assert_int_equal(header.lists.has_reply, sinks > 1);
		assert_distinct(&header);
		SEND(raw, XID + sinks, 1, ASKED, RR_RDMA_MSG, 0, 0, 0, XID + sinks, RR_REPLY, 7);
		world_until(world, call->done);
	}
	raw_end_client(raw);
}

/* Linux refuses a segment of no octets. */
static void
row_A7_segments_of_an_offered_reply_chunk_are_not_empty(void **state)
{
	static const uint32_t sizes[] = { 4069, 4072, 5000, 65536, 1 << 20 };
	struct raw *raw = raw_responder(NULL);
	struct world *world = raw->world;
	struct raw_header header;

	(void)state;
	for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct call *call = call_new(world, XID + i, 40);

		call->transaction.reply_max = sizes[i];
		call_start(world, call);
		raw_parse(raw_next(raw), &header);
		assert_true(header.lists.has_reply && header.lists.reply.count > 0);
		assert_true(rr_chunk_length(&header.lists.reply) >= sizes[i]);
		assert_distinct(&header);
		SEND(raw, XID + i, 1, ASKED, RR_RDMA_MSG, 0, 0, 0, XID + i, RR_REPLY, 7);
		call_answered(call);
	}
	raw_end_client(raw);
}

/* ---- The responder's use of segments ---- */

/* The segments have handles that do not exist, and a length of 0: to read or write there would cost the
 * connection. */
static void
row_A10_a_segment_without_length_moves_nothing(void **state)
{
	const struct rr_segment nothing = { .handle = 0xdeadbeef, .length = 0, .offset = 0x1000 };
	struct raw *raw = raw_requester_uninvalidated(NULL);
	struct world *world = raw->world;
	uint8_t data[64], sink[64] = { 0 };
	struct raw_header header;
	struct rr_exchange *exchange;
	struct reply *reply = reply_new(world, XID, 12);
	struct rr_region source, target;

	(void)state;
	fill(data, sizeof(data), 3);
	source = raw_register(raw, data, 8, RR_REMOTE_READ);
	target = raw_register(raw, sink, 40, RR_REMOTE_WRITE);
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 1, 12, SEGMENT(nothing), 1, 12, SEGMENT(source), 1, 12,
		SEGMENT(nothing), 0, 1, 3, SEGMENT(nothing), SEGMENT(target), SEGMENT(nothing), 0, 0, XID, 0,
		8);
	exchange = world_one_call(world);
	assert_int_equal(exchange->call.item_count, 1);
	assert_int_equal(exchange->call.items[0].length, 8);
	assert_memory_equal(exchange->call.items[0].data, data, 8);
	reply_add_item(world, reply, 12, 40);
	reply_send(world, exchange, reply);
	raw_parse(raw_next(raw), &header);
	assert_int_equal(header.fixed.proc, RR_RDMA_MSG);
	assert_int_equal(header.lists.writes[0].count, 3);
	assert_int_equal(header.lists.writes[0].segments[0].length, 0);
	assert_int_equal(header.lists.writes[0].segments[1].length, 40);
	assert_int_equal(header.lists.writes[0].segments[2].length, 0);
	assert_memory_equal(sink, reply->items[0].data, 40);
	assert_false(raw->disconnected);
	raw_end(raw);
}

/* RFC 8166, 3.4.5.2: "When encoding a Read chunk [...] XDR roundup padding [...] MUST NOT" be counted on:
 * a chunk may contain it or not. */
static void
row_B5_read_chunks_come_with_padding_and_without(void **state)
{
	struct raw *raw = raw_requester_uninvalidated(NULL);
	struct world *world = raw->world;
	uint8_t data[16];
	struct rr_region region;

	(void)state;
	fill(data, sizeof(data), 4);
	region = raw_register(raw, data, sizeof(data), RR_REMOTE_READ);
	for (uint32_t length = 5; length <= 8; length++) {
		for (int padded = 0; padded < 2; padded++) {
			struct rr_segment segment = { region.handle, padded ? 8 : length, region.offset };
			struct rr_exchange *exchange;

			SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 1, 16, SEGMENT(segment), 0, 0, 0, XID, 0, 1,
				length, 0x12345678);
			exchange = world_one_call(world);
			assert_int_equal(exchange->call.item_count, 1);
			assert_int_equal(exchange->call.items[0].offset, 16);
			assert_true(exchange->call.items[0].length >= length);
			assert_memory_equal(exchange->call.items[0].data, data, length);
			/* The octets behind the item are in their place. */
			assert_int_equal(exchange->call.length, 20);
			assert_int_equal(
				rr_get_be32((const uint8_t *)exchange->call.stream + 16), 0x12345678);
			answer_small(world, exchange);
			raw_next(raw);
		}
	}
	assert_false(raw->disconnected);
	raw_end(raw);
}

/* ---- Private data ---- */

struct said {
	const char *what;
	uint8_t octets[24];
	uint32_t size;
	bool understood; /* 4096 both ways, and R */
};

/* RFC 8797, 5.2: private data that is not in the format is treated as if no data had come. 4: the
 * identifier may stand anywhere. */
static void
row_B2_private_data_may_be_garbage_odd_truncated_or_of_another_version(void **state)
{
	static const struct said all[] = {
		{ "good", { 0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 3 }, 8, true },
		{ "behind another format, at an odd offset",
			{ 1, 2, 3, 0xf6, 0xab, 0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 3 }, 13, true },
		{ "in front of another one", { 0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 3, 9, 9, 9 }, 11, true },
		{ "garbage", { 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7 }, 12, false },
		{ "truncated", { 0xf6, 0xab, 0x0e, 0x18, 1, 1, 3 }, 7, false },
		{ "the identifier alone", { 0xf6, 0xab, 0x0e, 0x18 }, 4, false },
		{ "another version", { 0xf6, 0xab, 0x0e, 0x18, 2, 1, 3, 3 }, 8, false },
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct raw *raw = raw_new(world_listening(NULL));
		struct rpcrdma_negotiated negotiated;
		uint32_t threshold = all[i].understood ? 4096 : 1024;

		memcpy(raw->private_data, all[i].octets, all[i].size);
		raw->private_size = all[i].size;
		raw_serve(raw);
		rr_carrier_negotiated(raw->world->client, &negotiated);
		assert_int_equal(negotiated.private_data, all[i].understood);
		assert_int_equal(negotiated.inline_call, threshold);
		assert_int_equal(negotiated.inline_reply, threshold);
		/* A Send never exceeds the threshold. */
		for (uint32_t xid = 1; xid <= 2; xid++) {
			struct call *call =
				call_new(raw->world, xid, threshold - RR_RDMA_HEADER_MIN + 4 * (xid - 1));
			struct raw_message *message;

			call_start(raw->world, call);
			message = raw_next(raw);
			assert_true(message->length <= threshold);
			assert_int_equal(word(message, 3), xid == 1 ? RR_RDMA_MSG : RR_RDMA_NOMSG);
			SEND(raw, xid, 1, ASKED, RR_RDMA_MSG, 0, 0, 0, xid, RR_REPLY, 7);
			world_until(raw->world, call->done);
		}
		raw_end_client(raw);
	}
}

/* ---- Other connections ---- */

/* Whether the call goes inline on a connection of these sizes. */
static bool
goes_inline(struct world *world, uint8_t sizes, struct call *call)
{
	struct raw *raw = raw_new(world);
	bool is_inline;

	raw->private_data[6] = raw->private_data[7] = sizes;
	raw_serve(raw);
	call_start(world, call);
	is_inline = word(raw_next(raw), 3) == RR_RDMA_MSG;
	SEND(raw, call->transaction.xid, 1, ASKED, RR_RDMA_MSG, 0, 0, 0, call->transaction.xid, RR_REPLY, 7);
	call_answered(call);
	world_close_client(world);
	raw_free(raw);
	world_settle(world);
	return is_inline;
}

/* RFC 8797, 4: peers "MUST be prepared for the settings to change upon a reconnection." */
static void
row_B12_thresholds_may_shrink_and_grow_with_each_connection(void **state)
{
	struct world *world = world_listening(NULL);

	(void)state;
	assert_true(goes_inline(world, 3, call_new(world, 1, 3000)));
	assert_false(goes_inline(world, 0, call_new(world, 2, 3000)));
	assert_true(goes_inline(world, 3, call_new(world, 3, 3000)));
	assert_false(goes_inline(world, 1, call_new(world, 4, 3000)));
	world_free(world);
}

/* Makes a call, and then a call in the other direction on the same connection. */
static void
call_back(struct world *world, uint32_t xid)
{
	struct call *forward = call_new(world, xid, 40), *reverse = call_new(world, xid, 100);

	world->answer = answer_small;
	call_start(world, forward);
	world_until(world, forward->done);
	rr_carrier_call(world->server, &reverse->transaction);
	world_until(world, reverse->done);
	assert_int_equal(forward->error | reverse->error, 0);
}

/* RFC 8167, 4.1 and 5.4: a side that has been idle for long can still be called, also on the next
 * connection. */
static void
row_B6_callbacks_survive_idle_time_and_reconnecting(void **state)
{
	struct world *world = world_new(NULL);

	(void)state;
	world_hear(world);
	call_back(world, 1);
	world_pass(world, 3600 * RR_SECOND);
	call_back(world, 2);
	world_close_client(world);
	world_until(world, world->server_closed);
	world_connect(world);
	world_until(world, world->client_connected);
	world_hear(world);
	call_back(world, 3);
	world_free(world);
}

int
suite_rows(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(row_A4_handles_of_a_call_are_distinct_and_its_chunks_do_not_overlap),
		cmocka_unit_test(row_A7_segments_of_an_offered_reply_chunk_are_not_empty),
		cmocka_unit_test(row_A10_a_segment_without_length_moves_nothing),
		cmocka_unit_test(row_B2_private_data_may_be_garbage_odd_truncated_or_of_another_version),
		cmocka_unit_test(row_B5_read_chunks_come_with_padding_and_without),
		cmocka_unit_test(row_B6_callbacks_survive_idle_time_and_reconnecting),
		cmocka_unit_test(row_B12_thresholds_may_shrink_and_grow_with_each_connection),
	};

	return cmocka_run_group_tests_name("rows", tests, NULL, NULL);
}
