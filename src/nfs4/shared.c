/* SPDX-License-Identifier: BSD-3-Clause */
#include "nfs4/shared.h"

#include <rpcrdma/error.h>

int
rr_nfs4_shared_new(
	const struct rr_env *env, const struct rr_nfs4_shared_config *config, struct rr_nfs4_shared **result)
{
	struct rr_nfs4_shared *shared = rr_alloc(env, sizeof(*shared));
	int error;

	if (!shared)
		return -RPCRDMA_ERR_NOMEM;
	shared->env = env;
	shared->config = *config;
	error = rr_nfs4_tables_init(&shared->tables, env, &config->tables);
	if (error < 0) {
		rr_free(env, shared);
		return error;
	}
	pthread_mutex_init(&shared->lock, NULL);
	*result = shared;
	return 0;
}

void
rr_nfs4_shared_free(struct rr_nfs4_shared *shared)
{
	if (!shared)
		return;
	rr_nfs4_tables_free(&shared->tables);
	pthread_mutex_destroy(&shared->lock);
	rr_free(shared->env, shared);
}
