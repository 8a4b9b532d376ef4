/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_PROVIDER_H
#define RR_CARRIER_RDMA_PROVIDER_H

#include "carrier/engine.h"

/*
 * Which fabric of an engine a connection takes. RR_PROVIDER_AUTO is what the engine's configuration says; and
 * where that is RR_PROVIDER_AUTO, too: the RDMA adapters where the address belongs to one of them, else iWARP
 * over sockets. An engine on a fabric of a test's has that one only.
 */

/* The fabric by which to connect to peer: AUTO goes by where the route to it begins. */
int rr_provider_to(struct rr_engine *engine, enum rr_provider provider, const struct sockaddr *peer,
	socklen_t size, struct rr_fabric **fabric, struct rr_text *text);

/*
 * The fabrics to listen with at local; how many, or an error. At an address that stands for all of this
 * machine's, AUTO listens with both: the second one may fail then. None, where others have the adapters.
 */
int rr_provider_at(struct rr_engine *engine, enum rr_provider provider, const struct sockaddr *local,
	socklen_t size, struct rr_fabric *fabrics[RR_FABRICS], struct rr_text *text);

#endif
