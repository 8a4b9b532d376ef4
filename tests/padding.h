/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_PADDING_H
#define RR_TESTS_PADDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Whether octets that were read and then written again are the same, except for padding: padding is read as
 * any octets, and written as zeroes (RFC 8166, 8.2.2.3, and RFC 4506, 3). Octets may differ only where all
 * further octets of their word are written as zeroes, and they are not the first of the word.
 */
static inline bool
rr_same_but_for_padding(const uint8_t *written, const uint8_t *read, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (written[i] == read[i])
			continue;
		if (i % 4 == 0)
			return false;
		for (size_t j = i; j < size && j <= (i | 3); j++) {
			if (written[j] != 0)
				return false;
		}
	}
	return true;
}

#endif
