/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_SERVER_H
#define RR_RPC_SERVER_H

#include <rpcrdma/server.h>

#include "rpc/client.h"
#include "rpc/drc.h"

/*
 * An RPC server in one engine: programs, and the addresses at which they are
 * served over RDMA and over TCP.
 */

struct rpcrdma_server;

/* A call being handled. */
struct rpcrdma_request {
	struct rpcrdma_server *server;
	const struct rpcrdma_procedure *procedure;
	uint32_t prog, vers, proc;
	const char *peer;           /* address, for messages */
	struct rr_source source;    /* the same, as a value */
	struct rr_party *party;     /* for whom memory is taken */
	const struct rr_auth *auth; /* the flavor of the call */
	bool places;                /* under which items may be placed directly */
	bool has_sys;               /* the credential says who calls, in sys */
	struct rr_auth_sys sys;
	uint32_t header;                 /* octets of the reply before its results */
	uint32_t item_room, stream_room; /* what the reply can convey: see struct rr_exchange */
	struct rpcrdma_arena arena;      /* for what the result points to; lives until the reply was sent */
	/* Pool memory for a marked result: set by the handler, given back when the reply was sent. */
	void *payload;
	/* Set by a handler that keeps the request, or NULL. Called once with above, when the connection has
	 * ended: from the loop, or from inside rr_server_free(). No peer waits for the answer any more. The
	 * handler may end the request in it, by RPCRDMA_HANDLE_DROP, or later as if nothing had happened: a
	 * repetition of the call then gets that answer, where the call is to be executed once. */
	void (*lost)(void *above, struct rpcrdma_request *request);
	void *above;      /* the handler's */
	bool kept, ended; /* the handler keeps the request; it was ended by rr_request_end() */

	/* The server's. */
	struct rr_exchange *exchange;
	struct rpcrdma_latency *latency; /* of the procedure; NULL: there is none */
	const void *args;
	void *result;
	struct rpcrdma_item items[RR_MESSAGE_ITEMS];
};

/*
 * Ends a request that its handler kept: exactly once, in the thread of the server's loop, in a later turn, or
 * where lost() is called; the request is gone then. Until that the arguments, the memory for the result, and
 * the arena are the handler's, and the request counts among the calls that the server has under way: there is
 * a bound on those. handled: as if the handler had returned it; neither RPCRDMA_HANDLE_KEPT nor
 * RPCRDMA_HANDLE_LATER. It may also be called after rr_server_free(): what that leaves of the server goes
 * with the last request.
 */
void rr_request_end(struct rpcrdma_request *request, enum rpcrdma_handled handled);

/* Something of the layer above that goes with a connection. Its owner sets key and ended. */
struct rr_attachment {
	struct rr_list link;
	const void *key; /* whose it is: one of each key for a connection */
	/* The connection ends, and lets go of the attachment. Called from the loop, or from inside
	 * rr_server_free(). */
	void (*ended)(struct rr_attachment *attachment);
};

/* What rr_request_attach() gave the connection of the request for that key; NULL: nothing, or the connection
 * has ended, or is not the server's own (the call came in the reverse direction). */
struct rr_attachment *rr_request_attached(const struct rpcrdma_request *request, const void *key);

/* False: see above. The attachment is then not used. */
bool rr_request_attach(const struct rpcrdma_request *request, struct rr_attachment *attachment);

/* A program and what handles it. handlers is indexed by procedure number, program->procedure_count of them.
 */
struct rr_service {
	const struct rpcrdma_program *program;
	rpcrdma_handler *const *handlers;
	void *ctx;
	/* By procedure number: true where a duplicate of a call must not be executed, but gets the same
	 * answer again. NULL: all may be executed twice. */
	const bool *once;
	/* By procedure number, NULL entries and NULL for the schema's bound: the octets that the results of a
	 * call can have at most in the stream, where the arguments tell more than the schema does. */
	uint32_t (*const *result_max)(const struct rpcrdma_request *request, const void *args);
};

struct rr_server_config {
	uint32_t arena_size; /* octets of arena for the arguments of a call, and for its result */
	uint32_t reply_max;  /* octets of stream of the largest reply */
	/* Calls at a time whose reply has not been sent yet; further ones wait. A connection may have as many
	 * as are still free, and one in any case: no other connection can keep it from being served. */
	uint32_t call_max;
	const struct rr_auth *const *auths; /* the flavors that are taken; ends with NULL */
	/* For what is executed once. Shared by the servers of all threads, and there as long as they are.
	 * NULL: the server has one of its own. */
	struct rr_drc *drc;
};

extern const struct rr_server_config rr_server_config_default; /* 64 KiB each, 128 KiB, 256, rr_auth_served */

/* The services are copied, what they point to is not. Errors: NOMEM. rpcrdma_server_new() is this function
 * for the public: its server uses the engine, as a timer or a kept request does. */
int rr_server_new(struct rpcrdma_engine *engine, const struct rr_server_config *config,
	const struct rr_service *services, uint32_t service_count, struct rpcrdma_server **server);

/* Closes everything at once and frees. server may be NULL. */
void rr_server_free(struct rpcrdma_server *server);

/* Serves a call that came some other way than by a listener: to a client, in the reverse direction. */
void rr_server_take(struct rpcrdma_server *server, struct rr_exchange *exchange);

/* The connection of an exchange that rr_server_take() was given has ended: lost() of requests that are kept
 * is called in this turn or in the next one. */
void rr_server_connection_lost(struct rpcrdma_server *server);

/*
 * A client that calls whom the request came from, over the same connection: the reverse direction (RFC 8167).
 * When that ends, its calls fail, and all later ones. Of config, the credential counts. Errors: NOMEM, INVAL
 * (credential), DISCONNECTED, NOTSUP (the request came in the reverse direction itself).
 */
int rr_request_client(struct rpcrdma_request *request, const struct rr_client_config *config,
	struct rpcrdma_client **client, struct rr_text *text);

/* Serves at address by that transport; as often as wanted. A port 0 in address is replaced by the port that
 * was chosen. providers may be NULL; *providers: see rr_acceptor_providers(). Errors: as rr_carrier_listen().
 */
int rr_server_listen(struct rpcrdma_server *server, enum rr_transport transport, struct sockaddr *address,
	socklen_t size, const char **providers, struct rr_text *text);

/* No new connections, no new calls; what was received is answered, then connections close. */
void rr_server_shutdown(struct rpcrdma_server *server);

/* True after rr_server_shutdown() once everything is closed. */
bool rr_server_idle(const struct rpcrdma_server *server);

/* Sums over all connections, living and gone. */
void rr_server_counters(const struct rpcrdma_server *server, struct rpcrdma_counters *counters);
uint32_t rr_server_connections(const struct rpcrdma_server *server);
void rr_server_each_connection(const struct rpcrdma_server *server,
	void (*visit)(void *ctx, const struct rr_carrier *carrier), void *ctx);

/* From the arrival of a call to the handing over of its reply; what is dropped is not counted. index: of the
 * service, as they were given to rr_server_new(). NULL where there is no such procedure. */
const struct rpcrdma_latency *rr_server_latency(
	const struct rpcrdma_server *server, uint32_t index, uint32_t proc);

#endif
