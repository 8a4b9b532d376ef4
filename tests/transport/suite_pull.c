/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include <stdio.h>
#include <string.h>

#include "base/endian.h"
#include "fabric/filter/script.h"
#include "raw.h"
#include "transport/connection.h"
#include "transport/pull.h"
#include "wire/rpc.h"
#include "wire/rpcrdma2.h"

/*
 * Row B14: responder-provided Read chunks at the requester, with a raw responder. Citations are of
 * draft-cel-nfsv4-rpcrdma-reliable-reply-02.
 */

enum { LARGE = 9004 }; /* no multiple of eight */

/* A call whose reply may have so many octets, as it arrives at the raw responder. */
static struct call *
ask_for(struct raw *raw, uint32_t xid, uint32_t reply_max)
{
	struct call *call = call_new(raw->world, xid, 40);

	call->transaction.reply_max = reply_max;
	call_start(raw->world, call);
	assert_int_equal(word(raw_next(raw), 0), xid);
	return call;
}

static struct call *
ask(struct raw *raw, uint32_t xid)
{
	return ask_for(raw, xid, RPCRDMA_XDR_UNBOUNDED);
}

static void
answer_small_2(struct raw *raw, uint32_t xid)
{
	SEND(raw, xid, 2, 32, RR_RDMA_MSG, 0, 0, 0, xid, RR_REPLY, 0, 0, 0, 0);
}

/* Its client has settled on version 2, and both sides have told their properties. */
static struct raw *
begin_with(const struct rr_engine_config *config, uint32_t read_chunks, uint32_t invalidation)
{
	struct raw *raw = raw_responder(config);
	struct call *call = call_new(raw->world, 1, 40);
	struct raw_message *message;

	call_start(raw->world, call);
	raw_next(raw);
	answer_small_2(raw, 1);
	world_until(raw->world, call->done);
	message = raw_next(raw);
	assert_int_equal(word(message, 3), RR_RDMA_OPTIONAL);
	SEND(raw, word(message, 0), 2, 32, RR_RDMA_OPTIONAL,
		CONNPROP(4096, RR_REVERSE_INLINE, read_chunks, invalidation));
	world_settle(raw->world);
	return raw;
}

static struct raw *
begin(void)
{
	return begin_with(NULL, 1, 1);
}

/* Memory that holds a reply to xid. */
static uint8_t *
reply_to(struct raw *raw, uint32_t xid, uint32_t length)
{
	uint8_t *reply = world_memory(raw->world, length);

	fill(reply, length, xid);
	rr_put_be32(reply, xid);
	rr_put_be32(reply + 4, RR_REPLY);
	return reply;
}

static struct rr_region
expose(struct raw *raw, uint8_t *memory, uint32_t length)
{
	return raw_register(raw, memory, length, RR_REMOTE_READ);
}

/* A reply to xid of LARGE octets, ready to be read. */
static struct rr_region
expose_reply(struct raw *raw, uint32_t xid)
{
	return expose(raw, reply_to(raw, xid, LARGE), LARGE);
}

static void
answer_from(struct raw *raw, uint32_t xid, struct rr_region region)
{
	SEND(raw, xid, 2, 32, RR_RDMA_NOMSG, 1, 0, SEGMENT(region), 0, 0, 0);
}

/* Both at once. */
static struct rr_region
answer_large(struct raw *raw, uint32_t xid)
{
	struct rr_region region = expose_reply(raw, xid);

	answer_from(raw, xid, region);
	return region;
}

/* The next message is an RDMA_DONE for xid, which invalidates handle (0: nothing). */
static void
assert_done(struct raw *raw, uint32_t xid, uint32_t handle)
{
	struct raw_message *message = raw_next(raw);

	assert_int_equal(message->length, RR_RDMA_FIXED_SIZE);
	assert_int_equal(word(message, 0), xid);
	assert_int_equal(word(message, 1), 2);
	assert_int_equal(word(message, 3), RR_RDMA_DONE);
	assert_int_equal(message->invalidated, handle != 0);
	assert_int_equal(message->handle, handle);
}

/* The connection is as good as before. */
static void
assert_works(struct raw *raw, uint32_t xid)
{
	struct call *call = ask_for(raw, xid, 100);

	answer_small_2(raw, xid);
	call_answered(call);
	assert_false(raw->world->client_closed);
}

/*
 * 4.1.2: "After RDMA Read operations have completed (successfully or in error), the requester MUST inform the
 * responder". 4.1.3: "with the rdma_xid field set to the same value as the rdma_xid field in the RDMA_NOMSG
 * request". 4.1.4: "the requester MUST present only that R_key when using RDMA Send With Invalidate."
 */
static void
row_B14_a_reply_is_pulled_and_the_responder_told(void **state)
{
	struct raw *raw = begin();
	struct call *call = ask(raw, 2);
	uint8_t *reply = reply_to(raw, 2, LARGE);
	struct rr_region region = expose(raw, reply, LARGE);

	(void)state;
	answer_from(raw, 2, region);
	assert_done(raw, 2, region.handle);
	call_answered(call);
	assert_same_message(&call->reply, &(struct rpcrdma_message){ .stream = reply, .length = LARGE });
	assert_works(raw, 3);
	raw_end(raw);
}

/* 4.1.4: "If Remote Invalidate support is not indicated by one or both peers, messages carrying pull
 * completion notification MUST be transmitted using RDMA Send." */
static void
row_B14_nothing_is_invalidated_that_must_not_be(void **state)
{
	struct raw *raw = begin_with(NULL, 1, 0);
	struct call *call = ask(raw, 2);

	(void)state;
	answer_large(raw, 2);
	assert_done(raw, 2, 0);
	call_answered(call);
	raw_end(raw);
}

/* 4.1: "one or more RDMA segments". */
static void
row_B14_segments_are_put_together(void **state)
{
	struct raw *raw = begin();
	struct call *call = ask(raw, 2);
	uint8_t *reply = reply_to(raw, 2, LARGE);
	struct rr_region a = expose(raw, reply, 13), b = expose(raw, reply + 13, LARGE - 14),
			 c = expose(raw, reply + LARGE - 1, 1);

	(void)state;
	SEND(raw, 2, 2, 32, RR_RDMA_NOMSG, 1, 0, 77, 0, 0, 0, 1, 0, SEGMENT(a), 1, 0, SEGMENT(b), 1, 0,
		SEGMENT(c), 0, 0, 0);
	assert_done(raw, 2, a.handle); /* not of the segment without octets */
	call_answered(call);
	assert_same_message(&call->reply, &(struct rpcrdma_message){ .stream = reply, .length = LARGE });
	raw_end(raw);
}

/* 4.1.3: "When an RPC transaction is aborted on a requester", it "MUST notify the responder of pull
 * completion."
 */
static void
row_B14_a_reply_to_a_cancelled_call_is_not_pulled(void **state)
{
	struct raw *raw = begin();
	struct call *call = ask(raw, 2);
	struct rr_region region = expose_reply(raw, 2);

	(void)state;
	rr_carrier_cancel(raw->world->client, &call->transaction);
	answer_from(raw, 2, region);
	assert_done(raw, 2, region.handle);
	assert_int_equal(raw->world->client->counters.rdma_reads, 0);
	assert_works(raw, 3);
	raw_end(raw);
}

static void
row_B14_a_call_may_be_cancelled_during_the_pull(void **state)
{
	struct raw *raw = begin();
	struct call *call = ask(raw, 2);
	uint32_t length = 1 << 20;
	struct rr_region region = expose(raw, reply_to(raw, 2, length), length);

	(void)state;
	answer_from(raw, 2, region);
	while (!call->done && rr_pool_used(raw->world->engine->pool) == 0)
		world_turn(raw->world);
	/* On a provider without delay, the pull is over already. */
	if (!call->done)
		rr_carrier_cancel(raw->world->client, &call->transaction);
	assert_done(raw, 2, region.handle);
	world_settle(raw->world);
	assert_int_equal(rr_pool_used(raw->world->engine->pool), 0);
	assert_works(raw, 3);
	raw_end(raw);
}

/* 4.1.3: "and does not recognize the XID, the requester MUST notify the responder of pull completion." Many
 * of them are not more than there are Receives for. */
static void
row_B14_an_unknown_xid_is_notified(void **state)
{
	struct raw *raw = begin();
	struct rr_region region = expose_reply(raw, 9);

	(void)state;
	for (uint32_t i = 0; i < 200; i++) {
		answer_from(raw, 100 + i, region);
		assert_done(raw, 100 + i, 0);
	}
	assert_works(raw, 2);
	raw_end(raw);
}

/* 4.1.3: "but does not support such chunks, it MUST inform the responder of pull completion and terminate the
 * RPC transaction." */
static void
row_B14_who_does_not_support_them_notifies_too(void **state)
{
	struct raw *raw = begin_with(NULL, 0, 1);
	struct call *call = ask_for(raw, 2, 100);
	struct rr_region region = answer_large(raw, 2);

	(void)state;
	assert_done(raw, 2, region.handle);
	call_ended(call, -RPCRDMA_ERR_PEER);
	assert_int_equal(raw->world->client->counters.octets_rdma_read, 0);
	answer_from(raw, 77, region); /* also where nobody waits for it */
	assert_done(raw, 77, 0);
	assert_works(raw, 3);
	raw_end(raw);
}

/*
 * The responder was told of properties, and has answered: from then on it may use such chunks, whatever the
 * requester does meanwhile. Until its last replies are there, one that shuts down goes by what it hears.
 */
static void
row_B14_a_requester_that_shuts_down_still_hears_of_properties(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct world *world = raw->world;
	uint8_t *reply = reply_to(raw, 2, LARGE);
	struct rr_region region = expose(raw, reply, LARGE);
	struct call *call = ask_for(raw, 1, 100);
	uint32_t connprop;

	(void)state;
	answer_small_2(raw, 1);
	world_until(world, call->done);
	connprop = word(raw_next(raw), 0);
	call = ask_for(raw, 2, 100);
	rr_carrier_shutdown(world->client);
	world_settle(world);
	SEND(raw, connprop, 2, 32, RR_RDMA_OPTIONAL, CONNPROP(4096, RR_REVERSE_INLINE, 1, 1));
	answer_from(raw, 2, region);
	assert_done(raw, 2, region.handle);
	world_until(world, call->done && world->client_closed);
	assert_int_equal(call->error, 0);
	assert_same_message(&call->reply, &(struct rpcrdma_message){ .stream = reply, .length = LARGE });
	raw_end(raw);
}

/* RFC 8167, 5.3: a long call in the reverse direction is to be answered by ERR_CHUNK; it looks the same. */
static void
row_B14_a_long_call_of_the_responder_is_refused(void **state)
{
	struct raw *raw = begin_with(NULL, 0, 1);
	struct rr_region region = expose_reply(raw, 9);
	struct raw_message *message;

	(void)state;
	world_hear(raw->world);
	answer_from(raw, 77, region);
	message = raw_next(raw);
	assert_int_equal(word(message, 0), 77);
	assert_int_equal(word(message, 3), RR_RDMA_ERROR);
	assert_int_equal(word(message, 4), RR_ERR_BAD_HEADER);
	raw_end(raw);
}

/* ---- Pulls that fail ---- */

/* "After RDMA Read operations have completed (successfully or in error)": what cannot be pulled is let go. */
#define refuses(raw, xid, err, handle, ...)                                                                  \
	do {                                                                                                 \
		struct call *call_ = ask(raw, xid);                                                          \
		SEND(raw, xid, 2, 32, RR_RDMA_NOMSG, __VA_ARGS__);                                           \
		assert_done(raw, xid, handle);                                                               \
		call_ended(call_, err);                                                                      \
		assert_false((raw)->world->client_closed);                                                   \
	} while (0)

/* Row B11: bounded before memory is taken for it. */
static void
row_B14_absurd_lengths_are_refused_before_memory_is_taken(void **state)
{
	struct raw *raw = begin();
	struct rr_region region = expose_reply(raw, 9), huge = region;
	uint32_t max = raw->world->engine->config.message_max;
	size_t peak = rr_pool_peak(raw->world->engine->pool);

	(void)state;
	huge.length = UINT32_MAX;
	refuses(raw, 2, -RPCRDMA_ERR_LIMIT, huge.handle, 1, 0, SEGMENT(huge), 0, 0, 0);
	huge.length = max + 1;
	refuses(raw, 3, -RPCRDMA_ERR_LIMIT, huge.handle, 1, 0, SEGMENT(huge), 0, 0, 0);
	/* Together above 32 bits. */
	huge.length = 0x80000004;
	refuses(raw, 4, -RPCRDMA_ERR_LIMIT, huge.handle, 1, 0, SEGMENT(huge), 1, 0, SEGMENT(huge), 0, 0, 0);
	/* Nothing at all. */
	huge.length = 0;
	refuses(raw, 5, -RPCRDMA_ERR_PEER, 0, 1, 0, SEGMENT(huge), 0, 0, 0);
	assert_int_equal(rr_pool_peak(raw->world->engine->pool), peak);
	assert_works(raw, 6);
	raw_end(raw);
}

static void
row_B14_malformed_lists_are_refused(void **state)
{
	struct raw *raw = begin();
	struct rr_region region = expose_reply(raw, 9);
	uint32_t handle = region.handle;

	(void)state;
	refuses(raw, 2, -RPCRDMA_ERR_PEER, handle, 1, 4, SEGMENT(region), 0, 0, 0); /* a position */
	refuses(raw, 3, -RPCRDMA_ERR_PEER, handle, 1, 0, SEGMENT(region), 1, 8, SEGMENT(region), 0, 0, 0);
	refuses(raw, 4, -RPCRDMA_ERR_PEER, handle, 1, 0, SEGMENT(region), 0, 0, 0, 0); /* a payload */
	refuses(raw, 5, -RPCRDMA_ERR_PEER, handle, 1, 0, SEGMENT(region), 0, 0);       /* breaks off */
	/* Chunks that were not offered. */
	refuses(raw, 6, -RPCRDMA_ERR_PEER, handle, 1, 0, SEGMENT(region), 0, 1, 1, SEGMENT(region), 0, 0);
	refuses(raw, 7, -RPCRDMA_ERR_PEER, handle, 1, 0, SEGMENT(region), 0, 0, 1, 1, SEGMENT(region));
	assert_int_equal(raw->world->client->counters.octets_rdma_read, 0);
	assert_works(raw, 8);
	raw_end(raw);
}

/* A call that offers a Reply chunk of one segment. */
static struct call *
ask_with_chunk(struct raw *raw, uint32_t xid, struct rr_segment *chunk)
{
	struct call *call = call_new(raw->world, xid, 40);
	struct raw_header header;

	call->transaction.reply_max = LARGE;
	call_start(raw->world, call);
	raw_parse(raw_next(raw), &header);
	assert_true(header.lists.has_reply);
	*chunk = header.segments[0];
	return call;
}

/* The answer to xid is said to be in a Read chunk, and in the Reply chunk. */
static void
answer_twice(struct raw *raw, uint32_t xid, struct rr_segment chunk)
{
	struct rr_region region = expose_reply(raw, xid);

	SEND(raw, xid, 2, 32, RR_RDMA_NOMSG, 1, 0, SEGMENT(region), 0, 0, 1, 1, SEGMENT(chunk));
	assert_done(raw, xid, region.handle);
}

/* A reply is in one place. */
static void
row_B14_a_reply_is_not_in_the_reply_chunk_too(void **state)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct rr_segment chunk;
	struct raw *raw;
	struct call *call;

	(void)state;
	config.reply_chunks = RR_REPLY_CHUNKS_ALWAYS;
	raw = begin_with(&config, 1, 1);
	call = ask_with_chunk(raw, 2, &chunk);
	answer_twice(raw, 2, chunk);
	call_ended(call, -RPCRDMA_ERR_PEER);
	/* One that was not used comes back without octets. */
	call = ask_with_chunk(raw, 3, &chunk);
	chunk.length = 0;
	answer_twice(raw, 3, chunk);
	call_answered(call);
	raw_end(raw);
}

/* Whatever is under way when the client closes is freed. */
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
		config.fault = &script;
		raw = begin_with(&config, 1, 1);
		ask(raw, 2);
		answer_large(raw, 2);
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
	raw = begin_with(&config, 1, 1);
	region = expose_reply(raw, 2);
	call = ask(raw, 2);
	for (int i = 0; i < 4; i++)
		memcpy(&words[4 + 6 * i], (const uint32_t[]){ 1, 0, SEGMENT(region) }, 24);
	raw_send_words(raw, words, sizeof(words) / sizeof(words[0]), 0);
	assert_done(raw, 2, region.handle);
	call_ended(call, -RPCRDMA_ERR_PEER);
	assert_works(raw, 3);
	raw_end(raw);
}

/* RFC 8166, 4.5.2: "the value of the rdma_xid field does not match the value of the XID field in the
 * accompanying RPC message". */
static void
row_B14_what_was_pulled_must_be_the_reply(void **state)
{
	struct raw *raw = begin();
	struct call *call = ask(raw, 2);
	struct rr_region region = expose_reply(raw, 3);

	(void)state;
	answer_from(raw, 2, region);
	assert_done(raw, 2, region.handle);
	call_ended(call, -RPCRDMA_ERR_PEER);
	region = expose(raw, reply_to(raw, 4, LARGE), 4); /* too short for a reply */
	call = ask(raw, 4);
	answer_from(raw, 4, region);
	assert_done(raw, 4, region.handle);
	call_ended(call, -RPCRDMA_ERR_PEER);
	assert_works(raw, 5);
	raw_end(raw);
}

/* RFC 8166, 4.5.3: "RDMA operational errors are typically fatal to the connection." */
static void
row_B14_memory_that_is_not_there_costs_only_the_connection(void **state)
{
	struct raw *raw = begin();
	struct call *call = ask(raw, 2);
	struct rr_region region = expose_reply(raw, 2);

	(void)state;
	region.length++;
	answer_from(raw, 2, region);
	world_until(raw->world, raw->world->client_closed);
	assert_true(call->done);
	assert_int_equal(call->error, -RPCRDMA_ERR_DISCONNECTED);
	raw_end(raw);
}

static void
row_B14_a_second_answer_is_none(void **state)
{
	struct raw *raw = begin();
	struct call *call = ask(raw, 2);
	struct rr_region region = answer_large(raw, 2);

	(void)state;
	answer_small_2(raw, 2);
	assert_done(raw, 2, region.handle);
	call_answered(call);
	assert_int_equal(call->reply.length, LARGE);
	assert_works(raw, 3);
	raw_end(raw);
}

/* ---- Memory ---- */

static struct raw *
begin_without_memory(void **buffer)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct raw *raw;

	config.memory_max = 1 << 20;
	config.message_max = 1 << 19;
	raw = begin_with(&config, 1, 1);
	*buffer = rr_pool_get(raw->world->engine->pool, 1 << 19);
	assert_non_null(*buffer);
	return raw;
}

static void
row_B14_a_pull_waits_for_memory(void **state)
{
	void *buffer;
	struct raw *raw = begin_without_memory(&buffer);
	struct call *call = ask(raw, 2);
	struct rr_region region = answer_large(raw, 2);

	(void)state;
	world_settle(raw->world);
	world_pass(raw->world, RR_PULL_PATIENCE - 1);
	assert_false(call->done);
	assert_int_equal(raw->message_count, 0);
	rr_pool_put(raw->world->engine->pool, buffer);
	call_answered(call);
	assert_done(raw, 2, region.handle);
	raw_end(raw);
}

static void
row_B14_a_pull_does_not_wait_for_memory_for_ever(void **state)
{
	void *buffer;
	struct raw *raw = begin_without_memory(&buffer);
	struct call *call = ask(raw, 2), *cancelled = ask(raw, 3);
	struct rr_region region = answer_large(raw, 2), other = answer_large(raw, 3);

	(void)state;
	world_settle(raw->world);
	rr_carrier_cancel(raw->world->client, &cancelled->transaction);
	assert_done(raw, 3, other.handle);
	raw->world->now += RR_PULL_PATIENCE;
	call_ended(call, -RPCRDMA_ERR_NOMEM);
	assert_done(raw, 2, region.handle);
	assert_works(raw, 4);
	rr_pool_put(raw->world->engine->pool, buffer);
	raw_end(raw);
}

static void
row_B14_a_connection_may_end_while_a_pull_waits(void **state)
{
	void *buffer;
	struct raw *raw = begin_without_memory(&buffer);
	struct call *call = ask(raw, 2);

	(void)state;
	answer_large(raw, 2);
	world_settle(raw->world);
	rr_endpoint_disconnect(raw->endpoint);
	world_until(raw->world, raw->world->client_closed);
	assert_int_equal(call->error, -RPCRDMA_ERR_DISCONNECTED);
	rr_pool_put(raw->world->engine->pool, buffer);
	raw_end(raw);
}

/* ---- Damage ---- */

/* Every bit of a good answer wrong, one at a time: at most its own connection suffers. */
static void
row_B14_flips_cost_at_most_the_connection(void **state)
{
	enum { WORDS_OF_IT = 4 + 6 + 3 };
	uint32_t step = 1;

	(void)state;
	for (uint32_t bit = 0; bit < WORDS_OF_IT * 32; bit += step) {
		struct raw *raw = begin();
		struct call *call = ask(raw, 2);
		struct rr_region region = expose_reply(raw, 2);
		uint32_t words[] = { 2, 2, 32, RR_RDMA_NOMSG, 1, 0, SEGMENT(region), 0, 0, 0 };

		/* Through the kernel, every thirteenth will do. */
		if (strcmp(rr_fabric_name(raw->world->engine->fabric), "loop") != 0)
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
suite_pull(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(row_B14_a_reply_is_pulled_and_the_responder_told),
		cmocka_unit_test(row_B14_nothing_is_invalidated_that_must_not_be),
		cmocka_unit_test(row_B14_segments_are_put_together),
		cmocka_unit_test(row_B14_a_reply_to_a_cancelled_call_is_not_pulled),
		cmocka_unit_test(row_B14_a_call_may_be_cancelled_during_the_pull),
		cmocka_unit_test(row_B14_an_unknown_xid_is_notified),
		cmocka_unit_test(row_B14_who_does_not_support_them_notifies_too),
		cmocka_unit_test(row_B14_a_requester_that_shuts_down_still_hears_of_properties),
		cmocka_unit_test(row_B14_a_long_call_of_the_responder_is_refused),
		cmocka_unit_test(row_B14_absurd_lengths_are_refused_before_memory_is_taken),
		cmocka_unit_test(row_B14_malformed_lists_are_refused),
		cmocka_unit_test(row_B14_a_reply_is_not_in_the_reply_chunk_too),
		cmocka_unit_test(row_B14_closing_frees_a_notification_under_way),
		cmocka_unit_test(row_B14_more_segments_than_are_taken_are_refused),
		cmocka_unit_test(row_B14_what_was_pulled_must_be_the_reply),
		cmocka_unit_test(row_B14_memory_that_is_not_there_costs_only_the_connection),
		cmocka_unit_test(row_B14_a_second_answer_is_none),
		cmocka_unit_test(row_B14_a_pull_waits_for_memory),
		cmocka_unit_test(row_B14_a_pull_does_not_wait_for_memory_for_ever),
		cmocka_unit_test(row_B14_a_connection_may_end_while_a_pull_waits),
		cmocka_unit_test(row_B14_flips_cost_at_most_the_connection),
	};

	return cmocka_run_group_tests_name("pull", tests, world_speak_both, world_speak_version_1);
}
