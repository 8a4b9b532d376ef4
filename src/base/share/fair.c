/* SPDX-License-Identifier: BSD-3-Clause */
/* The start-time fair queueing of fair.h. The place of an owner in the table is its number modulo the size
 * of the table, so two owners may have the same place. */
#include "base/share/fair.h"

enum { AVERAGED = 8 }; /* an average weighs about this many jobs */

/* Returns the entry of the table for the owner with this number. If another owner has the entry, the new
 * owner takes the entry over only if the old owner's tag (the place of its next job in the order) is at most
 * fair->clock: the old owner loses nothing then, as its next job would get the tag `clock` anyway. Otherwise,
 * both owners share the entry. */
static struct rr_fair_owner *
fair_owner(struct rr_fair *fair, uint64_t number)
{
	struct rr_fair_owner *owner = &fair->owners[number % RR_FAIR_OWNERS];

	if (owner->number != number && owner->tag <= fair->clock)
		*owner = (struct rr_fair_owner){ .number = number };
	return owner;
}

/* Returns the moving average, with one more cost included. An average of 0 means that there is no average
 * yet; the result is then cost. */
static uint64_t
fair_averaged(uint64_t average, uint64_t cost)
{
	return average == 0 ? cost : average - average / AVERAGED + cost / AVERAGED;
}

void
rr_fair_enter(struct rr_fair *fair, uint64_t owner, struct rr_fair_turn *turn)
{
	struct rr_fair_owner *entry = fair_owner(fair, owner);

	turn->owner = owner;
	turn->order = ++fair->order;
	turn->tag = entry->tag > fair->clock ? entry->tag : fair->clock;
	turn->charged = entry->average > 0 ? entry->average : fair->average;
	entry->tag = turn->tag + turn->charged;
}

void
rr_fair_begin(struct rr_fair *fair, const struct rr_fair_turn *turn)
{
	if (turn->tag > fair->clock)
		fair->clock = turn->tag;
}

void
rr_fair_leave(struct rr_fair *fair, const struct rr_fair_turn *turn)
{
	struct rr_fair_owner *entry = fair_owner(fair, turn->owner);

	/* The tag is below the charge if the owner lost its entry in the table and has got a new one. */
	entry->tag -= entry->tag > turn->charged ? turn->charged : entry->tag;
}

void
rr_fair_end(struct rr_fair *fair, const struct rr_fair_turn *turn, uint64_t cost)
{
	struct rr_fair_owner *entry = fair_owner(fair, turn->owner);

	rr_fair_leave(fair, turn);
	entry->tag += cost;
	entry->average = fair_averaged(entry->average, cost);
	fair->average = fair_averaged(fair->average, cost);
}
