/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_CARRIER_H
#define RR_CARRIER_CARRIER_H

#include <rpcrdma/client.h>
#include <rpcrdma/error.h>
#include <rpcrdma/xdr.h>

#include "base/address.h"
#include "base/list.h"
#include "base/text.h"
#include "carrier/counters.h"
#include "carrier/engine.h"
#include "wire/properties.h"

/*
 * A carrier is one connection that carries RPC messages, over RDMA or over TCP. Requester and
 * responder sit on the same interface; a connection may be both: the side that
 * accepted may call, too, where the side that connected takes calls. Over
 * RDMA (RFC 8167) such calls and their replies are small: what goes inline.
 *
 * All callbacks come from rr_loop_turn() only, never from inside a function
 * of this interface.
 */

struct rr_carrier;
struct rr_carrier_ops;

enum {
	RR_CALL_ITEMS = 16, /* in a call of ours: each takes up to three read segments of a long call */
	RR_MESSAGE_ITEMS =
		64, /* in any message: as many Read chunks, or Write chunks, as a header may have */
	RR_BESIDE_ITEM = 160
};

/*
 * The requester's side of one RPC transaction. The caller owns it, and all that it points to, and leaves all
 * of it alone from rr_carrier_call() until done(), or until rr_carrier_cancel() returns.
 */
struct rr_transaction {
	/* Set by the caller. */
	uint32_t xid; /* as in the message's first word */
	struct rpcrdma_message call;
	/* Octets of the stream of the reply, marked results not counted (their length words are): the most
	 * that it can have, and the least that it is taken to have (rpc/expect.h). Where neither fits inline,
	 * a Reply chunk is offered; where only the least does, the choice is the responder's. See enum
	 * rr_reply_chunks. */
	uint32_t reply_max, reply_min;
	uint32_t sink_count;
	/* Memory of the engine's pool, which the carrier takes if it needs it, where a sink's data is NULL.
	 */
	struct rpcrdma_sink sinks[RPCRDMA_SINKS_MAX]; /* for the marked results, in order: the most that each
						       can have */
	void (*done)(struct rr_transaction *transaction, int error);
	void *ctx;

	/*
	 * Set before done(), valid until done() returns: the reply. Results that were placed in sinks are its
	 * items, with offset RPCRDMA_ITEM_NEXT, and their data points into the sinks.
	 */
	struct rpcrdma_message reply;
	struct rpcrdma_item reply_items[RPCRDMA_SINKS_MAX];
	uint32_t placed; /* octets of results that the peer's RDMA Writes brought: sinks and Reply chunk */
	uint32_t pulled; /* octets of the call that the peer fetched by RDMA Read */
	uint32_t unused; /* Write chunks that were offered and came back with nothing in them */
	/*
	 * Where it is not NULL: the buffer of the engine's pool in which the reply's stream lies, or those of
	 * its items that the caller gave no memory for. done() may set it to NULL: the buffer is then the
	 * caller's, who gives it back with rr_pool_put().
	 */
	void **reply_memory;
	/* Likewise, the buffer that the reply's stream lies in where the responder had it pulled. */
	void **pulled_memory;

	/* The carrier's. */
	struct rr_list link;
	void *slot;
	int error;
};

/*
 * The responder's side: a call that arrived whole, its Read chunks pulled. It is the receiver's until
 * rr_exchange_reply() or rr_exchange_drop(), one of which must be called exactly once, also after the carrier
 * closed.
 */
struct rr_exchange {
	const struct rr_carrier_ops *ops; /* the carrier's; reply and drop work after it closed, too */
	struct rr_carrier *carrier;       /* NULL once that closed: the reply goes nowhere */
	uint32_t xid;
	struct rpcrdma_message call; /* its items have their offsets */
	/*
	 * Room for the reply: the largest marked result that can be conveyed (where a Write chunk of
	 * at least one octet waits for it: its length), and the octets of stream that can be conveyed
	 * besides. Where no Write chunk waits, the result travels in the stream: item_room then leaves
	 * RR_BESIDE_ITEM octets of it for the rest. A reply beyond either is answered by ERR_CHUNK.
	 */
	uint32_t item_room, stream_room;
	uint32_t write_chunks; /* that came with the call, empty ones too: item i of the reply is for chunk i
				*/
	/* For the layer above. */
	void *ctx;
	uint64_t arrived;
};

/* What the owner of a carrier hears. Any may be NULL. */
struct rr_carrier_events {
	void (*connected)(void *ctx);
	/* The last callback. Before it, every transaction got its done(-RPCRDMA_ERR_DISCONNECTED). The owner
	 * still calls rr_carrier_close(). text: what happened, with the peer's address. -RPCRDMA_ERR_VERS: it
	 * ended while the peer was asked for RPC-over-RDMA version 2; another connection does not ask. */
	void (*closed)(void *ctx, int error, const char *text);
	void (*call)(void *ctx, struct rr_exchange *exchange);
};

struct rr_carrier_ops {
	void (*call)(struct rr_carrier *carrier, struct rr_transaction *transaction);
	void (*cancel)(struct rr_carrier *carrier, struct rr_transaction *transaction);
	void (*reply)(struct rr_exchange *exchange, const struct rpcrdma_message *reply,
		void (*sent)(void *arg), void *arg);
	void (*drop)(struct rr_exchange *exchange);
	void (*refuse)(struct rr_exchange *exchange); /* NULL: calls of such a carrier have no chunks */
	void (*negotiated)(const struct rr_carrier *carrier, struct rpcrdma_negotiated *negotiated);
	void (*shutdown)(struct rr_carrier *carrier);
	void (*close)(struct rr_carrier *carrier);
};

/* The head of each kind of carrier. */
struct rr_carrier {
	const struct rr_carrier_ops *ops;
	struct rpcrdma_engine *engine;
	const struct rr_carrier_events *events;
	void *ctx;
	struct rpcrdma_counters counters;
	struct rr_party *party; /* whose memory it takes: base/share.h */
	char peer[RR_ADDRESS_TEXT];
	struct rr_source source; /* the same, of an accepted connection */
};

/* Sets the events of an accepted carrier: inside the acceptor's handler, or later before the next turn. */
static inline void
rr_carrier_attach(struct rr_carrier *carrier, const struct rr_carrier_events *events, void *ctx)
{
	carrier->events = events;
	carrier->ctx = ctx;
}

/* From now on the carrier takes memory in the name of that party, which belongs to another connection. */
static inline void
rr_carrier_join(struct rr_carrier *carrier, struct rr_party *party)
{
	struct rr_party *own = carrier->party;

	carrier->party = rr_party_hold(party);
	rr_party_end(own, carrier);
}

/* Starts a transaction, or queues it until there is a credit. Its outcome comes by done(), always. May be
 * called before the carrier is connected. */
static inline void
rr_carrier_call(struct rr_carrier *carrier, struct rr_transaction *transaction)
{
	carrier->ops->call(carrier, transaction);
}

/* Ends a transaction without done(): its memory is the caller's again, no peer can reach it. */
static inline void
rr_carrier_cancel(struct rr_carrier *carrier, struct rr_transaction *transaction)
{
	carrier->ops->cancel(carrier, transaction);
}

static inline void
rr_carrier_negotiated(const struct rr_carrier *carrier, struct rpcrdma_negotiated *negotiated)
{
	carrier->ops->negotiated(carrier, negotiated);
	negotiated->size = sizeof(*negotiated);
}

/* Ends the connection in good order: no new calls are taken from the peer, exchanges are answered, then it
 * closes and closed() comes. */
static inline void
rr_carrier_shutdown(struct rr_carrier *carrier)
{
	carrier->ops->shutdown(carrier);
}

/* Ends the connection at once if it has not ended, and frees the carrier. No callback comes any more, except
 * the sent() of replies under way; transactions are forgotten as if cancelled. Also allowed inside callbacks.
 */
static inline void
rr_carrier_close(struct rr_carrier *carrier)
{
	carrier->ops->close(carrier);
}

/*
 * Answers an exchange, which is gone after this. The reply's memory must stay until sent(arg) (may be NULL
 * only if it lives as long as the engine), which always comes, from the loop; it may lie in the call's
 * memory, which stays as long. reply itself and its array of items need not outlive this call. reply's items
 * are marked results, in order.
 */
static inline void
rr_exchange_reply(
	struct rr_exchange *exchange, const struct rpcrdma_message *reply, void (*sent)(void *arg), void *arg)
{
	exchange->ops->reply(exchange, reply, sent, arg);
}

/* Ends an exchange without an answer. */
static inline void
rr_exchange_drop(struct rr_exchange *exchange)
{
	exchange->ops->drop(exchange);
}

/*
 * Ends an exchange that cannot be answered, as there is no memory for it. RFC 8166, 4.5.4: "If a Responder is
 * unable to construct and transmit an RPC Reply or RPC-over-RDMA error message, the Responder MUST close the
 * connection to signal to the Requester that a reply was lost." What else is under way is answered first.
 */
static inline void
rr_exchange_lose(struct rr_exchange *exchange)
{
	if (exchange->carrier)
		rr_carrier_shutdown(exchange->carrier);
	rr_exchange_drop(exchange);
}

/*
 * Ends an exchange whose chunks are not as they must be, or leave no room for any reply: over RDMA with
 * ERR_CHUNK. The call must not have been executed.
 */
static inline void
rr_exchange_refuse(struct rr_exchange *exchange)
{
	if (exchange->ops->refuse)
		exchange->ops->refuse(exchange);
	else
		rr_exchange_lose(exchange);
}

/* ---- Where carriers come from ---- */

/* Where to connect to, or to listen at, and what is to move the messages. */
struct rr_carrier_place {
	enum rr_transport transport;
	const struct sockaddr *address;
	socklen_t size;
};

/*
 * Begins to connect to a place; connected() or closed() follows. Errors, with a text: NOMEM, SYSTEM, INVAL;
 * over RDMA adapters also NOTSUP (no library, no device, or no usable device) and LIMIT (locked memory).
 */
int rr_carrier_connect(struct rpcrdma_engine *engine, const struct rr_carrier_place *to,
	const struct rr_carrier_events *events, void *ctx, struct rr_carrier **carrier, struct rr_text *text);

/* Whether connections by that transport can be there in the engine: it has the means at work. */
bool rr_carrier_at_work(const struct rpcrdma_engine *engine, enum rr_transport transport);

/* A new connection, accepted; the handler sets its events with rr_carrier_attach() and owns it. */
typedef void rr_acceptor_handler(void *ctx, struct rr_carrier *carrier);

struct rr_carriers_ops;

/* Accepts connections at a local address: the head of each kind of acceptor. */
struct rr_acceptor {
	const struct rr_carriers_ops *ops;
	struct rpcrdma_engine *engine;
	rr_acceptor_handler *handler;
	void *ctx;
};

/* Listens at a place; each connection is accepted and handed over. Errors as of rr_carrier_connect(). */
int rr_carrier_listen(struct rpcrdma_engine *engine, const struct rr_carrier_place *at,
	rr_acceptor_handler *handler, void *ctx, struct rr_acceptor **acceptor, struct rr_text *text);

/* The address at which it listens, with the port that was chosen. -RPCRDMA_ERR_SYSTEM. */
int rr_acceptor_address(struct rr_acceptor *acceptor, struct sockaddr_storage *address);

/* What accepts there: "tcp", "iwarp", "verbs", "iwarp and verbs"; "" where another engine listens: see
 * adapters_elsewhere in engine.h. */
const char *rr_acceptor_providers(const struct rr_acceptor *acceptor);

/* Connections that were handed over live on. */
void rr_acceptor_close(struct rr_acceptor *acceptor);

/*
 * All carriers of one kind in an engine, with what these share there. A kind is a table of operations; the
 * kinds that there are stand in rr_carriers_known, and nowhere else.
 */
struct rr_carriers {
	const struct rr_carriers_ops *ops;
	struct rpcrdma_engine *engine;
	struct rr_list link; /* the engine's */
};

struct rr_carriers_ops {
	uint32_t transports; /* bit t: this kind is for the transport t */
	/* With the engine; the memory is the kind's until end(). INVAL: the engine's configuration; NOMEM,
	 * SYSTEM. */
	int (*begin)(struct rpcrdma_engine *engine, struct rr_carriers **carriers);
	/* Every carrier and acceptor was closed. */
	void (*end)(struct rr_carriers *carriers);
	int (*connect)(struct rr_carriers *carriers, const struct rr_carrier_place *to,
		const struct rr_carrier_events *events, void *ctx, struct rr_carrier **carrier,
		struct rr_text *text);
	/* The caller fills in the head of the acceptor before the next turn of the loop. */
	int (*listen)(struct rr_carriers *carriers, const struct rr_carrier_place *at,
		struct rr_acceptor **acceptor, struct rr_text *text);
	int (*address)(struct rr_acceptor *acceptor, struct sockaddr_storage *address);
	const char *(*providers)(const struct rr_acceptor *acceptor);
	void (*unlisten)(struct rr_acceptor *acceptor);
	/* Whether connections by that transport can be there: it is at work in the engine. */
	bool (*at_work)(const struct rr_carriers *carriers, enum rr_transport transport);
};

/* Ends with NULL. */
extern const struct rr_carriers_ops *const rr_carriers_known[];

#endif
