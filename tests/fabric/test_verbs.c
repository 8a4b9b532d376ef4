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
 * Runs the suite on the first RDMA device that is usable and has an IPv4 address, or, with -6, an IPv6
 * address; connections are from the device to itself. Exit status 77: there is no such device. An argument
 * chooses tests by their names. With --removal COMMAND, the command removes the device under a connection;
 * with --loss COMMAND, it removes the address, while a connection from the other family's address goes on.
 * With either option, nothing else is tested.
 */
enum { SKIPPED = 77 };

struct choice {
	int family;
	bool found;
	struct suite_adapter adapter;
};

/* The address under test, and an address of the other family. */
static struct choice chosen = { .family = AF_INET }, other = { .family = AF_INET6 };

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
look_at(struct choice *choice, const struct rr_verbs_device_info *info)
{
	for (uint32_t i = 0; i < info->ports[0].address_count && !choice->found; i++)
		choice->found = take_address(choice, info->ports[0].addresses[i]);
	/* The kernel's siw (Linux 6.1) sends the Read Response without a look at the region's rights. */
	choice->adapter.reads_are_unchecked = strncmp(info->name, "siw", 3) == 0;
}

static void
look(void *ctx, const struct rr_verbs_device_info *info)
{
	(void)ctx;
	if (!info->usable)
		printf("# %s is not usable: %s\n", info->name, info->reason.text);
	if (!info->usable || chosen.found)
		return;
	look_at(&chosen, info);
	look_at(&other, info);
}

/* The command that removes the device and waits until no process uses it, or that removes the address. */
static const char *command;

/* Runs the command beside this process, as the command may wait for this process. */
static void
run_command(void)
{
	char line[256];

	snprintf(line, sizeof(line), "%s &", command);
	assert_int_equal(system(line), 0);
}

/* A Send arrives: the connection works. */
static void
use(struct world *world)
{
	assert_int_equal(side_send(&world->client, "x", 1, 1), 0);
	world_until(world, world->server.receives == 1);
}

/* The command ends the connection of this world. */
static void
run_command_against(struct world *world)
{
	run_command();
	world_until(world, world->client.disconnected && world->server.disconnected);
	assert_int_equal(world->client.status, -RPCRDMA_ERR_DISCONNECTED);
	assert_int_equal(world->server.status, -RPCRDMA_ERR_DISCONNECTED);
}

static void
a_removed_device_ends_its_connections(void **state)
{
	struct world *world = *state;
	uint8_t data[8];
	struct rr_region region;

	world->server.keep_receives = true;
	world_connect(world);
	assert_int_equal(
		rr_endpoint_register(world->server.endpoint, data, sizeof(data), RR_REMOTE_WRITE, &region),
		0);
	use(world);
	run_command_against(world);
	assert_int_equal(side_send(&world->client, "x", 1, 1), -RPCRDMA_ERR_DISCONNECTED);
	rr_endpoint_invalidate(world->server.endpoint, &region);
	side_close(&world->client);
	side_close(&world->server);
	world_settle(world);
	rr_fabric_release(world->fabric, world->server.received[0].data);
}

static struct world *
connect_at(const struct choice *choice)
{
	struct world *world;

	world_provider(rr_verbs_fabric_new, &choice->adapter);
	world = world_new(&rr_fabric_config_default);
	world_connect(world);
	return world;
}

static void
a_lost_address_ends_its_connections_and_no_others(void **state)
{
	struct world *lost, *kept;

	(void)state;
	assert_true(other.found);
	lost = connect_at(&chosen);
	kept = connect_at(&other);
	use(lost);
	run_command_against(lost);
	assert_true(strstr(lost->client.text, "lost the address") ||
		    strstr(lost->server.text, "lost the address"));
	assert_int_equal(side_send(&lost->client, "x", 1, 1), -RPCRDMA_ERR_DISCONNECTED);
	/* The other world has got the message about the address, too, and has checked its own address. */
	do
		world_turn(kept);
	while (rr_loop_due(kept->stage.loop) >= 0);
	assert_int_equal(side_send(&kept->client, "x", 1, 1), 0);
	world_until(kept, kept->server.receives == 1 && kept->client.completions == 1);
	assert_false(kept->client.disconnected || kept->server.disconnected);
	world_free(lost);
	world_free(kept);
}

static void
an_address_that_moved_to_other_hardware_ends_its_connections(void **state)
{
	struct world *world = *state;

	world_connect(world);
	use(world);
	run_command_against(world);
	assert_true(strstr(world->client.text, "moved") || strstr(world->server.text, "moved"));
}

/* The tests of commands, each with the option that names its command. */
static const struct {
	const char *option;
	struct CMUnitTest test;
} commanded[] = {
	{ "--removal", cmocka_unit_test_setup_teardown(
			       a_removed_device_ends_its_connections, world_setup, world_teardown) },
	{ "--loss", cmocka_unit_test(a_lost_address_ends_its_connections_and_no_others) },
	{ "--failover",
		cmocka_unit_test_setup_teardown(an_address_that_moved_to_other_hardware_ends_its_connections,
			world_setup, world_teardown) },
};

static int
run(int argc, char **argv)
{
	for (size_t i = 0; argc == 3 && i < sizeof(commanded) / sizeof(commanded[0]); i++) {
		if (strcmp(argv[1], commanded[i].option) != 0)
			continue;
		command = argv[2];
		return _cmocka_run_group_tests(commanded[i].option + 2, &commanded[i].test, 1, NULL, NULL);
	}
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return suite_run_adapter(rr_verbs_fabric_new, &chosen.adapter);
}

int
main(int argc, char **argv)
{
	struct rr_text text = { "no device is usable" };

	/* Each line is written at once: the output of a test that is ended from outside shows the tests
	 * before it. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && strcmp(argv[1], "-6") == 0) {
		chosen.family = AF_INET6;
		other.family = AF_INET;
		argv++;
		argc--;
	}
	if (rr_verbs_devices(&rr_env_system, look, NULL, &text) < 0 || !chosen.found) {
		printf("skipped: %s\n", text.text);
		return SKIPPED;
	}
	world_provider(rr_verbs_fabric_new, &chosen.adapter);
	return run(argc, argv);
}
