/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include "carrier/rdma/core/credits.h"
#include "carrier/rdma/core/threshold.h"

static uint32_t
take_all(struct rr_credits *credits)
{
	uint32_t taken = 0;

	while (rr_credits_take(credits))
		taken++;
	return taken;
}

/* RFC 8166, 3.3.3: "a Requester MUST NOT assume more than one credit is available" */
static void
one_call_until_the_first_reply(void **state)
{
	struct rr_credits credits;

	(void)state;
	rr_credits_init(&credits, 64);
	assert_int_equal(take_all(&credits), 1);
	rr_credits_return(&credits);
	assert_int_equal(
		take_all(&credits), 1); /* it was returned without a valid reply: there is still one credit */
	rr_credits_grant(&credits, 32);
	rr_credits_return(&credits);
	assert_int_equal(take_all(&credits), 32);
}

/* RFC 8166, 3.3.1: "the lower of the current requested and granted credit values, minus the number of
 * requests in flight" */
static void
no_more_than_asked_and_no_less_than_one(void **state)
{
	struct rr_credits credits;

	(void)state;
	rr_credits_init(&credits, 8);
	rr_credits_grant(&credits, UINT32_MAX);
	assert_int_equal(take_all(&credits), 8);
	for (int i = 0; i < 8; i++)
		rr_credits_return(&credits);
	rr_credits_grant(&credits, 0);
	assert_int_equal(take_all(&credits), 1);
}

static void
a_grant_may_fall_below_what_is_used(void **state)
{
	struct rr_credits credits;

	(void)state;
	rr_credits_init(&credits, 8);
	rr_credits_grant(&credits, 8);
	assert_int_equal(take_all(&credits), 8);
	rr_credits_grant(&credits, 3);
	for (int i = 0; i < 5; i++) {
		rr_credits_return(&credits);
		assert_false(rr_credits_take(&credits));
	}
	rr_credits_return(&credits);
	assert_int_equal(take_all(&credits), 1);
}

static void
a_responder_grants_what_it_posted_and_not_more_than_asked(void **state)
{
	(void)state;
	assert_int_equal(rr_credits_to_grant(64, 128), 64);
	assert_int_equal(rr_credits_to_grant(64, 16), 16);
	assert_int_equal(rr_credits_to_grant(64, 0), 1);
}

/* RFC 8797, 4.2 and 5.1. */
static void
thresholds_are_the_smaller_sizes(void **state)
{
	const struct rr_private_data requester = { 4096, 8192, true }, responder = { 2048, 16384, true };
	struct rr_thresholds thresholds = rr_thresholds(&requester, &responder, true);

	(void)state;
	assert_int_equal(thresholds.call, 4096);
	assert_int_equal(thresholds.reply, 2048);
	assert_true(thresholds.remote_invalidation);
}

/* RFC 8797, 4.1: "When either peer on a connection clears this flag, the responder MUST use only RDMA
 * Send" */
static void
either_side_forbids_remote_invalidation(void **state)
{
	for (int bits = 0; bits < 8; bits++) {
		const struct rr_private_data requester = { 1024, 1024, bits & 1 };
		const struct rr_private_data responder = { 1024, 1024, bits & 2 };

		(void)state;
		assert_int_equal(
			rr_thresholds(&requester, &responder, bits & 4).remote_invalidation, bits == 7);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_call_until_the_first_reply),
		cmocka_unit_test(no_more_than_asked_and_no_less_than_one),
		cmocka_unit_test(a_grant_may_fall_below_what_is_used),
		cmocka_unit_test(a_responder_grants_what_it_posted_and_not_more_than_asked),
		cmocka_unit_test(thresholds_are_the_smaller_sizes),
		cmocka_unit_test(either_side_forbids_remote_invalidation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
