/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks of byte ranges and of whole files, at the server. */
#include "fuse/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <string.h>
#include <unistd.h>

#include "base/checked.h"
#include "fuse/fuse_private.h"
#include "fuse/ops.h"

/* A request that waits for a lock asks again after these times. */
#define LOCK_PAUSE      (50 * RR_MILLISECOND)
#define LOCK_PAUSE_MOST (1 * RR_SECOND)

static void lock_try(struct rr_fuse_request *request, enum rr_vfs_status status);

static struct rr_fuse_owner *
lock_owner_find(const struct rr_fuse_node *node, uint64_t number, bool flock)
{
	rr_list_for_each (link, &node->owners) {
		struct rr_fuse_owner *owner = rr_container(link, struct rr_fuse_owner, of_node);

		if (owner->number == number && owner->flock == flock)
			return owner;
	}
	return NULL;
}

static void
lock_owner_end(struct rr_fuse_node *node, struct rr_fuse_owner *owner)
{
	rr_list_remove(&owner->of_node);
	rr_vfs_close(node->fuse->config.vfs, owner->open, NULL);
	rr_free(node->fuse->env, owner);
}

void
rr_fuse_unlock_owner(struct rr_fuse_node *node, uint64_t number, bool flock)
{
	struct rr_fuse_owner *owner = lock_owner_find(node, number, flock);

	if (owner)
		lock_owner_end(node, owner);
}

void
rr_fuse_unlock_all(struct rr_fuse_node *node)
{
	rr_list_for_each (link, &node->owners)
		lock_owner_end(node, rr_container(link, struct rr_fuse_owner, of_node));
}

static const struct fuse_lk_in *
lock_args(const struct rr_fuse_request *request)
{
	return RR_FUSE_ARGS_AS(request, fuse_lk_in);
}

static struct rr_fuse_owner *
lock_owner(const struct rr_fuse_request *request)
{
	const struct fuse_lk_in *in = lock_args(request);

	return lock_owner_find(request->node, in->owner, in->lk_flags & FUSE_LK_FLOCK);
}

static enum rr_vfs_lock_kind
lock_kind(const struct rr_fuse_request *request)
{
	switch (lock_args(request)->lk.type) {
	case F_RDLCK: return RR_VFS_LOCK_READ;
	case F_WRLCK: return RR_VFS_LOCK_WRITE;
	default: return RR_VFS_UNLOCK;
	}
}

/* Fills in the operation; open: whose locks are not in the way. */
static struct rr_vfs_lock *
lock_prepare(struct rr_fuse_request *request, struct rr_vfs_open *open)
{
	const struct fuse_file_lock *range = &lock_args(request)->lk;
	struct rr_vfs_lock *lock = &RR_FUSE_ZERO(request)->lock;

	lock->open = open;
	lock->kind = lock_kind(request);
	lock->offset = range->start;
	lock->length = range->end >= INT64_MAX ? UINT64_MAX : range->end - range->start + 1;
	return lock;
}

static void
lock_getlk_done(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	const struct rr_vfs_lock *lock = &request->vfs.lock;
	struct fuse_lk_out out = { .lk = { .type = F_UNLCK } };

	if (status == RR_VFS_LOCK) {
		out.lk.type = lock->conflict.kind == RR_VFS_LOCK_READ ? F_RDLCK : F_WRLCK;
		out.lk.start = lock->conflict.offset;
		out.lk.end = lock->conflict.length > INT64_MAX - lock->conflict.offset
				     ? INT64_MAX
				     : lock->conflict.offset + lock->conflict.length - 1;
		status = RR_VFS_OK;
	}
	if (status == RR_VFS_OK)
		rr_fuse_answer(request, 0, &out, sizeof(out));
	else
		rr_fuse_answer_status(request, status);
}

/* Finds the file of the request; false, and answered: there is none, or the range is none. */
static bool
lock_begin(struct rr_fuse_request *request)
{
	const struct fuse_lk_in *in = lock_args(request);
	struct rr_fuse_file *file = rr_fuse_file_find(request->fuse, in->fh, request->node);

	if (!file || !file->open || in->lk.start > in->lk.end) {
		rr_fuse_answer(request, file ? EINVAL : EBADF, NULL, 0);
		return false;
	}
	request->file = rr_fuse_file_hold(file);
	return true;
}

void
rr_fuse_op_getlk(struct rr_fuse_request *request)
{
	const struct rr_fuse_owner *owner;

	if (!lock_begin(request))
		return;
	owner = lock_owner(request);
	lock_prepare(request, owner ? owner->open : request->file->open)->test = true;
	rr_fuse_begin(request, RR_VFS_OP_LOCK, lock_getlk_done);
}

/* ---- After a lock was got, the kernel's pages of the file go: they may be of the time before. ---- */

/* In the thread for notifications. */
static bool
lock_drop_pages(struct rr_crew_job *job, void *member)
{
	const struct rr_fuse_request *request = rr_container(job, struct rr_fuse_request, job);

	(void)member;
	rr_fuse_drop_pages(request->fuse, request->node);
	return true;
}

static void
lock_dropped(struct rr_crew_job *job)
{
	struct rr_fuse_request *request = rr_container(job, struct rr_fuse_request, job);

	rr_fuse_answer(request, 0, NULL, 0);
}

/* Runs when the server has answered. */
static void
lock_done(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	if (status == RR_VFS_LOCK && request->opcode == FUSE_SETLKW) {
		request->wait = rr_min(request->wait ? 2 * request->wait : LOCK_PAUSE, LOCK_PAUSE_MOST);
		rr_fuse_pause(request, request->wait, lock_try);
	} else if (status != RR_VFS_OK || lock_kind(request) == RR_VFS_UNLOCK) {
		rr_fuse_answer_status(request, status);
	} else {
		request->job.run = lock_drop_pages;
		request->job.done = lock_dropped;
		rr_crew_add(request->fuse->notifier, &request->job);
	}
}

/* Runs when the owner has an open. */
static void
lock_opened(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	const struct fuse_lk_in *in = lock_args(request);
	struct rr_vfs_open *open = request->vfs.opening.open;
	struct rr_fuse_owner *owner;

	if (status != RR_VFS_OK) {
		rr_fuse_answer_status(request, status);
		return;
	}
	owner = lock_owner(request) ? NULL : rr_alloc(request->fuse->env, sizeof(*owner));
	/* Another request of the owner may have been faster. */
	if (!owner) {
		rr_vfs_close(request->fuse->config.vfs, open, NULL);
		if (lock_owner(request))
			lock_try(request, RR_VFS_OK);
		else
			rr_fuse_answer(request, ENOLCK, NULL, 0);
		return;
	}
	owner->number = in->owner;
	owner->flock = in->lk_flags & FUSE_LK_FLOCK;
	owner->access = (uint32_t)request->kept;
	owner->open = open;
	rr_list_append(&request->node->owners, &owner->of_node);
	lock_try(request, RR_VFS_OK);
}

/* Returns the widest of the node's files: an owner's locks are in one open, and it may want to write later.
 */
static struct rr_fuse_file *
lock_widest(const struct rr_fuse_request *request)
{
	struct rr_fuse_file *both = rr_fuse_file_with(request->node, RR_VFS_SHARE_READ | RR_VFS_SHARE_WRITE);

	return both ? both : request->file;
}

/* Asks the server for the lock. */
static void
lock_try(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	const struct rr_fuse_owner *owner = lock_owner(request);
	struct rr_vfs_opening *opening;
	struct rr_fuse_file *widest;

	if (status != RR_VFS_OK) {
		rr_fuse_answer_status(request, status);
	} else if (owner) {
		lock_prepare(request, owner->open);
		rr_fuse_begin(request, RR_VFS_OP_LOCK, lock_done);
	} else if (lock_kind(request) == RR_VFS_UNLOCK) {
		rr_fuse_answer(request, 0, NULL, 0);
	} else {
		widest = lock_widest(request);
		request->kept = widest->access;
		opening = &RR_FUSE_ZERO(request)->opening;
		opening->object = rr_fuse_node_object(request->node);
		opening->object.open = widest->open;
		opening->access = widest->access;
		opening->relation = RR_VFS_BESIDE;
		rr_fuse_begin(request, RR_VFS_OP_OPEN, lock_opened);
	}
}

/* FUSE_SETLK and FUSE_SETLKW. A lock is a point where other machines see what was written here: that is at
 * the server before. */
void
rr_fuse_op_setlk(struct rr_fuse_request *request)
{
	if (lock_begin(request))
		rr_fuse_behind_drain(request, request->node, true, lock_try);
}
