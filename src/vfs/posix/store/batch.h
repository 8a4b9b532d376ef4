/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_STORE_BATCH_H
#define RR_VFS_POSIX_STORE_BATCH_H

#include "vfs/posix/store/pace.h"
#include "vfs/posix/store/storer.h"

/* The storer's thread stores a batch of jobs by this function. */

enum { RR_STORE_BATCH = 128 }; /* jobs at most */

/* Stores the objects of all jobs in the list: each object once, or its whole file system where that takes
 * less time. Sets the jobs' errors, and empties their lists of objects. The time that this took is noted in
 * pace. */
void rr_store_batch(struct rr_list *jobs, struct rr_store_pace *pace, const struct rr_env *env);

#endif
