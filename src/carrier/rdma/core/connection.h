/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_CORE_CONNECTION_H
#define RR_CARRIER_RDMA_CORE_CONNECTION_H

#include "base/map.h"
#include "carrier/carrier.h"
#include "carrier/rdma/arrival.h"
#include "carrier/rdma/core/credits.h"
#include "carrier/rdma/core/room.h"
#include "carrier/rdma/core/stall.h"
#include "carrier/rdma/core/threshold.h"
#include "carrier/rdma/core/trace.h"
#include "carrier/rdma/features/feature.h"
#include "carrier/rdma/features/negotiation.h"

/* An RPC-over-RDMA connection inside. The connecting side is requester, the accepting side responder; in the
 * reverse direction (RFC 8167) it is the other way round. Messages of the reverse direction go inline only,
 * with credits of their own.
 *
 * The core is connection.c, stall.c and the driver. Requester, responder and features call the core; the core
 * calls them through one table, struct rr_connection_parts.
 *
 * Callbacks of the owner come from the driver's event handler and from the connection's task, that is from
 * the loop. Inside any callback the owner may close the connection, which is then buried: `closed` says that
 * the owner must not be called any more. */
struct rr_connection;

/* A chain is a sequence of work requests that belong together. They are posted in order, as the endpoint has
 * room for them. A Send is the last work request of its chain. */
struct rr_chain {
	/* Fills in the next work request with at most sge_max sges; false: there are no more. */
	bool (*next)(struct rr_chain *chain, struct rr_work *work, struct rr_sge *sges, uint32_t sge_max);
	/* Is called when a work request of the chain completed: status is 0, or the error. With the last of
	 * these calls the chain may be freed. */
	void (*completed)(struct rr_chain *chain, enum rr_work_kind kind, int status);
	/* If the provider copies the Send, completed() may be called before rr_driver_submit() returns. true:
	 * completed() then does not call the owner of the connection. false: it may call the owner, so the
	 * driver calls it later, at the end of the event or task. */
	bool calls_nobody;
	struct rr_list link; /* in the connection's `chains` while work requests are not posted; then in
				`copied`, if the provider copied the Send */
};

/* The states of a connection. */
enum rr_connection_state {
	RR_CONNECTION_CONNECTING,
	RR_CONNECTION_OPEN,
	RR_CONNECTION_STOPPING, /* the owner wants a good end: calls under way are finished */
	RR_CONNECTION_LEAVING,  /* they are finished: the provider disconnects */
	RR_CONNECTION_ABORTED,  /* ended by this side at once; the task calls the owner */
	RR_CONNECTION_ENDED     /* the owner has been called */
};

struct rr_outbound; /* requester.h */

/* The functions of requester, responder and features that the core calls, or that one of these parts calls of
 * another part. carrier.c has the only table of them. */
struct rr_connection_parts {
	/* Is called when the connection is up, before the connected() of its owner: begins the features. */
	void (*begun)(struct rr_connection *connection);
	/* Is called when a message arrived: hands it to the part that it is for (dispatch.c). */
	void (*received)(struct rr_connection *connection, const struct rr_event *event);
	/* Sends the calls that wait, and disconnects if the owner wants that and nothing is left to do. */
	void (*go_on)(struct rr_connection *connection);
	/* Sends the requests of features that are due. Returns false if calls have to wait for a request or
	 * its answer. */
	bool (*may_call)(struct rr_connection *connection);
	/* Is called when the answer to the CONNPROP (the announcement of transport properties: properties.h)
	 * of this side is late. Tells whether the peer sent a CONNPROP of its own instead of that answer. If
	 * so, ends the CONNPROP of this side, which gives its credit back. */
	bool (*is_unanswered)(struct rr_connection *connection);
	/* Sends calls that wait. */
	void (*pump)(struct rr_connection *connection);
	/* Tells whether no call of this side is under way or waits. */
	bool (*is_idle)(const struct rr_connection *connection);
	/* Is called when the endpoint was closed: ends all parts of the connection, and calls the owner. */
	void (*ended)(struct rr_connection *connection);
};

/* How many calls in the reverse direction there can be at a time: the accepting side asks for this many
 * credits, and the connecting side grants them. */
enum { RR_REVERSE_CREDITS = 16 };

/* The requester of a connection. */
struct rr_requester {
	struct rr_credits credits;
	struct rr_list waiting;     /* transactions that wait for a credit or for memory */
	struct rr_list failed;      /* transactions whose done() comes from the task */
	struct rr_list outstanding; /* outbounds whose transactions wait for their replies */
	/* Outbounds whose transactions were cancelled, and whose replies have not come. */
	struct rr_list cancelled;
	struct rr_list free;  /* outbounds */
	struct rr_list dones; /* RDMA_DONE messages under way */
	struct rr_map by_xid;
	struct rr_outbound *outbounds; /* an accepted connection has them from its first call on */
	uint8_t *buffers;              /* for the outbounds: one for each */
	struct rr_pool_waiter memory;  /* the wait of the calls in `waiting` for pool memory */
	/* The time since which calls have been waiting for a credit, or for memory; 0: no call waits. */
	uint64_t without_credit, without_memory;
};

/* The replies that this side exposes as Read chunks: provided.h. */
struct rr_provided_table {
	struct rr_list list;
	struct rr_map by_xid; /* the entries of the list; made with the first entry */
	uint32_t count;       /* in the list */
	/* exposed: entries that were not withdrawn after a timeout; peak: the most of them at a time. */
	uint32_t exposed, peak;
	uint64_t octets; /* in the entries that are exposed */
};

/* An RPC-over-RDMA connection. */
struct rr_connection {
	struct rr_carrier base; /* comes first */
	const struct rr_connection_parts *parts;
	struct rr_room *room;         /* of its engine */
	struct rr_fabric *fabric;     /* one of the room's */
	struct rr_endpoint *endpoint; /* of the fabric; NULL once it is closed */
	enum rr_connection_state state;
	bool is_active;                                   /* this side connected; false: it accepted */
	bool established, closed, peer_sent_private_data; /* closed: by the owner */
	bool declined;   /* a call of the peer was declined while this side was stopping */
	uint32_t inside; /* calls of rr_connection_enter() without their rr_connection_leave() */
	struct rr_grave grave;
	struct rr_private_data own, peer;             /* the settings that each side announces: RFC 8797 */
	struct rr_thresholds thresholds[RR_VERSIONS]; /* of version 1, of version 2 */
	struct rr_version_range versions;             /* that this side uses */
	struct rr_negotiation negotiation;
	struct rr_features features; /* of version 2 */
	struct rr_tls_facts tls;     /* what protects it; all 0: nothing does. Its peer is tls_peer */
	char tls_peer[64];
	int status; /* of the end: 0 or a negative error */
	struct rr_text text;
	struct rr_task task;

	struct rr_trace trace;

	struct rr_list chains; /* that have work requests not yet posted */
	struct rr_list copied; /* chains whose Send the provider copied and whose completed() is due */
	uint32_t posted;       /* work requests that are posted and not completed */
	struct rr_stall stall;
	/* Expires if the first reply is late: the peer then gets an empty frame (driver.c). kicks counts
	 * these frames. */
	struct rr_timer kick;
	uint32_t kicks;

	struct rr_requester requester;
	struct rr_list exchanges; /* the responder's, from arrival to the completion of the reply */
	struct rr_provided_table provided;
	/* Credits that this side granted to the peer: in its last message, and the least and the most so
	 * far. */
	uint32_t granted, granted_min, granted_max;
	uint32_t unanswered; /* calls of the peer, each up to the Send that answers it */
};

/* Returns how many octets this side may send inline in one message of the version: the threshold for calls on
 * the side that connected, the threshold for replies on the side that accepted. For messages to this side,
 * see rr_connection_receive_max(). RFC 8167, 4.2: "The call inline threshold for the reverse direction is the
 * same as the reply inline threshold for the forward direction, and vice versa." */
static inline uint32_t
rr_connection_send_max(const struct rr_connection *connection, uint32_t version)
{
	const struct rr_thresholds *thresholds = &connection->thresholds[version - 1];

	return connection->is_active ? thresholds->call : thresholds->reply;
}

/* Returns how many octets the peer may send to this side inline in one message of the version. */
static inline uint32_t
rr_connection_receive_max(const struct rr_connection *connection, uint32_t version)
{
	const struct rr_thresholds *thresholds = &connection->thresholds[version - 1];

	return connection->is_active ? thresholds->reply : thresholds->call;
}

/* Tells whether both sides announced that they support responder-provided Read chunks. */
static inline bool
rr_connection_read_chunks(const struct rr_connection *connection)
{
	return rr_properties_read_chunks(&connection->features.properties);
}

static inline struct rr_connection *
rr_connection_of(struct rr_carrier *carrier)
{
	return rr_container(carrier, struct rr_connection, base);
}

/* ---- carrier.c ---- */

/* Makes a connection over the fabric that has no endpoint yet. peer is the peer's address as text. is_active
 * is true on the side that connects, and false on the side that accepts: only then does the connection count
 * as accepted. Returns NULL if there is no memory. */
struct rr_connection *rr_rdma_new(
	struct rr_room *room, struct rr_fabric *fabric, const char *peer, bool is_active);

/* Frees a connection that has no endpoint. */
void rr_rdma_free(struct rr_connection *connection);

/* ---- connection.c ---- */

/* Reads the peer's settings from the private data that the peer sent, and computes the thresholds of both
 * versions from them. If private_data does not contain such settings, their defaults hold. Is called with no
 * data when the connection is made, and with the peer's data when it is accepted or established. */
void rr_connection_set_peer(struct rr_connection *connection, const void *private_data, size_t size);
/* Sets the state, and logs the change. No other function changes the state. */
void rr_connection_set_state(struct rr_connection *connection, enum rr_connection_state state);

/* Marks the beginning of code that may call the owner; rr_connection_leave() marks its end. The two can be
 * nested. At the outermost end, the Sends that the provider copied are completed. */
static inline void
rr_connection_enter(struct rr_connection *connection)
{
	connection->inside++;
}

void rr_connection_leave(struct rr_connection *connection);

/* Is called when the provider reports that the connection is up: sets the state and calls the owner's
 * connected(). */
void rr_connection_established(struct rr_connection *connection);

/* Counts a message that is discarded, frees its buffer, and posts the Receive again that it used up. */
void rr_connection_discard(struct rr_connection *connection, const struct rr_arrival *arrival);

/* Disconnects a connection that its owner is shutting down, if nothing is under way. */
void rr_connection_check_idle(struct rr_connection *connection);

/* ---- driver.c: all that touches the fabric ---- */

int rr_driver_connect(
	struct rr_connection *connection, const struct rr_carrier_place *to, struct rr_text *text);

/* Accepts the endpoint of a peer that asks a listener for a connection. The endpoint then belongs to the
 * connection, also after an error. */
int rr_driver_accept(struct rr_connection *connection, struct rr_endpoint *endpoint, const void *private_data,
	size_t size);

/* Returns how many Receives each connection posts at its beginning. */
uint32_t rr_driver_receives(const struct rpcrdma_engine *engine);

/* Posts the chain's work requests, as far as the endpoint has room, and the rest as other work requests
 * complete. Has no effect if the endpoint is closed: completed() is then never called. */
void rr_driver_submit(struct rr_connection *connection, struct rr_chain *chain);

/* rr_driver_post() posts the only work request that a chain has left; the chain is in no list. The caller has
 * filled in what is posted, but not the cookie, and has found that rr_driver_can_post(): that no other chain
 * waits for room, and there is room for this work request. */
bool rr_driver_can_post(const struct rr_connection *connection);
void rr_driver_post(struct rr_connection *connection, struct rr_chain *chain, struct rr_work *work);

/* Calls completed() of the chains whose Send the provider copied. This may call the owner. */
void rr_driver_complete(struct rr_connection *connection);

/* Registers memory for access by the peer, and counts the registration. Returns 0, the provider's error, or
 * -RPCRDMA_ERR_DISCONNECTED if the connection has no endpoint any more. */
int rr_driver_register(struct rr_connection *connection, const void *data, uint32_t length,
	enum rr_access access, struct rr_region *region);
/* rr_driver_invalidate() ends the peer's access to the region, and makes its handle invalid.
 * rr_driver_revoke() only ends the access: the peer may still invalidate the handle with a Send. If the
 * provider cannot do it, the connection is aborted. */
void rr_driver_invalidate(struct rr_connection *connection, struct rr_region *region);
void rr_driver_revoke(struct rr_connection *connection, struct rr_region *region);
/* Posts count Receives, that is, lets the peer send so many messages more. Does nothing if the connection has
 * no endpoint any more. */
void rr_driver_allow(struct rr_connection *connection, uint32_t count);
/* Gives the buffer of a message that arrived back to the fabric. receive may be NULL. */
void rr_driver_release(struct rr_fabric *fabric, uint8_t *receive);
/* Returns how many pieces of memory a work request can have at most: the provider's limit, but never more
 * than RR_MAX_SGE. */
uint32_t rr_driver_sge_max(const struct rr_fabric *fabric);

/* Returns the name of the provider. */
const char *rr_driver_name(const struct rr_fabric *fabric);

/* Tells whether the provider can invalidate handles of the peer by its Sends. */
bool rr_driver_invalidates(const struct rr_fabric *fabric);

/* Tells whether other connections wait for Receives of the fabric. */
bool rr_driver_is_short(struct rr_fabric *fabric);

/* Returns the octets that the provider has counted as moved on the connection. */
uint64_t rr_driver_moved(const struct rr_connection *connection);

/* Is called when a call, or a request of a feature, is sent. If no message has come from the peer yet, starts
 * a timer: when the timer expires, the peer gets a frame without contents, which wakes a peer that missed the
 * first message. Does nothing if the timer is armed, or if the peer got such a frame already. */
void rr_driver_watch_first_reply(struct rr_connection *connection);
/* rr_driver_disconnect() ends the connection in good order; its end is reported as an event.
 * rr_driver_close() closes the endpoint at once and forgets all chains; their completed() is not called. */
void rr_driver_disconnect(struct rr_connection *connection);
void rr_driver_close(struct rr_connection *connection);

/* Closes the endpoint at once because of an error; the arguments say why, for the log and for the owner. The
 * connection's task later ends all parts and calls the owner's closed(). Has no effect if the endpoint is
 * closed. */
void rr_driver_abort(struct rr_connection *connection, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- requester.c and reply.c ---- */

/* rr_requester_init() prepares the requester, and makes the outbounds of the side that connected. Returns 0
 * or -RPCRDMA_ERR_NOMEM. rr_requester_destroy() frees the outbounds, after rr_requester_end(). */
int rr_requester_init(struct rr_connection *connection);
void rr_requester_destroy(struct rr_connection *connection);
/* See rr_carrier_call() and rr_carrier_cancel(). */
void rr_requester_call(struct rr_connection *connection, struct rr_transaction *transaction);
void rr_requester_cancel(struct rr_connection *connection, struct rr_transaction *transaction);

/* Sends the calls that wait, as far as there are credits and memory. Does not call the owner. */
void rr_requester_pump(struct rr_connection *connection);

/* Calls the done() of the transactions in the list `failed`. If one of them closes the connection, the rest
 * have ended without their done(). */
void rr_requester_tell(struct rr_connection *connection);
/* Handles a message that arrived for a call of this side: a reply, or an RDMA_ERROR. */
void rr_requester_answered(struct rr_connection *connection, const struct rr_arrival *arrival);
/* Tells whether a call of this side has that XID, also a cancelled call. */
bool rr_requester_knows(const struct rr_connection *connection, uint32_t xid);
/* Tells whether no call of this side is under way, waits, or is due to fail. Cancelled calls do not count. */
bool rr_requester_idle(const struct rr_connection *connection);

/* Ends all transactions after the endpoint was closed: with done() and an error, or, if forget is true,
 * without done(). */
void rr_requester_end(struct rr_connection *connection, bool forget);

/* ---- optional.c ---- */

/* Prepares the features (optional protocol extensions) of version 2. Returns 0 or -RPCRDMA_ERR_NOMEM. */
int rr_optional_init(struct rr_connection *connection);

/* Sends the requests of features (optional protocol extensions) that can be sent, as far as there are
 * credits. The first request asks for version 2. Returns true if calls may be sent, and false if they have to
 * wait for a request or its answer. */
bool rr_optional_ask(struct rr_connection *connection);

/* Is called when the answer to the CONNPROP of this side is late. Tells whether the peer sent a CONNPROP of
 * its own instead of that answer. If so, ends the CONNPROP of this side, which gives its credit back. */
bool rr_optional_unanswered(struct rr_connection *connection);

/* Ends the requests of features, as the endpoint was closed and the requests will not be answered. */
void rr_optional_end(struct rr_connection *connection);

/* Tells whether the RDMA_ERROR that arrived answers a request of a feature. If so, ends the request; the
 * message then needs no further handling. */
bool rr_optional_refused(struct rr_connection *connection, const struct rr_arrival *arrival);

/* Handles an RDMA_OPTIONAL that arrived, or discards it if this side takes no such messages any more. */
void rr_optional_received(struct rr_connection *connection, const struct rr_arrival *arrival);

/* ---- responder.c, respond.c and inbound.c ---- */

/* Handles a call that arrived, or a wrong message that must have been a call. Discards it if this side is
 * being shut down, or is ending. */
void rr_responder_called(struct rr_connection *connection, const struct rr_arrival *arrival);
/* See the functions of carrier.h with these names: rr_exchange_reply(), rr_exchange_drop(),
 * rr_exchange_refuse(). */
void rr_responder_reply(struct rr_exchange *exchange, const struct rpcrdma_message *reply,
	void (*sent)(void *arg), void *arg);
void rr_responder_drop(struct rr_exchange *exchange);
void rr_responder_refuse(struct rr_exchange *exchange);

/* Ends the responder after the endpoint was closed. Exchanges (calls of the peer) live on without it until
 * they are answered. */
void rr_responder_end(struct rr_connection *connection);

/* Frees the structures of inbound calls that the room keeps for reuse. */
void rr_responder_trim(struct rr_room *room);

#endif
