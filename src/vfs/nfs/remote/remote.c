/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider as a whole: it is made and freed here, with what the providers of all threads share. */
#include "vfs/nfs/remote/remote.h"

#include <rpcrdma/error.h>

#include "carrier/engine.h"

int
rr_remote_shared_new(const struct rr_env *env, const struct rr_remote_config *config,
	struct rr_remote_shared **shared, struct rr_text *text)
{
	struct rr_remote_shared *new = rr_alloc(env, sizeof(*new));
	int error;

	if (!new)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "out of memory");
	new->env = env;
	rr_reserve_init(&new->reserve);
	new->config = *config;
	error = rr_remote_handles_init(&new->handles, env, config);
	new->names = rr_alloc_array(env, config->export_count, sizeof(*new->names));
	if (!error && !new->names)
		error = -RPCRDMA_ERR_NOMEM;
	if (error) {
		rr_remote_shared_free(new);
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
rr_remote_shared_free(struct rr_remote_shared *shared)
{
	if (!shared)
		return;
	rr_remote_handles_end(&shared->handles);
	rr_reserve_free(&shared->reserve);
	rr_free(shared->env, shared->names);
	rr_free(shared->env, shared);
}

void
rr_remote_free(struct rr_remote_vfs *vfs)
{
	rr_client_free(vfs->client);
	rr_map_free(&vfs->queues, vfs->env);
	rr_free(vfs->env, vfs);
}

int
rr_remote_new(struct rpcrdma_engine *engine, struct rr_remote_shared *shared,
	const struct rr_remote_version *version, size_t size, struct rr_remote_vfs **vfs,
	struct rr_text *text)
{
	const struct rr_env *env = engine->env;
	struct rr_remote_vfs *new = rr_alloc(env, size);
	int error;

	if (!new)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "out of memory");
	new->env = env;
	new->shared = shared;
	new->version = version;
	new->encode = rr_remote_encode;
	rr_list_init(&new->jobs);
	error = rr_map_init(&new->queues, env, 64);
	if (error)
		rr_fail(text, error, "out of memory");
	else
		error = rr_client_new(engine, &shared->config.rpc, &new->client, text);
	if (error) {
		rr_remote_free(new);
		return error;
	}
	new->base = (struct rr_vfs){ .ops = &version->ops,
		.loop = engine->loop,
		.reserve = &shared->reserve,
		.exports = shared->names,
		.export_count = shared->config.export_count,
		.read_only = shared->config.read_only };
	*vfs = new;
	return 0;
}

void
rr_remote_root(struct rr_vfs *vfs, uint32_t number, struct rr_vfs_handle *handle)
{
	struct rr_remote_shared *shared = ((struct rr_remote_vfs *)vfs)->shared;
	const struct rr_remote_export *export = &shared->config.exports[number];

	handle->length = 0;
	rr_remote_encode(&shared->handles, number,
		(struct rpcrdma_bytes){ export->root, export->root_length }, handle);
}

uint32_t
rr_remote_number(const struct rr_vfs *vfs, struct rpcrdma_bytes handle)
{
	return rr_remote_export_of(&((const struct rr_remote_vfs *)vfs)->shared->handles, handle);
}

/* ---- Verifiers of listings ---- */

/* Returns a number that stands for the directory. */
static uint64_t
remote_directory(const struct rr_remote_vfs *vfs, const struct rr_remote_handle *directory)
{
	return rr_siphash_64(vfs->shared->handles.check, directory->data, directory->length);
}

const uint8_t *
rr_remote_verifier(const struct rr_remote_vfs *vfs, const struct rr_remote_handle *directory, uint64_t cookie)
{
	static const uint8_t none[RR_REMOTE_VERIFIER];
	uint64_t number = remote_directory(vfs, directory);
	const struct rr_remote_listed *listed = &vfs->listed[number % RR_REMOTE_LISTED];

	return cookie != 0 && listed->directory == number ? listed->verifier : none;
}

void
rr_remote_note_verifier(struct rr_remote_vfs *vfs, const struct rr_remote_handle *directory,
	const uint8_t verifier[RR_REMOTE_VERIFIER])
{
	uint64_t number = remote_directory(vfs, directory);
	struct rr_remote_listed *listed = &vfs->listed[number % RR_REMOTE_LISTED];

	listed->directory = number;
	memcpy(listed->verifier, verifier, sizeof(listed->verifier));
}
