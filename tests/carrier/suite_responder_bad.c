/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include "raw.h"
#include "wire/rpc.h"

/* This responder against a requester whose messages are wrong, or ask for what cannot be had. */

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

/* Begins with a responder that takes two chunks, and so many segments, and gives each call a small reply. */
static struct raw *
requester_within(uint32_t segment_max)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct raw *raw;

	config.chunk_max = 2;
	config.segment_max = segment_max;
	raw = raw_requester_uninvalidated(&config);
	raw->world->answer = answer_small;
	return raw;
}

/* Numbers of chunks and segments within the configured limits are served; with one more, the answer is
 * ERR_CHUNK. */
static void
row_B4_limits_of_chunks_and_segments_are_kept(void **state)
{
	struct raw *raw = requester_within(3);
	uint8_t data[64];
	struct rr_region r;

	(void)state;
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
	struct raw *raw = requester_within(rr_engine_config_default.segment_max);
	uint8_t data[64];
	struct rr_region r;

	(void)state;
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

int
suite_responder_bad(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(row_B4_limits_of_chunks_and_segments_are_kept),
		cmocka_unit_test(row_B4_limits_of_read_chunks_are_kept),
		cmocka_unit_test(row_B4_bad_headers_are_answered_by_errors),
		cmocka_unit_test(row_B3_some_messages_are_discarded_silently),
		cmocka_unit_test(row_B3_a_message_that_is_neither_call_nor_reply_is_err_chunk),
		cmocka_unit_test(row_B3_a_reply_that_does_not_fit_is_err_chunk),
		cmocka_unit_test(a_reply_above_message_max_is_err_chunk),
		cmocka_unit_test(a_handle_that_is_not_there_costs_the_connection),
		cmocka_unit_test(a_write_chunk_that_is_not_there_costs_the_connection),
	};

	return cmocka_run_group_tests_name("responder, wrong messages", tests, NULL, NULL);
}
