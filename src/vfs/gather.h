/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_GATHER_H
#define RR_VFS_GATHER_H

#include "vfs/vfs.h"

/* Entries of a listing that are gathered in memory. take() may be called in the loop's thread only, and only
 * when the whole listing is there: what one thread has begun may have to be left to another one, from its
 * beginning. So a provider that lists in other threads gathers the entries, and the loop's thread passes them
 * to take() afterwards. Only as many entries should be gathered as the reply has room for: an entry that
 * take() refuses was looked up for nothing, and the next call looks it up again. */
struct rr_gather;

/* Makes memory for the entries of a listing, which the caller frees by rr_gather_free(). whole: as many
 * pieces of it are taken, one after the other, as the largest reply has entries; else one alone. Returns NULL
 * if there is no memory. */
struct rr_gather *rr_gather_new(const struct rr_env *env, bool whole);
/* gather may be NULL. */
void rr_gather_free(struct rr_gather *gather);
/* Forgets the entries that were gathered. */
void rr_gather_clear(struct rr_gather *gather);

/* Copies an entry. Returns false where there is no room for it. */
bool rr_gather_add(struct rr_gather *gather, const struct rr_vfs_entry *entry);

/* Tells whether an entry had no room. */
bool rr_gather_is_full(const struct rr_gather *gather);

/* Passes the entries that were gathered to the caller's take(), in the loop's thread, and sets readdir->count
 * to the number of entries that take() accepted. */
void rr_gather_deliver(struct rr_gather *gather, struct rr_vfs_readdir *readdir);

#endif
