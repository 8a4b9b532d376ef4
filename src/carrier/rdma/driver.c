/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>

#include "base/peer_log.h"
#include "base/probe.h"
#include "carrier/rdma/core/connection.h"

/* Drives the endpoint of a connection; no other file touches endpoints. Fabrics are made and chosen by
 * provider.c, and acceptor.c listens with them.
 *
 * Ownership: the connection owns its endpoint from rr_driver_connect() or rr_driver_accept() to
 * rr_driver_close(). Chains belong to their makers. A chain waits in the connection's list until all its work
 * requests are posted; the memory that these point to stays until they completed or the endpoint was closed.
 * The receive of an arrival belongs to the function that is given the arrival. That function returns the
 * receive by rr_driver_release(), or hands it on. */

/* Receives beyond the credits: for messages that a peer may send without a credit. */
enum { RECEIVE_MARGIN = 2 };

/* How long to wait for the first reply before each kick. Linux misses the first frame of a third of the
 * connections whose peer is as quick as this project. */
static const uint64_t kick_delays[] = { 30 * RR_MILLISECOND, 900 * RR_MILLISECOND };

enum { KICKS = sizeof(kick_delays) / sizeof(kick_delays[0]) };

/* ---- Work requests ---- */

/* Completes a chain whose Send the provider copied, as its memory is no longer needed. If the chain's
 * completed() may call the owner, completed() is called later: at the end of the event or of the task
 * (rr_connection_leave()). If the connection is in neither, the task is queued for that. */
static void
driver_take_copied(struct rr_connection *connection, struct rr_chain *chain)
{
	if (chain->calls_nobody) {
		chain->completed(chain, RR_WORK_SEND, 0);
		return;
	}
	rr_list_append(&connection->copied, &chain->link);
	if (connection->inside == 0)
		rr_loop_defer(connection->base.engine->loop, &connection->task);
}

void
rr_driver_complete(struct rr_connection *connection)
{
	struct rr_list *link;

	while ((link = rr_list_pop(&connection->copied))) {
		struct rr_chain *chain = rr_container(link, struct rr_chain, link);

		chain->completed(chain, RR_WORK_SEND, 0);
	}
}

/* Counts a work request that was posted, if it is an RDMA Read or an RDMA Write. */
static inline void
driver_count_transfer(struct rr_connection *connection, const struct rr_work *work)
{
	if (work->kind <= RR_WORK_SEND_INVALIDATE)
		return;
	RR_PROBE(rdma_posted, connection->base.peer, work->kind == RR_WORK_WRITE, work->remote_handle,
		work->remote_offset);
	connection->base.counters.rdma_reads += work->kind == RR_WORK_READ;
	connection->base.counters.rdma_writes += work->kind == RR_WORK_WRITE;
}

/* Tells whether the endpoint has room for another work request. */
static bool
driver_has_room(const struct rr_connection *connection)
{
	return connection->posted < rr_fabric_config(connection->fabric)->work_max;
}

/* Posts a work request of the chain. Returns 0, RR_POST_COPIED if the provider copied the request, which is
 * then complete and reports no completion, or an error, which aborts the connection. */
static inline int
driver_post(struct rr_connection *connection, struct rr_chain *chain, struct rr_work *work)
{
	int result;

	work->cookie = chain;
	work->may_copy = true;
	result = rr_endpoint_post(connection->endpoint, work);
	/* RFC 8166, 4.5.4: "If a Responder is unable to construct and transmit an RPC Reply or
	 * RPC-over-RDMA error message, the Responder MUST close the connection" */
	if (result < 0) {
		rr_driver_abort(connection, result, "%s: a work request could not be posted: %s",
			connection->base.peer, rpcrdma_strerror(result));
		return result;
	}
	driver_count_transfer(connection, work);
	if (result != RR_POST_COPIED) {
		connection->posted++;
		rr_stall_posted(connection, work);
	}
	return result;
}

/* Posts the work requests that the chain still has, while the endpoint has room. Returns true when all of
 * them were posted; the chain is then in no list. Returns false if the endpoint has no more room. Also
 * returns false if a work request cannot be posted, which aborts the connection. */
static bool
driver_post_chain(struct rr_connection *connection, struct rr_chain *chain)
{
	uint32_t sge_max = rr_driver_sge_max(connection->fabric);
	struct rr_sge sges[RR_MAX_SGE];

	while (driver_has_room(connection)) {
		struct rr_work work = { .sges = sges };
		int result;

		if (!chain->next(chain, &work, sges, sge_max)) {
			rr_list_remove(&chain->link);
			return true;
		}
		result = driver_post(connection, chain, &work);
		if (result < 0)
			return false;
		/* A Send is the last work request of a chain. */
		if (work.kind > RR_WORK_SEND_INVALIDATE)
			continue;
		rr_list_remove(&chain->link);
		if (result == RR_POST_COPIED)
			driver_take_copied(connection, chain);
		return true;
	}
	return false;
}

/* Posts the work requests of the chains that wait, in order, as far as the endpoint has room. */
static void
driver_post_jobs(struct rr_connection *connection)
{
	while (connection->endpoint && !rr_list_empty(&connection->chains)) {
		if (!driver_post_chain(
			    connection, rr_container(connection->chains.next, struct rr_chain, link)))
			return;
	}
}

void
rr_driver_submit(struct rr_connection *connection, struct rr_chain *chain)
{
	if (!connection->endpoint)
		return;
	/* Most chains have no other chain in front of them, and room for all their work requests. */
	if (rr_list_empty(&connection->chains) && driver_post_chain(connection, chain))
		return;
	if (!connection->endpoint)
		return;
	rr_list_append(&connection->chains, &chain->link);
	driver_post_jobs(connection);
}

bool
rr_driver_can_post(const struct rr_connection *connection)
{
	return connection->endpoint && rr_list_empty(&connection->chains) && driver_has_room(connection);
}

void
rr_driver_post(struct rr_connection *connection, struct rr_chain *chain, struct rr_work *work)
{
	/* Only a Send is complete here for its chain: an RDMA Read is never copied. */
	if (driver_post(connection, chain, work) == RR_POST_COPIED)
		driver_take_copied(connection, chain);
}

/* Is called when a work request completed: calls completed() of its chain, then posts work requests that
 * wait. */
static void
driver_completed(struct rr_connection *connection, const struct rr_event *event)
{
	struct rr_chain *chain = event->cookie;

	connection->posted--;
	rr_stall_completed(connection);
	if (event->status && event->status != -RPCRDMA_ERR_CANCELLED)
		rr_log_peer(rr_loop_peer_log(connection->base.engine->loop), connection->base.peer,
			"%s: a work request failed: %s", connection->base.peer,
			rpcrdma_strerror(event->status));
	chain->completed(chain, event->work, event->status);
	driver_post_jobs(connection);
}

/* ---- Events ---- */

/* Logs the last headers of the connection if error is an error in the protocol, as the headers may show its
 * cause. */
static void
driver_log_trace(const struct rr_connection *connection, int error)
{
	if (error == -RPCRDMA_ERR_PEER || error == -RPCRDMA_ERR_ACCESS)
		rr_trace_log(&connection->trace, connection->base.engine->env, connection->base.peer);
}

/* Notes what protects the connection, which is inside of TLS or not from its beginning to its end. */
static void
driver_note_security(struct rr_connection *connection)
{
	const struct rr_tls_session *session = rr_endpoint_session(connection->endpoint);

	if (!session)
		return;
	rr_tls_facts(session, &connection->tls);
	snprintf(connection->tls_peer, sizeof(connection->tls_peer), "%s", connection->tls.peer);
	connection->tls.peer = connection->tls_peer; /* the session may end before the connection */
	connection->base.source.security = (uint8_t)connection->tls.security;
}

/* Is called when the connection is established. On the side that connected, the event has the peer's private
 * data. The side that accepted got them with the request of the peer. */
static void
driver_established(struct rr_connection *connection, const struct rr_event *event)
{
	if (connection->is_active) {
		rr_connection_set_peer(connection, event->data, event->length);
		driver_note_security(connection);
	}
	rr_connection_established(connection);
}

/* Is called when the provider reports the end of the connection: keeps the reason, closes the endpoint and
 * ends the connection's parts. */
static void
driver_disconnected(struct rr_connection *connection, const struct rr_event *event)
{
	bool over_adapter = connection->fabric == connection->room->adapters;

	connection->status = event->status;
	rr_fail(&connection->text, 0, "%s: %s%s", connection->base.peer, event->text,
		!connection->established && over_adapter ? " (over an RDMA adapter)" : "");
	driver_log_trace(connection, event->status);
	rr_driver_close(connection);
	connection->parts->ended(connection);
}

/* Is called with each event of the endpoint, and hands it to the function that handles this kind of event.
 * The first message that arrives ends the kicks for good, as the peer is awake: no further timer is armed. */
static void
driver_on_event(void *ctx, const struct rr_event *event)
{
	struct rr_connection *connection = ctx;

	rr_connection_enter(connection);
	switch (event->kind) {
	case RR_EVENT_ESTABLISHED: driver_established(connection, event); break;
	case RR_EVENT_DISCONNECTED: driver_disconnected(connection, event); break;
	case RR_EVENT_COMPLETED: driver_completed(connection, event); break;
	case RR_EVENT_RECEIVED:
		rr_loop_disarm(connection->base.engine->loop, &connection->kick);
		connection->kicks = KICKS;
		connection->parts->received(connection, event);
		break;
	}
	rr_connection_leave(connection);
}

/* Is called when the first reply is late: kicks the peer, that is, sends a frame without contents, which
 * wakes a peer that missed the first message. Arms the timer for the next kick, up to KICKS of them. */
static void
driver_kick_expired(struct rr_timer *timer)
{
	struct rr_connection *connection = rr_container(timer, struct rr_connection, kick);

	if (!connection->endpoint)
		return;
	rr_log(connection->base.engine->env, RR_LOG_DEBUG, "%s: the first reply is late: kick",
		connection->base.peer);
	if (rr_endpoint_kick(connection->endpoint) == 0 && ++connection->kicks < KICKS)
		rr_loop_arm(connection->base.engine->loop, timer, kick_delays[connection->kicks]);
}

void
rr_driver_watch_first_reply(struct rr_connection *connection)
{
	if (connection->endpoint && connection->kicks == 0 && !rr_timer_armed(&connection->kick))
		rr_loop_arm(connection->base.engine->loop, &connection->kick, kick_delays[0]);
}

/* ---- Endpoints ---- */

/* Encodes into data the private data that this side sends. */
static void
driver_own_private_data(const struct rr_connection *connection, uint8_t data[RR_PRIVATE_DATA_SIZE])
{
	rr_private_data_put(data, &connection->own);
}

uint32_t
rr_driver_receives(const struct rpcrdma_engine *engine)
{
	return engine->config.credits + RR_REVERSE_CREDITS + RECEIVE_MARGIN;
}

/* Gives the connection its endpoint, takes the peer's address from it, and posts the first Receives. */
static void
driver_set_endpoint(struct rr_connection *connection, struct rr_endpoint *endpoint)
{
	connection->endpoint = endpoint;
	snprintf(connection->base.peer, sizeof(connection->base.peer), "%s", rr_endpoint_peer(endpoint));
	connection->base.source = rr_address_source_of(connection->base.peer);
	rr_endpoint_pay(endpoint, &connection->base.payer);
	rr_timer_init(&connection->kick, driver_kick_expired);
	/* RFC 8166, 3.3.1: "A Requester MUST maintain enough receive resources to accommodate expected
	 * replies." A responder never grants more credits than it posts Receives. RFC 8167, 4.3, wants the
	 * same for the reverse direction, beside that. */
	rr_driver_allow(connection, rr_driver_receives(connection->base.engine));
}

/* Begins to connect to the address. The private data that the connection request carries tells the peer how
 * large inline messages to this side may be. Returns 0 or an error. */
int
rr_driver_connect(struct rr_connection *connection, const struct rr_carrier_place *to, struct rr_text *text)
{
	uint8_t data[RR_PRIVATE_DATA_SIZE];
	struct rr_endpoint *endpoint;
	int error;

	driver_own_private_data(connection, data);
	error = rr_fabric_connect(connection->fabric,
		&(struct rr_connect){
			to->address, to->size, data, sizeof(data), driver_on_event, connection, to->secure },
		&endpoint, text);
	if (error)
		return error;
	driver_set_endpoint(connection, endpoint);
	return 0;
}

int
rr_driver_accept(
	struct rr_connection *connection, struct rr_endpoint *endpoint, const void *private_data, size_t size)
{
	uint8_t data[RR_PRIVATE_DATA_SIZE];

	driver_set_endpoint(connection, endpoint);
	driver_note_security(connection);
	rr_connection_set_peer(connection, private_data, size);
	driver_own_private_data(connection, data);
	return rr_endpoint_accept(endpoint, driver_on_event, connection, data, sizeof(data));
}

void
rr_driver_disconnect(struct rr_connection *connection)
{
	if (connection->endpoint)
		rr_endpoint_disconnect(connection->endpoint);
}

void
rr_driver_close(struct rr_connection *connection)
{
	struct rr_list *link;

	if (!connection->endpoint)
		return;
	rr_loop_disarm(connection->base.engine->loop, &connection->kick);
	rr_loop_disarm(connection->base.engine->loop, &connection->negotiation.timer);
	rr_stall_end(connection);
	while ((link = rr_list_pop(&connection->chains)))
		; /* the makers of the chains free them, also those in `copied` */
	while ((link = rr_list_pop(&connection->copied)))
		;
	rr_endpoint_close(connection->endpoint);
	connection->endpoint = NULL;
}

void
rr_driver_abort(struct rr_connection *connection, int error, const char *format, ...)
{
	va_list args;

	if (!connection->endpoint)
		return;
	va_start(args, format);
	vsnprintf(connection->text.text, sizeof(connection->text.text), format, args);
	va_end(args);
	connection->status = error;
	RR_PROBE(connection_aborted, connection->base.peer, error, connection->text.text);
	/* A connection that the peer has ended already needs no warning: a user of it connects again. */
	if (error == -RPCRDMA_ERR_DISCONNECTED)
		rr_log(connection->base.engine->env, RR_LOG_INFO, "%s", connection->text.text);
	else
		rr_log_peer(rr_loop_peer_log(connection->base.engine->loop), connection->base.peer, "%s",
			connection->text.text);
	driver_log_trace(connection, error);
	rr_driver_close(connection);
	rr_connection_set_state(connection, RR_CONNECTION_ABORTED);
	rr_loop_defer(connection->base.engine->loop, &connection->task);
}

/* ---- Memory ---- */

int
rr_driver_register(struct rr_connection *connection, const void *data, uint32_t length, enum rr_access access,
	struct rr_region *region)
{
	int error;

	if (!connection->endpoint)
		return -RPCRDMA_ERR_DISCONNECTED;
	/* The provider only reads the memory if the access is RR_REMOTE_READ. */
	error = rr_endpoint_register(connection->endpoint, (void *)(uintptr_t)data, length, access, region);
	connection->base.counters.registrations += !error;
	RR_PROBE(registered, connection->base.peer, region->handle, length, error);
	return error;
}

/* Ends the connection if error is not 0: the peer's access to memory could then not be ended. RFC 8166,
 * 4.5.4: "After a Requester has received a reply, if it is unable to invalidate a memory region due to an
 * unrecoverable problem, the Requester MUST close the connection to protect that memory from Responder access
 * before the associated RPC transaction is complete." */
static void
driver_check_access_ended(struct rr_connection *connection, int error)
{
	if (error)
		rr_driver_abort(connection, error, "%s: the peer's access to memory could not be ended: %s",
			connection->base.peer, rpcrdma_strerror(error));
}

void
rr_driver_invalidate(struct rr_connection *connection, struct rr_region *region)
{
	if (connection->endpoint)
		driver_check_access_ended(connection, rr_endpoint_invalidate(connection->endpoint, region));
	region->handle = 0;
}

void
rr_driver_revoke(struct rr_connection *connection, struct rr_region *region)
{
	if (connection->endpoint)
		driver_check_access_ended(connection, rr_endpoint_revoke(connection->endpoint, region));
}

void
rr_driver_allow(struct rr_connection *connection, uint32_t count)
{
	if (connection->endpoint)
		rr_endpoint_allow(connection->endpoint, count);
}

void
rr_driver_release(struct rr_fabric *fabric, uint8_t *receive)
{
	if (receive)
		rr_fabric_release(fabric, receive);
}

bool
rr_driver_is_short(struct rr_fabric *fabric)
{
	return rr_fabric_is_short(fabric);
}

bool
rr_driver_invalidates(const struct rr_fabric *fabric)
{
	return rr_fabric_limits(fabric)->remote_invalidation;
}

const char *
rr_driver_name(const struct rr_fabric *fabric)
{
	return rr_fabric_name(fabric);
}

uint64_t
rr_driver_moved(const struct rr_connection *connection)
{
	return connection->endpoint ? rr_endpoint_moved(connection->endpoint) : 0;
}

uint32_t
rr_driver_sge_max(const struct rr_fabric *fabric)
{
	uint32_t sge_max = rr_fabric_limits(fabric)->sge_max;

	return sge_max < RR_MAX_SGE ? sge_max : RR_MAX_SGE;
}
