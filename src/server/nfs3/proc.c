/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/nfs3/proc.h"

#include <string.h>

/* This file executes a procedure: it asks the gate, begins the file system's operation, and completes the
 * request when the operation has ended, at once or in a later turn of the loop. */

void *
rr_nfs_alloc(struct rpcrdma_request *request, size_t size)
{
	struct rpcrdma_arena *arena = &request->arena;
	size_t skip = -(uintptr_t)arena->next & (_Alignof(max_align_t) - 1);
	uint8_t *memory;

	if ((size_t)(arena->end - arena->next) < skip || (size_t)(arena->end - arena->next) - skip < size)
		return NULL;
	memory = arena->next + skip;
	arena->next = memory + size;
	return memset(memory, 0, size);
}

bool
rr_nfs_handle(struct rr_nfs_work *work, const struct rr_vfs_handle *given, nfs_fh3 *handle)
{
	uint8_t *copy = rr_nfs_alloc(work->request, given->length);

	if (!copy)
		return false;
	memcpy(copy, given->data, given->length);
	handle->data = (struct rpcrdma_bytes){ copy, given->length };
	return true;
}

/* Called when the client does not wait for the answer any more. Drops a request that waits for memory or for
 * the groups of its caller. Otherwise cancels the operation under way, unless its procedure must be done
 * exactly once. The request's memory is kept until the operation ends. */
static void
proc_lost(void *above, struct rpcrdma_request *request)
{
	struct rr_nfs_work *work = above;

	work->lost = true;
	if (rr_list_empty(&work->waiter.link) && rr_list_empty(&work->groups.link)) {
		if (!work->procedure->once)
			rr_vfs_cancel(work->server->vfs, &work->op.call);
		return;
	}
	rr_list_remove(&work->waiter.link);
	rr_list_remove(&work->groups.link);
	rr_request_end(request, RPCRDMA_HANDLE_DROP);
}

/* Begins the operation of a procedure. If the operation ends at once, completes the result, and returns what
 * procedure->end() returns; else returns RPCRDMA_HANDLE_KEPT. */
static enum rpcrdma_handled
proc_begin(struct rr_nfs_work *work)
{
	enum rr_vfs_status status = work->procedure->begin(work);

	return status == RR_VFS_PENDING ? RPCRDMA_HANDLE_KEPT : work->procedure->end(work, status);
}

/* Acts on the outcome of a step of a kept request: the request stays kept, waits for memory in order to
 * begin again, or is answered. If it would have to wait for memory but its client is lost, the request is
 * dropped. */
static void
proc_go_on(struct rr_nfs_work *work, enum rpcrdma_handled handled)
{
	if (handled == RPCRDMA_HANDLE_KEPT)
		return;
	if (handled == RPCRDMA_HANDLE_LATER && !work->lost)
		rr_pool_wait(work->server->pool, work->request->party, &work->waiter);
	else
		rr_request_end(
			work->request, handled == RPCRDMA_HANDLE_LATER ? RPCRDMA_HANDLE_DROP : handled);
}

/* Called when there is memory again for a request that waited for memory: begins the operation of that
 * request again. */
static void
proc_wake(struct rr_pool_waiter *waiter)
{
	struct rr_nfs_work *work = rr_container(waiter, struct rr_nfs_work, waiter);

	proc_go_on(work, proc_begin(work));
}

void
rr_nfs_done(struct rr_vfs_call *call)
{
	struct rr_nfs_work *work = rr_container(call, struct rr_nfs_work, op.call);

	proc_go_on(work, call->status == RR_VFS_CANCELLED ? RPCRDMA_HANDLE_DROP
							  : work->procedure->end(work, call->status));
}

struct rr_gate_caller
rr_nfs_caller(const struct rpcrdma_request *request)
{
	return (struct rr_gate_caller){
		.source = request->source, .who = &request->caller, .version = RR_RIGHT_V3
	};
}

/* Asks the gate, which decides on access to exports, whether the caller may use the exports of both handles.
 * The second handle is asked about before the first: each question sets work->identity, and the procedure is
 * to run with the identity that the first handle's export gives. */
static enum rr_gate_answer
proc_ask(struct rr_nfs_work *work)
{
	const struct rr_gate_caller caller = rr_nfs_caller(work->request);
	const struct rr_nfs_handles *handles = &work->handles;
	struct rr_gate *gate = work->server->gate;
	enum rr_gate_answer answer = RR_GATE_OPEN;

	if (handles->second)
		answer = rr_gate_ask_handle(gate, &caller, handles->second->data, &work->identity);
	if (answer != RR_GATE_OPEN || !handles->first)
		return answer;
	return rr_gate_ask_handle(gate, &caller, handles->first->data, &work->identity);
}

/* Begins the procedure of a caller whose groups are known, if the gate lets the caller in. */
static enum rpcrdma_handled
proc_enter(struct rr_nfs_work *work)
{
	enum rr_gate_answer answer = proc_ask(work);
	enum rpcrdma_handled handled;

	/* RFC 5531, 9, on AUTH_TOOWEAK: "rejected for security reasons" */
	if (answer == RR_GATE_FLAVOR)
		return RPCRDMA_HANDLE_TOO_WEAK;
	if (answer != RR_GATE_OPEN)
		return work->procedure->end(work, answer == RR_GATE_LATER ? RR_VFS_BUSY : RR_VFS_ACCESS);
	handled = proc_begin(work);
	/* A procedure that waits for memory is run again, and counts then. */
	if (handled != RPCRDMA_HANDLE_LATER)
		rr_gate_count(work->server->gate, &work->identity, (struct rr_gate_count){ .calls = 1 });
	return handled;
}

/* Looks up the groups of the caller, if the server is to do that, and begins the procedure. */
static enum rpcrdma_handled
proc_start(struct rr_nfs_work *work)
{
	switch (rr_idmap_groups(work->server->gate->idmap, work->request, &work->groups)) {
	case RR_IDMAP_WAIT: return RPCRDMA_HANDLE_KEPT;
	case RR_IDMAP_BUSY: return work->procedure->end(work, RR_VFS_BUSY);
	default: return proc_enter(work);
	}
}

/* Called when the groups of the caller are known, or will not be soon. */
static void
proc_grouped(struct rr_idmap_waiter *waiter)
{
	struct rr_nfs_work *work = rr_container(waiter, struct rr_nfs_work, groups);

	proc_go_on(work, proc_start(work));
}

struct rr_nfs_work *
rr_nfs_work(struct rr_nfs_server *server, const struct rr_nfs_procedure *procedure,
	struct rpcrdma_request *request, const void *args, void *result)
{
	struct rr_nfs_work *work = rr_nfs_alloc(request, offsetof(struct rr_nfs_work, op) + procedure->size);

	if (!work)
		return NULL;
	work->server = server;
	work->request = request;
	work->procedure = procedure;
	work->args = args;
	work->result = result;
	work->waiter.wake = proc_wake;
	rr_list_init(&work->waiter.link);
	work->groups.wake = proc_grouped;
	rr_list_init(&work->groups.link);
	work->op.call.caller = &work->identity.caller;
	work->op.call.done = rr_nfs_done;
	work->op.call.host = request->party ? rr_party_host(request->party) : 0;
	work->op.call.owner = request->party ? request->party->number : 0;
	return work;
}

enum rpcrdma_handled
rr_nfs_run(struct rr_nfs_work *work, const struct rr_nfs_handles *handles)
{
	enum rpcrdma_handled handled;

	if (!work)
		return RPCRDMA_HANDLE_SYSTEM_ERR;
	work->handles = *handles;
	handled = proc_start(work);
	if (handled == RPCRDMA_HANDLE_KEPT) {
		work->request->above = work;
		work->request->lost = proc_lost;
	}
	return handled;
}
