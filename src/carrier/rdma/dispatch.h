/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_DISPATCH_H
#define RR_CARRIER_RDMA_DISPATCH_H

#include "carrier/rdma/core/connection.h"

/* Hands the message of an RR_EVENT_RECEIVED to the requester, the responder or the features, which then owns
 * the message's Receive buffer. */
void rr_dispatch_received(struct rr_connection *connection, const struct rr_event *event);

#endif
