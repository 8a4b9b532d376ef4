/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include "pull.h"

/*
 * Row B14: responder-provided Read chunks at the requester, with a raw responder. Citations are of
 * draft-cel-nfsv4-rpcrdma-reliable-reply-02.
 */

/*
 * 4.1.2: "After RDMA Read operations have completed (successfully or in error), the requester MUST inform the
 * responder". 4.1.3: "with the rdma_xid field set to the same value as the rdma_xid field in the RDMA_NOMSG
 * request". 4.1.4: "the requester MUST present only that R_key when using RDMA Send With Invalidate."
 */
static void
row_B14_a_reply_is_pulled_and_the_responder_told(void **state)
{
	struct raw *raw = pull_begin();
	struct call *call = pull_ask(raw, 2);
	uint8_t *reply = pull_reply_to(raw, 2, PULL_LARGE);
	struct rr_region region = pull_expose(raw, reply, PULL_LARGE);

	(void)state;
	pull_answer_from(raw, 2, region);
	pull_assert_done(raw, 2, region.handle);
	call_answered(call);
	assert_same_message(&call->reply, &(struct rpcrdma_message){ .stream = reply, .length = PULL_LARGE });
	pull_assert_works(raw, 3);
	raw_end(raw);
}

/* 4.1.4: "If Remote Invalidate support is not indicated by one or both peers, messages carrying pull
 * completion notification MUST be transmitted using RDMA Send." */
static void
row_B14_nothing_is_invalidated_that_must_not_be(void **state)
{
	struct raw *raw = pull_begin_with(NULL, 1, 0);
	struct call *call = pull_ask(raw, 2);

	(void)state;
	pull_answer_large(raw, 2);
	pull_assert_done(raw, 2, 0);
	call_answered(call);
	raw_end(raw);
}

/* 4.1: "one or more RDMA segments". */
static void
row_B14_segments_are_put_together(void **state)
{
	struct raw *raw = pull_begin();
	struct call *call = pull_ask(raw, 2);
	uint8_t *reply = pull_reply_to(raw, 2, PULL_LARGE);
	struct rr_region a = pull_expose(raw, reply, 13), b = pull_expose(raw, reply + 13, PULL_LARGE - 14),
			 c = pull_expose(raw, reply + PULL_LARGE - 1, 1);

	(void)state;
	SEND(raw, 2, 2, 32, RR_RDMA_NOMSG, 1, 0, 77, 0, 0, 0, 1, 0, SEGMENT(a), 1, 0, SEGMENT(b), 1, 0,
		SEGMENT(c), 0, 0, 0);
	pull_assert_done(raw, 2, a.handle); /* not that of the segment without octets */
	call_answered(call);
	assert_same_message(&call->reply, &(struct rpcrdma_message){ .stream = reply, .length = PULL_LARGE });
	raw_end(raw);
}

/* 4.1.3: "When an RPC transaction is aborted on a requester", it "MUST notify the responder of pull
 * completion." */
static void
row_B14_a_reply_to_a_cancelled_call_is_not_pulled(void **state)
{
	struct raw *raw = pull_begin();
	struct call *call = pull_ask(raw, 2);
	struct rr_region region = pull_expose_reply(raw, 2);

	(void)state;
	rr_carrier_cancel(raw->world->client, &call->transaction);
	pull_answer_from(raw, 2, region);
	pull_assert_done(raw, 2, region.handle);
	assert_int_equal(raw->world->client->counters.rdma_reads, 0);
	pull_assert_works(raw, 3);
	raw_end(raw);
}

static void
row_B14_a_call_may_be_cancelled_during_the_pull(void **state)
{
	struct raw *raw = pull_begin();
	struct call *call = pull_ask(raw, 2);
	uint32_t length = 1 << 20;
	struct rr_region region = pull_expose(raw, pull_reply_to(raw, 2, length), length);

	(void)state;
	pull_answer_from(raw, 2, region);
	while (!call->done && rr_pool_used(raw->world->stage.engine->pool) == 0)
		world_turn(raw->world);
	/* On a provider without delay, the pull has ended already. */
	if (!call->done)
		rr_carrier_cancel(raw->world->client, &call->transaction);
	pull_assert_done(raw, 2, region.handle);
	world_settle(raw->world);
	assert_int_equal(rr_pool_used(raw->world->stage.engine->pool), 0);
	pull_assert_works(raw, 3);
	raw_end(raw);
}

/* 4.1.3: "and does not recognize the XID, the requester MUST notify the responder of pull completion."
 * Even many notifications use no more Receives than there are. */
static void
row_B14_an_unknown_xid_is_notified(void **state)
{
	struct raw *raw = pull_begin();
	struct rr_region region = pull_expose_reply(raw, 9);

	(void)state;
	for (uint32_t i = 0; i < 200; i++) {
		pull_answer_from(raw, 100 + i, region);
		/* 4.1.4: "SHOULD be transmitted using RDMA Send With Invalidate". */
		pull_assert_done(raw, 100 + i, region.handle);
		region = pull_expose_reply(raw, 9);
	}
	pull_assert_works(raw, 2);
	raw_end(raw);
}

/* 4.1.3: "but does not support such chunks, it MUST inform the responder of pull completion and terminate the
 * RPC transaction." */
static void
row_B14_who_does_not_support_them_notifies_too(void **state)
{
	struct raw *raw = pull_begin_with(NULL, 0, 1);
	struct call *call = pull_ask_for(raw, 2, 100);
	struct rr_region region = pull_answer_large(raw, 2);

	(void)state;
	pull_assert_done(raw, 2, region.handle);
	call_ended(call, -RPCRDMA_ERR_PEER);
	assert_int_equal(raw->world->client->counters.octets_rdma_read, 0);
	region = pull_expose_reply(raw, 77);
	pull_answer_from(raw, 77, region); /* also if no call waits for it */
	pull_assert_done(raw, 77, region.handle);
	pull_assert_works(raw, 3);
	raw_end(raw);
}

/* The responder announces such chunks late; from then on it may use them, also while the requester shuts
 * down. So a requester that shuts down takes such announcements until its last replies have come. */
static void
row_B14_a_requester_that_shuts_down_still_hears_of_properties(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct world *world = raw->world;
	uint8_t *reply = pull_reply_to(raw, 2, PULL_LARGE);
	struct rr_region region = pull_expose(raw, reply, PULL_LARGE);
	struct call *call;

	(void)state;
	raw_agree(raw, 32);
	call = pull_ask_for(raw, 2, 100);
	rr_carrier_shutdown(world->client);
	world_settle(world);
	SEND(raw, 7, 2, 32, RR_RDMA_OPTIONAL, CONNPROP(4096, RR_REVERSE_INLINE, 1, 1));
	pull_answer_from(raw, 2, region);
	pull_assert_done(raw, 2, region.handle);
	world_until(world, call->done && world->client_closed);
	assert_int_equal(call->error, 0);
	assert_same_message(&call->reply, &(struct rpcrdma_message){ .stream = reply, .length = PULL_LARGE });
	raw_end(raw);
}

/* RFC 8167, 5.3: a long call in the reverse direction must be answered by ERR_CHUNK; it looks like such a
 * reply. */
static void
row_B14_a_long_call_of_the_responder_is_refused(void **state)
{
	struct raw *raw = pull_begin_with(NULL, 0, 1);
	struct rr_region region = pull_expose_reply(raw, 9);
	struct raw_message *message;

	(void)state;
	world_hear(raw->world);
	pull_answer_from(raw, 77, region);
	message = raw_next(raw);
	assert_int_equal(word(message, 0), 77);
	assert_int_equal(word(message, 3), RR_RDMA_ERROR);
	assert_int_equal(word(message, 4), RR_ERR_BAD_HEADER);
	raw_end(raw);
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
	};

	return cmocka_run_group_tests_name("pull", tests, world_speak_both, world_speak_version_1);
}
