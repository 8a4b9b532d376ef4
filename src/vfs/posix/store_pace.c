/* SPDX-License-Identifier: BSD-3-Clause */
#include "vfs/posix/store_pace.h"

#include "base/env.h"

/* Before anything was measured: of 2000 octets each, 32 new files took 35 ms by fsync(2) and 6 ms by
 * syncfs(2) (ext4 on an idle disk). */
#define FILE_FIRST  (RR_MILLISECOND / 2)
#define WHOLE_FIRST (6 * RR_MILLISECOND)

#define PATIENCE_MAX (5 * RR_MILLISECOND)

/* The way that was not taken is tried again after it would have cost as much, so many times over. */
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

static void
pace_forget(uint64_t *cost, uint64_t took)
{
	*cost -= took / FORGETS < *cost ? took / FORGETS : *cost;
}

/*
 * The time that a file system takes depends on all that was changed in it, by other programs as well: the
 * next time it may be more or less. So the way that is not taken becomes cheaper in proportion to the time
 * that the other way takes, until it is tried again: trying it costs a sixteenth of all the time at most.
 */
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

/*
 * Those whose jobs were stored are likely to come with the next ones, one after the other, and those whose
 * jobs came meanwhile wait already: together they are the next batch.
 */
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

/* A job that comes too late waits for a whole batch: half of that is worth waiting for it. */
uint64_t
rr_store_pace_patience(const struct rr_store_pace *pace)
{
	return pace->took / 2 < PATIENCE_MAX ? pace->took / 2 : PATIENCE_MAX;
}
