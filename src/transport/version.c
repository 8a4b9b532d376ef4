/* SPDX-License-Identifier: BSD-3-Clause */
#include "transport/version.h"

#include <netinet/in.h>
#include <string.h>

#include "base/env.h"
#include "wire/rpcrdma1.h"
#include "wire/rpcrdma2.h"

#define REMEMBERED (3600 * RR_SECOND)

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

/* ---- Refusals ---- */

static bool
key(const struct sockaddr *address, uint8_t octets[16], uint16_t *port)
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

static int
find(const struct rr_refusals *refusals, const uint8_t octets[16], uint16_t port)
{
	for (int i = 0; i < RR_REFUSALS_MAX; i++) {
		if (refusals->servers[i].until > 0 && refusals->servers[i].port == port &&
			memcmp(refusals->servers[i].address, octets, 16) == 0)
			return i;
	}
	return -1;
}

static int
oldest(const struct rr_refusals *refusals)
{
	int found = 0;

	for (int i = 1; i < RR_REFUSALS_MAX; i++) {
		if (refusals->servers[i].until < refusals->servers[found].until)
			found = i;
	}
	return found;
}

void
rr_refusals_add(struct rr_refusals *refusals, const struct sockaddr *address, uint64_t now)
{
	uint8_t octets[16];
	uint16_t port;
	int i;

	if (!key(address, octets, &port))
		return;
	i = find(refusals, octets, port);
	if (i < 0)
		i = oldest(refusals);
	memcpy(refusals->servers[i].address, octets, sizeof(octets));
	refusals->servers[i].port = port;
	refusals->servers[i].until = now + REMEMBERED;
}

void
rr_refusals_remove(struct rr_refusals *refusals, const struct sockaddr *address)
{
	uint8_t octets[16];
	uint16_t port;
	int i;

	if (key(address, octets, &port) && (i = find(refusals, octets, port)) >= 0)
		refusals->servers[i].until = 0;
}

bool
rr_refusals_has(const struct rr_refusals *refusals, const struct sockaddr *address, uint64_t now)
{
	uint8_t octets[16];
	uint16_t port;
	int i;

	if (!key(address, octets, &port))
		return false;
	i = find(refusals, octets, port);
	return i >= 0 && now < refusals->servers[i].until;
}
