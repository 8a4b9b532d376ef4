/* SPDX-License-Identifier: BSD-3-Clause */
/* greet_client PORT NAME: calls greet_server on this machine. Only one function call differs from a client
 * over TCP. */
#include <rpcrdma/tirpc.h>
#include <stdio.h>
#include <stdlib.h>

#include "greet.h"

int
main(int argc, char **argv)
{
	char **answer;
	CLIENT *client;

	if (argc != 3)
		return 2;
	/* If the server is registered with rpcbind, rpcrdma_clnt_create() finds its port, as clnt_create()
	 * does. */
	client = rpcrdma_clnt_create_port("127.0.0.1", (u_short)atoi(argv[1]), GREET, GREET_V1, "rdma");
	if (!client) {
		clnt_pcreateerror("greet_client");
		return 1;
	}
	answer = hello_1(&argv[2], client);
	if (!answer) {
		clnt_perror(client, "greet_client");
		return 1;
	}
	puts(*answer);
	clnt_destroy(client);
	return 0;
}
