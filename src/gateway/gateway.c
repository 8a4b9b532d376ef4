/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a gateway, and where it listens. It owns its listeners and its sessions. */
#include "gateway/gateway.h"

#include <netinet/in.h>

#include "carrier/tcp/tcp.h"
#include "gateway/gateway_private.h"

#include "carrier/rdma/rdma.h"

/* What a carrier may hand over that is not pool memory: a small record over TCP, or a Receive. And the
 * streams that items are taken out of: larger ones would not fit inline without them either. */
enum { RECORD_MAX = 8192, REDUCED_MAX = 4096 };

/* One of the two acceptors. */
struct listener {
	struct rr_list link;
	struct rr_acceptor *rdma;
	struct rr_tcp_acceptor *tcp;
};

static uint32_t
larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

int
rr_gateway_new(struct rr_engine *engine, const struct rr_gateway_config *config, struct rr_gateway **gateway)
{
	struct rr_gateway *new = rr_alloc(engine->env, sizeof(*new));

	if (!new)
		return -RPCRDMA_ERR_NOMEM;
	new->engine = engine;
	new->config = *config;
	rr_list_init(&new->listeners);
	rr_list_init(&new->sessions);
	rr_list_init(&new->free_relays);
	new->buffer_size = larger(engine->config.inline_receive, RECORD_MAX) + REDUCED_MAX;
	*gateway = new;
	return 0;
}

static void
end_listener(struct rr_gateway *gateway, struct listener *listener)
{
	if (listener->rdma)
		rr_rdma_unlisten(listener->rdma);
	if (listener->tcp)
		rr_tcp_unlisten(listener->tcp);
	rr_list_remove(&listener->link);
	rr_free(gateway->engine->env, listener);
}

static void
unlisten(struct rr_gateway *gateway)
{
	while (!rr_list_empty(&gateway->listeners))
		end_listener(gateway, rr_container(gateway->listeners.next, struct listener, link));
}

void
rr_gateway_delete(struct rr_gateway *gateway)
{
	const struct rr_env *env = gateway->engine->env;
	struct rr_list *link;

	while ((link = rr_list_pop(&gateway->free_relays)))
		rr_free(env, rr_container(link, struct rr_relay, link));
	rr_free(env, gateway);
}

void
rr_gateway_free(struct rr_gateway *gateway)
{
	if (!gateway)
		return;
	unlisten(gateway);
	while (!rr_list_empty(&gateway->sessions))
		rr_session_free(rr_container(gateway->sessions.next, struct rr_session, link));
	gateway->freed = true;
	if (gateway->relay_count == 0)
		rr_gateway_delete(gateway);
}

static void
arrived_rdma(void *ctx, struct rr_carrier *carrier)
{
	rr_session_begin(ctx, carrier, false);
}

static void
arrived_tcp(void *ctx, struct rr_carrier *carrier)
{
	rr_session_begin(ctx, carrier, true);
}

static void
set_port(struct sockaddr *address, const struct sockaddr_storage *chosen)
{
	if (address->sa_family == AF_INET6)
		((struct sockaddr_in6 *)address)->sin6_port =
			((const struct sockaddr_in6 *)chosen)->sin6_port;
	else
		((struct sockaddr_in *)address)->sin_port = ((const struct sockaddr_in *)chosen)->sin_port;
}

static int
listen_at(struct rr_gateway *gateway, struct listener *listener, bool tcp, struct sockaddr *address,
	socklen_t size, struct rr_text *text)
{
	struct sockaddr_storage chosen;
	int error;

	if (tcp)
		error = rr_tcp_listen(
			gateway->engine, address, size, arrived_tcp, gateway, &listener->tcp, text);
	else
		error = rr_rdma_listen(
			gateway->engine, address, size, arrived_rdma, gateway, &listener->rdma, text);
	if (error)
		return error;
	error = tcp ? rr_tcp_acceptor_address(listener->tcp, &chosen)
		    : rr_rdma_acceptor_address(listener->rdma, &chosen);
	if (error)
		return rr_fail(text, error, "the system does not tell where it listens");
	set_port(address, &chosen);
	return 0;
}

int
rr_gateway_listen(
	struct rr_gateway *gateway, bool tcp, struct sockaddr *address, socklen_t size, struct rr_text *text)
{
	struct listener *listener = rr_alloc(gateway->engine->env, sizeof(*listener));
	int error;

	if (!listener)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for a listener");
	rr_list_append(&gateway->listeners, &listener->link);
	error = listen_at(gateway, listener, tcp, address, size, text);
	if (error)
		end_listener(gateway, listener);
	return error;
}

void
rr_gateway_shutdown(struct rr_gateway *gateway)
{
	gateway->shut = true;
	unlisten(gateway);
	rr_list_for_each (link, &gateway->sessions)
		rr_carrier_shutdown(rr_container(link, struct rr_session, link)->client);
}

bool
rr_gateway_idle(const struct rr_gateway *gateway)
{
	return gateway->shut && gateway->session_count == 0 && gateway->relay_count == 0;
}

static void
add_session(const struct rr_session *session, struct rr_gateway_counters *counters)
{
	rr_counters_add(&counters->client_side, &session->client->counters);
	for (uint32_t i = 0; i < session->upstream_count; i++) {
		if (session->upstreams[i].carrier)
			rr_counters_add(&counters->server_side, &session->upstreams[i].carrier->counters);
	}
}

void
rr_gateway_counters(const struct rr_gateway *gateway, struct rr_gateway_counters *counters)
{
	*counters = gateway->past;
	counters->client_side.size = counters->server_side.size = sizeof(counters->client_side);
	counters->open = gateway->session_count;
	for (struct rr_list *link = gateway->sessions.next; link != &gateway->sessions; link = link->next)
		add_session(rr_container(link, struct rr_session, link), counters);
}
