/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Those who wait for a lock. When a range was unlocked, the waits of the file are looked at one after
 * another, some in each turn, so that no operation takes longer where many wait.
 */
#include "server/locks/table.h"

void
rr_locks_wait_begin(struct rr_locks_wait *wait, struct rr_locks_file *file)
{
	file->users++;
	file->wait_count++;
	wait->file = file;
	rr_list_append(&file->waits, &wait->of_file);
}

void
rr_locks_wait_leave(struct rr_locks_wait *wait)
{
	struct rr_locks_file *file = wait->file;

	if (!file)
		return;
	wait->file = NULL;
	rr_list_remove(&wait->of_file);
	file->wait_count--;
	rr_locks_leave(file);
}

bool
rr_locks_wait_is_locked(struct rr_locks_wait *wait)
{
	const struct rr_range_wanted wanted = { wait->span, wait->write, wait->kind->own(wait) };

	return rr_range_conflict(&wait->file->locked, &wanted);
}

void
rr_locks_look(struct rr_locks_file *file)
{
	file->looks = file->wait_count;
	if (file->looks > 0 && rr_list_empty(&file->to_look))
		rr_list_append(&file->locks->to_look, &file->to_look);
}

/* Looks at the next wait of the file: if its range is free now, calls is_free(). Else the wait becomes the
 * last of the file's. The file may be freed. */
static void
wait_look(struct rr_locks_file *file)
{
	struct rr_locks_wait *wait = rr_container(file->waits.next, struct rr_locks_wait, of_file);

	file->looks--;
	rr_list_remove(&wait->of_file);
	rr_list_append(&file->waits, &wait->of_file);
	if (rr_locks_wait_is_locked(wait))
		return;
	rr_locks_wait_leave(wait);
	wait->kind->is_free(wait);
}

uint32_t
rr_locks_go(struct rr_locks *locks, uint32_t looks)
{
	while (looks > 0 && !rr_list_empty(&locks->to_look)) {
		struct rr_locks_file *file = rr_container(locks->to_look.next, struct rr_locks_file, to_look);

		/* Waits may have left since. */
		if (file->looks == 0 || file->wait_count == 0) {
			rr_list_remove(&file->to_look);
			continue;
		}
		wait_look(file);
		looks--;
	}
	return looks;
}
