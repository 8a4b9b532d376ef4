/* SPDX-License-Identifier: BSD-3-Clause */
/* Callers: which of them are the same principal, and what is kept of one. */
#include "../test.h"

#include <string.h>

#include "rpc/caller.h"

static const uint32_t groups[] = { 4, 5 };

/* Two callers for each principal: the first members of a row are the same principal, all others differ. */
static const struct rr_caller callers[][2] = {
	{ { RR_AUTH_NONE }, { RR_AUTH_NONE } },
	{ { RR_AUTH_SYS, RR_CALLER_OPEN, true, 0 }, { RR_AUTH_SYS, RR_CALLER_OPEN, true, 0, 7, 2, groups } },
	{ { RR_AUTH_SYS, RR_CALLER_OPEN, true, 7 }, { RR_AUTH_SYS, RR_CALLER_OPEN, true, 7, 8 } },
	{ { RR_RPCSEC_GSS, RR_CALLER_OPEN, true, 7, .principal = "alice@HERE" },
		{ RR_RPCSEC_GSS, RR_CALLER_OPEN, false, 0, .principal = "alice@HERE" } },
	{ { RR_RPCSEC_GSS, RR_CALLER_OPEN, true, 7, .principal = "alice@THERE" },
		{ RR_RPCSEC_GSS, RR_CALLER_OPEN, true, 8, .principal = "alice@THERE" } },
	{ { RR_RPCSEC_GSS, RR_CALLER_OPEN, true, 7 }, { RR_RPCSEC_GSS, RR_CALLER_OPEN, true, 7, 1 } },
	{ { RR_AUTH_SYS, RR_CALLER_OPEN, true, 7, .principal = "alice@HERE" },
		{ RR_AUTH_SYS, RR_CALLER_OPEN, true, 9, .principal = "alice@HERE" } },
};

enum { PRINCIPALS = sizeof(callers) / sizeof(callers[0]) };

/* Returns a hash of what is compared. */
static uint64_t
hash_of(const struct rr_caller *caller)
{
	static const uint8_t key[RR_SIPHASH_KEY] = { 1 };
	uint8_t tag[RR_SIPHASH_TAG];
	struct rr_siphash hash;
	uint64_t result;

	rr_siphash_init(&hash, key);
	rr_caller_hash(caller, &hash);
	rr_siphash_end(&hash, tag);
	memcpy(&result, tag, sizeof(result));
	return result;
}

static void
a_principal_is_the_same_by_its_name_or_else_by_its_user(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 2 * PRINCIPALS; i++) {
		for (uint32_t j = 0; j < 2 * PRINCIPALS; j++) {
			const struct rr_caller *a = &callers[i / 2][i % 2], *b = &callers[j / 2][j % 2];

			assert_int_equal(rr_caller_same_principal(a, b), i / 2 == j / 2);
			assert_int_equal(hash_of(a) == hash_of(b), i / 2 == j / 2);
			assert_int_equal(rr_caller_mark(a) == rr_caller_mark(b), i / 2 == j / 2);
		}
	}
}

/* What is kept does not point into the memory of the request. */
static void
a_caller_is_kept_with_a_name_of_its_own(void **state)
{
	char name[] = "alice@HERE";
	const struct rr_caller caller = { RR_RPCSEC_GSS, RR_CALLER_OPEN, true, 7, 8, 2, groups, name };
	struct rr_caller kept;

	(void)state;
	assert_true(rr_caller_keep(&rr_env_system, &caller, &kept));
	memset(name, 'x', sizeof(name) - 1);
	assert_true(rr_caller_same_principal(&kept, &callers[3][0]));
	assert_null(kept.groups);
	assert_int_equal(kept.group_count, 0);
	rr_caller_drop(&rr_env_system, &kept);
	assert_null(kept.principal);
}

static void *
no_memory(void *ctx, void *old, size_t size)
{
	(void)ctx, (void)old, (void)size;
	return NULL;
}

static void
without_memory_only_names_are_not_kept(void **state)
{
	struct rr_env poor = rr_env_system;
	struct rr_caller kept;

	(void)state;
	poor.realloc = no_memory;
	assert_false(rr_caller_keep(&poor, &callers[3][0], &kept));
	assert_true(rr_caller_keep(&poor, &callers[2][1], &kept));
	assert_true(rr_caller_same_principal(&kept, &callers[2][0]));
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_principal_is_the_same_by_its_name_or_else_by_its_user),
		cmocka_unit_test(a_caller_is_kept_with_a_name_of_its_own),
		cmocka_unit_test(without_memory_only_names_are_not_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
