/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each thread has a provider with a session, and so a client ID, of its own. Opens belong to a client ID, so
 * that an operation on an open that another thread has made goes on in that thread: it is posted there, and
 * back when it ends. Of the call, the other thread uses what the operation needs; the thread that has begun
 * it calls memory() and done().
 *
 * Ownership: a job is in vfs->jobs of the provider that has begun it, also while it is away; there, it is in
 * on->guests.
 */
#include "carrier/engine.h"
#include "vfs/nfs/v4/provider_private.h"

/* ---- In the thread that has begun the operation ---- */

static void
away_home(void *ctx)
{
	struct rr_v4_job *job = ctx;

	rr_remote_end(&job->base, job->outcome);
}

/* ---- In the thread that has made the open ---- */

static void
away_back(struct rr_v4_job *job, enum rr_vfs_status status)
{
	rr_list_remove(&job->of_guests);
	job->outcome = status;
	job->post = (struct rpcrdma_post){ .run = away_home, .ctx = job };
	rpcrdma_engine_post(((struct rr_v4_vfs *)job->base.vfs)->engine, &job->post);
}

void
rr_v4_end(struct rr_v4_job *job, enum rr_vfs_status status)
{
	if (rr_v4_is_away(&job->base))
		away_back(job, status);
	else
		rr_remote_end(&job->base, status);
}

static void
away_arrived(void *ctx)
{
	struct rr_v4_job *job = ctx;
	enum rr_vfs_status status;

	rr_list_append(&job->on->guests, &job->of_guests);
	status = job->on->leaving ? RR_VFS_BUSY : job->step(job);
	if (status != RR_VFS_PENDING)
		away_back(job, status);
}

/* ---- There ---- */

/* Returns the open that decides where the operation goes on, or NULL. */
static const struct rr_vfs_open *
away_open(const struct rr_v4_job *job)
{
	const struct rr_vfs_row *row = &rr_vfs_rows[job->base.operation];
	struct rr_vfs_open **only = rr_vfs_member(job->base.call, row->open);
	const struct rr_vfs_object *second = rr_vfs_member(job->base.call, row->objects[1]);

	if (only)
		return *only;
	return second && second->open ? second->open : job->base.open;
}

enum rr_vfs_status
rr_v4_read_memory(struct rr_v4_job *job)
{
	struct rr_vfs_read *read = RR_V4_INPUT(job, read);

	if (!read->data && read->size > 0)
		read->data = read->memory(read, read->size);
	return read->data || read->size == 0 ? RR_VFS_OK : RR_VFS_NO_BUFFER;
}

bool
rr_v4_is_away(const struct rr_remote_job *job)
{
	return &((const struct rr_v4_job *)job)->on->base != job->vfs;
}

bool
rr_v4_go_away(struct rr_v4_job *job, enum rr_vfs_status *status)
{
	const struct rr_vfs_open *open = away_open(job);

	if (!open || !open->held || &open->held->vfs->base == job->base.vfs)
		return false;
	*status = job->base.operation == RR_VFS_OP_READ ? rr_v4_read_memory(job) : RR_VFS_OK;
	if (*status != RR_VFS_OK)
		return true;
	job->on = open->held->vfs;
	job->base.called = true;
	job->post = (struct rpcrdma_post){ .run = away_arrived, .ctx = job };
	*status = rpcrdma_engine_post(job->on->engine, &job->post) < 0 ? RR_VFS_BUSY : RR_VFS_PENDING;
	return true;
}

/* ---- At the end ---- */

void
rr_v4_come_back(struct rr_v4_vfs *vfs)
{
	rr_list_for_each (link, &vfs->base.jobs) {
		const struct rr_v4_job *job = (void *)rr_container(link, struct rr_remote_job, link);

		if (rr_v4_is_away(&job->base))
			rr_posts_run(&job->on->engine->posts);
	}
	rr_posts_run(&vfs->engine->posts);
	while (!rr_list_empty(&vfs->guests)) {
		struct rr_v4_job *job = rr_container(vfs->guests.next, struct rr_v4_job, of_guests);

		rr_v4_cancel(vfs->v4, &job->base.rpc);
		away_back(job, RR_VFS_BUSY);
	}
}
