/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_RING_H
#define RR_VFS_POSIX_RING_H

#include "base/loop.h"

/* A ring does reads that wait for a disk, by io_uring. Reads that begin in one turn of the loop go to the
 * kernel by one system call, and no thread of this process is woken for them. All functions and done() run in
 * the loop's thread. */
struct rr_ring;

/* A read of size octets at offset, by the rules of pread(2). fd must stay open and data must stay valid until
 * done(). */
struct rr_ring_read {
	int fd;
	uint32_t size;
	void *data;
	uint64_t offset;
	int result; /* out: the number of octets that were read, perhaps fewer than size; or a negative errno
		     */
	void (*done)(struct rr_ring_read *read);
};

/* Makes a ring for "most" reads at a time. Errors: NOTSUP (the kernel has no io_uring, or does not let this
 * process use it), NOMEM, SYSTEM. */
int rr_ring_new(const struct rr_env *env, struct rr_loop *loop, uint32_t most, struct rr_ring **ring);

/* Waits for all reads, and calls done() for each. ring may be NULL. */
void rr_ring_free(struct rr_ring *ring);

/* Begins a read, which belongs to the ring until done(); done() is not called from inside this function.
 * Returns false, and does nothing, where as many reads as the ring can take are under way. */
bool rr_ring_begin(struct rr_ring *ring, struct rr_ring_read *read);

#endif
