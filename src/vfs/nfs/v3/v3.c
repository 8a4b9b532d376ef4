/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider as a whole: it is made and freed here. */
#include <rpcrdma/error.h>
#include <string.h>

#include "carrier/engine.h"
#include "vfs/nfs/v3/v3_private.h"

static rr_v3_step *const v3_steps[RR_VFS_OPERATIONS] = {
	[RR_VFS_OP_GETATTR] = rr_v3_getattr,
	[RR_VFS_OP_SETATTR] = rr_v3_setattr,
	[RR_VFS_OP_ACCESS] = rr_v3_access,
	[RR_VFS_OP_READLINK] = rr_v3_readlink,
	[RR_VFS_OP_READ] = rr_v3_read,
	[RR_VFS_OP_WRITE] = rr_v3_write,
	[RR_VFS_OP_COMMIT] = rr_v3_commit,
	[RR_VFS_OP_OPEN] = rr_v3_open,
	[RR_VFS_OP_LOCK] = rr_v3_lock,
	[RR_VFS_OP_LOOKUP] = rr_v3_lookup,
	[RR_VFS_OP_CREATE] = rr_v3_create,
	[RR_VFS_OP_LINK] = rr_v3_link,
	[RR_VFS_OP_REMOVE] = rr_v3_remove,
	[RR_VFS_OP_RENAME] = rr_v3_rename,
	[RR_VFS_OP_READDIR] = rr_v3_readdir,
	[RR_VFS_OP_STATFS] = rr_v3_statfs,
	[RR_VFS_OP_LIMITS] = rr_v3_limits,
};

static void
v3_root(struct rr_vfs *vfs, uint32_t number, struct rr_vfs_handle *handle)
{
	struct rr_v3_vfs *own = (struct rr_v3_vfs *)vfs;
	const struct rr_v3_export *export = &own->shared->config.exports[number];

	handle->length = 0;
	rr_v3_encode(&own->shared->handles, number,
		(nfs_fh3){ .data = { export->root, export->root_length } }, handle);
}

static uint32_t
v3_export_of(const struct rr_vfs *vfs, struct rpcrdma_bytes handle)
{
	return rr_v3_export_of(&((const struct rr_v3_vfs *)vfs)->shared->handles, handle);
}

/* An open is nothing that the other server knows of. */
static enum rr_vfs_status
v3_close(struct rr_vfs *vfs, struct rr_vfs_open *open, struct rr_vfs_call *call)
{
	struct rr_v3_vfs *own = (struct rr_v3_vfs *)vfs;

	(void)call;
	rr_free(own->env, open);
	return RR_VFS_OK;
}

/* Frees the provider, also one that was made in part. */
static void
v3_free(struct rr_v3_vfs *own)
{
	rr_client_free(own->client);
	rr_map_free(&own->queues, own->env);
	rr_free(own->env, own);
}

static void
v3_destroy(struct rr_vfs *vfs)
{
	struct rr_v3_vfs *own = (struct rr_v3_vfs *)vfs;

	rr_v3_end_all(own);
	v3_free(own);
}

static const struct rr_vfs_ops v3_ops = {
	.name = "nfs3",
	.destroy = v3_destroy,
	.root = v3_root,
	.export_of = v3_export_of,
	.begin = rr_v3_begin,
	.cancel = rr_v3_cancel,
	.close = v3_close,
};

int
rr_v3_shared_new(const struct rr_env *env, const struct rr_v3_config *config, struct rr_v3_shared **shared,
	struct rr_text *text)
{
	struct rr_v3_shared *new = rr_alloc(env, sizeof(*new));
	int error;

	if (!new)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "out of memory");
	new->env = env;
	rr_reserve_init(&new->reserve);
	new->config = *config;
	error = rr_v3_handles_init(&new->handles, env, config);
	new->names = rr_alloc_array(env, config->export_count, sizeof(*new->names));
	if (!error && !new->names)
		error = -RPCRDMA_ERR_NOMEM;
	if (error) {
		rr_v3_shared_free(new);
		return rr_fail(text, error, "%s",
			error == -RPCRDMA_ERR_INVAL ? "two directories are served by the same name"
						    : "out of memory");
	}
	for (uint32_t i = 0; i < config->export_count; i++)
		new->names[i].name = config->exports[i].name;
	*shared = new;
	return 0;
}

void
rr_v3_shared_free(struct rr_v3_shared *shared)
{
	if (!shared)
		return;
	rr_v3_handles_end(&shared->handles);
	rr_reserve_free(&shared->reserve);
	rr_free(shared->env, shared->names);
	rr_free(shared->env, shared);
}

int
rr_v3_new(
	struct rpcrdma_engine *engine, struct rr_v3_shared *shared, struct rr_vfs **vfs, struct rr_text *text)
{
	const struct rr_env *env = engine->env;
	struct rr_v3_vfs *own = rr_alloc(env, sizeof(*own));
	int error;

	if (!own)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "out of memory");
	own->env = env;
	own->shared = shared;
	own->steps = v3_steps;
	rr_list_init(&own->jobs);
	error = rr_map_init(&own->queues, env, 64);
	if (error)
		rr_fail(text, error, "out of memory");
	else
		error = rr_client_new(engine, &shared->config.rpc, &own->client, text);
	if (error) {
		v3_free(own);
		return error;
	}
	own->base = (struct rr_vfs){ .ops = &v3_ops,
		.loop = engine->loop,
		.reserve = &shared->reserve,
		.exports = shared->names,
		.export_count = shared->config.export_count,
		.read_only = shared->config.read_only };
	*vfs = &own->base;
	return 0;
}
