/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_REQUESTER_PULL_H
#define RR_CARRIER_RDMA_REQUESTER_PULL_H

#include "carrier/rdma/requester/requester.h"

/*
 * Replies in responder-provided Read chunks (draft-cel-nfsv4-rpcrdma-reliable-reply-02) at the
 * requester: pulled into memory of the engine's pool, bounded by message_max.
 * Whatever becomes of such a reply, an RDMA_DONE answers it.
 */

/* How long a pull waits for memory, at most, and how long after the reply its RDMA_DONE may invalidate a
 * handle: both are shorter than the responder waits for the RDMA_DONE. */
#define RR_PULL_PATIENCE (5 * RR_SECOND)
#define RR_PULL_LATE     (8 * RR_SECOND)

/* The slot's call was answered by such a reply, whose receive is now the pull's. False: there is no memory
 * for the pull, and the connection ends. */
bool rr_pull_take(struct rr_slot *slot, const struct rr_arrival *arrival);

/* The Send of the call completed: reads, unless the reply is a bad one. */
void rr_pull_begin(struct rr_slot *slot);

/* No call is known by the XID of such a reply. */
void rr_pull_decline(struct rr_connection *connection, const struct rr_arrival *arrival);

/* The transaction was cancelled: what has not begun to be read is not. */
void rr_pull_cancel(struct rr_slot *slot);

/* After the endpoint was closed. */
void rr_pull_end(struct rr_slot *slot);

#endif
