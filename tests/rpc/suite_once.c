/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that come twice. */
#include "suite.h"

#include <stdlib.h>
#include <string.h>

#include "carrier/carrier.h"

/* A connection of its own, and a call on it, with an XID that the test chooses. */
struct wire {
	struct rr_carrier *carrier;
	struct rr_transaction transaction;
	uint8_t call[512], reply[512];
	uint32_t length;
	bool done;
};

static const struct rr_carrier_events no_events;

/* Connects to the server over the provider of the test, or over TCP. */
static void
wire_open(struct world *world, struct wire *wire)
{
	const struct sockaddr *address = (const struct sockaddr *)&world->address;
	struct rr_text why;
	int error;

	memset(wire, 0, sizeof(*wire));
	if (world_provider)
		error = rr_carrier_connect(world->stage.engine,
			&(struct rr_carrier_place){ RR_TRANSPORT_AUTO, address, sizeof(world->address) },
			&no_events, NULL, &wire->carrier, &why);
	else
		error = rr_carrier_connect(world->stage.engine,
			&(struct rr_carrier_place){ RR_TRANSPORT_TCP, address, sizeof(world->address) },
			&no_events, NULL, &wire->carrier, &why);
	assert_int_equal(error, 0);
}

/* Keeps a copy of the reply. */
static void
wire_done(struct rr_transaction *transaction, int error)
{
	struct wire *wire = rr_container(transaction, struct wire, transaction);

	assert_int_equal(error, 0);
	assert_true(transaction->reply.length <= sizeof(wire->reply));
	memcpy(wire->reply, transaction->reply.stream, transaction->reply.length);
	wire->length = transaction->reply.length;
	wire->done = true;
}

/* Sends a call with this XID, argument and user. */
static void
wire_start(struct wire *wire, uint32_t xid, uint32_t proc, uint32_t number, uint32_t uid)
{
	const struct rr_auth_sys sys = { .uid = uid };
	uint8_t body[RR_AUTH_BODY_MAX];
	struct rpcrdma_xdr_writer writer;
	struct rr_call_header header = { .xid = xid, .prog = ECHO_PROGRAM, .vers = ECHO_V3, .proc = proc };

	rpcrdma_xdr_writer_init(&writer, body, sizeof(body), NULL, 0);
	rr_auth_sys_put(&writer, &sys);
	header.cred.flavor = RR_AUTH_SYS;
	header.cred.body = (struct rpcrdma_bytes){ body, (uint32_t)rpcrdma_xdr_length(&writer) };
	rpcrdma_xdr_writer_init(&writer, wire->call, sizeof(wire->call), NULL, 0);
	rr_rpc_put_call(&writer, &header);
	rpcrdma_put_u32(&writer, number);
	assert_false(writer.failed);
	wire->done = false;
	wire->transaction = (struct rr_transaction){
		.xid = xid, .call = rpcrdma_xdr_written(&writer), .reply_max = 512, .done = wire_done
	};
	rr_carrier_call(wire->carrier, &wire->transaction);
}

static void
wire_call(struct world *world, struct wire *wire, uint32_t xid, uint32_t number)
{
	wire_start(wire, xid, ECHO_TALLY, number, 1000);
	world_until(world, wire->done);
}

static void
assert_same_reply(const struct wire *one, const struct wire *other)
{
	assert_true(one->length > 0);
	assert_int_equal(one->length, other->length);
	assert_memory_equal(one->reply, other->reply, one->length);
}

static void
row_B7_a_duplicate_from_a_new_connection_gets_the_same_octets(void **state)
{
	struct world *world = *state;
	struct rpcrdma_counters counters;
	struct wire first, second;

	wire_open(world, &first);
	wire_call(world, &first, 77, 5);
	rr_carrier_close(first.carrier);
	wire_open(world, &second);
	wire_call(world, &second, 77, 5);
	assert_same_reply(&first, &second);
	assert_int_equal(world->handled, 1);
	assert_int_equal(world->tally, 5);
	assert_int_equal(rr_drc_hits(world->drc), 1);
	wire_call(world, &second, 77, 5); /* the same holds on the same connection */
	assert_same_reply(&first, &second);
	assert_int_equal(world->handled, 1);
	rr_server_counters(world->server, &counters);
	assert_int_equal(counters.repeats, 2);
	rr_carrier_close(second.carrier);
}

/* A call that comes again while it is executed waits, without holding up other calls, and gets the same
 * answer. */
static void
a_duplicate_of_what_is_being_executed_is_answered_when_that_ends(void **state)
{
	struct world *world = *state;
	struct wire first, second, third;

	world->keeping = true;
	wire_open(world, &first);
	wire_start(&first, 77, ECHO_TALLY, 5, 1000);
	world_until(world, world->kept_count == 1);
	wire_open(world, &second);
	wire_start(&second, 77, ECHO_TALLY, 5, 1000);
	wire_open(world, &third);
	wire_start(&third, 78, ECHO_LATER, 5, 1000);
	world_until(world, third.done);
	world_settle(world);
	assert_false(second.done);
	assert_int_equal(world->kept_count, 1);
	world_answer_kept(world);
	world_until(world, first.done && second.done);
	assert_same_reply(&first, &second);
	assert_int_equal(world->tally, 5);
	rr_carrier_close(first.carrier);
	rr_carrier_close(second.carrier);
	rr_carrier_close(third.carrier);
}

/* The call comes again to the server of another thread, which shares only the cache with the first server:
 * the second server looks into the cache again every few milliseconds. */
static void
a_duplicate_of_what_another_server_executes_is_answered_when_that_ends(void **state)
{
	struct world *world = *state;
	struct rpcrdma_server *server = world->server;
	struct wire first, second;

	world->keeping = true;
	wire_open(world, &first);
	wire_start(&first, 77, ECHO_TALLY, 5, 1000);
	world_until(world, world->kept_count == 1);
	world->address.sin_port = 0;
	world_start_server(world);
	wire_open(world, &second);
	wire_start(&second, 77, ECHO_TALLY, 5, 1000);
	world_settle(world);
	world_pass(world, 5 * RR_MILLISECOND);
	assert_false(second.done);
	world_answer_kept(world);
	world_pass(world, 5 * RR_MILLISECOND);
	world_until(world, first.done && second.done);
	assert_same_reply(&first, &second);
	assert_int_equal(world->tally, 5);
	rr_carrier_close(first.carrier);
	rr_carrier_close(second.carrier);
	rr_server_free(server);
}

/* The connection is lost while the call is executed: its answer waits until the call comes again. */
static void
a_kept_answer_is_there_for_the_duplicate(void **state)
{
	struct world *world = *state;
	struct wire first, second;

	world->keeping = true;
	wire_open(world, &first);
	wire_start(&first, 77, ECHO_TALLY, 5, 1000);
	world_until(world, world->kept_count == 1);
	rr_carrier_close(first.carrier);
	world_until(world, world->lost == 1);
	world_answer_kept(world);
	wire_open(world, &second);
	wire_call(world, &second, 77, 5);
	assert_int_equal(world->tally, 5);
	assert_int_equal(rr_drc_hits(world->drc), 1);
	rr_carrier_close(second.carrier);
}

static void
what_differs_is_executed(void **state)
{
	struct world *world = *state;
	struct wire wire;

	wire_open(world, &wire);
	wire_call(world, &wire, 77, 5);
	wire_call(world, &wire, 77, 6); /* arguments */
	wire_call(world, &wire, 78, 5); /* XID */
	assert_int_equal(world->handled, 3);
	wire_start(&wire, 77, ECHO_TALLY, 5, 1001); /* the caller */
	world_until(world, wire.done);
	assert_int_equal(world->handled, 4);
	wire_start(&wire, 77, ECHO_LATER, 5, 1000); /* the procedure; this procedure may be executed twice */
	world_until(world, wire.done);
	wire_start(&wire, 77, ECHO_LATER, 5, 1000);
	world_until(world, wire.done);
	assert_int_equal(world->handled, 6);
	assert_int_equal(rr_drc_hits(world->drc), 0);
	rr_carrier_close(wire.carrier);
}

static void
answers_are_kept_for_two_minutes(void **state)
{
	struct world *world = *state;
	struct wire wire;

	wire_open(world, &wire);
	wire_call(world, &wire, 77, 5);
	world->stage.now += 120 * RR_SECOND - 1;
	wire_call(world, &wire, 77, 5);
	assert_int_equal(world->handled, 1);
	world->stage.now += 1;
	wire_call(world, &wire, 77, 5);
	assert_int_equal(world->handled, 2);
	rr_carrier_close(wire.carrier);
}

/* The first call waits for memory when its connection is lost. Its answer goes to the second call, which
 * waits, too. */
static void
a_duplicate_of_a_call_that_waits_gets_its_answer(void **state)
{
	struct world *world = *state;
	struct wire first, second;

	world_hold(world);
	wire_open(world, &first);
	wire_open(world, &second);
	wire_start(&first, 77, ECHO_TALLY, 5, 1000);
	world_settle(world);
	wire_start(&second, 77, ECHO_TALLY, 5, 1000);
	world_settle(world);
	assert_int_equal(world->handled, 0);
	world_let_go(world);
	world_until(world, first.done && second.done);
	assert_same_reply(&first, &second);
	assert_int_equal(world->handled, 1);
	rr_carrier_close(first.carrier);
	rr_carrier_close(second.carrier);
}

static void
a_client_whose_reply_was_lost_hears_of_one_execution(void **state)
{
	struct world *world = *state;
	struct call *call = call_new(ECHO_TALLY);

	world_warm_up(world);
	call->args.number = 7;
	world->striking = true;
	call_start(world, call);
	for (int steps = 0; steps < 1000 && !call->done; steps++) {
		world_pass(world, 25 * RR_MILLISECOND);
	}
	assert_int_equal(call->times, 1);
	assert_int_equal(call->error, 0);
	assert_int_equal(call->result.number, 7);
	assert_int_equal(world->tally, 7);
	assert_int_equal(rr_client_reconnects(world->client), 1);
	assert_int_equal(rr_drc_hits(world->drc), 1);
	call_free(call);
}

static void
a_server_has_a_cache_of_its_own_if_it_is_given_none(void **state)
{
	struct world *world = *state;
	struct wire wire;

	world_kill_server(world);
	rr_drc_free(world->drc);
	world->drc = NULL;
	world_start_server(world);
	wire_open(world, &wire);
	wire_call(world, &wire, 77, 5);
	wire_call(world, &wire, 77, 5);
	assert_int_equal(world->handled, 1);
	rr_carrier_close(wire.carrier);
}

/* ---- Calls for whose reply there is no room ---- */

/* A call that comes from no carrier, with that room for its reply. */
struct cramped {
	struct rr_exchange exchange;
	uint32_t refused, replied;
};

static void
cramped_reply(
	struct rr_exchange *exchange, const struct rpcrdma_message *reply, void (*sent)(void *arg), void *arg)
{
	(void)reply;
	rr_container(exchange, struct cramped, exchange)->replied++;
	sent(arg);
}

static void
cramped_refuse(struct rr_exchange *exchange)
{
	rr_container(exchange, struct cramped, exchange)->refused++;
}

/* Lets the server take a call whose reply has only this room. */
static void
serve_cramped(struct world *world, struct cramped *cramped, uint32_t proc, uint32_t stream_room)
{
	static const struct rr_carrier_ops ops = { .reply = cramped_reply, .refuse = cramped_refuse };
	const struct rr_call_header header = {
		.xid = stream_room, .prog = ECHO_PROGRAM, .vers = ECHO_V3, .proc = proc
	};
	struct rr_carrier carrier = { .ops = &ops, .engine = world->stage.engine, .peer = "192.0.2.1:700" };
	struct rpcrdma_xdr_writer writer;
	uint8_t stream[100];

	rpcrdma_xdr_writer_init(&writer, stream, sizeof(stream), NULL, 0);
	rr_rpc_put_call(&writer, &header);
	rpcrdma_put_u32(&writer, 5);
	*cramped = (struct cramped){ .exchange = { .ops = &ops,
					     .carrier = &carrier,
					     .xid = header.xid,
					     .call = rpcrdma_xdr_written(&writer),
					     .stream_room = stream_room } };
	rr_server_take(world->server, &cramped->exchange);
}

/* RFC 8267, 3.1: after ERR_CHUNK a requester may "send the same request as a new RPC transaction (a new
 * Transaction ID (XID) should be assigned": the second call would fail if the first call had been
 * executed. */
static void
what_cannot_be_answered_is_not_executed_once_for_nothing(void **state)
{
	enum { NEEDED = 24 + 4 }; /* a header and a number */
	struct world *world = *state;
	struct cramped cramped;

	for (uint32_t room = 0; room < NEEDED; room += 4) {
		serve_cramped(world, &cramped, ECHO_TALLY, room);
		assert_int_equal(cramped.refused, 1);
		assert_int_equal(cramped.replied, 0);
	}
	assert_int_equal(world->handled, 0);
	serve_cramped(world, &cramped, ECHO_TALLY, NEEDED);
	assert_int_equal(cramped.refused, 0);
	assert_int_equal(cramped.replied, 1);
	assert_int_equal(world->handled, 1);
	/* A call that may be executed twice is answered as usual: the carrier refuses the replies that it
	 * cannot convey. */
	serve_cramped(world, &cramped, ECHO_LATER, NEEDED - 4);
	assert_int_equal(cramped.refused, 0);
	assert_int_equal(cramped.replied, 1);
	assert_int_equal(world->handled, 2);
}

int
suite_once(void)
{
	const struct CMUnitTest tests[] = {
		suite_test(row_B7_a_duplicate_from_a_new_connection_gets_the_same_octets),
		suite_test(a_duplicate_of_what_is_being_executed_is_answered_when_that_ends),
		suite_test(a_duplicate_of_what_another_server_executes_is_answered_when_that_ends),
		suite_test(a_kept_answer_is_there_for_the_duplicate),
		suite_test(what_differs_is_executed),
		suite_test(answers_are_kept_for_two_minutes),
		suite_test(a_duplicate_of_a_call_that_waits_gets_its_answer),
		suite_test(a_client_whose_reply_was_lost_hears_of_one_execution),
		suite_test(a_server_has_a_cache_of_its_own_if_it_is_given_none),
		suite_test(what_cannot_be_answered_is_not_executed_once_for_nothing),
	};

	return cmocka_run_group_tests_name("once", tests, NULL, NULL);
}
