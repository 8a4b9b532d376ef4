/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice of a version, and the memory of what servers use: version.h. */
#include "carrier/rdma/version.h"

#include <netinet/in.h>
#include <string.h>

#include "wire/rpcrdma1.h"
#include "wire/rpcrdma2.h"

struct rr_version_range
rr_version_range(enum rr_versions versions)
{
	return (struct rr_version_range){
		.low = versions == RR_VERSIONS_2 ? RR_RPCRDMA_VERSION_2 : RR_RPCRDMA_VERSION_1,
		.high = versions == RR_VERSIONS_1 ? RR_RPCRDMA_VERSION_1 : RR_RPCRDMA_VERSION_2,
	};
}

uint32_t
rr_version_other(uint32_t refused, struct rr_version_range own, struct rr_version_range peer)
{
	for (uint32_t version = own.high; version >= own.low; version--) {
		if (version != refused && rr_version_in(version, peer))
			return version;
	}
	return 0;
}

/* ---- Servers ---- */

/* Stores the octets and the port of an address in the form in which servers are remembered: an IPv4 address
 * is stored as an IPv6 address. Returns false if the address is neither IPv4 nor IPv6. */
static bool
version_key(const struct sockaddr *address, uint8_t octets[16], uint16_t *port)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	const struct sockaddr_in6 *in6 = (const void *)address;
	const struct sockaddr_in *in = (const void *)address;

	switch (address->sa_family) {
	case AF_INET:
		memcpy(octets, mapped, sizeof(mapped));
		memcpy(octets + sizeof(mapped), &in->sin_addr, 4);
		*port = in->sin_port;
		return true;
	case AF_INET6:
		memcpy(octets, &in6->sin6_addr, 16);
		*port = in6->sin6_port;
		return true;
	default: return false;
	}
}

/* Returns the index of the entry for the server with that address and port, or -1 if there is no entry. */
static int
version_find(const struct rr_servers *servers, const uint8_t octets[16], uint16_t port)
{
	for (int i = 0; i < RR_SERVERS_MAX; i++) {
		if (servers->servers[i].until > 0 && servers->servers[i].port == port &&
			memcmp(servers->servers[i].address, octets, 16) == 0)
			return i;
	}
	return -1;
}

/* Returns the index of an unused entry, or, if all are in use, of the entry that expires first. */
static int
version_oldest(const struct rr_servers *servers)
{
	int found = 0;

	for (int i = 1; i < RR_SERVERS_MAX; i++) {
		if (servers->servers[i].until < servers->servers[found].until)
			found = i;
	}
	return found;
}

void
rr_servers_note(
	struct rr_servers *servers, const struct sockaddr *address, enum rr_server_trait trait, uint64_t now)
{
	static const uint64_t kept[RR_SERVER_TRAITS] = {
		[RR_SERVER_SPEAKS_2] = RR_SERVER_KEPT,
		[RR_SERVER_REFUSES_2] = RR_SERVER_KEPT,
		[RR_SERVER_SILENT] = RR_SERVER_SILENT_KEPT,
	};
	uint8_t octets[16];
	uint16_t port;
	int i;

	if (!version_key(address, octets, &port))
		return;
	i = version_find(servers, octets, port);
	if (i < 0 && trait == RR_SERVER_UNKNOWN)
		return;
	if (i < 0)
		i = version_oldest(servers);
	memcpy(servers->servers[i].address, octets, sizeof(octets));
	servers->servers[i].port = port;
	servers->servers[i].trait = trait;
	servers->servers[i].until = trait == RR_SERVER_UNKNOWN ? 0 : now + kept[trait];
}

enum rr_server_trait
rr_servers_recall(const struct rr_servers *servers, const struct sockaddr *address, uint64_t now)
{
	uint8_t octets[16];
	uint16_t port;
	int i;

	if (!version_key(address, octets, &port))
		return RR_SERVER_UNKNOWN;
	i = version_find(servers, octets, port);
	return i >= 0 && now < servers->servers[i].until ? servers->servers[i].trait : RR_SERVER_UNKNOWN;
}
