/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include "base/heap.h"
#include "base/list.h"

enum { COUNT = 10000 };

static struct element {
	struct rr_heap_link link;
	uint64_t key;
	bool inside;
} elements[COUNT];

static uint64_t comparisons;

static bool
before(struct rr_heap_link *a, struct rr_heap_link *b)
{
	const struct element *first = rr_container(a, const struct element, link);
	const struct element *second = rr_container(b, const struct element, link);

	comparisons++;
	return first->key < second->key || (first->key == second->key && first < second);
}

/* Returns the next key of a run. In the run with seed 1, some keys are equal. */
static uint64_t
key(uint64_t *state, uint64_t range)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (*state >> 33) % range;
}

static void
fill(struct rr_heap *heap, uint64_t seed, uint64_t range)
{
	rr_heap_init(heap, before);
	for (size_t i = 0; i < COUNT; i++) {
		elements[i].key = key(&seed, range);
		elements[i].inside = true;
		rr_heap_add(heap, &elements[i].link);
	}
}

/* Takes all elements out, in order, and returns how many they were. */
static size_t
drain(struct rr_heap *heap)
{
	struct element *last = NULL;
	size_t count = 0;

	while (heap->first) {
		struct element *element = rr_container(heap->first, struct element, link);

		assert_true(element->inside);
		if (last)
			assert_true(before(&last->link, &element->link));
		element->inside = false;
		rr_heap_remove(heap, &element->link);
		last = element;
		count++;
	}
	return count;
}

static void
elements_come_out_in_order(void **state)
{
	struct rr_heap heap;

	(void)state;
	fill(&heap, 1, 100);
	assert_int_equal(drain(&heap), COUNT);
}

static void
any_element_can_be_taken_out(void **state)
{
	struct rr_heap heap;
	uint64_t seed = 7;
	size_t left = COUNT;

	(void)state;
	fill(&heap, 3, UINT32_MAX);
	for (size_t i = 0; i < COUNT; i++) {
		struct element *element = &elements[key(&seed, COUNT)];

		if (!element->inside)
			continue;
		element->inside = false;
		rr_heap_remove(&heap, &element->link);
		left--;
	}
	assert_int_equal(drain(&heap), left);
}

/* Adding an element takes one comparison at most. In a sorted list, 10,000 elements would take some 25
 * million comparisons. */
static void
what_it_costs_grows_with_the_logarithm(void **state)
{
	struct rr_heap heap;

	(void)state;
	comparisons = 0;
	fill(&heap, 5, UINT32_MAX);
	assert_true(comparisons < COUNT);
	comparisons = 0;
	while (heap.first)
		rr_heap_remove(&heap, heap.first);
	assert_true(comparisons < COUNT * 28); /* twice the binary logarithm of COUNT for each */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elements_come_out_in_order),
		cmocka_unit_test(any_element_can_be_taken_out),
		cmocka_unit_test(what_it_costs_grows_with_the_logarithm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
