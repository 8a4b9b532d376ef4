/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_RING_H
#define RR_VFS_POSIX_RING_H

#include "base/loop.h"

/*
 * Reads that wait for a disk, by io_uring: those that begin in one turn of the loop go to the kernel by one
 * call of the system, and no thread is woken for them. All of it happens in the loop's thread.
 */
struct rr_ring;

/* A read of size octets at offset, by pread(2)'s rules. fd and data stay until done(). */
struct rr_ring_read {
	int fd;
	uint32_t size;
	void *data;
	uint64_t offset;
	int result; /* octets, or a negative errno */
	void (*done)(struct rr_ring_read *read);
};

/* For so many reads at a time. -RPCRDMA_ERR_NOTSUP: the kernel, or what confines this process, has no
 * io_uring. -RPCRDMA_ERR_NOMEM, -RPCRDMA_ERR_SYSTEM. */
int rr_ring_new(const struct rr_env *env, struct rr_loop *loop, uint32_t most, struct rr_ring **ring);

/* Waits for all reads, and calls done() for them. ring may be NULL. */
void rr_ring_free(struct rr_ring *ring);

/* The read is the ring's until done(), which does not come from here. False: as many as there may be are
 * under way. */
bool rr_ring_begin(struct rr_ring *ring, struct rr_ring_read *read);

#endif
