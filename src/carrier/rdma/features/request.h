/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_FEATURES_REQUEST_H
#define RR_CARRIER_RDMA_FEATURES_REQUEST_H

#include "base/list.h"
#include "wire/rpcrdma2.h"

/* An RDMA_OPTIONAL to be sent. Its octets belong to the feature; the transport copies them when it sends the
 * message. */
struct rr_optional {
	bool due; /* false: there is no message to send */
	uint32_t opttype;
	struct rpcrdma_bytes info;    /* rdma_optinfo */
	struct rpcrdma_bytes payload; /* the RPC Payload Stream */
};

/* A message of a feature that the peer must answer. It takes a credit from when it is sent until it is
 * answered, as a call does: the peer has a Receive for it, which the peer's answer makes free again. The
 * request belongs to the feature, and stays where it is until done(). */
struct rr_feature_request {
	struct rr_list link; /* initialised before use; in a list while the request waits or is under way */
	struct rr_optional message;
	uint32_t xid;
	uint32_t answer; /* opttype of the message that answers the request */
	bool sent;
	/* Ends the request. error is 0: its answer is there, and is handled next. -RPCRDMA_ERR_NOTSUP: the
	 * peer does not know the feature, refused the message, or uses version 1. -RPCRDMA_ERR_LIMIT: the
	 * message is longer than what the peer takes inline. -RPCRDMA_ERR_NOMEM, -RPCRDMA_ERR_DISCONNECTED.
	 * done() must not end the connection. May be NULL. */
	void (*done)(struct rr_feature_request *request, int error);
};

/* Tells whether the request waits to be sent, or was sent and is not answered. */
static inline bool
rr_feature_request_is_open(const struct rr_feature_request *request)
{
	return !rr_list_empty(&request->link);
}

#endif
