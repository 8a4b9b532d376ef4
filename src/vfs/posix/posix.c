/* SPDX-License-Identifier: BSD-3-Clause */
#include "vfs/posix/posix.h"

#include <rpcrdma/error.h>
#include <string.h>

#include "base/hand.h"
#include "vfs/posix/posix_private.h"

/*
 * The provider and the way to its operations: each runs with the identity of its caller, and leaves with the
 * server's own. What it changed is stored by a thread beside, together with what others changed, and the
 * operation ends then.
 */

/* An operation that waits for what it changed to be stored. */
struct rr_posix_job {
	struct rr_store_job store;
	struct rr_posix *posix;
	struct rr_vfs_call *call;
	rr_posix_operation *operation;
};

/*
 * Once the kernel has said that it could not write something back, it says so to nobody again: a later commit
 * of the same data would succeed. So all clients must send again what they have not committed. RFC 1813,
 * 3.3.7: "it will not destroy any data without changing the value of verf"
 */
static enum rr_vfs_status
posix_stored(struct rr_posix *posix, struct rr_vfs_call *call, rr_posix_operation *operation, int error)
{
	if (error) {
		atomic_fetch_add(&posix->shared->verifier, 1);
		rr_log(posix->env, RR_LOG_ERROR, "what clients wrote could not be stored: %s",
			strerror(error));
	}
	/* After the data was stored: see struct rr_vfs_write. */
	if (operation == rr_posix_commit)
		rr_container(call, struct rr_vfs_commit, call)->verifier = rr_posix_verifier(posix);
	return rr_tree_status(error);
}

static void
posix_job_done(struct rr_store_job *store)
{
	struct rr_posix_job *job = rr_container(store, struct rr_posix_job, store);
	struct rr_posix *posix = job->posix;
	struct rr_vfs_call *call = job->call;

	call->status = posix_stored(posix, call, job->operation, store->error);
	rr_free(posix->env, job);
	posix->counters.under_way--;
	call->done(call);
}

/* The operation is complete, but for what it changed. */
static enum rr_vfs_status
posix_store(struct rr_posix_work *work)
{
	struct rr_posix *posix = work->posix;
	struct rr_posix_job *job = posix->storer ? rr_alloc(posix->env, sizeof(*job)) : NULL;
	struct rr_vfs_counters *counters = &posix->counters;

	if (!job)
		return posix_stored(posix, work->call, work->operation, rr_stores_do(&work->stores));
	job->store.stores = work->stores;
	job->store.done = posix_job_done;
	job->posix = posix;
	job->call = work->call;
	job->operation = work->operation;
	counters->later++;
	counters->under_way++;
	if (counters->under_way > counters->under_way_peak)
		counters->under_way_peak = counters->under_way;
	rr_storer_add(posix->storer, &job->store);
	return RR_VFS_PENDING;
}

/* How long others have the thread between two slices of a search, and how long descriptors may be out of use
 * before somebody looks after them. */
#define SLICES_APART (5 * RR_MILLISECOND)
#define TIDY_EVERY   (5 * RR_SECOND)

static void
posix_attend_later(struct rr_posix *posix)
{
	bool work = rr_tree_has_work(posix->tree);

	/* A slice that is due stays due, however many calls come before it. */
	if (!posix->vfs.loop || posix->slice_due || (!work && rr_timer_armed(&posix->timer)))
		return;
	posix->slice_due = work;
	rr_loop_arm(posix->vfs.loop, &posix->timer, work ? SLICES_APART : TIDY_EVERY);
}

static void
posix_attend_tree(void *tree)
{
	rr_tree_work(tree);
	rr_tree_tidy(tree);
}

/* Operations arm the timer again; a provider that nobody calls has nothing to do. */
static void
posix_attend(struct rr_timer *timer)
{
	struct rr_posix *posix = rr_container(timer, struct rr_posix, timer);

	posix->slice_due = false;
	if (posix->hand)
		rr_hand_do(posix->hand, posix_attend_tree, posix->tree);
	else
		posix_attend_tree(posix->tree);
	if (rr_tree_has_work(posix->tree) || rr_tree_is_warm(posix->tree))
		posix_attend_later(posix);
}

static void
posix_as_caller(void *ctx)
{
	struct rr_posix_work *work = ctx;

	work->status = RR_VFS_FAULT;
	if (rr_tree_as(work->tree, work->call->caller) == 0)
		work->status = work->operation(work, work->call);
	rr_tree_as_self(work->tree);
}

static enum rr_vfs_status
posix_begin(struct rr_vfs *vfs, struct rr_vfs_call *call, rr_posix_operation *operation)
{
	struct rr_posix *posix = rr_container(vfs, struct rr_posix, vfs);
	struct rr_posix_work work = {
		.posix = posix, .tree = posix->tree, .call = call, .operation = operation
	};

	posix->counters.begun++;
	if (posix->hand)
		rr_hand_do(posix->hand, posix_as_caller, &work);
	else
		posix_as_caller(&work);
	posix_attend_later(posix);
	if (work.status == RR_VFS_OK && work.stores.count > 0)
		return posix_store(&work);
	rr_stores_drop(&work.stores);
	return work.status;
}

#define OPERATION(name, type, operation)                                                                     \
	static enum rr_vfs_status posix_##name(struct rr_vfs *vfs, struct type *name)                        \
	{                                                                                                    \
		return posix_begin(vfs, &name->call, operation);                                             \
	}

OPERATION(getattr, rr_vfs_getattr, rr_posix_getattr)
OPERATION(setattr, rr_vfs_setattr, rr_posix_setattr)
OPERATION(access, rr_vfs_access, rr_posix_access)
OPERATION(readlink, rr_vfs_readlink, rr_posix_readlink)
OPERATION(read, rr_vfs_read, rr_posix_read)
OPERATION(write, rr_vfs_write, rr_posix_write)
OPERATION(commit, rr_vfs_commit, rr_posix_commit)
OPERATION(seek, rr_vfs_seek, rr_posix_seek)
OPERATION(allocate, rr_vfs_space, rr_posix_allocate)
OPERATION(deallocate, rr_vfs_space, rr_posix_deallocate)
OPERATION(copy, rr_vfs_copy, rr_posix_copy)
OPERATION(clone, rr_vfs_copy, rr_posix_clone)
OPERATION(open, rr_vfs_opening, rr_posix_open)
OPERATION(lock, rr_vfs_lock, rr_posix_lock_range)
OPERATION(lookup, rr_vfs_lookup, rr_posix_lookup)
OPERATION(create, rr_vfs_create, rr_posix_create)
OPERATION(link, rr_vfs_link, rr_posix_link)
OPERATION(remove, rr_vfs_remove, rr_posix_remove)
OPERATION(rename, rr_vfs_rename, rr_posix_rename)
OPERATION(readdir, rr_vfs_readdir, rr_posix_readdir)
OPERATION(getxattr, rr_vfs_xattr, rr_posix_getxattr)
OPERATION(setxattr, rr_vfs_xattr, rr_posix_setxattr)
OPERATION(listxattr, rr_vfs_xattr, rr_posix_listxattr)
OPERATION(removexattr, rr_vfs_xattr, rr_posix_removexattr)
OPERATION(statfs, rr_vfs_statfs, rr_posix_statfs)
OPERATION(limits, rr_vfs_limits, rr_posix_limits)

static enum rr_vfs_status
posix_lease(struct rr_vfs *vfs, struct rr_vfs_lease *lease)
{
	(void)vfs, (void)lease;
	return RR_VFS_NOTSUPP;
}

static void
posix_close(struct rr_vfs *vfs, struct rr_vfs_open *open)
{
	struct rr_posix *posix = rr_container(vfs, struct rr_posix, vfs);

	if (!open)
		return;
	rr_posix_unreserve(posix->shared, open);
	rr_posix_open_release(posix->shared, open);
}

static void
posix_root(struct rr_vfs *vfs, uint32_t number, struct rr_vfs_handle *handle)
{
	rr_tree_root(rr_container(vfs, struct rr_posix, vfs)->tree, number, handle);
}

/* What is begun here was executed: only storing it may be under way. */
static void
posix_cancel(struct rr_vfs *vfs, struct rr_vfs_call *call)
{
	(void)vfs, (void)call;
}

static void
posix_counters(const struct rr_vfs *vfs, struct rr_vfs_counters *counters)
{
	const struct rr_posix *posix = (const void *)vfs; /* its first member */

	_Static_assert(offsetof(struct rr_posix, vfs) == 0, "as said");
	*counters = posix->counters;
	counters->opens = atomic_load(&posix->shared->open_count);
	counters->descriptors = counters->opens + rr_tree_descriptors(posix->tree);
}

static void
posix_free_tree(void *tree)
{
	rr_tree_free(tree);
}

static void
posix_destroy(struct rr_vfs *vfs)
{
	struct rr_posix *posix = rr_container(vfs, struct rr_posix, vfs);

	rr_storer_free(posix->storer);
	if (posix->vfs.loop)
		rr_loop_disarm(posix->vfs.loop, &posix->timer);
	/* It puts the thread's own identity back. */
	if (posix->hand)
		rr_hand_do(posix->hand, posix_free_tree, posix->tree);
	else
		rr_tree_free(posix->tree);
	rr_hand_free(posix->hand);
	rr_free(posix->env, posix->exports);
	rr_free(posix->env, posix);
}

static const struct rr_vfs_ops posix_ops = {
	.name = "posix",
	.destroy = posix_destroy,
	.counters = posix_counters,
	.root = posix_root,
	.cancel = posix_cancel,
	.getattr = posix_getattr,
	.setattr = posix_setattr,
	.access = posix_access,
	.readlink = posix_readlink,
	.read = posix_read,
	.write = posix_write,
	.commit = posix_commit,
	.seek = posix_seek,
	.allocate = posix_allocate,
	.deallocate = posix_deallocate,
	.copy = posix_copy,
	.clone = posix_clone,
	.open = posix_open,
	.close = posix_close,
	.lock = posix_lock,
	.lease = posix_lease,
	.lookup = posix_lookup,
	.create = posix_create,
	.link = posix_link,
	.remove = posix_remove,
	.rename = posix_rename,
	.readdir = posix_readdir,
	.getxattr = posix_getxattr,
	.setxattr = posix_setxattr,
	.listxattr = posix_listxattr,
	.removexattr = posix_removexattr,
	.statfs = posix_statfs,
	.limits = posix_limits,
};

static int
posix_start(struct rr_posix *posix, struct rr_loop *loop, const struct rr_tree_config *config,
	struct rr_text *text)
{
	const struct rr_tree_config *kept;
	int error = rr_tree_new(posix->env, config, &posix->tree, text);

	if (error)
		return error;
	kept = rr_tree_config(posix->tree);
	posix->exports = rr_alloc_array(posix->env, kept->export_count, sizeof(*posix->exports));
	if (!posix->exports)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for exports");
	for (uint32_t i = 0; i < kept->export_count; i++)
		posix->exports[i].name = kept->exports[i].name;
	rr_timer_init(&posix->timer, posix_attend);
	posix->vfs = (struct rr_vfs){ &posix_ops, loop, posix->shared, posix->exports, kept->export_count,
		kept->read_only };
	error = loop ? rr_storer_new(posix->env, loop, &posix->storer) : 0;
	return error ? rr_fail(text, error, "no thread to store files: %s", rpcrdma_strerror(error)) : 0;
}

int
rr_posix_new(const struct rr_env *env, struct rr_loop *loop, const struct rr_tree_config *config,
	struct rr_posix_shared *shared, struct rr_vfs **vfs, struct rr_text *text)
{
	struct rr_posix *posix = rr_alloc(env, sizeof(*posix));
	int error;

	if (!posix)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for exports");
	posix->env = env;
	posix->shared = shared;
	error = posix_start(posix, loop, config, text);
	if (error) {
		posix_destroy(&posix->vfs);
		return error;
	}
	*vfs = &posix->vfs;
	return 0;
}

int
rr_posix_apart(struct rr_vfs *vfs, struct rr_text *text)
{
	struct rr_posix *posix = rr_container(vfs, struct rr_posix, vfs);
	int error = rr_tree_acts_as_callers(posix->tree) ? rr_hand_new(posix->env, &posix->hand) : 0;

	return error ? rr_fail(text, error, "no thread for the work on files: %s", rpcrdma_strerror(error))
		     : 0;
}
