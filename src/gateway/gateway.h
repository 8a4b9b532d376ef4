/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_GATEWAY_GATEWAY_H
#define RR_GATEWAY_GATEWAY_H

#include <rpcrdma/xdr.h>

#include "carrier/carrier.h"

/* A gateway in one engine: it passes RPC messages on between clients and a server, each side over RDMA or
 * over TCP. Each connection of a client has its own connection to the server, so that sessions and
 * backchannels of NFS version 4.1, which are bound to connections, stay bound to them; calls of the server
 * travel back on that connection. Messages pass unchanged, with their XIDs and credentials.
 *
 * If one connection of a pair ends, the other connection is ended, too: pair.c says why no call is lost
 * or executed twice. */

enum { RR_GATEWAY_ADDRESSES = 8, RR_GATEWAY_ROUTES = 8, RR_GATEWAY_PROGRAMS = 32 };

/* A server. Its addresses are tried in their order. */
struct rr_gateway_target {
	enum rr_transport transport;
	uint32_t address_count;
	struct sockaddr_storage addresses[RR_GATEWAY_ADDRESSES];
	const struct rr_secure *secure; /* TLS over TCP; lives as long as the gateway. NULL: without */
};

/* A program whose calls go to another server. */
struct rr_gateway_route {
	uint32_t prog;
	struct rr_gateway_target target;
};

/* The configuration of a gateway. */
struct rr_gateway_config {
	struct rr_gateway_target server;
	uint32_t route_count;
	struct rr_gateway_route routes[RR_GATEWAY_ROUTES];
	/* The marks of programs that ulb/binding.h does not know. The tables must outlive the gateway. */
	uint32_t program_count;
	const struct rpcrdma_program *programs[RR_GATEWAY_PROGRAMS];
	/* Returns what to do about a server that cannot be reached, for the log. May be NULL, and may
	 * return NULL: there is no advice. */
	const char *(*advice)(int error);
};

/* The counters of a gateway. */
struct rr_gateway_counters {
	uint32_t open;      /* pairs of connections, now */
	uint64_t pairs;     /* pairs of connections, since the beginning */
	uint64_t calls;     /* of clients */
	uint64_t callbacks; /* calls of servers */
	uint64_t repeated;  /* calls of clients that came again while the same call was under way */
	/* Calls that the gateway answered itself, as there was no answer that it could pass on. */
	uint64_t failed;
	struct rpcrdma_counters client_side, server_side;
};

struct rr_gateway;

/* Makes a gateway and stores it in *gateway. The gateway copies the configuration. Errors: NOMEM. */
int rr_gateway_new(
	struct rpcrdma_engine *engine, const struct rr_gateway_config *config, struct rr_gateway **gateway);

/* Closes all connections at once, and frees the gateway. gateway may be NULL. While a carrier still sends an
 * answer that the gateway gave it, a part of the gateway's memory stays; it is freed when the last of these
 * answers was sent. */
void rr_gateway_free(struct rr_gateway *gateway);

/* Listens at address by that transport; may be called several times, for several addresses. If the port in
 * address is 0, replaces it by the port that the system chose. Errors: SYSTEM, NOMEM, with a text. */
int rr_gateway_listen(struct rr_gateway *gateway, enum rr_transport transport, struct sockaddr *address,
	socklen_t size, struct rr_text *text);

/* Ends the gateway in good order: from now on it accepts no connections and no calls. The calls that it has
 * received are passed on and answered, then the connections close. */
void rr_gateway_shutdown(struct rr_gateway *gateway);

/* Tells whether everything is closed after rr_gateway_shutdown(). */
bool rr_gateway_idle(const struct rr_gateway *gateway);

/* Stores in *counters the counts of the gateway: those of all pairs that have ended, and those of the
 * pairs that are open. */
void rr_gateway_counters(const struct rr_gateway *gateway, struct rr_gateway_counters *counters);

#endif
