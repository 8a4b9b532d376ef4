/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include <netinet/in.h>

#include "../fabric/loop/loop.h"
#include "carrier/carrier.h"
#include "carrier/rdma/core/room.h"
#include "fabric/filter/fault.h"
#include "fabric/filter/filter.h"
#include "wire/private_data.h"

/* Whether a connection offers remote invalidation, as the peer reads it in the private data. The peer is a
 * listener or an endpoint of the fabric itself, without a transport. An adapter without memory windows of
 * type 2 cannot have them invalidated; here a filter that reports no such support stands for it. */

struct world {
	struct rr_env env;
	struct rpcrdma_engine *engine;
	struct rr_endpoint *peer;
	struct rr_carrier *carrier, *served;
	bool heard;
	struct rr_private_data told; /* that the transport sent */
};

/* Makes a provider that looks like one without remote invalidation. */
static int
without_windows(struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric)
{
	static const struct rr_fault_script nothing;
	struct rr_fabric *below;
	int error = rr_loop_fabric_new(loop, config, &below);

	if (!error)
		error = rr_fault_fabric_new(below, &nothing, fabric);
	if (!error)
		rr_container(*fabric, struct rr_filter_fabric, base)->ops.limits.remote_invalidation = false;
	return error;
}

static void
hear(struct world *world, const void *data, size_t size)
{
	assert_true(rr_private_data_get(data, size, &world->told));
	world->heard = true;
}

static void
turn_until_heard(struct world *world)
{
	turn_until(world->heard, assert_true(rr_loop_turn(world->engine->loop, RR_SECOND) >= 0));
}

static void
closed(void *ctx, int error, const char *text)
{
	(void)ctx;
	(void)error;
	(void)text;
}

static const struct rr_carrier_events events = { .closed = closed };

/* Makes an engine on this provider; wanted tells whether its configuration wants remote invalidation. */
static void
world_begin(struct world *world, rr_fabric_new *make, bool wanted)
{
	struct rr_engine_config config = rr_engine_config_default;

	*world = (struct world){ .env = rr_env_system };
	world->env.log = NULL;
	config.remote_invalidation = wanted;
	assert_int_equal(rr_engine_new_on(&world->env, &config, make, &world->engine), 0);
}

static void
asked(void *ctx, struct rr_endpoint *endpoint, const void *private_data, size_t size)
{
	struct world *world = ctx;

	world->peer = endpoint;
	hear(world, private_data, size);
}

/* Whether a requester offers remote invalidation. */
static bool
requester_offers(rr_fabric_new *make, bool wanted)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_storage address;
	struct rr_listener *listener;
	struct world world;
	struct rr_text text;

	world_begin(&world, make, wanted);
	assert_int_equal(
		rr_fabric_listen(rr_room_in(world.engine)->fabric,
			&(struct rr_listen){ (void *)&any, sizeof(any), asked, &world }, &listener, &text),
		0);
	assert_int_equal(rr_listener_address(listener, &address), 0);
	assert_int_equal(
		rr_carrier_connect(world.engine,
			&(struct rr_carrier_place){ RR_TRANSPORT_AUTO, (void *)&address, sizeof(address) },
			&events, &world, &world.carrier, &text),
		0);
	turn_until_heard(&world);
	rr_endpoint_reject(world.peer, NULL, 0);
	rr_carrier_close(world.carrier);
	rr_fabric_unlisten(listener);
	rpcrdma_engine_free(world.engine);
	return world.told.remote_invalidation;
}

static void
came(void *ctx, struct rr_carrier *carrier)
{
	struct world *world = ctx;

	world->served = carrier;
	rr_carrier_attach(carrier, &events, world);
}

static void
answered(void *ctx, const struct rr_event *event)
{
	assert_int_equal(event->kind, RR_EVENT_ESTABLISHED);
	hear(ctx, event->data, event->length);
}

/* Whether a responder offers remote invalidation in its answer. */
static bool
responder_offers(rr_fabric_new *make, bool wanted)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_storage address;
	struct rr_acceptor *acceptor;
	struct world world;
	struct rr_text text;

	world_begin(&world, make, wanted);
	assert_int_equal(rr_carrier_listen(world.engine,
				 &(struct rr_carrier_place){ RR_TRANSPORT_AUTO, (void *)&any, sizeof(any) },
				 came, &world, &acceptor, &text),
		0);
	assert_int_equal(rr_acceptor_address(acceptor, &address), 0);
	assert_int_equal(
		rr_fabric_connect(rr_room_in(world.engine)->fabric,
			&(struct rr_connect){ (void *)&address, sizeof(address), NULL, 0, answered, &world },
			&world.peer, &text),
		0);
	turn_until_heard(&world);
	rr_endpoint_close(world.peer);
	rr_carrier_close(world.served);
	rr_acceptor_close(acceptor);
	rpcrdma_engine_free(world.engine);
	return world.told.remote_invalidation;
}

/* RFC 8797, 4: the R field "indicates that the sender supports remote invalidation". */
static void
it_is_offered_where_the_provider_has_it(void **state)
{
	(void)state;
	assert_true(requester_offers(rr_loop_fabric_new, true));
	assert_true(responder_offers(rr_loop_fabric_new, true));
}

static void
it_is_withheld_where_the_device_has_no_windows(void **state)
{
	(void)state;
	assert_false(requester_offers(without_windows, true));
	assert_false(responder_offers(without_windows, true));
}

static void
it_is_withheld_where_the_owner_does_not_want_it(void **state)
{
	(void)state;
	assert_false(requester_offers(rr_loop_fabric_new, false));
	assert_false(responder_offers(rr_loop_fabric_new, false));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_offered_where_the_provider_has_it),
		cmocka_unit_test(it_is_withheld_where_the_device_has_no_windows),
		cmocka_unit_test(it_is_withheld_where_the_owner_does_not_want_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
