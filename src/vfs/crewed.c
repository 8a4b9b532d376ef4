/* SPDX-License-Identifier: BSD-3-Clause */
/* This file does the operations of a provider in threads of a crew (crewed.h). */
#include "vfs/crewed.h"

int
rr_crewed_start(struct rr_crewed *crewed, uint32_t threads)
{
	const struct rr_crew_config config = { .max = threads };

	return rr_crew_new(crewed->env, crewed->vfs.loop, &config, &crewed->crew);
}

void
rr_crewed_stop(struct rr_crewed *crewed)
{
	rr_crew_free(crewed->crew);
}

bool
rr_crewed_order(const struct rr_vfs_row *row, enum rr_crew_order *order)
{
	*order = row->flags & RR_VFS_COMMITS  ? RR_CREW_COMMIT
		 : row->flags & RR_VFS_WRITES ? RR_CREW_WRITE
					      : RR_CREW_CHANGE;
	return row->flags & (RR_VFS_ENTRIES | RR_VFS_WRITES | RR_VFS_COMMITS);
}

enum rr_vfs_status
rr_crewed_equip(const struct rr_env *env, const struct rr_vfs_row *row, struct rr_vfs_call *call,
	struct rr_gather **gather)
{
	if (row->flags & RR_VFS_FETCHES) {
		struct rr_vfs_read *read = rr_container(call, struct rr_vfs_read, call);

		if (!read->data && read->size > 0)
			read->data = read->memory(read, read->size);
		return read->data || read->size == 0 ? RR_VFS_OK : RR_VFS_NO_BUFFER;
	}
	if (!(row->flags & RR_VFS_LISTS))
		return RR_VFS_OK;
	*gather = rr_gather_new(env, true);
	return *gather ? RR_VFS_OK : RR_VFS_BUSY;
}

/* ---- in a thread of the crew ---- */

/* Finds the objects that the call names. */
static enum rr_vfs_status
crewed_find(struct rr_crewed_job *job)
{
	for (int i = 0; i < 2 && job->row->objects[i]; i++) {
		enum rr_vfs_status status = job->vfs->steps->find(job, i);

		if (status != RR_VFS_OK)
			return status;
		job->found[i] = true;
	}
	return RR_VFS_OK;
}

/* Brings the directories in which the operation made or removed an entry to stable storage, and the entry
 * with them. Does nothing for operations that change no entries. */
static enum rr_vfs_status
crewed_store(struct rr_crewed_job *job)
{
	enum rr_vfs_status status = RR_VFS_OK;

	for (int i = 0; i < 2 && job->row->flags & RR_VFS_ENTRIES; i++) {
		bool again = i > 0 && job->crew.keys[0] == job->crew.keys[1];

		if (job->row->changes[i] && !again && status == RR_VFS_OK)
			status = job->vfs->steps->store(job, i);
	}
	return status;
}

/* Fills in the attributes of an object that was found, where they can be had. known may be NULL. */
static void
crewed_know(struct rr_crewed_job *job, int index, struct rr_vfs_known *known)
{
	if (known && job->found[index])
		known->valid = job->vfs->steps->attributes(job, index, &known->attributes) == RR_VFS_OK;
}

/* Does the operation, unless it is refused, and fills in the attributes after it in any case. */
static bool
crewed_run(struct rr_crew_job *crew, void *member)
{
	struct rr_crewed_job *job = rr_container(crew, struct rr_crewed_job, crew);
	const struct rr_crewed_steps *steps = job->vfs->steps;

	(void)member;
	job->status = steps->begin(job);
	if (job->status == RR_VFS_OK)
		job->status = crewed_find(job);
	if (job->status == RR_VFS_OK)
		job->status = job->call->status;
	if (job->status == RR_VFS_OK)
		job->status = steps->run(job);
	if (job->status == RR_VFS_OK)
		job->status = crewed_store(job);
	crewed_know(job, 0, rr_vfs_member(job->call, job->row->known));
	for (int i = 0; i < 2; i++) {
		struct rr_vfs_change *change = rr_vfs_member(job->call, job->row->changes[i]);

		crewed_know(job, i, change ? &change->after : NULL);
	}
	steps->end(job);
	return true;
}

/* Does the job of an open, in a thread of the crew. */
static bool
crewed_close_run(struct rr_crew_job *job, void *member)
{
	struct rr_crewed_open *open = rr_container(job, struct rr_crewed_open, closing.job);

	(void)member;
	open->closing.vfs->steps->close_file((void *)open);
	return true;
}

/* ---- in the loop's thread ---- */

/* Ends the job of an open: frees the open, and ends the call that waits for this, if there is one. */
static void
crewed_close_done(struct rr_crew_job *job)
{
	struct rr_crewed_open *open = rr_container(job, struct rr_crewed_open, closing.job);
	struct rr_crewed *crewed = open->closing.vfs;
	struct rr_vfs_call *call = open->closing.call;

	crewed->steps->free_open((void *)open);
	rr_vfs_ended(&crewed->vfs, call, RR_VFS_OK);
}

/* Gives the caller's reference to the open back, or that of a job. With the last one, the crew closes the
 * file. That job has a key in common with locks of the file, so that a lock that comes after a close does not
 * meet the locks of the closed open. */
enum rr_vfs_status
rr_crewed_close(struct rr_vfs *vfs, struct rr_vfs_open *given, struct rr_vfs_call *call)
{
	struct rr_crewed *crewed = rr_container(vfs, struct rr_crewed, vfs);
	struct rr_crewed_open *open = (void *)given;

	if (atomic_fetch_sub(&open->holders, 1) > 1)
		return RR_VFS_OK;
	open->closing.vfs = crewed;
	open->closing.call = call;
	open->closing.job = (struct rr_crew_job){ .host = call ? call->host : 0,
		.owner = call ? call->owner : 0,
		.keys = { open->reservation.file.number },
		.order = RR_CREW_CHANGE,
		.run = crewed_close_run,
		.done = crewed_close_done };
	rr_crew_add(crewed->crew, &open->closing.job);
	return RR_VFS_PENDING;
}

static void
crewed_free(struct rr_crewed_job *job)
{
	struct rr_crewed *crewed = job->vfs;

	for (int i = 0; i < 2; i++)
		if (job->opens[i] && rr_crewed_close(&crewed->vfs, job->opens[i], NULL) == RR_VFS_PENDING)
			rr_vfs_goes_on(&crewed->vfs);
	rr_gather_free(job->gather);
	rr_free(crewed->env, job);
}

/* Ends a job that a thread has done, or that was cancelled before a thread began it. done() of the call may
 * begin operations and, after the last operation, destroy the provider: so the provider is not used after
 * that. */
static void
crewed_done(struct rr_crew_job *crew)
{
	struct rr_crewed_job *job = rr_container(crew, struct rr_crewed_job, crew);
	enum rr_vfs_status status = crew->cancelled ? RR_VFS_CANCELLED : job->status;
	struct rr_vfs_call *call = job->call;
	struct rr_vfs *vfs = &job->vfs->vfs;

	if (job->gather && status == RR_VFS_OK)
		rr_gather_deliver(job->gather, rr_container(call, struct rr_vfs_readdir, call));
	crewed_free(job);
	rr_vfs_ended(vfs, call, status);
}

/* Notes one object of the call, or the open that it names without an object, and holds its open. */
static enum rr_vfs_status
crewed_note(struct rr_crewed_job *job, int index, const struct rr_vfs_object *object,
	struct rr_vfs_open *open, uint64_t *key)
{
	job->opens[index] = open;
	if (open)
		atomic_fetch_add(&((struct rr_crewed_open *)(void *)open)->holders, 1);
	return job->vfs->steps->note(job, index, object, key);
}

/* Notes all that the call names, and sets the keys by which the crew orders jobs: they stand for the objects
 * that the operation changes, or in which it sets a lock. A job without keys is not ordered. */
static enum rr_vfs_status
crewed_note_all(struct rr_crewed_job *job)
{
	const struct rr_vfs_row *row = job->row;
	bool ordered = rr_crewed_order(row, &job->crew.order);

	for (int i = 0; i < 2 && row->objects[i]; i++) {
		const struct rr_vfs_object *object = rr_vfs_member(job->call, row->objects[i]);
		uint64_t key = 0;
		enum rr_vfs_status status = crewed_note(job, i, object, object->open, &key);

		if (status != RR_VFS_OK)
			return status;
		job->crew.keys[i] = ordered && row->changes[i] ? key : 0;
	}
	if (!row->open)
		return RR_VFS_OK;
	return crewed_note(job, 0, NULL, *(struct rr_vfs_open **)rr_vfs_member(job->call, row->open),
		&job->crew.keys[0]);
}

enum rr_vfs_status
rr_crewed_begin(struct rr_vfs *vfs, enum rr_vfs_operation operation, struct rr_vfs_call *call)
{
	struct rr_crewed *crewed = rr_container(vfs, struct rr_crewed, vfs);
	struct rr_crewed_job *job = rr_alloc(crewed->env, crewed->steps->job_size);
	enum rr_vfs_status status;

	if (!job)
		return RR_VFS_BUSY;
	job->crew = (struct rr_crew_job){
		.run = crewed_run, .done = crewed_done, .host = call->host, .owner = call->owner
	};
	job->vfs = crewed;
	job->call = call;
	job->operation = operation;
	job->row = &rr_vfs_rows[operation];
	status = crewed_note_all(job);
	if (status == RR_VFS_OK)
		status = rr_crewed_equip(crewed->env, job->row, call, &job->gather);
	if (status != RR_VFS_OK) {
		crewed_free(job);
		return status;
	}
	call->job = job;
	rr_crew_add(crewed->crew, &job->crew);
	return RR_VFS_PENDING;
}

void
rr_crewed_cancel(struct rr_vfs *vfs, struct rr_vfs_call *call)
{
	struct rr_crewed_job *job = call->job;

	rr_crew_cancel(rr_container(vfs, struct rr_crewed, vfs)->crew, &job->crew);
}
