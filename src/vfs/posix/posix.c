/* SPDX-License-Identifier: BSD-3-Clause */
#include "vfs/posix/posix.h"

#include <rpcrdma/error.h>
#include <string.h>

#include "vfs/posix/posix_private.h"

/*
 * The provider and the way to its operations. What can be done without waiting is done at once, in the loop's
 * thread. All else is a job for the crew: threads that take on the identity of the caller, do the whole
 * operation, and have what it changed stored by a thread beside them, together with what others changed. The
 * operation ends then. Without a crew, operations run in the loop's thread, and wait.
 */

/* Two objects that an operation names, at most: where they are in its structure, and whether their order
 * matters. */
enum posix_order { UNORDERED, CHANGE, WRITE, COMMIT };

struct posix_kind {
	rr_posix_operation *operation;
	bool quick; /* it may be possible without waiting */
	enum posix_order order;
	uint16_t objects[2]; /* offsets of struct rr_vfs_object in the call; 0: there is none */
};

/* An operation that is under way, in a thread of the crew or waiting for what it changed to be stored. */
struct rr_posix_job {
	struct rr_crew_job crew;
	struct rr_store_job store;
	struct rr_posix_work work;
	struct rr_storer *storer;
};

/*
 * Once the kernel has said that it could not write something back, it says so to nobody again: a later commit
 * of the same data would succeed. So all clients must send again what they have not committed. RFC 1813,
 * 3.3.7: "it will not destroy any data without changing the value of verf"
 */
static enum rr_vfs_status
posix_stored(const struct rr_posix_work *work, int error)
{
	struct rr_posix *posix = work->posix;

	if (error) {
		atomic_fetch_add(&posix->shared->verifier, 1);
		rr_log(posix->env, RR_LOG_ERROR, "what clients wrote could not be stored: %s",
			strerror(error));
	}
	/* After the data was stored: see struct rr_vfs_write. */
	if (work->operation == rr_posix_commit)
		rr_container(work->call, struct rr_vfs_commit, call)->verifier = rr_posix_verifier(posix);
	return rr_tree_status(error);
}

/* ---- the end of a job, in the loop ---- */

static void
posix_release_opens(struct rr_posix_job *job)
{
	for (int i = 0; i < 2; i++)
		if (job->work.opens[i])
			rr_posix_open_release(job->work.posix->shared, job->work.opens[i]);
}

static void
posix_job_end(struct rr_posix_job *job)
{
	struct rr_posix *posix = job->work.posix;
	struct rr_vfs_call *call = job->work.call;

	call->status = job->work.status;
	if (job->work.gather && call->status == RR_VFS_OK)
		rr_posix_readdir_deliver(job->work.gather, rr_container(call, struct rr_vfs_readdir, call));
	posix_release_opens(job);
	rr_free(posix->env, job->work.gather);
	rr_free(posix->env, job);
	posix->counters.under_way--;
	posix->counters.cancelled += call->status == RR_VFS_CANCELLED;
	rr_posix_attend_later(posix);
	call->done(call);
}

static void
posix_job_done(struct rr_crew_job *crew)
{
	struct rr_posix_job *job = rr_container(crew, struct rr_posix_job, crew);

	if (crew->cancelled)
		job->work.status = RR_VFS_CANCELLED;
	posix_job_end(job);
}

static void
posix_job_stored(struct rr_store_job *store)
{
	struct rr_posix_job *job = rr_container(store, struct rr_posix_job, store);

	job->work.status = posix_stored(&job->work, store->error);
	posix_job_end(job);
}

/* ---- the job ---- */

static void
posix_as_caller(struct rr_posix_work *work)
{
	work->status = RR_VFS_FAULT;
	if (rr_tree_as(work->tree, work->call->caller) == 0)
		work->status = work->operation(work, work->call);
	rr_tree_as_self(work->tree);
}

static bool
posix_job_crosses(void *ctx, uint64_t place)
{
	struct rr_posix_job *job = ctx;

	return rr_crew_move(job->work.posix->crew, &job->crew, place);
}

/* What is to be stored is a job of the storer from then on. */
static bool
posix_job_run(struct rr_crew_job *crew, void *member)
{
	struct rr_posix_job *job = rr_container(crew, struct rr_posix_job, crew);
	struct rr_posix_work *work = &job->work;

	work->tree = member;
	rr_tree_on_crossing(work->tree, posix_job_crosses, job);
	posix_as_caller(work);
	if (work->status != RR_VFS_OK || work->stores.count == 0) {
		rr_stores_drop(&work->stores);
		return true;
	}
	if (!job->storer) {
		work->status = posix_stored(work, rr_stores_do(&work->stores));
		return true;
	}
	job->store.stores = work->stores;
	rr_storer_add(job->storer, &job->store);
	return false;
}

/* What hangs in one file system keeps nothing of another one from being stored. */
static struct rr_storer *
posix_storer(struct rr_posix *posix, uint64_t place)
{
	for (uint32_t i = 0; i < posix->storer_count; i++)
		if (posix->storers[i].place == place)
			return posix->storers[i].storer;
	if (posix->storer_count == RR_POSIX_STORERS ||
		rr_storer_new(posix->env, posix->vfs.loop, &posix->storers[posix->storer_count].storer) < 0)
		return NULL;
	posix->storers[posix->storer_count].place = place;
	return posix->storers[posix->storer_count++].storer;
}

static void
posix_under_way(struct rr_posix *posix)
{
	struct rr_vfs_counters *counters = &posix->counters;

	counters->later++;
	counters->under_way++;
	if (counters->under_way > counters->under_way_peak)
		counters->under_way_peak = counters->under_way;
}

static struct rr_vfs_object *
posix_object(const struct posix_kind *kind, struct rr_vfs_call *call, int i)
{
	return kind->objects[i] ? (void *)((char *)call + kind->objects[i]) : NULL;
}

/* Where the objects of a call lie, and in which order calls for them go. */
static void
posix_job_place(struct rr_posix_job *job, const struct posix_kind *kind)
{
	static const enum rr_crew_order orders[] = {
		[CHANGE] = RR_CREW_CHANGE, [WRITE] = RR_CREW_WRITE, [COMMIT] = RR_CREW_COMMIT
	};
	struct rr_vfs_call *call = job->work.call;

	for (int i = 0; i < 2; i++) {
		struct rr_vfs_object *object = posix_object(kind, call, i);
		struct rr_tree_place place;

		if (!object)
			continue;
		place = object->open ? (struct rr_tree_place){ object->open->place, object->open->inode }
				     : rr_tree_place(object->handle);
		if (object->open)
			rr_posix_open_hold(job->work.opens[i] = object->open);
		job->crew.place = place.place;
		if (kind->order != UNORDERED)
			job->crew.keys[i] = (place.number ^ place.place * UINT64_C(0x9e3779b97f4a7c15)) | 1;
	}
	job->crew.order = orders[kind->order];
}

/* What a job needs from the loop: memory for data, and for entries. */
static enum rr_vfs_status
posix_job_equip(struct rr_posix_job *job)
{
	struct rr_posix_work *work = &job->work;

	if (work->operation == rr_posix_read) {
		struct rr_vfs_read *read = rr_container(work->call, struct rr_vfs_read, call);

		if (!read->data && read->size > 0)
			read->data = read->memory(read, read->size);
		return read->data || read->size == 0 ? RR_VFS_OK : RR_VFS_NO_BUFFER;
	}
	if (work->operation != rr_posix_readdir)
		return RR_VFS_OK;
	work->gather = rr_posix_gather_new(work->posix->env);
	return work->gather ? RR_VFS_OK : RR_VFS_BUSY;
}

static enum rr_vfs_status
posix_begin_later(struct rr_posix *posix, struct rr_vfs_call *call, const struct posix_kind *kind)
{
	struct rr_posix_job *job = rr_alloc(posix->env, sizeof(*job));
	enum rr_vfs_status status;

	if (!job)
		return RR_VFS_BUSY;
	job->work = (struct rr_posix_work){ .posix = posix, .call = call, .operation = kind->operation };
	status = posix_job_equip(job);
	if (status != RR_VFS_OK) {
		rr_free(posix->env, job);
		return status;
	}
	posix_job_place(job, kind);
	job->crew.run = posix_job_run;
	job->crew.done = posix_job_done;
	job->store.done = posix_job_stored;
	job->storer = posix_storer(posix, job->crew.place);
	call->job = job;
	posix_under_way(posix);
	rr_crew_add(posix->crew, &job->crew);
	return RR_VFS_PENDING;
}

/* Without a crew: only storing is left to somebody else. */
static enum rr_vfs_status
posix_begin_here(struct rr_posix *posix, struct rr_vfs_call *call, const struct posix_kind *kind)
{
	struct rr_posix_work work = {
		.posix = posix, .tree = posix->tree, .call = call, .operation = kind->operation
	};
	struct rr_posix_job *job = NULL;

	posix_as_caller(&work);
	rr_posix_attend_later(posix);
	if (work.status != RR_VFS_OK || work.stores.count == 0) {
		rr_stores_drop(&work.stores);
		return work.status;
	}
	if (posix->vfs.loop)
		job = rr_alloc(posix->env, sizeof(*job));
	if (!job || !(job->storer = posix_storer(posix, 0))) {
		rr_free(posix->env, job);
		return posix_stored(&work, rr_stores_do(&work.stores));
	}
	job->work = work;
	job->store.stores = work.stores;
	job->store.done = posix_job_stored;
	call->job = job;
	posix_under_way(posix);
	rr_storer_add(job->storer, &job->store);
	return RR_VFS_PENDING;
}

/* True where all of it was done without waiting. */
static bool
posix_hurry(struct rr_posix *posix, struct rr_vfs_call *call, const struct posix_kind *kind,
	enum rr_vfs_status *status)
{
	struct rr_posix_work work = {
		.posix = posix, .tree = posix->tree, .call = call, .operation = kind->operation
	};

	if (!kind->quick || posix->apart || !rr_tree_hurry(posix->tree))
		return false;
	posix_as_caller(&work);
	*status = work.status;
	return rr_tree_hurried(posix->tree);
}

static enum rr_vfs_status
posix_begin(struct rr_vfs *vfs, struct rr_vfs_call *call, const struct posix_kind *kind)
{
	struct rr_posix *posix = rr_container(vfs, struct rr_posix, vfs);
	enum rr_vfs_status status;

	posix->counters.begun++;
	if (!posix->crew)
		return posix_begin_here(posix, call, kind);
	if (!posix_hurry(posix, call, kind, &status))
		return posix_begin_later(posix, call, kind);
	rr_posix_attend_later(posix);
	return status;
}

/* quick, order, and where the objects are */
#define OPERATION(name, type, operation, ...)                                                                \
	static enum rr_vfs_status posix_##name(struct rr_vfs *vfs, struct type *name)                        \
	{                                                                                                    \
		static const struct posix_kind kind = { operation, __VA_ARGS__ };                            \
                                                                                                             \
		return posix_begin(vfs, &name->call, &kind);                                                 \
	}

#define AT(type, member) offsetof(struct type, member)

OPERATION(getattr, rr_vfs_getattr, rr_posix_getattr, true, UNORDERED, { AT(rr_vfs_getattr, object) })
OPERATION(setattr, rr_vfs_setattr, rr_posix_setattr, false, UNORDERED, { AT(rr_vfs_setattr, object) })
OPERATION(access, rr_vfs_access, rr_posix_access, true, UNORDERED, { AT(rr_vfs_access, object) })
OPERATION(readlink, rr_vfs_readlink, rr_posix_readlink, false, UNORDERED, { AT(rr_vfs_readlink, object) })
OPERATION(read, rr_vfs_read, rr_posix_read, true, UNORDERED, { AT(rr_vfs_read, object) })
OPERATION(write, rr_vfs_write, rr_posix_write, false, WRITE, { AT(rr_vfs_write, object) })
OPERATION(commit, rr_vfs_commit, rr_posix_commit, false, COMMIT, { AT(rr_vfs_commit, object) })
OPERATION(seek, rr_vfs_seek, rr_posix_seek, false, UNORDERED, { AT(rr_vfs_seek, object) })
OPERATION(allocate, rr_vfs_space, rr_posix_allocate, false, UNORDERED, { AT(rr_vfs_space, object) })
OPERATION(deallocate, rr_vfs_space, rr_posix_deallocate, false, UNORDERED, { AT(rr_vfs_space, object) })
OPERATION(copy, rr_vfs_copy, rr_posix_copy, false, UNORDERED, { AT(rr_vfs_copy, from), AT(rr_vfs_copy, to) })
OPERATION(
	clone, rr_vfs_copy, rr_posix_clone, false, UNORDERED, { AT(rr_vfs_copy, from), AT(rr_vfs_copy, to) })
OPERATION(open, rr_vfs_opening, rr_posix_open, false, UNORDERED, { AT(rr_vfs_opening, object) })
OPERATION(lookup, rr_vfs_lookup, rr_posix_lookup, true, UNORDERED, { AT(rr_vfs_lookup, directory) })
OPERATION(create, rr_vfs_create, rr_posix_create, false, CHANGE, { AT(rr_vfs_create, directory) })
OPERATION(link, rr_vfs_link, rr_posix_link, false, CHANGE,
	{ AT(rr_vfs_link, file), AT(rr_vfs_link, directory) })
OPERATION(remove, rr_vfs_remove, rr_posix_remove, false, CHANGE, { AT(rr_vfs_remove, directory) })
OPERATION(rename, rr_vfs_rename, rr_posix_rename, false, CHANGE,
	{ AT(rr_vfs_rename, from), AT(rr_vfs_rename, to) })
OPERATION(readdir, rr_vfs_readdir, rr_posix_readdir, false, UNORDERED, { AT(rr_vfs_readdir, directory) })
OPERATION(getxattr, rr_vfs_xattr, rr_posix_getxattr, false, UNORDERED, { AT(rr_vfs_xattr, object) })
OPERATION(setxattr, rr_vfs_xattr, rr_posix_setxattr, false, UNORDERED, { AT(rr_vfs_xattr, object) })
OPERATION(listxattr, rr_vfs_xattr, rr_posix_listxattr, false, UNORDERED, { AT(rr_vfs_xattr, object) })
OPERATION(removexattr, rr_vfs_xattr, rr_posix_removexattr, false, UNORDERED, { AT(rr_vfs_xattr, object) })
OPERATION(statfs, rr_vfs_statfs, rr_posix_statfs, false, UNORDERED, { AT(rr_vfs_statfs, object) })
OPERATION(limits, rr_vfs_limits, rr_posix_limits, false, UNORDERED, { AT(rr_vfs_limits, object) })

/* Of a lock, the open is no object. */
static enum rr_vfs_status
posix_lock(struct rr_vfs *vfs, struct rr_vfs_lock *lock)
{
	static const struct posix_kind kind = { rr_posix_lock_range, false, UNORDERED, { 0 } };

	return posix_begin(vfs, &lock->call, &kind);
}

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

/* What a thread has begun goes on to its end. */
static void
posix_cancel(struct rr_vfs *vfs, struct rr_vfs_call *call)
{
	struct rr_posix *posix = rr_container(vfs, struct rr_posix, vfs);
	struct rr_posix_job *job = call->job;

	if (posix->crew)
		rr_crew_cancel(posix->crew, &job->crew);
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
posix_destroy(struct rr_vfs *vfs)
{
	struct rr_posix *posix = rr_container(vfs, struct rr_posix, vfs);

	rr_crew_free(posix->crew);
	for (uint32_t i = 0; i < posix->storer_count; i++)
		rr_storer_free(posix->storers[i].storer);
	if (posix->vfs.loop)
		rr_loop_disarm(posix->vfs.loop, &posix->timer);
	rr_tree_free(posix->tree);
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

static void *
posix_enlist(void *ctx)
{
	struct rr_tree *tree;

	return rr_tree_beside(((struct rr_posix *)ctx)->tree, &tree) < 0 ? NULL : tree;
}

static void
posix_discharge(void *ctx, void *member)
{
	(void)ctx;
	rr_tree_free(member);
}

static int
posix_start(struct rr_posix *posix, struct rr_loop *loop, const struct rr_tree_config *config,
	struct rr_text *text)
{
	struct rr_crew_config crew = { .enlist = posix_enlist, .discharge = posix_discharge, .ctx = posix };
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
	posix->vfs = (struct rr_vfs){ &posix_ops, loop, posix->shared, posix->exports, kept->export_count,
		kept->read_only };
	rr_posix_attend_init(posix);
	crew.max = loop ? config->workers : 0;
	error = crew.max > 0 ? rr_crew_new(posix->env, loop, &crew, &posix->crew) : 0;
	return error ? rr_fail(text, error, "no thread for files: %s", rpcrdma_strerror(error)) : 0;
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

void
rr_posix_apart(struct rr_vfs *vfs)
{
	struct rr_posix *posix = rr_container(vfs, struct rr_posix, vfs);

	posix->apart = rr_tree_acts_as_callers(posix->tree);
}
