/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/filter/fault.h"

#include <stdio.h>
#include <string.h>

#include "../test.h"
#include "fabric/filter/capture.h"
#include "fabric/filter/flight.h"
#include "fabric/iwarp/iwarp.h"
#include "loop/loop.h"
#include "wire/rpcrdma2.h"
#include "world.h"

/* Both sides of a connection are behind the same filter: operations of both count. */

static suite_fabric_new *provider;
static const char *source;

static int
make(struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric)
{
	struct rr_fault_script script;
	struct rr_fabric *below;
	struct rr_text text;

	if (rr_fault_parse(source, &script, &text))
		fail_msg("%s", text.text);
	assert_int_equal(provider(loop, config, &below), 0);
	return rr_fault_fabric_new(below, &script, fabric);
}

static struct world *
world_with(const char *script)
{
	source = script;
	world_provider(make, NULL);
	return world_new(&rr_fabric_config_default);
}

static void
a_connection_fails(void **state)
{
	struct world *world = world_with("fail connect 1");

	(void)state;
	world_dial(world, &world->client, NULL, 0);
	world_until(world, world->client.disconnected);
	assert_int_equal(world->client.status, -RPCRDMA_ERR_REFUSED);
	assert_int_equal(world->requests, 0);
	world_free(world);
}

static void
a_connection_drops_when_it_is_up(void **state)
{
	static const char *const scripts[] = { "drop connect 1", "drop accept 1" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct world *world = world_with(scripts[i]);

		world_dial(world, &world->client, NULL, 0);
		world_until(world, world->client.disconnected && world->server.disconnected);
		assert_false(i ? world->server.established : world->client.established);
		assert_int_equal(world->client.status, -RPCRDMA_ERR_DISCONNECTED);
		assert_int_equal(world->server.status, -RPCRDMA_ERR_DISCONNECTED);
		world_free(world);
	}
}

static void
an_establishment_that_is_delayed_comes(void **state)
{
	struct world *world = world_with("delay connect 1 5ms");

	(void)state;
	world_dial(world, &world->client, NULL, 0);
	world_until(world, world->server.established);
	assert_int_equal(side_send(&world->server, "early", 5, 0), 0);
	assert_int_equal(side_send(&world->client, "x", 1, 1), -RPCRDMA_ERR_DISCONNECTED);
	world_until(world, world->client.established);
	assert_int_equal(side_send(&world->client, "x", 1, 1), 0);
	world_until(world, world->client.receives == 1 && world->server.receives == 1);
	world_free(world);
}

static void
the_connection_drops_at_the_third_send(void **state)
{
	struct world *world = world_with("drop send 3");

	(void)state;
	world_connect(world);
	for (uintptr_t i = 1; i <= 3; i++)
		assert_int_equal(side_send(&world->client, "x", 1, i), 0);
	assert_int_equal(side_send(&world->client, "x", 1, 4), -RPCRDMA_ERR_DISCONNECTED);
	world_until(world, world->client.disconnected && world->server.disconnected);
	assert_int_equal(world->client.completions, 3);
	assert_int_equal(world->client.completed[2].cookie, 3);
	assert_int_equal(world->client.completed[2].status, -RPCRDMA_ERR_CANCELLED);
	assert_true(world->server.receives < 3);
	world_free(world);
}

static void
a_post_and_a_registration_fail(void **state)
{
	struct world *world = world_with("fail write 1; fail register 2");
	struct rr_region region;
	uint8_t octet = 0;

	(void)state;
	world_connect(world);
	assert_int_equal(side_post(&world->client, RR_WORK_WRITE, &octet, 0, 0, 0, 1), -RPCRDMA_ERR_NOMEM);
	assert_int_equal(rr_endpoint_register(world->client.endpoint, &octet, 1, RR_REMOTE_READ, &region), 0);
	assert_int_equal(rr_endpoint_register(world->client.endpoint, &octet, 1, RR_REMOTE_READ, &region),
		-RPCRDMA_ERR_NOMEM);
	assert_int_equal(side_send(&world->client, "x", 1, 1), 0);
	world_until(world, world->server.receives == 1 && world->client.completions == 1);
	world_free(world);
}

static void
posts_that_are_delayed_keep_their_order(void **state)
{
	struct world *world = world_with("delay send 1 3ms");

	(void)state;
	world_connect(world);
	assert_int_equal(side_send(&world->client, "1", 1, 1), 0);
	assert_int_equal(side_send(&world->client, "2", 1, 2), 0);
	rr_loop_turn(world->stage.loop, 0);
	assert_int_equal(world->server.receives, 0);
	world_until(world, world->server.receives == 2 && world->client.completions == 2);
	assert_memory_equal(world->server.received[0].data, "1", 1);
	assert_int_equal(world->client.completed[1].cookie, 2);
	world_free(world);
}

static void
what_was_delayed_still_leaves_before_a_disconnection(void **state)
{
	struct world *world = world_with("delay send 1 1000s");

	(void)state;
	world_connect(world);
	assert_int_equal(side_send(&world->client, "1", 1, 1), 0);
	rr_endpoint_disconnect(world->client.endpoint);
	world_until(world, world->client.disconnected && world->server.disconnected);
	assert_int_equal(world->server.receives, 1);
	assert_int_equal(world->client.status, 0);
	world_free(world);
}

static void
a_delayed_completion_keeps_back_all_events(void **state)
{
	struct world *world = world_with("delay complete 1 3ms");

	(void)state;
	world_connect(world);
	assert_int_equal(side_send(&world->client, "1", 1, 1), 0);
	world_until(world, world->server.receives == 1);
	assert_int_equal(side_send(&world->server, "2", 1, 0), 0);
	rr_loop_turn(world->stage.loop, 0);
	assert_int_equal(world->client.completions + world->client.receives, 0);
	world_until(world, world->client.receives == 1);
	assert_int_equal(world->client.completions, 1);
	world_free(world);
}

static void
a_reordered_completion_is_passed_by_a_receive(void **state)
{
	struct world *world = world_with("reorder complete 1 1000s");

	(void)state;
	world_connect(world);
	assert_int_equal(side_send(&world->client, "1", 1, 1), 0);
	world_until(world, world->server.receives == 1);
	assert_int_equal(side_send(&world->client, "1", 1, 2), 0);
	world_settle(world);
	assert_int_equal(world->client.completions, 0);
	assert_int_equal(side_send(&world->server, "2", 1, 0), 0);
	world_until(world, world->client.receives == 1);
	world_until(world, world->client.completions == 2);
	assert_int_equal(world->client.completed[0].cookie, 1);
	world_free(world);
}

static void
a_completion_fails_or_is_flushed(void **state)
{
	static const struct {
		const char *script;
		int status;
	} cases[] = { { "fail complete 2", -RPCRDMA_ERR_TIMEDOUT },
		{ "flush complete 2", -RPCRDMA_ERR_CANCELLED } };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct world *world = world_with(cases[i].script);

		world_connect(world);
		for (uintptr_t n = 1; n <= 3; n++)
			assert_int_equal(side_send(&world->client, "x", 1, n), 0);
		world_until(world, world->client.disconnected && world->server.disconnected);
		assert_int_equal(world->client.completions, 3);
		assert_int_equal(world->client.completed[0].status, 0);
		assert_int_equal(world->client.completed[1].status, cases[i].status);
		assert_int_equal(world->client.completed[2].status, -RPCRDMA_ERR_CANCELLED);
		world_free(world);
	}
}

static void
a_send_is_cut_and_the_connection_lives(void **state)
{
	struct world *world = world_with("cut send 1 3");

	(void)state;
	world_connect(world);
	assert_int_equal(side_send(&world->client, "octets", 6, 1), 0);
	assert_int_equal(side_send(&world->client, "octets", 6, 1), 0);
	world_until(world, world->server.receives == 2);
	assert_int_equal(world->server.received[0].length, 3);
	assert_int_equal(world->server.received[1].length, 6);
	world_free(world);
}

static void
a_write_is_cut_with_its_connection(void **state)
{
	struct world *world = world_with("cut write 1 3");
	char to[7] = "......";
	struct rr_region region;

	(void)state;
	world_connect(world);
	assert_int_equal(rr_endpoint_register(world->server.endpoint, to, 6, RR_REMOTE_WRITE, &region), 0);
	assert_int_equal(
		side_post(&world->client, RR_WORK_WRITE, "octets", 6, region.handle, region.offset, 1), 0);
	assert_int_equal(side_send(&world->client, "x", 1, 2), 0);
	world_until(world, world->client.disconnected && world->server.disconnected);
	assert_int_equal(world->client.completed[0].status, -RPCRDMA_ERR_CANCELLED);
	assert_true(strcmp(to, "oct...") == 0 || strcmp(to, "......") == 0);
	world_free(world);
}

static void
a_receive_fails(void **state)
{
	struct world *world = world_with("fail receive 2");

	(void)state;
	world_connect(world);
	for (int i = 0; i < 2; i++)
		assert_int_equal(side_send(&world->client, "x", 1, 0), 0);
	world_until(world, world->client.disconnected && world->server.disconnected);
	assert_int_equal(world->server.receives, 1);
	assert_int_equal(world->server.status, -RPCRDMA_ERR_PEER);
	world_free(world);
}

/* With any random faults, events are those of the interface, nothing hangs, and nothing is lost. */
static void
random_faults_end_in_order(void **state)
{
	(void)state;
	for (int seed = 0; seed < 60; seed++) {
		char script[100];
		struct world *world;

		snprintf(script, sizeof(script),
			"random seed=%d rate=0.05 delay=1ms kinds=delay,cut,reorder,flush,drop", seed);
		world = world_with(script);
		world_dial(world, &world->client, NULL, 0);
		world_until(world, world->client.disconnected || world->client.established);
		for (uintptr_t i = 1; i <= 30; i++) {
			if (!world->client.disconnected)
				side_send(&world->client, "x", 1, i);
			if (world->server.established && !world->server.disconnected)
				side_send(&world->server, "y", 1, i);
		}
		if (!world->client.disconnected)
			rr_endpoint_disconnect(world->client.endpoint);
		world_until(world, world->client.disconnected);
		assert_true(world->client.completions <= 30);
		world_free(world);
	}
}

/* ---- Captures ---- */

static struct rr_capture *capture;
static uint32_t packets;

static void
count_packet(void *ctx, uint64_t time, const void *data, size_t size)
{
	(void)ctx;
	(void)time;
	(void)data;
	(void)size;
	packets++;
}

static int
make_captured(struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric)
{
	struct rr_fabric *below;

	assert_int_equal(provider(loop, config, &below), 0);
	return rr_capture_fabric_new(below, capture, fabric);
}

/* Sends an RDMA_NOMSG with a Read chunk, which is a call in version 1. */
static void
send_long_call(struct side *side, uint32_t xid, struct rr_region region)
{
	struct rr_read_segment read = { 0, { region.handle, 8, region.offset } };
	const struct rr_chunk_lists lists = { .reads = &read, .read_count = 1 };
	const struct rr_rdma_header header = { .xid = xid, .vers = 1, .credit = 1, .proc = RR_RDMA_NOMSG };
	struct rpcrdma_xdr_writer writer;
	uint8_t out[256];

	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_rdma_put_any_header(&writer, &header, &lists);
	assert_int_equal(side_send(side, out, (uint32_t)rpcrdma_xdr_length(&writer), 1), 0);
	world_settle(side->world);
}

/* Returns how many packets the capture of a call of each side has, with these XIDs. */
static uint32_t
count_with_xids(uint32_t client, uint32_t server)
{
	static uint8_t memory[2][8];
	struct rr_region regions[2];
	struct world *world;
	struct rr_text text;

	packets = 0;
	assert_int_equal(rr_capture_new(count_packet, NULL, &capture), 0);
	world_provider(make_captured, NULL);
	world = world_new(&rr_fabric_config_default);
	world_connect(world);
	assert_int_equal(
		rr_endpoint_register(world->client.endpoint, memory[0], 8, RR_REMOTE_READ, &regions[0]), 0);
	assert_int_equal(
		rr_endpoint_register(world->server.endpoint, memory[1], 8, RR_REMOTE_READ, &regions[1]), 0);
	send_long_call(&world->client, client, regions[0]);
	send_long_call(&world->server, server, regions[1]);
	assert_int_equal(world->client.receives + world->server.receives, 2);
	world_free(world);
	assert_int_equal(rr_capture_close(capture, &text), 0);
	return packets;
}

/* Both sides choose XIDs, and may choose the same one: a call in the reverse direction is no reply. */
static void
a_long_call_of_the_peer_ends_no_call(void **state)
{
	(void)state;
	assert_int_equal(count_with_xids(7, 7), count_with_xids(7, 8));
}

static void
a_flight_that_cannot_be_written_is_not_written(void **state)
{
	struct rr_flight *flight;

	(void)state;
	assert_int_equal(rr_flight_new("/dev/full", &flight), 0);
	assert_int_equal(rr_flight_write(flight), -RPCRDMA_ERR_SYSTEM);
	assert_false(rr_flight_is_written(flight));
	rr_flight_free(flight);
}

/* ---- Only over iWARP, which counts octets as they move ---- */

static void
a_filter_hides_no_octets_that_moved(void **state)
{
	struct world *world = world_with("drop send 2");

	(void)state;
	world_connect(world);
	assert_int_equal(side_send(&world->client, "x", 1, 1), 0);
	world_until(world, world->server.receives == 1);
	assert_true(rr_endpoint_moved(world->client.endpoint) > 0);
	assert_true(rr_endpoint_moved(world->server.endpoint) > 0);
	assert_int_equal(side_send(&world->client, "x", 1, 2), 0);
	world_until(world, world->client.disconnected);
	assert_true(rr_endpoint_moved(world->client.endpoint) > 0);
	world_free(world);
}

/* ---- Only over a path with CRC ---- */

static void
damage_is_found_by_the_crc(void **state)
{
	struct rr_fabric_config config = rr_fabric_config_default;

	(void)state;
	config.crc = true;
	source = "corrupt send 2";
	world_provider(make, NULL);
	for (int i = 0; i < 50; i++) {
		struct world *world = world_new(&config);
		uint8_t data[3000] = { 0 };

		world_connect(world);
		assert_int_equal(side_send(&world->client, data, sizeof(data), 1), 0);
		world_until(world, world->server.receives == 1);
		assert_int_equal(side_send(&world->client, data, sizeof(data), 2), 0);
		/* A damaged length may make the peer wait for more octets: further Sends bring them, and must
		 * not hide the damage. */
		for (int n = 0; n < 40 && !world->server.disconnected; n++) {
			if (!world->client.disconnected)
				side_send(&world->client, data, sizeof(data), 3);
			world_settle(world);
		}
		assert_true(world->server.disconnected);
		assert_int_equal(world->server.receives, 1);
		world_free(world);
	}
}

static void
no_damage_where_nothing_would_find_it(void **state)
{
	struct rr_loop *loop = rr_loop_new(&rr_env_system);
	struct rr_fault_script script;
	struct rr_fabric *below, *fabric;
	struct rr_text text;

	(void)state;
	assert_int_equal(rr_fault_parse("random kinds=corrupt", &script, &text), 0);
	assert_int_equal(provider(loop, &rr_fabric_config_default, &below), 0);
	assert_int_equal(rr_fault_fabric_new(below, &script, &fabric), -RPCRDMA_ERR_NOTSUP);
	rr_fabric_destroy(below);
	rr_loop_free(loop);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_connection_fails),
		cmocka_unit_test(a_connection_drops_when_it_is_up),
		cmocka_unit_test(an_establishment_that_is_delayed_comes),
		cmocka_unit_test(the_connection_drops_at_the_third_send),
		cmocka_unit_test(a_post_and_a_registration_fail),
		cmocka_unit_test(posts_that_are_delayed_keep_their_order),
		cmocka_unit_test(what_was_delayed_still_leaves_before_a_disconnection),
		cmocka_unit_test(a_delayed_completion_keeps_back_all_events),
		cmocka_unit_test(a_reordered_completion_is_passed_by_a_receive),
		cmocka_unit_test(a_completion_fails_or_is_flushed),
		cmocka_unit_test(a_send_is_cut_and_the_connection_lives),
		cmocka_unit_test(a_write_is_cut_with_its_connection),
		cmocka_unit_test(a_receive_fails),
		cmocka_unit_test(random_faults_end_in_order),
		cmocka_unit_test(no_damage_where_nothing_would_find_it),
		cmocka_unit_test(a_long_call_of_the_peer_ends_no_call),
		cmocka_unit_test(a_flight_that_cannot_be_written_is_not_written),
	};
	const struct CMUnitTest counting[] = { cmocka_unit_test(a_filter_hides_no_octets_that_moved) };
	const struct CMUnitTest with_crc[] = { cmocka_unit_test(damage_is_found_by_the_crc) };
	int failed;

	provider = rr_loop_fabric_new;
	failed = cmocka_run_group_tests_name("loop", tests, NULL, NULL);
	provider = rr_iwarp_fabric_new;
	failed += cmocka_run_group_tests_name("iwarp", tests, NULL, NULL);
	failed += cmocka_run_group_tests_name("counting", counting, NULL, NULL);
	return failed + cmocka_run_group_tests_name("crc", with_crc, NULL, NULL);
}
