/* SPDX-License-Identifier: BSD-3-Clause */
/* The inline thresholds of a connection: threshold.h. */
#include "carrier/rdma/core/threshold.h"

#include "base/checked.h"
#include "wire/rpcrdma2.h"

struct rr_thresholds
rr_thresholds(const struct rr_private_data *requester, const struct rr_private_data *responder,
	bool fabric_invalidates)
{
	/* RFC 8797, 4.2: "The client uses the smaller of its own send size and the server's reported receive
	 * size as the client-to-server inline threshold", and the server likewise the other way. */
	return (struct rr_thresholds){
		.call = (uint32_t)rr_min(requester->send_size, responder->receive_size),
		.reply = (uint32_t)rr_min(responder->send_size, requester->receive_size),
		/* RFC 8797, 4.1: "When either peer on a connection clears this flag, the responder MUST use
		 * only RDMA Send when transmitting RPC Replies." */
		.remote_invalidation = fabric_invalidates && requester->remote_invalidation &&
				       responder->remote_invalidation,
	};
}

struct rr_thresholds
rr_thresholds_2(bool remote_invalidation)
{
	return (struct rr_thresholds){ RR_INLINE_DEFAULT_2, RR_INLINE_DEFAULT_2, remote_invalidation };
}
