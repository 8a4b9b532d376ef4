/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has a client of version 4 from its beginning to its end. */
#include "vfs/nfs/v4/session/v4.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "vfs/nfs/v4/session/session.h"

#define V4_LEASE (90 * RR_SECOND) /* until the server says how long its lease is */

static void v4_ends(struct rr_timer *timer);

/* Gives this client a name of its own, with the host, the process and a random number. RFC 8881, 2.4, of
 * co_ownerid: "The string should be unique so that multiple clients do not present the same string." */
static void
v4_identify(struct rr_v4 *v4)
{
	uint64_t random;
	char host[65] = "";

	gethostname(host, sizeof(host) - 1);
	v4->env->random(v4->env->ctx, &random, sizeof(random));
	v4->env->random(v4->env->ctx, v4->verifier, sizeof(v4->verifier));
	v4->owner_length = (uint32_t)snprintf((char *)v4->owner, sizeof(v4->owner), "rpcrdma %s %ld %016llx",
		host, (long)getpid(), (unsigned long long)random);
}

/* Prepares a slot. Its call is in no list, so that it can be cancelled also before it was ever sent. */
static void
v4_init_slot(struct rr_v4 *v4, struct rr_v4_slot *slot, uint32_t number)
{
	slot->v4 = v4;
	slot->number = number;
	rr_timer_init(&slot->later, rr_v4_slot_later);
	rr_list_init(&slot->call.link);
}

int
rr_v4_new(const struct rr_v4_config *config, struct rr_v4 **out)
{
	const struct rr_env *env = config->engine->env;
	struct rr_v4 *v4 = rr_alloc(env, sizeof(*v4));

	if (!v4)
		return -RPCRDMA_ERR_NOMEM;
	v4->config = *config;
	v4->env = env;
	v4->loop = config->engine->loop;
	v4->lease = V4_LEASE;
	v4_identify(v4);
	rr_list_init(&v4->queue);
	rr_list_init(&v4->ending);
	rr_timer_init(&v4->ends, v4_ends);
	rr_v4_opens_init(v4);
	v4_init_slot(v4, &v4->control, 0);
	for (uint32_t i = 0; i < RR_V4_SLOTS; i++)
		v4_init_slot(v4, &v4->slot[i], i);
	rr_v4_session_init(v4);
	rr_v4_event(v4, RR_V4_START);
	*out = v4;
	return 0;
}

/* ---- Waiting ---- */

int
rr_v4_wait(struct rr_v4 *v4, bool (*stop)(void *ctx), void *ctx)
{
	while (v4->state != RR_V4_READY) {
		int turned = v4->state == RR_V4_IDLE ? v4->error : rr_loop_turn(v4->loop, -1);

		/* The attempt may have failed before, or in this turn. */
		if (v4->state == RR_V4_IDLE)
			return v4->error;
		if (turned < 0)
			return rr_fail(&v4->text, turned, "the event loop failed");
		if (stop(ctx))
			return rr_fail(&v4->text, -RPCRDMA_ERR_CANCELLED, "interrupted");
	}
	return 0;
}

const char *
rr_v4_error(const struct rr_v4 *v4)
{
	return v4->text.text;
}

uint32_t
rr_v4_refusal(const struct rr_v4 *v4)
{
	return v4->refusal;
}

uint64_t
rr_v4_clientid(const struct rr_v4 *v4)
{
	return v4->clientid;
}

uint32_t
rr_v4_minor(const struct rr_v4 *v4)
{
	return v4->config.minor;
}

uint32_t
rr_v4_operations(const struct rr_v4 *v4)
{
	return v4->operations;
}

/* Tells whether the servers of the two clients say that they are one server. RFC 8881, 2.10.4: servers with
 * the same major ID and the same scope are one server, and a file handle of one of them is valid at the
 * other. */
bool
rr_v4_is_same_server(const struct rr_v4 *a, const struct rr_v4 *b)
{
	const struct rr_v4_server *x = &a->server, *y = &b->server;

	return x->major_length > 0 && x->major_length == y->major_length &&
	       x->scope_length == y->scope_length && memcmp(x->major, y->major, x->major_length) == 0 &&
	       memcmp(x->scope, y->scope, x->scope_length) == 0;
}

uint32_t
rr_v4_sessions(const struct rr_v4 *v4)
{
	return v4->generation;
}

uint32_t
rr_v4_opens(const struct rr_v4 *v4)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < RR_V4_OPENS; i++)
		count += v4->open[i].state != RR_V4_OPEN_FREE;
	return count;
}

/* ---- Calls ---- */

/* Called from the loop: removes the first call from v4->ending and calls its done(), which may free v4. If
 * more calls are in that list, first sets the timer again for the next of them. The list is empty if its
 * calls were cancelled. */
static void
v4_ends(struct rr_timer *timer)
{
	struct rr_v4 *v4 = rr_container(timer, struct rr_v4, ends);
	struct rr_list *link = rr_list_pop(&v4->ending);
	struct rr_call *outer;

	if (!link)
		return;
	outer = rr_container(link, struct rr_call, link);
	if (!rr_list_empty(&v4->ending))
		rr_loop_arm(v4->loop, &v4->ends, 0);
	rr_loop_disarm(v4->loop, &outer->timer);
	outer->done(outer, outer->error);
}

/* Called when the time for a call is over: cancels the call, and calls its done() with the error TIMEDOUT. */
static void
v4_expired(struct rr_timer *timer)
{
	struct rr_call *outer = rr_container(timer, struct rr_call, timer);
	struct rr_v4 *v4 = outer->buffer;

	rr_v4_cancel(v4, outer);
	outer->done(outer, rr_fail(&v4->text, -RPCRDMA_ERR_TIMEDOUT, "no answer in time"));
}

void
rr_v4_call(struct rr_v4 *v4, struct rr_call *call)
{
	const struct rr_v4_work *work;

	rr_list_init(&call->link);
	/* The RPC client does not see this call, so the members that belong to that client are used here:
	 * buffer says to v4_expired() whose call it is. */
	rr_timer_init(&call->timer, v4_expired);
	call->buffer = v4;
	call->losses = 0;
	call->placed = call->pulled = 0;
	rr_list_append(&v4->queue, &call->link);
	if (call->timeout > 0)
		rr_loop_arm(v4->loop, &call->timer, call->timeout);
	work = v4->config.work(call);
	if (!work || (work->newer && v4->config.minor < 2)) {
		rr_v4_end_later(v4, call,
			rr_fail(&v4->text, -RPCRDMA_ERR_PROC_UNAVAIL,
				"NFS version 4.%u has nothing like that", v4->config.minor));
		return;
	}
	rr_v4_pump(v4);
}

/* Removes a call from the list that it is in. If the call is under way in a slot, cancels the slot's call;
 * that slot is not used again in this session. Then looks at the queue, as another session is needed if that
 * was the last usable slot. */
void
rr_v4_cancel(struct rr_v4 *v4, struct rr_call *call)
{
	rr_loop_disarm(v4->loop, &call->timer);
	rr_list_remove(&call->link);
	for (uint32_t i = 0; i < RR_V4_SLOTS; i++) {
		if (v4->slot[i].outer == call)
			rr_v4_slot_give_up(&v4->slot[i]);
	}
	rr_v4_pump(v4);
}

/* Removes all calls from a list and stops their timers, without calling done(). */
static void
v4_drop_list(struct rr_v4 *v4, struct rr_list *list)
{
	struct rr_list *link;

	while ((link = rr_list_pop(list)))
		rr_loop_disarm(v4->loop, &rr_container(link, struct rr_call, link)->timer);
}

/* Ends all calls without calling done(), before v4 is freed or leaves the server: the calls of the caller,
 * and those of the session itself in slots. */
static void
v4_drop(struct rr_v4 *v4)
{
	v4_drop_list(v4, &v4->queue);
	v4_drop_list(v4, &v4->ending);
	rr_loop_disarm(v4->loop, &v4->ends);
	for (uint32_t i = 0; i < RR_V4_OPENS; i++)
		v4_drop_list(v4, &v4->open[i].waiters);
	for (uint32_t i = 0; i < RR_V4_SLOTS; i++) {
		struct rr_call *outer = v4->slot[i].outer;

		if (outer)
			rr_loop_disarm(v4->loop, &outer->timer);
		if (v4->slot[i].busy)
			rr_v4_slot_give_up(&v4->slot[i]);
	}
}

/* ---- The end of the client ---- */

void
rr_v4_leave(struct rr_v4 *v4, uint64_t patience)
{
	uint64_t until = rr_loop_now(v4->loop) + patience;

	v4_drop(v4);
	if (v4->state != RR_V4_READY)
		return;
	rr_v4_event(v4, RR_V4_LEAVE);
	while (v4->state != RR_V4_IDLE) {
		uint64_t now = rr_loop_now(v4->loop);

		if (now >= until || rr_loop_turn(v4->loop, (int64_t)(until - now)) < 0)
			return;
	}
}

void
rr_v4_free(struct rr_v4 *v4)
{
	if (!v4)
		return;
	/* This function is called inside a done() of the caller: dispatch_finish(), which called done(), then
	 * knows that v4 is gone. */
	if (v4->gone)
		*v4->gone = true;
	v4_drop(v4);
	if (v4->control.busy)
		rr_client_cancel(v4->config.client, &v4->control.call);
	rr_loop_disarm(v4->loop, &v4->control.later);
	rr_loop_disarm(v4->loop, &v4->renewal);
	rr_free(v4->env, v4);
}
