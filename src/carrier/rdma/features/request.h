/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_FEATURES_REQUEST_H
#define RR_CARRIER_RDMA_FEATURES_REQUEST_H

#include "base/list.h"
#include "wire/rpcrdma2.h"

/* An RDMA_OPTIONAL to be sent. Its octets are the feature's; the transport copies them when it sends it. */
struct rr_optional {
	bool due; /* false: there is no such message */
	uint32_t opttype;
	struct rpcrdma_bytes info;    /* rdma_optinfo */
	struct rpcrdma_bytes payload; /* the RPC Payload Stream */
};

/*
 * A message of a feature that the peer must answer. It takes a credit from when it is sent until it is
 * answered, as a call does: the peer has a Receive for it, and gives that back by its answer. The request is
 * the feature's, and stays where it is until done().
 */
struct rr_feature_request {
	struct rr_list link; /* initialised before use; in a list while it waits, or was sent */
	struct rr_optional message;
	uint32_t xid;
	uint32_t answer; /* opttype of what answers it */
	bool sent;
	/*
	 * 0: its answer is there, and is handled next. -RPCRDMA_ERR_NOTSUP: the peer does not know the
	 * feature, refused the message, or speaks version 1. -RPCRDMA_ERR_LIMIT: it is longer than what the
	 * peer takes inline. -RPCRDMA_ERR_NOMEM, -RPCRDMA_ERR_DISCONNECTED. Must not end the connection. May
	 * be NULL.
	 */
	void (*done)(struct rr_feature_request *request, int error);
};

static inline bool
rr_feature_request_is_open(const struct rr_feature_request *request)
{
	return !rr_list_empty(&request->link);
}

#endif
