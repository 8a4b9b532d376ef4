/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_CHANGE_H
#define RR_VFS_POSIX_CHANGE_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * The change number of an object (rr_vfs_attributes.change) is its time of change, ctime, in ns. But before
 * Linux 6.13 the clock for this time ticks every few milliseconds, so that a second change within one tick
 * would not show. So the changes that this process makes within a tick are counted, in a table of fixed size,
 * and the count is added to the time. The count is always less than the length of a tick in ns, so that
 * numbers only grow.
 *
 * A hash of an object chooses its slot in the table. Several objects may have one slot: it belongs to the
 * object that changed last, and the others lose their counts. Their change numbers are then the time alone
 * again, which a client takes for one more change: it never misses a change. Changes by other processes are
 * not counted; they show by the clock alone.
 */

enum { RR_CHANGE_SLOTS = 8192, RR_CHANGE_BITS = 20 }; /* slots: a power of two; bits of a count */

struct rr_changes {
	/* The low RR_CHANGE_BITS bits are the count, the others a hash of the object and its time of change.
	 */
	_Atomic uint64_t slots[RR_CHANGE_SLOTS];
};

/* Returns the change number of the object that st describes: its time of change in ns, plus the number of
 * changes counted at that time where the object's slot still belongs to the object and that time. */
uint64_t rr_change_number(const struct rr_changes *changes, const struct statx *st);

/* Counts a change that this process made of an object. "before" is the object's time of change (ctime) before
 * it, and st describes the object after it. */
void rr_change_happened(
	struct rr_changes *changes, const struct statx_timestamp *before, const struct statx *st);

#endif
