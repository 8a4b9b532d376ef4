/* SPDX-License-Identifier: BSD-3-Clause */
/* This file counts the space that files use: of the whole storage, and of users with a quota. */
#include "node.h"
#include "run.h"

enum { SPACE_FILES = 1000000 };

static const uint64_t space_octets = UINT64_C(1) << 30;

void
rr_memory_space(struct rr_memory *memory, uint64_t octets, uint64_t files)
{
	memory->all.octets = octets ? octets : space_octets;
	memory->all.files = files ? files : SPACE_FILES;
}

/* Returns the quota of the user uid, or NULL if that user has none. */
static struct rr_memory_limit *
space_quota(struct rr_memory *memory, uint32_t uid)
{
	for (uint32_t i = 0; i < memory->quota_count; i++)
		if (memory->quotas[i].uid == uid)
			return &memory->quotas[i];
	return NULL;
}

/* Adds the octets and the objects that the quota's user has already to the quota's counts of use. */
static void
space_count(const struct rr_memory *memory, struct rr_memory_limit *quota)
{
	rr_list_for_each (link, &memory->nodes) {
		const struct rr_vfs_attributes *attributes =
			&rr_container(link, struct rr_memory_node, all)->attributes;

		if (attributes->uid != quota->uid)
			continue;
		quota->octets_used += attributes->used;
		quota->files_used++;
	}
}

bool
rr_memory_quota(struct rr_memory *memory, uint32_t uid, uint64_t octets, uint64_t files)
{
	struct rr_memory_limit *quota = space_quota(memory, uid);

	if (!quota && memory->quota_count == RR_MEMORY_QUOTAS)
		return false;
	if (!quota) {
		quota = &memory->quotas[memory->quota_count++];
		quota->uid = uid;
		space_count(memory, quota);
	}
	quota->octets = octets;
	quota->files = files;
	return true;
}

/* Tells whether this many more octets and files stay within the limit, which contains the counts of use. */
static bool
space_fits(const struct rr_memory_limit *limit, uint64_t octets, uint64_t files)
{
	return (octets == 0 || (limit->octets_used < limit->octets &&
				       octets <= limit->octets - limit->octets_used)) &&
	       (files == 0 || limit->files_used < limit->files);
}

static void
space_add(struct rr_memory_limit *limit, uint64_t octets, uint64_t files)
{
	limit->octets_used += octets;
	limit->files_used += files;
}

enum rr_vfs_status
rr_memory_charge(struct rr_memory *memory, uint32_t uid, uint64_t octets, uint64_t files)
{
	struct rr_memory_limit *quota = space_quota(memory, uid);

	if (!space_fits(&memory->all, octets, files))
		return RR_VFS_NOSPC;
	if (quota && !space_fits(quota, octets, files))
		return RR_VFS_DQUOT;
	space_add(&memory->all, octets, files);
	if (quota)
		space_add(quota, octets, files);
	return RR_VFS_OK;
}

void
rr_memory_discharge(struct rr_memory *memory, uint32_t uid, uint64_t octets, uint64_t files)
{
	struct rr_memory_limit *quota = space_quota(memory, uid);

	/* Adding a negated unsigned number subtracts it. */
	space_add(&memory->all, -octets, -files);
	if (quota)
		space_add(quota, -octets, -files);
}

void
rr_memory_recharge(struct rr_memory *memory, struct rr_memory_node *node, uint32_t uid)
{
	struct rr_memory_limit *from = space_quota(memory, node->attributes.uid);
	struct rr_memory_limit *to = space_quota(memory, uid);

	if (from)
		space_add(from, -node->attributes.used, -UINT64_C(1));
	if (to)
		space_add(to, node->attributes.used, 1);
}
