/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "../test.h"
#include "node.h"

static struct node *node;

static int
setup(void **state)
{
	struct rr_fabric_config config = rr_fabric_config_default;

	(void)state;
	config.read_max = 8;
	node = node_new(&config);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	node_free(node);
	return 0;
}

/* Returns the node's reply to this request, which it accepts. */
static struct rr_mpa_frame
answer_to(const struct rr_mpa_frame *request)
{
	struct rr_mpa_frame reply;
	uint8_t data[RR_MPA_FRAME_MAX];
	size_t size = rr_mpa_put(data, sizeof(data), request), used;

	assert_true(size > 0);
	assert_int_equal(rr_iwarp_respond(&node->iwarp), 0);
	node_feed(node, data, size, 7, NULL);
	if (node->iwarp.state == RR_IWARP_ASKED)
		assert_int_equal(rr_iwarp_accept(&node->iwarp, "\1\2\3\4\5\6\7\10", 8), 0);
	node_collect(node);
	assert_int_equal(rr_mpa_get(node->out, node->out_size, true, &reply, &used), RR_MPA_OK);
	assert_int_equal(used, node->out_size);
	return reply;
}

static void
the_request_of_linux_is_answered_as_linux_wants_it(void **state)
{
	struct rr_mpa_frame request = { .revision = 2,
		.enhanced = true,
		.ird = 128,
		.ord = 0,
		.private_data = (const uint8_t *)"\xf6\xab\x0e\x18\1\1\3\3",
		.private_data_length = 8 };
	struct rr_mpa_frame reply = answer_to(&request);

	(void)state;
	assert_int_equal(reply.revision, 2);
	assert_true(reply.enhanced);
	assert_false(reply.crc || reply.markers || reply.reject || reply.peer_to_peer);
	assert_int_equal(reply.ird, 0);
	assert_int_equal(reply.ord, 8);
	assert_int_equal(reply.private_data_length, 8);
	assert_int_equal(node->iwarp.tx.ord, 8);
	assert_int_equal(node->iwarp.tx.ird, 0);
}

/* RFC 6581, 9.1: each side's ORD is at most the other's IRD. */
static void
depths_are_bounded_by_both_sides(void **state)
{
	struct rr_mpa_frame request = { .revision = 2, .enhanced = true, .ird = 3, .ord = 100 };
	struct rr_mpa_frame reply = answer_to(&request);

	(void)state;
	assert_int_equal(reply.ird, 8);
	assert_int_equal(reply.ord, 3);
	assert_int_equal(node->iwarp.tx.ord, 3);
	assert_int_equal(node->iwarp.tx.ird, 8);
}

/* RFC 6581, 9.1: "leaving its local endpoint IRD value unchanged and setting the IRD to 0x3FFF in its reply".
 */
static void
depths_that_are_not_to_be_negotiated_are_not(void **state)
{
	struct rr_mpa_frame request = {
		.revision = 2, .enhanced = true, .ird = RR_MPA_DEPTH_MAX, .ord = RR_MPA_DEPTH_MAX
	};
	struct rr_mpa_frame reply = answer_to(&request);

	(void)state;
	assert_int_equal(reply.ird, RR_MPA_DEPTH_MAX);
	assert_int_equal(reply.ord, RR_MPA_DEPTH_MAX);
	assert_int_equal(node->iwarp.tx.ord, 8);
	assert_int_equal(node->iwarp.tx.ird, 8);
}

/* RFC 6581, 9.2: "the responder MUST set Control Flag A to 1 in the MPA reply message" and an RTR option. */
static void
a_peer_to_peer_request_gets_an_rtr_option(void **state)
{
	struct rr_mpa_frame request = {
		.revision = 2, .enhanced = true, .ird = 1, .ord = 0, .peer_to_peer = true, .rtr_read = true
	};
	struct rr_mpa_frame reply = answer_to(&request);

	(void)state;
	assert_true(reply.peer_to_peer && reply.rtr_read && !reply.rtr_write && !reply.rtr_send);
	assert_int_equal(reply.ird, 1);
	assert_int_equal(node->iwarp.tx.ird, 1);
}

/* RFC 6581, 6: "MUST continue to accept MPA Requests with version one". */
static void
revision_1_is_answered_by_revision_1(void **state)
{
	struct rr_mpa_frame request = { .revision = 1, .crc = true };
	struct rr_mpa_frame reply = answer_to(&request);

	(void)state;
	assert_int_equal(reply.revision, 1);
	assert_false(reply.enhanced);
	assert_true(reply.crc);
	assert_true(node->iwarp.crc);
	assert_int_equal(reply.private_data_length, 8);
	assert_int_equal(node->iwarp.tx.ord, 1);
}

/* RFC 5044, 4.3: "All MPA senders MUST be able to generate Markers when their use is declared by the opposing
 * receiver". The reply says whether this side wants markers. */
static void
a_request_for_markers_is_granted(void **state)
{
	struct rr_mpa_frame request = {
		.revision = 2, .enhanced = true, .markers = true, .ird = 1, .ord = 1
	};
	struct rr_mpa_frame reply = answer_to(&request);

	(void)state;
	assert_false(reply.reject || reply.markers);
	assert_true(node->iwarp.tx.markers);
	assert_false(node->iwarp.rx.markers);
}

/* RFC 5044, 7.1.1: where the bit is 1 in either frame, "CRCs MUST be generated and checked by both
 * endpoints". */
static void
crc_is_used_where_the_responder_or_the_initiator_wants_it(void **state)
{
	for (int wanted = 0; wanted < 4; wanted++) {
		struct rr_mpa_frame request = {
			.revision = 2, .enhanced = true, .ird = 1, .crc = wanted & 1
		};
		struct rr_mpa_frame reply;

		node->config.crc = wanted & 2;
		reply = answer_to(&request);
		assert_int_equal(reply.crc, wanted != 0);
		assert_int_equal(node->iwarp.crc, wanted != 0);
		teardown(state);
		setup(state);
	}
}

/* RFC 5044, 7.1.2: the responder sends its MPA frame first, also to a peer that did not wait for it and sent
 * something wrong: octets behind the request are not looked at before. */
static void
what_comes_before_the_reply_has_left_waits(void **state)
{
	static const uint8_t wrong[24] = { 0, 18, 0x41, 0x4f }; /* a message with an unknown operation */
	struct rr_mpa_frame request = { .revision = 2, .enhanced = true, .ird = 1, .ord = 1 }, reply;
	uint8_t data[RR_MPA_FRAME_MAX];
	size_t used;

	(void)state;
	assert_int_equal(rr_iwarp_respond(&node->iwarp), 0);
	node_feed(node, data, rr_mpa_put(data, sizeof(data), &request), 100, NULL);
	assert_int_equal(rr_iwarp_accept(&node->iwarp, NULL, 0), 0);
	assert_int_equal(node_feed(node, wrong, sizeof(wrong), 100, NULL), 0);
	node_collect(node);
	assert_int_equal(rr_mpa_get(node->out, node->out_size, true, &reply, &used), RR_MPA_OK);
	assert_int_equal(used, node->out_size);
	node_clear(node);
	node_feed(node, wrong, sizeof(wrong), 100, NULL);
	assert_int_equal(node->iwarp.state, RR_IWARP_CLOSING);
	assert_int_equal(node_terminate_cause(node), RR_CAUSE_RDMAP_OPCODE);
}

/* A reply that comes before the request has left does not answer that request. */
static void
a_reply_waits_until_the_request_has_left(void **state)
{
	struct iovec vectors[2];

	(void)state;
	assert_int_equal(rr_iwarp_initiate(&node->iwarp, NULL, 0), 0);
	assert_int_equal(rr_iwarp_space(&node->iwarp, vectors), 0);
	node_collect(node);
	assert_int_equal(rr_iwarp_space(&node->iwarp, vectors), 1);
}

/* The private data of the request may be the private data of the reply. */
static void
private_data_may_be_answered_by_itself(void **state)
{
	struct rr_mpa_frame request = {
		.revision = 1, .private_data = (const uint8_t *)"to and fro", .private_data_length = 10
	};
	struct rr_mpa_frame reply;
	const struct rr_mpa_frame *asked;
	uint8_t data[RR_MPA_FRAME_MAX];
	size_t used;

	(void)state;
	assert_int_equal(rr_iwarp_respond(&node->iwarp), 0);
	node_feed(node, data, rr_mpa_put(data, sizeof(data), &request), 100, NULL);
	asked = &node->iwarp.setup->request;
	assert_int_equal(rr_iwarp_accept(&node->iwarp, asked->private_data, asked->private_data_length), 0);
	node_collect(node);
	assert_int_equal(rr_mpa_get(node->out, node->out_size, true, &reply, &used), RR_MPA_OK);
	assert_int_equal(reply.private_data_length, 10);
	assert_memory_equal(reply.private_data, "to and fro", 10);
}

/* Feeds the node, an initiator, with this reply. Returns 0 where the connection is open then, else the status
 * that it ended with. */
static int
outcome_of(const void *reply, size_t size, bool eof)
{
	assert_int_equal(rr_iwarp_initiate(&node->iwarp, NULL, 0), 0);
	node_collect(node);
	node_clear(node);
	node_feed(node, reply, size, 1, NULL);
	if (eof)
		rr_iwarp_eof(&node->iwarp);
	return node->iwarp.state == RR_IWARP_OPEN ? 0 : node->iwarp.status;
}

static int
outcome_of_frame(const struct rr_mpa_frame *reply)
{
	uint8_t data[RR_MPA_FRAME_MAX];

	return outcome_of(data, rr_mpa_put(data, sizeof(data), reply), false);
}

static void
the_initiators_depths_follow_the_reply(void **state)
{
	struct rr_mpa_frame reply = {
		.reply = true, .revision = 2, .enhanced = true, .ird = 2, .ord = 5, .crc = true
	};

	(void)state;
	assert_int_equal(outcome_of_frame(&reply), 0);
	assert_int_equal(node->iwarp.tx.ord, 2);
	assert_int_equal(node->iwarp.tx.ird, 5);
	assert_true(node->iwarp.crc);
	assert_string_equal(node->log, "established 0 0, 0 octets 00000000, invalidated 0 00000000\n");
}

/* RFC 6581, 9.1: an IRD of 0 takes no RDMA Read at all. */
static void
a_responder_that_takes_no_reads_gets_none(void **state)
{
	struct rr_mpa_frame reply = { .reply = true, .revision = 2, .enhanced = true, .ird = 0, .ord = 1 };

	(void)state;
	assert_int_equal(outcome_of_frame(&reply), 0);
	assert_int_equal(node_post(node, RR_WORK_READ, NULL, 0, 1, 0, 1), -RPCRDMA_ERR_NOTSUP);
	assert_int_equal(node_post(node, RR_WORK_WRITE, NULL, 0, 1, 0, 1), 0);
}

/* RFC 5044, 7.1.1, as above: a reply without the bit does not take back the CRCs that the initiator asked
 * for. */
static void
crc_is_used_where_the_initiator_or_the_responder_wants_it(void **state)
{
	for (int wanted = 0; wanted < 4; wanted++) {
		struct rr_mpa_frame reply = {
			.reply = true, .revision = 2, .enhanced = true, .ird = 1, .ord = 1, .crc = wanted & 1
		};

		node->config.crc = wanted & 2;
		assert_int_equal(outcome_of_frame(&reply), 0);
		assert_int_equal(node->iwarp.crc, wanted != 0);
		teardown(state);
		setup(state);
	}
}

/* RFC 6581, 9.1: "the TERM message MUST contain Layer 2, Error Type 0, Error Code 6." */
static void
a_responder_that_wants_too_many_reads_is_terminated(void **state)
{
	struct rr_mpa_frame reply = { .reply = true, .revision = 2, .enhanced = true, .ird = 2, .ord = 9 };

	(void)state;
	assert_int_equal(outcome_of_frame(&reply), -RPCRDMA_ERR_PEER);
	assert_int_equal(node_terminate_cause(node), RR_CAUSE_MPA_IRD);
	assert_string_equal(node->log, "");
}

static void *
have_nothing(void *ctx, void *old, size_t size)
{
	(void)ctx;
	if (!size)
		free(old);
	return NULL;
}

/* RFC 6581, 9.3: "The initiator or responder MUST generate the TERM message that contains Layer 2, Error Type
 * 0, Error Code 5 when it encounters any error locally for which the special Error Code is not defined". */
static void
an_initiator_without_memory_says_so(void **state)
{
	struct rr_mpa_frame reply = { .reply = true, .revision = 2, .enhanced = true, .ird = 1, .ord = 1 };
	uint8_t data[RR_MPA_FRAME_MAX];

	(void)state;
	assert_int_equal(rr_iwarp_initiate(&node->iwarp, NULL, 0), 0);
	node_collect(node);
	node_clear(node);
	node->env.realloc = have_nothing;
	node_feed(node, data, rr_mpa_put(data, sizeof(data), &reply), 100, NULL);
	node_collect(node);
	assert_int_equal(node->iwarp.status, -RPCRDMA_ERR_NOMEM);
	assert_int_equal(node_terminate_cause(node), RR_CAUSE_MPA_CATASTROPHIC);
	assert_string_equal(node->log, "");
}

static void
a_rejection_is_one_whatever_else_it_says(void **state)
{
	struct rr_mpa_frame reply = { .reply = true,
		.revision = 1,
		.reject = true,
		.markers = true,
		.private_data = (const uint8_t *)"too many",
		.private_data_length = 8 };

	(void)state;
	assert_int_equal(outcome_of_frame(&reply), -RPCRDMA_ERR_REJECTED);
	assert_int_equal(node->iwarp.reason_size, 8);
	assert_memory_equal(node->iwarp.reason, "too many", 8);
}

static void
a_reply_may_ask_for_markers(void **state)
{
	struct rr_mpa_frame reply = { .reply = true, .revision = 2, .enhanced = true, .markers = true };

	(void)state;
	assert_int_equal(outcome_of_frame(&reply), 0);
	assert_true(node->iwarp.tx.markers);
}

static void
a_reply_without_depths_is_refused(void **state)
{
	struct rr_mpa_frame reply = { .reply = true, .revision = 1 };

	(void)state;
	assert_int_equal(outcome_of_frame(&reply), -RPCRDMA_ERR_PEER);
	assert_non_null(strstr(node->iwarp.text.text, "IRD"));
}

/* A peer that closes without an answer is asked again, with the same private data in revision 1. */
static void
who_does_not_answer_is_asked_with_revision_1(void **state)
{
	struct rr_mpa_frame reply = { .reply = true, .revision = 1 }, request;
	uint8_t data[RR_MPA_FRAME_MAX];
	size_t used;

	(void)state;
	assert_int_equal(rr_iwarp_initiate(&node->iwarp, "private", 7), 0);
	node_collect(node);
	node_clear(node);
	rr_iwarp_eof(&node->iwarp);
	assert_int_equal(node->iwarp.state, RR_IWARP_OVER);
	assert_true(node->iwarp.again);
	assert_int_equal(rr_iwarp_initiate_again(&node->iwarp), 0);
	node_collect(node);
	assert_int_equal(rr_mpa_get(node->out, node->out_size, false, &request, &used), RR_MPA_OK);
	assert_int_equal(request.revision, 1);
	assert_int_equal(request.private_data_length, 7);
	assert_memory_equal(request.private_data, "private", 7);
	node_feed(node, data, rr_mpa_put(data, sizeof(data), &reply), 1, NULL);
	assert_int_equal(node->iwarp.state, RR_IWARP_OPEN);
	assert_int_equal(node->iwarp.tx.ord, 1);
}

static void
who_does_not_answer_twice_is_given_up(void **state)
{
	(void)state;
	assert_int_equal(outcome_of("", 0, true), -RPCRDMA_ERR_PEER);
	assert_int_equal(rr_iwarp_initiate_again(&node->iwarp), 0);
	rr_iwarp_eof(&node->iwarp);
	assert_false(node->iwarp.again);
	assert_int_equal(node->iwarp.status, -RPCRDMA_ERR_PEER);
}

/* A reply in peer-to-peer mode, still without an RTR indication. */
static const struct rr_mpa_frame peer_to_peer_reply = {
	.reply = true, .revision = 2, .enhanced = true, .ird = 1, .ord = 1, .peer_to_peer = true
};

/* RFC 6581, 9.2: the initiator offers an RTR indication, and sends the one that the responder chose before
 * all else. */
static void
peer_to_peer_mode_begins_with_a_zero_length_write(void **state)
{
	struct rr_mpa_frame reply = peer_to_peer_reply;

	(void)state;
	reply.rtr_write = true;
	node->config.peer_to_peer = true;
	assert_int_equal(outcome_of_frame(&reply), 0);
	node_collect(node);
	assert_int_equal(node->out_size, 20);
	assert_memory_equal(node->out, "\0\16\xc1\x40", 4);
}

static void
another_rtr_indication_than_offered_is_refused(void **state)
{
	struct rr_mpa_frame reply = peer_to_peer_reply;

	(void)state;
	reply.rtr_read = true;
	node->config.peer_to_peer = true;
	assert_int_equal(outcome_of_frame(&reply), -RPCRDMA_ERR_PEER);
	assert_int_equal(node_terminate_cause(node), RR_CAUSE_MPA_RTR);
}

static void
other_protocols_are_told_apart(void **state)
{
	(void)state;
	assert_int_equal(outcome_of("HTTP/1.1 400 Bad Request\r\n", 26, false), -RPCRDMA_ERR_PEER);
	assert_non_null(strstr(node->iwarp.text.text, "it does not speak iWARP (MPA): it answered \"H"));
	teardown(NULL);
	setup(NULL);
	assert_int_equal(outcome_of("", 0, true), -RPCRDMA_ERR_PEER);
	assert_non_null(strstr(node->iwarp.text.text, "without a reply"));
	teardown(NULL);
	setup(NULL);
	assert_int_equal(outcome_of("MPA ID Rep Fr", 13, true), -RPCRDMA_ERR_PEER);
	assert_non_null(strstr(node->iwarp.text.text, "in the middle of a reply"));
	teardown(NULL);
	setup(NULL);
	/* RFC 5044, 7.1.2: "check for incorrect "Initiator/Initiator" startups". */
	assert_int_equal(outcome_of("MPA ID Req Frame", 16, false), -RPCRDMA_ERR_PEER);
}

static void
bad_requests_are_not_answered(void **state)
{
	static const char *const requests[] = { "GET / HTTP/1.1\r\n\r\nxx", "MPA ID Rep Frame\0\2\0\0",
		"MPA ID Req Frame\0\3\0\0", "MPA ID Req Frame\0\0\0\0", "MPA ID Req Frame\x10\2\0\3",
		"MPA ID Req Frame\0\2\2\1" };

	(void)state;
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		assert_int_equal(rr_iwarp_respond(&node->iwarp), 0);
		node_feed(node, (const uint8_t *)requests[i], 20, 3, NULL);
		assert_int_equal(node->iwarp.state, RR_IWARP_OVER);
		node_collect(node);
		assert_int_equal(node->out_size, 0);
		teardown(NULL);
		setup(NULL);
	}
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_request_of_linux_is_answered_as_linux_wants_it),
		TEST(depths_are_bounded_by_both_sides),
		TEST(depths_that_are_not_to_be_negotiated_are_not),
		TEST(a_peer_to_peer_request_gets_an_rtr_option),
		TEST(revision_1_is_answered_by_revision_1),
		TEST(a_request_for_markers_is_granted),
		TEST(crc_is_used_where_the_responder_or_the_initiator_wants_it),
		TEST(crc_is_used_where_the_initiator_or_the_responder_wants_it),
		TEST(what_comes_before_the_reply_has_left_waits),
		TEST(a_reply_waits_until_the_request_has_left),
		TEST(private_data_may_be_answered_by_itself),
		TEST(the_initiators_depths_follow_the_reply),
		TEST(a_responder_that_takes_no_reads_gets_none),
		TEST(a_responder_that_wants_too_many_reads_is_terminated),
		TEST(an_initiator_without_memory_says_so),
		TEST(a_rejection_is_one_whatever_else_it_says),
		TEST(a_reply_may_ask_for_markers),
		TEST(a_reply_without_depths_is_refused),
		TEST(who_does_not_answer_is_asked_with_revision_1),
		TEST(who_does_not_answer_twice_is_given_up),
		TEST(peer_to_peer_mode_begins_with_a_zero_length_write),
		TEST(another_rtr_indication_than_offered_is_refused),
		TEST(other_protocols_are_told_apart),
		TEST(bad_requests_are_not_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
