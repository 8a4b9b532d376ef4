/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

void
rr_address_text(const struct sockaddr *address, char *text, size_t size)
{
	const struct sockaddr_in *in = (const void *)address;
	const struct sockaddr_in6 *in6 = (const void *)address;
	char host[INET6_ADDRSTRLEN] = "?";

	switch (address->sa_family) {
	case AF_INET:
		inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
		snprintf(text, size, "%s:%u", host, ntohs(in->sin_port));
		return;
	case AF_INET6:
		inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
		snprintf(text, size, "[%s]:%u", host, ntohs(in6->sin6_port));
		return;
	default: snprintf(text, size, "address family %d", address->sa_family);
	}
}
