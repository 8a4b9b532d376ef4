/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_SERVER_PRIVATE_H
#define RR_RPC_SERVER_PRIVATE_H

#include "base/cache.h"
#include "rpc/server.h"

/*
 * An RPC server, as its files see it: server.c its life, server_listen.c
 * listeners and connections, server_queue.c the memory of calls that are served
 * and of those that wait, server_turns.c which call is served when,
 * server_call.c from the call's header to the procedure, server_reply.c from
 * the result to the reply.
 *
 * A call is served in a block, one allocation with all that it needs but pool
 * memory. A call that waits, for a block or for pool memory, holds neither:
 * it is decoded again when its time comes. So what waits never keeps from
 * finishing what it waits for.
 */

enum { RR_REPLY_SMALL = 2048 }; /* replies up to this size lie in their block */

/* How long calls are served, but so many at least, before the loop looks at its connections again. */
#define RR_SERVER_TURN (5 * RR_MILLISECOND)
enum { RR_SERVER_TURN_CALLS = 16 };

/* Exchanges that wait, linked by their ctx. */
struct rr_exchange_queue {
	struct rr_exchange *first, *last;
};

/* Those connections of a server that come from one address. */
struct rr_line_address {
	struct rr_list link; /* in the server's addresses */
	const struct rr_host *host;
	uint32_t lines;
	struct rr_list waiting; /* lines with a backlog, the one whose turn is next first */
	struct rr_list turn;    /* in the server's turns, while lines are waiting */
};

/* The calls of one connection: those that wait, and the blocks of those that were served. */
struct rr_line {
	struct rpcrdma_server *server;
	struct rr_line_address *address; /* that of the connection */
	struct rr_list blocks;           /* in use */
	uint32_t block_count;
	struct rr_exchange_queue backlog, parked; /* for a block; for pool memory */
	struct rr_list turn;                      /* in its address' waiting, while there is a backlog */
	struct rr_pool_waiter waiter;
	/* Pool memory that was reserved for a reply and not needed: for the next call of this turn. Its
	 * octets. */
	void *spare;
	uint32_t spare_size;
	struct rr_list spared; /* in the server's spares, to the end of a turn that had such memory */
};

struct rr_block {
	struct rr_list link; /* in its line's blocks; first, as the server's cache of blocks writes there */
	struct rpcrdma_request request;
	struct rr_line *line; /* of its call's connection; NULL once that ended */
	struct rpcrdma_message reply;
	void *large; /* pool memory for the reply's stream, if it may need more than small */
	uint32_t reply_size;
	uint8_t *args_arena, *result_arena, *small;
	struct rr_drc_call once;
	bool once_open;                   /* rr_drc_end() is due */
	struct rr_list later;             /* in the server's kept or repeats */
	const struct rr_service *service; /* that of the call */
	uint32_t args_at;                 /* where its arguments begin in its stream */
	char peer[RR_ADDRESS_TEXT];       /* where the request may outlive its connection */
	max_align_t memory[];             /* the arguments, the result behind them, small and both arenas */
};

/* How much of a block's memory arguments or a result of that size take. */
static inline size_t
rr_block_aligned(size_t size)
{
	return (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
}

struct rpcrdma_server {
	struct rpcrdma_engine *engine;
	struct rr_server_config config;
	struct rr_text text;    /* of a public function that failed */
	struct rr_drc *own_drc; /* config.drc, if it is this server's */
	struct rr_service *services;
	uint32_t service_count;
	struct rpcrdma_latency *latencies; /* of all procedures, service by service */

	struct rr_list listeners, connections;
	uint32_t connection_count;
	struct rpcrdma_counters past; /* of connections gone */
	bool shut, freed;

	size_t args_size, result_size; /* of the largest C types */
	struct rr_cache free_blocks;
	uint32_t block_count;     /* in use */
	struct rr_list addresses; /* struct rr_line_address, of all lines */
	struct rr_list turns;     /* those of them whose calls wait */
	struct rr_list spares;    /* lines that keep memory until the end of the turn */
	struct rr_task give_back; /* of that */
	struct rr_line other;     /* of calls that came by no connection of the server's own */
	struct rr_list kept,
		repeats;       /* blocks whose handler answers later; that repeat what is being executed */
	struct rr_timer again; /* for repeats */
	struct rr_task task;
	struct rr_timer next_turn;
	uint32_t turn_calls; /* served in this turn of the loop */
	uint64_t turn,
		turn_began; /* of the loop, in which calls are being served: its number, its first call */
};

/* Where a procedure of a service is counted; NULL where there is no such one. */
struct rpcrdma_latency *rr_server_latency_of(
	const struct rpcrdma_server *server, uint32_t index, uint32_t proc);

/* server.c: the last thing of a server that was freed with replies under way. */
void rr_server_delete(struct rpcrdma_server *server);

/* server_public.c: of services of the public. INVAL (a service lacks something), NOMEM, with their text on
 * the engine. */
int rr_server_new_public(struct rpcrdma_engine *engine, const struct rr_server_config *config,
	const struct rpcrdma_service *services, uint32_t count, struct rpcrdma_server **server);

/* server_listen.c */
void rr_server_close_all(struct rpcrdma_server *server);

/* server_queue.c */
void rr_server_queue_init(struct rpcrdma_server *server);
void rr_server_queue_end(struct rpcrdma_server *server);
void rr_queue_append(struct rr_exchange_queue *queue, struct rr_exchange *exchange);
void rr_queue_prepend(struct rr_exchange_queue *queue, struct rr_exchange *exchange);
/* The first one, which leaves the queue; NULL: there is none. */
struct rr_exchange *rr_queue_pop(struct rr_exchange_queue *queue);
/* Serves the exchange, for which there may be a block. False where there is none. */
bool rr_line_serve(struct rr_line *line, struct rr_exchange *exchange);
/* The connection ends: calls that wait are dropped, those that were served go on without it. */
void rr_line_release(struct rr_line *line);
/* Keeps memory that was reserved for a reply for the next call of this turn. False: it is to go back. */
bool rr_line_keep_spare(struct rr_line *line, void *memory, uint32_t size);
/* Such memory that was reserved with that size, which then is the caller's; NULL: there is none. */
void *rr_line_take_spare(struct rr_line *line, uint32_t size);
/* The block is free again: its reply was sent, or there is none. */
void rr_block_release(struct rr_block *block);

/* server_turns.c */
/* False: no memory; rr_server_turns_end() is not due then. */
bool rr_server_turns_init(struct rpcrdma_server *server);
void rr_server_turns_end(struct rpcrdma_server *server);
/* host: where the connection comes from; NULL: nowhere. False: no memory; rr_line_end() is due even then. */
bool rr_line_init(struct rr_line *line, struct rpcrdma_server *server, const struct rr_host *host);
void rr_line_end(struct rr_line *line);
/* Serves the call, or keeps it until it can be served. */
void rr_line_take(struct rr_line *line, struct rr_exchange *exchange);

/* server_call.c: serves the exchange. False: it must be served again when there is pool memory. */
bool rr_block_serve(struct rr_block *block, struct rr_exchange *exchange);

/* Goes on with a call whose arguments are decoded: executes it, if that is not done or under way. False: it
 * must be served again when there is pool memory. */
bool rr_block_execute(struct rr_block *block);
/* The same of a repetition that waited. */
void rr_block_try(struct rr_block *block);
/* Answers as the handler said. False: as above. */
bool rr_block_handled(struct rr_block *block, enum rpcrdma_handled handled);

/* server_later.c */
void rr_server_later_init(struct rpcrdma_server *server);
/* The server goes, and all connections have: calls lost() at once. */
void rr_server_later_end(struct rpcrdma_server *server);
void rr_block_keep(struct rr_block *block);
void rr_block_repeat_later(struct rr_block *block);

/* server_reply.c */
/* Memory for the reply to the procedure; false where there is none now. */
bool rr_block_reserve(struct rr_block *block, const struct rpcrdma_procedure *procedure);
void rr_block_succeed(struct rr_block *block);
void rr_block_accept(struct rr_block *block, enum rr_accept_stat stat);
void rr_block_mismatch(struct rr_block *block, uint32_t low, uint32_t high);
void rr_block_deny_version(struct rr_block *block);
void rr_block_deny_auth(struct rr_block *block, enum rr_auth_stat stat);
void rr_block_drop(struct rr_block *block);
/* The call was not executed, and its chunks are wrong: see rr_exchange_refuse(). */
void rr_block_refuse(struct rr_block *block);
/* Answers as before, if the call is a duplicate of one that was executed once. */
enum rr_drc_state rr_block_repeat(struct rr_block *block, const struct rr_drc_key *key);
/* The call was not executed. */
void rr_block_not_executed(struct rr_block *block);

/* server_listen.c */

/* Someone who calls over a connection of the server, in the reverse direction; the connection's list has it.
 * lose(): the connection ends, and takes the element out of its list. */
struct rr_server_back {
	struct rr_list link;
	void (*lose)(struct rr_server_back *back, int error, const char *text);
};

/* What is needed to call over the connection that a request came by. */
struct rr_server_way_back {
	struct rr_carrier *carrier;
	uint32_t *xid; /* the next one */
	struct rr_list *clients;
};

/* DISCONNECTED; NOTSUP: the request came in the reverse direction itself. */
int rr_server_way_back(
	const struct rpcrdma_request *request, struct rr_server_way_back *way, struct rr_text *text);

#endif
