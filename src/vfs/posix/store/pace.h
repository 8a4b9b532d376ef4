/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_STORE_PACE_H
#define RR_VFS_POSIX_STORE_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* The pace of a storer (storer.h) makes two decisions from the times that the last batches took: how long the
 * thread waits for further jobs before it stores a batch, and whether it stores the files of a batch one by
 * one or the whole file system. The members are private. */
struct rr_store_pace {
	uint64_t file;     /* ns that storing one file or directory takes */
	uint64_t whole;    /* ns that storing the whole file system takes */
	uint64_t took;     /* ns that the last batch took */
	uint32_t expected; /* jobs that the next batch is likely to have */
};

/* Sets the first estimates, before anything was measured. */
void rr_store_pace_init(struct rr_store_pace *pace);

/* Tells whether storing the whole file system is likely to take less time than storing count files and
 * directories one by one. Always false for a single one. */
bool rr_store_pace_is_whole(const struct rr_store_pace *pace, uint32_t count);

/* Notes that a batch with count (at least one) files and directories was stored in took ns: one by one, or by
 * storing the whole file system (whole is true). */
void rr_store_pace_learn(struct rr_store_pace *pace, bool whole, uint32_t count, uint64_t took);

/* Notes the end of a batch of "jobs" jobs that took "took" ns. "meanwhile" other jobs wait now. */
void rr_store_pace_end(struct rr_store_pace *pace, uint32_t jobs, uint32_t meanwhile, uint64_t took);

/* Tells whether a batch of this number of jobs is complete. */
bool rr_store_pace_is_enough(const struct rr_store_pace *pace, uint32_t jobs);

/* Returns how long, in ns, a batch that is not complete waits for further jobs, at most. */
uint64_t rr_store_pace_patience(const struct rr_store_pace *pace);

#endif
