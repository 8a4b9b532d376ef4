/* SPDX-License-Identifier: BSD-3-Clause */
/* The listeners of a server, and the connections that were accepted. The server owns both until they are
 * closed. */
#include "base/address.h"
#include "base/peer_log.h"
#include "carrier/carrier.h"
#include "rpc/server_private.h"

struct listen_listener {
	struct rr_list link;
	struct rr_acceptor *acceptor;
};

/* An accepted connection. */
struct listen_connection {
	struct rr_list link;
	struct rpcrdma_server *server;
	struct rr_carrier *carrier;
	struct rr_line line;     /* of its calls */
	struct rr_list clients;  /* struct rr_server_back: the clients that call in the reverse direction */
	uint32_t xid;            /* the next XID of these clients */
	struct rr_list attached; /* struct rr_attachment */
};

/* Tells a client that calls over the connection that the connection has ended. The client takes itself out of
 * the connection's list. */
static void
listen_end_back(struct rr_server_back *back, int error, const char *text)
{
	back->lose(back, error, text);
}

/* Closes a connection and frees it. Calls ended() of the data that was attached to it and lose() of the
 * clients that call back over it, ends its calls, and adds its counters to those of the server. */
static void
listen_end_connection(struct listen_connection *connection, int error, const char *text)
{
	struct rpcrdma_server *server = connection->server;
	struct rr_list *link;

	while ((link = rr_list_pop(&connection->attached))) {
		struct rr_attachment *attachment = rr_container(link, struct rr_attachment, link);

		attachment->ended(attachment);
	}
	while (!rr_list_empty(&connection->clients))
		listen_end_back(
			rr_container(connection->clients.next, struct rr_server_back, link), error, text);
	rr_line_end(&connection->line);
	rr_counters_add(&server->past, &connection->carrier->counters);
	rr_carrier_close(connection->carrier);
	/* Only now the requests that were kept show that their connection has ended (exchange->carrier). */
	rr_server_connection_lost(server);
	rr_list_remove(&connection->link);
	server->connection_count--;
	rr_free(server->engine->env, connection);
}

static void
listen_closed(void *ctx, int error, const char *text)
{
	struct listen_connection *connection = ctx;

	rr_log(connection->server->engine->env, RR_LOG_INFO, "%s", text);
	listen_end_connection(connection, error, text);
}

static void
listen_called(void *ctx, struct rr_exchange *exchange)
{
	struct listen_connection *connection = ctx;

	rr_line_take(&connection->line, exchange);
}

static const struct rr_carrier_events events = { .closed = listen_closed, .call = listen_called };

/* Allocates what the server keeps for the carrier's connection, and prepares the line in which the
 * connection's calls wait. Returns NULL if there is no memory. */
static struct listen_connection *
listen_new_connection(struct rpcrdma_server *server, struct rr_carrier *carrier)
{
	struct listen_connection *connection = rr_alloc(server->engine->env, sizeof(*connection));

	if (!connection)
		return NULL;
	rr_line_init(&connection->line, server, &carrier->party->payer);
	return connection;
}

/* Is called by the acceptor with each accepted connection: makes what the server keeps for the connection,
 * and sets the carrier's callbacks. Without memory, the carrier is closed. */
static void
listen_arrived(void *ctx, struct rr_carrier *carrier)
{
	struct rpcrdma_server *server = ctx;
	struct listen_connection *connection = listen_new_connection(server, carrier);

	if (!connection) {
		rr_log_peer(rr_loop_peer_log(server->engine->loop), carrier->peer,
			"%s: no memory for a connection", carrier->peer);
		rr_carrier_close(carrier);
		return;
	}
	connection->server = server;
	connection->carrier = carrier;
	/* The XID and the clients are for calls to the peer, in the reverse direction. */
	connection->xid = rr_random_u32(server->engine->env);
	rr_list_init(&connection->clients);
	rr_list_init(&connection->attached);
	rr_list_append(&server->connections, &connection->link);
	server->connection_count++;
	rr_carrier_attach(carrier, &events, connection);
}

int
rr_server_way_back(
	const struct rpcrdma_request *request, struct rr_server_way_back *way, struct rr_text *text)
{
	struct rr_carrier *carrier = request->exchange->carrier;
	struct listen_connection *connection;

	if (!carrier)
		return rr_fail(
			text, -RPCRDMA_ERR_DISCONNECTED, "%s: the connection has ended", request->peer);
	if (carrier->events != &events)
		return rr_fail(text, -RPCRDMA_ERR_NOTSUP,
			"%s: this call came from a server; call it over the client's own connection",
			request->peer);
	connection = carrier->ctx;
	*way = (struct rr_server_way_back){ carrier, &connection->xid, &connection->clients };
	return 0;
}

/* Returns the server's connection by which the request came. Returns NULL if the connection has ended, or if
 * the server did not accept it (the request came in the reverse direction). */
static struct listen_connection *
listen_connection(const struct rpcrdma_request *request)
{
	const struct rr_carrier *carrier = request->exchange->carrier;

	return carrier && carrier->events == &events ? carrier->ctx : NULL;
}

struct rr_attachment *
rr_request_attached(const struct rpcrdma_request *request, const void *key)
{
	struct listen_connection *connection = listen_connection(request);

	if (!connection)
		return NULL;
	rr_list_for_each (link, &connection->attached) {
		struct rr_attachment *attachment = rr_container(link, struct rr_attachment, link);

		if (attachment->key == key)
			return attachment;
	}
	return NULL;
}

bool
rr_request_attach(const struct rpcrdma_request *request, struct rr_attachment *attachment)
{
	struct listen_connection *connection = listen_connection(request);

	if (connection)
		rr_list_append(&connection->attached, &attachment->link);
	return connection != NULL;
}

static void
listen_end_listener(struct rpcrdma_server *server, struct listen_listener *listener)
{
	rr_acceptor_close(listener->acceptor);
	rr_list_remove(&listener->link);
	rr_free(server->engine->env, listener);
}

static void
listen_unlisten(struct rpcrdma_server *server)
{
	while (!rr_list_empty(&server->listeners))
		listen_end_listener(
			server, rr_container(server->listeners.next, struct listen_listener, link));
}

int
rr_server_listen(struct rpcrdma_server *server, enum rr_transport transport, struct sockaddr *address,
	socklen_t size, const char **providers, struct rr_text *text)
{
	const struct rr_carrier_place at = { transport, address, size };
	struct listen_listener *listener = rr_alloc(server->engine->env, sizeof(*listener));
	struct sockaddr_storage chosen;
	int error;

	if (!listener)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for a listener");
	error = rr_carrier_listen(server->engine, &at, listen_arrived, server, &listener->acceptor, text);
	if (error) {
		rr_free(server->engine->env, listener);
		return error;
	}
	rr_list_append(&server->listeners, &listener->link);
	error = rr_acceptor_address(listener->acceptor, &chosen);
	if (error) {
		listen_end_listener(server, listener);
		return rr_fail(text, error, "the system does not say at which address it listens");
	}
	rr_address_set_port(address, rr_address_port((const struct sockaddr *)&chosen));
	if (providers)
		*providers = rr_acceptor_providers(listener->acceptor);
	return 0;
}

void
rr_server_shutdown(struct rpcrdma_server *server)
{
	server->shut = true;
	listen_unlisten(server);
	rr_list_for_each (link, &server->connections)
		rr_carrier_shutdown(rr_container(link, struct listen_connection, link)->carrier);
}

void
rr_server_close_all(struct rpcrdma_server *server)
{
	listen_unlisten(server);
	while (!rr_list_empty(&server->connections))
		listen_end_connection(rr_container(server->connections.next, struct listen_connection, link),
			-RPCRDMA_ERR_DISCONNECTED, "the server closed the connection");
}

void
rr_server_counters(const struct rpcrdma_server *server, struct rpcrdma_counters *counters)
{
	*counters = server->past;
	counters->size = sizeof(*counters);
	for (struct rr_list *link = server->connections.next; link != &server->connections; link = link->next)
		rr_counters_add(
			counters, &rr_container(link, struct listen_connection, link)->carrier->counters);
}

void
rr_server_each_connection(const struct rpcrdma_server *server,
	void (*visit)(void *ctx, const struct rr_carrier *carrier), void *ctx)
{
	for (struct rr_list *link = server->connections.next; link != &server->connections; link = link->next)
		visit(ctx, rr_container(link, struct listen_connection, link)->carrier);
}
