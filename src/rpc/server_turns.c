/* SPDX-License-Identifier: BSD-3-Clause */
/* The order in which calls are served that have to wait: for a block (memory to serve a call), or because
 * calls have been served long enough in this turn of the loop. Each host has its place in the order, and the
 * connections of a host share that place: a host gets no more of the loop's time with many connections than
 * with one. A round serves one call of each host. A struct rr_line_address stands for a host (base/host.h),
 * and exists as long as a line belongs to it. */
#include "rpc/server_private.h"

/* The buckets of the map of addresses. If there are more addresses, several of them share a bucket. */
enum { TURNS_BUCKETS = 1024 };

/* ---- Addresses ---- */

/* Returns the entry that stands for all connections from that host, and makes it if it does not exist yet.
 * Returns NULL if there is no memory. */
static struct rr_line_address *
turns_address_of(struct rpcrdma_server *server, const struct rr_host *host)
{
	struct rr_map_link *found = rr_map_find(&server->addresses, (uintptr_t)host);
	struct rr_line_address *address;

	if (found)
		return rr_container(found, struct rr_line_address, by_host);
	address = rr_alloc(server->engine->env, sizeof(*address));
	if (!address)
		return NULL;
	rr_list_init(&address->turn);
	rr_list_init(&address->waiting);
	rr_map_add(&server->addresses, &address->by_host, (uintptr_t)host);
	return address;
}

/* Removes the line (of one connection) from the entry of its host, and frees the entry with its last line. */
static void
turns_leave_address(struct rr_line *line)
{
	struct rr_line_address *address = line->address;

	rr_list_remove(&line->turn);
	if (!address)
		return;
	line->address = NULL;
	if (rr_list_empty(&address->waiting))
		rr_list_remove(&address->turn);
	if (--address->lines > 0)
		return;
	rr_map_remove(&line->server->addresses, &address->by_host);
	rr_free(line->server->engine->env, address);
}

/* ---- Waiting ---- */

/* Appends the line (of one connection) to the lines of its host that wait for their turn, and the host's
 * entry to the entries that wait for theirs. Each is left in its place if it waits already. */
static void
turns_wait(struct rr_line *line)
{
	struct rr_line_address *address = line->address;

	if (rr_list_empty(&line->turn))
		rr_list_append(&address->waiting, &line->turn);
	if (rr_list_empty(&address->turn))
		rr_list_append(&line->server->turns, &address->turn);
}

/* Tells whether calls have been served for so long in this turn of the loop that other work must have its
 * time. If so, also arms the timer that goes on with the calls in the next turn. At the first call in a turn
 * of the loop, begins to measure. */
static bool
turns_are_over(struct rpcrdma_server *server, uint64_t now)
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

/* Serves the call, or has it wait in its line (the calls of one connection). A call that comes while others
 * wait for their turn waits behind them: otherwise the connections that are read first would use up each turn
 * of the loop. Without memory for any block, the connection of the call is ended. */
void
rr_line_take(struct rr_line *line, struct rr_exchange *exchange)
{
	struct rpcrdma_server *server = line->server;
	bool over;

	exchange->arrived = rr_loop_now(server->engine->loop);
	over = turns_are_over(server, exchange->arrived);
	if (!over && rr_list_empty(&server->turns)) {
		if (rr_line_serve(line, exchange))
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

/* ---- Rounds ---- */

/* Serves the first call that waits in the line, and has the line wait for its next turn if more calls wait in
 * it. Returns false if no call was served: no call waits, or there is no block (memory to serve a call) for
 * it. */
static bool
turns_serve_line(struct rr_line *line)
{
	struct rr_exchange *exchange = rr_queue_pop(&line->backlog);
	bool served = exchange && rr_line_serve(line, exchange);

	if (exchange && !served)
		rr_queue_prepend(&line->backlog, exchange);
	if (line->backlog.first)
		turns_wait(line);
	return served;
}

/* Serves one call from the host of the entry: the call of the first line for which there is a block (memory
 * to serve a call). A line for which there is no block goes behind the host's other lines, so each line is
 * tried once. Returns false if no call was served. */
static bool
turns_serve_address(struct rr_line_address *address)
{
	bool served = false;

	for (uint32_t tries = address->lines; tries > 0 && !served; tries--) {
		struct rr_list *link = rr_list_pop(&address->waiting);

		if (!link)
			break;
		served = turns_serve_line(rr_container(link, struct rr_line, turn));
	}
	return served;
}

/* Serves one call of each host whose calls wait. A host with further calls that wait is put at the end of the
 * order, for the next round, unless serving its call has put it there already. Returns whether at least one
 * call was served. */
static bool
turns_serve_round(struct rpcrdma_server *server)
{
	struct rr_list round, *link;
	bool served = false;

	rr_list_init(&round);
	while ((link = rr_list_pop(&server->turns)))
		rr_list_append(&round, link);
	while ((link = rr_list_pop(&round))) {
		struct rr_line_address *address = rr_container(link, struct rr_line_address, turn);

		served |= turns_serve_address(address);
		if (!rr_list_empty(&address->waiting) && rr_list_empty(&address->turn))
			rr_list_append(&server->turns, &address->turn);
	}
	return served;
}

/* Serves calls that wait, round by round, until the time for this turn of the loop is over or no call can be
 * served. If there is no memory to serve any call, tries again a little later. */
static void
turns_run(struct rr_task *task)
{
	struct rpcrdma_server *server = rr_container(task, struct rpcrdma_server, task);

	while (!turns_are_over(server, rr_now(server->engine->env)) && turns_serve_round(server))
		;
	/* Lines wait, and no block will come back: memory for a block could not be had, and is asked for
	 * again a little later. */
	if (!rr_list_empty(&server->turns) && server->block_count == 0 && !rr_timer_armed(&server->next_turn))
		rr_loop_arm(server->engine->loop, &server->next_turn, 10 * RR_MILLISECOND);
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
		if (rr_line_serve(line, exchange))
			continue;
		rr_queue_append(&line->backlog, exchange);
		turns_wait(line);
	}
	while ((exchange = rr_queue_pop(&round)))
		rr_queue_append(&line->parked, exchange);
}

bool
rr_line_init(struct rr_line *line, struct rpcrdma_server *server, const struct rr_host *host)
{
	line->server = server;
	line->waiter.wake = turns_wake;
	rr_list_init(&line->blocks);
	rr_list_init(&line->turn);
	rr_list_init(&line->spared);
	rr_list_init(&line->waiter.link);
	line->address = turns_address_of(server, host);
	if (!line->address)
		return false;
	line->address->lines++;
	return true;
}

void
rr_line_end(struct rr_line *line)
{
	turns_leave_address(line);
	rr_list_remove(&line->waiter.link);
	rr_line_release(line);
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

bool
rr_server_turns_init(struct rpcrdma_server *server)
{
	rr_list_init(&server->turns);
	rr_task_init(&server->task, turns_run);
	rr_timer_init(&server->next_turn, turns_go_on);
	return rr_map_init(&server->addresses, server->engine->env, TURNS_BUCKETS) == 0 &&
	       rr_line_init(&server->other, server, NULL);
}

void
rr_server_turns_end(struct rpcrdma_server *server)
{
	rr_task_cancel(&server->task);
	rr_loop_disarm(server->engine->loop, &server->next_turn);
	rr_line_end(&server->other);
}
