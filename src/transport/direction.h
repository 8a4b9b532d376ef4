/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TRANSPORT_DIRECTION_H
#define RR_TRANSPORT_DIRECTION_H

#include "wire/rpc.h"

/*
 * Both peers of a connection may call (RFC 8167). What a message is shows in the RPC message that it carries,
 * never in its XID: those of the two directions are chosen independently.
 */
enum rr_direction {
	RR_DIRECTION_UNKNOWN, /* neither, or not to be told */
	RR_DIRECTION_CALL,
	RR_DIRECTION_REPLY
};

/* Of an RPC-over-RDMA message of version 1 or 2 as it was received. */
enum rr_direction rr_direction(const uint8_t *data, uint32_t length);

#endif
