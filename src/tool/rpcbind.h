/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_RPCBIND_H
#define RR_TOOL_RPCBIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "tool/tool.h"

/*
 * The services of this machine in its rpcbind (RFC 1833, section 2), under the names of transports of RFC
 * 5665. rpcbind trusts a caller at its Unix socket, as the kernel says which user the caller is.
 */

/* Octets of memory for a universal address; the most entries. */
enum { RR_RPCBIND_ADDRESS = 64, RR_RPCBIND_MAX = 96 };

/* An entry: a version of a program, the name of a transport ("tcp", "rdma6"), and the address where it is
 * served. */
struct rr_rpcbind_entry {
	uint32_t prog, vers;
	const char *netid;                /* of rr_lookup_netid(): equal names are the same pointer */
	char address[RR_RPCBIND_ADDRESS]; /* a universal address (RFC 5665, 5.2.3) */
	uint16_t port;
	bool registered; /* rpcbind has it */
};

/* The entries of a server, and the path of rpcbind's socket; NULL: nothing is to be registered. */
struct rr_rpcbind {
	const char *socket;
	bool rdma; /* RDMA is registered, too */
	struct rr_rpcbind_entry entries[RR_RPCBIND_MAX];
	size_t count;
};

/* The options --rpcbind and --rpcbind-rdma of struct rr_rpcbind. */
extern const struct rr_option rr_rpcbind_options[];

/* Adds an entry for this version of the program at this address (AF_INET or AF_INET6), over TCP or RDMA.
 * rpcbind takes one entry for each version, family and transport. If there is such an entry already: if it
 * has the same port, it becomes an entry for all addresses of this machine; if it has another port, it stays
 * as it is. Nothing is added beyond RR_RPCBIND_MAX entries. */
void rr_rpcbind_add(
	struct rr_rpcbind *rpcbind, uint32_t prog, uint32_t vers, bool tcp, const struct sockaddr *address);

/* Adds entries for those versions of NFS that are served, and for MOUNT and NFSACL if version 3 is served. */
void rr_rpcbind_add_nfs(
	struct rr_rpcbind *rpcbind, bool version3, bool version4, bool tcp, const struct sockaddr *address);

/* Adds entries for what stands beside version 3: NLM and NSM, its locks, and RQUOTA. Where another program of
 * this machine, its lockd, its statd or its rquotad, has one of them, that program keeps it, and no entry of
 * it is registered. */
void rr_rpcbind_add_beside(struct rr_rpcbind *rpcbind, bool tcp, const struct sockaddr *address);
/* Adds entries for what is served over UDP beside NFS: MOUNT, NLM and NSM. */
void rr_rpcbind_add_datagrams(struct rr_rpcbind *rpcbind, const struct sockaddr *address);

/* Registers the entries with rpcbind. Does nothing if no socket of rpcbind was given. Failures are only
 * reported: clients that know the ports still find the server. */
void rr_rpcbind_register(const struct rr_tool *tool, struct rr_rpcbind *rpcbind);
/* Withdraws the entries that rr_rpcbind_register() has registered, if there are any. Failures are only
 * reported. */
void rr_rpcbind_withdraw(const struct rr_tool *tool, struct rr_rpcbind *rpcbind);

#endif
