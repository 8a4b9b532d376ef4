/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_GATEWAY_GATEWAY_PRIVATE_H
#define RR_GATEWAY_GATEWAY_PRIVATE_H

#include "base/cache.h"
#include "base/map.h"
#include "gateway/gateway.h"
#include "gateway/items.h"

/* The gateway, as its files see it: gateway.c has its life and its listeners, pair.c a client's
 * connection, upstream.c the connections to servers that are made for it, relay.c a call on its way,
 * items.c what is known of a message and where its items are, limits.c the sizes that messages name. */

struct rr_gateway_pair;

/* A gateway. */
struct rr_gateway {
	struct rpcrdma_engine *engine;
	struct rr_gateway_config config;
	struct rr_list listeners, pairs;
	struct rr_cache relays; /* memory of relays */
	uint32_t pair_count;
	/* Relays in use. While there are any, rr_gateway_free() leaves the memory of the gateway: the sent()
	 * of their replies may come later. */
	uint32_t relay_count;
	uint32_t buffer_size; /* octets of each relay's buffer */
	/* rr_gateway_shutdown() was called; rr_gateway_free() was called, and the last relay frees this
	 * structure. */
	bool shut, freed;
	/* Counts since the beginning. client_side and server_side are only those of connections that have
	 * ended. */
	struct rr_gateway_counters past;
};

/* A connection to a server, made when there is something to send on it. */
struct rr_upstream {
	struct rr_gateway_pair *pair;
	const struct rr_gateway_target *target;
	struct rr_carrier *carrier; /* NULL: there is no connection now */
	bool connected;             /* false while an attempt to connect is under way */
	bool lost;                  /* calls were under way when the connection ended */
	uint32_t address;           /* index of the address that is being tried */
	/* The time since which no address of the server answered; 0: the server is not being sought. */
	uint64_t sought;
	uint64_t delay;         /* the longest time before the addresses are tried again */
	struct rr_timer again;  /* runs until they are tried again */
	struct rr_list waiting; /* relays that wait until the connection is up */
	struct rr_list called;  /* relays between their call and its answer, in both directions */
};

/* A client's connection, and the connections to servers that belong to it. */
struct rr_gateway_pair {
	struct rr_gateway *gateway;
	struct rr_list link;
	struct rr_carrier *client;
	enum rr_transport transport; /* of the client's connection */
	bool ending;        /* a connection to a server was lost: answers are sent, but no calls are taken */
	struct rr_map xids; /* the relays of the client's calls that are under way */
	uint32_t upstream_count;
	struct rr_upstream
		upstreams[1 + RR_GATEWAY_ROUTES]; /* that of the server, then those of the routes */
};

/* A call, from its arrival to the end of its answer. */
struct rr_relay {
	struct rr_gateway *gateway;
	/* The connection that the call goes to; of a callback, the connection that it came from; NULL once
	 * the call was answered. */
	struct rr_upstream *upstream;
	bool callback;
	bool called; /* a carrier has the transaction */
	struct rr_list link;
	struct rr_map_link by_xid; /* of a client's call, until it was answered */
	struct rr_exchange *exchange;
	struct rr_known known;   /* of the call */
	bool limited;            /* the reply may have sizes that rr_relay_limit_reply() lowers */
	uint32_t callback_reply; /* what rr_limits_lower_call() returned for the call */
	struct rr_transaction transaction;
	struct rpcrdma_item items[RR_MESSAGE_ITEMS];
	struct rpcrdma_message reply;
	void *memory; /* of the pool: the reply's memory, or NULL */
	/* Of the pool: the reply's stream, if the server provided it in a Read chunk; or NULL. */
	void *pulled;
	uint8_t buffer[]; /* a stream without its items: that of the call, later that of the reply */
};

/* ---- gateway.c ---- */

/* Frees the gateway. Is called once no pair or relay refers to the gateway any more. */
void rr_gateway_delete(struct rr_gateway *gateway);

/* ---- pair.c ---- */

/* Begins a pair for an accepted connection, and owns the connection from then on. If there is no memory,
 * closes the connection. */
void rr_gateway_pair_begin(
	struct rr_gateway *gateway, struct rr_carrier *client, enum rr_transport transport);

/* Ends a pair whose connection to a server is lost, or whose server cannot be reached: the client's
 * connection ends once the answers that came so far were sent. */
void rr_gateway_pair_end(struct rr_gateway_pair *pair);

/* Closes all connections of the pair, and frees it. */
void rr_gateway_pair_free(struct rr_gateway_pair *pair);

/* ---- upstream.c ---- */

/* Prepares the pair's next connection, to a server that target describes. The connection is made only when
 * it is needed. */
void rr_upstream_init(struct rr_gateway_pair *pair, const struct rr_gateway_target *target);

/* Is called when there is a call to send: begins to connect, unless the connection is up, or an attempt or a
 * delay is under way. */
void rr_upstream_want(struct rr_upstream *upstream);

/* Closes the connection to the server, and ends the search for it. The calls that were sent or wait for the
 * connection get no answer. */
void rr_upstream_end(struct rr_upstream *upstream);

/* ---- limits.c ---- */

/* Lowers the sizes of messages that a call of the client names to sizes that both connections can carry, in
 * the memory of the call. Notes in the relay what rr_relay_limit_reply() needs. */
void rr_relay_limit_call(struct rr_relay *relay);
/* Lowers the sizes of messages that the reply to a call names, in the memory of the reply, if
 * rr_relay_limit_call() has noted that it may have such sizes. Has no effect on a reply that is an error. */
void rr_relay_limit_reply(const struct rr_relay *relay, const struct rpcrdma_message *reply);

/* ---- relay.c ---- */

/* Makes a relay (the structure of a call that the gateway passes on) for a call of the client to upstream, or
 * for a callback that came from upstream. rr_relay_send() then sends the call. Returns NULL if there is no
 * memory: the exchange then ends without an answer, and the connection on which the call came ends, too. */
struct rr_relay *rr_relay_new(struct rr_upstream *upstream, struct rr_exchange *exchange, bool callback);

/* Returns the relay of the client's call with that XID that is under way to upstream, or NULL if there is no
 * such call. */
struct rr_relay *rr_relay_find(struct rr_upstream *upstream, uint32_t xid);

/* Sends the call of the relay. The connection that it goes to must be up. A call with a data item that may
 * not travel in a chunk is not sent, but answered with GARBAGE_ARGS. */
void rr_relay_send(struct rr_relay *relay);

/* Ends the relay without an answer to its call. If the connection to which the call was sent still exists,
 * cancels the call there. */
void rr_relay_drop(struct rr_relay *relay);

/* Answers the call with an error that the gateway makes itself, as the call could not be passed on or its
 * reply cannot be used. */
void rr_relay_fail(struct rr_relay *relay);

#endif
