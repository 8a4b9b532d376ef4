/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_LIST_H
#define RR_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A circular list whose links live in the elements. A list head is a link,
 * too; an element that is in no list points to itself.
 */
struct rr_list {
	struct rr_list *next, *prev;
};

/* Returns the structure of the type `type` whose member `member` is at the address `pointer`. */
#define rr_container(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))

static inline void
rr_list_init(struct rr_list *list)
{
	list->next = list->prev = list;
}

static inline bool
rr_list_empty(const struct rr_list *list)
{
	return list->next == list;
}

/* Puts link, which must be in no list, at the end of list. */
static inline void
rr_list_append(struct rr_list *list, struct rr_list *link)
{
	link->prev = list->prev;
	link->next = list;
	list->prev->next = link;
	list->prev = link;
}

/* Puts link, which must be in no list, at the front of list. rr_list_append() puts a link in front of its
 * first argument: here in front of the first link of list. */
static inline void
rr_list_prepend(struct rr_list *list, struct rr_list *link)
{
	rr_list_append(list->next, link);
}

/* Takes link out of the list that it is in, and leaves in link what then means nothing: it goes into another
 * list, or is not used any more. */
static inline void
rr_list_unlink(const struct rr_list *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
}

/* Takes link out of the list that it is in. There is no effect if link is in no list. */
static inline void
rr_list_remove(struct rr_list *link)
{
	rr_list_unlink(link);
	rr_list_init(link);
}

/* Takes the first link out of list and returns it, or returns NULL if list is empty. */
static inline struct rr_list *
rr_list_pop(struct rr_list *list)
{
	struct rr_list *first = list->next;

	if (first == list)
		return NULL;
	rr_list_remove(first);
	return first;
}

/* Moves all links of `from` to the list `to`, which must be empty. */
static inline void
rr_list_move(struct rr_list *from, struct rr_list *to)
{
	if (rr_list_empty(from))
		return;
	*to = *from;
	to->next->prev = to->prev->next = to;
	rr_list_init(from);
}

/* Goes through list. The loop's body may remove (and free) the current link, and no other link. */
#define rr_list_for_each(link, list)                                                                         \
	for (struct rr_list *link = (list)->next, *rr_next_ = link->next; link != (list);                    \
		link = rr_next_, rr_next_ = link->next)

#endif
