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
};

/* Returns the minor version of that number; NULL if it is not served. */
const struct rr_nfs4_minor *rr_nfs4_minor(uint32_t number);

/* Tells whether the minor version defines an operation of that number. */
static inline bool
rr_nfs4_minor_has(const struct rr_nfs4_minor *minor, uint32_t operation)
{
	return operation >= minor->first && operation <= minor->last;
}

#endif
