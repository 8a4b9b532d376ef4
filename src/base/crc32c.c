/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/crc32c.h"

#include <string.h>

/* One octet at a time, for processors without the instruction and for the odd octets at either end. */
static uint32_t
crc_bytes(uint32_t crc, const uint8_t *data, size_t size)
{
	while (size-- > 0) {
		crc ^= *data++;
		for (int bit = 0; bit < 8; bit++)
			crc = (crc >> 1) ^ (UINT32_C(0x82f63b78) & -(crc & 1));
	}
	return crc;
}

#ifdef __x86_64__
#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t
crc_hardware(uint32_t crc, const uint8_t *data, size_t size)
{
	uint64_t wide = crc;

	for (; size >= sizeof(uint64_t); data += sizeof(uint64_t), size -= sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, data, sizeof(word));
		wide = _mm_crc32_u64(wide, word);
	}
	return crc_bytes((uint32_t)wide, data, size);
}

uint32_t
rr_crc32c(uint32_t crc, const void *data, size_t size)
{
	if (__builtin_cpu_supports("sse4.2"))
		return ~crc_hardware(~crc, data, size);
	return ~crc_bytes(~crc, data, size);
}
#else
uint32_t
rr_crc32c(uint32_t crc, const void *data, size_t size)
{
	return ~crc_bytes(~crc, data, size);
}
#endif
