/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_RPCBIND_H
#define RR_TOOL_RPCBIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "tool/tool.h"

/*
 * Services of this machine in its rpcbind (RFC 1833, section 2), under the names of transports of RFC 5665.
 * rpcbind believes a caller at its Unix socket, whose user the kernel tells it.
 */

enum { RR_RPCBIND_ADDRESS = 64, RR_RPCBIND_MAX = 16 };

struct rr_rpcbind_entry {
	uint32_t prog, vers;
	const char *netid;
	char address[RR_RPCBIND_ADDRESS]; /* a universal address */
	uint16_t port;
	bool registered;
};

/* What a server has there, and the path of rpcbind's socket; NULL: nothing is to be registered. */
struct rr_rpcbind {
	const char *socket;
	bool rdma; /* RDMA is registered, too */
	struct rr_rpcbind_entry entries[RR_RPCBIND_MAX];
	size_t count;
};

/* --rpcbind and --rpcbind-rdma, of struct rr_rpcbind. */
extern const struct rr_option rr_rpcbind_options[];

/* Adds the program at this address, of AF_INET or AF_INET6, over TCP or RDMA. There is one entry for each
 * version and transport: where the program has several addresses of one family at one port, all addresses of
 * this machine stand for them, and the first one where the ports differ. */
void rr_rpcbind_add(
	struct rr_rpcbind *rpcbind, uint32_t prog, uint32_t vers, bool tcp, const struct sockaddr *address);

/* The same for NFS, in the versions that there are, and for MOUNT, which belongs to version 3. */
void rr_rpcbind_add_nfs(
	struct rr_rpcbind *rpcbind, bool version3, bool version4, bool tcp, const struct sockaddr *address);

/* Registers the entries, or takes away those that were registered. Where there is no socket, nothing is done.
 * Says what could not be done: a server that is not registered is still found at the ports that its clients
 * know. */
void rr_rpcbind_register(const struct rr_tool *tool, struct rr_rpcbind *rpcbind);
void rr_rpcbind_withdraw(const struct rr_tool *tool, struct rr_rpcbind *rpcbind);

#endif
