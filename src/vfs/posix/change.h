/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_CHANGE_H
#define RR_VFS_POSIX_CHANGE_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * The change number of an object is its time of change, in ns. But before Linux 6.13 this clock ticks every
 * few milliseconds, so that a second change within one tick would not show. So the changes that this process
 * makes within a tick are counted, in a table of fixed size, and the count is added to the time. The count is
 * far below the length of a tick, so that numbers only grow.
 *
 * A hash of an object chooses its slot in the table. Of the objects with one slot, the object that changed
 * last has it, and the others lose their counts: their numbers are those of the clock again, which a client
 * sees as one change too many, never as one too few. Changes by other processes show by the clock alone.
 */

enum { RR_CHANGE_SLOTS = 8192, RR_CHANGE_BITS = 20 }; /* slots: a power of two; bits of a count */

struct rr_changes {
	/* The low bits are the count, the others a hash of the object and its time of change. */
	_Atomic uint64_t slots[RR_CHANGE_SLOTS];
};

/* Returns the change number of the object that st describes. */
uint64_t rr_change_number(const struct rr_changes *changes, const struct statx *st);

/* Notes that this process changed the object, which had the time of change "before" and is now as st says. */
void rr_change_happened(
	struct rr_changes *changes, const struct statx_timestamp *before, const struct statx *st);

#endif
