/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of flavors with contexts that cannot be sent yet: those without a context wait in the list `unready`
 * until the flavor has one made, by calls of this client or of another one; then they are encoded. */
#include "rpc/client_private.h"

/* A call without a context. If it was sent before, its memory has the message of that time, with an XID that
 * it keeps. */
static void
ready_wait(struct rr_call *call)
{
	struct rpcrdma_client *client = call->client;

	rr_list_append(&client->unready, &call->link);
	client->waiter.prog = call->program->prog;
	client->waiter.vers = call->program->vers;
	client->auth->guard->prepare(client->auth, &client->waiter);
}

void
rr_call_not_ready(struct rr_call *call, int step)
{
	if (step == RR_CALL_UNSEALED)
		rr_call_seal(call);
	else if (step == RR_CALL_UNREADY)
		ready_wait(call);
	else
		rr_call_end(call, step);
}

/* Begins a call, or goes on with one that was sent before. */
static void
ready_go_on(struct rr_call *call)
{
	int step;

	if (!call->buffer) {
		rr_call_begin(call);
		return;
	}
	step = rr_call_encode_again(call);
	if (step == 0)
		rr_call_submit(call);
	else
		rr_call_not_ready(call, step);
}

/* Called by the flavor: there is a context, or none can be made. */
static void
ready_come(struct rr_auth_waiter *waiter, int error, const char *text)
{
	struct rpcrdma_client *client = waiter->client;
	struct rr_list calls, *link;

	/* Calls that have to wait once more come back into the client's list. */
	rr_list_init(&calls);
	while ((link = rr_list_pop(&client->unready)))
		rr_list_append(&calls, link);
	while ((link = rr_list_pop(&calls))) {
		struct rr_call *call = rr_container(link, struct rr_call, link);

		if (error == 0) {
			ready_go_on(call);
			continue;
		}
		rr_fail(&client->text, error, "%s: %s: %s", client->peer, rr_call_name(call), text);
		rr_call_end(call, error);
	}
}

void
rr_client_ready_init(struct rpcrdma_client *client)
{
	rr_list_init(&client->unready);
	rr_list_init(&client->working);
	client->waiter.client = client;
	client->waiter.ready = ready_come;
	rr_list_init(&client->waiter.link);
}

void
rr_client_encode_again(struct rpcrdma_client *client)
{
	rr_list_for_each (link, &client->waiting) {
		struct rr_call *call = rr_container(link, struct rr_call, link);
		int step = call->auth_call.again ? rr_call_encode_again(call) : 0;

		call->auth_call.again = false;
		if (step == 0)
			continue;
		rr_list_remove(&call->link);
		rr_call_not_ready(call, step);
	}
}
