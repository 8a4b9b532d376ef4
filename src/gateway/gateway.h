/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_GATEWAY_GATEWAY_H
#define RR_GATEWAY_GATEWAY_H

#include <rpcrdma/xdr.h>

#include "carrier/carrier.h"

/*
 * A gateway in one engine: it passes RPC messages on between clients and a
 * server, either side over RDMA or over TCP. Each connection of a client has
 * one of its own to the server, so that whatever is bound to connections (the
 * sessions and backchannels of NFS version 4.1) stays so; calls of the server
 * travel back on it. Messages pass unchanged, XIDs and credentials among them.
 *
 * Where one of the two connections of a pair ends, the other one is ended,
 * too: see session.c for why nothing is lost or done twice.
 */

enum { RR_GATEWAY_ADDRESSES = 8, RR_GATEWAY_ROUTES = 8, RR_GATEWAY_PROGRAMS = 32 };

/* A server: its addresses are tried in turn. */
struct rr_gateway_target {
	enum rr_transport transport;
	uint32_t address_count;
	struct sockaddr_storage addresses[RR_GATEWAY_ADDRESSES];
};

/* Calls of this program go elsewhere. */
struct rr_gateway_route {
	uint32_t prog;
	struct rr_gateway_target target;
};

struct rr_gateway_config {
	struct rr_gateway_target server;
	uint32_t route_count;
	struct rr_gateway_route routes[RR_GATEWAY_ROUTES];
	/* What is marked in programs that ulb/binding.h does not know. The tables outlive the gateway. */
	uint32_t program_count;
	const struct rpcrdma_program *programs[RR_GATEWAY_PROGRAMS];
	/* What to do about a server that cannot be reached, for the log; NULL, or NULL from it: nothing to
	 * say. */
	const char *(*advice)(int error);
};

struct rr_gateway_counters {
	uint32_t open;      /* pairs of connections, now */
	uint64_t sessions;  /* pairs of connections, so far */
	uint64_t calls;     /* of clients */
	uint64_t callbacks; /* calls of servers */
	uint64_t repeated;  /* calls that came again while the first was under way */
	uint64_t failed;    /* calls that the gateway answered, as no answer came that could be passed on */
	struct rpcrdma_counters client_side, server_side;
};

struct rr_gateway;

/* The configuration is copied. -RPCRDMA_ERR_NOMEM. */
int rr_gateway_new(
	struct rpcrdma_engine *engine, const struct rr_gateway_config *config, struct rr_gateway **gateway);

/* Closes everything at once. gateway may be NULL. */
void rr_gateway_free(struct rr_gateway *gateway);

/* Listens at address by that transport, as often as wanted; a port 0 in it is replaced by the port that was
 * chosen. Errors: SYSTEM, NOMEM, with a text. */
int rr_gateway_listen(struct rr_gateway *gateway, enum rr_transport transport, struct sockaddr *address,
	socklen_t size, struct rr_text *text);

/* No new connections, no new calls; what was received is passed on and answered, then connections close. */
void rr_gateway_shutdown(struct rr_gateway *gateway);

/* True after rr_gateway_shutdown() once everything is closed. */
bool rr_gateway_idle(const struct rr_gateway *gateway);

void rr_gateway_counters(const struct rr_gateway *gateway, struct rr_gateway_counters *counters);

#endif
