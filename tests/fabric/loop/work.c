/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "endpoint.h"

/*
 * Work requests, carried out one after the other. A fault in a request ends the connection, as it would over
 * a wire: both sides have the fault in the text of their event DISCONNECTED.
 */

/* The most work requests that an endpoint carries out in one run of its task. */
enum { BATCH = 64 };

/* What became of a work request: it was carried out; it waits for a receive buffer; it ended the connection.
 */
enum outcome { DONE, BLOCKED, ENDED };

/* Ends the connection for both sides, as the peer must refuse a work request of this endpoint. what: the
 * request, why: the reason, both in words. The peer's connection ends with status, that of this endpoint
 * with own_status. Returns ENDED. */
static enum outcome
work_violation(
	struct rr_loop_endpoint *endpoint, int status, int own_status, const char *what, const char *why)
{
	char text[320], own[320]; /* more than a struct rr_text has, as it is put behind other words */

	snprintf(text, sizeof(text), "the peer's %s was refused: %s", what, why);
	snprintf(own, sizeof(own), "the peer refused our %s: %s", what, why);
	rr_loop_end_both(endpoint, own_status, own, status, text);
	return ENDED;
}

/* Copies the octets of all sges of a work request to `to`, one after the other. */
static void
work_gather(uint8_t *to, const struct rr_work_item *item)
{
	for (uint32_t i = 0; i < item->sge_count; i++) {
		if (item->sges[i].length)
			memcpy(to, item->sges[i].addr, item->sges[i].length);
		to += item->sges[i].length;
	}
}

/* Carries out a Send: copies its octets into a receive buffer, and calls the peer's handler with RECEIVED. A
 * Send With Invalidate also invalidates the peer's region. Returns DONE; BLOCKED if the Send must wait for a
 * receive buffer (rr_receives_get() sets full); or ENDED if the connection was ended, as the peer cannot
 * accept the Send or there is no memory. */
static enum outcome
work_send_message(struct rr_loop_endpoint *endpoint, struct rr_work_item *item)
{
	struct rr_loop_endpoint *peer = endpoint->peer;
	struct rr_loop_fabric *fabric = rr_loop_fabric(endpoint);
	struct rr_event event = { .kind = RR_EVENT_RECEIVED, .length = item->length };
	bool full;

	if (!peer->allowed)
		return work_violation(endpoint, -RPCRDMA_ERR_PEER, -RPCRDMA_ERR_DISCONNECTED, "Send",
			"no receive is posted for it");
	if (item->kind == RR_WORK_SEND_INVALIDATE && !rr_regions_has(&peer->regions, item->remote_handle))
		return work_violation(endpoint, -RPCRDMA_ERR_ACCESS, -RPCRDMA_ERR_ACCESS,
			"Send With Invalidate", "no region has this handle");
	if (item->length > fabric->base.config.receive_size)
		return work_violation(endpoint, -RPCRDMA_ERR_PEER, -RPCRDMA_ERR_DISCONNECTED, "Send",
			"the message is longer than a receive");
	event.data = rr_receives_get(&fabric->receives, &endpoint->wait, &full);
	if (full) {
		rr_receives_wait(&fabric->receives, &endpoint->wait);
		return BLOCKED;
	}
	if (!event.data) {
		rr_loop_end_both(endpoint, -RPCRDMA_ERR_DISCONNECTED, "the peer has no memory",
			-RPCRDMA_ERR_NOMEM, "no memory for a receive");
		return ENDED;
	}
	if (item->kind == RR_WORK_SEND_INVALIDATE) {
		event.invalidated = true;
		event.invalidated_handle = item->remote_handle;
		rr_regions_invalidate(&peer->regions, item->remote_handle);
	}
	work_gather(event.data, item);
	peer->allowed--;
	rr_loop_emit(peer, &event);
	return DONE;
}

/* Carries out an RDMA Read or Write: copies octets from or to the peer's region. Returns DONE, or ENDED if
 * the connection was ended, as the peer's region does not allow this access. */
static enum outcome
work_access_region(struct rr_loop_endpoint *endpoint, struct rr_work_item *item)
{
	bool reads = item->kind == RR_WORK_READ;
	unsigned access = reads ? RR_REMOTE_READ : RR_REMOTE_WRITE;
	const struct rr_regions *regions = &endpoint->peer->regions;
	enum rr_region_fault fault;
	struct rr_text text;
	uint8_t *at;

	/* RFC 5040, 5: a zero-length RDMA Write or Read touches no buffer, and its STag is not checked. */
	if (!item->length)
		return DONE;
	fault = rr_regions_find(regions, item->remote_handle, item->remote_offset, item->length, access, &at);
	if (fault) {
		rr_regions_explain(
			regions, item->remote_handle, item->remote_offset, item->length, fault, &text);
		return work_violation(endpoint, -RPCRDMA_ERR_ACCESS, -RPCRDMA_ERR_ACCESS,
			reads ? "RDMA Read" : "RDMA Write", text.text);
	}
	if (reads)
		memcpy((void *)(uintptr_t)item->sges[0].addr, at, item->length);
	else
		work_gather(at, item);
	return DONE;
}

void
rr_loop_work(struct rr_loop_endpoint *endpoint)
{
	struct rr_cache *works = &rr_loop_fabric(endpoint)->works;

	for (int i = 0; endpoint->state == RR_LOOP_ESTABLISHED && !rr_list_empty(&endpoint->queue); i++) {
		struct rr_work_item *item = rr_container(endpoint->queue.next, struct rr_work_item, link);
		bool sends = item->kind == RR_WORK_SEND || item->kind == RR_WORK_SEND_INVALIDATE;

		if (i == BATCH) {
			rr_loop_defer(endpoint->base.fabric->loop, &endpoint->task);
			return;
		}
		/* The request stays in the queue if it must wait; if the connection was ended, it is
		 * completed with all others. */
		if ((sends ? work_send_message(endpoint, item) : work_access_region(endpoint, item)) != DONE)
			return;
		/* The peer's handler may have ended the connection, but this request was carried out. */
		if (endpoint->state != RR_LOOP_CLOSED)
			rr_works_complete(works, item, &endpoint->base, 0);
	}
	if (endpoint->state == RR_LOOP_ESTABLISHED && endpoint->disconnecting)
		rr_loop_end_both(endpoint, 0, "disconnected", -RPCRDMA_ERR_DISCONNECTED,
			"the peer closed the connection");
}
