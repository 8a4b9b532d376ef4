/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_CLIENT_H
#define RR_RPC_CLIENT_H

#include "carrier/carrier.h"
#include "rpc/auth.h"
#include "rpc/latency.h"

/*
 * An RPC client: one peer, one connection at a time or several, many calls outstanding.
 * A connection that was up once and is lost is made again, with backoff, and
 * the calls outstanding are sent again with the same XIDs (RFC 8166,
 * section 4.5.5: "RPC recovery can handle complete loss and
 * re-establishment of a transport connection"). Where nothing is outstanding,
 * it is made again for the next call; at once where the server may call.
 *
 * Of several connections, each call goes over that with the fewest calls, and stays there: it is sent again
 * on the connection that was made again in place of the one that was lost. So a server that knows a repeated
 * call by the connection still knows it.
 */

struct rpcrdma_server;

struct rr_client_config {
	enum rr_transport transport;
	struct sockaddr_storage address;
	socklen_t address_size;
	const struct rr_auth *auth; /* the flavor of its calls; NULL: AUTH_SYS */
	struct rr_auth_sys cred;    /* who calls, for flavors that tell; machine's memory is copied */
	/* ns for which a lost connection is tried again before its calls fail, from when the first of them
	 * began to wait for it; 0: not at all */
	uint64_t retry;
	uint32_t connections; /* over which calls are spread; 0: one */
	/* Serves what the server calls over this connection, in the reverse direction (RFC 8167). It is there
	 * as long as the client. Unless retry is 0, a lost connection is tried again while no call waits for
	 * it, too, without end. NULL: nobody does. */
	struct rpcrdma_server *callbacks;
};

struct rpcrdma_client;

/* One call. The caller owns it until done(), or until rr_client_cancel() returns. */
struct rr_call {
	/* Set by the caller. */
	const struct rpcrdma_program *program;
	uint32_t proc;
	const void *args; /* of the procedure's C type; what it points to stays until done() */
	void *result;     /* of the procedure's C type: filled in before done(0) */
	/* Octets of results, marked ones not counted: the most, and the least. 0: what the schema says. */
	uint32_t reply_max, reply_min;
	bool often_large; /* the binding says that of the results: see rpc/expect.h */
	uint32_t sink_count;
	struct rpcrdma_sink
		sinks[RPCRDMA_SINKS_MAX]; /* marked results are placed there if they come by RDMA Write */
	struct rpcrdma_arena arena;       /* for lists and arrays of the result */
	/* Where keep.data is set, the reply's stream is copied there first, and the result stays valid as
	 * long as keep and sinks do. Else it is valid until done() returns. -RPCRDMA_ERR_LIMIT if it does not
	 * fit. */
	void *keep;
	uint32_t keep_size;
	uint64_t timeout; /* ns; 0: none */
	void (*done)(struct rr_call *call, int error);
	void *ctx;

	/* Set before done(): as in struct rr_transaction. */
	uint32_t placed, pulled;

	/* The client's. */
	struct rr_transaction transaction;
	struct rpcrdma_client *client;
	struct rr_timer timer;
	struct rr_list link;
	struct rpcrdma_latency *latency; /* of its procedure; NULL: not counted */
	uint64_t started;
	int error;       /* that it ends with */
	uint32_t losses; /* connections that were lost under it and had answered nothing */
	bool sent;       /* the transaction is the carrier's */
	struct rpcrdma_item items[RR_CALL_ITEMS];
	void *buffer;
};

/* Begins to connect. The outcome of the first attempt decides: if it fails, every call fails with that error.
 */
int rr_client_new(struct rpcrdma_engine *engine, const struct rr_client_config *config,
	struct rpcrdma_client **client, struct rr_text *text);

/* Cancels what is outstanding, closes, frees. client may be NULL. */
void rr_client_free(struct rpcrdma_client *client);

/* Starts call; done() always follows, from the loop. */
void rr_client_call(struct rpcrdma_client *client, struct rr_call *call);

/* Ends it without done(). */
void rr_client_cancel(struct rpcrdma_client *client, struct rr_call *call);

/* Starts call and runs the engine's loop until it is done: returns its error. done and ctx are set by this
 * function; keep should be set where the result refers to memory. interrupted: NULL, or asked after each
 * turn, true ends the call with -RPCRDMA_ERR_CANCELLED. */
int rr_client_call_and_wait(
	struct rpcrdma_client *client, struct rr_call *call, bool (*interrupted)(void *ctx), void *ctx);

/* Runs the loop until the first connection is up or failed. */
int rr_client_wait_connected(struct rpcrdma_client *client, bool (*interrupted)(void *ctx), void *ctx);

/* Why the last failing call or connection failed, with the peer's address and what to do. */
const char *rr_client_error(const struct rpcrdma_client *client);

/* Of the current connection; counters are summed over all connections. */
void rr_client_negotiated(const struct rpcrdma_client *client, struct rpcrdma_negotiated *negotiated);
void rr_client_counters(const struct rpcrdma_client *client, struct rpcrdma_counters *counters);

/* From a call's start to its done(), whatever became of the connection meanwhile; calls that were cancelled
 * are not counted. NULL where no call of the program was made. */
const struct rpcrdma_latency *rr_client_latency(
	const struct rpcrdma_client *client, const struct rpcrdma_program *program, uint32_t proc);

/* How many times the connection was made again. */
uint32_t rr_client_reconnects(const struct rpcrdma_client *client);

#endif
