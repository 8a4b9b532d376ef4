/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a gateway, and its listeners. It owns its listeners and its pairs. */
#include "gateway/gateway.h"

#include "base/address.h"
#include "gateway/gateway_private.h"

/* RECORD_MAX: the largest message that a carrier hands over outside of pool memory: a small record over
 * TCP, or a Receive. REDUCED_MAX: items are taken out of streams up to this size, as larger streams would
 * not fit inline without their items either. RELAYS_KEPT: the most unused relays that are kept for reuse. */
enum { RECORD_MAX = 8192, REDUCED_MAX = 4096, RELAYS_KEPT = 1024 };

struct gateway_listener {
	struct rr_list link;
	struct rr_gateway *gateway;
	struct rr_acceptor *acceptor; /* NULL: the listener does not listen yet */
	enum rr_transport transport;
};

static uint32_t
gateway_larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

int
rr_gateway_new(
	struct rpcrdma_engine *engine, const struct rr_gateway_config *config, struct rr_gateway **gateway)
{
	struct rr_gateway *new = rr_alloc(engine->env, sizeof(*new));

	if (!new)
		return -RPCRDMA_ERR_NOMEM;
	new->engine = engine;
	new->config = *config;
	rr_list_init(&new->listeners);
	rr_list_init(&new->pairs);
	/* The buffer may hold a copy of a message that came outside of pool memory, and behind it a stream
	 * without its items. */
	new->buffer_size = gateway_larger(engine->config.inline_receive, RECORD_MAX) + REDUCED_MAX;
	rr_cache_init(&new->relays, engine->env, sizeof(struct rr_relay) + new->buffer_size, RELAYS_KEPT);
	*gateway = new;
	return 0;
}

/* Closes the acceptor of a listener, if listening had succeeded, and frees the listener. */
static void
gateway_end_listener(struct rr_gateway *gateway, struct gateway_listener *listener)
{
	if (listener->acceptor)
		rr_acceptor_close(listener->acceptor);
	rr_list_remove(&listener->link);
	rr_free(gateway->engine->env, listener);
}

/* Closes and frees all listeners of the gateway. */
static void
gateway_unlisten(struct rr_gateway *gateway)
{
	while (!rr_list_empty(&gateway->listeners))
		gateway_end_listener(
			gateway, rr_container(gateway->listeners.next, struct gateway_listener, link));
}

void
rr_gateway_delete(struct rr_gateway *gateway)
{
	rr_cache_end(&gateway->relays);
	rr_free(gateway->engine->env, gateway);
}

void
rr_gateway_free(struct rr_gateway *gateway)
{
	if (!gateway)
		return;
	gateway_unlisten(gateway);
	while (!rr_list_empty(&gateway->pairs))
		rr_gateway_pair_free(rr_container(gateway->pairs.next, struct rr_gateway_pair, link));
	gateway->freed = true;
	if (gateway->relay_count == 0)
		rr_gateway_delete(gateway);
}

/* Called when a listener has accepted a client's connection: begins a pair for it. */
static void
gateway_accepted(void *ctx, struct rr_carrier *carrier)
{
	const struct gateway_listener *listener = ctx;

	rr_gateway_pair_begin(listener->gateway, carrier, listener->transport);
}

/* Makes the acceptor of the listener, which listens at the place `at`. Stores the address at which it
 * listens in *chosen, with the port that the system chose if that of `at` is 0. Returns 0, or an error
 * with its text. */
static int
gateway_listen_at(struct gateway_listener *listener, const struct rr_carrier_place *at,
	struct sockaddr_storage *chosen, struct rr_text *text)
{
	struct rpcrdma_engine *engine = listener->gateway->engine;
	int error = rr_carrier_listen(engine, at, gateway_accepted, listener, &listener->acceptor, text);

	if (error)
		return error;
	error = rr_acceptor_address(listener->acceptor, chosen);
	return error ? rr_fail(text, error, "the system does not say at which address it listens") : 0;
}

int
rr_gateway_listen(struct rr_gateway *gateway, enum rr_transport transport, struct sockaddr *address,
	socklen_t size, struct rr_text *text)
{
	const struct rr_carrier_place at = { transport, address, size };
	struct gateway_listener *listener = rr_alloc(gateway->engine->env, sizeof(*listener));
	struct sockaddr_storage chosen;
	int error;

	if (!listener)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for a listener");
	listener->gateway = gateway;
	listener->transport = transport;
	rr_list_append(&gateway->listeners, &listener->link);
	error = gateway_listen_at(listener, &at, &chosen, text);
	if (error)
		gateway_end_listener(gateway, listener);
	else
		rr_address_set_port(address, rr_address_port((const struct sockaddr *)&chosen));
	return error;
}

void
rr_gateway_shutdown(struct rr_gateway *gateway)
{
	gateway->shut = true;
	gateway_unlisten(gateway);
	rr_list_for_each (link, &gateway->pairs)
		rr_carrier_shutdown(rr_container(link, struct rr_gateway_pair, link)->client);
}

bool
rr_gateway_idle(const struct rr_gateway *gateway)
{
	return gateway->shut && gateway->pair_count == 0 && gateway->relay_count == 0;
}

/* Adds the counters of a pair's connections to *counters: those of the connection to the client, and those
 * of each open connection to a server. */
static void
gateway_add_pair(const struct rr_gateway_pair *pair, struct rr_gateway_counters *counters)
{
	rr_counters_add(&counters->client_side, &pair->client->counters);
	for (uint32_t i = 0; i < pair->upstream_count; i++) {
		if (pair->upstreams[i].carrier)
			rr_counters_add(&counters->server_side, &pair->upstreams[i].carrier->counters);
	}
}

void
rr_gateway_counters(const struct rr_gateway *gateway, struct rr_gateway_counters *counters)
{
	*counters = gateway->past;
	counters->client_side.size = counters->server_side.size = sizeof(counters->client_side);
	counters->open = gateway->pair_count;
	for (struct rr_list *link = gateway->pairs.next; link != &gateway->pairs; link = link->next)
		gateway_add_pair(rr_container(link, struct rr_gateway_pair, link), counters);
}
