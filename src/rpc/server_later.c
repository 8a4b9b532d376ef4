/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that are not answered in the turn in which they came: those that their handler keeps
 * (RPCRDMA_HANDLE_KEPT), and repetitions of calls that are still being executed. Both stay in their block,
 * so that there are no more of them than there are blocks.
 *
 * A repetition is tried again when a request that was kept here is answered, and from time to time, since
 * another thread may execute the call. The same timer calls lost(), so that lost() comes from the loop, and
 * never from inside the end of a connection. */
#include <string.h>

#include "rpc/server_private.h"

#define TRY_AGAIN (5 * RR_MILLISECOND)

/* Copies the name of the peer into the block, unless the name is there already, as the connection may end
 * before the request does. */
static void
later_keep_peer(struct rr_block *block)
{
	if (block->request.peer == block->peer)
		return;
	strncpy(block->peer, block->request.peer, sizeof(block->peer) - 1);
	block->request.peer = block->peer;
}

void
rr_block_keep(struct rr_block *block)
{
	struct rpcrdma_server *server = block->request.server;

	later_keep_peer(block);
	block->request.kept = true;
	rr_engine_use(server->engine);
	rr_list_append(&server->kept, &block->later);
	/* Reads the clock, so that rr_loop_now() is right again: the handler may have taken long, and
	 * turns_are_over() decides by that time whether more calls are served. For calls that are answered,
	 * reply_count_time() does this. */
	rr_loop_clock(server->engine->loop);
}

void
rr_block_repeat_later(struct rr_block *block)
{
	struct rpcrdma_server *server = block->request.server;

	later_keep_peer(block);
	rr_list_append(&server->repeats, &block->later);
	if (!rr_timer_armed(&server->again))
		rr_loop_arm(server->engine->loop, &server->again, TRY_AGAIN);
}

/* Begins to do something for the line of the block. Returns whether it is charged already, in a turn of the
 * line, or is for nobody; *before: for later_leave_line(). */
static bool
later_enter_line(const struct rr_block *block, struct rr_payer **before)
{
	const struct rpcrdma_server *server = block->request.server;
	bool charged = server->began > 0 || server->freed || !block->line;

	*before = charged ? NULL : rr_line_begin(block->line);
	return charged;
}

static void
later_leave_line(struct rpcrdma_server *server, bool charged, struct rr_payer *before)
{
	if (charged)
		return;
	rr_server_end_turn(server, before);
	server->began = 0;
}

void
rr_request_end(struct rpcrdma_request *request, enum rpcrdma_handled handled)
{
	struct rr_block *block = rr_container(request, struct rr_block, request);
	struct rpcrdma_server *server = request->server;
	struct rpcrdma_engine *engine = server->engine;
	struct rr_payer *before;
	bool charged = later_enter_line(block, &before);

	rr_list_remove(&block->later);
	request->lost = NULL;
	request->kept = false;
	request->ended = true;
	/* The answer will be in the duplicate request cache, where the repetitions find it. */
	if (!rr_list_empty(&server->repeats))
		rr_loop_arm(engine->loop, &server->again, 0);
	rr_block_handled(block, handled == RPCRDMA_HANDLE_LATER ? RPCRDMA_HANDLE_SYSTEM_ERR : handled);
	later_leave_line(server, charged, before);
	rr_engine_leave(engine); /* which rr_block_keep() has used */
}

/* Moves all elements of the list `from` to the list `to`, which it initialises first. */
static void
later_move(struct rr_list *from, struct rr_list *to)
{
	struct rr_list *link;

	rr_list_init(to);
	while ((link = rr_list_pop(from)))
		rr_list_append(to, link);
}

/* Drops those repetitions whose connection has ended while they wait until the first call is answered. */
static void
later_drop_repeats(struct rpcrdma_server *server)
{
	rr_list_for_each (link, &server->repeats) {
		struct rr_block *block = rr_container(link, struct rr_block, later);

		if (block->request.exchange->carrier)
			continue;
		rr_list_remove(&block->later);
		rr_block_drop(block);
	}
}

/* Calls lost() for each kept request whose connection has ended. A lost() may end any kept request, which
 * removes that request from its list. So the list is moved to another list, whose first element is taken
 * until it is empty. */
static void
later_lose(struct rpcrdma_server *server)
{
	struct rr_list round, *link;

	later_move(&server->kept, &round);
	while ((link = rr_list_pop(&round))) {
		struct rpcrdma_request *request = &rr_container(link, struct rr_block, later)->request;
		void (*lost)(void *above, struct rpcrdma_request *request) = request->lost;

		rr_list_append(&server->kept, link);
		if (request->exchange->carrier || !lost)
			continue;
		request->lost = NULL;
		lost(request->above, request);
	}
}

/* Is called by the timer: drops the repetitions whose connection has ended, and tries the others once more.
 * Repetitions that must wait further put themselves into the list again. Then calls lost() for the kept
 * requests whose connection has ended. */
static void
later_try_again(struct rr_timer *timer)
{
	struct rpcrdma_server *server = rr_container(timer, struct rpcrdma_server, again);
	struct rr_list round, *link;

	later_drop_repeats(server);
	later_move(&server->repeats, &round);
	while ((link = rr_list_pop(&round)))
		rr_block_try(rr_container(link, struct rr_block, later));
	later_lose(server);
}

void
rr_server_later_init(struct rpcrdma_server *server)
{
	rr_list_init(&server->kept);
	rr_list_init(&server->repeats);
	rr_timer_init(&server->again, later_try_again);
}

void
rr_server_connection_lost(struct rpcrdma_server *server)
{
	if (!rr_list_empty(&server->kept) || !rr_list_empty(&server->repeats))
		rr_loop_arm(server->engine->loop, &server->again, 0);
}

void
rr_server_later_end(struct rpcrdma_server *server)
{
	rr_loop_disarm(server->engine->loop, &server->again);
	later_drop_repeats(server);
	later_lose(server);
}

/* ---- Large messages that a flavor wraps ---- */

/* The loop hands what takes long to a crew, and goes on with the call when the crew has done it. Meanwhile
 * the call counts as one that its handler keeps. */
enum { LATER_PLACE = 2 }; /* for jobs that use the processor, and do not wait */

/* Unwraps or protects, in a thread of the crew, which alone uses these members of the block meanwhile. */
static bool
later_apart_run(struct rr_crew_job *job, void *member)
{
	struct rr_block *block = rr_container(job, struct rr_block, apart);
	struct rpcrdma_request *request = &block->request;
	const struct rr_auth_guard *guard = request->auth->guard;

	(void)member;
	if (block->span.size == 0)
		block->apart_good = guard->unwrap(&request->auth_call, &block->plain);
	else
		block->apart_good = guard->protect(
			&request->auth_call, (uint8_t *)(uintptr_t)block->reply.stream, &block->span);
	return true;
}

/* Goes on with the call, in the loop. */
static void
later_apart_done(struct rr_crew_job *job)
{
	struct rr_block *block = rr_container(job, struct rr_block, apart);
	struct rpcrdma_server *server = block->request.server;
	struct rpcrdma_engine *engine = server->engine;
	struct rr_payer *before;
	bool charged = later_enter_line(block, &before);

	rr_list_remove(&block->later);
	block->request.kept = false;
	block->request.auth_call.apart = false;
	block->span.size = 0;
	block->apart_next(block);
	later_leave_line(server, charged, before);
	rr_engine_leave(engine); /* which rr_block_keep() has used */
}

static void
later_apart_begin(struct rr_block *block, void (*next)(struct rr_block *block))
{
	struct rpcrdma_request *request = &block->request;
	uint64_t host = request->party ? rr_party_host(request->party) : 0;

	block->apart_next = next;
	block->apart = (struct rr_crew_job){ .place = LATER_PLACE,
		.bulk = true,
		.host = host,
		.owner = host,
		.run = later_apart_run,
		.done = later_apart_done };
	request->auth_call.apart = true;
	request->lost = NULL;
	rr_block_keep(block);
	rr_crew_add(request->server->config.crew, &block->apart);
}

bool
rr_block_unwrap_apart(
	struct rr_block *block, const struct rpcrdma_xdr_reader *reader, void (*next)(struct rr_block *block))
{
	struct rpcrdma_request *request = &block->request;

	if (!request->server->config.crew || !request->auth->guard->lay || reader->failed ||
		reader->items < reader->items_end || rpcrdma_xdr_left(reader) < RR_AUTH_LARGE)
		return false;
	block->plain = (struct rpcrdma_message){ .stream = reader->next,
		.length = (uint32_t)rpcrdma_xdr_left(reader) };
	block->span.size = 0;
	later_apart_begin(block, next);
	return true;
}

bool
rr_block_protect_apart(struct rr_block *block, void (*next)(struct rr_block *block))
{
	if (block->span.size == 0)
		return false;
	later_apart_begin(block, next);
	return true;
}
