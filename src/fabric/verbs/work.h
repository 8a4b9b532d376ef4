/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_VERBS_WORK_H
#define RR_FABRIC_VERBS_WORK_H

#include "fabric/verbs/endpoint.h"

/* Work requests of endpoints, their completions, and registered regions. */

/* A registered region. */
struct rr_verbs_region {
	struct rr_list link; /* in rr_verbs_endpoint.regions */
	struct ibv_mr *mr;
	struct ibv_mw *mw;          /* NULL where the device has no windows */
	struct rr_verbs_work *bind; /* the binding of the window, until it has completed */
};

/* The kinds of works besides enum rr_work_kind. */
enum { RR_VERBS_BIND = RR_WORK_READ + 1, RR_VERBS_KICK };

/*
 * A work request of the owner, or the binding of a window. It is posted as one request of the queue pair, or
 * as several slices, where it has more sges or octets than a request can have.
 *
 * A work is in the endpoint's queue until its last slice was posted, then in the list `posted` until it
 * completes. It owns the registrations of its payload and the buffer with a copy of it, and gives them back
 * when it completes or is forgotten.
 */
struct rr_verbs_work {
	struct rr_list link;
	int kind; /* an enum rr_work_kind, RR_VERBS_BIND or RR_VERBS_KICK */
	void *cookie;
	uint32_t length, remote_handle;
	uint64_t remote_offset;
	bool inlined;    /* the payload goes into the request: it needs no registration */
	bool finished;   /* all slices were posted */
	uint32_t slices; /* slices that were posted and have not completed */
	uint32_t at_sge, at_offset, at_length; /* the place at which the next slice begins */
	uint32_t sge_count, mr_count;
	struct rr_verbs_buffer *buffer;
	struct rr_verbs_region *region; /* to bind, with sges[0], access and remote_handle */
	unsigned access;
	struct ibv_sge sges[RR_MAX_SGE]; /* these members are not cleared for a new work */
	struct ibv_mr *mrs[RR_MAX_SGE];
};

/* ---- work.c ---- */

/* Queues a work request, which the endpoint's task posts as soon as the queue pair has room: does what
 * rr_endpoint_post() asks for. */
int rr_verbs_post(struct rr_endpoint *base, const struct rr_work *work);
/* Queues a frame without contents: does what rr_endpoint_kick() asks for. */
int rr_verbs_kick(struct rr_endpoint *base);

/* Queues the request that binds the region's memory window to length octets at addr, with this handle and
 * the access that the peer gets. Returns -RPCRDMA_ERR_NOMEM if there is no memory. */
int rr_verbs_bind(struct rr_verbs_endpoint *endpoint, struct rr_verbs_region *region, void *addr,
	uint32_t length, unsigned access, uint32_t handle);

/* Removes a work request from its list, and frees it with its registrations and its buffer. */
void rr_verbs_work_free(struct rr_verbs_endpoint *endpoint, struct rr_verbs_work *work);

/* Frees a work request as rr_verbs_work_free() does, and calls the owner's handler with the completion, if
 * the request has a cookie or failed. There is no such call for a binding or a kick. */
void rr_verbs_work_complete(struct rr_verbs_endpoint *endpoint, struct rr_verbs_work *work, int status);

/* ---- post.c ---- */

/* Posts the work requests of the endpoint's queue, as far as the queue pair has room for them. Ends the
 * connection if the device takes no work request. */
void rr_verbs_post_queue(struct rr_verbs_endpoint *endpoint);

/* ---- completion.c ---- */

/* A bit of wr_id that marks a receive: a completion that failed does not say which operation it was. */
enum { RR_VERBS_RECEIVE = 1 };

/* Makes room in the stash (completions that were taken off the queue) for RR_VERBS_BATCH more. Returns false
 * if there is no memory. */
bool rr_verbs_stash_room(struct rr_verbs_endpoint *endpoint);

/* Handles up to RR_VERBS_BATCH completions of work requests and receives. Returns the number of completions
 * that it has handled. Ends the connection if the queue cannot be polled, or if a completion showed that the
 * connection was lost. */
int rr_verbs_poll(struct rr_verbs_endpoint *endpoint);

/* Handles all completions of work requests and receives that there are, as long as the connection is up. */
void rr_verbs_drain(struct rr_verbs_endpoint *endpoint);

/* Waits until the binding of the region's window has completed. If that takes longer than a fixed time, ends
 * the connection. The owner's handler is not called meanwhile. */
void rr_verbs_await(struct rr_verbs_endpoint *endpoint, const struct rr_verbs_region *region);

/* Takes all completions off the queue after the connection has ended, and gives their receive buffers back
 * to the pool. */
void rr_verbs_discard(struct rr_verbs_endpoint *endpoint);

/* ---- region.c ---- */

/* Registers a region: does what rr_endpoint_register() asks for. The connection must be established. */
int rr_verbs_register(
	struct rr_endpoint *base, void *addr, uint32_t length, unsigned access, struct rr_region *region);
/* Ends the peer's access to a region, and frees the region: does what rr_endpoint_invalidate() asks for. */
int rr_verbs_invalidate(struct rr_endpoint *base, struct rr_region *region);
/* Ends the peer's access to a region, but keeps the region: does what rr_endpoint_revoke() asks for. */
int rr_verbs_revoke(struct rr_endpoint *base, struct rr_region *region);

/* Ends the peer's access to all regions of the endpoint, and frees the regions. */
void rr_verbs_regions_close(struct rr_verbs_endpoint *endpoint);

#endif
