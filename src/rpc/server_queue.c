/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which call is served when. Blocks are the server's, in use from the moment
 * a call is served until its reply was sent, then kept for reuse. There is a
 * bound on those in use: calls beyond it wait in the backlog. Calls for which
 * there was no pool memory are parked until some comes back.
 */
#include "rpc/server_private.h"

static void
append(struct rr_exchange_queue *queue, struct rr_exchange *exchange)
{
	exchange->ctx = NULL;
	if (queue->first)
		queue->last->ctx = exchange;
	else
		queue->first = exchange;
	queue->last = exchange;
}

static void
prepend(struct rr_exchange_queue *queue, struct rr_exchange *exchange)
{
	exchange->ctx = queue->first;
	if (!queue->first)
		queue->last = exchange;
	queue->first = exchange;
}

static struct rr_exchange *
pop(struct rr_exchange_queue *queue)
{
	struct rr_exchange *exchange = queue->first;

	if (exchange)
		queue->first = exchange->ctx;
	return exchange;
}

static size_t
aligned(size_t size)
{
	return (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
}

/* Most of a block is arenas that few calls touch, so it is not zeroed as a whole. */
static struct rr_block *
new_block(struct rr_server *server)
{
	const struct rr_env *env = server->engine->env;
	size_t args = aligned(server->args_size), result = aligned(server->result_size);
	size_t arena = aligned(server->config.arena_size);
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

static struct rr_block *
take_block(struct rr_server *server)
{
	struct rr_list *link;
	struct rr_block *block;

	if (server->block_count == RR_BLOCKS_MAX)
		return NULL;
	link = rr_list_pop(&server->free_blocks);
	block = link ? rr_container(link, struct rr_block, link) : new_block(server);
	if (block)
		server->block_count++;
	return block;
}

void
rr_block_release(struct rr_block *block)
{
	struct rr_server *server = block->request.server;
	struct rr_pool *pool = server->engine->results;
	void *payload = block->request.payload, *large = block->large;

	block->request.payload = block->large = NULL;
	rr_list_append(&server->free_blocks, &block->link);
	server->block_count--;
	if (server->backlog.first || (server->woken && server->parked.first))
		rr_loop_defer(server->engine->loop, &server->task);
	rr_pool_put(pool, payload);
	rr_pool_put(pool, large);
	if (server->freed && server->block_count == 0)
		rr_server_delete(server);
}

/* Memory comes back only if some is out: a call is parked only then. */
static void
park(struct rr_server *server, struct rr_exchange *exchange)
{
	append(&server->parked, exchange);
	if (!server->woken)
		rr_pool_wait(server->engine->results, &server->waiter);
}

/* Serves the exchange, if there is a block. False where there is none. */
static bool
serve(struct rr_server *server, struct rr_exchange *exchange)
{
	struct rr_block *block;

	if (!exchange->carrier) {
		rr_exchange_drop(exchange);
		return true;
	}
	block = take_block(server);
	if (!block)
		return false;
	if (rr_block_serve(block, exchange))
		return true;
	rr_block_release(block);
	park(server, exchange);
	return true;
}

void
rr_server_take(struct rr_server *server, struct rr_exchange *exchange)
{
	exchange->arrived = rr_now(server->engine->env);
	if (serve(server, exchange))
		return;
	/* Without any block in use, none comes back: it was memory that failed. */
	if (server->block_count == 0)
		rr_exchange_lose(exchange);
	else
		append(&server->backlog, exchange);
}

static void
serve_backlog(struct rr_server *server)
{
	struct rr_exchange *exchange;

	while ((exchange = pop(&server->backlog))) {
		if (serve(server, exchange))
			continue;
		prepend(&server->backlog, exchange);
		return;
	}
}

/* The first that still finds no memory ends the round, and waits in front of the others. */
static void
serve_parked(struct rr_server *server)
{
	struct rr_exchange_queue round = server->parked;
	struct rr_exchange *exchange;

	server->parked = (struct rr_exchange_queue){ 0 };
	server->woken = false;
	while (!server->parked.first && (exchange = pop(&round))) {
		if (serve(server, exchange))
			continue;
		prepend(&round, exchange);
		server->woken = true;
		break;
	}
	while ((exchange = pop(&round)))
		append(&server->parked, exchange);
}

static void
run(struct rr_task *task)
{
	struct rr_server *server = rr_container(task, struct rr_server, task);

	serve_backlog(server);
	if (server->woken)
		serve_parked(server);
}

/* Calls are served from the task: this is called from inside whatever gave memory back. */
static void
wake(struct rr_pool_waiter *waiter)
{
	struct rr_server *server = rr_container(waiter, struct rr_server, waiter);

	server->woken = true;
	rr_loop_defer(server->engine->loop, &server->task);
}

void
rr_server_queue_init(struct rr_server *server)
{
	rr_list_init(&server->free_blocks);
	rr_task_init(&server->task, run);
	server->waiter.wake = wake;
	rr_list_init(&server->waiter.link);
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
rr_server_queue_end(struct rr_server *server)
{
	rr_task_cancel(&server->task);
	rr_list_remove(&server->waiter.link);
	while (server->backlog.first)
		rr_exchange_drop(pop(&server->backlog));
	while (server->parked.first)
		rr_exchange_drop(pop(&server->parked));
}
