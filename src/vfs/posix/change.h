/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_CHANGE_H
#define RR_VFS_POSIX_CHANGE_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * Change numbers. That of an object is its time of change, in ns; but before Linux 6.13 this clock ticks
 * every few milliseconds, and the second change within one tick would not show. So the changes that this
 * process makes within a tick are counted, in a table of fixed size, and the count is added: it is far below
 * the length of a tick, so that numbers only grow.
 *
 * An object has its slot by a hash. The object that changed last has the slot, others lose their counts:
 * their numbers are those of the clock again, which is a change too many and never one too few for clients
 * that saw the last one. Changes by other processes show by the clock alone.
 */

enum { RR_CHANGE_SLOTS = 8192, RR_CHANGE_BITS = 20 }; /* a power of two; of a count */

struct rr_changes {
	/* The count; above it, a hash of the object and its time of change. */
	_Atomic uint64_t slots[RR_CHANGE_SLOTS];
};

uint64_t rr_change_number(const struct rr_changes *changes, const struct statx *st);

/* The object, which had this time of change before, was changed by this process, and is now as st says. */
void rr_change_happened(
	struct rr_changes *changes, const struct statx_timestamp *before, const struct statx *st);

#endif
