/* SPDX-License-Identifier: BSD-3-Clause */
/* A client's connection, and the connections to servers that are made for it.
 *
 * When the connection to the server is lost, it is not known which of the calls under way were executed.
 * The gateway neither repeats nor answers them: it drops them, sends the answers that it has, and closes
 * the client's connection. So the client sees the same as without a gateway, and does what its protocol
 * wants: it connects again, and sends each call that was not answered with the same XID, or within the same
 * session slot. The server's duplicate request cache or session then decides, as only the server knows what
 * it has executed. For the same reason the gateway remembers no calls beyond a connection. When the
 * client's connection is lost, the connection to the server is closed at once.
 *
 * A lost connection to another server (of a route) ends the client's connection only if calls were under
 * way on it: those servers keep no state for a connection, and may close an idle one. */
#include "base/peer_log.h"
#include "gateway/gateway_private.h"

/* ---- The end ---- */

void
rr_gateway_pair_free(struct rr_gateway_pair *pair)
{
	struct rr_gateway *gateway = pair->gateway;

	for (uint32_t i = 0; i < pair->upstream_count; i++) {
		rr_upstream_end(&pair->upstreams[i]);
	}
	rr_counters_add(&gateway->past.client_side, &pair->client->counters);
	rr_carrier_close(pair->client);
	rr_list_remove(&pair->link);
	gateway->pair_count--;
	rr_map_free(&pair->xids, gateway->engine->env);
	rr_free(gateway->engine->env, pair);
}

/* The pair itself lives on until the client's connection has closed: pair_client_closed() frees it. */
void
rr_gateway_pair_end(struct rr_gateway_pair *pair)
{
	pair->ending = true;
	for (uint32_t i = 0; i < pair->upstream_count; i++) {
		rr_upstream_end(&pair->upstreams[i]);
	}
	rr_carrier_shutdown(pair->client);
}

/* ---- The client ---- */

/* Returns the pair's connection to the server that takes the calls of this program: the connection of the
 * program's route; or, if the program has no route, the connection to the main server of the gateway. */
static struct rr_upstream *
pair_route(struct rr_gateway_pair *pair, uint32_t prog)
{
	const struct rr_gateway_config *config = &pair->gateway->config;

	for (uint32_t i = 0; i < config->route_count; i++) {
		if (config->routes[i].prog == prog)
			return &pair->upstreams[1 + i];
	}
	return &pair->upstreams[0];
}

/* Handles a new call of the client that has the same XID as `first`, an earlier call that is still under way.
 * If the server is reached over TCP, it may have discarded the earlier call: the earlier call is dropped, and
 * the caller passes the new one on. Over RDMA, the server still has the earlier call (RFC 8166, 3.3.1, has it
 * keep a Receive for each credit), and an XID cannot be used twice at a time: the new call is dropped.
 * Returns false if the new call was dropped. */
static bool
pair_take_repetition(struct rr_upstream *upstream, struct rr_relay *first, struct rr_exchange *exchange)
{
	upstream->pair->gateway->past.repeated++;
	if (!rr_transport_has_chunks(upstream->target->transport)) {
		rr_relay_drop(first);
		return true;
	}
	rr_exchange_drop(exchange);
	return false;
}

/* Is called when a call of the client has arrived: sends the call on to the server of its program, or has the
 * call wait until the connection to that server is up. Refuses a call with reduced data items in its RPC
 * header. Drops the call if the pair is ending. */
static void
pair_client_called(void *ctx, struct rr_exchange *exchange)
{
	struct rr_gateway_pair *pair = ctx;
	struct rr_upstream *upstream;
	struct rr_relay *relay;

	pair->gateway->past.calls++;
	if (pair->ending) {
		rr_exchange_drop(exchange);
		return;
	}
	/* RFC 8166, 8.2.2: "authentication material" "MUST NOT be reduced"; 6.1: a call that reduces it
	 * must not be processed. */
	if (rr_known_header_is_reduced(&exchange->call)) {
		rr_exchange_refuse(exchange);
		return;
	}
	upstream = pair_route(pair, rr_known_program(&exchange->call));
	/* A client repeats a call by sending it with the same XID. */
	relay = rr_relay_find(upstream, exchange->xid);
	if (relay && !pair_take_repetition(upstream, relay, exchange))
		return;
	relay = rr_relay_new(upstream, exchange, false);
	/* Without memory, rr_relay_new() has ended the exchange and the connection already. */
	if (!relay)
		return;
	if (upstream->connected) {
		rr_relay_send(relay);
		return;
	}
	rr_list_append(&upstream->waiting, &relay->link);
	rr_upstream_want(upstream);
}

/* Is called when the client's connection has ended: closes the connections to servers, and frees the
 * pair. */
static void
pair_client_closed(void *ctx, int error, const char *text)
{
	struct rr_gateway_pair *pair = ctx;

	(void)error;
	rr_log(pair->gateway->engine->env, RR_LOG_INFO, "%s", text);
	rr_gateway_pair_free(pair);
}

static const struct rr_carrier_events client_events = { .closed = pair_client_closed,
	.call = pair_client_called };

/* ---- The beginning ---- */

/* Returns a pair whose map of XIDs has room for the calls that a client may have under way; NULL if there
 * is no memory. */
static struct rr_gateway_pair *
pair_new(struct rr_gateway *gateway)
{
	const struct rr_engine_config *config = &gateway->engine->config;
	const struct rr_env *env = gateway->engine->env;
	struct rr_gateway_pair *pair;

	pair = rr_alloc(env, sizeof(*pair));
	if (!pair || rr_map_init(&pair->xids, env, config->credits) < 0) {
		rr_free(env, pair);
		return NULL;
	}
	return pair;
}

void
rr_gateway_pair_begin(struct rr_gateway *gateway, struct rr_carrier *client, enum rr_transport transport)
{
	struct rr_gateway_pair *pair = pair_new(gateway);

	if (!pair) {
		rr_log_peer(rr_loop_peer_log(gateway->engine->loop), client->peer,
			"%s: no memory for a connection", client->peer);
		rr_carrier_close(client);
		return;
	}
	pair->gateway = gateway;
	pair->client = client;
	pair->transport = transport;
	rr_upstream_init(pair, &gateway->config.server);
	for (uint32_t i = 0; i < gateway->config.route_count; i++)
		rr_upstream_init(pair, &gateway->config.routes[i].target);
	rr_list_append(&gateway->pairs, &pair->link);
	gateway->pair_count++;
	gateway->past.pairs++;
	rr_carrier_attach(client, &client_events, pair);
}
