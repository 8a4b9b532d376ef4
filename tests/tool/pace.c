/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pace URL CALLS: clients of NFS versions 3, 4.1 and 4.2 beside each other, each with a directory "3", "4.1"
 * or "4.2" below the URL and the file "file" in it. For each line that it reads, each client makes CALLS
 * calls (GETATTR, READ and WRITE in turn, WINDOW at a time), and the program prints one line: for each
 * client, the calls that it made each second.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rpcrdma/engine.h>
#include <rpcrdma/nfs.h>

enum { VERSIONS = 3, WINDOW = 4, OCTETS = 4096 };

static const char *const names[VERSIONS] = { "3", "4.1", "4.2" };

struct pace_client;

/* A call under way. */
struct pace_call {
	struct pace_client *client;
	struct rpcrdma_nfs_io io;
	struct rpcrdma_nfs_object object;
	uint8_t data[OCTETS];
};

struct pace_client {
	struct rpcrdma_nfs *nfs;
	struct rpcrdma_nfs_handle file;
	struct pace_call calls[WINDOW];
	uint32_t begun, ended, calls_max;
	uint64_t took; /* ns until the last call ended */
};

static uint64_t round_start;

static uint64_t
pace_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void
pace_fail(const char *what, const char *why)
{
	fprintf(stderr, "pace: %s: %s\n", what, why);
	exit(1);
}

static void pace_ended(void *ctx, int error);

static void
pace_begin(struct pace_call *call)
{
	struct pace_client *client = call->client;
	const struct rpcrdma_nfs_then then = { .done = pace_ended, .ctx = call };
	int error;

	call->io = (struct rpcrdma_nfs_io){
		.size = sizeof(call->io), .file = client->file, .data = call->data, .length = OCTETS
	};
	call->object.size = sizeof(call->object);
	switch (client->begun++ % 3) {
	case 0: error = rpcrdma_nfs_stat(client->nfs, &client->file, &call->object, &then); break;
	case 1: error = rpcrdma_nfs_read(client->nfs, &call->io, &then); break;
	default: error = rpcrdma_nfs_write(client->nfs, &call->io, &then); break;
	}
	if (error != 0)
		pace_fail("a call", rpcrdma_nfs_error(client->nfs));
}

static void
pace_ended(void *ctx, int error)
{
	struct pace_call *call = ctx;
	struct pace_client *client = call->client;

	if (error != 0)
		pace_fail("the answer to a call", rpcrdma_nfs_error(client->nfs));
	if (++client->ended == client->calls_max)
		client->took = pace_now() - round_start;
	else if (client->begun < client->calls_max)
		pace_begin(call);
}

static void
pace_open(struct pace_client *client, struct rpcrdma_engine *engine, const char *url, const char *name)
{
	struct rpcrdma_nfs_object object = { .size = sizeof(object) };
	char whole[512];
	const struct rpcrdma_nfs_config config = { .size = sizeof(config), .url = whole };

	snprintf(whole, sizeof(whole), "%s%s?version=%s", url, name, name);
	if (rpcrdma_nfs_open(engine, &config, &client->nfs) != 0)
		pace_fail(whole, rpcrdma_engine_error(engine));
	if (rpcrdma_nfs_find(client->nfs, "file", false, &object) != 0)
		pace_fail(whole, rpcrdma_nfs_error(client->nfs));
	client->file = object.handle;
}

static void
pace_round(struct pace_client *clients, struct rpcrdma_engine *engine, uint32_t calls_max)
{
	bool goes_on = true;

	round_start = pace_now();
	for (uint32_t i = 0; i < VERSIONS; i++) {
		clients[i].begun = clients[i].ended = 0;
		clients[i].calls_max = calls_max;
		for (uint32_t j = 0; j < WINDOW; j++) {
			clients[i].calls[j].client = &clients[i];
			pace_begin(&clients[i].calls[j]);
		}
	}
	while (goes_on) {
		if (rpcrdma_engine_turn(engine, 100000000) < 0)
			pace_fail("the engine", rpcrdma_engine_error(engine));
		goes_on = false;
		for (uint32_t i = 0; i < VERSIONS; i++)
			goes_on |= clients[i].ended < calls_max;
	}
	for (uint32_t i = 0; i < VERSIONS; i++)
		printf("%.1f%c", 1e9 * calls_max / (double)clients[i].took, i + 1 < VERSIONS ? ' ' : '\n');
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	static struct pace_client clients[VERSIONS];
	struct rpcrdma_engine *engine;
	char line[16];

	if (argc != 3 || strtoul(argv[2], NULL, 10) < WINDOW)
		return 2;
	if (rpcrdma_engine_new(NULL, &engine) != 0)
		pace_fail("the engine", "cannot be made");
	for (uint32_t i = 0; i < VERSIONS; i++)
		pace_open(&clients[i], engine, argv[1], names[i]);
	while (fgets(line, sizeof(line), stdin) != NULL)
		pace_round(clients, engine, (uint32_t)strtoul(argv[2], NULL, 10));
	for (uint32_t i = 0; i < VERSIONS; i++)
		rpcrdma_nfs_close(clients[i].nfs);
	rpcrdma_engine_free(engine);
	return 0;
}
