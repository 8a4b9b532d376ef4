/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_VERSION_H
#define RR_CARRIER_RDMA_VERSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "carrier/engine.h"

/*
 * Versions of RPC-over-RDMA: which ones a side speaks, which one two of them
 * have in common, and what is remembered of servers
 * (draft-cel-nfsv4-rpcrdma-version-two-00, section 5).
 */

enum { RR_VERSIONS = 2 }; /* that there are: 1 and 2 */

struct rr_version_range {
	uint32_t low, high;
};

struct rr_version_range rr_version_range(enum rr_versions versions);

static inline bool
rr_version_in(uint32_t version, struct rr_version_range range)
{
	return version >= range.low && version <= range.high;
}

/* The highest version but `refused` that both ranges have; 0 where there is none. */
uint32_t rr_version_other(uint32_t refused, struct rr_version_range own, struct rr_version_range peer);

/* What a requester remembers of a server. */
enum rr_server_trait {
	RR_SERVER_UNKNOWN,
	RR_SERVER_SPEAKS_2,  /* version 2 was agreed: a connection that is lost is only made again */
	RR_SERVER_REFUSES_2, /* it answered ERR_VERS: it is called in version 1 */
	RR_SERVER_SILENT, /* it did not answer version 2, or ended the connection: version 1, for a while */
	RR_SERVER_TRAITS
};

#define RR_SERVER_KEPT        (3600 * RR_SECOND)
#define RR_SERVER_SILENT_KEPT (120 * RR_SECOND)

/* The last 64 servers. The entry that would expire first makes room. */
enum { RR_SERVERS_MAX = 64 };

struct rr_servers {
	struct {
		uint8_t address[16]; /* IPv4: mapped */
		uint16_t port;
		enum rr_server_trait trait;
		uint64_t until; /* 0: not used */
	} servers[RR_SERVERS_MAX];
};

/* Notes a trait in place of what was noted before; RR_SERVER_UNKNOWN removes the entry. An address of a
 * family that is neither IPv4 nor IPv6 is not remembered. */
void rr_servers_note(
	struct rr_servers *servers, const struct sockaddr *address, enum rr_server_trait trait, uint64_t now);

enum rr_server_trait rr_servers_recall(
	const struct rr_servers *servers, const struct sockaddr *address, uint64_t now);

#endif
