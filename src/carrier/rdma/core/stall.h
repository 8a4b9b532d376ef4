/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_CORE_STALL_H
#define RR_CARRIER_RDMA_CORE_STALL_H

#include "base/share.h"

/*
 * Watches how much moves on a connection that others wait for. A peer may be slow, or stop reading for as
 * long as it likes, while that costs nobody anything. It is cut off where
 *
 * - others wait for payload memory, some of which is held for it, and its peer has something to take or to
 *   bring, but moves too little (base/share.h);
 * - the same holds of Receives; or
 * - calls wait for a credit, and all credits are held by calls that were given up and were not answered for
 *   RR_STALL_LIMIT.
 */
struct rr_connection;
struct rr_work;

struct rr_stall {
	struct rr_timer timer;
	uint64_t outstanding;             /* octets of work requests that were posted, and did not complete */
	uint64_t completed;               /* octets of those that did */
	uint64_t moved_then;              /* octets that had moved when the timer was armed */
	bool short_then;                  /* others waited for Receives then */
	uint64_t answered, answered_then; /* messages that answered one of our calls */
	uint64_t unanswered;              /* since when there were no more of those, while calls waited */
};

#define RR_STALL_TICK  RR_SECOND
#define RR_STALL_LIMIT (15 * RR_SECOND)

void rr_stall_init(struct rr_stall *stall);

/* There is something to wait for from now on. */
void rr_stall_watch(struct rr_connection *connection);

/* Octets that the peer took or brought. */
uint64_t rr_stall_moved(const struct rr_connection *connection);

/* A work request was posted; one of those that were completed. */
void rr_stall_posted(struct rr_connection *connection, const struct rr_work *work);
void rr_stall_completed(struct rr_connection *connection);

/* The endpoint is being closed. */
void rr_stall_end(struct rr_connection *connection);

#endif
