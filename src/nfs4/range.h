/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS4_RANGE_H
#define RR_NFS4_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"

/*
 * The byte ranges that one owner has locked in one file: RFC 8881, sections 9.2 and 9.3, with the semantics
 * of POSIX: a lock replaces, splits and merges what the same owner has there. Pure.
 */

/* From first to last, both included: no lock has no octet, and the last octet of a file has no end behind it.
 */
struct rr_nfs4_span {
	uint64_t first, last;
};

struct rr_nfs4_range {
	struct rr_nfs4_range *next;
	struct rr_nfs4_span span;
	bool write;
};

/* Ordered by offset; ranges do not overlap, and those of one type do not touch. */
struct rr_nfs4_ranges {
	struct rr_nfs4_range *first;
	uint32_t count;
};

/* RFC 8881, 18.10.3: a length of NFS4_UINT64_MAX locks to the end of the file. False, which is NFS4ERR_INVAL:
 * no octet, or a range that goes beyond the last one. */
bool rr_nfs4_span(uint64_t offset, uint64_t length, struct rr_nfs4_span *span);
/* The length on the wire. */
uint64_t rr_nfs4_span_length(struct rr_nfs4_span span);

/* Whether unlocking span makes two ranges of a single one. */
bool rr_nfs4_range_is_cut(const struct rr_nfs4_ranges *ranges, struct rr_nfs4_span span);

/* Both change nothing where they fail: -RPCRDMA_ERR_NOMEM. */
int rr_nfs4_range_lock(
	struct rr_nfs4_ranges *ranges, const struct rr_env *env, struct rr_nfs4_span span, bool write);
int rr_nfs4_range_unlock(struct rr_nfs4_ranges *ranges, const struct rr_env *env, struct rr_nfs4_span span);

/* The first range that keeps another owner from locking span; NULL where there is none. */
const struct rr_nfs4_range *rr_nfs4_range_conflict(
	const struct rr_nfs4_ranges *ranges, struct rr_nfs4_span span, bool write);

void rr_nfs4_ranges_free(struct rr_nfs4_ranges *ranges, const struct rr_env *env);

#endif
