/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_REQUESTER_PULL_H
#define RR_CARRIER_RDMA_REQUESTER_PULL_H

#include "carrier/rdma/requester/requester.h"

/* Replies in responder-provided Read chunks (draft-cel-nfsv4-rpcrdma-reliable-reply-02) at the requester.
 * They are pulled into memory of the engine's pool, bounded by message_max. An RDMA_DONE answers each such
 * reply, also if the pull fails. */

/* RR_PULL_PATIENCE is the longest time that a pull waits for memory. RR_PULL_LATE is the time after the
 * arrival of a reply within which its RDMA_DONE may invalidate a handle. Both are shorter than the time for
 * which the responder waits for the RDMA_DONE. */
#define RR_PULL_PATIENCE (5 * RR_SECOND)
#define RR_PULL_LATE     (8 * RR_SECOND)

/* Begins to handle a reply to the outbound's call that lies in a Read chunk: makes outbound->pull, which then
 * owns the Receive buffer, and posts the Receive again. rr_pull_begin() begins to read the reply. Returns
 * false if there is no memory for the pull; the connection then ends. */
bool rr_pull_take(struct rr_outbound *outbound, const struct rr_arrival *arrival);

/* Checks the reply and begins to read it, or ends the call if the reply is bad. The Send of the call must
 * have completed. */
void rr_pull_begin(struct rr_outbound *outbound);

/* Is called for a reply in a Read chunk if no call has its XID: answers it with an RDMA_DONE, and frees the
 * Receive buffer of the arrival. */
void rr_pull_decline(struct rr_connection *connection, const struct rr_arrival *arrival);

/* Ends a pull (the reading of a reply) that still waits for memory, as the transaction was cancelled. RDMA
 * Reads under way go on. */
void rr_pull_cancel(struct rr_outbound *outbound);

/* Frees the outbound's pull (the reading of a reply), if it has one. The endpoint must have been closed. */
void rr_pull_end(struct rr_outbound *outbound);

#endif
