/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS4_GRACE_H
#define RR_NFS4_GRACE_H

#include "nfs4/client.h"

/*
 * The time after a start in which clients reclaim what they held before: RFC 8881, section 8.4.2.1. Pure.
 */
struct rr_nfs4_grace {
	bool active;
	bool ends;      /* nothing is reclaimed any more, but the records of those that did not come are still
			   there */
	uint64_t until; /* when it ends, where clients are missing */
	uint64_t last;  /* and when at the latest, however many reclaims there are */
};

/* expected: the stable records of the last start name a client. Without any, there is no grace. */
void rr_nfs4_grace_begin(struct rr_nfs4_grace *grace, bool expected, uint64_t now, uint64_t lease);
/* expected: one of them has not come yet. True: it begins to end just now; rr_nfs4_grace_end() is due when
 * the records of the clients that did not come have gone. */
bool rr_nfs4_grace_look(struct rr_nfs4_grace *grace, bool expected, uint64_t now);
void rr_nfs4_grace_end(struct rr_nfs4_grace *grace);
/* Something was reclaimed. */
void rr_nfs4_grace_reclaimed(struct rr_nfs4_grace *grace, uint64_t now);

/* Whether the client may reclaim: NFS4ERR_NO_GRACE, NFS4ERR_RECLAIM_BAD. known: the records name it. */
nfsstat4 rr_nfs4_grace_reclaim(
	const struct rr_nfs4_grace *grace, const struct rr_nfs4_client *client, bool known);
/* Whether the client may get something new: NFS4ERR_GRACE. */
nfsstat4 rr_nfs4_grace_grant(const struct rr_nfs4_grace *grace, const struct rr_nfs4_client *client);

/* RECLAIM_COMPLETE: NFS4ERR_COMPLETE_ALREADY. */
nfsstat4 rr_nfs4_reclaim_complete(struct rr_nfs4_client *client);

#endif
