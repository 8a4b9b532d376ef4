/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "fabric/verbs/work.h"

#include "base/errno.h"

/*
 * The queue pair of an endpoint and its completion queue, which has room for all work requests and for the
 * receives that are allowed.
 */

/* Requests in a send queue, and the least receives that a completion queue has room for. */
enum { SQ_SIZE = 256, CQ_RECEIVES = 64 };

/* Makes a queue pair. Tries three sizes of inline data, the largest first, as devices differ in the size that
 * they can do. Keeps in the endpoint the size that the queue pair has got: create_qp() sets it. Returns NULL,
 * with errno, if the device accepts none. */
static struct ibv_qp *
queues_make_queue_pair(struct rr_verbs_endpoint *endpoint, struct ibv_qp_init_attr *attr)
{
	static const uint32_t sizes[] = { 220, 64, 0 };
	struct ibv_qp *qp = NULL;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && !qp; i++) {
		attr->cap.max_inline_data = sizes[i];
		qp = rr_verbs_fabric(endpoint)->library.create_qp(endpoint->domain->pd, attr);
	}
	endpoint->inline_max = attr->cap.max_inline_data;
	return qp;
}

static uint32_t
queues_smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Makes the completion queue and the queue pair of an endpoint. If the device has no memory windows, the
 * endpoint also gets a protection domain of its own. Returns -1, with errno, on failure: the caller then
 * destroys what was made. */
static int
queues_make(struct rr_verbs_endpoint *endpoint)
{
	struct rr_verbs_fabric *fabric = rr_verbs_fabric(endpoint);
	struct rr_verbs_device *device = endpoint->device;
	struct ibv_qp_init_attr attr = {
		.qp_context = endpoint, .srq = endpoint->receives->srq, .qp_type = IBV_QPT_RC
	};

	endpoint->domain = device->windows ? &device->domain : &endpoint->own;
	if (!device->windows) {
		endpoint->own.pd = fabric->library.alloc_pd(device->context);
		rr_verbs_pool_init(&endpoint->own.sends, fabric->env, &fabric->library, endpoint->own.pd,
			fabric->base.config.receive_size, UINT32_MAX);
	}
	endpoint->sq_size = queues_smaller(SQ_SIZE, (uint32_t)device->attr.max_qp_wr);
	endpoint->sge_max = queues_smaller(RR_MAX_SGE, (uint32_t)device->attr.max_sge);
	endpoint->cq_receives = endpoint->allowed < CQ_RECEIVES ? CQ_RECEIVES : endpoint->allowed;
	if (!rr_verbs_stash_room(endpoint)) {
		errno = ENOMEM;
		return -1;
	}
	if (endpoint->domain->pd)
		endpoint->cq = fabric->library.create_cq(device->context,
			(int)(endpoint->sq_size + endpoint->cq_receives), endpoint, device->channel, 0);
	if (!endpoint->cq)
		return -1;
	attr.send_cq = attr.recv_cq = endpoint->cq;
	attr.cap.max_send_wr = endpoint->sq_size;
	attr.cap.max_send_sge = endpoint->sge_max;
	endpoint->qp = queues_make_queue_pair(endpoint, &attr);
	return endpoint->qp ? 0 : -1;
}

void
rr_verbs_queues_destroy(struct rr_verbs_endpoint *endpoint)
{
	const struct rr_verbs_library *library = &rr_verbs_fabric(endpoint)->library;

	if (endpoint->qp)
		library->destroy_qp(endpoint->qp);
	if (endpoint->cq) {
		/* Completions that were not handled have receive buffers, which go back to the pool. */
		rr_verbs_discard(endpoint);
		library->ack_cq_events(endpoint->cq, endpoint->cq_events);
		library->destroy_cq(endpoint->cq);
	}
	rr_verbs_pool_destroy(&endpoint->own.sends);
	if (endpoint->own.pd)
		library->dealloc_pd(endpoint->own.pd);
	endpoint->qp = NULL;
	endpoint->cq = NULL;
	endpoint->own.pd = NULL;
}

int
rr_verbs_queues_make(struct rr_verbs_endpoint *endpoint, struct rr_text *text)
{
	struct rr_verbs_fabric *fabric = rr_verbs_fabric(endpoint);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	int mask, error;

	error = rr_verbs_device_find(fabric, endpoint->id, &endpoint->device, text);
	if (error)
		return error;
	/* Queue 1 is for endpoints that connected, queue 0 for those that were accepted. */
	endpoint->receives = &endpoint->device->receives[endpoint->connects];
	if (queues_make(endpoint) < 0 || fabric->library.init_qp_attr(endpoint->id, &attr, &mask) < 0)
		goto failed;
	attr.qp_access_flags |= IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	if (endpoint->device->windows)
		attr.qp_access_flags |= IBV_ACCESS_MW_BIND;
	errno = fabric->library.modify_qp(endpoint->qp, &attr, mask);
	if (errno)
		goto failed;
	endpoint->device->endpoints++;
	endpoint->receives->allowed += endpoint->allowed;
	/* The receives are posted before the connection is up: the peer's first Send may come before this
	 * turn ends. */
	rr_verbs_device_refill(&endpoint->device->refill);
	return 0;
failed:
	error = rr_errno_error(errno);
	rr_fail(text, error, "%s: cannot make a queue pair: %s", endpoint->device->context->device->name,
		strerror(errno));
	rr_verbs_queues_destroy(endpoint);
	return error;
}

void
rr_verbs_allow(struct rr_endpoint *base, uint32_t count)
{
	struct rr_verbs_endpoint *endpoint = rr_verbs_endpoint_of(base);
	struct rr_verbs_fabric *fabric = rr_verbs_fabric(endpoint);

	if (endpoint->state >= RR_VERBS_ENDED)
		return;
	endpoint->allowed += count;
	if (!endpoint->qp)
		return;
	endpoint->receives->allowed += count;
	if (endpoint->allowed > endpoint->cq_receives &&
		fabric->library.resize_cq(endpoint->cq, (int)(endpoint->sq_size + 2 * endpoint->allowed)) ==
			0)
		endpoint->cq_receives = 2 * endpoint->allowed;
	rr_loop_defer(fabric->base.loop, &endpoint->device->refill);
}
