/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replies [ROUNDS [SETTING]]: makes the calls of mix.c, several at a time, over iWARP on the loopback between
 * two threads, for each way in which replies can come. Prints a line for each setting: the work for 1000
 * calls, and, as least, median and most of all rounds, latencies, rate and processor time. bench/replies
 * makes a page of these lines.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "carrier/carrier.h"
#include "mix.h"

enum { ROUNDS = 10, ROUNDS_MAX = 1000, LARGE = 4096, DEPTH_MAX = 64 };

struct setting {
	const char *transport, *replies;
	enum rr_versions versions;
	uint32_t inline_size;
	enum rr_reply_chunks reply_chunks;
	bool invalidation;
	uint32_t depth; /* calls at a time */
};

/* Settings: one call at a time without and with remote invalidation; 16 and 64 calls at a time with it. */
#define EACH(transport, replies, versions, size, policy)                                                     \
	{ transport, replies, versions, size, policy, false, 1 },                                            \
		{ transport, replies, versions, size, policy, true, 1 },                                     \
		{ transport, replies, versions, size, policy, true, 16 },                                    \
	{                                                                                                    \
		transport, replies, versions, size, policy, true, DEPTH_MAX                                  \
	}

static const char chunk[] = "Reply chunk", read_chunk[] = "responder's Read chunk", either[] = "as estimated";

static const struct setting settings[] = {
	EACH("version 1, 1024", chunk, RR_VERSIONS_1, 1024, RR_REPLY_CHUNKS_ALWAYS),
	EACH("version 1, 4096 by private data", chunk, RR_VERSIONS_1, 4096, RR_REPLY_CHUNKS_ALWAYS),
	EACH("version 2, 4096", chunk, RR_VERSIONS_2, 4096, RR_REPLY_CHUNKS_ALWAYS),
	EACH("version 2, 4096", read_chunk, RR_VERSIONS_2, 4096, RR_REPLY_CHUNKS_NEVER),
	EACH("version 2, 4096", either, RR_VERSIONS_2, 4096, RR_REPLY_CHUNKS_AUTO),
	EACH("version 2, 16384 by properties", chunk, RR_VERSIONS_2, 16384, RR_REPLY_CHUNKS_ALWAYS),
	EACH("version 2, 16384 by properties", read_chunk, RR_VERSIONS_2, 16384, RR_REPLY_CHUNKS_NEVER),
	EACH("version 2, 16384 by properties", either, RR_VERSIONS_2, 16384, RR_REPLY_CHUNKS_AUTO),
};

enum { SETTINGS = sizeof(settings) / sizeof(settings[0]) };

static void __attribute__((noreturn)) fail(const char *what)
{
	fprintf(stderr, "replies: %s\n", what);
	exit(1);
}

/* ---- The two ends ---- */

struct end {
	struct rpcrdma_engine *engine;
	struct rr_carrier *carrier;
	struct rr_acceptor *acceptor;
	atomic_bool stop;
	bool connected, closed;
};

/* A call under way. */
struct call {
	struct rr_transaction transaction;
	struct world *world;
	uint64_t began, *took; /* ns */
	uint8_t sink[MIX_ITEM_MAX];
};

struct world {
	struct end client, server;
	pthread_t thread;
	struct call calls[DEPTH_MAX];
	uint32_t next;       /* entry of the mix that is called next */
	uint64_t *latencies; /* of all entries */
	uint32_t under_way;
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

/* Answers a call with the reply that the mix has for it. */
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
	rr_carrier_attach(carrier, &server_events, end);
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
	if (rr_carrier_listen(world->server.engine,
		    &(struct rr_carrier_place){ RR_TRANSPORT_AUTO, (void *)&any, sizeof(any) }, accepted,
		    &world->server, &world->server.acceptor, &text) ||
		rr_acceptor_address(world->server.acceptor, &address) ||
		pthread_create(&world->thread, NULL, serve, &world->server) ||
		rr_carrier_connect(world->client.engine,
			&(struct rr_carrier_place){ RR_TRANSPORT_AUTO, (void *)&address, sizeof(address) },
			&client_events, &world->client, &world->client.carrier, &text))
		fail(text.text);
	while (!world->client.connected)
		rr_loop_turn(world->client.engine->loop, -1);
	return world;
}

/* ---- Calls ---- */

static void call_done(struct rr_transaction *transaction, int error);

static void
call_next(struct call *call)
{
	struct world *world = call->world;
	const struct mix_entry *entry;
	uint32_t i = world->next;

	if (i == MIX_CALLS)
		return;
	entry = &mix[world->next++];
	call->took = &world->latencies[i];
	call->began = rr_now(&rr_env_system);
	call->transaction = (struct rr_transaction){
		.xid = i + 1,
		.call = entry->call,
		.reply_min = entry->reply_min,
		.reply_max = entry->reply_max,
		.sink_count = entry->item_max > 0,
		.sinks = { { call->sink, entry->item_max } },
		.done = call_done,
		.ctx = call,
	};
	world->under_way++;
	rr_carrier_call(world->client.carrier, &call->transaction);
}

static void
call_done(struct rr_transaction *transaction, int error)
{
	struct call *call = transaction->ctx;
	const struct mix_entry *entry = &mix[transaction->xid - 1];
	uint32_t items = 0;

	*call->took = rr_now(&rr_env_system) - call->began;
	for (uint32_t i = 0; i < transaction->reply.item_count; i++)
		items += (transaction->reply.items[i].length + 3) & ~UINT32_C(3);
	if (error)
		fail(rpcrdma_strerror(error));
	if (transaction->reply.length + items != entry->reply.length + ((entry->item.length + 3) & ~3U))
		fail("a reply is of the wrong size");
	call->world->under_way--;
	call_next(call);
}

/* Makes all calls of the mix, `depth` of them at a time. */
static void
run_mix(struct world *world, uint32_t depth, uint64_t *latencies)
{
	world->next = 0;
	world->latencies = latencies;
	for (uint32_t i = 0; i < depth; i++) {
		world->calls[i].world = world;
		call_next(&world->calls[i]);
	}
	while (world->under_way > 0)
		rr_loop_turn(world->client.engine->loop, -1);
}

/* ---- Measuring ---- */

enum figure { LATENCY, LATENCY_LARGE, RATE, PROCESSOR, FIGURES };

struct measured {
	struct rpcrdma_counters client, server;
	uint64_t calls;
	uint32_t rounds;
	double figures[FIGURES][ROUNDS_MAX]; /* of each round */
};

/* Ends the world, and takes its counts. Those of the server belong to its thread as long as that runs. */
static void
free_world(struct world *world, struct measured *measured)
{
	atomic_store(&world->client.stop, true);
	atomic_store(&world->server.stop, true);
	rr_counters_add(&measured->client, &world->client.carrier->counters);
	rr_carrier_close(world->client.carrier);
	rpcrdma_engine_free(world->client.engine);
	pthread_join(world->thread, NULL);
	rr_counters_add(&measured->server, &world->server.carrier->counters);
	rr_carrier_close(world->server.carrier);
	rr_acceptor_close(world->server.acceptor);
	rpcrdma_engine_free(world->server.engine);
	free(world);
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
median(double *values, uint32_t count)
{
	qsort(values, count, sizeof(*values), compare);
	return values[count / 2];
}

/* Returns the microseconds that both threads have computed. */
static double
processor_time(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* Takes the medians of a round: of all calls, and of those whose reply is longer than LARGE. */
static void
take_latencies(struct measured *measured, const uint64_t *latencies)
{
	double all[MIX_CALLS], large[MIX_CALLS];
	uint32_t count = 0;

	for (uint32_t i = 0; i < MIX_CALLS; i++) {
		all[i] = (double)latencies[i] / 1e3;
		if (mix[i].reply.length > LARGE)
			large[count++] = all[i];
	}
	measured->figures[LATENCY][measured->rounds] = median(all, MIX_CALLS);
	measured->figures[LATENCY_LARGE][measured->rounds] = median(large, count);
}

/* Makes a round: the mix twice on a new connection. Both times are counted, the second is also timed. */
static void
measure(const struct setting *setting, struct measured *measured)
{
	static uint64_t latencies[MIX_CALLS];
	struct world *world = make_world(setting);
	uint64_t began;
	double processor;

	run_mix(world, setting->depth, latencies);
	processor = processor_time();
	began = rr_now(&rr_env_system);
	run_mix(world, setting->depth, latencies);
	measured->figures[RATE][measured->rounds] =
		MIX_CALLS * 1e9 / (double)(rr_now(&rr_env_system) - began);
	measured->figures[PROCESSOR][measured->rounds] = (processor_time() - processor) / MIX_CALLS;
	take_latencies(measured, latencies);
	measured->calls += 2 * MIX_CALLS;
	measured->rounds++;
	free_world(world, measured);
}

static void
print_count(const struct measured *measured, uint64_t count)
{
	printf("\t%.0f", (double)count * 1000 / (double)measured->calls);
}

/* Prints the line of a setting. Each side counts what it registers and invalidates itself; the peer has
 * invalidated the rest. Messages are calls, replies and RDMA_DONE. A reply or an argument that is fetched
 * costs a further round trip. */
static void
report(const struct setting *setting, struct measured *measured)
{
	const struct rpcrdma_counters *client = &measured->client, *server = &measured->server;
	uint64_t registered = client->registrations + server->registrations;
	uint64_t invalidated = client->invalidations + server->invalidations;
	uint32_t rounds = measured->rounds;

	printf("%s\t%s\t%s\t%u", setting->transport, setting->replies, setting->invalidation ? "yes" : "no",
		setting->depth);
	print_count(measured, registered);
	print_count(measured, invalidated);
	print_count(measured, registered - invalidated);
	print_count(measured, client->rdma_reads + server->rdma_reads);
	print_count(measured, client->rdma_writes + server->rdma_writes);
	print_count(measured, client->calls + server->replies + client->done_sent);
	print_count(measured,
		measured->calls + client->provided_replies + client->long_calls + client->read_chunks);
	for (uint32_t i = 0; i < FIGURES; i++) {
		double *values = measured->figures[i], middle = median(values, rounds);

		printf("\t%.1f\t%.1f\t%.1f", values[0], middle, values[rounds - 1]);
	}
	printf("\n");
}

int
main(int argc, char **argv)
{
	static struct measured measured[SETTINGS];
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : ROUNDS;
	unsigned long only = argc > 2 ? strtoul(argv[2], NULL, 10) : SETTINGS;

	if (rounds == 0 || rounds > ROUNDS_MAX)
		fail("1 to 1000 rounds");
	mix_make();
	/* The settings take turns, so that other work of the machine slows all of them alike. */
	for (unsigned long round = 0; round < rounds; round++) {
		for (uint32_t i = 0; i < SETTINGS; i++) {
			if (only >= SETTINGS || only == i)
				measure(&settings[i], &measured[i]);
		}
	}
	for (uint32_t i = 0; i < SETTINGS; i++) {
		if (measured[i].rounds > 0)
			report(&settings[i], &measured[i]);
	}
	return 0;
}
