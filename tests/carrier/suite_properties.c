/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include <string.h>

#include "carrier/rdma/core/room.h"
#include "raw.h"
#include "wire/properties.h"
#include "wire/rpc.h"
#include "wire/rpcrdma2.h"

/* Rows B12 and B13: transport properties on connections. Citations are of
 * draft-cel-nfsv4-rpcrdma-version-two-03, unless they name another document. */

enum { LARGE = 16384, CREDITS = 32 };

/* rdma_optinfo of an UPDPROP or a REQPROP of the receive buffer size. */
#define RECEIVE_SIZE(operation, size) operation, 16, 1, 1, 4, size

static struct rr_engine_config
large(void)
{
	struct rr_engine_config config = rr_engine_config_default;

	config.inline_send = config.inline_receive = LARGE;
	return config;
}

/* Makes a call with `stream` octets, whose reply may have, and has, `reply` octets. */
static void
call_run(struct world *world, uint32_t xid, uint32_t stream, uint32_t reply)
{
	struct call *call = call_new(world, xid, stream);

	call->transaction.reply_max = reply;
	call_start(world, call);
	reply_send(world, world_one_call(world), reply_new(world, xid, reply));
	call_answered(call);
	assert_int_equal(call->reply.length, reply);
}

/* ---- Between two of this project ---- */

/* 5.2.1: "Requesters may use the value to determine when it is necessary to provide a Position-Zero read
 * chunk", and "a Reply chunk". */
static void
row_B13_larger_receives_are_used_once_both_sides_told_theirs(void **state)
{
	struct rr_engine_config config = large();
	struct world *world = world_new(&config);

	(void)state;
	call_run(world, 1, 10000, 10000); /* also for the first call */
	call_run(world, 2, LARGE - RR_RDMA_HEADER_MIN, LARGE - RR_RDMA_HEADER_MIN);
	assert_int_equal(world->client->counters.registrations, 0);
	call_run(world, 3, LARGE - RR_RDMA_HEADER_MIN + 4, 40);
	assert_int_equal(world->client->counters.long_calls, 1);
	for (int i = 0; i < 2; i++) {
		struct rpcrdma_negotiated n = world_negotiated(i ? world->client : world->server);

		assert_int_equal(n.inline_call, LARGE);
		assert_int_equal(n.inline_reply, LARGE);
		assert_true(n.properties);
		assert_int_equal(n.own_properties[RR_PROPERTY_RECEIVE_SIZE], LARGE);
		assert_int_equal(n.peer_properties[RR_PROPERTY_RECEIVE_SIZE], LARGE);
	}
	assert_false(world->client_closed);
	world_free(world);
}

/* version-two-00, 5.2: one "MUST allow inline threshold values to change without triggering a connection
 * loss." Many calls are sent while the sizes change; each of them is answered. */
static void
row_B13_calls_under_way_survive_the_change(void **state)
{
	struct rr_engine_config config = large();
	struct world *world = world_new(&config);
	struct call *calls[CREDITS];

	(void)state;
	world->answer = answer_small;
	for (uint32_t i = 0; i < CREDITS; i++) {
		calls[i] = call_new(world, 100 + i, 40 + 400 * i);
		calls[i]->transaction.reply_max = 400 * i;
		call_start(world, calls[i]);
	}
	for (uint32_t i = 0; i < CREDITS; i++)
		call_answered(calls[i]);
	assert_int_equal(world->client->counters.discarded + world->server->counters.discarded, 0);
	assert_false(world->client_closed);
	world_free(world);
}

/* 5.2.2: "RDMA2_BKREQSUP_NONE indicates that receipt of backward-direction requests and replies is not
 * supported." */
static void
a_client_that_hears_no_calls_says_so(void **state)
{
	struct world *world = world_new(NULL);
	struct call *call;

	(void)state;
	call_run(world, 1, 40, 40);
	world_settle(world);
	assert_int_equal(
		world_negotiated(world->server).peer_properties[RR_PROPERTY_REVERSE], RR_REVERSE_NONE);
	call = call_new(world, 2, 40);
	rr_carrier_call(world->server, &call->transaction);
	call_ended(call, -RPCRDMA_ERR_NOTSUP);
	call_run(world, 3, 40, 40);
	world_free(world);
}

/* ---- This requester ---- */

/* Makes a client of `config` and takes its CONNPROP, with that XID. */
static struct raw *
begin(const struct rr_engine_config *config, uint32_t *xid)
{
	struct raw *raw = raw_responder(config);

	raw_introduced(raw, xid);
	return raw;
}

static void
end(struct raw *raw)
{
	assert_false(raw->disconnected);
	raw_end(raw);
}

/* Checks that a call with that many octets of stream is sent as that procedure, and answers the call. */
static void
calls(struct raw *raw, uint32_t xid, uint32_t stream, uint32_t proc)
{
	struct call *call = call_new(raw->world, xid, stream);

	call_start(raw->world, call);
	assert_int_equal(word(raw_next(raw), 3), proc);
	SEND(raw, xid, 2, CREDITS, RR_RDMA_MSG, 0, 0, 0, xid, RR_REPLY, 0, 0, 0, 0);
	call_answered(call);
}

static uint32_t
assert_words(const struct raw_message *message, uint32_t from, const uint32_t *words, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(word(message, from + i), words[i]);
	assert_int_equal(message->length, (from + count) * 4);
	return word(message, 0);
}

/* 5.3.1: "All relevant transport properties that the sender is aware of should be included in rdma_start." It
 * "should make sure that the message can be received by partners who use the default Receive Buffer Size". */
static void
properties_are_told_by_the_first_message(void **state)
{
	struct rr_engine_config config = large();
	struct raw *raw = raw_responder(&config);
	uint32_t xid;
	struct raw_message *message = raw_introduced(raw, &xid);

	(void)state;
	assert_true(message->length <= 1024);
	assert_int_equal(word(message, 2), config.credits);
	assert_words(message, 4, WORDS(CONNPROP(LARGE, RR_REVERSE_NONE, 1, 1)));
	SEND(raw, xid, 2, CREDITS, RR_RDMA_OPTIONAL, CONNPROP(LARGE, RR_REVERSE_INLINE, 1, 1));
	calls(raw, 2, 5000, RR_RDMA_MSG); /* the first call uses the properties */
	assert_int_equal(raw->message_count, 0);
	end(raw);
}

/* 5.3.1: "the sender should be prepared for cases in which the partner continues to assume that the default
 * value for a particular property is still in effect". */
static void
a_peer_without_properties_has_the_defaults(void **state)
{
	struct rr_engine_config config = large();
	struct raw *raw = raw_responder(&config);

	(void)state;
	raw_agree_without_properties(raw);
	calls(raw, 3, 5000, RR_RDMA_NOMSG);
	calls(raw, 4, 4000, RR_RDMA_MSG);
	assert_false(world_negotiated(raw->world->client).properties);
	assert_int_equal(raw->world->client->counters.discarded, 0);
	end(raw);
}

/* An error that does not answer a message of a feature answers the call with its XID. */
static void
a_call_that_is_refused_as_an_option_ends(void **state)
{
	struct raw *raw = raw_responder(NULL);
	const struct rpcrdma_counters *counters = &raw->world->client->counters;
	struct call *call = call_new(raw->world, 2, 40);

	(void)state;
	raw_agree(raw, CREDITS);
	call_start(raw->world, call);
	raw_next(raw);
	SEND(raw, 2, 2, CREDITS, RR_RDMA_ERROR, RR_ERR_INVAL_OPTION);
	call_ended(call, -RPCRDMA_ERR_CHUNK);
	assert_int_equal(counters->err_inval_option_received, 1);
	assert_int_equal(counters->errors_received, 1);
	end(raw);
}

/* 5.3.4: "rdma_now defines the new property values to be used." version-two-00, 5.2: "implementations MUST
 * allow inline threshold values to change without triggering a connection loss." */
static void
the_size_of_the_next_call_follows_the_peer(void **state)
{
	struct rr_engine_config config = large();
	uint32_t xid;
	struct raw *raw = begin(&config, &xid);

	(void)state;
	SEND(raw, xid, 2, CREDITS, RR_RDMA_OPTIONAL, CONNPROP(8192, RR_REVERSE_INLINE, 0, 1));
	world_settle(raw->world);
	calls(raw, 2, 8192 - RR_RDMA_HEADER_MIN, RR_RDMA_MSG);
	calls(raw, 3, 8196 - RR_RDMA_HEADER_MIN, RR_RDMA_NOMSG);
	SEND(raw, 99, 2, CREDITS, RR_RDMA_OPTIONAL, RECEIVE_SIZE(RR_UPDPROP, 1 << 20));
	world_settle(raw->world);
	calls(raw, 4, LARGE - RR_RDMA_HEADER_MIN, RR_RDMA_MSG);
	calls(raw, 5, LARGE + 4 - RR_RDMA_HEADER_MIN, RR_RDMA_NOMSG);
	SEND(raw, 99, 2, CREDITS, RR_RDMA_OPTIONAL, RECEIVE_SIZE(RR_UPDPROP, 16));
	world_settle(raw->world);
	calls(raw, 6, 4096 - RR_RDMA_HEADER_MIN, RR_RDMA_MSG);
	calls(raw, 7, 5000, RR_RDMA_NOMSG);
	assert_int_equal(raw->message_count, 0);
	end(raw);
}

/* A peer whose Receives could be larger, and may change, is asked for larger ones; its answer holds. */
static void
a_peer_is_asked_for_larger_receives(void **state)
{
	struct rr_engine_config config = large();
	uint32_t xid;
	struct raw *raw = begin(&config, &xid);

	(void)state;
	SEND(raw, xid, 2, CREDITS, RR_RDMA_OPTIONAL, RR_CONNPROP, 20, 1, 1, 4, 4096, 0);
	xid = assert_words(raw_next(raw), 3, WORDS(RR_RDMA_OPTIONAL, RECEIVE_SIZE(RR_REQPROP, LARGE)));
	calls(raw, 2, 5000, RR_RDMA_NOMSG);
	SEND(raw, xid, 2, CREDITS, RR_RDMA_OPTIONAL, RR_RESPPROP, 16, 1, 1, 0, 0);
	world_settle(raw->world);
	calls(raw, 3, LARGE - RR_RDMA_HEADER_MIN, RR_RDMA_MSG);
	end(raw);
}

/* Posts a Receive and answers the message: so there are as many Receives as a responder has that posts one
 * for each message that it answers. */
static void
answer_with_a_receive(struct raw *raw, const struct raw_message *message, uint32_t grant)
{
	uint32_t xid = word(message, 0);

	rr_endpoint_allow(raw->endpoint, 1);
	if (word(message, 3) != RR_RDMA_OPTIONAL)
		SEND(raw, xid, 2, grant, RR_RDMA_MSG, 0, 0, 0, xid, RR_REPLY, 0, 0, 0, 0);
	else if (word(message, 4) == RR_CONNPROP)
		SEND(raw, xid, 2, grant, RR_RDMA_OPTIONAL, RR_CONNPROP, 20, 1, 1, 4, 4096, 0);
	else
		SEND(raw, xid, 2, grant, RR_RDMA_OPTIONAL, RR_RESPPROP, 16, 0, 1, 1, 0);
}

/* Makes five calls to a peer that grants one message at first and then as many as grant tells: never more
 * messages than that come before the peer answers. */
static void
no_more_messages_are_unanswered_than_are_granted(uint32_t grant)
{
	struct rr_engine_config config = large();
	struct raw *raw = raw_responder_with_receives(&config, 1);
	uint32_t allowed = 1, requests = 0;
	struct call *calls[5];

	for (uint32_t i = 0; i < 5; i++)
		call_start(raw->world, calls[i] = call_new(raw->world, 1 + i, 5000));
	while (!calls[4]->done) {
		struct raw_message messages[8];
		uint32_t count = 0;

		world_settle(raw->world);
		while (raw->message_count > 0)
			messages[count++] = *raw_next(raw);
		assert_in_range(count, 1, allowed);
		for (uint32_t i = 0; i < count; i++) {
			requests += word(&messages[i], 3) == RR_RDMA_OPTIONAL;
			answer_with_a_receive(raw, &messages[i], grant);
		}
		rr_endpoint_allow(raw->endpoint, grant - allowed);
		allowed = grant;
		world_settle(raw->world);
	}
	assert_int_equal(
		requests, grant > 1 ? 2 : 1); /* CONNPROP, and also REQPROP if another credit is granted */
	assert_false(raw->world->client_closed);
	end(raw);
}

/* draft-cel-nfsv4-rpcrdma-version-two-00, 5: "a requester MUST assume the ability to exchange only a
 * single RPC-over-RDMA message at a time until it receives a non-error RPC-over-RDMA message from the
 * responder that reports the responder's actual credit limit." Messages of properties count, too. The
 * responder has exactly as many Receives as it grants credits. */
static void
a_responder_that_grants_one_credit_gets_one_message_at_a_time(void **state)
{
	(void)state;
	no_more_messages_are_unanswered_than_are_granted(1);
}

static void
a_responder_that_grants_more_gets_as_many_messages_at_a_time(void **state)
{
	(void)state;
	for (uint32_t grant = 2; grant < 5; grant++)
		no_more_messages_are_unanswered_than_are_granted(grant);
}

/* A REQPROP that is never answered costs one credit, not the connection. */
static void
a_request_that_nobody_answers_holds_one_credit(void **state)
{
	struct rr_engine_config config = large();
	uint32_t xid;
	struct raw *raw = begin(&config, &xid);

	(void)state;
	SEND(raw, xid, 2, 2, RR_RDMA_OPTIONAL, RR_CONNPROP, 20, 1, 1, 4, 4096, 0);
	assert_int_equal(word(raw_next(raw), 4), RR_REQPROP);
	for (uint32_t i = 2; i < 10; i++)
		calls(raw, i, 40, RR_RDMA_MSG);
	assert_int_equal(world_negotiated(raw->world->client).credits_used, 1);
	end(raw);
}

/* A message of properties that comes late is not taken for a call that was declined. */
static void
an_end_in_good_order_waits_for_calls_all_the_same(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct world *world = raw->world;
	struct call *call = call_new(world, 2, 40);

	(void)state;
	raw_agree(raw, CREDITS);
	call_start(world, call);
	raw_next(raw);
	rr_carrier_shutdown(world->client);
	SEND(raw, 7, 2, CREDITS, RR_RDMA_OPTIONAL, CONNPROP(LARGE, RR_REVERSE_INLINE, 0, 1));
	world_settle(world);
	assert_false(call->done);
	SEND(raw, 2, 2, CREDITS, RR_RDMA_MSG, 0, 0, 0, 2, RR_REPLY, 0, 0, 0, 0);
	world_until(world, world->client_closed);
	assert_true(call->done);
	assert_int_equal(call->error, 0);
	assert_int_equal(world->client_error, 0);
	raw_end(raw);
}

/* ---- This responder ---- */

static struct rr_exchange *
send_call(struct raw *raw, uint32_t xid)
{
	SEND(raw, xid, 2, CREDITS, RR_RDMA_MSG, 0, 0, 0, xid, RR_CALL, 2);
	return world_one_call(raw->world);
}

static struct raw_message *
answered(struct raw *raw, struct rr_exchange *exchange, uint32_t stream)
{
	reply_send(raw->world, exchange, reply_new(raw->world, exchange->xid, stream));
	return raw_next(raw);
}

/* 5.1.3: it "serves as a means by which an endpoint's transport properties may be presented to its peer". */
static void
a_responder_tells_its_properties_in_answer(void **state)
{
	struct rr_engine_config config = large();
	struct raw *raw = raw_requester(&config);
	struct raw_message *message;

	(void)state;
	SEND(raw, 7, 2, CREDITS, RR_RDMA_OPTIONAL, CONNPROP(LARGE, RR_REVERSE_INLINE, 0, 1));
	message = raw_next(raw);
	assert_int_equal(word(message, 0), 7);
	assert_int_equal(word(message, 1), 2);
	assert_int_equal(word(message, 2), CREDITS);
	assert_words(message, 3, WORDS(RR_RDMA_OPTIONAL, CONNPROP(LARGE, RR_REVERSE_INLINE, 1, 1)));
	/* Asked a second time, the responder has no more to announce. */
	SEND(raw, 8, 2, CREDITS, RR_RDMA_OPTIONAL, CONNPROP(LARGE, RR_REVERSE_INLINE, 0, 1));
	message = answered(raw, send_call(raw, 9), 10000);
	assert_int_equal(word(message, 0), 9);
	assert_int_equal(word(message, 3), RR_RDMA_MSG);
	assert_int_equal(message->length, 10000 + RR_RDMA_HEADER_MIN);
	end(raw);
}

/* A reply goes by the properties that hold when it is sent. */
static void
the_size_of_the_next_reply_follows_the_peer(void **state)
{
	struct rr_engine_config config = large();
	struct raw *raw = raw_requester(&config);
	struct rr_exchange *exchange;

	(void)state;
	assert_int_equal(word(answered(raw, send_call(raw, 1), 10000), 3), RR_RDMA_ERROR);
	exchange = send_call(raw, 2);
	SEND(raw, 7, 2, CREDITS, RR_RDMA_OPTIONAL, CONNPROP(LARGE, RR_REVERSE_INLINE, 0, 1));
	assert_int_equal(word(raw_next(raw), 4), RR_CONNPROP);
	assert_int_equal(word(answered(raw, exchange, 10000), 3), RR_RDMA_MSG);
	exchange = send_call(raw, 3);
	SEND(raw, 8, 2, CREDITS, RR_RDMA_OPTIONAL, RECEIVE_SIZE(RR_UPDPROP, 4096));
	world_settle(raw->world);
	assert_int_equal(word(answered(raw, exchange, 10000), 3), RR_RDMA_ERROR);
	assert_int_equal(word(answered(raw, send_call(raw, 4), 4000), 3), RR_RDMA_MSG);
	end(raw);
}

/* 5.3.2: the partner "will generate a RDMA2_RESPPROP message, indicating the disposition of the request".
 * 5.3.3: its XID "must match". The Receives of this side are as large as they can be: "rdma_rejected". */
static void
a_request_is_answered(void **state)
{
	struct raw *raw = raw_requester(NULL);

	(void)state;
	SEND(raw, 7, 2, CREDITS, RR_RDMA_OPTIONAL, CONNPROP(4096, RR_REVERSE_INLINE, 0, 1));
	raw_next(raw);
	SEND(raw, 8, 2, CREDITS, RR_RDMA_OPTIONAL, RECEIVE_SIZE(RR_REQPROP, LARGE));
	assert_int_equal(
		assert_words(raw_next(raw), 3, WORDS(RR_RDMA_OPTIONAL, RR_RESPPROP, 20, 1, 0, 1, 1, 0)), 8);
	end(raw);
}

/* version-two-00, 4.2, has RDMA_ERR_BAD_HEADER for malformed messages. 5.3, table 2: no operation is
 * followed by a payload. */
static void
a_malformed_option_is_a_bad_header(void **state)
{
	struct raw *raw = raw_requester(NULL);

	(void)state;
	SEND(raw, 7, 2, CREDITS, RR_RDMA_OPTIONAL, RR_CONNPROP, 8, 5, 1);
	assert_int_equal(word(raw_next(raw), 4), RR_ERR_BAD_HEADER);
	SEND(raw, 8, 2, CREDITS, RR_RDMA_OPTIONAL, RECEIVE_SIZE(RR_UPDPROP, LARGE), 8, RR_CALL, 2);
	assert_int_equal(word(raw_next(raw), 4), RR_ERR_BAD_HEADER);
	assert_int_equal(word(answered(raw, send_call(raw, 9), 40), 3), RR_RDMA_MSG);
	end(raw);
}

/* Row B10: if a peer withdraws by a property what its private data allowed, its handles are not
 * invalidated. */
static void
the_property_decides_on_remote_invalidation(void **state)
{
	struct raw *raw = raw_requester(NULL);
	uint8_t memory[4096];
	uint32_t wanted = 1;

	(void)state;
	if (!rr_fabric_limits(rr_room_in(raw->world->stage.engine)->fabric)->remote_invalidation)
		wanted = 0;
	for (uint32_t xid = 1; xid < 3; xid++, wanted = 0) {
		struct rr_region region = raw_register(raw, memory, sizeof(memory), RR_REMOTE_WRITE);
		struct raw_message *message;

		SEND(raw, xid, 2, CREDITS, RR_RDMA_MSG, 0, 0, 1, 1, SEGMENT(region), xid, RR_CALL, 2);
		world_until(raw->world, raw->world->call_count == 1);
		message = answered(raw, world_next_call(raw->world), 40);
		assert_int_equal(message->invalidated, wanted);
		rr_endpoint_invalidate(raw->endpoint, &region);
		SEND(raw, 7, 2, CREDITS, RR_RDMA_OPTIONAL, CONNPROP(4096, RR_REVERSE_INLINE, 0, 0));
		world_settle(raw->world);
		if (xid == 1)
			raw_next(raw);
	}
	end(raw);
}

/* version-two-00, 5: a non-error message "reports the responder's actual credit limit". Before the first
 * call, too, that limit is the number that the message asks for, up to the Receives that are posted. */
static void
the_answer_to_a_first_message_grants_what_it_asks_for(void **state)
{
	static const uint32_t asked[] = { 0, 1, 7, 32, 1000 }, granted[] = { 1, 1, 7, 32, 32 };
	struct rr_engine_config config = large();

	(void)state;
	config.credits = 32;
	for (uint32_t i = 0; i < 5; i++) {
		struct raw *raw = raw_requester(&config);

		SEND(raw, 7, 2, asked[i], RR_RDMA_OPTIONAL, CONNPROP(4096, RR_REVERSE_INLINE, 0, 1));
		assert_int_equal(word(raw_next(raw), 2), granted[i]);
		end(raw);
	}
}

/* Any number of such messages may come. */
static void
many_options_cost_nothing(void **state)
{
	struct raw *raw = raw_requester(NULL);

	(void)state;
	for (uint32_t i = 0; i < 500; i++) {
		SEND(raw, i, 2, CREDITS, RR_RDMA_OPTIONAL, CONNPROP(LARGE + i, i % 3, i % 2, i % 2));
		SEND(raw, i, 2, CREDITS, RR_RDMA_OPTIONAL, RECEIVE_SIZE(RR_REQPROP, i));
		SEND(raw, i, 2, CREDITS, RR_RDMA_OPTIONAL, RECEIVE_SIZE(RR_RESPPROP, i));
		world_settle(raw->world);
		while (raw->message_count > 0)
			raw_next(raw);
	}
	assert_int_equal(word(answered(raw, send_call(raw, 1), 40), 3), RR_RDMA_MSG);
	end(raw);
}

int
suite_properties(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(row_B13_larger_receives_are_used_once_both_sides_told_theirs),
		cmocka_unit_test(row_B13_calls_under_way_survive_the_change),
		cmocka_unit_test(a_client_that_hears_no_calls_says_so),
		cmocka_unit_test(properties_are_told_by_the_first_message),
		cmocka_unit_test(a_peer_without_properties_has_the_defaults),
		cmocka_unit_test(a_call_that_is_refused_as_an_option_ends),
		cmocka_unit_test(the_size_of_the_next_call_follows_the_peer),
		cmocka_unit_test(a_peer_is_asked_for_larger_receives),
		cmocka_unit_test(a_responder_that_grants_one_credit_gets_one_message_at_a_time),
		cmocka_unit_test(a_responder_that_grants_more_gets_as_many_messages_at_a_time),
		cmocka_unit_test(a_request_that_nobody_answers_holds_one_credit),
		cmocka_unit_test(an_end_in_good_order_waits_for_calls_all_the_same),
		cmocka_unit_test(a_responder_tells_its_properties_in_answer),
		cmocka_unit_test(the_size_of_the_next_reply_follows_the_peer),
		cmocka_unit_test(a_request_is_answered),
		cmocka_unit_test(a_malformed_option_is_a_bad_header),
		cmocka_unit_test(the_property_decides_on_remote_invalidation),
		cmocka_unit_test(the_answer_to_a_first_message_grants_what_it_asks_for),
		cmocka_unit_test(many_options_cost_nothing),
	};

	return cmocka_run_group_tests_name("properties", tests, world_speak_both, world_speak_version_1);
}
