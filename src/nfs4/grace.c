/* SPDX-License-Identifier: BSD-3-Clause */
#include "nfs4/grace.h"

void
rr_nfs4_grace_begin(struct rr_nfs4_grace *grace, uint32_t expected, uint64_t now, uint64_t lease)
{
	*grace = (struct rr_nfs4_grace){ expected > 0, now + lease, expected };
}

bool
rr_nfs4_grace_look(struct rr_nfs4_grace *grace, uint64_t now)
{
	if (!grace->active || (grace->expected > 0 && now < grace->until))
		return false;
	grace->active = false;
	return true;
}

/* RFC 8881, 18.51.3: "Once the client sends RECLAIM_COMPLETE, the server will not allow the client to do
 * subsequent reclaims ... and, if these are attempted, will return NFS4ERR_NO_GRACE." */
nfsstat4
rr_nfs4_grace_reclaim(const struct rr_nfs4_grace *grace, const struct rr_nfs4_client *client)
{
	if (!grace->active || client->reclaim_complete)
		return NFS4ERR_NO_GRACE;
	return client->may_reclaim ? NFS4_OK : NFS4ERR_RECLAIM_BAD;
}

nfsstat4
rr_nfs4_grace_grant(const struct rr_nfs4_grace *grace, const struct rr_nfs4_client *client)
{
	if (grace->active || (!client->reclaim_complete && !client->one_fs_complete))
		return NFS4ERR_GRACE;
	return NFS4_OK;
}

nfsstat4
rr_nfs4_reclaim_complete(struct rr_nfs4_grace *grace, struct rr_nfs4_client *client)
{
	if (client->reclaim_complete)
		return NFS4ERR_COMPLETE_ALREADY;
	client->reclaim_complete = true;
	if (client->may_reclaim && grace->active && grace->expected > 0)
		grace->expected--;
	return NFS4_OK;
}
