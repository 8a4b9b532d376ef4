/* SPDX-License-Identifier: BSD-3-Clause */
#include "api/services.h"

static int
check(const struct rpcrdma_service *services, uint32_t count, struct rr_text *text)
{
	for (uint32_t i = 0; i < count; i++) {
		if (!services[i].program || !services[i].handlers)
			return rr_fail(
				text, -RPCRDMA_ERR_INVAL, "service %u lacks its program or its handlers", i);
	}
	return 0;
}

static size_t
count_procedures(const struct rpcrdma_service *services, uint32_t count)
{
	size_t procedures = 0;

	for (uint32_t i = 0; i < count; i++)
		procedures += services[i].program->procedure_count;
	return procedures;
}

/* A service as the inner server has it: every procedure that is handled is handled by rr_api_handle(). */
static struct rr_service
inner_service(struct rr_api_service *service, rr_procedure_handler **handlers)
{
	const struct rpcrdma_program *program = service->service.program;

	for (uint32_t i = 0; i < program->procedure_count; i++)
		handlers[i] = service->service.handlers[i] ? rr_api_handle : NULL;
	return (struct rr_service){ program, handlers, service, service->service.once };
}

static int
fill(struct rr_api_services *mine, const struct rpcrdma_service *services, uint32_t count,
	const struct rr_server_config *config)
{
	const struct rr_env *env = mine->engine->env;
	struct rr_server_config roomy = *config;
	struct rr_service *inner = rr_alloc_array(env, count, sizeof(*inner));
	rr_procedure_handler **next;
	int error;

	mine->handlers = next = rr_alloc_array(env, count_procedures(services, count), sizeof(*next));
	if (!inner || !next) {
		rr_free(env, inner);
		return -RPCRDMA_ERR_NOMEM;
	}
	for (uint32_t i = 0; i < count; i++) {
		mine->services[i] = (struct rr_api_service){ services[i], mine->engine };
		inner[i] = inner_service(&mine->services[i], next);
		next += services[i].program->procedure_count;
	}
	roomy.arena_size += RR_API_REQUEST_ARENA;
	error = rr_server_new(mine->engine, &roomy, inner, count, &mine->server);
	rr_free(env, inner);
	return error;
}

int
rr_api_services_new(struct rpcrdma_engine *engine, const struct rpcrdma_service *services, uint32_t count,
	const struct rr_server_config *config, struct rr_api_services **result)
{
	struct rr_api_services *mine;
	int error = check(services, count, &engine->text);

	if (error < 0)
		return error;
	mine = rr_alloc(engine->env, sizeof(*mine) + (size_t)count * sizeof(mine->services[0]));
	if (!mine)
		return rr_fail(&engine->text, -RPCRDMA_ERR_NOMEM, "no memory for services");
	mine->engine = engine;
	error = fill(mine, services, count, config);
	if (error < 0) {
		rr_api_services_free(mine);
		return rr_fail(&engine->text, error, "no memory for services");
	}
	*result = mine;
	return 0;
}

void
rr_api_services_free(struct rr_api_services *services)
{
	if (!services)
		return;
	rr_loop_enter(services->engine->loop); /* lost() is a callback, too */
	rr_server_free(services->server);
	rr_loop_leave(services->engine->loop);
	rr_free(services->engine->env, services->handlers);
	rr_free(services->engine->env, services);
}
