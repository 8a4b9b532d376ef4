/* SPDX-License-Identifier: BSD-3-Clause */
/* The order in which calls are served that have to wait: for a block (memory to serve a call), or because
 * calls have been served long enough in this turn of the loop. The connection that has used least of the
 * loop's time is next (base/payer.h): each pays for the time of its calls here, and of its octets in the
 * loop. A call that has gone on for long waits for its next turn, if its handler can pause. */
#include "rpc/server_private.h"

/* ---- Waiting ---- */

/* Returns the payers of the loop, among which lines have their turns. */
static struct rr_payers *
turns_payers(const struct rpcrdma_server *server)
{
	return rr_loop_payers(server->engine->loop);
}

/* Has the line (of one connection), in which something waits, wait for its turn. It keeps its place if it
 * waits already. */
static void
turns_wait(struct rr_line *line)
{
	rr_list_remove(&line->blocked);
	rr_payer_wait(turns_payers(line->server), line->payer);
}

/* Has all lines whose first call waits for a block wait for their turn again. */
static void
turns_wait_again(struct rpcrdma_server *server)
{
	while (!rr_list_empty(&server->blocked))
		turns_wait(rr_container(server->blocked.next, struct rr_line, blocked));
}

/* Tells whether nothing waits in any line. */
static bool
turns_are_idle(const struct rpcrdma_server *server)
{
	return rr_payers_are_idle(turns_payers(server)) && rr_list_empty(&server->blocked);
}

/* Tells whether calls have been served for so long in this turn of the loop that other work must have its
 * time. If so, also arms the timer that goes on with the calls in the next turn. At the first call in a turn
 * of the loop, begins to measure. */
static bool
turns_are_over(struct rpcrdma_server *server, uint64_t now)
{
	struct rr_loop *loop = server->engine->loop;
	uint64_t turn = rr_loop_turns(loop);

	if (server->turn != turn)
		server->turn_began = now;
	server->turn = turn;
	if (now - server->turn_began < RR_SERVER_TURN)
		return false;
	if (!rr_loop_calls_back(loop)) {
		server->turn_began = now;
		return false;
	}
	if (!rr_timer_armed(&server->next_turn))
		rr_loop_arm(loop, &server->next_turn, 0);
	return true;
}

/* Serves the call of the exchange in a turn of its line. Returns false if there is no block for it. */
static bool
turns_serve(struct rr_line *line, struct rr_exchange *exchange)
{
	struct rpcrdma_server *server = line->server;
	uint64_t outer = server->began;
	struct rr_payer *before = rr_line_begin(line);
	bool served = rr_line_serve(line, exchange);

	rr_server_end_turn(server, before);
	server->began = outer;
	return served;
}

/* Serves the call of the exchange while nothing waits. Mostly, the loop charges the connection with the time
 * already. Where it does not, and the call was brief, nobody is charged: there was nobody to whom the time
 * was owed, and charging would cost a small call 3 % of its instructions. Returns false if there is no block
 * for the call. */
static bool
turns_serve_alone(struct rr_line *line, struct rr_exchange *exchange)
{
	struct rpcrdma_server *server = line->server;
	struct rr_loop *loop = server->engine->loop;
	uint64_t outer = server->began, began = exchange->arrived;
	bool served;

	server->began = began;
	served = rr_line_serve(line, exchange);
	if (line->payer && !rr_loop_charges(loop) && rr_loop_known(loop) > began + RR_SERVER_BRIEF)
		rr_payer_charge(turns_payers(server), line->payer, rr_loop_known(loop) - began);
	server->began = outer;
	return served;
}

/* Serves the call, or has it wait in its line (the calls of one connection). A call that comes while others
 * wait for their turn waits, too: otherwise the connections that are read first would use up each turn of the
 * loop. Without memory for any block, the connection of the call is ended. */
void
rr_line_take(struct rr_line *line, struct rr_exchange *exchange)
{
	struct rpcrdma_server *server = line->server;
	bool over;

	exchange->arrived = rr_loop_now(server->engine->loop);
	exchange->taken = false;
	over = turns_are_over(server, exchange->arrived);
	if (!over && turns_are_idle(server)) {
		if (turns_serve_alone(line, exchange))
			return;
		/* There is no block, and no call holds a block that would come back: memory for a block
		 * could not be had. */
		if (server->block_count == 0) {
			rr_exchange_lose(exchange);
			return;
		}
	} else if (!over) {
		/* The calls that wait are served later in this turn, in their order. */
		rr_loop_defer(server->engine->loop, &server->task);
	}
	rr_queue_append(&line->backlog, exchange);
	turns_wait(line);
}

void
rr_server_take(struct rpcrdma_server *server, struct rr_exchange *exchange)
{
	rr_line_take(&server->other, exchange);
}

/* ---- Calls that pause ---- */

/* Goes on with the call of a block that is in no list of paused ones. Nothing of the block is used
 * afterwards, as the call may have ended. The calls of connections that have ended count for the line
 * `other`. */
static void
turns_resume(struct rr_block *block)
{
	struct rpcrdma_server *server = block->request.server;
	struct rr_line *line = block->line ? block->line : &server->other;
	uint64_t outer = server->began;
	struct rr_payer *before = rr_line_begin(line);

	block->go_on(block->request.above, &block->request);
	rr_server_end_turn(server, before);
	server->began = outer;
}

/* Tells whether rr_server_turns_end() was called: nothing waits for turns any more. */
static bool
turns_ended(const struct rpcrdma_server *server)
{
	return !server->other.payer;
}

bool
rr_request_is_long(const struct rpcrdma_request *request)
{
	struct rpcrdma_server *server = request->server;
	uint64_t now = rr_loop_now(server->engine->loop);

	if (turns_ended(server) || now - server->began < RR_SERVER_SLICE)
		return false;
	return turns_are_over(server, now) || !turns_are_idle(server);
}

void
rr_request_pause(struct rpcrdma_request *request, void (*go_on)(void *above, struct rpcrdma_request *request))
{
	struct rr_block *block = rr_container(request, struct rr_block, request);
	struct rpcrdma_server *server = request->server;
	struct rr_line *line = block->line ? block->line : &server->other;
	uint64_t now;

	block->go_on = go_on;
	rr_list_append(&line->paused, &block->paused);
	if (turns_ended(server))
		return;
	now = rr_loop_now(server->engine->loop);
	turns_wait(line);
	if (!turns_are_over(server, now))
		rr_loop_defer(server->engine->loop, &server->task);
}

void
rr_request_go_on(struct rpcrdma_request *request, void (*go_on)(void *above, struct rpcrdma_request *request))
{
	struct rr_block *block = rr_container(request, struct rr_block, request);
	struct rpcrdma_server *server = request->server;

	block->go_on = go_on;
	if (turns_ended(server))
		go_on(request->above, request);
	else if (turns_are_idle(server) && !turns_are_over(server, rr_loop_now(server->engine->loop)))
		turns_resume(block);
	else
		rr_request_pause(request, go_on);
}

/* ---- Turns ---- */

/* Serves what waits first in the line, which has its turn: a call that has paused, or else a new call. If
 * there is no block for the call, the line waits for one. Otherwise it waits for its next turn, if more waits
 * in it. */
static void
turns_serve_line(struct rr_line *line)
{
	struct rr_list *link = rr_list_pop(&line->paused);
	struct rr_exchange *exchange = link ? NULL : rr_queue_pop(&line->backlog);

	if (link) {
		turns_resume(rr_container(link, struct rr_block, paused));
	} else if (exchange && !turns_serve(line, exchange)) {
		rr_queue_prepend(&line->backlog, exchange);
		rr_list_append(&line->server->blocked, &line->blocked);
		return;
	}
	if (line->payer && (line->backlog.first || !rr_list_empty(&line->paused)))
		turns_wait(line);
}

/* Serves what waits first in the line whose turn it is. Returns false if no line waits for its turn. */
static bool
turns_serve_next(const struct rpcrdma_server *server)
{
	struct rr_payer *payer = rr_payers_take(turns_payers(server));

	if (payer)
		turns_serve_line(payer->ctx);
	return payer != NULL;
}

/* Serves what waits until the time for this turn of the loop is over or nothing can be served. After each
 * slice the answers leave, which takes time as well, and is paid for: only then it is known whose turn is
 * next, and whether the time is over. If there is no memory to serve any call, tries again a little later. */
static void
turns_run(struct rr_task *task)
{
	struct rpcrdma_server *server = rr_container(task, struct rpcrdma_server, task);
	struct rr_loop *loop = server->engine->loop;
	uint64_t began = rr_loop_clock(loop);
	bool more = true;

	turns_wait_again(server);
	while (!turns_are_over(server, rr_loop_now(loop))) {
		more = rr_loop_now(loop) - began < RR_SERVER_SLICE && turns_serve_next(server);
		if (!more)
			break;
	}
	if (!more && !rr_payers_are_idle(turns_payers(server)))
		rr_loop_defer(loop, &server->task);
	/* Lines wait, and no block will come back: memory for a block could not be had, and is asked for
	 * again a little later. */
	if (!rr_list_empty(&server->blocked) && server->block_count == 0 &&
		!rr_timer_armed(&server->next_turn))
		rr_loop_arm(loop, &server->next_turn, 10 * RR_MILLISECOND);
}

/* Called by the timer next_turn: goes on with calls that wait, because the time for calls in an earlier turn
 * of the loop was over, or there was no memory for a block then. */
static void
turns_go_on(struct rr_timer *timer)
{
	turns_run(&rr_container(timer, struct rpcrdma_server, next_turn)->task);
}

/* ---- Lines ---- */

/* Is called when the pool has memory again: serves the line's calls that wait for pool memory, in order,
 * until one of them finds no memory. That call then waits in front of the calls behind it. A call for which
 * there is no block goes to the backlog instead. */
static void
turns_wake(struct rr_pool_waiter *waiter)
{
	struct rr_line *line = rr_container(waiter, struct rr_line, waiter);
	struct rr_exchange_queue round = line->parked;
	struct rr_exchange *exchange;

	line->parked = (struct rr_exchange_queue){ 0 };
	while (!line->parked.first && (exchange = rr_queue_pop(&round))) {
		if (turns_serve(line, exchange))
			continue;
		rr_queue_append(&line->backlog, exchange);
		turns_wait(line);
	}
	while ((exchange = rr_queue_pop(&round)))
		rr_queue_append(&line->parked, exchange);
}

void
rr_line_init(struct rr_line *line, struct rpcrdma_server *server, struct rr_payer *payer)
{
	line->server = server;
	line->payer = payer;
	line->waiter.wake = turns_wake;
	rr_list_init(&line->blocks);
	rr_list_init(&line->paused);
	rr_list_init(&line->blocked);
	rr_list_init(&line->spared);
	rr_list_init(&line->waiter.link);
	payer->ctx = line;
}

/* Has the calls of a line that has ended, which have paused, wait in the line `other` instead. */
static void
turns_leave_paused(struct rr_line *line)
{
	struct rr_list *link;

	while (line != &line->server->other && (link = rr_list_pop(&line->paused))) {
		struct rr_block *block = rr_container(link, struct rr_block, paused);

		rr_request_pause(&block->request, block->go_on);
	}
}

void
rr_line_end(struct rr_line *line)
{
	rr_list_remove(&line->blocked);
	rr_payer_leave(turns_payers(line->server), line->payer);
	line->payer = NULL;
	rr_list_remove(&line->waiter.link);
	rr_line_release(line);
	turns_leave_paused(line);
}

/* All these calls wait in the line `other`. Its waiter is queued at the pool for the party of one of the
 * connections, and must leave that queue before the party is freed. The calls in line->parked are put in
 * front of the backlog, so that the order of the calls stays the same. */
void
rr_server_connection_ends(struct rpcrdma_server *server)
{
	struct rr_line *line = &server->other;
	struct rr_exchange_queue behind = line->backlog;
	struct rr_exchange *exchange;

	rr_list_remove(&line->waiter.link);
	if (!line->parked.first)
		return;
	line->backlog = line->parked;
	line->parked = (struct rr_exchange_queue){ 0 };
	while ((exchange = rr_queue_pop(&behind)))
		rr_queue_append(&line->backlog, exchange);
	turns_wait(line);
	rr_loop_defer(server->engine->loop, &server->task);
}

void
rr_server_turns_init(struct rpcrdma_server *server)
{
	rr_list_init(&server->blocked);
	rr_task_init(&server->task, turns_run);
	rr_timer_init(&server->next_turn, turns_go_on);
	rr_payer_host_init(turns_payers(server), &server->other_host, 0);
	rr_payer_init(&server->others, &server->other_host);
	rr_line_init(&server->other, server, &server->others);
}

void
rr_server_turns_end(struct rpcrdma_server *server)
{
	rr_task_cancel(&server->task);
	rr_loop_disarm(server->engine->loop, &server->next_turn);
	rr_line_end(&server->other);
}

void
rr_server_turns_finish(struct rpcrdma_server *server)
{
	struct rr_list *link;

	while ((link = rr_list_pop(&server->other.paused))) {
		struct rr_block *block = rr_container(link, struct rr_block, paused);

		block->go_on(block->request.above, &block->request);
	}
}
