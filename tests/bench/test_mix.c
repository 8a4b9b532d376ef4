/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls and replies of the benchmark: those that docs/replies.md is about are the same each time. */
#include "../test.h"

#include <string.h>

#include "../../bench/mix.h"

static uint64_t
hash_octets(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *octets = data;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ octets[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* Of all octets that travel. */
static uint64_t
hash_of_mix(void)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	mix_make();
	for (uint32_t i = 0; i < MIX_CALLS; i++) {
		const struct mix_entry *entry = &mix[i];

		hash = hash_octets(hash, entry->call.stream, entry->call.length);
		hash = hash_octets(hash, entry->reply.stream, entry->reply.length);
		hash = hash_octets(hash, entry->item.data, entry->item.length);
	}
	return hash;
}

/* In each process, and again in the same one, where the memory that messages are made of holds other octets.
 * A mix that was changed on purpose has another value; docs/replies.md is then to be made anew. */
static void
the_mix_is_the_same_each_time(void **state)
{
	(void)state;
	assert_int_equal(hash_of_mix(), UINT64_C(0xf2f8486a3f52a117));
	assert_int_equal(hash_of_mix(), UINT64_C(0xf2f8486a3f52a117));
}

/* Only what asks for an ACL has no known maximum. */
static void
only_an_acl_is_unbounded(void **state)
{
	uint32_t acls = 0;

	(void)state;
	mix_make();
	for (uint32_t i = 0; i < MIX_CALLS; i++) {
		bool has_acl = strcmp(mix[i].kind, "LOOKUP with ACL") == 0;

		acls += has_acl;
		assert_int_equal(mix[i].reply_max > 65536, has_acl);
	}
	assert_in_range(acls, 10, 50);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_mix_is_the_same_each_time),
		cmocka_unit_test(only_an_acl_is_unbounded),
	};

	return cmocka_run_group_tests_name("mix", tests, NULL, NULL);
}
