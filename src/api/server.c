/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The public server. It owns its rr_server, which has one handler for all
 * procedures, and a copy of the services, where that finds the caller's.
 */
#include <string.h>

#include "api/config.h"
#include "api/engine.h"
#include "api/resolve.h"
#include "api/server.h"

enum { ARENA_MAX = 16 << 20, REPLY_MAX = 1 << 30 };

struct rpcrdma_server {
	struct rpcrdma_engine *engine;
	struct rr_server *server;
	struct rr_text text;
	rr_procedure_handler **handlers; /* of all services, one after the other */
	struct rr_api_service services[];
};

static int
check(const struct rpcrdma_server_config *config, struct rr_text *text)
{
	if (config->service_count == 0 || !config->services)
		return rr_fail(text, -RPCRDMA_ERR_INVAL, "a server needs at least one service");
	if (config->arena_size > ARENA_MAX || config->reply_max > REPLY_MAX)
		return rr_fail(text, -RPCRDMA_ERR_INVAL,
			"a server's arena_size is at most %d, its reply_max at most %d", ARENA_MAX,
			REPLY_MAX);
	for (uint32_t i = 0; i < config->service_count; i++) {
		if (!config->services[i].program || !config->services[i].handlers)
			return rr_fail(
				text, -RPCRDMA_ERR_INVAL, "service %u lacks its program or its handlers", i);
	}
	return 0;
}

static uint32_t
count_procedures(const struct rpcrdma_server_config *config)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < config->service_count; i++)
		count += config->services[i].program->procedure_count;
	return count;
}

/* A service as the inner server has it: every procedure that is handled is handled by rr_api_handle(). */
static struct rr_service
inner_service(struct rr_api_service *service, rr_procedure_handler **handlers)
{
	const struct rpcrdma_program *program = service->service.program;

	for (uint32_t i = 0; i < program->procedure_count; i++)
		handlers[i] = service->service.handlers[i] ? rr_api_handle : NULL;
	return (struct rr_service){ program, handlers, service };
}

static int
make_inner(struct rpcrdma_server *server, const struct rpcrdma_server_config *config)
{
	const struct rr_env *env = &server->engine->env;
	struct rr_server_config inner = rr_server_config_default;
	struct rr_service *services = rr_alloc_array(env, config->service_count, sizeof(*services));
	rr_procedure_handler **next;
	int error;

	server->handlers = next = rr_alloc_array(env, count_procedures(config), sizeof(*next));
	if (!services || !next) {
		rr_free(env, services);
		return -RPCRDMA_ERR_NOMEM;
	}
	for (uint32_t i = 0; i < config->service_count; i++) {
		server->services[i] =
			(struct rr_api_service){ config->services[i], server->engine->engine->pool };
		services[i] = inner_service(&server->services[i], next);
		next += config->services[i].program->procedure_count;
	}
	if (config->arena_size)
		inner.arena_size = config->arena_size;
	if (config->reply_max)
		inner.reply_max = config->reply_max;
	error = rr_server_new(
		server->engine->engine, &inner, services, config->service_count, &server->server);
	rr_free(env, services);
	return error;
}

int
rpcrdma_server_new(struct rpcrdma_engine *engine, const struct rpcrdma_server_config *theirs,
	struct rpcrdma_server **result)
{
	struct rpcrdma_server_config config;
	struct rpcrdma_server *server;
	int error = rr_config_take(&config, sizeof(config), sizeof(config), theirs,
		"struct rpcrdma_server_config", &engine->text);

	if (error == 0)
		error = check(&config, &engine->text);
	if (error < 0)
		return error;
	server = rr_alloc(
		&engine->env, sizeof(*server) + (size_t)config.service_count * sizeof(server->services[0]));
	if (!server)
		return rr_fail(&engine->text, -RPCRDMA_ERR_NOMEM, "no memory for a server");
	server->engine = engine;
	error = make_inner(server, &config);
	if (error < 0) {
		rpcrdma_server_free(server);
		return rr_fail(&engine->text, error, "no memory for a server");
	}
	*result = server;
	return 0;
}

void
rpcrdma_server_free(struct rpcrdma_server *server)
{
	if (!server)
		return;
	/* It calls no handler any more, even where replies under way keep it. */
	rr_server_free(server->server);
	rr_free(&server->engine->env, server->handlers);
	rr_free(&server->engine->env, server);
}

int
rpcrdma_server_listen(
	struct rpcrdma_server *server, enum rpcrdma_transport transport, const char *host, uint16_t *port)
{
	struct sockaddr_storage address;
	struct sockaddr *sockaddr = (struct sockaddr *)&address;
	int error = rr_api_resolve(host, *port, &address, 1, &server->text);

	if (error < 0)
		return error;
	switch (transport) {
	case RPCRDMA_TRANSPORT_RDMA:
		error = rr_server_listen_rdma(
			server->server, sockaddr, rr_api_address_size(&address), &server->text);
		break;
	case RPCRDMA_TRANSPORT_TCP:
		error = rr_server_listen_tcp(
			server->server, sockaddr, rr_api_address_size(&address), &server->text);
		break;
	default:
		error = rr_fail(
			&server->text, -RPCRDMA_ERR_INVAL, "there is no transport %d", (int)transport);
	}
	if (error == 0)
		*port = rr_api_port(&address);
	return error;
}

void
rpcrdma_server_shutdown(struct rpcrdma_server *server)
{
	rr_server_shutdown(server->server);
}

bool
rpcrdma_server_idle(const struct rpcrdma_server *server)
{
	return rr_server_idle(server->server);
}

uint32_t
rpcrdma_server_connections(const struct rpcrdma_server *server)
{
	return rr_server_connections(server->server);
}

int
rpcrdma_server_counters(const struct rpcrdma_server *server, struct rpcrdma_counters *counters)
{
	struct rr_counters inner;

	rr_server_counters(server->server, &inner);
	return rr_api_give_counters(counters, &inner);
}

const char *
rpcrdma_server_error(const struct rpcrdma_server *server)
{
	return server->text.text;
}
