/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/verbs/network.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netpacket/packet.h>
#include <stdio.h>
#include <string.h>

/*
 * Finds the network interface of a port. For RoCE, sysfs has its name. For iWARP, the port's GID begins with
 * the interface's hardware address. For InfiniBand it is IP over InfiniBand (RFC 4391, 9.1.1), whose hardware
 * address is the number of a queue pair and the GID, and is longer than sll_addr is declared.
 */

/* The octets in front of the GID in a hardware address of InfiniBand, and those of an Ethernet address. */
enum { QUEUE_PAIR = 4, ETHERNET = 6 };

bool
rr_verbs_is_interface(const struct ifaddrs *entry, const uint8_t gid[RR_VERBS_GID])
{
	const struct sockaddr_ll *link = (const void *)entry->ifa_addr;
	const uint8_t *hardware;

	/* A bonded interface may have the hardware address of the bond, which has the IP addresses. */
	if (!link || link->sll_family != AF_PACKET || entry->ifa_flags & IFF_SLAVE)
		return false;
	/* An InfiniBand address is longer than the array sll_addr: its octets go on behind the structure. */
	hardware = (const uint8_t *)link + offsetof(struct sockaddr_ll, sll_addr);
	if (link->sll_hatype == ARPHRD_INFINIBAND)
		return link->sll_halen == QUEUE_PAIR + RR_VERBS_GID &&
		       memcmp(hardware + QUEUE_PAIR, gid, RR_VERBS_GID) == 0;
	return link->sll_halen == ETHERNET && memcmp(hardware, gid, ETHERNET) == 0;
}

/* Sets name to the name of the network interface to which a port belongs. If no interface is found, name
 * stays "". First reads the kernel's file for the port, then compares the hardware addresses of all
 * interfaces with the port's GID. */
static void
find_name(const char *device, unsigned number, const uint8_t gid[RR_VERBS_GID],
	const struct ifaddrs *interfaces, char name[RR_VERBS_NAME])
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/%u/gid_attrs/ndevs/0", device, number);
	file = fopen(path, "re");
	if (file) {
		if (fscanf(file, "%63s", name) != 1)
			name[0] = '\0';
		fclose(file);
	}
	for (const struct ifaddrs *i = interfaces; i && !name[0]; i = i->ifa_next)
		if (rr_verbs_is_interface(i, gid))
			snprintf(name, RR_VERBS_NAME, "%s", i->ifa_name);
}

void
rr_verbs_find_network(const char *device, unsigned number, const uint8_t gid[RR_VERBS_GID],
	const struct ifaddrs *interfaces, struct rr_verbs_port *port)
{
	find_name(device, number, gid, interfaces, port->network);
	for (const struct ifaddrs *i = interfaces; i; i = i->ifa_next) {
		const struct sockaddr_in *in = (const void *)i->ifa_addr;
		const struct sockaddr_in6 *in6 = (const void *)i->ifa_addr;
		bool is4 = in && in->sin_family == AF_INET, is6 = in && in->sin_family == AF_INET6;

		if ((!is4 && !is6) || strcmp(i->ifa_name, port->network) != 0 ||
			port->address_count == RR_VERBS_ADDRESSES)
			continue;
		inet_ntop(in->sin_family, is4 ? (const void *)&in->sin_addr : (const void *)&in6->sin6_addr,
			port->addresses[port->address_count++], RR_ADDRESS_TEXT);
	}
}
