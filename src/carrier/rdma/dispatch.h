/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_DISPATCH_H
#define RR_CARRIER_RDMA_DISPATCH_H

#include "carrier/rdma/core/connection.h"

/* Takes an RR_EVENT_RECEIVED. Its receive then belongs to the part that takes the message. */
void rr_dispatch_received(struct rr_connection *connection, const struct rr_event *event);

#endif
