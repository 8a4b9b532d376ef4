/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider, and the table of its operations. */
#include <rpcrdma/error.h>

#include "carrier/engine.h"
#include "vfs/nfs/v4/provider_private.h"

/* For so long, a server that is busy, or is in its grace period, is asked again. */
#define PROVIDER_BUSY (2 * RR_SECOND)

/* For so long, the provider waits at its end until its files are closed and the server has forgotten it. */
#define PROVIDER_PATIENCE (1 * RR_SECOND)

/* The operations that are one COMPOUND each, with whose status they end. */
static const struct rr_v4_work *const provider_works[RR_VFS_OPERATIONS] = {
	[RR_VFS_OP_GETATTR] = &rr_v4_work_getattr,
	[RR_VFS_OP_ACCESS] = &rr_v4_work_access,
	[RR_VFS_OP_COMMIT] = &rr_v4_work_commit,
	[RR_VFS_OP_ALLOCATE] = &rr_v4_work_allocate,
	[RR_VFS_OP_DEALLOCATE] = &rr_v4_work_allocate,
	[RR_VFS_OP_COPY] = &rr_v4_work_copy,
	[RR_VFS_OP_CLONE] = &rr_v4_work_clone,
	[RR_VFS_OP_GETXATTR] = &rr_v4_work_getxattr,
	[RR_VFS_OP_SETXATTR] = &rr_v4_work_setxattr,
	[RR_VFS_OP_REMOVEXATTR] = &rr_v4_work_setxattr,
	[RR_VFS_OP_STATFS] = &rr_v4_work_statfs,
	[RR_VFS_OP_LIMITS] = &rr_v4_work_limits,
};

/* All others. */
static rr_v4_step *const provider_steps[RR_VFS_OPERATIONS] = {
	[RR_VFS_OP_SETATTR] = rr_v4_do_setattr,
	[RR_VFS_OP_READLINK] = rr_v4_do_readlink,
	[RR_VFS_OP_READ] = rr_v4_do_read,
	[RR_VFS_OP_WRITE] = rr_v4_do_write,
	[RR_VFS_OP_SEEK] = rr_v4_do_seek,
	[RR_VFS_OP_OPEN] = rr_v4_do_open,
	[RR_VFS_OP_LOCK] = rr_v4_do_lock,
	[RR_VFS_OP_LOOKUP] = rr_v4_do_lookup,
	[RR_VFS_OP_CREATE] = rr_v4_do_create,
	[RR_VFS_OP_LINK] = rr_v4_do_link,
	[RR_VFS_OP_REMOVE] = rr_v4_do_remove,
	[RR_VFS_OP_RENAME] = rr_v4_do_rename,
	[RR_VFS_OP_READDIR] = rr_v4_do_readdir,
	[RR_VFS_OP_LISTXATTR] = rr_v4_do_listxattr,
	[RR_VFS_OP_GETACL] = rr_v4_do_getacl,
	[RR_VFS_OP_SETACL] = rr_v4_do_setacl,
};

static enum rr_vfs_status
provider_work(struct rr_v4_job *job)
{
	return rr_v4_ask(job, provider_works[job->base.operation], rr_v4_end);
}

static enum rr_vfs_status
provider_begin(struct rr_remote_job *base)
{
	struct rr_v4_job *job = (struct rr_v4_job *)base;
	rr_v4_step *step = provider_works[base->operation] ? provider_work : provider_steps[base->operation];
	enum rr_vfs_status status;

	if (!step)
		return RR_VFS_NOTSUPP;
	job->step = step;
	return rr_v4_go_away(job, &status) ? status : step(job);
}

static void
provider_free(struct rr_v4_vfs *own)
{
	rr_v4_free(own->v4);
	rr_map_free(&own->by_file, own->base.env);
	rr_remote_free(&own->base);
}

/* Files that are being closed get some time for that, and so does the end of the session: else the server
 * would keep them until the lease ends. */
static void
provider_destroy(struct rr_vfs *vfs)
{
	struct rr_v4_vfs *own = (struct rr_v4_vfs *)vfs;
	uint64_t until = rr_loop_now(vfs->loop) + PROVIDER_PATIENCE;

	own->leaving = true;
	rr_v4_come_back(own);
	rr_remote_end_all(&own->base);
	while (!rr_list_empty(&own->closings)) {
		uint64_t now = rr_loop_now(vfs->loop);

		if (now >= until || rr_loop_turn(vfs->loop, (int64_t)(until - now)) < 0)
			break;
	}
	rr_v4_leave(own->v4, PROVIDER_PATIENCE);
	rr_v4_close_all(own);
	provider_free(own);
}

static const struct rr_remote_version provider_version = {
	.ops = {
		.name = "nfs4",
		.destroy = provider_destroy,
		.root = rr_remote_root,
		.export_of = rr_remote_number,
		.begin = rr_remote_begin,
		.cancel = rr_remote_cancel,
		.close = rr_v4_close,
	},
	.job_size = sizeof(struct rr_v4_job),
	.begin = provider_begin,
	.look = rr_v4_look,
	.withdraw = rr_v4_withdraw,
	.is_away = rr_v4_is_away,
	.take_opens = rr_v4_take_opens,
	.drop_opens = rr_v4_drop_opens,
};

int
rr_v4_provide(struct rpcrdma_engine *engine, struct rr_remote_shared *shared, struct rr_vfs **vfs,
	struct rr_text *text)
{
	struct rr_remote_vfs *base;
	struct rr_v4_vfs *own;
	int error = rr_remote_new(engine, shared, &provider_version, sizeof(*own), &base, text);
	struct rr_v4_config config = {
		.engine = engine,
		.minor = shared->config.minor,
		.retry = PROVIDER_BUSY,
		.work = rr_v4_job_work,
		.forgotten = rr_v4_forgotten,
		.reclaim = rr_v4_reclaim_next,
	};

	if (error)
		return error;
	own = (struct rr_v4_vfs *)base;
	rr_list_init(&own->held);
	rr_list_init(&own->reclaim);
	rr_list_init(&own->closings);
	rr_list_init(&own->guests);
	rr_list_init(&own->elsewhere);
	own->engine = engine;
	config.client = base->client;
	config.keeper = own;
	error = rr_map_init(&own->by_file, base->env, 64);
	if (!error)
		error = rr_v4_new(&config, &own->v4);
	if (error) {
		provider_free(own);
		return rr_fail(text, error, "out of memory");
	}
	*vfs = &base->base;
	return 0;
}
