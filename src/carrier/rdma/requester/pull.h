/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_REQUESTER_PULL_H
#define RR_CARRIER_RDMA_REQUESTER_PULL_H

#include "carrier/rdma/requester/requester.h"

/* Replies in responder-provided Read chunks (draft-cel-nfsv4-rpcrdma-reliable-reply-02) at the requester.
 * They are pulled into memory of the engine's pool, bounded by message_max. An RDMA_DONE answers each such
 * reply, also if the pull fails. */

/* PATIENCE: how long a pull waits for memory, at most. LATE: how long after the reply its RDMA_DONE may
 * invalidate a handle. Both are shorter than the time for which the responder waits for the RDMA_DONE. */
#define RR_PULL_PATIENCE (5 * RR_SECOND)
#define RR_PULL_LATE     (8 * RR_SECOND)

/* Takes such a reply to the call of the slot. The receive then belongs to the pull. False: there is no memory
 * for the pull, and the connection ends. */
bool rr_pull_take(struct rr_slot *slot, const struct rr_arrival *arrival);

/* Reads the reply, unless it is bad. The Send of the call must have completed. */
void rr_pull_begin(struct rr_slot *slot);

/* Answers such a reply if no call has its XID. */
void rr_pull_decline(struct rr_connection *connection, const struct rr_arrival *arrival);

/* Ends a pull that still waits for memory, as the transaction was cancelled. RDMA Reads under way go on. */
void rr_pull_cancel(struct rr_slot *slot);

/* Frees the pull. The endpoint must have been closed. */
void rr_pull_end(struct rr_slot *slot);

#endif
