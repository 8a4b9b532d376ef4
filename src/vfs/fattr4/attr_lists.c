/* SPDX-License-Identifier: BSD-3-Clause */
/* The attribute acl, as clients read and set it: one list of version 4 for both lists of POSIX. */
#include <string.h>

#include "vfs/fattr4/acl.h"

bool
rr_attr_lists_keep(struct rr_attr_lists *lists, struct rpcrdma_bytes acl)
{
	if (acl.length > sizeof(lists->octets))
		return false;
	lists->length = acl.length;
	if (acl.length > 0)
		memcpy(lists->octets, acl.data, acl.length);
	return true;
}

enum rr_vfs_status
rr_attr_lists_read(struct rr_attr_lists *lists, bool is_directory, const struct rr_idmap_asking *asking)
{
	const struct rpcrdma_message message = { .stream = lists->octets, .length = lists->length };
	struct rr_attr_acl list = { .entries = lists->entries, .room = RR_ACL4_MAX };
	struct rpcrdma_xdr_reader reader;
	nfsstat4 error;

	lists->access = (struct rr_vfs_acl){ 0, lists->aces[0] };
	lists->inherited = (struct rr_vfs_acl){ 0, lists->aces[1] };
	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	error = rr_attr_get_acl(&reader, asking, &list);
	if (error == NFS4ERR_DELAY)
		return RR_VFS_BUSY;
	if (error != NFS4_OK)
		return error == NFS4ERR_BADXDR ? RR_VFS_IO : RR_VFS_NOTSUPP;
	return rr_acl4_to_posix(list.entries, list.count, is_directory, lists->rights, &lists->access,
		       &lists->inherited) == RR_VFS_OK
		       ? RR_VFS_OK
		       : RR_VFS_NOTSUPP;
}

enum rr_vfs_status
rr_attr_lists_write(struct rr_attr_lists *lists, bool is_directory, const struct rr_vfs_acl *access,
	const struct rr_vfs_acl *inherited)
{
	const struct rr_vfs_getacl both = {
		.access = access ? *access : lists->access,
		.inherited = inherited ? *inherited : lists->inherited,
	};
	struct rpcrdma_xdr_writer writer;

	rpcrdma_xdr_writer_init(&writer, lists->octets, sizeof(lists->octets), NULL, 0);
	rr_attr_put_acl(&writer, &both, is_directory, NULL);
	lists->length = (uint32_t)rpcrdma_xdr_length(&writer);
	return writer.failed ? RR_VFS_INVAL : RR_VFS_OK;
}
