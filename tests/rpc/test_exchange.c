/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of carrier.h for exchanges, and for calls of the accepting side, on a TCP carrier without the
 * server above it. */
#include "raw.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/endian.h"
#include "carrier/carrier.h"

enum { XID = 0x01020304 };

struct one {
	struct rr_acceptor *acceptor;
	struct rr_carrier *carrier;
	uint32_t sent;
};

static void
sent(void *arg)
{
	struct one *one = arg;

	one->sent++;
}

/* rr_exchange_reply(): "reply itself and its array of items need not outlive this call." */
static void
called(void *ctx, struct rr_exchange *exchange)
{
	static const uint8_t stream[] = { 1, 2, 3, 4, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 9 };
	static struct rpcrdma_item
		items[1]; /* static, so that the compiler keeps the last assignment to it */
	const struct rpcrdma_message reply = { stream, sizeof(stream), 1, items };

	items[0] = (struct rpcrdma_item){ "data", 4, 12 };
	rr_exchange_reply(exchange, &reply, sent, ctx);
	items[0] = (struct rpcrdma_item){ 0 };
}

static const struct rr_carrier_events events = { .call = called };

static void
accepted(void *ctx, struct rr_carrier *carrier)
{
	struct one *one = ctx;

	one->carrier = carrier;
	rr_carrier_attach(carrier, &events, one);
}

/* Connects to a carrier that is accepted, and returns the socket. */
static int
one_connect(struct world *world, struct one *one)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in server = world->address;
	struct sockaddr_storage chosen;
	struct rr_text why;
	int fd;

	assert_int_equal(rr_carrier_listen(world->stage.engine,
				 &(struct rr_carrier_place){
					 RR_TRANSPORT_TCP, (struct sockaddr *)&address, sizeof(address) },
				 accepted, one, &one->acceptor, &why),
		0);
	assert_int_equal(rr_acceptor_address(one->acceptor, &chosen), 0);
	memcpy(&world->address, &chosen, sizeof(world->address));
	fd = raw_connect(world);
	world->address = server;
	world_until(world, one->carrier);
	return fd;
}

static void
one_end(struct one *one)
{
	rr_carrier_close(one->carrier);
	rr_acceptor_close(one->acceptor);
}

static void
the_array_of_a_replys_items_is_not_needed_any_more(void **state)
{
	const uint8_t call[] = { 1, 2, 3, 4, 0, 0, 0, 0 };
	struct world *world = *state;
	struct one one = { 0 };
	int fd = one_connect(world, &one);

	raw_send_record(world, fd, call, sizeof(call));
	assert_reply(world, fd, "01020304 00000001 00000004 64617461 00000009");
	world_until(world, one.sent == 1);
	close(fd);
	one_end(&one);
}

/* The transaction's call belongs to the caller again from done() on. */
static void
call_ended(struct rr_transaction *transaction, int error)
{
	int *result = transaction->ctx;

	*result = error;
	free((void *)(uintptr_t)transaction->call.stream);
}

static void
of_a_call_that_a_shutdown_ends_nothing_is_sent(void **state)
{
	struct world *world = *state;
	struct one one = { 0 };
	int fd = one_connect(world, &one), result = 0;
	struct rr_transaction transaction = {
		.xid = XID,
		.call = { .stream = calloc(1, 64), .length = 64 },
		.reply_max = 64,
		.done = call_ended,
		.ctx = &result,
	};

	rr_carrier_call(one.carrier, &transaction);
	rr_carrier_shutdown(one.carrier);
	world_until(world, result);
	assert_int_equal(result, -RPCRDMA_ERR_DISCONNECTED);
	assert_closed(world, fd);
	one_end(&one);
}

/* A call, whose message is its XID, that is queued beside others. */
struct queued {
	struct rr_transaction base;
	uint8_t stream[8];
	int result;
};

static void
queued_ended(struct rr_transaction *transaction, int error)
{
	rr_container(transaction, struct queued, base)->result = error;
}

static void
queued_call(struct rr_carrier *carrier, struct queued *queued, uint32_t xid)
{
	rr_put_be32(queued->stream, xid);
	queued->base.xid = xid;
	queued->base.call = (struct rpcrdma_message){ .stream = queued->stream, .length = 8 };
	queued->base.reply_max = 64;
	queued->base.done = queued_ended;
	rr_carrier_call(carrier, &queued->base);
}

/* A reply with calls of the accepting side behind it: all of them are written at once. */
struct mixed {
	struct one one;
	struct queued calls[3];
};

/* Takes back the call that was written together with the reply, and makes another call. */
static void
mixed_sent(void *arg)
{
	struct mixed *mixed = arg;

	rr_carrier_cancel(mixed->one.carrier, &mixed->calls[0].base);
	queued_call(mixed->one.carrier, &mixed->calls[2], XID + 3);
	mixed->one.sent++;
}

static void
mixed_called(void *ctx, struct rr_exchange *exchange)
{
	static const uint8_t stream[] = { 1, 2, 3, 4, 0, 0, 0, 1 };
	const struct rpcrdma_message reply = { .stream = stream, .length = sizeof(stream) };
	struct mixed *mixed = ctx;

	rr_exchange_reply(exchange, &reply, mixed_sent, mixed);
	queued_call(mixed->one.carrier, &mixed->calls[0], XID + 1);
	queued_call(mixed->one.carrier, &mixed->calls[1], XID + 2);
}

static void
a_call_that_was_written_with_a_reply_may_be_cancelled_in_its_sent(void **state)
{
	static const struct rr_carrier_events mixed_events = { .call = mixed_called };
	const uint8_t call[] = { 1, 2, 3, 4, 0, 0, 0, 0 };
	struct world *world = *state;
	struct mixed mixed = { 0 };
	int fd = one_connect(world, &mixed.one);

	rr_carrier_attach(mixed.one.carrier, &mixed_events, &mixed);
	raw_send_record(world, fd, call, sizeof(call));
	assert_reply(world, fd, "01020304 00000001");
	assert_reply(world, fd, "01020305 00000000");
	assert_reply(world, fd, "01020306 00000000");
	assert_reply(world, fd, "01020307 00000000");
	assert_int_equal(mixed.one.sent, 1);
	assert_int_equal(mixed.calls[0].result, 0);
	close(fd);
	one_end(&mixed.one);
}

static void
a_connection_without_memory_is_an_error_of_its_own(void **state)
{
	static const struct rr_carrier_events no_events = { 0 };
	struct world *world = *state;
	const struct rr_carrier_place to = { RR_TRANSPORT_TCP, (struct sockaddr *)&world->address,
		sizeof(world->address) };
	struct rr_carrier *carrier;
	struct rr_text why;
	uint32_t fail_at = 0;
	int error;

	do {
		world->stage.allocations = 0;
		world->stage.fail_at = ++fail_at;
		error = rr_carrier_connect(world->stage.engine, &to, &no_events, world, &carrier, &why);
		assert_true(error == 0 || error == -RPCRDMA_ERR_NOMEM);
	} while (error);
	assert_true(fail_at > 2);
	world->stage.fail_at = 0;
	rr_carrier_close(carrier);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			the_array_of_a_replys_items_is_not_needed_any_more, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(
			of_a_call_that_a_shutdown_ends_nothing_is_sent, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(
			a_call_that_was_written_with_a_reply_may_be_cancelled_in_its_sent, world_setup,
			world_teardown),
		cmocka_unit_test_setup_teardown(
			a_connection_without_memory_is_an_error_of_its_own, world_setup, world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
