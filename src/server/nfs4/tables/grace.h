/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_TABLES_GRACE_H
#define RR_SERVER_NFS4_TABLES_GRACE_H

#include "server/nfs4/tables/client.h"

/*
 * The grace period: the time after a start in which clients reclaim what they held before: RFC 8881, section
 * 8.4.2.1. The functions make no system call; times are nanoseconds of rr_now().
 */
struct rr_nfs4_grace {
	bool active;
	bool ends;      /* nothing can be reclaimed any more; records of missing clients are being removed */
	uint64_t until; /* the end, unless all clients come back before */
	uint64_t last;  /* `until` is never delayed beyond this time, however many reclaims there are */
};

/* Begins the grace period, when the server starts. expected: the stable records of the last start name a
 * client; without such a client there is no grace period. The grace period lasts `lease`, and up to
 * twice as long if clients still reclaim. */
void rr_nfs4_grace_begin(struct rr_nfs4_grace *grace, bool expected, uint64_t now, uint64_t lease);
/* Looks whether the time to reclaim is over. expected: a client that the records name has not come back yet.
 * Returns true once, when the time is over. The caller then removes the records of the clients that did not
 * come back, and ends the grace period by rr_nfs4_grace_end() when they have gone. */
bool rr_nfs4_grace_look(struct rr_nfs4_grace *grace, bool expected, uint64_t now);
/* Ends the grace period. */
void rr_nfs4_grace_end(struct rr_nfs4_grace *grace);
/* Delays the end of the grace period, after a client has reclaimed a state. */
void rr_nfs4_grace_reclaimed(struct rr_nfs4_grace *grace, uint64_t now);

/* Returns NFS4_OK if the client may reclaim, else NFS4ERR_NO_GRACE or NFS4ERR_RECLAIM_BAD. known: the records
 * name the client. */
nfsstat4 rr_nfs4_grace_reclaim(
	const struct rr_nfs4_grace *grace, const struct rr_nfs4_client *client, bool known);
/* Returns NFS4_OK if the client may get a new state: the grace period is over, and the client has sent
 * RECLAIM_COMPLETE, for all file systems or for one. Else returns NFS4ERR_GRACE. */
nfsstat4 rr_nfs4_grace_grant(const struct rr_nfs4_grace *grace, const struct rr_nfs4_client *client);

/* Notes that the client sent RECLAIM_COMPLETE. Returns NFS4_OK, or NFS4ERR_COMPLETE_ALREADY if it did so
 * before. */
nfsstat4 rr_nfs4_reclaim_complete(struct rr_nfs4_client *client);

#endif
