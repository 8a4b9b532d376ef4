/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <unistd.h>

#include "base/address.h"
#include "fabric/verbs/endpoint.h"

/*
 * Addresses that this machine loses. A connection whose own address is gone, or belongs to another device
 * now, is dead, but nothing reports that: adapters go on sending from the address (siw for a quarter of an
 * hour), and the connection manager reports such changes of bonded interfaces only. So the fabric asks the
 * kernel for messages about removed addresses. A message comes before all parts of the kernel have forgotten
 * the address, and an address that is only set anew comes back at once: so the fabric waits a moment, and
 * then looks whether the address of each connection is still there.
 */

/* The time from the last message until the addresses are checked. */
#define SETTLED (200 * RR_MILLISECOND)

/* The address that was looked for last: most connections of a server have the same address. */
struct addresses_found {
	struct sockaddr_storage address;
	bool known;
	char device[RR_VERBS_NAME]; /* "": no device has it */
};

/* Returns the name of the device that has the local address, or "" if no device has it. Keeps the answer in
 * found: the next call often asks for the same address, and then gets the answer from there. */
static const char *
device_at(struct rr_verbs_fabric *fabric, struct addresses_found *found, const struct sockaddr_storage *local)
{
	struct sockaddr_storage address = *local;
	struct rr_text why;

	rr_address_set_port((struct sockaddr *)&address, 0);
	if (found->known && memcmp(&found->address, &address, sizeof(address)) == 0)
		return found->device;
	found->known = true;
	found->address = address;
	if (rr_verbs_bind_to(
		    &fabric->library, fabric->channel, (struct sockaddr *)&address, found->device, &why) < 0)
		found->device[0] = '\0';
	return found->device;
}

/* Ends the endpoint's connection if the endpoint's device has lost the local address of the connection. */
static void
addresses_check(struct rr_verbs_endpoint *endpoint, struct addresses_found *found)
{
	const struct sockaddr_storage *local = &endpoint->id->route.addr.src_storage;
	const char *device;
	char address[RR_ADDRESS_TEXT];

	if (!endpoint->device || endpoint->state >= RR_VERBS_ENDED)
		return;
	device = device_at(rr_verbs_fabric(endpoint), found, local);
	if (strcmp(device, endpoint->device->context->device->name) == 0)
		return;
	rr_address_text((const struct sockaddr *)local, address, sizeof(address));
	rr_verbs_end(endpoint, -RPCRDMA_ERR_DISCONNECTED, "the RDMA device %s lost the address %s",
		endpoint->device->context->device->name, address);
}

/* Called a moment after the last message that said that addresses were removed: checks the local address of
 * each endpoint. */
static void
addresses_settled(struct rr_timer *timer)
{
	struct rr_verbs_fabric *fabric = rr_container(timer, struct rr_verbs_fabric, settled);
	struct addresses_found found = { .known = false };

	rr_list_for_each (link, &fabric->living)
		addresses_check(rr_container(link, struct rr_verbs_endpoint, link), &found);
}

/* Called when the kernel reports that addresses were removed: empties the socket and arms a timer. All
 * endpoints are checked when the timer expires. The messages are not looked at, as the socket may have lost
 * some of them. */
static void
addresses_told(struct rr_watch *watch, unsigned events)
{
	struct rr_verbs_fabric *fabric = rr_container(watch, struct rr_verbs_fabric, addresses);
	char message[256];

	(void)events;
	while (recv(fabric->address_fd, message, sizeof(message), 0) >= 0 || errno == ENOBUFS)
		rr_loop_arm(fabric->base.loop, &fabric->settled, SETTLED);
}

void
rr_verbs_addresses_watch(struct rr_verbs_fabric *fabric)
{
	struct sockaddr_nl groups = { .nl_family = AF_NETLINK,
		.nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR };

	rr_timer_init(&fabric->settled, addresses_settled);
	fabric->addresses.ready = addresses_told;
	fabric->address_fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
	if (fabric->address_fd >= 0 &&
		bind(fabric->address_fd, (struct sockaddr *)&groups, sizeof(groups)) == 0 &&
		rr_loop_watch(fabric->base.loop, &fabric->addresses, fabric->address_fd, RR_READABLE) == 0)
		return;
	rr_log(fabric->env, RR_LOG_WARNING,
		"RDMA adapters: the kernel does not tell of addresses that are removed (%s): their "
		"connections "
		"will end late",
		strerror(errno));
	if (fabric->address_fd >= 0)
		close(fabric->address_fd);
	fabric->address_fd = -1;
}

void
rr_verbs_addresses_unwatch(struct rr_verbs_fabric *fabric)
{
	if (fabric->address_fd < 0)
		return;
	rr_loop_disarm(fabric->base.loop, &fabric->settled);
	rr_loop_unwatch(fabric->base.loop, &fabric->addresses);
	close(fabric->address_fd);
}
