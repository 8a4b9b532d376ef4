/* SPDX-License-Identifier: BSD-3-Clause */
/* The results of asynchronous procedures, which travel as calls of their own. */
#include <string.h>

#include "server/nlm/back.h"
#include "server/nlm/old.h"

/* A result on its way, with copies of all that it points to. */
struct result_call {
	struct rr_nlm_call call;
	union {
		nlm4_testres test;
		nlm4_res res;
	} args;
	uint8_t old[RR_NLM_OLD_ARGS];
	uint8_t cookie[MAXNETOBJ_SZ], owner[MAXNETOBJ_SZ];
};

/* Whether the host got it or not: a host that misses a result asks again. */
static void
result_sent(struct rr_nlm_call *call, int error)
{
	struct result_call *result = rr_container(call, struct result_call, call);

	(void)error;
	rr_free(call->server->env, result);
}

static void
result_keep(netobj *octets, uint8_t memory[MAXNETOBJ_SZ])
{
	if (octets->length > 0)
		memcpy(memory, octets->data, octets->length);
	octets->data = memory;
}

void
rr_nlm_send_result(
	struct rr_nlm_server *server, const struct rr_nlm_way *way, uint32_t proc, const void *args)
{
	struct result_call *result = server->ends ? NULL : rr_alloc(server->env, sizeof(*result));

	if (!result)
		return;
	if (proc == NLMPROC4_TEST_RES) {
		result->args.test = *(const nlm4_testres *)args;
		result_keep(&result->args.test.cookie, result->cookie);
		if (result->args.test.stat.stat == NLM4_DENIED)
			result_keep(&result->args.test.stat.u.holder.oh, result->owner);
	} else {
		result->args.res = *(const nlm4_res *)args;
		result_keep(&result->args.res.cookie, result->cookie);
	}
	result->call.rpc = (struct rr_call){ .proc = proc, .args = &result->args };
	if (way->vers != NLM4_VERS) {
		rr_nlm_narrow_result(proc, &result->args, result->old);
		result->call.rpc.args = result->old;
	}
	result->call.done = result_sent;
	rr_nlm_call_begin(server, &way->source, rr_nlm_program(way->vers), &result->call);
}
