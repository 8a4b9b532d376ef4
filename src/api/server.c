/* SPDX-License-Identifier: BSD-3-Clause */
/* The public server: services, with addresses at which they are served. */
#include "api/counters.h"
#include "api/services.h"
#include "base/address.h"
#include "base/config.h"

enum { ARENA_MAX = 16 << 20, REPLY_MAX = 1 << 30, CALL_MAX = 16384 };

struct rpcrdma_server {
	struct rpcrdma_engine *engine;
	struct rr_api_services *services;
	uint32_t service_count;
	struct rr_server *server; /* that of the services */
	struct rr_text text;
};

static int
check(const struct rpcrdma_server_config *config, struct rr_text *text)
{
	if (config->service_count == 0 || !config->services)
		return rr_fail(text, -RPCRDMA_ERR_INVAL, "a server needs at least one service");
	if (config->arena_size > ARENA_MAX || config->reply_max > REPLY_MAX || config->call_max > CALL_MAX)
		return rr_fail(text, -RPCRDMA_ERR_INVAL,
			"a server's arena_size is at most %d, its reply_max at most %d, its call_max at most "
			"%d",
			ARENA_MAX, REPLY_MAX, CALL_MAX);
	return 0;
}

static int
make_services(struct rpcrdma_server *server, const struct rpcrdma_server_config *config)
{
	struct rr_server_config inner = rr_server_config_default;
	int error;

	if (config->arena_size)
		inner.arena_size = config->arena_size;
	if (config->reply_max)
		inner.reply_max = config->reply_max;
	if (config->call_max)
		inner.call_max = config->call_max;
	error = rr_api_services_new(
		server->engine, config->services, config->service_count, &inner, &server->services);
	if (error < 0)
		return error;
	server->server = server->services->server;
	server->service_count = config->service_count;
	return 0;
}

int
rpcrdma_server_new(struct rpcrdma_engine *engine, const struct rpcrdma_server_config *theirs,
	struct rpcrdma_server **result)
{
	struct rpcrdma_server_config config;
	struct rpcrdma_server *server;
	int error;

	if (!engine || !result)
		return -RPCRDMA_ERR_INVAL;
	error = rr_config_take(&config, sizeof(config), sizeof(config), theirs,
		"struct rpcrdma_server_config", &engine->text);
	if (error == 0)
		error = check(&config, &engine->text);
	if (error < 0)
		return error;
	server = rr_alloc(engine->env, sizeof(*server));
	if (!server)
		return rr_fail(&engine->text, -RPCRDMA_ERR_NOMEM, "no memory for a server");
	server->engine = engine;
	rr_engine_use(engine);
	error = make_services(server, &config);
	if (error < 0) {
		rpcrdma_server_free(server);
		return error;
	}
	*result = server;
	return 0;
}

void
rpcrdma_server_free(struct rpcrdma_server *server)
{
	struct rpcrdma_engine *engine = server ? server->engine : NULL;

	if (!server)
		return;
	rr_api_services_free(server->services);
	rr_free(engine->env, server);
	rr_engine_leave(engine);
}

int
rpcrdma_server_listen(
	struct rpcrdma_server *server, enum rpcrdma_transport transport, const char *host, uint16_t *port)
{
	struct sockaddr_storage address;
	struct sockaddr *sockaddr = (struct sockaddr *)&address;
	socklen_t size;
	enum rr_transport inner;
	int error;

	if (!server || !port)
		return -RPCRDMA_ERR_INVAL;
	error = rr_engine_transport(transport, &inner, &server->text);
	if (error == 0)
		error = rr_address_resolve(host ? host : "127.0.0.1", *port, &address, 1, &server->text);
	if (error < 0)
		return error;
	size = rr_address_size(&address);
	error = rr_server_listen(server->server, inner, sockaddr, size, NULL, &server->text);
	if (error == 0)
		*port = rr_address_port(sockaddr);
	return error;
}

void
rpcrdma_server_shutdown(struct rpcrdma_server *server)
{
	if (server)
		rr_server_shutdown(server->server);
}

bool
rpcrdma_server_idle(const struct rpcrdma_server *server)
{
	return !server || rr_server_idle(server->server);
}

uint32_t
rpcrdma_server_connections(const struct rpcrdma_server *server)
{
	return server ? rr_server_connections(server->server) : 0;
}

int
rpcrdma_server_counters(const struct rpcrdma_server *server, struct rpcrdma_counters *counters)
{
	struct rpcrdma_counters inner;

	if (!server)
		return -RPCRDMA_ERR_INVAL;
	rr_server_counters(server->server, &inner);
	return rr_api_give_counters(counters, &inner);
}

struct visit {
	void (*visit)(void *ctx, const char *peer, const struct rpcrdma_negotiated *negotiated,
		const struct rpcrdma_counters *counters);
	void *ctx;
};

static void
visit_carrier(void *ctx, const struct rr_carrier *carrier)
{
	const struct visit *visit = ctx;
	struct rpcrdma_negotiated negotiated;

	rr_carrier_negotiated(carrier, &negotiated);
	visit->visit(visit->ctx, carrier->peer, &negotiated, &carrier->counters);
}

void
rpcrdma_server_each_connection(const struct rpcrdma_server *server,
	void (*visit)(void *ctx, const char *peer, const struct rpcrdma_negotiated *negotiated,
		const struct rpcrdma_counters *counters),
	void *ctx)
{
	if (server && visit)
		rr_server_each_connection(server->server, visit_carrier, &(struct visit){ visit, ctx });
}

int
rpcrdma_server_latency(const struct rpcrdma_server *server, const struct rpcrdma_program *program,
	uint32_t procedure, struct rpcrdma_latency *latency)
{
	const struct rpcrdma_latency *inner = NULL;

	if (!server || !program)
		return -RPCRDMA_ERR_INVAL;
	for (uint32_t i = 0; i < server->service_count; i++) {
		if (server->services->services[i].service.program == program)
			inner = rr_server_latency(server->server, i, procedure);
	}
	return rr_api_give_latency(latency, inner);
}

const char *
rpcrdma_server_error(const struct rpcrdma_server *server)
{
	return server ? server->text.text : "there is no server: the pointer to it is NULL";
}
