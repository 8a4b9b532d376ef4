/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of an RPC server. Replies may still be under way when the server is freed: their blocks, and
 * with them the server itself, are freed when the last reply was sent. */
#include "rpc/server.h"

#include <string.h>

#include "rpc/server_private.h"

const struct rr_server_config rr_server_config_default = {
	.arena_size = 64 * 1024,
	.reply_max = 128 * 1024,
	.call_max = 256,
	.auths = rr_auth_served,
};

int
rr_server_new(struct rpcrdma_engine *engine, const struct rr_server_config *config,
	const struct rr_service *services, uint32_t service_count, struct rpcrdma_server **result)
{
	struct rpcrdma_server *server = rr_alloc(engine->env, sizeof(*server));
	size_t procedures = 0;

	if (!server)
		return -RPCRDMA_ERR_NOMEM;
	server->engine = engine;
	server->config = *config;
	rr_cache_init(&server->free_blocks, engine->env, 0,
		config->call_max); /* queue_new_block() makes the blocks */
	for (uint32_t i = 0; i < service_count; i++)
		procedures += services[i].program->procedure_count;
	server->services = rr_alloc_array(engine->env, service_count, sizeof(*services));
	server->histories = rr_alloc_array(engine->env, procedures, sizeof(*server->histories));
	if (!config->drc)
		server->config.drc = server->own_drc = rr_drc_new(engine->env, &rr_drc_config_default);
	if (!server->services || !server->histories || !server->config.drc) {
		rr_server_delete(server);
		return -RPCRDMA_ERR_NOMEM;
	}
	server->service_count = service_count;
	memcpy(server->services, services, service_count * sizeof(*services));
	rr_list_init(&server->listeners);
	rr_list_init(&server->connections);
	rr_server_later_init(server);
	rr_server_queue_init(server);
	rr_server_turns_init(server);
	*result = server;
	return 0;
}

const struct rpcrdma_latency *
rr_server_latency(const struct rpcrdma_server *server, uint32_t index, uint32_t proc)
{
	const struct rr_history *history = rr_server_history_of(server, index, proc);

	return history ? &history->latency : NULL;
}

void
rr_server_free(struct rpcrdma_server *server)
{
	struct rr_loop *loop;

	if (!server)
		return;
	loop = server->engine->loop;
	rr_loop_enter(loop); /* so that lost() of a request counts as a callback */
	rr_server_turns_end(server);
	rr_server_queue_end(server);
	rr_server_close_all(server);
	rr_server_later_end(server);
	rr_server_turns_finish(server);
	server->freed = true;
	if (server->block_count == 0)
		rr_server_delete(server);
	rr_loop_leave(loop);
}

bool
rr_server_idle(const struct rpcrdma_server *server)
{
	return server->shut && server->connection_count == 0 && server->block_count == 0;
}

uint32_t
rr_server_connections(const struct rpcrdma_server *server)
{
	return server->connection_count;
}
