/* SPDX-License-Identifier: BSD-3-Clause */
/* This file fills in the attributes of objects, and the states of objects before and after a change, that
 * calls return. */
#include "vfs/posix/posix_private.h"

enum { MODE_BITS = 07777 };

static struct rr_vfs_time
attributes_time(const struct statx_timestamp *time)
{
	return (struct rr_vfs_time){ time->tv_sec, time->tv_nsec };
}

void
rr_posix_attributes(
	const struct rr_posix *posix, const struct rr_object *object, struct rr_vfs_attributes *attributes)
{
	const struct statx *st = &object->st;

	*attributes = (struct rr_vfs_attributes){
		.type = rr_vfs_type_of(st->stx_mode),
		.mode = st->stx_mode & MODE_BITS,
		.links = st->stx_nlink,
		.uid = st->stx_uid,
		.gid = st->stx_gid,
		.device = { st->stx_rdev_major, st->stx_rdev_minor },
		.block_size = st->stx_blksize,
		.size = st->stx_size,
		.used = st->stx_blocks * 512,
		.id = { .fsid = { object->fsid }, .number = st->stx_ino },
		.mounted_on = st->stx_ino,
		.change = rr_change_number(&posix->shared->changes, st),
		.access_time = attributes_time(&st->stx_atime),
		.modify_time = attributes_time(&st->stx_mtime),
		.change_time = attributes_time(&st->stx_ctime),
	};
	if (!(st->stx_mask & STATX_BTIME))
		return;
	attributes->birth_time = attributes_time(&st->stx_btime);
	attributes->id.birth = (uint64_t)st->stx_btime.tv_sec * RR_SECOND + st->stx_btime.tv_nsec;
}

void
rr_posix_known(const struct rr_posix *posix, const struct rr_object *object, struct rr_vfs_known *known)
{
	known->valid = true;
	rr_posix_attributes(posix, object, &known->attributes);
}

void
rr_posix_know(const struct rr_posix *posix, struct rr_object *object, struct rr_vfs_known *known)
{
	known->valid = rr_object_stat(object) == RR_VFS_OK;
	if (known->valid)
		rr_posix_attributes(posix, object, &known->attributes);
}

void
rr_posix_know_changed(const struct rr_posix *posix, struct rr_object *object, struct rr_vfs_known *known)
{
	const struct statx_timestamp before = object->st.stx_ctime;

	known->valid = rr_object_stat(object) == RR_VFS_OK;
	if (!known->valid)
		return;
	rr_change_happened(&posix->shared->changes, &before, &object->st);
	rr_posix_attributes(posix, object, &known->attributes);
}

/* Fills change->before, the state of the object before the operation, from object->st, and marks it as valid
 * by change->exact. */
static void
attributes_before(const struct rr_posix *posix, const struct rr_object *object, struct rr_vfs_change *change)
{
	const struct statx *st = &object->st;

	change->exact = true;
	change->before.size = st->stx_size;
	change->before.change = rr_change_number(&posix->shared->changes, st);
	change->before.modify_time = attributes_time(&st->stx_mtime);
	change->before.change_time = attributes_time(&st->stx_ctime);
}

void
rr_posix_unchanged(const struct rr_posix *posix, const struct rr_object *object, struct rr_vfs_change *change)
{
	attributes_before(posix, object, change);
	rr_posix_known(posix, object, &change->after);
}

void
rr_posix_after(
	const struct rr_posix *posix, struct rr_object *object, bool changed, struct rr_vfs_change *change)
{
	change->exact = false;
	if (changed)
		rr_posix_know_changed(posix, object, &change->after);
	else
		rr_posix_know(posix, object, &change->after);
}

/* Gets the present attributes of the subject into change->before. Where that fails, "before" is not valid. */
static void
attributes_take_before(const struct rr_posix *posix, struct rr_posix_subject *subject)
{
	subject->change->exact = false;
	if (rr_object_stat(&subject->object) == RR_VFS_OK)
		attributes_before(posix, &subject->object, subject->change);
}

/* Tells whether both subjects are one object. Only a rename has two subjects, which are in one file system:
 * so the inode numbers tell. */
static bool
attributes_of_one(const struct rr_posix_subject *one, const struct rr_posix_subject *two)
{
	return two && two->object.st.stx_ino == one->object.st.stx_ino;
}

/* Copies the attributes and the change of subject "one" to "two", which is the same object. */
static void
attributes_copy(const struct rr_posix_subject *one, struct rr_posix_subject *two)
{
	two->object.st = one->object.st;
	*two->change = *one->change;
}

void
rr_posix_change_begin(struct rr_posix *posix, struct rr_posix_subject *one, struct rr_posix_subject *two)
{
	rr_posix_lock(posix->shared, &one->object.st, two ? &two->object.st : NULL);
	attributes_take_before(posix, one);
	if (attributes_of_one(one, two))
		attributes_copy(one, two);
	else if (two)
		attributes_take_before(posix, two);
}

/* Gets the present attributes of the subject into change->after. Keeps change->exact, which rr_posix_after()
 * would clear: "before" was taken under the same lock, so it stays valid. */
static void
attributes_take_after(const struct rr_posix *posix, struct rr_posix_subject *subject, bool changed)
{
	bool exact = subject->change->exact;

	rr_posix_after(posix, &subject->object, changed, subject->change);
	subject->change->exact = exact;
}

void
rr_posix_change_end(
	struct rr_posix *posix, struct rr_posix_subject *one, struct rr_posix_subject *two, bool changed)
{
	attributes_take_after(posix, one, changed);
	/* The change of one object is counted once. */
	if (attributes_of_one(one, two))
		attributes_copy(one, two);
	else if (two)
		attributes_take_after(posix, two, changed);
	rr_posix_unlock(posix->shared, &one->object.st, two ? &two->object.st : NULL);
}
