/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_SIPHASH_H
#define RR_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

/*
 * SipHash-2-4 (Aumasson and Bernstein, 2012): a keyed hash of short messages.
 * Who does not know the key cannot find two messages with the same value.
 */
struct rr_siphash_key {
	uint64_t low, high;
};

uint64_t rr_siphash(const struct rr_siphash_key *key, const void *data, size_t size);

#endif
