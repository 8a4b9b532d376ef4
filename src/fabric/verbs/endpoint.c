/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/verbs/endpoint.h"

/*
 * The life of an endpoint. A closed one keeps its queue pair for a moment, in the error state: a message that
 * was just coming in had taken a receive from the shared queue, and it comes back as a flushed completion,
 * for which the verbs have no deadline. The caller's memory is out of reach at once.
 */

#define LINGER (100 * RR_MILLISECOND)

enum { SPINS = 16 };

static void
give_allowance_back(struct rr_verbs_endpoint *endpoint)
{
	if (endpoint->qp)
		endpoint->receives->allowed -= endpoint->allowed;
	endpoint->allowed = 0;
}

static void
forget_works(struct rr_verbs_endpoint *endpoint)
{
	struct rr_list *lists[] = { &endpoint->posted, &endpoint->queue };

	for (int i = 0; i < 2; i++)
		while (!rr_list_empty(lists[i]))
			rr_verbs_work_free(
				endpoint, rr_container(lists[i]->next, struct rr_verbs_work, link));
}

/* Completes all that is outstanding; what was posted first comes first. */
static void
cancel_works(struct rr_verbs_endpoint *endpoint)
{
	struct rr_list *lists[] = { &endpoint->posted, &endpoint->queue };

	for (int i = 0; i < 2; i++)
		while (endpoint->state == RR_VERBS_ENDED && !rr_list_empty(lists[i]))
			rr_verbs_work_complete(endpoint,
				rr_container(lists[i]->next, struct rr_verbs_work, link),
				-RPCRDMA_ERR_CANCELLED);
}

static void
finish(struct rr_verbs_endpoint *endpoint)
{
	struct rr_event event = {
		.kind = RR_EVENT_DISCONNECTED, .status = endpoint->status, .text = endpoint->text.text
	};

	if (!endpoint->base.handler)
		return;
	if (endpoint->status == -RPCRDMA_ERR_REJECTED) {
		event.data = endpoint->private_data;
		event.length = endpoint->private_size;
	}
	rr_verbs_discard(endpoint);
	cancel_works(endpoint);
	if (endpoint->state != RR_VERBS_ENDED)
		return;
	give_allowance_back(endpoint);
	endpoint->state = RR_VERBS_DISCONNECTED;
	rr_verbs_emit(endpoint, &event);
}

/* The last of the work has completed: the peer may be told. Its answer is the end. */
static void
hang_up(struct rr_verbs_endpoint *endpoint)
{
	if (!endpoint->connected || !rr_list_empty(&endpoint->queue) || !rr_list_empty(&endpoint->posted))
		return;
	endpoint->connected = false;
	rr_verbs_fabric(endpoint)->library.disconnect(endpoint->id);
}

/* Polls a few times in vain before it has itself told of the next completion: that costs a system call. */
static void
work(struct rr_verbs_endpoint *endpoint)
{
	struct rr_loop *loop = endpoint->base.fabric->loop;
	int n;

	if (endpoint->state == RR_VERBS_ESTABLISHED)
		rr_verbs_post_queue(endpoint);
	n = rr_verbs_poll(endpoint);
	if (endpoint->state != RR_VERBS_ESTABLISHED && endpoint->state != RR_VERBS_ACCEPTED)
		return;
	if (endpoint->disconnecting)
		hang_up(endpoint);
	if (n == 0 && endpoint->spins == SPINS && endpoint->armed)
		return;
	if (n == 0 && endpoint->spins == SPINS) {
		endpoint->armed = ibv_req_notify_cq(endpoint->cq, 0) == 0;
		rr_loop_defer(loop, &endpoint->task); /* once more, for what came before it was armed */
		return;
	}
	endpoint->spins = n ? 0 : endpoint->spins + 1;
	rr_loop_defer(loop, &endpoint->task);
}

static void
run(struct rr_task *task)
{
	struct rr_verbs_endpoint *endpoint = rr_container(task, struct rr_verbs_endpoint, task);

	switch (endpoint->state) {
	case RR_VERBS_ACCEPTED:
	case RR_VERBS_ESTABLISHED: work(endpoint); break;
	case RR_VERBS_ENDED: finish(endpoint); break;
	case RR_VERBS_CLOSED: rr_verbs_endpoint_bury(endpoint); break;
	case RR_VERBS_RESOLVING:
	case RR_VERBS_CONNECTING:
	case RR_VERBS_REQUESTED:
	case RR_VERBS_DISCONNECTED: break;
	}
}

static void
expired(struct rr_timer *timer)
{
	struct rr_verbs_endpoint *endpoint = rr_container(timer, struct rr_verbs_endpoint, timer);

	if (endpoint->state == RR_VERBS_CLOSED)
		rr_verbs_endpoint_bury(endpoint);
	else
		rr_verbs_end(endpoint, 0, "disconnected; the peer did not take all that was posted");
}

struct rr_verbs_endpoint *
rr_verbs_endpoint_new(struct rr_verbs_fabric *fabric)
{
	struct rr_verbs_endpoint *endpoint = rr_alloc(fabric->env, sizeof(*endpoint));

	if (!endpoint)
		return NULL;
	endpoint->base.ops = fabric->base.ops;
	endpoint->base.fabric = &fabric->base;
	rr_list_append(&fabric->living, &endpoint->link);
	rr_list_init(&endpoint->queue);
	rr_list_init(&endpoint->posted);
	rr_list_init(&endpoint->regions);
	rr_task_init(&endpoint->task, run);
	rr_timer_init(&endpoint->timer, expired);
	return endpoint;
}

void
rr_verbs_endpoint_close(struct rr_endpoint *base)
{
	struct rr_verbs_endpoint *endpoint = rr_verbs_endpoint_of(base);
	struct rr_verbs_fabric *fabric = rr_verbs_fabric(endpoint);

	endpoint->state = RR_VERBS_CLOSED;
	rr_loop_disarm(fabric->base.loop, &endpoint->timer);
	rr_task_cancel(&endpoint->task);
	rr_verbs_stop(endpoint);
	forget_works(endpoint);
	rr_verbs_regions_close(endpoint);
	give_allowance_back(endpoint);
	if (endpoint->id)
		fabric->library.destroy_id(endpoint->id);
	rr_list_remove(&endpoint->link);
	rr_list_append(&fabric->closed, &endpoint->link);
	if (endpoint->qp)
		rr_loop_arm(fabric->base.loop, &endpoint->timer, LINGER);
	else
		rr_loop_defer(fabric->base.loop, &endpoint->task);
}

void
rr_verbs_endpoint_bury(struct rr_verbs_endpoint *endpoint)
{
	struct rr_verbs_fabric *fabric = rr_verbs_fabric(endpoint);
	struct rr_verbs_device *device = endpoint->device;
	bool had_queues = endpoint->qp;

	rr_list_remove(&endpoint->link);
	rr_loop_disarm(fabric->base.loop, &endpoint->timer);
	rr_task_cancel(&endpoint->task);
	rr_verbs_queues_destroy(endpoint);
	rr_free(fabric->env, endpoint->stash);
	rr_free(fabric->env, endpoint);
	if (!had_queues)
		return;
	device->endpoints--;
	rr_verbs_device_leave(device);
}
