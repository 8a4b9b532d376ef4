/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls in the reverse direction (RFC 8167): a server calls its client over the client's connection. */
#include "world.h"

#include <string.h>

#define RETRY UINT64_C(60000000000)

/* The world's connections, and what the server made of them. */
static struct rpcrdma_client *back;
static struct world other; /* in which the client's handlers run */

struct outcome {
	bool done;
	int error;
};

static void
done(void *ctx, struct rpcrdma_call *call, int error)
{
	struct outcome *outcome = ctx;

	(void)call;
	*outcome = (struct outcome){ true, error };
}

static void
make_back(struct world *world)
{
	const struct rpcrdma_client_config config = { .size = sizeof(config) };

	world->inside_error = rpcrdma_request_client(world->request, &config, &back);
}

/* Calls, so that the server gets to know the client. */
static void
get_known(struct world *world, struct rpcrdma_client *client)
{
	uint32_t number = 1, result = 0;

	world->inside = make_back;
	assert_int_equal(world_call(client, CALC_ANSWER, &number, &result, NULL, 0), 0);
	world->inside = NULL;
	assert_int_equal(world->inside_error, 0);
}

/* Connects with the calc program served at this end, too. */
static struct rpcrdma_client *
connect_hearing(struct world *world, enum rpcrdma_transport transport, const struct rpcrdma_service *service)
{
	struct rpcrdma_client *client = world_connect(world, transport,
		(struct rpcrdma_client_config){
			.retry = RETRY, .services = service, .service_count = service ? 1 : 0 });

	get_known(world, client);
	return client;
}

static void
start(uint32_t procedure, const void *args, void *result, uint64_t timeout, struct outcome *outcome)
{
	struct rpcrdma_call_config config = world_call_config(procedure, args, result);

	config.timeout = timeout;
	config.done = done;
	config.ctx = outcome;
	*outcome = (struct outcome){ 0 };
	assert_int_equal(rpcrdma_client_call(back, &config, NULL), 0);
}

/* A call of the server's is served by the client. */
static void
call_back(struct world *world)
{
	uint32_t values[] = { 1, 2, 3 }, sum = 0;
	const numbers summands = { 3, values };
	struct outcome outcome;

	other = (struct world){ 0 };
	start(CALC_SUM, &summands, &sum, 0, &outcome);
	world_until(world, outcome.done);
	assert_int_equal(outcome.error, 0);
	assert_int_equal(sum, 6);
	assert_int_equal(other.handled, 1);
}

static void
call_back_over(struct world *world, enum rpcrdma_transport transport)
{
	const struct rpcrdma_service service = world_service(&other);
	struct rpcrdma_client *client = connect_hearing(world, transport, &service);

	call_back(world);
	rpcrdma_client_free(back);
	/* The connection is still there for those whose it is. */
	assert_int_equal(world_call(client, CALC_NULL, NULL, NULL, NULL, 0), 0);
	rpcrdma_client_free(client);
}

static void
a_server_calls_its_client_over_rdma(void **state)
{
	call_back_over(*state, RPCRDMA_TRANSPORT_RDMA);
}

static void
a_server_calls_its_client_over_tcp(void **state)
{
	call_back_over(*state, RPCRDMA_TRANSPORT_TCP);
}

/* RFC 8167, 5.4: "forward-direction Requesters SHOULD maintain a transport connection as long as there is the
 * possibility that the connection peer can send reverse-direction requests." */
static void
come_back_over(struct world *world, enum rpcrdma_transport transport)
{
	const struct rpcrdma_service service = world_service(&other);
	struct rpcrdma_client *client = connect_hearing(world, transport, &service);

	for (int times = 0; times < 3; times++) {
		rpcrdma_client_free(back);
		rpcrdma_server_free(world->server);
		world_serve(world);
		world_until(world, rpcrdma_server_connections(world->server) == 1);
		get_known(world, client);
		/* No other connection was made for that call. */
		assert_int_equal(rpcrdma_server_connections(world->server), 1);
		call_back(world);
	}
	rpcrdma_client_free(back);
	rpcrdma_client_free(client);
}

static void
a_client_that_serves_comes_back_by_itself_over_rdma(void **state)
{
	come_back_over(*state, RPCRDMA_TRANSPORT_RDMA);
}

static void
a_client_that_serves_comes_back_by_itself_over_tcp(void **state)
{
	come_back_over(*state, RPCRDMA_TRANSPORT_TCP);
}

static void
many_calls_go_both_ways_at_a_time(void **state)
{
	struct world *world = *state;
	const struct rpcrdma_service service = world_service(&other);
	struct rpcrdma_client *client = connect_hearing(world, RPCRDMA_TRANSPORT_RDMA, &service);
	uint32_t values[] = { 1, 2, 3 }, sums[100] = { 0 }, number = 1, result;
	const numbers summands = { 3, values };
	struct outcome outcomes[100];

	other = (struct world){ 0 };
	for (int i = 0; i < 100; i++)
		start(CALC_SUM, &summands, &sums[i], 0, &outcomes[i]);
	for (int i = 0; i < 100; i++)
		assert_int_equal(world_call(client, CALC_ANSWER, &number, &result, NULL, 0), 0);
	for (int i = 0; i < 100; i++) {
		world_until(world, outcomes[i].done);
		assert_int_equal(outcomes[i].error, 0);
		assert_int_equal(sums[i], 6);
	}
	assert_int_equal(other.handled, 100);
	rpcrdma_client_free(back);
	rpcrdma_client_free(client);
}

static void
a_client_that_serves_nothing_is_not_called(void **state)
{
	struct world *world = *state;
	struct rpcrdma_client *client = connect_hearing(world, RPCRDMA_TRANSPORT_RDMA, NULL);
	struct outcome outcome;

	start(CALC_NULL, NULL, NULL, 20000000, &outcome);
	world_until(world, outcome.done);
	assert_int_equal(outcome.error, -RPCRDMA_ERR_NOTSUP);
	assert_int_equal(world_call(client, CALC_NULL, NULL, NULL, NULL, 0), 0);
	rpcrdma_client_free(back);
	rpcrdma_client_free(client);
}

static void
calls_fail_with_the_connection(void **state)
{
	struct world *world = *state;
	const struct rpcrdma_service service = world_service(&other);
	struct rpcrdma_client *client = connect_hearing(world, RPCRDMA_TRANSPORT_RDMA, &service);
	struct outcome outcome;

	start(CALC_NULL, NULL, NULL, 0, &outcome);
	rpcrdma_client_free(client);
	world_until(world, outcome.done);
	assert_int_equal(outcome.error, -RPCRDMA_ERR_DISCONNECTED);
	start(CALC_NULL, NULL, NULL, 0, &outcome);
	world_until(world, outcome.done);
	assert_int_equal(outcome.error, -RPCRDMA_ERR_DISCONNECTED);
	assert_true(strlen(rpcrdma_client_error(back)) > 0);
	rpcrdma_client_free(back);
}

static void
the_end_of_the_server_ends_them_too(void **state)
{
	struct world *world = *state;
	const struct rpcrdma_service service = world_service(&other);
	struct rpcrdma_client *client = connect_hearing(world, RPCRDMA_TRANSPORT_RDMA, &service);
	struct outcome outcome;

	start(CALC_NULL, NULL, NULL, 0, &outcome);
	rpcrdma_engine_turn(world->engine, 0);
	rpcrdma_server_free(world->server);
	world->server = NULL;
	world_until(world, outcome.done);
	assert_int_equal(outcome.error, -RPCRDMA_ERR_DISCONNECTED);
	rpcrdma_client_free(back);
	rpcrdma_client_free(client);
}

static void
what_does_not_fit_inline_is_refused(void **state)
{
	struct world *world = *state;
	const struct rpcrdma_service service = world_service(&other);
	struct rpcrdma_client *client = connect_hearing(world, RPCRDMA_TRANSPORT_RDMA, &service);
	static uint8_t data[100000];
	const blob big = { 1, { data, sizeof(data) } };
	blob result;
	struct outcome outcome;

	start(CALC_BLOB, &big, &result, 0, &outcome);
	world_until(world, outcome.done);
	assert_int_equal(outcome.error, -RPCRDMA_ERR_LIMIT);
	assert_int_equal(world_call(client, CALC_NULL, NULL, NULL, NULL, 0), 0);
	rpcrdma_client_free(back);
	rpcrdma_client_free(client);
}

static void
make_back_of_back(struct world *world)
{
	const struct rpcrdma_client_config config = { .size = sizeof(config) };
	struct rpcrdma_client *client = NULL;

	world->inside_error = rpcrdma_request_client(world->request, &config, &client);
	assert_null(client);
}

static void
what_came_in_the_reverse_direction_gives_no_client(void **state)
{
	struct world *world = *state;
	const struct rpcrdma_service service = world_service(&other);
	struct rpcrdma_client *client = connect_hearing(world, RPCRDMA_TRANSPORT_RDMA, &service);
	uint32_t number = 1, result = 0;
	struct outcome outcome;

	other = (struct world){ .inside = make_back_of_back };
	start(CALC_ANSWER, &number, &result, 0, &outcome);
	world_until(world, outcome.done);
	assert_int_equal(outcome.error, 0);
	assert_int_equal(other.inside_error, -RPCRDMA_ERR_NOTSUP);
	rpcrdma_client_free(back);
	rpcrdma_client_free(client);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		T(a_server_calls_its_client_over_rdma),
		T(a_server_calls_its_client_over_tcp),
		T(a_client_that_serves_comes_back_by_itself_over_rdma),
		T(a_client_that_serves_comes_back_by_itself_over_tcp),
		T(many_calls_go_both_ways_at_a_time),
		T(a_client_that_serves_nothing_is_not_called),
		T(calls_fail_with_the_connection),
		T(the_end_of_the_server_ends_them_too),
		T(what_does_not_fit_inline_is_refused),
		T(what_came_in_the_reverse_direction_gives_no_client),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
