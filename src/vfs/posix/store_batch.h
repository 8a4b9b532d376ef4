/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_STORE_BATCH_H
#define RR_VFS_POSIX_STORE_BATCH_H

#include "vfs/posix/store_pace.h"
#include "vfs/posix/storer.h"

/* The storer's thread stores a batch of jobs by this function. */

enum { RR_STORE_BATCH = 128 }; /* jobs at most */

/* Stores everything that the jobs have noted: each file once, or the whole file system where that is sooner.
 * Sets the jobs' errors, and empties their lists. pace learns the times that this took. */
void rr_store_batch(struct rr_list *jobs, struct rr_store_pace *pace, const struct rr_env *env);

#endif
