/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers programs in the rpcbind of this machine (RFC 1833, section 2), under the netids of RFC 5665.
 * rpcb_set() of libtirpc cannot do this: it makes universal addresses only for its own netids. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/address.h"
#include "tirpc/tirpc.h"

#define REGISTER_SOCKET "/run/rpcbind.sock"

/* How long rpcbind may take; the octets of a user's number as text. */
enum { REGISTER_SECONDS = 25, REGISTER_OWNER = 16 };

/* Connects to rpcbind on this machine by its Unix socket, over which rpcbind learns which user calls it.
 * Returns a client; or NULL if rpcbind does not run. */
static CLIENT *
register_open(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = REGISTER_SOCKET };
	struct netbuf at = { .buf = &address, .len = sizeof(address), .maxlen = sizeof(address) };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CLIENT *client = NULL;
	int close_it = 1;

	if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		client = clnt_vc_create(fd, &at, RPCBPROG, RPCBVERS4, 0, 0);
	if (client)
		(void)clnt_control(client, CLSET_FD_CLOSE, (char *)&close_it);
	else if (fd >= 0)
		close(fd);
	return client;
}

/* Writes the universal address of the server to text. RFC 5665, 5.2.3.3 and 5.2.3.4: the address as text,
 * then the two octets of the port in decimal, each with a dot in front. */
static void
register_address(const struct rr_tirpc_server *server, char *text, size_t size)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)&server->at;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&server->at;
	u_short port = server->handle.xp_port;
	char host[INET6_ADDRSTRLEN] = "";

	if (server->at.ss_family == AF_INET)
		inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
	else
		inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
	snprintf(text, size, "%s.%u.%u", host, port >> 8, port & UINT8_MAX);
}

/* Calls the procedure SET or UNSET of rpcbind for this version of the program at the server's address.
 * Returns TRUE if rpcbind did what was asked. */
static bool_t
register_call(const struct rr_tirpc_server *server, rpcproc_t procedure, rpcprog_t prog, rpcvers_t vers)
{
	char address[INET6_ADDRSTRLEN + sizeof(".255.255")], owner[REGISTER_OWNER];
	rpcb entry = { prog, vers, server->handle.xp_netid, address, owner };
	struct timeval limit = { REGISTER_SECONDS, 0 };
	CLIENT *client = register_open();
	bool_t done = FALSE;

	if (!client)
		return FALSE;
	register_address(server, address, sizeof(address));
	snprintf(owner, sizeof(owner), "%u", (unsigned)geteuid());
	if (clnt_call(client, procedure, (xdrproc_t)xdr_rpcb, &entry, (xdrproc_t)xdr_bool, &done, limit) !=
		RPC_SUCCESS)
		done = FALSE;
	clnt_destroy(client);
	return done;
}

bool_t
rpcrdma_svc_reg(SVCXPRT *transport, rpcprog_t prog, rpcvers_t vers,
	void (*dispatch)(struct svc_req *request, SVCXPRT *transport))
{
	const struct rr_tirpc_server *server = transport->xp_p1;

	/* An entry of another process, perhaps left behind, is replaced, as by the servers that rpcgen
	 * makes. */
	(void)register_call(server, RPCBPROC_UNSET, prog, vers);
	return svc_reg(transport, prog, vers, dispatch, NULL) &&
	       register_call(server, RPCBPROC_SET, prog, vers);
}

void
rpcrdma_svc_unreg(SVCXPRT *transport, rpcprog_t prog, rpcvers_t vers)
{
	(void)register_call(transport->xp_p1, RPCBPROC_UNSET, prog, vers);
	svc_unreg(prog, vers);
}
