/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_TCP_TCP_H
#define RR_CARRIER_TCP_TCP_H

#include "carrier/carrier.h"

/* RPC over TCP with record marking (RFC 5531, section 11) as carriers. Marked items travel in the stream. */

int rr_tcp_connect(struct rr_engine *engine, const struct sockaddr *address, socklen_t size,
	const struct rr_carrier_events *events, void *ctx, struct rr_carrier **carrier, struct rr_text *text);

struct rr_tcp_acceptor;

int rr_tcp_listen(struct rr_engine *engine, const struct sockaddr *address, socklen_t size,
	rr_acceptor_handler *handler, void *ctx, struct rr_tcp_acceptor **acceptor, struct rr_text *text);

int rr_tcp_acceptor_address(struct rr_tcp_acceptor *acceptor, struct sockaddr_storage *address);

void rr_tcp_unlisten(struct rr_tcp_acceptor *acceptor);

#endif
