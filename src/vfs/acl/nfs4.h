/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_ACL_NFS4_H
#define RR_VFS_ACL_NFS4_H

#include "ulb/nfs42.h"
#include "vfs/acl/list.h"

/*
 * Access lists of NFS version 4 (RFC 8881, section 6.2.1) from those of POSIX, and back, by the rules of
 * draft-ietf-nfsv4-acl-mapping. From POSIX, a list of version 4 says exactly the same. Back, the rights of
 * POSIX are at most those that the list of version 4 gives.
 */

enum rr_acl4_who { RR_ACL4_OWNER, RR_ACL4_GROUP, RR_ACL4_EVERYONE, RR_ACL4_NAMED };

/* An nfsace4. ACE4_IDENTIFIER_GROUP in flag says whether id is that of a group. */
struct rr_acl4_entry {
	uint32_t type, flag, mask;
	enum rr_acl4_who who;
	uint32_t id; /* where who is RR_ACL4_NAMED */
};

/* The most entries of a list that is set: the work grows with the square of them. */
enum { RR_ACL4_MAX = 512 };

/* Calls put() for each entry of the list of version 4 that stands for the list of an object, and, if the
 * object is a directory, for the one that is inherited. */
void rr_acl4_from_posix(const struct rr_vfs_acl *access, const struct rr_vfs_acl *inherited,
	bool is_directory, void (*put)(void *ctx, const struct rr_acl4_entry *entry), void *ctx);

/* The rights that somebody has, as the entries read so far say. */
struct rr_acl4_right {
	uint32_t tag, id;
	uint32_t allow, deny;
};

/* Makes the lists of POSIX: the one of the object, and the one that is inherited, which has no entries if
 * none of the list of version 4 is inherited. rights: memory for count of them; each of the lists has room
 * for count + 4 entries. Returns RR_VFS_OK; RR_VFS_NOTSUPP for types and flags that POSIX does not have;
 * RR_VFS_INVAL for entries that are inherited from an object that is no directory, and for lists that are too
 * long for POSIX. */
enum rr_vfs_status rr_acl4_to_posix(const struct rr_acl4_entry *entries, uint32_t count, bool is_directory,
	struct rr_acl4_right *rights, struct rr_vfs_acl *access, struct rr_vfs_acl *inherited);

#endif
