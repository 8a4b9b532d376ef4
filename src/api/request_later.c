/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that public handlers keep: each uses its engine until it is ended. */
#include "api/services.h"

static void
later_lost(struct rr_request *inner)
{
	struct rpcrdma_request *request = inner->above;

	if (request->lost)
		request->lost(request->lost_ctx, request);
}

void
rr_api_request_keep(struct rpcrdma_request *request)
{
	request->kept = true;
	request->inner->above = request;
	request->inner->lost = later_lost;
	rr_engine_use(request->engine);
}

int
rpcrdma_request_on_lost(
	struct rpcrdma_request *request, void (*lost)(void *ctx, struct rpcrdma_request *request), void *ctx)
{
	if (!request || request->ended)
		return -RPCRDMA_ERR_INVAL;
	request->lost = lost;
	request->lost_ctx = ctx;
	return 0;
}

int
rpcrdma_request_end(struct rpcrdma_request *request, enum rpcrdma_handled handled)
{
	struct rpcrdma_engine *engine;
	bool connected;

	if (!request || !request->kept || (unsigned)handled >= RPCRDMA_HANDLE_KEPT ||
		handled == RPCRDMA_HANDLE_LATER)
		return -RPCRDMA_ERR_INVAL;
	engine = request->engine;
	connected = request->inner->exchange->carrier;
	request->kept = false;
	request->ended = true;
	rr_request_end(request->inner, rr_api_handled(handled));
	rr_engine_leave(engine);
	return connected ? 0 : -RPCRDMA_ERR_DISCONNECTED;
}
