/* SPDX-License-Identifier: BSD-3-Clause */
/* NSM, the protocol by which hosts say that they have restarted: XNFS, chapter 11. This server monitors hosts
 * for itself alone. */
#include "server/nlm/proc.h"
#include "ulb/nsm1.h"

static int32_t
nsm_state(void *ctx)
{
	const struct rr_nlm_server *server = ctx;

	return server->shared->state;
}

static enum rpcrdma_handled
nsm_do_nothing(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	(void)ctx, (void)request, (void)args, (void)result;
	return RPCRDMA_HANDLED;
}

/* SM_STAT: whether this NSM would monitor the host, and its own state. */
static enum rpcrdma_handled
nsm_stat(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	(void)request, (void)args;
	*(sm_stat_res *)result = (sm_stat_res){ STAT_SUCC, nsm_state(ctx) };
	return RPCRDMA_HANDLED;
}

/* SM_MON: nothing is monitored for others. CERT CA-99.05: a caller who could have any procedure of any
 * program called would reach what only this machine may reach. */
static enum rpcrdma_handled
nsm_mon(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	(void)request, (void)args;
	*(sm_stat_res *)result = (sm_stat_res){ STAT_FAIL, nsm_state(ctx) };
	return RPCRDMA_HANDLED;
}

/* SM_UNMON and SM_UNMON_ALL. */
static enum rpcrdma_handled
nsm_unmon(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	(void)request, (void)args;
	((sm_stat *)result)->state = nsm_state(ctx);
	return RPCRDMA_HANDLED;
}

/* SM_NOTIFY: the host that calls has restarted, and loses what it had before. Nothing happens if the address
 * has no such host, whatever the name says. */
static enum rpcrdma_handled
nsm_notify(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	const stat_chge *change = args;
	struct rr_nlm_server *server = ctx;
	struct rr_nlm_host *host;

	(void)result;
	host = rr_nlm_host_meant(rr_nlm_enter(server), &request->source, change->mon_name);
	if (host)
		rr_nlm_host_restarted(host, change->state);
	rr_nlm_leave(server);
	return RPCRDMA_HANDLED;
}

rpcrdma_handler *const rr_nlm_nsm_handlers[RR_NLM_NSM_PROCEDURES] = {
	[SM_NULL] = nsm_do_nothing,
	[SM_STAT] = nsm_stat,
	[SM_MON] = nsm_mon,
	[SM_UNMON] = nsm_unmon,
	[SM_UNMON_ALL] = nsm_unmon,
	[SM_SIMU_CRASH] = nsm_do_nothing,
	[SM_NOTIFY] = nsm_notify,
};

const bool rr_nlm_nsm_once[RR_NLM_NSM_PROCEDURES] = { [SM_NOTIFY] = true };
