/* SPDX-License-Identifier: BSD-3-Clause */
#include "vfs/posix/posix_private.h"

/* A timer continues the work that calls began without waiting for it, and closes descriptors that are not
 * used. */

/* SLICES_APART: the time that other calls have the thread between two slices of a search. TIDY_EVERY: the
 * time after which idle descriptors are looked after. */
#define SLICES_APART (5 * RR_MILLISECOND)
#define TIDY_EVERY   (5 * RR_SECOND)

void
rr_posix_attend_later(struct rr_posix *posix)
{
	bool work = rr_tree_has_work(posix->tree);

	/* A slice that is due stays due, so that a stream of calls does not put it off. */
	if (!posix->vfs.loop || posix->slice_due || posix->attending ||
		(!work && rr_timer_armed(&posix->timer)))
		return;
	posix->slice_due = work;
	rr_loop_arm(posix->vfs.loop, &posix->timer, work ? SLICES_APART : TIDY_EVERY);
}

/* Ends a round of work on the tree of known objects (a slice of a search, and the closing of idle
 * descriptors). Arms the timer for the next round where a search is under way or the tree has descriptors
 * open that may have to be closed later. Each operation arms the timer, too. */
static void
attend_done(struct rr_crew_job *job)
{
	struct rr_posix *posix = rr_container(job, struct rr_posix, attend);

	posix->attending = false;
	if (rr_tree_has_work(posix->tree) || rr_tree_is_warm(posix->tree))
		rr_posix_attend_later(posix);
}

/* Works on the tree of known objects through "member", the tree of this thread: does one slice of a search,
 * and closes descriptors that were not used lately. Returns true, because the job has then ended. */
static bool
attend_run(struct rr_crew_job *job, void *member)
{
	(void)job;
	rr_tree_on_crossing(member, NULL, NULL);
	rr_tree_work(member);
	rr_tree_tidy(member);
	return true;
}

/* Does a round of work on the tree (attend_run()) when the timer expires: in a thread of the crew where there
 * is a crew, else in the loop's thread. */
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
	posix->attend = (struct rr_crew_job){ .place = UINT64_MAX, .run = attend_run, .done = attend_done };
}
