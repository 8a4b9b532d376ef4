/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_AUTH_GSS_CLIENT_H
#define RR_RPC_AUTH_GSS_CLIENT_H

#include "rpc/auth.h"
#include "wire/gss.h"

/*
 * RPCSEC_GSS (RFC 2203) with Kerberos at a client: the flavor of one user of one server, with his context.
 * All RPC clients of one engine that call this server for this user may have the flavor, over all their
 * connections. The context is made by the first call that needs it, and made anew when it has expired or the
 * server does not know it any more; calls wait meanwhile. If it cannot be made, the calls that wait fail, and
 * the next one tries again.
 */
struct rr_gss_client;

struct rr_gss_client_config {
	struct rpcrdma_engine *engine;
	const char *host; /* the context is with nfs@host; copied */
	enum rr_gss_service service;
	uint64_t timeout; /* ns to wait for each answer of the server while a context is made; 0: no limit */
};

/* Makes the flavor; nothing is sent yet. Errors, with a text: NOTSUP (no Kerberos here), INVAL (host), NOMEM,
 * SYSTEM. */
int rr_gss_client_new(
	const struct rr_gss_client_config *config, struct rr_gss_client **gss, struct rr_text *text);

/* Frees the flavor, which may be NULL. Its RPC clients have been freed before. Waits for its threads. */
void rr_gss_client_free(struct rr_gss_client *gss);

/* Returns the flavor, for struct rr_client_config. */
const struct rr_auth *rr_gss_client_auth(const struct rr_gss_client *gss);

/* Has the server forget the context, by a call of that RPC client, and waits for its answer, for at most
 * timeout ns. Does nothing if there is no context. prog, vers: of a program that the server has. */
void rr_gss_client_leave(struct rr_gss_client *gss, struct rpcrdma_client *client,
	const struct rpcrdma_program *program, uint64_t timeout);

#endif
