/* SPDX-License-Identifier: BSD-3-Clause */
/* <rpcrdma/server.h>. Configurations are checked, host names become addresses, and the server counts as a
 * user of the engine. */
#include "base/address.h"
#include "base/config.h"
#include "rpc/server_private.h"

enum { ARENA_MAX = 16 << 20, REPLY_MAX = 1 << 30, CALL_MAX = 16384 };

/* Checks that a public configuration has services, and that its sizes are within their bounds. Returns 0 or
 * -RPCRDMA_ERR_INVAL. */
static int
public_check(const struct rpcrdma_server_config *config, struct rr_text *text)
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

/* Returns the public service in the form in which the server keeps services. */
static struct rr_service
public_service(const struct rpcrdma_service *service)
{
	return (struct rr_service){
		.program = service->program,
		.handlers = service->handlers,
		.ctx = service->ctx,
		.once = service->once,
	};
}

int
rr_server_new_public(struct rpcrdma_engine *engine, const struct rr_server_config *config,
	const struct rpcrdma_service *services, uint32_t count, struct rpcrdma_server **server)
{
	struct rr_service *inner;
	int error;

	for (uint32_t i = 0; i < count; i++) {
		if (!services[i].program || !services[i].handlers)
			return rr_fail(&engine->text, -RPCRDMA_ERR_INVAL,
				"service %u lacks its program or its handlers", i);
	}
	inner = rr_alloc_array(engine->env, count, sizeof(*inner));
	if (!inner)
		return rr_fail(&engine->text, -RPCRDMA_ERR_NOMEM, "no memory for services");
	for (uint32_t i = 0; i < count; i++)
		inner[i] = public_service(&services[i]);
	error = rr_server_new(engine, config, inner, count, server);
	rr_free(engine->env, inner);
	return error < 0 ? rr_fail(&engine->text, error, "no memory for services") : 0;
}

/* Returns a configuration with the values that the application set, and with the defaults for values that
 * are 0. */
static struct rr_server_config
public_config(const struct rpcrdma_server_config *config)
{
	struct rr_server_config inner = rr_server_config_default;

	if (config->arena_size)
		inner.arena_size = config->arena_size;
	if (config->reply_max)
		inner.reply_max = config->reply_max;
	if (config->call_max)
		inner.call_max = config->call_max;
	return inner;
}

int
rpcrdma_server_new(struct rpcrdma_engine *engine, const struct rpcrdma_server_config *theirs,
	struct rpcrdma_server **result)
{
	struct rpcrdma_server_config config;
	struct rr_server_config inner;
	int error;

	if (!engine || !result)
		return -RPCRDMA_ERR_INVAL;
	error = rr_config_take(&config, sizeof(config), sizeof(config), theirs,
		"struct rpcrdma_server_config", &engine->text);
	if (error == 0)
		error = public_check(&config, &engine->text);
	if (error < 0)
		return error;
	inner = public_config(&config);
	error = rr_server_new_public(engine, &inner, config.services, config.service_count, result);
	if (error == 0)
		rr_engine_use(engine);
	return error;
}

void
rpcrdma_server_free(struct rpcrdma_server *server)
{
	struct rpcrdma_engine *engine = server ? server->engine : NULL;

	if (!server)
		return;
	rr_server_free(server);
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
	error = rr_server_listen(server, inner, sockaddr, size, NULL, &server->text);
	if (error == 0)
		*port = rr_address_port(sockaddr);
	return error;
}

void
rpcrdma_server_shutdown(struct rpcrdma_server *server)
{
	if (server)
		rr_server_shutdown(server);
}

bool
rpcrdma_server_idle(const struct rpcrdma_server *server)
{
	return !server || rr_server_idle(server);
}

uint32_t
rpcrdma_server_connections(const struct rpcrdma_server *server)
{
	return server ? rr_server_connections(server) : 0;
}

int
rpcrdma_server_counters(const struct rpcrdma_server *server, struct rpcrdma_counters *counters)
{
	struct rpcrdma_counters inner;

	if (!server)
		return -RPCRDMA_ERR_INVAL;
	rr_server_counters(server, &inner);
	return rr_config_give(counters, &inner, sizeof(inner), sizeof(inner));
}

struct public_visit {
	void (*visit)(void *ctx, const char *peer, const struct rpcrdma_negotiated *negotiated,
		const struct rpcrdma_counters *counters);
	void *ctx;
};

static void
public_visit(void *ctx, const struct rr_carrier *carrier)
{
	const struct public_visit *visit = ctx;
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
		rr_server_each_connection(server, public_visit, &(struct public_visit){ visit, ctx });
}

int
rpcrdma_server_latency(const struct rpcrdma_server *server, const struct rpcrdma_program *program,
	uint32_t procedure, struct rpcrdma_latency *latency)
{
	static const struct rpcrdma_latency nothing;
	const struct rpcrdma_latency *found = NULL;

	if (!server || !program)
		return -RPCRDMA_ERR_INVAL;
	for (uint32_t i = 0; i < server->service_count; i++) {
		if (server->services[i].program == program)
			found = rr_server_latency(server, i, procedure);
	}
	return rr_config_give(latency, found ? found : &nothing, sizeof(nothing), sizeof(nothing));
}

const char *
rpcrdma_server_error(const struct rpcrdma_server *server)
{
	return server ? server->text.text : "there is no server: the pointer to it is NULL";
}
