/* SPDX-License-Identifier: BSD-3-Clause */
/* This file counts the changes that this process makes of an object within one tick of the clock (change.h).
 */
#include "vfs/posix/change.h"

#include "base/env.h"

static const uint64_t count_mask = (UINT64_C(1) << RR_CHANGE_BITS) - 1;

/* Returns a time in ns since 1970. */
static uint64_t
change_time(const struct statx_timestamp *time)
{
	return (uint64_t)time->tv_sec * RR_SECOND + time->tv_nsec;
}

/* Mixes the bits of value, so that all of them take part in the choice of a slot and in its stamp. */
static uint64_t
change_hash(uint64_t value)
{
	value *= UINT64_C(0x9e3779b97f4a7c15);
	value ^= value >> 32;
	value *= UINT64_C(0xd6e8feb86659fd93);
	return value ^ value >> 32;
}

/* Returns a hash of the object that st describes, from its inode number and its file system. */
static uint64_t
change_object(const struct statx *st)
{
	return change_hash(
		st->stx_ino ^ (uint64_t)st->stx_dev_major << 52 ^ (uint64_t)st->stx_dev_minor << 32);
}

/* Returns the index of the slot for the object with this hash. */
static uint32_t
change_slot(uint64_t object)
{
	return (uint32_t)(object & (RR_CHANGE_SLOTS - 1));
}

/* Returns the content of a slot for an object with this time of change, with the count 0: a hash of both in
 * the upper bits. */
static uint64_t
change_stamp(uint64_t object, uint64_t time)
{
	return change_hash(object ^ time) & ~count_mask;
}

uint64_t
rr_change_number(const struct rr_changes *changes, const struct statx *st)
{
	uint64_t object = change_object(st), time = change_time(&st->stx_ctime);
	/* If the slot has the same upper bits, the XOR leaves the count alone. Any greater number means
	 * that the slot belongs to another object or another time. */
	uint64_t count = atomic_load(&changes->slots[change_slot(object)]) ^ change_stamp(object, time);

	return count <= count_mask ? time + count : time;
}

/* If the slot has a count for this object and this time of change, the count grows by 1, up to its
 * greatest value. Otherwise the count begins anew: at 0 if the time itself shows the change, or at 1 if the
 * object had the same time before the change. The count 0 is stored, too, for the case that another thread
 * has looked at the object before this change, and ends a further change within the same tick: that change
 * must count as one more. */
void
rr_change_happened(struct rr_changes *changes, const struct statx_timestamp *before, const struct statx *st)
{
	uint64_t object = change_object(st), time = change_time(&st->stx_ctime);
	uint64_t stamp = change_stamp(object, time), first = stamp | (change_time(before) == time);
	_Atomic uint64_t *slot = &changes->slots[change_slot(object)];
	uint64_t old = atomic_load(slot), new;

	do {
		uint64_t count = old ^ stamp; /* greater than count_mask: the slot is another's */

		if (count == count_mask)
			return;
		new = count < count_mask ? old + 1 : first;
	} while (!atomic_compare_exchange_weak(slot, &old, new));
}
