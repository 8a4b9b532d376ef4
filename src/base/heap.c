/* SPDX-License-Identifier: BSD-3-Clause */
/* The pairing heap of heap.h. Each element comes before its children. The children of an element are a
 * list: prev of the first child is the parent, and prev of any other child is the child in front of it. */
#include "base/heap.h"

#include <stddef.h>

/* Joins two heaps with the roots a and b, and returns the common root: the one of a and b that comes first in
 * the order of the heap. The other one becomes its first child. a or b is NULL if that heap is empty. */
static struct rr_heap_link *
heap_meld(const struct rr_heap *heap, struct rr_heap_link *a, struct rr_heap_link *b)
{
	struct rr_heap_link *swap;

	if (!a || !b)
		return a ? a : b;
	if (heap->before(b, a)) {
		swap = a;
		a = b;
		b = swap;
	}
	b->prev = a;
	b->next = a->child;
	if (b->next)
		b->next->prev = b;
	a->child = b;
	return a;
}

/* Joins the heaps in a list of siblings into one heap, and returns its root: joins them in pairs from left to
 * right, then joins these pairs from right to left. child is the first sibling. */
static struct rr_heap_link *
heap_meld_children(const struct rr_heap *heap, struct rr_heap_link *child)
{
	struct rr_heap_link *pairs = NULL, *root = NULL;

	while (child) {
		struct rr_heap_link *a = child, *b = a->next;

		child = b ? b->next : NULL;
		a->next = a->prev = NULL;
		if (b)
			b->next = b->prev = NULL;
		a = heap_meld(heap, a, b);
		a->next = pairs;
		pairs = a;
	}
	while (pairs) {
		struct rr_heap_link *next = pairs->next;

		pairs->next = NULL;
		root = heap_meld(heap, root, pairs);
		pairs = next;
	}
	return root;
}

void
rr_heap_add(struct rr_heap *heap, struct rr_heap_link *link)
{
	link->child = link->next = link->prev = NULL;
	heap->first = heap_meld(heap, heap->first, link);
}

void
rr_heap_remove(struct rr_heap *heap, struct rr_heap_link *link)
{
	struct rr_heap_link *rest = heap_meld_children(heap, link->child);

	if (link == heap->first) {
		heap->first = rest;
		return;
	}
	if (link->prev->child == link)
		link->prev->child = link->next;
	else
		link->prev->next = link->next;
	if (link->next)
		link->next->prev = link->prev;
	heap->first = heap_meld(heap, heap->first, rest);
}
