/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_PROVIDER_H
#define RR_CARRIER_RDMA_PROVIDER_H

#include "carrier/rdma/core/room.h"

/*
 * The fabrics of an engine: which are there, and which one a connection takes. RR_TRANSPORT_AUTO is what the
 * engine's configuration says; and where that is RR_TRANSPORT_AUTO, too: the RDMA adapters where the address
 * belongs to one of them, else iWARP over sockets. An engine on a fabric of a test's has that one only.
 */

enum { RR_PROVIDER_FABRICS = 2 };

/* Makes the fabric that is there from the beginning. -RPCRDMA_ERR_INVAL: the engine's configuration. */
int rr_provider_begin(struct rr_room *room, const struct rpcrdma_engine *engine);

/* Every endpoint and listener was closed. */
void rr_provider_end(struct rr_room *room);

/*
 * The fabric of the RDMA adapters, made when first asked for. NOTSUP (no library, no device, or none that is
 * usable), LIMIT (locked memory), SYSTEM (no permission), NOMEM; text says what to do.
 */
int rr_provider_adapters(struct rr_room *room, struct rr_fabric **fabric, struct rr_text *text);

/* The fabric by which to connect to that place: AUTO goes by where the route to it begins. */
int rr_provider_to(struct rr_room *room, const struct rr_carrier_place *to, struct rr_fabric **fabric,
	struct rr_text *text);

/*
 * The fabrics to listen with at a place; how many, or an error. At an address that stands for all of this
 * machine's, AUTO listens with both: the second one may fail then. 0, where others have the adapters.
 */
int rr_provider_at(struct rr_room *room, const struct rr_carrier_place *at,
	struct rr_fabric *fabrics[RR_PROVIDER_FABRICS], struct rr_text *text);

#endif
