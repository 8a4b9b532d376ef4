/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_SHARE_FAIR_H
#define RR_BASE_SHARE_FAIR_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Turns of owners that share something by the time that each of their jobs takes: start-time fair queueing. A
 * job is anything that waits for its turn, such as a call to a file system. Each job gets a tag when it
 * comes, and the job with the lowest tag goes first. The tags of an owner grow by the cost of its jobs, so an
 * owner that used little goes before one that used much, and an owner that was idle goes at once, but saves
 * nothing up. The cost of a job is known at its end: until then, the job is charged with the average cost of
 * its owner's jobs, or, of a new owner, with the average cost of all jobs.
 *
 * An owner is a number; 0 is an owner, too. The table remembers an owner as long as its tag is ahead of the
 * clock. Where more owners are ahead than the table has places, owners that share a place count as one.
 */
enum { RR_FAIR_OWNERS = 256 };

/* The turn of a job: its owner, its tag, and the cost that its owner was charged with so far. */
struct rr_fair_turn {
	uint64_t owner, tag, charged;
	uint64_t order; /* of arrival: decides between equal tags */
};

/* An owner in the table: the tag of its next job, and the average cost of its jobs. */
struct rr_fair_owner {
	uint64_t number, tag, average;
};

/* The table of owners, and the clock. */
struct rr_fair {
	uint64_t clock; /* the highest tag of a job that began */
	uint64_t order;
	uint64_t average; /* cost of a job */
	struct rr_fair_owner owners[RR_FAIR_OWNERS];
};

/* Sets turn for a job of the owner that has just come: gives turn its tag, which orders the jobs, and charges
 * the owner with the average cost of a job. fair must be zeroed before its first use. */
void rr_fair_enter(struct rr_fair *fair, uint64_t owner, struct rr_fair_turn *turn);
/* Notes that the job of turn begins: advances fair->clock to the tag of turn, so that jobs which come later
 * get no lower tag. Does nothing if the clock is ahead of the tag already. */
void rr_fair_begin(struct rr_fair *fair, const struct rr_fair_turn *turn);
/* Charges the owner with cost instead of the average that it was charged with before: the job of turn has
 * ended. */
void rr_fair_end(struct rr_fair *fair, const struct rr_fair_turn *turn, uint64_t cost);

/* Takes back the cost with which the owner was charged for turn: the job of turn will not begin. */
void rr_fair_leave(struct rr_fair *fair, const struct rr_fair_turn *turn);

/* Whether the job of turn a begins before the job of turn b: the lower tag is first; of equal tags, the job
 * that came first. */
static inline bool
rr_fair_is_before(const struct rr_fair_turn *a, const struct rr_fair_turn *b)
{
	return a->tag < b->tag || (a->tag == b->tag && a->order < b->order);
}

#endif
