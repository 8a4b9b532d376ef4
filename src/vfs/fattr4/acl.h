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

#endif
