/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_REQUESTER_DONE_H
#define RR_CARRIER_RDMA_REQUESTER_DONE_H

#include "carrier/rdma/core/connection.h"

/*
 * RDMA_DONE, the pull completion notification of
 * draft-cel-nfsv4-rpcrdma-reliable-reply-02, section 4.1.3. It takes no credit:
 * the responder has posted a Receive for it together with its Read chunk.
 */

/* Sends an RDMA_DONE for the transaction xid. handle is a handle of the Read chunk that the responder
 * exposed, which is invalidated if both sides support that, or 0. If owes_receive is true, the message that
 * brought the chunk used up a Receive of this side; the Receive is posted again only when the RDMA_DONE was
 * sent. So there are never more RDMA_DONEs under way than Receives. Does nothing if the endpoint is closed.
 * Aborts the connection if there is no memory. */
void rr_done_send(struct rr_connection *connection, uint32_t xid, uint32_t handle, bool owes_receive);

/* Frees the RDMA_DONEs that are still under way. The endpoint must have been closed. */
void rr_done_end(struct rr_connection *connection);

#endif
