/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calls tcp|iwarp null|OCTETS DEPTH spin|block: a client calls a server in another process for SECONDS,
 * by an echo of OCTETS octets, or by procedure 0; DEPTH calls are under way at a time. Client and
 * server each have a processor for themselves. Both turn their engines without waiting (spin), or wait for
 * events (block).
 *
 * calls plain CALL REPLY spin|block: the same by send(2) and recv(2) alone, with CALL octets there and REPLY
 * octets back.
 *
 * Prints the calls in a second, and, for calls made one at a time, the median and the 99th percentile in
 * microseconds. bench/calls compiles this file with the library of an earlier commit as well, so it uses only
 * what both libraries have.
 */
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <rpcrdma/client.h>
#include <rpcrdma/server.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "echo.h"

#define SECONDS 0.4

enum { OCTETS_MAX = 65536, SAMPLES_MAX = 1 << 20 };

static const struct rpcrdma_procedure procedures[] = { { .name = "NULL" } };
static const struct rpcrdma_program program_null = { "ECHO_V1", ECHO_PROGRAM, ECHO_V1, 1, procedures, NULL };

static uint8_t octets[OCTETS_MAX];
static uint64_t samples[SAMPLES_MAX];

struct bench {
	enum rpcrdma_transport transport;
	bool null, waits;
	uint32_t depth;
	struct rpcrdma_engine *engine;
	struct rpcrdma_client *client;
	echo_data sent, received;
	uint64_t until; /* no call begins after this time */
	uint64_t began; /* time of the last call's beginning */
	uint64_t done;
	uint32_t under_way;
};

static uint64_t
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Keeps this process on the first processor that it may use, or on the last. */
static void
pin(bool first)
{
	cpu_set_t allowed, one;
	int chosen = -1;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		err(1, "sched_getaffinity");
	for (int i = 0; i < CPU_SETSIZE && (chosen < 0 || !first); i++)
		chosen = CPU_ISSET(i, &allowed) ? i : chosen;
	CPU_ZERO(&one);
	CPU_SET(chosen, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		err(1, "sched_setaffinity");
}

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Prints the calls in a second; timed: also the median and the 99th percentile of the samples. */
static void
report(uint64_t count, uint64_t took, bool timed)
{
	size_t taken = count < SAMPLES_MAX ? count : SAMPLES_MAX;

	printf("%.0f", (double)count * 1e9 / (double)took);
	qsort(samples, taken, sizeof(samples[0]), compare);
	if (timed && taken > 0)
		printf(" %.2f %.2f", (double)samples[taken / 2] / 1e3,
			(double)samples[taken * 99 / 100] / 1e3);
	printf("\n");
}

/* ---- The server ---- */

static enum rpcrdma_handled
handle_echo(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	(void)ctx;
	(void)request;
	memcpy(result, args, sizeof(echo_data));
	return RPCRDMA_HANDLED;
}

static void
bench_engine(struct bench *bench)
{
	struct rpcrdma_engine_config config = {
		.size = sizeof(config),
		.credits = 256,
	};

	if (rpcrdma_engine_new(&config, &bench->engine))
		errx(1, "no engine");
}

static void
bench_turn(struct bench *bench)
{
	if (rpcrdma_engine_turn(bench->engine, bench->waits ? -1 : 0) < 0)
		errx(1, "%s", rpcrdma_engine_error(bench->engine));
}

/* Serves, and never returns. The port is written to the descriptor `to`. */
static void
serve(struct bench *bench, int to)
{
	static rpcrdma_handler *const handlers[] = { [ECHO_ECHO] = handle_echo };
	const struct rpcrdma_service service = { .program = &ECHO_V1_program, .handlers = handlers };
	const struct rpcrdma_server_config config = {
		.size = sizeof(config), .services = &service, .service_count = 1
	};
	struct rpcrdma_server *server;
	uint16_t port = 0;

	bench_engine(bench);
	if (rpcrdma_server_new(bench->engine, &config, &server) ||
		rpcrdma_server_listen(server, bench->transport, NULL, &port))
		errx(1, "the server: %s", rpcrdma_engine_error(bench->engine));
	if (write(to, &port, sizeof(port)) != sizeof(port))
		err(1, "the port");
	for (;;)
		bench_turn(bench);
}

/* ---- The client ---- */

static void call_begin(struct bench *bench);

/* Counts the answer, and begins the next call. */
static void
call_done(void *ctx, struct rpcrdma_call *call, int error)
{
	struct bench *bench = ctx;

	(void)call;
	if (error < 0 || (!bench->null && bench->received.length != bench->sent.length))
		errx(1, "a call: %s", rpcrdma_client_error(bench->client));
	if (bench->depth == 1 && bench->done < SAMPLES_MAX)
		samples[bench->done] = now() - bench->began;
	bench->done++;
	bench->under_way--;
	call_begin(bench);
}

/* Begins a call, unless the time is over. With several calls at a time it reads no clock: call_for() ends
 * those. */
static void
call_begin(struct bench *bench)
{
	const struct rpcrdma_call_config config = {
		.size = sizeof(config),
		.program = bench->null ? &program_null : &ECHO_V1_program,
		.procedure = bench->null ? 0 : ECHO_ECHO,
		.args = &bench->sent,
		.result = &bench->received,
		.reply_max = bench->sent.length + 8,
		.done = call_done,
		.ctx = bench,
	};

	if (bench->depth == 1)
		bench->began = now();
	if (bench->until == 0 || (bench->depth == 1 && bench->began >= bench->until))
		return;
	bench->under_way++;
	if (rpcrdma_client_call(bench->client, &config, NULL))
		errx(1, "%s", rpcrdma_client_error(bench->client));
}

/* Makes calls for that time. Returns the time that they took. */
static uint64_t
call_for(struct bench *bench, uint64_t time)
{
	uint64_t start = now();

	bench->done = 0;
	bench->until = start + time;
	for (uint32_t i = 0; i < bench->depth; i++)
		call_begin(bench);
	while (bench->under_way > 0) {
		bench_turn(bench);
		if (bench->depth > 1 && bench->until > 0 && now() >= bench->until)
			bench->until = 0;
	}
	return now() - start;
}

static void
bench_calls(struct bench *bench, uint16_t port)
{
	struct rpcrdma_client_config config = {
		.size = sizeof(config), .transport = bench->transport, .auth_none = true, .port = port
	};
	uint64_t took;

	bench_engine(bench);
	if (rpcrdma_client_connect(bench->engine, &config, &bench->client))
		errx(1, "the client: %s", rpcrdma_engine_error(bench->engine));
	call_for(bench, 50000000);
	took = call_for(bench, (uint64_t)(SECONDS * 1e9));
	report(bench->done, took, bench->depth == 1);
}

/* ---- send(2) and recv(2) alone ---- */

/* Sends or receives that many octets; ends the process when the peer has closed the connection. */
static void
plain_move(int fd, bool sends, size_t size, bool waits)
{
	while (size > 0) {
		ssize_t n =
			sends ? send(fd, octets, size, 0) : recv(fd, octets, size, waits ? 0 : MSG_DONTWAIT);

		if (n == 0)
			exit(0);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			err(1, "the connection");
		size -= n > 0 ? (size_t)n : 0;
	}
}

static int
plain_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)))
		err(1, "a socket");
	return fd;
}

static void
plain_serve(int listener, size_t call, size_t reply, bool waits)
{
	int fd = accept(listener, NULL, NULL), on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	for (;;) {
		plain_move(fd, false, call, waits);
		plain_move(fd, true, reply, waits);
	}
}

static void
plain_call(int fd, size_t call, size_t reply, bool waits)
{
	uint64_t start = now(), count = 0, before = start, until = start + (uint64_t)(SECONDS * 1e9);

	for (; before < until && count < SAMPLES_MAX; count++) {
		uint64_t after;

		plain_move(fd, true, call, waits);
		plain_move(fd, false, reply, waits);
		after = now();
		samples[count] = after - before;
		before = after;
	}
	report(count, before - start, true);
}

static void
plain(size_t call, size_t reply, bool waits)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int listener = plain_socket(), fd = plain_socket();

	if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1) ||
		getsockname(listener, (struct sockaddr *)&address, &size))
		err(1, "a port");
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pin(false);
		/* Else the connection would not end with the client, and this process would serve for ever.
		 */
		close(fd);
		plain_serve(listener, call, reply, waits);
	}
	pin(true);
	if (connect(fd, (struct sockaddr *)&address, size))
		err(1, "connect");
	plain_call(fd, call, reply, waits);
}

/* ---- The run ---- */

static void
bench_run(struct bench *bench)
{
	int ends[2];
	uint16_t port;
	pid_t server;

	if (pipe(ends))
		err(1, "pipe");
	server = fork();
	if (server == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pin(false);
		serve(bench, ends[1]);
	}
	pin(true);
	close(ends[1]);
	if (read(ends[0], &port, sizeof(port)) != sizeof(port))
		errx(1, "there is no server");
	bench_calls(bench, port);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
}

int
main(int argc, char **argv)
{
	struct bench bench = { .depth = 1 };

	if (argc != 5)
		errx(2, "usage: calls tcp|iwarp null|OCTETS DEPTH spin|block, or calls plain CALL "
			"REPLY spin|block");
	bench.waits = strcmp(argv[4], "spin") != 0;
	if (strcmp(argv[1], "plain") == 0) {
		plain((size_t)atoi(argv[2]), (size_t)atoi(argv[3]), bench.waits);
		return 0;
	}
	bench.transport = strcmp(argv[1], "tcp") == 0 ? RPCRDMA_TRANSPORT_TCP : RPCRDMA_TRANSPORT_IWARP;
	bench.null = strcmp(argv[2], "null") == 0;
	bench.sent = (echo_data){ octets, bench.null ? 0 : (uint32_t)atoi(argv[2]) };
	bench.depth = (uint32_t)atoi(argv[3]);
	if (bench.sent.length > OCTETS_MAX || bench.depth == 0 || bench.depth > 256)
		errx(2, "at most %d octets, and 1 to 256 calls at a time", OCTETS_MAX);
	bench_run(&bench);
	return 0;
}
