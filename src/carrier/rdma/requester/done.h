/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_REQUESTER_DONE_H
#define RR_CARRIER_RDMA_REQUESTER_DONE_H

#include "carrier/rdma/core/connection.h"

/*
 * RDMA_DONE, the pull completion notification of
 * draft-cel-nfsv4-rpcrdma-reliable-reply-02, section 4.1.3. It takes no credit:
 * the responder has posted a Receive for it together with its Read chunk.
 */

/*
 * Sends one. handle: of the Read chunk's, to be invalidated where both sides can; 0: none. owes_receive: the
 * Receive that the message about the chunk used up is posted again when the RDMA_DONE has left, so that there
 * are never more of them than Receives.
 */
void rr_done_send(struct rr_connection *connection, uint32_t xid, uint32_t handle, bool owes_receive);

/* After the endpoint was closed. */
void rr_done_end(struct rr_connection *connection);

#endif
