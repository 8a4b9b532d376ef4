/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "../test.h"
#include "suite.h"
#include "world.h"

/* Whether the private data that came is that which was sent. InfiniBand has no length for private data:
 * zeroes may follow there. */
static bool
is_data(const uint8_t *got, uint32_t got_size, const uint8_t *data, uint32_t size)
{
	if (got_size < size || (got_size > size && !world_is_adapter()))
		return false;
	for (uint32_t i = size; i < got_size; i++)
		if (got[i])
			return false;
	return memcmp(got, data, size) == 0;
}

/* The private data grows in one direction while it shrinks in the other. */
static void
private_data_of_every_size_travels_both_ways(void **state)
{
	struct world *world = *state;
	uint32_t max = rr_fabric_limits(world->fabric)->private_data_max;
	uint8_t *ask = filled(max, 1), *answer = filled(max, 2);

	memcpy(world->reply, answer, max);
	for (uint32_t size = 0; size <= max; size++) {
		world->reply_size = max - size;
		world_dial(world, &world->client, ask, size);
		world_until(world, world->client.established && world->server.established);
		assert_true(is_data(world->request, world->request_size, ask, size));
		assert_true(is_data(
			world->client.private_data, world->client.private_size, answer, world->reply_size));
		assert_int_equal(world->server.private_size, 0);
		side_close(&world->client);
		side_close(&world->server);
		world->client.established = world->server.established = false;
	}
	assert_int_equal(world->requests, max + 1);
	free(ask);
	free(answer);
}

static void
too_much_private_data_is_refused_at_once(void **state)
{
	struct world *world = *state;
	uint32_t max = rr_fabric_limits(world->fabric)->private_data_max;
	uint8_t data[600] = { 0 };
	struct rr_endpoint *endpoint;
	struct rr_text text;

	assert_int_equal(rr_fabric_connect(world->fabric,
				 &(struct rr_connect){ (void *)&world->address, sizeof(world->address), data,
					 max + 1, NULL, NULL },
				 &endpoint, &text),
		-RPCRDMA_ERR_INVAL);
}

static void
an_accept_may_come_later(void **state)
{
	struct world *world = *state;

	world->answer = WORLD_HOLD;
	world_dial(world, &world->client, "x", 1);
	world_until(world, world->asking);
	world_settle(world);
	assert_false(world->client.established);
	world_accept(world, &world->server);
	world_until(world, world->client.established && world->server.established);
}

static void
a_rejection_is_told_as_such_with_its_private_data(void **state)
{
	struct world *world = *state;
	uint32_t max = rr_fabric_limits(world->fabric)->private_data_max;
	uint8_t *reason = filled(max, 3);

	world->answer = WORLD_REJECT;
	memcpy(world->reply, reason, max);
	for (uint32_t size = 0; size <= max; size++) {
		world->reply_size = size;
		world_dial(world, &world->client, NULL, 0);
		world_until(world, world->client.disconnected);
		assert_false(world->client.established);
		assert_int_equal(world->client.status, -RPCRDMA_ERR_REJECTED);
		assert_true(is_data(world->client.private_data, world->client.private_size, reason, size));
		side_close(&world->client);
		world->client.disconnected = false;
	}
	free(reason);
}

static void
where_nobody_listens_the_connection_is_refused(void **state)
{
	struct world *world = *state;

	rr_fabric_unlisten(world->listener);
	world->listener = NULL;
	world_dial(world, &world->client, NULL, 0);
	world_until(world, world->client.disconnected);
	assert_int_equal(world->client.status, -RPCRDMA_ERR_REFUSED);
}

static void
nothing_else_can_listen_at_a_port_in_use(void **state)
{
	struct world *world = *state;
	struct rr_listener *listener;
	struct rr_text text = { "" };

	assert_int_equal(
		rr_fabric_listen(world->fabric,
			&(struct rr_listen){ (void *)&world->address, sizeof(world->address), NULL, NULL },
			&listener, &text),
		-RPCRDMA_ERR_SYSTEM);
	assert_non_null(strstr(text.text, "in use"));
}

static void
a_client_that_gives_up_while_it_is_not_answered_costs_nothing(void **state)
{
	struct world *world = *state;

	world->answer = WORLD_HOLD;
	world_dial(world, &world->client, NULL, 0);
	world_until(world, world->asking);
	side_close(&world->client);
	world_settle(world);
	world_accept(world, &world->server);
	world_until(world, world->server.disconnected);
	assert_true(world->server.status < 0);
}

static void
nothing_can_be_posted_before_the_connection_is_established(void **state)
{
	struct world *world = *state;

	world_dial(world, &world->client, NULL, 0);
	assert_int_equal(side_send(&world->client, "x", 1, 1), -RPCRDMA_ERR_DISCONNECTED);
	assert_int_equal(rr_endpoint_kick(world->client.endpoint), -RPCRDMA_ERR_DISCONNECTED);
	rr_endpoint_disconnect(world->client.endpoint);
	world_until(world, world->client.disconnected);
	assert_false(world->client.established);
	assert_int_equal(world->client.status, -RPCRDMA_ERR_CANCELLED);
}

enum { MANY = 1000, DESCRIPTORS = 2 * MANY + 100 };

/* Raises the limit of descriptors, as each connection takes two, and a process may have 1024 at first. */
static void
allow_descriptors(void)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	if (limit.rlim_cur >= DESCRIPTORS)
		return;
	limit.rlim_cur = DESCRIPTORS;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void
a_thousand_endpoints_live_side_by_side(void **state)
{
	struct world *world = *state;
	struct side *clients = calloc(MANY, sizeof(*clients)), *servers = calloc(MANY, sizeof(*servers));
	static uint32_t numbers[MANY];

	allow_descriptors();
	world->answer = WORLD_HOLD;
	world->client_allows = world->server_allows = 1;
	for (uint32_t i = 0; i < MANY; i++) {
		clients[i].world = servers[i].world = world;
		numbers[i] = i;
		world_dial(world, &clients[i], &i, sizeof(i));
		world_until(world, world->asking || clients[i].disconnected);
		if (clients[i].disconnected)
			fail_msg("client %u: status %d: %s", i, clients[i].status, clients[i].text);
		assert_memory_equal(world->request, &i, sizeof(i));
		world_accept(world, &servers[i]);
	}
	for (uint32_t i = 0; i < MANY; i++) {
		world_until(world, clients[i].established && servers[i].established);
		assert_int_equal(side_send(&clients[i], &numbers[i], sizeof(i), 0), 0);
		assert_int_equal(side_send(&servers[i], &numbers[i], sizeof(i), 0), 0);
	}
	for (uint32_t i = 0; i < MANY; i++) {
		world_until(world, clients[i].receives == 1 && servers[i].receives == 1);
		assert_memory_equal(clients[i].received[0].data, &i, sizeof(i));
		assert_memory_equal(servers[i].received[0].data, &i, sizeof(i));
	}
	for (uint32_t i = 0; i < MANY; i++) {
		assert_false(clients[i].disconnected || servers[i].disconnected);
		side_free(&clients[i]);
		side_free(&servers[i]);
	}
	free(clients);
	free(servers);
}

int
suite_connect(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(private_data_of_every_size_travels_both_ways),
		TEST(too_much_private_data_is_refused_at_once),
		TEST(an_accept_may_come_later),
		TEST(a_rejection_is_told_as_such_with_its_private_data),
		TEST(where_nobody_listens_the_connection_is_refused),
		TEST(nothing_else_can_listen_at_a_port_in_use),
		TEST(a_client_that_gives_up_while_it_is_not_answered_costs_nothing),
		TEST(nothing_can_be_posted_before_the_connection_is_established),
		TEST(a_thousand_endpoints_live_side_by_side),
	};

	return cmocka_run_group_tests_name("connect", tests, NULL, NULL);
}
