/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_PADDING_H
#define RR_TESTS_PADDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Whether what was read and then written is the same but for padding: that is read as any octets, and written
 * as zeroes (RFC 8166, 8.2.2.3, and RFC 4506, 3). Octets may differ only where the rest of their word, which
 * is not all of it, is written as zeroes.
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
