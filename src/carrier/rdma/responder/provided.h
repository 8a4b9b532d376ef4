/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_RESPONDER_PROVIDED_H
#define RR_CARRIER_RDMA_RESPONDER_PROVIDED_H

#include "carrier/rdma/responder/responder.h"

/*
 * Responder-provided Read chunks (draft-cel-nfsv4-rpcrdma-reliable-reply-02) at
 * the responder: replies larger than all that the requester provided, kept and
 * exposed until it says by RDMA_DONE that it has pulled them.
 *
 * How many there may be of a connection, and the octets in them, are bounded
 * by the engine's configuration. One that was withdrawn after a timeout counts
 * on, without its octets, as long as its RDMA_DONE may still come: a requester
 * that never sends any gets no more of them. A requester that pulls nothing
 * while others wait for the memory loses its connection (base/share.h).
 */
#define RR_PROVIDED_TIMEOUT (10 * RR_SECOND) /* and a second for each MiB */

/* May they be used at all for replies to calls of that version? */
bool rr_provided_allowed(const struct rr_connection *connection, uint32_t version);

/* Octets of the largest one that could be exposed now; 0: none could. */
uint32_t rr_provided_room(const struct rr_connection *connection, uint32_t version);

/*
 * Registers the pieces of the planned reply, and posts the Receive that its RDMA_DONE will take. From then on
 * inbound->provided is set, whose segments are the Read list of the reply. An error: nothing was exposed.
 */
int rr_provided_expose(struct rr_inbound *inbound);

/* The Send that names it completed: the requester has its time from now on. */
void rr_provided_named(struct rr_provided *provided);

/* An RDMA_DONE arrived. */
void rr_provided_done(struct rr_connection *connection, const struct rr_arrival *arrival);

/* After the endpoint was closed: nothing is exposed any more. Inbounds live on. */
void rr_provided_end(struct rr_connection *connection);

/* One of them. */
struct rr_provided {
	struct rr_connection *connection;
	struct rr_inbound *inbound; /* whose reply it is; NULL once it was withdrawn */
	struct rr_list link;
	struct rr_map_link by_xid;
	struct rr_timer timer;
	uint32_t xid, octets, count;
	struct rr_region regions[RR_PIECES_MAX];
	struct rr_read_segment segments[RR_PIECES_MAX];
};

#endif
