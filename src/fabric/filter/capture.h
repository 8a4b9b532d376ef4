/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_FILTER_CAPTURE_H
#define RR_FABRIC_FILTER_CAPTURE_H

#include "fabric/fabric.h"

/*
 * A filter that shows what an endpoint sends and receives as a capture of iWARP over TCP, whatever the
 * provider is: Wireshark and `rpcrdma decode` read it. What the peer does by RDMA passes this side by; it is
 * derived from the messages that say that it was done, and its octets from the memory that the peer was
 * offered: RDMA Writes come just before the reply that returns their chunks, RDMA Reads just before the
 * reply, or RDMA_DONE, that ends the exposure of their chunks.
 */
struct rr_capture;

/* Makes the file, in the format of pcapng, or empties it. Errors: SYSTEM, NOMEM. */
int rr_capture_open(const char *path, struct rr_capture **capture, struct rr_text *text);

/* The same, where packets of raw IP go to a function instead, with the time in ns since the epoch. It may be
 * called by several threads, by one at a time. -RPCRDMA_ERR_NOMEM. */
int rr_capture_new(void (*packet)(void *ctx, uint64_t time, const void *data, size_t size), void *ctx,
	struct rr_capture **capture);

/* After all fabrics that write to it. -RPCRDMA_ERR_SYSTEM where not all could be written. capture may be
 * NULL.
 */
int rr_capture_close(struct rr_capture *capture, struct rr_text *text);

/* Puts a filter before below, which it then owns; several may write to one capture, also from several
 * threads. -RPCRDMA_ERR_NOMEM: below stays the caller's. */
int rr_capture_fabric_new(struct rr_fabric *below, struct rr_capture *capture, struct rr_fabric **fabric);

#endif
