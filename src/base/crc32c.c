/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC32c by an instruction of the processor, or bit by bit on processors that have no such instruction. */
#include "base/crc32c.h"

#include <string.h>

/* Continues the checksum crc with size octets of data, bit by bit, for processors that have no instruction
 * for CRC32c. Returns the new checksum. */
static uint32_t
crc32c_crc_bytes(uint32_t crc, const uint8_t *data, size_t size)
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
#include <wmmintrin.h>

#define TARGET __attribute__((target("sse4.2,pclmul")))

/*
 * The instruction takes three cycles, and a processor can begin one in each cycle: so three blocks are summed
 * side by side. The sums of the first two blocks are then moved past the blocks behind them, which is a
 * product with a power of x (modulo the polynomial, in its reflected order), one for each distance in octets.
 */
/* The octets of a block: of a long one, and of a short one for the rest. */
enum { LONG = 8192, SHORT = 256 };

/* The powers of x, by their distances: one block and two blocks of SHORT octets, and of LONG octets. */
static const uint32_t past_short = 0xb9e02b86, past_two_short = 0xdd7e3b0c, past_long = 0x54a86326,
		      past_two_long = 0x1dc403cc;

/* Returns the eight octets at data as a word. */
TARGET static inline uint64_t
crc32c_word_at(const uint8_t *data)
{
	uint64_t word;

	memcpy(&word, data, sizeof(word));
	return word;
}

/* Returns sum moved past the octets that power stands for. The product has up to 64 bits; the instruction for
 * CRC32c reduces it to 32 bits, modulo the polynomial. */
TARGET static inline uint64_t
crc32c_shift(uint64_t sum, uint32_t power)
{
	__m128i product =
		_mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)sum), _mm_cvtsi32_si128((int)power), 0);

	return _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(product));
}

/* Returns the sum `first` continued by three blocks of block octets at data. */
TARGET static inline uint64_t
crc32c_three_blocks(uint64_t first, const uint8_t *data, size_t block, uint32_t past_one, uint32_t past_two)
{
	uint64_t second = 0, third = 0;

	for (size_t i = 0; i < block; i += sizeof(uint64_t)) {
		first = _mm_crc32_u64(first, crc32c_word_at(data + i));
		second = _mm_crc32_u64(second, crc32c_word_at(data + block + i));
		third = _mm_crc32_u64(third, crc32c_word_at(data + 2 * block + i));
	}
	return crc32c_shift(first, past_two) ^ crc32c_shift(second, past_one) ^ third;
}

/* Continues the sum by the instruction: in long blocks, then in short ones, then by words and octets. */
TARGET static uint32_t
crc32c_hardware(uint32_t crc, const uint8_t *data, size_t size)
{
	uint64_t sum = crc;

	for (; size >= 3 * LONG; data += 3 * LONG, size -= 3 * LONG)
		sum = crc32c_three_blocks(sum, data, LONG, past_long, past_two_long);
	for (; size >= 3 * SHORT; data += 3 * SHORT, size -= 3 * SHORT)
		sum = crc32c_three_blocks(sum, data, SHORT, past_short, past_two_short);
	for (; size >= sizeof(uint64_t); data += sizeof(uint64_t), size -= sizeof(uint64_t))
		sum = _mm_crc32_u64(sum, crc32c_word_at(data));
	while (size-- > 0)
		sum = _mm_crc32_u8((uint32_t)sum, *data++);
	return (uint32_t)sum;
}

uint32_t
rr_crc32c(uint32_t crc, const void *data, size_t size)
{
	if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul"))
		return ~crc32c_hardware(~crc, data, size);
	return ~crc32c_crc_bytes(~crc, data, size);
}
#else
uint32_t
rr_crc32c(uint32_t crc, const void *data, size_t size)
{
	return ~crc32c_crc_bytes(~crc, data, size);
}
#endif
