/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include "carrier/rdma/core/room.h"
#include "fabric/filter/fault.h"
#include "fabric/filter/script.h"

/* Row B14: responder-provided Read chunks between two sides of this project. Citations are of
 * draft-cel-nfsv4-rpcrdma-reliable-reply-02. */

enum { LARGE = 9004 }; /* no multiple of eight */

static void
pass_time(struct world *world)
{
	world->stage.now += RR_MILLISECOND;
	world_turn(world);
}

/* Turns until both sides have agreed on version 2 and announced Read chunks. */
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

/* Checks that no reply is kept and no side was disconnected, and ends the world. */
static void
end(struct world *world)
{
	world_settle(world);
	assert_false(world->client_closed);
	assert_int_equal(world_negotiated(world->server).provided, 0);
	assert_int_equal(rr_room_in(world->stage.engine)->provided_octets, 0);
	world_free(world);
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
	world->reply_size = 64 << 20;
	call = call_new(world, 2, 40);
	call->transaction.reply_max = RPCRDMA_XDR_UNBOUNDED;
	call_start(world, call);
	call_answered(call);
	assert_reply_octets(&call->reply, 2, 64 << 20);
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

/* Row B14: "a cancelled call does not cost the connection". Events come after random times, so that a call
 * is cancelled anywhere on its way. */
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
	config.filter = rr_fault_filter;
	config.filter_ctx = &script;
	config.provided_max = 64;
	world = world_listening(&config);
	world_connect(world);
	while (!world->client_connected || !world->server_connected)
		pass_time(world);
	agree(world);
	world->answer = answer_with_size;
	world->reply_size = 20000;
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

/* Has a pull fail because its RDMA Read fails: that is fatal to the connection (RFC 8166, 4.5.3), and no
 * reply stays exposed. */
static void
pull_under(const char *faults)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct rr_fault_script script;
	struct world *world;
	struct rr_text text;
	struct call *call;

	assert_int_equal(rr_fault_parse(faults, &script, &text), 0);
	config.filter = rr_fault_filter;
	config.filter_ctx = &script;
	world = begin(&config);
	world->answer = answer_with_size;
	world->reply_size = LARGE;
	call = call_begin(world, 2, 40);
	world_until(world, world->client_closed && world->server_closed);
	assert_true(call->done && call->error < 0);
	assert_int_equal(world->sent, 1);
	assert_int_equal(world_negotiated(world->server).provided, 0);
	assert_int_equal(rr_room_in(world->stage.engine)->provided_octets, 0);
	world_free(world);
}

static void
row_B14_a_failed_pull_leaves_nothing_exposed(void **state)
{
	(void)state;
	pull_under("fail read 1");
	pull_under("drop read 1");
	/* The completions of two Sends of each side come first, and that of the Send which names the
	 * chunk. */
	pull_under("fail complete 5");
	pull_under("flush complete 5");
}

/* RFC 8167, 5.3: "When chunks are not implemented, RPC messages in the reverse direction are always sent
 * using a Short Message". */
static void
row_B14_the_reverse_direction_has_none(void **state)
{
	struct world *world = world_new_hearing(NULL);
	struct call *call = call_new(world, 2, 40);

	(void)state;
	agree(world);
	world->answer = answer_with_size;
	world->reply_size = LARGE;
	rr_carrier_call(world->server, &call->transaction);
	call_ended(call, -RPCRDMA_ERR_CHUNK);
	assert_int_equal(world->client->counters.provided_replies, 0);
	end(world);
}

/* The owner wants the connection ended in good order: the reply has not arrived before it was pulled. */
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
	world->reply_size = 1 << 20;
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
	world->reply_size = 50000;
	answer_with_size(world, world_next_call(world));
	call_answered(call);
	end(world);
}

/* Makes a call whose reply may be large, and has at least reply_min octets. */
static void
call_for_large(struct world *world, uint32_t xid, uint32_t reply_min)
{
	struct call *call = call_new(world, xid, 40);

	call->transaction.reply_max = LARGE;
	call->transaction.reply_min = reply_min;
	call_start(world, call);
	call_answered(call);
}

/* A side that must not use such chunks gets and offers Reply chunks. */
static void
row_B14_who_does_not_announce_them_has_reply_chunks(void **state)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct world *world;

	(void)state;
	config.read_chunks = false;
	world = world_new(&config);
	world->answer = answer_with_size;
	world->reply_size = LARGE;
	for (uint32_t xid = 1; xid < 4; xid++) {
		call_for_large(world, xid, 0);
		world_settle(world);
	}
	assert_false(world_negotiated(world->client).read_chunks);
	assert_int_equal(world->client->counters.long_replies, 3);
	end(world);
}

/* 5.3.1, between two sides of this project: the first call is sent before properties are announced. */
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
		world->reply_size = LARGE;
		for (uint32_t xid = 2; xid < 4; xid++)
			call_for_large(world, xid, xid == 2 ? 24 : LARGE);
		assert_int_equal(world->client->counters.provided_replies, provided[policy]);
		assert_int_equal(world->client->counters.replies_left, provided[policy]);
		assert_int_equal(world->client->counters.long_replies, 2 - provided[policy]);
		end(world);
	}
}

int
suite_provided_pair(void)
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
	};

	return cmocka_run_group_tests_name("provided pair", tests, world_speak_both, world_speak_version_1);
}
