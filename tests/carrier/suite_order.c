/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include "raw.h"
#include "wire/rpc.h"

/* Completions that come late, or not at all: memory that the provider may still read is not given back. */

/* Stands between the client's connection and its endpoint, and holds back the completions of Sends. */
static rr_endpoint_handler *real_handler;
static void *real_ctx;
static struct rr_event held[8];
static uint32_t held_count;
static bool holding;
static bool copying; /* the provider may copy what is posted, and be done with it at once */

static struct rr_fabric_ops late_ops;
static const struct rr_fabric_ops *real_ops;

/* Holds back the completions of Sends, and passes on all other events. */
static void
late_handler(void *ctx, const struct rr_event *event)
{
	(void)ctx;
	if (holding && event->kind == RR_EVENT_COMPLETED && event->work == RR_WORK_SEND) {
		assert_true(held_count < 8);
		held[held_count++] = *event;
		return;
	}
	real_handler(real_ctx, event);
}

/* Connects with late_handler() in front of the client's own handler. */
static int
late_connect(struct rr_fabric *fabric, const struct rr_connect *how, struct rr_endpoint **endpoint,
	struct rr_text *text)
{
	real_handler = how->handler;
	real_ctx = how->ctx;
	return real_ops->connect(fabric,
		&(struct rr_connect){
			how->address, how->size, how->private_data, how->private_size, late_handler, NULL },
		endpoint, text);
}

/* Posts a work request, which the provider copies only if the test wants that. */
static int
late_post(struct rr_endpoint *endpoint, const struct rr_work *work)
{
	struct rr_work below = *work;

	below.may_copy = work->may_copy && copying;
	return real_ops->post(endpoint, &below);
}

/* Makes a provider that holds back the completions of the client's Sends. */
static int
make_late(struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric)
{
	int error = provider(loop, config, fabric);

	if (error)
		return error;
	real_ops = override(*fabric, &late_ops);
	late_ops.connect = late_connect;
	late_ops.post = late_post;
	held_count = 0;
	holding = true;
	return 0;
}

static void
let_go(void)
{
	for (uint32_t i = 0; i < held_count; i++)
		real_handler(real_ctx, &held[i]);
	held_count = 0;
}

static struct raw *
begin(void)
{
	struct raw *raw = raw_new(world_listening_on(NULL, make_late));

	raw_serve(raw);
	return raw;
}

/* Starts a call with an item; its message was sent, but the Send is not completed yet. */
static struct call *
start_with_item(struct raw *raw)
{
	struct call *call = call_new(raw->world, 5, 40);

	copying = false;
	call_add_item(raw->world, call, 40, 1000);
	call_start(raw->world, call);
	raw_next(raw);
	world_settle(raw->world);
	assert_int_equal(held_count, 1);
	return call;
}

static void
a_reply_waits_for_the_completion_of_its_calls_send(void **state)
{
	struct raw *raw = begin();
	struct call *call = start_with_item(raw);

	(void)state;
	SEND(raw, 5, 1, 8, RR_RDMA_MSG, 0, 0, 0, 5, RR_REPLY, 7);
	SEND(raw, 5, 1, 8, RR_RDMA_MSG, 0, 0, 0, 5, RR_REPLY, 8); /* one answer too many */
	world_settle(raw->world);
	assert_false(call->done);
	let_go();
	assert_true(call->done);
	assert_int_equal(call->error, 0);
	assert_int_equal(((const uint8_t *)call->reply.stream)[11], 7);
	assert_int_equal(raw->world->client->counters.discarded, 1);
	raw_end_client(raw);
}

static void
a_held_reply_goes_with_its_connection(void **state)
{
	struct raw *raw = begin();
	struct call *call = start_with_item(raw);

	(void)state;
	SEND(raw, 5, 1, 8, RR_RDMA_MSG, 0, 0, 0, 5, RR_REPLY, 7);
	world_settle(raw->world);
	rr_endpoint_disconnect(raw->endpoint);
	world_until(raw->world, raw->world->client_closed);
	assert_int_equal(call->error, -RPCRDMA_ERR_DISCONNECTED);
	raw_end_client(raw);
}

static void
a_cancel_of_what_is_being_read_costs_the_connection(void **state)
{
	struct raw *raw = begin();
	struct world *world = raw->world;
	struct call *call = start_with_item(raw), *other = call_new(world, 6, 40);

	(void)state;
	call_start(world, other);
	rr_carrier_cancel(world->client, &call->transaction);
	assert_false(world->client_closed); /* closed() comes from the loop only */
	world_until(world, world->client_closed);
	assert_int_equal(world->client_error, -RPCRDMA_ERR_CANCELLED);
	assert_false(call->done);
	assert_int_equal(other->error, -RPCRDMA_ERR_DISCONNECTED);
	raw_end_client(raw);
}

static void
a_cancel_of_what_was_copied_does_not(void **state)
{
	struct raw *raw = begin();
	struct world *world = raw->world;
	struct call *call = call_new(world, 5, 40), *other = call_new(world, 6, 40);

	(void)state;
	copying = true;
	call_add_sink(world, call, 10000);
	call_start(world, call);
	raw_next(raw);
	rr_carrier_cancel(world->client, &call->transaction);
	SEND(raw, 5, 1, 8, RR_RDMA_MSG, 0, 0, 0, 5, RR_REPLY, 7);
	world_settle(world);
	let_go();
	holding = false;
	call_start(world, other);
	assert_int_equal(word(raw_next(raw), 0), 6);
	SEND(raw, 6, 1, 8, RR_RDMA_MSG, 0, 0, 0, 6, RR_REPLY, 7);
	call_answered(other);
	assert_false(call->done);
	raw_end_client(raw);
}

int
suite_order(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reply_waits_for_the_completion_of_its_calls_send),
		cmocka_unit_test(a_held_reply_goes_with_its_connection),
		cmocka_unit_test(a_cancel_of_what_is_being_read_costs_the_connection),
		cmocka_unit_test(a_cancel_of_what_was_copied_does_not),
	};

	return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
