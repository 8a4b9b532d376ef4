/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <rpcrdma/error.h>

#include "fabric/verbs/verbs.h"
#include "tool/tool.h"

/* A limit of a device, as it is printed. */
struct devices_limit {
	const char *name, *key;
	size_t at; /* offset in struct rr_verbs_device_info */
};

static const struct devices_limit limits[] = {
	{ "connections", "max_connections", offsetof(struct rr_verbs_device_info, max_connections) },
	{ "work requests each", "max_work", offsetof(struct rr_verbs_device_info, max_work) },
	{ "RDMA Reads each", "max_reads", offsetof(struct rr_verbs_device_info, max_reads) },
	{ "shared receives", "max_receives", offsetof(struct rr_verbs_device_info, max_receives) },
	{ "regions", "max_regions", offsetof(struct rr_verbs_device_info, max_regions) },
	{ "sges", "max_sges", offsetof(struct rr_verbs_device_info, max_sges) },
};

enum { LIMITS = sizeof(limits) / sizeof(limits[0]) };

/* The option of `rpcrdma devices`, and the number of devices that were shown. */
struct devices {
	bool json;
	uint32_t count;
};

static const struct rr_option devices_options[] = {
	{ .name = "json",
		.help = "print one JSON object",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct devices, json) },
	{ 0 },
};

/* Returns the value that this limit has in info, where its row of the table says. */
static uint32_t
devices_limit(const struct rr_verbs_device_info *info, const struct devices_limit *limit)
{
	return *(const uint32_t *)(const void *)((const char *)info + limit->at);
}

static void
devices_json_member(const char *name, const char *text)
{
	printf("\"%s\":", name);
	rr_tool_json_string(stdout, text);
}

static void
devices_json_list(const char *name, const char (*texts)[RR_ADDRESS_TEXT], uint32_t count)
{
	printf(",\"%s\":[", name);
	for (uint32_t i = 0; i < count; i++) {
		printf("%s", i ? "," : "");
		rr_tool_json_string(stdout, texts[i]);
	}
	printf("]");
}

static void
devices_json_port(const struct rr_verbs_port *port, uint32_t number)
{
	printf("%s{\"port\":%" PRIu32 ",", number > 1 ? "," : "", number);
	devices_json_member("state", port->state);
	printf(",");
	devices_json_member("link_layer", port->link_layer);
	printf(",");
	devices_json_member("network", port->network);
	printf(",\"mtu\":%" PRIu32 ",\"max_message\":%" PRIu64, port->mtu, port->max_message);
	devices_json_list("addresses", port->addresses, port->address_count);
	devices_json_list("gids", port->gids, port->gid_count);
	printf("}");
}

static void
devices_json_device(const struct rr_verbs_device_info *info)
{
	printf("{");
	devices_json_member("device", info->name);
	printf(",");
	devices_json_member("transport", info->transport);
	printf(",\"usable\":%s", info->usable ? "true" : "false");
	if (!info->usable) {
		printf(",");
		devices_json_member("reason", info->reason.text);
	}
	if (info->has_attributes) {
		printf(",\"remote_invalidation\":%s,\"max_region_size\":%" PRIu64,
			info->windows ? "true" : "false", info->max_region_size);
		for (size_t i = 0; i < LIMITS; i++)
			printf(",\"%s\":%" PRIu32, limits[i].key, devices_limit(info, &limits[i]));
	}
	printf(",\"ports\":[");
	for (uint32_t i = 0; i < info->port_count; i++)
		devices_json_port(&info->ports[i], i + 1);
	printf("]}");
}

static void
devices_print_port(const struct rr_verbs_port *port, uint32_t number)
{
	printf("  port %" PRIu32 ": %s, %s", number, port->state, port->link_layer);
	if (port->network[0])
		printf(", network interface %s", port->network);
	if (port->mtu)
		printf(", MTU %" PRIu32, port->mtu);
	printf(", messages of up to %" PRIu64 " octets\n", port->max_message);
	for (uint32_t i = 0; i < port->address_count; i++)
		printf("    address %s\n", port->addresses[i]);
	for (uint32_t i = 0; i < port->gid_count; i++)
		printf("    GID %s\n", port->gids[i]);
}

static void
devices_print_device(const struct rr_verbs_device_info *info)
{
	printf("%s: %s, %s%s\n", info->name, info->transport,
		info->usable ? "usable" : "not usable: ", info->usable ? "" : info->reason.text);
	for (uint32_t i = 0; i < info->port_count; i++)
		devices_print_port(&info->ports[i], i + 1);
	if (!info->has_attributes)
		return;
	printf("  remote invalidation: %s\n",
		info->windows ? "yes" : "no (the device has no memory windows of type 2)");
	printf("  at most: ");
	if (info->max_region_size < UINT64_MAX)
		printf("regions of %" PRIu64 " octets, ", info->max_region_size);
	for (size_t i = 0; i < LIMITS; i++)
		printf("%s%" PRIu32 " %s", i ? ", " : "", devices_limit(info, &limits[i]), limits[i].name);
	printf("\n");
}

/* Called for each device: prints it, with --json as an element of the list "devices", which the first device
 * begins. */
static void
devices_show(void *ctx, const struct rr_verbs_device_info *info)
{
	struct devices *devices = ctx;

	if (devices->json) {
		printf("%s", devices->count ? "," : "{\"devices\":[");
		devices_json_device(info);
	} else {
		devices_print_device(info);
	}
	devices->count++;
}

static int
devices_run(const struct rr_tool *tool, int argc, char **argv)
{
	struct devices devices = { 0 };
	struct rr_text text = { "" };
	int error, status = rr_options_parse(tool, &devices, &argc, &argv);

	if (status != RR_OPTIONS_GO_ON)
		return status;
	error = rr_verbs_devices(&rr_env_system, devices_show, &devices, &text);
	if (error && devices.json) {
		printf("{\"devices\":[],");
		devices_json_member("reason", text.text);
		printf("}\n");
		return rr_tool_end_output(tool, RR_EXIT_FAILED);
	}
	if (error)
		return rr_tool_fail(
			tool, "%s; without an adapter, rpcrdma uses iWARP over TCP sockets", text.text);
	/* Without an error there is a device, so that devices_show() has begun the list. */
	if (devices.json)
		printf("]}\n");
	return rr_tool_end_output(tool, RR_EXIT_OK);
}

const struct rr_tool rr_tool_devices = {
	.name = "devices",
	.run = devices_run,
	.help = "List RDMA devices: what each can do, or why it is not usable.",
	.groups = { { devices_options, 0 } },
};
