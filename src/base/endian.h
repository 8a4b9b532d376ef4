/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_ENDIAN_H
#define RR_BASE_ENDIAN_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

/* Read and write integers at any address, in network byte order (be) and in the order of iSCSI's digests
 * (le). Compilers make a single load or store of memcpy(); they do not always do so of code that shifts
 * octets. */

static inline uint16_t
rr_get_be16(const uint8_t *in)
{
	uint16_t value;

	memcpy(&value, in, sizeof(value));
	return be16toh(value);
}

static inline uint32_t
rr_get_be32(const uint8_t *in)
{
	uint32_t value;

	memcpy(&value, in, sizeof(value));
	return be32toh(value);
}

static inline uint64_t
rr_get_be64(const uint8_t *in)
{
	uint64_t value;

	memcpy(&value, in, sizeof(value));
	return be64toh(value);
}

static inline uint32_t
rr_get_le32(const uint8_t *in)
{
	uint32_t value;

	memcpy(&value, in, sizeof(value));
	return le32toh(value);
}

static inline void
rr_put_be16(uint8_t *out, uint16_t value)
{
	value = htobe16(value);
	memcpy(out, &value, sizeof(value));
}

static inline void
rr_put_be32(uint8_t *out, uint32_t value)
{
	value = htobe32(value);
	memcpy(out, &value, sizeof(value));
}

static inline void
rr_put_be64(uint8_t *out, uint64_t value)
{
	value = htobe64(value);
	memcpy(out, &value, sizeof(value));
}

static inline void
rr_put_le32(uint8_t *out, uint32_t value)
{
	value = htole32(value);
	memcpy(out, &value, sizeof(value));
}

#endif
