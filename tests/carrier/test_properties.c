/* SPDX-License-Identifier: BSD-3-Clause */
#include "carrier/rdma/features/feature.h"

#include "../hex.h"

/* The properties of draft-cel-nfsv4-rpcrdma-version-two-03, section 5, in messages of version-two-00. */

enum { XID = 7, SEND_MAX = 16384 };

static const uint32_t told[RR_PROPERTIES] = { 16384, RR_REVERSE_INLINE, 1, 1 };

/* CONNPROP with the receive buffer size 16384, which may change, and both experimental properties. */
static const char their_connprop[] = "00000003 00000001 00000004 00004000 ffffff00 00000004 00000001"
				     "ffffff01 00000004 00000001 00000001 00000006";
static const char small_connprop[] = "00000001 00000001 00000004 00001000 00000000";

struct side {
	struct rr_features features;
	struct rr_optional said; /* the answer, or the request that is to be sent */
};

static void
start(struct side *side)
{
	*side = (struct side){ 0 };
	rr_properties_init(&side->features.properties, told, 16384, SEND_MAX);
	assert_int_equal(rr_features_init(&side->features, &rr_env_system, NULL), 0);
}

/* Takes a request that is to be sent as the message that the side said. */
static void
take_request(struct side *side)
{
	struct rr_feature_request *request = &side->features.properties.request;

	if (request->message.due)
		side->said = request->message;
	request->message.due = false;
	rr_list_remove(&request->link);
}

static void
tell(struct side *side, uint32_t xid)
{
	side->said.due = false;
	rr_properties_tell(&side->features.properties, xid);
	take_request(side);
}

/* Lets a side receive an optional message with this information and payload. Returns what the side makes
 * of it. */
static int
hear_with(struct side *side, uint32_t opttype, const char *hex, const char *payload)
{
	struct rr_octets octets = rr_hex(hex);
	const struct rr_rdma_header header = {
		.xid = XID,
		.vers = RR_RPCRDMA_VERSION_2,
		.proc = RR_RDMA_OPTIONAL,
		.opttype = opttype,
		.optinfo = { octets.data, (uint32_t)octets.size },
	};

	int error = rr_feature_received(&side->features, &header,
		(struct rpcrdma_bytes){ payload, (uint32_t)strlen(payload) }, &side->said);

	take_request(side);
	return error;
}

static int
hear(struct side *side, uint32_t opttype, const char *hex)
{
	return hear_with(side, opttype, hex, "");
}

/* Checks that the side wants to answer with this optional message. */
static void
assert_said(const struct side *side, uint32_t opttype, const char *hex)
{
	struct rr_octets octets = rr_hex(hex);

	assert_true(side->said.due);
	assert_int_equal(side->said.opttype, opttype);
	assert_int_equal(side->said.info.length, octets.size);
	assert_memory_equal(side->said.info.data, octets.data, octets.size);
	assert_int_equal(side->said.payload.length, 0);
}

static uint32_t
peer_size(const struct side *side)
{
	return side->features.properties.peer[RR_PROPERTY_RECEIVE_SIZE];
}

static uint32_t
own_size(const struct side *side)
{
	return side->features.properties.own[RR_PROPERTY_RECEIVE_SIZE];
}

/* Exchanges the CONNPROPs of both sides. */
static void
agree(struct side *side, const char *connprop)
{
	start(side);
	tell(side, 3);
	assert_int_equal(hear(side, RR_CONNPROP, connprop), 0);
}

/* ---- The table ---- */

static void
each_feature_is_found_by_its_type(void **state)
{
	struct side side;
	void *state_of;

	(void)state;
	start(&side);
	for (uint32_t type = RR_CONNPROP; type <= RR_UPDPROP; type++)
		assert_int_equal(rr_feature_find(&side.features, type, &state_of)->opttype, type);
	assert_null(rr_feature_find(&side.features, 0, &state_of));
	assert_null(rr_feature_find(&side.features, 5, &state_of));
	assert_true(sizeof(struct rr_property_message) <= RR_FEATURE_PARSED_MAX);
}

/* version-two-00, 3.1: "When an implementation does not recognize or support the value contained in the
 * rdma_opttype field, it MUST send [...] the rdma_err field set to RDMA_ERR_INVAL_OPTION." */
static void
an_unknown_type_is_an_invalid_option(void **state)
{
	struct side side;

	(void)state;
	start(&side);
	assert_int_equal(hear(&side, 0, ""), RR_ERR_INVAL_OPTION);
	assert_int_equal(hear(&side, 5, their_connprop), RR_ERR_INVAL_OPTION);
	assert_int_equal(hear_with(&side, UINT32_MAX, "", "call"), RR_ERR_INVAL_OPTION);
	assert_false(side.said.due);
}

static void
what_is_malformed_has_no_effect(void **state)
{
	struct side side;

	(void)state;
	start(&side);
	assert_int_equal(hear(&side, RR_CONNPROP,
				 "00000002 00000001 00000004 00004000 ffffff00 00000004 00000002 00000000"),
		RR_ERR_BAD_HEADER);
	assert_false(side.said.due);
	assert_int_equal(peer_size(&side), 4096);
}

/* 5.3, table 2: "msg": "No". version-two-00, 3.2: each feature says whether "an RPC Payload Stream MUST or
 * MUST NOT follow". */
static void
properties_have_no_payload(void **state)
{
	struct side side;

	(void)state;
	start(&side);
	for (uint32_t type = RR_CONNPROP; type <= RR_UPDPROP; type++)
		assert_int_equal(
			hear_with(&side, type, "00000000 00000000 00000000", "call"), RR_ERR_BAD_HEADER);
	assert_int_equal(side.features.properties.state, RR_PROPERTIES_SILENT);
}

/* ---- CONNPROP ---- */

static void
defaults_hold_at_first(void **state)
{
	struct side side;

	(void)state;
	start(&side);
	for (uint32_t i = 0; i < RR_PROPERTIES; i++) {
		assert_int_equal(side.features.properties.own[i], rr_property_kinds[i].initial);
		assert_int_equal(side.features.properties.peer[i], rr_property_kinds[i].initial);
	}
	assert_false(rr_properties_read_chunks(&side.features.properties));
}

static void
ours_are_told_once(void **state)
{
	struct side side;

	(void)state;
	start(&side);
	tell(&side, 3);
	assert_said(&side, RR_CONNPROP,
		"00000004 00000001 00000004 00004000 00000002 00000004 00000001"
		"ffffff00 00000004 00000001 ffffff01 00000004 00000001 00000001 0000000f");
	tell(&side, 4);
	assert_false(side.said.due);
}

static void
a_size_that_can_be_raised_is_said_to_be_so(void **state)
{
	struct side side;

	(void)state;
	start(&side);
	side.features.properties.receive_max = 65536;
	tell(&side, 3);
	assert_int_equal(((const uint8_t *)side.said.info.data)[side.said.info.length - 1], 0xe);
}

/* 5.3.1: "the sender cannot assume that the receiver will necessarily take note of these properties". */
static void
ours_hold_only_when_the_peer_names_them_too(void **state)
{
	struct side side;

	(void)state;
	start(&side);
	tell(&side, 3);
	assert_int_equal(own_size(&side), 4096);
	assert_int_equal(hear(&side, RR_CONNPROP, small_connprop), 0);
	assert_int_equal(own_size(&side), 16384);
	assert_int_equal(side.features.properties.own[RR_PROPERTY_READ_CHUNKS], 0);
	assert_false(rr_properties_read_chunks(&side.features.properties));
}

static void
who_did_not_tell_answers(void **state)
{
	struct side side;

	(void)state;
	start(&side);
	assert_int_equal(hear(&side, RR_CONNPROP, their_connprop), 0);
	assert_true(side.said.due);
	assert_int_equal(side.said.opttype, RR_CONNPROP);
	assert_int_equal(peer_size(&side), 16384);
	assert_int_equal(own_size(&side), 16384);
	assert_true(rr_properties_read_chunks(&side.features.properties));
	assert_int_equal(hear(&side, RR_CONNPROP, their_connprop), 0);
	assert_false(side.said.due);
}

static void
two_of_our_kind_agree_in_two_messages(void **state)
{
	struct rr_octets octets = { .size = 0 };
	struct side client, server;
	struct rr_rdma_header header = { .xid = XID, .opttype = RR_CONNPROP };

	(void)state;
	start(&client);
	start(&server);
	tell(&client, 3);
	header.optinfo = client.said.info;
	assert_int_equal(rr_feature_received(
				 &server.features, &header, (struct rpcrdma_bytes){ NULL, 0 }, &server.said),
		0);
	octets.size = server.said.info.length;
	memcpy(octets.data, server.said.info.data, octets.size);
	header.optinfo = (struct rpcrdma_bytes){ octets.data, (uint32_t)octets.size };
	assert_int_equal(rr_feature_received(
				 &client.features, &header, (struct rpcrdma_bytes){ NULL, 0 }, &client.said),
		0);
	assert_false(client.said.due);
	assert_memory_equal(client.features.properties.own, server.features.properties.peer, sizeof(told));
	assert_memory_equal(client.features.properties.peer, server.features.properties.own, sizeof(told));
}

/* version-two-00, 2.3: "RPC-over-RDMA Version Two receiver implementations MUST support an inline threshold
 * of 4096 bytes". */
static void
a_peer_takes_4096_whatever_it_says(void **state)
{
	struct side side;

	(void)state;
	agree(&side, "00000001 00000001 00000004 00000001 00000001 00000001");
	assert_int_equal(peer_size(&side), 4096);
	assert_int_equal(hear(&side, RR_UPDPROP, "00000001 00000001 00000004 00000000"), 0);
	assert_int_equal(peer_size(&side), 4096);
}

static void
a_peer_that_refuses_has_the_defaults(void **state)
{
	struct side side;

	(void)state;
	start(&side);
	tell(&side, 3);
	assert_false(rr_properties_refused(&side.features.properties, 4));
	assert_int_equal(side.features.properties.state, RR_PROPERTIES_TOLD);
	assert_true(rr_properties_refused(&side.features.properties, 3));
	assert_int_equal(side.features.properties.state, RR_PROPERTIES_REFUSED);
	assert_int_equal(own_size(&side), 4096);
	assert_int_equal(hear(&side, RR_CONNPROP, their_connprop), 0);
	assert_false(side.said.due);
	assert_int_equal(peer_size(&side), 4096);
	assert_int_equal(own_size(&side), 4096);
}

static void
nothing_is_refused_that_was_not_said_or_was_taken(void **state)
{
	struct side side;

	(void)state;
	start(&side);
	assert_false(rr_properties_refused(&side.features.properties, 0));
	agree(&side, their_connprop);
	assert_false(rr_properties_refused(&side.features.properties, 3));
	assert_int_equal(own_size(&side), 16384);
}

/* ---- REQPROP and RESPPROP ---- */

static void
larger_receives_are_granted_as_far_as_they_go(void **state)
{
	struct side side;

	(void)state;
	start(&side);
	side.features.properties.receive_max = 65536;
	tell(&side, 3);
	assert_int_equal(hear(&side, RR_CONNPROP, their_connprop), 0);
	assert_int_equal(hear(&side, RR_REQPROP, "00000001 00000001 00000004 00008000"), 0);
	assert_said(&side, RR_RESPPROP, "00000001 00000001 00000001 00000000 00000000");
	assert_int_equal(own_size(&side), 32768);
	/* "a value different from the original value in effect when the change was requested and from the
	 * requested value" */
	assert_int_equal(hear(&side, RR_REQPROP, "00000001 00000001 00000004 00100000"), 0);
	assert_said(&side, RR_RESPPROP,
		"00000001 00000000 00000001 00000000 00000001 00000001 00000004 00010000");
	assert_int_equal(own_size(&side), 65536);
	assert_int_equal(hear(&side, RR_REQPROP, "00000001 00000001 00000004 00100000"), 0);
	assert_said(&side, RR_RESPPROP, "00000001 00000000 00000001 00000001 00000000");
}

/* 5.3.2: "The partner need not change the properties as requested": it does not grant smaller sizes, as a
 * call under way has made no other room for its reply. */
static void
smaller_receives_are_not_granted(void **state)
{
	struct side side;

	(void)state;
	agree(&side, their_connprop);
	assert_int_equal(hear(&side, RR_REQPROP, "00000001 00000001 00000004 00001000"), 0);
	assert_said(&side, RR_RESPPROP, "00000001 00000000 00000001 00000001 00000000");
	assert_int_equal(own_size(&side), 16384);
}

/* 5.3.3: the subsets "MUST NOT overlap, and when ored together, should cover the entire set of properties
 * specified by rdma_want". A property for which "The particular property specified is not known" is
 * rejected. */
static void
each_wanted_property_is_disposed_of_once(void **state)
{
	struct side side;
	char hex[1024] = "00000022";

	(void)state;
	start(&side);
	side.features.properties.receive_max = 65536;
	tell(&side, 3);
	for (int i = 0; i < 31; i++)
		strcat(hex, "00000009 00000000");
	strcat(hex, "00000001 00000004 7fffffff 00000002 00000004 00000002 ffffff00 00000004 00000001");
	assert_int_equal(hear(&side, RR_REQPROP, hex), 0);
	assert_said(&side, RR_RESPPROP,
		"00000002 00000000 00000002 00000002 7fffffff 00000001 00000001 00000001 00000004 00010000");
}

static void
who_told_nothing_grants_nothing(void **state)
{
	struct side side;

	(void)state;
	start(&side);
	side.features.properties.receive_max = 65536;
	assert_int_equal(hear(&side, RR_REQPROP, "00000001 00000001 00000004 00008000"), 0);
	assert_said(&side, RR_RESPPROP, "00000001 00000000 00000001 00000001 00000000");
	assert_int_equal(own_size(&side), 4096);
}

static void
a_peer_with_small_receives_is_asked_for_larger_ones(void **state)
{
	struct side side;

	(void)state;
	agree(&side, small_connprop);
	assert_said(&side, RR_REQPROP, "00000001 00000001 00000004 00004000");
	assert_int_equal(peer_size(&side), 4096);
	assert_int_equal(hear(&side, RR_RESPPROP, "00000001 00000001 00000000 00000000"), 0);
	assert_int_equal(peer_size(&side), 16384);
	/* the peer says that it cannot change */
	agree(&side, "00000001 00000001 00000004 00001000 00000001 00000001");
	assert_false(side.said.due);
	agree(&side, their_connprop); /* the peer's Receives are as large as this side can fill */
	assert_false(side.said.due);
}

static void
what_is_rejected_stays(void **state)
{
	struct side side;

	(void)state;
	agree(&side, small_connprop);
	assert_int_equal(hear(&side, RR_RESPPROP, "00000000 00000001 00000001 00000000"), 0);
	assert_int_equal(peer_size(&side), 4096);
	assert_int_equal(hear(&side, RR_RESPPROP, "00000001 00000001 00000000 00000000"), 0);
	assert_int_equal(peer_size(&side), 4096); /* that was one answer too many */
	agree(&side, small_connprop);
	assert_false(rr_properties_refused(&side.features.properties, XID + 1));
	assert_true(side.features.properties.asked);
	assert_true(rr_properties_refused(&side.features.properties, XID));
	assert_int_equal(hear(&side, RR_RESPPROP, "00000001 00000001 00000000 00000000"), 0);
	assert_int_equal(peer_size(&side), 4096);
}

static void
another_value_is_taken(void **state)
{
	struct side side;

	(void)state;
	agree(&side, small_connprop);
	assert_int_equal(
		hear(&side, RR_RESPPROP, "00000000 00000000 00000001 00000001 00000004 00002000"), 0);
	assert_int_equal(peer_size(&side), 8192);
}

/* 5.3.3: "The rdma_xid field of this message must match that used in the RDMA2_REQPROP message". */
static void
a_response_to_another_request_is_none(void **state)
{
	struct side side;

	(void)state;
	agree(&side, small_connprop);
	side.features.properties.asked_xid = XID + 1;
	assert_int_equal(hear(&side, RR_RESPPROP, "00000001 00000001 00000000 00000000"), 0);
	assert_int_equal(peer_size(&side), 4096);
	assert_true(side.features.properties.asked);
}

/* 5.3.3: "The sender MUST NOT include rpcrdma2_propval items within rdma_other that are for properties other
 * than the ones for which the corresponding property request has requested a change. If the receiver finds
 * such a situation, it MUST ignore the erroneous rpcrdma2_propval items." */
static void
what_was_not_asked_for_is_ignored(void **state)
{
	struct side side;

	(void)state;
	agree(&side, small_connprop);
	assert_int_equal(
		hear(&side, RR_RESPPROP,
			"00000000 00000000 00000002 ffffff00 00000004 00000001 00000001 00000004 00002000"),
		0);
	assert_int_equal(peer_size(&side), 8192);
	assert_int_equal(side.features.properties.peer[RR_PROPERTY_READ_CHUNKS], 0);
}

/* 5.3.3: "If the receiver finds such an overlap or mismatch, it SHOULD treat properties missing or within the
 * overlap as having been rejected." */
static void
what_overlaps_or_is_missing_is_rejected(void **state)
{
	static const char *const bad[] = {
		"00000001 00000001 00000001 00000001 00000000",
		"00000001 00000001 00000000 00000001 00000001 00000004 00002000",
		"00000000 00000001 00000001 00000001 00000001 00000004 00002000",
		"00000000 00000000 00000000",
	};
	struct side side;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		agree(&side, small_connprop);
		assert_int_equal(hear(&side, RR_RESPPROP, bad[i]), 0);
		assert_int_equal(peer_size(&side), 4096);
		assert_false(side.features.properties.asked);
	}
}

/* ---- UPDPROP ---- */

/* 5.3.4: "rdma_now defines the new property values to be used." */
static void
an_update_takes_effect_at_once(void **state)
{
	struct side side;

	(void)state;
	agree(&side, their_connprop);
	assert_int_equal(hear(&side, RR_UPDPROP, "00000001 00000001 00000004 00010000"), 0);
	assert_false(side.said.due);
	assert_int_equal(peer_size(&side), 65536);
	assert_int_equal(
		hear(&side, RR_UPDPROP, "00000002 00000001 00000004 00002000 ffffff00 00000004 00000000"), 0);
	assert_int_equal(peer_size(&side), 8192);
	assert_false(rr_properties_read_chunks(&side.features.properties));
}

/* 5.3.1: "Properties not included in rdma_start are to be treated by the peer endpoint as having the default
 * value and are not allowed to change subsequently." */
static void
what_was_not_told_does_not_change(void **state)
{
	struct side side;

	(void)state;
	start(&side);
	assert_int_equal(hear(&side, RR_UPDPROP, "00000001 00000001 00000004 00010000"), 0);
	assert_int_equal(peer_size(&side), 4096);
	agree(&side, small_connprop);
	assert_int_equal(hear(&side, RR_UPDPROP, "00000001 ffffff00 00000004 00000001"), 0);
	assert_int_equal(side.features.properties.peer[RR_PROPERTY_READ_CHUNKS], 0);
}

static void
what_a_second_connprop_leaves_out_is_the_default(void **state)
{
	struct side side;

	(void)state;
	agree(&side, their_connprop);
	assert_int_equal(hear(&side, RR_CONNPROP, "00000000 00000000"), 0);
	assert_int_equal(peer_size(&side), 4096);
	assert_int_equal(own_size(&side), 4096);
	assert_int_equal(side.features.properties.peer[RR_PROPERTY_REVERSE], RR_REVERSE_INLINE);
	assert_false(rr_properties_read_chunks(&side.features.properties));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_feature_is_found_by_its_type),
		cmocka_unit_test(an_unknown_type_is_an_invalid_option),
		cmocka_unit_test(what_is_malformed_has_no_effect),
		cmocka_unit_test(properties_have_no_payload),
		cmocka_unit_test(defaults_hold_at_first),
		cmocka_unit_test(ours_are_told_once),
		cmocka_unit_test(a_size_that_can_be_raised_is_said_to_be_so),
		cmocka_unit_test(ours_hold_only_when_the_peer_names_them_too),
		cmocka_unit_test(who_did_not_tell_answers),
		cmocka_unit_test(two_of_our_kind_agree_in_two_messages),
		cmocka_unit_test(a_peer_takes_4096_whatever_it_says),
		cmocka_unit_test(a_peer_that_refuses_has_the_defaults),
		cmocka_unit_test(nothing_is_refused_that_was_not_said_or_was_taken),
		cmocka_unit_test(larger_receives_are_granted_as_far_as_they_go),
		cmocka_unit_test(smaller_receives_are_not_granted),
		cmocka_unit_test(each_wanted_property_is_disposed_of_once),
		cmocka_unit_test(who_told_nothing_grants_nothing),
		cmocka_unit_test(a_peer_with_small_receives_is_asked_for_larger_ones),
		cmocka_unit_test(what_is_rejected_stays),
		cmocka_unit_test(another_value_is_taken),
		cmocka_unit_test(a_response_to_another_request_is_none),
		cmocka_unit_test(what_was_not_asked_for_is_ignored),
		cmocka_unit_test(what_overlaps_or_is_missing_is_rejected),
		cmocka_unit_test(an_update_takes_effect_at_once),
		cmocka_unit_test(what_was_not_told_does_not_change),
		cmocka_unit_test(what_a_second_connprop_leaves_out_is_the_default),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
