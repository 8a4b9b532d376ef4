/* SPDX-License-Identifier: BSD-3-Clause */
/* The timers of the public interface: each is a timer of the engine's loop, and counts as a user of the
 * engine until it is freed. */
#include "carrier/engine.h"

struct rpcrdma_timer {
	struct rpcrdma_engine *engine;
	struct rr_timer inner;
	void (*expired)(void *ctx);
	void *ctx;
};

/* Is called when the timer of the loop expires: calls the program's function, which may free the timer. */
static void
timer_expired(struct rr_timer *inner)
{
	struct rpcrdma_timer *timer = rr_container(inner, struct rpcrdma_timer, inner);

	timer->expired(timer->ctx);
}

int
rpcrdma_timer_new(
	struct rpcrdma_engine *engine, void (*expired)(void *ctx), void *ctx, struct rpcrdma_timer **result)
{
	struct rpcrdma_timer *timer;

	if (!engine || !result)
		return -RPCRDMA_ERR_INVAL;
	if (!expired)
		return rr_fail(&engine->text, -RPCRDMA_ERR_INVAL, "a timer needs a function to call");
	timer = rr_alloc(engine->env, sizeof(*timer));
	if (!timer)
		return rr_fail(&engine->text, -RPCRDMA_ERR_NOMEM, "no memory for a timer");
	*timer = (struct rpcrdma_timer){ .engine = engine, .expired = expired, .ctx = ctx };
	rr_timer_init(&timer->inner, timer_expired);
	rr_engine_use(engine);
	*result = timer;
	return 0;
}

void
rpcrdma_timer_arm(struct rpcrdma_timer *timer, uint64_t delay)
{
	if (timer)
		rr_loop_arm(timer->engine->loop, &timer->inner, delay < INT64_MAX ? delay : INT64_MAX);
}

void
rpcrdma_timer_disarm(struct rpcrdma_timer *timer)
{
	if (timer)
		rr_loop_disarm(timer->engine->loop, &timer->inner);
}

void
rpcrdma_timer_free(struct rpcrdma_timer *timer)
{
	struct rpcrdma_engine *engine = timer ? timer->engine : NULL;

	if (!timer)
		return;
	rpcrdma_timer_disarm(timer);
	rr_free(engine->env, timer);
	rr_engine_leave(engine);
}
