/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include "raw.h"
#include "wire/private_data.h"
#include "wire/rpc.h"

/* The reverse direction, RFC 8167: the side that accepted calls the side that connected. */

/* Makes a call of the client first: over iWARP, the side that accepted must not send first. */
static void
greet(struct world *world)
{
	struct call *call = call_new(world, 0xffff, 40);

	world->answer = answer_small;
	call_start(world, call);
	world_until(world, call->done);
	world->answer = NULL;
	world->arrived = world->sent = 0;
}

static struct world *
begin(void)
{
	struct world *world = world_new(NULL);

	world_hear(world);
	greet(world);
	return world;
}

/* Starts a call of the server. */
static struct call *
start(struct world *world, uint32_t xid, uint32_t stream)
{
	struct call *call = call_new(world, xid, stream);

	rr_carrier_call(world->server, &call->transaction);
	return call;
}

static void
answered(struct world *world, struct call *call, uint32_t reply)
{
	reply_send(world, world_next_call(world), reply_new(world, call->transaction.xid, reply));
	world_until(world, call->done);
}

/* RFC 8267, 6.5.2: backchannels "MUST use the approach described in [RFC8167]": calls on the same
 * connection. */
static void
a_server_calls_its_client(void **state)
{
	struct world *world = begin();
	struct call *call = start(world, 7, 100);
	struct rr_exchange *exchange;
	struct reply *reply = reply_new(world, 7, 60);

	(void)state;
	exchange = world_one_call(world);
	assert_ptr_equal(exchange->carrier, world->client);
	assert_same_message(&exchange->call, &call->transaction.call);
	reply_send(world, exchange, reply);
	call_answered(call);
	assert_same_message(&call->reply, &reply->message);
	world_free(world);
}

/* XIDs of the two directions are independent: the same XID is in use in both. */
static void
row_B6_equal_xids_of_both_directions_are_told_apart(void **state)
{
	struct world *world = begin();
	struct call *forward = call_new(world, 7, 100), *reverse = start(world, 7, 200);
	struct rr_exchange *exchanges[2];

	(void)state;
	call_start(world, forward);
	world_until(world, world->call_count == 2);
	for (int i = 0; i < 2; i++)
		exchanges[i] = world_next_call(world);
	for (int i = 0; i < 2; i++)
		reply_send(world, exchanges[i],
			reply_new(world, 7, exchanges[i]->carrier == world->client ? 40 : 48));
	world_until(world, forward->done && reverse->done);
	assert_int_equal(forward->error | reverse->error, 0);
	assert_int_equal(reverse->reply.length, 40);
	assert_int_equal(forward->reply.length, 48);
	world_free(world);
}

/* RFC 8167, 4.1: "forward-direction credits and reverse-direction credits on the same connection are
 * accounted separately." */
static void
row_B6_the_directions_do_not_take_each_others_credits(void **state)
{
	enum { FORWARD = 64, REVERSE = 16 };
	struct world *world = begin();
	struct call *calls[FORWARD + REVERSE];

	(void)state;
	world->answer = answer_small;
	calls[0] = call_begin(world, 1000, 40);
	calls[1] = start(world, 1000, 40);
	world_until(world, calls[0]->done && calls[1]->done);
	world->answer = NULL;
	for (uint32_t i = 0; i < FORWARD; i++) {
		calls[i] = call_begin(world, i, 40);
	}
	for (uint32_t i = 0; i < REVERSE; i++)
		calls[FORWARD + i] = start(world, i, 40);
	world_until(world, world->call_count == FORWARD + REVERSE);
	while (world->call_count > 0)
		answer_small(world, world_next_call(world));
	for (uint32_t i = 0; i < FORWARD + REVERSE; i++)
		world_until(world, calls[i]->done && calls[i]->error == 0);
	world_free(world);
}

/* Receives are posted again for messages of either direction. */
static void
row_B6_a_thousand_calls_of_both_directions_are_answered(void **state)
{
	struct world *world = begin();

	(void)state;
	world->answer = answer_small;
	for (uint32_t i = 0; i < 1000; i++) {
		struct call *reverse = start(world, i, 40), *forward = call_new(world, i, 40);

		call_start(world, forward);
		world_until(world, forward->done && reverse->done);
		assert_int_equal(forward->error | reverse->error, 0);
		world_forget(world);
	}
	assert_int_equal(world->client->counters.discarded + world->server->counters.discarded, 0);
	world_free(world);
}

/* RFC 8267, 6.5.2: "an NFS version 4 server MUST use only Short messages to convey backchannel
 * operations." */
static void
only_what_fits_inline_is_called(void **state)
{
	struct world *world = begin();
	struct call *more = start(world, 2, 4096 - 24), *most = start(world, 1, 4096 - 28);

	(void)state;
	call_ended(more, -RPCRDMA_ERR_LIMIT);
	world_until(world, world->call_count == 1);
	answered(world, most, 4096 - 28);
	assert_int_equal(most->error, 0);
	assert_int_equal(most->reply.length, 4096 - 28);
	world_free(world);
}

static void
a_reply_that_does_not_fit_becomes_an_error(void **state)
{
	struct world *world = begin();
	struct call *call = start(world, 1, 40);

	(void)state;
	world_until(world, world->call_count == 1);
	assert_int_equal(world->calls[0]->stream_room, 4096 - 28);
	answered(world, call, 4096 - 24);
	assert_int_equal(call->error, -RPCRDMA_ERR_CHUNK);
	assert_false(world->server_closed || world->client_closed);
	world_free(world);
}

static void
a_cancelled_call_is_forgotten(void **state)
{
	struct world *world = begin();
	struct call *early = start(world, 1, 40), *late = start(world, 2, 40), *next;

	(void)state;
	rr_carrier_cancel(world->server, &early->transaction);
	world_until(world, world->call_count == 1);
	rr_carrier_cancel(world->server, &late->transaction);
	answer_small(world, world_next_call(world));
	next = start(world, 3, 40);
	world_until(world, world->call_count == 1);
	answered(world, next, 40);
	assert_int_equal(next->error, 0);
	assert_false(early->done || late->done);
	world_free(world);
}

/* The call has its credit, and waits for room in the queue of work requests. */
static void
a_call_cancelled_before_it_left_gives_its_credit_to_the_next(void **state)
{
	struct world *world = begin();
	struct call *first, *second;

	(void)state;
	world_stuff(world->server, true);
	first = start(world, 1, 40);
	second = start(world, 2, 40);
	world_settle(world);
	rr_carrier_cancel(world->server, &first->transaction);
	world_stuff(world->server, false);
	world_until(world, world->call_count == 1);
	answered(world, second, 40);
	assert_int_equal(second->error, 0);
	assert_false(first->done);
	world_free(world);
}

static void
the_end_of_the_connection_fails_its_calls(void **state)
{
	struct world *world = begin();
	struct call *sent = start(world, 1, 40), *waiting = start(world, 2, 40), *late;

	(void)state;
	world_until(world, world->call_count == 1);
	world_close_client(world);
	world_until(world, world->server_closed);
	assert_int_equal(sent->error, -RPCRDMA_ERR_DISCONNECTED);
	assert_int_equal(waiting->error, -RPCRDMA_ERR_DISCONNECTED);
	late = start(world, 3, 40);
	call_ended(late, -RPCRDMA_ERR_DISCONNECTED);
	answer_small(world, world_next_call(world)); /* the exchange outlives its carrier */
	world_until(world, world->sent == 1);
	world_free(world);
}

static void
a_shutdown_answers_calls_of_both_directions(void **state)
{
	struct world *world = begin();
	struct call *call = start(world, 1, 40);

	(void)state;
	world_until(world, world->call_count == 1);
	rr_carrier_shutdown(world->client);
	world_settle(world);
	assert_false(world->client_closed);
	answered(world, call, 40);
	assert_int_equal(call->error, 0);
	world_until(world, world->client_closed && world->server_closed);
	world_free(world);
}

/* Each side declines a call of the other side, and has a call that is declined: if the sides waited for
 * these, they would wait without end. */
static void
two_ends_that_shut_down_do_not_wait_for_each_other(void **state)
{
	struct world *world = begin();
	struct call *call = call_new(world, 1, 40), *reverse = start(world, 2, 40);

	(void)state;
	call_start(world, call);
	rr_carrier_shutdown(world->client);
	rr_carrier_shutdown(world->server);
	world_until(world, world->client_closed && world->server_closed);
	assert_int_equal(call->error, -RPCRDMA_ERR_DISCONNECTED);
	assert_int_equal(reverse->error, -RPCRDMA_ERR_DISCONNECTED);
	assert_int_equal(world->call_count, 0);
	world_free(world);
}

/* ---- Against a server that calls in any way ---- */

static struct raw *
serve(void)
{
	struct raw *raw = raw_responder(NULL);

	world_hear(raw->world);
	raw_warm_up(raw, 32);
	return raw;
}

/* RFC 8167, 5.2: "The number of granted reverse-direction credits is placed in the rdma_credit field".
 * rdma_vers is that of the call, "the ONC RPC Reply header MUST start with the same XID value", msg_type
 * is REPLY. */
static void
row_B1_no_more_is_granted_than_asked_for_or_posted(void **state)
{
	static const uint32_t asked[] = { 0, 1, 2, 16, 17, 1000 }, granted[] = { 1, 1, 2, 16, 16, 16 };
	struct raw *raw = serve();

	(void)state;
	raw->world->answer = answer_small;
	for (uint32_t i = 0; i < 6; i++) {
		struct raw_message *message;

		SEND(raw, 5, 1, asked[i], RR_RDMA_MSG, 0, 0, 0, 5, RR_CALL, 2);
		message = raw_next(raw);
		assert_int_equal(word(message, 0), 5);
		assert_int_equal(word(message, 1), 1);
		assert_int_equal(word(message, 2), granted[i]);
		assert_int_equal(word(message, 3), RR_RDMA_MSG);
		assert_int_equal(word(message, 4) | word(message, 5) | word(message, 6), 0);
		assert_int_equal(word(message, 7), 5);
		assert_int_equal(word(message, 8), RR_REPLY);
	}
	raw_end_client(raw);
}

/* RFC 8167, 5.3: "If a reverse-direction requester provides a non-empty chunk list to a Responder that does
 * not support chunks, the Responder MUST reply with an RDMA_ERROR message with rdma_err field set to
 * ERR_CHUNK." */
static void
calls_with_chunks_are_refused(void **state)
{
	struct raw *raw = serve();
	struct raw_message *message;

	(void)state;
	SEND(raw, 1, 1, 2, RR_RDMA_MSG, 1, 12, 99, 4, 0, 0, 0, 0, 0, 1, RR_CALL, 2);
	SEND(raw, 2, 1, 2, RR_RDMA_MSG, 0, 1, 1, 99, 4, 0, 0, 0, 0, 2, RR_CALL, 2);
	SEND(raw, 3, 1, 2, RR_RDMA_MSG, 0, 0, 1, 1, 99, 4, 0, 0, 3, RR_CALL, 2);
	SEND(raw, 4, 1, 2, RR_RDMA_NOMSG, 1, 0, 99, 4, 0, 0, 0, 0, 0);
	for (uint32_t i = 1; i <= 4; i++) {
		message = raw_next(raw);
		assert_int_equal(word(message, 0), i);
		assert_int_equal(word(message, 3), RR_RDMA_ERROR);
		assert_int_equal(word(message, 4), RR_ERR_CHUNK);
	}
	assert_int_equal(raw->world->arrived, 0);
	raw_end_client(raw);
}

/* Calls that come between calls and replies do not disturb the replies. */
static void
a_call_between_call_and_reply_changes_nothing(void **state)
{
	struct raw *raw = serve();
	struct call *call = call_new(raw->world, 5, 40);

	(void)state;
	raw->world->answer = answer_small;
	call_start(raw->world, call);
	raw_next(raw);
	SEND(raw, 5, 1, 2, RR_RDMA_MSG, 0, 0, 0, 5, RR_CALL, 2);
	assert_int_equal(word(raw_next(raw), 8), RR_REPLY);
	assert_false(call->done);
	SEND(raw, 5, 1, 32, RR_RDMA_MSG, 0, 0, 0, 5, RR_REPLY, 7);
	call_answered(call);
	raw_end_client(raw);
}

/* draft-cel-nfsv4-rpcrdma-version-two-00, 4.2: "Implementations of RPC-over-RDMA Version Two are REQUIRED
 * to support backwards direction operation": a client without services answers that it does not have the
 * program, and still gets its own reply. */
static void
a_client_without_services_says_so(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct call *call = call_begin(raw->world, 5, 40);

	(void)state;
	raw_next(raw);
	for (uint32_t i = 0; i < 100; i++) {
		struct raw_message *message;

		SEND(raw, 5, 1, 4, RR_RDMA_MSG, 0, 0, 0, 5, RR_CALL, 2, 100003, 3, 0, 0, 0, 0, 0);
		message = raw_next(raw);
		assert_int_equal(message->length, 28 + 24);
		assert_int_equal(word(message, 0), 5);
		assert_int_equal(word(message, 2), 4);
		assert_int_equal(word(message, 3), RR_RDMA_MSG);
		assert_int_equal(word(message, 7), 5);
		assert_int_equal(word(message, 8), RR_REPLY);
		assert_int_equal(word(message, 9), RR_MSG_ACCEPTED);
		assert_int_equal(word(message, 12), RR_PROG_UNAVAIL);
	}
	assert_false(call->done);
	SEND(raw, 5, 1, 32, RR_RDMA_MSG, 0, 0, 0, 5, RR_REPLY, 7);
	call_answered(call);
	raw_end_client(raw);
}

/* ---- Against a client that answers in any way ---- */

static void
greet_from(struct raw *raw)
{
	raw->world->answer = answer_small;
	SEND(raw, 0xffff, 1, 16, RR_RDMA_MSG, 0, 0, 0, 0xffff, RR_CALL, 2);
	raw_next(raw);
	raw->world->answer = NULL;
	raw->world->arrived = 0;
}

/* RFC 8167, 5.1: "The rdma_vers field MUST contain the same value in reverse- and forward-direction Call
 * messages on the same connection." */
static void
row_B1_a_server_keeps_to_the_grant_of_its_client(void **state)
{
	struct raw *raw = raw_requester(NULL);
	struct world *world = raw->world;
	struct call *calls[20];

	(void)state;
	greet_from(raw);
	for (uint32_t i = 0; i < 20; i++)
		calls[i] = start(world, i, 40);
	world_settle(world);
	/* 4.1: "RPC-over-RDMA credits work the same way in the reverse direction": there is one credit
	 * until a reply grants more. */
	assert_int_equal(raw->message_count, 1);
	assert_int_equal(word(&raw->messages[0], 1), 1);
	assert_int_equal(word(&raw->messages[0], 2), 16);
	for (uint32_t i = 0; i < 20; i++) {
		SEND(raw, word(raw_next(raw), 0), 1, 3, RR_RDMA_MSG, 0, 0, 0, i, RR_REPLY, 7);
		world_settle(world);
		assert_int_equal(raw->message_count, 19 - i < 3 ? 19 - i : 3);
		assert_true(calls[i]->done && calls[i]->error == 0);
	}
	raw_end(raw);
}

static void
what_answers_no_call_of_the_server_is_discarded(void **state)
{
	struct raw *raw = raw_requester(NULL);
	struct world *world = raw->world;
	struct call *call;

	(void)state;
	greet_from(raw);
	SEND(raw, 5, 1, 16, RR_RDMA_MSG, 0, 0, 0, 5, RR_REPLY, 7); /* before the server called at all */
	world_settle(world);
	call = start(world, 5, 40);
	raw_next(raw);
	for (uint32_t i = 0; i < 100; i++) {
		SEND(raw, 6, 1, 16, RR_RDMA_MSG, 0, 0, 0, 6, RR_REPLY, 7);
		SEND(raw, 6, 1, 16, RR_RDMA_ERROR, RR_ERR_CHUNK);
		SEND(raw, 5, 1, 16, RR_RDMA_DONE, 0, 0, 0);
		world_settle(world);
	}
	assert_int_equal(world->server->counters.discarded, 301);
	assert_false(call->done);
	SEND(raw, 5, 1, 16, RR_RDMA_ERROR, RR_ERR_CHUNK);
	call_ended(call, -RPCRDMA_ERR_CHUNK);
	assert_int_equal(world->arrived, 0);
	raw_end(raw);
}

/* RFC 8166, 4.5.2: an RDMA_NOMSG without chunks must be answered by ERR_CHUNK, also if the server has
 * called its client before, and while it waits for the reply. */
static void
a_call_without_a_message_is_refused_after_a_callback_too(void **state)
{
	struct raw *raw = raw_requester(NULL);
	struct call *call;

	(void)state;
	greet_from(raw);
	call = start(raw->world, 5, 40);
	raw_next(raw);
	for (uint32_t xid = 6; xid < 8; xid++) {
		struct raw_message *message;

		SEND(raw, xid, 1, 16, RR_RDMA_NOMSG, 0, 0, 0);
		message = raw_next(raw);
		assert_int_equal(word(message, 0), xid);
		assert_int_equal(word(message, 3), RR_RDMA_ERROR);
		assert_int_equal(word(message, 4), RR_ERR_CHUNK);
		if (call->done)
			continue;
		SEND(raw, 5, 1, 16, RR_RDMA_MSG, 0, 0, 0, 5, RR_REPLY, 7);
		call_answered(call);
	}
	raw_end(raw);
}

/* RFC 8166, 4.5 and 4.6.1, of a requester, which the server is here: bad replies are discarded silently,
 * and the good reply counts. A message with the same XID that has chunks of the client's own is a call. */
static void
bad_replies_to_a_server_are_discarded(void **state)
{
	struct raw *raw = raw_requester(NULL);
	struct world *world = raw->world;
	struct raw_message *message;
	struct call *call;

	(void)state;
	greet_from(raw);
	call = start(world, 5, 40);
	raw_next(raw);
	SEND(raw, 5, 1, 16, RR_RDMA_MSGP, 0, 0, 0, 0, 0, 5, RR_REPLY, 7);
	SEND(raw, 5, 1, 16, 9, 0, 0, 0, 5, RR_REPLY, 7);
	SEND(raw, 5, 9, 16, RR_RDMA_MSG, 0, 0, 0, 5, RR_REPLY, 7);
	SEND(raw, 5, 1, 16, RR_RDMA_MSG, 0, 1, 1, 9, 9);
	SEND(raw, 5, 1, 16, RR_RDMA_MSG, 0, 0, 0);
	SEND(raw, 5, 1, 16, RR_RDMA_NOMSG, 0, 0, 0);
	world_settle(world);
	assert_int_equal(raw->message_count, 0);
	assert_int_equal(world->server->counters.bad_replies, 6);
	SEND(raw, 5, 1, 16, RR_RDMA_NOMSG, 1, 4, 99, 4, 0, 0, 0, 0,
		0); /* the chunk is not at position zero */
	message = raw_next(raw);
	assert_int_equal(word(message, 3), RR_RDMA_ERROR);
	assert_false(call->done);
	SEND(raw, 5, 1, 16, RR_RDMA_MSG, 0, 0, 0, 5, RR_REPLY, 7);
	call_answered(call);
	raw_end(raw);
}

/* RFC 8167, 4.2: the sizes of each side bound all messages that the other side sends. */
static void
the_thresholds_are_those_of_the_messages_way(void **state)
{
	struct world *world = world_listening(NULL);
	struct raw *raw = raw_new(world);
	const struct rr_private_data data = { 2048, 1024, true };
	struct call *most, *more;

	(void)state;
	rr_private_data_put(raw->private_data, &data);
	raw_connect(raw);
	greet_from(raw);
	more = start(world, 2, 1024 - 24);
	most = start(world, 1, 1024 - 28);
	call_ended(more, -RPCRDMA_ERR_LIMIT);
	assert_int_equal(raw_next(raw)->length, 1024);
	assert_false(most->done);
	raw_end(raw);
}

int
suite_reverse(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_server_calls_its_client),
		cmocka_unit_test(row_B6_equal_xids_of_both_directions_are_told_apart),
		cmocka_unit_test(row_B6_the_directions_do_not_take_each_others_credits),
		cmocka_unit_test(row_B6_a_thousand_calls_of_both_directions_are_answered),
		cmocka_unit_test(only_what_fits_inline_is_called),
		cmocka_unit_test(a_reply_that_does_not_fit_becomes_an_error),
		cmocka_unit_test(a_cancelled_call_is_forgotten),
		cmocka_unit_test(a_call_cancelled_before_it_left_gives_its_credit_to_the_next),
		cmocka_unit_test(the_end_of_the_connection_fails_its_calls),
		cmocka_unit_test(a_shutdown_answers_calls_of_both_directions),
		cmocka_unit_test(two_ends_that_shut_down_do_not_wait_for_each_other),
		cmocka_unit_test(row_B1_no_more_is_granted_than_asked_for_or_posted),
		cmocka_unit_test(calls_with_chunks_are_refused),
		cmocka_unit_test(a_call_between_call_and_reply_changes_nothing),
		cmocka_unit_test(row_B1_a_server_keeps_to_the_grant_of_its_client),
		cmocka_unit_test(what_answers_no_call_of_the_server_is_discarded),
		cmocka_unit_test(the_thresholds_are_those_of_the_messages_way),
		cmocka_unit_test(a_client_without_services_says_so),
		cmocka_unit_test(a_call_without_a_message_is_refused_after_a_callback_too),
		cmocka_unit_test(bad_replies_to_a_server_are_discarded),
	};

	return cmocka_run_group_tests_name("reverse", tests, NULL, NULL);
}
