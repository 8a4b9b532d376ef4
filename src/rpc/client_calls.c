/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of the public interface, from their configuration to done(). */
#include "base/config.h"
#include "rpc/client_private.h"

enum { CALLS_KEPT = 1024 }; /* struct rpcrdma_call that an engine keeps for reuse, at most */

void
rr_call_put(struct rpcrdma_engine *engine, struct rpcrdma_call *call)
{
	rr_list_remove(&call->link);
	rr_cache_put(&engine->calls, call);
}

/* Takes memory for an RPC call from the engine's cache, and prepares the cache when it is first used. Returns
 * NULL if there is no memory. */
static struct rpcrdma_call *
calls_get(struct rpcrdma_engine *engine)
{
	struct rpcrdma_call *call;

	if (engine->calls.size == 0)
		rr_cache_init(&engine->calls, engine->env, sizeof(*call), CALLS_KEPT);
	call = rr_cache_get(&engine->calls);
	if (call)
		rr_list_init(&call->link);
	return call;
}

/* Makes client->refusal the text that rpcrdma_client_error() returns. Returns error, so that the caller can
 * return it. */
static int
calls_fail(struct rpcrdma_client *client, int error)
{
	client->said = client->refusal.text;
	return error;
}

/* Refuses configurations of calls whose faults would be found only later, or not at all. Returns 0 or
 * -RPCRDMA_ERR_INVAL. */
static int
calls_check(const struct rpcrdma_call_config *config, struct rr_text *text)
{
	const struct rpcrdma_program *program = config->program;
	const struct rpcrdma_procedure *procedure;

	if (!program)
		return rr_fail(text, -RPCRDMA_ERR_INVAL, "the call names no program");
	if (config->procedure >= program->procedure_count || !program->procedures[config->procedure].name)
		return rr_fail(
			text, -RPCRDMA_ERR_INVAL, "%s has no procedure %u", program->name, config->procedure);
	procedure = &program->procedures[config->procedure];
	if (procedure->put_args && !config->args)
		return rr_fail(text, -RPCRDMA_ERR_INVAL, "%s takes arguments", procedure->name);
	if (procedure->get_result && !config->result)
		return rr_fail(text, -RPCRDMA_ERR_INVAL, "%s has a result: memory for it is missing",
			procedure->name);
	if (config->sink_count > RPCRDMA_SINKS_MAX || (config->sink_count > 0 && !config->sinks))
		return rr_fail(text, -RPCRDMA_ERR_INVAL, "%s: %s %u sinks%s", procedure->name,
			config->sinks ? "the call has" : "the call counts", config->sink_count,
			config->sinks ? ", more than can be placed" : ", and the pointer to them is NULL");
	for (uint32_t i = 0; i < config->sink_count; i++) {
		if (!config->sinks[i].data && config->sinks[i].length > 0)
			return rr_fail(text, -RPCRDMA_ERR_INVAL,
				"%s: sink %u has %u octets, and the pointer to them is NULL", procedure->name,
				i, config->sinks[i].length);
	}
	return 0;
}

/* Is called when the inner call (struct rr_call) has ended: calls the caller's done(), and returns the memory
 * of the public call (struct rpcrdma_call) to the engine's cache. */
static void
calls_ended(struct rr_call *base, int error)
{
	struct rpcrdma_call *call = rr_container(base, struct rpcrdma_call, base);
	struct rpcrdma_client *client = base->client->root;
	struct rpcrdma_engine *engine = client->engine;

	rr_list_remove(&call->link);
	call->ended = true;
	if (error < 0)
		client->said = rr_client_error(client);
	if (call->done)
		call->done(call->ctx, call, error);
	rr_call_put(engine, call);
}

/* Copies the configuration into the call. */
static void
calls_fill(struct rpcrdma_call *call, const struct rpcrdma_call_config *config)
{
	struct rr_call *base = &call->base;

	call->ended = false;
	call->done = config->done;
	call->ctx = config->ctx;
	/* The memory of a call is zeroed, or left by an earlier call: rr_client_call() sets all that is not
	 * set here, except often_large, guarded and over, which no public call sets. */
	base->program = config->program;
	base->proc = config->procedure;
	base->args = config->args;
	base->result = config->result;
	base->reply_max = config->reply_max;
	base->reply_min = config->reply_min;
	base->sink_count = config->sink_count;
	base->keep = config->keep;
	base->keep_size = config->keep_size;
	base->timeout = config->timeout;
	base->silence = false;
	base->done = calls_ended;
	base->arena = config->arena ? rpcrdma_arena(config->arena, config->arena_size)
				    : (struct rpcrdma_arena){ NULL, NULL };
	for (uint32_t i = 0; i < config->sink_count; i++)
		base->sinks[i] = config->sinks[i];
}

/* Checks the configuration, and starts a call made from it. Stores the call in *result, unless result is
 * NULL. Returns 0, or an error if no call was started. */
static int
calls_begin(
	struct rpcrdma_client *client, const struct rpcrdma_call_config *config, struct rpcrdma_call **result)
{
	struct rpcrdma_call *call;
	int error = calls_check(config, &client->refusal);

	if (error < 0)
		return calls_fail(client, error);
	call = calls_get(client->engine);
	if (!call)
		return calls_fail(
			client, rr_fail(&client->refusal, -RPCRDMA_ERR_NOMEM, "no memory for a call"));
	calls_fill(call, config);
	rr_list_append(&client->calls, &call->link);
	if (result)
		*result = call;
	rr_client_call(client, &call->base);
	return 0;
}

int
rpcrdma_client_call(
	struct rpcrdma_client *client, const struct rpcrdma_call_config *theirs, struct rpcrdma_call **result)
{
	struct rpcrdma_call_config config;
	int error;

	if (!client)
		return -RPCRDMA_ERR_INVAL;
	/* The structure of a caller that was built with this version of the library need not be copied. */
	if (theirs && theirs->size == sizeof(config))
		return calls_begin(client, theirs, result);
	error = rr_config_take(&config, sizeof(config), sizeof(config), theirs, "struct rpcrdma_call_config",
		&client->refusal);
	return error < 0 ? calls_fail(client, error) : calls_begin(client, &config, result);
}

/* A call whose caller waits for it in rpcrdma_client_call_and_wait(). */
struct calls_wait {
	void (*done)(void *ctx, struct rpcrdma_call *call, int error); /* the function of the caller */
	void *ctx;
	bool over;
	int error;
};

/* Is called when a call ends whose caller waits for it: stores the outcome in the calls_wait, and calls the
 * caller's done(). */
static void
calls_wait_done(void *ctx, struct rpcrdma_call *call, int error)
{
	struct calls_wait *wait = ctx;

	wait->over = true;
	wait->error = error;
	if (wait->done)
		wait->done(wait->ctx, call, error);
}

/* Turns the engine's loop once for a call whose caller waits for it. Returns 0, or an error, after which the
 * call is cancelled. */
static int
calls_turn(struct rpcrdma_client *client, const struct calls_wait *wait, struct rpcrdma_call *call)
{
	int turned = rpcrdma_engine_turn(client->engine, client->interrupted ? RR_CLIENT_TICK : -1);

	/* The client may be gone with the call. */
	if (wait->over)
		return 0;
	if (turned >= 0 && !(client->interrupted && client->interrupted(client->interrupted_ctx)))
		return 0;
	rpcrdma_call_cancel(call);
	if (turned >= 0)
		turned = rr_fail(&client->refusal, -RPCRDMA_ERR_CANCELLED, "%s: interrupted", client->peer);
	else
		client->refusal = client->engine->text;
	return calls_fail(client, turned);
}

int
rpcrdma_client_call_and_wait(struct rpcrdma_client *client, const struct rpcrdma_call_config *theirs)
{
	struct rpcrdma_call_config config;
	struct calls_wait wait = { 0 };
	struct rpcrdma_call *call;
	int error;

	if (!client)
		return -RPCRDMA_ERR_INVAL;
	error = rr_engine_may_wait(client->engine, __func__, &client->refusal);
	if (error == 0)
		error = rr_config_take(&config, sizeof(config), sizeof(config), theirs,
			"struct rpcrdma_call_config", &client->refusal);
	if (error < 0)
		return calls_fail(client, error);
	wait.done = config.done;
	wait.ctx = config.ctx;
	config.size = sizeof(config);
	config.done = calls_wait_done;
	config.ctx = &wait;
	error = rpcrdma_client_call(client, &config, &call);
	while (error == 0 && !wait.over)
		error = calls_turn(client, &wait, call);
	return error < 0 ? error : wait.error;
}

int
rpcrdma_client_call_procedure(struct rpcrdma_client *client, const struct rpcrdma_program *program,
	uint32_t procedure, const void *args, void *result, const struct rpcrdma_call_config *theirs)
{
	struct rpcrdma_call_config config = { 0 };
	int error = 0;

	if (!client)
		return -RPCRDMA_ERR_INVAL;
	if (theirs)
		error = rr_config_take(&config, sizeof(config), sizeof(config), theirs,
			"struct rpcrdma_call_config", &client->refusal);
	if (error < 0)
		return calls_fail(client, error);
	config.size = sizeof(config);
	config.program = program;
	config.procedure = procedure;
	config.args = args;
	config.result = result;
	if (config.done)
		return rpcrdma_client_call(client, &config, NULL);
	return rpcrdma_client_call_and_wait(client, &config);
}

void
rpcrdma_call_cancel(struct rpcrdma_call *call)
{
	struct rpcrdma_client *client = call ? call->base.client : NULL;

	if (!call || call->ended)
		return;
	call->ended = true;
	rr_client_cancel(client, &call->base);
	rr_call_put(client->engine, call);
}

uint32_t
rpcrdma_call_placed(const struct rpcrdma_call *call)
{
	return call ? call->base.placed : 0;
}

uint32_t
rpcrdma_call_pulled(const struct rpcrdma_call *call)
{
	return call ? call->base.pulled : 0;
}
