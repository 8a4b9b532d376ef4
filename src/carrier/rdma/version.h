/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_VERSION_H
#define RR_CARRIER_RDMA_VERSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "carrier/engine.h"

/* Versions of RPC-over-RDMA: those that a side uses, the choice between those of two sides, and the memory of
 * what servers use (draft-cel-nfsv4-rpcrdma-version-two-00, section 5). */

enum { RR_VERSIONS = 2 }; /* 1 and 2 */

struct rr_version_range {
	uint32_t low, high;
};

/* Returns the lowest and the highest version that the engine's configuration allows. */
struct rr_version_range rr_version_range(enum rr_versions versions);

static inline bool
rr_version_in(uint32_t version, struct rr_version_range range)
{
	return version >= range.low && version <= range.high;
}

/* Returns the highest version other than `refused` that both ranges have, or 0 if there is no such
 * version. */
uint32_t rr_version_other(uint32_t refused, struct rr_version_range own, struct rr_version_range peer);

/* What a requester remembers of a server. */
enum rr_server_trait {
	RR_SERVER_UNKNOWN,
	RR_SERVER_SPEAKS_2,  /* it agreed to version 2: a connection that is lost is just made again */
	RR_SERVER_REFUSES_2, /* it answered ERR_VERS: calls go in version 1 */
	/* It did not answer version 2, or ended the connection: calls go in version 1 for a while. */
	RR_SERVER_SILENT,
	RR_SERVER_TRAITS
};

/* How long a trait is remembered. */
#define RR_SERVER_KEPT        (3600 * RR_SECOND)
#define RR_SERVER_SILENT_KEPT (120 * RR_SECOND)

/* The last 64 servers are remembered. The entry that would expire first makes room. */
enum { RR_SERVERS_MAX = 64 };

/* What an engine remembers of servers. */
struct rr_servers {
	struct {
		uint8_t address[16]; /* IPv4 addresses are mapped to IPv6 */
		uint16_t port;
		enum rr_server_trait trait;
		uint64_t until; /* ns; 0: the entry is not used */
	} servers[RR_SERVERS_MAX];
};

/* Remembers a trait of the server in place of its former trait. RR_SERVER_UNKNOWN removes the entry of the
 * server. Only servers with IPv4 and IPv6 addresses are remembered. */
void rr_servers_note(
	struct rr_servers *servers, const struct sockaddr *address, enum rr_server_trait trait, uint64_t now);

/* Returns the trait that is remembered of the server, or RR_SERVER_UNKNOWN if nothing is remembered, or not
 * any more at the time `now`. */
enum rr_server_trait rr_servers_recall(
	const struct rr_servers *servers, const struct sockaddr *address, uint64_t now);

#endif
