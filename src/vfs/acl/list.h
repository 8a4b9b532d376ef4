/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_ACL_LIST_H
#define RR_VFS_ACL_LIST_H

#include "vfs/vfs.h"

/* Access lists as POSIX 1003.1e, draft 17, has them: acl(5). */

/* Checks a list, and sorts its entries: by tag, then by number. acl(5): "A valid ACL contains exactly one
 * entry with each of the ACL_USER_OBJ, ACL_GROUP_OBJ, and ACL_OTHER tag types. ... If an ACL contains entries
 * of tag type ACL_USER or ACL_GROUP ... then exactly one entry of the ACL_MASK tag type is required". A list
 * without entries is valid where it is a default list: there is none then. Returns RR_VFS_OK or
 * RR_VFS_INVAL. */
enum rr_vfs_status rr_acl_check(struct rr_vfs_acl *acl, bool is_default);

/* Makes the list of an object that has none of its own, of its mode: three entries. The list has room for
 * RR_ACL_LEAST entries. */
enum { RR_ACL_LEAST = 3 };
void rr_acl_from_mode(uint32_t mode, struct rr_vfs_acl *acl);

/* ---- The form in extended attributes, of <linux/posix_acl_xattr.h> ---- */

#define RR_ACL_ACCESS  "system.posix_acl_access"
#define RR_ACL_DEFAULT "system.posix_acl_default"

/* Octets of a list of that many entries; and of the longest list. */
#define RR_ACL_STORED(count) (4 + 8 * (count))
enum { RR_ACL_STORED_MAX = RR_ACL_STORED(RR_VFS_ACL_MAX) };

/* Writes a list, and returns the number of octets: RR_ACL_STORED() of its count. */
uint32_t rr_acl_put_stored(const struct rr_vfs_acl *acl, uint8_t *octets);
/* Reads a list, with room for RR_VFS_ACL_MAX entries. Returns RR_VFS_OK, or RR_VFS_IO if the octets are no
 * list of that form. */
enum rr_vfs_status rr_acl_get_stored(const uint8_t *octets, size_t size, struct rr_vfs_acl *acl);

#endif
