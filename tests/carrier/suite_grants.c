/* SPDX-License-Identifier: BSD-3-Clause */
/* The credits that this responder grants, the handles that it invalidates, its memory, and the thresholds
 * that it keeps. */
#include "suite.h"

#include "raw.h"

enum { XID = 0x77, ASKED = 16 };

/* ---- Credits ---- */

/* RFC 8166, 3.3.1: "The granted value MUST NOT be zero, since such a value would result in deadlock." */
static void
row_B1_the_grant_is_what_is_posted_and_not_more_than_asked(void **state)
{
	struct raw *raw = raw_requester(NULL);

	(void)state;
	raw->world->answer = answer_small;
	SEND(raw, XID, 1, 5, RR_RDMA_MSG, 0, 0, 0, XID, 0);
	assert_int_equal(word(raw_next(raw), 2), 5);
	SEND(raw, XID, 1, 1000, RR_RDMA_MSG, 0, 0, 0, XID, 0);
	assert_int_equal(word(raw_next(raw), 2), 64);
	SEND(raw, XID, 1, 0, RR_RDMA_MSG, 0, 0, 0, XID, 0);
	assert_int_equal(word(raw_next(raw), 2), 1);
	raw_end(raw);
}

/* B1: all credits that were granted can be used, again and again: no Send meets an empty Receive queue.
 * RFC 8166, 3.3.1: "The Responder MUST ensure that an increase in receive resources is effected before the
 * next RPC Reply message is sent." */
static void
row_B1_all_that_was_granted_can_be_used(void **state)
{
	struct raw *raw = raw_requester(NULL);
	struct world *world = raw->world;

	(void)state;
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < 64; i++)
			SEND(raw, i, 1, 64, RR_RDMA_MSG, 0, 0, 0, i, 0);
		world_until(world, world->call_count == 64);
		while (world->call_count > 32) {
			rr_exchange_drop(world_next_call(world));
			answer_small(world, world_next_call(world));
		}
		while (world->call_count > 0)
			answer_small(world, world_next_call(world));
		world_settle(world);
		assert_int_equal(raw->message_count, 48);
		raw->message_count = 0;
		assert_false(raw->disconnected);
		world_forget(world);
	}
	raw_end(raw);
}

/* ---- Remote invalidation ---- */

/* RFC 8797, 4.1: "MUST invalidate an STag associated only with the Transaction ID (XID)" */
static void
row_B10_a_handle_of_the_call_is_invalidated_if_both_want(void **state)
{
	struct raw *raw = raw_requester(NULL);
	struct rpcrdma_negotiated negotiated;
	uint8_t memory[300];
	struct rr_region read = raw_register(raw, memory, 100, RR_REMOTE_READ);
	struct rr_region write = raw_register(raw, memory + 100, 100, RR_REMOTE_WRITE);
	struct rr_region pad = raw_register(raw, memory + 200, 4, RR_REMOTE_WRITE);
	struct raw_message *message;

	(void)state;
	raw->world->answer = answer_small;
	rr_carrier_negotiated(raw->world->server, &negotiated);
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 0, 0, 0, XID, 0);
	assert_false(raw_next(raw)->invalidated);
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 1, 8, SEGMENT(read), 0, 1, 2, SEGMENT(write), SEGMENT(pad), 0,
		0, XID, 0);
	message = raw_next(raw);
	assert_int_equal(message->invalidated, negotiated.remote_invalidation);
	if (message->invalidated)
		assert_int_equal(message->handle, write.handle);
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 1, 8, SEGMENT(read), 0, 0, 0, XID, 0);
	message = raw_next(raw);
	if (message->invalidated)
		assert_int_equal(message->handle, read.handle);
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 0, 1, 0, 1, 1, SEGMENT(pad), 0, 0, XID, 0);
	message = raw_next(raw);
	assert_int_equal(message->invalidated, negotiated.remote_invalidation);
	if (message->invalidated)
		assert_int_equal(message->handle, pad.handle);
	/* An error is answered by a plain Send. */
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 1, 80, SEGMENT(read), 0, 0, 0, XID, 0);
	assert_false(raw_next(raw)->invalidated);
	raw_end(raw);
}

/* RFC 8797, 4.1: "When either peer on a connection clears this flag, the responder MUST use only RDMA
 * Send". */
static void
row_B10_nothing_is_invalidated_where_the_peer_does_not_want_it(void **state)
{
	struct raw *raw = raw_requester_uninvalidated(NULL);
	uint8_t memory[100];
	struct rr_region read;

	(void)state;
	read = raw_register(raw, memory, 100, RR_REMOTE_READ);
	raw->world->answer = answer_small;
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 1, 8, SEGMENT(read), 0, 0, 0, XID, 0);
	assert_false(raw_next(raw)->invalidated);
	raw_end(raw);
}

/* ---- Thresholds ---- */

/* RFC 8797, 5.1: without private data "the peer MUST behave as if" sizes of 1024 were received. RFC
 * 8166, 3.3.3: "In the absence of such a mechanism, senders and receives MUST assume the inline thresholds
 * are 1024 bytes." */
static void
row_B2_a_peer_without_private_data_gets_1024(void **state)
{
	struct raw *raw = raw_new(world_listening(NULL));
	struct world *world = raw->world;

	(void)state;
	raw->private_size = 0;
	raw_connect(raw);
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 0, 0, 0, XID, 0);
	world_until(world, world->call_count == 1);
	assert_int_equal(world->calls[0]->stream_room, 996);
	reply_send(world, world_next_call(world), reply_new(world, XID, 996));
	assert_int_equal(raw_next(raw)->length, 1024);
	SEND(raw, XID, 1, ASKED, RR_RDMA_MSG, 0, 0, 0, XID, 0);
	reply_send(world, world_one_call(world), reply_new(world, XID, 1000));
	assert_int_equal(word(raw_next(raw), 3), RR_RDMA_ERROR);
	raw_end(raw);
}

/* ---- Memory ---- */

/* A call without memory waits, and does not hold up other calls. */
static void
row_B11_calls_wait_for_memory_and_go_on(void **state)
{
	struct rr_engine_config config = rr_engine_config_default;
	uint8_t data[60000];
	struct rr_region region;
	struct world *world;
	struct raw *raw;

	(void)state;
	config.memory_max = 1 << 20;
	raw = raw_requester_uninvalidated(&config);
	world = raw->world;
	region = raw_register(raw, data, sizeof(data), RR_REMOTE_READ);
	for (uint32_t i = 0; i < 5; i++)
		SEND(raw, i, 1, ASKED, RR_RDMA_MSG, 1, 8, SEGMENT(region), 0, 0, 0, i, 0);
	world_until(world, world->call_count == 3);
	world_settle(world);
	assert_int_equal(world->call_count, 3);
	SEND(raw, 99, 1, ASKED, RR_RDMA_MSG, 0, 0, 0, 99, 0);
	world_until(world, world->call_count == 4);
	assert_int_equal(world->calls[3]->xid, 99);
	for (uint32_t i = 0; i < 6; i++) {
		world_until(world, world->call_count > 0);
		answer_small(world, world_next_call(world));
		raw_next(raw);
	}
	assert_true(rr_pool_peak(world->stage.engine->arrivals) <= config.memory_max / 2);
	raw_end(raw);
}

static void
waiting_calls_are_forgotten_with_their_connection(void **state)
{
	struct rr_engine_config config = rr_engine_config_default;
	uint8_t data[60000];
	struct rr_region region;
	struct raw *raw;

	(void)state;
	config.memory_max = 128 << 10;
	raw = raw_requester(&config);
	region = raw_register(raw, data, sizeof(data), RR_REMOTE_READ);
	for (uint32_t i = 0; i < 5; i++)
		SEND(raw, i, 1, ASKED, RR_RDMA_MSG, 1, 8, SEGMENT(region), 0, 0, 0, i, 0);
	world_until(raw->world, raw->world->call_count == 1);
	rr_endpoint_close(raw->endpoint);
	raw->endpoint = NULL;
	world_until(raw->world, raw->world->server_closed);
	answer_small(raw->world,
		world_next_call(raw->world)); /* the connection is gone, and the answer goes nowhere */
	world_settle(raw->world);
	assert_int_equal(raw->world->sent, 1);
	raw_end(raw);
}

int
suite_grants(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(row_B1_the_grant_is_what_is_posted_and_not_more_than_asked),
		cmocka_unit_test(row_B1_all_that_was_granted_can_be_used),
		cmocka_unit_test(row_B10_a_handle_of_the_call_is_invalidated_if_both_want),
		cmocka_unit_test(row_B10_nothing_is_invalidated_where_the_peer_does_not_want_it),
		cmocka_unit_test(row_B2_a_peer_without_private_data_gets_1024),
		cmocka_unit_test(row_B11_calls_wait_for_memory_and_go_on),
		cmocka_unit_test(waiting_calls_are_forgotten_with_their_connection),
	};

	return cmocka_run_group_tests_name("grants", tests, NULL, NULL);
}
