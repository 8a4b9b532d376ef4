/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of an RPC client, and the functions that ask for its state. */
#include "rpc/client.h"

#include <string.h>

#include "base/address.h"
#include "rpc/client_private.h"

/* Encodes the credential once into the client, as the credential is the same for all calls, but for flavors
 * with contexts (struct rr_auth_guard). Also sets the
 * client's flavor, and whether that flavor allows that data items travel apart from the stream. Returns 0, or
 * an error with its text. */
static int
client_encode_cred(struct rpcrdma_client *client, struct rr_text *text)
{
	struct rpcrdma_xdr_writer writer;
	struct rpcrdma_message body;
	const struct rr_auth *auth = client->config.auth ? client->config.auth : &rr_auth_sys;

	client->auth = auth;
	if (auth->guard) {
		client->places = true;
		return 0;
	}
	if (!auth->put)
		return rr_fail(text, -RPCRDMA_ERR_NOTSUP, "there are no credentials of %s here", auth->name);
	rpcrdma_xdr_writer_init(&writer, client->cred_body, sizeof(client->cred_body), NULL, 0);
	auth->put(&writer, &client->config.user);
	if (writer.failed)
		return rr_fail(text, -RPCRDMA_ERR_INVAL,
			"the %s credential has too many groups or too long a name", auth->name);
	body = rpcrdma_xdr_written(&writer);
	client->cred = (struct rr_opaque_auth){ auth->flavor, { body.stream, body.length } };
	client->places = auth->may_place(client->cred.body);
	return 0;
}

int
rr_client_make(struct rpcrdma_engine *engine, const struct rr_client_config *config,
	struct rpcrdma_client **result, struct rr_text *text)
{
	struct rpcrdma_client *client = rr_alloc(engine->env, sizeof(*client));
	int error;

	if (!client)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for a client");
	client->engine = engine;
	client->config = *config;
	client->own_xid = rr_random_u32(engine->env);
	client->xid = &client->own_xid;
	client->root = client;
	rr_list_init(&client->back.link);
	rr_list_init(&client->waiting);
	rr_list_init(&client->outstanding);
	rr_list_init(&client->ending);
	rr_list_init(&client->buffers);
	rr_client_ready_init(client);
	rr_task_init(&client->task, rr_client_run_ending);
	rr_client_connect_init(client);
	error = client_encode_cred(client, text);
	if (error < 0) {
		rr_free(engine->env, client);
		return error;
	}
	*result = client;
	return 0;
}

/* ---- Further connections ---- */

/* Makes a client for a further connection, and adds that client to root->more. Returns 0 or an error. */
static int
client_add_connection(
	struct rpcrdma_client *root, const struct rr_client_config *config, struct rr_text *text)
{
	struct rpcrdma_client *further;
	int error = rr_client_new(root->engine, config, &further, text);

	if (error < 0)
		return error;
	further->root = root;
	further->xid = &root->own_xid;
	root->more[root->more_count++] = further;
	return 0;
}

/* Makes a client for each further connection, if config asks for more than one connection. Returns 0 or an
 * error. */
static int
client_add_connections(
	struct rpcrdma_client *client, const struct rr_client_config *config, struct rr_text *text)
{
	struct rr_client_config further = *config;
	int error = 0;

	if (config->connections < 2)
		return 0;
	/* The server calls back over the first connection only. */
	further.callbacks = NULL;
	further.connections = 1;
	client->more =
		rr_alloc_array(client->engine->env, config->connections - 1, sizeof(struct rpcrdma_client *));
	if (!client->more)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for connections");
	while (!error && client->more_count < config->connections - 1)
		error = client_add_connection(client, &further, text);
	return error;
}

/* Frees the clients of the further connections, if this client is over several connections. */
static void
client_free_connections(struct rpcrdma_client *client)
{
	while (client->more_count > 0)
		rr_client_free(client->more[--client->more_count]);
	rr_free(client->engine->env, client->more);
	client->more = NULL;
	client->failed = NULL;
}

int
rr_client_new(struct rpcrdma_engine *engine, const struct rr_client_config *config,
	struct rpcrdma_client **result, struct rr_text *text)
{
	struct rpcrdma_client *client;
	int error = rr_client_make(engine, config, &client, text);

	if (error < 0)
		return error;
	rr_address_text((const struct sockaddr *)&config->address, client->peer, sizeof(client->peer));
	error = rr_client_connect(client);
	if (error < 0) {
		*text = client->text;
		rr_free(engine->env, client);
		return error;
	}
	error = client_add_connections(client, config, text);
	if (error < 0) {
		rr_client_free(client);
		return error;
	}
	*result = client;
	return 0;
}

static void
client_withdraw_all(struct rr_list *calls)
{
	while (!rr_list_empty(calls))
		rr_call_withdraw(rr_container(calls->next, struct rr_call, link));
}

static void
client_free_buried(struct rr_grave *grave, const struct rr_env *env)
{
	struct rpcrdma_client *client = rr_container(grave, struct rpcrdma_client, grave);

	rr_client_forget_answer(client);
	rr_free(env, client);
}

void
rr_client_free(struct rpcrdma_client *client)
{
	if (!client)
		return;
	client_free_connections(client);
	if (client->auth->guard && client->auth->guard->forget)
		client->auth->guard->forget(client->auth, &client->waiter);
	/* The calls that were sent are cancelled at the carrier, so they go before it. */
	client_withdraw_all(&client->outstanding);
	rr_client_disconnect(client);
	client_withdraw_all(&client->waiting);
	client_withdraw_all(&client->unready);
	client_withdraw_all(&client->working);
	client_withdraw_all(&client->ending);
	rr_client_free_buffers(client);
	for (uint32_t i = 0; i < RR_CLIENT_PROGRAMS; i++)
		rr_free(client->engine->env, client->programs[i].histories);
	rr_task_cancel(&client->task);
	rr_loop_disarm(client->engine->loop, &client->backoff);
	rr_loop_disarm(client->engine->loop, &client->deadline);
	rr_loop_bury(client->engine->loop, &client->grave, client_free_buried);
}

int
rr_client_wait_connected(struct rpcrdma_client *client, bool (*interrupted)(void *ctx), void *ctx)
{
	while (client->state == RR_CLIENT_FIRST) {
		int turned = rr_loop_turn(client->engine->loop, interrupted ? RR_CLIENT_TICK : -1);

		if (turned < 0)
			return rr_fail(&client->text, turned, "the event loop failed");
		if (client->state == RR_CLIENT_FIRST && interrupted && interrupted(ctx))
			return rr_fail(&client->text, -RPCRDMA_ERR_CANCELLED, "%s: cancelled", client->peer);
	}
	return client->state == RR_CLIENT_FAILED ? client->error : 0;
}

const char *
rr_client_error(const struct rpcrdma_client *client)
{
	return client->failed ? client->failed->text.text : client->text.text;
}

void
rr_client_negotiated(const struct rpcrdma_client *client, struct rpcrdma_negotiated *negotiated)
{
	*negotiated = client->negotiated;
	if (client->carrier)
		rr_carrier_negotiated(client->carrier, negotiated);
	negotiated->flavor = client->auth->name;
	negotiated->principal = client->auth->principal;
}

void
rr_client_counters(const struct rpcrdma_client *client, struct rpcrdma_counters *counters)
{
	*counters = client->past;
	counters->size = sizeof(*counters);
	if (client->carrier)
		rr_counters_add(counters, &client->carrier->counters);
	for (uint32_t i = 0; i < client->more_count; i++) {
		struct rpcrdma_counters further;

		rr_client_counters(client->more[i], &further);
		rr_counters_add(counters, &further);
	}
}

const struct rpcrdma_latency *
rr_client_latency(const struct rpcrdma_client *client, const struct rpcrdma_program *program, uint32_t proc)
{
	for (uint32_t i = 0; i < RR_CLIENT_PROGRAMS; i++) {
		const struct rr_client_program *known = &client->programs[i];

		if (known->histories && known->prog == program->prog && known->vers == program->vers)
			return proc < known->procedure_count ? &known->histories[proc].latency : NULL;
	}
	return NULL;
}

const struct rr_auth *
rr_client_auth(const struct rpcrdma_client *client)
{
	return client->auth;
}

uint32_t
rr_client_reconnects(const struct rpcrdma_client *client)
{
	uint32_t reconnects = client->reconnects;

	for (uint32_t i = 0; i < client->more_count; i++)
		reconnects += client->more[i]->reconnects;
	return reconnects;
}
