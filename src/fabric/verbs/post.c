/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "fabric/verbs/work.h"

/*
 * Posts works: those that were queued during a turn leave as one chain, with one doorbell.
 *
 * A completion is asked for where the owner wants one, for each RDMA Read and each slice, and for the last
 * request of a chain. The last completion stands for all requests before it, so that every work is found to
 * be complete some time. RDMA Reads have completions of their own, as they may complete out of order on some
 * devices.
 */

/* Fills wr with the next part (slice) of a work request: with as many sges (pieces of memory) and octets as
 * one request of the queue pair can have. Sets work->finished if this is the last part. */
static void
post_slice(struct rr_verbs_endpoint *endpoint, struct rr_verbs_work *work, struct ibv_send_wr *wr)
{
	uint32_t left = endpoint->device->max_message, length = 0;

	while (work->at_sge < work->sge_count && wr->num_sge < (int)endpoint->sge_max && left) {
		const struct ibv_sge *from = &work->sges[work->at_sge];
		uint32_t rest = from->length - work->at_offset, part = rest < left ? rest : left;

		wr->sg_list[wr->num_sge++] =
			(struct ibv_sge){ from->addr + work->at_offset, part, from->lkey };
		length += part;
		left -= part;
		work->at_offset += part;
		if (part < rest)
			break;
		work->at_sge++;
		work->at_offset = 0;
	}
	wr->wr.rdma.remote_addr = work->remote_offset + work->at_length;
	wr->wr.rdma.rkey = work->remote_handle;
	work->at_length += length;
	work->finished = work->at_sge == work->sge_count;
}

/* Fills wr with the request that binds a memory window to a region. This binding gives the peer access to
 * the region. */
static void
post_bind_window(struct rr_verbs_work *work, struct ibv_send_wr *wr)
{
	unsigned flags = 0;

	if (work->access & RR_REMOTE_READ)
		flags |= IBV_ACCESS_REMOTE_READ;
	if (work->access & RR_REMOTE_WRITE)
		flags |= IBV_ACCESS_REMOTE_WRITE;
	wr->opcode = IBV_WR_BIND_MW;
	wr->bind_mw.mw = work->region->mw;
	wr->bind_mw.rkey = work->remote_handle;
	wr->bind_mw.bind_info = (struct ibv_mw_bind_info){ .mr = work->region->mr,
		.addr = work->sges[0].addr,
		.length = work->sges[0].length,
		.mw_access_flags = flags };
	work->finished = true;
}

/* Fills wr with the next part (slice) of a work request, or with the binding of a memory window. Also
 * decides whether the device reports the completion of that part. sges: the memory for the sges of wr. */
static void
post_build(struct rr_verbs_endpoint *endpoint, struct rr_verbs_work *work, struct ibv_send_wr *wr,
	struct ibv_sge *sges)
{
	bool first = work->at_length == 0;

	*wr = (struct ibv_send_wr){ .wr_id = (uintptr_t)work, .sg_list = sges };
	switch (work->kind) {
	case RR_WORK_SEND: wr->opcode = IBV_WR_SEND; break;
	case RR_WORK_SEND_INVALIDATE: wr->opcode = IBV_WR_SEND_WITH_INV; break;
	case RR_WORK_READ:
		/* An RDMA Read of no octets touches no memory, but a device may want an sge: an RDMA Write
		 * takes its place. */
		wr->opcode = work->length ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
		break;
	case RR_VERBS_BIND: post_bind_window(work, wr); return;
	default: wr->opcode = IBV_WR_RDMA_WRITE; break;
	}
	post_slice(endpoint, work, wr);
	if (work->kind == RR_WORK_SEND_INVALIDATE)
		wr->invalidate_rkey = work->remote_handle;
	if (work->inlined)
		wr->send_flags |= IBV_SEND_INLINE;
	/* Without a cookie, nobody waits for the completion of a Send or Write in one part: the completion of
	 * a later request completes it, too (completion.c). */
	if (work->cookie || work->kind == RR_WORK_READ || !first || !work->finished)
		wr->send_flags |= IBV_SEND_SIGNALED;
}

/* Fills wrs with a chain of requests for the queue pair: the next parts of the work requests in the
 * endpoint's queue, as many as the queue pair has room for. Returns the number of requests in the chain. A
 * work request whose last part is in the chain moves to the list `posted`. */
static uint32_t
post_chain(struct rr_verbs_endpoint *endpoint, struct ibv_send_wr *wrs, struct ibv_sge *sges)
{
	uint32_t n = 0;

	while (n < RR_VERBS_BATCH && endpoint->sq_used < endpoint->sq_size &&
		!rr_list_empty(&endpoint->queue)) {
		struct rr_verbs_work *work = rr_container(endpoint->queue.next, struct rr_verbs_work, link);

		post_build(endpoint, work, &wrs[n], &sges[(size_t)n * RR_MAX_SGE]);
		wrs[n].next = &wrs[n + 1];
		n++;
		work->slices++;
		endpoint->sq_used++;
		if (work->finished) {
			rr_list_remove(&work->link);
			rr_list_append(&endpoint->posted, &work->link);
		}
	}
	if (n) {
		/* The last completion of a chain is always reported, so that room in the send queue comes
		 * back. */
		wrs[n - 1].next = NULL;
		wrs[n - 1].send_flags |= IBV_SEND_SIGNALED;
	}
	return n;
}

void
rr_verbs_post_queue(struct rr_verbs_endpoint *endpoint)
{
	struct ibv_send_wr wrs[RR_VERBS_BATCH], *bad;
	struct ibv_sge sges[RR_VERBS_BATCH * RR_MAX_SGE];

	/* A message may grant the peer Sends that were allowed in this turn: their receives are posted first.
	 */
	if (!rr_list_empty(&endpoint->queue))
		rr_verbs_device_refill(&endpoint->device->refill);
	while (post_chain(endpoint, wrs, sges)) {
		int error = ibv_post_send(endpoint->qp, wrs, &bad);

		if (error) {
			rr_verbs_end(endpoint, -RPCRDMA_ERR_SYSTEM, "the device takes no work request: %s",
				strerror(error > 0 ? error : errno));
			return;
		}
	}
}
