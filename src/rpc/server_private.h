/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_SERVER_PRIVATE_H
#define RR_RPC_SERVER_PRIVATE_H

#include "base/cache.h"
#include "base/payer.h"
#include "rpc/server.h"

/* An RPC server, as its files see it: server.c has its life, server_public.c the public functions,
 * server_listen.c listeners and connections, server_queue.c the memory of calls that are served and of calls
 * that wait, server_turns.c the order in which calls are served, and who pays for their time, server_call.c
 * the way from the call's header to the procedure, server_reply.c the way from the result to the reply,
 * server_guard.c what flavors with contexts add to both, server_later.c requests that are answered in a later
 * turn, and messages that a crew unwraps and protects.
 *
 * A call is served in a block: one allocation with all that the call needs, but for pool memory. Each
 * connection has a line, in which its calls wait. A call that waits for a block or for pool memory holds
 * neither: it is decoded again when it is served at last. So calls that wait never keep the calls that they
 * wait for from finishing. */

/* Replies up to this size lie in their block. A reply with 4096 octets of data is small, with its headers. */
enum { RR_REPLY_SMALL = 4608 };

/* How long calls are served in one turn of the loop before the loop looks at its connections again. One call
 * is served in each turn, however long it takes. */
#define RR_SERVER_TURN (1 * RR_MILLISECOND)

/* For how long a call goes on while others wait, if its handler asks rr_request_is_long(). */
#define RR_SERVER_SLICE (200 * RR_MICROSECOND)

/* A call that took longer is charged even where nothing has waited. */
#define RR_SERVER_BRIEF (20 * RR_MICROSECOND)

/* Exchanges that wait. Each has the next exchange in its ctx. */
struct rr_exchange_queue {
	struct rr_exchange *first, *last;
};

/* The calls of a connection: those that wait, and the blocks of those that are being served. */
struct rr_line {
	struct rpcrdma_server *server;
	struct rr_payer *payer; /* of the connection, for the time of its calls; NULL: the line has ended */
	struct rr_list blocks;  /* the line's blocks in use */
	uint32_t block_count;
	struct rr_exchange_queue backlog, parked; /* calls that wait: for a block; for pool memory */
	struct rr_list paused;                    /* blocks whose calls go on in the line's next turns */
	/* In `blocked` of the server while something waits in the line and there was no block for its first
	 * call. Otherwise the payer waits for its turn. */
	struct rr_list blocked;
	/* Queued at the pool while calls are parked: turns_wake() serves them. */
	struct rr_pool_waiter waiter;
	/* Pool memory that was reserved for a reply and not needed: it serves the next call of this turn.
	 * spare_size: its octets. */
	void *spare;
	uint32_t spare_size;
	struct rr_list spared; /* in the server's spares, until the end of a turn that had such memory */
};

/* A block holds a call that is being served. */
struct rr_block {
	/* In its line's blocks; must be first, as the server's cache of blocks writes there. */
	struct rr_list link;
	struct rpcrdma_request request;
	struct rr_line *line; /* of its call's connection; NULL once the connection ended */
	struct rpcrdma_message reply;
	void *large; /* pool memory for the reply's stream, if the stream may need more room than small has */
	void *wide;  /* pool memory for the result, if that may need more room than result_arena has */
	uint32_t reply_size;
	uint8_t *args_arena, *result_arena, *small;
	struct rr_drc_call once;
	bool once_open;        /* the cache of answers has the call: rr_drc_end() must be called */
	struct rr_list later;  /* in `kept` or `repeats` of the server */
	struct rr_list paused; /* in `paused` of a line: go_on() is called in its turn */
	void (*go_on)(void *above, struct rpcrdma_request *request);
	const struct rr_service *service; /* of the call */
	struct rpcrdma_message plain;     /* the arguments, if they came wrapped */
	uint32_t args_at; /* where the arguments begin in their stream: plain, or the call's */
	bool unwrappable; /* the flavor could not wrap the results */
	/* server_later.c: a job for the crew; what is still to be protected in the reply; and how the call
	 * goes on. */
	struct rr_crew_job apart;
	struct rr_auth_span span;
	bool apart_good;
	void (*apart_next)(struct rr_block *block);
	char peer[RR_ADDRESS_TEXT]; /* a copy of the peer's name, if the request may outlive its connection */
	max_align_t memory[];       /* the arguments, then the result, small and both arenas */
};

/* Returns how many octets a value of `size` octets (arguments or a result) takes in a block: size rounded up,
 * so that what follows is aligned. */
static inline size_t
rr_block_aligned(size_t size)
{
	return (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
}

/* An RPC server. */
struct rpcrdma_server {
	struct rpcrdma_engine *engine;
	struct rr_server_config config;
	struct rr_text text;    /* why a public function failed */
	struct rr_drc *own_drc; /* config.drc, if it belongs to this server */
	struct rr_service *services;
	uint32_t service_count;
	struct rr_history *histories; /* of all procedures, service by service */

	struct rr_list listeners, connections;
	uint32_t connection_count;
	struct rpcrdma_counters past; /* of the connections that have ended */
	bool shut, freed; /* shut: rr_server_shutdown() was called; freed: rr_server_free() was called */

	size_t args_size, result_size; /* of the largest C types of all procedures */
	struct rr_cache free_blocks;
	uint32_t block_count;            /* blocks in use */
	struct rr_list blocked;          /* lines whose first call waits for a block; they wait for no turn
					    meanwhile */
	struct rr_list spares;           /* lines that keep memory until the end of the turn */
	struct rr_task give_back;        /* gives that memory back */
	struct rr_line other;            /* for calls that came by no connection of the server's own */
	struct rr_payer others;          /* the payer of that line, */
	struct rr_payer_host other_host; /* and its host */
	/* kept: blocks whose handler answers later; repeats: blocks of calls that repeat a call which is
	 * still being executed. */
	struct rr_list kept, repeats;
	struct rr_timer again; /* tries repeats again, and calls lost() */
	struct rr_task task;
	struct rr_timer next_turn;
	/* The turn of the loop in which a call was served last: its number, and the time of its first
	 * call. */
	uint64_t turn, turn_began;
	/* The time at which the call that is being served began, or went on; 0: no call is being served. */
	uint64_t began;
};

/* Returns the history (statistics) of a procedure of the service with that index, or NULL if there is no such
 * procedure. */
struct rr_history *rr_server_history_of(const struct rpcrdma_server *server, uint32_t index, uint32_t proc);

/* server_queue.c: frees the memory of the server. If blocks are still in use when rr_server_free() is called,
 * the last of them calls this function. */
void rr_server_delete(struct rpcrdma_server *server);

/* server_public.c: makes a server of services of the public interface. Returns 0 or an error, with a text in
 * the engine: INVAL (a service is incomplete), NOMEM. */
int rr_server_new_public(struct rpcrdma_engine *engine, const struct rr_server_config *config,
	const struct rpcrdma_service *services, uint32_t count, struct rpcrdma_server **server);

/* server_listen.c */
/* Closes all listeners and connections at once. */
void rr_server_close_all(struct rpcrdma_server *server);

/* server_queue.c */
/* Finds out how large blocks must be, from all procedures. */
void rr_server_queue_init(struct rpcrdma_server *server);
/* Called when the server is freed: gives the memory back that lines keep from call to call. */
void rr_server_queue_end(struct rpcrdma_server *server);
/* Adds an exchange at the end of the queue. While an exchange is in a queue, its ctx points to the next. */
void rr_queue_append(struct rr_exchange_queue *queue, struct rr_exchange *exchange);
/* Adds an exchange at the beginning of the queue. */
void rr_queue_prepend(struct rr_exchange_queue *queue, struct rr_exchange *exchange);
/* Removes the first exchange from the queue and returns it, or NULL if the queue is empty. */
struct rr_exchange *rr_queue_pop(struct rr_exchange_queue *queue);
/* Serves the call of the exchange, if there is a block (memory to serve a call) for it. If there is no pool
 * memory for its reply, the call waits for that in line->parked. A call whose connection has ended is
 * dropped. Returns false if there is no block; the exchange then stays with the caller. */
bool rr_line_serve(struct rr_line *line, struct rr_exchange *exchange);
/* Has the call of the block wait for pool memory, and releases the block. */
void rr_block_wait(struct rr_block *block);
/* Ends the calls of a connection that ends: calls that wait are dropped, and calls that are being served go
 * on without the connection. */
void rr_line_release(struct rr_line *line);
/* Keeps memory of the pool that was reserved with this size for a reply, and was not used, for the line's
 * next call in this turn of the loop. line is NULL if the connection has ended. Returns false if the memory
 * is not kept: the caller must give it back. */
bool rr_line_keep_spare(struct rr_line *line, void *memory, uint32_t size);
/* Returns memory that rr_line_keep_spare() kept and that was reserved with the given size. The memory then
 * belongs to the caller. Returns NULL if there is no such memory. */
void *rr_line_take_spare(struct rr_line *line, uint32_t size);
/* Makes the block free again, as its reply was sent, or as its call gets no reply. If the server was freed
 * and this was its last block in use, frees the memory of the server. */
void rr_block_release(struct rr_block *block);

/* server_turns.c */
/* Prepares the order in which calls are served. */
void rr_server_turns_init(struct rpcrdma_server *server);
/* Called when the server is freed: stops serving calls that wait, and drops the calls that wait in the line
 * `other`, which came by no connection of the server's own. */
void rr_server_turns_end(struct rpcrdma_server *server);
/* Called when the server is freed and all connections are closed: goes on with the calls that have paused, as
 * they get no turn any more. */
void rr_server_turns_finish(struct rpcrdma_server *server);
/* Prepares the line (the calls of one connection), whose calls are served in the turns of that payer, and at
 * its cost. */
void rr_line_init(struct rr_line *line, struct rpcrdma_server *server, struct rr_payer *payer);
/* Called when the connection of the line ends: drops the calls that wait in the line. The calls that are
 * being served go on, and do not belong to the line any more. */
void rr_line_end(struct rr_line *line);
/* Serves the call, or keeps it in the line until it can be served. */
void rr_line_take(struct rr_line *line, struct rr_exchange *exchange);

/* Begins a turn of the line (the calls of one connection): it pays from now on, from server->began. Returns
 * who has paid before. */
static inline struct rr_payer *
rr_line_begin(struct rr_line *line)
{
	struct rpcrdma_server *server = line->server;

	server->began = rr_loop_now(server->engine->loop);
	return rr_loop_pay(server->engine->loop, line->payer, server->began);
}

/* Ends a turn of a line that began at server->began: `before` pays again. */
static inline void
rr_server_end_turn(struct rpcrdma_server *server, struct rr_payer *before)
{
	struct rr_loop *loop = server->engine->loop;
	uint64_t now = rr_loop_known(loop);

	/* Mostly, the clock was read since the beginning: when the call was answered or kept. */
	rr_loop_pay(loop, before, now > server->began ? now : rr_loop_clock(loop));
}

/* server_call.c: serves the call of the exchange. Returns false if it must be served again when there is pool
 * memory. */
bool rr_block_serve(struct rr_block *block, struct rr_exchange *exchange);

/* Goes on with a call whose arguments are decoded: executes the call, or answers it if it is a repetition.
 * Returns false if the call must be served again when there is pool memory. */
bool rr_block_execute(struct rr_block *block);
/* Does what rr_block_execute() does, for a repetition that waited for the first call. */
void rr_block_try(struct rr_block *block);
/* Answers the call as the handler's result says. Returns false if the call must be served again when there is
 * pool memory. */
bool rr_block_handled(struct rr_block *block, enum rpcrdma_handled handled);

/* server_guard.c: for calls of flavors with contexts (struct rr_auth_guard) */
/* Replaces the reader of wrapped arguments by a reader of what they are. Returns false if the flavor does not
 * accept them. */
RR_AUTH_APART bool rr_block_unwrap(struct rr_block *block, struct rpcrdma_xdr_reader *reader);
/* Writes a reply with the flavor's verifier. What takes long is left for rr_block_protect_apart(). put()
 * writes the results, which are wrapped if the call's arguments were; NULL: there are none. If the duplicate
 * request cache is to keep the reply, it gets the reply as it is without the flavor. */
RR_AUTH_APART void rr_block_put_guarded(struct rr_block *block, const struct rr_reply_header *header,
	struct rpcrdma_xdr_writer *writer, void (*put)(struct rpcrdma_xdr_writer *writer, const void *value));
/* Replaces the kept reply in block->small, of that length, by a reply with the flavor's verifier for this
 * repetition. Returns its length; 0: it cannot be wrapped. */
RR_AUTH_APART uint32_t rr_block_guard_again(struct rr_block *block, uint32_t length);
/* Lets the context of the call go. */
RR_AUTH_APART void rr_block_let_go(struct rr_block *block);

/* server_later.c */
/* Prepares the lists of kept requests and of repetitions, and their timer. */
void rr_server_later_init(struct rpcrdma_server *server);
/* Drops the repetitions that wait, and calls the lost() of all kept requests at once, as the server is freed
 * and all connections were closed. */
void rr_server_later_end(struct rpcrdma_server *server);
/* Puts the request among those that their handlers keep, to be answered later by rr_request_end(). Until then
 * the request counts as a user of the engine. */
void rr_block_keep(struct rr_block *block);
/* Called for the repetition of a call that is still being executed: puts the repetition among those that
 * rr_block_try() tries again, after a short time, or when a kept request ends. */
void rr_block_repeat_later(struct rr_block *block);
/* Has the crew replace wrapped arguments by what they are (block->plain), if they are so large that it would
 * take long. next() goes on with the call then; block->apart_good tells whether the flavor accepts them.
 * Returns false if they are not, or there is no crew: rr_block_unwrap() does it. */
RR_AUTH_APART bool rr_block_unwrap_apart(struct rr_block *block, const struct rpcrdma_xdr_reader *reader,
	void (*next)(struct rr_block *block));
/* Has the crew protect block->reply, if rr_block_put_guarded() has left something to do. next() goes on then;
 * block->apart_good tells whether the reply may be sent. Returns false if there is nothing left to do. */
RR_AUTH_APART bool rr_block_protect_apart(struct rr_block *block, void (*next)(struct rr_block *block));

/* server_reply.c */
/* Takes pool memory for the largest reply that the procedure can have (block->large), if that reply may be
 * larger than the memory for small replies in the block. Returns false if the pool has no memory now. */
bool rr_block_reserve(struct rr_block *block, const struct rpcrdma_procedure *procedure);
/* The functions up to rr_block_deny_auth() answer the call, and release its block when the reply was sent. */
/* Answers with the result that the handler filled in, and SUCCESS. If the result does not fit its memory,
 * answers with SYSTEM_ERR instead. */
void rr_block_succeed(struct rr_block *block);
/* Answers with this accept_stat, and without a result. */
void rr_block_accept(struct rr_block *block, enum rr_accept_stat stat);
/* Answers with PROG_MISMATCH. low and high are the lowest and the highest version that the server has. */
void rr_block_mismatch(struct rr_block *block, uint32_t low, uint32_t high);
/* Answers a call whose version of RPC is not 2 with RPC_MISMATCH. */
void rr_block_deny_version(struct rr_block *block);
/* Answers a call whose credential was refused with AUTH_ERROR and this auth_stat. */
void rr_block_deny_auth(struct rr_block *block, enum rr_auth_stat stat);
/* Ends the call without an answer, and releases its block. In the duplicate request cache, the call counts as
 * not executed. */
void rr_block_drop(struct rr_block *block);
/* Ends a call whose chunks are wrong, and that was not executed, by rr_exchange_refuse(), and releases its
 * block. */
void rr_block_refuse(struct rr_block *block);
/* Looks the call up in the duplicate request cache. A call that is new counts there as being executed until
 * the block is answered or dropped, or rr_block_not_executed() is called. If the call was executed before,
 * sends the same answer again; the block is then released when that was sent. If it is being executed, does
 * nothing more. Returns which of the three is the case (drc.h). */
enum rr_drc_state rr_block_repeat(struct rr_block *block, const struct rr_drc_key *key);
/* Ends the call in the duplicate request cache as one that was not executed, so that its repetition may be
 * executed. */
void rr_block_not_executed(struct rr_block *block);

/* server_listen.c */

/* A client that calls over a connection of the server, in the reverse direction; it is in the connection's
 * list. lose() is called when the connection ends: the client must then take itself out of the list. */
struct rr_server_back {
	struct rr_list link;
	void (*lose)(struct rr_server_back *back, int error, const char *text);
};

/* What is needed to call over the connection by which a request came. */
struct rr_server_way_back {
	struct rr_carrier *carrier;
	uint32_t *xid; /* the next XID */
	struct rr_list *clients;
};

/* Finds the connection by which the request came, and fills in way, for a client that calls the sender of the
 * request over it. Returns 0 or an error: DISCONNECTED; NOTSUP if the request itself came in the reverse
 * direction. */
int rr_server_way_back(
	const struct rpcrdma_request *request, struct rr_server_way_back *way, struct rr_text *text);

#endif
