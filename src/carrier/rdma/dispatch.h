/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_DISPATCH_H
#define RR_CARRIER_RDMA_DISPATCH_H

#include "carrier/rdma/core/connection.h"

/* Hands the message of an RR_EVENT_RECEIVED to the part that it is for (requester, responder, features),
 * which then owns its receive. */
void rr_dispatch_received(struct rr_connection *connection, const struct rr_event *event);

#endif
