/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * paths FILE tcp:PORT|rdma:PORT...: compares NFS version 3 servers on the loopback, in turns: the rate of
 * READs of 1 MiB of FILE, WINDOW of them at a time, and the times of NULL and GETATTR, made one at a time.
 * Prints two lines for each server: the rates (MiB/s) of all turns, and the medians of all calls (us).
 */
#include <err.h>
#include <rpcrdma/client.h>
#include <rpcrdma/nfs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WINDOW = 4, TURNS = 9, MIB = 1 << 20, CALLS = 1200, SERVERS_MAX = 8 };

/* Procedure 0 of NFS version 3 has neither arguments nor results: no schema is needed. */
static const struct rpcrdma_procedure procedures[] = { { .name = "NULL" } };
static const struct rpcrdma_program nfs_v3 = { "NFS_V3", 100003, 3, 1, procedures, NULL };

struct server {
	const char *name;
	struct rpcrdma_nfs *nfs;
	struct rpcrdma_client *client; /* for NULL */
	struct rpcrdma_nfs_object file;
	double rates[TURNS];
	uint64_t nulls[TURNS * CALLS], getattrs[TURNS * CALLS]; /* ns */
};

static struct rpcrdma_engine *engine;

static uint64_t
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void
open_server(struct server *server, const char *file)
{
	const char *colon = strchr(server->name, ':');
	int port = colon ? atoi(colon + 1) : 0;
	bool tcp = strncmp(server->name, "tcp:", 4) == 0;
	struct rpcrdma_client_config client = { .size = sizeof(client),
		.port = (uint16_t)port,
		.transport = tcp ? RPCRDMA_TRANSPORT_TCP : RPCRDMA_TRANSPORT_RDMA };
	struct rpcrdma_nfs_config config = { .size = sizeof(config) };
	struct rpcrdma_nfs_handle root;
	uint32_t read_max;
	char url[100];

	if (!colon)
		errx(2, "%s is not of the form tcp:PORT or rdma:PORT", server->name);
	snprintf(url, sizeof(url), "nfs://127.0.0.1:%d/?version=3&transport=%s", port, tcp ? "tcp" : "auto");
	config.url = url;
	if (rpcrdma_nfs_open(engine, &config, &server->nfs) ||
		rpcrdma_client_connect(engine, &client, &server->client))
		errx(1, "%s: %s", server->name, rpcrdma_engine_error(engine));
	server->file.size = sizeof(server->file);
	if (rpcrdma_nfs_root(server->nfs, &root, NULL) ||
		rpcrdma_nfs_lookup(server->nfs, &root, file, &server->file, NULL))
		errx(1, "%s: %s", server->name, rpcrdma_nfs_error(server->nfs));
	rpcrdma_nfs_limits(server->nfs, &read_max, NULL);
	if (server->file.length < MIB || read_max < MIB)
		errx(1, "%s: %s: 1 MiB cannot be read at once", server->name, file);
}

/* ---- Rates ---- */

struct reading;

struct piece {
	struct reading *reading;
	struct rpcrdma_nfs_io io;
};

struct reading {
	struct server *server;
	uint64_t next, size;
	uint32_t under_way;
	struct piece pieces[WINDOW];
};

static void read_done(void *ctx, int error);

static void
next_read(struct piece *piece)
{
	struct reading *reading = piece->reading;
	const struct rpcrdma_nfs_then then = { read_done, piece };

	if (reading->next + MIB > reading->size)
		return;
	piece->io.offset = reading->next;
	reading->next += MIB;
	reading->under_way++;
	if (rpcrdma_nfs_read(reading->server->nfs, &piece->io, &then))
		errx(1, "%s: READ: %s", reading->server->name, rpcrdma_nfs_error(reading->server->nfs));
}

static void
read_done(void *ctx, int error)
{
	struct piece *piece = ctx;
	struct reading *reading = piece->reading;

	if (error || piece->io.moved != MIB)
		errx(1, "%s: READ: %s", reading->server->name, rpcrdma_nfs_error(reading->server->nfs));
	reading->under_way--;
	next_read(piece);
}

/* Reads the whole file once, and returns the rate in MiB/s. */
static double
read_rate(struct server *server, uint8_t *memory)
{
	struct reading reading = { .server = server, .size = server->file.length };
	uint64_t start = now();

	for (size_t i = 0; i < WINDOW; i++) {
		reading.pieces[i] = (struct piece){ &reading, { .size = sizeof(struct rpcrdma_nfs_io),
								      .file = server->file.handle,
								      .data = memory + i * MIB,
								      .length = MIB } };
		next_read(&reading.pieces[i]);
	}
	while (reading.under_way > 0)
		rpcrdma_engine_turn(engine, -1);
	return (double)reading.next / MIB * 1e9 / (double)(now() - start);
}

/* ---- Latencies ---- */

static uint64_t
time_null(struct server *server)
{
	const struct rpcrdma_call_config call = { .size = sizeof(call), .program = &nfs_v3 };
	uint64_t start = now();

	if (rpcrdma_client_call_and_wait(server->client, &call))
		errx(1, "%s: NULL: %s", server->name, rpcrdma_client_error(server->client));
	return now() - start;
}

static uint64_t
time_getattr(struct server *server)
{
	struct rpcrdma_nfs_object object = { .size = sizeof(object) };
	uint64_t start = now();

	if (rpcrdma_nfs_stat(server->nfs, &server->file.handle, &object, NULL))
		errx(1, "%s: GETATTR: %s", server->name, rpcrdma_nfs_error(server->nfs));
	return now() - start;
}

static void
time_calls(struct server *server, int first)
{
	for (int i = first; i < first + CALLS; i++) {
		server->nulls[i] = time_null(server);
		server->getattrs[i] = time_getattr(server);
	}
}

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static double
median_us(uint64_t *times)
{
	qsort(times, (size_t)TURNS * CALLS, sizeof(*times), compare);
	return (double)times[TURNS * CALLS / 2] / 1e3;
}

int
main(int argc, char **argv)
{
	static struct server servers[SERVERS_MAX];
	int count = argc - 2;
	uint8_t *memory = aligned_alloc(4096, (size_t)WINDOW * MIB);

	if (count < 1 || count > SERVERS_MAX || !memory)
		errx(2, "usage: paths FILE tcp:PORT|rdma:PORT...");
	if (rpcrdma_engine_new(NULL, &engine))
		err(1, "an event loop cannot be set up");
	for (int i = 0; i < count; i++) {
		servers[i].name = argv[2 + i];
		open_server(&servers[i], argv[1]);
		read_rate(&servers[i], memory); /* the first time does not count */
	}
	for (int turn = 0; turn < TURNS; turn++) {
		for (int i = 0; i < count; i++) {
			servers[i].rates[turn] = read_rate(&servers[i], memory);
			time_calls(&servers[i], turn * CALLS);
		}
	}
	for (int i = 0; i < count; i++) {
		for (int turn = 0; turn < TURNS; turn++)
			printf("%.0f ", servers[i].rates[turn]);
		printf("\n%.1f %.1f\n", median_us(servers[i].nulls), median_us(servers[i].getattrs));
		rpcrdma_client_free(servers[i].client);
		rpcrdma_nfs_close(servers[i].nfs);
	}
	rpcrdma_engine_free(engine);
	free(memory);
	return 0;
}
