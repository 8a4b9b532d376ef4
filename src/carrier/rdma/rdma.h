/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_RDMA_H
#define RR_CARRIER_RDMA_RDMA_H

#include "carrier/carrier.h"

/* RPC-over-RDMA connections (RFC 8166, RFC 8797) as carriers. */

/* Begins to connect to address; connected() or closed() follows. Errors: NOMEM, SYSTEM, INVAL, and those of
 * rr_engine_adapters(), with a text. */
int rr_rdma_connect_over(struct rr_engine *engine, enum rr_provider provider, const struct sockaddr *address,
	socklen_t size, const struct rr_carrier_events *events, void *ctx, struct rr_carrier **carrier,
	struct rr_text *text);

/* The same over what the engine's configuration says. */
int rr_rdma_connect(struct rr_engine *engine, const struct sockaddr *address, socklen_t size,
	const struct rr_carrier_events *events, void *ctx, struct rr_carrier **carrier, struct rr_text *text);

/* Listens at address; each connection is accepted and handed over. Errors: SYSTEM, NOMEM, and those of
 * rr_engine_adapters(), with a text. */
int rr_rdma_listen_over(struct rr_engine *engine, enum rr_provider provider, const struct sockaddr *address,
	socklen_t size, rr_acceptor_handler *handler, void *ctx, struct rr_acceptor **acceptor,
	struct rr_text *text);

/* The same over what the engine's configuration says. */
int rr_rdma_listen(struct rr_engine *engine, const struct sockaddr *address, socklen_t size,
	rr_acceptor_handler *handler, void *ctx, struct rr_acceptor **acceptor, struct rr_text *text);

/* The address it listens at, with the port that was chosen. */
int rr_rdma_acceptor_address(struct rr_acceptor *acceptor, struct sockaddr_storage *address);

/* By which providers: "iwarp", "verbs", "iwarp and verbs"; "" where others listen: see adapters_elsewhere in
 * engine.h. */
const char *rr_rdma_acceptor_providers(const struct rr_acceptor *acceptor);

/* Connections that were handed over live on. */
void rr_rdma_unlisten(struct rr_acceptor *acceptor);

#endif
