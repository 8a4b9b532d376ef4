/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a CLIENT: it is made, connected and destroyed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "tirpc/tirpc.h"

int
rr_tirpc_errno(int error)
{
	switch (-error) {
	case RPCRDMA_ERR_NOMEM: return ENOMEM;
	case RPCRDMA_ERR_REFUSED:
	case RPCRDMA_ERR_REJECTED: return ECONNREFUSED;
	case RPCRDMA_ERR_UNREACHABLE: return EHOSTUNREACH;
	case RPCRDMA_ERR_TIMEDOUT: return ETIMEDOUT;
	case RPCRDMA_ERR_DISCONNECTED: return ECONNRESET;
	case RPCRDMA_ERR_NOTSUP: return EOPNOTSUPP;
	case RPCRDMA_ERR_LIMIT:
	case RPCRDMA_ERR_CHUNK: return EMSGSIZE;
	case RPCRDMA_ERR_PEER:
	case RPCRDMA_ERR_VERS: return EPROTO;
	default: return EIO;
	}
}

/* ---- The connection ---- */

static void
client_connected(void *ctx)
{
	struct rr_tirpc_client *client = ctx;

	client->up = true;
}

/* Is called when the connection has ended: closes the carrier, and stores the error in client->lost. The next
 * call connects again. */
static void
client_closed(void *ctx, int error, const char *text)
{
	struct rr_tirpc_client *client = ctx;

	(void)text;
	rr_carrier_close(client->carrier);
	client->carrier = NULL;
	client->up = false;
	client->lost = error < 0 ? error : -RPCRDMA_ERR_DISCONNECTED;
}

static const struct rr_carrier_events client_events = { .connected = client_connected,
	.closed = client_closed };

void
rr_tirpc_turn(struct rr_tirpc_client *client, uint64_t deadline)
{
	uint64_t now = rr_now(client->engine->env);

	/* An error here comes from the epoll descriptor; the deadline ends the wait in any case. */
	(void)rpcrdma_engine_turn(client->engine, now < deadline ? (int64_t)(deadline - now) : 0);
}

int
rr_tirpc_connect(struct rr_tirpc_client *client, uint64_t deadline)
{
	const struct rr_carrier_place to = {
		.transport = client->transport,
		.address = (const struct sockaddr *)&client->address,
		.size = rr_address_size(&client->address),
	};
	struct rr_text text;
	int error;

	if (client->carrier && client->up)
		return 0;
	error = rr_carrier_connect(client->engine, &to, &client_events, client, &client->carrier, &text);
	if (error < 0) {
		client->carrier = NULL;
		return error;
	}
	client->up = false;
	while (client->carrier && !client->up && rr_now(client->engine->env) < deadline &&
		!atomic_load(&client->aborted))
		rr_tirpc_turn(client, deadline);
	if (client->up)
		return 0;
	if (!client->carrier)
		return client->lost;
	rr_carrier_close(client->carrier);
	client->carrier = NULL;
	return atomic_load(&client->aborted) ? -RPCRDMA_ERR_CANCELLED : -RPCRDMA_ERR_TIMEDOUT;
}

/* ---- Operations ---- */

/* clnt_abort(): ends the call that another thread is making. Sets the flag that the other thread looks at,
 * and wakes the engine in which the other thread waits. */
static void
client_abort(CLIENT *handle)
{
	struct rr_tirpc_client *client = handle->cl_private;

	atomic_store(&client->aborted, true);
	rpcrdma_engine_wake(client->engine);
}

/* clnt_geterr(): returns the error of the last call. */
static void
client_geterr(CLIENT *handle, struct rpc_err *error)
{
	struct rr_tirpc_client *client = handle->cl_private;

	pthread_mutex_lock(&client->lock);
	*error = client->error;
	pthread_mutex_unlock(&client->lock);
}

/* clnt_freeres(): frees the memory that a decoded result points to, by the result's XDR routine. Returns what
 * the routine returns. */
static bool_t
client_freeres(CLIENT *handle, xdrproc_t xresult, void *result)
{
	XDR xdrs = { .x_op = XDR_FREE };

	(void)handle;
	return (*xresult)(&xdrs, result);
}

/* clnt_destroy(): closes the connection, and frees the client. No other thread may use the client any
 * more. */
static void
client_destroy(CLIENT *handle)
{
	struct rr_tirpc_client *client = handle->cl_private;

	if (client->carrier)
		rr_carrier_close(client->carrier);
	rpcrdma_engine_free(client->engine);
	pthread_mutex_destroy(&client->lock);
	free(handle->cl_netid);
	free(client->buffer);
	free(client);
}

/* The operations of a CLIENT. The type of TI-RPC's pointer to them is not const. */
static struct clnt_ops client_ops = {
	.cl_call = rr_tirpc_call,
	.cl_abort = client_abort,
	.cl_geterr = client_geterr,
	.cl_freeres = client_freeres,
	.cl_destroy = client_destroy,
	.cl_control = rr_tirpc_control,
};

/* ---- Creation ---- */

/* Called when no client can be made: stores the reason in rpc_createerr, where clnt_pcreateerror() finds it.
 * Returns NULL. */
static CLIENT *
client_fail(enum clnt_stat status, int number)
{
	rpc_createerr.cf_stat = status;
	rpc_createerr.cf_error.re_status = status;
	rpc_createerr.cf_error.re_errno = number;
	return NULL;
}

/* Makes a CLIENT that has an engine of its own and no connection yet. Returns NULL if there is no memory, or
 * the engine cannot be made. */
static struct rr_tirpc_client *
client_new(rpcprog_t prog, rpcvers_t vers, const char *netid)
{
	struct rr_tirpc_client *client = calloc(1, sizeof(*client));
	bool tcp = strncmp(netid, "tcp", 3) == 0;

	if (!client)
		return NULL;
	client->handle = (CLIENT){ .cl_ops = &client_ops, .cl_private = client, .cl_netid = strdup(netid) };
	client->transport = tcp ? RR_TRANSPORT_TCP : RR_TRANSPORT_AUTO;
	client->prog = (uint32_t)prog;
	client->vers = (uint32_t)vers;
	if (!client->handle.cl_netid || rpcrdma_engine_new(NULL, &client->engine) < 0) {
		free(client->handle.cl_netid);
		free(client);
		return NULL;
	}
	pthread_mutex_init(&client->lock, NULL);
	client->xid = rr_random_u32(client->engine->env);
	client->handle.cl_auth = authnone_create();
	return client;
}

/* Connects to the first of the addresses that accepts the connection. Leaves out addresses that are not of
 * the family (IPv4 or IPv6) of the netid. Returns 0, or the error of the last attempt. */
static int
client_connect_any(struct rr_tirpc_client *client, const struct sockaddr_storage *addresses, int count)
{
	sa_family_t family = strchr(client->handle.cl_netid, '6') ? AF_INET6 : AF_INET;
	uint64_t deadline = rr_now(client->engine->env) + RR_TIRPC_PATIENCE;
	int error = -RPCRDMA_ERR_ADDRESS;

	for (int i = 0; i < count && error < 0; i++) {
		if (addresses[i].ss_family != family)
			continue;
		client->address = addresses[i];
		error = rr_tirpc_connect(client, deadline);
	}
	return error;
}

/* Tells whether netid names a transport of this library: RDMA or TCP, over IPv4 or IPv6. */
static bool
client_knows(const char *netid)
{
	static const char *const known[] = { "rdma", "rdma6", "tcp", "tcp6" };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(netid, known[i]) == 0)
			return true;
	return false;
}

CLIENT *
rpcrdma_clnt_create_port(const char *host, u_short port, rpcprog_t prog, rpcvers_t vers, const char *netid)
{
	struct sockaddr_storage addresses[RR_TIRPC_ADDRESSES];
	struct rr_tirpc_client *client;
	struct rr_text text;
	int count, error;

	netid = netid ? netid : "rdma";
	if (!client_knows(netid))
		return client_fail(RPC_UNKNOWNPROTO, 0);
	count = host ? rr_address_resolve(host, port, addresses, RR_TIRPC_ADDRESSES, &text) : -1;
	if (count < 0)
		return client_fail(RPC_UNKNOWNHOST, 0);
	client = client_new(prog, vers, netid);
	if (!client)
		return client_fail(RPC_SYSTEMERROR, ENOMEM);
	error = client_connect_any(client, addresses, count);
	if (error == 0)
		return &client->handle;
	client_destroy(&client->handle);
	if (error == -RPCRDMA_ERR_ADDRESS)
		return client_fail(RPC_UNKNOWNHOST, 0);
	return client_fail(RPC_SYSTEMERROR, rr_tirpc_errno(error));
}

CLIENT *
rpcrdma_clnt_create(const char *host, rpcprog_t prog, rpcvers_t vers, const char *netid)
{
	uint16_t port;

	netid = netid ? netid : "rdma";
	if (!client_knows(netid))
		return client_fail(RPC_UNKNOWNPROTO, 0);
	port = rr_tirpc_lookup(host, prog, vers, netid);
	return port ? rpcrdma_clnt_create_port(host, port, prog, vers, netid) : NULL;
}
