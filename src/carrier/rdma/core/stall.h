/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_CORE_STALL_H
#define RR_CARRIER_RDMA_CORE_STALL_H

#include "base/share/share.h"

/* Watches how much moves on a connection for which others wait. A peer may be slow, or stop reading for as
 * long as it likes, as long as that costs no other peer anything. The peer is cut off if
 *
 * - others wait for payload memory, the connection holds some of it, and its peer has something to take or to
 * bring, but moves too little (base/share/share.c decides this, by rr_stall_moved());
 * - others wait for Receives, work requests of the connection are under way, and its peer moves too little;
 * or
 * - calls of this side wait for a credit, and all credits are held by cancelled calls that were not answered
 * for RR_STALL_LIMIT. */
struct rr_connection;
struct rr_work;

/* The figures of the watch over one connection. */
struct rr_stall {
	struct rr_timer timer;
	uint64_t outstanding; /* octets of work requests that were posted and have not completed */
	uint64_t completed;   /* octets of work requests that completed, estimated */
	uint64_t moved_then;  /* rr_stall_moved() when the timer was armed */
	bool short_then;      /* others waited for Receives at that time */
	/* Messages that answered a call of this side; the same when the timer was armed. */
	uint64_t answered, answered_then;
	uint64_t unanswered; /* the time since which no such message came; 0: it is not measured */
};

#define RR_STALL_TICK  RR_SECOND
#define RR_STALL_LIMIT (15 * RR_SECOND)

void rr_stall_init(struct rr_stall *stall);

/* Arms the timer of the watch, as from now on this side waits for the peer, or others wait for the
 * connection. */
void rr_stall_watch(struct rr_connection *connection);

/* Returns about how many octets the peer has taken or brought so far: the result grows when octets move, and
 * only differences of two results are used. */
uint64_t rr_stall_moved(const struct rr_connection *connection);

/* Counts the octets of a work request that was posted, and begins the watch, as the peer has something to
 * take or to bring now. rr_stall_completed() counts the octets of a work request that completed. */
void rr_stall_posted(struct rr_connection *connection, const struct rr_work *work);
void rr_stall_completed(struct rr_connection *connection);

/* Ends the watch, as the endpoint is being closed. */
void rr_stall_end(struct rr_connection *connection);

#endif
