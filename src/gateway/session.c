/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client's connection, and the connections to servers that are made for it.
 *
 * When the connection to the server is lost, nobody knows which of the calls under way were executed. The
 * gateway neither repeats nor answers them: it drops them, lets out the answers that it has, and closes the
 * client's connection. So the client sees what it would see without a gateway, does what its protocol wants
 * (it connects again and sends each call that was not answered with the same XID, or within the same session
 * slot), and the server's duplicate request cache or session decides: it, and nobody in between, knows what
 * it has done. For the same reason nothing is remembered here beyond a connection. When the client's
 * connection is lost, that to the server is closed at once.
 *
 * Of the connections to other servers (of the routes), only the loss of one with calls under way counts:
 * those servers keep nothing for a connection, and may close an idle one.
 */
#include <netinet/in.h>

#include "base/peer_log.h"
#include "gateway/gateway_private.h"

static const struct rr_carrier_events upstream_events;

/* ---- The end ---- */

static void
close_upstream(struct rr_upstream *upstream)
{
	struct rr_carrier *carrier = upstream->carrier;

	if (!carrier)
		return;
	rr_counters_add(&upstream->session->gateway->past.server_side, &carrier->counters);
	upstream->carrier = NULL;
	upstream->connected = false;
	rr_carrier_close(carrier);
}

static void
drop_relays(struct rr_upstream *upstream)
{
	while (!rr_list_empty(&upstream->called))
		rr_relay_drop(rr_container(upstream->called.next, struct rr_relay, link));
	while (!rr_list_empty(&upstream->waiting))
		rr_relay_drop(rr_container(upstream->waiting.next, struct rr_relay, link));
}

void
rr_session_free(struct rr_session *session)
{
	struct rr_gateway *gateway = session->gateway;

	for (uint32_t i = 0; i < session->upstream_count; i++) {
		close_upstream(&session->upstreams[i]);
		drop_relays(&session->upstreams[i]);
	}
	rr_counters_add(&gateway->past.client_side, &session->client->counters);
	rr_carrier_close(session->client);
	rr_list_remove(&session->link);
	gateway->session_count--;
	rr_map_free(&session->xids, gateway->engine->env);
	rr_free(gateway->engine->env, session);
}

/* A connection to a server is lost: see above. */
static void
end_session(struct rr_session *session)
{
	session->ending = true;
	for (uint32_t i = 0; i < session->upstream_count; i++) {
		close_upstream(&session->upstreams[i]);
		drop_relays(&session->upstreams[i]);
	}
	rr_carrier_shutdown(session->client);
}

/* ---- Connections to servers ---- */

/* Tries its addresses from the current one on. False where none is left. */
static bool
connect_upstream(struct rr_upstream *upstream)
{
	struct rpcrdma_engine *engine = upstream->session->gateway->engine;
	const struct rr_gateway_target *target = upstream->target;
	struct rr_text text;

	for (; upstream->address < target->address_count; upstream->address++) {
		const struct sockaddr_storage *address = &target->addresses[upstream->address];
		const struct rr_carrier_place to = {
			.transport = target->transport,
			.address = (const void *)address,
			.size = rr_address_size(address),
		};
		int error = rr_carrier_connect(
			engine, &to, &upstream_events, upstream, &upstream->carrier, &text);

		if (error == 0) {
			rr_carrier_join(upstream->carrier, upstream->session->client->party);
			return true;
		}
		upstream->carrier = NULL;
		rr_log_peer(rr_loop_peer_log(engine->loop), "", "%s", text.text);
	}
	upstream->address = 0;
	return false;
}

static bool
is_main(const struct rr_upstream *upstream)
{
	return upstream == &upstream->session->upstreams[0];
}

/* No address answers. Nothing was sent: where others than the server itself are gone, calls can be answered.
 */
static void
unreachable(struct rr_upstream *upstream)
{
	struct rr_session *session = upstream->session;

	if (is_main(upstream)) {
		end_session(session);
		return;
	}
	while (!rr_list_empty(&upstream->waiting))
		rr_relay_fail(rr_container(upstream->waiting.next, struct rr_relay, link));
}

static void
upstream_connected(void *ctx)
{
	struct rr_upstream *upstream = ctx;

	upstream->connected = true;
	upstream->lost = false;
	upstream->address = 0;
	while (!rr_list_empty(&upstream->waiting))
		rr_relay_send(rr_container(upstream->waiting.next, struct rr_relay, link));
}

static void
upstream_closed(void *ctx, int error, const char *text)
{
	struct rr_upstream *upstream = ctx;
	struct rr_session *session = upstream->session;
	bool connected = upstream->connected;

	(void)error;
	if (connected)
		rr_log(session->gateway->engine->env, RR_LOG_INFO, "%s", text);
	else
		rr_log_peer(rr_loop_peer_log(session->gateway->engine->loop), upstream->carrier->peer, "%s",
			text);
	close_upstream(upstream);
	if (!connected) {
		upstream->address++;
		if (!connect_upstream(upstream))
			unreachable(upstream);
		return;
	}
	if (is_main(upstream) || upstream->lost)
		end_session(session);
}

/* A callback. RFC 8267, 6.5.2: "NFS version 4 clients and servers MUST use the approach described in
 * [RFC8167] when backchannel operations are conveyed on RPC-over-RDMA version 1 transports." */
static void
upstream_called(void *ctx, struct rr_exchange *exchange)
{
	struct rr_upstream *upstream = ctx;
	struct rr_relay *relay;

	upstream->session->gateway->past.callbacks++;
	relay = rr_relay_new(upstream, exchange, true);
	if (relay)
		rr_relay_send(relay);
}

static const struct rr_carrier_events upstream_events = {
	.connected = upstream_connected,
	.closed = upstream_closed,
	.call = upstream_called,
};

/* ---- The client ---- */

static struct rr_upstream *
route(struct rr_session *session, uint32_t prog)
{
	const struct rr_gateway_config *config = &session->gateway->config;

	for (uint32_t i = 0; i < config->route_count; i++) {
		if (config->routes[i].prog == prog)
			return &session->upstreams[1 + i];
	}
	return &session->upstreams[0];
}

/*
 * A call that is under way already. A server that is reached over TCP may have discarded the first one: it
 * gets the second one instead. Over RDMA it has not: RFC 8166, 3.3.1: "The Responder MUST ..." keep a Receive
 * for each credit, and an XID cannot be used twice at a time. False: the exchange was dropped.
 */
static bool
take_repetition(struct rr_upstream *upstream, struct rr_relay *first, struct rr_exchange *exchange)
{
	upstream->session->gateway->past.repeated++;
	if (!rr_transport_has_chunks(upstream->target->transport)) {
		rr_relay_drop(first);
		return true;
	}
	rr_exchange_drop(exchange);
	return false;
}

static void
client_called(void *ctx, struct rr_exchange *exchange)
{
	struct rr_session *session = ctx;
	struct rr_upstream *upstream;
	struct rr_relay *relay;

	session->gateway->past.calls++;
	if (session->ending) {
		rr_exchange_drop(exchange);
		return;
	}
	/* RFC 8166, 8.2.2: "authentication material" "MUST NOT be reduced"; 6.1: what reduces it must not be
	 * processed. */
	if (rr_known_header_is_reduced(&exchange->call)) {
		rr_exchange_refuse(exchange);
		return;
	}
	upstream = route(session, rr_known_program(&exchange->call));
	relay = rr_relay_find(upstream, exchange->xid);
	if (relay && !take_repetition(upstream, relay, exchange))
		return;
	relay = rr_relay_new(upstream, exchange, false);
	if (!relay)
		return;
	if (upstream->connected) {
		rr_relay_send(relay);
		return;
	}
	rr_list_append(&upstream->waiting, &relay->link);
	if (!upstream->carrier && !connect_upstream(upstream))
		unreachable(upstream);
}

static void
client_closed(void *ctx, int error, const char *text)
{
	struct rr_session *session = ctx;

	(void)error;
	rr_log(session->gateway->engine->env, RR_LOG_INFO, "%s", text);
	rr_session_free(session);
}

static const struct rr_carrier_events client_events = { .closed = client_closed, .call = client_called };

/* ---- The beginning ---- */

static void
init_upstream(struct rr_session *session, const struct rr_gateway_target *target)
{
	struct rr_upstream *upstream = &session->upstreams[session->upstream_count++];

	upstream->session = session;
	upstream->target = target;
	rr_list_init(&upstream->waiting);
	rr_list_init(&upstream->called);
}

static struct rr_session *
new_session(struct rr_gateway *gateway)
{
	const struct rr_engine_config *config = &gateway->engine->config;
	const struct rr_env *env = gateway->engine->env;
	struct rr_session *session;

	session = rr_alloc(env, sizeof(*session));
	if (!session || rr_map_init(&session->xids, env, config->credits) < 0) {
		rr_free(env, session);
		return NULL;
	}
	return session;
}

void
rr_session_begin(struct rr_gateway *gateway, struct rr_carrier *client, enum rr_transport transport)
{
	struct rr_session *session = new_session(gateway);

	if (!session) {
		rr_log_peer(rr_loop_peer_log(gateway->engine->loop), client->peer,
			"%s: no memory for a connection", client->peer);
		rr_carrier_close(client);
		return;
	}
	session->gateway = gateway;
	session->client = client;
	session->transport = transport;
	init_upstream(session, &gateway->config.server);
	for (uint32_t i = 0; i < gateway->config.route_count; i++)
		init_upstream(session, &gateway->config.routes[i].target);
	rr_list_append(&gateway->sessions, &session->link);
	gateway->session_count++;
	gateway->past.sessions++;
	rr_carrier_attach(client, &client_events, session);
}
