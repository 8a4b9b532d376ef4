/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_WIRE_PRIVATE_DATA_H
#define RR_WIRE_PRIVATE_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The CM Private Data of RPC-over-RDMA version 1 (RFC 8797, section 4). */

enum { RR_PRIVATE_DATA_SIZE = 8 };

/* The message, decoded. */
struct rr_private_data {
	uint32_t send_size, receive_size; /* octets: multiples of 1024, 1024 to 262144 */
	bool remote_invalidation;         /* the R field */
};

/* Writes the private data. Its sizes are rounded down to a multiple of 1024, but never below 1024. */
void rr_private_data_put(uint8_t out[RR_PRIVATE_DATA_SIZE], const struct rr_private_data *own);

/* Looks for the private data of RPC-over-RDMA version 1 at any offset of data, and sets *peer. Returns false
 * if data does not contain it as a whole; *peer then has the defaults (RFC 8797, section 5: 1024 octets both
 * ways, no remote invalidation). */
bool rr_private_data_get(const void *data, size_t size, struct rr_private_data *peer);

#endif
