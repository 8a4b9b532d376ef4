/* SPDX-License-Identifier: BSD-3-Clause */
#include "vfs/posix/store_pace.h"

#include "base/env.h"

/* These values hold before anything was measured: 32 new files of 2000 octets each took 35 ms by fsync(2) and
 * 6 ms by syncfs(2) (ext4 on an idle disk). */
#define FILE_FIRST  (RR_MILLISECOND / 2)
#define WHOLE_FIRST (6 * RR_MILLISECOND)

#define PATIENCE_MAX (5 * RR_MILLISECOND)

/* The way of storing that is not taken is tried again after the other way has cost this many times as
 * much. */
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

/* Lowers the cost of the way that was not taken, in proportion to the time that the other way took. */
static void
pace_forget(uint64_t *cost, uint64_t took)
{
	*cost -= took / FORGETS < *cost ? took / FORGETS : *cost;
}

/* Learns from the time that storing took. The time that a file system takes depends on all changes in it,
 * those of other programs as well, and may differ the next time. So the way that is not taken becomes cheaper
 * in proportion to the time that the other way takes, until it is tried again: trying it costs at most a
 * sixteenth of all the time. */
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

/* Computes how many jobs the next batch is likely to have: the callers whose jobs were stored are likely to
 * send the next ones soon, one after the other, and the jobs that came meanwhile wait already. */
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

/* Returns how long a batch waits for further jobs, at most. A job that comes too late waits for a whole
 * batch, so waiting up to half of a batch's time for it is worth while. */
uint64_t
rr_store_pace_patience(const struct rr_store_pace *pace)
{
	return pace->took / 2 < PATIENCE_MAX ? pace->took / 2 : PATIENCE_MAX;
}
