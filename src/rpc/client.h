/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_CLIENT_H
#define RR_RPC_CLIENT_H

#include "carrier/carrier.h"
#include "rpc/auth.h"
#include "rpc/latency.h"

/* An RPC client: one peer, one connection at a time or several, many calls outstanding. A connection that was
 * up once and is lost is made again, with backoff, and the calls outstanding are sent again with the same
 * XIDs (RFC 8166, section 4.5.5: "RPC recovery can handle complete loss and re-establishment of a transport
 * connection"). If no call is outstanding, the connection is made again for the next call; if the server may
 * call, it is made again at once.
 *
 * Of several connections, each call goes over the connection with the fewest calls, and stays there: if that
 * connection is lost, the call is sent again on the connection that replaces it. So a server that recognises
 * a repeated call by its connection still recognises it. */

struct rpcrdma_server;

/* The configuration of a client. */
struct rr_client_config {
	enum rr_transport transport;
	struct sockaddr_storage address;
	socklen_t address_size;
	const struct rr_auth *auth;   /* the flavor of its calls, which outlives the client; NULL: AUTH_SYS */
	struct rpcrdma_auth_sys user; /* for flavors that name a user */
	/* The time in ns for which the client tries to make a lost connection again before its calls fail,
	 * from when the first of the calls began to wait for it; 0: it does not try. */
	uint64_t retry;
	uint32_t connections; /* over which calls are spread; 0: one connection */
	const struct rr_secure
		*secure; /* TLS over TCP; the caller's, lives as long as the client. NULL: without */
	/* Serves the calls of the server over this connection, in the reverse direction (RFC 8167). It lives
	 * as long as the client. Unless retry is 0, a lost connection is then tried again without end, also
	 * while no call waits for it. NULL: such calls are not served. */
	struct rpcrdma_server *callbacks;
};

struct rpcrdma_client;

/* One call. The caller owns it until done(), or until rr_client_cancel() returns. */
struct rr_call {
	/* The caller sets what follows. */
	const struct rpcrdma_program *program;
	uint32_t proc;
	const void *args; /* of the procedure's C type; the memory that it points to stays until done() */
	void *result;     /* of the procedure's C type: filled in before done(0) */
	/* Octets of results, marked results not counted: the most, and the least. 0: as the schema has
	 * them. */
	uint32_t reply_max, reply_min;
	/* A flavor that can do so protects the call and its reply against changes, at least. */
	bool guarded;
	/* NULL, or the member client of another call of the client: the call goes over the same connection.
	 */
	struct rpcrdma_client *over;
	bool often_large; /* the binding says that results are often as large as allowed (rpc/expect.h) */
	uint32_t sink_count;
	/* Marked results are placed there if they come by RDMA Write. */
	struct rpcrdma_sink sinks[RPCRDMA_SINKS_MAX];
	struct rpcrdma_arena arena; /* for lists and arrays of the result */
	/* If keep is set, the reply's stream is copied there first, and the result stays valid as long as
	 * keep and sinks do. Otherwise the result is valid until done() returns. The call fails with
	 * -RPCRDMA_ERR_LIMIT if the stream is larger than keep_size. */
	void *keep;
	uint32_t keep_size;
	/* The user of the call, for clients whose flavor names one; NULL: that of the client. It stays until
	 * the call has begun. */
	const struct rpcrdma_auth_sys *user;
	uint64_t timeout; /* ns; 0: no timeout */
	/* The timeout begins anew with each answer to another call of the connection, and does not run while
	 * there is no connection. So it ends calls of a peer that is silent, not of one that is slow. */
	bool silence;
	void (*done)(struct rr_call *call, int error);
	void *ctx;

	/* Set before done(), as in struct rr_transaction. */
	uint32_t placed, pulled;

	/* What follows belongs to the client. */
	struct rr_transaction transaction;
	struct rpcrdma_client *client;
	struct rr_timer timer; /* of the timeout */
	struct rr_list link;
	struct rr_history *history; /* that of its procedure; NULL: the call is not counted */
	uint64_t started;           /* ns, rr_loop_now() */
	int error;                  /* with which the call ends */
	uint32_t losses;            /* connections that were lost under the call and had answered no call */
	bool sent;                  /* the carrier has the transaction: rr_carrier_cancel() would end it */
	uint8_t renewals;           /* how often it began anew, with another context */
	struct rr_auth_call auth_call; /* of a flavor with contexts */
	struct rr_call_work *work;     /* a thread works on its message (client_work.c); NULL: none does */
	struct rr_auth_span unsealed;  /* what a thread is to protect in the buffer */
	struct rpcrdma_item items[RR_CALL_ITEMS];
	void *buffer; /* with the encoded call: client_encode.c */
};

/* Makes a client and begins to connect. If the first attempt to connect fails, every call fails with its
 * error. Returns 0, or an error with its text. */
int rr_client_new(struct rpcrdma_engine *engine, const struct rr_client_config *config,
	struct rpcrdma_client **client, struct rr_text *text);

/* Cancels all calls without calling their done(), closes the connections and frees the client. client may be
 * NULL. */
void rr_client_free(struct rpcrdma_client *client);

/* Starts the call. Its done() is always called later, by the loop, unless the call is cancelled. */
void rr_client_call(struct rpcrdma_client *client, struct rr_call *call);

/* Ends the call without calling its done(). The memory of the call is then the caller's again. */
void rr_client_cancel(struct rpcrdma_client *client, struct rr_call *call);

/* Starts the call, runs the engine's loop until the call has ended, and returns its error. Sets the call's
 * done and ctx for this. The caller should set keep if the result refers to memory of the reply. interrupted
 * may be NULL. Otherwise it is called after each turn of the loop; if it returns true, the call ends with
 * -RPCRDMA_ERR_CANCELLED. */
int rr_client_call_and_wait(
	struct rpcrdma_client *client, struct rr_call *call, bool (*interrupted)(void *ctx), void *ctx);

/* The longest wait, in nanoseconds, between two calls of interrupted() below. */
#define RR_CLIENT_TICK ((int64_t)(250 * RR_MILLISECOND))

/* Runs the loop until the first connection is up or has failed. Returns 0 or the error. interrupted has the
 * same meaning as in rr_client_call_and_wait(), and is called every RR_CLIENT_TICK, too. */
int rr_client_wait_connected(struct rpcrdma_client *client, bool (*interrupted)(void *ctx), void *ctx);

/* Returns a text about the last call or connection that failed: why it failed, the peer's address and what to
 * do. */
const char *rr_client_error(const struct rpcrdma_client *client);

/* Stores the values that were negotiated for the client's first connection; while that connection is lost,
 * the values that it had. */
void rr_client_negotiated(const struct rpcrdma_client *client, struct rpcrdma_negotiated *negotiated);
/* Returns the flavor of the client's calls. */
const struct rr_auth *rr_client_auth(const struct rpcrdma_client *client);

/* Stores the sums of the counters of all connections of the client, also of those that have ended. */
void rr_client_counters(const struct rpcrdma_client *client, struct rpcrdma_counters *counters);

/* Returns the histogram of the times that the calls of a procedure took. Each time begins with the call and
 * ends with its done(), also if the connection was lost meanwhile. Cancelled calls are not counted. Returns
 * NULL if no call of the program was made. */
const struct rpcrdma_latency *rr_client_latency(
	const struct rpcrdma_client *client, const struct rpcrdma_program *program, uint32_t proc);

/* Returns how many times lost connections were made again. */
uint32_t rr_client_reconnects(const struct rpcrdma_client *client);

#endif
