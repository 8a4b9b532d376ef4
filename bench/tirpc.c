/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tirpc CALLS OCTETS: calls a server in a process of its own so many times, with an echo of so many octets,
 * by a CLIENT and an SVCXPRT of <rpcrdma/tirpc.h>, over iWARP. What a call costs is the difference of two
 * runs under `valgrind --tool=callgrind` that differ in CALLS, divided by that: see docs/performance.md.
 */
#include <err.h>
#include <rpcrdma/tirpc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
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

int
main(int argc, char **argv)
{
	SVCXPRT *transport = rpcrdma_svc_create("127.0.0.1", 0);
	char sent[OCTETS_MAX] = { 0 }, received[OCTETS_MAX];
	struct timeval patience = { 60, 0 };
	CLIENT *client;
	pid_t server;

	if (argc != 3 || !transport || !svc_register(transport, PROGRAM, VERSION, echo, 0))
		errx(1, "usage: tirpc CALLS OCTETS, or no transport");
	server = fork();
	if (server == 0)
		svc_run();
	client = rpcrdma_clnt_create_port("127.0.0.1", transport->xp_port, PROGRAM, VERSION, "rdma");
	if (!client)
		errx(1, "%s", clnt_spcreateerror("client"));
	for (long calls = atol(argv[1]); calls > 0; calls--) {
		struct octets out = { sent, (u_int)atoi(argv[2]) }, in = { received, 0 };

		if (clnt_call(client, ECHO, put_octets, (char *)&out, put_octets, (char *)&in, patience) !=
				RPC_SUCCESS ||
			in.length != out.length)
			errx(1, "%s", clnt_sperror(client, "echo"));
	}
	kill(server, SIGTERM);
	waitpid(server, NULL, 0);
	return 0;
}
