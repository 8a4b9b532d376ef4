/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_CREW_QUEUE_H
#define RR_BASE_CREW_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/crew_share.h"
#include "base/list.h"

/*
 * The queue decides which job of a crew begins next. The queue itself uses neither threads nor locks.
 *
 * A job has a place: a number that stands for the file system in which the job works. The jobs of one place
 * may keep at most half of the threads busy that no other place uses, and one thread in any case. So jobs
 * that hang in one place leave threads to the other places. Places take turns.
 *
 * A job has up to two keys: numbers that stand for the objects that it works on. Jobs with a key in common
 * have an order in two cases: a change begins when all changes that came before it have ended, and a commit
 * begins when all writes that came before it have ended.
 *
 * A job has an owner: a number that stands for a client's connection, mostly; and a host: a number that
 * stands for the address of that client. Of the jobs of one place that may begin, that of the host goes first
 * whose jobs took the least time, and of a host that of the owner whose jobs took the least time
 * (crew_share.h). So a host with many connections, and an owner with many or long jobs, delays its own jobs
 * only.
 */

enum { RR_CREW_KEYS = 2, RR_CREW_PLACES = 32, RR_CREW_BUCKETS = 64 };

/* The place of jobs that may keep all threads busy. */
enum { RR_CREW_ANYWHERE = 0 };

/* The bulk jobs of a place use the processor for long and do not wait. They count apart from the other jobs
 * of that place. At most RR_CREW_BULK_MAX of them run at a time, and no more than there are processors, but
 * two in any case: more of them would not end sooner, and would keep the processors from other jobs. */
enum { RR_CREW_BULK_MAX = 8 };

enum rr_crew_order { RR_CREW_CHANGE, RR_CREW_WRITE, RR_CREW_COMMIT };

struct rr_crew_job;

/* A node stands for one key of one job that waits or is at work. It is in a list with all other nodes of that
 * key (and of keys with the same hash), in the order in which the jobs came. */
struct rr_crew_node {
	struct rr_list link;
	uint64_t key; /* 0: the node is in no list */
	enum rr_crew_order order;
	struct rr_crew_job *job; /* NULL: the job is at work */
};

struct rr_crew_job {
	uint64_t place;
	bool bulk;                   /* see RR_CREW_BULK_MAX */
	uint64_t host, owner;        /* owner 0: the job is for nobody */
	uint64_t keys[RR_CREW_KEYS]; /* 0: no key */
	enum rr_crew_order order;    /* for all keys */
	/* Does the job, in a thread of the crew; member is the pointer that the crew's enlist() made for that
	 * thread. Returns false where run() has handed the job on to another owner: done() is not called
	 * then. */
	bool (*run)(struct rr_crew_job *job, void *member);
	void (*done)(struct rr_crew_job *job); /* called in the loop's thread */
	bool cancelled;                        /* set by the crew: run() was not called */

	/* The members from here on are private to the queue and the crew. */
	bool waits;           /* the job is in the queue: no thread has begun it */
	uint32_t before;      /* jobs that have to end before this job begins, counted once for each key */
	struct rr_list link;  /* the crew's: in its list of ended jobs */
	struct rr_list ready; /* in `ready` of its account, while the job waits for a thread only */
	uint32_t at;          /* index in rr_crew_queue.places */
	struct rr_crew_owner *account; /* there, of its owner */
	struct rr_crew_node nodes[RR_CREW_KEYS];
};

/* A slot belongs to a thread and keeps what the queue needs of the job that this thread does, as the job's
 * own memory may be freed by run() before the thread looks at the queue again. */
struct rr_crew_slot {
	const struct rr_crew_job *job; /* only compared, never followed; NULL: no job is at work */
	uint32_t place;                /* index in rr_crew_queue.places */
	uint32_t shared;               /* the same of the place in which the job began */
	struct rr_crew_owner *account; /* there, of its owner */
	uint64_t charged;              /* with which it was charged so far */
	struct rr_crew_node nodes[RR_CREW_KEYS];
};

struct rr_crew_place {
	/* As in struct rr_crew_job; they count only while there are jobs here. */
	uint64_t place;
	bool bulk;
	uint32_t busy;              /* jobs at work */
	struct rr_crew_share share; /* with the jobs that wait for a thread only */
};

struct rr_crew_queue {
	uint32_t max, busy;               /* jobs at work: at most, and now */
	uint32_t bulk_max;                /* the same of the bulk jobs of a place */
	uint32_t count;                   /* jobs that wait, for earlier jobs or for a thread */
	uint32_t ready;                   /* of these, jobs that wait for a thread only */
	uint32_t turn;                    /* index of the place from which the next search for a job begins */
	struct rr_crew_accounts accounts; /* of owners */
	/* If there are more places than entries, several share an entry. */
	struct rr_crew_place places[RR_CREW_PLACES];
	struct rr_list buckets[RR_CREW_BUCKETS]; /* of nodes, by key */
};

/* Prepares a queue for a crew of at most max threads on so many processors. Returns 0 or -RPCRDMA_ERR_NOMEM;
 * rr_crew_queue_free() must be called even then. */
int rr_crew_queue_init(
	struct rr_crew_queue *queue, const struct rr_env *env, uint32_t max, uint32_t processors);
/* Frees what the queue has allocated. There must be no jobs any more. */
void rr_crew_queue_free(struct rr_crew_queue *queue);

/* Adds a job, which comes after all jobs that are in the queue or at work. */
void rr_crew_queue_add(struct rr_crew_queue *queue, struct rr_crew_job *job);

/* Returns the job that is to begin next, or NULL if no job may begin now. The job stays in the queue. */
struct rr_crew_job *rr_crew_queue_next(const struct rr_crew_queue *queue);

/* Moves job, which rr_crew_queue_next() returned, from the queue into the slot. From then on the job counts
 * as at work. */
void rr_crew_queue_begin(struct rr_crew_queue *queue, struct rr_crew_job *job, struct rr_crew_slot *slot);
/* Empties the slot of a job that has ended, so that jobs that waited for it may begin. spent is the time for
 * which the job was at work, in nanoseconds. */
void rr_crew_queue_end(struct rr_crew_queue *queue, struct rr_crew_slot *slot, uint64_t spent);

/* Notes that the job in the slot works in another place (file system) from now on; a bulk job stays one.
 * Returns false where that place has no room: the job then still counts for its old place. */
bool rr_crew_queue_move(struct rr_crew_queue *queue, struct rr_crew_slot *slot, uint64_t place);

/* Removes a job that was not begun from the queue. */
void rr_crew_queue_withdraw(struct rr_crew_queue *queue, struct rr_crew_job *job);

#endif
