/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_FILTER_CAPTURE_H
#define RR_FABRIC_FILTER_CAPTURE_H

#include "fabric/fabric.h"

/*
 * A filter that writes the messages of its endpoints as a capture of iWARP over TCP, whatever the provider
 * is: Wireshark and `rpcrdma decode` read it. The RDMA operations of the peer do not pass through the filter.
 * The filter derives them from the messages that say that they were done, and takes their octets from the
 * memory that was offered to the peer: RDMA Writes come just before the reply that returns their chunks, RDMA
 * Reads just before the reply, or RDMA_DONE, that ends the exposure of their chunks.
 */
struct rr_capture;

/* Makes a capture that writes packets to the file at path, in the format of pcapng; a file that exists is
 * emptied. Errors: SYSTEM, NOMEM. */
int rr_capture_open(const char *path, struct rr_capture **capture, struct rr_text *text);

/* Makes a capture that writes no file, but calls the function packet with each packet (raw IP) and its time
 * in ns since the epoch. packet() is called in several threads, but in one at a time. Returns
 * -RPCRDMA_ERR_NOMEM if there is no memory. */
int rr_capture_new(void (*packet)(void *ctx, uint64_t time, const void *data, size_t size), void *ctx,
	struct rr_capture **capture);

/* Closes and frees the capture, which may be NULL; all fabrics that write to it must have been destroyed
 * before. Returns -RPCRDMA_ERR_SYSTEM if not all packets could be written. */
int rr_capture_close(struct rr_capture *capture, struct rr_text *text);

/* Makes a filter that writes to capture, and puts it in front of the fabric below, which the filter then
 * owns. Several filters may write to one capture, also from several threads. Returns -RPCRDMA_ERR_NOMEM if
 * there is no memory; below then still belongs to the caller. */
int rr_capture_fabric_new(struct rr_fabric *below, struct rr_capture *capture, struct rr_fabric **fabric);

#endif
