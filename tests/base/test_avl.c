/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include <stdlib.h>

#include "base/avl.h"
#include "base/list.h"

/* LEVELS: the most that COUNT elements can have: 1.45 * log2(COUNT + 2). */
enum { COUNT = 40000, LEVELS = 22, FEW = 200 };

static struct element {
	struct rr_avl_link link;
	uint32_t key;
	uint64_t total; /* the sum of the keys of the subtree */
	bool inside;
} elements[COUNT];

static struct element *
element_of(struct rr_avl_link *link)
{
	return rr_container(link, struct element, link);
}

static bool
before(struct rr_avl_link *a, struct rr_avl_link *b)
{
	return element_of(a)->key < element_of(b)->key;
}

static void
total(struct rr_avl_link *link)
{
	struct element *element = element_of(link);

	element->total = element->key;
	for (int side = 0; side < 2; side++) {
		if (link->child[side])
			element->total += element_of(link->child[side])->total;
	}
}

static bool
is_at_least(struct rr_avl_link *link, const void *wanted)
{
	return element_of(link)->key >= *(const uint32_t *)wanted;
}

/* Checks links, balance and sums of the subtree, and returns its height. */
static uint32_t
check_subtree(struct rr_avl_link *link, struct rr_avl_link *parent)
{
	uint32_t heights[2], high;
	uint64_t sum;

	if (!link)
		return 0;
	assert_ptr_equal(link->parent, parent);
	assert_true(element_of(link)->inside);
	sum = element_of(link)->key;
	for (int side = 0; side < 2; side++) {
		heights[side] = check_subtree(link->child[side], link);
		sum += link->child[side] ? element_of(link->child[side])->total : 0;
	}
	high = heights[0] > heights[1] ? heights[0] : heights[1];
	assert_true(heights[0] + heights[1] + 1 >= 2 * high);
	assert_int_equal(link->height, high + 1);
	assert_true(sum == element_of(link)->total);
	return high + 1;
}

/* Checks the whole tree against the elements that are inside, in both directions. */
static void
check_tree(const struct rr_avl *tree, int count)
{
	struct rr_avl_link *link = rr_avl_first(tree), *last = NULL;
	int seen = 0, inside = 0;

	check_subtree(tree->root, NULL);
	for (; link; last = link, link = rr_avl_next(link), seen++) {
		assert_ptr_equal(rr_avl_prev(link), last);
		assert_false(last && before(link, last));
	}
	for (int i = 0; i < count; i++)
		inside += elements[i].inside;
	assert_int_equal(seen, inside);
}

/* Returns the lowest key of at least `wanted`, found without the tree; UINT32_MAX if there is none. */
static uint32_t
lowest_key(uint32_t wanted)
{
	uint32_t lowest = UINT32_MAX;

	for (int i = 0; i < FEW; i++) {
		if (elements[i].inside && elements[i].key >= wanted && elements[i].key < lowest)
			lowest = elements[i].key;
	}
	return lowest;
}

/* Random changes leave a balanced tree, in order, with right sums, in which each key is found. */
static void
random_changes_agree_with_a_search_of_all(void **state)
{
	struct rr_avl tree;
	unsigned seed = 1;

	(void)state;
	rr_avl_init(&tree, before, total);
	for (int step = 0; step < 20000; step++) {
		struct element *element = &elements[rand_r(&seed) % FEW];
		uint32_t wanted = (uint32_t)rand_r(&seed) % 100;
		struct rr_avl_link *found;

		if (element->inside && step % 7 == 0) {
			/* The key stays between those of its neighbours. */
			struct rr_avl_link *prev = rr_avl_prev(&element->link);

			element->key = prev ? element_of(prev)->key : 0;
			rr_avl_changed(&tree, &element->link);
		} else if (element->inside) {
			rr_avl_remove(&tree, &element->link);
			element->inside = false;
		} else {
			element->key = (uint32_t)rand_r(&seed) % 100;
			rr_avl_add(&tree, &element->link);
			element->inside = true;
		}
		check_tree(&tree, FEW);
		found = rr_avl_find(&tree, is_at_least, &wanted);
		assert_int_equal(found ? element_of(found)->key : UINT32_MAX, lowest_key(wanted));
		/* Of equals, the first is found. */
		assert_false(found && rr_avl_prev(found) && element_of(rr_avl_prev(found))->key >= wanted);
	}
	for (int i = 0; i < FEW; i++)
		elements[i].inside = false;
}

/* Fills the tree: order 0: ascending keys, 1: descending ones, 2: all keys equal. */
static void
fill(struct rr_avl *tree, int order)
{
	rr_avl_init(tree, before, total);
	for (uint32_t i = 0; i < COUNT; i++) {
		elements[i].key = order == 0 ? i : order == 1 ? COUNT - i : 0;
		elements[i].inside = true;
		rr_avl_add(tree, &elements[i].link);
	}
}

/* No order of keys, and none in which elements are removed, makes a change or a search take more steps than a
 * balanced tree allows. */
static void
no_order_makes_steps_many(void **state)
{
	/* A change goes down, comes back, and may turn two links on each level. */
	const uint64_t most = 6 * LEVELS;
	struct rr_avl tree;

	(void)state;
	for (int order = 0; order < 3; order++) {
		fill(&tree, order);
		assert_in_range(tree.root->height, 1, LEVELS);
		for (uint32_t i = 0; i < COUNT; i += 2) {
			uint32_t wanted = elements[i].key;

			tree.steps = 0;
			assert_non_null(rr_avl_find(&tree, is_at_least, &wanted));
			assert_in_range(tree.steps, 1, LEVELS);
			tree.steps = 0;
			rr_avl_remove(&tree, &elements[i].link);
			elements[i].inside = false;
			assert_in_range(tree.steps, 0, most);
			if (i % 1000 == 0)
				check_tree(&tree, COUNT);
		}
		for (uint32_t i = 0; i < COUNT; i += 2) {
			tree.steps = 0;
			rr_avl_add(&tree, &elements[i].link);
			elements[i].inside = true;
			assert_in_range(tree.steps, 1, most);
		}
		check_tree(&tree, COUNT);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_changes_agree_with_a_search_of_all),
		cmocka_unit_test(no_order_makes_steps_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
