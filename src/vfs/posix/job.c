/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * This file decides how an operation is done:
 *   - The loop's thread tries to do it at once, without waiting (posix_hurry()). If that succeeds, the
 *     operation has ended when the function of the interface returns.
 *   - Otherwise the operation becomes a job (struct rr_posix_job). A thread of the crew takes on the identity
 *     of the caller and does the whole operation from its beginning. Where it changed something, the storer
 *     of the file system, a further thread, then brings the changes to stable storage together with those of
 *     other operations. After that the operation ends. Where nothing else is under way, the crew's thread
 *     stores the changes itself, as to wake the storer would take longer than many a disk.
 *   - A read that the loop's thread began, and for which only the data has to come from a disk, is a job,
 *     too. It needs no identity any more: the ring (io_uring) reads the rest of the data, or a thread of the
 *     crew where the ring cannot.
 * Without a crew, the loop's thread does all operations, and waits.
 */
#include <errno.h>
#include <string.h>

#include "vfs/posix/posix_private.h"

/* A read with more octets left than this goes to a thread of the crew, not to the ring: the ring would copy
 * the data out of the page cache in the loop's thread, and other calls would wait meanwhile. */
enum { JOB_RING_MOST = 65536 };

/* An operation that is under way: in the crew, as a read of the ring, or with the storer until its changes
 * are stored. Each of these three uses its own member. */
struct rr_posix_job {
	struct rr_crew_job crew;
	struct rr_ring_read ring;
	struct rr_store_job store;
	struct rr_posix_work work;
	/* Of the operation's file system; NULL: the crew's thread stores the changes in any case. */
	struct rr_storer *storer;
};

/* Returns the status of an operation after its changes were stored (error is 0), or could not be stored
 * (error is an errno). An operation that failed may have changed something before, and keeps its status.
 * After an error, changes the write verifier, so that all clients send again the data that they have not
 * committed. This is needed because the kernel reports only once that it could not write data back: a later
 * commit would succeed. For a commit, also fills in the verifier. RFC 1813, 3.3.7: "it will not destroy any
 * data without changing the value of verf" */
static enum rr_vfs_status
posix_stored(const struct rr_posix_work *work, int error)
{
	struct rr_posix *posix = work->posix;

	if (error) {
		atomic_fetch_add(&posix->shared->verifier, 1);
		rr_log_limited(&posix->shared->stored_log, posix->env,
			"what clients wrote could not be stored: %s", strerror(error));
	}
	/* The verifier of commit is taken after the data was stored: see struct rr_vfs_write. */
	if (work->row->flags & RR_VFS_COMMITS)
		rr_container(work->call, struct rr_vfs_commit, call)->verifier = rr_posix_verifier(posix);
	return error ? rr_vfs_errno(error) : work->status;
}

/* ---- the end of a job, in the loop's thread ---- */

/* Gives back one reference to an open. What this begins goes on without a call. */
static void
posix_release_open(struct rr_posix *posix, struct rr_vfs_open *open)
{
	if (rr_posix_open_release(posix, open, NULL) == RR_VFS_PENDING)
		rr_vfs_goes_on(&posix->vfs);
}

/* Gives back the references that posix_job_place() has taken. */
static void
posix_release_opens(struct rr_posix_job *job)
{
	for (int i = 0; i < 2; i++)
		if (job->work.opens[i])
			posix_release_open(job->work.posix, job->work.opens[i]);
}

/* Gives back the object that work holds for the rest of a read, because that rest will not be read. Does
 * nothing where no rest of a read waits. */
static void
posix_drop_rest(struct rr_posix *posix, struct rr_posix_work *work)
{
	work->tree = posix->tree;
	if (work->rest.waits)
		rr_posix_put(work, &work->rest.subject);
}

/* Ends a job in the loop's thread: passes the entries of a readdir to the caller, releases the job's opens,
 * frees the job, and ends the operation. Arms the timer that continues a search and closes idle descriptors,
 * as the operation may have left such work. */
static void
posix_job_end(struct rr_posix_job *job)
{
	struct rr_posix *posix = job->work.posix;
	struct rr_vfs_call *call = job->work.call;
	enum rr_vfs_status status = job->work.status;

	if (job->work.gather && status == RR_VFS_OK)
		rr_gather_deliver(job->work.gather, rr_container(call, struct rr_vfs_readdir, call));
	posix_release_opens(job);
	rr_gather_free(job->work.gather);
	rr_free(posix->env, job);
	rr_posix_attend_later(posix);
	rr_vfs_ended(&posix->vfs, call, status);
}

/* Ends a job that a thread of the crew has done, or that was cancelled before a thread began it. The crew
 * calls this function in the loop's thread. */
static void
posix_job_done(struct rr_crew_job *crew)
{
	struct rr_posix_job *job = rr_container(crew, struct rr_posix_job, crew);

	if (crew->cancelled) {
		job->work.status = RR_VFS_CANCELLED;
		posix_drop_rest(job->work.posix, &job->work);
	}
	posix_job_end(job);
}

/* Ends a job whose changes the storer has stored, or could not store (store->error). The storer calls this
 * function in the loop's thread. */
static void
posix_job_stored(struct rr_store_job *store)
{
	struct rr_posix_job *job = rr_container(store, struct rr_posix_job, store);

	job->work.status = posix_stored(&job->work, store->error);
	posix_job_end(job);
}

/* ---- the job ---- */

/* Does the operation with the caller's identity, stores its status in work->status, and makes the thread act
 * as the server itself again. The status is RR_VFS_FAULT where the thread cannot take on the identity. */
static void
posix_as_caller(struct rr_posix_work *work)
{
	work->status = RR_VFS_FAULT;
	if (rr_tree_as(work->tree, work->call->caller) == 0)
		work->status = work->run(work, work->call);
	rr_tree_as_self(work->tree);
}

/* Is called before a job's operation uses another file system, which place stands for: makes the crew count
 * the job for that file system from now on. Returns
 * false where too many jobs work there, so that the operation must not use it now. */
static bool
posix_job_crosses(void *ctx, uint64_t place)
{
	struct rr_posix_job *job = ctx;

	return rr_crew_move(job->work.posix->crew, &job->crew, place);
}

/* Tells whether the crew's thread stores the changes of a job itself: there is no storer, or nothing else is
 * under way that could be stored with them, or would have to wait for them. */
static bool
posix_job_stores_itself(const struct rr_posix_job *job)
{
	return !job->storer || (rr_storer_is_idle(job->storer) && rr_crew_is_alone(job->work.posix->crew));
}

/* Does the operation of a job, or the rest of a read, in a thread of the crew; member is the tree of this
 * thread. Returns true where the job has ended, with its changes stored. Returns false where the job was
 * handed to its storer, which owns the job from now on. */
static bool
posix_job_run(struct rr_crew_job *crew, void *member)
{
	struct rr_posix_job *job = rr_container(crew, struct rr_posix_job, crew);
	struct rr_posix_work *work = &job->work;

	work->tree = member;
	if (work->rest.waits) {
		work->status = rr_posix_read_rest(work);
		return true;
	}
	rr_tree_on_crossing(work->tree, posix_job_crosses, job);
	posix_as_caller(work);
	if (work->stores.count == 0)
		return true;
	if (posix_job_stores_itself(job)) {
		work->status = posix_stored(work, rr_stores_do(&work->stores));
		return true;
	}
	job->store.stores = work->stores;
	rr_storer_add(job->storer, &job->store);
	return false;
}

/* Returns the storer of the file system that place stands for, or NULL if there is none. */
static struct rr_storer *
posix_storer_find(const struct rr_posix *posix, uint64_t place)
{
	for (uint32_t i = 0; i < posix->storer_count; i++)
		if (posix->storers[i].place == place)
			return posix->storers[i].storer;
	return NULL;
}

/* Returns the storer (a thread that stores changes) of the file system that place stands for, and makes it at
 * the first use. Each file system has its own storer, so that a file system that hangs delays no other.
 * Returns NULL if there are too many storers already, or no storer can be made. A place from a handle that a
 * client may have forged must not come here: storers stay until the provider ends. */
static struct rr_storer *
posix_storer(struct rr_posix *posix, uint64_t place)
{
	struct rr_storer *storer = posix_storer_find(posix, place);

	if (storer)
		return storer;
	if (posix->storer_count == RR_POSIX_STORERS ||
		rr_storer_new(posix->env, posix->vfs.loop, &posix->storers[posix->storer_count].storer) < 0)
		return NULL;
	posix->storers[posix->storer_count].place = place;
	return posix->storers[posix->storer_count++].storer;
}

/* Sets the job's place, which stands for the file system in which the object of its call lies, or the second
 * of two objects, or the open of a lock. Also sets the keys by which the crew orders jobs: they stand for the
 * objects that the operation changes. Takes references to the opens of the objects, so that they exist until
 * the operation ends. */
static void
posix_job_place(struct rr_posix_job *job)
{
	const struct rr_vfs_row *row = job->work.row;
	bool ordered = rr_crewed_order(row, &job->crew.order);

	for (int i = 0; i < 2; i++) {
		struct rr_vfs_object *object = rr_vfs_member(job->work.call, row->objects[i]);
		struct rr_tree_place place;

		if (!object)
			continue;
		place = object->open ? (struct rr_tree_place){ object->open->place, object->open->inode }
				     : rr_tree_place(object->handle);
		if (object->open)
			rr_posix_open_hold(job->work.opens[i] = object->open);
		job->crew.place = place.place;
		/* The lowest bit is set because 0 would mean that there is no key. */
		if (ordered && row->changes[i])
			job->crew.keys[i] = (place.number ^ place.place * UINT64_C(0x9e3779b97f4a7c15)) | 1;
	}
	if (row->open) {
		job->work.opens[0] = *(struct rr_vfs_open **)rr_vfs_member(job->work.call, row->open);
		rr_posix_open_hold(job->work.opens[0]);
		job->crew.place = job->work.opens[0]->place;
	}
}

/* Returns the storer for the changes of a job: that of the file system in which the object of its call lies,
 * or the second of two objects. Returns NULL where the call names no object, where the object's handle is
 * forged, or where there is no storer: the crew's thread then stores the changes, if there are any. */
static struct rr_storer *
posix_job_storer(struct rr_posix *posix, const struct rr_posix_job *job)
{
	const uint16_t *objects = job->work.row->objects;
	const struct rr_vfs_object *object = rr_vfs_member(job->work.call, objects[objects[1] ? 1 : 0]);
	struct rr_storer *storer = object ? posix_storer_find(posix, job->crew.place) : NULL;

	if (storer || !object)
		return storer;
	if (!object->open && !rr_tree_is_genuine(posix->tree, object->handle))
		return NULL;
	return posix_storer(posix, job->crew.place);
}

/* ---- a read by the ring ---- */

/* Is called when the ring (io_uring) has ended a read: counts the octets, and ends the job. Where only a part
 * of the data came, or the read was interrupted, a thread of the crew reads the rest instead. A result of 0
 * means that the file has ended, a negative result is an errno. */
static void
posix_ring_done(struct rr_ring_read *read)
{
	struct rr_posix_job *job = rr_container(read, struct rr_posix_job, ring);
	struct rr_posix_work *work = &job->work;
	struct rr_posix *posix = work->posix;
	struct rr_posix_rest *rest = &work->rest;

	if (read->result > 0)
		rest->done += (uint32_t)read->result;
	if (read->result == -EAGAIN || read->result == -EINTR ||
		(read->result > 0 && rest->done < rest->size)) {
		rr_crew_add(posix->crew, &job->crew);
		return;
	}
	work->tree = posix->tree;
	work->status = rr_posix_read_came(work, read->result < 0 ? -read->result : 0);
	posix_job_end(job);
}

/* Begins the rest of a read by the ring (io_uring). Returns false where the crew is to do the job instead:
 * the job is not the rest of a read, there is no ring, the ring is full, or more than JOB_RING_MOST octets
 * are left. */
static bool
posix_ring_begin(struct rr_posix_job *job)
{
	const struct rr_posix_rest *rest = &job->work.rest;
	struct rr_ring *ring = job->work.posix->ring;
	const struct rr_vfs_read *read;

	if (!ring || !rest->waits || rest->size - rest->done > JOB_RING_MOST)
		return false;
	read = rr_container(job->work.call, struct rr_vfs_read, call);
	job->ring = (struct rr_ring_read){ .fd = rest->fd,
		.size = rest->size - rest->done,
		.data = (uint8_t *)read->data + rest->done,
		.offset = read->offset + rest->done,
		.done = posix_ring_done };
	return rr_ring_begin(ring, &job->ring);
}

/* Makes a job for an operation that the loop's thread did not do, and gives the job to the ring (io_uring) or
 * to the crew. Returns RR_VFS_PENDING, or a status with which the operation has ended, because there was no
 * memory. The rest of a read has its memory already: rr_crewed_equip() fails only for a whole operation,
 * which holds no object yet. A listing uses the processor for long. */
static enum rr_vfs_status
posix_begin_later(struct rr_posix_work *work)
{
	struct rr_posix *posix = work->posix;
	struct rr_posix_job *job = rr_alloc(posix->env, sizeof(*job));
	enum rr_vfs_status status;

	if (!job) {
		posix_drop_rest(posix, work);
		return RR_VFS_BUSY;
	}
	job->work = *work;
	status = rr_crewed_equip(posix->env, work->row, work->call, &job->work.gather);
	if (status != RR_VFS_OK) {
		rr_free(posix->env, job);
		return status;
	}
	posix_job_place(job);
	job->crew.host = work->call->host;
	job->crew.owner = work->call->owner;
	job->crew.run = posix_job_run;
	job->crew.done = posix_job_done;
	job->store.done = posix_job_stored;
	job->storer = posix_job_storer(posix, job);
	job->crew.bulk = work->row->flags & RR_VFS_LISTS;
	work->call->job = job;
	if (!posix_ring_begin(job))
		rr_crew_add(posix->crew, &job->crew);
	return RR_VFS_PENDING;
}

/* Prepares work for the operation of a call. To save time, this does not clear the large members: they are
 * set before they are read. */
static void
posix_work_init(struct rr_posix_work *work, struct rr_posix *posix, struct rr_vfs_call *call,
	enum rr_vfs_operation operation)
{
	work->posix = posix;
	work->call = call;
	work->row = &rr_vfs_rows[operation];
	work->run = call->status == RR_VFS_OK ? rr_posix_kinds[operation].run : rr_posix_refuse;
	work->stores.count = 0;
	work->rest.waits = false;
	work->gather = NULL;
	work->opens[0] = work->opens[1] = NULL;
}

/* Stores the changes of an operation that was done in the loop's thread: hands them to a storer and returns
 * RR_VFS_PENDING, or stores them here where there is no loop or no storer. An operation that has nothing to
 * store ends with its status. */
static enum rr_vfs_status
posix_store_later(struct rr_posix_work *work)
{
	struct rr_posix *posix = work->posix;
	struct rr_posix_job *job = NULL;

	rr_posix_attend_later(posix);
	if (work->stores.count == 0)
		return work->status;
	if (posix->vfs.loop)
		job = rr_alloc(posix->env, sizeof(*job));
	/* All such changes go to one storer, that of place 0: without a crew, a file system that hangs stops
	 * the loop's thread in any case. */
	if (!job || !(job->storer = posix_storer(posix, 0))) {
		rr_free(posix->env, job);
		return posix_stored(work, rr_stores_do(&work->stores));
	}
	job->work = *work;
	job->store.stores = work->stores;
	job->store.done = posix_job_stored;
	work->call->job = job;
	rr_storer_add(job->storer, &job->store);
	return RR_VFS_PENDING;
}

/* Tells whether all objects of the call lie in file systems that are in memory as a whole, so that working in
 * them never waits for a disk. */
static bool
posix_in_memory(const struct rr_posix_work *work)
{
	for (int i = 0; i < 2; i++) {
		const struct rr_vfs_object *object = rr_vfs_member(work->call, work->row->objects[i]);

		if (!object)
			continue;
		if (object->open ? !object->open->memory
				 : !rr_tree_in_memory(work->posix->tree, rr_tree_place(object->handle).place))
			return false;
	}
	return true;
}

/* Tells whether the operation may take long although nothing waits: it sets the size of a file, and cutting
 * off much data takes long. */
static bool
posix_takes_long(const struct rr_posix_work *work)
{
	return work->row->flags & RR_VFS_CUTS &&
	       rr_container(work->call, struct rr_vfs_setattr, call)->set.mask & RR_VFS_SET_SIZE;
}

/* Does the operation without waiting. Returns false where it would have waited, or the lock was taken. */
static bool
posix_hurry_with(struct rr_posix_work *work, bool memory)
{
	struct rr_tree *tree = work->posix->tree;

	if (!rr_tree_hurry(tree, memory))
		return false;
	work->tree = tree;
	posix_as_caller(work);
	return rr_tree_hurried(tree);
}

/* Does a listing without waiting. Its entries go to the caller only if all of it was done: a job begins it
 * from its beginning, and the caller would get entries twice. So does a listing that is too long for the
 * loop's thread. */
static bool
posix_hurry_listing(struct rr_posix_work *work, bool memory)
{
	struct rr_posix *posix = work->posix;
	bool done;

	if (!posix->gather)
		posix->gather = rr_gather_new(posix->env, false);
	if (!posix->gather)
		return false;
	rr_gather_clear(posix->gather);
	work->gather = posix->gather;
	done = posix_hurry_with(work, memory);
	work->gather = NULL;
	if (done && rr_gather_is_full(posix->gather))
		return false;
	if (done && work->status == RR_VFS_OK)
		rr_gather_deliver(posix->gather, rr_container(work->call, struct rr_vfs_readdir, call));
	return done;
}

/* Tries to do the operation at once, in the loop's thread, without waiting. Returns true where the whole
 * operation was done, with its status in work->status. Returns false where a job is to do it: from its
 * beginning, or the rest of a read alone (work->rest.waits). An operation of the kind RR_POSIX_IN_MEMORY,
 * which may change something, is not tried while other operations are under way, because it must not overtake
 * them. No operation is tried where the loop's thread takes on no caller's identity (posix->apart), or while
 * another thread has the tree's lock. */
static bool
posix_hurry(struct rr_posix_work *work, enum rr_posix_quick quick)
{
	struct rr_posix *posix = work->posix;
	bool memory = quick == RR_POSIX_IN_MEMORY;

	if (quick == RR_POSIX_SLOW || posix->apart)
		return false;
	if (memory && (posix->vfs.counters.under_way > 0 || !posix_in_memory(work) || posix_takes_long(work)))
		return false;
	if (work->row->flags & RR_VFS_LISTS)
		return posix_hurry_listing(work, memory);
	return posix_hurry_with(work, memory);
}

enum rr_vfs_status
rr_posix_begin(struct rr_vfs *vfs, enum rr_vfs_operation operation, struct rr_vfs_call *call)
{
	struct rr_posix *posix = rr_container(vfs, struct rr_posix, vfs);
	enum rr_posix_quick quick = rr_posix_kinds[operation].quick;
	struct rr_posix_work work;

	posix_work_init(&work, posix, call, operation);
	if (quick == RR_POSIX_AT_ONCE)
		return work.run(&work, call);
	if (posix->crew && !posix_hurry(&work, quick))
		return posix_begin_later(&work);
	/* With a crew, posix_hurry() has done the operation; without, it is done here, and may wait. */
	if (!posix->crew) {
		work.tree = posix->tree;
		posix_as_caller(&work);
	}
	return posix_store_later(&work);
}

/* Cancels an operation that waits for a thread of the crew, so that it ends with RR_VFS_CANCELLED. Any other
 * operation goes on to its end. Without a crew, an operation under way is with the storer, and goes on. */
void
rr_posix_cancel(struct rr_vfs *vfs, struct rr_vfs_call *call)
{
	struct rr_posix *posix = rr_container(vfs, struct rr_posix, vfs);
	struct rr_posix_job *job = call->job;

	if (posix->crew)
		rr_crew_cancel(posix->crew, &job->crew);
}
