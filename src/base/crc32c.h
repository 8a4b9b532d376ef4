/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_CRC32C_H
#define RR_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/*
 * Continues a CRC32c (Castagnoli): the caller begins with crc 0, and passes each result on with the next
 * octets. The value of "123456789" is 0xe3069283.
 */
uint32_t rr_crc32c(uint32_t crc, const void *data, size_t size);

#endif
