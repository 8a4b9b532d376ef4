/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_CORE_THRESHOLD_H
#define RR_CARRIER_RDMA_CORE_THRESHOLD_H

#include "wire/private_data.h"

/* The limits that follow from the CM Private Data of both sides (RFC 8797, section 4). */
struct rr_thresholds {
	uint32_t call, reply;     /* inline thresholds, requester to responder and back, in octets */
	bool remote_invalidation; /* the responder may Send With Invalidate */
};

/* Computes the inline thresholds, and whether remote invalidation is used, from the private data of both
 * sides. fabric_invalidates tells whether the provider on this side can send and receive Send With
 * Invalidate. */
struct rr_thresholds rr_thresholds(const struct rr_private_data *requester,
	const struct rr_private_data *responder, bool fabric_invalidates);

/* Returns the inline thresholds with which version 2 begins, whatever the private data says.
 * draft-cel-nfsv4-rpcrdma-version-two-00, 2.3: "senders MUST assume a receiver's inline threshold is 4096
 * bytes". */
struct rr_thresholds rr_thresholds_2(bool remote_invalidation);

#endif
