/* SPDX-License-Identifier: BSD-3-Clause */
/* This file looks after the tree, by a timer: it continues a search for an object that a call began and did
 * not wait for (tree/search.h), and closes descriptors that are not used any more. The work is a job of the
 * crew, or is done in the loop's thread where there is no crew. Descriptors in file systems that may not
 * answer are closed by jobs of their own (close.c). */
#include "vfs/posix/posix_private.h"

/* SLICES_APART: the time from one slice of a search to the next, in which other calls are served.
 * WRITING_EVERY and TIDY_EVERY: the time from one closing of idle descriptors to the next, while some of them
 * are for writing, and while none is. */
#define SLICES_APART  (5 * RR_MILLISECOND)
#define WRITING_EVERY (250 * RR_MILLISECOND)
#define TIDY_EVERY    RR_SECOND

void
rr_posix_attend_later(struct rr_posix *posix)
{
	bool work = rr_tree_has_work(posix->tree) || rr_tree_has_far(posix->tree);
	uint64_t delay = work ? SLICES_APART : rr_tree_writes(posix->tree) ? WRITING_EVERY : TIDY_EVERY;

	/* A timer is only armed anew for what is due sooner than what the timer is armed for: a stream of
	 * calls would put that off for ever. */
	if (!posix->vfs.loop || posix->attending || (rr_timer_armed(&posix->timer) && posix->delay <= delay))
		return;
	posix->delay = delay;
	rr_loop_arm(posix->vfs.loop, &posix->timer, delay);
}

/* Is called when the job "attend" has ended. Arms the timer for the next time where a search is under way, or
 * the tree has descriptors open that may have to be closed later. Each operation arms the timer, too. */
static void
attend_done(struct rr_crew_job *job)
{
	struct rr_posix *posix = rr_container(job, struct rr_posix, attend);

	posix->attending = false;
	rr_posix_close_far(posix);
	if (rr_tree_has_work(posix->tree) || rr_tree_is_warm(posix->tree))
		rr_posix_attend_later(posix);
}

/* Does the job "attend" by means of "member", the tree of this thread: one slice of a search, and the closing
 * of descriptors that were not used lately. Returns true, because the job has then ended (rr_crew_job.run).
 */
static bool
attend_run(struct rr_crew_job *job, void *member)
{
	struct rr_posix *posix = rr_container(job, struct rr_posix, attend);

	/* An earlier operation of this thread may have set a callback for its own job (job.c). */
	rr_tree_on_crossing(member, NULL, NULL);
	rr_tree_work(member);
	rr_tree_tidy(member);
	rr_tree_take_far(member, &posix->far);
	return true;
}

/* Begins the job "attend" when the timer expires: in a thread of the crew where there is a crew, else in the
 * loop's thread. */
static void
attend_expired(struct rr_timer *timer)
{
	struct rr_posix *posix = rr_container(timer, struct rr_posix, timer);

	posix->attending = true;
	if (posix->crew) {
		rr_crew_add(posix->crew, &posix->attend);
		return;
	}
	attend_run(&posix->attend, posix->tree);
	attend_done(&posix->attend);
}

void
rr_posix_attend_init(struct rr_posix *posix)
{
	rr_timer_init(&posix->timer, attend_expired);
	rr_list_init(&posix->far);
	/* No file system has this place: the job counts for none. */
	posix->attend = (struct rr_crew_job){ .place = UINT64_MAX, .run = attend_run, .done = attend_done };
}
