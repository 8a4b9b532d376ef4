/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "../test.h"
#include "suite.h"
#include "world.h"

static void
sends_of_every_size_arrive_in_order(void **state)
{
	static const uint32_t sizes[] = { 0, 1, 2, 3, 4, 5, 7, 8, 28, 100, 1000, 1447, 1448, 1449, 2047, 4095,
		4096 };
	enum { N = sizeof(sizes) / sizeof(sizes[0]) };
	struct world *world = *state;
	uint8_t *data = filled(4096, 1);

	world_connect(world);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(side_send(&world->client, data, sizes[i], i + 1), 0);
	world_until(world, world->server.receives == N && world->client.completions == N);
	for (uint32_t i = 0; i < N; i++) {
		assert_int_equal(world->server.received[i].length, sizes[i]);
		assert_memory_equal(world->server.received[i].data, data, sizes[i]);
		assert_false(world->server.received[i].invalidated);
		assert_int_equal(world->client.completed[i].cookie, i + 1);
		assert_int_equal(world->client.completed[i].status, 0);
	}
	free(data);
}

static void
large_sends_arrive_whole(void **state)
{
	struct rr_fabric_config config = rr_fabric_config_default;
	uint8_t *data = filled(262144, 2);
	struct world *world;

	config.receive_size = 262144;
	world = world_new(&config);
	(void)state;
	world_connect(world);
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(side_send(&world->client, data, 262144 - i * 7919, 0), 0);
	world_until(world, world->server.receives == 20);
	for (uint32_t i = 0; i < 20; i++) {
		assert_int_equal(world->server.received[i].length, 262144 - i * 7919);
		assert_memory_equal(world->server.received[i].data, data, 262144 - i * 7919);
	}
	world_free(world);
	free(data);
}

static void
the_server_may_answer_and_both_may_send_at_once(void **state)
{
	struct world *world = *state;

	world_connect(world);
	for (int i = 0; i < 50; i++) {
		assert_int_equal(side_send(&world->client, "call", 4, 0), 0);
		assert_int_equal(side_send(&world->server, "reply", 5, 0), 0);
	}
	world_until(world, world->client.receives == 50 && world->server.receives == 50);
	assert_memory_equal(world->client.received[49].data, "reply", 5);
	assert_memory_equal(world->server.received[49].data, "call", 4);
	/* A request without a cookie has no completion. */
	assert_int_equal(world->client.completions, 0);
}

static void
a_message_is_gathered_from_its_sges(void **state)
{
	struct world *world = *state;
	uint8_t *data = filled(4096, 3);
	struct rr_sge sges[RR_MAX_SGE];
	struct rr_work work = { .kind = RR_WORK_SEND, .sge_count = RR_MAX_SGE, .sges = sges };
	uint32_t at = 0;

	for (uint32_t i = 0; i < RR_MAX_SGE; i++) {
		uint32_t length = i % 3 ? i * 17 : 0;

		sges[i] = (struct rr_sge){ length ? data + at : NULL, length };
		at += length;
	}
	world_connect(world);
	assert_int_equal(rr_endpoint_post(world->client.endpoint, &work), 0);
	memset(sges, 0, sizeof(sges));
	world_until(world, world->server.receives == 1);
	assert_int_equal(world->server.received[0].length, at);
	assert_memory_equal(world->server.received[0].data, data, at);
	free(data);
}

static void
bad_work_requests_are_refused(void **state)
{
	struct world *world = *state;
	struct rr_sge sges[RR_MAX_SGE + 1] = { { "x", 1 } };
	struct rr_work work = { .kind = RR_WORK_SEND, .sge_count = RR_MAX_SGE + 1, .sges = sges };

	world_connect(world);
	assert_int_equal(rr_endpoint_post(world->client.endpoint, &work), -RPCRDMA_ERR_INVAL);
	work.sge_count = 2;
	work.kind = RR_WORK_READ;
	assert_int_equal(rr_endpoint_post(world->client.endpoint, &work), -RPCRDMA_ERR_INVAL);
	work.kind = RR_WORK_SEND;
	sges[1].length = 1;
	assert_int_equal(rr_endpoint_post(world->client.endpoint, &work), -RPCRDMA_ERR_INVAL);
	sges[1] = (struct rr_sge){ "y", UINT32_MAX };
	assert_int_equal(rr_endpoint_post(world->client.endpoint, &work), -RPCRDMA_ERR_INVAL);
}

static void
outstanding_work_is_limited(void **state)
{
	struct world *world = *state;
	uint32_t max = rr_fabric_config(world->fabric)->work_max;

	world->server_allows = max + 1;
	world_connect(world);
	for (uint32_t i = 0; i < max; i++)
		assert_int_equal(side_send(&world->client, "x", 1, 1), 0);
	assert_int_equal(side_send(&world->client, "x", 1, 1), -RPCRDMA_ERR_LIMIT);
	world_until(world, world->client.completions == max);
	assert_int_equal(side_send(&world->client, "x", 1, 1), 0);
	world_until(world, world->server.receives == max + 1);
}

static void
a_send_without_a_receive_ends_the_connection(void **state)
{
	struct world *world = *state;

	world->server_allows = 3;
	world_connect(world);
	for (int i = 0; i < 4; i++)
		assert_int_equal(side_send(&world->client, "x", 1, 0), 0);
	world_until(world, world->client.disconnected && world->server.disconnected);
	assert_int_equal(world->server.receives, 3);
	assert_int_equal(world->server.status, -RPCRDMA_ERR_PEER);
	assert_int_equal(world->client.status, -RPCRDMA_ERR_DISCONNECTED);
}

static void
allowing_more_lets_more_sends_in(void **state)
{
	struct world *world = *state;

	world->server_allows = 1;
	world_connect(world);
	for (uint32_t i = 1; i <= 10; i++) {
		assert_int_equal(side_send(&world->client, "x", 1, 0), 0);
		world_until(world, world->server.receives == i);
		rr_endpoint_allow(world->server.endpoint, 1);
	}
	assert_false(world->server.disconnected);
}

static void
a_send_longer_than_a_receive_ends_the_connection(void **state)
{
	struct world *world = *state;
	uint8_t *data = filled(4097, 4);

	world_connect(world);
	assert_int_equal(side_send(&world->client, data, 4097, 1), 0);
	world_until(world, world->client.disconnected && world->server.disconnected);
	assert_int_equal(world->server.receives, 0);
	assert_int_equal(world->server.status, -RPCRDMA_ERR_PEER);
	free(data);
}

/* Makes a world whose fabric has count receives for all connections. */
static struct world *
with_receives(uint32_t count)
{
	struct rr_fabric_config config = rr_fabric_config_default;

	config.receive_max = count;
	return world_new(&config);
}

static void
skip_if_receives_must_suffice(struct world *world)
{
	if (!rr_fabric_limits(world->fabric)->receives_must_suffice)
		return;
	world_free(world);
	skip();
}

static void
an_empty_pool_only_waits(void **state)
{
	struct world *world = with_receives(2);

	(void)state;
	skip_if_receives_must_suffice(world);
	world->server.keep_receives = true;
	world_connect(world);
	for (int i = 0; i < 20; i++)
		assert_int_equal(side_send(&world->client, &"0123456789abcdefghij"[i], 1, 0), 0);
	for (uint32_t i = 0; i < 20; i++) {
		world_until(world, world->server.receives > i);
		world_settle(world);
		assert_true(world->server.receives <= i + 2);
		assert_int_equal(world->server.received[i].data[0], "0123456789abcdefghij"[i]);
		rr_fabric_release(world->fabric, world->server.received[i].data);
	}
	assert_false(world->server.disconnected);
	world_free(world);
}

/* A server that calls another server before it answers a call holds the receive of that call until its own
 * call is answered. */
static void
an_empty_pool_keeps_no_answer_out(void **state)
{
	struct world *world = with_receives(2);

	(void)state;
	world->server.keep_receives = true;
	world_connect(world);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(side_send(&world->client, "call", 4, 0), 0);
	world_until(world, world->server.receives == 2);
	for (uint32_t i = 1; i <= 5; i++) {
		assert_int_equal(side_send(&world->server, "answer", 6, 0), 0);
		world_until(world, world->client.receives == i);
	}
	for (uint32_t i = 0; i < 2; i++)
		rr_fabric_release(world->fabric, world->server.received[i].data);
	world_free(world);
}

/* A server that reads data of a call by RDMA holds the receive of the call until the data has come, which
 * comes behind the Sends that the peer sent meanwhile. Where there are not enough receives even so, the Sends
 * wait. */
static void
an_empty_pool_keeps_no_data_out_that_was_asked_for(void **state)
{
	struct rr_fabric_config config = rr_fabric_config_default;
	struct rr_region region;
	struct world *world;
	uint8_t from[100], to[100] = { 0 };

	(void)state;
	config.receive_max = 2;
	world = world_new(&config);
	if (rr_fabric_limits(world->fabric)->receives_must_suffice) {
		world_free(world);
		skip();
	}
	world->server.keep_receives = true;
	world_connect(world);
	memset(from, 7, sizeof(from));
	assert_int_equal(
		rr_endpoint_register(world->client.endpoint, from, sizeof(from), RR_REMOTE_READ, &region), 0);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(side_send(&world->client, "call", 4, 0), 0);
	world_until(world, world->server.receives == 2);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(side_send(&world->client, "call", 4, 0), 0);
	assert_int_equal(
		side_post(&world->server, RR_WORK_READ, to, sizeof(to), region.handle, region.offset, 1), 0);
	world_until(world, world->server.completions == 1);
	assert_memory_equal(to, from, sizeof(to));
	assert_true(world->server.receives <= 4);
	for (uint32_t i = 0; i < 4; i++) {
		world_until(world, world->server.receives > i);
		rr_fabric_release(world->fabric, world->server.received[i].data);
	}
	world_free(world);
}

/* Answers, held or given back, do not let more calls in than there are receives for. */
static void
answers_that_are_held_make_no_room_for_calls(void **state)
{
	struct world *world = with_receives(2);

	(void)state;
	skip_if_receives_must_suffice(world);
	world->client.keep_receives = world->server.keep_receives = true;
	world_connect(world);
	assert_int_equal(side_send(&world->client, "call", 4, 0), 0);
	world_until(world, world->server.receives == 1);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(side_send(&world->server, "answer", 6, 0), 0);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(side_send(&world->client, "call", 4, 0), 0);
	world_until(world, world->client.receives == 2);
	for (uint32_t i = 0; i < 2; i++)
		rr_fabric_release(world->fabric, world->client.received[i].data);
	world_settle(world);
	assert_int_equal(world->server.receives, 2);
	for (uint32_t i = 0; i < 3; i++) {
		world_until(world, world->server.receives > i);
		rr_fabric_release(world->fabric, world->server.received[i].data);
	}
	world_free(world);
}

static void
those_who_wait_for_a_receive_are_served_in_turn(void **state)
{
	struct side second, other;
	struct world *world;

	(void)state;
	if (world_is_adapter())
		skip();
	world = with_receives(1);
	second = other = (struct side){ .world = world, .keep_receives = true };
	world->server.keep_receives = true;
	world_connect(world);
	world->answer = WORLD_HOLD;
	world_dial(world, &second, NULL, 0);
	world_until(world, world->asking);
	world_accept(world, &other);
	world_until(world, second.established && other.established);
	assert_int_equal(side_send(&world->client, "a", 1, 0), 0);
	world_until(world, world->server.receives == 1);
	assert_int_equal(side_send(&world->client, "b", 1, 0), 0);
	world_settle(world);
	assert_int_equal(side_send(&second, "c", 1, 0), 0);
	world_settle(world);
	rr_fabric_release(world->fabric, world->server.received[0].data);
	world_until(world, world->server.receives == 2);
	assert_int_equal(other.receives, 0);
	rr_fabric_release(world->fabric, world->server.received[1].data);
	world_until(world, other.receives == 1);
	rr_fabric_release(world->fabric, other.received[0].data);
	side_free(&second);
	side_free(&other);
	world_free(world);
}

int
suite_send(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(sends_of_every_size_arrive_in_order),
		cmocka_unit_test(large_sends_arrive_whole),
		TEST(the_server_may_answer_and_both_may_send_at_once),
		TEST(a_message_is_gathered_from_its_sges),
		TEST(bad_work_requests_are_refused),
		TEST(outstanding_work_is_limited),
		TEST(a_send_without_a_receive_ends_the_connection),
		TEST(allowing_more_lets_more_sends_in),
		TEST(a_send_longer_than_a_receive_ends_the_connection),
		cmocka_unit_test(an_empty_pool_only_waits),
		cmocka_unit_test(an_empty_pool_keeps_no_answer_out),
		cmocka_unit_test(an_empty_pool_keeps_no_data_out_that_was_asked_for),
		cmocka_unit_test(answers_that_are_held_make_no_room_for_calls),
		cmocka_unit_test(those_who_wait_for_a_receive_are_served_in_turn),
	};

	return cmocka_run_group_tests_name("send", tests, NULL, NULL);
}
