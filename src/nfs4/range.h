/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS4_RANGE_H
#define RR_NFS4_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"

/*
 * The byte ranges that a lock-owner has locked in a file: RFC 8881, sections 9.2 and 9.3, with the semantics
 * of POSIX: a lock replaces, splits and merges the ranges of the same owner. The functions make no system
 * call.
 */

/* The octets from first to last, both included: so a span has at least an octet, and can reach the last octet
 * that an offset can name. */
struct rr_nfs4_span {
	uint64_t first, last;
};

struct rr_nfs4_range {
	struct rr_nfs4_range *next;
	struct rr_nfs4_span span;
	bool write;
};

/* The ranges of an owner, ordered by offset. Ranges do not overlap, and ranges of the same type do not
 * touch. */
struct rr_nfs4_ranges {
	struct rr_nfs4_range *first;
	uint32_t count;
};

/* Makes a span. RFC 8881, 18.10.3: a length of NFS4_UINT64_MAX locks to the end of the file. Returns false,
 * which means NFS4ERR_INVAL, if the length is 0 or the range goes beyond the last octet that an offset can
 * name. */
bool rr_nfs4_span(uint64_t offset, uint64_t length, struct rr_nfs4_span *span);
/* Returns the length of the span as the protocol has it: NFS4_UINT64_MAX for a span to the end of the
 * file. */
uint64_t rr_nfs4_span_length(struct rr_nfs4_span span);

/* Tells whether unlocking span would cut a range in two. */
bool rr_nfs4_range_is_cut(const struct rr_nfs4_ranges *ranges, struct rr_nfs4_span span);

/* Lock and unlock a span. If a function fails with -RPCRDMA_ERR_NOMEM, it changes nothing. */
int rr_nfs4_range_lock(
	struct rr_nfs4_ranges *ranges, const struct rr_env *env, struct rr_nfs4_span span, bool write);
int rr_nfs4_range_unlock(struct rr_nfs4_ranges *ranges, const struct rr_env *env, struct rr_nfs4_span span);

/* Returns the first range that keeps another owner from locking span; NULL if there is no such range. write:
 * the other owner wants a write lock. */
const struct rr_nfs4_range *rr_nfs4_range_conflict(
	const struct rr_nfs4_ranges *ranges, struct rr_nfs4_span span, bool write);

void rr_nfs4_ranges_free(struct rr_nfs4_ranges *ranges, const struct rr_env *env);

#endif
