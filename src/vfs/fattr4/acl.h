/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_FATTR4_ACL_H
#define RR_VFS_FATTR4_ACL_H

#include "vfs/acl/nfs4.h"
#include "vfs/fattr4/attr.h"

/* The values of the attributes acl and dacl: nfsace4<>. */

/* Writes the lists of an object as one list. names: for a caller who gets names; NULL: numbers. */
void rr_attr_put_acl(struct rpcrdma_xdr_writer *writer, const struct rr_vfs_getacl *acl, bool is_directory,
	const struct rr_idmap_asking *names);

/* Reads a list that is to be set. Returns NFS4ERR_BADXDR; NFS4ERR_FBIG if it has more entries than room;
 * NFS4ERR_INVAL for a second list; NFS4ERR_BADOWNER for an entry that names nobody; NFS4ERR_DELAY if it is
 * not known yet whom it names. */
nfsstat4 rr_attr_get_acl(
	struct rpcrdma_xdr_reader *reader, const struct rr_idmap_asking *asking, struct rr_attr_acl *acl);

/* Octets of the largest list that a client reads or sets. */
enum { RR_ATTR_LIST = 48 << 10 };

/* A list as a server sent it, or as it is sent, and the lists of POSIX that it stands for. */
struct rr_attr_lists {
	uint32_t length;
	uint8_t octets[RR_ATTR_LIST];
	struct rr_vfs_acl access, inherited; /* their entries lie in aces */
	struct rr_vfs_ace aces[2][RR_ACL4_MAX + 4];
	struct rr_acl4_entry entries[RR_ACL4_MAX];
	struct rr_acl4_right rights[RR_ACL4_MAX];
};

/* Keeps the octets of the attribute acl. Returns false if there are more than RR_ATTR_LIST. */
bool rr_attr_lists_keep(struct rr_attr_lists *lists, struct rpcrdma_bytes acl);
/* Makes lists of POSIX of the octets. Returns RR_VFS_OK; RR_VFS_IO: they make no sense; RR_VFS_BUSY: it is
 * not known yet whom they name; RR_VFS_NOTSUPP: they say what POSIX cannot say, or name somebody who is
 * nobody here. To leave out such an entry might give others more than they have. */
enum rr_vfs_status rr_attr_lists_read(
	struct rr_attr_lists *lists, bool is_directory, const struct rr_idmap_asking *asking);
/* Writes the octets that stand for the two lists; one of them that is NULL is as it was read. Returns
 * RR_VFS_OK, or RR_VFS_INVAL: there is no room. */
enum rr_vfs_status rr_attr_lists_write(struct rr_attr_lists *lists, bool is_directory,
	const struct rr_vfs_acl *access, const struct rr_vfs_acl *inherited);

#endif
