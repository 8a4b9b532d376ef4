/* SPDX-License-Identifier: BSD-3-Clause */
/* The public view of a request: its caller, the room for its answer, memory, and its end. */
#include <string.h>

#include "rpc/server_private.h"

uint32_t
rpcrdma_request_procedure(const struct rpcrdma_request *request)
{
	return request->proc;
}

const char *
rpcrdma_request_peer(const struct rpcrdma_request *request)
{
	return request->peer;
}

bool
rpcrdma_request_auth_sys(const struct rpcrdma_request *request, struct rpcrdma_auth_sys *auth_sys)
{
	const struct rr_auth_sys *sys = &request->sys;

	memset(auth_sys, 0, sizeof(*auth_sys));
	if (request->caller.flavor != RR_AUTH_SYS)
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
	return request->item_room;
}

uint32_t
rpcrdma_request_stream_room(const struct rpcrdma_request *request)
{
	return request->stream_room;
}

void *
rpcrdma_request_alloc(struct rpcrdma_request *request, size_t size)
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

void *
rpcrdma_request_payload(struct rpcrdma_request *request, size_t size)
{
	struct rr_pool *pool = request->server->engine->results;

	rr_pool_put(pool, request->payload);
	request->payload = rr_pool_get(pool, request->party, size);
	return request->payload;
}

int
rpcrdma_request_on_lost(
	struct rpcrdma_request *request, void (*lost)(void *ctx, struct rpcrdma_request *request), void *ctx)
{
	if (!request || request->ended)
		return -RPCRDMA_ERR_INVAL;
	request->lost = lost;
	request->above = ctx;
	/* The connection of a request that is kept may have ended already: lost() then comes from the loop.
	 */
	if (lost && request->kept && !request->exchange->carrier)
		rr_server_connection_lost(request->server);
	return 0;
}

int
rpcrdma_request_end(struct rpcrdma_request *request, enum rpcrdma_handled handled)
{
	bool connected;

	if (!request || !request->kept || (unsigned)handled >= RPCRDMA_HANDLE_KEPT ||
		handled == RPCRDMA_HANDLE_LATER)
		return -RPCRDMA_ERR_INVAL;
	connected = request->exchange->carrier;
	rr_request_end(request, handled);
	return connected ? 0 : -RPCRDMA_ERR_DISCONNECTED;
}
