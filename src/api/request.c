/* SPDX-License-Identifier: BSD-3-Clause */
/* What a public handler is called with, and what it answers. */
#include <string.h>

#include "api/services.h"

enum rr_handled
rr_api_handled(enum rpcrdma_handled handled)
{
	static const enum rr_handled answers[] = {
		[RPCRDMA_HANDLED] = RR_HANDLED,
		[RPCRDMA_HANDLE_LATER] = RR_HANDLE_LATER,
		[RPCRDMA_HANDLE_DROP] = RR_HANDLE_DROP,
		[RPCRDMA_HANDLE_SYSTEM_ERR] = RR_HANDLE_SYSTEM_ERR,
		[RPCRDMA_HANDLE_GARBAGE_ARGS] = RR_HANDLE_GARBAGE_ARGS,
		[RPCRDMA_HANDLE_PROC_UNAVAIL] = RR_HANDLE_PROC_UNAVAIL,
		[RPCRDMA_HANDLE_TOO_WEAK] = RR_HANDLE_TOO_WEAK,
		[RPCRDMA_HANDLE_KEPT] = RR_HANDLE_KEPT,
	};

	/* A handler may return anything, whatever its type says. */
	if ((unsigned)handled >= sizeof(answers) / sizeof(answers[0]))
		return RR_HANDLE_SYSTEM_ERR;
	return answers[handled];
}

static void *
request_alloc(struct rr_request *request, size_t size)
{
	struct rpcrdma_arena *arena = &request->arena;
	size_t pad = -(uintptr_t)arena->next % _Alignof(max_align_t);
	size_t left = (size_t)(arena->end - arena->next);
	void *memory = arena->next + pad;

	if (left < pad || left - pad < size)
		return NULL;
	arena->next += pad + size;
	return memset(memory, 0, size);
}

enum rr_handled
rr_api_handle(void *ctx, struct rr_request *inner, const void *args, void *result)
{
	const struct rr_api_service *service = ctx;
	struct rpcrdma_request *request = request_alloc(inner, sizeof(*request)); /* there is room */
	enum rr_handled handled;

	request->inner = inner;
	request->engine = service->engine;
	handled = rr_api_handled(
		service->service.handlers[inner->proc](service->service.ctx, request, args, result));
	if (handled == RR_HANDLE_KEPT)
		rr_api_request_keep(request);
	return handled;
}

uint32_t
rpcrdma_request_procedure(const struct rpcrdma_request *request)
{
	return request->inner->proc;
}

const char *
rpcrdma_request_peer(const struct rpcrdma_request *request)
{
	return request->inner->peer;
}

bool
rpcrdma_request_auth_sys(const struct rpcrdma_request *request, struct rpcrdma_auth_sys *auth_sys)
{
	const struct rr_auth_sys *sys = &request->inner->sys;

	memset(auth_sys, 0, sizeof(*auth_sys));
	if (!request->inner->has_sys)
		return false;
	auth_sys->stamp = sys->stamp;
	auth_sys->uid = sys->uid;
	auth_sys->gid = sys->gid;
	auth_sys->gid_count = sys->gid_count;
	memcpy(auth_sys->gids, sys->gids, sys->gid_count * sizeof(sys->gids[0]));
	if (sys->machine.length > 0)
		memcpy(auth_sys->machine, sys->machine.data, sys->machine.length);
	return true;
}

uint32_t
rpcrdma_request_item_room(const struct rpcrdma_request *request)
{
	return request->inner->item_room;
}

uint32_t
rpcrdma_request_stream_room(const struct rpcrdma_request *request)
{
	return request->inner->stream_room;
}

void *
rpcrdma_request_alloc(struct rpcrdma_request *request, size_t size)
{
	return request_alloc(request->inner, size);
}

void *
rpcrdma_request_payload(struct rpcrdma_request *request, size_t size)
{
	struct rr_pool *pool = request->engine->results;

	rr_pool_put(pool, request->inner->payload);
	request->inner->payload = rr_pool_get(pool, request->inner->party, size);
	return request->inner->payload;
}
