/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_AUTH_GSS_SERVER_H
#define RR_RPC_AUTH_GSS_SERVER_H

#include "base/crew.h"
#include "rpc/auth/gss_table.h"
#include "rpc/server.h"

/*
 * RPCSEC_GSS at a server: RFC 2203, version 1, with Kerberos. gss_create.c makes contexts, in a crew, as that
 * reads files and may ask directories of users; gss_server.c takes calls, and protects replies.
 */

/* What the threads of a server share: the keytab, and the contexts. */
struct rr_gss_shared {
	const struct rr_env *env;
	struct rr_gss_acceptor *acceptor;
	struct rr_gss_table *table;
};

/* Makes the shared part. keytab, and the errors: rr_gss_acceptor_new(). */
int rr_gss_shared_new(
	const struct rr_env *env, const char *keytab, struct rr_gss_shared **shared, struct rr_text *text);
/* shared may be NULL. No server uses it any more. */
void rr_gss_shared_free(struct rr_gss_shared *shared);

/* The contexts that may be in the making at a time: in all, and for one host. */
enum { RR_GSS_CREATIONS = 64, RR_GSS_CREATIONS_HOST = 16 };

/* The flavor in one engine. */
struct rr_gss_server {
	struct rr_auth auth;            /* must be first */
	struct rr_service control;      /* makes and destroys contexts */
	const struct rr_auth *auths[4]; /* this flavor, and rr_auth_served */
	struct rr_gss_shared *shared;
	struct rpcrdma_engine *engine;
	struct rr_crew *crew;
	struct rr_list creations; /* struct gss_creation, of gss_create.c */
	uint32_t creation_count;
};

/* Makes the flavor for servers of this engine: their configuration has `auths` and `crew` of it. Errors, with
 * a text: NOMEM, SYSTEM. */
int rr_gss_server_new(struct rpcrdma_engine *engine, struct rr_gss_shared *shared,
	struct rr_gss_server **server, struct rr_text *text);
/* Waits for its crew, and frees it, after the servers that use it. gss may be NULL. */
void rr_gss_server_free(struct rr_gss_server *gss);

/* gss_create.c: the handler of calls that make and destroy contexts, and their procedure. */
extern const struct rpcrdma_program rr_gss_control_program;
extern rpcrdma_handler *const rr_gss_control_handlers[];

#endif
