/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_HEX_H
#define RR_TESTS_HEX_H

#include "test.h"

#include <stdio.h>
#include <string.h>

/* A message of a test, written in hexadecimal digits. */
struct rr_octets {
	uint8_t data[1024];
	size_t size;
};

/* Returns the octets that the digits stand for; spaces do not count. */
static inline struct rr_octets
rr_hex(const char *digits)
{
	struct rr_octets octets = { .size = 0 };
	unsigned int octet;
	int used;

	while (sscanf(digits, " %2x%n", &octet, &used) == 1) {
		assert_true(octets.size < sizeof(octets.data));
		octets.data[octets.size++] = (uint8_t)octet;
		digits += used;
	}
	assert_int_equal(strspn(digits, " "), strlen(digits));
	return octets;
}

static inline void
rr_print_hex(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		fprintf(stderr, "%02x%s", data[i], i % 4 == 3 ? " " : "");
	fprintf(stderr, "\n");
}

#endif
