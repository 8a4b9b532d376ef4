/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_RPC_KERB_H
#define RR_TESTS_RPC_KERB_H

#include "base/gss/library.h"
#include "rpc/auth.h"
#include "rpc/server.h"
#include "wire/gss.h"

/*
 * A client of RPCSEC_GSS with Kerberos that can be made to misbehave in each of its numbers, for the test of
 * servers. It takes the ticket that the environment names, and makes contexts with nfs@localhost.
 */
struct kerb {
	struct rr_auth auth;
	uint32_t service; /* enum rr_gss_service */
	uint32_t number;  /* of the last transmission */
	uint32_t inside;  /* is added to the number inside of wrapped arguments */
	uint32_t version; /* if not 0: instead of RR_GSS_VERSION */
	uint32_t proc;    /* gss_proc of control calls; of others, if `proc_always` */
	bool proc_always;
	bool bad_mic;  /* of the next calls */
	uint32_t flip; /* if not 0: the bit of the next wrapped calls that is changed */
	uint8_t handle[RR_GSS_HANDLE_MAX];
	uint32_t handle_length;
	struct rr_gss_context *context;
	gss_ctx_id_t making;
	/* What the server has answered to what made the context. */
	uint32_t major, minor, window;
	uint8_t token[1024], verifier[RR_AUTH_BODY_MAX];
	uint32_t token_length, verifier_length;
	uint32_t held; /* calls that have the flavor's context */
};

void kerb_init(struct kerb *kerb, uint32_t service);
void kerb_end(struct kerb *kerb);

/* The control program, for a client whose calls name the program of this number. Its argument is a struct
 * rr_gss_init_arg; its result, a struct kerb *, gets the answer. */
struct rpcrdma_program kerb_program(uint32_t prog);

/* Makes the token that begins a context; the caller frees it by free(). */
struct rpcrdma_bytes kerb_token(struct kerb *kerb);

/* Completes the context by the server's answer. Returns whether that answer was the server's. */
bool kerb_complete(struct kerb *kerb);

#endif
