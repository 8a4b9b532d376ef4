/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a server listens, and the connections that came. It owns both until they are closed. */
#include "base/peer_log.h"
#include "carrier/rdma/rdma.h"
#include "carrier/tcp/tcp.h"
#include "fabric/address.h"
#include "rpc/client_private.h"
#include "rpc/server_private.h"

/* One of the two acceptors. */
struct listener {
	struct rr_list link;
	struct rr_acceptor *rdma;
	struct rr_tcp_acceptor *tcp;
};

struct connection {
	struct rr_list link;
	struct rr_server *server;
	struct rr_carrier *carrier;
	struct rr_line line;    /* its calls */
	struct rr_list clients; /* those who call in the reverse direction */
	uint32_t xid;           /* the next of theirs */
};

static void
end_connection(struct connection *connection, int error, const char *text)
{
	struct rr_server *server = connection->server;

	while (!rr_list_empty(&connection->clients))
		rr_client_lose(rr_container(connection->clients.next, struct rr_client, back), error, text);
	rr_line_end(&connection->line);
	rr_counters_add(&server->past, &connection->carrier->counters);
	rr_carrier_close(connection->carrier);
	rr_server_connection_lost(server);
	rr_list_remove(&connection->link);
	server->connection_count--;
	rr_free(server->engine->env, connection);
}

static void
closed(void *ctx, int error, const char *text)
{
	struct connection *connection = ctx;

	rr_log(connection->server->engine->env, RR_LOG_INFO, "%s", text);
	end_connection(connection, error, text);
}

static void
called(void *ctx, struct rr_exchange *exchange)
{
	struct connection *connection = ctx;

	rr_line_take(&connection->line, exchange);
}

static const struct rr_carrier_events events = { .closed = closed, .call = called };

static void
arrived(void *ctx, struct rr_carrier *carrier)
{
	struct rr_server *server = ctx;
	struct connection *connection = rr_alloc(server->engine->env, sizeof(*connection));

	if (!connection) {
		rr_log_peer(rr_loop_peer_log(server->engine->loop), carrier->peer,
			"%s: no memory for a connection", carrier->peer);
		rr_carrier_close(carrier);
		return;
	}
	connection->server = server;
	connection->carrier = carrier;
	connection->xid = rr_random_u32(server->engine->env);
	rr_list_init(&connection->clients);
	rr_line_init(&connection->line, server);
	rr_list_append(&server->connections, &connection->link);
	server->connection_count++;
	rr_carrier_listen(carrier, &events, connection);
}

int
rr_request_client(struct rr_request *request, const struct rr_client_config *config,
	struct rr_client **client, struct rr_text *text)
{
	struct rr_carrier *carrier = request->exchange->carrier;
	struct connection *connection;

	if (!carrier)
		return rr_fail(
			text, -RPCRDMA_ERR_DISCONNECTED, "%s: the connection has ended", request->peer);
	if (carrier->events != &events)
		return rr_fail(text, -RPCRDMA_ERR_NOTSUP,
			"%s: this call came from a server; call it over the client's own connection",
			request->peer);
	connection = carrier->ctx;
	return rr_client_new_back(carrier, config, &connection->xid, &connection->clients, client, text);
}

static void
end_listener(struct rr_server *server, struct listener *listener)
{
	if (listener->rdma)
		rr_rdma_unlisten(listener->rdma);
	if (listener->tcp)
		rr_tcp_unlisten(listener->tcp);
	rr_list_remove(&listener->link);
	rr_free(server->engine->env, listener);
}

static void
unlisten(struct rr_server *server)
{
	while (!rr_list_empty(&server->listeners))
		end_listener(server, rr_container(server->listeners.next, struct listener, link));
}

static struct listener *
new_listener(struct rr_server *server, struct rr_text *text)
{
	struct listener *listener = rr_alloc(server->engine->env, sizeof(*listener));

	if (!listener) {
		rr_fail(text, 0, "no memory for a listener");
		return NULL;
	}
	rr_list_append(&server->listeners, &listener->link);
	return listener;
}

static int
finish(struct rr_server *server, struct listener *listener, int error, struct sockaddr *address,
	const struct sockaddr_storage *chosen)
{
	if (error == 0) {
		rr_address_set_port(address, rr_address_port((const struct sockaddr *)chosen));
		return 0;
	}
	end_listener(server, listener);
	return error;
}

int
rr_server_listen_over(struct rr_server *server, enum rr_provider provider, struct sockaddr *address,
	socklen_t size, const char **providers, struct rr_text *text)
{
	struct listener *listener = new_listener(server, text);
	struct sockaddr_storage chosen;
	int error;

	if (!listener)
		return -RPCRDMA_ERR_NOMEM;
	error = rr_rdma_listen_over(
		server->engine, provider, address, size, arrived, server, &listener->rdma, text);
	if (error == 0 && providers)
		*providers = rr_rdma_acceptor_providers(listener->rdma);
	if (error == 0)
		error = rr_rdma_acceptor_address(listener->rdma, &chosen);
	return finish(server, listener, error, address, &chosen);
}

int
rr_server_listen_rdma(
	struct rr_server *server, struct sockaddr *address, socklen_t size, struct rr_text *text)
{
	return rr_server_listen_over(server, RR_PROVIDER_AUTO, address, size, NULL, text);
}

int
rr_server_listen_tcp(struct rr_server *server, struct sockaddr *address, socklen_t size, struct rr_text *text)
{
	struct listener *listener = new_listener(server, text);
	struct sockaddr_storage chosen;
	int error;

	if (!listener)
		return -RPCRDMA_ERR_NOMEM;
	error = rr_tcp_listen(server->engine, address, size, arrived, server, &listener->tcp, text);
	if (error == 0)
		error = rr_tcp_acceptor_address(listener->tcp, &chosen);
	return finish(server, listener, error, address, &chosen);
}

void
rr_server_shutdown(struct rr_server *server)
{
	server->shut = true;
	unlisten(server);
	rr_list_for_each (link, &server->connections)
		rr_carrier_shutdown(rr_container(link, struct connection, link)->carrier);
}

void
rr_server_close_all(struct rr_server *server)
{
	unlisten(server);
	while (!rr_list_empty(&server->connections))
		end_connection(rr_container(server->connections.next, struct connection, link),
			-RPCRDMA_ERR_DISCONNECTED, "the server closed the connection");
}

void
rr_server_counters(const struct rr_server *server, struct rpcrdma_counters *counters)
{
	*counters = server->past;
	counters->size = sizeof(*counters);
	for (struct rr_list *link = server->connections.next; link != &server->connections; link = link->next)
		rr_counters_add(counters, &rr_container(link, struct connection, link)->carrier->counters);
}

void
rr_server_each_connection(
	const struct rr_server *server, void (*visit)(void *ctx, const struct rr_carrier *carrier), void *ctx)
{
	for (struct rr_list *link = server->connections.next; link != &server->connections; link = link->next)
		visit(ctx, rr_container(link, struct connection, link)->carrier);
}
