/* SPDX-License-Identifier: BSD-3-Clause */
#include "api/resolve.h"

#include <netdb.h>
#include <netinet/in.h>
#include <rpcrdma/error.h>
#include <stdio.h>
#include <string.h>

int
rr_api_resolve(
	const char *host, uint16_t port, struct sockaddr_storage *addresses, int max, struct rr_text *text)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
	struct addrinfo *found;
	char service[8];
	int result, count = 0;

	host = host ? host : "127.0.0.1";
	snprintf(service, sizeof(service), "%u", port);
	result = getaddrinfo(host, service, &hints, &found);
	if (result != 0)
		return rr_fail(text, -RPCRDMA_ERR_ADDRESS, "the host %.120s cannot be found: %s", host,
			gai_strerror(result));
	memset(addresses, 0, (size_t)max * sizeof(*addresses));
	for (const struct addrinfo *next = found; next && count < max; next = next->ai_next) {
		if (next->ai_family == AF_INET || next->ai_family == AF_INET6)
			memcpy(&addresses[count++], next->ai_addr, next->ai_addrlen);
	}
	freeaddrinfo(found);
	if (count == 0)
		return rr_fail(text, -RPCRDMA_ERR_ADDRESS,
			"the host %.120s has neither an IPv4 nor an IPv6 address", host);
	return count;
}

socklen_t
rr_api_address_size(const struct sockaddr_storage *address)
{
	return address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

uint16_t
rr_api_port(const struct sockaddr_storage *address)
{
	if (address->ss_family == AF_INET6)
		return ntohs(((const struct sockaddr_in6 *)address)->sin6_port);
	return ntohs(((const struct sockaddr_in *)address)->sin_port);
}
