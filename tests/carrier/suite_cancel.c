/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that are cancelled at each stage of their way. */
#include "suite.h"

#include "raw.h"

/* RFC 8166, 3.3.1: a request that was not answered counts; 4.4.1: cancelled RPCs' memory is protected. */
static void
a_cancelled_call_keeps_its_credit_until_the_reply(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct world *world = raw->world;
	struct call *first, *second;

	(void)state;
	raw_warm_up(raw, 1);
	first = call_begin(raw->world, 5, 40);
	second = call_begin(raw->world, 6, 40);
	assert_int_equal(word(raw_next(raw), 0), 5);
	rr_carrier_cancel(world->client, &first->transaction);
	world_settle(world);
	assert_int_equal(raw->message_count, 0);
	raw_answer(raw, 5, 1);
	assert_int_equal(word(raw_next(raw), 0), 6);
	assert_false(first->done);
	raw_answer(raw, 6, 1);
	call_answered(second);
	raw_end_client(raw);
}

static void
row_B8_a_cancelled_calls_memory_is_out_of_reach(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct world *world = raw->world;
	struct raw_header header;
	struct call *call;
	uint8_t data[4] = "evil";

	(void)state;
	raw_warm_up(raw, 8);
	call = raw_offered_write_chunk(raw, &header);
	rr_carrier_cancel(world->client, &call->transaction);
	assert_int_equal(world->client->counters.invalidations, 1);
	assert_int_not_equal(
		raw_rdma(raw, RR_WORK_WRITE, data, 4, header.segments[0].handle, header.segments[0].offset),
		0);
	assert_memory_not_equal(call->transaction.sinks[0].data, data, 4);
	assert_false(call->done);
	raw_end_client(raw);
}

static void
a_call_that_was_not_sent_is_cancelled_without_trace(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct world *world = raw->world;
	struct call *waiting, *now, *last;

	(void)state;
	raw_warm_up(raw, 1);
	call_begin(raw->world, 5, 40);
	waiting = call_begin(raw->world, 6, 40);
	raw_next(raw);
	rr_carrier_cancel(world->client, &waiting->transaction);
	raw_answer(raw, 5, 8);
	world_settle(world);
	assert_int_equal(raw->message_count, 0);
	/* The call is cancelled in the turn in which it begins. */
	now = call_new(world, 7, 40);
	call_add_item(world, now, 40, 1000);
	call_start(world, now);
	rr_carrier_cancel(world->client, &now->transaction);
	last = call_begin(raw->world, 8, 40);
	assert_int_equal(word(raw_next(raw), 0), 8);
	raw_answer(raw, 8, 8);
	world_until(world, last->done);
	assert_false(waiting->done || now->done);
	raw_end_client(raw);
}

/* The responder guesses XIDs: the answer that it sent must not be kept. */
static void
a_call_that_is_answered_before_it_left_may_be_cancelled(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct world *world = raw->world;
	struct call *call;

	(void)state;
	raw_warm_up(raw, 8);
	world_stuff(world->client, true);
	call = call_begin(raw->world, 5, 40);
	world_settle(world);
	raw_answer(raw, 5, 8);
	world_settle(world);
	assert_false(call->done);
	rr_carrier_cancel(world->client, &call->transaction);
	world_stuff(world->client, false);
	world_settle(world);
	assert_int_equal(raw->message_count, 0);
	raw_still_works(raw);
	assert_false(call->done);
	raw_end_client(raw);
}

int
suite_cancel(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cancelled_call_keeps_its_credit_until_the_reply),
		cmocka_unit_test(row_B8_a_cancelled_calls_memory_is_out_of_reach),
		cmocka_unit_test(a_call_that_was_not_sent_is_cancelled_without_trace),
		cmocka_unit_test(a_call_that_is_answered_before_it_left_may_be_cancelled),
	};

	return cmocka_run_group_tests_name("cancel", tests, NULL, NULL);
}
