/* SPDX-License-Identifier: BSD-3-Clause */
/* This file keeps the free slots of the session. */
#include "vfs/nfs/v4/session/session.h"

uint64_t
rr_v4_slots_of(const struct rr_v4 *v4)
{
	/* Not 1 << slots, as that is undefined for 64 slots. */
	return (UINT64_C(2) << (v4->slots - 1)) - 1;
}

uint64_t
rr_v4_slots_allowed(const struct rr_v4 *v4)
{
	return (UINT64_C(2) << v4->highest) - 1;
}

/* RFC 8881, 2.10.6.1: "the requester ... SHOULD use the lowest available slot". */
struct rr_v4_slot *
rr_v4_slot_get(struct rr_v4 *v4)
{
	uint64_t usable = v4->free & rr_v4_slots_allowed(v4);
	struct rr_v4_slot *slot;

	if (usable == 0)
		return NULL;
	slot = &v4->slot[__builtin_ctzll(usable)];
	v4->free &= ~(UINT64_C(1) << slot->number);
	slot->busy = true;
	slot->outer = NULL;
	slot->open = NULL;
	return slot;
}

void
rr_v4_slot_end_use(struct rr_v4_slot *slot)
{
	if (slot->outer && slot->open)
		slot->open->users--;
	if (slot->outer && slot->work->makes)
		slot->v4->making--;
	slot->outer = NULL;
}

/* A slot whose last call was given up stays unused for the rest of its session: it is not known whether the
 * server executed the call, and so not which sequence ID the next call must have. */
void
rr_v4_slot_put(struct rr_v4_slot *slot)
{
	struct rr_v4 *v4 = slot->v4;

	rr_v4_slot_end_use(slot);
	slot->open = NULL;
	/* The bitmap doubt is about the present session, not about an earlier one that the call was sent in.
	 */
	if (slot->number < v4->slots &&
		(slot->generation != v4->generation || !(v4->doubt >> slot->number & 1)))
		v4->free |= UINT64_C(1) << slot->number;
	slot->busy = false;
}

void
rr_v4_slot_doubt(struct rr_v4_slot *slot)
{
	if (slot->generation == slot->v4->generation)
		slot->v4->doubt |= UINT64_C(1) << slot->number;
}

void
rr_v4_slot_give_up(struct rr_v4_slot *slot)
{
	rr_loop_disarm(slot->v4->loop, &slot->later);
	rr_client_cancel(slot->v4->config.client, &slot->call);
	rr_v4_slot_doubt(slot);
	if (slot->work->end)
		slot->work->end(slot, -RPCRDMA_ERR_CANCELLED);
	rr_v4_slot_put(slot);
}
