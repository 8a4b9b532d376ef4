/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_STORE_BATCH_H
#define RR_VFS_POSIX_STORE_BATCH_H

#include "vfs/posix/store_pace.h"
#include "vfs/posix/storer.h"

/* What the storer's thread does with a batch of jobs. */

enum { RR_STORE_BATCH = 128 }; /* jobs at most */

/* Stores what all of them name, each file once, or their file system as a whole where that is sooner; sets
 * their errors, and forgets what was to be stored. pace learns from it. */
void rr_store_batch(struct rr_list *jobs, struct rr_store_pace *pace, const struct rr_env *env);

#endif
