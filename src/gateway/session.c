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
rr_session_free(struct rr_session *session)
{
	struct rr_gateway *gateway = session->gateway;

	for (uint32_t i = 0; i < session->upstream_count; i++) {
		rr_upstream_end(&session->upstreams[i]);
	}
	rr_counters_add(&gateway->past.client_side, &session->client->counters);
	rr_carrier_close(session->client);
	rr_list_remove(&session->link);
	gateway->session_count--;
	rr_map_free(&session->xids, gateway->engine->env);
	rr_free(gateway->engine->env, session);
}

/* The session itself lives on until the client's connection has closed: session_client_closed() frees it. */
void
rr_session_end(struct rr_session *session)
{
	session->ending = true;
	for (uint32_t i = 0; i < session->upstream_count; i++) {
		rr_upstream_end(&session->upstreams[i]);
	}
	rr_carrier_shutdown(session->client);
}

/* ---- The client ---- */

/* Returns the session's connection to the server that takes the calls of this program: the connection of the
 * program's route; or, if the program has no route, the connection to the main server of the gateway. */
static struct rr_upstream *
session_route(struct rr_session *session, uint32_t prog)
{
	const struct rr_gateway_config *config = &session->gateway->config;

	for (uint32_t i = 0; i < config->route_count; i++) {
		if (config->routes[i].prog == prog)
			return &session->upstreams[1 + i];
	}
	return &session->upstreams[0];
}

/* Handles a new call of the client that has the same XID as `first`, an earlier call that is still under way.
 * If the server is reached over TCP, it may have discarded the earlier call: the earlier call is dropped, and
 * the caller passes the new one on. Over RDMA, the server still has the earlier call (RFC 8166, 3.3.1, has it
 * keep a Receive for each credit), and an XID cannot be used twice at a time: the new call is dropped.
 * Returns false if the new call was dropped. */
static bool
session_take_repetition(struct rr_upstream *upstream, struct rr_relay *first, struct rr_exchange *exchange)
{
	upstream->session->gateway->past.repeated++;
	if (!rr_transport_has_chunks(upstream->target->transport)) {
		rr_relay_drop(first);
		return true;
	}
	rr_exchange_drop(exchange);
	return false;
}

/* Is called when a call of the client has arrived: sends the call on to the server of its program, or has the
 * call wait until the connection to that server is up. Refuses a call with reduced data items in its RPC
 * header. Drops the call if the session is ending. */
static void
session_client_called(void *ctx, struct rr_exchange *exchange)
{
	struct rr_session *session = ctx;
	struct rr_upstream *upstream;
	struct rr_relay *relay;

	session->gateway->past.calls++;
	if (session->ending) {
		rr_exchange_drop(exchange);
		return;
	}
	/* RFC 8166, 8.2.2: "authentication material" "MUST NOT be reduced"; 6.1: a call that reduces it
	 * must not be processed. */
	if (rr_known_header_is_reduced(&exchange->call)) {
		rr_exchange_refuse(exchange);
		return;
	}
	upstream = session_route(session, rr_known_program(&exchange->call));
	/* A client repeats a call by sending it with the same XID. */
	relay = rr_relay_find(upstream, exchange->xid);
	if (relay && !session_take_repetition(upstream, relay, exchange))
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
 * session. */
static void
session_client_closed(void *ctx, int error, const char *text)
{
	struct rr_session *session = ctx;

	(void)error;
	rr_log(session->gateway->engine->env, RR_LOG_INFO, "%s", text);
	rr_session_free(session);
}

static const struct rr_carrier_events client_events = { .closed = session_client_closed,
	.call = session_client_called };

/* ---- The beginning ---- */

/* Returns a session whose map of XIDs has room for the calls that a client may have under way; NULL if there
 * is no memory. */
static struct rr_session *
session_new(struct rr_gateway *gateway)
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
	struct rr_session *session = session_new(gateway);

	if (!session) {
		rr_log_peer(rr_loop_peer_log(gateway->engine->loop), client->peer,
			"%s: no memory for a connection", client->peer);
		rr_carrier_close(client);
		return;
	}
	session->gateway = gateway;
	session->client = client;
	session->transport = transport;
	rr_upstream_init(session, &gateway->config.server);
	for (uint32_t i = 0; i < gateway->config.route_count; i++)
		rr_upstream_init(session, &gateway->config.routes[i].target);
	rr_list_append(&gateway->sessions, &session->link);
	gateway->session_count++;
	gateway->past.sessions++;
	rr_carrier_attach(client, &client_events, session);
}
