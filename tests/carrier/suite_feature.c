/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include "note.h"
#include "raw.h"
#include "wire/rpc.h"

/* Optional features that are registered from outside, with a feature that has a payload and sends unasked.
 * Citations are of draft-cel-nfsv4-rpcrdma-version-two-00. */

enum { HEADER = 28, LONGEST = 4096 - HEADER };

static struct rr_engine_config
noting(void)
{
	struct rr_engine_config config = rr_engine_config_default;

	config.features = note_features;
	return config;
}

static struct world *
noting_world(void)
{
	struct rr_engine_config config = noting();

	return world_new(&config);
}

static void
exchange_note(struct world *world, struct rr_carrier *from, uint32_t number, uint32_t length)
{
	struct note_sent *sent;

	assert_int_equal(note_send(world, from, &sent, number, length), 0);
	note_ended(world, sent, 0);
}

/* 3.1: "an RPC Payload Stream MAY follow". No call is made, and both sides send notes. */
static void
a_feature_speaks_unasked_and_carries_a_payload(void **state)
{
	struct world *world = noting_world();

	(void)state;
	exchange_note(world, world->client, 1, 3000);
	assert_int_equal(note_of(world->server)->got_octets, 3000);
	assert_int_equal(note_of(world->client)->echo, 3000);
	assert_int_equal(note_of(world->client)->number, 1);
	exchange_note(world, world->server, 2, 17);
	assert_int_equal(note_of(world->client)->got_octets, 17);
	assert_int_equal(note_of(world->server)->seen, 1);
	assert_int_equal(note_of(world->server)->echo, 0);
	assert_int_equal(world->arrived, 0);
	world_free(world);
}

static void
an_accepted_side_waits_until_its_peer_spoke_version_2(void **state)
{
	struct rr_engine_config config = noting();
	struct raw *raw = raw_requester(&config);
	struct note_sent *sent;

	(void)state;
	world_until(raw->world, raw->world->server_connected);
	assert_int_equal(note_send(raw->world, raw->world->server, &sent, 2, 4), 0);
	world_settle(raw->world);
	assert_int_equal(raw->message_count, 0);
	SEND(raw, 7, 2, 16, RR_RDMA_OPTIONAL, CONNPROP(4096, RR_REVERSE_INLINE, 0, 1));
	assert_int_equal(word(raw_next(raw), 4), RR_CONNPROP);
	assert_int_equal(word(raw_next(raw), 4), NOTE);
	assert_false(sent->done);
	/* A message with another XID, or of another type, is no answer. */
	SEND(raw, sent->request.xid + 1, 2, 16, RR_RDMA_OPTIONAL, SEEN, 4, 2);
	SEND(raw, sent->request.xid, 2, 16, RR_RDMA_OPTIONAL, NOTE, 4, 2, 99);
	assert_int_equal(word(raw_next(raw), 4), SEEN);
	assert_false(sent->done);
	SEND(raw, sent->request.xid, 2, 16, RR_RDMA_OPTIONAL, SEEN, 4, 2);
	note_ended(raw->world, sent, 0);
	raw_end(raw);
}

static void
a_call_in_version_2_is_enough_for_an_accepted_side(void **state)
{
	struct rr_engine_config config = noting();
	struct raw *raw = raw_requester(&config);
	struct note_sent *sent;

	(void)state;
	world_until(raw->world, raw->world->server_connected);
	assert_int_equal(note_send(raw->world, raw->world->server, &sent, 2, 4), 0);
	SEND(raw, 7, 2, 16, RR_RDMA_MSG, 0, 0, 0, 7, RR_CALL, 2);
	assert_int_equal(word(raw_next(raw), 4), NOTE);
	raw_end(raw);
}

/* 3.1: a peer that does not know the type answers RDMA_ERR_INVAL_OPTION, and calls go on. */
static void
a_feature_hears_that_the_peer_does_not_know_it(void **state)
{
	struct rr_engine_config config = noting();
	struct raw *raw = raw_responder(&config);
	struct note_sent *sent;

	(void)state;
	raw_agree(raw, 8);
	assert_int_equal(note_send(raw->world, raw->world->client, &sent, 1, 4), 0);
	SEND(raw, word(raw_next(raw), 0), 2, 8, RR_RDMA_ERROR, RR_ERR_INVAL_OPTION);
	note_ended(raw->world, sent, -RPCRDMA_ERR_NOTSUP);
	assert_int_equal(world_negotiated(raw->world->client).credits_used, 0);
	call_begin(raw->world, 1, 40);
	assert_int_equal(word(raw_next(raw), 0), 1);
	raw_end_client(raw);
}

static void
version_1_has_no_features(void **state)
{
	struct rr_engine_config config = noting();
	struct raw *raw = raw_responder(&config);
	struct note_sent *sent;
	uint32_t xid;

	(void)state;
	assert_int_equal(note_send(raw->world, raw->world->client, &sent, 1, 4), 0);
	raw_introduced(raw, &xid);
	assert_false(sent->done);
	SEND(raw, xid, 2, 64, RR_RDMA_ERROR, RR_ERR_VERS, 1, 1);
	note_ended(raw->world, sent, -RPCRDMA_ERR_NOTSUP);
	raw_end_client(raw);
}

/* 5: "a requester MUST assume the ability to exchange only a single RPC-over-RDMA message at a time until it
 * receives a non-error RPC-over-RDMA message from the responder that reports the responder's actual credit
 * limit." */
static void
each_message_takes_a_credit_until_it_is_answered(void **state)
{
	struct rr_engine_config config = noting();
	struct raw *raw = raw_responder(&config);
	struct world *world = raw->world;
	struct note_sent *first, *second;
	uint32_t xid;

	(void)state;
	raw_agree(raw, 2);
	assert_int_equal(note_send(world, world->client, &first, 1, 4), 0);
	assert_int_equal(note_send(world, world->client, &second, 2, 4), 0);
	call_begin(world, 1, 40);
	xid = word(raw_next(raw), 0);
	assert_int_equal(word(raw_next(raw), 4), NOTE);
	world_settle(world);
	assert_int_equal(raw->message_count, 0); /* the call waits */
	SEND(raw, xid, 2, 2, RR_RDMA_OPTIONAL, SEEN, 4, 1);
	assert_int_equal(word(raw_next(raw), 0), 1);
	assert_true(first->done);
	assert_false(second->done);
	/* The end of the connection ends the requests that were not answered, and no more can be sent. */
	raw_free(raw);
	note_ended(world, second, -RPCRDMA_ERR_DISCONNECTED);
	assert_int_equal(note_send(world, world->client, &first, 1, 4), -RPCRDMA_ERR_DISCONNECTED);
	world_free(world);
}

/* 3.2: each feature says "that an RPC Payload Stream MUST or MUST NOT follow the Transport Header Stream for
 * each new opttype code". */
static void
a_bad_message_does_not_reach_its_feature(void **state)
{
	struct rr_engine_config config = noting();
	struct raw *raw = raw_requester(&config);

	(void)state;
	SEND(raw, 1, 2, 16, RR_RDMA_OPTIONAL, NOTE, 4, 1); /* without its payload */
	assert_int_equal(word(raw_next(raw), 4), RR_ERR_BAD_HEADER);
	SEND(raw, 2, 2, 16, RR_RDMA_OPTIONAL, NOTE, 8, 1, 1, 1);
	assert_int_equal(word(raw_next(raw), 4), RR_ERR_BAD_HEADER);
	assert_int_equal(note_of(raw->world->server)->got, 0);
	/* A SEEN that answers no NOTE gets no answer. */
	SEND(raw, 3, 2, 16, RR_RDMA_OPTIONAL, SEEN, 4, 1);
	SEND(raw, 4, 2, 16, RR_RDMA_OPTIONAL, NOTE, 4, 1, 5);
	assert_int_equal(word(raw_next(raw), 0), 4);
	assert_int_equal(note_of(raw->world->server)->got, 1);
	raw_end(raw);
}

/* 2.3: a message that is sent inline is no longer than the peer's Receives. */
static void
a_message_that_is_too_long_is_not_sent(void **state)
{
	struct world *world = noting_world();
	struct note_sent *sent;

	(void)state;
	exchange_note(world, world->client, 1, LONGEST);
	assert_int_equal(note_of(world->client)->echo, LONGEST);
	assert_int_equal(note_send(world, world->client, &sent, 1, LONGEST + 1), 0);
	note_ended(world, sent, -RPCRDMA_ERR_LIMIT);
	assert_int_equal(world_negotiated(world->client).credits_used, 0);
	exchange_note(world, world->client, 1, 4);
	world_free(world);
}

static void
each_connection_has_a_state_of_its_own(void **state)
{
	struct world *world = noting_world();
	struct rr_carrier *client = world->client, *server = world->server;

	(void)state;
	exchange_note(world, client, 2, 10);
	world->client = world->server = NULL;
	world_connect(world);
	world_until(world, world->client_connected && world->server_connected);
	assert_int_equal(note_states(), 4);
	exchange_note(world, world->client, 2, 20);
	assert_int_equal(note_of(server)->got_octets, 10);
	assert_int_equal(note_of(world->server)->got_octets, 20);
	rr_carrier_close(client);
	rr_carrier_close(server);
	assert_int_equal(note_states(), 2);
	world_free(world);
	assert_int_equal(note_states(), 0);
}

/* There are many more messages than credits, with calls between them. */
static void
messages_and_calls_share_credits_both_ways(void **state)
{
	enum { MANY = 200 };
	struct world *world = noting_world();
	struct call *calls[MANY];
	struct note_sent *sent;

	(void)state;
	world->answer = answer_small;
	exchange_note(world, world->client, 2, 1);
	for (uint32_t i = 0; i < MANY; i++) {
		calls[i] = call_begin(world, 1000 + i, 40 + i * 4);
		assert_int_equal(note_send(world, world->client, &sent, i, 1 + i), 0);
		assert_int_equal(note_send(world, world->server, &sent, i, 1 + i), 0);
	}
	for (uint32_t i = 0; i < MANY; i++)
		call_answered(calls[i]);
	world_until(world, note_of(world->client)->seen == 1 + MANY && note_of(world->server)->seen == MANY);
	assert_int_equal(note_of(world->client)->got, MANY);
	assert_int_equal(note_of(world->server)->got, 1 + MANY);
	assert_false(world->client_closed || world->server_closed);
	world_free(world);
}

int
suite_feature(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_feature_speaks_unasked_and_carries_a_payload),
		cmocka_unit_test(an_accepted_side_waits_until_its_peer_spoke_version_2),
		cmocka_unit_test(a_call_in_version_2_is_enough_for_an_accepted_side),
		cmocka_unit_test(a_feature_hears_that_the_peer_does_not_know_it),
		cmocka_unit_test(version_1_has_no_features),
		cmocka_unit_test(each_message_takes_a_credit_until_it_is_answered),
		cmocka_unit_test(a_bad_message_does_not_reach_its_feature),
		cmocka_unit_test(a_message_that_is_too_long_is_not_sent),
		cmocka_unit_test(each_connection_has_a_state_of_its_own),
		cmocka_unit_test(messages_and_calls_share_credits_both_ways),
	};

	return cmocka_run_group_tests_name("feature", tests, world_speak_both, world_speak_version_1);
}
