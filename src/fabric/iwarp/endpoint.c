/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/iwarp/endpoint.h"

#include <errno.h>
#include <string.h>

#include "base/address.h"
#include "base/errno.h"
#include "fabric/iwarp/socket.h"

/*
 * Reads when the socket has something, and writes at the end of the turn, so
 * that what the turn brought about leaves together; where a turn has many
 * messages, some of them leave before that, as the peer would idle otherwise.
 */

enum {
	READS_PER_TURN = 16,
	WRITES_PER_TURN = 4,
	EMSS_INTERVAL = 1 << 18, /* octets after which TCP is asked again how large its segments are */
};

static const uint64_t connect_limit = 10 * RR_SECOND, closing_limit = RR_SECOND;

/* A receive of the shared pool may be held, and nobody knows it to be lost: no FPDU and no Send takes that
 * long. */
static const uint64_t owed_limit = 60 * RR_SECOND;

static struct rr_loop *
loop_of(const struct rr_iwarp_endpoint *endpoint)
{
	return endpoint->engine.base.fabric->loop;
}

void
rr_iwarp_endpoint_defer(struct rr_iwarp_endpoint *endpoint)
{
	rr_loop_defer(loop_of(endpoint), &endpoint->task);
}

/* ---- Connecting ---- */

void
rr_iwarp_endpoint_connected(struct rr_iwarp_endpoint *endpoint, int error)
{
	struct rr_iwarp *engine = &endpoint->engine;

	endpoint->connecting = false;
	/* It was there before, and hung up: that is what is worth telling. */
	if (error && engine->old)
		rr_iwarp_eof(engine);
	else if (error)
		rr_iwarp_over(engine, rr_errno_error(-error), "cannot connect: %s%s", strerror(-error),
			error == -ECONNREFUSED ? "; is a server running there, at this port?" : "");
	else
		rr_iwarp_endpoint_watch_peer(endpoint);
	rr_iwarp_endpoint_defer(endpoint);
}

/* ---- Reading ---- */

static void
lost(struct rr_iwarp_endpoint *endpoint, int error)
{
	struct rr_iwarp *engine = &endpoint->engine;

	/* Who does not understand a request may close with it unread, which TCP makes a reset. */
	if (engine->state == RR_IWARP_REPLY && error == ECONNRESET)
		rr_iwarp_eof(engine);
	else
		rr_iwarp_over(
			engine, -RPCRDMA_ERR_DISCONNECTED, "the connection was lost: %s", strerror(error));
}

/* One read. Whether another one may find more. */
static bool
read_once(struct rr_iwarp_endpoint *endpoint)
{
	struct iovec vectors[2];
	int count = rr_iwarp_space(&endpoint->engine, vectors);
	size_t wanted = 0;
	ssize_t n;

	if (!count)
		return false;
	for (int i = 0; i < count; i++)
		wanted += vectors[i].iov_len;
	n = rr_socket_read(endpoint->fd, vectors, count);
	if (n == -EAGAIN)
		return false;
	if (n < 0)
		lost(endpoint, (int)-n);
	else if (n == 0)
		rr_iwarp_eof(&endpoint->engine);
	else
		rr_iwarp_received(&endpoint->engine, (size_t)n);
	return n > 0 && (size_t)n == wanted;
}

static void
ready(struct rr_watch *watch, unsigned events)
{
	struct rr_iwarp_endpoint *endpoint = rr_container(watch, struct rr_iwarp_endpoint, watch);

	endpoint->full = false;
	if (endpoint->connecting)
		rr_iwarp_endpoint_connected(endpoint, rr_socket_error(endpoint->fd));
	else if (events & RR_READABLE & ~watch->wanted)
		/* Reading was not asked for, so this is the end, and what has not been read is not wanted any
		 * more. */
		lost(endpoint, ECONNRESET);
	else if (events & RR_READABLE)
		for (int i = 0; i < READS_PER_TURN && read_once(endpoint); i++)
			;
	if (endpoint->listener && endpoint->engine.state == RR_IWARP_ASKED)
		rr_iwarp_listener_hand_over(endpoint);
	else if (endpoint->engine.state != RR_IWARP_RELEASED)
		rr_iwarp_endpoint_defer(endpoint);
}

/* ---- Writing ---- */

/* FPDUs are to fit into TCP's segments, whose size changes. */
static void
follow_emss(struct rr_iwarp_endpoint *endpoint)
{
	struct rr_iwarp *engine = &endpoint->engine;

	if (engine->tx.gathered < endpoint->next_emss || !engine->may_send)
		return;
	rr_iwarp_set_emss(engine, rr_socket_emss(endpoint->fd));
	endpoint->next_emss = engine->tx.gathered + EMSS_INTERVAL;
}

/* The peer takes what is left, if not for too long already. */
static void
extend_draining(struct rr_iwarp_endpoint *endpoint)
{
	const struct rr_iwarp *engine = &endpoint->engine;

	if (engine->draining && !endpoint->closing && rr_now(engine->shared->env) < endpoint->drained_by)
		rr_loop_arm(loop_of(endpoint), &endpoint->timer, RR_IWARP_DRAINING_LIMIT);
}

/* One write. Whether there may be more to write, and TCP may take it. */
static bool
write_once(struct rr_iwarp_endpoint *endpoint)
{
	const struct iovec *vectors;
	uint32_t count;
	ssize_t n;

	follow_emss(endpoint);
	count = rr_iwarp_output(&endpoint->engine, &vectors);
	if (!count)
		return false;
	n = rr_socket_write(endpoint->fd, vectors, count);
	if (n == -EAGAIN) {
		endpoint->full = true;
		return false;
	}
	if (n < 0)
		lost(endpoint, (int)-n);
	else
		rr_iwarp_taken(&endpoint->engine, (size_t)n);
	/* The handler of a completion may have closed the endpoint. */
	if (n < 0 || endpoint->engine.state >= RR_IWARP_OVER)
		return false;
	if (n > 0) {
		endpoint->engine.base.moved += (uint64_t)n;
		extend_draining(endpoint);
	}
	return n > 0;
}

static void
write_some(struct rr_iwarp_endpoint *endpoint)
{
	for (int i = 0; i < WRITES_PER_TURN; i++)
		if (!write_once(endpoint))
			return;
	/* The others have their turn, too. */
	endpoint->full = true;
}

/* In the middle of a turn. What TCP does not take now leaves at its end. */
static void
endpoint_flush(struct rr_iwarp *engine)
{
	struct rr_iwarp_endpoint *endpoint = rr_container(engine, struct rr_iwarp_endpoint, engine);

	if (endpoint->established && !endpoint->full)
		write_once(endpoint);
}

/* ---- The end of the turn ---- */

static void
leave_socket(struct rr_iwarp_endpoint *endpoint)
{
	rr_loop_disarm(loop_of(endpoint), &endpoint->timer);
	rr_alive_stop(&endpoint->alive);
	rr_loop_disarm(loop_of(endpoint), &endpoint->owed);
	if (endpoint->watched)
		rr_loop_unwatch(loop_of(endpoint), &endpoint->watch);
	endpoint->watched = false;
	if (endpoint->fd >= 0)
		rr_socket_close(endpoint->fd);
	endpoint->fd = -1;
}

int
rr_iwarp_endpoint_dial(struct rr_iwarp_endpoint *endpoint)
{
	int number = rr_socket_connect(
		endpoint->fd, (const struct sockaddr *)&endpoint->address, endpoint->address_size);

	endpoint->connecting = number == -EINPROGRESS;
	if (!endpoint->connecting)
		rr_iwarp_endpoint_connected(endpoint, number);
	return rr_iwarp_endpoint_watch(endpoint, RR_WRITABLE, connect_limit);
}

/* Over a new TCP connection, for a peer that closed the first one without an answer. False: it cannot be. */
static bool
start_again(struct rr_iwarp_endpoint *endpoint)
{
	struct rr_iwarp *engine = &endpoint->engine;

	leave_socket(endpoint);
	endpoint->fd = rr_socket_open(endpoint->address.ss_family);
	endpoint->full = false;
	if (endpoint->fd < 0 || rr_iwarp_initiate_again(engine))
		return false;
	if (rr_iwarp_endpoint_dial(endpoint) == 0)
		return true;
	rr_iwarp_eof(engine);
	return false;
}

static void
finish(struct rr_iwarp_endpoint *endpoint)
{
	struct rr_iwarp *engine = &endpoint->engine;
	struct rr_event event = { .kind = RR_EVENT_DISCONNECTED,
		.status = engine->status,
		.text = engine->text.text,
		.data = engine->reason,
		.length = engine->reason_size };

	if (engine->again && start_again(endpoint))
		return;
	leave_socket(endpoint);
	if (endpoint->listener) {
		rr_iwarp_listener_remove(endpoint);
		rr_iwarp_endpoint_bury(endpoint);
		return;
	}
	if (endpoint->rejected) {
		rr_iwarp_endpoint_bury_rejected(endpoint);
		return;
	}
	/* One that was handed over and not accepted has nobody to tell. */
	if (endpoint->told || !engine->base.handler)
		return;
	endpoint->told = true;
	rr_iwarp_flush(engine);
	if (engine->state == RR_IWARP_OVER)
		engine->base.handler(engine->base.ctx, &event);
}

/* The responder's connection is established when its reply has left. */
static void
establish(struct rr_iwarp_endpoint *endpoint)
{
	struct rr_iwarp *engine = &endpoint->engine;
	struct rr_event event = { .kind = RR_EVENT_ESTABLISHED };

	endpoint->established = true;
	engine->base.handler(engine->base.ctx, &event);
}

static void
close_in_order(struct rr_iwarp_endpoint *endpoint)
{
	const struct iovec *vectors;

	if (!endpoint->closing)
		rr_loop_arm(loop_of(endpoint), &endpoint->timer, closing_limit);
	endpoint->closing = true;
	if (!endpoint->rejected && !endpoint->ended && !rr_iwarp_output(&endpoint->engine, &vectors)) {
		rr_socket_end(endpoint->fd);
		endpoint->ended = true;
	}
}

/* Each FPDU that comes extends the time for the next, but not that for the rest of a Send. */
static void
follow_debt(struct rr_iwarp_endpoint *endpoint)
{
	const struct rr_iwarp_rx *rx = &endpoint->engine.rx;
	/* Sends count from the other end, so that none has the number of an FPDU. */
	uint64_t debt = rx->receive ? UINT64_MAX - rx->send_msn : rx->count;

	if (!rr_iwarp_is_owed(&endpoint->engine))
		rr_loop_disarm(loop_of(endpoint), &endpoint->owed);
	else if (!rr_timer_armed(&endpoint->owed) || endpoint->debt != debt)
		rr_loop_arm(loop_of(endpoint), &endpoint->owed, owed_limit);
	endpoint->debt = debt;
}

static void
stalled(struct rr_timer *timer)
{
	struct rr_iwarp_endpoint *endpoint = rr_container(timer, struct rr_iwarp_endpoint, owed);

	rr_iwarp_over(
		&endpoint->engine, -RPCRDMA_ERR_TIMEDOUT, "the peer stopped in the middle of a message");
	rr_iwarp_endpoint_defer(endpoint);
}

/*
 * After what was to leave: a Read Request that has left lets the Sends in front of its data in. What comes
 * out of that, such as Read Responses, is to leave, too.
 */
static void
resume(struct rr_iwarp_endpoint *endpoint)
{
	struct rr_iwarp *engine = &endpoint->engine;
	uint64_t count = engine->rx.count;

	rr_iwarp_resume(engine);
	if (engine->rx.count != count && engine->state != RR_IWARP_RELEASED)
		rr_iwarp_endpoint_defer(endpoint);
}

static void
run(struct rr_task *task)
{
	struct rr_iwarp_endpoint *endpoint = rr_container(task, struct rr_iwarp_endpoint, task);
	struct rr_iwarp *engine = &endpoint->engine;
	unsigned wanted = RR_READABLE;

	if (endpoint->connecting && engine->state < RR_IWARP_OVER)
		return;
	if (engine->state < RR_IWARP_OVER && !endpoint->full)
		write_some(endpoint);
	resume(endpoint);
	/* The limit was for the connection to come up; disconnecting sets one of its own. */
	if (engine->state == RR_IWARP_OPEN && !engine->draining)
		rr_loop_disarm(loop_of(endpoint), &endpoint->timer);
	if (engine->state == RR_IWARP_OPEN && !endpoint->established &&
		engine->frame_at == engine->frame_size)
		establish(endpoint);
	if (engine->state == RR_IWARP_CLOSING)
		close_in_order(endpoint);
	if (engine->state == RR_IWARP_OVER)
		finish(endpoint);
	if (engine->state >= RR_IWARP_OVER || endpoint->connecting)
		return;
	follow_debt(endpoint);
	if (engine->rx.blocked)
		wanted = 0;
	if (endpoint->full)
		wanted |= RR_WRITABLE;
	rr_loop_want(loop_of(endpoint), &endpoint->watch, wanted);
}

static void
expired(struct rr_timer *timer)
{
	struct rr_iwarp_endpoint *endpoint = rr_container(timer, struct rr_iwarp_endpoint, timer);
	struct rr_iwarp *engine = &endpoint->engine;

	if (engine->draining)
		rr_iwarp_over(engine, 0, "disconnected; the peer did not take all that was posted");
	else
		rr_iwarp_over(engine, -RPCRDMA_ERR_TIMEDOUT, "it does not answer%s",
			endpoint->connecting ? ""
					     : " in iWARP (MPA), although it accepts TCP connections; is "
					       "this the port of NFS/RDMA?");
	endpoint->connecting = false;
	rr_iwarp_endpoint_defer(endpoint);
}

static void
peer_is_dead(struct rr_alive *alive)
{
	struct rr_iwarp_endpoint *endpoint = rr_container(alive, struct rr_iwarp_endpoint, alive);

	lost(endpoint, ETIMEDOUT);
	rr_iwarp_endpoint_defer(endpoint);
}

void
rr_iwarp_endpoint_watch_peer(struct rr_iwarp_endpoint *endpoint)
{
	rr_alive_start(&endpoint->alive, loop_of(endpoint), endpoint->fd, RR_ALIVE_LIMIT);
}

static void
wake(struct rr_receive_wait *wait)
{
	struct rr_iwarp *engine = rr_container(wait, struct rr_iwarp, wait);

	rr_iwarp_endpoint_defer(rr_container(engine, struct rr_iwarp_endpoint, engine));
}

struct rr_iwarp_endpoint *
rr_iwarp_endpoint_new(struct rr_iwarp_fabric *fabric, int fd, const struct sockaddr *peer)
{
	struct rr_iwarp_endpoint *endpoint = rr_alloc(fabric->shared.env, sizeof(*endpoint));

	if (!endpoint)
		return NULL;
	endpoint->engine.base.ops = fabric->base.ops;
	endpoint->engine.base.fabric = &fabric->base;
	rr_address_text(peer, endpoint->engine.base.peer, sizeof(endpoint->engine.base.peer));
	rr_iwarp_init(&endpoint->engine, &fabric->shared);
	endpoint->engine.wait.wake = wake;
	endpoint->engine.flush = endpoint_flush;
	endpoint->fd = fd;
	endpoint->watch.ready = ready;
	rr_timer_init(&endpoint->timer, expired);
	rr_alive_init(&endpoint->alive, peer_is_dead);
	rr_timer_init(&endpoint->owed, stalled);
	rr_task_init(&endpoint->task, run);
	rr_list_init(&endpoint->link);
	return endpoint;
}

int
rr_iwarp_endpoint_watch(struct rr_iwarp_endpoint *endpoint, unsigned wanted, uint64_t limit)
{
	int error = rr_loop_watch(loop_of(endpoint), &endpoint->watch, endpoint->fd, wanted);

	endpoint->watched = !error;
	if (!error && limit)
		rr_loop_arm(loop_of(endpoint), &endpoint->timer, limit);
	return error;
}

void
rr_iwarp_endpoint_bury(struct rr_iwarp_endpoint *endpoint)
{
	struct rr_iwarp_fabric *fabric = rr_iwarp_fabric(endpoint);

	leave_socket(endpoint);
	rr_task_cancel(&endpoint->task);
	rr_iwarp_release(&endpoint->engine);
	rr_list_append(&fabric->closed, &endpoint->link);
	rr_loop_defer(fabric->base.loop, &fabric->bury);
}

void
rr_iwarp_endpoint_bury_rejected(struct rr_iwarp_endpoint *endpoint)
{
	rr_list_remove(&endpoint->link);
	rr_iwarp_fabric(endpoint)->rejected_count--;
	rr_iwarp_endpoint_bury(endpoint);
}
