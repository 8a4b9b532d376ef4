/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection to a server. It is made when there is a call to send on it.
 *
 * If the main server cannot be reached, the gateway tries again, with pauses, for the time PATIENCE; the
 * client's calls wait, and then the client's connection ends. If the gateway closed that connection at once,
 * the client would connect again at once, and so on while the server is away. If the server of a route cannot
 * be reached, the calls that wait for it are answered with an error at once. */
#include "base/address.h"
#include "base/peer_log.h"
#include "gateway/gateway_private.h"

#define PATIENCE  (10 * RR_SECOND)
#define DELAY_MIN (200 * RR_MILLISECOND)
#define DELAY_MAX (2 * RR_SECOND)

static const struct rr_carrier_events upstream_events;

/* Closes the connection to the server, and adds the counters of the connection to those of the gateway. Does
 * nothing if there is no connection. */
static void
upstream_close(struct rr_upstream *upstream)
{
	struct rr_carrier *carrier = upstream->carrier;

	if (!carrier)
		return;
	rr_counters_add(&upstream->pair->gateway->past.server_side, &carrier->counters);
	upstream->carrier = NULL;
	upstream->connected = false;
	rr_carrier_close(carrier);
}

/* Called when the server was found, or is no longer needed: stops the timer of the next attempt, and ends the
 * search. */
static void
upstream_found(struct rr_upstream *upstream)
{
	rr_loop_disarm(upstream->pair->gateway->engine->loop, &upstream->again);
	upstream->sought = 0;
}

void
rr_upstream_end(struct rr_upstream *upstream)
{
	upstream_found(upstream);
	upstream_close(upstream);
	while (!rr_list_empty(&upstream->called))
		rr_relay_drop(rr_container(upstream->called.next, struct rr_relay, link));
	while (!rr_list_empty(&upstream->waiting))
		rr_relay_drop(rr_container(upstream->waiting.next, struct rr_relay, link));
}

/* Logs that an attempt to reach the server failed. Also logs what the user can do (config.advice), but not
 * when the gateway has begun to repeat its attempts: the advice would be the same each time. */
static void
upstream_report(const struct rr_upstream *upstream, const char *peer, int error, const char *text)
{
	const struct rr_gateway *gateway = upstream->pair->gateway;
	const char *advice =
		upstream->sought == 0 && gateway->config.advice ? gateway->config.advice(error) : NULL;

	rr_log_peer(rr_loop_peer_log(gateway->engine->loop), peer, "%s%s%s", text, advice ? "; to do: " : "",
		advice ? advice : "");
}

/* Begins to connect to the server: tries the addresses of the server in order, from upstream->address on,
 * until an attempt is under way. Returns false if no address is left; the next call of this function then
 * begins with the first address. Memory for the connection counts for the party of the client, on whose
 * behalf it is made (rr_carrier_join()). */
static bool
upstream_connect(struct rr_upstream *upstream)
{
	struct rpcrdma_engine *engine = upstream->pair->gateway->engine;
	const struct rr_gateway_target *target = upstream->target;
	struct rr_text text;

	for (; upstream->address < target->address_count; upstream->address++) {
		const struct sockaddr_storage *address = &target->addresses[upstream->address];
		const struct rr_carrier_place to = {
			.transport = target->transport,
			.address = (const void *)address,
			.size = rr_address_size(address),
			.secure = target->secure,
		};
		int error = rr_carrier_connect(
			engine, &to, &upstream_events, upstream, &upstream->carrier, &text);

		if (error == 0) {
			rr_carrier_join(upstream->carrier, upstream->pair->client->party);
			return true;
		}
		upstream->carrier = NULL;
		upstream_report(upstream, "", error, text.text);
	}
	upstream->address = 0;
	return false;
}

/* Tells whether this is the connection to the main server of the gateway, and not the connection of a
 * route. */
static bool
upstream_is_main(const struct rr_upstream *upstream)
{
	return upstream == &upstream->pair->upstreams[0];
}

/* Starts the timer after which the addresses are tried again, and doubles upstream->delay for the next time,
 * up to DELAY_MAX. The timer runs for a random time between the half and the whole of upstream->delay, so
 * that the connections of many clients do not come at the same moment. */
static void
upstream_pause(struct rr_upstream *upstream)
{
	const struct rpcrdma_engine *engine = upstream->pair->gateway->engine;
	uint64_t half = upstream->delay / 2;

	rr_loop_arm(engine->loop, &upstream->again, half + rr_random_u64(engine->env) % half);
	upstream->delay = upstream->delay * 2 < DELAY_MAX ? upstream->delay * 2 : DELAY_MAX;
}

/* Is called when no address of the server answered: starts a delay, after which all addresses are
 * tried again. Ends the pair instead if the search lasts longer than PATIENCE, or if the gateway is
 * shut down. */
static void
upstream_seek(struct rr_upstream *upstream)
{
	struct rr_gateway_pair *pair = upstream->pair;
	uint64_t now = rr_now(pair->gateway->engine->env);

	if (upstream->sought == 0) {
		upstream->sought = now;
		upstream->delay = DELAY_MIN;
	}
	if (pair->gateway->shut || now - upstream->sought >= PATIENCE)
		rr_gateway_pair_end(pair);
	else
		upstream_pause(upstream);
}

/* Is called when no address of the server could be reached. The search for the main server of the gateway
 * goes on. The calls that wait for the server of a route are answered with an error: none of them was sent,
 * so none was executed. */
static void
upstream_unreachable(struct rr_upstream *upstream)
{
	if (upstream_is_main(upstream)) {
		upstream_seek(upstream);
		return;
	}
	while (!rr_list_empty(&upstream->waiting))
		rr_relay_fail(rr_container(upstream->waiting.next, struct rr_relay, link));
}

/* Begins to connect to the server, from upstream->address on. If no address is left, handles that the server
 * cannot be reached, which may end the pair. */
static void
upstream_try(struct rr_upstream *upstream)
{
	if (!upstream_connect(upstream))
		upstream_unreachable(upstream);
}

/* Called by the timer `again`, when the pause between two attempts is over: tries to connect again. */
static void
upstream_again(struct rr_timer *timer)
{
	upstream_try(rr_container(timer, struct rr_upstream, again));
}

void
rr_upstream_want(struct rr_upstream *upstream)
{
	if (!upstream->carrier && !rr_timer_armed(&upstream->again))
		upstream_try(upstream);
}

/* Is called when the connection to the server is up: sends the calls that waited for the connection. */
static void
upstream_connected(void *ctx)
{
	struct rr_upstream *upstream = ctx;

	upstream->connected = true;
	upstream->lost = false;
	/* A later attempt to connect begins with the first address again. */
	upstream->address = 0;
	upstream_found(upstream);
	while (!rr_list_empty(&upstream->waiting))
		rr_relay_send(rr_container(upstream->waiting.next, struct rr_relay, link));
}

/* Is called when a connection, or an attempt to connect, has ended. After an attempt that failed, tries the
 * next address. After the loss of a connection, ends the pair if the connection led to the main server of
 * the gateway, or if calls were under way on it. The calls under way were dropped before, by relay_done(),
 * which sets upstream->lost. */
static void
upstream_closed(void *ctx, int error, const char *text)
{
	struct rr_upstream *upstream = ctx;
	struct rr_gateway_pair *pair = upstream->pair;
	bool connected = upstream->connected;

	if (connected)
		rr_log(pair->gateway->engine->env, RR_LOG_INFO, "%s", text);
	else
		upstream_report(upstream, upstream->carrier->peer, error, text);
	upstream_close(upstream);
	if (!connected) {
		upstream->address++;
		upstream_try(upstream);
		return;
	}
	if (upstream_is_main(upstream) || upstream->lost)
		rr_gateway_pair_end(pair);
}

/* Is called when the server sent a callback, a call in the direction to the client: sends the callback on to
 * the client, over the client's connection. RFC 8267, 6.5.2: "NFS version 4 clients and servers MUST use the
 * approach described in [RFC8167] when backchannel operations are conveyed on RPC-over-RDMA version 1
 * transports." */
static void
upstream_called(void *ctx, struct rr_exchange *exchange)
{
	struct rr_upstream *upstream = ctx;
	struct rr_relay *relay;

	upstream->pair->gateway->past.callbacks++;
	relay = rr_relay_new(upstream, exchange, true);
	if (relay)
		rr_relay_send(relay);
}

static const struct rr_carrier_events upstream_events = {
	.connected = upstream_connected,
	.closed = upstream_closed,
	.call = upstream_called,
};

void
rr_upstream_init(struct rr_gateway_pair *pair, const struct rr_gateway_target *target)
{
	struct rr_upstream *upstream = &pair->upstreams[pair->upstream_count++];

	upstream->pair = pair;
	upstream->target = target;
	rr_timer_init(&upstream->again, upstream_again);
	rr_list_init(&upstream->waiting);
	rr_list_init(&upstream->called);
}
