/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_CLIENT_PRIVATE_H
#define RR_RPC_CLIENT_PRIVATE_H

#include <rpcrdma/client.h>

#include "rpc/client.h"
#include "rpc/server_private.h"

/*
 * An RPC client, as its files see it: client.c its life and what people ask
 * it, client_call.c one call from its arguments to its result,
 * client_connect.c the connection that is made, lost and made again.
 *
 * A call is, from rr_client_call() to its done(), in exactly one list:
 * waiting for a connection, outstanding at the carrier, or ending with
 * call->error from the task.
 *
 * A client over several connections has a client for each further one, of which it is the root. These have
 * XIDs, counts of calls, and the text of the last failure, from their root.
 *
 * A client for the reverse direction has no connection of its own: it is UP
 * from the start, and FAILED when the connection, which is a server's, ends.
 */
enum rr_client_state {
	RR_CLIENT_FIRST, /* the first attempt is under way */
	RR_CLIENT_UP,
	RR_CLIENT_IDLE,     /* lost while nobody needed it: the next call makes it again */
	RR_CLIENT_BACKOFF,  /* until the next attempt */
	RR_CLIENT_RETRYING, /* a further attempt is under way */
	RR_CLIENT_FAILED,   /* for good */
	RR_CLIENT_STATES
};

enum rr_client_event {
	RR_CLIENT_CONNECTED,
	RR_CLIENT_CLOSED,  /* the carrier ended, or could not be made */
	RR_CLIENT_CALL,    /* there is a call in waiting */
	RR_CLIENT_AGAIN,   /* the backoff is over */
	RR_CLIENT_GIVE_UP, /* config.retry has passed since a call began to wait */
	RR_CLIENT_EVENTS
};

/* What is counted of a program: allocated with the first call of it. The caller may describe the same program
 * elsewhere for the next call, and with another number of procedures. */
struct rr_client_program {
	uint32_t prog, vers, procedure_count;
	struct rpcrdma_latency *latencies; /* by procedure; NULL: there is no such program */
};

enum { RR_CLIENT_PROGRAMS = 4 };

struct rpcrdma_client {
	struct rpcrdma_engine *engine;
	struct rr_client_config config;
	char *machine;
	char peer[RR_ADDRESS_TEXT];
	struct rpcrdma_client *root;  /* itself, but of a client for a further connection */
	struct rpcrdma_client **more; /* those, of a root */
	uint32_t more_count;
	uint32_t load; /* calls that are on this connection, or wait for it */
	struct rpcrdma_client
		*failed; /* of a root: the further client whose call failed last, or NULL: its own */
	const struct rr_auth *auth;
	bool places; /* items may be placed directly, under this flavor */
	struct rr_opaque_auth cred;
	uint8_t cred_body[RR_AUTH_BODY_MAX];

	enum rr_client_state state;
	struct rr_carrier *carrier; /* in FIRST, UP, RETRYING */
	int error;                  /* of the last connection */
	struct rr_text text;
	struct rr_timer backoff, deadline;
	uint64_t delay; /* of the next backoff */
	bool answered;  /* anything was, on this connection */
	uint32_t reconnects;
	struct rpcrdma_negotiated negotiated; /* of the last connection, while there is none */
	struct rpcrdma_counters past;         /* of connections gone */
	struct rr_client_program programs[RR_CLIENT_PROGRAMS];

	/* Where the connection is another's, the link in its list of those who call over it; else in no list.
	 */
	struct rr_server_back back;
	uint32_t own_xid, *xid; /* the next: all who call over a connection take theirs from one place */
	struct rr_list waiting, outstanding, ending;
	struct rr_task task;
	struct rr_grave grave;
	struct rr_list buffers; /* free ones */

	/* Of the public functions. */
	struct rpcrdma_server *served; /* the callbacks, where the client made them; NULL: it did not */
	struct rr_list calls;          /* struct rpcrdma_call */
	struct rr_text refusal;        /* of what failed before it was tried */
	const char *said;              /* the text of the last failure: refusal, or text */
};

/*
 * A call of the public. It is in its client's list from the start to the end, then goes back to the engine's
 * cache, when its done() returned: a done() which frees the client leaves the call in place.
 */
struct rpcrdma_call {
	struct rr_call base;
	struct rr_list link; /* in its client's calls */
	bool ended;          /* done() is under way, or was */
	void (*done)(void *ctx, struct rpcrdma_call *call, int error);
	void *ctx;
};

/* client_calls.c: the call's memory may be used again. */
void rr_call_put(struct rpcrdma_engine *engine, struct rpcrdma_call *call);

/* client_connect.c */
void rr_client_event(struct rpcrdma_client *client, enum rr_client_event event);
/* Begins an attempt. */
int rr_client_connect(struct rpcrdma_client *client);
void rr_client_disconnect(struct rpcrdma_client *client);
void rr_client_connect_init(struct rpcrdma_client *client);
/* client_connect.c: its carrier is gone. */
void rr_client_closed(void *client, int error, const char *text);

/* client.c: a client without a carrier. INVAL, NOTSUP (credential); NOMEM. */
int rr_client_make(struct rpcrdma_engine *engine, const struct rr_client_config *config,
	struct rpcrdma_client **result, struct rr_text *text);

/* client_call.c */
/* Hands a waiting call to the carrier. */
void rr_call_send(struct rr_call *call);
/* Lets a call end with error from the task. */
void rr_call_end(struct rr_call *call, int error);
void rr_client_run_ending(struct rr_task *task);
/* Takes the call out of everything. Its memory is the caller's again. */
void rr_call_withdraw(struct rr_call *call);
const char *rr_call_name(const struct rr_call *call);

/* client_encode.c */
int rr_call_encode(struct rr_call *call);
int rr_call_decode(struct rr_call *call);
void rr_call_free_buffer(struct rr_call *call);
void rr_client_free_buffers(struct rpcrdma_client *client);

#endif
