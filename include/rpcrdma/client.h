/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RPCRDMA_CLIENT_H
#define RPCRDMA_CLIENT_H

#include <rpcrdma/engine.h>
#include <rpcrdma/xdr.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * An RPC client: one server, one connection at a time or several, many calls outstanding.
 *
 * A connection that was up once and is lost is made again, with backoff, and
 * calls outstanding are sent again with the same XIDs. A server may then
 * handle a call twice: see RFC 5531, section 4, on what transports promise.
 * Where no call is outstanding, the connection is made again for the next call;
 * at once where the server may call as well: see services below.
 *
 * Threads: those of its engine.
 */
struct rpcrdma_client;

/* A call that was started, until its done() returns. */
struct rpcrdma_call;

struct rpcrdma_service; /* see rpcrdma/server.h */

/* The most connections of a client. */
enum { RPCRDMA_CONNECTIONS_MAX = 64 };

/* Zero is the default, everywhere. */
struct rpcrdma_client_config {
	size_t size;      /* sizeof(struct rpcrdma_client_config): see api.h */
	const char *host; /* name or numeric address of the server. Copied. NULL: 127.0.0.1 */
	uint16_t port;    /* must be set */
	enum rpcrdma_transport transport;
	bool auth_none; /* calls carry AUTH_NONE. Else AUTH_SYS (RFC 5531, section 8.1) */
	/* The user and groups that calls are made for. Copied. NULL: the effective user and groups of this
	 * process. */
	const struct rpcrdma_auth_sys *auth_sys;
	/* For how long, in nanoseconds, a lost connection is tried again before its calls fail, from when the
	 * first of them began to wait for it. 0: not at all. */
	uint64_t retry;
	/*
	 * The services that the server may call over this connection, in the reverse direction (RFC 8167):
	 * see rpcrdma_request_client(). The array is copied, what it points to must stay as long as the
	 * client. Over RDMA, such calls and their replies are small: they are no larger than the inline
	 * threshold, and nothing of them is placed.
	 *
	 * While it has services, a client makes a lost connection again without waiting for a call of its
	 * own, and tries until the server is back or the client is freed: the server cannot (RFC 8167,
	 * section 5.4). Not where retry is 0.
	 */
	const struct rpcrdma_service *services;
	uint32_t service_count;
	/*
	 * Connections over which calls are spread: each call goes over the one with the fewest calls. More
	 * than one helps where the server serves them by several threads, or where one connection is the
	 * limit. Each is made again by itself when it is lost, and a call is sent again on the one that it
	 * went over. The server calls back over the first one alone, which is also the one that
	 * rpcrdma_client_negotiated() tells of; if it cannot be made, the client cannot. Further ones that
	 * cannot be made are done without. At most RPCRDMA_CONNECTIONS_MAX. 1
	 */
	uint32_t connections;
};

/*
 * Begins to connect to the first address of config->host (resolving a name
 * may block). Calls may be started at once. If the attempt fails, every call
 * fails with its error. Free the client with rpcrdma_client_free().
 *
 * Errors, with their text on the engine: INVAL, NOTSUP (config), ADDRESS (the
 * host is not known), NOMEM, SYSTEM (no permission on RDMA devices among them), and of RDMA adapters NOTSUP
 * (none, or no library), LIMIT (locked memory).
 */
RPCRDMA_API int rpcrdma_client_new(struct rpcrdma_engine *engine, const struct rpcrdma_client_config *config,
	struct rpcrdma_client **client);

/*
 * The same, but blocks until the connection is up, and tries each address of
 * the host, in their order. Turns the engine's loop: not inside a callback.
 *
 * Errors, with their text on the engine: those of rpcrdma_client_new(), and
 * REFUSED, UNREACHABLE, TIMEDOUT, REJECTED, PEER, DISCONNECTED of the last
 * address that was tried.
 */
RPCRDMA_API int rpcrdma_client_connect(struct rpcrdma_engine *engine,
	const struct rpcrdma_client_config *config, struct rpcrdma_client **client);

/* Cancels all calls without calling their done(), closes the connection and frees the client. Also inside a
 * callback, but not while a blocking call of this client waits, except in the done() of that call. client may
 * be NULL. */
RPCRDMA_API void rpcrdma_client_free(struct rpcrdma_client *client);

/* The most marked results of one call that can be placed. */
enum { RPCRDMA_SINKS_MAX = 4 };

/*
 * Memory in which a marked result (`#pragma rpcrdma place` in the schema) may
 * be placed by the server's RDMA Write, without a copy. length: the most
 * octets that the result can have.
 */
struct rpcrdma_sink {
	void *data;
	uint32_t length;
};

/* A call to be made. Zero is the default, everywhere. */
struct rpcrdma_call_config {
	size_t size;                           /* sizeof(struct rpcrdma_call_config): see api.h */
	const struct rpcrdma_program *program; /* as `rpcrdma xdr` writes it; must be set */
	uint32_t procedure;                    /* its number */
	/* Of the procedure's C types; NULL for void. args, and all that it points to, stays untouched until
	 * done() or until cancelling returns. result is written before done(0). */
	const void *args;
	void *result;
	/* For the marked results, in their order; the array is copied. What they name is the library's until
	 * done() or until cancelling returns. At most RPCRDMA_SINKS_MAX. */
	const struct rpcrdma_sink *sinks;
	uint32_t sink_count;
	/* Octets of the encoded result at most, marked data not counted. 0: what the schema says, and
	 * where that has no bound, all that a message may have (message_max of the engine). */
	uint32_t reply_max;
	/*
	 * Octets of the encoded result at least, marked data not counted. 0: what the schema says. In version
	 * 2, a reply that may not fit inline is left to a server that can provide a Read chunk for it; where
	 * reply_min says that it will not fit inline, a Reply chunk is offered instead, which spares a round
	 * trip (draft-cel-nfsv4-rpcrdma-reliable-reply-02, 5.3.1). A smaller reply comes inline
	 * nevertheless. More than reply_max counts as reply_max.
	 */
	uint32_t reply_min;
	/*
	 * Memory for the result's strings and opaque data: the octets of the reply are copied there. It must
	 * have room for reply_max + 424 octets (the reply's header is among them), and for the marked results
	 * if they come some other way than by RDMA Write: over TCP, or inside a small reply. Else the call
	 * fails with LIMIT. NULL: they are not copied, and result is valid until done() returns.
	 */
	void *keep;
	uint32_t keep_size;
	/* The memory for arrays, lists and optional data of the result. NULL: a result that has some fails
	 * with XDR. */
	void *arena;
	size_t arena_size;
	uint64_t timeout; /* in nanoseconds; the call fails with TIMEDOUT then. 0: none */
	/* Called once, from rpcrdma_engine_turn(): see rpcrdma_client_call() for the errors. It may start
	 * other calls, and may free the client. NULL: nothing is called. */
	void (*done)(void *ctx, struct rpcrdma_call *call, int error);
	void *ctx; /* for done */
};

/*
 * Starts a call. Where it returns 0, done() follows, unless the call is
 * cancelled or the client freed. call (may be NULL) then is what the call can
 * be cancelled with, and is gone when done() returns. config is copied.
 *
 * Errors at once, without done(), text on the client: INVAL, NOTSUP (config,
 * a procedure that the program does not have), NOMEM.
 *
 * Errors of done(), text on the client:
 *   INVAL, LIMIT              the arguments break their schema or a bound
 *   REFUSED, UNREACHABLE, REJECTED, PEER, DISCONNECTED   no connection
 *   TIMEDOUT                  config's timeout, or the connection's
 *   VERS, CHUNK               RDMA_ERROR: RFC 8166, section 4.5
 *   RPC_DENIED, PROG_UNAVAIL, PROG_MISMATCH, PROC_UNAVAIL, GARBAGE_ARGS,
 *   RPC_SYSTEM                what the server answered: RFC 5531, section 9
 *   XDR                       the reply does not decode
 *   NOMEM, SYSTEM             on this side
 */
RPCRDMA_API int rpcrdma_client_call(
	struct rpcrdma_client *client, const struct rpcrdma_call_config *config, struct rpcrdma_call **call);

/*
 * The same, and turns the engine's loop until the call is done: returns its
 * error, any of the above. config->done, where it is set, comes first; where it is not,
 * results that refer to memory need keep. Not inside a callback: INVAL.
 */
RPCRDMA_API int rpcrdma_client_call_and_wait(
	struct rpcrdma_client *client, const struct rpcrdma_call_config *config);

/*
 * `rpcrdma xdr` writes a function for each procedure on top of this one, VERSION_call_PROCEDURE(client, args,
 * result, config): there, args and result have the procedure's own types, and are left out where they are
 * void. config has everything else of the call, may be NULL, and is copied; its program, procedure, args and
 * result are not looked at. Where config->done is set, this starts the call as rpcrdma_client_call() does,
 * else it waits for it as rpcrdma_client_call_and_wait() does; errors are those of that function. A call that
 * may have to be cancelled is started by rpcrdma_client_call() itself.
 */
RPCRDMA_API int rpcrdma_client_call_procedure(struct rpcrdma_client *client,
	const struct rpcrdma_program *program, uint32_t procedure, const void *args, void *result,
	const struct rpcrdma_call_config *config);

/*
 * Ends a call without done(). Its memory is the caller's again when this
 * returns: no peer can reach it any more. The server may have handled it, or
 * may do so yet. No effect inside the call's own done().
 */
RPCRDMA_API void rpcrdma_call_cancel(struct rpcrdma_call *call);

/* Inside done(): octets of the result that the server placed by RDMA Write, and of the call that it fetched
 * by RDMA Read. Both 0 over TCP, and where all of the message went by Send. */
RPCRDMA_API uint32_t rpcrdma_call_placed(const struct rpcrdma_call *call);
RPCRDMA_API uint32_t rpcrdma_call_pulled(const struct rpcrdma_call *call);

/* Why the last failing call or connection failed, with the server's address and what to do. Valid until the
 * next turn, or the next function on this client. */
RPCRDMA_API const char *rpcrdma_client_error(const struct rpcrdma_client *client);

/* Transport properties of RPC-over-RDMA version 2 (draft-cel-nfsv4-rpcrdma-version-two-03, section 5) that
 * this library knows. */
enum { RPCRDMA_PROPERTIES = 4 };

/* A property in a few words: "receive buffer size". NULL: there is no such property. Any thread.
 */
RPCRDMA_API const char *rpcrdma_property_name(uint32_t index);

/* What the two sides of a connection agreed on, and what of it is in use. */
struct rpcrdma_negotiated {
	size_t size;              /* set by the caller: see api.h */
	const char *fabric;       /* "iwarp", "verbs" or "tcp"; constant */
	uint32_t version;         /* of RPC-over-RDMA; 0 over TCP */
	bool private_data;        /* the server sent that of RFC 8797 */
	bool remote_invalidation; /* both sides offered it */
	uint32_t inline_call;     /* octets of the largest Send from here to there, */
	uint32_t inline_reply;    /* and from there to here */
	uint32_t credits_asked;   /* calls that may be under way at a time, as asked for, */
	uint32_t credits_granted; /* and as the last reply granted */
	uint32_t credits_used; /* now: calls of this side that are under way, and a message of properties */
	uint32_t credits_min;  /* the least that was granted so far, */
	uint32_t credits_max;  /* and the most; both 0 before the first grant */
	uint32_t own_send, own_receive;   /* octets of the largest Send, as this side announced it, */
	uint32_t peer_send, peer_receive; /* and the peer; its defaults where private_data is false */
	bool read_chunks;                 /* both sides take replies in Read chunks of the responder */
	uint32_t provided;                /* such chunks that this side has exposed, now */
	uint32_t provided_peak;           /* and the most at a time */
	bool properties;                  /* the peer announced its transport properties, in version 2 */
	/* The values in force of each side's properties: by index, see rpcrdma_property_name(). */
	uint32_t own_properties[RPCRDMA_PROPERTIES], peer_properties[RPCRDMA_PROPERTIES];
};

/* Fills in negotiated, of the current connection, or of the last one. fabric is NULL where there was none
 * yet. Errors: INVAL (size). */
RPCRDMA_API int rpcrdma_client_negotiated(
	const struct rpcrdma_client *client, struct rpcrdma_negotiated *negotiated);

/* Fills in counters, summed over all connections of this client. Errors: INVAL (size). */
RPCRDMA_API int rpcrdma_client_counters(
	const struct rpcrdma_client *client, struct rpcrdma_counters *counters);

/* Fills in latency: from the start of a call to its done(), whatever became of the connection meanwhile;
 * cancelled calls are not counted. All 0 where there was no such call. Errors: INVAL (size). */
RPCRDMA_API int rpcrdma_client_latency(const struct rpcrdma_client *client,
	const struct rpcrdma_program *program, uint32_t procedure, struct rpcrdma_latency *latency);

#ifdef __cplusplus
}
#endif

#endif
