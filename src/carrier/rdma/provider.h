/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_PROVIDER_H
#define RR_CARRIER_RDMA_PROVIDER_H

#include "carrier/rdma/core/room.h"

/* The fabrics of an engine, and the choice between them for a connection. RR_TRANSPORT_AUTO stands for the
 * provider in the engine's configuration. If that is RR_TRANSPORT_AUTO, too, the RDMA adapters are chosen if
 * the address belongs to one of them, else iWARP over sockets. An engine on a fabric of a test has that
 * fabric only. */

enum { RR_PROVIDER_FABRICS = 2 };

/* Makes the fabric that an engine has from its beginning, room->fabric, with the filters of the engine's
 * configuration in front of it: iwarp, or what config.make() makes. After another make(), the engine uses no
 * further fabric (room->only). Returns 0 or an error, -RPCRDMA_ERR_INVAL if the engine's configuration is
 * wrong. */
int rr_provider_begin(struct rr_room *room, const struct rpcrdma_engine *engine);

/* Frees the fabrics. Every endpoint and listener must have been closed. */
void rr_provider_end(struct rr_room *room);

/* Stores the fabric of the RDMA adapters, which is made when a caller first asks for it. Returns 0 or an
 * error: NOTSUP (no library, no device, or no usable device), LIMIT (locked memory), SYSTEM (no permission),
 * NOMEM. text then says what to do. */
int rr_provider_adapters(struct rr_room *room, struct rr_fabric **fabric, struct rr_text *text);

/* Chooses the fabric over which to connect to an address. For AUTO, the choice depends on the local address
 * from which the route to that address leaves. Returns 0 or an error. */
int rr_provider_to(struct rr_room *room, const struct rr_carrier_place *to, struct rr_fabric **fabric,
	struct rr_text *text);

/* Chooses the fabrics over which to listen at an address. Returns their number, or an error. For AUTO and an
 * address that stands for all addresses of this machine, these are both fabrics; listening over the second
 * may then fail. Returns 0 if another engine has the adapters. */
int rr_provider_at(struct rr_room *room, const struct rr_carrier_place *at,
	struct rr_fabric *fabrics[RR_PROVIDER_FABRICS], struct rr_text *text);

#endif
