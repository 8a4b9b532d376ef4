/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of the public client, and what people ask it. It owns its rr_client; the engine is the caller's.
 */
#include "api/call.h"
#include "api/counters.h"
#include "base/address.h"
#include "base/config.h"
#include "rpc/credential.h"

#define LOOPBACK "127.0.0.1"

enum { CLIENT_ADDRESSES = 8 };

/* A client to be: its configuration, and the addresses of its server. */
struct plan {
	struct rpcrdma_client_config theirs;
	struct rr_client_config config;
	char machine[RPCRDMA_AUTH_SYS_NAME + 1];
	struct sockaddr_storage addresses[CLIENT_ADDRESSES];
	int address_count;
};

static int
take_credential(const struct rpcrdma_client_config *config, char *machine, struct rr_client_config *inner,
	struct rr_text *text)
{
	inner->auth = config->auth_none ? &rr_auth_none : &rr_auth_sys;
	if (config->auth_none)
		return 0;
	return rr_credential_sys(config->auth_sys, machine, &inner->cred, text);
}

static int
make_plan(struct plan *plan, const struct rpcrdma_client_config *theirs, struct rr_text *text)
{
	struct rpcrdma_client_config *config = &plan->theirs;
	int error = rr_config_take(
		config, sizeof(*config), sizeof(*config), theirs, "struct rpcrdma_client_config", text);

	plan->config = (struct rr_client_config){ 0 };
	if (error < 0)
		return error;
	if (config->port == 0)
		return rr_fail(text, -RPCRDMA_ERR_INVAL, "the client's config has no port");
	error = rr_engine_transport(config->transport, &plan->config.transport, text);
	if (error < 0)
		return error;
	plan->config.retry = config->retry;
	error = take_credential(config, plan->machine, &plan->config, text);
	if (error < 0)
		return error;
	plan->address_count = rr_address_resolve(config->host ? config->host : LOOPBACK, config->port,
		plan->addresses, CLIENT_ADDRESSES, text);
	return plan->address_count < 0 ? plan->address_count : 0;
}

static struct rpcrdma_client *
new_client(struct rpcrdma_engine *engine)
{
	struct rpcrdma_client *client = rr_alloc(engine->env, sizeof(*client));

	if (!client) {
		rr_fail(&engine->text, 0, "no memory for a client");
		return NULL;
	}
	client->engine = engine;
	client->error = client->text.text;
	rr_list_init(&client->calls);
	rr_engine_use(engine);
	return client;
}

/* error: that of making its inner client. */
static int
finish(struct rpcrdma_client *client, int error, struct rpcrdma_client **result)
{
	if (error < 0) {
		rpcrdma_client_free(client);
		return error;
	}
	client->error = rr_client_error(client->client);
	*result = client;
	return 0;
}

static int
make_callbacks(struct rpcrdma_client *client, const struct rpcrdma_client_config *config)
{
	if (config->service_count == 0)
		return 0;
	if (!config->services)
		return rr_fail(
			&client->engine->text, -RPCRDMA_ERR_INVAL, "the client's services are missing");
	return rr_api_services_new(client->engine, config->services, config->service_count,
		&rr_server_config_default, &client->callbacks);
}

/* Begins to connect to the plan's address of this number. */
static int
begin(struct rpcrdma_engine *engine, struct plan *plan, int number, struct rpcrdma_client **result)
{
	struct rpcrdma_client *client = new_client(engine);
	int error;

	if (!client)
		return -RPCRDMA_ERR_NOMEM;
	error = make_callbacks(client, &plan->theirs);
	if (error < 0)
		return finish(client, error, result);
	plan->config.callbacks = client->callbacks ? client->callbacks->server : NULL;
	plan->config.address = plan->addresses[number];
	plan->config.address_size = rr_address_size(&plan->addresses[number]);
	error = rr_client_new(engine, &plan->config, &client->client, &engine->text);
	return finish(client, error, result);
}

int
rpcrdma_client_new(struct rpcrdma_engine *engine, const struct rpcrdma_client_config *config,
	struct rpcrdma_client **client)
{
	struct plan plan;
	int error;

	if (!engine || !client)
		return -RPCRDMA_ERR_INVAL;
	error = make_plan(&plan, config, &engine->text);
	return error < 0 ? error : begin(engine, &plan, 0, client);
}

int
rpcrdma_request_client(struct rpcrdma_request *request, const struct rpcrdma_client_config *theirs,
	struct rpcrdma_client **result)
{
	struct rpcrdma_engine *engine = request ? request->engine : NULL;
	char machine[RPCRDMA_AUTH_SYS_NAME + 1];
	struct rr_client_config inner = { 0 };
	struct rpcrdma_client_config config;
	struct rpcrdma_client *client;
	int error;

	if (!request || !result)
		return -RPCRDMA_ERR_INVAL;
	error = rr_config_take(&config, sizeof(config), sizeof(config), theirs,
		"struct rpcrdma_client_config", &engine->text);
	if (error == 0)
		error = take_credential(&config, machine, &inner, &engine->text);
	if (error < 0)
		return error;
	client = new_client(engine);
	if (!client)
		return -RPCRDMA_ERR_NOMEM;
	error = rr_request_client(request->inner, &inner, &client->client, &engine->text);
	return finish(client, error, result);
}

static int
connect_to(struct rpcrdma_engine *engine, struct plan *plan, int number, struct rpcrdma_client **result)
{
	struct rpcrdma_client *client;
	int error = begin(engine, plan, number, &client);

	if (error < 0)
		return error;
	error = rr_client_wait_connected(client->client, NULL, NULL);
	if (error < 0) {
		rr_fail(&engine->text, error, "%s", rr_client_error(client->client));
		rpcrdma_client_free(client);
		return error;
	}
	*result = client;
	return 0;
}

int
rpcrdma_client_connect(struct rpcrdma_engine *engine, const struct rpcrdma_client_config *config,
	struct rpcrdma_client **client)
{
	struct plan plan;
	int error;

	if (!engine || !client)
		return -RPCRDMA_ERR_INVAL;
	error = rr_engine_may_wait(engine, __func__, &engine->text);
	if (error == 0)
		error = make_plan(&plan, config, &engine->text);
	if (error < 0)
		return error;
	for (int i = 0; i < plan.address_count; i++) {
		error = connect_to(engine, &plan, i, client);
		if (error != -RPCRDMA_ERR_REFUSED && error != -RPCRDMA_ERR_UNREACHABLE &&
			error != -RPCRDMA_ERR_TIMEDOUT)
			return error;
	}
	return error;
}

void
rpcrdma_client_free(struct rpcrdma_client *client)
{
	struct rpcrdma_engine *engine;

	if (!client)
		return;
	engine = client->engine;
	rr_client_free(client->client);
	rr_api_services_free(client->callbacks);
	while (!rr_list_empty(&client->calls))
		rr_api_call_put(engine, rr_container(client->calls.next, struct rpcrdma_call, link));
	rr_free(engine->env, client);
	rr_engine_leave(engine);
}

const char *
rpcrdma_client_error(const struct rpcrdma_client *client)
{
	return client ? client->error : "there is no client: the pointer to it is NULL";
}

int
rpcrdma_client_negotiated(const struct rpcrdma_client *client, struct rpcrdma_negotiated *negotiated)
{
	struct rpcrdma_negotiated mine;

	if (!client)
		return -RPCRDMA_ERR_INVAL;
	rr_client_negotiated(client->client, &mine);
	return rr_config_give(negotiated, &mine, sizeof(mine), sizeof(mine));
}

int
rpcrdma_client_counters(const struct rpcrdma_client *client, struct rpcrdma_counters *counters)
{
	struct rpcrdma_counters inner;

	if (!client)
		return -RPCRDMA_ERR_INVAL;
	rr_client_counters(client->client, &inner);
	return rr_api_give_counters(counters, &inner);
}

int
rpcrdma_client_latency(const struct rpcrdma_client *client, const struct rpcrdma_program *program,
	uint32_t procedure, struct rpcrdma_latency *latency)
{
	if (!client || !program)
		return -RPCRDMA_ERR_INVAL;
	return rr_api_give_latency(latency, rr_client_latency(client->client, program, procedure));
}
