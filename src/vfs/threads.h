/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_THREADS_H
#define RR_VFS_THREADS_H

#include "base/loop.h"
#include "base/text.h"

/*
 * Threads that do what may wait, for the loop of one thread. A task is run by one of them; then its done()
 * comes from the loop. Tasks begin in the order in which they were given; they end in any order.
 */
struct rr_vfs_threads;

struct rr_vfs_task {
	void (*run)(struct rr_vfs_task *task);  /* in a thread: touches nothing that the loop touches */
	void (*done)(struct rr_vfs_task *task); /* from the loop; the task is the caller's again */
	struct rr_list link;                    /* private */
};

/* Signals are left to the threads that there are. Errors: NOMEM, SYSTEM with text. */
int rr_vfs_threads_new(
	struct rr_loop *loop, uint32_t count, struct rr_vfs_threads **threads, struct rr_text *text);

void rr_vfs_threads_give(struct rr_vfs_threads *threads, struct rr_vfs_task *task);

/* True: the task has not begun and does not begin any more; done() does not come. */
bool rr_vfs_threads_withdraw(struct rr_vfs_threads *threads, struct rr_vfs_task *task);

/* Ends the threads. No task may be left. threads may be NULL. */
void rr_vfs_threads_free(struct rr_vfs_threads *threads);

#endif
