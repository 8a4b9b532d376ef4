/* SPDX-License-Identifier: BSD-3-Clause */
/* This file takes and releases the lock of the core that several trees share, and lets a tree hurry: work
 * while nothing may wait (rr_tree_hurry()). */
#include <errno.h>

#include "vfs/posix/tree/tree_private.h"

void
rr_tree_enter(struct rr_tree *tree)
{
	if (tree->depth++ > 0)
		return;
	pthread_mutex_lock(&tree->core->lock);
	tree->locked = true;
}

void
rr_tree_leave(struct rr_tree *tree)
{
	struct rr_nodes *nodes = &tree->core->nodes;
	struct rr_retired retired;

	if (--tree->depth > 0)
		return;
	/* Descriptors are taken with the lock and closed without it, because closing may wait. */
	retired.count = 0;
	if (nodes->near.count > 0 && !tree->keeps)
		rr_retired_take(&nodes->near, &retired);
	tree->locked = false;
	pthread_mutex_unlock(&tree->core->lock);
	rr_retired_close(&retired);
}

bool
rr_tree_out(struct rr_tree *tree)
{
	if (!tree->locked || tree->hurries)
		return false;
	tree->locked = false;
	pthread_mutex_unlock(&tree->core->lock);
	return true;
}

void
rr_tree_in(struct rr_tree *tree, bool was_locked)
{
	int error = errno;

	if (!was_locked)
		return;
	pthread_mutex_lock(&tree->core->lock);
	tree->locked = true;
	errno = error;
}

bool
rr_tree_may_wait(struct rr_tree *tree)
{
	if (!tree->hurries)
		return true;
	tree->waits = true;
	errno = EAGAIN;
	return false;
}

bool
rr_tree_may_open(struct rr_tree *tree)
{
	return tree->memory || rr_tree_may_wait(tree);
}

bool
rr_tree_hurry(struct rr_tree *tree, bool memory)
{
	if (pthread_mutex_trylock(&tree->core->lock) != 0)
		return false;
	tree->depth = 1;
	tree->locked = tree->hurries = true;
	tree->memory = memory;
	tree->waits = false;
	return true;
}

bool
rr_tree_hurried(struct rr_tree *tree)
{
	tree->hurries = tree->memory = false;
	tree->keeps = true; /* closing a descriptor may wait, which this thread must not */
	rr_tree_leave(tree);
	tree->keeps = false;
	return !tree->waits;
}

void
rr_tree_on_crossing(struct rr_tree *tree, bool (*cross)(void *ctx, uint64_t place), void *ctx)
{
	tree->cross = cross;
	tree->cross_ctx = ctx;
}

void
rr_tree_stay(struct rr_tree *tree, bool stays)
{
	tree->stays = stays;
}
