/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of version 4 from lists of POSIX. POSIX gives a caller the rights of the first class that it is in:
 * the owner, a named user, the groups together, all others. Version 4 goes through all entries in their order
 * until each right is allowed or denied (RFC 8881, 6.2.1). So an entry that allows is preceded by one that
 * denies what later entries would give to the same caller, where there is any of that. */
#include "vfs/acl/nfs4.h"

enum { FROM_INHERITED = ACE4_FILE_INHERIT_ACE | ACE4_DIRECTORY_INHERIT_ACE | ACE4_INHERIT_ONLY_ACE };

/* What the entries of one list are made from: the rights of each class, as far as the mask lets them through.
 * users and groups: all that any of the named ones has. */
struct from_list {
	const struct rr_vfs_acl *acl;
	uint32_t owner, users, group, groups, other, mask;
	bool is_directory;
	uint32_t flags; /* of all entries */
	void (*put)(void *ctx, const struct rr_acl4_entry *entry);
	void *ctx;
};

/* Returns the bits of version 4 for the rights 0 to 7 of POSIX. */
static uint32_t
from_rights(const struct from_list *from, uint32_t perm)
{
	return (perm & 4 ? ACE4_READ_DATA : 0) |
	       (perm & 2 ? ACE4_WRITE_DATA | ACE4_APPEND_DATA | (from->is_directory ? ACE4_DELETE_CHILD : 0)
			 : 0) |
	       (perm & 1 ? ACE4_EXECUTE : 0);
}

/* Everybody may read attributes and lists, and the owner may set them, whatever the list says. */
static void
from_allow(const struct from_list *from, enum rr_acl4_who who, uint32_t flag, uint32_t id, uint32_t perm)
{
	struct rr_acl4_entry entry = { ACE4_ACCESS_ALLOWED_ACE_TYPE, from->flags | flag,
		from_rights(from, perm) | ACE4_READ_ATTRIBUTES | ACE4_READ_ACL | ACE4_SYNCHRONIZE, who, id };

	if (who == RR_ACL4_OWNER)
		entry.mask |= ACE4_WRITE_ATTRIBUTES | ACE4_WRITE_ACL;
	from->put(from->ctx, &entry);
}

/* Denies what is not in perm, but in later. */
static void
from_deny(const struct from_list *from, enum rr_acl4_who who, uint32_t flag, uint32_t id, uint32_t perm,
	uint32_t later)
{
	const struct rr_acl4_entry entry = { ACE4_ACCESS_DENIED_ACE_TYPE, from->flags | flag,
		from_rights(from, ~perm & later), who, id };

	if (entry.mask != 0)
		from->put(from->ctx, &entry);
}

/* Finds the rights of each class. */
static void
from_sum_up(struct from_list *from)
{
	from->mask = 7;
	for (uint32_t i = 0; i < from->acl->count; i++)
		if (from->acl->entries[i].tag == RR_VFS_ACL_MASK)
			from->mask = from->acl->entries[i].perm;
	for (uint32_t i = 0; i < from->acl->count; i++) {
		const struct rr_vfs_ace *ace = &from->acl->entries[i];

		switch (ace->tag) {
		case RR_VFS_ACL_USER_OBJ: from->owner = ace->perm; break;
		case RR_VFS_ACL_USER: from->users |= ace->perm & from->mask; break;
		case RR_VFS_ACL_GROUP_OBJ: from->group = ace->perm & from->mask; break;
		case RR_VFS_ACL_GROUP: from->groups |= ace->perm & from->mask; break;
		case RR_VFS_ACL_OTHER: from->other = ace->perm; break;
		default: break;
		}
	}
}

/* A caller in several groups has what any of them has: all of them are allowed before any is denied. */
static void
from_groups(const struct from_list *from)
{
	const struct rr_vfs_acl *acl = from->acl;

	from_allow(from, RR_ACL4_GROUP, ACE4_IDENTIFIER_GROUP, 0, from->group);
	for (uint32_t i = 0; i < acl->count; i++)
		if (acl->entries[i].tag == RR_VFS_ACL_GROUP)
			from_allow(from, RR_ACL4_NAMED, ACE4_IDENTIFIER_GROUP, acl->entries[i].id,
				acl->entries[i].perm & from->mask);
	from_deny(from, RR_ACL4_GROUP, ACE4_IDENTIFIER_GROUP, 0, from->group, from->other);
	for (uint32_t i = 0; i < acl->count; i++)
		if (acl->entries[i].tag == RR_VFS_ACL_GROUP)
			from_deny(from, RR_ACL4_NAMED, ACE4_IDENTIFIER_GROUP, acl->entries[i].id,
				acl->entries[i].perm & from->mask, from->other);
}

static void
from_put(struct from_list *from)
{
	const struct rr_vfs_acl *acl = from->acl;
	uint32_t behind;

	from_sum_up(from);
	behind = from->group | from->groups | from->other;
	from_deny(from, RR_ACL4_OWNER, 0, 0, from->owner, from->users | behind);
	from_allow(from, RR_ACL4_OWNER, 0, 0, from->owner);
	for (uint32_t i = 0; i < acl->count; i++) {
		const struct rr_vfs_ace *ace = &acl->entries[i];

		if (ace->tag != RR_VFS_ACL_USER)
			continue;
		from_deny(from, RR_ACL4_NAMED, 0, ace->id, ace->perm & from->mask, behind);
		from_allow(from, RR_ACL4_NAMED, 0, ace->id, ace->perm & from->mask);
	}
	from_groups(from);
	from_allow(from, RR_ACL4_EVERYONE, 0, 0, from->other);
}

void
rr_acl4_from_posix(const struct rr_vfs_acl *access, const struct rr_vfs_acl *inherited, bool is_directory,
	void (*put)(void *ctx, const struct rr_acl4_entry *entry), void *ctx)
{
	struct from_list from = { .acl = access, .is_directory = is_directory, .put = put, .ctx = ctx };

	from_put(&from);
	if (!is_directory || inherited->count == 0)
		return;
	from = (struct from_list){
		.acl = inherited, .is_directory = true, .flags = FROM_INHERITED, .put = put, .ctx = ctx
	};
	from_put(&from);
}
