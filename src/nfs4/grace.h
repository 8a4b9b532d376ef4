/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS4_GRACE_H
#define RR_NFS4_GRACE_H

#include "nfs4/client.h"

/*
 * The time after a start in which clients reclaim what they held before: RFC 8881, section 8.4.2.1. Pure.
 */
struct rr_nfs4_grace {
	bool active;
	uint64_t until;    /* when it ends at the latest */
	uint32_t expected; /* clients that may still reclaim something */
};

/* expected: how many clients the stable records of the last start name. Without any, there is no grace. */
void rr_nfs4_grace_begin(struct rr_nfs4_grace *grace, uint32_t expected, uint64_t now, uint64_t lease);
/* Ends it when it is over; true: it ended just now. */
bool rr_nfs4_grace_look(struct rr_nfs4_grace *grace, uint64_t now);

/* Whether the client may reclaim: NFS4ERR_NO_GRACE, NFS4ERR_RECLAIM_BAD. */
nfsstat4 rr_nfs4_grace_reclaim(const struct rr_nfs4_grace *grace, const struct rr_nfs4_client *client);
/* Whether the client may get something new: NFS4ERR_GRACE. */
nfsstat4 rr_nfs4_grace_grant(const struct rr_nfs4_grace *grace, const struct rr_nfs4_client *client);

/* RECLAIM_COMPLETE: NFS4ERR_COMPLETE_ALREADY. */
nfsstat4 rr_nfs4_reclaim_complete(struct rr_nfs4_grace *grace, struct rr_nfs4_client *client);

#endif
