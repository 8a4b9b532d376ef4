/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes a call from its header to its procedure, in the order of RFC 5531, section 9. Calls that cannot be
 * served are answered by an error. */
#include <string.h>

#include "base/checked.h"
#include "rpc/server_private.h"

/* Finds the flavor of the call's credential among those that the server accepts, and decodes the credential
 * into request. Also notes what the flavor means for the reply: whether results may travel apart from the
 * stream (places), and how many octets its header has. Returns what take() of the flavor returns. RFC
 * 2203, 5.2.3.2, of a flavor that a server does not recognize: "common implementation practice appears to be
 * to return a rejection status of AUTH_ERROR with an auth_stat of AUTH_REJECTEDCRED" */
static int
call_authenticate(struct rpcrdma_request *request, const struct rr_call_header *call)
{
	const struct rr_auth *const *auth = request->server->config.auths;

	while (*auth && (*auth)->flavor != call->cred.flavor)
		auth++;
	if (!*auth)
		return RR_AUTH_REJECTEDCRED;
	request->auth = *auth;
	request->places = (*auth)->may_place(call->cred.body);
	request->header = RR_RPC_REPLY_FIXED + (*auth)->answer_adds;
	return (*auth)->take(call, request);
}

/* Returns the service of the call's program and version, or NULL if there is no such service. With NULL, *low
 * and *high are the lowest and the highest version of the program that are served. If the program is not
 * served at all, *low is above *high. */
static const struct rr_service *
call_find_service(
	const struct rpcrdma_server *server, const struct rr_call_header *call, uint32_t *low, uint32_t *high)
{
	*low = UINT32_MAX;
	*high = 0;
	for (uint32_t i = 0; i < server->service_count; i++) {
		const struct rpcrdma_program *program = server->services[i].program;

		if (program->prog != call->prog)
			continue;
		if (program->vers == call->vers)
			return &server->services[i];
		if (program->vers < *low)
			*low = program->vers;
		if (program->vers > *high)
			*high = program->vers;
	}
	return NULL;
}

bool
rr_block_handled(struct rr_block *block, enum rpcrdma_handled handled)
{
	struct rr_pool *pool = block->request.server->engine->results;

	switch (handled) {
	case RPCRDMA_HANDLED: rr_block_succeed(block); break;
	case RPCRDMA_HANDLE_KEPT: rr_block_keep(block); break;
	case RPCRDMA_HANDLE_DROP: rr_block_drop(block); break;
	case RPCRDMA_HANDLE_GARBAGE_ARGS: rr_block_accept(block, RR_GARBAGE_ARGS); break;
	case RPCRDMA_HANDLE_PROC_UNAVAIL: rr_block_accept(block, RR_PROC_UNAVAIL); break;
	case RPCRDMA_HANDLE_TOO_WEAK: rr_block_deny_auth(block, RR_AUTH_TOOWEAK); break;
	case RPCRDMA_HANDLE_LATER:
		rr_block_not_executed(block);
		rr_pool_put(pool, block->request.payload);
		rr_pool_put(pool, block->large);
		rr_pool_put(pool, block->wide);
		block->request.payload = block->large = block->wide = NULL;
		if (!rr_pool_is_idle(pool))
			return false;
		/* No memory of the pool is out that could come back, so waiting would not help. */
		rr_block_accept(block, RR_SYSTEM_ERR);
		break;
	case RPCRDMA_HANDLE_SYSTEM_ERR:
	default: /* a handler may return any number, whatever its type says */
		rr_block_accept(block, RR_SYSTEM_ERR);
		break;
	}
	return true;
}

/* Tells whether the procedure must not be executed a second time if the call is repeated: the repetition is
 * then answered from the duplicate request cache. */
static bool
call_is_once(const struct rr_service *service, const struct rpcrdma_request *request)
{
	if (service->is_once && service->is_once[request->proc])
		return service->is_once[request->proc](request->args);
	return service->once && service->once[request->proc];
}

/* Tells whether the reply to a call that must be executed once fits into the room that the client offers. If
 * it does not fit, the call is not executed: the client would get no answer and repeat the call with another
 * XID (RFC 8267, 3.1), and the repetition would fail. The room must suffice for the largest reply. If that
 * reply is too large for the duplicate request cache, which could not answer a repetition by it in any case,
 * room for the least reply is enough. */
static bool
call_can_answer(const struct rpcrdma_request *request)
{
	const struct rpcrdma_procedure *procedure = request->procedure;
	uint64_t largest = (uint64_t)request->header + procedure->result_max;

	if (largest > RR_DRC_REPLY_MAX)
		largest = (uint64_t)request->header + procedure->result_min;
	return largest <= request->stream_room;
}

/* Asks the duplicate request cache whether the call repeats another call: RR_DRC_NEW if not, RR_DRC_ANSWERED
 * if the same answer was sent again, RR_DRC_BUSY if the first call is still being executed. */
static enum rr_drc_state
call_repeat(struct rr_block *block)
{
	const struct rpcrdma_request *request = &block->request;
	const struct rr_drc_key key = {
		.peer = request->peer,
		.xid = request->exchange->xid,
		.prog = request->prog,
		.vers = request->vers,
		.proc = request->proc,
		.caller = &request->caller,
		.call = request->auth_call.wraps ? &block->plain : &request->exchange->call,
		.args_at = block->args_at,
	};

	return rr_block_repeat(block, &key);
}

bool
rr_block_execute(struct rr_block *block)
{
	const struct rr_service *service = block->service;
	struct rpcrdma_request *request = &block->request;
	enum rpcrdma_handled handled;

	switch (call_is_once(service, request) ? call_repeat(block) : RR_DRC_NEW) {
	case RR_DRC_NEW: break;
	case RR_DRC_ANSWERED: return true;
	case RR_DRC_BUSY: rr_block_repeat_later(block); return true;
	}
	handled = service->handlers[request->proc](service->ctx, request, request->args, request->result);
	if (handled != RPCRDMA_HANDLED)
		return rr_block_handled(block, handled);
	rr_block_succeed(block);
	return true;
}

/* Tries again to execute or answer a repetition that waited for the first call. The repetition is dropped if
 * its connection has ended. If there is no memory for the reply, the repetition gets SYSTEM_ERR, as it can no
 * longer wait for memory among the calls of its connection. */
void
rr_block_try(struct rr_block *block)
{
	if (!block->request.exchange->carrier)
		rr_block_drop(block);
	else if (!rr_block_execute(block))
		rr_block_accept(block, RR_SYSTEM_ERR);
}

/* Decodes the arguments and executes the procedure, or answers with an error. Returns false if the call must
 * wait for pool memory.
 *
 * RFC 8166, 6.1: if a call has a reduced data item that is not DDP-eligible, "The Responder MUST NOT process
 * this RPC Call message and MUST report the violation as described in Section 4.5.2". RFC 8166, 4.5.2, has
 * GARBAGE_ARGS for such arguments: the decoder finds a reduced data item that it did not expect, or fewer
 * octets than it needs. */
static bool
call_run_procedure(
	struct rr_block *block, const struct rr_service *service, struct rpcrdma_xdr_reader *reader)
{
	struct rpcrdma_request *request = &block->request;
	const struct rpcrdma_procedure *procedure = request->procedure;

	block->service = service;
	block->args_at = (uint32_t)(reader->next - reader->start);
	/* The result lies directly behind the arguments, so both are cleared together. */
	request->result = (uint8_t *)block->memory + rr_block_aligned(procedure->args_size);
	memset(block->memory, 0, rr_block_aligned(procedure->args_size) + procedure->result_size);
	if (procedure->get_args)
		procedure->get_args(reader, block->memory);
	if (!rpcrdma_xdr_done(reader)) {
		rr_block_accept(block, RR_GARBAGE_ARGS);
		return true;
	}
	/* The client could not get the answer of a call that must not be executed again, so the call is
	 * refused before it is executed. */
	if (call_is_once(service, request) && !call_can_answer(request)) {
		rr_block_refuse(block);
		return true;
	}
	if (!rr_block_reserve(block, procedure))
		return rr_block_handled(block, RPCRDMA_HANDLE_LATER);
	return rr_block_execute(block);
}

/* Answers a call of procedure 0, which does nothing in any program and has neither arguments nor results. A
 * call with arguments gets GARBAGE_ARGS. */
static void
call_run_null(struct rr_block *block, const struct rpcrdma_xdr_reader *reader)
{
	block->request.procedure = NULL;
	if (rpcrdma_xdr_done(reader))
		rr_block_succeed(block);
	else
		rr_block_accept(block, RR_GARBAGE_ARGS);
}

struct rr_history *
rr_server_history_of(const struct rpcrdma_server *server, uint32_t index, uint32_t proc)
{
	struct rr_history *histories = server->histories;

	if (index >= server->service_count || proc >= server->services[index].program->procedure_count)
		return NULL;
	for (uint32_t i = 0; i < index; i++)
		histories += server->services[i].program->procedure_count;
	return &histories[proc];
}

/* Finds the service of a call that the server is to execute, and the history of its procedure. If its program
 * or version is not served, answers the call with an error, and returns NULL. */
static const struct rr_service *
call_choose_service(struct rr_block *block, const struct rr_call_header *call)
{
	struct rpcrdma_request *request = &block->request;
	const struct rr_service *service;
	uint32_t low, high;

	service = call_find_service(request->server, call, &low, &high);
	if (service)
		request->history = rr_server_history_of(
			request->server, (uint32_t)(service - request->server->services), call->proc);
	else if (low > high)
		rr_block_accept(block, RR_PROG_UNAVAIL);
	else
		rr_block_mismatch(block, low, high);
	return service;
}

/* Finds the procedure of the call in its service, and runs the procedure. Returns false if the call must wait
 * for pool memory. */
static bool
call_run(struct rr_block *block, struct rpcrdma_xdr_reader *reader)
{
	struct rpcrdma_request *request = &block->request;
	const struct rr_service *service = block->service;
	const struct rpcrdma_program *program = service->program;
	uint32_t proc = request->proc;

	if (proc < program->procedure_count && service->handlers[proc] && program->procedures[proc].name) {
		request->procedure = &program->procedures[proc];
		return call_run_procedure(block, service, reader);
	}
	if (proc == 0)
		call_run_null(block, reader);
	else
		rr_block_accept(block, RR_PROC_UNAVAIL);
	return true;
}

/* Goes on with a call whose arguments the crew has unwrapped. */
static void
call_unwrapped(struct rr_block *block)
{
	const struct rpcrdma_request *request = &block->request;
	struct rpcrdma_arena arena = rpcrdma_arena(block->args_arena, request->server->config.arena_size);
	struct rpcrdma_xdr_reader reader;

	rpcrdma_xdr_reader_init(&reader, &block->plain, &arena);
	if (!request->exchange->carrier)
		rr_block_drop(block);
	else if (!block->apart_good)
		rr_block_accept(block, RR_GARBAGE_ARGS);
	else if (!call_run(block, &reader))
		rr_block_wait(block);
}

/* Finds the service and the procedure of the call, and runs the procedure. taken: RR_AUTH_OK, or
 * RR_AUTH_CONTROL if the service is that of the flavor. A call of a program, version or procedure that is not
 * served is answered with an error. Returns false if the call must wait for pool memory. */
static bool
call_dispatch(struct rr_block *block, const struct rr_call_header *call, struct rpcrdma_xdr_reader *reader,
	int taken)
{
	struct rpcrdma_request *request = &block->request;
	const struct rr_service *service =
		taken == RR_AUTH_CONTROL ? request->auth->control : call_choose_service(block, call);

	if (!service)
		return true;
	block->service = service;
	if (request->auth_call.wraps && rr_block_unwrap_apart(block, reader, call_unwrapped))
		return true;
	/* RFC 2203, 5.3.3.4: arguments that are not what the client has wrapped get "a reply status of
	 * MSG_ACCEPTED, and an acceptance status of GARBAGE_ARGS." */
	if (request->auth_call.wraps && !rr_block_unwrap(block, reader)) {
		rr_block_accept(block, RR_GARBAGE_ARGS);
		return true;
	}
	return call_run(block, reader);
}

/* Sets the members of the request that come from the header of the call, from its connection, and from the
 * block of memory in which the call is served. */
static void
call_prepare(struct rr_block *block, struct rr_exchange *exchange, const struct rr_call_header *call)
{
	struct rpcrdma_request *request = &block->request;
	uint32_t arena = request->server->config.arena_size;

	request->prog = call->prog;
	request->vers = call->vers;
	request->proc = call->proc;
	request->peer = exchange->carrier->peer;
	request->source = exchange->carrier->source;
	request->lost = NULL;
	request->kept = request->ended = request->is_timed = false;
	request->party = rr_party_hold(exchange->carrier->party);
	request->arena = rpcrdma_arena(block->result_arena, arena);
}

/* Sets how many octets the reply may have: in its stream, and in a data item outside of the stream. If the
 * flavor forbids that items travel outside of the stream, an item must fit into the room of the stream. */
static void
call_set_room(struct rpcrdma_request *request)
{
	const struct rr_exchange *exchange = request->exchange;
	uint64_t stream =
		rr_min(exchange->stream_room, (uint64_t)request->server->config.reply_max + request->header);

	request->stream_room = exchange->stream_room;
	request->item_room = exchange->item_room;
	if (!request->places)
		request->item_room = stream > RR_BESIDE_ITEM ? (uint32_t)stream - RR_BESIDE_ITEM : 0;
}

/* Answers a call whose header cannot be read: with RPC_MISMATCH for another version of RPC, with the status
 * of a bad credential, else with GARBAGE_ARGS. RFC 8166, 4.5.4: "If a Responder is unable to construct and
 * transmit an RPC Reply or RPC-over-RDMA error message, the Responder MUST close the connection": there is
 * an error for each such header, so the connection stays. */
static void
call_refuse_header(
	struct rr_block *block, const struct rr_call_header *call, const struct rpcrdma_xdr_reader *reader)
{
	/* RFC 5531, 9: "In version 2 of the RPC protocol specification, rpcvers MUST be equal to 2." */
	if (!reader->failed && call->rpcvers != RR_RPC_VERSION)
		rr_block_deny_version(block);
	else if (call->auth_stat != RR_AUTH_OK)
		rr_block_deny_auth(block, call->auth_stat);
	else
		rr_block_accept(block, RR_GARBAGE_ARGS);
}

bool
rr_block_serve(struct rr_block *block, struct rr_exchange *exchange)
{
	struct rpcrdma_arena arena =
		rpcrdma_arena(block->args_arena, block->request.server->config.arena_size);
	struct rpcrdma_xdr_reader reader;
	struct rr_call_header call;
	bool readable;
	int taken;

	block->request.exchange = exchange;
	block->request.history = NULL;
	rpcrdma_xdr_reader_init(&reader, &exchange->call, &arena);
	readable = rr_rpc_get_call(&reader, &call);
	/* RFC 8166, 6.1: if a call has a reduced data item that is not DDP-eligible, "The Responder MUST
	 * NOT process this RPC Call message". No part of the header is eligible (8.2.2). */
	if (rr_rpc_header_is_reduced(&reader)) {
		rr_block_refuse(block);
		return true;
	}
	if (!readable) {
		call_refuse_header(block, &call, &reader);
		return true;
	}
	call_prepare(block, exchange, &call);
	taken = call_authenticate(&block->request, &call);
	if (taken != RR_AUTH_OK && taken != RR_AUTH_CONTROL) {
		if (taken == RR_AUTH_SILENT)
			rr_block_drop(block);
		else
			rr_block_deny_auth(block, (enum rr_auth_stat)taken);
		return true;
	}
	call_set_room(&block->request);
	return call_dispatch(block, &call, &reader, taken);
}
