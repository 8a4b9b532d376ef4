/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "fabric/verbs/work.h"

/*
 * Works before they are posted: the memory of their payload.
 *
 *   Payload that fits into the request itself (IBV_SEND_INLINE) is read when the request is posted.
 *
 *   A Send, and a Write of up to COPY_MAX octets, is copied into a registered buffer of the pool: copying a
 *   few kilobytes costs less than to register them.
 *
 *   Any other payload is registered for this work and deregistered when it completes: two system calls and
 *   the pinning of its pages, for each sge. A cache of registrations would save that, but would be wrong as
 *   soon as the caller unmaps memory and gets other pages at the same address. Memory that cannot be
 *   registered (a mapping that is shared and read-only) is copied as well.
 */

/* The most octets of an RDMA Write that are copied. */
enum { COPY_MAX = 4096 };

/* Makes a work request of this kind, which is in no list yet. Returns NULL if there is no memory. */
static struct rr_verbs_work *
work_new(struct rr_verbs_endpoint *endpoint, int kind)
{
	struct rr_verbs_work *work = rr_cache_get(&rr_verbs_fabric(endpoint)->works);

	if (!work)
		return NULL;
	memset(work, 0, offsetof(struct rr_verbs_work, sges));
	rr_list_init(&work->link);
	work->kind = kind;
	return work;
}

/* Ends the registrations of memory that were made for the payload of a work request. If the payload was
 * copied into a buffer, gives the buffer back to the pool. */
static void
work_unload(struct rr_verbs_endpoint *endpoint, struct rr_verbs_work *work)
{
	for (uint32_t i = 0; i < work->mr_count; i++)
		rr_verbs_fabric(endpoint)->library.dereg_mr(work->mrs[i]);
	work->mr_count = 0;
	if (work->buffer)
		rr_verbs_pool_put(work->buffer);
	work->buffer = NULL;
}

void
rr_verbs_work_free(struct rr_verbs_endpoint *endpoint, struct rr_verbs_work *work)
{
	rr_list_remove(&work->link);
	work_unload(endpoint, work);
	if (work->region)
		work->region->bind = NULL;
	rr_cache_put(&rr_verbs_fabric(endpoint)->works, work);
}

void
rr_verbs_work_complete(struct rr_verbs_endpoint *endpoint, struct rr_verbs_work *work, int status)
{
	struct rr_event event = { .kind = RR_EVENT_COMPLETED, .status = status, .cookie = work->cookie };
	bool counts = work->kind <= RR_WORK_READ;

	event.work = counts ? (enum rr_work_kind)work->kind : RR_WORK_WRITE;
	rr_verbs_work_free(endpoint, work);
	/* The owner did not post bindings and kicks, and gets no event of them. */
	if (!counts)
		return;
	endpoint->base.outstanding--;
	if (event.cookie || status)
		rr_verbs_emit(endpoint, &event);
}

/* If the payload of the caller's request (from) is short, lets the work request refer to it without a
 * registration: the payload is later copied into the posted request itself. Returns false if the payload is
 * too long or has too many sges (pieces of memory). */
static bool
work_fits_inline(struct rr_verbs_endpoint *endpoint, struct rr_verbs_work *work, const struct rr_work *from)
{
	if (work->length > endpoint->inline_max)
		return false;
	for (uint32_t i = 0; i < from->sge_count; i++) {
		if (!from->sges[i].length)
			continue;
		if (work->sge_count == endpoint->sge_max)
			return false;
		work->sges[work->sge_count++] =
			(struct ibv_sge){ (uintptr_t)from->sges[i].addr, from->sges[i].length, 0 };
	}
	work->inlined = true;
	return true;
}

/* Copies the payload of the caller's request (from) into a registered buffer of the pool. The work request
 * keeps the buffer until it completes. Returns -RPCRDMA_ERR_NOMEM if there is no buffer. */
static int
work_copy(struct rr_verbs_endpoint *endpoint, struct rr_verbs_work *work, const struct rr_work *from)
{
	uint8_t *to;

	work->buffer = rr_verbs_pool_get(&endpoint->domain->sends, work->length);
	if (!work->buffer)
		return -RPCRDMA_ERR_NOMEM;
	to = work->buffer->data;
	for (uint32_t i = 0; i < from->sge_count; i++) {
		if (from->sges[i].length)
			memcpy(to, from->sges[i].addr, from->sges[i].length);
		to += from->sges[i].length;
	}
	work->sge_count = 1;
	work->sges[0] =
		(struct ibv_sge){ (uintptr_t)work->buffer->data, work->length, work->buffer->slab->mr->lkey };
	return 0;
}

/* Registers the memory of each sge (piece of memory) of the caller's request (from) as the payload of a work
 * request. If one sge cannot be registered, ends the registrations of all others and returns
 * -RPCRDMA_ERR_NOMEM. */
static int
work_register_payload(struct rr_verbs_endpoint *endpoint, struct rr_verbs_work *work,
	const struct rr_work *from, int access)
{
	for (uint32_t i = 0; i < from->sge_count; i++) {
		void *addr = (void *)(uintptr_t)from->sges[i].addr;
		struct ibv_mr *mr;

		if (!from->sges[i].length)
			continue;
		mr = rr_verbs_fabric(endpoint)->library.reg_mr_(
			endpoint->domain->pd, addr, from->sges[i].length, access);
		if (!mr) {
			work_unload(endpoint, work);
			return -RPCRDMA_ERR_NOMEM;
		}
		work->mrs[work->mr_count] = mr;
		work->sges[work->mr_count++] =
			(struct ibv_sge){ (uintptr_t)addr, from->sges[i].length, mr->lkey };
	}
	work->sge_count = work->mr_count;
	return 0;
}

/* Makes the payload of the caller's request (from) accessible to the device. A short payload becomes part of
 * the posted request. A longer payload is copied into a registered buffer, or its memory is registered.
 * Returns -RPCRDMA_ERR_NOMEM on failure. */
static int
work_load(struct rr_verbs_endpoint *endpoint, struct rr_verbs_work *work, const struct rr_work *from)
{
	int access = IBV_ACCESS_LOCAL_WRITE;

	if (work->length == 0)
		return 0;
	if (from->kind == RR_WORK_READ) {
		/* On iWARP, the peer's answer accesses the memory of the Read by its steering tag. */
		if (endpoint->device->iwarp)
			access |= IBV_ACCESS_REMOTE_WRITE;
		return work_register_payload(endpoint, work, from, access);
	}
	if (work_fits_inline(endpoint, work, from))
		return 0;
	/* work_fits_inline() may have added sges before it returned false. */
	work->sge_count = 0;
	if (from->kind != RR_WORK_WRITE || work->length <= COPY_MAX)
		return work_copy(endpoint, work, from);
	if (work_register_payload(endpoint, work, from, 0) == 0)
		return 0;
	return work_copy(endpoint, work, from);
}

/* Whether the endpoint accepts work requests: the connection is established, and the owner has not asked to
 * end it. */
static bool
work_takes(const struct rr_verbs_endpoint *endpoint)
{
	return endpoint->state == RR_VERBS_ESTABLISHED && !endpoint->disconnecting;
}

/* Appends a work request to the endpoint's queue, and schedules the endpoint's task, which posts the
 * request. */
static void
queue(struct rr_verbs_endpoint *endpoint, struct rr_verbs_work *work)
{
	rr_list_append(&endpoint->queue, &work->link);
	rr_verbs_wake(endpoint);
}

int
rr_verbs_post(struct rr_endpoint *base, const struct rr_work *from)
{
	struct rr_verbs_endpoint *endpoint = rr_verbs_endpoint_of(base);
	struct rr_verbs_work *work;

	if (!work_takes(endpoint))
		return -RPCRDMA_ERR_DISCONNECTED;
	work = work_new(endpoint, (int)from->kind);
	if (!work)
		return -RPCRDMA_ERR_NOMEM;
	work->cookie = from->cookie;
	work->remote_handle = from->remote_handle;
	work->remote_offset = from->remote_offset;
	for (uint32_t i = 0; i < from->sge_count; i++)
		work->length += from->sges[i].length;
	/* A Send is one message of the device. A Write or a Read can be posted as several. */
	if (from->kind <= RR_WORK_SEND_INVALIDATE && work->length > endpoint->device->max_message) {
		rr_verbs_work_free(endpoint, work);
		return -RPCRDMA_ERR_INVAL;
	}
	if (work_load(endpoint, work, from) < 0) {
		rr_verbs_work_free(endpoint, work);
		return -RPCRDMA_ERR_NOMEM;
	}
	endpoint->base.outstanding++;
	queue(endpoint, work);
	return 0;
}

int
rr_verbs_kick(struct rr_endpoint *base)
{
	struct rr_verbs_endpoint *endpoint = rr_verbs_endpoint_of(base);
	struct rr_verbs_work *work;

	if (!work_takes(endpoint))
		return -RPCRDMA_ERR_DISCONNECTED;
	work = work_new(endpoint, RR_VERBS_KICK);
	if (!work)
		return -RPCRDMA_ERR_NOMEM;
	queue(endpoint, work);
	return 0;
}

int
rr_verbs_bind(struct rr_verbs_endpoint *endpoint, struct rr_verbs_region *region, void *addr, uint32_t length,
	unsigned access, uint32_t handle)
{
	struct rr_verbs_work *work = work_new(endpoint, RR_VERBS_BIND);

	if (!work)
		return -RPCRDMA_ERR_NOMEM;
	work->region = region;
	work->sges[0] = (struct ibv_sge){ (uintptr_t)addr, length, 0 };
	work->access = access;
	work->remote_handle = handle;
	region->bind = work;
	queue(endpoint, work);
	return 0;
}
