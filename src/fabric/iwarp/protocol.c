/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/iwarp/protocol.h"

#include "fabric/iwarp/protocol_private.h"

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
rr_iwarp_init(struct rr_iwarp *iwarp, struct rr_iwarp_shared *shared)
{
	iwarp->shared = shared;
	rr_list_init(&iwarp->wait.link);
	rr_list_init(&iwarp->tx.queue);
	rr_list_init(&iwarp->tx.sent);
	rr_list_init(&iwarp->tx.reads);
	iwarp->tx.sink = rr_random_u32(shared->env);
	rr_iwarp_set_emss(iwarp, 1460); /* that of Ethernet, until TCP is asked */
	rr_regions_init(&iwarp->regions, shared->env, shared->config->region_max);
}

void
rr_iwarp_set_state(struct rr_iwarp *iwarp, enum rr_iwarp_state state)
{
	static const char *const names[RR_IWARP_STATES] = { "idle", "awaiting the reply",
		"awaiting the request", "asked", "open", "closing", "over", "released" };

	rr_log(iwarp->shared->env, RR_LOG_DEBUG, "%s: iWARP connection %s, was %s", iwarp->base.peer,
		names[state], names[iwarp->state]);
	iwarp->state = state;
}

/* Frees all work requests of a list, without calling the owner's handler. */
static void
protocol_forget(struct rr_iwarp_shared *shared, struct rr_list *works)
{
	while (!rr_list_empty(works))
		rr_works_put(&shared->works, rr_container(works->next, struct rr_work_item, link));
}

void
rr_iwarp_release(struct rr_iwarp *iwarp)
{
	struct rr_iwarp_shared *shared = iwarp->shared;
	const struct rr_env *env = shared->env;

	rr_iwarp_over(iwarp, 0, "closed");
	rr_iwarp_set_state(iwarp, RR_IWARP_RELEASED);
	protocol_forget(shared, &iwarp->tx.sent);
	protocol_forget(shared, &iwarp->tx.reads);
	protocol_forget(shared, &iwarp->tx.queue);
	rr_free(env, iwarp->tx.responses);
	iwarp->tx.responses = NULL;
	iwarp->tx.response_next = iwarp->tx.response_count = 0;
	rr_free(env, iwarp->rx.stash);
	iwarp->rx.stash = NULL;
	rr_free(env, iwarp->setup);
	iwarp->setup = NULL;
	rr_regions_destroy(&iwarp->regions);
}

/* Sets *vectors to one vector with the octets of iwarp->frame (an MPA frame or a Terminate) that have not
 * left, and returns 1, the number of vectors. */
static uint32_t
protocol_frame_output(struct rr_iwarp *iwarp, const struct iovec **vectors)
{
	iwarp->frame_vector =
		(struct iovec){ iwarp->frame + iwarp->frame_at, iwarp->frame_size - iwarp->frame_at };
	*vectors = &iwarp->frame_vector;
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
rr_iwarp_output(struct rr_iwarp *iwarp, const struct iovec **vectors)
{
	/* Sends that were copied come first in the batch: requests that were queued since go behind them. */
	if (iwarp->tx.batch && iwarp->tx.batch->open && iwarp->state == RR_IWARP_OPEN)
		rr_iwarp_gather(iwarp);
	if (iwarp->tx.batch)
		return batch_output(iwarp->tx.batch, vectors);
	if (iwarp->frame_at < iwarp->frame_size)
		return protocol_frame_output(iwarp, vectors);
	if (iwarp->state != RR_IWARP_OPEN)
		return 0;
	if (iwarp->may_send && rr_iwarp_gather(iwarp))
		return batch_output(iwarp->tx.batch, vectors);
	/* A disconnection does not wait for requests that a responder may not send yet. */
	if (iwarp->state == RR_IWARP_OPEN && iwarp->draining &&
		(!iwarp->may_send || rr_iwarp_is_idle(iwarp))) {
		rr_iwarp_set_state(iwarp, RR_IWARP_CLOSING);
		iwarp->status = rr_fail(&iwarp->text, 0, "disconnected");
	}
	/* Gathering may have found a fault of the peer, and a Terminate may leave now. */
	return iwarp->frame_at < iwarp->frame_size ? protocol_frame_output(iwarp, vectors) : 0;
}
