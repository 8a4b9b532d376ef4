/* SPDX-License-Identifier: BSD-3-Clause */
/* This file makes and frees the storage and its providers. */
#include <rpcrdma/error.h>
#include <string.h>

#include "node.h"
#include "run.h"

enum { MEMORY_BUCKETS = 4096, MEMORY_LINKS = 32000, MEMORY_START = 1000000 };

/* Replaces zeros in the storage's configuration by defaults, sets its clock, and derives its key and its
 * write verifier from the seed. */
static void
memory_defaults(struct rr_memory *memory)
{
	struct rr_memory_config *config = &memory->config;

	if (config->link_max == 0)
		config->link_max = MEMORY_LINKS;
	if (config->file_max == 0)
		config->file_max = INT64_MAX;
	rr_memory_space(memory, config->octets, config->files);
	memory->dice = config->seed;
	memory->ticks = MEMORY_START;
	memory->verifier = rr_memory_random(memory);
	for (size_t i = 0; i < sizeof(memory->key); i += sizeof(uint64_t)) {
		uint64_t word = rr_memory_random(memory);

		memcpy(memory->key + i, &word, sizeof(word));
	}
}

/* Makes the root directory of each export, with mode 0755, for user 0. Returns 0, or -1 if there is no
 * memory. */
static int
memory_roots(struct rr_memory *memory)
{
	memory->roots = rr_alloc_array(memory->env, memory->config.export_count, sizeof(memory->roots[0]));
	if (!memory->roots)
		return -1;
	for (uint32_t i = 0; i < memory->config.export_count; i++) {
		const struct rr_memory_make make = { RR_VFS_DIRECTORY, i, 0755, 0, 0 };

		if (rr_memory_node_new(memory, &make, &memory->roots[i]) != RR_VFS_OK)
			return -1;
		memory->roots[i]->parent = memory->roots[i];
		memory->roots[i]->attributes.links = 2;
	}
	return 0;
}

int
rr_memory_new(const struct rr_env *env, const struct rr_memory_config *config, struct rr_memory **made)
{
	struct rr_memory *memory = rr_alloc(env, sizeof(*memory));

	if (!memory)
		return -RPCRDMA_ERR_NOMEM;
	memory->env = env;
	memory->config = *config;
	rr_reserve_init(&memory->reserve);
	rr_list_init(&memory->vfss);
	rr_list_init(&memory->nodes);
	memory_defaults(memory);
	if (rr_map_init(&memory->numbers, env, MEMORY_BUCKETS) < 0 ||
		rr_map_init(&memory->names, env, MEMORY_BUCKETS) < 0 || memory_roots(memory) < 0) {
		rr_memory_free(memory);
		return -RPCRDMA_ERR_NOMEM;
	}
	*made = memory;
	return 0;
}

void
rr_memory_free(struct rr_memory *memory)
{
	if (!memory)
		return;
	rr_list_for_each (link, &memory->nodes)
		rr_memory_node_free(memory, rr_container(link, struct rr_memory_node, all));
	rr_reserve_free(&memory->reserve);
	rr_map_free(&memory->numbers, memory->env);
	rr_map_free(&memory->names, memory->env);
	rr_free(memory->env, memory->roots);
	rr_free(memory->env, memory);
}

int
rr_memory_provider(struct rr_memory *memory, struct rr_loop *loop, struct rr_vfs **vfs)
{
	struct rr_memory_vfs *made = rr_alloc(memory->env, sizeof(*made));

	if (!made)
		return -RPCRDMA_ERR_NOMEM;
	made->vfs = (struct rr_vfs){
		.ops = &rr_memory_ops,
		.loop = loop,
		.reserve = &memory->reserve,
		.exports = memory->config.exports,
		.export_count = memory->config.export_count,
		.read_only = memory->config.read_only,
	};
	made->memory = memory;
	rr_list_append(&memory->vfss, &made->link);
	rr_list_init(&made->jobs);
	rr_list_init(&made->recalls);
	rr_timer_init(&made->timer, rr_memory_turn);
	*vfs = &made->vfs;
	return 0;
}

void
rr_memory_steer(struct rr_memory *memory, const struct rr_memory_script *script)
{
	memory->script = script ? *script : (struct rr_memory_script){ 0 };
}
