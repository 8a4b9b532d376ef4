/* SPDX-License-Identifier: BSD-3-Clause */
/* The name under which all connections of one host are counted: host.h. */
#include "base/host.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

/* Writes to name the name under which connections from an IPv6 address are counted: the IPv4 address if
 * *address stands for one, else its first 64 bits, as "[2001:db8::/64]". In the second case, the function
 * sets the last 64 bits of *address to zero. */
static void
host_name_in6(struct in6_addr *address, char name[RR_HOST_NAME])
{
	char text[INET6_ADDRSTRLEN];

	if (IN6_IS_ADDR_V4MAPPED(address)) {
		inet_ntop(AF_INET, &address->s6_addr[12], name, RR_HOST_NAME);
		return;
	}
	memset(&address->s6_addr[8], 0, 8);
	inet_ntop(AF_INET6, address, text, sizeof(text));
	snprintf(name, RR_HOST_NAME, "[%s/64]", text);
}

void
rr_host_name(const char *peer, char name[RR_HOST_NAME])
{
	const char *port = strrchr(peer, ':');
	size_t length = port ? (size_t)(port - peer) : strlen(peer);
	char inner[RR_HOST_NAME];
	struct in6_addr address;

	snprintf(name, RR_HOST_NAME, "%.*s", (int)length, peer);
	if (name[0] != '[')
		return;
	/* The address inside the brackets, without a scope such as "%eth0". */
	snprintf(inner, sizeof(inner), "%.*s", (int)strcspn(name + 1, "]%"), name + 1);
	if (inet_pton(AF_INET6, inner, &address) == 1)
		host_name_in6(&address, name);
}
