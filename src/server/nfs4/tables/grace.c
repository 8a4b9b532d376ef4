/* SPDX-License-Identifier: BSD-3-Clause */
/* The grace period: when it begins and ends, and what clients may do in it. RFC 8881, section 8.4.2.1. */
#include "server/nfs4/tables/grace.h"

#include "base/checked.h"

/* A reclaim delays the end of the grace period to this time after the reclaim, so that a client that has
 * begun to reclaim can finish. */
#define GRACE_STEP (5 * RR_SECOND)

void
rr_nfs4_grace_begin(struct rr_nfs4_grace *grace, bool expected, uint64_t now, uint64_t lease)
{
	*grace = (struct rr_nfs4_grace){ .active = expected, .until = now + lease, .last = now + 2 * lease };
}

bool
rr_nfs4_grace_look(struct rr_nfs4_grace *grace, bool expected, uint64_t now)
{
	if (!grace->active || grace->ends || (expected && now < grace->until))
		return false;
	grace->ends = true;
	return true;
}

void
rr_nfs4_grace_end(struct rr_nfs4_grace *grace)
{
	grace->active = grace->ends = false;
}

void
rr_nfs4_grace_reclaimed(struct rr_nfs4_grace *grace, uint64_t now)
{
	uint64_t until = now + GRACE_STEP;

	if (until > grace->until)
		grace->until = rr_min(until, grace->last);
}

/*
 * Returns NFS4_OK if the client may reclaim; NFS4ERR_NO_GRACE if the time for that is over or the client has
 * sent RECLAIM_COMPLETE; NFS4ERR_RECLAIM_BAD if `known` is false: no record of the last start names the
 * client. RFC 8881, 18.51.3: "Once the client sends RECLAIM_COMPLETE, the server will not allow the client to
 * do subsequent reclaims ... and, if these are attempted, will return NFS4ERR_NO_GRACE."
 */
nfsstat4
rr_nfs4_grace_reclaim(const struct rr_nfs4_grace *grace, const struct rr_nfs4_client *client, bool known)
{
	if (!grace->active || grace->ends || client->reclaim_complete)
		return NFS4ERR_NO_GRACE;
	return known ? NFS4_OK : NFS4ERR_RECLAIM_BAD;
}

nfsstat4
rr_nfs4_grace_grant(const struct rr_nfs4_grace *grace, const struct rr_nfs4_client *client)
{
	if (grace->active)
		return NFS4ERR_GRACE;
	/* Version 4.0 has no RECLAIM_COMPLETE. */
	if (rr_nfs4_client_is_plain(client) || client->reclaim_complete || client->one_fs_complete)
		return NFS4_OK;
	return NFS4ERR_GRACE;
}

nfsstat4
rr_nfs4_reclaim_complete(struct rr_nfs4_client *client)
{
	if (client->reclaim_complete)
		return NFS4ERR_COMPLETE_ALREADY;
	client->reclaim_complete = true;
	return NFS4_OK;
}
