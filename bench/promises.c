/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * promises: measures two further claims of draft-cel-nfsv4-rpcrdma-reliable-reply-02, between two ends on one
 * engine, so that the result is the same each time. Prints for Reply chunks and for Read chunks how many
 * connections were lost when calls were cancelled (5.1.3), and which replies arrive that are larger than
 * their estimate (5.1.2).
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/endian.h"
#include "carrier/carrier.h"
#include "wire/rpc.h"

enum { CANCELLED = 100, ESTIMATE = 65536, CALL_SIZE = 40, REPLY_MAX = 1 << 20, TURNS = 50 };

/* The two ends of a connection, on one engine. */
struct world {
	struct rpcrdma_engine *engine;
	struct rr_acceptor *acceptor;
	struct rr_carrier *client, *server;
	struct rr_exchange *exchange; /* the call that is not answered yet */
	bool connected, lost, done;
	int error;
};

static const struct way {
	const char *name;
	enum rr_versions versions;
	enum rr_reply_chunks reply_chunks;
} ways[] = {
	{ "version 1, Reply chunk", RR_VERSIONS_1, RR_REPLY_CHUNKS_ALWAYS },
	{ "version 2, Reply chunk", RR_VERSIONS_2, RR_REPLY_CHUNKS_ALWAYS },
	{ "version 2, responder's Read chunk", RR_VERSIONS_2, RR_REPLY_CHUNKS_NEVER },
};

static uint8_t call_stream[CALL_SIZE], reply_stream[REPLY_MAX];

static void __attribute__((noreturn)) fail(const char *what)
{
	fprintf(stderr, "promises: %s\n", what);
	exit(1);
}

static void
connected(void *ctx)
{
	((struct world *)ctx)->connected = true;
}

static void
closed(void *ctx, int error, const char *text)
{
	(void)error;
	(void)text;
	((struct world *)ctx)->lost = true;
}

static void
called(void *ctx, struct rr_exchange *exchange)
{
	((struct world *)ctx)->exchange = exchange;
}

static const struct rr_carrier_events client_events = { .connected = connected, .closed = closed };
static const struct rr_carrier_events server_events = { .closed = closed, .call = called };

static void
accepted(void *ctx, struct rr_carrier *carrier)
{
	((struct world *)ctx)->server = carrier;
	rr_carrier_attach(carrier, &server_events, ctx);
}

static void
quiet(void *ctx, enum rr_log_level level, const char *line)
{
	(void)ctx;
	(void)level;
	(void)line;
}

static struct world
make_world(const struct rr_env *env, const struct way *way)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct world world = { 0 };

	config.versions = way->versions;
	config.reply_chunks = way->reply_chunks;
	if (rr_engine_new(env, &config, &world.engine))
		fail("no memory");
	return world;
}

static void
turn(struct world *world)
{
	if (rr_loop_turn(world->engine->loop, RR_MILLISECOND) < 0)
		fail("the loop fails");
}

/* Connects the two ends. */
static void
join(struct world *world)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_storage address;
	struct rr_text text;

	world->connected = world->lost = false;
	if (rr_carrier_listen(world->engine,
		    &(struct rr_carrier_place){ RR_TRANSPORT_AUTO, (void *)&any, sizeof(any) }, accepted,
		    world, &world->acceptor, &text) ||
		rr_acceptor_address(world->acceptor, &address) ||
		rr_carrier_connect(world->engine,
			&(struct rr_carrier_place){ RR_TRANSPORT_AUTO, (void *)&address, sizeof(address) },
			&client_events, world, &world->client, &text))
		fail(text.text);
	while (!world->connected)
		turn(world);
}

/* Closes both ends. */
static void
part(struct world *world)
{
	rr_carrier_close(world->client);
	rr_carrier_close(world->server);
	rr_acceptor_close(world->acceptor);
}

static void
call_done(struct rr_transaction *transaction, int error)
{
	struct world *world = transaction->ctx;

	world->done = true;
	world->error = error;
}

/* Makes a call, which the server holds. The reply is taken to be too long to fit inline, and at most ESTIMATE
 * octets long. */
static void
start(struct world *world, struct rr_transaction *transaction, uint32_t xid)
{
	*transaction = (struct rr_transaction){ .xid = xid,
		.call = { .stream = call_stream, .length = CALL_SIZE },
		.reply_max = ESTIMATE,
		.done = call_done,
		.ctx = world };
	rr_put_be32(call_stream, xid);
	rr_put_be32(call_stream + 4, RR_CALL);
	world->done = false;
	world->exchange = NULL;
	rr_carrier_call(world->client, transaction);
	while (!world->exchange)
		turn(world);
}

static void
answer(struct world *world, uint32_t xid, uint32_t length)
{
	const struct rpcrdma_message reply = { .stream = reply_stream, .length = length };

	rr_put_be32(reply_stream, xid);
	rr_put_be32(reply_stream + 4, RR_REPLY);
	rr_exchange_reply(world->exchange, &reply, NULL, NULL);
}

/* Returns how many connections end because the server answers a call that was cancelled meanwhile. */
static uint32_t
lost_by_cancelling(struct world *world)
{
	struct rr_transaction transaction;
	uint32_t lost = 0;

	for (uint32_t i = 0; i < CANCELLED; i++) {
		join(world);
		start(world, &transaction, i + 1);
		rr_carrier_cancel(world->client, &transaction);
		answer(world, i + 1, ESTIMATE / 2);
		for (int turns = 0; turns < TURNS && !world->lost; turns++)
			turn(world);
		lost += world->lost;
		part(world);
	}
	return lost;
}

/* Makes a call whose reply has `length` octets, and tells whether it arrives. */
static const char *
reply_of(struct world *world, uint32_t length)
{
	struct rr_transaction transaction;

	join(world);
	start(world, &transaction, 1);
	answer(world, 1, length);
	while (!world->done)
		turn(world);
	part(world);
	return world->error ? "lost" : "arrives";
}

int
main(void)
{
	struct rr_env env = rr_env_system;

	env.log = quiet;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct world world = make_world(&env, &ways[i]);

		printf("%s\t%u of %d", ways[i].name, lost_by_cancelling(&world), CANCELLED);
		for (uint32_t length = ESTIMATE; length <= REPLY_MAX; length *= 4)
			printf("\t%s", reply_of(&world, length));
		printf("\n");
		rpcrdma_engine_free(world.engine);
	}
	return 0;
}
