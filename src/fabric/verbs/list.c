/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fabric/verbs/device.h"
#include "fabric/verbs/network.h"
#include "fabric/verbs/verbs.h"

/* A list of the devices, for people: using the devices needs none of this. */

/* The most GIDs of a port that are looked at. */
enum { GIDS_MAX = 64 };

static const char *
list_state_name(enum ibv_port_state state)
{
	static const char *const names[] = { "unknown", "down", "initializing", "armed", "active",
		"deferred" };

	return (size_t)state < sizeof(names) / sizeof(names[0]) ? names[state] : names[0];
}

/* Adds the GIDs (addresses) of a device's port to port, the description of that port. Leaves out empty
 * entries of the device's table, and GIDs that the description has already. */
static void
find_gids(const struct rr_verbs_library *library, struct ibv_context *context, uint8_t number, int count,
	struct rr_verbs_port *port)
{
	static const union ibv_gid none;

	for (int i = 0; i < count && i < GIDS_MAX && port->gid_count < RR_VERBS_ADDRESSES; i++) {
		char *text = port->gids[port->gid_count];
		union ibv_gid gid;
		bool known = false;

		if (library->query_gid(context, number, i, &gid) != 0 ||
			memcmp(&gid, &none, sizeof(gid)) == 0)
			continue;
		inet_ntop(AF_INET6, gid.raw, text, RR_ADDRESS_TEXT);
		for (uint32_t j = 0; j < port->gid_count; j++)
			known |= strcmp(port->gids[j], text) == 0;
		port->gid_count += !known;
	}
}

/* Adds the description of the device's next port to info, with its network interface and addresses. If the
 * port is one of Ethernet, and the device not one of iWARP, info->transport becomes "RoCE". Returns whether
 * the port is active. */
static bool
list_describe_port(const struct rr_verbs_library *library, struct ibv_context *context,
	struct rr_verbs_device_info *info, const struct ifaddrs *interfaces)
{
	struct rr_verbs_port *port = &info->ports[info->port_count++];
	uint8_t number = (uint8_t)info->port_count;
	struct ibv_port_attr attr = { 0 };
	union ibv_gid gid = { { 0 } };
	bool ethernet;

	library->query_port_(context, number, &attr);
	library->query_gid(context, number, 0, &gid);
	ethernet = attr.link_layer == IBV_LINK_LAYER_ETHERNET;
	port->state = list_state_name(attr.state);
	port->link_layer = ethernet || strcmp(info->transport, "iWARP") == 0 ? "Ethernet" : "InfiniBand";
	port->max_message = attr.max_msg_sz;
	/* active_mtu is a number of the verbs: 1 stands for 256 octets, 2 for 512, and so on. */
	if (strcmp(info->transport, "iWARP") != 0) {
		port->mtu = attr.active_mtu ? 128u << attr.active_mtu : 0;
		if (ethernet)
			info->transport = "RoCE";
	}
	rr_verbs_find_network(info->name, number, gid.raw, interfaces, port);
	find_gids(library, context, number, attr.gid_tbl_len, port);
	return attr.state == IBV_PORT_ACTIVE;
}

/* Copies what a device can do, and its limits, from attr to the description info. */
static void
list_describe_attributes(struct rr_verbs_device_info *info, const struct ibv_device_attr *attr)
{
	info->has_attributes = true;
	info->windows = rr_verbs_device_has_windows(attr);
	info->max_connections = (uint32_t)attr->max_qp;
	info->max_regions = (uint32_t)attr->max_mr;
	info->max_sges = (uint32_t)attr->max_sge;
	info->max_receives = (uint32_t)attr->max_srq_wr;
	info->max_reads = (uint32_t)attr->max_qp_rd_atom;
	info->max_work = (uint32_t)attr->max_qp_wr;
	info->max_region_size = attr->max_mr_size;
}

/* Decides whether an open device can be used: by its attributes, ports, IP addresses and permissions, and by
 * the limit of locked memory. active: one of the ports is active. Sets info->usable, or sets info->reason to
 * the reason why the device cannot be used. */
static void
list_judge(struct rr_verbs_device_info *info, const struct ibv_device_attr *attr, bool active)
{
	uint64_t need =
		(uint64_t)rr_fabric_config_default.receive_max * rr_fabric_config_default.receive_size;
	const char *lacks = rr_verbs_device_lacks(attr);
	uint32_t addresses = 0;

	for (uint32_t i = 0; i < info->port_count; i++)
		addresses += info->ports[i].address_count;
	if (lacks)
		rr_fail(&info->reason, 0, "%s", lacks);
	else if (!active)
		rr_fail(&info->reason, 0, "no port is active: check the cable, or `ip link set %s up`",
			info->ports[0].network[0] ? info->ports[0].network : "DEVICE");
	else if (!addresses)
		rr_fail(&info->reason, 0, "its network interface has no IP address, which connections need");
	else if (access("/dev/infiniband/rdma_cm", R_OK | W_OK) < 0)
		rr_verbs_no_channel(&info->reason);
	else if (rr_verbs_check_locked_memory(need, rr_verbs_device_is_strict(attr), &info->reason) == 0)
		info->usable = true;
}

/* Opens a device, fills in its description `info`, and closes it. If the device cannot be opened or does not
 * answer the query, info->reason says why, and info has no attributes and no ports. Each call of
 * list_describe_port() adds a port to info, so that the loop ends. */
static void
list_describe(const struct rr_verbs_library *library, struct ibv_device *device,
	struct rr_verbs_device_info *info, const struct ifaddrs *interfaces)
{
	struct ibv_device_attr attr = { 0 };
	struct ibv_context *context;
	bool active = false;

	*info = (struct rr_verbs_device_info){ .transport = "InfiniBand" };
	snprintf(info->name, sizeof(info->name), "%s", device->name);
	if (device->transport_type == IBV_TRANSPORT_IWARP)
		info->transport = "iWARP";
	else if (device->transport_type != IBV_TRANSPORT_IB)
		info->transport = "unknown";
	context = library->open_device(device);
	if (!context) {
		rr_verbs_cannot_open(device, &info->reason);
		return;
	}
	if (library->query_device(context, &attr) != 0) {
		rr_fail(&info->reason, 0, "it does not tell what it can do: %s", strerror(errno));
	} else {
		list_describe_attributes(info, &attr);
		while (info->port_count < attr.phys_port_cnt && info->port_count < RR_VERBS_PORTS)
			active |= list_describe_port(library, context, info, interfaces);
		list_judge(info, &attr, active);
	}
	library->close_device(context);
}

int
rr_verbs_devices(const struct rr_env *env, rr_verbs_device_handler *handler, void *ctx, struct rr_text *text)
{
	struct rr_verbs_library library;
	struct rr_verbs_device_info *info;
	struct ifaddrs *interfaces = NULL;
	struct ibv_device **list;
	int error = rr_verbs_library_load(&library, text);

	if (error)
		return error;
	list = library.get_device_list(NULL);
	if (!list || !list[0]) {
		if (list)
			library.free_device_list(list);
		return rr_verbs_nothing_there(text);
	}
	info = rr_alloc(env, sizeof(*info));
	if (info && getifaddrs(&interfaces) < 0)
		interfaces = NULL;
	for (int i = 0; info && list[i]; i++) {
		list_describe(&library, list[i], info, interfaces);
		handler(ctx, info);
	}
	if (interfaces)
		freeifaddrs(interfaces);
	library.free_device_list(list);
	rr_free(env, info);
	return info ? 0 : rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory");
}
