/* SPDX-License-Identifier: BSD-3-Clause */
/* Shortage of credits and of memory, and peers that take no account of it. */
#include "suite.h"

#include <string.h>

#include "base/share/pool.h"
#include "carrier/rdma/core/connection.h"
#include "fabric/filter/fault.h"
#include "fabric/filter/script.h"
#include "raw.h"
#include "wire/rpc.h"

/* ---- Grants ---- */

enum { MEMORY = 1 << 20 }; /* half of it is for calls that arrive */

/* Returns the credits that are granted to a call that asks for 64. */
static uint32_t
granted(struct raw *raw)
{
	static uint32_t xid;

	xid++;
	SEND(raw, xid, 1, 64, RR_RDMA_MSG, 0, 0, 0, xid, RR_CALL, 2);
	return word(raw_next(raw), 2);
}

/* RFC 8166, 3.3.1: "a Responder may reduce the granted credit value to accommodate the available resources";
 * "The granted value MUST NOT be zero, since such a value would result in deadlock." */
static void
row_B11_grants_shrink_while_memory_is_short_and_never_to_zero(void **state)
{
	struct rr_engine_config config = rr_engine_config_default;
	void *hostages[4];
	struct world *world;
	struct raw *raw;

	(void)state;
	config.memory_max = MEMORY;
	raw = raw_requester(&config);
	world = raw->world;
	world->answer = answer_small;
	assert_int_equal(granted(raw), 64);
	hostages[0] = rr_pool_get(world->stage.engine->arrivals, NULL, MEMORY / 4);
	assert_int_equal(granted(raw), 64); /* half of the memory is in use */
	hostages[1] = rr_pool_get(world->stage.engine->arrivals, NULL, MEMORY / 8);
	assert_int_equal(granted(raw), 32);
	hostages[2] = rr_pool_get(world->stage.engine->arrivals, NULL, MEMORY / 16);
	assert_int_equal(granted(raw), 16);
	hostages[3] = rr_pool_get(world->stage.engine->arrivals, NULL, MEMORY / 16);
	assert_int_equal(granted(raw), 1); /* no memory is left */
	for (uint32_t i = 0; i < 4; i++)
		rr_pool_put(world->stage.engine->arrivals, hostages[i]);
	assert_int_equal(granted(raw), 64);
	raw_end(raw);
}

/* RFC 8166, 3.3.1: "If the granted value is exceeded, the RDMA layer may signal an error, possibly
 * terminating the connection." If there are Receives for the calls, they are served, and the overrun is
 * counted. */
static void
row_B1_a_peer_that_overruns_is_recorded_and_survives(void **state)
{
	struct raw *raw = raw_requester(NULL);
	struct world *world = raw->world;

	(void)state;
	/* Before the first reply there is one credit. */
	for (uint32_t xid = 0; xid < 3; xid++)
		SEND(raw, xid, 1, 2, RR_RDMA_MSG, 0, 0, 0, xid, RR_CALL, 2);
	world_until(world, world->call_count == 3);
	assert_int_equal(world->server->counters.overruns, 2);
	while (world->call_count > 0)
		answer_small(world, world_next_call(world));
	for (uint32_t xid = 0; xid < 3; xid++)
		assert_int_equal(word(raw_next(raw), 2), 2);
	/* Two credits were granted, and two calls are no overrun. */
	for (uint32_t xid = 3; xid < 6; xid++) {
		assert_int_equal(world->server->counters.overruns, 2);
		SEND(raw, xid, 1, 2, RR_RDMA_MSG, 0, 0, 0, xid, RR_CALL, 2);
		world_until(world, world->call_count == xid - 2);
	}
	assert_int_equal(world->server->counters.overruns, 3);
	while (world->call_count > 0)
		answer_small(world, world_next_call(world));
	world_settle(world);
	assert_int_equal(raw->message_count, 3);
	assert_false(raw->disconnected);
	raw_end(raw);
}

/* Without Receives for the calls, the fabric ends the connection; other connections are not affected. */
static void
row_B1_a_peer_that_overruns_the_receives_is_cut_off_and_no_other(void **state)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct world *world;
	struct call *call;
	struct raw *raw;

	(void)state;
	config.credits = 4;
	raw = raw_requester(&config);
	world = raw->world;
	for (uint32_t xid = 0; xid < 100 && !raw->disconnected; xid++)
		SEND(raw, xid, 1, 4, RR_RDMA_MSG, 0, 0, 0, xid, RR_CALL, 2);
	world_until(world, raw->disconnected && world->server_closed);
	assert_true(world->arrived < 100);
	while (world->call_count > 0)
		rr_exchange_drop(world_next_call(world));
	world_close_server(world);
	world->answer = answer_small;
	world_connect(world);
	call = call_begin(world, 1, 40);
	call_answered(call);
	raw_end(raw);
}

/* A peer calls and takes no answers. RFC 8166, 3.3.1, has a Receive posted for a call once the last call
 * is answered. A call whose answer cannot be sent is not answered, and its Receive is kept until then. */
static void
row_B11_calls_whose_answers_cannot_leave_take_no_more_receives_than_were_posted(void **state)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct world *world;
	struct raw *raw;

	(void)state;
	config.credits = 4;
	world = world_listening(&config);
	world->answer = answer_small;
	raw = raw_new(world);
	raw_connect(raw);
	world_stuff(world->server, true);
	for (uint32_t xid = 0; xid < 100 && !raw->disconnected; xid++) {
		SEND(raw, xid, 1, 4, RR_RDMA_MSG, 0, 0, 0, xid, RR_CALL, 2);
		world_settle(world);
	}
	assert_true(raw->disconnected);
	assert_int_equal(world->arrived, 4 + RR_REVERSE_CREDITS + 2);
	raw_end(raw);
}

/* ---- Peers that stall ---- */

/* The server's RDMA Read of the first call's chunk never completes. */
static struct world *
world_stalled(struct rr_fault_script *script, struct call **first)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct world *world;
	struct rr_text why;

	assert_int_equal(rr_fault_parse("delay read 1 3600s", script, &why), 0);
	config.filter = rr_fault_filter;
	config.filter_ctx = script;
	config.memory_max = 64 << 10;
	world = world_new(&config);
	world->answer = answer_small;
	*first = call_new(world, 1, 40);
	call_add_item(world, *first, 40, 20000); /* takes the whole half of the memory */
	call_start(world, *first);
	world_settle(world);
	assert_int_equal(world->arrived, 0);
	return world;
}

static void
pass_in_steps(struct world *world, uint64_t time)
{
	for (uint64_t passed = 0; passed < time; passed += RR_SHARE_TICK)
		world_pass(world, RR_SHARE_TICK);
}

/* The stall does no harm to others. */
static void
row_B11_a_peer_may_stall_as_long_as_nobody_waits_for_memory(void **state)
{
	struct rr_fault_script script;
	struct call *call;
	struct world *world = world_stalled(&script, &call);

	(void)state;
	for (int i = 0; i < 100; i++)
		world_pass(world, RR_SECOND);
	assert_false(world->server_closed);
	assert_false(call->done);
	world_free(world);
}

static void
row_B11_a_peer_that_stalls_while_others_wait_for_memory_is_cut_off(void **state)
{
	struct rr_fault_script script;
	struct call *call, *other;
	struct world *world = world_stalled(&script, &call);
	struct rr_carrier *stalled_client = world->client, *stalled_server = world->server;

	(void)state;
	world->server = NULL;
	world->client_connected = world->server_connected = false;
	world_connect(world);
	world_until(world, world->client_connected && world->server_connected);
	other = call_new(world, 2, 40);
	call_add_item(world, other, 40, 20000);
	call_start(world, other);
	pass_in_steps(world, RR_SHARE_LIMIT_NEW);
	assert_false(other->done || call->done);
	pass_in_steps(world, 2 * RR_SHARE_TICK);
	world_until(world, other->done && call->done);
	assert_int_equal(other->error, 0);
	assert_int_equal(call->error, -RPCRDMA_ERR_DISCONNECTED);
	assert_int_equal(world->server_error, -RPCRDMA_ERR_TIMEDOUT); /* that of the first connection */
	rr_carrier_close(stalled_client);
	rr_carrier_close(stalled_server);
	world_free(world);
}

/* Calls that came, and whose data does not come, hold receives, too. */
static void
row_B11_a_peer_that_stalls_while_others_wait_for_receives_is_cut_off(void **state)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct rr_carrier *stalled;
	struct rr_fault_script script;
	struct world *world;
	struct rr_text why;
	struct call *call;
	struct raw *raw;

	(void)state;
	assert_int_equal(rr_fault_parse("delay read 1 3600s", &script, &why), 0);
	config.filter = rr_fault_filter;
	config.filter_ctx = &script;
	config.memory_max = 64 << 10;
	config.credits = 2; /* makes eight receives in all */
	world = world_new(&config);
	call = call_new(world, 1, 40);
	call_add_item(world, call, 40, 5000);
	call_start(world, call);
	world_settle(world);
	stalled = world->server;
	world->server = NULL;
	raw = raw_new(world);
	raw_connect(raw);
	for (uint32_t xid = 0; xid < 8; xid++)
		SEND(raw, xid, 1, 2, RR_RDMA_MSG, 0, 0, 0, xid, RR_CALL, 2);
	pass_in_steps(world, RR_STALL_TICK - RR_SHARE_TICK);
	assert_int_equal(world->call_count, 7);
	pass_in_steps(world, 2 * RR_STALL_TICK);
	world_until(world, call->done && world->call_count == 8);
	assert_int_equal(call->error, -RPCRDMA_ERR_DISCONNECTED);
	assert_int_equal(world->server_error, -RPCRDMA_ERR_TIMEDOUT);
	assert_false(raw->disconnected);
	rr_carrier_close(stalled);
	world->server_closed = false; /* that was the other connection */
	raw_end(raw);
}

/* ---- Peers that announce Read chunks, and bring none of them ---- */

enum {
	CROWD = 40,
	CROWD_CALLS = 4,
	CROWD_ITEM = 20000,
	CROWD_MEMORY = 1 << 20, /* half of it is for calls that arrive */
	CROWD_PART = CROWD_MEMORY / 2 / RR_POOL_RESERVE * RR_POOL_UNPROVEN,
	CROWD_READS = CROWD_PART / (20 << 10) /* as many items have memory in that part */
};

struct crowd {
	struct raw *raws[CROWD];
	struct rr_carrier *carriers[CROWD];
	uint32_t calls, closed;
};

static void
crowd_closed(void *ctx, int error, const char *text)
{
	(void)error, (void)text;
	((struct crowd *)ctx)->closed++;
}

static void
crowd_call(void *ctx, struct rr_exchange *exchange)
{
	((struct crowd *)ctx)->calls++;
	rr_exchange_drop(exchange);
}

static const struct rr_carrier_events crowd_events = { .closed = crowd_closed, .call = crowd_call };

/* Connects each peer of the crowd; each calls with Read chunks. */
static void
crowd_come(struct crowd *crowd, struct world *world, uint8_t *item)
{
	for (uint32_t i = 0; i < CROWD; i++) {
		struct raw *raw = crowd->raws[i] = raw_new(world);
		struct rr_region region;

		world->server = NULL;
		world->server_connected = false;
		raw_connect(raw);
		crowd->carriers[i] = world->server;
		rr_carrier_attach(world->server, &crowd_events, crowd);
		region = raw_register(raw, item, CROWD_ITEM, RR_REMOTE_READ);
		for (uint32_t xid = 1; xid <= CROWD_CALLS; xid++)
			SEND(raw, xid, 1, 64, RR_RDMA_MSG, 1, 12, SEGMENT(region), 0, 0, 0, xid, RR_CALL,
				CROWD_ITEM);
	}
	world->server = NULL;
	world_settle(world);
}

static void
crowd_go(struct crowd *crowd, struct world *world)
{
	for (uint32_t i = 0; i < CROWD; i++) {
		raw_free(crowd->raws[i]);
		world_settle(world);
		rr_carrier_close(crowd->carriers[i]);
	}
}

/* Calls with an item of that size, and has the answer while the clock stands still. */
static void
call_at_once(struct world *world, uint32_t xid)
{
	struct call *call = call_new(world, xid, 40);

	call_add_item(world, call, 40, CROWD_ITEM);
	call_start(world, call);
	call_answered(call);
}

/* However many peers announce Read chunks that they do not bring: they have a part of the memory together,
 * from which a peer that has proved to move octets takes nothing, and which they lose as soon as somebody
 * waits. */
static void
row_B11_read_chunks_that_do_not_come_leave_memory_to_others(void **state)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct rr_fault_script script = { .rule_count = 0 };
	struct crowd crowd = { .calls = 0 };
	struct rr_carrier *server;
	struct world *world;
	uint8_t *item;

	(void)state;
	/* The first three RDMA Reads are of the honest client. */
	for (uint32_t i = 0; i < CROWD_READS; i++)
		script.rules[script.rule_count++] = (struct rr_fault_rule){ RR_FAULT_DELAY, RR_FAULT_READ,
			4 + i, 3600 * RR_SECOND, false };
	config.filter = rr_fault_filter;
	config.filter_ctx = &script;
	config.memory_max = CROWD_MEMORY;
	world = world_new(&config);
	world->answer = answer_small;
	server = world->server;
	call_at_once(world, 1);
	world_pass(world, RR_SHARE_PROBATION);
	call_at_once(world, 2);
	call_at_once(world, 3);
	item = world_memory(world, CROWD_ITEM);
	crowd_come(&crowd, world, item);
	assert_int_equal(crowd.calls, 0);
	assert_in_range(rr_pool_used(world->stage.engine->arrivals), 1, CROWD_PART);
	/* The honest client goes on as before. */
	for (uint32_t xid = 4; xid < 10; xid++)
		call_at_once(world, xid);
	assert_int_equal(crowd.calls, 0);
	pass_in_steps(world, RR_SHARE_LIMIT_NEW + 2 * RR_SHARE_TICK);
	assert_true(crowd.closed > 0);
	assert_int_equal(rr_pool_used(world->stage.engine->arrivals), 0);
	crowd_go(&crowd, world);
	world->server = server;
	world_free(world);
}

/* The server does not answer, until all credits are held by calls that were cancelled. */
static void
row_B1_a_server_that_keeps_all_credits_is_cut_off_after_15_s(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct world *world = raw->world;
	struct call *given_up = call_new(world, 1, 40), *other = call_new(world, 2, 40);

	(void)state;
	call_start(world, given_up);
	raw_next(raw);
	world_pass(world, 20 * RR_SECOND);
	assert_false(world->client_closed); /* the answer may take any time */
	rr_carrier_cancel(world->client, &given_up->transaction);
	world_pass(world, 20 * RR_SECOND);
	assert_false(world->client_closed); /* no call waits */
	call_start(world, other);
	world_settle(world);
	world_pass(world, 15 * RR_SECOND - 1);
	assert_false(world->client_closed || other->done);
	world_pass(world, RR_STALL_TICK);
	world_until(world, world->client_closed);
	assert_int_equal(world->client_error, -RPCRDMA_ERR_TIMEDOUT);
	assert_int_equal(other->error, -RPCRDMA_ERR_DISCONNECTED);
	raw_end(raw);
}

int
suite_pressure(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(row_B11_grants_shrink_while_memory_is_short_and_never_to_zero),
		cmocka_unit_test(row_B1_a_peer_that_overruns_is_recorded_and_survives),
		cmocka_unit_test(row_B1_a_peer_that_overruns_the_receives_is_cut_off_and_no_other),
		cmocka_unit_test(
			row_B11_calls_whose_answers_cannot_leave_take_no_more_receives_than_were_posted),
		cmocka_unit_test(row_B11_a_peer_may_stall_as_long_as_nobody_waits_for_memory),
		cmocka_unit_test(row_B11_a_peer_that_stalls_while_others_wait_for_memory_is_cut_off),
		cmocka_unit_test(row_B11_a_peer_that_stalls_while_others_wait_for_receives_is_cut_off),
		cmocka_unit_test(row_B11_read_chunks_that_do_not_come_leave_memory_to_others),
		cmocka_unit_test(row_B1_a_server_that_keeps_all_credits_is_cut_off_after_15_s),
	};

	return cmocka_run_group_tests_name("pressure", tests, NULL, NULL);
}
