/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include "base/siphash.h"

/* The key and the messages of the paper's test vectors: 00 01 02 ... */
static const struct rr_siphash_key key = { UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908) };

static void
values_are_those_of_the_paper(void **state)
{
	uint8_t data[15];

	(void)state;
	for (uint8_t i = 0; i < sizeof(data); i++)
		data[i] = i;
	assert_true(rr_siphash(&key, data, 15) == UINT64_C(0xa129ca6149be45e5));
	assert_true(rr_siphash(&key, data, 8) == UINT64_C(0x93f5f5799a932462));
	assert_true(rr_siphash(&key, NULL, 0) == UINT64_C(0x726fdb47dd0e0e31));
}

static void
every_bit_of_message_and_key_counts(void **state)
{
	uint8_t data[19] = { 0 };
	uint64_t value = rr_siphash(&key, data, sizeof(data));
	struct rr_siphash_key other = { key.low, key.high ^ 1 };

	(void)state;
	assert_true(rr_siphash(&other, data, sizeof(data)) != value);
	assert_true(rr_siphash(&key, data, sizeof(data) - 1) != value);
	for (unsigned bit = 0; bit < 8 * sizeof(data); bit++) {
		data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_true(rr_siphash(&key, data, sizeof(data)) != value);
		data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_those_of_the_paper),
		cmocka_unit_test(every_bit_of_message_and_key_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
