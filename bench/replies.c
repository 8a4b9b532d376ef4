/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replies [ROUNDS]: the mix of mix.c, one call at a time, over iWARP on the loopback between two threads, for
 * each way to bring replies home. Prints a line for each: what it took per 1000 calls, and the latency.
 * bench/replies makes a page of it.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mix.h"
#include "transport/rdma.h"

enum { ROUNDS = 10, ROUNDS_MAX = 1000, LARGE = 4096 };

struct setting {
	const char *transport, *replies;
	enum rr_versions versions;
	uint32_t inline_size;
	enum rr_reply_chunks reply_chunks;
	bool invalidation;
};

/* Each without remote invalidation and with it. */
#define BOTH(transport, replies, versions, size, policy)                                                     \
	{ transport, replies, versions, size, policy, false },                                               \
	{                                                                                                    \
		transport, replies, versions, size, policy, true                                             \
	}

static const char chunk[] = "Reply chunk", read_chunk[] = "responder's Read chunk", either[] = "as estimated";

static const struct setting settings[] = {
	BOTH("version 1, 1024", chunk, RR_VERSIONS_1, 1024, RR_REPLY_CHUNKS_ALWAYS),
	BOTH("version 1, 4096 by private data", chunk, RR_VERSIONS_1, 4096, RR_REPLY_CHUNKS_ALWAYS),
	BOTH("version 2, 4096", chunk, RR_VERSIONS_2, 4096, RR_REPLY_CHUNKS_ALWAYS),
	BOTH("version 2, 4096", read_chunk, RR_VERSIONS_2, 4096, RR_REPLY_CHUNKS_NEVER),
	BOTH("version 2, 4096", either, RR_VERSIONS_2, 4096, RR_REPLY_CHUNKS_AUTO),
	BOTH("version 2, 16384 by properties", chunk, RR_VERSIONS_2, 16384, RR_REPLY_CHUNKS_ALWAYS),
	BOTH("version 2, 16384 by properties", read_chunk, RR_VERSIONS_2, 16384, RR_REPLY_CHUNKS_NEVER),
	BOTH("version 2, 16384 by properties", either, RR_VERSIONS_2, 16384, RR_REPLY_CHUNKS_AUTO),
};

enum { SETTINGS = sizeof(settings) / sizeof(settings[0]) };

static void __attribute__((noreturn)) fail(const char *what)
{
	fprintf(stderr, "replies: %s\n", what);
	exit(1);
}

/* ---- The two ends ---- */

struct end {
	struct rr_engine *engine;
	struct rr_carrier *carrier;
	struct rr_acceptor *acceptor;
	atomic_bool stop;
	bool connected, closed;
};

struct world {
	struct end client, server;
	pthread_t thread;
	struct rr_transaction transaction;
	bool done;
	int error;
	uint8_t sink[MIX_ITEM_MAX];
	uint64_t second_trips; /* calls of which one side had to fetch something before it could go on */
};

static void
connected(void *ctx)
{
	((struct end *)ctx)->connected = true;
}

static void
closed(void *ctx, int error, const char *text)
{
	struct end *end = ctx;

	end->closed = true;
	if (error && !atomic_load(&end->stop))
		fail(text);
}

static void
answer(void *ctx, struct rr_exchange *exchange)
{
	(void)ctx;
	rr_exchange_reply(exchange, &mix[exchange->xid - 1].reply, NULL, NULL);
}

static const struct rr_carrier_events client_events = { .connected = connected, .closed = closed };
static const struct rr_carrier_events server_events = { .closed = closed, .call = answer };

static void
accepted(void *ctx, struct rr_carrier *carrier)
{
	struct end *end = ctx;

	end->carrier = carrier;
	rr_carrier_listen(carrier, &server_events, end);
}

static void *
serve(void *arg)
{
	struct end *end = arg;

	while (!atomic_load(&end->stop) || !end->closed)
		rr_loop_turn(end->engine->loop, -1);
	return NULL;
}

static void
make_engine(const struct setting *setting, struct end *end)
{
	struct rr_engine_config config = rr_engine_config_default;

	config.inline_send = config.inline_receive = setting->inline_size;
	config.remote_invalidation = setting->invalidation;
	config.versions = setting->versions;
	config.reply_chunks = setting->reply_chunks;
	if (rr_engine_new(&rr_env_system, &config, &end->engine))
		fail("no memory");
}

static struct world *
make_world(const struct setting *setting)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct world *world = calloc(1, sizeof(*world));
	struct sockaddr_storage address;
	struct rr_text text;

	if (!world)
		fail("no memory");
	make_engine(setting, &world->client);
	make_engine(setting, &world->server);
	if (rr_rdma_listen(world->server.engine, (void *)&any, sizeof(any), accepted, &world->server,
		    &world->server.acceptor, &text) ||
		rr_rdma_acceptor_address(world->server.acceptor, &address) ||
		pthread_create(&world->thread, NULL, serve, &world->server) ||
		rr_rdma_connect(world->client.engine, (void *)&address, sizeof(address), &client_events,
			&world->client, &world->client.carrier, &text))
		fail(text.text);
	while (!world->client.connected)
		rr_loop_turn(world->client.engine->loop, -1);
	return world;
}

/* ---- Calls ---- */

static void
call_done(struct rr_transaction *transaction, int error)
{
	struct world *world = transaction->ctx;
	const struct mix_entry *entry = &mix[transaction->xid - 1];
	uint32_t items = 0;

	for (uint32_t i = 0; i < transaction->reply.item_count; i++)
		items += (transaction->reply.items[i].length + 3) & ~UINT32_C(3);
	if (!error &&
		transaction->reply.length + items != entry->reply.length + ((entry->item.length + 3) & ~3U))
		fail("a reply is of the wrong size");
	world->error = error;
	world->done = true;
}

/* One call of the mix, and how long it took. */
static uint64_t
run_call(struct world *world, const struct mix_entry *entry, uint32_t xid)
{
	const struct rr_counters *client = &world->client.carrier->counters;
	uint64_t pulled = client->rdma_reads, began = rr_now(&rr_env_system);

	world->done = false;
	world->transaction = (struct rr_transaction){
		.xid = xid,
		.call = entry->call,
		.reply_min = entry->reply_min,
		.reply_max = entry->reply_max,
		.sink_count = entry->item_max > 0,
		.sinks = { { world->sink, entry->item_max } },
		.done = call_done,
		.ctx = world,
	};
	rr_carrier_call(world->client.carrier, &world->transaction);
	while (!world->done)
		rr_loop_turn(world->client.engine->loop, -1);
	if (world->error)
		fail(rpcrdma_strerror(world->error));
	world->second_trips += client->rdma_reads > pulled || world->transaction.pulled > 0;
	return rr_now(&rr_env_system) - began;
}

/* ---- Measuring ---- */

struct measured {
	struct rr_counters client, server;
	uint64_t calls, second_trips;
	uint64_t *latencies; /* ns */
	uint64_t *large;     /* of calls whose reply is longer than LARGE, these alone */
	uint32_t latency_count, large_count;
};

/* Ends it, and takes what it counted: the server is alone with its own as long as its thread runs. */
static void
free_world(struct world *world, struct measured *measured)
{
	atomic_store(&world->client.stop, true);
	atomic_store(&world->server.stop, true);
	rr_counters_add(&measured->client, &world->client.carrier->counters);
	rr_carrier_close(world->client.carrier);
	rr_engine_free(world->client.engine);
	pthread_join(world->thread, NULL);
	rr_counters_add(&measured->server, &world->server.carrier->counters);
	rr_carrier_close(world->server.carrier);
	rr_rdma_unlisten(world->server.acceptor);
	rr_engine_free(world->server.engine);
	free(world);
}

/* A round: the mix twice on a connection of its own. All of it is counted, the second time is timed, too. */
static void
measure(const struct setting *setting, struct measured *measured)
{
	struct world *world = make_world(setting);
	uint64_t *latencies = measured->latencies + measured->latency_count;

	for (int time = 0; time < 2; time++) {
		for (uint32_t i = 0; i < MIX_CALLS; i++)
			latencies[i] = run_call(world, &mix[i], i + 1);
	}
	for (uint32_t i = 0; i < MIX_CALLS; i++) {
		if (mix[i].reply.length > LARGE)
			measured->large[measured->large_count++] = latencies[i];
	}
	measured->latency_count += MIX_CALLS;
	measured->calls += 2 * MIX_CALLS;
	measured->second_trips += world->second_trips;
	free_world(world, measured);
}

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static double
per_thousand(const struct measured *measured, uint64_t count)
{
	return (double)count * 1000 / (double)measured->calls;
}

/* Each side counts what it registers and invalidates itself; what is left was invalidated by the other one.
 */
static void
report(const struct setting *setting, struct measured *measured)
{
	const struct rr_counters *client = &measured->client, *server = &measured->server;
	uint64_t registered = client->registrations + server->registrations;
	uint64_t invalidated = client->invalidations + server->invalidations, sum = 0;
	uint32_t count = measured->latency_count;

	qsort(measured->latencies, count, sizeof(*measured->latencies), compare);
	qsort(measured->large, measured->large_count, sizeof(*measured->large), compare);
	for (uint32_t i = 0; i < count; i++)
		sum += measured->latencies[i];
	printf("%s\t%s\t%s\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.1f\t%.1f\t%.1f\t%.1f\n", setting->transport,
		setting->replies, setting->invalidation ? "yes" : "no", per_thousand(measured, registered),
		per_thousand(measured, invalidated), per_thousand(measured, registered - invalidated),
		per_thousand(measured, client->rdma_reads + server->rdma_reads),
		per_thousand(measured, client->rdma_writes + server->rdma_writes),
		1000 + per_thousand(measured, measured->second_trips),
		(double)measured->latencies[count / 2] / 1e3, (double)sum / count / 1e3,
		(double)measured->latencies[count - count / 100] / 1e3,
		(double)measured->large[measured->large_count / 2] / 1e3);
}

int
main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : ROUNDS;
	struct measured measured[SETTINGS] = { 0 };

	if (rounds == 0 || rounds > ROUNDS_MAX)
		fail("1 to 1000 rounds");
	mix_make();
	for (uint32_t i = 0; i < SETTINGS; i++) {
		measured[i].latencies = calloc(rounds, MIX_CALLS * sizeof(uint64_t));
		measured[i].large = calloc(rounds, MIX_CALLS * sizeof(uint64_t));
		if (!measured[i].latencies || !measured[i].large)
			fail("no memory");
	}
	/* In turns: what else the machine does then hits all of them alike. */
	for (unsigned long round = 0; round < rounds; round++) {
		for (uint32_t i = 0; i < SETTINGS; i++)
			measure(&settings[i], &measured[i]);
	}
	for (uint32_t i = 0; i < SETTINGS; i++) {
		report(&settings[i], &measured[i]);
		free(measured[i].latencies);
		free(measured[i].large);
	}
	return 0;
}
