/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has a script for tests that decides by pseudo-random numbers when and how operations end. */
#include "run.h"

/* Returns a pseudo-random number: the upper half of the next state of a linear congruential generator. */
static uint32_t
dice_throw(struct rr_memory_dice *dice)
{
	dice->state = dice->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(dice->state >> 32);
}

void
rr_memory_dice(void *ctx, enum rr_vfs_operation operation, const struct rr_vfs_call *call,
	struct rr_memory_fate *fate)
{
	static const enum rr_vfs_status statuses[] = { RR_VFS_IO, RR_VFS_BUSY, RR_VFS_FAULT, RR_VFS_NOSPC,
		RR_VFS_DQUOT };
	struct rr_memory_dice *dice = ctx;
	/* An operation that changes nothing fails with one of the first three statuses only. */
	bool changes = rr_vfs_rows[operation].flags & (RR_VFS_CHANGES | RR_VFS_COMMITS);

	(void)call;
	if (dice_throw(dice) % 1000 < dice->late) {
		fate->before = dice_throw(dice) % (dice->turns + 1);
		fate->after = dice_throw(dice) % (dice->turns + 1);
	}
	if (dice_throw(dice) % 1000 < dice->fail)
		fate->status = statuses[dice_throw(dice) % (changes ? 5 : 3)];
}
