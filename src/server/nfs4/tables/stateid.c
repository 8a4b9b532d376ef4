/* SPDX-License-Identifier: BSD-3-Clause */
/* Stateids: RFC 8881, sections 8.2, 18.38 and 18.48. */
#include "server/nfs4/tables/tables.h"

#include <string.h>

/* The octets of a stateid's "other": the number of the state, which nobody can guess, and the number of this
 * start of the server. */
struct state_other {
	uint64_t number;
	uint32_t start;
} __attribute__((packed));

_Static_assert(sizeof(struct state_other) == NFS4_OTHER_SIZE, "all of other");

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

/* Tells whether all octets of the stateid's field "other" have the value `octet`. */
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

/* Returns the state that the stateid's field "other" names; NULL if there is no such state. */
static struct rr_nfs4_state *
state_by_number(const struct rr_nfs4_tables *tables, const stateid4 *stateid)
{
	struct rr_map_link *link;
	struct state_other other;

	/* The special stateids, all octets 0 or all octets 255, name no state, as no state has such a number.
	 * A stateid of an earlier start of the server names none either. */
	memcpy(&other, stateid->other, sizeof(other));
	if (other.start != tables->start)
		return NULL;
	link = rr_map_find(&tables->states, other.number);
	return link ? rr_container(link, struct rr_nfs4_state, by_number) : NULL;
}

/* Returns the error that a revoked state gets, and NFS4_OK for a valid state. RFC 8881, 8.2.4: "If the
 * stateid represents revoked state, then return NFS4ERR_EXPIRED, NFS4ERR_ADMIN_REVOKED, or
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

/* Returns NFS4_OK if `seqid` is the seqid of the state, or is 0, which means the current seqid. Returns
 * NFS4ERR_OLD_STATEID for an earlier seqid and NFS4ERR_BAD_STATEID for a later one. As seqids wrap around,
 * the sign of the difference says which of two is later. */
static nfsstat4
state_check_seqid(const struct rr_nfs4_state *state, uint32_t seqid)
{
	int32_t ahead = (int32_t)(seqid - state->seqid);

	if (seqid == 0 || ahead == 0)
		return NFS4_OK;
	return ahead > 0 ? NFS4ERR_BAD_STATEID : NFS4ERR_OLD_STATEID;
}

/* Tells whether the state belongs to a client or to an open that has ended, so that it ends soon. */
static bool
state_is_ending(const struct rr_nfs4_state *state)
{
	return state->revoked == RR_NFS4_VALID && !rr_nfs4_state_lives(state);
}

nfsstat4
rr_nfs4_state_find(const struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const stateid4 *stateid, const struct rr_vfs_id *id, uint32_t kinds, struct rr_nfs4_state **found)
{
	struct rr_nfs4_state *state = state_by_number(tables, stateid);
	nfsstat4 status;

	if (!state)
		return NFS4ERR_BAD_STATEID;
	/* A revoked state belongs to no file any more. */
	if (id && state->file && !rr_locks_is_same(id, &state->file->id))
		return NFS4ERR_BAD_STATEID;
	if (state->client != client || state_is_ending(state))
		return NFS4ERR_BAD_STATEID;
	status = state_revoked_status(state);
	if (status != NFS4_OK)
		return status;
	if (!(state->kind & kinds))
		return NFS4ERR_BAD_STATEID;
	*found = state;
	return state_check_seqid(state, stateid->seqid);
}

/* Returns NFS4_OK if the stateid names a valid state of the client, of any kind and file; else the error of
 * rr_nfs4_state_find(). RFC 8881, 18.48.3: "There is no check for the type of stateid object", "There is no
 * reference to the current filehandle", "Special stateids are always considered invalid". */
nfsstat4
rr_nfs4_test_stateid(
	const struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client, const stateid4 *stateid)
{
	struct rr_nfs4_state *state;

	return rr_nfs4_state_find(
		tables, client, stateid, NULL, RR_NFS4_OPEN | RR_NFS4_LOCK | RR_NFS4_DELEGATION, &state);
}

/* Ends a revoked state, or a lock state without locked ranges. RFC 8881, 18.38.3, for all other states: "If
 * there are valid locks (of any kind) associated with the stateid in question, the error NFS4ERR_LOCKS_HELD
 * will be returned". */
nfsstat4
rr_nfs4_free_stateid(
	struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client, const stateid4 *stateid)
{
	struct rr_nfs4_state *state = state_by_number(tables, stateid);
	nfsstat4 status;

	if (!state || state->client != client || state_is_ending(state))
		return NFS4ERR_BAD_STATEID;
	status = state_check_seqid(state, stateid->seqid);
	if (status != NFS4_OK)
		return status;
	if (state->revoked == RR_NFS4_VALID && (state->kind != RR_NFS4_LOCK || state->ranges.count > 0))
		return NFS4ERR_LOCKS_HELD;
	/* A LOCK of the lock-owner is under way: Linux sends it at the same time, and it is to find the
	 * state. */
	if (state->revoked == RR_NFS4_VALID && state->holders > 1)
		return NFS4ERR_DELAY;
	rr_nfs4_state_end(state);
	return NFS4_OK;
}
