/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_LOCKS_RANGE_H
#define RR_SERVER_LOCKS_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/avl.h"
#include "base/env.h"

/*
 * The byte ranges that owners have locked in a file, above any one protocol (of NFS version 4: RFC 8881, 9.2
 * and 9.3), with the semantics of POSIX: a lock replaces, splits and merges the ranges of the same owner. The
 * functions make no system call. Each range is in two trees: that of its owner, and that of the file, in
 * which conflicts are found. So all functions take steps in proportion to the logarithm of the number of
 * ranges, and to the number of ranges that they remove.
 */

/* The octets from first to last, both included: so a span has at least an octet, and can reach the last octet
 * that an offset can name. */
struct rr_span {
	uint64_t first, last;
};

struct rr_ranges;
struct rr_locks_kind;

/* The two owners of a set of ranges whose ranges reach farthest, each with the last octet of all its ranges;
 * owner NULL: there are fewer owners. So how far the ranges of all owners but one reach is known without a
 * look at each, whichever the one is. */
struct rr_reach {
	struct {
		const struct rr_ranges *owner;
		uint64_t last;
	} most[2];
};

struct rr_range {
	struct rr_avl_link of_owner, of_file;
	struct rr_ranges *owner;
	struct rr_span span;
	bool write;
	/* Of the subtree in the file's tree: the reach of [0] all ranges and [1] the ranges to write. */
	struct rr_reach reach[2];
};

/* The ranges that all owners have locked in a file, ordered by their first octets; ranges of different owners
 * may overlap. */
struct rr_locked {
	struct rr_avl tree;
	uint32_t count;
};

/* The ranges of an owner, ordered by offset. Ranges do not overlap, and ranges of the same type do not
 * touch. */
struct rr_ranges {
	struct rr_locked *locked;         /* of the file */
	const struct rr_locks_kind *kind; /* of the owner's protocol: table.h */
	struct rr_avl tree;
	uint32_t count;
};

void rr_locked_init(struct rr_locked *locked);
/* locked: the ranges of the file, which must stay as long as there are ranges of the owner. The owner's kind
 * is NULL. */
void rr_ranges_init(struct rr_ranges *ranges, struct rr_locked *locked);
/* Unlocks ranges of the owner, `most` at most, and returns how many. */
uint32_t rr_ranges_free(struct rr_ranges *ranges, const struct rr_env *env, uint32_t most);

/* Makes a span. RFC 8881, 18.10.3: a length of NFS4_UINT64_MAX locks to the end of the file. Returns false,
 * which means NFS4ERR_INVAL, if the length is 0 or the range goes beyond the last octet that an offset can
 * name. */
bool rr_span(uint64_t offset, uint64_t length, struct rr_span *span);
/* Returns the length of the span as the protocol has it: NFS4_UINT64_MAX for a span to the end of the
 * file. */
uint64_t rr_span_length(struct rr_span span);

/* Return the first range of the owner that has an octet at `offset` or behind it, and the range behind
 * `range`; NULL if there is none. */
struct rr_range *rr_range_from(struct rr_ranges *ranges, uint64_t offset);
struct rr_range *rr_range_next(const struct rr_range *range);

/* Tells whether unlocking span would cut a range in two. */
bool rr_range_is_cut(struct rr_ranges *ranges, struct rr_span span);

/* Lock and unlock a span. If a function fails with -RPCRDMA_ERR_NOMEM, it changes nothing. */
int rr_range_lock(struct rr_ranges *ranges, const struct rr_env *env, struct rr_span span, bool write);
int rr_range_unlock(struct rr_ranges *ranges, const struct rr_env *env, struct rr_span span);

/* The lock that an owner wants: octets, whether to write, and the owner's own ranges, which do not conflict;
 * NULL: it has none. */
struct rr_range_wanted {
	struct rr_span span;
	bool write;
	const struct rr_ranges *own;
};

/* Return the first range of another owner that keeps the wanted lock from being set, and the next such range
 * after `range`; NULL if there is none. The number of steps is logarithmic, however many owners have ranges,
 * and whatever part of them is the owner's own, or does not conflict. */
const struct rr_range *rr_range_conflict(struct rr_locked *locked, const struct rr_range_wanted *wanted);
const struct rr_range *rr_range_conflict_next(
	struct rr_locked *locked, const struct rr_range_wanted *wanted, const struct rr_range *range);

#endif
