/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include "carrier/rdma/core/connection.h"
#include "carrier/rdma/core/room.h"
#include "carrier/rdma/responder/provided.h"
#include "raw.h"
#include "wire/rpc.h"

/*
 * Row B14: responder-provided Read chunks at the responder, with a raw requester. Citations are of
 * draft-cel-nfsv4-rpcrdma-reliable-reply-02.
 */

enum { LARGE = 9004 }; /* no multiple of eight */

/* Announces the properties of the raw peer, and takes those of the world's server. */
static void
announce(struct raw *raw, uint32_t read_chunks)
{
	SEND(raw, 7, 2, 16, RR_RDMA_OPTIONAL, CONNPROP(4096, RR_REVERSE_INLINE, read_chunks, 1));
	assert_int_equal(word(raw_next(raw), 4), RR_CONNPROP);
	assert_int_equal(world_negotiated(raw->world->server).read_chunks, read_chunks);
}

/* Connects to a server whose replies are too large to be sent inline, and announces that memory may be
 * provided. */
static struct raw *
call_us(const struct rr_engine_config *config)
{
	struct raw *raw = raw_new(world_listening(config));

	raw->world->reply_size = LARGE;
	raw->world->answer = answer_with_size;
	raw_connect(raw);
	announce(raw, 1);
	return raw;
}

/* Ends the connection and frees the world; the engine provides no memory any more. */
static void
end_raw(struct raw *raw)
{
	struct world *world = raw->world;

	raw_free(raw);
	world_settle(world);
	assert_int_equal(rr_room_in(world->stage.engine)->provided_octets, 0);
	world_free(world);
}

static struct raw_message *
ask(struct raw *raw, uint32_t xid, uint32_t version)
{
	SEND(raw, xid, version, 16, RR_RDMA_MSG, 0, 0, 0, xid, RR_CALL, 2);
	return raw_next(raw);
}

/* Makes a call whose reply is exposed in a Read chunk, and returns the chunk. */
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
	assert_int_equal(header.reads[0].target.length, raw->world->reply_size);
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
	assert_reply_octets(&(struct rpcrdma_message){ .stream = data, .length = LARGE }, 7, LARGE);
	assert_int_equal(raw->world->sent, 0);
	assert_int_equal(exposed(raw), 1);
	notify(raw, 7);
	assert_int_equal(raw->world->sent, 1);
	assert_int_equal(exposed(raw), 0);
	/* The chunk is invalid from now on. */
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
	assert_int_equal(rr_room_in(raw->world->stage.engine)->provided_octets, 3 * LARGE);
	assert_int_equal(raw->world->server->counters.provided_refused, 1);
	world_pass(raw->world, RR_PROVIDED_TIMEOUT - 1);
	assert_int_equal(exposed(raw), 3);
	world_pass(raw->world, 1);
	assert_int_equal(exposed(raw), 0);
	assert_int_equal(raw->world->server->counters.provided_timeouts, 3);
	assert_int_equal(rr_room_in(raw->world->stage.engine)->provided_octets, 0);
	assert_int_equal(raw->world->sent, 4); /* the memory belongs to its owner again */
	/* The RDMA_DONEs may still come; until then there is no Receive for a fourth chunk. */
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
	raw->world->reply_size = 100;
	assert_int_equal(word(ask(raw, 4, 2), 3), RR_RDMA_MSG);
	raw->world->reply_size = LARGE;
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

/* The timeout grows with the octets that are to be pulled. */
static void
row_B14_a_large_one_has_more_time(void **state)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct raw *raw;

	(void)state;
	config.message_max = 4 << 20;
	raw = call_us(&config);
	raw->world->reply_size = 3 << 20;
	ask_for_chunk(raw, 1);
	world_pass(raw->world, RR_PROVIDED_TIMEOUT + 3 * RR_SECOND - 1);
	assert_int_equal(exposed(raw), 1);
	world_pass(raw->world, 1);
	assert_int_equal(exposed(raw), 0);
	end_raw(raw);
}

/* Another connection that waits for memory, and memory of the pool that the world's server holds. */
struct pressure {
	struct rr_party *party;
	struct rr_pool_waiter waiter;
	void *held;
};

static bool
pressure_is_awaited(void *ctx)
{
	(void)ctx;
	return false;
}

static void
pressure_ends(void *ctx, const char *why)
{
	(void)why;
	(void)ctx;
}

static void
pressure_woken(struct rr_pool_waiter *waiter)
{
	(void)waiter;
}

/* Takes all memory for results in the name of the world's connection, and lets another connection wait for
 * some. */
static void
pressure_begin(struct pressure *pressure, struct world *world)
{
	static const struct rr_party_ops ops = { .is_awaited = pressure_is_awaited, .cut = pressure_ends };
	struct rr_pool *pool = world->stage.engine->results;
	size_t all = rr_engine_pool_max(&world->stage.engine->config);

	*pressure = (struct pressure){ .waiter.wake = pressure_woken };
	rr_list_init(&pressure->waiter.link);
	pressure->held = rr_pool_get(pool, world->server->party, all);
	pressure->party = rr_party_new(&world->stage.engine->shares, "192.0.2.9:1", &ops, pressure);
	assert_non_null(pressure->held);
	assert_non_null(pressure->party);
	assert_null(rr_pool_get(pool, pressure->party, 4096));
	rr_pool_wait(pool, pressure->party, &pressure->waiter);
}

static void
pressure_end(struct pressure *pressure, struct world *world)
{
	rr_list_remove(&pressure->waiter.link);
	rr_pool_put(world->stage.engine->results, pressure->held);
	rr_party_end(pressure->party, pressure);
}

/* A peer that pulls nothing is cut off, as a peer is that takes no Writes. */
static void
row_B14_a_peer_that_does_not_pull_while_others_wait_for_memory_is_cut_off(void **state)
{
	struct raw *raw = call_us(NULL);
	struct world *world = raw->world;
	struct pressure pressure;

	(void)state;
	ask_for_chunk(raw, 1);
	world_pass(world, 5 * RR_SECOND);
	assert_int_equal(exposed(raw), 1); /* no other connection waits */
	notify(raw, 1);
	ask_for_chunk(raw, 2);
	pressure_begin(&pressure, world);
	for (uint64_t passed = 0; passed < 2 * RR_SHARE_LIMIT && !world->server_closed;
		passed += RR_SHARE_TICK)
		world_pass(world, RR_SHARE_TICK);
	assert_true(world->server_closed);
	assert_int_equal(world->server_error, -RPCRDMA_ERR_TIMEDOUT);
	assert_int_equal(world->sent, 2); /* the memory of the reply is free */
	pressure_end(&pressure, world);
	end_raw(raw);
}

/* 4.1.3: "Whenever a responder receives a pull completion notification for an XID for which there is no Read
 * chunk waiting to be invalidated, the responder MUST silently drop the notification." */
static void
row_B14_unmatched_notifications_are_dropped_silently(void **state)
{
	struct raw *raw = call_us(NULL);
	struct rpcrdma_counters *counters = &raw->world->server->counters;

	(void)state;
	ask_for_chunk(raw, 1);
	notify(raw, 2); /* an XID without a chunk */
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

/* The account of credits: an RDMA_DONE takes the Receive that was posted with its chunk, and no other
 * Receive. */
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
	/* These messages are not answered, so their Receives are not posted again. */
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
	/* A handle may be invalidated also when the responder has stopped waiting. */
	chunk = ask_for_chunk(raw, 2);
	world_pass(raw->world, RR_PROVIDED_TIMEOUT);
	assert_int_equal(exposed(raw), 0);
	raw_send_words(raw, WORDS(2, 2, 16, RR_RDMA_DONE), chunk.handle);
	world_settle(raw->world);
	assert_int_equal(*count, 2);
	assert_false(raw->disconnected);
	/* A handle of another reply must not be invalidated. */
	ask_for_chunk(raw, 3);
	chunk = ask_for_chunk(raw, 4);
	raw_send_words(raw, WORDS(3, 2, 16, RR_RDMA_DONE), chunk.handle);
	world_until(raw->world, raw->world->server_closed);
	assert_int_equal(raw->world->server_error, -RPCRDMA_ERR_PEER);
	end_raw(raw);
}

/* A requester may use an XID again while the first reply is still exposed. The handle that it invalidates
 * says which of the two replies it has pulled; without a handle, it is the last reply. */
static void
row_B14_two_replies_of_one_xid_are_told_apart(void **state)
{
	struct raw *raw = call_us(NULL);
	struct rr_segment first = ask_for_chunk(raw, 1), second = ask_for_chunk(raw, 1);
	uint8_t data[4];

	(void)state;
	notify(raw, 1);
	assert_int_equal(exposed(raw), 1);
	assert_int_equal(raw_rdma(raw, RR_WORK_READ, data, 4, first.handle, first.offset), 0);
	second = ask_for_chunk(raw, 1);
	raw_send_words(raw, WORDS(1, 2, 16, RR_RDMA_DONE), first.handle);
	world_settle(raw->world);
	assert_false(raw->disconnected);
	assert_int_equal(exposed(raw), 1);
	assert_int_equal(raw_rdma(raw, RR_WORK_READ, data, 4, second.handle, second.offset), 0);
	raw_send_words(raw, WORDS(1, 2, 16, RR_RDMA_DONE), second.handle);
	world_settle(raw->world);
	assert_int_equal(exposed(raw), 0);
	assert_false(raw->disconnected);
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
	assert_int_equal(world->sent, 0); /* sent() does not come from inside the function that closes */
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
	assert_refused(raw, 1, 1); /* version 1 has no such chunks */
	ask_for_chunk(raw, 2);
	notify(raw, 2);
	raw_connect(raw); /* another connection, on which no properties are announced */
	assert_refused(raw, 3, 2);
	assert_refused(raw, 4, 1);
	announce(raw, 0); /* all properties but this one */
	assert_refused(raw, 5, 2);
	end_raw(raw);
}

int
suite_provided(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(row_B14_a_large_reply_is_exposed_until_it_was_pulled),
		cmocka_unit_test(row_B14_nothing_can_be_written_to_it),
		cmocka_unit_test(row_B14_who_never_sends_done_is_shown_no_more_than_the_bound),
		cmocka_unit_test(row_B14_octets_are_bounded_too),
		cmocka_unit_test(row_B14_nothing_can_be_read_after_the_timeout),
		cmocka_unit_test(row_B14_a_large_one_has_more_time),
		cmocka_unit_test(row_B14_a_peer_that_does_not_pull_while_others_wait_for_memory_is_cut_off),
		cmocka_unit_test(row_B14_unmatched_notifications_are_dropped_silently),
		cmocka_unit_test(row_B14_receives_are_exactly_those_that_were_promised),
		cmocka_unit_test(row_B14_a_notification_may_invalidate),
		cmocka_unit_test(row_B14_two_replies_of_one_xid_are_told_apart),
		cmocka_unit_test(row_B14_disconnecting_releases_what_was_kept),
		cmocka_unit_test(row_B14_closing_releases_what_was_kept),
		cmocka_unit_test(row_B14_a_peer_without_an_announcement_never_sees_one),
	};

	return cmocka_run_group_tests_name("provided", tests, world_speak_both, world_speak_version_1);
}
