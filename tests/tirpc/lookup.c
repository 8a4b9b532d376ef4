/* SPDX-License-Identifier: BSD-3-Clause */
/* lookup: a program registers itself in the rpcbind of this machine under rdma, and is found there. Writes
 * the Test Anything Protocol. */
#include "served.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mount.h"

extern void mountprog_1(struct svc_req *request, SVCXPRT *transport);

/* libtirpc 1.3 loses 16 octets in each rpcb_getmaps(). LeakSanitizer calls this function for the leaks
 * that it must leave out. */
const char *__lsan_default_suppressions(void);

const char *
__lsan_default_suppressions(void)
{
	return "leak:libtirpc.so";
}

static int
report(int number, bool good, const char *what)
{
	printf("%s %d - %s\n", good ? "ok" : "not ok", number, what);
	if (!good)
		printf("# %s", clnt_spcreateerror("rpc_createerr"));
	return !good;
}

/* Returns whether rpcbind knows the program, and the program answers a call. */
static bool
answers(void)
{
	CLIENT *client = rpcrdma_clnt_create("127.0.0.1", MOUNTPROG, MOUNTVERS, "rdma");
	struct timeval timeout = { 60, 0 };
	bool good;

	if (!client)
		return false;
	good = clnt_call(client, 0, (xdrproc_t)xdr_void, NULL, (xdrproc_t)xdr_void, NULL, timeout) ==
	       RPC_SUCCESS;
	auth_destroy(client->cl_auth);
	clnt_destroy(client);
	return good;
}

int
main(void)
{
	SVCXPRT *transport = rpcrdma_svc_create(NULL, 0);
	int failed = 0;
	pid_t server;

	setvbuf(stdout, NULL, _IONBF, 0);
	puts("1..4");
	failed += report(1, !answers() && rpc_createerr.cf_stat == RPC_PROGNOTREGISTERED,
		"a program that is not registered is not found");
	failed += report(2, rpcrdma_svc_reg(transport, MOUNTPROG, MOUNTVERS, mountprog_1),
		"the program registers under the transport's netid");
	server = fork();
	if (server == 0)
		svc_run();
	failed += report(3, answers(), "the program is found and called");
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	rpcrdma_svc_unreg(transport, MOUNTPROG, MOUNTVERS);
	failed += report(
		4, !answers() && rpc_createerr.cf_stat == RPC_PROGNOTREGISTERED, "it is not found any more");
	svc_destroy(transport);
	return failed > 0;
}
