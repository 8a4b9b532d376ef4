/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "fabric/verbs/work.h"

/* The receives in the queues that the endpoints of a device share. */

void
rr_verbs_device_recycle(struct rr_verbs_device *device, struct rr_verbs_buffer *buffer)
{
	rr_verbs_pool_put(buffer);
	rr_loop_defer(device->fabric->base.loop, &device->refill);
}

/* Posts receive buffers to a shared receive queue. The queue is to have one buffer for each Send that the
 * peers of its endpoints may still send, and one more. Stops earlier if the pool has no more buffers. */
static void
refill(struct rr_verbs_receives *receives)
{
	struct rr_verbs_device *device = receives->device;
	struct ibv_recv_wr wrs[RR_VERBS_BATCH], *bad;
	struct ibv_sge sges[RR_VERBS_BATCH];
	struct rr_verbs_buffer *buffer = NULL;
	uint32_t size = device->fabric->base.config.receive_size, n;
	/* The further receive shows that a peer sends more than it may; without it, InfiniBand would have the
	 * peer wait. */
	uint64_t wanted = device->endpoints > 0 ? receives->allowed + 1 : 0;

	do {
		for (n = 0; n < RR_VERBS_BATCH && receives->posted + n < wanted; n++) {
			buffer = rr_verbs_pool_get(&receives->pool, size);
			if (!buffer)
				break;
			sges[n] = (struct ibv_sge){ (uintptr_t)buffer->data, size, buffer->slab->mr->lkey };
			wrs[n] = (struct ibv_recv_wr){ .wr_id = (uintptr_t)buffer | RR_VERBS_RECEIVE,
				.next = &wrs[n + 1],
				.sg_list = &sges[n],
				.num_sge = 1 };
		}
		if (n == 0)
			return;
		wrs[n - 1].next = NULL;
		receives->posted += n;
		if (ibv_post_srq_recv(receives->srq, wrs, &bad) == 0)
			continue;
		for (; bad; bad = bad->next, receives->posted--)
			rr_verbs_pool_put((void *)(uintptr_t)(bad->wr_id & ~(uint64_t)RR_VERBS_RECEIVE));
		rr_log(device->fabric->env, RR_LOG_ERROR, "%s does not take receives: %s",
			device->context->device->name, strerror(errno));
		return;
	} while (n == RR_VERBS_BATCH);
}

void
rr_verbs_device_refill(struct rr_task *task)
{
	struct rr_verbs_device *device = rr_container(task, struct rr_verbs_device, refill);

	for (int i = 0; i < 2; i++)
		refill(&device->receives[i]);
}
