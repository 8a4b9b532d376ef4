/* SPDX-License-Identifier: BSD-3-Clause */
/* This file estimates how long storing takes, and decides by that how a storer stores (pace.h). */
#include "vfs/posix/store/pace.h"

#include "base/env.h"

/* The first estimates, before anything was measured. On ext4 on an idle disk, 32 new files of 2000 octets
 * each took 35 ms by fsync(2) and 6 ms by syncfs(2). */
#define FILE_FIRST  (RR_MILLISECOND / 2)
#define WHOLE_FIRST (6 * RR_MILLISECOND)

#define PATIENCE_MAX (5 * RR_MILLISECOND)

/* While one of the two ways of storing is taken, one part in FORGETS of its time is subtracted from the
 * estimate of the other way, until that one looks cheaper and is tried again. */
enum { FORGETS = 16 };

void
rr_store_pace_init(struct rr_store_pace *pace)
{
	*pace = (struct rr_store_pace){ .file = FILE_FIRST, .whole = WHOLE_FIRST };
}

bool
rr_store_pace_is_whole(const struct rr_store_pace *pace, uint32_t count)
{
	return count > 1 && pace->file * count >= pace->whole;
}

/* Lowers the estimated cost of the way of storing that was not taken, by a part of the time that the other
 * way took, but not below 0. */
static void
pace_forget(uint64_t *cost, uint64_t took)
{
	*cost -= took / FORGETS < *cost ? took / FORGETS : *cost;
}

/* There are two ways to store a batch: its files one by one, or the whole file system. The estimate of the
 * way that was taken moves half-way to the time that it took (for files, to the time of each). The estimate
 * of the way that was not taken is lowered a little, so that it looks cheaper at some time and is tried
 * again, because changes by other programs may have altered its cost. Such trials cost about a sixteenth of
 * all the time. */
void
rr_store_pace_learn(struct rr_store_pace *pace, bool whole, uint32_t count, uint64_t took)
{
	if (whole) {
		pace->whole = (pace->whole + took) / 2;
		pace_forget(&pace->file, took / count);
	} else {
		pace->file = (pace->file + took / count) / 2;
		pace_forget(&pace->whole, took);
	}
}

/* Notes that a batch of "jobs" jobs ended, and estimates how many jobs the next batch will have: the callers
 * of this batch are likely to send their next jobs soon, and the jobs that came meanwhile wait already. */
void
rr_store_pace_end(struct rr_store_pace *pace, uint32_t jobs, uint32_t meanwhile, uint64_t took)
{
	pace->expected = jobs + meanwhile;
	pace->took = took;
}

bool
rr_store_pace_is_enough(const struct rr_store_pace *pace, uint32_t jobs)
{
	return jobs >= pace->expected;
}

/* The patience is half of the time that the last batch took, within a bound. Waiting is worth while, because
 * a job that comes too late for a batch waits until the whole batch is stored. */
uint64_t
rr_store_pace_patience(const struct rr_store_pace *pace)
{
	return pace->took / 2 < PATIENCE_MAX ? pace->took / 2 : PATIENCE_MAX;
}
