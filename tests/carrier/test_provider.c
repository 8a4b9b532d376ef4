/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "../fabric/loop/loop.h"
#include "base/address.h"
#include "carrier/carrier.h"
#include "carrier/rdma/core/room.h"
#include "carrier/rdma/provider.h"
#include "fabric/filter/fault.h"
#include "fabric/filter/filter.h"

/* The choice of the fabric for a connection. The in-process provider stands for the adapters: it is put
 * where an engine keeps them once it has opened them. The tests on the kernel's software adapters show
 * that addresses of adapters are recognised; the loopback addresses here never belong to an adapter. */

enum { SERVED_MAX = 8 };

struct world {
	struct rr_env env;
	struct rpcrdma_engine *engine;
	struct rr_carrier *client, *served[SERVED_MAX];
	uint32_t served_count;
	bool connected, closed;
	int error;
};

static void
connected(void *ctx)
{
	((struct world *)ctx)->connected = true;
}

static void
closed(void *ctx, int error, const char *text)
{
	struct world *world = ctx;

	(void)text;
	world->closed = true;
	world->error = error;
}

static const struct rr_carrier_events events = { .connected = connected, .closed = closed };
static const struct rr_carrier_events served_events = { 0 };

static void
accepted(void *ctx, struct rr_carrier *carrier)
{
	struct world *world = ctx;

	assert_true(world->served_count < SERVED_MAX);
	world->served[world->served_count++] = carrier;
	rr_carrier_attach(carrier, &served_events, world);
}

/* Makes an engine, and a provider in software in place of the machine's own adapters. */
static void
world_begin(struct world *world, const struct rr_engine_config *config)
{
	struct rr_fabric_config fabric = rr_fabric_config_default;

	*world = (struct world){ .env = rr_env_system };
	world->env.log = NULL;
	assert_int_equal(rr_engine_new(&world->env, config, &world->engine), 0);
	assert_int_equal(
		rr_loop_fabric_new(world->engine->loop, &fabric, &rr_room_in(world->engine)->adapters), 0);
}

static void
close_all(struct world *world)
{
	rr_carrier_close(world->client);
	while (world->served_count > 0)
		rr_carrier_close(world->served[--world->served_count]);
	world->connected = world->closed = false;
}

static struct sockaddr_in
local(uint32_t address)
{
	return (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(address) };
}

/* Listens, and puts the port that was chosen into address. */
static struct rr_acceptor *
listen_at(struct world *world, enum rr_transport provider, struct sockaddr_in *address)
{
	struct sockaddr_storage chosen;
	struct rr_acceptor *acceptor;
	struct rr_text text;

	assert_int_equal(
		rr_carrier_listen(world->engine,
			&(struct rr_carrier_place){ provider, (struct sockaddr *)address, sizeof(*address) },
			accepted, world, &acceptor, &text),
		0);
	assert_int_equal(rr_acceptor_address(acceptor, &chosen), 0);
	address->sin_port = htons(rr_address_port((struct sockaddr *)&chosen));
	return acceptor;
}

/* Connects, or fails to; returns the name of the fabric that the connection went over. */
static const char *
dial(struct world *world, enum rr_transport provider, const struct sockaddr_in *address)
{
	struct rpcrdma_negotiated negotiated;
	struct rr_text text;

	assert_int_equal(rr_carrier_connect(world->engine,
				 &(struct rr_carrier_place){
					 provider, (const struct sockaddr *)address, sizeof(*address) },
				 &events, world, &world->client, &text),
		0);
	while (!world->connected && !world->closed)
		assert_true(rr_loop_turn(world->engine->loop, -1) >= 0);
	rr_carrier_negotiated(world->client, &negotiated);
	return negotiated.fabric;
}

static void
an_engine_has_no_adapters_until_they_are_wanted(void **state)
{
	struct rpcrdma_engine *engine;

	(void)state;
	assert_int_equal(rr_engine_new(&rr_env_system, &rr_engine_config_default, &engine), 0);
	assert_null(rr_room_in(engine)->adapters);
	rpcrdma_engine_free(engine);
}

/* An environment in which one allocation fails. */
static uint32_t allocations, fail_at;

static void *
failing_realloc(void *ctx, void *old, size_t size)
{
	if (size > 0 && ++allocations == fail_at)
		return NULL;
	return rr_env_system.realloc(ctx, old, size);
}

static void
an_engine_without_memory_says_so(void **state)
{
	struct rr_env env = rr_env_system;
	struct rpcrdma_engine *engine;
	int error;

	(void)state;
	env.realloc = failing_realloc;
	for (fail_at = 1;; fail_at++) {
		allocations = 0;
		errno = EBADF; /* an error of long ago */
		error = rr_engine_new(&env, &rr_engine_config_default, &engine);
		if (error == 0)
			break;
		assert_int_equal(error, -RPCRDMA_ERR_NOMEM);
	}
	assert_true(fail_at > 2);
	rpcrdma_engine_free(engine);
}

static void
what_is_asked_for_is_taken(void **state)
{
	struct sockaddr_in address = local(INADDR_LOOPBACK), other = address;
	struct rr_acceptor *sockets, *adapters;
	struct world world;

	(void)state;
	world_begin(&world, &rr_engine_config_default);
	sockets = listen_at(&world, RR_TRANSPORT_IWARP, &address);
	adapters = listen_at(&world, RR_TRANSPORT_VERBS, &other);
	assert_string_equal(rr_acceptor_providers(sockets), "iwarp");
	assert_string_equal(rr_acceptor_providers(adapters), "loop");
	assert_string_equal(dial(&world, RR_TRANSPORT_IWARP, &address), "iwarp");
	assert_true(world.connected);
	close_all(&world);
	assert_string_equal(dial(&world, RR_TRANSPORT_VERBS, &other), "loop");
	assert_true(world.connected);
	close_all(&world);
	/* Neither listener takes connections of the other provider. */
	assert_string_equal(dial(&world, RR_TRANSPORT_IWARP, &other), "iwarp");
	assert_int_equal(world.error, -RPCRDMA_ERR_REFUSED);
	close_all(&world);
	rr_acceptor_close(sockets);
	rr_acceptor_close(adapters);
	rpcrdma_engine_free(world.engine);
}

static char logged[256]; /* the last line */

static void
keep_line(void *ctx, enum rr_log_level level, const char *line)
{
	(void)ctx;
	(void)level;
	snprintf(logged, sizeof(logged), "%s", line);
}

static void
a_connection_declined_without_memory_is_logged_as_such(void **state)
{
	struct sockaddr_in address = local(INADDR_LOOPBACK);
	struct rr_acceptor *acceptor;
	struct world world;

	(void)state;
	world_begin(&world, &rr_engine_config_default);
	acceptor = listen_at(&world, RR_TRANSPORT_VERBS, &address);
	world.env.realloc = failing_realloc;
	world.env.log = keep_line;
	logged[0] = 0;
	/* One of the allocations is that of the connection at the side that accepts. */
	for (fail_at = 1; !strstr(logged, "declined"); fail_at++) {
		const struct rr_carrier_place place = { RR_TRANSPORT_VERBS, (struct sockaddr *)&address,
			sizeof(address) };
		struct rr_text text;

		assert_true(fail_at < 100);
		allocations = 0;
		if (rr_carrier_connect(world.engine, &place, &events, &world, &world.client, &text) < 0)
			continue;
		while (!world.connected && !world.closed)
			assert_true(rr_loop_turn(world.engine->loop, -1) >= 0);
		close_all(&world);
	}
	assert_non_null(strstr(logged, "declined, as there is no memory"));
	world.env.realloc = rr_env_system.realloc;
	world.env.log = NULL;
	rr_acceptor_close(acceptor);
	rpcrdma_engine_free(world.engine);
}

static void
who_does_not_ask_gets_what_the_engine_is_told(void **state)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct sockaddr_in address = local(INADDR_LOOPBACK);
	struct rr_acceptor *acceptor;
	struct world world;

	(void)state;
	config.provider = RR_TRANSPORT_VERBS;
	world_begin(&world, &config);
	acceptor = listen_at(&world, RR_TRANSPORT_AUTO, &address);
	assert_string_equal(rr_acceptor_providers(acceptor), "loop");
	assert_string_equal(dial(&world, RR_TRANSPORT_AUTO, &address), "loop");
	close_all(&world);
	assert_string_equal(dial(&world, RR_TRANSPORT_IWARP, &address), "iwarp");
	close_all(&world);
	rr_acceptor_close(acceptor);
	rpcrdma_engine_free(world.engine);
}

static void
an_address_of_no_adapter_goes_over_sockets(void **state)
{
	struct sockaddr_in address = local(INADDR_LOOPBACK);
	struct rr_acceptor *acceptor;
	struct world world;

	(void)state;
	world_begin(&world, &rr_engine_config_default);
	acceptor = listen_at(&world, RR_TRANSPORT_AUTO, &address);
	assert_string_equal(rr_acceptor_providers(acceptor), "iwarp");
	assert_string_equal(dial(&world, RR_TRANSPORT_AUTO, &address), "iwarp");
	assert_true(world.connected);
	close_all(&world);
	rr_acceptor_close(acceptor);
	rpcrdma_engine_free(world.engine);
}

static void
all_addresses_are_listened_at_over_both(void **state)
{
	struct sockaddr_in address = local(INADDR_ANY);
	struct rr_acceptor *acceptor;
	struct world world;

	(void)state;
	world_begin(&world, &rr_engine_config_default);
	acceptor = listen_at(&world, RR_TRANSPORT_AUTO, &address);
	assert_string_equal(rr_acceptor_providers(acceptor), "iwarp and verbs");
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_string_equal(dial(&world, RR_TRANSPORT_IWARP, &address), "iwarp");
	assert_true(world.connected);
	close_all(&world);
	assert_string_equal(dial(&world, RR_TRANSPORT_VERBS, &address), "loop");
	assert_true(world.connected);
	close_all(&world);
	rr_acceptor_close(acceptor);
	rpcrdma_engine_free(world.engine);
}

static void
adapters_whose_port_is_taken_leave_the_sockets(void **state)
{
	struct sockaddr_in taken = local(INADDR_ANY), address = taken;
	struct rr_acceptor *first, *second;
	struct world world;

	(void)state;
	world_begin(&world, &rr_engine_config_default);
	first = listen_at(&world, RR_TRANSPORT_VERBS, &taken);
	address.sin_port = taken.sin_port;
	second = listen_at(&world, RR_TRANSPORT_AUTO, &address);
	assert_string_equal(rr_acceptor_providers(second), "iwarp");
	rr_acceptor_close(first);
	rr_acceptor_close(second);
	rpcrdma_engine_free(world.engine);
}

static void
of_several_engines_one_listens_over_adapters(void **state)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct sockaddr_in any = local(INADDR_ANY), address = local(INADDR_LOOPBACK);
	struct rr_acceptor *acceptor;
	struct world world;

	(void)state;
	config.adapters_elsewhere = true;
	world_begin(&world, &config);
	acceptor = listen_at(&world, RR_TRANSPORT_AUTO, &any);
	assert_string_equal(rr_acceptor_providers(acceptor), "iwarp");
	rr_acceptor_close(acceptor);
	address.sin_port = htons(20049);
	acceptor = listen_at(&world, RR_TRANSPORT_VERBS, &address);
	assert_string_equal(rr_acceptor_providers(acceptor), "");
	assert_int_equal(ntohs(address.sin_port), 20049);
	assert_string_equal(dial(&world, RR_TRANSPORT_VERBS, &address), "loop");
	assert_int_equal(world.error, -RPCRDMA_ERR_REFUSED);
	close_all(&world);
	rr_acceptor_close(acceptor);
	rpcrdma_engine_free(world.engine);
}

/* ---- Receives that must suffice ---- */

enum { CREDITS = 8, ROOM = 3 };

/* Makes a fabric as on an iWARP adapter, with receives for ROOM connections. */
static int
scarce_fabric(struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric)
{
	static const struct rr_fault_script nothing;
	struct rr_fabric_config scarce = *config;
	struct rr_fabric *below;
	int error;

	scarce.receive_max = ROOM * (CREDITS + 16 + 2);
	error = rr_loop_fabric_new(loop, &scarce, &below);
	if (!error)
		error = rr_fault_fabric_new(below, &nothing, fabric);
	if (!error)
		rr_container(*fabric, struct rr_filter_fabric, base)->ops.limits.receives_must_suffice = true;
	return error;
}

/* RFC 8166, 3.3.1: "a Responder may reduce the granted credit value to accommodate the available resources
 * in a Shared Receive Queue": this responder reduces the number of connections instead. */
static void
a_connection_beyond_the_receives_takes_the_place_of_an_idle_one(void **state)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct sockaddr_in address = local(INADDR_LOOPBACK);
	struct rr_carrier *clients[ROOM];
	struct rr_acceptor *acceptor;
	struct world world = { .env = rr_env_system };

	(void)state;
	world.env.log = NULL;
	config.credits = CREDITS;
	assert_int_equal(rr_engine_new_on(&world.env, &config, scarce_fabric, &world.engine), 0);
	acceptor = listen_at(&world, RR_TRANSPORT_AUTO, &address);
	for (uint32_t i = 0; i < ROOM; i++) {
		dial(&world, RR_TRANSPORT_AUTO, &address);
		assert_true(world.connected);
		clients[i] = world.client;
		world.connected = false;
	}
	dial(&world, RR_TRANSPORT_AUTO, &address);
	assert_true(world.connected);
	assert_int_equal(rr_shares_accepted(&world.engine->shares), ROOM);
	for (uint32_t i = 0; i < ROOM; i++)
		rr_carrier_close(clients[i]);
	close_all(&world);
	rr_acceptor_close(acceptor);
	rpcrdma_engine_free(world.engine);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_engine_has_no_adapters_until_they_are_wanted),
		cmocka_unit_test(an_engine_without_memory_says_so),
		cmocka_unit_test(what_is_asked_for_is_taken),
		cmocka_unit_test(a_connection_declined_without_memory_is_logged_as_such),
		cmocka_unit_test(who_does_not_ask_gets_what_the_engine_is_told),
		cmocka_unit_test(an_address_of_no_adapter_goes_over_sockets),
		cmocka_unit_test(all_addresses_are_listened_at_over_both),
		cmocka_unit_test(adapters_whose_port_is_taken_leave_the_sockets),
		cmocka_unit_test(of_several_engines_one_listens_over_adapters),
		cmocka_unit_test(a_connection_beyond_the_receives_takes_the_place_of_an_idle_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
