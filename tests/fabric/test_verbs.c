/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test.h"
#include "fabric/verbs/verbs.h"
#include "suite.h"
#include "world.h"

/*
 * The suite on the first RDMA device that is usable and has an IPv4 address, with -6 an IPv6 address;
 * connections are from it to itself. Exit status 77 says that there is none. An argument chooses tests by
 * their names; with
 * --removal COMMAND, that command removes the device under a connection, and nothing else is tested.
 */
enum { SKIPPED = 77 };

struct choice {
	int family;
	bool found;
	struct suite_adapter adapter;
};

static bool
take_address(struct choice *choice, const char *text)
{
	struct sockaddr_in *in = (void *)&choice->adapter.address;
	struct sockaddr_in6 *in6 = (void *)&choice->adapter.address;

	choice->adapter.address.ss_family = (sa_family_t)choice->family;
	if (choice->family == AF_INET)
		return inet_pton(AF_INET, text, &in->sin_addr) == 1;
	return inet_pton(AF_INET6, text, &in6->sin6_addr) == 1 && !IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr);
}

static void
look(void *ctx, const struct rr_verbs_device_info *info)
{
	struct choice *choice = ctx;

	if (!info->usable)
		printf("# %s is not usable: %s\n", info->name, info->reason.text);
	if (!info->usable || choice->found)
		return;
	for (uint32_t i = 0; i < info->ports[0].address_count && !choice->found; i++)
		choice->found = take_address(choice, info->ports[0].addresses[i]);
	/* The kernel's siw (Linux 6.1) sends the Read Response without a look at the region's rights. */
	choice->adapter.reads_are_unchecked = strncmp(info->name, "siw", 3) == 0;
}

/* The command that removes the device; it waits until nobody uses it. */
static const char *removal;

static void
a_removed_device_ends_its_connections(void **state)
{
	struct world *world = *state;
	char command[256];
	uint8_t data[8];
	struct rr_region region;

	world->server.keep_receives = true;
	world_connect(world);
	assert_int_equal(
		rr_endpoint_register(world->server.endpoint, data, sizeof(data), RR_REMOTE_WRITE, &region),
		0);
	assert_int_equal(side_send(&world->client, "x", 1, 1), 0);
	world_until(world, world->server.receives == 1);
	snprintf(command, sizeof(command), "%s &", removal);
	assert_int_equal(system(command), 0);
	world_until(world, world->client.disconnected && world->server.disconnected);
	assert_int_equal(world->client.status, -RPCRDMA_ERR_DISCONNECTED);
	assert_int_equal(world->server.status, -RPCRDMA_ERR_DISCONNECTED);
	assert_int_equal(side_send(&world->client, "x", 1, 1), -RPCRDMA_ERR_DISCONNECTED);
	rr_endpoint_invalidate(world->server.endpoint, &region);
	side_close(&world->client);
	side_close(&world->server);
	world_settle(world);
	rr_fabric_release(world->fabric, world->server.received[0].data);
}

static int
run_removal(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test_setup_teardown(
		a_removed_device_ends_its_connections, world_setup, world_teardown) };

	return cmocka_run_group_tests_name("removal", tests, NULL, NULL);
}

int
main(int argc, char **argv)
{
	struct choice choice = { .family = AF_INET };
	struct rr_text text = { "no device is usable" };

	if (argc > 1 && strcmp(argv[1], "-6") == 0) {
		choice.family = AF_INET6;
		argv++;
		argc--;
	}
	if (rr_verbs_devices(&rr_env_system, look, &choice, &text) < 0 || !choice.found) {
		printf("skipped: %s\n", text.text);
		return SKIPPED;
	}
	if (argc == 3 && strcmp(argv[1], "--removal") == 0) {
		removal = argv[2];
		world_provider(rr_verbs_fabric_new, &choice.adapter);
		return run_removal();
	}
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return suite_run_adapter(rr_verbs_fabric_new, &choice.adapter);
}
