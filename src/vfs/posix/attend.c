/* SPDX-License-Identifier: BSD-3-Clause */
/* This file looks after the tree, by a timer: it continues a search for an object that a call began and did
 * not wait for (tree_search.h), and closes descriptors that are not used any more. The work is a job of the
 * crew, or is done in the loop's thread where there is no crew. */
#include "vfs/posix/posix_private.h"

/* SLICES_APART: the time from one slice of a search to the next, in which other calls are served. TIDY_EVERY:
 * the time from one closing of idle descriptors to the next. */
#define SLICES_APART (5 * RR_MILLISECOND)
#define TIDY_EVERY   (5 * RR_SECOND)

void
rr_posix_attend_later(struct rr_posix *posix)
{
	bool work = rr_tree_has_work(posix->tree);

	/* A timer that is armed for a slice is not armed anew: a stream of calls would put the slice off for
	 * ever. A timer that is armed for idle descriptors is armed anew for a slice, which is due sooner. */
	if (!posix->vfs.loop || posix->slice_due || posix->attending ||
		(!work && rr_timer_armed(&posix->timer)))
		return;
	posix->slice_due = work;
	rr_loop_arm(posix->vfs.loop, &posix->timer, work ? SLICES_APART : TIDY_EVERY);
}

/* Is called when the job "attend" has ended. Arms the timer for the next time where a search is under way, or
 * the tree has descriptors open that may have to be closed later. Each operation arms the timer, too. */
static void
attend_done(struct rr_crew_job *job)
{
	struct rr_posix *posix = rr_container(job, struct rr_posix, attend);

	posix->attending = false;
	if (rr_tree_has_work(posix->tree) || rr_tree_is_warm(posix->tree))
		rr_posix_attend_later(posix);
}

/* Does the job "attend" by means of "member", the tree of this thread: one slice of a search, and the closing
 * of descriptors that were not used lately. Returns true, because the job has then ended (rr_crew_job.run).
 */
static bool
attend_run(struct rr_crew_job *job, void *member)
{
	(void)job;
	/* An earlier operation of this thread may have set a callback for its own job (job.c). */
	rr_tree_on_crossing(member, NULL, NULL);
	rr_tree_work(member);
	rr_tree_tidy(member);
	return true;
}

/* Begins the job "attend" when the timer expires: in a thread of the crew where there is a crew, else in the
 * loop's thread. */
static void
attend_expired(struct rr_timer *timer)
{
	struct rr_posix *posix = rr_container(timer, struct rr_posix, timer);

	posix->slice_due = false;
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
	/* No file system has this place: the job counts for none. */
	posix->attend = (struct rr_crew_job){ .place = UINT64_MAX, .run = attend_run, .done = attend_done };
}
