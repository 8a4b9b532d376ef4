/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_ALIVE_H
#define RR_BASE_ALIVE_H

#include "base/loop.h"

/*
 * Watches whether the peer of a TCP socket still lives: whether its TCP
 * answers, not whether it has anything to say. An idle connection is probed
 * by the system, and one with octets under way has those repeated, so no
 * message of the protocols above is needed. A peer that lives and reads
 * nothing for a while answers probes, and is not taken for dead.
 */
struct rr_alive {
	void (*dead)(struct rr_alive *alive); /* once; the caller's, as the descriptor is */
	int fd;                               /* private, as all below */
	uint64_t limit;
	struct rr_loop *loop;
	struct rr_timer timer;
};

#define RR_ALIVE_LIMIT (15 * RR_SECOND)

/* Must be called once before the others. */
void rr_alive_init(struct rr_alive *alive, void (*dead)(struct rr_alive *alive));

/* From now on a peer that is silent for limit nanoseconds, although it was asked, is dead. fd is
 * connected. */
void rr_alive_start(struct rr_alive *alive, struct rr_loop *loop, int fd, uint64_t limit);

/* Before the descriptor is closed. No effect where it was not started. */
void rr_alive_stop(struct rr_alive *alive);

#endif
