/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TRANSPORT_STALL_H
#define RR_TRANSPORT_STALL_H

#include "base/loop.h"

/*
 * Watches whether anything moves on a connection that others wait for. A peer may be slow, or stop reading
 * for as long as it likes, while that costs nobody anything. It is cut off where nothing moved for
 * RR_STALL_LIMIT and
 *
 * - work requests are outstanding, and others wait for payload memory or receives, of which they may hold
 *   some; or
 * - calls wait for a credit, and all credits are held by calls that were given up and never answered.
 */
struct rr_connection;

struct rr_stall {
	struct rr_timer timer;
	uint64_t moved, moved_then;       /* completions so far, and when the timer was armed */
	uint64_t answered, answered_then; /* messages that answered one of our calls */
};

#define RR_STALL_LIMIT (15 * RR_SECOND)

void rr_stall_init(struct rr_stall *stall);

/* There is something to wait for from now on. */
void rr_stall_watch(struct rr_connection *connection);

/* The endpoint is being closed. */
void rr_stall_end(struct rr_connection *connection);

#endif
