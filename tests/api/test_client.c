/* SPDX-License-Identifier: BSD-3-Clause */
/* The client's life: connecting, who it says it is, what it tells of itself. */
#include "world.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static caller
ask_who(struct rpcrdma_client *client, uint8_t *keep, uint32_t size)
{
	static uint32_t gids[16];
	caller who;
	struct rpcrdma_call_config config = world_call_config(CALC_WHO, NULL, &who);

	config.keep = keep;
	config.keep_size = size;
	config.arena = gids;
	config.arena_size = sizeof(gids);
	assert_int_equal(rpcrdma_client_call_and_wait(client, &config), 0);
	return who;
}

static void
calls_are_from_the_user_of_this_process(void **state)
{
	struct world *world = *state;
	uint8_t keep[1024];
	char host[256] = "";
	caller who = ask_who(world->client, keep, sizeof(keep));

	gethostname(host, sizeof(host) - 1);
	assert_int_equal(who.flavor, 1);
	assert_int_equal(who.uid, geteuid());
	assert_int_equal(who.gid, getegid());
	assert_int_equal(who.machine.length, strlen(host));
	assert_memory_equal(who.machine.data, host, who.machine.length);
	assert_memory_equal(who.peer.data, "127.0.0.1:", 10);
}

static void
calls_are_from_whom_the_config_names(void **state)
{
	struct world *world = *state;
	const struct rpcrdma_auth_sys sys = { 1, 1000, 100, 2, { 7, 8 }, "elsewhere" };
	struct rpcrdma_client *client = world_connect(
		world, RPCRDMA_TRANSPORT_TCP, (struct rpcrdma_client_config){ .auth_sys = &sys });
	uint8_t keep[1024];
	caller who = ask_who(client, keep, sizeof(keep));

	assert_int_equal(who.flavor, 1);
	assert_int_equal(who.uid, 1000);
	assert_int_equal(who.gid, 100);
	assert_int_equal(who.gids.count, 2);
	assert_int_equal(who.gids.values[1], 8);
	assert_memory_equal(who.machine.data, "elsewhere", 9);
	rpcrdma_client_free(client);
}

static void
calls_carry_no_credential_where_none_is_wanted(void **state)
{
	struct world *world = *state;
	struct rpcrdma_client *client = world_connect(
		world, RPCRDMA_TRANSPORT_RDMA, (struct rpcrdma_client_config){ .auth_none = true });
	uint8_t keep[1024];

	assert_int_equal(ask_who(client, keep, sizeof(keep)).flavor, 0);
	rpcrdma_client_free(client);
}

static void
what_was_negotiated_is_told(void **state)
{
	struct world *world = *state;
	struct rpcrdma_negotiated negotiated = { .size = sizeof(negotiated) };
	struct rpcrdma_client *tcp =
		world_connect(world, RPCRDMA_TRANSPORT_TCP, (struct rpcrdma_client_config){ 0 });

	assert_int_equal(rpcrdma_client_negotiated(world->client, &negotiated), 0);
	assert_string_equal(negotiated.fabric, "iwarp");
	assert_int_equal(negotiated.version, 2);
	assert_true(negotiated.private_data);
	assert_int_equal(negotiated.inline_call, 4096);
	assert_int_equal(negotiated.inline_reply, 4096);
	assert_int_equal(negotiated.credits_asked, 64);
	assert_int_equal(negotiated.own_send, 12288);
	assert_int_equal(negotiated.own_receive, 12288);
	assert_int_equal(negotiated.peer_send, 12288);
	assert_int_equal(negotiated.peer_receive, 12288);
	/* The first message of version 2, which no call is, may have been answered or not. */
	assert_in_range(negotiated.credits_used, 0, 1);
	assert_int_equal(world_call(world->client, CALC_NULL, NULL, NULL, NULL, 0), 0);
	assert_int_equal(rpcrdma_client_negotiated(world->client, &negotiated), 0);
	assert_int_equal(negotiated.credits_granted, 64);
	assert_in_range(negotiated.credits_min, 1, 64);
	assert_int_equal(negotiated.credits_max, 64);
	while (!negotiated.read_chunks) {
		assert_true(rpcrdma_engine_turn(world->engine, -1) >= 0);
		assert_int_equal(rpcrdma_client_negotiated(world->client, &negotiated), 0);
	}
	assert_int_equal(negotiated.provided_peak, 0);
	assert_int_equal(rpcrdma_client_negotiated(tcp, &negotiated), 0);
	assert_string_equal(negotiated.fabric, "tcp");
	assert_int_equal(negotiated.version, 0);
	negotiated.size = 4;
	assert_int_equal(rpcrdma_client_negotiated(tcp, &negotiated), -RPCRDMA_ERR_INVAL);
	rpcrdma_client_free(tcp);
}

static void
counters_count_on_both_sides(void **state)
{
	struct world *world = *state;
	struct rpcrdma_counters counters = { .size = sizeof(counters) };

	assert_int_equal(world_call(world->client, CALC_NULL, NULL, NULL, NULL, 0), 0);
	assert_int_equal(rpcrdma_client_counters(world->client, &counters), 0);
	assert_int_equal(counters.calls, 1);
	assert_int_equal(counters.replies, 1);
	memset(&counters, 0, sizeof(counters));
	counters.size = sizeof(counters);
	assert_int_equal(rpcrdma_server_counters(world->server, &counters), 0);
	assert_int_equal(counters.calls, 1);
	counters.size = 0;
	assert_int_equal(rpcrdma_client_counters(world->client, &counters), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_server_counters(world->server, &counters), -RPCRDMA_ERR_INVAL);
}

static uint64_t
in_buckets(const struct rpcrdma_latency *latency)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < sizeof(latency->buckets) / sizeof(latency->buckets[0]); i++)
		calls += latency->buckets[i];
	return calls;
}

/* A program that is described anew for each call, with as many procedures as that call needs. */
static void
a_program_may_be_described_anew_for_each_call(void **state)
{
	struct world *world = *state;
	struct rpcrdma_latency latency = { .size = sizeof(latency) };

	for (uint32_t count = CALC_NULL + 1; count <= CALC_V1_program.procedure_count; count++) {
		struct rpcrdma_program program = CALC_V1_program;
		struct rpcrdma_call_config config = {
			.size = sizeof(config), .program = &program, .procedure = CALC_NULL
		};

		program.procedure_count = count;
		assert_int_equal(rpcrdma_client_call_and_wait(world->client, &config), 0);
		if (count - 1 != CALC_UNHANDLED)
			continue;
		config.procedure = CALC_UNHANDLED;
		assert_int_equal(
			rpcrdma_client_call_and_wait(world->client, &config), -RPCRDMA_ERR_PROC_UNAVAIL);
	}
	assert_int_equal(rpcrdma_client_latency(world->client, &CALC_V1_program, CALC_NULL, &latency), 0);
	assert_int_equal(latency.calls, CALC_V1_program.procedure_count - CALC_NULL);
	/* The first description had no such procedure: there is no room to count it. */
	assert_int_equal(
		rpcrdma_client_latency(world->client, &CALC_V1_program, CALC_UNHANDLED, &latency), 0);
	assert_int_equal(latency.calls, 0);
}

static void
how_long_a_procedure_took_is_told_on_both_sides(void **state)
{
	struct world *world = *state;
	struct rpcrdma_latency latency = { .size = sizeof(latency) };
	const struct rpcrdma_program *program = &CALC_V1_program;

	assert_int_equal(rpcrdma_client_latency(world->client, program, CALC_NULL, &latency), 0);
	assert_int_equal(latency.calls, 0);
	assert_int_equal(world_call(world->client, CALC_NULL, NULL, NULL, NULL, 0), 0);
	assert_int_equal(world_call(world->client, CALC_NULL, NULL, NULL, NULL, 0), 0);
	assert_int_equal(
		world_call(world->client, CALC_UNHANDLED, NULL, NULL, NULL, 0), -RPCRDMA_ERR_PROC_UNAVAIL);
	assert_int_equal(rpcrdma_client_latency(world->client, program, CALC_NULL, &latency), 0);
	assert_int_equal(latency.calls, 2);
	assert_int_equal(latency.errors, 0);
	assert_int_equal(in_buckets(&latency), 2);
	assert_int_equal(rpcrdma_client_latency(world->client, program, CALC_UNHANDLED, &latency), 0);
	assert_int_equal(latency.calls, 1);
	assert_int_equal(latency.errors, 1);
	assert_int_equal(rpcrdma_server_latency(world->server, program, CALC_NULL, &latency), 0);
	assert_int_equal(latency.calls, 2);
	assert_int_equal(in_buckets(&latency), 2);
	assert_int_equal(rpcrdma_server_latency(world->server, program, CALC_UNHANDLED, &latency), 0);
	assert_int_equal(latency.errors, 1);
	/* No such procedure, no such program. */
	assert_int_equal(rpcrdma_server_latency(world->server, program, 1000, &latency), 0);
	assert_int_equal(latency.calls, 0);
	assert_int_equal(
		rpcrdma_server_latency(world->server, &(struct rpcrdma_program){ 0 }, 0, &latency), 0);
	assert_int_equal(latency.calls, 0);
	latency.size = 0;
	assert_int_equal(rpcrdma_client_latency(world->client, program, 0, &latency), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_server_latency(world->server, program, 0, &latency), -RPCRDMA_ERR_INVAL);
}

/* What the connections of a server told. */
struct told {
	uint32_t connections, tcp;
	uint64_t calls, rdma_writes, registrations, invalidated;
};

static void
add(void *ctx, const char *peer, const struct rpcrdma_negotiated *negotiated,
	const struct rpcrdma_counters *counters)
{
	struct told *told = ctx;

	assert_int_equal(negotiated->size, sizeof(*negotiated));
	assert_int_equal(counters->size, sizeof(*counters));
	assert_memory_equal(peer, "127.0.0.1:", 10);
	told->connections++;
	told->tcp += strcmp(negotiated->fabric, "tcp") == 0;
	told->calls += counters->calls;
	told->rdma_writes += counters->rdma_writes;
	told->registrations += counters->registrations;
	told->invalidated += counters->remote_invalidations;
}

/* The figures of a CALC_BLOB that goes and comes by RDMA. */
static void
each_connection_of_a_server_tells_of_itself(void **state)
{
	static uint8_t data[BLOB_MAX], sink[BLOB_MAX], keep[4096];
	struct world *world = *state;
	const struct rpcrdma_sink sinks[] = { { sink, BLOB_MAX } };
	const blob args = { 1, { data, BLOB_MAX } };
	blob result;
	const struct rpcrdma_call_config config = { .size = sizeof(config),
		.program = &CALC_V1_program,
		.procedure = CALC_BLOB,
		.args = &args,
		.result = &result,
		.sinks = sinks,
		.sink_count = 1,
		.keep = keep,
		.keep_size = sizeof(keep) };
	struct rpcrdma_client *tcp =
		world_connect(world, RPCRDMA_TRANSPORT_TCP, (struct rpcrdma_client_config){ 0 });
	struct rpcrdma_counters client = { .size = sizeof(client) };
	struct told told = { 0 };

	assert_int_equal(world_call(tcp, CALC_NULL, NULL, NULL, NULL, 0), 0);
	assert_int_equal(world_call(world->client, CALC_NULL, NULL, NULL, NULL, 0), 0);
	assert_int_equal(rpcrdma_client_call_and_wait(world->client, &config), 0);
	rpcrdma_server_each_connection(world->server, add, &told);
	assert_int_equal(told.connections, 2);
	assert_int_equal(told.tcp, 1);
	assert_int_equal(told.calls, 3);
	assert_int_equal(told.rdma_writes, 1);
	assert_int_equal(rpcrdma_client_counters(world->client, &client), 0);
	assert_int_equal(client.why_arguments, 1);
	assert_int_equal(client.why_sinks, 1);
	assert_int_equal(client.registrations, 2);
	assert_int_equal(client.invalidations + client.remote_invalidations, 2);
	assert_int_equal(told.invalidated, client.remote_invalidations);
	rpcrdma_client_free(tcp);
}

/* A port at which nobody listens: one that a server had, and that nobody has had since. */
static uint16_t
closed_port(struct world *world)
{
	rpcrdma_server_free(world->server);
	world->server = NULL;
	return world->rdma_port;
}

static void
connecting_to_nobody_says_so(void **state)
{
	struct world *world = *state;
	struct rpcrdma_client *client = NULL;
	struct rpcrdma_client_config config = { .size = sizeof(config), .port = closed_port(world) };

	assert_int_equal(rpcrdma_client_connect(world->engine, &config, &client), -RPCRDMA_ERR_REFUSED);
	assert_null(client);
	assert_non_null(strstr(rpcrdma_engine_error(world->engine), "127.0.0.1"));
	/* Without waiting, the calls tell. */
	assert_int_equal(rpcrdma_client_new(world->engine, &config, &client), 0);
	assert_int_equal(world_call(client, CALC_NULL, NULL, NULL, NULL, 0), -RPCRDMA_ERR_REFUSED);
	assert_non_null(strstr(rpcrdma_client_error(client), "127.0.0.1"));
	rpcrdma_client_free(client);
}

/* ---- Waits that are interrupted ---- */

/* Counts down to the end of a wait. */
static bool
enough(void *ctx)
{
	unsigned *left = ctx;

	return *left == 0 || --*left == 0;
}

/* Opens a socket on the loopback that accepts connections and never answers, and sets *port. */
static int
silent_server(uint16_t *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
	assert_int_equal(listen(fd, 4), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	*port = ntohs(address.sin_port);
	return fd;
}

static void
a_connection_is_waited_for_until_it_is_interrupted(void **state)
{
	struct world *world = *state;
	struct rpcrdma_client *client = NULL;
	unsigned left = 2;
	struct rpcrdma_client_config config = { .size = sizeof(config), .interrupted = enough, .ctx = &left };
	int fd = silent_server(&config.port);

	assert_int_equal(rpcrdma_client_connect(world->engine, &config, &client), -RPCRDMA_ERR_CANCELLED);
	assert_int_equal(left, 0);
	assert_null(client);
	assert_non_null(strstr(rpcrdma_engine_error(world->engine), "cancelled"));
	close(fd);
}

static void
not_done(void *ctx, struct rpcrdma_call *call, int error)
{
	(void)ctx, (void)call, (void)error;
	fail();
}

static void
an_answer_is_waited_for_until_it_is_interrupted(void **state)
{
	struct world *world = *state;
	struct rpcrdma_client *client = NULL;
	unsigned left = 1000;
	struct rpcrdma_client_config config = { .size = sizeof(config),
		.transport = RPCRDMA_TRANSPORT_TCP,
		.interrupted = enough,
		.ctx = &left };
	const struct rpcrdma_call_config call = {
		.size = sizeof(call), .program = &CALC_V1_program, .procedure = CALC_NULL, .done = not_done
	};
	int fd = silent_server(&config.port);

	assert_int_equal(rpcrdma_client_connect(world->engine, &config, &client), 0);
	left = 2;
	assert_int_equal(rpcrdma_client_call_and_wait(client, &call), -RPCRDMA_ERR_CANCELLED);
	assert_int_equal(left, 0);
	assert_non_null(strstr(rpcrdma_client_error(client), "interrupted"));
	rpcrdma_client_free(client);
	close(fd);
}

/* In place of the C library's function: gives the host "two-addresses" 127.0.0.2, where nobody listens, and
 * then 127.0.0.1. Which names of a machine have several addresses, and in which order, is for the machine to
 * say. */
__attribute__((visibility("default"))) int
getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **found)
{
	int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
	struct addrinfo *last;
	int result;

	*(void **)&next = dlsym(RTLD_NEXT, "getaddrinfo");
	if (strcmp(host, "two-addresses") != 0)
		return next(host, service, hints, found);
	result = next("127.0.0.2", service, hints, found);
	if (result != 0)
		return result;
	for (last = *found; last->ai_next; last = last->ai_next)
		;
	return next("127.0.0.1", service, hints, &last->ai_next);
}

static void
each_address_of_a_host_is_tried(void **state)
{
	struct world *world = *state;

	rpcrdma_client_free(world_connect(
		world, RPCRDMA_TRANSPORT_RDMA, (struct rpcrdma_client_config){ .host = "two-addresses" }));
}

static void
a_wrong_config_is_refused(void **state)
{
	struct world *world = *state;
	static struct rpcrdma_auth_sys groups = { .gid_count = 17 }, name;
	struct rpcrdma_client *client = NULL;
	const struct rpcrdma_client_config bad[] = {
		{ .size = 0, .port = 1 },
		{ .size = sizeof(bad[0]) - 1, .port = 1 },
		{ .size = sizeof(bad[0]) },
		{ .size = sizeof(bad[0]), .port = 1, .transport = (enum rpcrdma_transport)9 },
		{ .size = sizeof(bad[0]), .port = 1, .auth_sys = &groups },
		{ .size = sizeof(bad[0]), .port = 1, .auth_sys = &name },
	};
	static const char *const says[] = { "struct rpcrdma_client_config", "struct rpcrdma_client_config",
		"no port", "transport 9", "at most 16 groups", "a name that ends" };

	memset(name.machine, 'x', sizeof(name.machine));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(rpcrdma_client_new(world->engine, &bad[i], &client), -RPCRDMA_ERR_INVAL);
		assert_non_null(strstr(rpcrdma_engine_error(world->engine), says[i]));
		assert_int_equal(rpcrdma_client_connect(world->engine, &bad[i], &client), -RPCRDMA_ERR_INVAL);
	}
	assert_null(client);
}

static void
a_host_that_is_none_is_named(void **state)
{
	struct world *world = *state;
	struct rpcrdma_client *client = NULL;
	const struct rpcrdma_client_config config = { .size = sizeof(config), .host = "[", .port = 1 };

	assert_int_equal(rpcrdma_client_new(world->engine, &config, &client), -RPCRDMA_ERR_ADDRESS);
	assert_non_null(strstr(rpcrdma_engine_error(world->engine), "the host ["));
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		T(calls_are_from_the_user_of_this_process),
		T(calls_are_from_whom_the_config_names),
		T(calls_carry_no_credential_where_none_is_wanted),
		T(what_was_negotiated_is_told),
		T(counters_count_on_both_sides),
		T(how_long_a_procedure_took_is_told_on_both_sides),
		T(a_program_may_be_described_anew_for_each_call),
		T(each_connection_of_a_server_tells_of_itself),
		T(connecting_to_nobody_says_so),
		T(a_connection_is_waited_for_until_it_is_interrupted),
		T(an_answer_is_waited_for_until_it_is_interrupted),
		T(each_address_of_a_host_is_tried),
		T(a_wrong_config_is_refused),
		T(a_host_that_is_none_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
