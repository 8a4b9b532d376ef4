/* SPDX-License-Identifier: BSD-3-Clause */
#include "vfs/acl/nfsacl.h"

/* Entries of the shortest list, which has a mask on the wire. */
enum { NFSACL_LEAST = 4 };

uint32_t
rr_nfsacl_count(const struct rr_vfs_acl *acl)
{
	return acl->count == RR_ACL_LEAST ? NFSACL_LEAST : acl->count;
}

void
rr_nfsacl_put(const struct rr_vfs_acl *acl, uint32_t uid, uint32_t gid, uint32_t flags, aclent *to)
{
	for (uint32_t i = 0; i < acl->count; i++) {
		const struct rr_vfs_ace *ace = &acl->entries[i];
		uint32_t id = ace->tag == RR_VFS_ACL_USER_OBJ    ? uid
			      : ace->tag == RR_VFS_ACL_GROUP_OBJ ? gid
								 : ace->id;

		*to++ = (aclent){ .type = (int32_t)(ace->tag | flags), .id = id, .perm = ace->perm };
		if (acl->count == RR_ACL_LEAST && ace->tag == RR_VFS_ACL_GROUP_OBJ)
			*to++ = (aclent){ .type = (int32_t)(RR_VFS_ACL_MASK | flags), .perm = ace->perm };
	}
}

static void
nfsacl_drop_mask(struct rr_vfs_acl *acl)
{
	if (acl->count != NFSACL_LEAST || acl->entries[2].tag != RR_VFS_ACL_MASK ||
		acl->entries[1].tag != RR_VFS_ACL_GROUP_OBJ || acl->entries[1].perm != acl->entries[2].perm)
		return;
	acl->entries[2] = acl->entries[3];
	acl->count = RR_ACL_LEAST;
}

enum rr_vfs_status
rr_nfsacl_take(const aclent *from, uint32_t count, bool is_default, struct rr_vfs_acl *acl)
{
	enum rr_vfs_status status;

	acl->count = count;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t tag = (uint32_t)from[i].type & ~(uint32_t)RR_NFSACL_DEFAULT, perm = from[i].perm;

		if (tag == RR_VFS_ACL_MASK)
			perm &= 7;
		if (tag > UINT8_MAX || perm > 7)
			return RR_VFS_INVAL;
		acl->entries[i] = (struct rr_vfs_ace){ (uint8_t)tag, (uint8_t)perm, from[i].id };
	}
	status = rr_acl_check(acl, is_default);
	if (status == RR_VFS_OK)
		nfsacl_drop_mask(acl);
	return status;
}
