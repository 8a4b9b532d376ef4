/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of RPCSEC_GSS at a client. */
#include <stdio.h>
#include <string.h>

#include "carrier/engine.h"
#include "rpc/auth/gss_client_private.h"

enum {
	LIFE_THREADS = 4,
	/* Octets of wrapped arguments and results beside themselves, before a context is known: for a
	 * checksum or a cipher of any kind that is in use. */
	LIFE_WRAP_MAX = 256
};

/* Returns the word by which people name a service of Kerberos. */
static const char *
life_name(enum rr_gss_service service)
{
	static const char *const names[] = {
		[RR_GSS_SVC_NONE] = "krb5", [RR_GSS_SVC_INTEGRITY] = "krb5i", [RR_GSS_SVC_PRIVACY] = "krb5p"
	};

	return names[service];
}

const struct rr_auth *
rr_gss_client_auth(const struct rr_gss_client *gss)
{
	return &gss->auth;
}

int
rr_gss_client_new(
	const struct rr_gss_client_config *config, struct rr_gss_client **result, struct rr_text *text)
{
	static const struct rr_crew_config crew = { .max = LIFE_THREADS };
	struct rpcrdma_engine *engine = config->engine;
	struct rr_gss_client *gss;
	int error;

	if (strlen(config->host) >= sizeof(gss->host))
		return rr_fail(text, -RPCRDMA_ERR_INVAL, "the name of the host is too long for Kerberos");
	gss = rr_alloc(engine->env, sizeof(*gss));
	if (!gss)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for Kerberos");
	strcpy(gss->host, config->host);
	gss->engine = engine;
	gss->service = config->service;
	gss->timeout = config->timeout;
	rr_gss_client_init(gss);
	error = rr_crew_new(engine->env, engine->loop, &crew, &gss->crew);
	if (error < 0) {
		rr_free(engine->env, gss);
		return rr_fail(text, error, "no threads for Kerberos");
	}
	gss->auth = (struct rr_auth){ .flavor = RR_RPCSEC_GSS,
		.name = life_name(gss->service),
		/* The pseudo-flavors stand in the order of the services. */
		.pseudo_flavor = RR_FLAVOR_KRB5 + gss->service - RR_GSS_SVC_NONE,
		.call_adds = 2 * (RR_AUTH_FIXED + RR_AUTH_BODY_MAX) + LIFE_WRAP_MAX,
		.reply_adds = RR_AUTH_FIXED + RR_AUTH_BODY_MAX + LIFE_WRAP_MAX,
		.guard = &rr_gss_client_guard,
		.crew = gss->crew };
	*result = gss;
	return 0;
}

static void
life_free_buried(struct rr_grave *grave, const struct rr_env *env)
{
	struct rr_gss_client *gss = rr_container(grave, struct rr_gss_client, grave);

	rr_gss_held_drop(gss->current);
	rr_free(env, gss);
}

void
rr_gss_client_free(struct rr_gss_client *gss)
{
	if (!gss)
		return;
	rr_crew_free(gss->crew);
	rr_task_cancel(&gss->room);
	/* RPC clients that were freed in this turn hold contexts to its end. */
	rr_loop_bury(gss->engine->loop, &gss->grave, life_free_buried);
}

void
rr_gss_client_leave(struct rr_gss_client *gss, struct rpcrdma_client *client,
	const struct rpcrdma_program *program, uint64_t timeout)
{
	const struct rpcrdma_program control = { .name = "RPCSEC_GSS",
		.prog = program->prog,
		.vers = program->vers,
		.procedure_count = 1,
		.procedures = &rr_gss_control_destroy };
	struct rr_call call = { .program = &control, .timeout = timeout };
	struct gss_held *held = gss->current;

	if (!held)
		return;
	/* RFC 2203, 5.4: "When the client is done using the session, it must send a control message informing
	 * the server that it no longer requires the context." "If the request to destroy the context fails
	 * for some reason, the client need not take any special action." */
	held->proc = RR_GSS_DESTROY;
	(void)rr_client_call_and_wait(client, &call, NULL, NULL);
	if (gss->current == held) {
		gss->current = NULL;
		rr_gss_held_drop(held);
	}
}
