/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>

#include "transport/connection.h"
#include "transport/direction.h"
#include "transport/rdma.h"

/*
 * The only file that touches the fabric, besides engine.c which creates it.
 *
 * Who owns what: the connection owns its endpoint from rr_driver_connect(), or from the request at a
 * listener, to rr_driver_close(). Jobs are their makers'; they wait in the connection's list until all their
 * work requests are posted, and what those point to stays until they completed or the endpoint was closed. A
 * receive belongs to whom rr_requester_received() or rr_responder_received() makes its owner, who gives it
 * back by rr_driver_release().
 */

/* Receives beyond the credits: for what a peer may send without one. */
enum { RECEIVE_MARGIN = 2 };

/* Linux misses the first frame of a third of connections that are as quick as ours. */
static const uint64_t kick_delays[] = { 30 * RR_MILLISECOND, 900 * RR_MILLISECOND };

enum { KICKS = sizeof(kick_delays) / sizeof(kick_delays[0]) };

/* ---- Work requests ---- */

/* Posts what this job still has, while there is room. True if the job is through. */
static bool
post_job(struct rr_connection *connection, struct rr_job *job)
{
	const struct rr_fabric *fabric = connection->base.engine->fabric;
	uint32_t sge_max = rr_driver_sge_max(connection->base.engine);
	struct rr_sge sges[RR_MAX_SGE];

	while (connection->posted < rr_fabric_config(fabric)->work_max) {
		struct rr_work work = { .sges = sges, .cookie = job };
		int error;

		if (!job->next(job, &work, sges, sge_max)) {
			rr_list_remove(&job->link);
			return true;
		}
		error = rr_endpoint_post(connection->endpoint, &work);
		/* RFC 8166, 4.5.4: "If a Responder is unable to construct and transmit an RPC Reply or
		 * RPC-over-RDMA error message, the Responder MUST close the connection" */
		if (error) {
			rr_driver_abort(connection, error, "%s: a work request could not be posted: %s",
				connection->base.peer, rpcrdma_strerror(error));
			return false;
		}
		connection->posted++;
	}
	return false;
}

static void
post_jobs(struct rr_connection *connection)
{
	while (connection->endpoint && !rr_list_empty(&connection->jobs)) {
		if (!post_job(connection, rr_container(connection->jobs.next, struct rr_job, link)))
			return;
	}
}

void
rr_driver_submit(struct rr_connection *connection, struct rr_job *job)
{
	if (!connection->endpoint)
		return;
	rr_list_append(&connection->jobs, &job->link);
	post_jobs(connection);
}

static void
completed(struct rr_connection *connection, const struct rr_event *event)
{
	struct rr_job *job = event->cookie;

	connection->posted--;
	if (event->status && event->status != -RPCRDMA_ERR_CANCELLED)
		rr_log(connection->base.engine->env, RR_LOG_WARNING, "%s: a work request failed: %s",
			connection->base.peer, rpcrdma_strerror(event->status));
	job->completed(job, event->work, event->status);
	post_jobs(connection);
}

/* ---- Events ---- */

/* What a connection dies of may lie in what it said before. */
static void
log_trace(const struct rr_connection *connection, int error)
{
	if (error == -RPCRDMA_ERR_PEER || error == -RPCRDMA_ERR_ACCESS)
		rr_trace_log(&connection->trace, connection->base.engine->env, connection->base.peer);
}

static void
established(struct rr_connection *connection, const struct rr_event *event)
{
	if (connection->is_requester)
		rr_connection_set_peer(connection, event->data, event->length);
	rr_connection_established(connection);
}

static void
disconnected(struct rr_connection *connection, const struct rr_event *event)
{
	connection->status = event->status;
	rr_fail(&connection->text, 0, "%s: %s", connection->base.peer, event->text);
	log_trace(connection, event->status);
	rr_driver_close(connection);
	rr_connection_end(connection);
}

/* The requester's: replies, and at the side that connects whatever is not a call that somebody waits for. */
static bool
is_for_requester(const struct rr_connection *connection, const struct rr_event *event)
{
	const struct rr_carrier_events *events = connection->base.events;
	enum rr_direction direction = rr_direction(event->data, event->length);

	if (connection->is_requester)
		return direction != RR_DIRECTION_CALL || !events || !events->call;
	return direction == RR_DIRECTION_REPLY && connection->requester.slots;
}

static void
received(struct rr_connection *connection, const struct rr_event *event)
{
	rr_loop_disarm(connection->base.engine->loop, &connection->kick);
	connection->kicks = KICKS;
	if (is_for_requester(connection, event))
		rr_requester_received(connection, event);
	else
		rr_responder_received(connection, event);
}

static void
on_event(void *ctx, const struct rr_event *event)
{
	struct rr_connection *connection = ctx;

	rr_connection_enter(connection);
	switch (event->kind) {
	case RR_EVENT_ESTABLISHED: established(connection, event); break;
	case RR_EVENT_DISCONNECTED: disconnected(connection, event); break;
	case RR_EVENT_COMPLETED: completed(connection, event); break;
	case RR_EVENT_RECEIVED: received(connection, event); break;
	}
	rr_connection_leave(connection);
}

static void
kick_expired(struct rr_timer *timer)
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

static void
own_private_data(const struct rr_connection *connection, uint8_t data[RR_PRIVATE_DATA_SIZE])
{
	rr_private_data_put(data, &connection->own);
}

static void
set_endpoint(struct rr_connection *connection, struct rr_endpoint *endpoint)
{
	connection->endpoint = endpoint;
	snprintf(connection->base.peer, sizeof(connection->base.peer), "%s", rr_endpoint_peer(endpoint));
	rr_timer_init(&connection->kick, kick_expired);
	/* RFC 8166, 3.3.1: "A Requester MUST maintain enough receive resources to accommodate expected
	 * replies." A responder never grants more than it posts. RFC 8167, 4.3, wants the same for the
	 * reverse direction, beside that. */
	rr_driver_allow(
		connection, connection->base.engine->config.credits + RR_REVERSE_CREDITS + RECEIVE_MARGIN);
}

int
rr_driver_connect(struct rr_connection *connection, const struct sockaddr *address, socklen_t size,
	struct rr_text *text)
{
	uint8_t data[RR_PRIVATE_DATA_SIZE];
	struct rr_endpoint *endpoint;
	int error;

	own_private_data(connection, data);
	error = rr_fabric_connect(connection->base.engine->fabric, address, size, data, sizeof(data),
		on_event, connection, &endpoint, text);
	if (error)
		return error;
	set_endpoint(connection, endpoint);
	return 0;
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
	while ((link = rr_list_pop(&connection->jobs)))
		; /* their makers know what they are worth */
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
	rr_log(connection->base.engine->env, RR_LOG_WARNING, "%s", connection->text.text);
	log_trace(connection, error);
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
	/* The provider only reads where the access is RR_REMOTE_READ. */
	error = rr_endpoint_register(connection->endpoint, (void *)(uintptr_t)data, length, access, region);
	connection->base.counters.registrations += !error;
	return error;
}

void
rr_driver_invalidate(struct rr_connection *connection, struct rr_region *region)
{
	if (connection->endpoint)
		rr_endpoint_invalidate(connection->endpoint, region);
	region->handle = 0;
}

void
rr_driver_revoke(struct rr_connection *connection, struct rr_region *region)
{
	if (connection->endpoint)
		rr_endpoint_revoke(connection->endpoint, region);
}

void
rr_driver_allow(struct rr_connection *connection, uint32_t count)
{
	if (connection->endpoint)
		rr_endpoint_allow(connection->endpoint, count);
}

void
rr_driver_release(struct rr_engine *engine, uint8_t *receive)
{
	if (receive)
		rr_fabric_release(engine->fabric, receive);
}

uint32_t
rr_driver_sge_max(const struct rr_engine *engine)
{
	uint32_t sge_max = rr_fabric_limits(engine->fabric)->sge_max;

	return sge_max < RR_MAX_SGE ? sge_max : RR_MAX_SGE;
}

/* ---- Listening ---- */

struct rr_acceptor {
	struct rr_engine *engine;
	struct rr_listener *listener;
	rr_acceptor_handler *handler;
	void *ctx;
};

static void
on_request(void *ctx, struct rr_endpoint *endpoint, const void *private_data, size_t size)
{
	struct rr_acceptor *acceptor = ctx;
	struct rr_engine *engine = acceptor->engine;
	struct rr_connection *connection = NULL;
	uint8_t data[RR_PRIVATE_DATA_SIZE];
	int error;

	if (engine->connections < engine->config.connection_max)
		connection = rr_connection_new(engine, false);
	if (!connection) {
		rr_log(engine->env, RR_LOG_WARNING, "%s: declined, as there are %u connections",
			rr_endpoint_peer(endpoint), engine->connections);
		rr_endpoint_reject(endpoint, NULL, 0);
		return;
	}
	set_endpoint(connection, endpoint);
	rr_connection_set_peer(connection, private_data, size);
	own_private_data(connection, data);
	error = rr_endpoint_accept(endpoint, on_event, connection, data, sizeof(data));
	rr_connection_enter(connection);
	acceptor->handler(acceptor->ctx, &connection->base);
	if (error)
		rr_driver_abort(connection, error, "%s: could not be accepted: %s", connection->base.peer,
			rpcrdma_strerror(error));
	rr_connection_leave(connection);
}

int
rr_rdma_listen(struct rr_engine *engine, const struct sockaddr *address, socklen_t size,
	rr_acceptor_handler *handler, void *ctx, struct rr_acceptor **acceptor, struct rr_text *text)
{
	struct rr_acceptor *new = rr_alloc(engine->env, sizeof(*new));
	int error;

	if (!new)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory to listen");
	*new = (struct rr_acceptor){ .engine = engine, .handler = handler, .ctx = ctx };
	error = rr_fabric_listen(engine->fabric, address, size, on_request, new, &new->listener, text);
	if (error) {
		rr_free(engine->env, new);
		return error;
	}
	*acceptor = new;
	return 0;
}

int
rr_rdma_acceptor_address(struct rr_acceptor *acceptor, struct sockaddr_storage *address)
{
	return rr_listener_address(acceptor->engine->fabric, acceptor->listener, address);
}

void
rr_rdma_unlisten(struct rr_acceptor *acceptor)
{
	rr_fabric_unlisten(acceptor->engine->fabric, acceptor->listener);
	rr_free(acceptor->engine->env, acceptor);
}
