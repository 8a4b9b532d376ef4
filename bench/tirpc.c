/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tirpc rdma|tcp CALLS OCTETS: makes CALLS calls to a server in another process, by an echo of OCTETS octets,
 * by a CLIENT and an SVCXPRT: those of <rpcrdma/tirpc.h> over iWARP, or libtirpc's own over TCP. Prints the
 * calls in a second. The cost of a call is the difference of two runs under `valgrind --tool=callgrind` with
 * different CALLS, divided by the difference of CALLS: see docs/performance.md.
 */
#include <err.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <rpcrdma/tirpc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROGRAM = 0x20049999, VERSION = 1, ECHO = 1, OCTETS_MAX = 65536 };

struct octets {
	char *data;
	u_int length;
};

static bool_t
put_octets(XDR *xdrs, ...)
{
	struct octets *octets;
	va_list arguments;

	va_start(arguments, xdrs);
	octets = va_arg(arguments, struct octets *);
	va_end(arguments);
	return xdr_bytes(xdrs, &octets->data, &octets->length, OCTETS_MAX);
}

static void
echo(struct svc_req *request, SVCXPRT *transport)
{
	char memory[OCTETS_MAX];
	struct octets octets = { memory, 0 };

	if (request->rq_proc != ECHO)
		svcerr_noproc(transport);
	else if (!svc_getargs(transport, put_octets, &octets))
		svcerr_decode(transport);
	else
		svc_sendreply(transport, put_octets, (char *)&octets);
}

/* ---- The transports of libtirpc itself ---- */

static struct sockaddr_in tcp_address = { .sin_family = AF_INET };

static int
tcp_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)))
		err(1, "a socket");
	return fd;
}

static SVCXPRT *
tcp_server(void)
{
	socklen_t size = sizeof(tcp_address);
	int fd = tcp_socket();

	tcp_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (struct sockaddr *)&tcp_address, size) || listen(fd, 1) ||
		getsockname(fd, (struct sockaddr *)&tcp_address, &size))
		err(1, "a port");
	return svc_vc_create(fd, 0, 0);
}

static CLIENT *
tcp_client(void)
{
	struct netbuf to = { sizeof(tcp_address), sizeof(tcp_address), &tcp_address };
	int fd = tcp_socket();

	if (connect(fd, (struct sockaddr *)&tcp_address, sizeof(tcp_address)))
		err(1, "connect");
	return clnt_vc_create(fd, &to, PROGRAM, VERSION, 0, 0);
}

/* ---- The run ---- */

static void
make_calls(CLIENT *client, long calls, u_int length)
{
	static char sent[OCTETS_MAX], received[OCTETS_MAX];
	struct timeval patience = { 60, 0 };

	for (; calls > 0; calls--) {
		struct octets out = { sent, length }, in = { received, 0 };

		if (clnt_call(client, ECHO, put_octets, (char *)&out, put_octets, (char *)&in, patience) !=
				RPC_SUCCESS ||
			in.length != out.length)
			errx(1, "%s", clnt_sperror(client, "echo"));
	}
}

static double
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int
main(int argc, char **argv)
{
	bool tcp = argc == 4 && strcmp(argv[1], "tcp") == 0;
	SVCXPRT *transport = tcp ? tcp_server() : rpcrdma_svc_create("127.0.0.1", 0);
	CLIENT *client;
	double start;
	pid_t server;

	if (argc != 4 || !transport || !svc_reg(transport, PROGRAM, VERSION, echo, NULL))
		errx(1, "usage: tirpc rdma|tcp CALLS OCTETS, or no transport");
	server = fork();
	if (server == 0)
		svc_run();
	client = tcp ? tcp_client()
		     : rpcrdma_clnt_create_port("127.0.0.1", transport->xp_port, PROGRAM, VERSION, "rdma");
	if (!client)
		errx(1, "%s", clnt_spcreateerror("client"));
	start = now();
	make_calls(client, atol(argv[2]), (u_int)atoi(argv[3]));
	printf("%.0f\n", (double)atol(argv[2]) / (now() - start));
	kill(server, SIGTERM);
	waitpid(server, NULL, 0);
	return 0;
}
