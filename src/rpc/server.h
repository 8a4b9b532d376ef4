/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_SERVER_H
#define RR_RPC_SERVER_H

#include <rpcrdma/server.h>

#include "base/crew.h"
#include "rpc/caller.h"
#include "rpc/client.h"
#include "rpc/drc.h"

/* An RPC server in an engine: programs, and the addresses at which they are served over RDMA and over TCP. */

struct rpcrdma_server;

/* A call that is being handled. */
struct rpcrdma_request {
	struct rpcrdma_server *server;
	const struct rpcrdma_procedure *procedure;
	uint32_t prog, vers, proc;
	const char *peer;        /* the caller's address, for messages */
	struct rr_source source; /* the caller's address and port, as numbers */
	struct rr_party
		*party; /* of the connection: the memory of the reply counts for it (base/share/share.h) */
	const struct rr_auth *auth;      /* the flavor of the call */
	bool places;                     /* items may be placed directly with this flavor */
	struct rr_caller caller;         /* who asks; its groups lie in sys */
	struct rr_auth_sys sys;          /* the credential, if it is one of AUTH_SYS */
	struct rr_auth_call auth_call;   /* of a flavor with contexts */
	uint32_t header;                 /* octets of the reply before its results */
	uint32_t item_room, stream_room; /* the room for the reply: see struct rr_exchange */
	/* For the memory that the result points to; it lives until the reply was sent. */
	struct rpcrdma_arena arena;
	/* Pool memory for a marked result. The handler sets it; it is returned to the pool when the reply
	 * was sent. */
	void *payload;
	/* A handler that keeps the request may set this. It is called once, with above, when the connection
	 * has ended: from the loop, or from inside rr_server_free(). The peer does not wait for the answer
	 * any more. The handler may end the request inside lost(), by RPCRDMA_HANDLE_DROP, or later with an
	 * answer: a repetition of a call that must be executed once then gets that answer. */
	void (*lost)(void *above, struct rpcrdma_request *request);
	void *above;      /* the handler's own data */
	bool kept, ended; /* the handler keeps the request; rr_request_end() ended it */
	/* The handler sets this if it has read the clock (rr_loop_clock()) just before its answer: the clock
	 * is then not read again for the time of the call. */
	bool is_timed;

	/* What follows belongs to the server. */
	struct rr_exchange *exchange;
	struct rr_history *history; /* of the procedure; NULL: the procedure has no counts */
	const void *args;
	void *result;
	struct rpcrdma_item items[RR_MESSAGE_ITEMS];
};

/* Ends a request that its handler kept, as if the handler had returned `handled` (but not RPCRDMA_HANDLE_KEPT
 * or RPCRDMA_HANDLE_LATER), and frees the request. It must be called exactly once, in the thread of the
 * server's loop, in a later turn or inside lost(). Until then the arguments, the memory for the result and
 * the arena belong to the handler, and the request counts among the calls under way, whose number is bounded.
 * It may also be called after rr_server_free(): the rest of the server is freed with the last request. */
void rr_request_end(struct rpcrdma_request *request, enum rpcrdma_handled handled);

/* A handler whose calls may take long pauses, so that the calls of others are served meanwhile: the loop's
 * time is divided among hosts, and the time of a host among its connections (server_turns.c).
 *
 * Tells whether the handler, or the function that goes on with its call, has run for so long without a pause
 * that it should pause now, because other work waits. Reads the clock: it should be asked after each step
 * that may take a few microseconds or more, and not more often. */
bool rr_request_is_long(const struct rpcrdma_request *request);

/* Calls go_on() once, with request->above, when it is the turn of the request's connection again. The handler
 * keeps the request, as go_on() comes after the handler has returned. It comes from the loop or, if the
 * server is freed before, from inside rr_server_free(). */
void rr_request_pause(
	struct rpcrdma_request *request, void (*go_on)(void *above, struct rpcrdma_request *request));

/* Like rr_request_pause(), for a kept request that has work to do again, because what it waited for has come:
 * go_on() is called at once if no other work waits. */
void rr_request_go_on(
	struct rpcrdma_request *request, void (*go_on)(void *above, struct rpcrdma_request *request));

/* Returns how many data items of the result may travel apart from the stream of the reply; the data of
 * further ones is encoded in the stream. Over TCP: as many as a message can have. Over RDMA: a few, and as
 * many as Write chunks came with the call, as an item without a Write chunk is sent from where it lies, and a
 * Send cannot gather more than a few. 0 if the flavor forbids it. */
uint32_t rr_request_item_max(const struct rpcrdma_request *request);

/* Data of the layer above that belongs to a connection. Its owner sets key and ended. */
struct rr_attachment {
	struct rr_list link;
	const void *key; /* names the owner; a connection has one attachment for each key */
	/* Is called when the connection ends and has dropped the attachment, from the loop, or from inside
	 * rr_server_free(). */
	void (*ended)(struct rr_attachment *attachment);
};

/* Returns the attachment with that key of the request's connection. Returns NULL if there is no such
 * attachment, if the connection has ended, or if the server did not accept it (the call came in the reverse
 * direction). */
struct rr_attachment *rr_request_attached(const struct rpcrdma_request *request, const void *key);

/* Attaches data to the request's connection. Returns false, and does not use the attachment, if the
 * connection has ended or the server did not accept it. */
bool rr_request_attach(const struct rpcrdma_request *request, struct rr_attachment *attachment);

/* A program and its handlers. handlers is indexed by procedure number, and has program->procedure_count
 * entries. */
struct rr_service {
	const struct rpcrdma_program *program;
	rpcrdma_handler *const *handlers;
	void *ctx;
	/* By procedure number: true if a repetition of a call must not be executed, but gets the same
	 * answer again. NULL: all procedures may be executed twice. */
	const bool *once;
	/* By procedure number: returns the octets that the results of a call can have at most in the
	 * stream, if the arguments say more of that than the schema. A NULL entry, or NULL here, stands for
	 * the schema's bound. */
	uint32_t (*const *result_max)(const struct rpcrdma_request *request, const void *args);
	/* By procedure number: returns the octets of the arena in which the result of a call is made, where
	 * the arena of any call may be too small. It is pool memory, of reply_max octets at most; while the
	 * pool has no room for it, the result is made in the smaller arena. A NULL entry, or NULL here,
	 * stands for that. */
	uint32_t (*const *arena_max)(const struct rpcrdma_request *request, const void *args);
	/* By procedure number: tells whether a repetition of this call must not be executed, if that depends
	 * on the arguments. A NULL entry, or NULL here: `once` says it. */
	bool (*const *is_once)(const void *args);
};

/* The configuration of a server. */
struct rr_server_config {
	/* Octets of the arena for the arguments of a call, and of the arena for its result. */
	uint32_t arena_size;
	uint32_t reply_max; /* octets of stream of the largest reply */
	/* How many calls at a time may be under way, until their reply was sent; further calls wait. A
	 * connection may have as many as are still free, and at least one in any case: other connections
	 * cannot keep it from being served. */
	uint32_t call_max;
	const struct rr_auth *const *auths; /* the flavors that are accepted; NULL is the last entry */
	/* For what takes long where a flavor wraps large messages; it outlives the server, which may be freed
	 * before the crew has done all. NULL: the loop does it. */
	struct rr_crew *crew;
	/* The cache for calls that must be executed once. The servers of all threads share it, and it
	 * outlives them. NULL: the server makes a cache of its own. */
	struct rr_drc *drc;
};

extern const struct rr_server_config
	rr_server_config_default; /* arenas of 64 KiB, replies of 128 KiB, 256 calls, rr_auth_served */

/* Makes a server. The services are copied, but not the data that they point to. Returns 0 or
 * -RPCRDMA_ERR_NOMEM. rpcrdma_server_new() calls this function, and in addition counts its server as a user
 * of the engine. */
int rr_server_new(struct rpcrdma_engine *engine, const struct rr_server_config *config,
	const struct rr_service *services, uint32_t service_count, struct rpcrdma_server **server);

/* Closes all listeners and connections at once, and frees the server. server may be NULL. */
void rr_server_free(struct rpcrdma_server *server);

/* Serves a call that came over a connection of a client, in the reverse direction, and not by a listener of
 * the server. */
void rr_server_take(struct rpcrdma_server *server, struct rr_exchange *exchange);

/* Is called before the carrier of a client's connection is closed, whose exchanges were given to
 * rr_server_take(). All such calls that wait for pool memory, of this and of other connections, will be
 * served anew by the loop, in their order. By then the calls of the closed connection are dropped; the calls
 * of the other connections get the memory, or wait for it again. */
void rr_server_connection_ends(struct rpcrdma_server *server);
/* Is called when a connection has ended whose exchanges were given to rr_server_take(). The lost() of
 * requests that were kept is called in this turn of the loop or in the next turn. */
void rr_server_connection_lost(struct rpcrdma_server *server);

/* Makes a client that calls the peer of the request over the same connection, in the reverse direction (RFC
 * 8167). When the connection ends, its calls fail, and so do all later calls. Of config, only the credential
 * is used. Returns 0 or an error: NOMEM, INVAL (credential), DISCONNECTED, NOTSUP (the request itself came in
 * the reverse direction). */
int rr_request_client(struct rpcrdma_request *request, const struct rr_client_config *config,
	struct rpcrdma_client **client, struct rr_text *text);

/* Begins to serve at the address over that transport. May be called several times. A port 0 in address is
 * replaced by the port that was chosen. If providers is not NULL, stores the text of rr_acceptor_providers()
 * in *providers. Errors are those of rr_carrier_listen(). */
int rr_server_listen(struct rpcrdma_server *server, enum rr_transport transport, struct sockaddr *address,
	socklen_t size, const char **providers, struct rr_text *text);

/* Begins to end the server in good order: it accepts no new connections and no new calls, answers the calls
 * that it received, then closes its connections. The caller turns the loop until rr_server_idle(), and then
 * frees the server. */
void rr_server_shutdown(struct rpcrdma_server *server);

/* Tells whether all connections are closed and all calls have ended, after rr_server_shutdown(). */
bool rr_server_idle(const struct rpcrdma_server *server);

/* Stores the sums of the counters of all connections, open and closed, in *counters. */
void rr_server_counters(const struct rpcrdma_server *server, struct rpcrdma_counters *counters);
/* Returns how many connections are open now. */
uint32_t rr_server_connections(const struct rpcrdma_server *server);
/* Calls visit with each open connection, and with ctx. visit must not use the server. */
void rr_server_each_connection(const struct rpcrdma_server *server,
	void (*visit)(void *ctx, const struct rr_carrier *carrier), void *ctx);

/* Returns the histogram of the times that the calls of a procedure took. Each time begins with the arrival of
 * the call and ends when its reply is handed over; dropped calls are not counted. index is that of the
 * service, in the order of rr_server_new(). Returns NULL if there is no such procedure. */
const struct rpcrdma_latency *rr_server_latency(
	const struct rpcrdma_server *server, uint32_t index, uint32_t proc);

#endif
