/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include "carrier/rdma/core/connection.h"
#include "raw.h"

/* Work requests of a responder whose endpoint has room for them, and has none: those that can be posted at
 * once overtake nothing, and none is posted without room. */

enum { ASKED = 16 };

static struct raw *
begin(void)
{
	return raw_requester(NULL);
}

/* Has the peer call with that XID, and returns the call. */
static struct rr_exchange *
called(struct raw *raw, uint32_t xid)
{
	SEND(raw, xid, 1, ASKED, RR_RDMA_MSG, 0, 0, 0, xid, 0, 2);
	return world_one_call(raw->world);
}

static void
a_reply_waits_for_room_and_for_those_before_it(void **state)
{
	struct raw *raw = begin();
	struct rr_exchange *first = called(raw, 1), *second = called(raw, 2);

	(void)state;
	world_stuff(raw->world->server, true);
	answer_small(raw->world, first);
	world_settle(raw->world);
	assert_int_equal(raw->message_count, 0);
	/* There is room again, but the first reply has not been posted yet. */
	world_stuff(raw->world->server, false);
	answer_small(raw->world, second);
	assert_int_equal(word(raw_next(raw), 0), 1);
	assert_int_equal(word(raw_next(raw), 0), 2);
	raw_end(raw);
}

static void
a_read_chunk_waits_for_room(void **state)
{
	struct raw *raw = begin();
	struct rr_connection *connection = rr_connection_of(raw->world->server);
	uint8_t data[64] = { 0 };
	struct rr_region region = raw_register(raw, data, sizeof(data), RR_REMOTE_READ);

	(void)state;
	world_stuff(raw->world->server, true);
	SEND(raw, 1, 1, ASKED, RR_RDMA_MSG, 1, 12, SEGMENT(region), 0, 0, 0, 1, 0, 64);
	world_settle(raw->world);
	assert_int_equal(connection->base.counters.rdma_reads, 0);
	/* The job that waits is posted when another work request is. */
	world_stuff(raw->world->server, false);
	SEND(raw, 2, 1, ASKED, RR_RDMA_MSG, 1, 12, SEGMENT(region), 0, 0, 0, 2, 0, 64);
	world_until(raw->world, raw->world->call_count == 2);
	assert_int_equal(connection->base.counters.rdma_reads, 2);
	answer_small(raw->world, world_next_call(raw->world));
	answer_small(raw->world, world_next_call(raw->world));
	assert_int_equal(word(raw_next(raw), 0), 1);
	assert_int_equal(word(raw_next(raw), 0), 2);
	raw_end(raw);
}

/* The connection has just been given up, and its owner does not know it yet. */
static void
a_reply_over_a_connection_that_was_aborted_is_not_sent(void **state)
{
	struct raw *raw = begin();
	struct rr_exchange *exchange = called(raw, 1);

	(void)state;
	rr_driver_abort(rr_connection_of(raw->world->server), -RPCRDMA_ERR_PEER, "a test");
	answer_small(raw->world, exchange);
	world_until(raw->world, raw->disconnected && raw->world->sent == 1);
	assert_int_equal(raw->message_count, 0);
	raw_end(raw);
}

int
suite_room(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reply_waits_for_room_and_for_those_before_it),
		cmocka_unit_test(a_read_chunk_waits_for_room),
		cmocka_unit_test(a_reply_over_a_connection_that_was_aborted_is_not_sent),
	};

	return cmocka_run_group_tests_name("room", tests, NULL, NULL);
}
