/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_GATEWAY_GATEWAY_PRIVATE_H
#define RR_GATEWAY_GATEWAY_PRIVATE_H

#include "base/cache.h"
#include "base/map.h"
#include "gateway/gateway.h"
#include "gateway/items.h"

/*
 * The gateway, as its files see it: gateway.c its life and its listeners,
 * session.c a client's connection, upstream.c those to servers that are made
 * for it, relay.c a call on its way, items.c what is known of a message, and
 * where its items are.
 */

struct rr_session;

struct rr_gateway {
	struct rpcrdma_engine *engine;
	struct rr_gateway_config config;
	struct rr_list listeners, sessions;
	struct rr_cache relays; /* their memory */
	uint32_t session_count;
	uint32_t relay_count; /* in use: sent() of their replies may come after the gateway was freed */
	uint32_t buffer_size; /* of each relay */
	bool shut, freed;
	struct rr_gateway_counters past;
};

/* One connection to a server, made when there is something to send on it. */
struct rr_upstream {
	struct rr_session *session;
	const struct rr_gateway_target *target;
	struct rr_carrier *carrier; /* NULL where there is none now */
	bool connected;
	bool lost;        /* calls were under way when it ended */
	uint32_t address; /* index of the one that is being tried */
	uint64_t sought;  /* since when no address of it answered; 0: that is not so */
	uint64_t delay;   /* before they are tried again */
	struct rr_timer again;
	struct rr_list waiting; /* relays, until it is connected */
	struct rr_list called;  /* relays between the call and its answer, of both directions */
};

/* A client's connection and what belongs to it. */
struct rr_session {
	struct rr_gateway *gateway;
	struct rr_list link;
	struct rr_carrier *client;
	enum rr_transport transport; /* of the client's connection */
	bool ending;                 /* a connection to a server was lost: answers go out, nothing comes in */
	struct rr_map xids;          /* the client's calls that are under way */
	uint32_t upstream_count;
	struct rr_upstream upstreams[1 + RR_GATEWAY_ROUTES]; /* the server's, then those of the routes */
};

/* A call from its arrival to the end of its answer. */
struct rr_relay {
	struct rr_gateway *gateway;
	struct rr_upstream
		*upstream; /* that it goes to, or, where it is a callback, came from; NULL once answered */
	bool callback;
	bool called; /* the transaction is with a carrier */
	struct rr_list link;
	struct rr_map_link by_xid; /* where it is not a callback, until answered */
	struct rr_exchange *exchange;
	struct rr_known known;   /* of the call */
	bool limited;            /* its reply may say how large messages can be */
	uint32_t callback_reply; /* see rr_limits_lower_call() */
	struct rr_transaction transaction;
	struct rpcrdma_item items[RR_MESSAGE_ITEMS];
	struct rpcrdma_message reply;
	void *memory;     /* of the pool: the reply's, or NULL */
	void *pulled;     /* likewise: its stream, where the server had it pulled */
	uint8_t buffer[]; /* a stream without its items: the call's, then the reply's */
};

/* ---- gateway.c ---- */

/* Once nothing refers to it any more. */
void rr_gateway_delete(struct rr_gateway *gateway);

/* ---- session.c ---- */

/* Takes over an accepted connection. */
void rr_session_begin(struct rr_gateway *gateway, struct rr_carrier *client, enum rr_transport transport);

/* A connection to a server is lost: the client's ends when the answers that are there were sent. */
void rr_session_end(struct rr_session *session);

/* Closes all of its connections, and frees. */
void rr_session_free(struct rr_session *session);

/* ---- upstream.c ---- */

/* The session's next one. */
void rr_upstream_init(struct rr_session *session, const struct rr_gateway_target *target);

/* There is something to send: connects, if that is not done or being tried. */
void rr_upstream_want(struct rr_upstream *upstream);

/* Closes the connection; its calls get no answer. */
void rr_upstream_end(struct rr_upstream *upstream);

/* ---- limits.c ---- */

/* Lowers what a call, and later its reply, say of the sizes of messages to what both connections carry. */
void rr_relay_limit_call(struct rr_relay *relay);
void rr_relay_limit_reply(const struct rr_relay *relay, const struct rpcrdma_message *reply);

/* ---- relay.c ---- */

/* Passes a call on: of the client to upstream, or a callback that came from there to the client. NULL where
 * there is no memory; the exchange, and its connection, are lost then. A client's call is to be sent by
 * rr_relay_send(). */
struct rr_relay *rr_relay_new(struct rr_upstream *upstream, struct rr_exchange *exchange, bool callback);

/* The client's call to upstream with that XID that is under way; NULL: there is none. */
struct rr_relay *rr_relay_find(struct rr_upstream *upstream, uint32_t xid);

/* Calls. The carrier must be there. */
void rr_relay_send(struct rr_relay *relay);

/* Ends it without an answer. Its call is taken back, if its carrier is still there. */
void rr_relay_drop(struct rr_relay *relay);

/* Ends it with an answer of the gateway's own: that the server failed. */
void rr_relay_fail(struct rr_relay *relay);

#endif
