/* SPDX-License-Identifier: BSD-3-Clause */
/* The service of a thread: how it begins and ends, and its timer for leases. */
#include "server/nfs4/server.h"

#include <string.h>

#include <rpcrdma/error.h>

#include "base/checked.h"
#include "server/nfs4/compound.h"
#include "ulb/compound.h"

/* The time between two looks for leases that are over. */
#define SERVER_LOOK_EVERY (5 * RR_SECOND)

/* Runs at intervals: handles the leases that are over, the delegations that were not returned, and the end of
 * the grace period. */
static void
server_look(struct rr_timer *timer)
{
	struct rr_nfs4_server *server = rr_container(timer, struct rr_nfs4_server, lease);
	struct rr_nfs4_tables *tables = rr_nfs4_lock_tables(server);

	rr_nfs4_look(tables, rr_now(server->env));
	rr_nfs4_unlock_tables(server);
	rr_loop_arm(server->loop, &server->lease, SERVER_LOOK_EVERY);
}

/* Makes the thread that writes and removes the records of clients. Returns 0, or an error with its text. */
static int
server_recorder(struct rr_nfs4_server *server, struct rr_text *text)
{
	const struct rr_crew_config config = { .max = 1 };
	int error = rr_crew_new(server->env, server->loop, &config, &server->recorder);

	return error ? rr_fail(text, error, "no thread for records: %s", rpcrdma_strerror(error)) : 0;
}

int
rr_nfs4_server_new(const struct rr_env *env, struct rr_loop *loop, const struct rr_nfs4_server_config *config,
	struct rr_nfs4_server **result, struct rr_text *text)
{
	struct rr_nfs4_server *server = rr_alloc(env, sizeof(*server));
	int error;

	if (!server)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for NFS version 4");
	server->env = env;
	server->loop = loop;
	server->pool = config->pool;
	server->vfs = config->gate->vfs;
	server->gate = config->gate;
	server->shared = config->shared;
	server->minors = config->minors ? config->minors : RR_NFS4_MINORS;
	rr_list_init(&server->compounds);
	rr_list_init(&server->spare);
	rr_timer_init(&server->lease, server_look);
	rr_nfs4_house_init(server);
	rr_list_init(&server->outbox);
	server->mail.fd = -1;
	error = rr_pseudo_init(&server->pseudo, env, server->vfs, rr_rules_root(config->gate->rules), text);
	if (error == 0)
		error = rr_nfs4_mail_begin(server, text);
	if (error == 0 && config->shared->dir)
		error = server_recorder(server, text);
	if (error < 0) {
		rr_nfs4_mail_end(server);
		rr_pseudo_free(&server->pseudo);
		rr_free(env, server);
		return error;
	}
	rr_nfs4_probe_init(server);
	rr_loop_arm(loop, &server->lease, SERVER_LOOK_EVERY);
	rr_nfs4_lock_tables(server);
	server->shared->servers++;
	server->shared->tables.sessions.send = rr_nfs4_send;
	rr_nfs4_unlock_tables(server);
	*result = server;
	return 0;
}

void
rr_nfs4_server_end(struct rr_nfs4_server *server)
{
	struct rr_nfs4_tables *tables;

	if (!server)
		return;
	server->ends = true;
	rr_loop_disarm(server->loop, &server->lease);
	rr_nfs4_probe_stop(server);
	rr_nfs4_stop_waiting(server);
	tables = rr_nfs4_lock_tables(server);
	if (--server->shared->servers == 0)
		rr_nfs4_tables_end(tables);
	rr_nfs4_unlock_tables(server);
	rr_nfs4_house_end(server);
	rr_nfs4_mail_end(server);
}

void
rr_nfs4_server_free(struct rr_nfs4_server *server)
{
	struct rr_list *link;

	if (!server)
		return;
	while ((link = rr_list_pop(&server->spare)))
		rr_free(server->env, rr_container(link, struct rr_nfs4_compound, link));
	rr_pseudo_free(&server->pseudo);
	rr_free(server->env, server);
}

const struct rpcrdma_latency *
rr_nfs4_server_latency(const struct rr_nfs4_server *server, uint32_t operation)
{
	_Static_assert((int)RR_NFS4_COUNTS == (int)OP_REMOVEXATTR + 1, "a count for each operation");
	return &server->operations[operation];
}

const char *
rr_nfs4_counted_name(uint32_t operation)
{
	return rr_compound_name(operation == RR_NFS4_UNKNOWN ? OP_ILLEGAL : operation);
}

/* Answers a call of NFSPROC4_NULL, which has neither arguments nor results. */
static enum rpcrdma_handled
server_null(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	(void)ctx, (void)request, (void)args, (void)result;
	return RPCRDMA_HANDLED;
}

static rpcrdma_handler *const server_handlers[] = { server_null, rr_nfs4_compound };

static uint32_t (*const server_result_max[])(
	const struct rpcrdma_request *, const void *) = { NULL, rr_nfs4_reply_max };
static uint32_t (*const server_arena_max[])(
	const struct rpcrdma_request *, const void *) = { NULL, rr_nfs4_arena_max };

static bool (*const server_is_once[])(const void *) = { NULL, rr_nfs4_is_once };

/* COMPOUND is decoded and encoded operation by operation, see args.h and result.h; so the procedure is not
 * that of the schema. */
static const struct rpcrdma_procedure server_procedures[] = {
	{ .name = "NFSPROC4_NULL" },
	{
		.name = "NFSPROC4_COMPOUND",
		.args_size = sizeof(struct rr_nfs4_args),
		.result_size = sizeof(struct rr_nfs4_result),
		.args_min = 12,
		.result_min = 12,
		.args_max = RPCRDMA_XDR_UNBOUNDED,
		.result_max = RPCRDMA_XDR_UNBOUNDED,
		.args_items = RPCRDMA_XDR_UNBOUNDED,
		.result_items = RPCRDMA_XDR_UNBOUNDED,
		.args_item_max = RPCRDMA_XDR_UNBOUNDED,
		.result_item_max = RPCRDMA_XDR_UNBOUNDED,
		.get_args = rr_nfs4_get_args,
		.put_result = rr_nfs4_put_result,
	},
};

static const struct rpcrdma_program server_program = { "NFS_V4", NFS4_PROGRAM, NFS_V4,
	sizeof(server_procedures) / sizeof(*server_procedures), server_procedures, NULL };

void
rr_nfs4_server_service(struct rr_nfs4_server *server, struct rr_service *service)
{
	*service = (struct rr_service){ &server_program, server_handlers, server, NULL, server_result_max,
		server_arena_max, server_is_once };
}
