/* SPDX-License-Identifier: BSD-3-Clause */
#include "nfs4/state.h"

#include <string.h>

#include <rpcrdma/error.h>

const struct rr_nfs4_tables_config rr_nfs4_tables_config_default = {
	.lease = 90 * RR_SECOND,
	.clients = 4096,
	.sessions = 8192,
	.states = 262144,
	.ranges = 262144,
	.replies = 256 * 1024 * 1024,
};

/* The order of the octets of a stateid's "other": the number of the state, and this start of the server. */
struct state_other {
	uint64_t number;
	uint32_t start;
} __attribute__((packed));

_Static_assert(sizeof(struct state_other) == NFS4_OTHER_SIZE, "all of other");

static void
tables_client_ended(void *ctx, struct rr_nfs4_client *client)
{
	struct rr_nfs4_tables *tables = ctx;

	while (!rr_list_empty(&client->states))
		rr_nfs4_state_end(rr_container(client->states.next, struct rr_nfs4_state, of_client));
	while (!rr_list_empty(&client->sessions))
		rr_nfs4_session_end(rr_container(client->sessions.next, struct rr_nfs4_session, of_client));
	if (client->record)
		rr_nfs4_record_leave(&tables->records, client->record);
	client->record = NULL;
}

/* A client without a lease may lose what it has: it must not reclaim that after a restart. So its record goes
 * first. */
static void
tables_client_lapsed(void *ctx, struct rr_nfs4_client *client)
{
	struct rr_nfs4_tables *tables = ctx;

	if (client->record)
		rr_nfs4_record_want(&tables->records, client->record, false);
	if (!client->record || client->record->phase == RR_NFS4_RECORD_ABSENT)
		rr_nfs4_client_unrecorded(client);
}

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

	rr_nfs4_record_done(&tables->records, record, done);
	if (client && record->phase == RR_NFS4_RECORD_ABSENT)
		rr_nfs4_client_unrecorded(client);
}

void
rr_nfs4_look(struct rr_nfs4_tables *tables, uint64_t now)
{
	rr_nfs4_clients_expire(&tables->clients, now);
	if (rr_nfs4_grace_look(&tables->grace, rr_nfs4_records_missing(&tables->records) > 0, now))
		rr_nfs4_records_forget(&tables->records, NULL);
	if (tables->grace.ends && !rr_nfs4_records_removing(&tables->records))
		rr_nfs4_grace_end(&tables->grace);
}

int
rr_nfs4_tables_init(
	struct rr_nfs4_tables *tables, const struct rr_env *env, const struct rr_nfs4_tables_config *config)
{
	int error;

	memset(tables, 0, sizeof(*tables));
	tables->env = env;
	tables->start = rr_random_u32(env);
	tables->max = config->states;
	tables->ranges_max = config->ranges;
	rr_list_init(&tables->unused);
	error = rr_nfs4_clients_init(&tables->clients, env, config->lease, config->clients);
	if (error == 0)
		error = rr_nfs4_sessions_init(&tables->sessions, env, config->sessions, config->replies);
	if (error == 0)
		error = rr_map_init(&tables->files, env, 1024);
	if (error == 0)
		error = rr_map_init(&tables->states, env, 1024);
	if (error == 0)
		error = rr_map_init(&tables->owners, env, 1024);
	rr_nfs4_records_init(&tables->records, env, 2 * config->clients);
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
	tables->records.ends = true;
	rr_list_for_each (link, &tables->clients.leases)
		rr_nfs4_client_end(rr_container(link, struct rr_nfs4_client, by_lease));
}

void
rr_nfs4_tables_free(struct rr_nfs4_tables *tables)
{
	rr_nfs4_clients_free(&tables->clients); /* which ends what is in the others */
	rr_nfs4_records_free(&tables->records);
	rr_nfs4_sessions_free(&tables->sessions);
	rr_map_free(&tables->owners, tables->env);
	rr_map_free(&tables->states, tables->env);
	rr_map_free(&tables->files, tables->env);
}

void
rr_nfs4_stateid(const struct rr_nfs4_state *state, stateid4 *stateid)
{
	struct state_other other = { state->by_number.key, state->tables->start };

	stateid->seqid = state->seqid;
	memcpy(stateid->other, &other, sizeof(other));
}

void
rr_nfs4_stateid_next(struct rr_nfs4_state *state, stateid4 *stateid)
{
	if (++state->seqid == 0)
		state->seqid = 1;
	rr_nfs4_stateid(state, stateid);
}

static bool
state_is_all(const stateid4 *stateid, uint8_t octet)
{
	for (uint32_t i = 0; i < NFS4_OTHER_SIZE; i++) {
		if (stateid->other[i] != octet)
			return false;
	}
	return true;
}

enum rr_nfs4_special
rr_nfs4_special(const stateid4 *stateid)
{
	if (state_is_all(stateid, 0)) {
		switch (stateid->seqid) {
		case 0: return RR_NFS4_ANONYMOUS;
		case 1: return RR_NFS4_CURRENT;
		case NFS4_UINT32_MAX: return RR_NFS4_INVALID;
		default: return RR_NFS4_UNDEFINED;
		}
	}
	if (state_is_all(stateid, 0xff))
		return stateid->seqid == NFS4_UINT32_MAX ? RR_NFS4_BYPASS : RR_NFS4_UNDEFINED;
	return RR_NFS4_NOT_SPECIAL;
}

static struct rr_nfs4_state *
state_by_number(const struct rr_nfs4_tables *tables, const stateid4 *stateid)
{
	struct rr_map_link *link;
	struct state_other other;

	memcpy(&other, stateid->other, sizeof(other));
	if (rr_nfs4_special(stateid) != RR_NFS4_NOT_SPECIAL || other.start != tables->start)
		return NULL;
	link = rr_map_find(&tables->states, other.number);
	return link ? rr_container(link, struct rr_nfs4_state, by_number) : NULL;
}

/* "If the stateid represents revoked state, then return NFS4ERR_EXPIRED, NFS4ERR_ADMIN_REVOKED, or
 * NFS4ERR_DELEG_REVOKED, as appropriate." */
static nfsstat4
state_revoked_status(const struct rr_nfs4_state *state)
{
	switch (state->revoked) {
	case RR_NFS4_VALID: return NFS4_OK;
	case RR_NFS4_EXPIRED: return NFS4ERR_EXPIRED;
	case RR_NFS4_ADMIN_REVOKED: return NFS4ERR_ADMIN_REVOKED;
	case RR_NFS4_RECALL_REVOKED: return NFS4ERR_DELEG_REVOKED;
	case RR_NFS4_GONE: break;
	}
	return NFS4ERR_BAD_STATEID;
}

/* Zero means the current seqid; they wrap around, so that the difference says which one is later. */
static nfsstat4
state_check_seqid(const struct rr_nfs4_state *state, uint32_t seqid)
{
	int32_t ahead = (int32_t)(seqid - state->seqid);

	if (seqid == 0 || ahead == 0)
		return NFS4_OK;
	return ahead > 0 ? NFS4ERR_BAD_STATEID : NFS4ERR_OLD_STATEID;
}

nfsstat4
rr_nfs4_state_find(const struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const stateid4 *stateid, const struct rr_vfs_id *id, uint32_t kinds, struct rr_nfs4_state **found)
{
	struct rr_nfs4_state *state = state_by_number(tables, stateid);
	nfsstat4 status;

	if (!state)
		return NFS4ERR_BAD_STATEID;
	if (id && state->file && !rr_nfs4_id_same(id, &state->file->id))
		return NFS4ERR_BAD_STATEID;
	if (state->client != client)
		return NFS4ERR_BAD_STATEID;
	status = state_revoked_status(state);
	if (status != NFS4_OK)
		return status;
	if (!(state->kind & kinds))
		return NFS4ERR_BAD_STATEID;
	*found = state;
	return state_check_seqid(state, stateid->seqid);
}

/* RFC 8881, 18.48.3: "There is no check for the type of stateid object", "There is no reference to the
 * current filehandle", "Special stateids are always considered invalid". */
nfsstat4
rr_nfs4_test_stateid(
	const struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client, const stateid4 *stateid)
{
	struct rr_nfs4_state *state;

	return rr_nfs4_state_find(
		tables, client, stateid, NULL, RR_NFS4_OPEN | RR_NFS4_LOCK | RR_NFS4_DELEGATION, &state);
}

/* RFC 8881, 18.38.3: "If there are valid locks (of any kind) associated with the stateid in question, the
 * error NFS4ERR_LOCKS_HELD will be returned". A lock stateid whose ranges are all unlocked has none. */
nfsstat4
rr_nfs4_free_stateid(
	struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client, const stateid4 *stateid)
{
	struct rr_nfs4_state *state = state_by_number(tables, stateid);
	nfsstat4 status;

	if (!state || state->client != client)
		return NFS4ERR_BAD_STATEID;
	status = state_check_seqid(state, stateid->seqid);
	if (status != NFS4_OK)
		return status;
	if (state->revoked == RR_NFS4_VALID && (state->kind != RR_NFS4_LOCK || state->ranges.count > 0))
		return NFS4ERR_LOCKS_HELD;
	rr_nfs4_state_end(state);
	return NFS4_OK;
}

static const uint32_t state_flags[] = {
	[RR_NFS4_EXPIRED] = SEQ4_STATUS_EXPIRED_SOME_STATE_REVOKED,
	[RR_NFS4_ADMIN_REVOKED] = SEQ4_STATUS_ADMIN_STATE_REVOKED,
	[RR_NFS4_RECALL_REVOKED] = SEQ4_STATUS_RECALLABLE_STATE_REVOKED,
};

/* The flag of SEQUENCE is there as long as a state that was revoked so has not been freed. */
static void
state_count_revoked(struct rr_nfs4_client *client, enum rr_nfs4_revoked revoked, int by)
{
	uint32_t *count;

	if (revoked != RR_NFS4_EXPIRED && revoked != RR_NFS4_ADMIN_REVOKED &&
		revoked != RR_NFS4_RECALL_REVOKED)
		return;
	count = &client->revoked[revoked - 1];
	*count += (uint32_t)by;
	if (*count > 0)
		client->status_flags |= state_flags[revoked];
	else
		client->status_flags &= ~state_flags[revoked];
}

/* What the state keeps others from doing ends. */
static void
state_drop_effect(struct rr_nfs4_state *state)
{
	struct rr_nfs4_tables *tables = state->tables;

	while (!rr_list_empty(&state->locks))
		rr_nfs4_state_end(rr_container(state->locks.next, struct rr_nfs4_state, of_open));
	rr_list_remove(&state->of_open);
	rr_list_remove(&state->recall);
	state->parent = NULL;
	tables->ranges -= state->ranges.count;
	rr_nfs4_ranges_free(&state->ranges, tables->env);
	if (state->file)
		rr_nfs4_file_leave(state);
}

void
rr_nfs4_state_revoke(struct rr_nfs4_state *state, enum rr_nfs4_revoked revoked)
{
	if (state->revoked != RR_NFS4_VALID)
		return;
	state->revoked = revoked;
	state_drop_effect(state);
	state_count_revoked(state->client, revoked, 1);
}

void
rr_nfs4_state_end(struct rr_nfs4_state *state)
{
	struct rr_nfs4_client *client = state->client;

	if (state->revoked == RR_NFS4_GONE)
		return;
	state_count_revoked(client, state->revoked, -1);
	state->revoked = RR_NFS4_GONE;
	state_drop_effect(state);
	rr_map_remove(&state->tables->states, &state->by_number);
	rr_list_remove(&state->of_client);
	client->state_count--;
	state->client = NULL;
	state->tables->count--;
	rr_nfs4_state_release(state);
}

struct rr_nfs4_state *
rr_nfs4_state_hold(struct rr_nfs4_state *state)
{
	state->holders++;
	return state;
}

void
rr_nfs4_state_release(struct rr_nfs4_state *state)
{
	struct rr_nfs4_tables *tables = state->tables;

	if (--state->holders > 0)
		return;
	if (state->opened)
		rr_nfs4_opened_release(tables, state->opened);
	rr_free(tables->env, state);
}

bool
rr_nfs4_state_opened(struct rr_nfs4_state *state, struct rr_vfs_open *open)
{
	struct rr_nfs4_tables *tables = state->tables;
	struct rr_nfs4_opened *opened;

	if (state->revoked != RR_NFS4_VALID)
		return false;
	opened = rr_alloc(tables->env, sizeof(*opened));
	if (!opened)
		return false;
	opened->open = open;
	opened->holders = 1;
	rr_list_init(&opened->link);
	if (state->opened)
		rr_nfs4_opened_release(tables, state->opened);
	state->opened = opened;
	return true;
}

struct rr_nfs4_opened *
rr_nfs4_opened_of(const struct rr_nfs4_client *client, const struct rr_vfs_handle *handle)
{
	rr_list_for_each (link, &client->states) {
		struct rr_nfs4_state *state = rr_container(link, struct rr_nfs4_state, of_client);

		if (state->opened && state->handle.length == handle->length &&
			memcmp(state->handle.data, handle->data, handle->length) == 0)
			return state->opened;
	}
	return NULL;
}

struct rr_nfs4_opened *
rr_nfs4_opened_hold(struct rr_nfs4_opened *opened)
{
	opened->holders++;
	return opened;
}

void
rr_nfs4_opened_release(struct rr_nfs4_tables *tables, struct rr_nfs4_opened *opened)
{
	if (--opened->holders == 0)
		rr_list_append(&tables->unused, &opened->link);
}

struct rr_nfs4_opened *
rr_nfs4_opened_unused(struct rr_nfs4_tables *tables)
{
	struct rr_list *link = rr_list_pop(&tables->unused);

	return link ? rr_container(link, struct rr_nfs4_opened, link) : NULL;
}
