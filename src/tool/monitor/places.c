/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "tool/monitor/monitor_private.h"

struct in6_addr
rr_monitor_host(const struct sockaddr *address)
{
	struct in6_addr host = { 0 };

	if (address->sa_family == AF_INET6)
		host = ((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
	if (address->sa_family == AF_INET)
		memcpy(&host, &((const struct sockaddr_in *)(const void *)address)->sin_addr,
			sizeof(struct in_addr));
	return host;
}

/* Returns the peer that has connected first of those whose request is not whole, of the host, or of all hosts
 * if host is NULL. Returns NULL if there is no such peer. */
static struct rr_monitor_peer *
place_silent(struct rr_monitor_peer *places, const struct in6_addr *host)
{
	struct rr_monitor_peer *oldest = NULL;

	for (struct rr_monitor_peer *peer = places; peer < places + RR_MONITOR_OF_A_KIND; peer++) {
		if (peer->fd < 0 || peer->reply || (host && memcmp(&peer->host, host, sizeof(*host)) != 0))
			continue;
		if (!oldest || peer->deadline < oldest->deadline)
			oldest = peer;
	}
	return oldest;
}

struct rr_monitor_peer *
rr_monitor_place(struct rr_monitor_peer *places, enum rr_monitor_kind kind, const struct in6_addr *host)
{
	struct rr_monitor_peer *empty = NULL;
	uint32_t count = 0;

	for (struct rr_monitor_peer *peer = places; peer < places + RR_MONITOR_OF_A_KIND; peer++) {
		if (peer->fd < 0)
			empty = peer;
		else if (memcmp(&peer->host, host, sizeof(*host)) == 0)
			count++;
	}
	if (kind == RR_MONITOR_HTTP && count >= RR_MONITOR_OF_A_HOST)
		return place_silent(places, host);
	return empty ? empty : place_silent(places, NULL);
}
