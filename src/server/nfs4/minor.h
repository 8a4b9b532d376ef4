/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_MINOR_H
#define RR_SERVER_NFS4_MINOR_H

#include "ulb/nfs42.h"

/* A minor version of NFS version 4 that is served. */
struct rr_nfs4_minor {
	uint32_t number;
	nfs_opnum4 first, last;  /* the operations that the version defines: all from the first to the last */
	uint32_t exchange_flags; /* EXCHGID4_FLAG_*: that a client may give EXCHANGE_ID */
	uint32_t access;         /* ACCESS4_*: the rights that ACCESS knows */
	/* Clients have sessions, and each COMPOUND is of one. Without them, version 4.0: clients are known by
	 * client IDs and stateids in the arguments, and owners of opens and locks number their requests. */
	bool sessions;
};

/* The minor versions that a server offers, as bits 1 << number: those with sessions, unless it says which. */
enum {
	RR_NFS4_MINOR_0 = 1,
	RR_NFS4_MINOR_1 = 2,
	RR_NFS4_MINOR_2 = 4,
	RR_NFS4_MINORS = RR_NFS4_MINOR_1 | RR_NFS4_MINOR_2
};

/* Returns the minor version of that number; NULL if there is no code for it. */
const struct rr_nfs4_minor *rr_nfs4_minor(uint32_t number);

/* Tells whether the minor version defines an operation of that number. */
static inline bool
rr_nfs4_minor_has(const struct rr_nfs4_minor *minor, uint32_t operation)
{
	return operation >= minor->first && operation <= minor->last;
}

#endif
