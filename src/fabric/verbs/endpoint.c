/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/verbs/work.h"

/*
 * The life of an endpoint. An endpoint that was closed keeps its queue pair for a moment, in the error state:
 * a message that was just arriving has taken a receive from the shared queue, and the receive comes back in a
 * flushed completion, for which the verbs have no deadline. The caller's memory is out of reach at once.
 */

/* The time for which the queue pair of a closed endpoint stays. */
#define LINGER (100 * RR_MILLISECOND)

/* The polls in vain before the endpoint waits for an event of its completion queue. */
enum { SPINS = 16 };

/* Called when the endpoint ends: its peer may send no more Sends. Subtracts the number of Sends that this
 * peer was still allowed from the number that all peers of the shared receive queue are allowed. */
static void
endpoint_give_allowance_back(struct rr_verbs_endpoint *endpoint)
{
	if (endpoint->qp)
		endpoint->receives->allowed -= endpoint->allowed;
	endpoint->allowed = 0;
}

/* Frees all work requests of the endpoint, without calling the owner's handler. */
static void
endpoint_forget_works(struct rr_verbs_endpoint *endpoint)
{
	struct rr_list *lists[] = { &endpoint->posted, &endpoint->queue };

	for (int i = 0; i < 2; i++)
		while (!rr_list_empty(lists[i]))
			rr_verbs_work_free(
				endpoint, rr_container(lists[i]->next, struct rr_verbs_work, link));
}

/* Completes all outstanding work requests with the status CANCELLED, in the order in which they were posted.
 * Each completion calls the owner's handler. Stops if the handler closes the endpoint. */
static void
endpoint_cancel_works(struct rr_verbs_endpoint *endpoint)
{
	struct rr_list *lists[] = { &endpoint->posted, &endpoint->queue };

	for (int i = 0; i < 2; i++)
		while (endpoint->state == RR_VERBS_ENDED && !rr_list_empty(lists[i]))
			rr_verbs_work_complete(endpoint,
				rr_container(lists[i]->next, struct rr_verbs_work, link),
				-RPCRDMA_ERR_CANCELLED);
}

/* Completes all outstanding work requests as cancelled, then calls the owner's handler with DISCONNECTED.
 * Does nothing as long as the endpoint has no handler, as its connection request was not accepted yet:
 * rr_verbs_accept() then schedules the task again. */
static void
endpoint_finish(struct rr_verbs_endpoint *endpoint)
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
	endpoint_cancel_works(endpoint);
	if (endpoint->state != RR_VERBS_ENDED)
		return;
	endpoint_give_allowance_back(endpoint);
	rr_verbs_set_state(endpoint, RR_VERBS_DISCONNECTED);
	rr_verbs_emit(endpoint, &event);
}

/* Asks the connection manager to disconnect if all work requests have completed, else does nothing. The
 * connection ends when the peer's answer has come. */
static void
endpoint_hang_up(struct rr_verbs_endpoint *endpoint)
{
	if (!endpoint->connected || !rr_list_empty(&endpoint->queue) || !rr_list_empty(&endpoint->posted))
		return;
	endpoint->connected = false;
	rr_verbs_fabric(endpoint)->library.disconnect(endpoint->id);
}

/* Posts the work requests of the queue, handles completions, and schedules the endpoint's task for the next
 * turn. After SPINS turns without a completion, asks the device for an event at the next completion instead,
 * although such an event costs a system call. */
static void
endpoint_work(struct rr_verbs_endpoint *endpoint)
{
	struct rr_loop *loop = endpoint->base.fabric->loop;
	int n;

	if (endpoint->state == RR_VERBS_ESTABLISHED)
		rr_verbs_post_queue(endpoint);
	n = rr_verbs_poll(endpoint);
	if (endpoint->state != RR_VERBS_ESTABLISHED && endpoint->state != RR_VERBS_ACCEPTED)
		return;
	if (endpoint->disconnecting)
		endpoint_hang_up(endpoint);
	if (n == 0 && endpoint->spins == SPINS && endpoint->armed)
		return;
	if (n == 0 && endpoint->spins == SPINS) {
		endpoint->armed = ibv_req_notify_cq(endpoint->cq, 0) == 0;
		/* Once more, for completions that came before the queue was armed. If there are none then,
		 * the task rests until the event comes. */
		rr_loop_defer(loop, &endpoint->task);
		return;
	}
	endpoint->spins = n ? 0 : endpoint->spins + 1;
	rr_loop_defer(loop, &endpoint->task);
}

/* Ends the connection, as the disconnection that the owner asked for takes too long. */
static void
endpoint_give_up(struct rr_verbs_endpoint *endpoint)
{
	rr_verbs_end(endpoint, 0, "disconnected; the peer did not take all that was posted");
}

/* Does nothing: for events that have no effect in the present state. */
static void
endpoint_hold(struct rr_verbs_endpoint *endpoint)
{
	(void)endpoint;
}

typedef void endpoint_action(struct rr_verbs_endpoint *endpoint);

/* Calls the function that the table has for the endpoint's present state and the event. */
static void
endpoint_event(struct rr_verbs_endpoint *endpoint, enum rr_verbs_event event)
{
	/* clang-format off */
	static endpoint_action *const table[RR_VERBS_STATES][RR_VERBS_EVENTS] = {
		/*                          TURN                    OVERDUE */
		[RR_VERBS_RESOLVING] =    { endpoint_hold,          endpoint_give_up },
		[RR_VERBS_CONNECTING] =   { endpoint_hold,          endpoint_give_up },
		[RR_VERBS_REQUESTED] =    { endpoint_hold,          endpoint_give_up },
		[RR_VERBS_ACCEPTED] =     { endpoint_work,          endpoint_give_up },
		[RR_VERBS_ESTABLISHED] =  { endpoint_work,          endpoint_give_up },
		[RR_VERBS_ENDED] =        { endpoint_finish,        endpoint_hold },
		[RR_VERBS_DISCONNECTED] = { endpoint_hold,          endpoint_hold },
		[RR_VERBS_CLOSED] =       { endpoint_hold,          rr_verbs_endpoint_end },
	};
	/* clang-format on */

	table[endpoint->state][event](endpoint);
}

/* Runs as the endpoint's task: handles the event TURN. */
static void
endpoint_run(struct rr_task *task)
{
	endpoint_event(rr_container(task, struct rr_verbs_endpoint, task), RR_VERBS_TURN);
}

/* Called when the endpoint's timer has expired: handles the event OVERDUE. */
static void
endpoint_expired(struct rr_timer *timer)
{
	endpoint_event(rr_container(timer, struct rr_verbs_endpoint, timer), RR_VERBS_OVERDUE);
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
	rr_task_init(&endpoint->task, endpoint_run);
	rr_timer_init(&endpoint->timer, endpoint_expired);
	return endpoint;
}

void
rr_verbs_endpoint_close(struct rr_endpoint *base)
{
	struct rr_verbs_endpoint *endpoint = rr_verbs_endpoint_of(base);
	struct rr_verbs_fabric *fabric = rr_verbs_fabric(endpoint);

	rr_verbs_set_state(endpoint, RR_VERBS_CLOSED);
	rr_loop_disarm(fabric->base.loop, &endpoint->timer);
	rr_task_cancel(&endpoint->task);
	rr_verbs_stop(endpoint);
	endpoint_forget_works(endpoint);
	rr_verbs_regions_close(endpoint);
	endpoint_give_allowance_back(endpoint);
	if (endpoint->id)
		fabric->library.destroy_id(endpoint->id);
	rr_list_remove(&endpoint->link);
	rr_list_append(&fabric->closed, &endpoint->link);
	/* The queue pair stays for the time LINGER, for a receive that may still come back. */
	if (endpoint->qp)
		rr_loop_arm(fabric->base.loop, &endpoint->timer, LINGER);
	else
		rr_verbs_endpoint_end(endpoint);
}

void
rr_verbs_endpoint_end(struct rr_verbs_endpoint *endpoint)
{
	struct rr_verbs_fabric *fabric = rr_verbs_fabric(endpoint);
	struct rr_verbs_device *device = endpoint->device;
	bool had_queues = endpoint->qp;

	rr_list_remove(&endpoint->link);
	rr_loop_disarm(fabric->base.loop, &endpoint->timer);
	rr_task_cancel(&endpoint->task);
	rr_verbs_queues_destroy(endpoint);
	rr_free(fabric->env, endpoint->stash);
	endpoint->stash = NULL;
	rr_endpoint_bury(&endpoint->base);
	/* An endpoint counts for its device only if it has a queue pair there. */
	if (!had_queues)
		return;
	device->endpoints--;
	rr_verbs_device_leave(device);
}
