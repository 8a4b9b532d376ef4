/* SPDX-License-Identifier: BSD-3-Clause */
/* Row B14: pulls that fail, that find no memory, and answers that are damaged. Citations are of
 * draft-cel-nfsv4-rpcrdma-reliable-reply-02. */
#include "suite.h"

#include <stdio.h>
#include <string.h>

#include "carrier/rdma/core/room.h"
#include "carrier/rdma/requester/pull.h"
#include "fabric/filter/fault.h"
#include "fabric/filter/script.h"
#include "pull.h"

/* ---- Pulls that fail ---- */

/* Checks that an answer that cannot be pulled ends its call and is notified: "After RDMA Read operations
 * have completed (successfully or in error)". */
#define refuses(raw, xid, err, handle, ...)                                                                  \
	do {                                                                                                 \
		struct call *call_ = pull_ask(raw, xid);                                                     \
		SEND(raw, xid, 2, 32, RR_RDMA_NOMSG, __VA_ARGS__);                                           \
		pull_assert_done(raw, xid, handle);                                                          \
		call_ended(call_, err);                                                                      \
		assert_false((raw)->world->client_closed);                                                   \
	} while (0)

/* Row B11: the length is bounded before memory is taken for it. */
static void
row_B14_absurd_lengths_are_refused_before_memory_is_taken(void **state)
{
	struct raw *raw = pull_begin();
	struct rr_region region = pull_expose_reply(raw, 9), huge = region;
	uint32_t max = raw->world->stage.engine->config.message_max;
	size_t peak = rr_pool_peak(raw->world->stage.engine->pool);

	(void)state;
	huge.length = UINT32_MAX;
	refuses(raw, 2, -RPCRDMA_ERR_LIMIT, huge.handle, 1, 0, SEGMENT(huge), 0, 0, 0);
	huge.length = max + 1;
	refuses(raw, 3, -RPCRDMA_ERR_LIMIT, huge.handle, 1, 0, SEGMENT(huge), 0, 0, 0);
	/* Together the segments have more than 32 bits of octets. */
	huge.length = 0x80000004;
	refuses(raw, 4, -RPCRDMA_ERR_LIMIT, huge.handle, 1, 0, SEGMENT(huge), 1, 0, SEGMENT(huge), 0, 0, 0);
	/* The chunk has no octets at all. */
	huge.length = 0;
	refuses(raw, 5, -RPCRDMA_ERR_PEER, 0, 1, 0, SEGMENT(huge), 0, 0, 0);
	assert_int_equal(rr_pool_peak(raw->world->stage.engine->pool), peak);
	pull_assert_works(raw, 6);
	raw_end(raw);
}

static void
row_B14_malformed_lists_are_refused(void **state)
{
	struct raw *raw = pull_begin();
	struct rr_region region = pull_expose_reply(raw, 9);
	uint32_t handle = region.handle;

	(void)state;
	refuses(raw, 2, -RPCRDMA_ERR_PEER, handle, 1, 4, SEGMENT(region), 0, 0, 0); /* a position */
	refuses(raw, 3, -RPCRDMA_ERR_PEER, handle, 1, 0, SEGMENT(region), 1, 8, SEGMENT(region), 0, 0, 0);
	refuses(raw, 4, -RPCRDMA_ERR_PEER, handle, 1, 0, SEGMENT(region), 0, 0, 0, 0); /* a payload */
	refuses(raw, 5, -RPCRDMA_ERR_PEER, handle, 1, 0, SEGMENT(region), 0, 0); /* the list ends early */
	/* These chunks were not offered. */
	refuses(raw, 6, -RPCRDMA_ERR_PEER, handle, 1, 0, SEGMENT(region), 0, 1, 1, SEGMENT(region), 0, 0);
	refuses(raw, 7, -RPCRDMA_ERR_PEER, handle, 1, 0, SEGMENT(region), 0, 0, 1, 1, SEGMENT(region));
	assert_int_equal(raw->world->client->counters.octets_rdma_read, 0);
	pull_assert_works(raw, 8);
	raw_end(raw);
}

/* Makes a call that offers a Reply chunk of one segment. */
static struct call *
ask_with_chunk(struct raw *raw, uint32_t xid, struct rr_segment *chunk)
{
	struct call *call = call_new(raw->world, xid, 40);
	struct raw_header header;

	call->transaction.reply_max = PULL_LARGE;
	call_start(raw->world, call);
	raw_parse(raw_next(raw), &header);
	assert_true(header.lists.has_reply);
	*chunk = header.segments[0];
	return call;
}

/* Answers xid with a header that has the reply in a Read chunk, and in the Reply chunk, too. */
static void
answer_twice(struct raw *raw, uint32_t xid, struct rr_segment chunk)
{
	struct rr_region region = pull_expose_reply(raw, xid);

	SEND(raw, xid, 2, 32, RR_RDMA_NOMSG, 1, 0, SEGMENT(region), 0, 0, 1, 1, SEGMENT(chunk));
	pull_assert_done(raw, xid, region.handle);
}

/* A reply must lie in one place. */
static void
row_B14_a_reply_is_not_in_the_reply_chunk_too(void **state)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct rr_segment chunk;
	struct raw *raw;
	struct call *call;

	(void)state;
	config.reply_chunks = RR_REPLY_CHUNKS_ALWAYS;
	raw = pull_begin_with(&config, 1, 1);
	call = ask_with_chunk(raw, 2, &chunk);
	answer_twice(raw, 2, chunk);
	call_ended(call, -RPCRDMA_ERR_PEER);
	/* A chunk that was not used comes back without octets. */
	call = ask_with_chunk(raw, 3, &chunk);
	chunk.length = 0;
	answer_twice(raw, 3, chunk);
	call_answered(call);
	raw_end(raw);
}

/* Memory of messages under way is freed when the client closes. */
static void
row_B14_closing_frees_a_notification_under_way(void **state)
{
	(void)state;
	for (uint32_t number = 7; number < 14; number++) {
		struct rr_engine_config config = rr_engine_config_default;
		struct rr_fault_script script;
		struct rr_text text;
		char faults[64];
		struct raw *raw;

		snprintf(faults, sizeof(faults), "delay complete %u+ 1s", number);
		assert_int_equal(rr_fault_parse(faults, &script, &text), 0);
		config.filter = rr_fault_filter;
		config.filter_ctx = &script;
		raw = pull_begin_with(&config, 1, 1);
		pull_ask(raw, 2);
		pull_answer_large(raw, 2);
		world_settle(raw->world);
		world_close_client(raw->world);
		raw_end(raw);
	}
}

static void
row_B14_more_segments_than_are_taken_are_refused(void **state)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct raw *raw;
	uint32_t words[4 + 6 * 4 + 3] = { 2, 2, 32, RR_RDMA_NOMSG };
	struct rr_region region;
	struct call *call;

	(void)state;
	config.segment_max = 3;
	raw = pull_begin_with(&config, 1, 1);
	region = pull_expose_reply(raw, 2);
	call = pull_ask(raw, 2);
	for (int i = 0; i < 4; i++)
		memcpy(&words[4 + 6 * i], (const uint32_t[]){ 1, 0, SEGMENT(region) }, 24);
	raw_send_words(raw, words, sizeof(words) / sizeof(words[0]), 0);
	pull_assert_done(raw, 2, region.handle);
	call_ended(call, -RPCRDMA_ERR_PEER);
	pull_assert_works(raw, 3);
	raw_end(raw);
}

/* RFC 8166, 4.5.2: "the value of the rdma_xid field does not match the value of the XID field in the
 * accompanying RPC message". */
static void
row_B14_what_was_pulled_must_be_the_reply(void **state)
{
	struct raw *raw = pull_begin();
	struct call *call = pull_ask(raw, 2);
	struct rr_region region = pull_expose_reply(raw, 3);

	(void)state;
	pull_answer_from(raw, 2, region);
	pull_assert_done(raw, 2, region.handle);
	call_ended(call, -RPCRDMA_ERR_PEER);
	region = pull_expose(raw, pull_reply_to(raw, 4, PULL_LARGE), 4); /* too short for a reply */
	call = pull_ask(raw, 4);
	pull_answer_from(raw, 4, region);
	pull_assert_done(raw, 4, region.handle);
	call_ended(call, -RPCRDMA_ERR_PEER);
	pull_assert_works(raw, 5);
	raw_end(raw);
}

/* RFC 8166, 4.5.3: "RDMA operational errors are typically fatal to the connection." */
static void
row_B14_memory_that_is_not_there_costs_only_the_connection(void **state)
{
	struct raw *raw = pull_begin();
	struct call *call = pull_ask(raw, 2);
	struct rr_region region = pull_expose_reply(raw, 2);

	(void)state;
	region.length++;
	pull_answer_from(raw, 2, region);
	world_until(raw->world, raw->world->client_closed);
	assert_true(call->done);
	assert_int_equal(call->error, -RPCRDMA_ERR_DISCONNECTED);
	raw_end(raw);
}

static void
row_B14_a_second_answer_is_none(void **state)
{
	struct raw *raw = pull_begin();
	struct call *call = pull_ask(raw, 2);
	struct rr_region region = pull_answer_large(raw, 2);

	(void)state;
	pull_answer_small(raw, 2);
	pull_assert_done(raw, 2, region.handle);
	call_answered(call);
	assert_int_equal(call->reply.length, PULL_LARGE);
	pull_assert_works(raw, 3);
	raw_end(raw);
}

/* ---- Memory ---- */

/* Connects a client with so little memory that no large answer is pulled before *buffer is given back. */
static struct raw *
begin_without_memory(void **buffer)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct raw *raw;

	config.memory_max = 1 << 20;
	config.message_max = 1 << 19;
	raw = pull_begin_with(&config, 1, 1);
	*buffer = rr_pool_get(raw->world->stage.engine->pool, NULL, 1 << 19);
	assert_non_null(*buffer);
	return raw;
}

static void
row_B14_a_pull_waits_for_memory(void **state)
{
	void *buffer;
	struct raw *raw = begin_without_memory(&buffer);
	struct call *call = pull_ask(raw, 2);
	struct rr_region region = pull_answer_large(raw, 2);

	(void)state;
	world_settle(raw->world);
	world_pass(raw->world, RR_PULL_PATIENCE - 1);
	assert_false(call->done);
	assert_int_equal(raw->message_count, 0);
	rr_pool_put(raw->world->stage.engine->pool, buffer);
	call_answered(call);
	pull_assert_done(raw, 2, region.handle);
	raw_end(raw);
}

/* 4.1.3: "a responder can choose to invalidate its Read chunks after waiting for a short period": a late
 * RDMA_DONE does not invalidate any handle, as an adapter would end the connection for that. */
static void
row_B14_a_late_notification_invalidates_nothing(void **state)
{
	struct raw *raw;
	struct call *call;

	(void)state;
	raw = pull_begin();
	call = pull_ask(raw, 2);
	world_stuff(raw->world->client, true);
	pull_answer_large(raw, 2);
	world_settle(raw->world);
	raw->world->stage.now += RR_PULL_LATE;
	world_stuff(raw->world->client, false);
	call_begin(raw->world, 3, 40);
	call_answered(call);
	assert_int_equal(word(raw_next(raw), 0), 3);
	pull_assert_done(raw, 2, 0);
	raw_end(raw);
}

static void
row_B14_a_pull_does_not_wait_for_memory_for_ever(void **state)
{
	void *buffer;
	struct raw *raw = begin_without_memory(&buffer);
	struct call *call = pull_ask(raw, 2), *cancelled = pull_ask(raw, 3);
	struct rr_region region = pull_answer_large(raw, 2), other = pull_answer_large(raw, 3);

	(void)state;
	world_settle(raw->world);
	rr_carrier_cancel(raw->world->client, &cancelled->transaction);
	pull_assert_done(raw, 3, other.handle);
	raw->world->stage.now += RR_PULL_PATIENCE;
	call_ended(call, -RPCRDMA_ERR_NOMEM);
	pull_assert_done(raw, 2, region.handle);
	pull_assert_works(raw, 4);
	rr_pool_put(raw->world->stage.engine->pool, buffer);
	raw_end(raw);
}

static void
row_B14_a_connection_may_end_while_a_pull_waits(void **state)
{
	void *buffer;
	struct raw *raw = begin_without_memory(&buffer);
	struct call *call = pull_ask(raw, 2);

	(void)state;
	pull_answer_large(raw, 2);
	world_settle(raw->world);
	rr_endpoint_disconnect(raw->endpoint);
	world_until(raw->world, raw->world->client_closed);
	assert_int_equal(call->error, -RPCRDMA_ERR_DISCONNECTED);
	rr_pool_put(raw->world->stage.engine->pool, buffer);
	raw_end(raw);
}

/* ---- Damage ---- */

/* Each bit of a good answer is flipped, one after the other: at most its own connection suffers. */
static void
row_B14_flips_cost_at_most_the_connection(void **state)
{
	enum { WORDS_OF_IT = 4 + 6 + 3 };
	uint32_t step = 1;

	(void)state;
	for (uint32_t bit = 0; bit < WORDS_OF_IT * 32; bit += step) {
		struct raw *raw = pull_begin();
		struct call *call = pull_ask(raw, 2);
		struct rr_region region = pull_expose_reply(raw, 2);
		uint32_t words[] = { 2, 2, 32, RR_RDMA_NOMSG, 1, 0, SEGMENT(region), 0, 0, 0 };

		/* On the slower providers, which go through the kernel, every thirteenth bit is enough. */
		if (strcmp(rr_fabric_name(rr_room_in(raw->world->stage.engine)->fabric), "loop") != 0)
			step = 13;
		words[bit / 32] ^= UINT32_C(1) << bit % 32;
		raw_send_words(raw, words, WORDS_OF_IT, 0);
		world_settle(raw->world);
		if (!raw->world->client_closed && !call->done)
			rr_carrier_cancel(raw->world->client, &call->transaction);
		raw_end(raw);
	}
}

int
suite_pull_bad(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(row_B14_absurd_lengths_are_refused_before_memory_is_taken),
		cmocka_unit_test(row_B14_malformed_lists_are_refused),
		cmocka_unit_test(row_B14_a_reply_is_not_in_the_reply_chunk_too),
		cmocka_unit_test(row_B14_closing_frees_a_notification_under_way),
		cmocka_unit_test(row_B14_more_segments_than_are_taken_are_refused),
		cmocka_unit_test(row_B14_what_was_pulled_must_be_the_reply),
		cmocka_unit_test(row_B14_memory_that_is_not_there_costs_only_the_connection),
		cmocka_unit_test(row_B14_a_second_answer_is_none),
		cmocka_unit_test(row_B14_a_pull_waits_for_memory),
		cmocka_unit_test(row_B14_a_late_notification_invalidates_nothing),
		cmocka_unit_test(row_B14_a_pull_does_not_wait_for_memory_for_ever),
		cmocka_unit_test(row_B14_a_connection_may_end_while_a_pull_waits),
		cmocka_unit_test(row_B14_flips_cost_at_most_the_connection),
	};

	return cmocka_run_group_tests_name("pull bad", tests, world_speak_both, world_speak_version_1);
}
