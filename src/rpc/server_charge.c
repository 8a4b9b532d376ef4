/* SPDX-License-Identifier: BSD-3-Clause */
/* The account of the time that calls take in the loop: their line (the calls of one connection) and its host
 * are charged with it, and are served later the more they have used (server_turns.c). */
#include "rpc/server_private.h"

void
rr_line_begin(struct rr_line *line)
{
	struct rpcrdma_server *server = line->server;

	rr_fair_queue_begin(&line->address->waiting, &line->turn);
	rr_fair_queue_begin(&server->turns, &line->address->turn);
	server->began = rr_loop_now(server->engine->loop);
}

void
rr_line_charge(struct rr_line *line, uint64_t began)
{
	struct rr_loop *loop = line->server->engine->loop;
	uint64_t now = rr_loop_known(loop);

	/* Mostly, the clock was read since `began`: when the call was answered or kept. */
	if (now <= began)
		now = rr_loop_clock(loop);
	if (!line->address || now <= began)
		return;
	rr_fair_queue_charge(&line->address->waiting, &line->turn, now - began);
	rr_fair_queue_charge(&line->server->turns, &line->address->turn, now - began);
}
