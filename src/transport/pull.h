/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TRANSPORT_PULL_H
#define RR_TRANSPORT_PULL_H

#include "transport/requester.h"

/*
 * Replies in responder-provided Read chunks (draft-cel-nfsv4-rpcrdma-reliable-reply-02) at the
 * requester: pulled into memory of the engine's pool, bounded by message_max.
 * Whatever becomes of such a reply, an RDMA_DONE answers it.
 */

/* How long a pull waits for memory, at most: shorter than the responder waits for its RDMA_DONE. */
#define RR_PULL_PATIENCE (5 * RR_SECOND)

/* Is the message one of version 2 with a Read list, and without a payload? Sent to a requester, it is a reply
 * in a Read chunk. */
bool rr_pull_is_due(const struct rr_connection *connection, const struct rr_event *event);

/* The slot's call was answered by such a message; its receive is now the pull's. */
void rr_pull_begin(struct rr_slot *slot, const struct rr_event *event);

/* No call is known by the XID of such a message. */
void rr_pull_decline(struct rr_connection *connection, const struct rr_event *event);

/* The transaction was cancelled: what has not begun to be read is not. */
void rr_pull_cancel(struct rr_slot *slot);

/* After the endpoint was closed. */
void rr_pull_end(struct rr_slot *slot);

#endif
