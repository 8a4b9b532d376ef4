/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a TCP carrier. The carrier owns its socket until it fails or is closed, the outbounds and
 * exchanges that are in use, and at most one buffer of the pool, for the record that is arriving. A failure
 * closes the socket at once, and parts the exchanges from the carrier. The carrier's task then calls the
 * done() of all transactions, and after them the owner's closed(). */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/address.h"
#include "base/errno.h"
#include "base/peer_log.h"
#include "carrier/tcp/tcp_private.h"

#define RECORD_LIMIT (60 * RR_SECOND) /* how long one record may take to arrive */
#define LINGER_LIMIT RR_SECOND

static struct rr_tcp *
tcp_of(struct rr_carrier *carrier)
{
	return rr_container(carrier, struct rr_tcp, base);
}

/* ---- What the loop calls ---- */

/* Sets the events that the loop watches for on the socket, and arms the timer while a record is incomplete.
 * Each callback ends with this function. */
static void
tcp_update(struct rr_tcp *tcp)
{
	struct rr_loop *loop = tcp->base.engine->loop;
	unsigned wanted = 0;

	if (!rr_tcp_alive(tcp))
		return;
	if (tcp->state == RR_TCP_CONNECTING || tcp->blocked)
		wanted |= RR_WRITABLE;
	if (rr_tcp_may_read(tcp) || tcp->state == RR_TCP_LINGERING ||
		(tcp->state == RR_TCP_SECURING && !rr_tcp_starttls_waits(tcp)))
		wanted |= RR_READABLE;
	rr_loop_want(loop, &tcp->watch, wanted);
	/* In these states the timer bounds the wait for the peer's FIN, see tcp_linger(), and for the
	 * handshake. */
	if (tcp->state == RR_TCP_LINGERING || tcp->state == RR_TCP_SECURING)
		return;
	if (tcp->secure && rr_tcp_secure_has_more(tcp) && rr_tcp_may_read(tcp))
		rr_loop_defer(loop, &tcp->task);
	if (!rr_tcp_may_read(tcp) || !rr_tcp_in_record(tcp))
		rr_loop_disarm(loop, &tcp->timer);
	else if (!rr_timer_armed(&tcp->timer))
		rr_loop_arm(loop, &tcp->timer, RECORD_LIMIT);
}

/* Is called when the carrier is open: has its calls sent, and calls the owner's connected(). */
static void
tcp_opened(struct rr_tcp *tcp)
{
	/* The task sends the calls that were made while the connection was being made. */
	rr_loop_defer(tcp->base.engine->loop, &tcp->task);
	if (tcp->base.events->connected)
		tcp->base.events->connected(tcp->base.ctx);
}

/* Is called when connect() has ended: opens the carrier and calls the owner's connected(), or first asks for
 * TLS; or, if there is no connection, fails the carrier. */
static void
tcp_finish_connect(struct rr_tcp *tcp)
{
	int error = 0;
	socklen_t size = sizeof(error);

	if (getsockopt(tcp->watch.fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
		error = errno;
	if (error) {
		rr_tcp_fail(tcp, rr_errno_error(error), "%s: no connection over TCP: %s", tcp->base.peer,
			strerror(error));
		return;
	}
	rr_alive_start(&tcp->alive, tcp->base.engine->loop, tcp->watch.fd, RR_ALIVE_LIMIT);
	if (tcp->wants) {
		rr_tcp_starttls_ask(tcp);
		return;
	}
	tcp->state = RR_TCP_OPEN;
	tcp_opened(tcp);
}

/* Is called when the socket is ready while the connection is on its way into TLS. Once it is inside, reads
 * what is inside of the session already. */
static void
tcp_secure(struct rr_tcp *tcp)
{
	if (!rr_tcp_starttls_ready(tcp))
		return;
	if (tcp->wants)
		tcp_opened(tcp);
	if (rr_tcp_alive(tcp))
		rr_tcp_read(tcp);
}

/* Reads the octets that are inside of the session, but nothing from the socket: what a turn of the loop does
 * for one peer stays bounded. */
static void
tcp_read_inside(struct rr_tcp *tcp)
{
	struct rr_tls_session *session = tcp->secure->session;

	if (!rr_tcp_secure_has_more(tcp) || !rr_tcp_may_read(tcp))
		return;
	rr_tls_hold(session, true);
	rr_tcp_read(tcp);
	if (tcp->secure)
		rr_tls_hold(session, false);
}

/* Is called when the socket is ready: finishes the connect(), or reads and writes. Ends the connection if the
 * socket reports an error. */
static void
tcp_ready(struct rr_watch *watch, unsigned events)
{
	struct rr_tcp *tcp = rr_container(watch, struct rr_tcp, watch);

	if (tcp->state == RR_TCP_CONNECTING) {
		if (events & RR_WRITABLE)
			tcp_finish_connect(tcp);
	} else if (tcp->state == RR_TCP_SECURING) {
		tcp_secure(tcp);
	} else {
		/* If no reading is wanted, only errors and hang-ups come as readable. */
		if (events & RR_READABLE && watch->wanted & RR_READABLE)
			rr_tcp_read(tcp);
		else if (events & RR_READABLE)
			rr_tcp_fail(tcp, -RPCRDMA_ERR_DISCONNECTED, "%s: the connection was reset",
				tcp->base.peer);
		if (events & RR_WRITABLE && rr_tcp_alive(tcp))
			rr_tcp_flush(tcp);
	}
	tcp_update(tcp);
}

/* Is called when the socket may be readable: reads, and returns whether octets or the end of the stream were
 * there. A carrier that wants to read has no whole record in memory, so that without new octets nothing
 * changes. */
static bool
tcp_look(struct rr_watch *watch)
{
	struct rr_tcp *tcp = rr_container(watch, struct rr_tcp, watch);
	uint64_t moved = tcp->moved;

	if (tcp->state != RR_TCP_OPEN || !(watch->wanted & RR_READABLE))
		return false;
	rr_tcp_read(tcp);
	if (tcp->moved == moved && tcp->state == RR_TCP_OPEN)
		return false;
	tcp_update(tcp);
	return true;
}

/* Is called when the peer's FIN, or the rest of a record, did not come in time: ends the connection. */
static void
tcp_timed_out(struct rr_timer *timer)
{
	struct rr_tcp *tcp = rr_container(timer, struct rr_tcp, timer);

	if (tcp->state == RR_TCP_LINGERING)
		rr_tcp_fail(tcp, -RPCRDMA_ERR_DISCONNECTED, "%s: shut down", tcp->base.peer);
	else if (tcp->state == RR_TCP_SECURING)
		rr_tcp_starttls_timed_out(tcp);
	else
		rr_tcp_fail(
			tcp, -RPCRDMA_ERR_PEER, "%s: a record was begun and not completed", tcp->base.peer);
	tcp_update(tcp);
}

/* Is called when the peer owes an acknowledgement and has been silent for RR_ALIVE_LIMIT: ends the
 * connection. */
static void
tcp_peer_is_dead(struct rr_alive *alive)
{
	struct rr_tcp *tcp = rr_container(alive, struct rr_tcp, alive);

	rr_tcp_fail(tcp, -RPCRDMA_ERR_DISCONNECTED, "%s: the connection was lost: the peer is silent",
		tcp->base.peer);
	tcp_update(tcp);
}

/* Sends this side's FIN, as all calls of the peer are answered, and waits for the peer's FIN for
 * LINGER_LIMIT at most. */
static void
tcp_linger(struct rr_tcp *tcp)
{
	rr_tcp_secure_close_notify(tcp);
	shutdown(tcp->watch.fd, SHUT_WR);
	tcp->state = RR_TCP_LINGERING;
	rr_loop_arm(tcp->base.engine->loop, &tcp->timer, LINGER_LIMIT);
}

/* Ends the transactions, with an error passed to their done(). Then calls the owner's closed(), unless the
 * carrier was closed meanwhile. */
static void
tcp_tell_failure(struct rr_tcp *tcp)
{
	rr_tcp_end_calls(tcp);
	rr_tcp_end_refused(tcp);
	if (tcp->closed)
		return;
	tcp->state = RR_TCP_CLOSED;
	if (tcp->base.events->closed)
		tcp->base.events->closed(tcp->base.ctx, tcp->error, tcp->why.text);
}

/* Is the carrier's task: calls the done() of transactions that could not be sent, goes on with reading and
 * writing, and takes the next step towards the end of a carrier that is shut down or has failed. Each done()
 * may close the carrier, which is checked after it. */
static void
tcp_run(struct rr_task *task)
{
	struct rr_tcp *tcp = rr_container(task, struct rr_tcp, task);

	rr_tcp_end_refused(tcp);
	/* A carrier that is draining reads no more, so no more replies come. */
	if (rr_tcp_alive(tcp) && tcp->state == RR_TCP_DRAINING)
		rr_tcp_end_calls(tcp);
	if (rr_tcp_alive(tcp) && tcp->state >= RR_TCP_OPEN)
		rr_tcp_resume(tcp);
	if (rr_tcp_alive(tcp) && tcp->secure)
		tcp_read_inside(tcp);
	if (rr_tcp_alive(tcp) && tcp->state >= RR_TCP_OPEN)
		rr_tcp_flush(tcp);
	if (rr_tcp_alive(tcp) && tcp->state == RR_TCP_DRAINING && tcp->exchange_count == 0 &&
		rr_list_empty(&tcp->out) && !tcp->blocked)
		tcp_linger(tcp);
	if (!tcp->closed && tcp->state == RR_TCP_FAILED)
		tcp_tell_failure(tcp);
	tcp_update(tcp);
}

/* Is called when the pool has memory again: goes on with reading. */
static void
tcp_wake(struct rr_pool_waiter *waiter)
{
	struct rr_tcp *tcp = rr_container(waiter, struct rr_tcp, waiter);

	tcp->starved = false;
	rr_tcp_resume(tcp);
	tcp_update(tcp);
}

/* ---- What base/share/share.c asks about a connection ---- */

/* Tells whether this side waits for the peer: to take what is to be written, or to send the rest of a
 * record. */
static bool
tcp_party_is_awaited(void *ctx)
{
	const struct rr_tcp *tcp = ctx;

	return rr_tcp_alive(tcp) && (tcp->blocked || (rr_tcp_may_read(tcp) && rr_tcp_in_record(tcp)));
}

/* Returns how many octets the peer has sent or taken so far. */
static uint64_t
tcp_party_moved(void *ctx)
{
	const struct rr_tcp *tcp = ctx;

	return tcp->moved;
}

/* Ends the connection, as it takes too much memory from others; base/share/share.c decides this. why is the
 * reason, for the log. */
static void
tcp_party_cut(void *ctx, const char *why)
{
	struct rr_tcp *tcp = ctx;

	rr_log_peer(rr_loop_peer_log(tcp->base.engine->loop), tcp->base.peer, "%s: %s", tcp->base.peer, why);
	rr_tcp_fail(tcp, -RPCRDMA_ERR_TIMEDOUT, "%s: %s", tcp->base.peer, why);
	tcp_update(tcp);
}

/* Tells whether calls of the peer are under way. */
static bool
tcp_party_is_busy(void *ctx)
{
	const struct rr_tcp *tcp = ctx;

	return tcp->exchange_count > 0;
}

static const struct rr_party_ops tcp_party = {
	.is_busy = tcp_party_is_busy,
	.is_awaited = tcp_party_is_awaited,
	.moved = tcp_party_moved,
	.cut = tcp_party_cut,
};

/* ---- Its end ---- */

/* Is called when the socket was closed: drops all octets that were read or are still to be written. Exchanges
 * (calls of the peer) live on without the carrier until they are answered. */
static void
tcp_released(struct rr_tcp *tcp)
{
	rr_tcp_discard_input(tcp);
	rr_tcp_orphan_exchanges(tcp);
	rr_tcp_discard_output(tcp);
}

/* Begins to end the connection in good order: stops reading, and has the carrier's task send the replies to
 * calls that the peer made, and then close the stream. A connection that is not made yet ends at once. */
static void
tcp_carrier_shutdown(struct rr_carrier *carrier)
{
	struct rr_tcp *tcp = tcp_of(carrier);

	if (tcp->state < RR_TCP_OPEN) {
		rr_tcp_fail(tcp, -RPCRDMA_ERR_DISCONNECTED, "%s: shut down", carrier->peer);
		return;
	}
	if (tcp->state != RR_TCP_OPEN)
		return;
	tcp->state = RR_TCP_DRAINING;
	rr_loop_defer(carrier->engine->loop, &tcp->task);
}

/* Frees a carrier that was closed. The loop calls this when it no longer uses the carrier. */
static void
tcp_free(struct rr_grave *grave, const struct rr_env *env)
{
	struct rr_tcp *tcp = rr_container(grave, struct rr_tcp, grave);

	rr_tcp_free_input(tcp);
	rr_free(env, tcp);
}

/* Closes the socket and has the loop free the carrier later. Calls under way end without their done(). */
static void
tcp_carrier_close(struct rr_carrier *carrier)
{
	struct rr_tcp *tcp = tcp_of(carrier);

	rr_tcp_release(tcp);
	rr_task_cancel(&tcp->task);
	rr_tcp_free_calls(tcp);
	rr_party_end(tcp->base.party, tcp);
	tcp->base.party = NULL;
	tcp->base.payer = NULL;
	tcp->closed = true;
	rr_loop_bury(carrier->engine->loop, &tcp->grave, tcp_free);
}

/* Stores the name of the transport, and what protects it. Else nothing is negotiated over TCP. */
static void
tcp_carrier_negotiated(const struct rr_carrier *carrier, struct rpcrdma_negotiated *negotiated)
{
	const struct rr_tcp *tcp = (const void *)carrier; /* the carrier is its first member */
	struct rr_tls_facts facts = { 0 };

	if (tcp->secure && tcp->state >= RR_TCP_OPEN)
		rr_tls_facts(tcp->secure->session, &facts);
	*negotiated = (struct rpcrdma_negotiated){ .fabric = "tcp",
		.tls = facts.version,
		.tls_cipher = facts.cipher,
		.tls_mutual = facts.security == RR_SECURITY_MTLS };
	if (facts.peer)
		snprintf(negotiated->tls_peer, sizeof(negotiated->tls_peer), "%s", facts.peer);
}

static const struct rr_carrier_ops tcp_ops = {
	.call = rr_tcp_call,
	.cancel = rr_tcp_cancel,
	.reply = rr_tcp_reply,
	.drop = rr_tcp_drop,
	.negotiated = tcp_carrier_negotiated,
	.shutdown = tcp_carrier_shutdown,
	.close = tcp_carrier_close,
};

/* ---- Its beginning ---- */

/* Returns the buffer into which all TCP carriers of the engine read, and allocates it at the first call.
 * Returns NULL if there is no memory. */
static uint8_t *
tcp_staging_of(struct rr_carriers *base)
{
	struct rr_tcp_carriers *carriers = rr_container(base, struct rr_tcp_carriers, base);
	const struct rr_env *env = base->engine->env;

	if (!carriers->staging)
		carriers->staging = env->realloc(env->ctx, NULL, RR_TCP_STAGING);
	return carriers->staging;
}

/* Frees a carrier that could not be made, and returns error. */
static int
tcp_forget(struct rr_tcp *tcp, int error)
{
	const struct rr_env *env = tcp->base.engine->env;

	rr_party_end(tcp->base.party, tcp);
	rr_map_free(&tcp->xids, env);
	rr_free(env, tcp);
	return error;
}

int
rr_tcp_new(struct rr_carriers *carriers, int fd, const struct sockaddr *peer, enum rr_tcp_state state,
	struct rr_tcp **result, struct rr_text *text)
{
	static const struct rr_carrier_events no_events;
	struct rpcrdma_engine *engine = carriers->engine;
	uint8_t *staging = tcp_staging_of(carriers);
	struct rr_tcp *tcp = staging ? rr_alloc(engine->env, sizeof(*tcp)) : NULL;

	if (!tcp || rr_map_init(&tcp->xids, engine->env, engine->config.credits) < 0) {
		rr_free(engine->env, tcp);
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for a connection");
	}
	tcp->base = (struct rr_carrier){ .ops = &tcp_ops, .engine = engine, .events = &no_events };
	tcp->base.counters.size = sizeof(tcp->base.counters);
	rr_address_text(peer, tcp->base.peer, sizeof(tcp->base.peer));
	tcp->base.source = rr_address_source_of(tcp->base.peer);
	tcp->base.source.tcp = true;
	tcp->base.party = rr_party_new(&engine->shares, tcp->base.peer, &tcp_party, tcp);
	tcp->kind = rr_container(carriers, struct rr_tcp_carriers, base);
	tcp->staging = staging;
	tcp->state = state;
	tcp->released = tcp_released;
	tcp->pool = state == RR_TCP_CONNECTING ? engine->pool : engine->arrivals;
	tcp->guarded = state == RR_TCP_OPEN && engine->config.tls;
	rr_task_init(&tcp->task, tcp_run);
	rr_timer_init(&tcp->timer, tcp_timed_out);
	rr_alive_init(&tcp->alive, tcp_peer_is_dead);
	tcp->waiter.wake = tcp_wake;
	tcp->watch.ready = tcp_ready;
	tcp->watch.look = tcp_look;
	rr_list_init(&tcp->waiter.link);
	rr_list_init(&tcp->out);
	rr_tcp_init_calls(tcp);
	rr_tcp_init_exchanges(tcp);
	tcp->watch.payer = tcp->task.payer = &tcp->base.payer;
	if (!tcp->base.party)
		return tcp_forget(tcp, rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for a connection"));
	tcp->base.payer = &tcp->base.party->payer;
	if (rr_loop_watch(engine->loop, &tcp->watch, fd, state == RR_TCP_OPEN ? RR_READABLE : RR_WRITABLE) <
		0)
		return tcp_forget(tcp, rr_fail(text, -RPCRDMA_ERR_SYSTEM, "a socket cannot be watched: %s",
					       strerror(errno)));
	/* A new carrier is open only if its connection was accepted. */
	if (state == RR_TCP_OPEN)
		rr_party_accepted(tcp->base.party, RR_ACCEPTED_TCP);
	if (state == RR_TCP_OPEN)
		rr_alive_start(&tcp->alive, engine->loop, fd, RR_ALIVE_LIMIT);
	*result = tcp;
	return 0;
}
