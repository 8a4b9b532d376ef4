/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "fabric/filter/script.h"
#include "raw.h"
#include "transport/connection.h"
#include "transport/provided.h"
#include "wire/private_data.h"
#include "wire/rpc.h"
#include "wire/rpcrdma2.h"

/*
 * Row B14: responder-provided Read chunks at the responder, and between two of ours. Citations are of
 * draft-cel-nfsv4-rpcrdma-reliable-reply-02.
 */

enum { LARGE = 9004 }; /* no multiple of eight */

/* ---- Between two of ours ---- */

static uint32_t reply_size;

static void
answer_with_size(struct world *world, struct rr_exchange *exchange)
{
	reply_send(world, exchange, reply_new(world, exchange->xid, reply_size));
}

static void
pass_time(struct world *world)
{
	world->now += RR_MILLISECOND;
	world_turn(world);
}

/* Both sides have agreed on version 2 and announced Read chunks. */
static void
agree(struct world *world)
{
	struct call *call = call_new(world, 1, 40);

	world->answer = answer_small;
	call_start(world, call);
	while (!call->done)
		pass_time(world);
	assert_int_equal(call->error, 0);
	while (!world_negotiated(world->client).read_chunks || !world_negotiated(world->server).read_chunks)
		pass_time(world);
	world->sent = 0;
}

static struct world *
begin(const struct rr_engine_config *config)
{
	struct world *world = world_new(config);

	agree(world);
	return world;
}

/* Nothing is kept, nobody was disconnected. */
static void
end(struct world *world)
{
	world_settle(world);
	assert_false(world->client_closed);
	assert_int_equal(world_negotiated(world->server).provided, 0);
	assert_int_equal(world->engine->provided_octets, 0);
	world_free(world);
}

static void
assert_octets(const struct rpcrdma_message *reply, uint32_t xid, uint32_t length)
{
	uint8_t *expected = malloc(length);

	assert_non_null(expected);
	fill(expected, length, xid + 1);
	rr_put_be32(expected, xid);
	rr_put_be32(expected + 4, RR_REPLY);
	assert_int_equal(reply->length, length);
	assert_memory_equal(reply->stream, expected, length);
	free(expected);
}

static void
row_B14_a_reply_of_64_MiB_that_nobody_estimated_arrives(void **state)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct world *world;
	struct call *call;

	(void)state;
	config.message_max = 128 << 20;
	config.memory_max = 256 << 20;
	world = begin(&config);
	world->answer = answer_with_size;
	reply_size = 64 << 20;
	call = call_new(world, 2, 40);
	call->transaction.reply_max = RPCRDMA_XDR_UNBOUNDED;
	call_start(world, call);
	call_answered(call);
	assert_octets(&call->reply, 2, 64 << 20);
	world_until(world, world->sent == 1);
	assert_int_equal(world->client->counters.registrations, 0);
	assert_int_equal(world->client->counters.replies_left, 1);
	assert_int_equal(world->client->counters.provided_replies, 1);
	assert_int_equal(world->client->counters.octets_rdma_read, 64 << 20);
	assert_int_equal(world->client->counters.done_sent, 1);
	assert_int_equal(world->server->counters.provided_replies, 1);
	assert_int_equal(world->server->counters.done_received, 1);
	assert_int_equal(world->server->counters.done_unmatched, 0);
	assert_int_equal(world_negotiated(world->server).provided_peak, 1);
	end(world);
}

/* 4.1: "a responder must still make use of Write chunks provided by the requester." */
static void
row_B14_results_still_go_into_write_chunks(void **state)
{
	struct world *world = begin(NULL);
	struct call *call = call_new(world, 2, 40);
	struct reply *reply;

	(void)state;
	world->answer = NULL;
	call->transaction.reply_max = LARGE;
	call_add_sink(world, call, 6001);
	call_start(world, call);
	world_until(world, world->call_count > 0);
	reply = reply_new(world, 2, LARGE);
	reply_add_item(world, reply, 24, 6001);
	reply_send(world, world_next_call(world), reply);
	call_answered(call);
	assert_int_equal(call->transaction.placed, 6001);
	assert_int_equal(call->reply.length, LARGE + 6004);
	/* The test's result has no offset: it comes last. */
	assert_memory_equal(call->reply.stream, reply->message.stream, LARGE);
	assert_memory_equal((const uint8_t *)call->reply.stream + LARGE, reply->items[0].data, 6001);
	assert_int_equal(world->client->counters.registrations, 1);
	end(world);
}

/* Row B14: "a cancelled call does not cost the connection". Events take their time, in any order, so that a
 * call is cancelled anywhere on its way. */
static void
row_B14_cancelling_at_random_never_costs_the_connection(void **state)
{
	enum { CALLS = 8 };
	struct rr_engine_config config = rr_engine_config_default;
	struct rr_fault_script script;
	struct world *world;
	struct call *calls[CALLS] = { NULL };
	struct rr_text text;
	unsigned seed = 1;

	(void)state;
	assert_int_equal(
		rr_fault_parse("random seed=7 rate=0.5 delay=5ms kinds=delay,reorder", &script, &text), 0);
	config.fault = &script;
	config.provided_max = 64;
	world = world_listening(&config);
	world_connect(world);
	while (!world->client_connected || !world->server_connected)
		pass_time(world);
	agree(world);
	world->answer = answer_with_size;
	reply_size = 20000;
	for (uint32_t xid = 2; xid < 1000; xid++) {
		struct call **call = &calls[xid % CALLS];

		if (*call && !(*call)->done)
			rr_carrier_cancel(world->client, &(*call)->transaction);
		*call = call_new(world, xid, 40);
		(*call)->transaction.reply_max = RPCRDMA_XDR_UNBOUNDED;
		call_start(world, *call);
		seed = seed * 1664525 + 1013904223;
		for (unsigned turns = seed >> 30; turns > 0; turns--)
			pass_time(world);
		assert_false(world->client_closed);
	}
	for (int i = 0; i < CALLS; i++) {
		while (!calls[i]->done)
			pass_time(world);
		assert_int_equal(calls[i]->error, 0);
	}
	while (world_negotiated(world->server).provided > 0)
		pass_time(world);
	assert_int_equal(world->server->counters.provided_timeouts, 0);
	assert_int_equal(world->client->counters.done_sent, world->server->counters.provided_replies);
	assert_int_equal(world->server->counters.done_received, world->server->counters.provided_replies);
	assert_int_equal(world->server->counters.done_unmatched, 0);
	assert_int_equal(world->server->counters.errors_sent, 0);
	assert_true(world->server->counters.provided_replies > world->client->counters.provided_replies);
	assert_true(world->client->counters.provided_replies > 0);
	end(world);
}

/* A pull that fails because its RDMA Read does: that is fatal to the connection (RFC 8166, 4.5.3), and
 * nothing stays exposed. */
static void
pull_under(const char *faults)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct rr_fault_script script;
	struct world *world;
	struct rr_text text;
	struct call *call;

	assert_int_equal(rr_fault_parse(faults, &script, &text), 0);
	config.fault = &script;
	world = begin(&config);
	world->answer = answer_with_size;
	reply_size = LARGE;
	call = call_begin(world, 2, 40);
	world_until(world, world->client_closed && world->server_closed);
	assert_true(call->done && call->error < 0);
	assert_int_equal(world->sent, 1);
	assert_int_equal(world_negotiated(world->server).provided, 0);
	assert_int_equal(world->engine->provided_octets, 0);
	world_free(world);
}

static void
row_B14_a_failed_pull_leaves_nothing_exposed(void **state)
{
	(void)state;
	pull_under("fail read 1");
	pull_under("drop read 1");
	/* The completions of two Sends of each side come first, and the one of that which names the chunk. */
	pull_under("fail complete 5");
	pull_under("flush complete 5");
}

/* RFC 8167, 5.3: "When chunks are not implemented, RPC messages in the reverse direction are always sent
 * using a Short Message". */
static void
row_B14_the_reverse_direction_has_none(void **state)
{
	struct world *world = world_new(NULL);
	struct call *call = call_new(world, 2, 40);

	(void)state;
	world_hear(world);
	agree(world);
	world->answer = answer_with_size;
	reply_size = LARGE;
	rr_carrier_call(world->server, &call->transaction);
	call_ended(call, -RPCRDMA_ERR_CHUNK);
	assert_int_equal(world->client->counters.provided_replies, 0);
	end(world);
}

/* "until_..." the owner wants the connection ended in good order: the reply is not there before it was
 * pulled. */
static void
row_B14_a_connection_that_is_shut_down_waits_for_the_pull(void **state)
{
	struct world *world = begin(NULL);
	struct call *call = call_new(world, 2, 40);

	(void)state;
	world->answer = NULL;
	call_start(world, call);
	world_until(world, world->call_count > 0);
	rr_carrier_shutdown(world->server);
	reply_size = 1 << 20;
	answer_with_size(world, world_next_call(world));
	world_until(world, world->client_closed && world->server_closed);
	assert_true(call->done);
	assert_int_equal(call->error, 0);
	assert_int_equal(world->server->counters.done_received, 1);
	world_free(world);
}

static void
row_B14_the_room_that_an_exchange_has_is_that_of_a_read_chunk(void **state)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct world *world;
	struct call *call;

	(void)state;
	config.provided_octets = 50000;
	world = begin(&config);
	world->answer = NULL;
	call = call_begin(world, 2, 40);
	world_until(world, world->call_count > 0);
	assert_int_equal(world->calls[0]->stream_room, 50000);
	reply_size = 50000;
	answer_with_size(world, world_next_call(world));
	call_answered(call);
	end(world);
}

/* Who must not use them gets and offers Reply chunks. */
static void
row_B14_who_does_not_announce_them_has_reply_chunks(void **state)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct world *world;

	(void)state;
	config.read_chunks = false;
	world = world_new(&config);
	world->answer = answer_with_size;
	reply_size = LARGE;
	for (uint32_t xid = 1; xid < 4; xid++) {
		struct call *call = call_new(world, xid, 40);

		call->transaction.reply_max = LARGE;
		call_start(world, call);
		call_answered(call);
		world_settle(world);
	}
	assert_false(world_negotiated(world->client).read_chunks);
	assert_int_equal(world->client->counters.long_replies, 3);
	end(world);
}

/* 5.3.1, between two of ours: the first call is sent before anything is announced. */
static void
row_B14_the_policy_says_who_conveys_a_large_reply(void **state)
{
	static const uint64_t provided[] = {
		[RR_REPLY_CHUNKS_AUTO] = 1, [RR_REPLY_CHUNKS_ALWAYS] = 0, [RR_REPLY_CHUNKS_NEVER] = 2
	};

	(void)state;
	for (uint32_t policy = RR_REPLY_CHUNKS_AUTO; policy <= RR_REPLY_CHUNKS_NEVER; policy++) {
		struct rr_engine_config config = rr_engine_config_default;
		struct world *world;

		config.reply_chunks = (enum rr_reply_chunks)policy;
		world = begin(&config);
		world->answer = answer_with_size;
		reply_size = LARGE;
		for (uint32_t xid = 2; xid < 4; xid++) {
			struct call *call = call_new(world, xid, 40);

			call->transaction.reply_max = LARGE;
			call->transaction.reply_min = xid == 2 ? 24 : LARGE;
			call_start(world, call);
			call_answered(call);
		}
		assert_int_equal(world->client->counters.provided_replies, provided[policy]);
		assert_int_equal(world->client->counters.replies_left, provided[policy]);
		assert_int_equal(world->client->counters.long_replies, 2 - provided[policy]);
		end(world);
	}
}

/* ---- Our responder, a raw requester ---- */

/* Tells its properties, and is told ours. */
static void
announce(struct raw *raw, uint32_t read_chunks)
{
	SEND(raw, 7, 2, 16, RR_RDMA_OPTIONAL, CONNPROP(4096, RR_REVERSE_INLINE, read_chunks, 1));
	assert_int_equal(word(raw_next(raw), 4), RR_CONNPROP);
	assert_int_equal(world_negotiated(raw->world->server).read_chunks, read_chunks);
}

static struct raw *
call_us(const struct rr_engine_config *config)
{
	struct raw *raw = raw_new(world_listening(config));

	reply_size = LARGE;
	raw->world->answer = answer_with_size;
	raw_connect(raw);
	announce(raw, 1);
	return raw;
}

static void
end_raw(struct raw *raw)
{
	struct world *world = raw->world;

	raw_free(raw);
	world_settle(world);
	assert_int_equal(world->engine->provided_octets, 0);
	world_free(world);
}

static struct raw_message *
ask(struct raw *raw, uint32_t xid, uint32_t version)
{
	SEND(raw, xid, version, 16, RR_RDMA_MSG, 0, 0, 0, xid, RR_CALL, 2);
	return raw_next(raw);
}

/* Asks, and is shown a Read chunk. */
static struct rr_segment
ask_for_chunk(struct raw *raw, uint32_t xid)
{
	struct raw_message *message = ask(raw, xid, 2);
	struct raw_header header;

	raw_parse(message, &header);
	assert_int_equal(header.fixed.xid, xid);
	assert_int_equal(header.fixed.proc, RR_RDMA_NOMSG);
	assert_int_equal(header.lists.read_count, 1);
	assert_int_equal(header.reads[0].position, 0);
	assert_int_equal(header.reads[0].target.length, reply_size);
	assert_int_equal(header.body_length, 0);
	return header.reads[0].target;
}

static void
assert_refused(struct raw *raw, uint32_t xid, uint32_t version)
{
	struct raw_message *message = ask(raw, xid, version);

	assert_int_equal(word(message, 0), xid);
	assert_int_equal(word(message, 3), RR_RDMA_ERROR);
	assert_int_equal(word(message, 4), version == 1 ? (int)RR_ERR_CHUNK : (int)RR_ERR_BAD_HEADER);
}

static void
notify(struct raw *raw, uint32_t xid)
{
	SEND(raw, xid, 2, 16, RR_RDMA_DONE);
	world_settle(raw->world);
}

static uint32_t
exposed(const struct raw *raw)
{
	return world_negotiated(raw->world->server).provided;
}

/* 4.1.1: "A responder MUST send a Position Zero Read chunk when the actual size of the RPC Reply's Payload
 * stream exceeds all requester-provided reply resources". */
static void
row_B14_a_large_reply_is_exposed_until_it_was_pulled(void **state)
{
	struct raw *raw = call_us(NULL);
	struct rr_segment chunk = ask_for_chunk(raw, 7);
	uint8_t data[LARGE];

	(void)state;
	assert_int_equal(raw_rdma(raw, RR_WORK_READ, data, LARGE, chunk.handle, chunk.offset), 0);
	assert_octets(&(struct rpcrdma_message){ .stream = data, .length = LARGE }, 7, LARGE);
	assert_int_equal(raw->world->sent, 0);
	assert_int_equal(exposed(raw), 1);
	notify(raw, 7);
	assert_int_equal(raw->world->sent, 1);
	assert_int_equal(exposed(raw), 0);
	/* It is invalid from now on. */
	assert_true(raw_rdma(raw, RR_WORK_READ, data, LARGE, chunk.handle, chunk.offset) < 0);
	end_raw(raw);
}

/* 7: "exposed for read-only access". */
static void
row_B14_nothing_can_be_written_to_it(void **state)
{
	struct raw *raw = call_us(NULL);
	struct rr_segment chunk = ask_for_chunk(raw, 7);
	uint8_t data[4] = { 0 };

	(void)state;
	assert_true(raw_rdma(raw, RR_WORK_WRITE, data, 4, chunk.handle, chunk.offset) < 0);
	assert_true(raw->disconnected);
	world_until(raw->world, raw->world->sent == 1);
	end_raw(raw);
}

/* 4.1.3: "To prevent exhaustion of responder resources, a responder can choose to invalidate its Read chunks
 * after waiting for a short period." */
static void
row_B14_who_never_sends_done_is_shown_no_more_than_the_bound(void **state)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct raw *raw;

	(void)state;
	config.provided_max = 3;
	raw = call_us(&config);
	for (uint32_t xid = 1; xid <= 3; xid++)
		ask_for_chunk(raw, xid);
	assert_refused(raw, 4, 2);
	assert_int_equal(exposed(raw), 3);
	assert_int_equal(raw->world->engine->provided_octets, 3 * LARGE);
	assert_int_equal(raw->world->server->counters.provided_refused, 1);
	world_pass(raw->world, RR_PROVIDED_TIMEOUT - 1);
	assert_int_equal(exposed(raw), 3);
	world_pass(raw->world, 1);
	assert_int_equal(exposed(raw), 0);
	assert_int_equal(raw->world->server->counters.provided_timeouts, 3);
	assert_int_equal(raw->world->engine->provided_octets, 0);
	assert_int_equal(raw->world->sent, 4); /* the memory is its owner's again */
	/* Their RDMA_DONE may still come; until then there is no Receive for a fourth. */
	assert_refused(raw, 5, 2);
	notify(raw, 2);
	ask_for_chunk(raw, 6);
	assert_refused(raw, 7, 2);
	assert_int_equal(world_negotiated(raw->world->server).provided_peak, 3);
	end_raw(raw);
}

static void
row_B14_octets_are_bounded_too(void **state)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct raw *raw;

	(void)state;
	config.provided_octets = 2 * LARGE + 1;
	raw = call_us(&config);
	ask_for_chunk(raw, 1);
	ask_for_chunk(raw, 2);
	assert_refused(raw, 3, 2);
	reply_size = 100;
	assert_int_equal(word(ask(raw, 4, 2), 3), RR_RDMA_MSG);
	reply_size = LARGE;
	notify(raw, 1);
	ask_for_chunk(raw, 5);
	assert_refused(raw, 6, 2);
	end_raw(raw);
}

/* "If the requester attempts additional RDMA Read operations against that Read chunk, a remote access error
 * occurs and the connection is lost." */
static void
row_B14_nothing_can_be_read_after_the_timeout(void **state)
{
	struct raw *raw = call_us(NULL);
	struct rr_segment chunk = ask_for_chunk(raw, 1);
	uint8_t data[4];

	(void)state;
	assert_int_equal(raw_rdma(raw, RR_WORK_READ, data, 4, chunk.handle, chunk.offset), 0);
	world_pass(raw->world, RR_PROVIDED_TIMEOUT);
	assert_true(raw_rdma(raw, RR_WORK_READ, data, 4, chunk.handle, chunk.offset) < 0);
	assert_true(raw->disconnected);
	end_raw(raw);
}

/* What the timeout allows grows with what is to be pulled. */
static void
row_B14_a_large_one_has_more_time(void **state)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct raw *raw;

	(void)state;
	config.message_max = 4 << 20;
	raw = call_us(&config);
	reply_size = 3 << 20;
	ask_for_chunk(raw, 1);
	world_pass(raw->world, RR_PROVIDED_TIMEOUT + 3 * RR_SECOND - 1);
	assert_int_equal(exposed(raw), 1);
	world_pass(raw->world, 1);
	assert_int_equal(exposed(raw), 0);
	end_raw(raw);
}

/* 4.1.3: "Whenever a responder receives a pull completion notification for an XID for which there is no Read
 * chunk waiting to be invalidated, the responder MUST silently drop the notification." */
static void
row_B14_unmatched_notifications_are_dropped_silently(void **state)
{
	struct raw *raw = call_us(NULL);
	struct rr_counters *counters = &raw->world->server->counters;

	(void)state;
	ask_for_chunk(raw, 1);
	notify(raw, 2); /* a stranger */
	assert_int_equal(exposed(raw), 1);
	notify(raw, 1);
	notify(raw, 1); /* a duplicate */
	assert_int_equal(counters->done_unmatched, 2);
	ask_for_chunk(raw, 3);
	world_pass(raw->world, RR_PROVIDED_TIMEOUT);
	notify(raw, 3); /* after the timeout */
	notify(raw, 3);
	assert_int_equal(counters->done_unmatched, 3);
	assert_int_equal(counters->done_received, 5);
	SEND(raw, 4, 2, 16, RR_RDMA_DONE, 0); /* more than an RDMA_DONE */
	world_settle(raw->world);
	assert_int_equal(counters->done_received, 5);
	assert_int_equal(raw->message_count, 0);
	assert_false(raw->disconnected);
	ask_for_chunk(raw, 4);
	end_raw(raw);
}

/* The agreed account of credits: an RDMA_DONE takes the Receive that was posted with its chunk, and no other.
 */
static void
row_B14_receives_are_exactly_those_that_were_promised(void **state)
{
	enum { CREDITS = 4, ALL = CREDITS + RR_REVERSE_CREDITS + 2 };
	struct rr_engine_config config = rr_engine_config_default;
	struct raw *raw;

	(void)state;
	config.credits = CREDITS;
	raw = call_us(&config);
	for (uint32_t xid = 1; xid <= 10; xid++) {
		ask_for_chunk(raw, xid);
		notify(raw, xid);
	}
	for (uint32_t i = 0; i < 2 * ALL; i++)
		notify(raw, 1000 + i);
	ask_for_chunk(raw, 11);
	world_pass(raw->world, RR_PROVIDED_TIMEOUT);
	notify(raw, 11);
	assert_false(raw->disconnected);
	/* None of these is answered, so none of their Receives comes back. */
	raw->world->answer = NULL;
	for (uint32_t i = 0; i < ALL; i++)
		SEND(raw, 100 + i, 2, 16, RR_RDMA_MSG, 0, 0, 0, 100 + i, RR_CALL, 2);
	world_settle(raw->world);
	assert_int_equal(raw->world->call_count, ALL);
	assert_false(raw->disconnected);
	SEND(raw, 99, 2, 16, RR_RDMA_MSG, 0, 0, 0, 99, RR_CALL, 2);
	world_until(raw->world, raw->disconnected);
	end_raw(raw);
}

/* 4.1.4: "If Remote Invalidation support is indicated by both peers, messages carrying pull completion
 * messages SHOULD be transmitted using RDMA Send With Invalidate." */
static void
row_B14_a_notification_may_invalidate(void **state)
{
	struct raw *raw = call_us(NULL);
	const uint64_t *count = &raw->world->server->counters.remote_invalidations;
	struct rr_segment chunk = ask_for_chunk(raw, 1);

	(void)state;
	raw_send_words(raw, WORDS(1, 2, 16, RR_RDMA_DONE), chunk.handle);
	world_settle(raw->world);
	assert_int_equal(*count, 1);
	assert_int_equal(exposed(raw), 0);
	/* Also when the responder has given up waiting. */
	chunk = ask_for_chunk(raw, 2);
	world_pass(raw->world, RR_PROVIDED_TIMEOUT);
	assert_int_equal(exposed(raw), 0);
	raw_send_words(raw, WORDS(2, 2, 16, RR_RDMA_DONE), chunk.handle);
	world_settle(raw->world);
	assert_int_equal(*count, 2);
	assert_false(raw->disconnected);
	/* But no handle of another reply. */
	ask_for_chunk(raw, 3);
	chunk = ask_for_chunk(raw, 4);
	raw_send_words(raw, WORDS(3, 2, 16, RR_RDMA_DONE), chunk.handle);
	world_until(raw->world, raw->world->server_closed);
	assert_int_equal(raw->world->server_error, -RPCRDMA_ERR_PEER);
	end_raw(raw);
}

/* 5.4.3: "Explicitly invalidating waiting Read chunks after a connection loss". */
static void
row_B14_disconnecting_releases_what_was_kept(void **state)
{
	struct raw *raw = call_us(NULL);
	struct world *world = raw->world;

	(void)state;
	ask_for_chunk(raw, 1);
	ask_for_chunk(raw, 2);
	rr_endpoint_disconnect(raw->endpoint);
	world_until(world, world->server_closed && world->sent == 2);
	assert_int_equal(exposed(raw), 0);
	end_raw(raw);
}

static void
row_B14_closing_releases_what_was_kept(void **state)
{
	struct raw *raw = call_us(NULL);
	struct world *world = raw->world;

	(void)state;
	ask_for_chunk(raw, 1);
	ask_for_chunk(raw, 2);
	world_close_server(world);
	assert_int_equal(world->sent, 0); /* not from inside */
	world_until(world, world->sent == 2);
	end_raw(raw);
}

/* 6: "responder-provided Read chunks MUST be used only when both peers support them". 4.1.1: else it "MUST
 * return an appropriate permanent transport error". */
static void
row_B14_a_peer_without_an_announcement_never_sees_one(void **state)
{
	struct raw *raw = call_us(NULL);

	(void)state;
	assert_refused(raw, 1, 1); /* version 1 has none */
	ask_for_chunk(raw, 2);
	notify(raw, 2);
	raw_connect(raw); /* another connection, on which nothing is announced */
	assert_refused(raw, 3, 2);
	assert_refused(raw, 4, 1);
	announce(raw, 0); /* but the rest */
	assert_refused(raw, 5, 2);
	end_raw(raw);
}

int
suite_provided(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(row_B14_a_reply_of_64_MiB_that_nobody_estimated_arrives),
		cmocka_unit_test(row_B14_results_still_go_into_write_chunks),
		cmocka_unit_test(row_B14_cancelling_at_random_never_costs_the_connection),
		cmocka_unit_test(row_B14_a_failed_pull_leaves_nothing_exposed),
		cmocka_unit_test(row_B14_the_reverse_direction_has_none),
		cmocka_unit_test(row_B14_a_connection_that_is_shut_down_waits_for_the_pull),
		cmocka_unit_test(row_B14_the_room_that_an_exchange_has_is_that_of_a_read_chunk),
		cmocka_unit_test(row_B14_who_does_not_announce_them_has_reply_chunks),
		cmocka_unit_test(row_B14_the_policy_says_who_conveys_a_large_reply),
		cmocka_unit_test(row_B14_a_large_reply_is_exposed_until_it_was_pulled),
		cmocka_unit_test(row_B14_nothing_can_be_written_to_it),
		cmocka_unit_test(row_B14_who_never_sends_done_is_shown_no_more_than_the_bound),
		cmocka_unit_test(row_B14_octets_are_bounded_too),
		cmocka_unit_test(row_B14_nothing_can_be_read_after_the_timeout),
		cmocka_unit_test(row_B14_a_large_one_has_more_time),
		cmocka_unit_test(row_B14_unmatched_notifications_are_dropped_silently),
		cmocka_unit_test(row_B14_receives_are_exactly_those_that_were_promised),
		cmocka_unit_test(row_B14_a_notification_may_invalidate),
		cmocka_unit_test(row_B14_disconnecting_releases_what_was_kept),
		cmocka_unit_test(row_B14_closing_releases_what_was_kept),
		cmocka_unit_test(row_B14_a_peer_without_an_announcement_never_sees_one),
	};

	return cmocka_run_group_tests_name("provided", tests, world_speak_both, world_speak_version_1);
}
