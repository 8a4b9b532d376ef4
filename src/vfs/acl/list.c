/* SPDX-License-Identifier: BSD-3-Clause */
#include "vfs/acl/list.h"

#include <stdlib.h>

static int
list_compare(const void *a, const void *b)
{
	const struct rr_vfs_ace *x = a, *y = b;

	if (x->tag != y->tag)
		return x->tag < y->tag ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static bool
list_is_named(const struct rr_vfs_ace *ace)
{
	return ace->tag == RR_VFS_ACL_USER || ace->tag == RR_VFS_ACL_GROUP;
}

/* Tells whether the entry may be in a list, looked at alone. */
static bool
list_is_entry(const struct rr_vfs_ace *ace)
{
	switch (ace->tag) {
	case RR_VFS_ACL_USER_OBJ:
	case RR_VFS_ACL_USER:
	case RR_VFS_ACL_GROUP_OBJ:
	case RR_VFS_ACL_GROUP:
	case RR_VFS_ACL_MASK:
	case RR_VFS_ACL_OTHER: break;
	default: return false;
	}
	return ace->perm <= 7 && !(list_is_named(ace) && ace->id == UINT32_MAX);
}

enum rr_vfs_status
rr_acl_check(struct rr_vfs_acl *acl, bool is_default)
{
	uint32_t tags = 0;
	bool named = false;

	if (acl->count == 0)
		return is_default ? RR_VFS_OK : RR_VFS_INVAL;
	if (acl->count > RR_VFS_ACL_MAX)
		return RR_VFS_INVAL;
	for (uint32_t i = 0; i < acl->count; i++) {
		if (!list_is_entry(&acl->entries[i]))
			return RR_VFS_INVAL;
		/* Numbers count where they name somebody. */
		if (!list_is_named(&acl->entries[i]))
			acl->entries[i].id = 0;
		named |= list_is_named(&acl->entries[i]);
		tags |= acl->entries[i].tag;
	}
	qsort(acl->entries, acl->count, sizeof(acl->entries[0]), list_compare);
	for (uint32_t i = 1; i < acl->count; i++)
		if (list_compare(&acl->entries[i - 1], &acl->entries[i]) == 0)
			return RR_VFS_INVAL;
	if (!(tags & RR_VFS_ACL_USER_OBJ) || !(tags & RR_VFS_ACL_GROUP_OBJ) || !(tags & RR_VFS_ACL_OTHER))
		return RR_VFS_INVAL;
	return named && !(tags & RR_VFS_ACL_MASK) ? RR_VFS_INVAL : RR_VFS_OK;
}

void
rr_acl_from_mode(uint32_t mode, struct rr_vfs_acl *acl)
{
	acl->entries[0] = (struct rr_vfs_ace){ RR_VFS_ACL_USER_OBJ, mode >> 6 & 7, 0 };
	acl->entries[1] = (struct rr_vfs_ace){ RR_VFS_ACL_GROUP_OBJ, mode >> 3 & 7, 0 };
	acl->entries[2] = (struct rr_vfs_ace){ RR_VFS_ACL_OTHER, mode & 7, 0 };
	acl->count = RR_ACL_LEAST;
}
