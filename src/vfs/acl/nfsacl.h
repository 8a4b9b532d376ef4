/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_ACL_NFSACL_H
#define RR_VFS_ACL_NFSACL_H

#include "ulb/nfs3.h"
#include "vfs/acl/list.h"

/* Access lists as NFSACL has them, the protocol beside NFS version 3, which has no public definition. */

/* Added to the type of each entry of a default list, and ignored where it comes in. */
enum { RR_NFSACL_DEFAULT = 0x1000 };

/* Returns the number of entries that a list has on the wire. One of three entries gets a mask, with the
 * rights of its group: clients and servers of Solaris know no list without a mask. */
uint32_t rr_nfsacl_count(const struct rr_vfs_acl *acl);

/* Writes the entries of a list, rr_nfsacl_count() of them. The owner and the group of the object stand with
 * their numbers. flags: 0, or RR_NFSACL_DEFAULT. */
void rr_nfsacl_put(const struct rr_vfs_acl *acl, uint32_t uid, uint32_t gid, uint32_t flags, aclent *to);

/* Reads a list into acl, which has room for count entries, and checks it. Bits of a mask beyond its rights
 * are ignored, as others do. A mask in a list of four entries that says the same as the group is removed:
 * such a list has no mask at its sender. Returns RR_VFS_OK or RR_VFS_INVAL. */
enum rr_vfs_status rr_nfsacl_take(
	const aclent *from, uint32_t count, bool is_default, struct rr_vfs_acl *acl);

#endif
