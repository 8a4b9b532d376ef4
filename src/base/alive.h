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
	/* Called once, when the peer is dead; the watch has then ended. The memory and the descriptor are the
	 * caller's. */
	void (*dead)(struct rr_alive *alive);
	int fd; /* private, as all below */
	uint64_t limit;
	struct rr_loop *loop;
	struct rr_timer timer;
};

/* The usual limit, in nanoseconds. */
#define RR_ALIVE_LIMIT (15 * RR_SECOND)

/* Initialises alive: must be called once, before the other functions are called with it. */
void rr_alive_init(struct rr_alive *alive, void (*dead)(struct rr_alive *alive));

/* Begins to watch the peer of fd, a connected socket: dead() is called when the peer owes an answer and has
 * been silent for limit nanoseconds. */
void rr_alive_start(struct rr_alive *alive, struct rr_loop *loop, int fd, uint64_t limit);

/* Ends the watch; must be called before the descriptor is closed. Does nothing if there is no watch. */
void rr_alive_stop(struct rr_alive *alive);

#endif
