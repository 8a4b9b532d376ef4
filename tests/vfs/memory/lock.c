/* SPDX-License-Identifier: BSD-3-Clause */
/* This file implements locks of byte ranges, as fcntl(2) has them. The ranges of one open do not overlap. */
#include "base/checked.h"
#include "run.h"

static struct rr_memory_range *
lock_range_new(struct rr_memory *memory, enum rr_vfs_lock_kind kind, uint64_t first, uint64_t last)
{
	struct rr_memory_range *range = rr_alloc(memory->env, sizeof(*range));

	if (!range)
		return NULL;
	range->kind = kind;
	range->first = first;
	range->last = last;
	return range;
}

static bool
lock_range_meets(const struct rr_memory_range *range, const struct rr_memory_range *other)
{
	return range->first <= other->last && other->first <= range->last;
}

/* Returns a locked range of the open "other" that forbids the lock "wanted", because both ranges overlap and
 * at least one of them is a lock for writing. Returns NULL if there is no such range. */
static const struct rr_memory_range *
lock_meets(const struct rr_vfs_open *other, const struct rr_memory_range *wanted)
{
	rr_list_for_each (link, &other->ranges) {
		const struct rr_memory_range *range = rr_container(link, struct rr_memory_range, link);

		if (lock_range_meets(range, wanted) &&
			(range->kind == RR_VFS_LOCK_WRITE || wanted->kind == RR_VFS_LOCK_WRITE))
			return range;
	}
	return NULL;
}

/* Returns the first locked range that forbids the lock "wanted" and belongs to another open of the same file,
 * or NULL if there is none. */
static const struct rr_memory_range *
lock_obstacle(const struct rr_vfs_open *open, const struct rr_memory_range *wanted)
{
	rr_list_for_each (link, &open->node->opens) {
		const struct rr_vfs_open *other = rr_container(link, struct rr_vfs_open, link);
		const struct rr_memory_range *range = other != open ? lock_meets(other, wanted) : NULL;

		if (range)
			return range;
	}
	return NULL;
}

/* Removes the octets of the range "wanted" from the open's locked ranges. Where they lie in the middle of one
 * range, that range keeps its first part, the structure *spare becomes its last part, and *spare is set to
 * NULL. */
static void
lock_cut(struct rr_vfs_open *open, const struct rr_memory_range *wanted, struct rr_memory_range **spare)
{
	rr_list_for_each (link, &open->ranges) {
		struct rr_memory_range *range = rr_container(link, struct rr_memory_range, link);
		bool head = range->first<wanted->first, tail = range->last> wanted->last;

		if (!lock_range_meets(range, wanted))
			continue;
		if (head && tail) {
			**spare = (struct rr_memory_range){
				.kind = range->kind, .first = wanted->last + 1, .last = range->last
			};
			rr_list_append(&range->link, &(*spare)->link);
			*spare = NULL;
			range->last = wanted->first - 1;
			return;
		}
		if (head) {
			range->last = wanted->first - 1;
		} else if (tail) {
			range->first = wanted->last + 1;
		} else {
			rr_list_remove(link);
			rr_free(open->memory->env, range);
		}
	}
}

/* Extends the range "wanted" over all locked ranges of the open that have the same kind and touch or overlap
 * it, so that one range can replace them. Does nothing for an unlock. */
static void
lock_merge(const struct rr_vfs_open *open, struct rr_memory_range *wanted)
{
	const struct rr_memory_range asked = *wanted;

	if (wanted->kind == RR_VFS_UNLOCK)
		return;
	rr_list_for_each (link, &open->ranges) {
		const struct rr_memory_range *range = rr_container(link, struct rr_memory_range, link);
		bool before = range->last < asked.first && range->last + 1 == asked.first;
		bool behind = asked.last < range->first && asked.last + 1 == range->first;

		if (range->kind != wanted->kind || !(before || behind || lock_range_meets(range, &asked)))
			continue;
		if (range->first < wanted->first)
			wanted->first = range->first;
		if (range->last > wanted->last)
			wanted->last = range->last;
	}
}

/* Sets the lock "wanted" of the open, or removes the open's locks in that range (RR_VFS_UNLOCK). All memory
 * is allocated first, with a spare range for lock_cut(), which may divide a range: where there is no memory,
 * RR_VFS_BUSY is returned and no lock changes. */
static enum rr_vfs_status
lock_set(struct rr_vfs_open *open, struct rr_memory_range *wanted)
{
	struct rr_memory *memory = open->memory;
	struct rr_memory_range *range = NULL, *spare = lock_range_new(memory, wanted->kind, 0, 0);

	lock_merge(open, wanted);
	if (wanted->kind != RR_VFS_UNLOCK)
		range = lock_range_new(memory, wanted->kind, wanted->first, wanted->last);
	if (!spare || (wanted->kind != RR_VFS_UNLOCK && !range)) {
		rr_free(memory->env, range);
		rr_free(memory->env, spare);
		return RR_VFS_BUSY;
	}
	lock_cut(open, wanted, &spare);
	if (range)
		rr_list_append(&open->ranges, &range->link);
	rr_free(memory->env, spare);
	return RR_VFS_OK;
}

/* Checks that the range of a lock call is valid, and that the open has the access that setting such a lock
 * needs. Only to test a lock, any access is enough. Stores the range in *wanted. */
static enum rr_vfs_status
lock_check(const struct rr_vfs_lock *lock, struct rr_memory_range *wanted)
{
	uint32_t needed = lock->kind == RR_VFS_LOCK_READ    ? RR_VFS_SHARE_READ
			  : lock->kind == RR_VFS_LOCK_WRITE ? RR_VFS_SHARE_WRITE
							    : 0;

	if (lock->length == 0)
		return RR_VFS_INVAL;
	*wanted = (struct rr_memory_range){ .kind = lock->kind, .first = lock->offset, .last = UINT64_MAX };
	if (lock->length != UINT64_MAX && !rr_add_u64(lock->offset, lock->length - 1, &wanted->last))
		return RR_VFS_INVAL;
	/* A test sets no lock, so any open may ask. */
	if (!lock->test && (lock->open->reservation.access & needed) != needed)
		return RR_VFS_OPEN_MODE;
	return RR_VFS_OK;
}

/* Sets, removes or tests a lock. Where a lock of another open conflicts, describes it in lock->conflict and
 * returns RR_VFS_LOCK; it is never waited for. */
enum rr_vfs_status
rr_memory_lock(struct rr_memory_run *run)
{
	struct rr_vfs_lock *lock = (struct rr_vfs_lock *)run->call;
	const struct rr_memory_range *obstacle = NULL;
	struct rr_memory_range wanted;
	enum rr_vfs_status status = lock_check(lock, &wanted);

	if (status != RR_VFS_OK)
		return status;
	if (lock->kind != RR_VFS_UNLOCK)
		obstacle = lock_obstacle(lock->open, &wanted);
	if (obstacle) {
		lock->conflict.kind = obstacle->kind;
		lock->conflict.offset = obstacle->first;
		lock->conflict.length =
			obstacle->last == UINT64_MAX ? UINT64_MAX : obstacle->last - obstacle->first + 1;
		return RR_VFS_LOCK;
	}
	return lock->test ? RR_VFS_OK : lock_set(lock->open, &wanted);
}

void
rr_memory_unlock_all(struct rr_vfs_open *open)
{
	struct rr_list *link;

	while ((link = rr_list_pop(&open->ranges)) != NULL)
		rr_free(open->memory->env, rr_container(link, struct rr_memory_range, link));
}
