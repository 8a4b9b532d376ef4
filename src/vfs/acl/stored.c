/* SPDX-License-Identifier: BSD-3-Clause */
/* Access lists as Linux stores them in extended attributes: the version 2, and entries of tag, permissions
 * and number, all little-endian. The tags have the numbers of vfs.h. */
#include "vfs/acl/list.h"

enum { STORED_VERSION = 2, STORED_HEADER = 4, STORED_ENTRY = 8 };

static void
stored_put(uint8_t *to, uint32_t number, int octets)
{
	for (int i = 0; i < octets; i++)
		to[i] = (uint8_t)(number >> 8 * i);
}

static uint32_t
stored_get(const uint8_t *from, int octets)
{
	uint32_t number = 0;

	for (int i = 0; i < octets; i++)
		number |= (uint32_t)from[i] << 8 * i;
	return number;
}

uint32_t
rr_acl_put_stored(const struct rr_vfs_acl *acl, uint8_t *octets)
{
	uint8_t *at = octets + STORED_HEADER;

	stored_put(octets, STORED_VERSION, 4);
	for (uint32_t i = 0; i < acl->count; i++, at += STORED_ENTRY) {
		const struct rr_vfs_ace *ace = &acl->entries[i];
		bool named = ace->tag == RR_VFS_ACL_USER || ace->tag == RR_VFS_ACL_GROUP;

		stored_put(at, ace->tag, 2);
		stored_put(at + 2, ace->perm, 2);
		stored_put(at + 4, named ? ace->id : UINT32_MAX, 4);
	}
	return (uint32_t)(at - octets);
}

enum rr_vfs_status
rr_acl_get_stored(const uint8_t *octets, size_t size, struct rr_vfs_acl *acl)
{
	acl->count = 0;
	if (size < STORED_HEADER || stored_get(octets, 4) != STORED_VERSION)
		return RR_VFS_IO;
	if ((size - STORED_HEADER) % STORED_ENTRY != 0 ||
		(size - STORED_HEADER) / STORED_ENTRY > RR_VFS_ACL_MAX)
		return RR_VFS_IO;
	for (const uint8_t *at = octets + STORED_HEADER; at < octets + size; at += STORED_ENTRY) {
		uint32_t tag = stored_get(at, 2), perm = stored_get(at + 2, 2);

		if (tag > UINT8_MAX || perm > 7)
			return RR_VFS_IO;
		acl->entries[acl->count++] =
			(struct rr_vfs_ace){ (uint8_t)tag, (uint8_t)perm, stored_get(at + 4, 4) };
	}
	return rr_acl_check(acl, true) == RR_VFS_OK ? RR_VFS_OK : RR_VFS_IO;
}
