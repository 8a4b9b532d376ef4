/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_CARRIER_H
#define RR_CARRIER_CARRIER_H

#include <rpcrdma/client.h>
#include <rpcrdma/error.h>
#include <rpcrdma/xdr.h>

#include "base/address.h"
#include "base/list.h"
#include "base/text.h"
#include "base/tls/tls.h"
#include "carrier/counters.h"
#include "carrier/engine.h"
#include "wire/properties.h"

/* A carrier is one connection that carries RPC messages, over RDMA or over TCP. Requester and responder use
 * the same interface. A connection may be both: the side that accepted may call, too, if the side that
 * connected takes calls. Over RDMA (RFC 8167) such calls and their replies must be small enough to go inline.
 *
 * All callbacks come from rr_loop_turn() only, never from inside a function of this interface. */

struct rr_carrier;
struct rr_carrier_ops;

enum {
	RR_CALL_ITEMS =
		16, /* data items in a call of this side; in a long call each has up to three segments */
	RR_MESSAGE_ITEMS =
		64, /* items in any message: as many as a header may have Read chunks, or Write chunks */
	RR_BESIDE_ITEM = 160 /* octets of a reply beside a result in its stream */
};

/* A transaction is the requester's side of one call. The caller owns the transaction and all that it points
 * to, and changes none of this memory from rr_carrier_call() until done(), or until rr_carrier_cancel()
 * returns. */
struct rr_transaction {
	/* The caller sets what follows. */
	uint32_t xid; /* as in the message's first word */
	struct rpcrdma_message call;
	/* Octets of the stream of the reply: the most that it can have, and the least that it is expected to
	 * have (rpc/expect.h). Marked results do not count, but their length words do. If not even the least
	 * fits inline, a Reply chunk is offered; if the least fits and the most does not, a responder that
	 * can provide a Read chunk chooses: see enum rr_reply_chunks. */
	uint32_t reply_max, reply_min;
	uint32_t sink_count;
	/* Memory for the marked results, in their order; the length of a sink is the most octets that its
	 * result can have. If the data of a sink is NULL, the carrier takes memory for the result from the
	 * engine's pool when it needs memory. */
	struct rpcrdma_sink sinks[RPCRDMA_SINKS_MAX];
	/* Is called once, from the loop, when the call has ended. error is 0 if reply is set, else the reason
	 * why there is no reply. */
	void (*done)(struct rr_transaction *transaction, int error);
	void *ctx;

	/* The carrier sets the reply before done(), and the reply is valid until done() returns. Results that
	 * were placed in sinks are its items, with offset RPCRDMA_ITEM_NEXT, and their data points into the
	 * sinks. */
	struct rpcrdma_message reply;
	struct rpcrdma_item reply_items[RPCRDMA_SINKS_MAX];
	uint32_t placed; /* octets of results that the peer wrote: into sinks or the Reply chunk */
	uint32_t pulled; /* octets of the call that the peer fetched by RDMA Read */
	uint32_t unused; /* Write chunks that were offered and came back empty */
	/* If this is not NULL, it points to the carrier's pointer to a buffer of the engine's pool. The
	 * reply's stream lies in that buffer, or those of its items for which the caller gave no memory.
	 * done() may set the pointer to NULL: the buffer then belongs to the caller, who returns it with
	 * rr_pool_put(). */
	void **reply_memory;
	/* If this is not NULL, the responder provided the reply in a Read chunk: it points to the carrier's
	 * pointer to the buffer of the engine's pool into which the reply was read. done() may set that
	 * pointer to NULL, as it may do with reply_memory. */
	void **pulled_memory;

	/* What follows belongs to the carrier. */
	struct rr_list link;
	void *outbound; /* the carrier's state of the call; NULL: it has none */
	int error;      /* why the call failed, if its done() is still due */
};

/* An exchange is the responder's side of one call, which has arrived whole, with its Read chunks pulled. The
 * receiver of the call owns the exchange until rr_exchange_reply() or rr_exchange_drop(). One of these must
 * be called exactly once, also after the carrier closed. */
struct rr_exchange {
	/* The carrier's; reply and drop work also after the carrier closed. */
	const struct rr_carrier_ops *ops;
	struct rr_carrier *carrier; /* NULL once the carrier closed: the reply is then not sent */
	uint32_t xid;
	struct rpcrdma_message call; /* its items have their offsets */
	/* Room for the reply. item_room: the length of the largest marked result that can be conveyed; if the
	 * first Write chunk has at least one octet, this is the length of that chunk. stream_room: the octets
	 * of stream that can be conveyed besides. Without a Write chunk the result travels in the stream:
	 * item_room then leaves RR_BESIDE_ITEM octets of stream_room for the rest. A reply beyond either is
	 * answered by ERR_CHUNK. */
	uint32_t item_room, stream_room;
	/* Write chunks that came with the call, empty ones too: item i of the reply is for chunk i */
	uint32_t write_chunks;
	/* The RPC layer (server_turns.c) sets what follows. taken: the call's credential was accepted before,
	 * and then the call waited for memory. */
	bool taken;
	void *ctx;
	uint64_t arrived; /* ns, rr_loop_now(): when the RPC layer got the call */
};

/* The callbacks of the owner of a carrier. Any of them may be NULL. */
struct rr_carrier_events {
	void (*connected)(void *ctx); /* the connection is up */
	/* The last callback. Before it, every transaction got its done(-RPCRDMA_ERR_DISCONNECTED). The owner
	 * still calls rr_carrier_close(). text: what happened, with the peer's address. error is
	 * -RPCRDMA_ERR_VERS if the connection ended while this side asked the peer for RPC-over-RDMA version
	 * 2; the next connection does not ask for it. */
	void (*closed)(void *ctx, int error, const char *text);
	/* A call of the peer has arrived. The owner now owns the exchange. NULL: this side takes no calls. */
	void (*call)(void *ctx, struct rr_exchange *exchange);
};

/* The operations of one kind of carrier; the functions below say what each of them does. */
struct rr_carrier_ops {
	void (*call)(struct rr_carrier *carrier, struct rr_transaction *transaction);
	void (*cancel)(struct rr_carrier *carrier, struct rr_transaction *transaction);
	void (*reply)(struct rr_exchange *exchange, const struct rpcrdma_message *reply,
		void (*sent)(void *arg), void *arg);
	void (*drop)(struct rr_exchange *exchange);
	void (*refuse)(struct rr_exchange *exchange); /* NULL: such a carrier has no chunks */
	void (*negotiated)(const struct rr_carrier *carrier, struct rpcrdma_negotiated *negotiated);
	void (*shutdown)(struct rr_carrier *carrier);
	void (*close)(struct rr_carrier *carrier);
};

/* The head of each kind of carrier: the structure of that kind (struct rr_tcp, struct rr_connection) begins
 * with it. */
struct rr_carrier {
	const struct rr_carrier_ops *ops;
	struct rpcrdma_engine *engine;
	const struct rr_carrier_events *events;
	void *ctx;
	struct rpcrdma_counters counters;
	struct rr_party *party; /* the party in whose name the carrier takes memory: base/share/share.h */
	struct rr_payer *payer; /* of the party, for the time of the loop that the carrier takes */
	char peer[RR_ADDRESS_TEXT];
	struct rr_source source; /* the peer's address and port, as numbers */
};

/* Sets the callbacks of a carrier (one connection), and the ctx that is passed to them. For an accepted
 * connection this is done inside the acceptor's handler or later, but before the next turn of the loop. */
static inline void
rr_carrier_attach(struct rr_carrier *carrier, const struct rr_carrier_events *events, void *ctx)
{
	carrier->events = events;
	carrier->ctx = ctx;
}

/* Makes the carrier (one connection) share the party of another connection. A party is a connection as the
 * pools see it (base/share/share.h): memory and time that the carrier takes from now on count for that party.
 * The carrier's own party ends. */
static inline void
rr_carrier_join(struct rr_carrier *carrier, struct rr_party *party)
{
	struct rr_party *own = carrier->party;

	carrier->party = rr_party_hold(party);
	carrier->payer = &party->payer;
	rr_party_end(own, carrier);
}

/* Sends the call of a transaction (a call and its reply), at once or when there is a credit for it. The
 * carrier need not be connected yet. done() always brings the outcome, unless the transaction is cancelled or
 * the carrier is closed. */
static inline void
rr_carrier_call(struct rr_carrier *carrier, struct rr_transaction *transaction)
{
	carrier->ops->call(carrier, transaction);
}

/* Ends a transaction (a call and its reply) without calling its done(). From then on the transaction's memory
 * belongs to the caller again, and the peer can no longer reach that memory. */
static inline void
rr_carrier_cancel(struct rr_carrier *carrier, struct rr_transaction *transaction)
{
	carrier->ops->cancel(carrier, transaction);
}

/* Fills in negotiated with what both sides of the connection agreed on: versions, thresholds, credits. */
static inline void
rr_carrier_negotiated(const struct rr_carrier *carrier, struct rpcrdma_negotiated *negotiated)
{
	carrier->ops->negotiated(carrier, negotiated);
	negotiated->size = sizeof(*negotiated);
}

/* Ends the connection in good order: accepts no new calls from the peer, waits until the calls that the peer
 * sent are answered, then closes the connection and calls closed(). Over RDMA, calls of this side that are
 * under way are finished first, too; over TCP they end at once, with -RPCRDMA_ERR_DISCONNECTED. */
static inline void
rr_carrier_shutdown(struct rr_carrier *carrier)
{
	carrier->ops->shutdown(carrier);
}

/* Ends the connection at once, if it has not ended, and frees the carrier. Transactions end without their
 * done(). After this, only the sent() of replies under way is called. Callbacks may call this function,
 * too. */
static inline void
rr_carrier_close(struct rr_carrier *carrier)
{
	carrier->ops->close(carrier);
}

/* Sends the reply to the call of an exchange (a call of the peer), and ends the exchange. The items of the
 * reply are its results that may be sent by RDMA, in order. The structure *reply and its array of items are
 * used only inside this function. The memory that they point to must stay until sent(arg), which the loop
 * always calls later; it may lie in the call's memory, which also stays until then. sent may be NULL only if
 * that memory lives as long as the engine. */
static inline void
rr_exchange_reply(
	struct rr_exchange *exchange, const struct rpcrdma_message *reply, void (*sent)(void *arg), void *arg)
{
	exchange->ops->reply(exchange, reply, sent, arg);
}

/* Ends an exchange (a call of the peer) without an answer. */
static inline void
rr_exchange_drop(struct rr_exchange *exchange)
{
	exchange->ops->drop(exchange);
}

/* Ends an exchange (a call of the peer) that cannot be answered, as there is no memory for the answer. The
 * connection closes after the other calls under way are answered. RFC 8166, 4.5.4: "If a Responder is unable
 * to construct and transmit an RPC Reply or RPC-over-RDMA error message, the Responder MUST close the
 * connection to signal to the Requester that a reply was lost." */
static inline void
rr_exchange_lose(struct rr_exchange *exchange)
{
	if (exchange->carrier)
		rr_carrier_shutdown(exchange->carrier);
	rr_exchange_drop(exchange);
}

/* Ends an exchange (a call of the peer) that was not executed, as its chunks are malformed or leave no room
 * for any reply. Over RDMA the peer gets ERR_CHUNK. A transport without this error loses the exchange, as
 * rr_exchange_lose() does. */
static inline void
rr_exchange_refuse(struct rr_exchange *exchange)
{
	if (exchange->ops->refuse)
		exchange->ops->refuse(exchange);
	else
		rr_exchange_lose(exchange);
}

/* ---- Where carriers come from ---- */

/* The address to connect to, or to listen at, and the transport that moves the messages. */
struct rr_carrier_place {
	enum rr_transport transport;
	const struct sockaddr *address;
	socklen_t size;
	const struct rr_secure *secure; /* lives as long as the carrier; NULL: without TLS */
};

/* Begins to connect to an address, and stores the new carrier, which the caller owns, in *carrier.
 * connected() or closed() is called later, with ctx. Returns 0, or an error with a text: NOMEM, SYSTEM,
 * INVAL; over RDMA adapters also NOTSUP (no library, no device, or no usable device) and LIMIT (locked
 * memory). */
int rr_carrier_connect(struct rpcrdma_engine *engine, const struct rr_carrier_place *to,
	const struct rr_carrier_events *events, void *ctx, struct rr_carrier **carrier, struct rr_text *text);

/* Tells whether the engine can have connections over that transport now. RDMA adapters count only after they
 * were opened for the first connection or listener over them. */
bool rr_carrier_at_work(const struct rpcrdma_engine *engine, enum rr_transport transport);

/* Takes a new connection, which was accepted. The handler owns it, and sets its events with
 * rr_carrier_attach(). */
typedef void rr_acceptor_handler(void *ctx, struct rr_carrier *carrier);

struct rr_carriers_ops;

/* An acceptor accepts connections at a local address. This is the head of each kind of acceptor. */
struct rr_acceptor {
	const struct rr_carriers_ops *ops;
	struct rpcrdma_engine *engine;
	rr_acceptor_handler *handler;
	void *ctx;
};

/* Listens at an address, and stores the acceptor, which the caller owns, in *acceptor. Each connection is
 * accepted and handed to the handler with ctx. Errors are those of rr_carrier_connect(). */
int rr_carrier_listen(struct rpcrdma_engine *engine, const struct rr_carrier_place *at,
	rr_acceptor_handler *handler, void *ctx, struct rr_acceptor **acceptor, struct rr_text *text);

/* Stores the address at which the acceptor listens, with the port that was chosen. Returns 0 or
 * -RPCRDMA_ERR_SYSTEM. */
int rr_acceptor_address(struct rr_acceptor *acceptor, struct sockaddr_storage *address);

/* Returns the names of the providers that accept connections for the acceptor: "tcp", "iwarp", "verbs",
 * "iwarp and verbs". Returns "" if another engine listens there (adapters_elsewhere in engine.h). */
const char *rr_acceptor_providers(const struct rr_acceptor *acceptor);

/* Stops listening and frees the acceptor. Connections that were handed over live on. */
void rr_acceptor_close(struct rr_acceptor *acceptor);

/* All carriers of one kind in an engine, with the data that they share there. A kind is a table of
 * operations. The table rr_carriers_known alone lists the kinds. */
struct rr_carriers {
	const struct rr_carriers_ops *ops;
	struct rpcrdma_engine *engine;
	struct rr_list link; /* in the engine's list */
};

/* The operations of one kind of carriers. */
struct rr_carriers_ops {
	uint32_t transports; /* bit t: this kind works by the transport t */
	/* Makes the kind's part of a new engine. The kind owns the memory until end(). Errors: INVAL (the
	 * engine's configuration), NOMEM, SYSTEM. */
	int (*begin)(struct rpcrdma_engine *engine, struct rr_carriers **carriers);
	/* Frees what begin() made. Every carrier and acceptor must have been closed before. */
	void (*end)(struct rr_carriers *carriers);
	int (*connect)(struct rr_carriers *carriers, const struct rr_carrier_place *to,
		const struct rr_carrier_events *events, void *ctx, struct rr_carrier **carrier,
		struct rr_text *text);
	/* Listens; the caller fills in the head of the acceptor before the next turn of the loop. */
	int (*listen)(struct rr_carriers *carriers, const struct rr_carrier_place *at,
		struct rr_acceptor **acceptor, struct rr_text *text);
	int (*address)(struct rr_acceptor *acceptor, struct sockaddr_storage *address);
	const char *(*providers)(const struct rr_acceptor *acceptor);
	void (*unlisten)(struct rr_acceptor *acceptor);
	/* Tells whether the transport is at work in the engine, so that connections by it are possible. */
	bool (*at_work)(const struct rr_carriers *carriers, enum rr_transport transport);
};

/* The kinds of carriers; NULL is the last entry. */
extern const struct rr_carriers_ops *const rr_carriers_known[];

#endif
