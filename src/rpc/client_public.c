/* SPDX-License-Identifier: BSD-3-Clause */
/* <rpcrdma/client.h> without the functions for calls. Configurations are checked, host names become
 * addresses, and the client counts as a user of the engine. */
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "base/config.h"
#include "base/tls/tls.h"
#include "rpc/client_private.h"
#include "rpc/credential.h"

#define LOOPBACK "127.0.0.1"

enum { CLIENT_ADDRESSES = 8 }; /* the most addresses of a host that are tried */

/* A client that is to be made: its configuration, and the addresses of its server. */
struct public_plan {
	struct rpcrdma_client_config theirs;
	struct rr_client_config config;
	struct sockaddr_storage addresses[CLIENT_ADDRESSES];
	int address_count;
};

/* Sets the flavor and the user of the inner configuration as the public config has them. */
static int
public_take_credential(
	const struct rpcrdma_client_config *config, struct rr_client_config *inner, struct rr_text *text)
{
	inner->auth = config->auth_none ? &rr_auth_none : &rr_auth_sys;
	if (config->auth_none)
		return 0;
	return rr_credential_sys(config->auth_sys, &inner->user, text);
}

/* Frees what public_secure() made; secure may be NULL. */
static void
public_insecure(struct rr_secure *secure)
{
	if (secure)
		rr_tls_free(secure->tls);
	free(secure);
}

/* Checks what the configuration says about TLS, without its files. */
static int
public_check_secure(
	const struct rpcrdma_client_config *config, struct rr_client_config *inner, struct rr_text *text)
{
	uint8_t fingerprint[RR_TLS_FINGERPRINT];

	if (!config->xprtsec)
		return 0;
	if (strcmp(config->xprtsec, "tls") != 0 && strcmp(config->xprtsec, "mtls") != 0 &&
		strcmp(config->xprtsec, "auto") != 0)
		return rr_fail(text, -RPCRDMA_ERR_INVAL, "xprtsec is tls, mtls or auto, not '%.16s'",
			config->xprtsec);
	if (strcmp(config->xprtsec, "mtls") == 0 && !config->tls_cert)
		return rr_fail(text, -RPCRDMA_ERR_INVAL, "xprtsec mtls needs a certificate: tls_cert");
	if (config->fingerprint &&
		!rr_tls_fingerprint_get(config->fingerprint, strlen(config->fingerprint), fingerprint))
		return rr_fail(text, -RPCRDMA_ERR_INVAL, "the fingerprint is not sha256: and 64 digits");
	if (inner->transport == RR_TRANSPORT_VERBS)
		return rr_fail(text, -RPCRDMA_ERR_INVAL,
			"an RDMA adapter has no TLS: iWARP over sockets and TCP have it");
	if (inner->transport == RR_TRANSPORT_AUTO)
		inner->transport = RR_TRANSPORT_IWARP;
	return 0;
}

/* Makes the TLS that the configuration asks for; *result is NULL where it asks for none. The name of the
 * server is copied. */
static int
public_secure(const struct rpcrdma_client_config *config, struct rr_secure **result, struct rr_text *text)
{
	const char *host = config->host ? config->host : LOOPBACK;
	struct rr_tls_files files = { .ca = config->tls_ca };
	struct rr_secure *secure;
	int error;

	*result = NULL;
	if (!config->xprtsec)
		return 0;
	secure = calloc(1, sizeof(*secure) + strlen(host) + 1);
	if (!secure)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for TLS");
	secure->name = strcpy((char *)(secure + 1), host);
	secure->optional = strcmp(config->xprtsec, "auto") == 0;
	if (config->fingerprint)
		secure->has_fingerprint = rr_tls_fingerprint_get(
			config->fingerprint, strlen(config->fingerprint), secure->fingerprint);
	if (strcmp(config->xprtsec, "mtls") == 0) {
		files.cert = config->tls_cert;
		files.key = config->tls_key;
	}
	error = rr_tls_new(false, &files, &secure->tls, text);
	if (error < 0) {
		free(secure);
		return error;
	}
	*result = secure;
	return 0;
}

/* Copies and checks the public configuration `theirs`, and fills in the plan: the inner configuration and the
 * server's addresses. Returns 0, or an error with its text. */
static int
public_make_plan(struct public_plan *plan, const struct rpcrdma_client_config *theirs, struct rr_text *text)
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
	if (config->connections > RPCRDMA_CONNECTIONS_MAX)
		return rr_fail(text, -RPCRDMA_ERR_INVAL, "the client's config has more than %d connections",
			RPCRDMA_CONNECTIONS_MAX);
	error = public_check_secure(config, &plan->config, text);
	if (error < 0)
		return error;
	plan->config.retry = config->retry;
	plan->config.connections = config->connections;
	error = public_take_credential(config, &plan->config, text);
	if (error < 0)
		return error;
	plan->address_count = rr_address_resolve(config->host ? config->host : LOOPBACK, config->port,
		plan->addresses, CLIENT_ADDRESSES, text);
	return plan->address_count < 0 ? plan->address_count : 0;
}

/* Sets the members of a new client that the public functions use, and counts the client as a user of its
 * engine. Returns the client. */
static struct rpcrdma_client *
public_keep(struct rpcrdma_client *client, struct rpcrdma_server *served)
{
	client->served = served;
	client->said = rr_client_error(client);
	rr_list_init(&client->calls);
	rr_engine_use(client->engine);
	return client;
}

/* Makes a server of the services that the peer is to call in the reverse direction, and stores it in *served.
 * Stores NULL if there are no services. Returns 0 or an error. */
static int
public_callbacks(struct rpcrdma_engine *engine, const struct rpcrdma_client_config *config,
	struct rpcrdma_server **served)
{
	*served = NULL;
	if (config->service_count == 0)
		return 0;
	if (!config->services)
		return rr_fail(&engine->text, -RPCRDMA_ERR_INVAL, "the client's services are missing");
	return rr_server_new_public(
		engine, &rr_server_config_default, config->services, config->service_count, served);
}

/* Makes a client that begins to connect to the plan's address with the index `number`, and stores the client
 * in *result. Returns 0 or an error. */
static int
public_begin(
	struct rpcrdma_engine *engine, struct public_plan *plan, int number, struct rpcrdma_client **result)
{
	struct rpcrdma_client *client;
	struct rr_secure *secure;
	int error = public_secure(&plan->theirs, &secure, &engine->text);

	if (error == 0)
		error = public_callbacks(engine, &plan->theirs, &plan->config.callbacks);
	if (error < 0) {
		public_insecure(secure);
		return error;
	}
	plan->config.secure = secure;
	plan->config.address = plan->addresses[number];
	plan->config.address_size = rr_address_size(&plan->addresses[number]);
	error = rr_client_new(engine, &plan->config, &client, &engine->text);
	if (error < 0) {
		rr_server_free(plan->config.callbacks);
		public_insecure(secure);
		return error;
	}
	*result = public_keep(client, plan->config.callbacks);
	client->own_secure = secure;
	client->interrupted = plan->theirs.interrupted;
	client->interrupted_ctx = plan->theirs.ctx;
	return 0;
}

int
rpcrdma_client_new(struct rpcrdma_engine *engine, const struct rpcrdma_client_config *config,
	struct rpcrdma_client **client)
{
	struct public_plan plan;
	int error;

	if (!engine || !client)
		return -RPCRDMA_ERR_INVAL;
	error = public_make_plan(&plan, config, &engine->text);
	return error < 0 ? error : public_begin(engine, &plan, 0, client);
}

int
rpcrdma_request_client(struct rpcrdma_request *request, const struct rpcrdma_client_config *theirs,
	struct rpcrdma_client **result)
{
	struct rpcrdma_engine *engine = request ? request->server->engine : NULL;
	struct rr_client_config inner = { 0 };
	struct rpcrdma_client_config config;
	struct rpcrdma_client *client;
	int error;

	if (!request || !result)
		return -RPCRDMA_ERR_INVAL;
	error = rr_config_take(&config, sizeof(config), sizeof(config), theirs,
		"struct rpcrdma_client_config", &engine->text);
	if (error == 0)
		error = public_take_credential(&config, &inner, &engine->text);
	if (error < 0)
		return error;
	error = rr_request_client(request, &inner, &client, &engine->text);
	if (error < 0)
		return error;
	*result = public_keep(client, NULL);
	client->interrupted = config.interrupted;
	client->interrupted_ctx = config.ctx;
	return 0;
}

/* Makes a client, connects it to the plan's address with the index `number`, and waits for the outcome.
 * Stores the client in *result if it is connected, else frees it and returns the error. */
static int
public_connect_to(
	struct rpcrdma_engine *engine, struct public_plan *plan, int number, struct rpcrdma_client **result)
{
	struct rpcrdma_client *client;
	int error = public_begin(engine, plan, number, &client);

	if (error < 0)
		return error;
	error = rr_client_wait_connected(client, client->interrupted, client->interrupted_ctx);
	if (error < 0) {
		rr_fail(&engine->text, error, "%s", rr_client_error(client));
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
	struct public_plan plan;
	int error;

	if (!engine || !client)
		return -RPCRDMA_ERR_INVAL;
	error = rr_engine_may_wait(engine, __func__, &engine->text);
	if (error == 0)
		error = public_make_plan(&plan, config, &engine->text);
	if (error < 0)
		return error;
	for (int i = 0; i < plan.address_count; i++) {
		error = public_connect_to(engine, &plan, i, client);
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
	struct rpcrdma_server *served;
	struct rr_secure *secure;
	struct rr_list calls, *link;

	if (!client)
		return;
	engine = client->engine;
	served = client->served;
	secure = client->own_secure;
	/* rr_client_free() ends the calls without done(). Their memory is then given back from a list of this
	 * function, as the client is gone by that time. */
	rr_list_init(&calls);
	while ((link = rr_list_pop(&client->calls)))
		rr_list_append(&calls, link);
	rr_client_free(client);
	rr_server_free(served);
	public_insecure(secure);
	while (!rr_list_empty(&calls))
		rr_call_put(engine, rr_container(calls.next, struct rpcrdma_call, link));
	rr_engine_leave(engine);
}

const char *
rpcrdma_client_error(const struct rpcrdma_client *client)
{
	return client ? client->said : "there is no client: the pointer to it is NULL";
}

int
rpcrdma_client_negotiated(const struct rpcrdma_client *client, struct rpcrdma_negotiated *negotiated)
{
	struct rpcrdma_negotiated mine;

	if (!client)
		return -RPCRDMA_ERR_INVAL;
	rr_client_negotiated(client, &mine);
	return rr_config_give(negotiated, &mine, sizeof(mine), sizeof(mine));
}

int
rpcrdma_client_counters(const struct rpcrdma_client *client, struct rpcrdma_counters *counters)
{
	struct rpcrdma_counters inner;

	if (!client)
		return -RPCRDMA_ERR_INVAL;
	rr_client_counters(client, &inner);
	return rr_config_give(counters, &inner, sizeof(inner), sizeof(inner));
}

int
rpcrdma_client_latency(const struct rpcrdma_client *client, const struct rpcrdma_program *program,
	uint32_t procedure, struct rpcrdma_latency *latency)
{
	static const struct rpcrdma_latency nothing;
	const struct rpcrdma_latency *found;

	if (!client || !program)
		return -RPCRDMA_ERR_INVAL;
	found = rr_client_latency(client, program, procedure);
	return rr_config_give(latency, found ? found : &nothing, sizeof(nothing), sizeof(nothing));
}
