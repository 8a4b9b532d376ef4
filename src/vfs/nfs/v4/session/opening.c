/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has OPEN and CLOSE of an existing file, and take() of COMPOUNDs whose results are not used. */
#include "vfs/nfs/v4/session/compound.h"
#include "vfs/nfs/v4/session/session.h"

static struct rpcrdma_bytes
open_handle(const struct rr_v4_open *open)
{
	return (struct rpcrdma_bytes){ open->handle, open->handle_length };
}

void
rr_v4_open_build(struct rr_v4_slot *slot)
{
	OPEN4args *to;

	rr_v4_putfh(slot, open_handle(slot->open));
	to = &rr_v4_op(slot, OP_OPEN, RR_V4_OPEN_MAX)->u.opopen;
	rr_v4_open_owner(slot, to, slot->open->wanted);
	/* Both claims name the file by its handle; CLAIM_PREVIOUS is for files that were open before a
	 * restart. */
	to->claim.claim = slot->open->state == RR_V4_OPEN_RECLAIM ? CLAIM_PREVIOUS : CLAIM_FH;
}

int
rr_v4_opened(struct rr_v4_slot *slot)
{
	rr_v4_open_take(
		slot->v4, slot->open, &rr_v4_res(slot, OP_OPEN)->u.opopen.u.resok4, slot->open->wanted);
	return 0;
}

void
rr_v4_close_build(struct rr_v4_slot *slot)
{
	const struct rr_v4_open *open = slot->open;

	rr_v4_putfh(slot, open_handle(open));
	/* This client asks for no delegation. A delegation that a server gave nevertheless is returned
	 * here. */
	if (open->has_delegation)
		rr_v4_op(slot, OP_DELEGRETURN, 0)->u.opdelegreturn.deleg_stateid = open->delegation;
	rr_v4_op(slot, OP_CLOSE, sizeof(stateid4))->u.opclose.open_stateid = open->stateid;
}

int
rr_v4_nothing_take(struct rr_v4_slot *slot)
{
	(void)slot;
	return 0;
}

void
rr_v4_open_enter(struct rr_v4_slot *slot, struct rpcrdma_bytes handle, uint32_t access)
{
	struct rr_v4_open *open = rr_v4_open_find(slot->v4, handle);
	bool is_made;

	if (open && open->state == RR_V4_OPEN_CLOSING)
		open = NULL;
	if (!open && handle.length > 0)
		open = rr_v4_open_new(slot->v4, handle);
	if (!open)
		return;
	is_made = open->state == RR_V4_OPEN_MAKING;
	rr_v4_open_take(slot->v4, open, &rr_v4_res(slot, OP_OPEN)->u.opopen.u.resok4, access);
	if (is_made)
		open->state = RR_V4_OPEN_MAKING;
}

void
rr_v4_open_leave(struct rr_v4_slot *slot, struct rpcrdma_bytes handle, uint32_t access)
{
	struct rr_v4_open *open = rr_v4_open_new(slot->v4, handle);

	if (!open)
		return;
	rr_v4_open_take(slot->v4, open, &rr_v4_res(slot, OP_OPEN)->u.opopen.u.resok4, access);
	open->once = true;
}
