/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RPCRDMA_SERVER_H
#define RPCRDMA_SERVER_H

#include <rpcrdma/client.h>
#include <rpcrdma/engine.h>
#include <rpcrdma/xdr.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * An RPC server: programs, and the addresses at which they are served, over
 * RDMA and over TCP.
 *
 * Threads: those of its engine. A server that wants several cores makes an
 * engine and a server in each of its threads, all at the same addresses: see
 * reuse_port in struct rpcrdma_engine_config.
 */
struct rpcrdma_server;

/* A call that is being handled: valid until its handler returns. */
struct rpcrdma_request;

/* What a handler says. */
enum rpcrdma_handled {
	RPCRDMA_HANDLED,           /* result is set: SUCCESS (RFC 5531, section 9) */
	RPCRDMA_HANDLE_LATER,      /* rpcrdma_request_payload() returned NULL: the handler is called again
				      when there is memory, as if for the first time */
	RPCRDMA_HANDLE_DROP,       /* no answer at all */
	RPCRDMA_HANDLE_SYSTEM_ERR, /* the other accept_stat values of RFC 5531, section 9: SYSTEM_ERR */
	RPCRDMA_HANDLE_GARBAGE_ARGS,
	RPCRDMA_HANDLE_PROC_UNAVAIL,
	RPCRDMA_HANDLE_TOO_WEAK /* AUTH_ERROR with AUTH_TOOWEAK: the credential does not do */
};

/*
 * Handles a call: it was decoded into args, of the procedure's C type, which
 * lives as long as the request. Fills in result, of the procedure's C type,
 * which is zeroed; what result points to must stay until the reply was sent:
 * rpcrdma_request_alloc() and rpcrdma_request_payload() give such memory, and
 * args, and what that points to, is such memory as well.
 *
 * Is called from rpcrdma_engine_turn(); while it runs, nothing else does.
 */
typedef enum rpcrdma_handled rpcrdma_handler(
	void *ctx, struct rpcrdma_request *request, const void *args, void *result);

/*
 * A version of a program, and what handles it. handlers has
 * program->procedure_count members, by procedure number; where one is NULL,
 * PROC_UNAVAIL is answered, but SUCCESS for procedure 0 (RFC 5531, section
 * 12.1). program, handlers and ctx stay the caller's, and must stay.
 */
struct rpcrdma_service {
	const struct rpcrdma_program *program;
	rpcrdma_handler *const *handlers;
	void *ctx;
};

/* Zero is the default, everywhere. */
struct rpcrdma_server_config {
	size_t size;                            /* sizeof(struct rpcrdma_server_config): see api.h */
	const struct rpcrdma_service *services; /* the array is copied; must be set */
	uint32_t service_count;
	/* Octets for the arrays and lists of a call's arguments, and as many for rpcrdma_request_alloc(): at
	 * most 16 MiB. 64 KiB. */
	uint32_t arena_size;
	/* Octets of the largest encoded result, marked data not counted: at most 1 GiB. 128 KiB. */
	uint32_t reply_max;
};

/*
 * Makes a server that listens nowhere yet. Free it with rpcrdma_server_free().
 *
 * Errors, with their text on the engine: INVAL, NOTSUP (config), NOMEM.
 */
RPCRDMA_API int rpcrdma_server_new(struct rpcrdma_engine *engine, const struct rpcrdma_server_config *config,
	struct rpcrdma_server **server);

/*
 * Closes all connections at once and frees. Memory that replies under way
 * refer to, and that is the caller's, must stay until rpcrdma_engine_free().
 * Not inside a handler. server may be NULL.
 */
RPCRDMA_API void rpcrdma_server_free(struct rpcrdma_server *server);

/*
 * Serves at host and *port, too; as often as wanted. host is a name or a
 * numeric address: "0.0.0.0" and "::" are all of this machine, NULL is
 * 127.0.0.1. A *port of 0 is replaced by the one that was chosen.
 *
 * Errors, text on the server: INVAL, ADDRESS (host cannot be resolved),
 * SYSTEM (in use, no permission), NOMEM, and of RDMA adapters NOTSUP (none, or no library), LIMIT (locked
 * memory).
 */
RPCRDMA_API int rpcrdma_server_listen(
	struct rpcrdma_server *server, enum rpcrdma_transport transport, const char *host, uint16_t *port);

/* Begins to end in good order: no new connections, no new calls; what was received is answered, then
 * connections close. Also inside a handler. */
RPCRDMA_API void rpcrdma_server_shutdown(struct rpcrdma_server *server);

/* True after rpcrdma_server_shutdown(), once all is answered and closed. */
RPCRDMA_API bool rpcrdma_server_idle(const struct rpcrdma_server *server);

/* How many connections there are now. */
RPCRDMA_API uint32_t rpcrdma_server_connections(const struct rpcrdma_server *server);

/* Fills in counters, summed over all connections, living and gone. Errors: INVAL (size). */
RPCRDMA_API int rpcrdma_server_counters(
	const struct rpcrdma_server *server, struct rpcrdma_counters *counters);

/* Calls visit for each connection there is now. What it is handed is valid until it returns; size says how
 * much of a structure this library has. visit must not use the server. */
RPCRDMA_API void rpcrdma_server_each_connection(const struct rpcrdma_server *server,
	void (*visit)(void *ctx, const char *peer, const struct rpcrdma_negotiated *negotiated,
		const struct rpcrdma_counters *counters),
	void *ctx);

/* Fills in latency: from the arrival of a call of the procedure to its reply. All 0 where there was none.
 * Errors: INVAL (size). */
RPCRDMA_API int rpcrdma_server_latency(const struct rpcrdma_server *server,
	const struct rpcrdma_program *program, uint32_t procedure, struct rpcrdma_latency *latency);

/* Why the last rpcrdma_server_listen() failed, and what to do. Valid until the next. */
RPCRDMA_API const char *rpcrdma_server_error(const struct rpcrdma_server *server);

/* ---- Inside a handler ---- */

/* The number of the procedure that is called. */
RPCRDMA_API uint32_t rpcrdma_request_procedure(const struct rpcrdma_request *request);

/* The client's address, for messages: "192.0.2.1:1023" or "[2001:db8::1]:1023". Valid until the handler
 * returns. */
RPCRDMA_API const char *rpcrdma_request_peer(const struct rpcrdma_request *request);

/* Who the call says it is from: copies the AUTH_SYS credential (RFC 5531, appendix A) to auth_sys. Nothing
 * proves it. False where the credential is another: AUTH_NONE. */
RPCRDMA_API bool rpcrdma_request_auth_sys(
	const struct rpcrdma_request *request, struct rpcrdma_auth_sys *auth_sys);

/*
 * What the reply can convey: octets of the largest marked result, and of the
 * encoded result besides. Over RDMA, the client provided for no more (RFC
 * 8166, section 4.4); a reply beyond it is answered with ERR_CHUNK. Where no
 * Write chunk waits for a marked result, it takes its room from the rest.
 */
RPCRDMA_API uint32_t rpcrdma_request_item_room(const struct rpcrdma_request *request);
RPCRDMA_API uint32_t rpcrdma_request_stream_room(const struct rpcrdma_request *request);

/* Zeroed memory, aligned for any type, that lives until the reply was sent: for arrays, lists and strings of
 * the result. NULL where arena_size of the server's config does not suffice. */
RPCRDMA_API void *rpcrdma_request_alloc(struct rpcrdma_request *request, size_t size);

/*
 * Memory for marked results, not zeroed, aligned to pages, that lives until
 * the reply was sent. One for each call: asked again, what it gave before is
 * void. NULL where none is left of memory_max of the engine's config: the handler
 * then returns RPCRDMA_HANDLE_LATER, before it did anything.
 */
RPCRDMA_API void *rpcrdma_request_payload(struct rpcrdma_request *request, size_t size);

/*
 * Makes a client that calls whom the request came from, over the connection
 * that it came by: the reverse direction (RFC 8167). The peer serves what its
 * own config names as services. The client outlives the request; free it with
 * rpcrdma_client_free(). When the connection ends, its calls fail with
 * DISCONNECTED, and so do later ones: it is not made again, and nothing is
 * sent twice.
 *
 * Of config, auth_none and auth_sys count. Calls and replies are no larger
 * than the inline thresholds; a larger one fails with LIMIT.
 *
 * Errors, with their text on the engine: INVAL, NOTSUP (config; or the request
 * came in the reverse direction itself), DISCONNECTED, NOMEM.
 */
RPCRDMA_API int rpcrdma_request_client(struct rpcrdma_request *request,
	const struct rpcrdma_client_config *config, struct rpcrdma_client **client);

#ifdef __cplusplus
}
#endif

#endif
