/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_CHECKED_H
#define RR_BASE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

/* Sets *sum to a + b. Returns false if the sum does not fit; *sum must then not be used. */
static inline bool
rr_add_u32(uint32_t a, uint32_t b, uint32_t *sum)
{
	return !__builtin_add_overflow(a, b, sum);
}

static inline bool
rr_add_u64(uint64_t a, uint64_t b, uint64_t *sum)
{
	return !__builtin_add_overflow(a, b, sum);
}

/* Returns how many octets of padding XDR puts after opaque data of length octets, so that the next data begin
 * at a multiple of four (RFC 4506, section 3). */
static inline uint32_t
rr_pad(uint32_t length)
{
	return -length & 3;
}

/* Returns the smaller of the two numbers. The parameters have 64 bits on every machine, because they may be
 * offsets and sizes of files as well as lengths in memory. */
static inline uint64_t
rr_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

#endif
