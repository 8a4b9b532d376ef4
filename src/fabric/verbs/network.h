/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_VERBS_NETWORK_H
#define RR_FABRIC_VERBS_NETWORK_H

#include <ifaddrs.h>

#include "fabric/verbs/verbs.h"

/* The octets of a GID. */
enum { RR_VERBS_GID = 16 };

/* Whether an entry of the list of interfaces is the hardware address of the interface to which the port with
 * this GID belongs. */
bool rr_verbs_is_interface(const struct ifaddrs *entry, const uint8_t gid[RR_VERBS_GID]);

/* Finds the network interface of the device's port with this number and GID, and adds its name and its IP
 * addresses to the description *port. */
void rr_verbs_find_network(const char *device, unsigned number, const uint8_t gid[RR_VERBS_GID],
	const struct ifaddrs *interfaces, struct rr_verbs_port *port);

#endif
