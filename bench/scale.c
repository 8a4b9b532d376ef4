/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scale rdma|tcp PORT IDLE ACTIVE CALLS [PID]: connects IDLE clients to the NFS server on the loopback, each
 * of which makes one call and is silent from then on, and ACTIVE clients, which then make CALLS calls
 * together, each one at a time. All calls are NULL. With PID, which is the server's, prints
 *
 *   octets of memory that the server took for each idle client, 0 if there are none
 *   ns of a plain connect(2), and ns of one of the IDLE clients from its connect(2) to the answer to its call
 *   ns of the server's processor time for each of the CALLS, and calls in a second
 *   calls in a second of one more client with DEPTH at a time, before there were other clients, and after
 *
 * Without PID, prints a line and waits for a line before the CALLS and after them, so that they can be
 * counted apart.
 */
#include <arpa/inet.h>
#include <err.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <rpcrdma/client.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { AT_ONCE = 64, DEPTH = 64, PLAIN = 1000, ROUND = 20000, ROUNDS = 9 };

/* Procedure 0 of NFS version 3 has neither arguments nor results: no schema is needed. */
static const struct rpcrdma_procedure procedures[] = { { .name = "NULL" } };
static const struct rpcrdma_program nfs_v3 = { "NFS_V3", 100003, 3, 1, procedures, NULL };

struct world {
	struct rpcrdma_engine *engine;
	struct rpcrdma_client_config config;
	struct rpcrdma_client **clients;
	uint32_t count;
	uint32_t under_way, left; /* calls that are not answered yet; calls that are not made yet */
};

struct caller {
	struct world *world;
	struct rpcrdma_client *client;
};

static uint64_t
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* ---- The system's counts of the server ---- */

static uint64_t
resident_octets(int pid)
{
	char path[64], line[256];
	uint64_t kib = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "r");
	if (!file)
		err(1, "%s", path);
	while (fgets(line, sizeof(line), file) && sscanf(line, "VmRSS: %" SCNu64, &kib) != 1)
		;
	fclose(file);
	return kib << 10;
}

/* Returns the processor time of the server's first thread, which is the thread that serves. */
static uint64_t
processor_ns(int pid)
{
	char path[64];
	uint64_t ns = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%" SCNu64, &ns) != 1)
		err(1, "%s", path);
	fclose(file);
	return ns;
}

/* ---- Calls ---- */

static void call_once(struct caller *caller);

static void
call_done(void *ctx, struct rpcrdma_call *call, int error)
{
	struct caller *caller = ctx;
	struct world *world = caller->world;

	(void)call;
	if (error)
		errx(1, "NULL: %s", rpcrdma_client_error(caller->client));
	world->under_way--;
	call_once(caller);
}

/* Makes a call, if there are any left. */
static void
call_once(struct caller *caller)
{
	const struct rpcrdma_call_config call = {
		.size = sizeof(call), .program = &nfs_v3, .done = call_done, .ctx = caller
	};
	struct world *world = caller->world;

	if (world->left == 0)
		return;
	world->left--;
	world->under_way++;
	if (rpcrdma_client_call(caller->client, &call, NULL))
		errx(1, "NULL: %s", rpcrdma_client_error(caller->client));
}

static void
turn(struct world *world)
{
	if (rpcrdma_engine_turn(world->engine, -1) < 0)
		errx(1, "%s", rpcrdma_engine_error(world->engine));
}

/* Makes that many calls, by the callers in turn. */
static void
run(struct world *world, struct caller *callers, uint32_t count, uint32_t calls)
{
	world->left = calls;
	for (uint32_t i = 0; i < count; i++)
		call_once(&callers[i]);
	while (world->under_way > 0)
		turn(world);
}

/* Connects clients, each of which makes a call, AT_ONCE at a time. */
static void
open_clients(struct world *world, struct caller *callers, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (rpcrdma_client_new(world->engine, &world->config, &callers[i].client))
			errx(1, "%s", rpcrdma_engine_error(world->engine));
		callers[i].world = world;
		world->left++;
		call_once(&callers[i]);
		while (world->under_way >= AT_ONCE)
			turn(world);
	}
	while (world->under_way > 0)
		turn(world);
}

static void
open_world(struct world *world, bool tcp, int port, uint32_t credits)
{
	const struct rpcrdma_engine_config config = { .size = sizeof(config), .credits = credits };

	*world = (struct world){ .config = { .size = sizeof(world->config),
					 .port = (uint16_t)port,
					 .auth_none = true,
					 .transport =
						 tcp ? RPCRDMA_TRANSPORT_TCP : RPCRDMA_TRANSPORT_IWARP } };
	if (rpcrdma_engine_new(&config, &world->engine))
		errx(1, "an event loop cannot be set up");
}

/* ---- Measurements ---- */

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Returns the median time of connect(2), in ns. */
static uint64_t
plain_connect(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	static uint64_t times[PLAIN];

	if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) || listen(listener, PLAIN) ||
		getsockname(listener, (struct sockaddr *)&address, &size))
		err(1, "a listener");
	for (int i = 0; i < PLAIN; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		times[i] = now();
		if (connect(fd, (struct sockaddr *)&address, size))
			err(1, "connect");
		times[i] = now() - times[i];
		close(fd);
		close(accept(listener, NULL, NULL));
	}
	close(listener);
	qsort(times, PLAIN, sizeof(times[0]), compare);
	return times[PLAIN / 2];
}

/* Returns the median rate of calls of one client, DEPTH at a time. */
static double
deep_rate(struct world *world, struct rpcrdma_client *client)
{
	struct caller callers[DEPTH];
	uint64_t times[ROUNDS];

	for (int i = 0; i < DEPTH; i++)
		callers[i] = (struct caller){ world, client };
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t start = now();

		run(world, callers, DEPTH, ROUND);
		times[i] = now() - start;
	}
	qsort(times, ROUNDS, sizeof(times[0]), compare);
	return ROUND * 1e9 / (double)times[ROUNDS / 2];
}

/* Prints a line, and waits for a line. */
static void
wait_for_line(void)
{
	int c;

	printf("\n");
	fflush(stdout);
	do
		c = getchar();
	while (c != '\n' && c != EOF);
}

static struct caller *
make_callers(uint32_t count)
{
	struct caller *callers = calloc(count ? count : 1, sizeof(*callers));

	if (!callers)
		err(1, "memory");
	return callers;
}

static void
raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

int
main(int argc, char **argv)
{
	bool tcp = argc > 1 && strcmp(argv[1], "tcp") == 0;
	int port = argc > 5 ? atoi(argv[2]) : 0, pid = argc > 6 ? atoi(argv[6]) : 0;
	uint32_t idle = argc > 5 ? (uint32_t)atoi(argv[3]) : 0,
		 active = argc > 5 ? (uint32_t)atoi(argv[4]) : 0;
	uint32_t calls = argc > 5 ? (uint32_t)atoi(argv[5]) : 0;
	struct caller *idles = make_callers(idle), *actives = make_callers(active), deep;
	uint64_t before, start, connected, processor, called;
	double rate = 0, beside = 0;
	struct world few, many;

	if (port <= 0)
		errx(2, "usage: scale rdma|tcp PORT IDLE ACTIVE CALLS [PID]");
	raise_descriptor_limit();
	open_world(&few, tcp, port, DEPTH);
	open_world(&many, tcp, port, 1);
	open_clients(&few, &deep, 1);
	if (pid > 0)
		rate = deep_rate(&few, deep.client);
	before = pid > 0 ? resident_octets(pid) : 0;
	start = now();
	open_clients(&many, idles, idle);
	connected = now() - start;
	before = pid > 0 ? resident_octets(pid) - before : 0;
	if (pid > 0)
		beside = deep_rate(&few, deep.client);
	open_clients(&many, actives, active);
	if (pid <= 0)
		wait_for_line();
	processor = pid > 0 ? processor_ns(pid) : 0;
	start = now();
	run(&many, actives, active, calls);
	called = now() - start;
	if (pid <= 0)
		wait_for_line();
	if (pid > 0)
		printf("%" PRIu64 "\n%" PRIu64 " %" PRIu64 "\n%.0f %.0f\n%.0f %.0f\n",
			idle ? before / idle : 0, plain_connect(), idle ? connected / idle : 0,
			(double)(processor_ns(pid) - processor) / (calls ? calls : 1),
			calls * 1e9 / (double)called, rate, beside);
	/* The end of the process closes all connections. */
	return 0;
}
