/* SPDX-License-Identifier: BSD-3-Clause */
/* The trees of the byte ranges that lock-owners have locked in a file. */
#include "server/locks/range.h"

#include <stddef.h>

#include <rpcrdma/error.h>

#include "base/list.h"

bool
rr_span(uint64_t offset, uint64_t length, struct rr_span *span)
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
rr_span_length(struct rr_span span)
{
	return span.last == UINT64_MAX ? UINT64_MAX : span.last - span.first + 1;
}

/* ---- The trees ---- */

static struct rr_range *
range_of_owner(struct rr_avl_link *link)
{
	return link ? rr_container(link, struct rr_range, of_owner) : NULL;
}

static struct rr_range *
range_of_file(struct rr_avl_link *link)
{
	return link ? rr_container(link, struct rr_range, of_file) : NULL;
}

static bool
range_is_before(struct rr_avl_link *a, struct rr_avl_link *b)
{
	return range_of_owner(a)->span.first < range_of_owner(b)->span.first;
}

static bool
range_is_before_in_file(struct rr_avl_link *a, struct rr_avl_link *b)
{
	return range_of_file(a)->span.first < range_of_file(b)->span.first;
}

/* Notes in *reach that `owner` has a range up to `last`; NULL: there is no such range. */
static void
range_reach_add(struct rr_reach *reach, const struct rr_ranges *owner, uint64_t last)
{
	/* Where the owner stands already, or else the place of the owner that reaches less far. */
	int place = reach->most[0].owner == owner ? 0 : 1;

	if (!owner || (reach->most[place].owner && reach->most[place].last >= last))
		return;
	reach->most[place].owner = owner;
	reach->most[place].last = last;
	if (place == 1 && (!reach->most[0].owner || reach->most[0].last < last)) {
		reach->most[1] = reach->most[0];
		reach->most[0].owner = owner;
		reach->most[0].last = last;
	}
}

/* Computes the reach of the subtree of the file's tree. */
static void
range_sum(struct rr_avl_link *link)
{
	struct rr_range *range = range_of_file(link);

	for (int write = 0; write < 2; write++) {
		struct rr_reach *reach = &range->reach[write];

		*reach = (struct rr_reach){ 0 };
		if (!write || range->write)
			range_reach_add(reach, range->owner, range->span.last);
		for (int side = 0; side < 2; side++) {
			const struct rr_range *child = range_of_file(link->child[side]);

			for (int i = 0; child && i < 2; i++)
				range_reach_add(reach, child->reach[write].most[i].owner,
					child->reach[write].most[i].last);
		}
	}
}

void
rr_locked_init(struct rr_locked *locked)
{
	rr_avl_init(&locked->tree, range_is_before_in_file, range_sum);
	locked->count = 0;
}

void
rr_ranges_init(struct rr_ranges *ranges, struct rr_locked *locked)
{
	rr_avl_init(&ranges->tree, range_is_before, NULL);
	ranges->locked = locked;
	ranges->kind = NULL;
	ranges->count = 0;
}

/* Adds a range of the owner to both trees. */
static void
range_add(struct rr_ranges *ranges, struct rr_range *range)
{
	range->owner = ranges;
	rr_avl_add(&ranges->tree, &range->of_owner);
	rr_avl_add(&ranges->locked->tree, &range->of_file);
	ranges->count++;
	ranges->locked->count++;
}

/* Removes a range from both trees, and frees it. */
static void
range_remove(struct rr_range *range, const struct rr_env *env)
{
	struct rr_ranges *ranges = range->owner;

	rr_avl_remove(&ranges->tree, &range->of_owner);
	rr_avl_remove(&ranges->locked->tree, &range->of_file);
	ranges->count--;
	ranges->locked->count--;
	rr_free(env, range);
}

/* Changes the last octet of a range. */
static void
range_end_at(struct rr_range *range, uint64_t last)
{
	range->span.last = last;
	rr_avl_changed(&range->owner->locked->tree, &range->of_file);
}

/* Changes the first octet of a range, and so its place among the ranges of other owners. */
static void
range_begin_at(struct rr_range *range, uint64_t first)
{
	struct rr_avl *tree = &range->owner->locked->tree;

	rr_avl_remove(tree, &range->of_file);
	range->span.first = first;
	rr_avl_add(tree, &range->of_file);
}

/* ---- The ranges of an owner ---- */

/* Tells whether the range has an octet at the wanted offset or behind it. */
static bool
range_goes_to(struct rr_avl_link *link, const void *wanted)
{
	return range_of_owner(link)->span.last >= *(const uint64_t *)wanted;
}

struct rr_range *
rr_range_from(struct rr_ranges *ranges, uint64_t offset)
{
	return range_of_owner(rr_avl_find(&ranges->tree, range_goes_to, &offset));
}

struct rr_range *
rr_range_next(const struct rr_range *range)
{
	return range_of_owner(rr_avl_next(&range->of_owner));
}

/* Makes a range that is in no tree yet. Returns NULL if there is no memory. */
static struct rr_range *
range_new(const struct rr_env *env, struct rr_span span, bool write)
{
	struct rr_range *range = rr_alloc(env, sizeof(*range));

	if (range) {
		range->span = span;
		range->write = write;
	}
	return range;
}

/* Removes the octets of `span` from the ranges. If `span` cuts a range in two, the unused structure `spare`
 * becomes the second part, and NULL is returned; else `spare` is returned, as it was not needed. */
static struct rr_range *
range_cut(struct rr_ranges *ranges, const struct rr_env *env, struct rr_span span, struct rr_range *spare)
{
	struct rr_range *range = rr_range_from(ranges, span.first), *next;

	for (; range && range->span.first <= span.last; range = next) {
		struct rr_span old = range->span;

		next = rr_range_next(range);
		if (old.first < span.first && old.last > span.last) {
			range_end_at(range, span.first - 1);
			spare->span = (struct rr_span){ span.last + 1, old.last };
			spare->write = range->write;
			range_add(ranges, spare);
			return NULL;
		}
		if (old.first < span.first)
			range_end_at(range, span.first - 1);
		else if (old.last > span.last)
			range_begin_at(range, span.last + 1);
		else
			range_remove(range, env);
	}
	return spare;
}

/* Merges `range` with the range behind it, if both are of the same type and touch. */
static void
range_merge(struct rr_range *range, const struct rr_env *env)
{
	struct rr_range *next = rr_range_next(range);
	uint64_t last;

	if (!next || next->write != range->write || range->span.last + 1 != next->span.first)
		return;
	last = next->span.last;
	range_remove(next, env);
	range_end_at(range, last);
}

bool
rr_range_is_cut(struct rr_ranges *ranges, struct rr_span span)
{
	const struct rr_range *range = rr_range_from(ranges, span.first);

	return range && range->span.first < span.first && range->span.last > span.last;
}

int
rr_range_lock(struct rr_ranges *ranges, const struct rr_env *env, struct rr_span span, bool write)
{
	/* spare: memory for range_cut(), taken before anything changes. */
	struct rr_range *made = range_new(env, span, write), *spare = range_new(env, span, write);
	struct rr_range *before;

	if (!made || !spare) {
		rr_free(env, made);
		rr_free(env, spare);
		return -RPCRDMA_ERR_NOMEM;
	}
	rr_free(env, range_cut(ranges, env, span, spare));
	range_add(ranges, made);
	before = range_of_owner(rr_avl_prev(&made->of_owner));
	range_merge(made, env);
	if (before)
		range_merge(before, env);
	return 0;
}

int
rr_range_unlock(struct rr_ranges *ranges, const struct rr_env *env, struct rr_span span)
{
	/* Memory for range_cut(), taken before anything changes. */
	struct rr_range *spare = range_new(env, span, false);

	if (!spare)
		return -RPCRDMA_ERR_NOMEM;
	rr_free(env, range_cut(ranges, env, span, spare));
	return 0;
}

uint32_t
rr_ranges_free(struct rr_ranges *ranges, const struct rr_env *env, uint32_t most)
{
	uint32_t freed = 0;

	for (; freed < most && ranges->tree.root; freed++)
		range_remove(range_of_owner(ranges->tree.root), env);
	return freed;
}

/* ---- The ranges of a file ---- */

/* Tells whether the subtree has a range of another owner, of a type that conflicts with the wanted lock, that
 * goes to the first octet of the wanted lock or beyond it. */
static bool
range_some_go_to(struct rr_avl_link *link, const struct rr_range_wanted *wanted)
{
	const struct rr_reach *reach;
	int place;

	if (!link)
		return false;
	reach = &range_of_file(link)->reach[!wanted->write];
	place = reach->most[0].owner == wanted->own;
	return reach->most[place].owner && reach->most[place].last >= wanted->span.first;
}

/* Tells whether the range conflicts with the wanted lock. */
static bool
range_conflicts(const struct rr_range *range, const struct rr_range_wanted *wanted)
{
	return range->owner != wanted->own && (range->write || wanted->write) &&
	       range->span.first <= wanted->span.last && range->span.last >= wanted->span.first;
}

/*
 * Returns the first range of the subtree that conflicts. It goes down a single path: if some ranges in front
 * of a link go far enough, either the first of the conflicts is among them, or all of these begin behind the
 * wanted lock; then so do the link and what is behind it.
 */
static struct rr_range *
range_search(struct rr_locked *locked, const struct rr_range_wanted *wanted, struct rr_avl_link *link)
{
	while (link) {
		struct rr_range *range = range_of_file(link);

		locked->tree.steps++;
		if (range_some_go_to(link->child[0], wanted))
			link = link->child[0];
		else if (range_conflicts(range, wanted))
			return range;
		else
			link = range_some_go_to(link->child[1], wanted) ? link->child[1] : NULL;
	}
	return NULL;
}

const struct rr_range *
rr_range_conflict(struct rr_locked *locked, const struct rr_range_wanted *wanted)
{
	struct rr_avl_link *root = locked->tree.root;

	return range_some_go_to(root, wanted) ? range_search(locked, wanted, root) : NULL;
}

const struct rr_range *
rr_range_conflict_next(
	struct rr_locked *locked, const struct rr_range_wanted *wanted, const struct rr_range *range)
{
	const struct rr_avl_link *below = &range->of_file;
	struct rr_avl_link *link = below->parent;

	/* The ranges behind `range` are on its right side; then come, for each link above from whose left
	 * side the way comes, this link and the ranges on its right side. */
	if (range_some_go_to(below->child[1], wanted))
		return range_search(locked, wanted, below->child[1]);
	for (; link; below = link, link = link->parent) {
		locked->tree.steps++;
		if (link->child[0] != below)
			continue;
		if (range_conflicts(range_of_file(link), wanted))
			return range_of_file(link);
		if (range_some_go_to(link->child[1], wanted))
			return range_search(locked, wanted, link->child[1]);
	}
	return NULL;
}
