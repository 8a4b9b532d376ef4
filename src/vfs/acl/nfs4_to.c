/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of POSIX from lists of version 4. For the owner, each user and group that is named, the owning group
 * and all others, the entries are gone through in their order, as for a caller who is just that: what an
 * entry allows is had unless it was denied before, and the other way round. A right that a group is denied
 * may be denied to its members, whoever they are: so it is taken from all users, and from all who are nobody
 * else. */
#include "vfs/acl/nfs4.h"

enum {
	TO_INHERITED = ACE4_FILE_INHERIT_ACE | ACE4_DIRECTORY_INHERIT_ACE,
	TO_FLAGS = TO_INHERITED | ACE4_INHERIT_ONLY_ACE | ACE4_IDENTIFIER_GROUP,
	TO_WRITE = ACE4_WRITE_DATA | ACE4_APPEND_DATA,
	TO_BITS = ACE4_READ_DATA | TO_WRITE | ACE4_EXECUTE | ACE4_DELETE_CHILD
};

/* What one list of POSIX is made from. Those that are named stand in named, in the order of their entries. */
struct to_list {
	struct rr_acl4_right owner, group, other, everyone, *named;
	uint32_t count;
	uint32_t seen; /* tags of the owner, the group and all others that entries were about */
};

static void
to_allow(struct rr_acl4_right *right, uint32_t mask)
{
	right->allow |= mask & ~right->deny;
}

static void
to_deny(struct rr_acl4_right *right, uint32_t mask)
{
	right->deny |= mask & ~right->allow;
}

/* Applies the mask to all who are named by this tag. */
static void
to_each(struct to_list *to, uint32_t tag, uint32_t mask,
	void (*apply)(struct rr_acl4_right *right, uint32_t mask))
{
	for (uint32_t i = 0; i < to->count; i++)
		if (to->named[i].tag == tag)
			apply(&to->named[i], mask);
}

/* Returns the rights of the user or group that is named: at first, what was said of everyone. */
static struct rr_acl4_right *
to_find(struct to_list *to, uint32_t tag, uint32_t id)
{
	struct rr_acl4_right *right = to->named;

	for (; right < to->named + to->count; right++)
		if (right->tag == tag && right->id == id)
			return right;
	*right = to->everyone;
	right->tag = tag;
	right->id = id;
	to->count++;
	return right;
}

/* A right that a user is denied is denied to the owner, too, who may be that user. */
static void
to_deny_user(struct to_list *to, struct rr_acl4_right *user, uint32_t mask)
{
	to_deny(user, mask);
	to_deny(&to->owner, user->deny);
}

/* A right that a group is denied is denied to the owner, to all users and to all other groups, as any of them
 * may be, or have, a member of that group. */
static void
to_deny_group(struct to_list *to, struct rr_acl4_right *group, uint32_t mask)
{
	uint32_t denied;

	to_deny(group, mask);
	denied = group->deny;
	to_deny(&to->owner, denied);
	to_deny(&to->group, denied);
	to_deny(&to->everyone, denied);
	to_each(to, RR_VFS_ACL_USER, denied, to_deny);
	to_each(to, RR_VFS_ACL_GROUP, denied, to_deny);
}

static void
to_everyone(struct to_list *to, uint32_t mask, void (*apply)(struct rr_acl4_right *right, uint32_t mask))
{
	apply(&to->owner, mask);
	apply(&to->group, mask);
	apply(&to->other, mask);
	apply(&to->everyone, mask);
	to_each(to, RR_VFS_ACL_USER, mask, apply);
	to_each(to, RR_VFS_ACL_GROUP, mask, apply);
}

static void
to_take(struct to_list *to, const struct rr_acl4_entry *entry)
{
	bool allows = entry->type == ACE4_ACCESS_ALLOWED_ACE_TYPE;
	bool is_group = entry->flag & ACE4_IDENTIFIER_GROUP;
	uint32_t mask = entry->mask & TO_BITS;
	struct rr_acl4_right *right = entry->who == RR_ACL4_OWNER   ? &to->owner
				      : entry->who == RR_ACL4_GROUP ? &to->group
								    : NULL;

	if (entry->who == RR_ACL4_EVERYONE) {
		to->seen |= RR_VFS_ACL_OTHER;
		to_everyone(to, mask, allows ? to_allow : to_deny);
		return;
	}
	if (entry->who == RR_ACL4_NAMED)
		right = to_find(to, is_group ? RR_VFS_ACL_GROUP : RR_VFS_ACL_USER, entry->id);
	else
		to->seen |= entry->who == RR_ACL4_OWNER ? RR_VFS_ACL_USER_OBJ : RR_VFS_ACL_GROUP_OBJ;
	if (allows)
		to_allow(right, mask);
	else if (entry->who == RR_ACL4_GROUP || (entry->who == RR_ACL4_NAMED && is_group))
		to_deny_group(to, right, mask);
	else if (entry->who == RR_ACL4_NAMED)
		to_deny_user(to, right, mask);
	else
		to_deny(right, mask);
}

/* Returns the rights 0 to 7 of POSIX that all bits of which are allowed. */
static uint8_t
to_rights(uint32_t allow, bool is_directory)
{
	uint32_t write = TO_WRITE | (is_directory ? ACE4_DELETE_CHILD : 0);

	return (uint8_t)((allow & ACE4_READ_DATA ? 4 : 0) | ((allow & write) == write ? 2 : 0) |
			 (allow & ACE4_EXECUTE ? 1 : 0));
}

/* Makes the list. The mask is what the group and all who are named have together. */
static enum rr_vfs_status
to_make(const struct to_list *to, bool is_directory, struct rr_vfs_acl *acl)
{
	uint8_t mask = to_rights(to->group.allow, is_directory);
	struct rr_vfs_ace *at = acl->entries;

	*at++ = (struct rr_vfs_ace){ RR_VFS_ACL_USER_OBJ, to_rights(to->owner.allow, is_directory), 0 };
	*at++ = (struct rr_vfs_ace){ RR_VFS_ACL_GROUP_OBJ, mask, 0 };
	*at++ = (struct rr_vfs_ace){ RR_VFS_ACL_OTHER, to_rights(to->other.allow, is_directory), 0 };
	for (uint32_t i = 0; i < to->count; i++) {
		const struct rr_acl4_right *right = &to->named[i];

		*at = (struct rr_vfs_ace){ (uint8_t)right->tag, to_rights(right->allow, is_directory),
			right->id };
		mask |= at++->perm;
	}
	if (to->count > 0)
		*at++ = (struct rr_vfs_ace){ RR_VFS_ACL_MASK, mask, 0 };
	acl->count = (uint32_t)(at - acl->entries);
	return rr_acl_check(acl, false);
}

/* Checks what the list has in common with those of POSIX. */
static enum rr_vfs_status
to_check(const struct rr_acl4_entry *entries, uint32_t count, bool is_directory)
{
	for (uint32_t i = 0; i < count; i++) {
		if (entries[i].type > ACE4_ACCESS_DENIED_ACE_TYPE || entries[i].flag & ~(uint32_t)TO_FLAGS)
			return RR_VFS_NOTSUPP;
		if (!is_directory && entries[i].flag & (TO_INHERITED | ACE4_INHERIT_ONLY_ACE))
			return RR_VFS_INVAL;
	}
	return RR_VFS_OK;
}

/* A list that is inherited, and says nothing of the owner, the group or all others, says of them what the
 * list of the object says, as setfacl(1) does it. */
static void
to_complete(struct to_list *inherited, const struct to_list *access)
{
	if (!(inherited->seen & RR_VFS_ACL_USER_OBJ))
		inherited->owner = access->owner;
	if (!(inherited->seen & RR_VFS_ACL_GROUP_OBJ))
		inherited->group = access->group;
	if (!(inherited->seen & RR_VFS_ACL_OTHER))
		inherited->other = access->other;
}

enum rr_vfs_status
rr_acl4_to_posix(const struct rr_acl4_entry *entries, uint32_t count, bool is_directory,
	struct rr_acl4_right *rights, struct rr_vfs_acl *access, struct rr_vfs_acl *inherited)
{
	struct to_list own = { .named = rights }, passed = { .named = rights };
	enum rr_vfs_status status = to_check(entries, count, is_directory);
	bool is_passed = false;

	access->count = inherited->count = 0;
	for (uint32_t i = 0; status == RR_VFS_OK && i < count; i++)
		if (!(entries[i].flag & ACE4_INHERIT_ONLY_ACE))
			to_take(&own, &entries[i]);
	if (status == RR_VFS_OK)
		status = to_make(&own, is_directory, access);
	/* The memory for the rights serves again. */
	for (uint32_t i = 0; status == RR_VFS_OK && i < count; i++) {
		if (!(entries[i].flag & TO_INHERITED))
			continue;
		is_passed = true;
		to_take(&passed, &entries[i]);
	}
	if (status != RR_VFS_OK || !is_passed)
		return status;
	to_complete(&passed, &own);
	return to_make(&passed, is_directory, inherited);
}
