/* SPDX-License-Identifier: BSD-3-Clause */
/* The servers of all threads share the tables and the directory of records: this file makes and frees them,
 * and counts what clients hold. */
#include "server/nfs4/tables/shared.h"

#include <rpcrdma/error.h>

/* Adds a record that was read from its file to the records of the last start. ctx: the table of records. */
static int
shared_take(void *ctx, const struct rr_nfs4_recorded *recorded)
{
	return rr_nfs4_records_add(ctx, recorded);
}

/* Opens the directory of records, reads the server's identity and the records that the last start has left,
 * and begins a grace period if the records name clients. From then on records of clients are kept. */
static int
shared_recall(struct rr_nfs4_shared *shared, struct rr_text *text)
{
	struct rr_nfs4_records *records = &shared->tables.records;
	int error = rr_nfs4_record_dir_open(shared->env, shared->config.records, &shared->dir, text);

	if (error == 0)
		error = rr_nfs4_record_dir_identity(shared->dir, shared->identity, text);
	if (error == 0)
		error = rr_nfs4_record_dir_read(shared->dir, shared_take, records, text);
	if (error < 0)
		return error;
	records->kept = true;
	/* RFC 8881, 8.4.2.1: "the server must establish, for this restart event, a grace period at least as
	 * long as the lease period for the previous server instantiation." */
	rr_nfs4_grace_start(&shared->tables, rr_now(shared->env),
		rr_nfs4_records_lease(records, shared->config.tables.lease));
	return 0;
}

int
rr_nfs4_shared_new(const struct rr_env *env, const struct rr_nfs4_shared_config *config,
	struct rr_nfs4_shared **result, struct rr_text *text)
{
	struct rr_nfs4_shared *shared = rr_alloc(env, sizeof(*shared));
	int error;

	if (!shared)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for NFS version 4");
	shared->env = env;
	shared->config = *config;
	error = rr_nfs4_tables_init(&shared->tables, env, &config->tables);
	if (error < 0) {
		rr_free(env, shared);
		return rr_fail(text, error, "no memory for NFS version 4");
	}
	env->random(env->ctx, shared->identity, sizeof(shared->identity));
	error = config->records ? shared_recall(shared, text) : 0;
	if (error < 0) {
		rr_nfs4_shared_free(shared);
		return error;
	}
	*result = shared;
	return 0;
}

void
rr_nfs4_shared_free(struct rr_nfs4_shared *shared)
{
	if (!shared)
		return;
	rr_nfs4_tables_free(&shared->tables);
	rr_nfs4_record_dir_close(shared->dir);
	rr_free(shared->env, shared);
}

void
rr_nfs4_held(struct rr_nfs4_shared *shared, struct rr_nfs4_held *held)
{
	const struct rr_nfs4_tables *tables = &shared->tables;

	pthread_mutex_lock(&shared->tables.locks->mutex);
	*held = (struct rr_nfs4_held){ .clients = tables->clients.count,
		.sessions = tables->sessions.count,
		.opens = tables->opens,
		.locks = tables->ranges,
		.delegations = tables->delegations,
		.grace = tables->grace.active };
	pthread_mutex_unlock(&shared->tables.locks->mutex);
}
