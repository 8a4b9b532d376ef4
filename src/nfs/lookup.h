/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_LOOKUP_H
#define RR_NFS_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/*
 * A lookup finds the port of a program, by the rpcbind of its host. It asks for the list of all entries
 * (RPCBPROC_DUMP), because RFC 1833, section 2.2.1 says of RPCBPROC_GETADDR that 'the "r_netid" is inferred
 * from the network identifier of the transport on which the request came in': a call over TCP does not find a
 * program that is registered for RDMA. A host that only has the port mapper (version 2) is asked by
 * PMAPPROC_GETPORT, which knows TCP over IPv4.
 */

struct rpcrdma_engine;
struct rr_text;
struct rr_client_config;
struct rr_url;

struct rr_lookup {
	struct rpcrdma_engine *engine;
	struct sockaddr_storage address; /* of the host; its port is not used */
	uint16_t rpcbind;                /* the port of rpcbind; 0: the usual one, 111 */
	/* The program, and its lowest and highest version; the highest found is preferred. */
	uint32_t prog, low, high;
	bool rdma;        /* the program is looked for under RDMA instead of TCP */
	uint64_t timeout; /* ns; 0: no limit */
	bool (*interrupted)(
		void *ctx); /* NULL, or asked while the lookup waits for an answer: true ends the wait */
	void *ctx;
};

/* Returns the name that rpcbind has for a transport: RFC 5665, section 5.1. */
const char *rr_lookup_netid(bool rdma, int family);

/* Asks rpcbind for the program, and stores its port in *port. Turns the engine's loop until the answer is
 * there. Errors, with their text: PROG_UNAVAIL (rpcbind does not know the program for this transport),
 * CANCELLED, and those of a call, where rpcbind cannot be asked. */
int rr_lookup_port(const struct rr_lookup *lookup, uint16_t *port, struct rr_text *why);

/* Sets the port of lookup->address to that of NFS, in the version and over the transport of a URL that asks
 * for rpcbind; for any other URL nothing changes. The caller has set engine, address, timeout, interrupted
 * and ctx. Errors: those of rr_lookup_port(), but REFUSED instead of PROG_UNAVAIL. */
int rr_lookup_nfs(struct rr_lookup *lookup, const struct rr_url *url, struct rr_text *why);

/* Finds the NLM of a server of NFS, in version 4: at the port of NFS, where servers of this project have it;
 * else, over TCP, at the port that rpcbind names. A connection that TLS protects is not left for one that it
 * does not. Turns the engine's loop until NLM has answered. Returns false where there is none. */
bool rr_lookup_nlm(
	struct rpcrdma_engine *engine, const struct rr_client_config *nfs, struct rr_client_config *nlm);

#endif
