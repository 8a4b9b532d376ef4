/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_RESPONDER_PROVIDED_H
#define RR_CARRIER_RDMA_RESPONDER_PROVIDED_H

#include "carrier/rdma/responder/responder.h"

/* Responder-provided Read chunks (draft-cel-nfsv4-rpcrdma-reliable-reply-02) at the responder: replies that
 * are larger than the memory that the requester provided. They are kept and exposed until the requester sends
 * an RDMA_DONE: it has pulled the reply.
 *
 * The engine's configuration bounds how many a connection may have, and the octets in them. A chunk that was
 * withdrawn after a timeout still counts, without its octets, as long as its RDMA_DONE may come: a requester
 * that never sends an RDMA_DONE gets no more chunks. A requester that pulls nothing while others wait for the
 * memory loses its connection (base/share/share.h). */
#define RR_PROVIDED_TIMEOUT (10 * RR_SECOND) /* and a second more for each MiB */

/* Tells whether the reply to a call of that version may lie in a Read chunk at all. */
bool rr_provided_allowed(const struct rr_connection *connection, uint32_t version);

/* Returns the octets of the largest Read chunk that could be exposed now, or 0 if no chunk could be
 * exposed. */
uint32_t rr_provided_room(const struct rr_connection *connection, uint32_t version);

/* Exposes the reply in a Read chunk, as it was planned: registers its pieces, and posts the Receive that its
 * RDMA_DONE will use. From then on inbound->provided is set, and its segments are the Read list of the reply.
 * Returns 0, or an error; nothing is then exposed. */
int rr_provided_expose(struct rr_inbound *inbound);

/* Is called when the Send with the reply's header, which names the chunk, completed: starts the time within
 * which the requester must pull the reply. */
void rr_provided_named(struct rr_provided *provided);

/* Handles an RDMA_DONE that arrived: the reply that it names is no longer exposed. */
void rr_provided_done(struct rr_connection *connection, const struct rr_arrival *arrival);

/* Ends all chunks after the endpoint was closed. The inbound calls whose replies they hold live on. */
void rr_provided_end(struct rr_connection *connection);

/* A reply in a Read chunk that this side provides. */
struct rr_provided {
	struct rr_connection *connection;
	struct rr_inbound *inbound; /* of the reply; NULL: the reply is not needed any more */
	struct rr_list link;
	struct rr_map_link by_xid;
	struct rr_timer timer;       /* armed while the requester is to read the reply */
	uint32_t xid, octets, count; /* of the call; of the reply; of regions and segments */
	struct rr_region regions[RR_PIECES_MAX];
	struct rr_read_segment segments[RR_PIECES_MAX];
};

#endif
