/* SPDX-License-Identifier: BSD-3-Clause */
/* All tables together: how they begin and end, and how changes in one of them act on the others. */
#include "server/nfs4/tables/tables.h"
#include "server/nfs4/tables/deleg.h"
#include "server/nfs4/tables/lock.h"
#include "server/nfs4/tables/owner.h"

#include <string.h>

#include <rpcrdma/error.h>

/* The average number of elements in a bucket of a full table of states. */
enum { TABLES_CHAIN = 4 };

/* Buckets of the table of waits for locks. */
enum { TABLES_WAITS = 1024 };

const struct rr_nfs4_tables_config rr_nfs4_tables_config_default = {
	.lease = 90 * RR_SECOND,
	.clients = 4096,
	.sessions = 8192,
	.states = 262144,
	.ranges = 262144,
	.delegations = 8192,
	.owners = 262144,
	.replies = UINT32_C(256) << 20,
};

/* Ends all that belongs to a client that has ended: its states, sessions and callbacks, and the list entries
 * by which it waits for locks. Its record is to be removed from the disk. Returns false if states are left.
 */
static bool
tables_client_ended(void *ctx, struct rr_nfs4_client *client)
{
	struct rr_nfs4_tables *tables = ctx;

	rr_nfs4_waits_leave(client);

	while (!rr_list_empty(&client->sessions))
		rr_nfs4_session_end(rr_container(client->sessions.next, struct rr_nfs4_session, of_client));
	rr_nfs4_callbacks_end(&tables->sessions, client);
	if (client->record)
		rr_nfs4_record_leave(&tables->records, client->record);
	client->record = NULL;
	return rr_nfs4_ending_client(tables, client);
}

/* Runs when the lease of a client is over: has the record of the client removed from the disk. Only then may
 * other clients get opens and locks that conflict with those of this client, as without a record it cannot
 * reclaim them after a restart. A client without a record on the disk becomes a courtesy client at once. */
static void
tables_client_lapsed(void *ctx, struct rr_nfs4_client *client)
{
	struct rr_nfs4_tables *tables = ctx;

	if (client->record)
		rr_nfs4_record_want(&tables->records, client->record, false);
	if (!client->record || client->record->phase == RR_NFS4_RECORD_ABSENT)
		rr_nfs4_client_unrecorded(client);
}

/* Runs when a client has come back after its lease was over: has its record written to the disk again. */
static void
tables_client_back(void *ctx, struct rr_nfs4_client *client)
{
	struct rr_nfs4_tables *tables = ctx;

	if (client->record)
		rr_nfs4_record_want(&tables->records, client->record, true);
}

void
rr_nfs4_recorded(struct rr_nfs4_tables *tables, struct rr_nfs4_record *record, bool done)
{
	struct rr_nfs4_client *client = record->client;

	/* This frees the record only if it has no client. */
	rr_nfs4_record_done(&tables->records, record, done);
	if (client && record->phase == RR_NFS4_RECORD_ABSENT)
		rr_nfs4_client_unrecorded(client);
}

bool
rr_nfs4_is_left(const struct rr_nfs4_tables *tables)
{
	return !rr_list_empty(&tables->locks->to_look) || !rr_list_empty(&tables->ending) ||
	       !rr_list_empty(&tables->ending_clients) || !rr_list_empty(&tables->sessions.callbacks);
}

bool
rr_nfs4_go_on(struct rr_nfs4_tables *tables, uint32_t units)
{
	rr_nfs4_ending_go(tables, &units);
	units = rr_locks_go(tables->locks, units);
	rr_nfs4_callbacks_look(&tables->sessions, &units);
	return rr_nfs4_is_left(tables);
}

/* Tells whether somebody may still reclaim: a client that the records name, or one of NLM. */
static bool
tables_expects(const struct rr_nfs4_tables *tables)
{
	return rr_nfs4_records_missing(&tables->records) > 0 || tables->locks->graces & RR_LOCKS_GRACE_NLM;
}

void
rr_nfs4_grace_start(struct rr_nfs4_tables *tables, uint64_t now, uint64_t lease)
{
	rr_nfs4_grace_begin(&tables->grace, tables_expects(tables), now, lease);
	if (tables->grace.active)
		tables->locks->graces |= RR_LOCKS_GRACE_NFS4;
}

void
rr_nfs4_look(struct rr_nfs4_tables *tables, uint64_t now)
{
	rr_nfs4_clients_expire(&tables->clients, now);
	rr_nfs4_delegs_look(tables, now);
	rr_nfs4_owners_look(tables, now);
	/* When the time to reclaim is over, the records of the clients that did not come back are removed.
	 * The grace period ends when these records have gone from the disk. */
	if (rr_nfs4_grace_look(&tables->grace, tables_expects(tables), now))
		rr_nfs4_records_forget(&tables->records, NULL);
	if (tables->grace.ends && !rr_nfs4_records_removing(&tables->records)) {
		rr_nfs4_grace_end(&tables->grace);
		tables->locks->graces &= ~(uint32_t)RR_LOCKS_GRACE_NFS4;
	}
	rr_nfs4_callbacks_go(&tables->sessions, now);
}

/* Returns the most clients that there can be. With this number, each client can work even if all others take
 * as much of the quotas as they can. */
static uint32_t
tables_clients_max(const struct rr_nfs4_tables_config *config)
{
	uint32_t clients = config->clients;

	clients = rr_nfs4_quota_clients(RR_NFS4_STATES, config->states, clients);
	clients = rr_nfs4_quota_clients(RR_NFS4_RANGES, config->ranges, clients);
	clients = rr_nfs4_quota_clients(RR_NFS4_DELEGATIONS, config->delegations, clients);
	clients = rr_nfs4_quota_clients(RR_NFS4_OWNERS, config->owners, clients);
	clients = rr_nfs4_quota_clients(RR_NFS4_SESSIONS, config->sessions, clients);
	return rr_nfs4_quota_clients(RR_NFS4_REPLIES, config->replies, clients);
}

int
rr_nfs4_tables_init(
	struct rr_nfs4_tables *tables, const struct rr_env *env, const struct rr_nfs4_tables_config *config)
{
	uint32_t clients = tables_clients_max(config);
	uint32_t buckets = (config->states + config->delegations) / TABLES_CHAIN;
	int error;

	memset(tables, 0, sizeof(*tables));
	if (!config->locks && rr_locks_new(env, &tables->own_locks) < 0)
		return -RPCRDMA_ERR_NOMEM;
	tables->locks = config->locks ? config->locks : tables->own_locks;
	tables->env = env;
	tables->start = rr_random_u32(env);
	env->random(env->ctx, tables->secret, sizeof(tables->secret));
	rr_nfs4_quota_init(&tables->states_quota, RR_NFS4_STATES, config->states, clients);
	rr_nfs4_quota_init(&tables->ranges_quota, RR_NFS4_RANGES, config->ranges, clients);
	rr_nfs4_quota_init(&tables->delegations_quota, RR_NFS4_DELEGATIONS, config->delegations, clients);
	rr_nfs4_quota_init(&tables->owners_quota, RR_NFS4_OWNERS, config->owners, clients);
	rr_list_init(&tables->aging[0]);
	rr_list_init(&tables->aging[1]);
	rr_list_init(&tables->recalls);
	rr_list_init(&tables->ending);
	rr_list_init(&tables->ending_clients);
	rr_list_init(&tables->probes);
	rr_list_init(&tables->unused);
	error = rr_nfs4_clients_init(&tables->clients, env, config->lease, clients);
	if (error == 0)
		error = rr_nfs4_sessions_init(
			&tables->sessions, env, config->sessions, config->replies, clients);
	if (error == 0)
		error = rr_map_init(&tables->files, env, buckets);
	if (error == 0)
		error = rr_map_init(&tables->states, env, buckets);
	if (error == 0)
		error = rr_map_init(&tables->owners, env, buckets);
	if (error == 0)
		error = rr_map_init(&tables->waits, env, TABLES_WAITS);
	if (error == 0)
		error = rr_map_init(&tables->names, env, config->owners / TABLES_CHAIN);
	if (error == 0)
		error = rr_map_init(&tables->closed, env, config->owners / TABLES_CHAIN);
	rr_nfs4_records_init(&tables->records, env, 2 * clients);
	tables->clients.ended = tables_client_ended;
	tables->clients.lapsed = tables_client_lapsed;
	tables->clients.back = tables_client_back;
	tables->clients.ctx = tables;
	if (error < 0)
		rr_nfs4_tables_free(tables);
	return error;
}

void
rr_nfs4_tables_end(struct rr_nfs4_tables *tables)
{
	/* From now on no record is removed from the disk, although its client ends. */
	tables->records.ends = true;
	rr_list_for_each (link, &tables->clients.leases)
		rr_nfs4_client_end(rr_container(link, struct rr_nfs4_client, by_lease));
	while (rr_nfs4_go_on(tables, UINT32_MAX))
		continue;
}

void
rr_nfs4_tables_free(struct rr_nfs4_tables *tables)
{
	rr_nfs4_tables_end(tables);
	rr_nfs4_clients_free(&tables->clients);
	rr_nfs4_records_free(&tables->records);
	rr_nfs4_sessions_free(&tables->sessions);
	rr_map_free(&tables->closed, tables->env);
	rr_map_free(&tables->names, tables->env);
	rr_map_free(&tables->waits, tables->env);
	rr_map_free(&tables->owners, tables->env);
	rr_map_free(&tables->states, tables->env);
	rr_map_free(&tables->files, tables->env);
	rr_locks_free(tables->own_locks);
}
