/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of flavors: the octets that each flavor adds are those that the codecs write, and placement is
 * as each flavor allows. */
#include "../hex.h"

#include "rpc/auth.h"

static const struct rr_auth *const flavors[] = { &rr_auth_none, &rr_auth_sys, &rr_auth_short, &rr_auth_gss };

enum { FLAVORS = sizeof(flavors) / sizeof(flavors[0]) };

static void
each_flavor_is_found_by_its_number(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < FLAVORS; i++)
		assert_ptr_equal(rr_auth_find(flavors[i]->flavor), flavors[i]);
	assert_null(rr_auth_find(3));
	assert_null(rr_auth_find(7));
	assert_null(rr_auth_find(UINT32_MAX));
}

/* RFC 5531, 10: AUTH_NONE "MUST be available in all implementations." */
static void
what_is_served_is_complete_and_has_no_less_than_none(void **state)
{
	bool none = false;

	(void)state;
	for (const struct rr_auth *const *auth = rr_auth_served; *auth; auth++) {
		none |= *auth == &rr_auth_none;
		assert_non_null((*auth)->take);
		assert_true((*auth)->answer_adds >= RR_AUTH_FIXED);
		assert_true((*auth)->answer_adds <= (*auth)->reply_adds);
	}
	assert_true(none);
}

/* Returns the octets of the largest credential that a client here can have, with its verifier. */
static uint32_t
largest_call(const struct rr_auth *auth)
{
	struct rpcrdma_auth_sys user = { .gid_count = RR_AUTH_SYS_GIDS };
	uint8_t body[RR_AUTH_BODY_MAX], out[RR_RPC_CALL_HEADER_MAX];
	struct rpcrdma_xdr_writer writer;
	struct rr_call_header call = { .cred.flavor = auth->flavor };

	memset(user.machine, 'm', RR_AUTH_SYS_NAME);
	rpcrdma_xdr_writer_init(&writer, body, sizeof(body), NULL, 0);
	auth->put(&writer, &user);
	assert_false(writer.failed);
	call.cred.body = (struct rpcrdma_bytes){ body, (uint32_t)rpcrdma_xdr_length(&writer) };
	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_rpc_put_call(&writer, &call);
	assert_false(writer.failed);
	return (uint32_t)rpcrdma_xdr_length(&writer);
}

static void
a_flavor_adds_to_calls_what_it_says(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < FLAVORS; i++) {
		assert_true(RR_RPC_CALL_FIXED + flavors[i]->call_adds <= RR_RPC_CALL_HEADER_MAX);
		if (flavors[i]->put)
			assert_int_equal(largest_call(flavors[i]), RR_RPC_CALL_FIXED + flavors[i]->call_adds);
	}
}

/* RFC 5531, 8.2: a verifier is "followed by up to 400 bytes of opaque authentication data", for any
 * flavor. */
static void
room_is_for_the_largest_verifier_that_a_server_may_send(void **state)
{
	static const uint8_t body[RR_AUTH_BODY_MAX];
	const struct rr_reply_header reply = { .verf = { RR_AUTH_SHORT, { body, sizeof(body) } } };
	uint8_t out[RR_RPC_REPLY_HEADER_MAX];
	struct rpcrdma_xdr_writer writer;

	(void)state;
	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_rpc_put_reply(&writer, &reply);
	for (uint32_t i = 0; i < FLAVORS; i++)
		assert_int_equal(rpcrdma_xdr_length(&writer), RR_RPC_REPLY_FIXED + flavors[i]->reply_adds);
}

static bool
may_place(uint32_t flavor, const char *body)
{
	const struct rr_octets octets = rr_hex(body);

	return rr_auth_may_place(&(struct rr_opaque_auth){ flavor, { octets.data, (uint32_t)octets.size } });
}

static void
flavors_that_leave_data_as_it_is_allow_placement(void **state)
{
	(void)state;
	assert_true(may_place(RR_AUTH_NONE, ""));
	assert_true(may_place(RR_AUTH_SYS, "00000000 00000000 00000000 00000000 00000000"));
	assert_true(may_place(RR_AUTH_SHORT, "12345678"));
}

/* RFC 8166, 8.2.2.2: "The RPCSEC_GSS authentication service has no impact on the DDP-eligibility of data
 * items in a ULP." 8.2.2.3: "a sender MUST NOT reduce a Payload stream when RPCSEC_GSS integrity or
 * encryption services are in use." */
static void
of_rpcsec_gss_only_the_authentication_service_allows_placement(void **state)
{
	(void)state;
	assert_true(may_place(RR_RPCSEC_GSS, "00000001 00000000 00000007 00000001 00000004 abcdef01"));
	assert_true(may_place(RR_RPCSEC_GSS, "00000003 00000000 00000007 00000001 00000004 abcdef01"));
	assert_false(may_place(RR_RPCSEC_GSS, "00000001 00000000 00000007 00000002 00000004 abcdef01"));
	assert_false(may_place(RR_RPCSEC_GSS, "00000001 00000000 00000007 00000003 00000004 abcdef01"));
	assert_false(may_place(RR_RPCSEC_GSS, "00000001 00000000 00000007 00000004 00000004 abcdef01"));
}

/* RFC 2203, 5.2.2: calls that create a context carry tokens, not the program's arguments. */
static void
calls_that_make_a_context_and_bad_ones_allow_no_placement(void **state)
{
	(void)state;
	assert_false(may_place(RR_RPCSEC_GSS, "00000001 00000001 00000000 00000001 00000000"));
	assert_false(may_place(RR_RPCSEC_GSS, "00000001 00000003 00000000 00000001 00000000"));
	assert_false(may_place(RR_RPCSEC_GSS, "00000000 00000000 00000007 00000001 00000000"));
	assert_false(may_place(RR_RPCSEC_GSS, "00000004 00000000 00000007 00000001 00000000"));
	assert_false(may_place(RR_RPCSEC_GSS, "00000001 00000000 00000007"));
	assert_false(may_place(RR_RPCSEC_GSS, ""));
}

static void
a_flavor_that_nothing_is_known_of_allows_no_placement(void **state)
{
	(void)state;
	assert_false(may_place(3, ""));
	assert_false(may_place(390003, "00000001 00000000 00000007 00000001"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_flavor_is_found_by_its_number),
		cmocka_unit_test(what_is_served_is_complete_and_has_no_less_than_none),
		cmocka_unit_test(a_flavor_adds_to_calls_what_it_says),
		cmocka_unit_test(room_is_for_the_largest_verifier_that_a_server_may_send),
		cmocka_unit_test(flavors_that_leave_data_as_it_is_allow_placement),
		cmocka_unit_test(of_rpcsec_gss_only_the_authentication_service_allows_placement),
		cmocka_unit_test(calls_that_make_a_context_and_bad_ones_allow_no_placement),
		cmocka_unit_test(a_flavor_that_nothing_is_known_of_allows_no_placement),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
