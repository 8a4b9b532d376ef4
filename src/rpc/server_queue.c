/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which call is served when. Blocks are the server's, in use from the moment
 * a call is served until its reply was sent, then kept for reuse. Each
 * connection has a line of calls: those beyond its share of the blocks wait in
 * the line's backlog, and lines are served in turns. Calls for which there was
 * no pool memory are parked until some comes back.
 */
#include "rpc/server_private.h"

static void
queue_append(struct rr_exchange_queue *queue, struct rr_exchange *exchange)
{
	exchange->ctx = NULL;
	if (queue->first)
		queue->last->ctx = exchange;
	else
		queue->first = exchange;
	queue->last = exchange;
}

static void
queue_prepend(struct rr_exchange_queue *queue, struct rr_exchange *exchange)
{
	exchange->ctx = queue->first;
	if (!queue->first)
		queue->last = exchange;
	queue->first = exchange;
}

static struct rr_exchange *
queue_pop(struct rr_exchange_queue *queue)
{
	struct rr_exchange *exchange = queue->first;

	if (exchange)
		queue->first = exchange->ctx;
	return exchange;
}

/* Most of a block is arenas that few calls touch, so it is not zeroed as a whole. */
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
	block->request.args = block->memory;
	block->request.result = (uint8_t *)block->memory + args;
	block->small = (uint8_t *)block->request.result + result;
	block->args_arena = block->small + RR_REPLY_SMALL;
	block->result_arena = block->args_arena + arena;
	return block;
}

/*
 * A line without any has one, whatever the others have. Only requests that are kept although their connection
 * has ended are in no line: those may leave nothing for it.
 */
static bool
queue_may_take_block(const struct rr_line *line)
{
	const struct rpcrdma_server *server = line->server;
	uint64_t used = server->block_count, most = server->config.call_max;

	if (line->block_count == 0)
		return used <= most + server->connection_count;
	return used < most && line->block_count < most - used;
}

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

	rr_cache_end(&server->free_blocks);
	rr_drc_free(server->own_drc);
	rr_free(env, server->services);
	rr_free(env, server->latencies);
	rr_free(env, server);
}

void
rr_block_release(struct rr_block *block)
{
	struct rpcrdma_server *server = block->request.server;
	struct rr_pool *pool = server->engine->results;
	struct rr_party *party = block->request.party;
	void *payload = block->request.payload, *large = block->large;

	block->request.payload = block->large = NULL;
	block->request.party = NULL;
	queue_leave_line(block);
	server->block_count--;
	rr_cache_put(&server->free_blocks, block);
	if (!rr_list_empty(&server->turns))
		rr_loop_defer(server->engine->loop, &server->task);
	rr_pool_put(pool, payload);
	rr_pool_put(pool, large);
	rr_party_release(party);
	if (server->freed && server->block_count == 0)
		rr_server_delete(server);
}

/* Memory comes back only if some is out: a call is parked only then. */
static void
queue_park(struct rr_line *line, struct rr_exchange *exchange)
{
	queue_append(&line->parked, exchange);
	rr_pool_wait(line->server->engine->results, exchange->carrier->party, &line->waiter);
}

/* Serves the exchange, for which there may be a block. False where there is none. */
static bool
queue_serve(struct rr_line *line, struct rr_exchange *exchange)
{
	struct rr_block *block;

	if (!exchange->carrier) {
		rr_exchange_drop(exchange);
		return true;
	}
	line->server->turn_calls++;
	block = queue_may_take_block(line) ? queue_take_block(line) : NULL;
	if (!block)
		return false;
	if (rr_block_serve(block, exchange))
		return true;
	rr_block_release(block);
	queue_park(line, exchange);
	return true;
}

/* ---- Memory for replies, from call to call ---- */

/* Most calls need next to nothing of what is reserved for their largest reply: those that one turn serves for
 * a connection have it one after the other, as reserving it and giving it back take as long as the rest of
 * serving a small call. */
bool
rr_line_keep_spare(struct rr_line *line, void *memory, uint32_t size)
{
	struct rpcrdma_server *server = line ? line->server : NULL;

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

static void
queue_line_give_back(struct rr_line *line)
{
	void *memory = line->spare;

	line->spare = NULL;
	rr_list_remove(&line->spared);
	rr_pool_put(line->server->engine->results, memory);
}

static void
queue_give_back(struct rr_task *task)
{
	struct rpcrdma_server *server = rr_container(task, struct rpcrdma_server, give_back);

	while (!rr_list_empty(&server->spares))
		queue_line_give_back(rr_container(server->spares.next, struct rr_line, spared));
}

/* ---- Turns ---- */

static void
queue_wait_for_block(struct rr_line *line)
{
	if (rr_list_empty(&line->turn))
		rr_list_append(&line->server->turns, &line->turn);
}

/* Whether calls have been served for so long in this turn of the loop that others are to have theirs. */
static bool
queue_is_turn_over(struct rpcrdma_server *server, uint64_t now)
{
	uint64_t turn = rr_loop_turns(server->engine->loop);

	if (server->turn != turn) {
		server->turn_began = now;
		server->turn_calls = 0;
	}
	server->turn = turn;
	if (server->turn_calls < RR_SERVER_TURN_CALLS || now - server->turn_began < RR_SERVER_TURN)
		return false;
	if (!rr_timer_armed(&server->next_turn))
		rr_loop_arm(server->engine->loop, &server->next_turn, 0);
	return true;
}

void
rr_line_take(struct rr_line *line, struct rr_exchange *exchange)
{
	bool over;

	exchange->arrived = rr_loop_now(line->server->engine->loop);
	over = queue_is_turn_over(line->server, exchange->arrived);
	if (!line->backlog.first && !over) {
		if (queue_serve(line, exchange))
			return;
		/* There is no block, and no call holds a block that would come back: memory for one failed.
		 */
		if (line->server->block_count == 0) {
			rr_exchange_lose(exchange);
			return;
		}
	}
	queue_append(&line->backlog, exchange);
	queue_wait_for_block(line);
}

void
rr_server_take(struct rpcrdma_server *server, struct rr_exchange *exchange)
{
	rr_line_take(&server->other, exchange);
}

/* One call of each line that waits. True where one was served. */
static bool
queue_serve_round(struct rpcrdma_server *server)
{
	struct rr_list round, *link;
	bool served = false;

	rr_list_init(&round);
	while ((link = rr_list_pop(&server->turns)))
		rr_list_append(&round, link);
	while ((link = rr_list_pop(&round))) {
		struct rr_line *line = rr_container(link, struct rr_line, turn);
		struct rr_exchange *exchange = queue_pop(&line->backlog);

		if (exchange && !queue_serve(line, exchange))
			queue_prepend(&line->backlog, exchange);
		else
			served |= exchange != NULL;
		if (line->backlog.first)
			queue_wait_for_block(line);
	}
	return served;
}

static void
queue_run(struct rr_task *task)
{
	struct rpcrdma_server *server = rr_container(task, struct rpcrdma_server, task);

	while (!queue_is_turn_over(server, rr_now(server->engine->env)) && queue_serve_round(server))
		;
	/* Lines wait, and no block will come back: memory for one failed, and is asked for again in a while.
	 */
	if (!rr_list_empty(&server->turns) && server->block_count == 0 && !rr_timer_armed(&server->next_turn))
		rr_loop_arm(server->engine->loop, &server->next_turn, 10 * RR_MILLISECOND);
}

static void
queue_go_on(struct rr_timer *timer)
{
	queue_run(&rr_container(timer, struct rpcrdma_server, next_turn)->task);
}

/* The first that still finds no memory ends the round, and waits in front of the others. */
static void
queue_wake(struct rr_pool_waiter *waiter)
{
	struct rr_line *line = rr_container(waiter, struct rr_line, waiter);
	struct rr_exchange_queue round = line->parked;
	struct rr_exchange *exchange;

	line->parked = (struct rr_exchange_queue){ 0 };
	while (!line->parked.first && (exchange = queue_pop(&round))) {
		if (queue_serve(line, exchange))
			continue;
		queue_append(&line->backlog, exchange);
		queue_wait_for_block(line);
	}
	while ((exchange = queue_pop(&round)))
		queue_append(&line->parked, exchange);
}

void
rr_line_init(struct rr_line *line, struct rpcrdma_server *server)
{
	line->server = server;
	line->waiter.wake = queue_wake;
	rr_list_init(&line->blocks);
	rr_list_init(&line->turn);
	rr_list_init(&line->spared);
	rr_list_init(&line->waiter.link);
}

void
rr_line_end(struct rr_line *line)
{
	rr_list_remove(&line->turn);
	rr_list_remove(&line->waiter.link);
	queue_line_give_back(line);
	while (line->backlog.first)
		rr_exchange_drop(queue_pop(&line->backlog));
	while (line->parked.first)
		rr_exchange_drop(queue_pop(&line->parked));
	while (!rr_list_empty(&line->blocks))
		queue_leave_line(rr_container(line->blocks.next, struct rr_block, link));
}

void
rr_server_queue_init(struct rpcrdma_server *server)
{
	rr_list_init(&server->turns);
	rr_list_init(&server->spares);
	rr_task_init(&server->give_back, queue_give_back);
	rr_task_init(&server->task, queue_run);
	rr_timer_init(&server->next_turn, queue_go_on);
	rr_line_init(&server->other, server);
	for (uint32_t i = 0; i < server->service_count; i++) {
		const struct rpcrdma_program *program = server->services[i].program;

		for (uint32_t j = 0; j < program->procedure_count; j++) {
			if (server->args_size < program->procedures[j].args_size)
				server->args_size = program->procedures[j].args_size;
			if (server->result_size < program->procedures[j].result_size)
				server->result_size = program->procedures[j].result_size;
		}
	}
}

void
rr_server_queue_end(struct rpcrdma_server *server)
{
	rr_task_cancel(&server->task);
	rr_task_cancel(&server->give_back);
	queue_give_back(&server->give_back);
	rr_loop_disarm(server->engine->loop, &server->next_turn);
	rr_line_end(&server->other);
}
