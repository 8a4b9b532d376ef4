/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include "carrier/rdma/core/connection.h"
#include "raw.h"
#include "wire/rpc.h"
#include "wire/rpcrdma2.h"

/* Row B13: version 2 between two sides of this project, and a responder's treatment of each version.
 * Citations are of draft-cel-nfsv4-rpcrdma-version-two-00. */

/* ---- Between two of this project ---- */

/*
 * 5.1: "Subsequently, both peers use the default inline threshold value for RPC-over-RDMA Version Two
 * connections (4096 bytes)." 2.3: "receiver implementations MUST support an inline threshold of 4096 bytes",
 * and "senders MUST assume a receiver's inline threshold is 4096 bytes", whatever is configured for
 * version 1.
 */
static void
two_of_ours_agree_on_version_2_and_4096_octets(void **state)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct world *world;
	struct call *call;

	(void)state;
	config.inline_send = config.inline_receive = 1024;
	world = world_new(&config);
	world->answer = answer_small;
	for (uint32_t xid = 1; xid < 5; xid++) {
		call = call_begin(world, xid, 4096 - RR_RDMA_HEADER_MIN);
		call_answered(call);
	}
	assert_int_equal(world->client->counters.long_calls, 0); /* not even the first of them is one */
	assert_int_equal(world_negotiated(world->client).version, 2);
	assert_int_equal(world_negotiated(world->client).inline_call, 4096);
	assert_int_equal(world_negotiated(world->client).inline_reply, 4096);
	assert_int_equal(world_negotiated(world->server).version, 2);
	assert_false(world->client_closed);
	world_free(world);
}

/* 4.2: "Implementations of RPC-over-RDMA Version Two are REQUIRED to support backwards direction
 * operation". RFC 8167, 5.1: "The rdma_vers field MUST contain the same value in reverse- and
 * forward-direction Call messages on the same connection"; 5.2: and "in a reverse-direction Reply message
 * as in the matching Call". */
static void
the_reverse_direction_goes_in_version_2_too(void **state)
{
	struct world *world = world_new_hearing(NULL);
	struct call *call;

	(void)state;
	world_settle(world);
	world->answer = answer_small;
	call = call_new(world, 2, 3000); /* the client did not call: it has only sent its CONNPROP */
	rr_carrier_call(world->server, &call->transaction);
	call_answered(call);
	assert_int_equal(world_negotiated(world->server).version, 2);
	world_free(world);
}

/* ---- This responder ---- */

/* Connects to a server that speaks these versions. */
static struct raw *
call_us(enum rr_versions versions)
{
	struct raw *raw;

	world_versions = versions;
	raw = raw_new(world_listening(NULL));
	world_versions = RR_VERSIONS_AUTO;
	raw->world->answer = answer_small;
	raw_connect(raw);
	return raw;
}

/* Checks that a call of this version is refused, and that the answer names the versions low to high. */
static void
refused(struct raw *raw, uint32_t xid, uint32_t version, uint32_t low, uint32_t high)
{
	struct raw_message *message;

	SEND(raw, xid, version, 16, RR_RDMA_MSG, 0, 0, 0, xid, RR_CALL, 2);
	message = raw_next(raw);
	assert_int_equal(word(message, 0), xid);
	assert_int_equal(word(message, 1), version);
	assert_int_equal(word(message, 3), RR_RDMA_ERROR);
	assert_int_equal(word(message, 4), RR_ERR_VERS);
	assert_int_equal(word(message, 5), low);
	assert_int_equal(word(message, 6), high);
}

/* Checks that a call of this version is answered. */
static void
taken(struct raw *raw, uint32_t xid, uint32_t version)
{
	struct raw_message *message;

	SEND(raw, xid, version, 16, RR_RDMA_MSG, 0, 0, 0, xid, RR_CALL, 2);
	message = raw_next(raw);
	assert_int_equal(word(message, 0), xid);
	assert_int_equal(word(message, 1), version);
	assert_int_equal(word(message, 3), RR_RDMA_MSG);
}

/* 5.3: "a responder MUST send Replies with the same RPC-over-RDMA protocol version that the requester
 * uses". */
static void
each_call_is_answered_in_its_version(void **state)
{
	struct raw *raw = call_us(RR_VERSIONS_AUTO);

	(void)state;
	taken(raw, 1, 1);
	taken(raw, 2, 2);
	refused(raw, 3, 3, 1, 2);
	refused(raw, 4, 0, 1, 2);
	refused(raw, 5, UINT32_MAX, 1, 2);
	taken(raw, 6, 1);
	raw_end(raw);
}

static void
a_version_that_is_not_to_be_spoken_is_refused(void **state)
{
	struct raw *raw = call_us(RR_VERSIONS_1);

	(void)state;
	refused(raw, 1, 2, 1, 1);
	taken(raw, 2, 1);
	raw_end(raw);
	raw = call_us(RR_VERSIONS_2);
	refused(raw, 1, 1, 2, 2);
	taken(raw, 2, 2);
	raw_end(raw);
}

/* 4.2: "When the rdma_proc field has the value RDMA_MSG, an RPC Payload Stream MUST follow". "When the
 * rdma_proc field has any other value, an RPC Payload Stream MUST NOT follow". Section 4.2 has
 * RDMA_ERR_BAD_HEADER where version 1 has ERR_CHUNK. */
static void
a_bad_header_is_answered_as_such(void **state)
{
	struct raw *raw = call_us(RR_VERSIONS_AUTO);
	struct raw_message *message;

	(void)state;
	SEND(raw, 1, 2, 16, RR_RDMA_NOMSG, 0, 0, 0, 1, RR_CALL, 2);
	message = raw_next(raw);
	assert_int_equal(word(message, 1), 2);
	assert_int_equal(word(message, 3), RR_RDMA_ERROR);
	assert_int_equal(word(message, 4), RR_ERR_BAD_HEADER);
	SEND(raw, 4, 2, 16, RR_RDMA_MSG, 0, 0, 0);
	message = raw_next(raw);
	assert_int_equal(word(message, 3), RR_RDMA_ERROR);
	assert_int_equal(word(message, 4), RR_ERR_BAD_HEADER);
	/* By the XDR, an RDMA_MSGP has 16 octets. */
	for (uint32_t xid = 5; xid < 7; xid++) {
		if (xid == 5)
			SEND(raw, xid, 2, 16, RR_RDMA_MSGP);
		else
			SEND(raw, xid, 2, 16, RR_RDMA_MSGP, 0, 0, 0, 0);
		message = raw_next(raw);
		assert_int_equal(word(message, 0), xid);
		assert_int_equal(word(message, 4), RR_ERR_BAD_HEADER);
	}
	/* No Read chunk was exposed: a notification is dropped, and costs nothing. */
	SEND(raw, 2, 2, 16, RR_RDMA_DONE);
	taken(raw, 3, 2);
	raw_end(raw);
}

/* Checks that an optional message of an unknown type is refused with ERR_INVAL_OPTION. */
static void
option_is_refused(struct raw *raw, uint32_t xid)
{
	struct raw_message *message;

	SEND(raw, xid, 2, 16, RR_RDMA_OPTIONAL, 0x12345678, 5, 0x01020304, 0x05000000);
	message = raw_next(raw);
	assert_int_equal(word(message, 0), xid);
	assert_int_equal(word(message, 1), 2);
	assert_int_equal(word(message, 3), RR_RDMA_ERROR);
	assert_int_equal(word(message, 4), RR_ERR_INVAL_OPTION);
}

/* 3.1: the "rdma_xid field set to the same value as the erroneous message, the rdma_proc field set to
 * RDMA_ERROR, and the rdma_err field set to RDMA_ERR_INVAL_OPTION." */
static void
row_B13_an_unknown_optional_type_gets_err_inval_option(void **state)
{
	struct raw *raw = call_us(RR_VERSIONS_AUTO);

	(void)state;
	option_is_refused(raw, 7);
	SEND(raw, 8, 2, 16, RR_RDMA_OPTIONAL, 9, 0); /* the shortest such message */
	assert_int_equal(word(raw_next(raw), 4), RR_ERR_INVAL_OPTION);
	SEND(raw, 9, 2, 16, RR_RDMA_OPTIONAL, 9, 64); /* longer than the message */
	assert_int_equal(raw_next(raw)->length, 20);
	taken(raw, 10, 2);
	refused(raw, 11, 3, 1, 2);
	assert_int_equal(raw->world->server->counters.err_inval_option_sent, 2);
	assert_int_equal(raw->world->server->counters.err_vers_sent, 1);
	assert_int_equal(raw->world->server->counters.errors_sent, 4);
	raw_end(raw);
	/* The side that connected answers likewise. */
	raw = raw_responder(NULL);
	raw_agree(raw, 32);
	option_is_refused(raw, 7);
	raw_end(raw);
}

int
suite_version(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_of_ours_agree_on_version_2_and_4096_octets),
		cmocka_unit_test(the_reverse_direction_goes_in_version_2_too),
		cmocka_unit_test(each_call_is_answered_in_its_version),
		cmocka_unit_test(a_version_that_is_not_to_be_spoken_is_refused),
		cmocka_unit_test(a_bad_header_is_answered_as_such),
		cmocka_unit_test(row_B13_an_unknown_optional_type_gets_err_inval_option),
	};

	return cmocka_run_group_tests_name("version", tests, world_speak_both, world_speak_version_1);
}
