/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_AUTH_GSS_CLIENT_PRIVATE_H
#define RR_RPC_AUTH_GSS_CLIENT_PRIVATE_H

#include "base/crew.h"
#include "base/gss/initiate.h"
#include "rpc/auth/gss_client.h"
#include "rpc/client.h"

/* The files of RPCSEC_GSS at a client share these declarations: gss_client.c makes contexts,
 * gss_client_guard.c has the functions for messages. */

enum {
	GSS_ROUNDS = 8,               /* the most messages by which a context is made */
	GSS_ANSWER_TOKEN_MAX = 16384, /* octets of a server's token */
	GSS_OUTSTANDING = 128         /* calls of a context that were not answered yet */
};

/* A context; it exists as long as it is that of new calls, or calls hold it. */
struct gss_held {
	struct rr_gss_client *gss;
	uint32_t holders;
	struct rr_gss_context *keys; /* NULL: it is being made */
	enum rr_gss_proc proc;       /* of its control message: INIT, CONTINUE_INIT or DESTROY */
	uint32_t number;             /* of its last transmission; RFC 2203, 5.3.1: below MAXSEQ */
	uint32_t window;
	/* The numbers of calls that were not answered yet, in order. */
	uint32_t outstanding_count, outstanding[GSS_OUTSTANDING];
	uint32_t handle_length, verifier_flavor, verifier_length;
	uint8_t handle[RR_GSS_HANDLE_MAX];
	uint8_t verifier[RR_AUTH_BODY_MAX]; /* of the last answer to a control message */
};

struct rr_gss_client {
	struct rr_auth auth; /* first: what the RPC clients know */
	struct rpcrdma_engine *engine;
	enum rr_gss_service service;
	uint64_t timeout;
	char host[256];
	char principal[RR_GSS_NAME_MAX + 1];
	struct rr_crew *crew;
	struct gss_held *current; /* the context of new calls; NULL: there is none */

	struct rr_grave grave;
	struct rr_task room; /* lets waiters go on, as the window of the current context has room */

	/* What makes a context; there is no initiator while none is being made. */
	struct rr_list waiters; /* struct rr_auth_waiter; the first one's client calls */
	struct rr_gss_initiator *initiator;
	struct gss_held *making;
	uint32_t rounds;
	struct rr_crew_job job; /* a thread makes a token; at_work: until its done() */
	bool at_work;
	bool calls;   /* a call to the server is under way */
	bool refused; /* the server has sent a token that says why it refuses */
	struct rr_call call;
	struct rpcrdma_program program; /* of the call */
	struct rr_gss_init_arg args;
	struct rr_gss_init_res result; /* in keep */
	uint32_t major;                /* of the last answer */
	uint32_t minor;
	/* Of the thread: what it takes and what it makes. */
	struct rr_gss_token in, out;
	struct rr_gss_context *made;
	int error;
	struct rr_text text;
	uint8_t keep[GSS_ANSWER_TOKEN_MAX + 1024];
};

/* gss_client.c */
/* Prepares the members that gss_client.c uses. */
void rr_gss_client_init(struct rr_gss_client *gss);
/* Lets one holder of the context go. */
void rr_gss_held_drop(struct gss_held *held);
void rr_gss_client_prepare(const struct rr_auth *auth, struct rr_auth_waiter *waiter);
void rr_gss_client_forget(const struct rr_auth *auth, struct rr_auth_waiter *waiter);

/* gss_client_guard.c */
extern const struct rr_auth_guard rr_gss_client_guard;
/* The control messages: procedure 0 of any program. */
extern const struct rpcrdma_procedure rr_gss_control_init, rr_gss_control_destroy;
/* Tells whether the octets are the checksum of the number. */
bool rr_gss_held_proves(
	const struct gss_held *held, uint32_t number, uint32_t flavor, const void *mic, size_t size);

/* Tells whether the next call of the context has to wait. RFC 2203, 5.2.3.1: seq_window "specifies the
 * maximum number of client requests that may be outstanding for this context." And 5.3.3.1: a call whose
 * number is seq_window below the highest that the server has seen is discarded. A server may take calls in
 * another order than that in which they were sent, by several threads or over several connections, so the
 * oldest call that was not answered holds back those that are a window ahead of it. */
bool rr_gss_held_is_full(const struct gss_held *held);

/* Returns the flavor that begins with auth; its user may change it. */
static inline struct rr_gss_client *
gss_of(const struct rr_auth *auth)
{
	return (struct rr_gss_client *)(uintptr_t)auth;
}

#endif
