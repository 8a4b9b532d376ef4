/* SPDX-License-Identifier: BSD-3-Clause */
/* The AVL tree of avl.h. Each change ends with avl_retrace(), which goes from the lowest link whose subtree
 * has changed up to the root, and on its way balances the tree and computes the sums. */
#include "base/avl.h"

#include <stddef.h>

static uint32_t
avl_height(const struct rr_avl_link *link)
{
	return link ? link->height : 0;
}

/* Computes the height and the sum of a link whose children are right. */
static void
avl_update(struct rr_avl *tree, struct rr_avl_link *link)
{
	uint32_t left = avl_height(link->child[0]), right = avl_height(link->child[1]);

	link->height = 1 + (left > right ? left : right);
	tree->steps++;
	if (tree->sum)
		tree->sum(link);
}

/* Puts `link`, or nothing if it is NULL, in the place of `old` below the parent of `old`. */
static void
avl_replace(struct rr_avl *tree, const struct rr_avl_link *old, struct rr_avl_link *link)
{
	struct rr_avl_link *parent = old->parent;

	if (!parent)
		tree->root = link;
	else
		parent->child[parent->child[1] == old] = link;
	if (link)
		link->parent = parent;
}

/* Makes `child` the child of `link` at that side; NULL: link has no child there. */
static void
avl_hang(struct rr_avl_link *link, int side, struct rr_avl_link *child)
{
	link->child[side] = child;
	if (child)
		child->parent = link;
}

/* Has the child of `link` at that side take the place of `link`, which becomes the child's child at the other
 * side. Returns the link that has risen. */
static struct rr_avl_link *
avl_rotate(struct rr_avl *tree, struct rr_avl_link *link, int side)
{
	struct rr_avl_link *risen = link->child[side];

	avl_replace(tree, link, risen);
	avl_hang(link, side, risen->child[!side]);
	avl_hang(risen, !side, link);
	avl_update(tree, link);
	avl_update(tree, risen);
	return risen;
}

/* Balances the subtree of `link`, whose two subtrees are balanced and differ in height by 2 at most. Returns
 * the root of the subtree. */
static struct rr_avl_link *
avl_balance(struct rr_avl *tree, struct rr_avl_link *link)
{
	uint32_t left = avl_height(link->child[0]), right = avl_height(link->child[1]);
	int side = right > left;
	struct rr_avl_link *high = link->child[side];

	if (left <= right + 1 && right <= left + 1)
		return link;
	if (avl_height(high->child[!side]) > avl_height(high->child[side]))
		avl_rotate(tree, high, !side);
	return avl_rotate(tree, link, side);
}

/* Balances the tree, and computes the heights and sums, from `link` up to the root. */
static void
avl_retrace(struct rr_avl *tree, struct rr_avl_link *link)
{
	while (link) {
		avl_update(tree, link);
		link = avl_balance(tree, link)->parent;
	}
}

/* Returns the last link of the subtree at that side. */
static struct rr_avl_link *
avl_end(struct rr_avl_link *link, int side)
{
	while (link && link->child[side])
		link = link->child[side];
	return link;
}

void
rr_avl_add(struct rr_avl *tree, struct rr_avl_link *link)
{
	struct rr_avl_link **place = &tree->root, *parent = NULL;

	while (*place) {
		parent = *place;
		tree->steps++;
		place = &parent->child[!tree->before(link, parent)];
	}
	*link = (struct rr_avl_link){ .parent = parent };
	*place = link;
	avl_retrace(tree, link);
}

void
rr_avl_remove(struct rr_avl *tree, struct rr_avl_link *link)
{
	struct rr_avl_link *heir, *lowest;

	if (!link->child[0] || !link->child[1]) {
		avl_replace(tree, link, link->child[0] ? link->child[0] : link->child[1]);
		avl_retrace(tree, link->parent);
		return;
	}
	/* The next link, which has no child before it, takes the place of `link`. */
	heir = avl_end(link->child[1], 0);
	lowest = heir;
	if (heir->parent != link) {
		lowest = heir->parent;
		avl_hang(lowest, 0, heir->child[1]);
		avl_hang(heir, 1, link->child[1]);
	}
	avl_hang(heir, 0, link->child[0]);
	avl_replace(tree, link, heir);
	avl_retrace(tree, lowest);
}

void
rr_avl_changed(struct rr_avl *tree, struct rr_avl_link *link)
{
	for (; link; link = link->parent)
		avl_update(tree, link);
}

struct rr_avl_link *
rr_avl_find(struct rr_avl *tree, bool (*is_behind)(struct rr_avl_link *, const void *), const void *wanted)
{
	struct rr_avl_link *link = tree->root, *found = NULL;

	while (link) {
		bool behind = is_behind(link, wanted);

		tree->steps++;
		if (behind)
			found = link;
		link = link->child[!behind];
	}
	return found;
}

struct rr_avl_link *
rr_avl_first(const struct rr_avl *tree)
{
	return avl_end(tree->root, 0);
}

/* Returns the neighbour of `link` at that side. */
static struct rr_avl_link *
avl_neighbour(const struct rr_avl_link *link, int side)
{
	if (link->child[side])
		return avl_end(link->child[side], !side);
	while (link->parent && link->parent->child[side] == link)
		link = link->parent;
	return link->parent;
}

struct rr_avl_link *
rr_avl_next(const struct rr_avl_link *link)
{
	return avl_neighbour(link, 1);
}

struct rr_avl_link *
rr_avl_prev(const struct rr_avl_link *link)
{
	return avl_neighbour(link, 0);
}
