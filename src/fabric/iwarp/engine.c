/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/iwarp/engine.h"

#include "fabric/iwarp/engine_private.h"

int
rr_iwarp_shared_init(struct rr_iwarp_shared *shared)
{
	rr_receives_init(
		&shared->receives, shared->env, shared->config->receive_size, shared->config->receive_max);
	rr_works_init(&shared->works, shared->env);
	rr_list_init(&shared->batches);
	shared->scratch = shared->env->realloc(shared->env->ctx, NULL, RR_IWARP_SCRATCH);
	return shared->scratch ? 0 : -RPCRDMA_ERR_NOMEM;
}

void
rr_iwarp_shared_destroy(struct rr_iwarp_shared *shared)
{
	struct rr_list *link;

	while ((link = rr_list_pop(&shared->batches)))
		rr_free(shared->env, rr_container(link, struct rr_iwarp_batch, link));
	rr_cache_end(&shared->works);
	rr_receives_destroy(&shared->receives);
	rr_free(shared->env, shared->scratch);
}

void
rr_iwarp_init(struct rr_iwarp *engine, struct rr_iwarp_shared *shared)
{
	engine->shared = shared;
	rr_list_init(&engine->wait.link);
	rr_list_init(&engine->tx.queue);
	rr_list_init(&engine->tx.sent);
	rr_list_init(&engine->tx.reads);
	engine->tx.sink = rr_random_u32(shared->env);
	rr_iwarp_set_emss(engine, 1460); /* that of Ethernet, until TCP is asked */
	rr_regions_init(&engine->regions, shared->env, shared->config->region_max);
}

void
rr_iwarp_set_state(struct rr_iwarp *engine, enum rr_iwarp_state state)
{
	static const char *const names[RR_IWARP_STATES] = { "idle", "awaiting the reply",
		"awaiting the request", "asked", "open", "closing", "over", "released" };

	rr_log(engine->shared->env, RR_LOG_DEBUG, "%s: iWARP connection %s, was %s", engine->base.peer,
		names[state], names[engine->state]);
	engine->state = state;
}

/* Frees all work requests of a list, without calling the owner's handler. */
static void
engine_forget(struct rr_iwarp_shared *shared, struct rr_list *works)
{
	while (!rr_list_empty(works))
		rr_works_put(&shared->works, rr_container(works->next, struct rr_work_item, link));
}

void
rr_iwarp_release(struct rr_iwarp *engine)
{
	struct rr_iwarp_shared *shared = engine->shared;
	const struct rr_env *env = shared->env;

	rr_iwarp_over(engine, 0, "closed");
	rr_iwarp_set_state(engine, RR_IWARP_RELEASED);
	engine_forget(shared, &engine->tx.sent);
	engine_forget(shared, &engine->tx.reads);
	engine_forget(shared, &engine->tx.queue);
	rr_free(env, engine->tx.responses);
	engine->tx.responses = NULL;
	engine->tx.response_next = engine->tx.response_count = 0;
	rr_free(env, engine->rx.stash);
	engine->rx.stash = NULL;
	rr_free(env, engine->setup);
	engine->setup = NULL;
	rr_regions_destroy(&engine->regions);
}

/* Sets *vectors to one vector with the octets of engine->frame (an MPA frame or a Terminate) that have not
 * left, and returns 1, the number of vectors. */
static uint32_t
engine_frame_output(struct rr_iwarp *engine, const struct iovec **vectors)
{
	engine->frame_vector =
		(struct iovec){ engine->frame + engine->frame_at, engine->frame_size - engine->frame_at };
	*vectors = &engine->frame_vector;
	return 1;
}

/* Sets *vectors to those octets of the batch that have not left, and returns the number of vectors. From now
 * on the batch accepts no further FPDUs. */
static uint32_t
batch_output(struct rr_iwarp_batch *batch, const struct iovec **vectors)
{
	batch->open = false;
	*vectors = batch->vectors + batch->first;
	return batch->count - batch->first;
}

uint32_t
rr_iwarp_output(struct rr_iwarp *engine, const struct iovec **vectors)
{
	/* Sends that were copied come first in the batch: requests that were queued since go behind them. */
	if (engine->tx.batch && engine->tx.batch->open && engine->state == RR_IWARP_OPEN)
		rr_iwarp_gather(engine);
	if (engine->tx.batch)
		return batch_output(engine->tx.batch, vectors);
	if (engine->frame_at < engine->frame_size)
		return engine_frame_output(engine, vectors);
	if (engine->state != RR_IWARP_OPEN)
		return 0;
	if (engine->may_send && rr_iwarp_gather(engine))
		return batch_output(engine->tx.batch, vectors);
	/* A disconnection does not wait for requests that a responder may not send yet. */
	if (engine->state == RR_IWARP_OPEN && engine->draining &&
		(!engine->may_send || rr_iwarp_is_idle(engine))) {
		rr_iwarp_set_state(engine, RR_IWARP_CLOSING);
		engine->status = rr_fail(&engine->text, 0, "disconnected");
	}
	/* Gathering may have found a fault of the peer, and a Terminate may leave now. */
	return engine->frame_at < engine->frame_size ? engine_frame_output(engine, vectors) : 0;
}
