/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_ENDIAN_H
#define RR_BASE_ENDIAN_H

#include <stdint.h>

/* Integers at any address, in network byte order (be) and in the order of iSCSI's digests (le). */

static inline uint16_t
rr_get_be16(const uint8_t *in)
{
	return (uint16_t)(in[0] << 8 | in[1]);
}

static inline uint32_t
rr_get_be32(const uint8_t *in)
{
	return (uint32_t)rr_get_be16(in) << 16 | rr_get_be16(in + 2);
}

static inline uint64_t
rr_get_be64(const uint8_t *in)
{
	return (uint64_t)rr_get_be32(in) << 32 | rr_get_be32(in + 4);
}

static inline uint32_t
rr_get_le32(const uint8_t *in)
{
	return __builtin_bswap32(rr_get_be32(in));
}

static inline void
rr_put_be16(uint8_t *out, uint16_t value)
{
	out[0] = (uint8_t)(value >> 8);
	out[1] = (uint8_t)value;
}

static inline void
rr_put_be32(uint8_t *out, uint32_t value)
{
	rr_put_be16(out, (uint16_t)(value >> 16));
	rr_put_be16(out + 2, (uint16_t)value);
}

static inline void
rr_put_be64(uint8_t *out, uint64_t value)
{
	rr_put_be32(out, (uint32_t)(value >> 32));
	rr_put_be32(out + 4, (uint32_t)value);
}

static inline void
rr_put_le32(uint8_t *out, uint32_t value)
{
	rr_put_be32(out, __builtin_bswap32(value));
}

#endif
