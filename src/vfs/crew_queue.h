/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_CREW_QUEUE_H
#define RR_VFS_CREW_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fair.h"
#include "base/heap.h"
#include "base/list.h"

/*
 * Which job begins next. No thread and no lock is in here.
 *
 * A job has a place: a file system. A place may keep as many threads busy as it leaves free, and one in any
 * case, so that what hangs in one place leaves threads to the others. Places take turns.
 *
 * A job has up to two keys: objects. Among jobs with a key in common, a change begins when all changes that
 * came before it have ended, and a commit when all writes that came before it have. Nothing else has an
 * order.
 *
 * A job has an owner: a connection, mostly. Of the jobs of one place that may begin, that of the owner goes
 * first whose jobs took the least time (base/fair.h): an owner with many jobs, or with long ones, holds up
 * itself.
 */

enum { RR_CREW_KEYS = 2, RR_CREW_PLACES = 32, RR_CREW_BUCKETS = 64 };

/* A place without a bound. */
enum { RR_CREW_ANYWHERE = 0 };

/* A part of a place, for jobs that take the processor for long and need not wait: more of them at a time than
 * RR_CREW_BULK_MAX would not end sooner, and keep the processors from others. */
#define RR_CREW_BULK (UINT64_C(1) << 63)
enum { RR_CREW_BULK_MAX = 8 };

enum rr_crew_order { RR_CREW_CHANGE, RR_CREW_WRITE, RR_CREW_COMMIT };

struct rr_crew_job;

/* In the list of all that have a key, waiting or at work, in the order in which they came. */
struct rr_crew_node {
	struct rr_list link;
	uint64_t key; /* 0: this is in no list */
	enum rr_crew_order order;
	struct rr_crew_job *job; /* NULL: at work */
};

struct rr_crew_job {
	uint64_t place;
	uint64_t owner;
	uint64_t keys[RR_CREW_KEYS]; /* 0: no key */
	enum rr_crew_order order;    /* for those keys */
	/* In a thread of the crew; member is what the crew's enlist() made for that thread. Returns false
	 * where the job has become somebody else's: done() does not come then. */
	bool (*run)(struct rr_crew_job *job, void *member);
	void (*done)(struct rr_crew_job *job); /* from the loop */
	bool cancelled;                        /* run() was not called */

	/* Private, as all below. */
	bool waits;
	uint32_t before; /* jobs that have to end before this one begins, each counted for each key */
	struct rr_list link;
	struct rr_heap_link ready; /* in that of its place, while it waits for nothing but a thread */
	uint32_t at;               /* which place of the queue that is */
	struct rr_fair_turn turn;
	struct rr_crew_node nodes[RR_CREW_KEYS];
};

/* A job at work: what is left of it here, as the job itself may be gone before its thread looks again. */
struct rr_crew_slot {
	const struct rr_crew_job *job; /* NULL: no job is at work */
	uint32_t place;                /* of rr_crew_queue.places */
	struct rr_fair_turn turn;
	struct rr_crew_node nodes[RR_CREW_KEYS];
};

struct rr_crew_place {
	uint64_t place;
	uint32_t busy;        /* jobs at work */
	struct rr_heap ready; /* jobs that wait for nothing but a thread */
};

struct rr_crew_queue {
	uint32_t max, busy;                          /* jobs at work: at most, and now */
	uint32_t count;                              /* jobs that wait */
	uint32_t ready;                              /* of these, those that wait for nothing but a thread */
	uint32_t turn;                               /* the place that is asked first */
	struct rr_fair fair;                         /* the turns of owners */
	struct rr_crew_place places[RR_CREW_PLACES]; /* where there are more, some are one */
	struct rr_list buckets[RR_CREW_BUCKETS];     /* of nodes, by key */
};

void rr_crew_queue_init(struct rr_crew_queue *queue, uint32_t max);

void rr_crew_queue_add(struct rr_crew_queue *queue, struct rr_crew_job *job);

/* A job that may begin; NULL: there is none. */
struct rr_crew_job *rr_crew_queue_next(const struct rr_crew_queue *queue);

/* job is what rr_crew_queue_next() returned. */
void rr_crew_queue_begin(struct rr_crew_queue *queue, struct rr_crew_job *job, struct rr_crew_slot *slot);
/* spent: how long the job was at work. */
void rr_crew_queue_end(struct rr_crew_queue *queue, struct rr_crew_slot *slot, uint64_t spent);

/* The job works in another place from now on. False: that place has no room. */
bool rr_crew_queue_move(struct rr_crew_queue *queue, struct rr_crew_slot *slot, uint64_t place);

/* Takes back a job that waits. */
void rr_crew_queue_withdraw(struct rr_crew_queue *queue, struct rr_crew_job *job);

#endif
