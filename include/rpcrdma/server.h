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

/* A call that is being handled: valid until its handler returns, or until rpcrdma_request_end() where the
 * handler keeps the request. */
struct rpcrdma_request;

/* The results of a handler. */
enum rpcrdma_handled {
	RPCRDMA_HANDLED,           /* result is set: SUCCESS (RFC 5531, section 9) */
	RPCRDMA_HANDLE_LATER,      /* rpcrdma_request_payload() returned NULL: the handler is called again
				      when there is memory, as if for the first time */
	RPCRDMA_HANDLE_DROP,       /* no answer at all */
	RPCRDMA_HANDLE_SYSTEM_ERR, /* the other accept_stat values of RFC 5531, section 9: SYSTEM_ERR */
	RPCRDMA_HANDLE_GARBAGE_ARGS,
	RPCRDMA_HANDLE_PROC_UNAVAIL,
	RPCRDMA_HANDLE_TOO_WEAK, /* AUTH_ERROR with AUTH_TOOWEAK: the credential does not suffice */
	RPCRDMA_HANDLE_KEPT /* the handler keeps the request and answers later, by rpcrdma_request_end() */
};

/*
 * Handles a call. args, of the procedure's C type, has the decoded arguments, and lives as long as the
 * request. The handler fills in result, of the procedure's C type, which is zeroed. Memory that result points
 * to must stay until the reply was sent: rpcrdma_request_alloc() and rpcrdma_request_payload() give such
 * memory, and args, with all that it points to, is such memory as well.
 *
 * A handler is called from rpcrdma_engine_turn(); while it runs, the engine does nothing else. A handler that
 * must wait for something returns RPCRDMA_HANDLE_KEPT: see "Requests that are answered later" below.
 */
typedef enum rpcrdma_handled rpcrdma_handler(
	void *ctx, struct rpcrdma_request *request, const void *args, void *result);

/*
 * A version of a program, and its handlers. The array handlers has
 * program->procedure_count members, by procedure number; where a handler is
 * NULL, the server answers PROC_UNAVAIL, and SUCCESS for procedure 0 (RFC 5531,
 * section 12.1). program, handlers and ctx belong to the caller, and must live as long as the server.
 *
 * once has a member for each procedure as well, or is NULL. Where a member is true, a call that a client
 * repeats (after it lost its connection, for example) is not executed again: the repetition gets the answer
 * of the first call, and waits for it where the handler keeps the request. The server remembers answers of up
 * to 2048 octets without marked data, for 120 s, at most 16384 of them in 8 MiB; each server has its own.
 */
struct rpcrdma_service {
	const struct rpcrdma_program *program;
	rpcrdma_handler *const *handlers;
	void *ctx;
	const bool *once;
};

/* The services of a server, and its limits. Zero is the default, everywhere: a comment that ends with a bare
 * value names it. */
struct rpcrdma_server_config {
	size_t size;                            /* sizeof(struct rpcrdma_server_config): see api.h */
	const struct rpcrdma_service *services; /* the array is copied; must be set */
	uint32_t service_count;
	/* Octets of memory for the arrays and lists of a call's arguments, and as many for
	 * rpcrdma_request_alloc(): at most 16 MiB. 64 KiB. */
	uint32_t arena_size;
	/* The largest encoded result, in octets, marked data not counted: at most 1 GiB. 128 KiB. */
	uint32_t reply_max;
	/*
	 * Calls that the server works on at a time: calls being handled, kept by their handler, or answered
	 * by a reply that has not been sent yet. Further calls wait. A connection may have as many calls at
	 * work as there are places still free, so at most half of the places, and one in any case. Each call
	 * takes a little more than twice arena_size of memory. At most 16384. 256.
	 */
	uint32_t call_max;
};

/*
 * Makes a server, which does not listen at any address yet. Free it with rpcrdma_server_free().
 *
 * Errors, with their text on the engine: INVAL, NOTSUP (config), NOMEM.
 */
RPCRDMA_API int rpcrdma_server_new(struct rpcrdma_engine *engine, const struct rpcrdma_server_config *config,
	struct rpcrdma_server **server);

/*
 * Closes all connections at once and frees the server. Memory that replies under way refer to, and that is
 * the caller's, must stay until rpcrdma_engine_free(). The function must not be called inside a handler, nor
 * inside lost(). For each request that a handler kept, it calls lost(), which must not use the server; such a
 * request is still to be ended. server may be NULL.
 */
RPCRDMA_API void rpcrdma_server_free(struct rpcrdma_server *server);

/*
 * Serves at host and *port, besides the addresses of earlier calls. host is a name or a numeric address:
 * "0.0.0.0" and "::" mean all addresses of this machine, NULL means 127.0.0.1. A *port of 0 is replaced by
 * the port that the system chooses.
 *
 * Errors, text on the server: INVAL, ADDRESS (host cannot be resolved), SYSTEM (in use, no permission),
 * NOMEM, and of RDMA adapters NOTSUP (there is no adapter, or no library), LIMIT (locked memory).
 */
RPCRDMA_API int rpcrdma_server_listen(
	struct rpcrdma_server *server, enum rpcrdma_transport transport, const char *host, uint16_t *port);

/* Begins to end in good order: from now on the server accepts neither connections nor calls; it answers the
 * calls that it received before, also those that handlers keep, and then closes the connections. The function
 * may be called inside a handler. */
RPCRDMA_API void rpcrdma_server_shutdown(struct rpcrdma_server *server);

/* Whether all calls are answered and all connections are closed, after rpcrdma_server_shutdown(). */
RPCRDMA_API bool rpcrdma_server_idle(const struct rpcrdma_server *server);

/* Returns how many connections there are now. */
RPCRDMA_API uint32_t rpcrdma_server_connections(const struct rpcrdma_server *server);

/* Fills in counters, summed over all connections of the server, also those that have ended. Errors: INVAL
 * (counters->size). */
RPCRDMA_API int rpcrdma_server_counters(
	const struct rpcrdma_server *server, struct rpcrdma_counters *counters);

/* Calls visit for each connection that exists now, with the address of its peer. The text and the structures
 * are valid until visit returns; the structures have the size that this library knows. visit must not use the
 * server. */
RPCRDMA_API void rpcrdma_server_each_connection(const struct rpcrdma_server *server,
	void (*visit)(void *ctx, const char *peer, const struct rpcrdma_negotiated *negotiated,
		const struct rpcrdma_counters *counters),
	void *ctx);

/* Fills in latency for a procedure: the times from the arrival of a call to its reply. All numbers are 0 if
 * there was no such call. Errors: INVAL (latency->size). */
RPCRDMA_API int rpcrdma_server_latency(const struct rpcrdma_server *server,
	const struct rpcrdma_program *program, uint32_t procedure, struct rpcrdma_latency *latency);

/* Returns a text that says why the last rpcrdma_server_listen() failed, and what to do. The text is valid
 * until the next rpcrdma_server_listen(). */
RPCRDMA_API const char *rpcrdma_server_error(const struct rpcrdma_server *server);

/* ---- Inside a handler ---- */

/* Returns the number of the procedure that is called. */
RPCRDMA_API uint32_t rpcrdma_request_procedure(const struct rpcrdma_request *request);

/* Returns the client's address as text, for messages: "192.0.2.1:1023" or "[2001:db8::1]:1023". The text is
 * valid until the handler returns; if the handler keeps the request, the function has to be called again
 * later. */
RPCRDMA_API const char *rpcrdma_request_peer(const struct rpcrdma_request *request);

/* Copies the user and groups that a call is made for, from its AUTH_SYS credential (RFC 5531, appendix A), to
 * auth_sys. The client states them without a proof. Returns false if the call has another credential, such as
 * AUTH_NONE. */
RPCRDMA_API bool rpcrdma_request_auth_sys(
	const struct rpcrdma_request *request, struct rpcrdma_auth_sys *auth_sys);

/*
 * rpcrdma_request_item_room() returns how many octets the largest marked result may have,
 * rpcrdma_request_stream_room() how many the encoded result may have besides. Over RDMA, the client has
 * provided memory for no more (RFC 8166, section 4.4); the server answers with ERR_CHUNK in place of a larger
 * reply. A marked result for which there is no Write chunk counts as part of the encoded result.
 */
RPCRDMA_API uint32_t rpcrdma_request_item_room(const struct rpcrdma_request *request);
RPCRDMA_API uint32_t rpcrdma_request_stream_room(const struct rpcrdma_request *request);

/* Returns zeroed memory, aligned for any type, that exists until the reply was sent: for arrays, lists and
 * strings of the result. Returns NULL if the arena_size of the server's config is used up. */
RPCRDMA_API void *rpcrdma_request_alloc(struct rpcrdma_request *request, size_t size);

/*
 * Returns memory for marked results, not zeroed, aligned to pages, that exists until the reply was sent. A
 * request has one such block: another call of this function frees the earlier block. Returns NULL if
 * memory_max of the engine's config is used up: the handler then returns RPCRDMA_HANDLE_LATER, and must not
 * have changed anything.
 */
RPCRDMA_API void *rpcrdma_request_payload(struct rpcrdma_request *request, size_t size);

/*
 * Makes a client that calls the sender of the request, over the same
 * connection: the reverse direction (RFC 8167). The peer serves the services
 * of its own config. The client outlives the request; free it with
 * rpcrdma_client_free(). When the connection ends, calls fail with
 * DISCONNECTED, later calls as well: the connection is not made again, and no
 * call is sent twice.
 *
 * Of config, auth_none and auth_sys count. Calls and replies are no larger
 * than the inline thresholds; a larger one fails with LIMIT.
 *
 * Errors, with their text on the engine: INVAL, NOTSUP (config; or the request
 * came in the reverse direction itself), DISCONNECTED, NOMEM.
 */
RPCRDMA_API int rpcrdma_request_client(struct rpcrdma_request *request,
	const struct rpcrdma_client_config *config, struct rpcrdma_client **client);

/*
 * ---- Requests that are answered later ----
 *
 * A handler that returns RPCRDMA_HANDLE_KEPT keeps its request, with args and result as it was given them,
 * and answers in a later turn: when a timer expires, when a call of its own is answered, or when another
 * thread is done with it. Others are served meanwhile.
 *
 * Ownership: the request, its arguments, the memory for its result, and memory of rpcrdma_request_alloc()
 * and rpcrdma_request_payload() are the handler's until rpcrdma_request_end(), which is called exactly once
 * for each request that is kept: also when the connection ends, and also when the server has been freed
 * meanwhile. The functions "inside a handler" above may be used until then.
 *
 * Threads: functions on the request are for the engine's thread. Another thread may read the arguments and
 * write the result while nobody else does; then it has the request ended in the engine's thread, by
 * rpcrdma_engine_post().
 *
 * Bounds: a request that is kept is one of the call_max calls of its server's config, and holds the memory
 * for its reply. Handlers that keep requests for long set lost(), and end those whose clients have gone.
 */

/*
 * Has lost(ctx, request) called, once, when the connection of a request ends before the request is ended:
 * nobody waits for its answer any more. lost() may end the request, or stop the work that the request waits
 * for and have the request ended later. A later answer is dropped, except that of a procedure that is
 * executed once (see struct rpcrdma_service): a client that repeats the call on another connection gets that
 * answer.
 *
 * Over TCP, a client that only ends its own stream still waits for its answers: a reset ends the connection.
 *
 * lost() is called from rpcrdma_engine_turn(), or from inside rpcrdma_server_free() (rpcrdma_client_free(),
 * for a call in the reverse direction). This function may be called inside the handler that is about to keep
 * the request, or later. lost NULL: an earlier lost() is not called any more. Errors: INVAL (request is NULL,
 * or has been ended).
 */
RPCRDMA_API int rpcrdma_request_on_lost(
	struct rpcrdma_request *request, void (*lost)(void *ctx, struct rpcrdma_request *request), void *ctx);

/*
 * Answers a request that its handler has kept, as if the handler had returned handled; the request is gone
 * then. Not inside the handler that keeps it, but inside any other callback.
 *
 * Returns 0: the reply is under way. Errors: DISCONNECTED (the connection has ended; the request is gone
 * nevertheless); INVAL, and nothing is done: request is NULL or is not kept (its handler has not returned
 * yet, or the request was answered before; that can be found out only until the server uses its memory for
 * another call), or handled is RPCRDMA_HANDLE_KEPT, RPCRDMA_HANDLE_LATER, or no value of the enum.
 */
RPCRDMA_API int rpcrdma_request_end(struct rpcrdma_request *request, enum rpcrdma_handled handled);

#ifdef __cplusplus
}
#endif

#endif
