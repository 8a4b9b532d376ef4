/* SPDX-License-Identifier: BSD-3-Clause */
/* Directories of this machine, as a kind of storage that is served. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/confine/confine.h"
#include "tool/guard.h"
#include "tool/serve/serve.h"
#include "vfs/posix/posix.h"

static char *
posix_path(const struct rr_tool *tool, struct rr_serve *serve, char *argument, int *status)
{
	char *path = realpath(argument, NULL);

	(void)serve;
	if (!path)
		*status =
			rr_tool_fail(tool, "%s: %s; name a directory that exists", argument, strerror(errno));
	return path;
}

static int
posix_begin(struct rr_serve *serve, void **shared, struct rr_text *text)
{
	struct rr_posix_shared *made;

	serve->tree.workers = RR_POSIX_WORKERS;
	if (rr_posix_shared_new(&rr_env_system, rr_random_u64(&rr_env_system), &made) < 0)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "out of memory");
	*shared = made;
	return 0;
}

static int
posix_provide(void *shared, const struct rr_serve *serve, struct rpcrdma_engine *engine, struct rr_vfs **vfs,
	struct rr_text *text)
{
	return rr_posix_new(engine->env, engine->loop, &serve->tree, shared, vfs, text);
}

static void
posix_end(void *shared)
{
	rr_posix_shared_free(shared);
}

static void
posix_confine(const struct rr_serve *serve, struct rr_confine *confine)
{
	for (uint32_t i = 0; i < serve->tree.export_count; i++)
		rr_confine_path(confine, serve->exports[i].path,
			serve->tree.read_only ? RR_CONFINE_READ : RR_CONFINE_WRITE);
}

const struct rr_serve_provider rr_serve_posix = { "", "of this machine", posix_path, NULL, rr_guard_wanted,
	posix_begin, posix_provide, rr_posix_apart, posix_end, posix_confine, false };
