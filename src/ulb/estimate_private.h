/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_ULB_ESTIMATE_PRIVATE_H
#define RR_ULB_ESTIMATE_PRIVATE_H

#include "ulb/estimate.h"
#include "ulb/walk.h"

/* The estimates are in several files, as the headers that they need share names and cannot be included
 * together. */

/* Returns a + b, or UINT32_MAX if the sum is larger. UINT32_MAX means that there is no limit: the sum is
 * UINT32_MAX if a or b is. */
static inline uint32_t
rr_estimate_add(uint32_t a, uint32_t b)
{
	return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

/* Adds to the estimate one result of at most max octets that may travel in a chunk. If there are
 * RR_ESTIMATE_RESULTS results already, only counts the result. */
static inline void
rr_estimate_result(struct rr_reply_size *size, uint32_t max)
{
	if (size->result_count < RR_ESTIMATE_RESULTS)
		size->results[size->result_count] = max;
	size->result_count++;
}

/* Lowers the sizes in *size, which are those that the schema allows for the reply, to what the arguments of
 * an NFSv2 call allow. Sizes of procedures other than READ and READDIR stay as they are. walk stands at the
 * arguments; if it fails, the caller does not use *size. */
void rr_estimate_nfs2(uint32_t proc, struct rr_walk *walk, struct rr_reply_size *size);
/* Lowers the sizes in *size to what the arguments of an NFSv3 call allow, for READ, READDIR and READDIRPLUS;
 * as rr_estimate_nfs2() does for NFSv2. */
void rr_estimate_nfs3(uint32_t proc, struct rr_walk *walk, struct rr_reply_size *size);
/* Lowers the sizes in *size to what the arguments of a call of NFSACL allow, for GETACL; as
 * rr_estimate_nfs2() does for NFSv2. */
void rr_estimate_nfsacl3(uint32_t proc, struct rr_walk *walk, struct rr_reply_size *size);
/* Sets all of *size anew to what the arguments of a COMPOUND allow for its reply. walk stands at the
 * arguments; if it fails, the caller does not use *size. */
void rr_estimate_compound(struct rr_walk *walk, struct rr_reply_size *size);

#endif
