/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of calls. Blocks belong to the server. A block is in use from the moment a call is served
 * until its reply was sent, and is then kept for reuse. Each connection has a line of calls: calls beyond
 * its share of the blocks wait in the line's backlog until their turn comes (server_turns.c). Calls for
 * whose reply there was no pool memory are parked until memory comes back. */
#include "rpc/server_private.h"

void
rr_queue_append(struct rr_exchange_queue *queue, struct rr_exchange *exchange)
{
	exchange->ctx = NULL;
	if (queue->first)
		queue->last->ctx = exchange;
	else
		queue->first = exchange;
	queue->last = exchange;
}

void
rr_queue_prepend(struct rr_exchange_queue *queue, struct rr_exchange *exchange)
{
	exchange->ctx = queue->first;
	if (!queue->first)
		queue->last = exchange;
	queue->first = exchange;
}

struct rr_exchange *
rr_queue_pop(struct rr_exchange_queue *queue)
{
	struct rr_exchange *exchange = queue->first;

	if (exchange)
		queue->first = exchange->ctx;
	return exchange;
}

/* Allocates a block, the memory in which a call is served. Only the block's structure is zeroed, not the
 * arguments, the result and the arenas behind it, as most calls use little of them. Returns NULL if there is
 * no memory. */
static struct rr_block *
queue_new_block(struct rpcrdma_server *server)
{
	const struct rr_env *env = server->engine->env;
	size_t args = rr_block_aligned(server->args_size), result = rr_block_aligned(server->result_size);
	size_t arena = rr_block_aligned(server->config.arena_size);
	struct rr_block *block;

	block = env->realloc(env->ctx, NULL, sizeof(*block) + args + result + 2 * arena + RR_REPLY_SMALL);
	if (!block)
		return NULL;
	*block = (struct rr_block){ .request.server = server };
	rr_list_init(&block->link);
	rr_list_init(&block->later);
	rr_list_init(&block->paused);
	block->request.args = block->memory;
	block->request.result = (uint8_t *)block->memory + args;
	block->small = (uint8_t *)block->request.result + result;
	block->args_arena = block->small + RR_REPLY_SMALL;
	block->result_arena = block->args_arena + arena;
	return block;
}

/* Tells whether the connection with this line may get a block (memory to serve a call) for another call: it
 * may have as many blocks as are still free. A connection without blocks gets one even if others have used up
 * call_max, unless too many blocks belong to requests that were kept after their connections ended. */
static bool
queue_may_take_block(const struct rr_line *line)
{
	const struct rpcrdma_server *server = line->server;
	uint64_t used = server->block_count, most = server->config.call_max;

	if (line->block_count == 0)
		return used <= most + server->connection_count;
	return used < most && line->block_count < most - used;
}

/* Takes a free block, or makes a new one, and adds it to the blocks of the line (the calls of one
 * connection). Returns NULL if there is no memory. */
static struct rr_block *
queue_take_block(struct rr_line *line)
{
	struct rpcrdma_server *server = line->server;
	struct rr_block *block = rr_cache_take(&server->free_blocks);

	if (!block)
		block = queue_new_block(server);
	if (!block)
		return NULL;
	block->line = line;
	rr_list_append(&line->blocks, &block->link);
	line->block_count++;
	server->block_count++;
	return block;
}

/* Takes the block out of its line, unless the line has ended before. */
static void
queue_leave_line(struct rr_block *block)
{
	rr_list_remove(&block->link);
	if (block->line)
		block->line->block_count--;
	block->line = NULL;
}

void
rr_server_delete(struct rpcrdma_server *server)
{
	const struct rr_env *env = server->engine->env;

	/* rpcrdma_request_on_lost() may have armed the timer after the server was freed. */
	rr_loop_disarm(server->engine->loop, &server->again);
	rr_cache_end(&server->free_blocks);
	rr_drc_free(server->own_drc);
	rr_free(env, server->services);
	rr_free(env, server->histories);
	rr_free(env, server);
}

void
rr_block_release(struct rr_block *block)
{
	struct rpcrdma_server *server = block->request.server;
	struct rr_pool *pool = server->engine->results;
	struct rr_party *party = block->request.party;
	void *payload = block->request.payload, *large = block->large, *wide = block->wide;

	if (block->request.auth_call.context)
		rr_block_let_go(block);
	/* The block is used no more after rr_cache_put(), which may free it. */
	block->request.payload = block->large = block->wide = NULL;
	block->request.party = NULL;
	queue_leave_line(block);
	server->block_count--;
	rr_cache_put(&server->free_blocks, block);
	if (!rr_list_empty(&server->blocked))
		rr_loop_defer(server->engine->loop, &server->task);
	rr_pool_put(pool, payload);
	rr_pool_put(pool, large);
	rr_pool_put(pool, wide);
	rr_party_release(party);
	if (server->freed && server->block_count == 0)
		rr_server_delete(server);
}

/* Has the call wait in line->parked because the pool has no memory for its reply now. turns_wake() serves it
 * again when the pool can grant the memory. Called only if rr_block_serve() has found memory of the pool in
 * use, as otherwise no memory could come back. */
static void
queue_park(struct rr_line *line, struct rr_exchange *exchange)
{
	rr_queue_append(&line->parked, exchange);
	rr_pool_wait(line->server->engine->results, exchange->carrier->party, &line->waiter);
}

void
rr_block_wait(struct rr_block *block)
{
	struct rr_exchange *exchange = block->request.exchange;
	struct rr_line *line = block->line ? block->line : &block->request.server->other;

	exchange->taken = true;
	rr_block_release(block);
	queue_park(line, exchange);
}

bool
rr_line_serve(struct rr_line *line, struct rr_exchange *exchange)
{
	struct rr_block *block;

	if (!exchange->carrier) {
		rr_exchange_drop(exchange);
		return true;
	}
	block = queue_may_take_block(line) ? queue_take_block(line) : NULL;
	if (!block)
		return false;
	if (!rr_block_serve(block, exchange))
		rr_block_wait(block);
	return true;
}

/* ---- Memory for replies, from call to call ---- */

/* Most calls need little of the memory that is reserved for their largest reply, and to reserve and return
 * that memory takes as long as all else in serving a small call. queue_give_back() returns the memory to the
 * pool at the end of the turn if no call of the line has taken it. The memory is not kept if the line has
 * such memory already, or if others wait for memory of the pool. */
bool
rr_line_keep_spare(struct rr_line *line, void *memory, uint32_t size)
{
	struct rpcrdma_server *server = line ? line->server : NULL;

	/* The line `other` has calls of several connections, one after the other: memory that counts for one
	 * of them must not serve another. */
	if (!server || line == &server->other || line->spare || rr_pool_is_wanted(server->engine->results))
		return false;
	line->spare = memory;
	line->spare_size = size;
	if (rr_list_empty(&line->spared)) {
		rr_list_append(&server->spares, &line->spared);
		rr_loop_defer(server->engine->loop, &server->give_back);
	}
	return true;
}

void *
rr_line_take_spare(struct rr_line *line, uint32_t size)
{
	void *memory = line && line->spare_size == size ? line->spare : NULL;

	if (memory)
		line->spare = NULL;
	return memory;
}

/* Gives the memory that the line keeps for its next call back to the pool. */
static void
queue_line_give_back(struct rr_line *line)
{
	void *memory = line->spare;

	line->spare = NULL;
	rr_list_remove(&line->spared);
	rr_pool_put(line->server->engine->results, memory);
}

/* Is the task that rr_line_keep_spare() queues: gives the memory that lines keep for their next call back to
 * the pool, at the end of the turn of the loop. */
static void
queue_give_back(struct rr_task *task)
{
	struct rpcrdma_server *server = rr_container(task, struct rpcrdma_server, give_back);

	while (!rr_list_empty(&server->spares))
		queue_line_give_back(rr_container(server->spares.next, struct rr_line, spared));
}

void
rr_line_release(struct rr_line *line)
{
	queue_line_give_back(line);
	while (line->backlog.first)
		rr_exchange_drop(rr_queue_pop(&line->backlog));
	while (line->parked.first)
		rr_exchange_drop(rr_queue_pop(&line->parked));
	while (!rr_list_empty(&line->blocks))
		queue_leave_line(rr_container(line->blocks.next, struct rr_block, link));
}

/* Notes how large the arguments and the results of the program's procedures are at most. */
static void
queue_measure(struct rpcrdma_server *server, const struct rpcrdma_program *program)
{
	for (uint32_t i = 0; i < program->procedure_count; i++) {
		if (server->args_size < program->procedures[i].args_size)
			server->args_size = program->procedures[i].args_size;
		if (server->result_size < program->procedures[i].result_size)
			server->result_size = program->procedures[i].result_size;
	}
}

void
rr_server_queue_init(struct rpcrdma_server *server)
{
	rr_list_init(&server->spares);
	rr_task_init(&server->give_back, queue_give_back);
	for (uint32_t i = 0; i < server->service_count; i++)
		queue_measure(server, server->services[i].program);
	for (const struct rr_auth *const *auth = server->config.auths; *auth; auth++)
		if ((*auth)->control)
			queue_measure(server, (*auth)->control->program);
}

void
rr_server_queue_end(struct rpcrdma_server *server)
{
	rr_task_cancel(&server->give_back);
	queue_give_back(&server->give_back);
}
