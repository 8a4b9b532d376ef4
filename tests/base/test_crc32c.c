/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include "base/crc32c.h"

#include <string.h>

static void
check_value_of_the_nine_digits(void **state)
{
	(void)state;
	assert_int_equal(rr_crc32c(0, "123456789", 9), 0xe3069283);
}

/* RFC 3720, appendix B.4: 32 octets of zero give aa 36 91 8a, little-endian. */
static void
zeroes_as_in_rfc_3720(void **state)
{
	uint8_t zeroes[32] = { 0 };

	(void)state;
	assert_int_equal(rr_crc32c(0, zeroes, sizeof(zeroes)), 0x8a9136aa);
}

static void
pieces_give_the_same_as_the_whole(void **state)
{
	uint8_t data[100];

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7);
	for (size_t cut = 0; cut <= sizeof(data); cut++)
		assert_int_equal(rr_crc32c(rr_crc32c(0, data, cut), data + cut, sizeof(data) - cut),
			rr_crc32c(0, data, sizeof(data)));
}

/* Long and short blocks are summed side by side, with the same result as octet after octet. */
static void
any_length_gives_the_same_as_single_octets(void **state)
{
	static uint8_t data[60000];
	uint32_t crc = 0;
	size_t done = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + i / 255);
	for (size_t size = 1; size < sizeof(data); size += 1 + size / 3) {
		for (; done < size; done++)
			crc = rr_crc32c(crc, data + done, 1);
		assert_int_equal(rr_crc32c(0, data, size), crc);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(check_value_of_the_nine_digits),
		cmocka_unit_test(zeroes_as_in_rfc_3720),
		cmocka_unit_test(pieces_give_the_same_as_the_whole),
		cmocka_unit_test(any_length_gives_the_same_as_single_octets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
