/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include <string.h>

#include "base/endian.h"
#include "carrier/rdma/core/connection.h"
#include "raw.h"
#include "wire/rpc.h"

/* Requirements of RFC 8166 and RFC 8167 for rare cases, and for all messages that are sent. */

enum { XID = 0x77, ASKED = 16 };

/* ---- A provider that fails, and counts Receives ---- */

static uint32_t allowed; /* Receives that were posted at first */

static struct rr_fabric_ops failing_ops;
static const struct rr_fabric_ops *real_ops;
static bool failing_posts, failing_ends;
static uint32_t ended;

static int
post(struct rr_endpoint *endpoint, const struct rr_work *work)
{
	return failing_posts ? -RPCRDMA_ERR_SYSTEM : real_ops->post(endpoint, work);
}

static int
invalidate(struct rr_endpoint *endpoint, struct rr_region *region)
{
	ended++;
	return failing_ends ? -RPCRDMA_ERR_SYSTEM : real_ops->invalidate(endpoint, region);
}

static int
revoke(struct rr_endpoint *endpoint, struct rr_region *region)
{
	ended++;
	return failing_ends ? -RPCRDMA_ERR_SYSTEM : real_ops->revoke(endpoint, region);
}

static void
allow(struct rr_endpoint *endpoint, uint32_t count)
{
	if (allowed == 0 && count < 256)
		allowed = count;
	real_ops->allow(endpoint, count);
}

/* Makes a provider whose posts and ends fail when the test wants that. */
static int
make_failing(struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric)
{
	int error = provider(loop, config, fabric);

	if (error)
		return error;
	real_ops = override(*fabric, &failing_ops);
	failing_ops.post = post;
	failing_ops.allow = allow;
	allowed = 0;
	failing_ops.invalidate = invalidate;
	failing_ops.revoke = revoke;
	failing_posts = failing_ends = false;
	ended = 0;
	return 0;
}

static bool closed_before_done;

/* Notes whether the connection was closed before this call was done. */
static void
done_when_closed(struct rr_transaction *transaction, int error)
{
	struct world *world = transaction->ctx;
	const struct rr_connection *connection = (const void *)world->client;

	(void)error;
	assert_int_equal(ended, 1);
	closed_before_done = !connection->endpoint;
}

/* RFC 8166, 4.5.4: "After a Requester has received a reply, if it is unable to invalidate a memory region due
 * to an unrecoverable problem, the Requester MUST close the connection to protect that memory from Responder
 * access before the associated RPC transaction is complete." */
static void
a_region_that_cannot_be_invalidated_costs_the_connection(void **state)
{
	struct raw *raw = raw_new(world_listening_on(NULL, make_failing));
	struct world *world = raw->world;
	struct raw_header header;
	struct call *call;

	(void)state;
	raw_serve(raw);
	call = raw_offered_write_chunk(raw, &header);
	call->transaction.done = done_when_closed;
	failing_ends = true;
	closed_before_done = false;
	SEND(raw, 5, 1, 8, RR_RDMA_MSG, 0, 0, 0, 5, RR_REPLY, 7);
	world_until(world, world->client_closed && raw->disconnected);
	assert_true(closed_before_done);
	assert_int_equal(world->client_error, -RPCRDMA_ERR_SYSTEM);
	raw_end_client(raw);
}

/* RFC 8166, 4.4.1: "memory regions that are associated with canceled RPCs" are protected, too. */
static void
a_cancelled_region_that_stays_in_reach_costs_the_connection(void **state)
{
	struct raw *raw = raw_new(world_listening_on(NULL, make_failing));
	struct world *world = raw->world;
	struct raw_header header;
	struct call *call;

	(void)state;
	raw_serve(raw);
	call = raw_offered_write_chunk(raw, &header);
	world_settle(world);
	failing_ends = true;
	rr_carrier_cancel(world->client, &call->transaction);
	world_until(world, world->client_closed && raw->disconnected);
	assert_int_equal(world->client_error, -RPCRDMA_ERR_SYSTEM);
	assert_false(call->done);
	raw_end_client(raw);
}

/* RFC 8166, 4.5.4: "If a Responder is unable to construct and transmit an RPC Reply or RPC-over-RDMA error
 * message, the Responder MUST close the connection to signal to the Requester that a reply was lost." */
static void
a_reply_or_error_that_cannot_be_sent_costs_the_connection(void **state)
{
	(void)state;
	for (int is_error = 0; is_error <= 1; is_error++) {
		struct raw *raw = raw_new(world_listening_on(NULL, make_failing));
		struct world *world = raw->world;

		raw_connect(raw);
		SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 0, 0, 0, XID, 0, 2);
		world_until(world, world->call_count == 1);
		failing_posts = true;
		reply_send(world, world_next_call(world), reply_new(world, XID, is_error ? 5000 : 24));
		world_until(world, world->server_closed && raw->disconnected && world->sent == 1);
		assert_int_equal(world->server_error, -RPCRDMA_ERR_SYSTEM);
		assert_int_equal(raw->message_count, 0);
		raw_end_client(raw);
	}
}

/* The owner of a connection can do the same with a call for whose reply it has no memory. */
static void
a_call_that_is_lost_costs_the_connection_and_no_other_reply(void **state)
{
	struct raw *raw = raw_requester(NULL);
	struct world *world = raw->world;

	(void)state;
	SEND(raw, 1, 1, ASKED, RR_RDMA_MSG, 0, 0, 0, 1, 0, 2);
	SEND(raw, 2, 1, ASKED, RR_RDMA_MSG, 0, 0, 0, 2, 0, 2);
	world_until(world, world->call_count == 2);
	rr_exchange_lose(world_next_call(world));
	world_settle(world);
	assert_false(raw->disconnected);
	answer_small(world, world_next_call(world));
	assert_int_equal(word(raw_next(raw), 0), 2);
	world_until(world, world->server_closed && raw->disconnected);
	raw_end_client(raw);
}

/* ---- Credits of headers without a direction ---- */

/* RFC 8167, 4.1: where "it is not possible for the receiver to tell with certainty whether the header credit
 * value is a request or grant", "the receiver MUST ignore the header's credit value." */
static void
the_credits_of_a_header_without_direction_are_ignored(void **state)
{
	struct raw *raw = raw_requester(NULL);
	struct call *call;

	(void)state;
	raw->world->answer = answer_small;
	/* As a request: the credits that were granted last stay as they are. */
	SEND(raw, XID, 1, 5, RR_RDMA_MSG, 0, 0, 0, XID, 0, 2);
	assert_int_equal(word(raw_next(raw), 2), 5);
	SEND(raw, XID, 2, 60, RR_RDMA_MSG, 0, 0, 0, XID, 0);
	assert_int_equal(word(raw_next(raw), 2), 5);
	SEND(raw, XID, 1, 60, 9, 0, 0, 0, XID, 0);
	assert_int_equal(word(raw_next(raw), 2), 5);
	SEND(raw, XID, 1, 60, RR_RDMA_MSG, 0, 0, 0);
	assert_int_equal(word(raw_next(raw), 2), 5);
	raw_end_client(raw);

	/* As a grant: there is still one call at a time. */
	raw = raw_responder(NULL);
	call = call_begin(raw->world, 5, 40);
	raw_next(raw);
	SEND(raw, 5, 1, 60, RR_RDMA_MSG, 0, 0, 0, 5, 2, 7);
	for (uint32_t xid = 6; xid < 10; xid++)
		call_begin(raw->world, xid, 40);
	world_settle(raw->world);
	assert_false(call->done);
	assert_int_equal(raw->message_count, 0);
	raw_answer(raw, 5, 1);
	world_settle(raw->world);
	assert_int_equal(raw->message_count, 1);
	raw_end_client(raw);
}

/* RFC 8166, 3.3.3: one call at a time until "a valid reply". version-two-00, 5: "a requester MUST assume the
 * ability to exchange only a single RPC-over-RDMA message at a time until it receives a non-error
 * RPC-over-RDMA message". */
static void
an_error_does_not_lift_the_first_limit(void **state)
{
	struct raw *raw = raw_responder(NULL);

	(void)state;
	for (uint32_t xid = 1; xid <= 8; xid++)
		call_begin(raw->world, xid, 40);
	raw_next(raw);
	SEND(raw, 1, 1, 60, RR_RDMA_ERROR, RR_ERR_CHUNK);
	world_settle(raw->world);
	assert_int_equal(raw->message_count, 1);
	raw_next(raw);
	SEND(raw, 2, 1, 3, RR_RDMA_MSG, 0, 0, 0, 2, RR_REPLY, 7);
	world_settle(raw->world);
	assert_int_equal(raw->message_count, 3);
	/* From now on an error grants credits, too: credits that it takes back must not be used. */
	SEND(raw, word(raw_next(raw), 0), 1, 1, RR_RDMA_ERROR, RR_ERR_CHUNK);
	world_settle(raw->world);
	assert_int_equal(raw->message_count, 2);
	raw_end_client(raw);
}

/* ---- Messages that are never sent ---- */

/* RFC 8167, 5.1: "the ONC RPC Call header MUST start with the same XID value that is present in the
 * RPC-over-RDMA header, and the RPC header's msg_type field MUST contain the value CALL." 5.2 says the
 * same of replies, and REPLY. */
static void
calls_are_calls_and_replies_are_replies(void **state)
{
	struct world *world = world_new(NULL);
	struct call *call;

	(void)state;
	for (uint32_t type = 1; type <= 2; type++) {
		call = call_new(world, type, 40);
		rr_put_be32((uint8_t *)(uintptr_t)call->transaction.call.stream + 4, type);
		call_start(world, call);
		call_ended(call, -RPCRDMA_ERR_INVAL);
	}
	assert_int_equal(world->arrived, 0);
	for (uint32_t word = 0; word <= 1; word++) {
		struct reply *reply = reply_new(world, XID, 24);

		rr_put_be32((uint8_t *)(uintptr_t)reply->message.stream + 4 * word, 0);
		call = call_arrived(world, XID, 40);
		reply_send(world, world_next_call(world), reply);
		call_ended(call, -RPCRDMA_ERR_CHUNK);
	}
	world_free(world);
}

/* Starts small and large calls, with and without chunks for the reply. */
static void
start_all_kinds(struct raw *raw)
{
	for (uint32_t kind = 0; kind < 16; kind++) {
		struct call *call = call_new(raw->world, 100 + kind, kind & 1 ? 6000 : 40);

		if (kind & 2)
			call_add_item(raw->world, call, 40, 6001);
		if (kind & 4)
			call_add_sink(raw->world, call, 6002);
		if (kind & 8)
			call->transaction.reply_max = 6000;
		call_start(raw->world, call);
	}
}

/*
 * RFC 8166, 4.2.4: "A Requester MUST NOT send an RPC-over-RDMA header with the RDMA_ERROR procedure." 4.6.1:
 * "senders MUST NOT send RDMA_MSGP procedures." 4.6.2: "senders MUST NOT send RDMA_DONE messages." 4.2.2: the
 * version "MUST contain the value one (1)". 4.2.4: of the lists of an RDMA_NOMSG, "one MUST be present and
 * MUST hold the Payload stream for this RPC-over-RDMA message."
 */
static void
row_A2_a_requester_sends_msg_and_nomsg_only(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct raw_header header;
	uint32_t count = 0;

	(void)state;
	start_all_kinds(raw);
	/* This holds after any answer. */
	while (count++ < 16) {
		uint32_t xid;

		raw_parse(raw_next(raw), &header);
		xid = header.fixed.xid;
		assert_int_equal(header.fixed.vers, 1);
		assert_true(header.fixed.proc == RR_RDMA_MSG || header.fixed.proc == RR_RDMA_NOMSG);
		if (header.fixed.proc == RR_RDMA_NOMSG)
			assert_true(header.lists.read_count > 0 && header.reads[0].position == 0);
		assert_int_equal(header.body_length == 0, header.fixed.proc == RR_RDMA_NOMSG);
		switch (count % 5) {
		case 0: SEND(raw, xid, 1, 8, RR_RDMA_MSG, 0, 0, 0, xid, RR_REPLY, 7); break;
		case 1: SEND(raw, xid, 1, 8, RR_RDMA_ERROR, RR_ERR_CHUNK); break;
		case 2: SEND(raw, xid, 1, 8, RR_RDMA_ERROR, 77, 0, 0); break;
		case 3: SEND(raw, xid, 1, 8, RR_RDMA_MSGP, 4, 4, 0, 0, 0, xid, RR_REPLY, 7); break;
		case 4: SEND(raw, xid, 1, 8, RR_RDMA_MSG, 2, 0, 0, xid, RR_REPLY, 7); break;
		}
		SEND(raw, xid, 1, 8, RR_RDMA_DONE, 0, 0, 0);
		raw_answer(raw, xid, 8); /* some of them were discarded */
	}
	world_settle(raw->world);
	assert_int_equal(raw->message_count, 0);
	assert_true(rr_requester_idle((const void *)raw->world->client));
	raw_end_client(raw);
}

/* RFC 8166, 4.6.1 and 4.6.2 say the same of responders. 4.3.1: "Responders MUST leave the Read list empty
 * in all replies." 4.2.4: the lists of an RDMA_NOMSG hold the Payload stream: there is a Reply chunk. */
static void
row_A2_a_responder_sends_msg_nomsg_and_errors_only(void **state)
{
	struct raw *raw = raw_requester_uninvalidated(NULL);
	struct world *world = raw->world;
	uint8_t memory[9000];
	struct rr_region read, write;
	struct raw_header header;

	(void)state;
	read = raw_register(raw, memory, 64, RR_REMOTE_READ);
	write = raw_register(raw, memory + 64, 8000, RR_REMOTE_WRITE);
	for (uint32_t kind = 0; kind < 8; kind++) {
		if (kind & 1)
			SEND(raw, XID, 1, 8, RR_RDMA_MSG, 1, 8, SEGMENT(read), 0, 0, 1, 1, SEGMENT(write),
				XID, 0);
		else
			SEND(raw, XID, 1, 8, RR_RDMA_MSG, 1, 8, SEGMENT(read), 0, 0, 0, XID, 0);
		reply_send(world, world_one_call(world), reply_new(world, XID, kind & 2 ? 6000 : 24));
		raw_parse(raw_next(raw), &header);
		assert_int_equal(header.fixed.vers, 1);
		assert_int_equal(header.lists.read_count, 0);
		if (!(kind & 2))
			assert_int_equal(header.fixed.proc, RR_RDMA_MSG);
		else if (!(kind & 1))
			assert_int_equal(header.fixed.proc, RR_RDMA_ERROR);
		else
			assert_int_equal(header.fixed.proc, RR_RDMA_NOMSG);
		assert_int_equal(header.body_length > 0, header.fixed.proc == RR_RDMA_MSG);
		if (header.fixed.proc == RR_RDMA_NOMSG)
			assert_int_equal(rr_chunk_length(&header.lists.reply), 6000);
	}
	raw_end_client(raw);
}

/* ---- Chunks ---- */

enum { SEGMENTS = 16 };

/* Registers the memory as SEGMENTS regions. */
static void
divide(struct raw *raw, uint8_t *memory, uint32_t size, unsigned access, struct rr_region *regions)
{
	for (uint32_t i = 0; i < SEGMENTS; i++)
		regions[i] = raw_register(raw, memory + i * (size / SEGMENTS), size / SEGMENTS, access);
}

/* Writes the words of a chunk with all these regions: a read chunk at this position, or, if position is
 * UINT32_MAX, the segments of another chunk. Returns how many words that is. */
static uint32_t
put_segments(uint32_t *words, const struct rr_region *regions, uint32_t position)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < SEGMENTS; i++) {
		const uint32_t segment[] = { 1, position, SEGMENT(regions[i]) };
		bool plain = position == UINT32_MAX;

		memcpy(words + count, segment + (plain ? 2 : 0), (plain ? 4 : 6) * sizeof(*words));
		count += plain ? 4 : 6;
	}
	return count;
}

/*
 * RFC 8267, 6.4.2: "The Read list can contain either a Position Zero Read chunk, one Read chunk with a
 * non-zero Position, or both. The Write list can contain no more than one Write chunk. Any chunk can contain
 * up to sixteen RDMA segments." "NFS version 4 servers MUST accept and process such requests."
 */
static void
chunks_of_sixteen_segments_are_taken(void **state)
{
	enum { CALL = 1600, ITEM = 3200, RESULT = 4800, REPLY = 6400 };
	struct raw *raw = raw_new(world_listening(NULL));
	struct world *world = raw->world;
	uint8_t memory[CALL + ITEM + RESULT + REPLY];
	struct rr_region regions[4][SEGMENTS];
	uint32_t words[400] = { XID, 1, ASKED, RR_RDMA_NOMSG }, count = 4;
	struct rr_exchange *exchange;
	struct reply *reply = reply_new(world, XID, 6000);
	struct raw_header header;

	(void)state;
	fill(memory, sizeof(memory), 1);
	rr_put_be32(memory, XID);
	rr_put_be32(memory + 4, RR_CALL);
	raw->private_data[5] = 0;
	raw_connect(raw);
	divide(raw, memory, CALL, RR_REMOTE_READ, regions[0]);
	divide(raw, memory + CALL, ITEM, RR_REMOTE_READ, regions[1]);
	divide(raw, memory + CALL + ITEM, RESULT, RR_REMOTE_WRITE, regions[2]);
	divide(raw, memory + CALL + ITEM + RESULT, REPLY, RR_REMOTE_WRITE, regions[3]);
	count += put_segments(words + count, regions[0], 0);
	count += put_segments(words + count, regions[1], 800);
	words[count++] = 0;
	words[count++] = 1;
	words[count++] = SEGMENTS;
	count += put_segments(words + count, regions[2], UINT32_MAX);
	words[count++] = 0;
	words[count++] = 1;
	words[count++] = SEGMENTS;
	count += put_segments(words + count, regions[3], UINT32_MAX);
	raw_send_words(raw, words, count, 0);
	exchange = world_one_call(world);
	assert_int_equal(exchange->call.length, CALL);
	assert_memory_equal(exchange->call.stream, memory, CALL);
	assert_int_equal(exchange->call.item_count, 1);
	assert_int_equal(exchange->call.items[0].length, ITEM);
	assert_memory_equal(exchange->call.items[0].data, memory + CALL, ITEM);
	reply_add_item(world, reply, 100, RESULT);
	reply_send(world, exchange, reply);
	raw_parse(raw_next(raw), &header);
	assert_int_equal(header.fixed.proc, RR_RDMA_NOMSG);
	assert_int_equal(header.lists.writes[0].count, SEGMENTS);
	assert_int_equal(header.lists.reply.count, SEGMENTS);
	assert_int_equal(rr_chunk_length(&header.lists.reply), 6000);
	assert_memory_equal(memory + CALL + ITEM, reply->items[0].data, RESULT);
	assert_memory_equal(memory + CALL + ITEM + RESULT, reply->message.stream, 6000);
	raw_end_client(raw);
}

/* RFC 8166, 4.3.2.2: "The Requester MUST NOT assume that the memory regions backing a Write chunk have not
 * been modified." */
static void
what_was_written_into_an_unused_chunk_is_no_result(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct raw_header header;
	struct call *call;
	uint8_t data[777];

	(void)state;
	call = raw_offered_write_chunk(raw, &header);
	raw_fill(raw, &header.segments[0], data, sizeof(data));
	header.segments[0].length = 0;
	SEND(raw, 5, 1, 32, RR_RDMA_MSG, 0, 1, 1, SEGMENT(header.segments[0]), 0, 0, 5, RR_REPLY, 0);
	call_answered(call);
	assert_memory_equal(call->transaction.sinks[0].data, data, sizeof(data));
	assert_int_equal(call->transaction.reply.item_count, 0);
	assert_int_equal(call->reply.length, 12);
	raw_end_client(raw);
}

/* ---- Receives ---- */

/* RFC 8166, 3.3.1: "A Requester MUST maintain enough receive resources to accommodate expected replies."
 * RFC 8167, 4.3.1, wants more Receives for calls of the reverse direction. */
static void
all_replies_and_calls_of_the_peer_may_come_at_once(void **state)
{
	struct raw *raw = raw_new(world_listening_on(NULL, make_failing));
	struct world *world = raw->world;
	struct call *calls[64], *first = call_new(world, 0xffff, 40);

	(void)state;
	raw_serve(raw);
	assert_true(allowed >= 64 + 16);
	world_hear(world);
	call_start(world, first);
	raw_next(raw);
	SEND(raw, 0xffff, 1, 64, RR_RDMA_MSG, 0, 0, 0, 0xffff, RR_REPLY, 7);
	world_until(world, first->done);
	for (uint32_t i = 0; i < 64; i++) {
		calls[i] = call_begin(world, i, 40);
	}
	world_until(world, raw->message_count == 64);
	for (uint32_t i = 0; i < 16; i++)
		SEND(raw, i, 1, 16, RR_RDMA_MSG, 0, 0, 0, i, RR_CALL, 2);
	for (uint32_t i = 0; i < 64; i++)
		SEND(raw, i, 1, 64, RR_RDMA_MSG, 0, 0, 0, i, RR_REPLY, 7);
	world_until(world, world->call_count == 16);
	for (uint32_t i = 0; i < 64; i++)
		world_until(world, calls[i]->done && calls[i]->error == 0);
	assert_false(raw->disconnected || world->client_closed);
	raw_end_client(raw);
}

int
suite_required(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_region_that_cannot_be_invalidated_costs_the_connection),
		cmocka_unit_test(a_cancelled_region_that_stays_in_reach_costs_the_connection),
		cmocka_unit_test(a_reply_or_error_that_cannot_be_sent_costs_the_connection),
		cmocka_unit_test(a_call_that_is_lost_costs_the_connection_and_no_other_reply),
		cmocka_unit_test(the_credits_of_a_header_without_direction_are_ignored),
		cmocka_unit_test(an_error_does_not_lift_the_first_limit),
		cmocka_unit_test(calls_are_calls_and_replies_are_replies),
		cmocka_unit_test(row_A2_a_requester_sends_msg_and_nomsg_only),
		cmocka_unit_test(row_A2_a_responder_sends_msg_nomsg_and_errors_only),
		cmocka_unit_test(chunks_of_sixteen_segments_are_taken),
		cmocka_unit_test(what_was_written_into_an_unused_chunk_is_no_result),
		cmocka_unit_test(all_replies_and_calls_of_the_peer_may_come_at_once),
	};

	return cmocka_run_group_tests_name("required", tests, NULL, NULL);
}
