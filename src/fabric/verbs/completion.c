/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "fabric/verbs/work.h"

/*
 * Completions. Those of a connection that has ended are only searched for receives: the outstanding requests
 * of such a connection are completed without them.
 */

/* The most time that rr_verbs_await() waits. */
#define AWAIT_MAX (20 * RR_MILLISECOND)

/* Gives the receive buffer of a completion back to the pool of its device. */
static void
completion_recycle(struct rr_verbs_endpoint *endpoint, const struct ibv_wc *wc)
{
	struct rr_verbs_buffer *buffer = (void *)(uintptr_t)(wc->wr_id & ~(uint64_t)RR_VERBS_RECEIVE);

	rr_verbs_device_recycle(endpoint->device, buffer);
}

/* Ends the connection, as a receive completed with an error. A receive that was flushed only shows that the
 * connection was lost: then only sets endpoint->lost, and the reason is looked for later. */
static void
completion_receive_failed(struct rr_verbs_endpoint *endpoint, const struct ibv_wc *wc)
{
	const char *why = rr_verbs_fabric(endpoint)->library.wc_status_str(wc->status);

	switch (wc->status) {
	case IBV_WC_WR_FLUSH_ERR: endpoint->lost = true; return;
	case IBV_WC_LOC_LEN_ERR:
	case IBV_WC_LOC_QP_OP_ERR: /* rxe reports this for a message that is too long */
		rr_verbs_end(endpoint, -RPCRDMA_ERR_PEER,
			"the peer's Send was refused: the message is longer than a receive");
		return;
	case IBV_WC_REM_INV_REQ_ERR:
	case IBV_WC_REM_ACCESS_ERR:
		rr_verbs_end(endpoint, -RPCRDMA_ERR_PEER, "the peer's Send was refused: %s", why);
		return;
	default: rr_verbs_end(endpoint, -RPCRDMA_ERR_SYSTEM, "a receive failed: %s", why); return;
	}
}

/* Handles the completion of a receive. Calls the owner's handler with RECEIVED and the buffer if the receive
 * succeeded, the connection is established and the peer was allowed another Send. Else gives the buffer back
 * to the pool and ends the connection, if it was established. After a flushed receive it ends later, when
 * its reason is known. */
static void
completion_received(struct rr_verbs_endpoint *endpoint, const struct ibv_wc *wc)
{
	struct rr_verbs_buffer *buffer = (void *)(uintptr_t)(wc->wr_id & ~(uint64_t)RR_VERBS_RECEIVE);
	struct rr_event event = { .kind = RR_EVENT_RECEIVED, .data = buffer->data };

	endpoint->receives->posted--;
	rr_loop_defer(endpoint->base.fabric->loop, &endpoint->device->refill);
	/* The peer's first message may be here before the last one of the connection's set-up. */
	if (endpoint->state == RR_VERBS_ACCEPTED && wc->status == IBV_WC_SUCCESS)
		rr_verbs_established(endpoint, NULL, 0);
	if (endpoint->state != RR_VERBS_ESTABLISHED || wc->status != IBV_WC_SUCCESS || !endpoint->allowed) {
		completion_recycle(endpoint, wc);
		if (endpoint->state != RR_VERBS_ESTABLISHED)
			return;
		if (wc->status != IBV_WC_SUCCESS)
			completion_receive_failed(endpoint, wc);
		else
			rr_verbs_end(endpoint, -RPCRDMA_ERR_PEER,
				"the peer's Send was refused: no receive is posted for it");
		return;
	}
	endpoint->allowed--;
	endpoint->receives->allowed--;
	endpoint->device->held++;
	event.length = wc->byte_len;
	event.invalidated = wc->wc_flags & endpoint->device->invalidated;
	if (event.invalidated)
		event.invalidated_handle = wc->invalidated_rkey;
	rr_verbs_emit(endpoint, &event);
}

/* Returns the first request in the list `posted` that is not an RDMA Read. Returns NULL if no such request
 * comes before the request `end`. All requests but Reads complete in the order of their posting. */
static struct rr_verbs_work *
completion_first_before(struct rr_verbs_endpoint *endpoint, const struct rr_verbs_work *end)
{
	rr_list_for_each (link, &endpoint->posted) {
		struct rr_verbs_work *work = rr_container(link, struct rr_verbs_work, link);

		if (work == end)
			return NULL;
		if (work->kind != RR_WORK_READ)
			return work;
	}
	return NULL;
}

/* Handles the completion of one part of a work request. All requests that were posted before this one have
 * completed, too, except RDMA Reads: completes these earlier requests first. Then completes this request, if
 * the part was its last one. */
static void
completion_sent(struct rr_verbs_endpoint *endpoint, struct rr_verbs_work *work)
{
	struct rr_verbs_work *earlier;

	while ((earlier = completion_first_before(endpoint, work))) {
		endpoint->sq_used -= earlier->slices;
		rr_verbs_work_complete(endpoint, earlier, 0);
		if (endpoint->state != RR_VERBS_ESTABLISHED)
			return;
	}
	endpoint->sq_used--;
	if (--work->slices == 0 && work->finished)
		rr_verbs_work_complete(endpoint, work, 0);
}

/* Returns the error that the status of a completion stands for. A status that is not listed here means that
 * the connection ended: siw reports that end as a local operation error. */
static int
completion_meaning(enum ibv_wc_status status)
{
	switch (status) {
	case IBV_WC_REM_ACCESS_ERR: return -RPCRDMA_ERR_ACCESS;
	case IBV_WC_LOC_LEN_ERR:
	case IBV_WC_LOC_PROT_ERR:
	case IBV_WC_LOC_ACCESS_ERR:
	case IBV_WC_MW_BIND_ERR:
	case IBV_WC_FATAL_ERR: return -RPCRDMA_ERR_SYSTEM;
	default: return -RPCRDMA_ERR_DISCONNECTED;
	}
}

/* Completes a work request that failed, with an error, or as cancelled if the connection was lost. Ends the
 * connection with a text that names the request. */
static void
work_failed(struct rr_verbs_endpoint *endpoint, struct rr_verbs_work *work, enum ibv_wc_status status)
{
	/* In the order of enum rr_work_kind, RR_VERBS_BIND and RR_VERBS_KICK. */
	static const char *const names[] = { "Send", "Send With Invalidate", "RDMA Write", "RDMA Read",
		"binding of a window", "empty RDMA Write" };
	const char *name = names[work->kind], *why = rr_verbs_fabric(endpoint)->library.wc_status_str(status);
	int error = completion_meaning(status);
	char about[80] = "";

	if (work->kind == RR_WORK_WRITE || work->kind == RR_WORK_READ)
		snprintf(about, sizeof(about), " (handle 0x%08x, offset 0x%llx, length %u)",
			work->remote_handle, (unsigned long long)work->remote_offset, work->length);
	rr_verbs_work_complete(
		endpoint, work, error == -RPCRDMA_ERR_DISCONNECTED ? -RPCRDMA_ERR_CANCELLED : error);
	rr_verbs_end(endpoint, error, "our %s failed: %s%s", name, why, about);
}

/* Handles a completion, either of a receive or of a part of a work request. If a request was flushed, only
 * sets endpoint->lost: the reason for the end of the connection is looked for later. */
static void
completion_handle(struct rr_verbs_endpoint *endpoint, const struct ibv_wc *wc)
{
	struct rr_verbs_work *work = (void *)(uintptr_t)wc->wr_id;

	if (wc->wr_id & RR_VERBS_RECEIVE) {
		completion_received(endpoint, wc);
		return;
	}
	if (endpoint->state != RR_VERBS_ESTABLISHED)
		return;
	if (wc->status == IBV_WC_SUCCESS)
		completion_sent(endpoint, work);
	else if (wc->status == IBV_WC_WR_FLUSH_ERR)
		endpoint->lost = true;
	else
		work_failed(endpoint, work, wc->status);
}

bool
rr_verbs_stash_room(struct rr_verbs_endpoint *endpoint)
{
	const struct rr_env *env = rr_verbs_fabric(endpoint)->env;
	uint32_t room = endpoint->stashed + RR_VERBS_BATCH;
	void *stash;

	if (room <= endpoint->stash_room)
		return true;
	stash = env->realloc(env->ctx, endpoint->stash, room * sizeof(*endpoint->stash));
	if (!stash)
		return false;
	endpoint->stash = stash;
	endpoint->stash_room = room;
	return true;
}

/* Takes up to RR_VERBS_BATCH completions off the completion queue, and adds them to the stash, the
 * endpoint's list of completions that are still to be handled. Returns the number of these completions, or
 * -1 if the queue fails or there is no memory. */
static int
completion_fetch(struct rr_verbs_endpoint *endpoint)
{
	int n;

	if (endpoint->stash_at == endpoint->stashed)
		endpoint->stash_at = endpoint->stashed = 0;
	if (!rr_verbs_stash_room(endpoint))
		return -1;
	n = ibv_poll_cq(endpoint->cq, RR_VERBS_BATCH, endpoint->stash + endpoint->stashed);
	if (n > 0)
		endpoint->stashed += (uint32_t)n;
	return n;
}

/* Ends a connection whose queue pair has failed, as a flushed request has shown. First handles the device's
 * events, as one of them may end the connection with a more precise reason. */
static void
find_reason(struct rr_verbs_endpoint *endpoint)
{
	endpoint->lost = false;
	rr_verbs_device_events(endpoint->device);
	if (endpoint->disconnecting)
		rr_verbs_end(endpoint, 0, "disconnected");
	else
		rr_verbs_end(endpoint, -RPCRDMA_ERR_DISCONNECTED, "the connection was lost");
}

/* Handles up to RR_VERBS_BATCH completions, and returns their number, or -1 on failure. They are first put
 * into the stash, the endpoint's list of completions that are still to be handled, as a handler may have to
 * look at the completions that follow. */
static int
completion_poll(struct rr_verbs_endpoint *endpoint)
{
	int n = 0;

	if (endpoint->stash_at == endpoint->stashed && endpoint->cq && completion_fetch(endpoint) < 0)
		return -1;
	for (; n < RR_VERBS_BATCH && endpoint->stash_at < endpoint->stashed; n++) {
		struct ibv_wc wc = endpoint->stash[endpoint->stash_at++];

		completion_handle(endpoint, &wc);
	}
	return n;
}

int
rr_verbs_poll(struct rr_verbs_endpoint *endpoint)
{
	int n = completion_poll(endpoint);

	if (n < 0) {
		rr_verbs_end(endpoint, -RPCRDMA_ERR_SYSTEM, "the completion queue cannot be polled");
		return 0;
	}
	if (endpoint->lost && endpoint->state == RR_VERBS_ESTABLISHED)
		find_reason(endpoint);
	return n;
}

void
rr_verbs_drain(struct rr_verbs_endpoint *endpoint)
{
	while ((endpoint->state == RR_VERBS_ESTABLISHED || endpoint->state == RR_VERBS_ACCEPTED) &&
		completion_poll(endpoint) > 0)
		;
}

void
rr_verbs_discard(struct rr_verbs_endpoint *endpoint)
{
	while (completion_poll(endpoint) > 0)
		;
}

/* Whether the stash (the list of completions that are still to be handled) shows that the request `work` has
 * completed, with success or without. It does if it has a completion of that request, of any request that
 * failed, or of a later request that is not an RDMA Read. */
static bool
completion_is_told(const struct rr_verbs_endpoint *endpoint, const struct rr_verbs_work *work)
{
	for (uint32_t i = endpoint->stash_at; i < endpoint->stashed; i++) {
		const struct ibv_wc *wc = &endpoint->stash[i];
		const struct rr_verbs_work *last = (void *)(uintptr_t)wc->wr_id;

		if (wc->wr_id & RR_VERBS_RECEIVE)
			continue;
		if (last == work || wc->status != IBV_WC_SUCCESS)
			return true;
		/* Requests complete in the order of the list `posted`, except Reads: if `work` stands in
		 * front of `last`, which is no Read, it has completed, too. */
		rr_list_for_each (link, &endpoint->posted) {
			if (link == &last->link)
				break;
			if (link == &work->link)
				return last->kind != RR_WORK_READ;
		}
	}
	return false;
}

void
rr_verbs_await(struct rr_verbs_endpoint *endpoint, const struct rr_verbs_region *region)
{
	const struct rr_env *env = rr_verbs_fabric(endpoint)->env;
	uint64_t begin = rr_now(env);

	while (!completion_is_told(endpoint, region->bind)) {
		int n = completion_fetch(endpoint);

		if (n < 0 || (n == 0 && rr_now(env) - begin > AWAIT_MAX)) {
			rr_verbs_end(endpoint, -RPCRDMA_ERR_DISCONNECTED,
				"a region had to be invalidated before the peer took what it was for");
			return;
		}
	}
	/* The completions that were fetched lie in the stash: the endpoint's task handles them. */
	rr_verbs_wake(endpoint);
}
