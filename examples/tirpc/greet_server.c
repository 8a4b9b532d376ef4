/* SPDX-License-Identifier: BSD-3-Clause */
/* greet_server: serves the program that rpcgen has made of greet.x, over RDMA; prints its port. Only one
 * function call differs from a server over TCP. */
#include <rpcrdma/tirpc.h>
#include <stdio.h>
#include <stdlib.h>

#include "greet.h"

extern void greet_1(struct svc_req *request, SVCXPRT *transport);

char **
hello_1_svc(char **name, struct svc_req *request)
{
	static char text[300], *result = text;

	(void)request;
	snprintf(text, sizeof(text), "hello, %.200s", *name);
	return &result;
}

int
main(void)
{
	SVCXPRT *transport =
		rpcrdma_svc_create("127.0.0.1", 0); /* over TCP: svctcp_create(RPC_ANYSOCK, 0, 0) */

	if (!transport || !svc_register(transport, GREET, GREET_V1, greet_1, 0)) {
		fprintf(stderr, "%s\n", clnt_spcreateerror("greet_server"));
		return 1;
	}
	printf("%u\n", transport->xp_port);
	fflush(stdout);
	svc_run();
	return 1;
}
