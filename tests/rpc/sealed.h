/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_RPC_SEALED_H
#define RR_TESTS_RPC_SEALED_H

#include "rpc/auth.h"
#include "rpc/server.h"

/*
 * AUTH_SEALED, a small flavor with contexts, which does for tests what RPCSEC_GSS (RFC 2203) does: a context
 * is made by a call of procedure 0 that the flavor answers; then each call has a number and a verifier, a
 * keyed hash of its header; replies have one of the number; arguments and results come as they are, with a
 * checksum, or encrypted, too. The keys are no secret: both ends make them of the name in the context.
 *
 * Both ends can be made to misbehave, for the test of the other end.
 */

enum { SEALED_FLAVOR = 0x5ea1ed, SEALED_WINDOW = 64, SEALED_CONTEXTS = 4, SEALED_NUMBER_MAX = 0x7fffffff };

enum sealed_service { SEALED_PLAIN, SEALED_INTEGRITY, SEALED_PRIVACY };

/* What the client sends to make a context, and what it gets: the handle of the context. */
struct sealed_name {
	char text[32];
};

struct sealed_server;

struct sealed_context {
	struct sealed_server *server; /* NULL: of a client */
	bool used, forgotten;
	uint32_t handle, holders;
	char name[32];
	uint8_t key[RR_SIPHASH_KEY];
	uint32_t newest;             /* the highest number that came */
	uint64_t seen;               /* bit i: newest - i has come */
	struct sealed_name verifier; /* at the client: the body of the verifier of the control reply */
	uint32_t verifier_length;
};

struct sealed_server {
	struct rr_auth auth;
	struct rr_service control;
	struct sealed_context contexts[SEALED_CONTEXTS];
	uint32_t made;      /* contexts */
	uint32_t taken;     /* calls whose verifier was right */
	uint32_t discarded; /* calls whose number had come before */
	bool unable;        /* results cannot be wrapped */
	uint32_t flip;      /* if not 0: the bit of the next wrapped replies that is changed */
};

struct sealed_client {
	struct rr_auth auth;
	struct sealed_context context;
	enum sealed_service service;
	uint32_t number; /* of the last transmission */
	uint32_t inside; /* is added to the number inside of wrapped arguments */
	uint32_t flip;   /* if not 0: the bit of the next calls that is changed */
	bool destroys;   /* a control call destroys the context */
};

void sealed_server_init(struct sealed_server *server);
void sealed_client_init(struct sealed_client *client, enum sealed_service service);

/* The control program, for a client whose calls name the program of this number. */
struct rpcrdma_program sealed_program(uint32_t prog, uint32_t vers);

/* Completes the client's context with the handle in the answer to its control call. Returns whether that
 * answer was the server's. */
bool sealed_complete(struct sealed_client *client, const char *name, uint32_t handle);

#endif
