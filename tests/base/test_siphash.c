/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include <string.h>

#include "base/siphash.h"

/* The key and the inputs of the reference implementation's vectors_sip128: octets 0, 1, 2 and so on. */
static uint8_t key[RR_SIPHASH_KEY], input[64];

static const struct {
	size_t size;
	uint8_t tag[RR_SIPHASH_TAG];
} vectors[] = {
	{ 0, { 0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6, 0x6d, 0xf6, 0x72, 0x14, 0xc7, 0x55, 0x02,
		     0x93 } },
	{ 1, { 0xda, 0x87, 0xc1, 0xd8, 0x6b, 0x99, 0xaf, 0x44, 0x34, 0x76, 0x59, 0x11, 0x9b, 0x22, 0xfc,
		     0x45 } },
	{ 2, { 0x81, 0x77, 0x22, 0x8d, 0xa4, 0xa4, 0x5d, 0xc7, 0xfc, 0xa3, 0x8b, 0xde, 0xf6, 0x0a, 0xff,
		     0xe4 } },
	{ 3, { 0x9c, 0x70, 0xb6, 0x0c, 0x52, 0x67, 0xa9, 0x4e, 0x5f, 0x33, 0xb6, 0xb0, 0x29, 0x85, 0xed,
		     0x51 } },
	{ 7, { 0xa1, 0xf1, 0xeb, 0xbe, 0xd8, 0xdb, 0xc1, 0x53, 0xc0, 0xb8, 0x4a, 0xa6, 0x1f, 0xf0, 0x82,
		     0x39 } },
	{ 8, { 0x3b, 0x62, 0xa9, 0xba, 0x62, 0x58, 0xf5, 0x61, 0x0f, 0x83, 0xe2, 0x64, 0xf3, 0x14, 0x97,
		     0xb4 } },
	{ 9, { 0x26, 0x44, 0x99, 0x06, 0x0a, 0xd9, 0xba, 0xab, 0xc4, 0x7f, 0x8b, 0x02, 0xbb, 0x6d, 0x71,
		     0xed } },
	{ 15, { 0x54, 0x93, 0xe9, 0x99, 0x33, 0xb0, 0xa8, 0x11, 0x7e, 0x08, 0xec, 0x0f, 0x97, 0xcf, 0xc3,
		      0xd9 } },
	{ 16, { 0x6e, 0xe2, 0xa4, 0xca, 0x67, 0xb0, 0x54, 0xbb, 0xfd, 0x33, 0x15, 0xbf, 0x85, 0x23, 0x05,
		      0x77 } },
	{ 63, { 0x51, 0x50, 0xd1, 0x77, 0x2f, 0x50, 0x83, 0x4a, 0x50, 0x3e, 0x06, 0x9a, 0x97, 0x3f, 0xbd,
		      0x7c } },
};

static void
the_published_vectors_hold(void **state)
{
	uint8_t tag[RR_SIPHASH_TAG];

	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		rr_siphash(key, input, vectors[i].size, tag);
		assert_memory_equal(tag, vectors[i].tag, sizeof(tag));
	}
}

static void
an_input_in_pieces_has_the_tag_of_the_whole(void **state)
{
	uint8_t whole[RR_SIPHASH_TAG], tag[RR_SIPHASH_TAG];
	struct rr_siphash hash;

	(void)state;
	rr_siphash(key, input, sizeof(input), whole);
	for (size_t a = 0; a <= sizeof(input); a++) {
		for (size_t b = a; b <= sizeof(input); b++) {
			rr_siphash_init(&hash, key);
			rr_siphash_add(&hash, input, a);
			rr_siphash_add(&hash, input + a, b - a);
			rr_siphash_add(&hash, input + b, sizeof(input) - b);
			rr_siphash_end(&hash, tag);
			assert_memory_equal(tag, whole, sizeof(tag));
		}
	}
}

static void
each_bit_of_key_and_input_changes_the_tag(void **state)
{
	uint8_t whole[RR_SIPHASH_TAG], tag[RR_SIPHASH_TAG], other[RR_SIPHASH_KEY], changed[sizeof(input)];

	(void)state;
	rr_siphash(key, input, sizeof(input), whole);
	for (size_t bit = 0; bit < 8 * sizeof(other); bit++) {
		memcpy(other, key, sizeof(other));
		other[bit / 8] ^= (uint8_t)(1 << bit % 8);
		rr_siphash(other, input, sizeof(input), tag);
		assert_false(rr_siphash_same(tag, whole));
	}
	for (size_t bit = 0; bit < 8 * sizeof(changed); bit++) {
		memcpy(changed, input, sizeof(changed));
		changed[bit / 8] ^= (uint8_t)(1 << bit % 8);
		rr_siphash(key, changed, sizeof(changed), tag);
		assert_false(rr_siphash_same(tag, whole));
	}
}

static void
tags_that_differ_in_one_bit_are_not_the_same(void **state)
{
	uint8_t a[RR_SIPHASH_TAG] = { 0 }, b[RR_SIPHASH_TAG] = { 0 };

	(void)state;
	assert_true(rr_siphash_same(a, b));
	for (size_t bit = 0; bit < 8 * sizeof(a); bit++) {
		a[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_false(rr_siphash_same(a, b));
		a[bit / 8] = 0;
	}
}

static void
each_purpose_and_each_secret_has_a_key_of_its_own(void **state)
{
	uint8_t secret[2 * RR_SIPHASH_KEY] = { 0 }, one[RR_SIPHASH_KEY], two[RR_SIPHASH_KEY];

	(void)state;
	rr_siphash_derive(secret, "one", one);
	rr_siphash_derive(secret, "two", two);
	assert_false(rr_siphash_same(one, two));
	for (size_t i = 0; i < sizeof(secret); i++) {
		secret[i] = 1;
		rr_siphash_derive(secret, "one", two);
		assert_false(rr_siphash_same(one, two));
		secret[i] = 0;
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_published_vectors_hold),
		cmocka_unit_test(an_input_in_pieces_has_the_tag_of_the_whole),
		cmocka_unit_test(each_bit_of_key_and_input_changes_the_tag),
		cmocka_unit_test(tags_that_differ_in_one_bit_are_not_the_same),
		cmocka_unit_test(each_purpose_and_each_secret_has_a_key_of_its_own),
	};

	for (size_t i = 0; i < sizeof(input); i++)
		input[i] = (uint8_t)i;
	memcpy(key, input, sizeof(key));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
