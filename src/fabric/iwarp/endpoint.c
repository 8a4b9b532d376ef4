/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/iwarp/endpoint.h"

#include <errno.h>
#include <string.h>

#include "base/address.h"
#include "base/errno.h"
#include "base/share/share.h"
#include "base/tls/socket.h"
#include "fabric/iwarp/socket.h"

/* The actions of an endpoint: the table in rr_iwarp_endpoint_event() says which action an event has in each
 * state. */

/* The time within which the rest of an FPDU or of a Send must come, as it may hold a receive of the shared
 * pool. */
static const uint64_t owed_limit = 60 * RR_SECOND;

/* How often a peer is looked at whose half Send holds a receive. */
static const uint64_t held_tick = RR_SECOND;

static struct rr_loop *
endpoint_loop(const struct rr_iwarp_endpoint *endpoint)
{
	return endpoint->iwarp.base.fabric->loop;
}

void
rr_iwarp_endpoint_defer(struct rr_iwarp_endpoint *endpoint)
{
	rr_loop_defer(endpoint_loop(endpoint), &endpoint->task);
}

void
rr_iwarp_endpoint_set_state(struct rr_iwarp_endpoint *endpoint, enum rr_iwarp_endpoint_state state)
{
	static const char *const names[RR_IWARP_ENDPOINT_STATES] = { "connecting", "securing", "pending",
		"offered", "accepted", "up", "closing", "shut", "rejected", "reported", "closed" };

	rr_log(rr_iwarp_fabric(endpoint)->shared.env, RR_LOG_DEBUG, "%s: iWARP endpoint %s, was %s",
		endpoint->iwarp.base.peer, names[state], names[endpoint->state]);
	endpoint->state = state;
}

/* ---- TCP comes up ---- */

/* Handles the end of the attempt to connect TCP: error is 0 if it succeeded, else a negative errno value,
 * which ends the connection. */
static void
endpoint_connected(struct rr_iwarp_endpoint *endpoint, int error)
{
	struct rr_iwarp *iwarp = &endpoint->iwarp;

	rr_iwarp_endpoint_set_state(endpoint, RR_IWARP_ENDPOINT_UP);
	/* The peer accepted the first TCP connection and closed it without an answer: that is the cause to
	 * report. */
	if (error && iwarp->old)
		rr_iwarp_eof(iwarp);
	else if (error)
		rr_iwarp_over(iwarp, rr_errno_error(-error), "cannot connect: %s%s", strerror(-error),
			error == -ECONNREFUSED ? "; is a server running there, at this port?" : "");
	else {
		rr_iwarp_endpoint_watch_peer(endpoint);
		if (endpoint->wants)
			rr_iwarp_secure_begin(endpoint);
	}
	rr_iwarp_endpoint_defer(endpoint);
}

int
rr_iwarp_endpoint_dial(struct rr_iwarp_endpoint *endpoint)
{
	int number = rr_socket_connect(
		endpoint->fd, (const struct sockaddr *)&endpoint->address, endpoint->address_size);

	rr_iwarp_endpoint_set_state(endpoint, RR_IWARP_ENDPOINT_CONNECTING);
	/* connect() has succeeded or failed at once. */
	if (number != -EINPROGRESS)
		endpoint_connected(endpoint, number);
	return rr_iwarp_endpoint_watch(endpoint, RR_WRITABLE, RR_IWARP_CONNECT_LIMIT);
}

/* ---- The socket leaves ---- */

/* Closes the socket if it is open, ends its watch, and disarms all timers of the endpoint. An accepted
 * connection then no longer counts for the spread. */
static void
endpoint_leave_socket(struct rr_iwarp_endpoint *endpoint)
{
	rr_loop_disarm(endpoint_loop(endpoint), &endpoint->timer);
	rr_alive_stop(&endpoint->alive);
	rr_loop_disarm(endpoint_loop(endpoint), &endpoint->owed);
	rr_loop_disarm(endpoint_loop(endpoint), &endpoint->held);
	rr_iwarp_secure_end(endpoint);
	rr_iwarp_endpoint_unwatch(endpoint);
	if (endpoint->fd >= 0) {
		rr_socket_close(endpoint->fd);
		rr_spread_ended(endpoint->spread);
	}
	endpoint->fd = -1;
}

/* Opens a second TCP connection, in which MPA revision 1 is used, after the peer closed the first one
 * without an answer. Returns false if this fails; the caller then reports the end of the connection. */
static bool
endpoint_start_again(struct rr_iwarp_endpoint *endpoint)
{
	struct rr_iwarp *iwarp = &endpoint->iwarp;

	endpoint_leave_socket(endpoint);
	endpoint->fd = rr_socket_open(endpoint->address.ss_family);
	endpoint->full = false;
	if (endpoint->fd < 0 || rr_iwarp_initiate_again(iwarp))
		return false;
	if (rr_iwarp_endpoint_dial(endpoint) == 0)
		return true;
	/* The iWARP connection waits for a reply again: this ends it for the second time, with the same
	 * cause. */
	rr_iwarp_eof(iwarp);
	return false;
}

bool
rr_iwarp_endpoint_dial_plain(struct rr_iwarp_endpoint *endpoint)
{
	endpoint->wants = NULL;
	endpoint_leave_socket(endpoint);
	endpoint->fd = rr_socket_open(endpoint->address.ss_family);
	endpoint->full = false;
	return endpoint->fd >= 0 && rr_iwarp_endpoint_dial(endpoint) == 0;
}

/* ---- Actions ---- */

/* Handles received octets that wait for a receive buffer, if a buffer is free now. If FPDUs were handled,
 * schedules the endpoint's task again, as there may be octets to send now. The caller must have written
 * first: an endpoint whose Read Request has left may take more receive buffers. */
static void
endpoint_resume(struct rr_iwarp_endpoint *endpoint)
{
	struct rr_iwarp *iwarp = &endpoint->iwarp;
	uint64_t count = iwarp->rx.count;

	rr_iwarp_resume(iwarp);
	if (iwarp->rx.count != count && iwarp->state != RR_IWARP_RELEASED)
		rr_iwarp_endpoint_defer(endpoint);
}

/* Arms the timer `owed` while the peer owes the rest of an FPDU or of a Send, and else disarms it. The timer
 * starts anew with each further FPDU, except within a Send: the whole Send must come in the time limit. */
static void
endpoint_follow_debt(struct rr_iwarp_endpoint *endpoint)
{
	const struct rr_iwarp_rx *rx = &endpoint->iwarp.rx;
	/* Sends are numbered from the other end, so that no Send has the number of an FPDU. */
	uint64_t debt = rx->receive ? UINT64_MAX - rx->send_msn : rx->count;

	if (!rr_iwarp_is_owed(&endpoint->iwarp))
		rr_loop_disarm(endpoint_loop(endpoint), &endpoint->owed);
	else if (!rr_timer_armed(&endpoint->owed) || endpoint->debt != debt)
		rr_loop_arm(endpoint_loop(endpoint), &endpoint->owed, owed_limit);
	endpoint->debt = debt;
}

/* Begins a tick in which a half Send holds a receive: notes what has moved, and whether others wait. */
static void
endpoint_watch_receive(struct rr_iwarp_endpoint *endpoint)
{
	endpoint->held_moved = endpoint->iwarp.base.moved;
	endpoint->held_short = rr_receives_are_wanted(&endpoint->iwarp.shared->receives);
	rr_loop_arm(endpoint_loop(endpoint), &endpoint->held, held_tick);
}

/* Arms the timer `held` while half a Send holds a receive, and else disarms it. */
static void
endpoint_follow_receive(struct rr_iwarp_endpoint *endpoint)
{
	if (!endpoint->iwarp.rx.receive)
		rr_loop_disarm(endpoint_loop(endpoint), &endpoint->held);
	else if (!rr_timer_armed(&endpoint->held))
		endpoint_watch_receive(endpoint);
}

/* Handles the endpoint's event OPEN, CLOSES or OVER if the iWARP connection is open, closing or
 * over. In all other states of the connection it does nothing. */
static void
endpoint_settle(struct rr_iwarp_endpoint *endpoint)
{
	switch (endpoint->iwarp.state) {
	case RR_IWARP_OPEN: rr_iwarp_endpoint_event(endpoint, RR_IWARP_ENDPOINT_OPEN); break;
	case RR_IWARP_CLOSING: rr_iwarp_endpoint_event(endpoint, RR_IWARP_ENDPOINT_CLOSES); break;
	case RR_IWARP_OVER: rr_iwarp_endpoint_event(endpoint, RR_IWARP_ENDPOINT_OVER); break;
	case RR_IWARP_IDLE:
	case RR_IWARP_REPLY:
	case RR_IWARP_REQUEST:
	case RR_IWARP_ASKED:
	case RR_IWARP_RELEASED:
	case RR_IWARP_STATES: break;
	}
}

/* Runs at the end of a turn of the event loop: writes, handles received octets that wait for a buffer, and
 * acts on the state of the iWARP connection. Then sets whether the socket is watched for reading, for
 * writing, or for both. */
static void
endpoint_turn(struct rr_iwarp_endpoint *endpoint)
{
	struct rr_iwarp *iwarp = &endpoint->iwarp;
	unsigned wanted = RR_READABLE;

	if (endpoint->session)
		rr_iwarp_secure_resume(endpoint);
	if (iwarp->state < RR_IWARP_OVER && !endpoint->full)
		rr_iwarp_stream_write(endpoint);
	endpoint_resume(endpoint);
	endpoint_settle(endpoint);
	/* endpoint_settle() may have ended the connection, or begun to connect a second time with a socket of
	 * its own. */
	if (iwarp->state >= RR_IWARP_OVER || endpoint->state == RR_IWARP_ENDPOINT_CONNECTING)
		return;
	endpoint_follow_debt(endpoint);
	endpoint_follow_receive(endpoint);
	if (iwarp->rx.blocked)
		wanted = 0;
	if (endpoint->full)
		wanted |= RR_WRITABLE;
	if (endpoint->session && rr_iwarp_secure_has_more(endpoint))
		rr_iwarp_endpoint_defer(endpoint);
	rr_loop_want(endpoint_loop(endpoint), &endpoint->watch, wanted);
}

/* Does nothing: for events that have no effect in the present state. */
static void
endpoint_hold(struct rr_iwarp_endpoint *endpoint)
{
	(void)endpoint;
}

/* Called when the loop reports the socket while TCP connects: the attempt to connect has succeeded or
 * failed. */
static void
endpoint_tcp_connected(struct rr_iwarp_endpoint *endpoint)
{
	endpoint_connected(endpoint, rr_socket_error(endpoint->fd));
}

/* Reads from the socket, and hands the endpoint over to the listener's user once the MPA request is
 * complete. */
static void
endpoint_read_request(struct rr_iwarp_endpoint *endpoint)
{
	if (rr_iwarp_secure_greeted(endpoint))
		return;
	rr_iwarp_stream_read(endpoint);
	if (endpoint->iwarp.state == RR_IWARP_ASKED)
		rr_iwarp_listener_hand_over(endpoint);
}

/* Ends the connection as reset by the peer. The loop reported the socket although nobody asked to read: this
 * can only be the end of the connection, and octets that were not read are dropped. */
static void
endpoint_hung_up(struct rr_iwarp_endpoint *endpoint)
{
	rr_iwarp_stream_lost(endpoint, ECONNRESET);
}

/* Disarms the timer that limits how long the connection may take to come up. During a disconnection the
 * timer has another purpose, and stays armed. */
static void
endpoint_lift_limit(struct rr_iwarp_endpoint *endpoint)
{
	if (!endpoint->iwarp.draining)
		rr_loop_disarm(endpoint_loop(endpoint), &endpoint->timer);
}

/* Disarms the timer that limits the set-up of the connection. Once the MPA reply has left, also changes the
 * responder's state to UP and calls the owner's handler with ESTABLISHED. */
static void
endpoint_establish(struct rr_iwarp_endpoint *endpoint)
{
	struct rr_iwarp *iwarp = &endpoint->iwarp;
	struct rr_event event = { .kind = RR_EVENT_ESTABLISHED };

	endpoint_lift_limit(endpoint);
	if (iwarp->frame_at < iwarp->frame_size)
		return;
	rr_iwarp_endpoint_set_state(endpoint, RR_IWARP_ENDPOINT_UP);
	iwarp->base.handler(iwarp->base.ctx, &event);
}

/* Sends TCP's FIN and changes the state to SHUT, once all octets have left. Does nothing before. */
static void
endpoint_shut(struct rr_iwarp_endpoint *endpoint)
{
	const struct iovec *vectors;

	if (rr_iwarp_output(&endpoint->iwarp, &vectors))
		return;
	if (endpoint->session && !rr_iwarp_secure_push(endpoint))
		return;
	if (endpoint->session)
		rr_tls_socket_end(endpoint->session, endpoint->fd);
	rr_socket_end(endpoint->fd);
	rr_iwarp_endpoint_set_state(endpoint, RR_IWARP_ENDPOINT_SHUT);
}

/* Called when the iWARP connection closes: changes the endpoint's state to CLOSING, and arms
 * the timer that limits how long the last octets may take to leave. If all octets have left, also sends
 * TCP's FIN. */
static void
endpoint_begin_closing(struct rr_iwarp_endpoint *endpoint)
{
	rr_iwarp_endpoint_set_state(endpoint, RR_IWARP_ENDPOINT_CLOSING);
	rr_loop_arm(endpoint_loop(endpoint), &endpoint->timer, RR_IWARP_CLOSING_LIMIT);
	endpoint_shut(endpoint);
}

/* Called when TCP did not connect in time: ends the connection. */
static void
endpoint_no_answer(struct rr_iwarp_endpoint *endpoint)
{
	rr_iwarp_over(&endpoint->iwarp, -RPCRDMA_ERR_TIMEDOUT, "it does not answer");
	rr_iwarp_endpoint_defer(endpoint);
}

/* Goes on with the handshake of TLS, and has the loop report the socket for what that waits for. Of a
 * handshake that waits until it is put under way, nothing is read. */
static void
endpoint_shake(struct rr_iwarp_endpoint *endpoint)
{
	rr_iwarp_secure_shake(endpoint);
	endpoint_settle(endpoint);
	if (endpoint->state == RR_IWARP_ENDPOINT_SECURING)
		rr_loop_want(endpoint_loop(endpoint), &endpoint->watch,
			(endpoint->session ? RR_READABLE : 0) | (endpoint->full ? RR_WRITABLE : 0));
}

/* Called when the handshake of TLS took too long. */
static void
endpoint_shaken_too_late(struct rr_iwarp_endpoint *endpoint)
{
	rr_iwarp_over(&endpoint->iwarp, -RPCRDMA_ERR_TIMEDOUT,
		endpoint->session ? "the handshake of TLS was not ended in 10 s"
				  : "too many handshakes of TLS were under way for 10 s");
	rr_iwarp_endpoint_defer(endpoint);
}

/* Called when the time limit of the state has passed: ends the connection, with a text that says whether a
 * disconnection or the peer's MPA frame took too long. */
static void
endpoint_overdue(struct rr_iwarp_endpoint *endpoint)
{
	struct rr_iwarp *iwarp = &endpoint->iwarp;

	if (iwarp->draining)
		rr_iwarp_over(iwarp, 0, "disconnected; the peer did not take all that was posted");
	else
		rr_iwarp_over(iwarp, -RPCRDMA_ERR_TIMEDOUT,
			"it does not answer in iWARP (MPA), although it accepts TCP connections; is this the "
			"port of NFS/RDMA?");
	rr_iwarp_endpoint_defer(endpoint);
}

/* Removes an endpoint from its listener and frees it, as its MPA request did not come or was wrong. */
static void
endpoint_drop_pending(struct rr_iwarp_endpoint *endpoint)
{
	rr_iwarp_listener_remove(endpoint);
	rr_iwarp_endpoint_bury(endpoint);
}

/* Reports the end of the connection: closes the socket, completes all outstanding work requests as
 * cancelled, and calls the owner's handler with DISCONNECTED. If a second attempt with MPA revision 1 is
 * possible (iwarp->again), begins that instead, and reports nothing. */
static void
endpoint_report(struct rr_iwarp_endpoint *endpoint)
{
	struct rr_iwarp *iwarp = &endpoint->iwarp;
	struct rr_event event = { .kind = RR_EVENT_DISCONNECTED,
		.status = iwarp->status,
		.text = iwarp->text.text,
		.data = iwarp->reason,
		.length = iwarp->reason_size };

	if (iwarp->again && endpoint_start_again(endpoint))
		return;
	endpoint_leave_socket(endpoint);
	rr_iwarp_endpoint_set_state(endpoint, RR_IWARP_ENDPOINT_REPORTED);
	rr_iwarp_flush(iwarp);
	if (iwarp->state == RR_IWARP_OVER)
		iwarp->base.handler(iwarp->base.ctx, &event);
}

/* Ends an endpoint whose handshake of TLS failed: it is its listener's, or its owner's. */
static void
endpoint_unsecured(struct rr_iwarp_endpoint *endpoint)
{
	if (endpoint->listener)
		endpoint_drop_pending(endpoint);
	else
		endpoint_report(endpoint);
}

/* ---- The table ---- */

typedef void endpoint_action(struct rr_iwarp_endpoint *endpoint);

void
rr_iwarp_endpoint_event(struct rr_iwarp_endpoint *endpoint, enum rr_iwarp_endpoint_event event)
{
	/* clang-format off */
	static endpoint_action *const table[RR_IWARP_ENDPOINT_STATES][RR_IWARP_ENDPOINT_EVENTS] = {
		[RR_IWARP_ENDPOINT_CONNECTING] = {
			/* TURN, READABLE */  endpoint_settle,  endpoint_tcp_connected,
			/* HUNG_UP, WRITABLE */ endpoint_tcp_connected, endpoint_tcp_connected,
			/* LIMIT, OPEN */     endpoint_no_answer, endpoint_hold,
			/* CLOSES, OVER */    endpoint_hold,    endpoint_report },
		[RR_IWARP_ENDPOINT_SECURING] = {
			/* TURN, READABLE */  endpoint_shake,   endpoint_hold,
			/* HUNG_UP, WRITABLE */ endpoint_hung_up, endpoint_hold,
			/* LIMIT, OPEN */     endpoint_shaken_too_late, endpoint_hold,
			/* CLOSES, OVER */    endpoint_hold,    endpoint_unsecured },
		[RR_IWARP_ENDPOINT_PENDING] = {
			/* TURN, READABLE */  endpoint_turn,    endpoint_read_request,
			/* HUNG_UP, WRITABLE */ endpoint_hung_up, endpoint_hold,
			/* LIMIT, OPEN */     endpoint_overdue, endpoint_hold,
			/* CLOSES, OVER */    endpoint_hold,    endpoint_drop_pending },
		/* The socket is not watched. There is no handler yet that could be called at the end. */
		[RR_IWARP_ENDPOINT_OFFERED] = {
			/* TURN, READABLE */  endpoint_settle,  endpoint_hold,
			/* HUNG_UP, WRITABLE */ endpoint_hold,  endpoint_hold,
			/* LIMIT, OPEN */     endpoint_hold,    endpoint_hold,
			/* CLOSES, OVER */    endpoint_hold,    endpoint_leave_socket },
		[RR_IWARP_ENDPOINT_ACCEPTED] = {
			/* TURN, READABLE */  endpoint_turn,    rr_iwarp_stream_read,
			/* HUNG_UP, WRITABLE */ endpoint_hung_up, endpoint_hold,
			/* LIMIT, OPEN */     endpoint_overdue, endpoint_establish,
			/* CLOSES, OVER */    endpoint_begin_closing, endpoint_report },
		[RR_IWARP_ENDPOINT_UP] = {
			/* TURN, READABLE */  endpoint_turn,    rr_iwarp_stream_read,
			/* HUNG_UP, WRITABLE */ endpoint_hung_up, endpoint_hold,
			/* LIMIT, OPEN */     endpoint_overdue, endpoint_lift_limit,
			/* CLOSES, OVER */    endpoint_begin_closing, endpoint_report },
		[RR_IWARP_ENDPOINT_CLOSING] = {
			/* TURN, READABLE */  endpoint_turn,    rr_iwarp_stream_read,
			/* HUNG_UP, WRITABLE */ endpoint_hung_up, endpoint_hold,
			/* LIMIT, OPEN */     endpoint_overdue, endpoint_hold,
			/* CLOSES, OVER */    endpoint_shut,    endpoint_report },
		[RR_IWARP_ENDPOINT_SHUT] = {
			/* TURN, READABLE */  endpoint_turn,    rr_iwarp_stream_read,
			/* HUNG_UP, WRITABLE */ endpoint_hung_up, endpoint_hold,
			/* LIMIT, OPEN */     endpoint_overdue, endpoint_hold,
			/* CLOSES, OVER */    endpoint_hold,    endpoint_report },
		[RR_IWARP_ENDPOINT_REJECTED] = {
			/* TURN, READABLE */  endpoint_turn,    rr_iwarp_stream_read,
			/* HUNG_UP, WRITABLE */ endpoint_hung_up, endpoint_hold,
			/* LIMIT, OPEN */     endpoint_overdue, endpoint_hold,
			/* CLOSES, OVER */    endpoint_hold,    rr_iwarp_endpoint_bury_rejected },
		[RR_IWARP_ENDPOINT_REPORTED] = {
			/* TURN, READABLE */  endpoint_hold,    endpoint_hold,
			/* HUNG_UP, WRITABLE */ endpoint_hold,  endpoint_hold,
			/* LIMIT, OPEN */     endpoint_hold,    endpoint_hold,
			/* CLOSES, OVER */    endpoint_hold,    endpoint_hold },
		[RR_IWARP_ENDPOINT_CLOSED] = {
			/* TURN, READABLE */  endpoint_hold,    endpoint_hold,
			/* HUNG_UP, WRITABLE */ endpoint_hold,  endpoint_hold,
			/* LIMIT, OPEN */     endpoint_hold,    endpoint_hold,
			/* CLOSES, OVER */    endpoint_hold,    endpoint_hold },
	};
	/* clang-format on */

	table[endpoint->state][event](endpoint);
}

/* ---- Sources of events ---- */

/* Called by the loop when the socket is readable or writable: handles the endpoint's event READABLE, HUNG_UP
 * or WRITABLE, and schedules the endpoint's task. */
static void
endpoint_ready(struct rr_watch *watch, unsigned events)
{
	struct rr_iwarp_endpoint *endpoint = rr_container(watch, struct rr_iwarp_endpoint, watch);
	enum rr_iwarp_endpoint_event event = RR_IWARP_ENDPOINT_WRITABLE;

	if (events & RR_READABLE)
		event = watch->wanted & RR_READABLE ? RR_IWARP_ENDPOINT_READABLE : RR_IWARP_ENDPOINT_HUNG_UP;
	/* TCP may take octets again: the task tries. */
	endpoint->full = false;
	rr_iwarp_endpoint_event(endpoint, event);
	if (endpoint->iwarp.state != RR_IWARP_RELEASED)
		rr_iwarp_endpoint_defer(endpoint);
}

/* Called by the loop when the socket may be readable: reads, and returns whether octets or the end of the
 * stream were there. If so, schedules the endpoint's task. */
static bool
endpoint_look(struct rr_watch *watch)
{
	struct rr_iwarp_endpoint *endpoint = rr_container(watch, struct rr_iwarp_endpoint, watch);
	const struct rr_iwarp *iwarp = &endpoint->iwarp;
	enum rr_iwarp_state state = iwarp->state;
	uint64_t moved = iwarp->base.moved;

	if (endpoint->state != RR_IWARP_ENDPOINT_UP || !(watch->wanted & RR_READABLE))
		return false;
	rr_iwarp_stream_read(endpoint);
	if (iwarp->base.moved == moved && iwarp->state == state)
		return false;
	if (iwarp->state != RR_IWARP_RELEASED)
		rr_iwarp_endpoint_defer(endpoint);
	return true;
}

/* Runs as the endpoint's task, at the end of the turn of the loop: handles the event TURN. */
static void
endpoint_run(struct rr_task *task)
{
	rr_iwarp_endpoint_event(rr_container(task, struct rr_iwarp_endpoint, task), RR_IWARP_ENDPOINT_TURN);
}

/* Called when the timer of the endpoint's state has expired: handles the event LIMIT. */
static void
endpoint_expired(struct rr_timer *timer)
{
	rr_iwarp_endpoint_event(
		rr_container(timer, struct rr_iwarp_endpoint, timer), RR_IWARP_ENDPOINT_LIMIT);
}

/* Called when the rest of an FPDU or of a Send did not come in time: ends the connection. */
static void
endpoint_stalled(struct rr_timer *timer)
{
	struct rr_iwarp_endpoint *endpoint = rr_container(timer, struct rr_iwarp_endpoint, owed);

	rr_iwarp_over(&endpoint->iwarp, -RPCRDMA_ERR_TIMEDOUT, "the peer stopped in the middle of a message");
	rr_iwarp_endpoint_defer(endpoint);
}

/* Called at the end of a tick in which half a Send held a receive: ends the connection if others waited for
 * receives all the time and the peer moved next to nothing. */
static void
endpoint_held(struct rr_timer *timer)
{
	struct rr_iwarp_endpoint *endpoint = rr_container(timer, struct rr_iwarp_endpoint, held);
	uint64_t moved = endpoint->iwarp.base.moved - endpoint->held_moved;

	if (!endpoint->held_short || !rr_receives_are_wanted(&endpoint->iwarp.shared->receives) ||
		moved >= rr_share_least(0) * held_tick / RR_SECOND) {
		endpoint_watch_receive(endpoint);
		return;
	}
	rr_iwarp_over(&endpoint->iwarp, -RPCRDMA_ERR_TIMEDOUT,
		"the peer stopped in the middle of a message, while others wait for the Receive that it "
		"holds");
	rr_iwarp_endpoint_defer(endpoint);
}

/* Called when the peer's TCP has not answered for too long: ends the connection. */
static void
endpoint_peer_is_dead(struct rr_alive *alive)
{
	struct rr_iwarp_endpoint *endpoint = rr_container(alive, struct rr_iwarp_endpoint, alive);

	rr_iwarp_stream_lost(endpoint, ETIMEDOUT);
	rr_iwarp_endpoint_defer(endpoint);
}

void
rr_iwarp_endpoint_watch_peer(struct rr_iwarp_endpoint *endpoint)
{
	rr_alive_start(&endpoint->alive, endpoint_loop(endpoint), endpoint->fd, RR_ALIVE_LIMIT);
}

/* Called when a receive buffer may be free for this endpoint, which waited for one: schedules the endpoint's
 * task. */
static void
endpoint_wake(struct rr_receive_wait *wait)
{
	struct rr_iwarp *iwarp = rr_container(wait, struct rr_iwarp, wait);

	rr_iwarp_endpoint_defer(rr_container(iwarp, struct rr_iwarp_endpoint, iwarp));
}

/* ---- From the socket to the end ---- */

struct rr_iwarp_endpoint *
rr_iwarp_endpoint_new(struct rr_iwarp_fabric *fabric, int fd, const struct sockaddr *peer)
{
	struct rr_iwarp_endpoint *endpoint = rr_alloc(fabric->shared.env, sizeof(*endpoint));

	if (!endpoint)
		return NULL;
	endpoint->iwarp.base.ops = fabric->base.ops;
	endpoint->iwarp.base.fabric = &fabric->base;
	rr_address_text(peer, endpoint->iwarp.base.peer, sizeof(endpoint->iwarp.base.peer));
	rr_iwarp_init(&endpoint->iwarp, &fabric->shared);
	endpoint->iwarp.wait.wake = endpoint_wake;
	endpoint->iwarp.flush = rr_iwarp_stream_flush;
	endpoint->fd = fd;
	endpoint->watch = (struct rr_watch){ .ready = endpoint_ready, .look = endpoint_look, .fd = -1 };
	rr_timer_init(&endpoint->timer, endpoint_expired);
	rr_alive_init(&endpoint->alive, endpoint_peer_is_dead);
	rr_timer_init(&endpoint->owed, endpoint_stalled);
	rr_timer_init(&endpoint->held, endpoint_held);
	rr_task_init(&endpoint->task, endpoint_run);
	rr_list_init(&endpoint->link);
	rr_list_init(&endpoint->handshake.link);
	return endpoint;
}

int
rr_iwarp_endpoint_watch(struct rr_iwarp_endpoint *endpoint, unsigned wanted, uint64_t limit)
{
	int error = rr_loop_watch(endpoint_loop(endpoint), &endpoint->watch, endpoint->fd, wanted);

	if (error)
		endpoint->watch.fd = -1;
	else if (limit)
		rr_loop_arm(endpoint_loop(endpoint), &endpoint->timer, limit);
	return error;
}

void
rr_iwarp_endpoint_unwatch(struct rr_iwarp_endpoint *endpoint)
{
	if (endpoint->watch.fd >= 0)
		rr_loop_unwatch(endpoint_loop(endpoint), &endpoint->watch);
	endpoint->watch.fd = -1;
}

void
rr_iwarp_endpoint_bury(struct rr_iwarp_endpoint *endpoint)
{
	endpoint_leave_socket(endpoint);
	rr_iwarp_endpoint_set_state(endpoint, RR_IWARP_ENDPOINT_CLOSED);
	rr_task_cancel(&endpoint->task);
	rr_iwarp_release(&endpoint->iwarp);
	rr_endpoint_bury(&endpoint->iwarp.base);
}

void
rr_iwarp_endpoint_bury_rejected(struct rr_iwarp_endpoint *endpoint)
{
	rr_list_remove(&endpoint->link);
	rr_iwarp_fabric(endpoint)->rejected_count--;
	rr_iwarp_endpoint_bury(endpoint);
}
