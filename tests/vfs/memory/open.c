/* SPDX-License-Identifier: BSD-3-Clause */
/* This file implements opens and their share reservations. */
#include "memory_private.h"

bool
rr_memory_denied(const struct rr_memory_node *node, uint32_t access)
{
	rr_list_for_each (link, &node->opens) {
		const struct rr_vfs_open *open = rr_container(link, struct rr_vfs_open, link);

		/* The share is NULL where another open replaced this one, and has its reservation. */
		if (open->share && (open->share->deny & access))
			return true;
	}
	return false;
}

/* Tells whether an open of the file has a share reservation that denies the access of the new open, or has
 * access that "deny" forbids. Opens with the reservation "own", which may be NULL, do not count. */
static bool
open_conflicts(const struct rr_memory_node *node, const struct rr_vfs_opening *opening, uint32_t deny,
	const struct rr_memory_share *own)
{
	rr_list_for_each (link, &node->opens) {
		const struct rr_memory_share *share = rr_container(link, struct rr_vfs_open, link)->share;

		if (share && share != own && ((share->deny & opening->access) || (share->access & deny)))
			return true;
	}
	return false;
}

/* Checks whether the caller may open the operation's file with the access that the call asks for. Access that
 * the call's other open has is not checked again. Returns RR_VFS_PENDING where a lease is being recalled. */
static enum rr_vfs_status
open_may(struct rr_memory_run *run, const struct rr_vfs_opening *opening)
{
	struct rr_vfs_object object = opening->object;
	uint32_t asked = opening->access;
	enum rr_vfs_status status;

	/* Rights that the other open has are not checked again. */
	if (object.open)
		asked &= ~object.open->access;
	if (run->node->attributes.type == RR_VFS_LINK)
		return RR_VFS_SYMLINK;
	object.open = NULL;
	status = rr_memory_may_use(run, &object, run->node, asked);
	/* open_conflicts() has compared the reservations, so a denial is no reason to refuse here. */
	return status == RR_VFS_LOCKED ? RR_VFS_OK : status;
}

/* Gives a reference to a share reservation back, and frees the reservation with the last one. share may be
 * NULL. */
static void
open_share_put(struct rr_memory *memory, struct rr_memory_share *share)
{
	if (share && --share->holders == 0)
		rr_free(memory->env, share);
}

/* Returns the share reservation for a new open, or NULL if there is no memory. Where the new open stands
 * beside the call's other open or replaces it, the reservation is that of the other open; an open that is
 * replaced has none any more. Else the reservation is new. */
static struct rr_memory_share *
open_share(struct rr_memory *memory, const struct rr_vfs_opening *opening)
{
	struct rr_vfs_open *other = opening->object.open;
	struct rr_memory_share *share;

	if (other && other->share && opening->relation != RR_VFS_ANOTHER) {
		share = other->share;
		share->holders++;
	} else {
		share = rr_alloc(memory->env, sizeof(*share));
		if (!share)
			return NULL;
		share->holders = 1;
	}
	if (!other || opening->relation != RR_VFS_BESIDE) {
		share->access = opening->access;
		share->deny = opening->deny;
	}
	if (other && opening->relation == RR_VFS_REPLACES) {
		open_share_put(memory, other->share);
		other->share = NULL;
	}
	return share;
}

/* Makes an open of the operation's file with its share reservation, and stores the open in opening->open.
 * Returns RR_VFS_BUSY if there is no memory. */
static enum rr_vfs_status
open_make(struct rr_memory_run *run, struct rr_vfs_opening *opening)
{
	struct rr_memory *memory = run->memory;
	struct rr_vfs_open *open = rr_alloc(memory->env, sizeof(*open));

	if (!open)
		return RR_VFS_BUSY;
	open->share = open_share(memory, opening);
	if (!open->share) {
		rr_free(memory->env, open);
		return RR_VFS_BUSY;
	}
	open->memory = memory;
	open->node = run->node;
	open->access = opening->access;
	rr_list_init(&open->ranges);
	rr_list_init(&open->recalls);
	rr_list_append(&run->node->opens, &open->link);
	run->node->holders++;
	memory->opens++;
	opening->open = open;
	return RR_VFS_OK;
}

enum rr_vfs_status
rr_memory_open(struct rr_memory_run *run)
{
	struct rr_vfs_opening *opening = (struct rr_vfs_opening *)run->call;
	const struct rr_vfs_open *other = opening->object.open;
	const struct rr_memory_share *own =
		other && opening->relation != RR_VFS_ANOTHER ? other->share : NULL;
	uint32_t deny = other && opening->relation == RR_VFS_BESIDE ? 0 : opening->deny;
	enum rr_vfs_status status;

	if (run->node->attributes.type == RR_VFS_FILE && open_conflicts(run->node, opening, deny, own))
		return RR_VFS_SHARE;
	status = open_may(run, opening);
	/* open_may() recalls no lease where it ignores a denial, or where the other open has the access. */
	if (status == RR_VFS_OK && (opening->access & RR_VFS_SHARE_WRITE))
		status = rr_memory_recall(run->node, NULL);
	return status == RR_VFS_OK ? open_make(run, opening) : status;
}

enum rr_vfs_status
rr_memory_close(struct rr_vfs *vfs, struct rr_vfs_open *open, struct rr_vfs_call *call)
{
	struct rr_memory *memory = rr_container(vfs, struct rr_memory_vfs, vfs)->memory;

	(void)call; /* nothing here waits */
	rr_list_remove(&open->link);
	rr_memory_unlock_all(open);
	rr_memory_lease_end(open);
	open_share_put(memory, open->share);
	open->share = NULL;
	open->closed = true;
	memory->opens--;
	if (open->jobs == 0)
		rr_memory_open_drop(open);
	return RR_VFS_OK;
}

void
rr_memory_open_drop(struct rr_vfs_open *open)
{
	struct rr_memory *memory = open->memory;
	struct rr_memory_node *node = open->node;

	if (!open->closed)
		return;
	node->holders--;
	rr_memory_node_drop(memory, node);
	rr_free(memory->env, open);
}
