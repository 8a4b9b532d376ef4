/* SPDX-License-Identifier: BSD-3-Clause */
/* An SVCXPRT: a listener and all of its connections, as a datagram socket is one transport for all its
 * callers. Its descriptor is an epoll descriptor over the engine's descriptor and a timer, as svc_run()
 * waits for descriptors only: it is readable when the engine has something to do. The server owns its
 * connections; a connection ends with closed(), or when the transport is destroyed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/address.h"
#include "tirpc/tirpc.h"

struct server_connection {
	struct rr_list link;
	struct rr_tirpc_server *server;
	struct rr_carrier *carrier;
};

/* ---- Connections ---- */

/* Closes a connection and frees it. Its calls that wait to be dispatched stay in the server's list;
 * server_begin() drops them, as their carrier is NULL then. */
static void
server_end_connection(struct server_connection *connection)
{
	rr_carrier_close(connection->carrier);
	rr_list_remove(&connection->link);
	free(connection);
}

static void
server_closed(void *ctx, int error, const char *text)
{
	(void)error;
	(void)text;
	server_end_connection(ctx);
}

/* Is called when a call has arrived: appends the call to the list of calls that wait to be dispatched. */
static void
server_called(void *ctx, struct rr_exchange *exchange)
{
	struct rr_tirpc_server *server = ((struct server_connection *)ctx)->server;

	exchange->ctx = NULL;
	if (server->first)
		server->last->ctx = exchange;
	else
		server->first = exchange;
	server->last = exchange;
}

static const struct rr_carrier_events server_events = { .closed = server_closed, .call = server_called };

/* Is called with each accepted connection: adds the connection to the server's list, and begins to receive
 * its calls. If there is no memory for that, closes the connection. */
static void
server_arrived(void *ctx, struct rr_carrier *carrier)
{
	struct rr_tirpc_server *server = ctx;
	struct server_connection *connection = calloc(1, sizeof(*connection));

	if (!connection) {
		rr_carrier_close(carrier);
		return;
	}
	connection->server = server;
	connection->carrier = carrier;
	rr_list_append(&server->connections, &connection->link);
	rr_carrier_attach(carrier, &server_events, connection);
}

/* ---- The end ---- */

/* Ends the call that is being dispatched and all calls that wait, without answers. */
static void
server_drop_calls(struct rr_tirpc_server *server)
{
	rr_tirpc_end_call(server);
	while (server->first) {
		struct rr_exchange *exchange = server->first;

		server->first = exchange->ctx;
		rr_exchange_drop(exchange);
	}
}

/* Closes the listener, all connections and the descriptors, and frees the server. */
static void
server_free(struct rr_tirpc_server *server)
{
	if (server->acceptor)
		rr_acceptor_close(server->acceptor);
	while (!rr_list_empty(&server->connections))
		server_end_connection(rr_container(server->connections.next, struct server_connection, link));
	server_drop_calls(server);
	rpcrdma_engine_free(server->engine);
	if (server->timer >= 0)
		close(server->timer);
	if (server->handle.xp_fd >= 0)
		close(server->handle.xp_fd);
	free(server->handle.xp_netid);
	free(server);
}

void
rr_tirpc_destroy_server(SVCXPRT *handle)
{
	xprt_unregister(handle);
	server_free(handle->xp_p1);
}

/* ---- The beginning ---- */

/* Makes a server without an engine. svc_run() will poll xp_fd of the server's handle, an epoll descriptor.
 * Returns NULL if there is no memory. */
static struct rr_tirpc_server *
server_new(void)
{
	struct rr_tirpc_server *server = calloc(1, sizeof(*server));

	if (!server)
		return NULL;
	rr_list_init(&server->connections);
	server->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	server->handle = (SVCXPRT){
		.xp_fd = epoll_create1(EPOLL_CLOEXEC),
		.xp_ops = &rr_tirpc_server_ops,
		.xp_ops2 = &rr_tirpc_server_ops2,
		.xp_ltaddr = { .buf = &server->at },
		.xp_rtaddr = { .buf = &server->caller },
		.xp_p1 = server,
		.xp_p3 = &server->ext,
	};
	return server;
}

/* Makes the server's engine, and has xp_fd, the descriptor of the server's handle, become readable for events
 * of the engine and of the timer. Returns 0, or -RPCRDMA_ERR_SYSTEM. */
static int
server_watch(struct rr_tirpc_server *server)
{
	struct epoll_event readable = { .events = EPOLLIN };

	if (server->timer < 0 || server->handle.xp_fd < 0 || rpcrdma_engine_new(NULL, &server->engine) < 0)
		return -RPCRDMA_ERR_SYSTEM;
	if (epoll_ctl(server->handle.xp_fd, EPOLL_CTL_ADD, server->timer, &readable) < 0 ||
		epoll_ctl(server->handle.xp_fd, EPOLL_CTL_ADD, rpcrdma_engine_fd(server->engine), &readable) <
			0)
		return -RPCRDMA_ERR_SYSTEM;
	return 0;
}

/* Sets the address, the port and the netid of the server's handle by the address at which the server listens.
 * RFC 5665, section 5.1: the netid "rdma" stands for IPv4, "rdma6" for IPv6. Returns false if there is no
 * memory. */
static bool
server_name(struct rr_tirpc_server *server)
{
	bool six = server->at.ss_family == AF_INET6;

	server->handle.xp_ltaddr.len = server->handle.xp_ltaddr.maxlen = rr_address_size(&server->at);
	server->handle.xp_port = rr_address_port((const struct sockaddr *)&server->at);
	server->handle.xp_netid = strdup(six ? "rdma6" : "rdma");
	return server->handle.xp_netid != NULL;
}

/* Makes the server's engine, listens at the server's address, and sets the address, port and netid of the
 * handle. Returns 0 or an error. */
static int
server_listen(struct rr_tirpc_server *server)
{
	const struct rr_carrier_place place = { RR_TRANSPORT_AUTO, (const struct sockaddr *)&server->at,
		rr_address_size(&server->at) };
	struct sockaddr_storage chosen;
	struct rr_text text;
	int error = server_watch(server);

	if (error == 0)
		error = rr_carrier_listen(
			server->engine, &place, server_arrived, server, &server->acceptor, &text);
	if (error < 0)
		return error;
	error = rr_acceptor_address(server->acceptor, &chosen);
	if (error < 0)
		return error;
	rr_address_set_port(
		(struct sockaddr *)&server->at, rr_address_port((const struct sockaddr *)&chosen));
	return server_name(server) ? 0 : -RPCRDMA_ERR_NOMEM;
}

/* Called when no server can be made: stores the reason in rpc_createerr, where clnt_pcreateerror() finds it.
 * Returns NULL. */
static SVCXPRT *
server_fail(enum clnt_stat status, int number)
{
	rpc_createerr.cf_stat = status;
	rpc_createerr.cf_error.re_status = status;
	rpc_createerr.cf_error.re_errno = number;
	return NULL;
}

SVCXPRT *
rpcrdma_svc_create(const char *host, u_short port)
{
	struct rr_tirpc_server *server = server_new();
	struct rr_text text;
	int number;

	if (!server)
		return server_fail(RPC_SYSTEMERROR, ENOMEM);
	if (rr_address_resolve(host ? host : "0.0.0.0", port, &server->at, 1, &text) < 0) {
		server_free(server);
		return server_fail(RPC_UNKNOWNADDR, 0);
	}
	errno = 0;
	if (server_listen(server) < 0) {
		number = errno ? errno : EIO;
		server_free(server);
		return server_fail(RPC_SYSTEMERROR, number);
	}
	xprt_register(&server->handle);
	return &server->handle;
}
