/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calls FILE tcp:PORT|rdma:PORT...: measures NFS version 3 servers on the loopback against each other, in
 * turns: the rate of READs of 1 MiB of FILE, WINDOW of them outstanding, and how long NULL and GETATTR take,
 * one at a time. Prints for each server a line of rates (MiB/s) of each turn, and one of medians of all calls
 * (us).
 */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carrier/engine.h"
#include "nfs/client.h"

enum { WINDOW = 4, TURNS = 9, MIB = 1 << 20, CALLS = 1200, SERVERS_MAX = 8 };

struct server {
	const char *name;
	struct rpcrdma_nfs *nfs;
	struct rr_nfs_object file;
	double rates[TURNS];
	uint64_t nulls[TURNS * CALLS], getattrs[TURNS * CALLS]; /* ns */
};

static struct rpcrdma_engine *engine;

static void
open_server(struct server *server, const char *file)
{
	const char *colon = strchr(server->name, ':');
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct rr_nfs_config config = { .server = server->name, .path = "/" };
	struct rr_text text;

	if (!colon)
		errx(2, "%s is not of the form tcp:PORT or rdma:PORT", server->name);
	address.sin_port = htons((uint16_t)atoi(colon + 1));
	config.rpc.transport = strncmp(server->name, "tcp:", 4) == 0 ? RR_TRANSPORT_TCP : RR_TRANSPORT_AUTO;
	memcpy(&config.rpc.address, &address, sizeof(address));
	config.rpc.address_size = sizeof(address);
	if (rr_nfs_open(engine, &config, &server->nfs, &text))
		errx(1, "%s: %s", server->name, text.text);
	if (rr_nfs_lookup(server->nfs, rr_nfs_root(server->nfs), file, &server->file))
		errx(1, "%s: %s", server->name, rpcrdma_nfs_error(server->nfs));
	if (server->file.attributes.size < MIB || rr_nfs_read_max(server->nfs) < MIB)
		errx(1, "%s: %s: 1 MiB cannot be read at once", server->name, file);
}

/* ---- Rates ---- */

struct reading {
	struct server *server;
	uint64_t next, size;
	uint32_t under_way;
	struct rr_nfs_io ios[WINDOW];
};

static void
next_read(struct reading *reading, struct rr_nfs_io *io)
{
	if (reading->next + MIB > reading->size)
		return;
	io->offset = reading->next;
	reading->next += MIB;
	reading->under_way++;
	rr_nfs_read(reading->server->nfs, io);
}

static void
read_done(struct rr_nfs_io *io, int error)
{
	struct reading *reading = io->ctx;

	if (error || io->moved != MIB)
		errx(1, "%s: READ: %s", reading->server->name, rpcrdma_nfs_error(reading->server->nfs));
	reading->under_way--;
	next_read(reading, io);
}

/* The whole file once. */
static double
read_rate(struct server *server, uint8_t *memory)
{
	struct reading reading = { .server = server, .size = server->file.attributes.size };
	uint64_t start = rr_now(engine->env);

	for (size_t i = 0; i < WINDOW; i++) {
		struct rr_nfs_io *io = &reading.ios[i];

		io->file = &server->file.handle;
		io->data = memory + i * MIB;
		io->length = MIB;
		io->done = read_done;
		io->ctx = &reading;
		next_read(&reading, io);
	}
	while (reading.under_way > 0)
		rr_loop_turn(engine->loop, -1);
	return (double)reading.next / MIB * (double)RR_SECOND / (double)(rr_now(engine->env) - start);
}

/* ---- Latencies ---- */

static uint64_t
time_null(struct server *server)
{
	struct rr_call call = { .program = &NFS_V3_program, .proc = NFSPROC3_NULL };
	uint64_t start = rr_now(engine->env);

	if (rr_client_call_and_wait(rr_nfs_rpc(server->nfs), &call, NULL, NULL))
		errx(1, "%s: NULL: %s", server->name, rr_client_error(rr_nfs_rpc(server->nfs)));
	return rr_now(engine->env) - start;
}

static uint64_t
time_getattr(struct server *server)
{
	uint64_t start = rr_now(engine->env);
	fattr3 attributes;

	if (rr_nfs_getattr(server->nfs, &server->file.handle, &attributes))
		errx(1, "%s: GETATTR: %s", server->name, rpcrdma_nfs_error(server->nfs));
	return rr_now(engine->env) - start;
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
		errx(2, "usage: calls FILE tcp:PORT|rdma:PORT...");
	if (rr_engine_new(&rr_env_system, &rr_engine_config_default, &engine))
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
		rpcrdma_nfs_close(servers[i].nfs);
	}
	rpcrdma_engine_free(engine);
	free(memory);
	return 0;
}
