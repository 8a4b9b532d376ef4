/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of the byte ranges that a lock-owner has locked in a file. */
#include "nfs4/range.h"

#include <rpcrdma/error.h>

bool
rr_nfs4_span(uint64_t offset, uint64_t length, struct rr_nfs4_span *span)
{
	span->first = offset;
	span->last = UINT64_MAX;
	if (length == 0)
		return false;
	if (length == UINT64_MAX)
		return true;
	/* RFC 8881, 18.10.3: NFS4ERR_INVAL if "the sum of length and offset exceeds NFS4_UINT64_MAX", even if
	 * the last octet of the range would exist. */
	if (length > UINT64_MAX - offset)
		return false;
	span->last = offset + (length - 1);
	return true;
}

uint64_t
rr_nfs4_span_length(struct rr_nfs4_span span)
{
	return span.last == UINT64_MAX ? UINT64_MAX : span.last - span.first + 1;
}

/* Makes a range that is in no list yet. Returns NULL if there is no memory. */
static struct rr_nfs4_range *
range_new(const struct rr_env *env, struct rr_nfs4_span span, bool write)
{
	struct rr_nfs4_range *range = rr_alloc(env, sizeof(*range));

	if (range)
		*range = (struct rr_nfs4_range){ .span = span, .write = write };
	return range;
}

/* Removes the octets of `span` from the list of ranges. If `span` cuts a range in two, the unused structure
 * `spare` becomes the second part, and NULL is returned; else `spare` is returned, as it was not needed. */
static struct rr_nfs4_range *
range_cut(struct rr_nfs4_ranges *ranges, const struct rr_env *env, struct rr_nfs4_span span,
	struct rr_nfs4_range *spare)
{
	struct rr_nfs4_range **link = &ranges->first, *range;

	while ((range = *link) && range->span.first <= span.last) {
		struct rr_nfs4_span old = range->span;

		if (old.last < span.first) {
			link = &range->next;
		} else if (old.first < span.first && old.last > span.last) {
			*spare = (struct rr_nfs4_range){ range->next, { span.last + 1, old.last },
				range->write };
			range->span.last = span.first - 1;
			range->next = spare;
			ranges->count++;
			return NULL;
		} else if (old.first < span.first) {
			range->span.last = span.first - 1;
			link = &range->next;
		} else if (old.last > span.last) {
			range->span.first = span.last + 1;
			break;
		} else {
			*link = range->next;
			ranges->count--;
			rr_free(env, range);
		}
	}
	return spare;
}

/* Merges `range` with the range behind it, if both are of the same type and touch. Returns whether they were
 * merged. */
static bool
range_merge(struct rr_nfs4_ranges *ranges, const struct rr_env *env, struct rr_nfs4_range *range)
{
	struct rr_nfs4_range *next = range->next;

	if (!next || next->write != range->write || range->span.last == UINT64_MAX ||
		range->span.last + 1 != next->span.first)
		return false;
	range->span.last = next->span.last;
	range->next = next->next;
	ranges->count--;
	rr_free(env, next);
	return true;
}

/* Inserts the range at its place in the list, and merges it with its neighbours if they are of the same type
 * and touch it. */
static void
range_insert(struct rr_nfs4_ranges *ranges, const struct rr_env *env, struct rr_nfs4_range *range)
{
	struct rr_nfs4_range **link = &ranges->first, *before = NULL;

	while (*link && (*link)->span.first < range->span.first) {
		before = *link;
		link = &before->next;
	}
	range->next = *link;
	*link = range;
	ranges->count++;
	range_merge(ranges, env, range);
	if (before)
		range_merge(ranges, env, before);
}

bool
rr_nfs4_range_is_cut(const struct rr_nfs4_ranges *ranges, struct rr_nfs4_span span)
{
	for (const struct rr_nfs4_range *range = ranges->first; range; range = range->next) {
		if (range->span.first < span.first && range->span.last > span.last)
			return true;
	}
	return false;
}

int
rr_nfs4_range_lock(
	struct rr_nfs4_ranges *ranges, const struct rr_env *env, struct rr_nfs4_span span, bool write)
{
	/* spare: memory for range_cut(), taken before anything changes. */
	struct rr_nfs4_range *made = range_new(env, span, write), *spare = range_new(env, span, write);

	if (!made || !spare) {
		rr_free(env, made);
		rr_free(env, spare);
		return -RPCRDMA_ERR_NOMEM;
	}
	rr_free(env, range_cut(ranges, env, span, spare));
	range_insert(ranges, env, made);
	return 0;
}

int
rr_nfs4_range_unlock(struct rr_nfs4_ranges *ranges, const struct rr_env *env, struct rr_nfs4_span span)
{
	/* Memory for range_cut(), taken before anything changes. */
	struct rr_nfs4_range *spare = range_new(env, span, false);

	if (!spare)
		return -RPCRDMA_ERR_NOMEM;
	rr_free(env, range_cut(ranges, env, span, spare));
	return 0;
}

const struct rr_nfs4_range *
rr_nfs4_range_conflict(const struct rr_nfs4_ranges *ranges, struct rr_nfs4_span span, bool write)
{
	for (const struct rr_nfs4_range *range = ranges->first; range && range->span.first <= span.last;
		range = range->next) {
		if (range->span.last >= span.first && (write || range->write))
			return range;
	}
	return NULL;
}

void
rr_nfs4_ranges_free(struct rr_nfs4_ranges *ranges, const struct rr_env *env)
{
	while (ranges->first) {
		struct rr_nfs4_range *range = ranges->first;

		ranges->first = range->next;
		rr_free(env, range);
	}
	ranges->count = 0;
}
