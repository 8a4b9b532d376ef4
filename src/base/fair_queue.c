/* SPDX-License-Identifier: BSD-3-Clause */
/* The start-time fair queueing of fair_queue.h. A member that is charged pays from the clock less the credit
 * on, if its tag is further behind: it has no claim to more of the time that it did not use. */
#include "base/fair_queue.h"

#include "base/checked.h"
#include "base/list.h"

static struct rr_fair_member *
fair_member_of(struct rr_heap_link *link)
{
	return rr_container(link, struct rr_fair_member, link);
}

/* The order of the heap: the lower tag is first; of equal tags, the one that began to wait first. */
static bool
fair_member_is_before(struct rr_heap_link *a, struct rr_heap_link *b)
{
	const struct rr_fair_member *first = fair_member_of(a), *second = fair_member_of(b);

	return first->tag < second->tag || (first->tag == second->tag && first->order < second->order);
}

void
rr_fair_queue_init(struct rr_fair_queue *queue, uint64_t credit)
{
	*queue = (struct rr_fair_queue){ .credit = credit };
	rr_heap_init(&queue->heap, fair_member_is_before);
}

void
rr_fair_queue_wait(struct rr_fair_queue *queue, struct rr_fair_member *member)
{
	if (member->waits)
		return;
	member->order = ++queue->order;
	member->waits = true;
	rr_heap_add(&queue->heap, &member->link);
}

void
rr_fair_queue_leave(struct rr_fair_queue *queue, struct rr_fair_member *member)
{
	if (member->waits)
		rr_heap_remove(&queue->heap, &member->link);
	member->waits = false;
}

void
rr_fair_queue_begin(struct rr_fair_queue *queue, const struct rr_fair_member *member)
{
	uint64_t tag = member->tag;

	/* Otherwise the clock would leave those behind that wait, and they would have no claim to that time.
	 */
	if (!rr_fair_queue_empty(queue))
		tag = rr_min(tag, fair_member_of(queue->heap.first)->tag);
	if (tag > queue->clock)
		queue->clock = tag;
}

struct rr_fair_member *
rr_fair_queue_first(const struct rr_fair_queue *queue)
{
	return rr_fair_queue_empty(queue) ? NULL : fair_member_of(queue->heap.first);
}

void
rr_fair_queue_refund(struct rr_fair_queue *queue, struct rr_fair_member *member, uint64_t cost)
{
	if (member->waits)
		rr_heap_remove(&queue->heap, &member->link);
	member->tag -= rr_min(member->tag, cost);
	if (member->waits)
		rr_heap_add(&queue->heap, &member->link);
}

struct rr_fair_member *
rr_fair_queue_take(struct rr_fair_queue *queue)
{
	struct rr_fair_member *member = rr_fair_queue_first(queue);

	if (!member)
		return NULL;
	rr_fair_queue_leave(queue, member);
	rr_fair_queue_begin(queue, member);
	return member;
}
