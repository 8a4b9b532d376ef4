/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_SHARE_FAIR_QUEUE_H
#define RR_BASE_SHARE_FAIR_QUEUE_H

#include <stdint.h>

#include "base/heap.h"

/*
 * Members that wait for their turn, in the order of the time that each of them has used: start-time fair
 * queueing, for members that are objects of the caller and whose costs are charged afterwards.
 * A member that used little goes before one that used much. A member that was idle goes at once. The time
 * that a member leaves to others is saved up for it, as far as the queue's credit goes: so a member that uses
 * less than the others goes before them each time, although it is charged for each of several steps.
 */

/* A member; zeroed before its first use. All its members are private, but for `waits`, and `tag` of a new
 * one. */
struct rr_fair_member {
	struct rr_heap_link link;
	uint64_t tag; /* its place in the order: the time at which its next turn begins; a new member has all
			 credit if this is 0, and none if it is the queue's clock */
	uint64_t order; /* decides between equal tags: who waits longer goes first */
	bool waits;     /* it is in the queue */
};

/* The members that wait. */
struct rr_fair_queue {
	struct rr_heap heap;
	uint64_t clock;  /* the highest tag of a member that was the first when its turn began */
	uint64_t credit; /* how far the tag of a member that is charged may be behind the clock */
	uint64_t order;
};

void rr_fair_queue_init(struct rr_fair_queue *queue, uint64_t credit);

/* Has the member wait. Does nothing if it waits already. */
void rr_fair_queue_wait(struct rr_fair_queue *queue, struct rr_fair_member *member);

/* Takes the member out of the queue. Does nothing if it does not wait. */
void rr_fair_queue_leave(struct rr_fair_queue *queue, struct rr_fair_member *member);

/* Notes that something is done for the member: sets the clock on to its place, unless one that waits is
 * before it. */
void rr_fair_queue_begin(struct rr_fair_queue *queue, const struct rr_fair_member *member);

/* Returns the member that has used least, which goes on waiting. Returns NULL if no member waits. */
struct rr_fair_member *rr_fair_queue_first(const struct rr_fair_queue *queue);

/* Takes the member that has used least out of the queue, begins its turn and returns it. Returns NULL if no
 * member waits. */
struct rr_fair_member *rr_fair_queue_take(struct rr_fair_queue *queue);

/* Charges the member with the cost of what was done for it. It may wait meanwhile: its place then changes. */
static inline void
rr_fair_queue_charge(struct rr_fair_queue *queue, struct rr_fair_member *member, uint64_t cost)
{
	uint64_t least = queue->clock > queue->credit ? queue->clock - queue->credit : 0;
	bool waits = member->waits;

	if (waits)
		rr_heap_remove(&queue->heap, &member->link);
	member->tag = (member->tag > least ? member->tag : least) + cost;
	if (waits)
		rr_heap_add(&queue->heap, &member->link);
}

/* Takes back a cost with which the member was charged. It may wait meanwhile: its place then changes. */
void rr_fair_queue_refund(struct rr_fair_queue *queue, struct rr_fair_member *member, uint64_t cost);

/* Tells whether no member waits. */
static inline bool
rr_fair_queue_empty(const struct rr_fair_queue *queue)
{
	return !queue->heap.first;
}

#endif
