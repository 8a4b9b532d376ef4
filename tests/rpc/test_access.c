/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/peer_log.h"
#include "carrier/rdma/core/room.h"
#include "fabric/iwarp/iwarp.h"
#include "world.h"

/* A peer accesses memory of the server for which it has no right: that costs its connection, with a line
 * in the log that shows what it tried, and no other connection. */

static uint32_t lines; /* lines of the log that show the access */
static uint32_t all;   /* lines of the log */

static void
note(void *ctx, enum rr_log_level level, const char *line)
{
	(void)ctx;
	lines += level <= RR_LOG_WARNING && strstr(line, "handle 0x0badbeef, offset 0x1234, length 32");
	all += level <= RR_LOG_WARNING;
}

struct peer {
	bool established, ended;
};

static void
handle(void *ctx, const struct rr_event *event)
{
	struct peer *peer = ctx;

	peer->established |= event->kind == RR_EVENT_ESTABLISHED;
	peer->ended |= event->kind == RR_EVENT_DISCONNECTED;
}

/* Connects as a peer that reads or writes memory that it was not given: the connection must end. */
static void
reach(struct world *world, enum rr_work_kind kind)
{
	struct rr_fabric *fabric = rr_room_in(world->stage.engine)->fabric;
	struct peer peer = { .established = false };
	struct rr_endpoint *endpoint;
	uint8_t octets[32] = { 0 };
	struct rr_sge sge = { octets, sizeof(octets) };
	struct rr_work work = { .kind = kind,
		.sge_count = 1,
		.sges = &sge,
		.remote_handle = 0xbadbeef,
		.remote_offset = 0x1234 };
	struct rr_text why;

	assert_int_equal(rr_fabric_connect(fabric,
				 &(struct rr_connect){ (struct sockaddr *)&world->address,
					 sizeof(world->address), NULL, 0, handle, &peer },
				 &endpoint, &why),
		0);
	world_until(world, peer.established);
	assert_int_equal(rr_endpoint_post(endpoint, &work), 0);
	world_until(world, peer.ended);
	rr_endpoint_close(endpoint);
}

static void
an_access_outside_costs_one_connection_and_is_logged(void **state)
{
	static const enum rr_work_kind kinds[] = { RR_WORK_WRITE, RR_WORK_READ };
	struct world *world;

	(void)state;
	world_provider = rr_iwarp_fabric_new;
	world = world_new(NULL);
	world->stage.env.log = note;
	world->stage.env.log_level = RR_LOG_WARNING;
	world_warm_up(world);
	for (uint32_t i = 0; i < 2; i++) {
		lines = 0;
		reach(world, kinds[i]);
		assert_int_equal(lines, 1);
		world_warm_up(world);
	}
	world_free(world);
}

/* Each connection costs the peer little; so it must cost the log even less. */
static void
hundreds_of_such_connections_do_not_fill_the_log(void **state)
{
	enum { CONNECTIONS = 300 };
	struct world *world;

	(void)state;
	world_provider = rr_iwarp_fabric_new;
	world = world_new(NULL);
	world->stage.env.log = note;
	world->stage.env.log_level = RR_LOG_WARNING;
	all = 0;
	for (int i = 0; i < CONNECTIONS; i++)
		reach(world, RR_WORK_WRITE);
	assert_int_equal(all, RR_PEER_LOG_LINES);
	world_pass(world, RR_PEER_LOG_WINDOW);
	assert_int_equal(all, RR_PEER_LOG_LINES + 1); /* the last line tells how many lines were left out */
	world_free(world);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_access_outside_costs_one_connection_and_is_logged),
		cmocka_unit_test(hundreds_of_such_connections_do_not_fill_the_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
