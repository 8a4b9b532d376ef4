/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include "carrier/rdma/core/connection.h"
#include "raw.h"
#include "wire/rpc.h"
#include "wire/rpcrdma2.h"

/* Row B13: how a requester finds the version of RPC-over-RDMA that both sides use. Citations are of
 * draft-cel-nfsv4-rpcrdma-version-two-00. */

/* Starts a call of the client to a raw responder, whose version is settled, and returns the message that
 * arrives there. */
static struct raw_message *
ask(struct raw *raw, struct call **call, uint32_t xid, uint32_t stream)
{
	*call = call_begin(raw->world, xid, stream);
	return raw_next(raw);
}

static void
answer(struct raw *raw, uint32_t xid, uint32_t version)
{
	SEND(raw, xid, version, 32, RR_RDMA_MSG, 0, 0, 0, xid, RR_REPLY, 0, 0, 0, 0);
}

/* Checks that the client calls in that version, and answers the call in it. */
static void
spoken(struct raw *raw, uint32_t xid, uint32_t version)
{
	struct call *call;

	assert_int_equal(word(ask(raw, &call, xid, 40), 1), version);
	answer(raw, xid, version);
	call_answered(call);
}

/* Answers the CONNPROP that begins the connection by ERR_VERS. Linux puts the version of the message into
 * the error. */
static void
refuse(struct raw *raw, uint32_t low, uint32_t high)
{
	uint32_t xid;

	raw_introduced(raw, &xid);
	SEND(raw, xid, 2, 64, RR_RDMA_ERROR, RR_ERR_VERS, low, high);
	world_settle(raw->world);
}

/* Makes another connection of the client to the same responder, as the last connection is over. */
static void
connect_again(struct raw *raw)
{
	world_close_client(raw->world);
	world_settle(raw->world);
	world_connect(raw->world);
	world_until(raw->world, raw->established && raw->world->client_connected);
}

/* 5: "this initial message can be no larger than the Version One default inline threshold of 1024 bytes", and
 * "a requester MUST assume the ability to exchange only a single RPC-over-RDMA message at a time". */
static void
the_first_message_is_small_and_alone(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct call *first = call_begin(raw->world, 1, 3000), *second = call_begin(raw->world, 2, 3000);
	uint32_t xid;
	struct raw_message *message = raw_introduced(raw, &xid);

	(void)state;
	assert_true(message->length <= 1024);
	world_settle(raw->world);
	assert_int_equal(raw->message_count, 0);
	SEND(raw, xid, 2, 1, RR_RDMA_OPTIONAL, CONNPROP(4096, RR_REVERSE_INLINE, 0, 1));
	/* Once the message is answered, the first call goes in the usual way. */
	message = raw_next(raw);
	assert_int_equal(word(message, 0), 1);
	assert_int_equal(word(message, 3), RR_RDMA_MSG);
	world_settle(raw->world);
	assert_int_equal(raw->message_count, 0); /* one credit was granted */
	answer(raw, 1, 2);
	assert_int_equal(word(raw_next(raw), 0), 2);
	answer(raw, 2, 2);
	call_answered(second);
	assert_true(first->done);
	raw_end(raw);
}

/* 5: the peer's transport answers the first message. The time that its application takes for the first
 * call does not matter for the version. */
static void
a_first_call_that_takes_long_is_waited_for(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct call *call;

	(void)state;
	raw_agree(raw, 32);
	ask(raw, &call, 1, 40);
	world_pass(raw->world, 600 * RR_SECOND);
	assert_false(raw->world->client_closed);
	answer(raw, 1, 2);
	call_answered(call);
	raw_end(raw);
}

/* version-two-00, 3.1: an implementation that does not know the feature answers RDMA_ERR_INVAL_OPTION,
 * which exists in version 2 only. 5: "until it receives a non-error RPC-over-RDMA message", there is one
 * credit. */
static void
a_server_that_knows_no_properties_is_called_in_version_2(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct call *first = call_begin(raw->world, 1, 3000), *second = call_begin(raw->world, 2, 3000);

	(void)state;
	raw_agree_without_properties(raw);
	assert_int_equal(word(raw_next(raw), 1), 2);
	world_settle(raw->world);
	assert_int_equal(raw->message_count, 0);
	answer(raw, 1, 2);
	assert_int_equal(word(raw_next(raw), 1), 2);
	answer(raw, 2, 2);
	call_answered(second);
	assert_true(first->done);
	connect_again(raw);
	raw_agree_without_properties(raw);
	spoken(raw, 3, 2);
	raw_end(raw);
}

/* An error that version 1 has, too, leaves the version open: the first call asks, in at most 1024 octets. */
static void
the_first_call_asks_where_the_first_message_did_not_tell(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct raw_message *message;
	struct call *call;
	uint32_t xid;

	(void)state;
	for (uint32_t version = 1; version < 3; version++) {
		raw_introduced(raw, &xid);
		SEND(raw, xid, version, 32, RR_RDMA_ERROR, RR_ERR_CHUNK);
		message = ask(raw, &call, 1, 3000);
		assert_int_equal(word(message, 1), 2);
		assert_int_equal(word(message, 3), RR_RDMA_NOMSG);
		assert_true(message->length <= 1024);
		answer(raw, 1, 2);
		call_answered(call);
		assert_int_equal(word(ask(raw, &call, 2, 3000), 3), RR_RDMA_MSG);
		answer(raw, 2, 2);
		call_answered(call);
		connect_again(raw);
	}
	raw_end(raw);
}

/* version-two-03, 5.3.1, does not require an answer to a CONNPROP: a server may present its own properties
 * instead. */
static void
a_server_that_presents_its_properties_by_itself_speaks_version_2(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct call *call = call_begin(raw->world, 1, 40);
	uint32_t xid;

	(void)state;
	raw_introduced(raw, &xid);
	SEND(raw, xid + 1, 2, 32, RR_RDMA_OPTIONAL, CONNPROP(4096, RR_REVERSE_INLINE, 0, 1));
	world_settle(raw->world);
	/* The server may still answer the CONNPROP of this side, and has perhaps one Receive only. */
	assert_int_equal(raw->message_count, 0);
	world_pass(raw->world, RR_NEGOTIATION_PATIENCE);
	assert_int_equal(word(raw_next(raw), 1), 2);
	answer(raw, 1, 2);
	call_answered(call);
	assert_false(raw->world->client_closed);
	raw_end(raw);
}

/* 5.2: "the requester selects a protocol version in the range of responder-supported versions for subsequent
 * messages on this connection." */
static void
row_B13_err_vers_makes_calls_go_in_version_1(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct call *call = call_begin(raw->world, 1, 3000);

	(void)state;
	refuse(raw, 1, 1);
	assert_int_equal(word(raw_next(raw), 1), 1);
	assert_false(call->done);
	/* An error does not grant credits. */
	assert_int_equal(world_negotiated(raw->world->client).credits_max, 0);
	answer(raw, 1, 1);
	call_answered(call);
	assert_int_equal(world_negotiated(raw->world->client).version, 1);
	assert_int_equal(world_negotiated(raw->world->client).inline_call, 4096);
	/* The refusal is remembered: the next connection does not ask. */
	connect_again(raw);
	spoken(raw, 2, 1);
	raw->world->stage.now += 3500 * RR_SECOND;
	connect_again(raw);
	spoken(raw, 3, 1);
	/* After a while the refusal is forgotten. */
	raw->world->stage.now += 101 * RR_SECOND;
	connect_again(raw);
	raw_agree(raw, 32);
	spoken(raw, 4, 2);
	raw_end(raw);
}

/* A version that was assumed of a server gives way to the version that the server names. */
static void
a_server_that_speaks_version_2_all_the_same_is_asked_again(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct call *call;

	(void)state;
	raw_next(raw);
	rr_endpoint_disconnect(raw->endpoint);
	world_until(raw->world, raw->world->client_closed);
	connect_again(raw);
	assert_int_equal(word(ask(raw, &call, 2, 3000), 1), 1);
	SEND(raw, 2, 1, 64, RR_RDMA_ERROR, RR_ERR_VERS, 2, 2);
	raw_agree(raw, 32);
	assert_int_equal(word(raw_next(raw), 1), 2);
	answer(raw, 2, 2);
	call_answered(call);
	connect_again(raw);
	raw_agree(raw, 32);
	spoken(raw, 3, 2);
	raw_end(raw);
}

/* Such a server must not make this side ask without end. */
static void
a_server_that_refuses_each_version_for_the_other_fails_the_call(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct call *call = call_begin(raw->world, 1, 40);

	(void)state;
	refuse(raw, 1, 2);
	assert_int_equal(word(raw_next(raw), 1), 1);
	SEND(raw, 1, 1, 64, RR_RDMA_ERROR, RR_ERR_VERS, 1, 2);
	call_ended(call, -RPCRDMA_ERR_VERS);
	assert_int_equal(raw->message_count, 0);
	raw_end(raw);
}

static void
err_vers_without_a_common_version_fails_the_call(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct call *call;

	(void)state;
	refuse(raw, 3, 9);
	ask(raw, &call, 1, 40);
	SEND(raw, 1, 2, 64, RR_RDMA_ERROR, RR_ERR_VERS, 3, 9);
	call_ended(call, -RPCRDMA_ERR_VERS);
	/* A range that contains the refused version is no reason to try that version again. */
	ask(raw, &call, 2, 40);
	SEND(raw, 2, 2, 64, RR_RDMA_ERROR, RR_ERR_VERS, 2, 2);
	call_ended(call, -RPCRDMA_ERR_VERS);
	assert_false(raw->world->client_closed);
	raw_end(raw);
}

static void
a_call_that_was_cancelled_meanwhile_is_not_sent(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct call *call = call_begin(raw->world, 1, 40);

	(void)state;
	world_settle(raw->world);
	rr_carrier_cancel(raw->world->client, &call->transaction);
	refuse(raw, 1, 1);
	assert_int_equal(raw->message_count, 0);
	spoken(raw, 2, 1);
	raw_end(raw);
}

/* Memory that the carrier found for a sink belongs to one attempt. */
static void
sinks_without_memory_get_it_anew(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct call *call = call_new(raw->world, 1, 40);
	uint32_t xid;

	(void)state;
	raw_introduced(raw, &xid);
	SEND(raw, xid, 2, 32, RR_RDMA_ERROR, RR_ERR_BAD_HEADER);
	call->transaction.sink_count = 1;
	call->transaction.sinks[0].length = 3000;
	call_start(raw->world, call);
	raw_next(raw);
	assert_non_null(call->transaction.sinks[0].data);
	SEND(raw, 1, 2, 64, RR_RDMA_ERROR, RR_ERR_VERS, 1, 1);
	assert_int_equal(word(raw_next(raw), 1), 1);
	assert_null(call->transaction.sinks[0].data); /* 4096 octets are enough without a chunk */
	answer(raw, 1, 1);
	world_until(raw->world, call->done);
	raw_end(raw);
}

/* 5.2: "A requester can assume the same situation [...] if the initial negotiation message is lost or
 * dropped." That is weak evidence, which is not remembered for long. */
static void
silence_and_loss_are_remembered(bool silence)
{
	struct raw *raw = raw_responder(NULL);
	struct call *call = call_begin(raw->world, 1, 40);
	uint32_t xid;

	raw_introduced(raw, &xid);
	if (silence)
		raw->world->stage.now += RR_NEGOTIATION_PATIENCE;
	else
		rr_endpoint_disconnect(raw->endpoint);
	world_until(raw->world, raw->world->client_closed);
	assert_int_equal(call->error, -RPCRDMA_ERR_DISCONNECTED);
	assert_int_equal(raw->world->client_error, -RPCRDMA_ERR_VERS);
	connect_again(raw);
	spoken(raw, 2, 1);
	raw->world->stage.now += 121 * RR_SECOND;
	connect_again(raw);
	raw_agree(raw, 32);
	spoken(raw, 3, 2);
	raw_end(raw);
}

static void
row_B13_silence_means_version_1_on_the_next_connection(void **state)
{
	(void)state;
	silence_and_loss_are_remembered(true);
}

static void
row_B13_a_loss_means_version_1_on_the_next_connection(void **state)
{
	(void)state;
	silence_and_loss_are_remembered(false);
}

/* A server that is known to use version 2 is asked for it again after any number of losses and silences. */
static void
a_server_that_spoke_version_2_is_only_called_again(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct call *call;
	uint32_t xid;

	(void)state;
	raw_agree(raw, 32);
	spoken(raw, 1, 2);
	for (uint32_t i = 2; i < 5; i++) {
		connect_again(raw);
		call = call_begin(raw->world, i, 40);
		raw_introduced(raw, &xid);
		rr_endpoint_disconnect(raw->endpoint);
		world_until(raw->world, raw->world->client_closed);
		assert_int_equal(call->error, -RPCRDMA_ERR_DISCONNECTED);
		assert_int_not_equal(raw->world->client_error, -RPCRDMA_ERR_VERS);
	}
	connect_again(raw);
	world_pass(raw->world, 60 * RR_SECOND);
	assert_false(raw->world->client_closed);
	raw_agree(raw, 32);
	spoken(raw, 9, 2);
	raw_end(raw);
}

/* The effects of a call after the version was agreed do not change the version. */
static void
a_connection_lost_with_the_first_call_is_made_again_in_version_2(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct call *call;

	(void)state;
	raw_agree(raw, 32);
	ask(raw, &call, 1, 40);
	rr_endpoint_disconnect(raw->endpoint);
	world_until(raw->world, raw->world->client_closed);
	assert_int_not_equal(raw->world->client_error, -RPCRDMA_ERR_VERS);
	connect_again(raw);
	raw_agree(raw, 32);
	spoken(raw, 2, 2);
	raw_end(raw);
}

/* 5.3: "a responder MUST send Replies with the same RPC-over-RDMA protocol version that the requester
 * uses". */
static void
a_reply_in_another_version_is_none(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct call *call;

	(void)state;
	raw_agree(raw, 32);
	ask(raw, &call, 1, 40);
	answer(raw, 1, 1);
	world_settle(raw->world);
	assert_false(call->done);
	answer(raw, 1, 2);
	call_answered(call);
	spoken(raw, 2, 2);
	raw_end(raw);
}

int
suite_negotiation(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_message_is_small_and_alone),
		cmocka_unit_test(a_first_call_that_takes_long_is_waited_for),
		cmocka_unit_test(a_server_that_knows_no_properties_is_called_in_version_2),
		cmocka_unit_test(the_first_call_asks_where_the_first_message_did_not_tell),
		cmocka_unit_test(a_server_that_presents_its_properties_by_itself_speaks_version_2),
		cmocka_unit_test(row_B13_err_vers_makes_calls_go_in_version_1),
		cmocka_unit_test(a_server_that_speaks_version_2_all_the_same_is_asked_again),
		cmocka_unit_test(a_server_that_refuses_each_version_for_the_other_fails_the_call),
		cmocka_unit_test(err_vers_without_a_common_version_fails_the_call),
		cmocka_unit_test(a_call_that_was_cancelled_meanwhile_is_not_sent),
		cmocka_unit_test(sinks_without_memory_get_it_anew),
		cmocka_unit_test(row_B13_silence_means_version_1_on_the_next_connection),
		cmocka_unit_test(row_B13_a_loss_means_version_1_on_the_next_connection),
		cmocka_unit_test(a_server_that_spoke_version_2_is_only_called_again),
		cmocka_unit_test(a_connection_lost_with_the_first_call_is_made_again_in_version_2),
		cmocka_unit_test(a_reply_in_another_version_is_none),
	};

	return cmocka_run_group_tests_name("negotiation", tests, world_speak_both, world_speak_version_1);
}
