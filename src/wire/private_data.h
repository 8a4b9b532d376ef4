/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_WIRE_PRIVATE_DATA_H
#define RR_WIRE_PRIVATE_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The CM Private Data of RPC-over-RDMA version 1 (RFC 8797, section 4). */

enum { RR_PRIVATE_DATA_SIZE = 8 };

struct rr_private_data {
	uint32_t send_size, receive_size; /* octets: multiples of 1024, 1024 to 262144 */
	bool remote_invalidation;         /* the R field */
};

/* Writes the eight octets. Sizes are rounded down to what can be expressed, never below 1024. */
void rr_private_data_put(uint8_t out[RR_PRIVATE_DATA_SIZE], const struct rr_private_data *own);

/*
 * Looks for the message at any offset of data. False where there is none that is whole and of version 1; then
 * *peer holds the defaults (section 5: 1024 both ways, no remote invalidation).
 */
bool rr_private_data_get(const void *data, size_t size, struct rr_private_data *peer);

#endif
