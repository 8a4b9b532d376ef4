/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_AVL_H
#define RR_BASE_AVL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * An AVL tree whose links live in the elements, so that adding and removing never allocates. The heights of
 * the two subtrees of a link differ by 1 at most; so a tree of n elements has fewer than 1.45 * log2(n + 2)
 * levels, whatever is added and removed in whatever order. Each function but rr_avl_next() takes steps in
 * proportion to the levels.
 *
 * An element may keep a sum of its subtree: whatever can be computed from the element and from the sums of
 * its two children. The tree has it computed anew where the subtree has changed.
 */
struct rr_avl_link {
	struct rr_avl_link *parent;
	struct rr_avl_link *child[2]; /* [0]: what comes before this element, [1]: what comes after it */
	uint32_t height;              /* levels of the subtree */
};

struct rr_avl {
	struct rr_avl_link *root; /* NULL: the tree is empty */
	/* Whether a comes before b. Two different elements must not come before each other. */
	bool (*before)(struct rr_avl_link *a, struct rr_avl_link *b);
	/* Computes the sum of the link's subtree from the element and its children; NULL: there are no sums.
	 */
	void (*sum)(struct rr_avl_link *link);
	/* Links that were looked at by all functions, and by the caller's own searches, that count here, too:
	 * the bound of steps can be tested. */
	uint64_t steps;
};

static inline void
rr_avl_init(struct rr_avl *tree, bool (*before)(struct rr_avl_link *, struct rr_avl_link *),
	void (*sum)(struct rr_avl_link *))
{
	*tree = (struct rr_avl){ .before = before, .sum = sum };
}

/* Adds link, which must be in no tree, behind its equals. */
void rr_avl_add(struct rr_avl *tree, struct rr_avl_link *link);

/* Takes link out of the tree, which it must be in. */
void rr_avl_remove(struct rr_avl *tree, struct rr_avl_link *link);

/* To be called when an element has changed in a way that matters to the sums, and not to the order. */
void rr_avl_changed(struct rr_avl *tree, struct rr_avl_link *link);

/* Returns the first link of the tree for which is_behind() returns true; NULL if there is none. is_behind()
 * must return true for all links that come after one for which it does. */
struct rr_avl_link *rr_avl_find(struct rr_avl *tree,
	bool (*is_behind)(struct rr_avl_link *link, const void *wanted), const void *wanted);

/* Returns the first link of the tree; NULL if it is empty. */
struct rr_avl_link *rr_avl_first(const struct rr_avl *tree);

/* Return the link after `link`, and the link before it; NULL if there is none. To go through k links in a row
 * takes steps in proportion to k and the levels. */
struct rr_avl_link *rr_avl_next(const struct rr_avl_link *link);
struct rr_avl_link *rr_avl_prev(const struct rr_avl_link *link);

#endif
