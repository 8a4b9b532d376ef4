/* SPDX-License-Identifier: BSD-3-Clause */
/* The server of a thread: how it begins and ends, and what it does beside calls. */
#include <string.h>

#include <rpcrdma/error.h>

#include "server/nlm/back.h"
#include "server/nlm/old.h"
#include "server/nlm/proc.h"
#include "ulb/nsm1.h"

/* Local programs are asked about again after SERVER_AGAIN. While nothing waits for time to pass, the server
 * looks around every SERVER_IDLE. */
#define SERVER_AGAIN (1 * RR_SECOND)
#define SERVER_IDLE  (5 * RR_SECOND)

/* Ends the grace period when its time is over: who has not reclaimed by then has lost it. */
static void
server_end_grace(struct rr_nlm_server *server)
{
	struct rr_nlm_tables *tables = rr_nlm_enter(server);

	if (tables->locks->graces & RR_LOCKS_GRACE_NLM &&
		rr_now(server->env) >= server->shared->grace_until) {
		tables->locks->graces &= ~(uint32_t)RR_LOCKS_GRACE_NLM;
		rr_list_for_each (link, &tables->all)
			rr_container(link, struct rr_nlm_host, of_all)->may_reclaim = false;
	}
	rr_nlm_leave(server);
}

/* Arms the timer for what comes with time. */
static void
server_arm(struct rr_nlm_server *server)
{
	struct rr_nlm_tables *tables = rr_nlm_enter(server);
	bool soon = !rr_list_empty(&server->waker.later) || !rr_list_empty(&server->shared->notices) ||
		    tables->locks->graces & RR_LOCKS_GRACE_NLM;

	rr_nlm_leave(server);
	rr_loop_arm(server->loop, &server->tick, soon ? SERVER_AGAIN : SERVER_IDLE);
}

static void
server_tick(struct rr_timer *timer)
{
	struct rr_nlm_server *server = rr_container(timer, struct rr_nlm_server, tick);

	server_end_grace(server);
	rr_nlm_enter(server);
	rr_nlm_waits_again(&server->waker, rr_now(server->env), SERVER_AGAIN);
	rr_nlm_leave(server);
	rr_nlm_notices_go(server);
	rr_nlm_records_tidy(server);
	rr_nlm_backs_tidy(server);
	server_arm(server);
}

/* Runs in the thread of the server after wake(). */
static void
server_woken(void *ctx)
{
	struct rr_nlm_server *server = ctx;
	bool more;

	if (server->ends)
		return;
	rr_nlm_grants_go(server);
	rr_nlm_enter(server);
	more = !rr_list_empty(&server->waker.ready);
	rr_nlm_leave(server);
	if (more)
		server->waker.wake(&server->waker);
	server_arm(server);
}

static void
server_wake(struct rr_nlm_waker *waker)
{
	struct rr_nlm_server *server = rr_container(waker, struct rr_nlm_server, waker);

	if (!server->ends)
		rpcrdma_engine_post(server->engine, &server->post);
}

/* ---- The life of a server ---- */

int
rr_nlm_server_new(struct rpcrdma_engine *engine, struct rr_gate *gate, struct rr_nlm_shared *shared,
	struct rr_nlm_server **result, struct rr_text *text)
{
	static const uint32_t versions[] = { 1, 3, NLM4_VERS };
	const struct rr_crew_config crew = { .max = 1 };
	struct rr_nlm_server *server = rr_alloc(engine->env, sizeof(*server));

	if (!server)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for locks of version 3");
	server->env = engine->env;
	server->engine = engine;
	server->loop = engine->loop;
	server->vfs = gate->vfs;
	server->gate = gate;
	server->shared = shared;
	for (int i = 0; i < 3; i++)
		server->versions[i] = (struct rr_nlm_version){ server, versions[i] };
	rr_nlm_waker_init(&server->waker, server_wake);
	server->post = (struct rpcrdma_post){ .run = server_woken, .ctx = server };
	rr_list_init(&server->ops);
	rr_list_init(&server->grants);
	rr_list_init(&server->answered);
	rr_list_init(&server->backs);
	rr_list_init(&server->told);
	rr_nlm_house_init(server);
	rr_timer_init(&server->tick, server_tick);
	if (shared->keep && rr_crew_new(server->env, server->loop, &crew, &server->recorder) < 0) {
		rr_free(server->env, server);
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "no thread for the names of hosts");
	}
	rr_nlm_enter(server);
	shared->servers++;
	rr_nlm_leave(server);
	rr_loop_arm(server->loop, &server->tick, 0);
	*result = server;
	return 0;
}

/* Ends the operations that wait for a timer: nothing else would. */
static void
server_end_ops(struct rr_nlm_server *server)
{
	rr_list_for_each (link, &server->ops) {
		struct rr_nlm_op *op = rr_container(link, struct rr_nlm_op, link);

		if (rr_timer_armed(&op->timer))
			rr_nlm_op_end(op, NLM4_DENIED_NOLOCKS);
	}
}

void
rr_nlm_server_end(struct rr_nlm_server *server)
{
	struct rr_nlm_tables *tables;

	if (!server)
		return;
	tables = rr_nlm_enter(server);
	server->ends = true;
	pthread_mutex_unlock(&tables->locks->mutex);
	/* Nobody wakes this server any more: the last post that may be there runs now. */
	rr_posts_run(&server->engine->posts);
	rr_loop_disarm(server->loop, &server->house);
	rr_loop_disarm(server->loop, &server->tick);
	rr_nlm_notices_end(server);
	rr_nlm_grants_end(server);
	rr_nlm_enter(server);
	rr_nlm_waker_end(&server->waker);
	rr_nlm_leave(server);
	server_end_ops(server);
	rr_crew_free(server->recorder);
	server->recorder = NULL;
	rr_nlm_backs_end(server);
	rr_nlm_enter(server);
	if (--server->shared->servers == 0)
		rr_list_for_each (link, &tables->all)
			rr_nlm_host_end(rr_container(link, struct rr_nlm_host, of_all));
	while (server->shared->servers == 0 && rr_nlm_sweep(tables, UINT32_MAX) < UINT32_MAX)
		continue;
	rr_nlm_leave(server);
}

void
rr_nlm_server_free(struct rr_nlm_server *server)
{
	if (server)
		rr_free(server->env, server);
}

/* RFC 8267, 5.1: "a Legacy NFS server MUST provide support for these protocols via TCP": NLM and NSM are
 * services like NFS, on every transport. */
void
rr_nlm_server_services(struct rr_nlm_server *server, struct rr_service services[RR_NLM_SERVICES])
{
	for (int i = 0; i < 3; i++) {
		struct rr_nlm_version *version = &server->versions[i];

		services[i] = (struct rr_service){ rr_nlm_program(version->vers), rr_nlm_handlers, version,
			rr_nlm_once };
	}
	services[3] =
		(struct rr_service){ &nsm1_SM_VERS_program, rr_nlm_nsm_handlers, server, rr_nlm_nsm_once };
}
