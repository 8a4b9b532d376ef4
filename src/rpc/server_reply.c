/* SPDX-License-Identifier: BSD-3-Clause */
/* Replies. The reply's stream lies in the block, or in pool memory. The memory is taken before the
 * procedure runs, since a call that was executed cannot wait for memory. Marked results stay where the
 * handler put them. */
#include <string.h>

#include "base/checked.h"
#include "base/peer_log.h"
#include "base/probe.h"
#include "rpc/server_private.h"

_Static_assert((int)RR_REPLY_SMALL >= (int)RR_DRC_REPLY_MAX, "a reply that is kept lies in the block");

/* Returns the most octets that the results of the call can take in the stream, but at most the server's
 * reply_max. If the service has a function that computes the bound for this call, its result is
 * the bound. Otherwise the bound is that of the procedure; if the flavor forbids that results travel apart
 * from the stream, the marked results are added, each with at most 3 octets of padding. */
static uint64_t
reply_results_max(const struct rr_block *block, const struct rpcrdma_procedure *procedure)
{
	const struct rpcrdma_request *request = &block->request;
	const struct rr_service *service = block->service;
	uint64_t size = procedure->result_max;

	if (service->result_max && service->result_max[request->proc])
		return rr_min(service->result_max[request->proc](request, request->args),
			request->server->config.reply_max);

	if (!request->places)
		size += (uint64_t)procedure->result_items * ((uint64_t)procedure->result_item_max + 3);
	return rr_min(size, request->server->config.reply_max);
}

/* Takes a larger arena from the pool where the result may need it, and the pool has room. */
static void
reply_widen(struct rr_block *block)
{
	struct rpcrdma_request *request = &block->request;
	const struct rr_service *service = block->service;
	const struct rpcrdma_server *server = request->server;
	uint64_t size = 0;

	if (service->arena_max && service->arena_max[request->proc])
		size = rr_min(
			service->arena_max[request->proc](request, request->args), server->config.reply_max);
	if (size <= server->config.arena_size)
		return;
	block->wide = rr_pool_get(server->engine->results, request->party, size);
	if (block->wide)
		request->arena = rpcrdma_arena(block->wide, size);
}

bool
rr_block_reserve(struct rr_block *block, const struct rpcrdma_procedure *procedure)
{
	const struct rpcrdma_request *request = &block->request;
	const struct rpcrdma_server *server = request->server;
	uint64_t size = rr_min(reply_results_max(block, procedure) + request->header, request->stream_room);

	block->reply_size = RR_REPLY_SMALL;
	if (size <= RR_REPLY_SMALL)
		return true;
	block->reply_size = (uint32_t)size;
	block->large = rr_line_take_spare(block->line, block->reply_size);
	if (!block->large)
		block->large = rr_pool_get(server->engine->results, request->party, size);
	if (block->large)
		reply_widen(block);
	return block->large;
}

static void
reply_sent(void *arg)
{
	rr_block_release(arg);
}

uint32_t
rr_request_item_max(const struct rpcrdma_request *request)
{
	enum { FEW = 4 };
	uint32_t chunks = request->exchange->write_chunks;

	if (!request->places)
		return 0;
	/* A carrier without chunks writes to TCP, which gathers any number of pieces. */
	if (!request->exchange->ops->refuse)
		return RR_MESSAGE_ITEMS;
	return chunks > FEW ? (uint32_t)rr_min(chunks, RR_MESSAGE_ITEMS) : FEW;
}

/* Encodes a reply into memory with writer: its header, and the result if the call succeeded. Returns false if
 * the reply does not fit. */
static bool
reply_write(struct rr_block *block, struct rr_reply_header *header, void *memory, uint32_t size,
	struct rpcrdma_xdr_writer *writer)
{
	struct rpcrdma_request *request = &block->request;
	const struct rpcrdma_procedure *procedure = request->procedure;
	bool succeeded = header->reply_stat == RR_MSG_ACCEPTED && header->accept_stat == RR_SUCCESS;

	rpcrdma_xdr_writer_init(writer, memory, size, request->items, rr_request_item_max(request));
	header->xid = request->exchange->xid;
	if (request->auth_call.context) {
		rr_block_put_guarded(
			block, header, writer, succeeded && procedure ? procedure->put_result : NULL);
		return !writer->failed;
	}
	rr_rpc_put_reply(writer, header);
	if (succeeded && procedure && procedure->put_result)
		procedure->put_result(writer, request->result);
	return !writer->failed;
}

/* Ends the call in the duplicate request cache, if the call was opened there: the cache keeps the reply for
 * repetitions. reply is NULL if the call was not executed; a repetition may then be executed. */
static void
reply_remember(struct rr_block *block, const struct rpcrdma_message *reply)
{
	if (block->once_open)
		rr_drc_end(block->request.server->config.drc, &block->once, reply);
	block->once_open = false;
}

void
rr_block_not_executed(struct rr_block *block)
{
	reply_remember(block, NULL);
}

enum rr_drc_state
rr_block_repeat(struct rr_block *block, const struct rr_drc_key *key)
{
	struct rr_carrier *carrier = block->request.exchange->carrier;
	enum rr_drc_state state;
	uint32_t length;

	state = rr_drc_begin(block->request.server->config.drc, &block->once, key, block->small, &length);
	block->once_open = state == RR_DRC_NEW;
	if (state != RR_DRC_ANSWERED)
		return state;
	if (carrier)
		carrier->counters.repeats++;
	RR_PROBE(call_repeated, key->peer, key->xid, key->prog, key->vers, key->proc);
	if (block->request.auth_call.context && (length = rr_block_guard_again(block, length)) == 0) {
		rr_block_drop(block);
		return state;
	}
	block->reply = (struct rpcrdma_message){ .stream = block->small, .length = length };
	rr_exchange_reply(block->request.exchange, &block->reply, reply_sent, block);
	return state;
}

/* Adds the time from the arrival of the call to its reply to the latencies of its procedure, and passes the
 * time to the tracing probe call_served. */
static void
reply_count_time(const struct rpcrdma_request *request, bool failed)
{
	struct rr_loop *loop = request->server->engine->loop;
	uint64_t now = request->is_timed ? rr_loop_now(loop) : rr_loop_clock(loop);
	uint64_t took = now - request->exchange->arrived;

	RR_PROBE(call_served, request->peer, request->exchange->xid, request->prog, request->vers,
		request->proc, took, (int)failed);
	rr_latency_add(&request->history->latency, took, failed);
}

/* Takes the memory for the largest reply from the block, which does not need it any more: keeps it for the
 * next call of this turn of the loop, or gives it back to the pool. */
static void
reply_spare(struct rr_block *block)
{
	if (!rr_line_keep_spare(block->line, block->large, block->reply_size))
		rr_pool_put(block->request.server->engine->results, block->large);
	block->large = NULL;
}

/* Moves the reply to memory of its own size, if the reply fills less than half of the memory for the largest
 * reply. Otherwise, or if there is no such memory, only gives the unused end of the larger memory back.
 * Returns the memory in which the reply then lies. */
static void *
reply_shrink(struct rr_block *block, struct rr_pool *results)
{
	uint32_t length = block->reply.length;
	void *smaller = NULL;

	if (length < block->reply_size / 2)
		smaller = rr_pool_get(results, block->request.party, length);
	if (!smaller)
		return rr_pool_trim(results, block->large, length);
	memcpy(smaller, block->large, length);
	reply_spare(block);
	return smaller;
}

/* Frees as much of the memory for the largest reply as the written reply does not need, before the reply
 * waits for the peer. A small reply is copied into the block, so that all of this memory is freed. */
static void
reply_trim(struct rr_block *block)
{
	if (block->wide && block->reply.item_count == 0) {
		rr_pool_put(block->request.server->engine->results, block->wide);
		block->wide = NULL;
	}
	if (!block->large)
		return;
	if (block->reply.length > RR_REPLY_SMALL) {
		block->large = reply_shrink(block, block->request.server->engine->results);
		block->reply.stream = block->large;
		return;
	}
	if (block->reply.stream != block->small)
		block->reply.stream = memcpy(block->small, block->large, block->reply.length);
	reply_spare(block);
}

/* Sends the reply, and counts the call. failed tells whether the call failed. If the connection ended
 * meanwhile, nothing is sent. */
static void
reply_send(struct rr_block *block, bool failed)
{
	const struct rpcrdma_request *request = &block->request;

	if (request->history)
		reply_count_time(request, failed);
	if (!request->exchange->carrier) { /* the connection ended while the request was kept */
		rr_exchange_drop(request->exchange);
		rr_block_release(block);
		return;
	}
	rr_exchange_reply(block->request.exchange, &block->reply, reply_sent, block);
}

/* Writes to the log why the results of the call are not sent. */
static void
reply_complain(const struct rr_block *block)
{
	const struct rpcrdma_request *request = &block->request;

	rr_log_peer(rr_loop_peer_log(request->server->engine->loop), request->peer,
		"the result of %s for %s %s", request->procedure ? request->procedure->name : "NULL",
		request->peer,
		block->unwrappable ? "cannot be protected, and is not sent" : "does not fit its reply");
}

/* Sends a reply that a crew has protected. RFC 2203, 5.3.3.4.4: "a failure results in no RPC response being
 * sent." */
static void
reply_protected(struct rr_block *block)
{
	if (block->apart_good) {
		reply_send(block, false);
		return;
	}
	block->unwrappable = true;
	reply_complain(block);
	rr_block_drop(block);
}

/* Sends the reply that was written, once it is protected, if that is left to do. */
static void
reply_end(struct rr_block *block, const struct rpcrdma_xdr_writer *writer, bool failed)
{
	block->reply = rpcrdma_xdr_written(writer);
	reply_trim(block);
	reply_remember(block, &block->reply);
	if (block->request.auth_call.wraps && rr_block_protect_apart(block, reply_protected))
		return;
	reply_send(block, failed);
}

/* Writes a reply without results, only a header, and sends it. The header always fits into the memory for
 * small replies. */
static void
reply(struct rr_block *block, struct rr_reply_header header)
{
	struct rpcrdma_xdr_writer writer;

	reply_write(block, &header, block->small, RR_REPLY_SMALL, &writer);
	reply_end(block, &writer, true);
}

/* Writes the reply into memory that is smaller than that for the largest reply, so that it need not be copied
 * out of there: into memory of the size of the procedure's last reply, or, if that was small, into the block.
 * Most replies are as large as the one before. Returns false if the reply does not fit, or there is no such
 * memory. */
static bool
reply_try(struct rr_block *block, struct rr_reply_header *header, struct rpcrdma_xdr_writer *writer)
{
	const struct rpcrdma_request *request = &block->request;
	struct rr_pool *results = request->server->engine->results;
	uint32_t usual = request->history ? request->history->reply : 0;
	void *memory;

	if (!block->large || usual <= RR_REPLY_SMALL)
		return reply_write(block, header, block->small, RR_REPLY_SMALL, writer);
	memory = usual < block->reply_size / 2 ? rr_pool_get(results, request->party, usual) : NULL;
	if (!memory)
		return false;
	if (!reply_write(block, header, memory, usual, writer)) {
		rr_pool_put(results, memory);
		return false;
	}
	reply_spare(block);
	block->large = memory;
	block->reply_size = usual;
	return true;
}

void
rr_block_succeed(struct rr_block *block)
{
	const struct rpcrdma_request *request = &block->request;
	struct rr_reply_header header = { .reply_stat = RR_MSG_ACCEPTED, .accept_stat = RR_SUCCESS };
	struct rpcrdma_xdr_writer writer;

	if (reply_try(block, &header, &writer) ||
		(block->large && reply_write(block, &header, block->large, block->reply_size, &writer))) {
		if (request->history)
			request->history->reply = (uint32_t)rpcrdma_xdr_length(&writer);
		reply_end(block, &writer, false);
		return;
	}
	reply_complain(block);
	/* RFC 2203, 5.3.3.4.4: "a failure results in no RPC response being sent." */
	if (block->unwrappable)
		rr_block_drop(block);
	else
		rr_block_accept(block, RR_SYSTEM_ERR);
}

void
rr_block_accept(struct rr_block *block, enum rr_accept_stat stat)
{
	reply(block, (struct rr_reply_header){ .reply_stat = RR_MSG_ACCEPTED, .accept_stat = stat });
}

void
rr_block_mismatch(struct rr_block *block, uint32_t low, uint32_t high)
{
	reply(block, (struct rr_reply_header){ .reply_stat = RR_MSG_ACCEPTED,
			     .accept_stat = RR_PROG_MISMATCH,
			     .low = low,
			     .high = high });
}

void
rr_block_deny_version(struct rr_block *block)
{
	reply(block, (struct rr_reply_header){ .reply_stat = RR_MSG_DENIED,
			     .reject_stat = RR_RPC_MISMATCH,
			     .low = RR_RPC_VERSION,
			     .high = RR_RPC_VERSION });
}

void
rr_block_deny_auth(struct rr_block *block, enum rr_auth_stat stat)
{
	reply(block, (struct rr_reply_header){
			     .reply_stat = RR_MSG_DENIED, .reject_stat = RR_AUTH_ERROR, .auth_stat = stat });
}

void
rr_block_refuse(struct rr_block *block)
{
	rr_exchange_refuse(block->request.exchange);
	rr_block_release(block);
}

void
rr_block_drop(struct rr_block *block)
{
	rr_block_not_executed(block);
	rr_exchange_drop(block->request.exchange);
	rr_block_release(block);
}
