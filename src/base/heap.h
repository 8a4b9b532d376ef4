/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_HEAP_H
#define RR_BASE_HEAP_H

#include <stdbool.h>

/*
 * A pairing heap whose links live in the elements, so that adding and removing never allocates. Adding takes
 * constant time; taking the first element out, or any other, takes logarithmic time on average.
 */
struct rr_heap_link {
	struct rr_heap_link *child; /* the first of those that come after this element */
	struct rr_heap_link *next;  /* the next child of the same parent */
	struct rr_heap_link *prev;  /* the child before, or the parent of the first child; NULL: the root */
};

/* The heap: its first element, and the order of its elements. */
struct rr_heap {
	struct rr_heap_link *first; /* NULL: the heap is empty */
	/* Whether a comes before b. Two different elements must not come before each other. */
	bool (*before)(struct rr_heap_link *a, struct rr_heap_link *b);
};

static inline void
rr_heap_init(struct rr_heap *heap, bool (*before)(struct rr_heap_link *, struct rr_heap_link *))
{
	heap->first = (struct rr_heap_link *)0;
	heap->before = before;
}

/* Adds link, which must be in no heap. */
void rr_heap_add(struct rr_heap *heap, struct rr_heap_link *link);

/* Takes link out of the heap, which it must be in. */
void rr_heap_remove(struct rr_heap *heap, struct rr_heap_link *link);

#endif
