/* SPDX-License-Identifier: BSD-3-Clause */
/* This file lists the procedures of procedure.h and newer.h, by their numbers. */
#include "nfs/v4/private.h"

const struct rr_v4_work *const rr_v4_procedures[] = {
	[NFSPROC3_GETATTR] = &rr_v4_getattr3,
	[NFSPROC3_SETATTR] = &rr_v4_setattr3,
	[NFSPROC3_LOOKUP] = &rr_v4_lookup3,
	[NFSPROC3_ACCESS] = &rr_v4_access3,
	[NFSPROC3_READLINK] = &rr_v4_readlink3,
	[NFSPROC3_READ] = &rr_v4_read3,
	[NFSPROC3_WRITE] = &rr_v4_write3,
	[NFSPROC3_CREATE] = &rr_v4_create3,
	[NFSPROC3_MKDIR] = &rr_v4_mkdir3,
	[NFSPROC3_SYMLINK] = &rr_v4_symlink3,
	[NFSPROC3_MKNOD] = &rr_v4_mknod3,
	[NFSPROC3_REMOVE] = &rr_v4_remove3,
	[NFSPROC3_RMDIR] = &rr_v4_rmdir3,
	[NFSPROC3_RENAME] = &rr_v4_rename3,
	[NFSPROC3_LINK] = &rr_v4_link3,
	[NFSPROC3_READDIR] = &rr_v4_readdir3,
	[NFSPROC3_READDIRPLUS] = &rr_v4_readdirplus3,
	[NFSPROC3_FSSTAT] = &rr_v4_fsstat3,
	[NFSPROC3_FSINFO] = &rr_v4_fsinfo3,
	[NFSPROC3_COMMIT] = &rr_v4_commit3,
	[RR_V4_WALK] = &rr_v4_walk,
	[RR_V4_READ_ONCE] = &rr_v4_read_once,
	[RR_V4_PUT] = &rr_v4_put,
	[RR_V4_SEEK] = &rr_v4_seek,
	[RR_V4_COPY] = &rr_v4_copy,
	[RR_V4_CLONE] = &rr_v4_clone,
	[RR_V4_GETXATTR] = &rr_v4_getxattr,
	[RR_V4_SETXATTR] = &rr_v4_setxattr,
	[RR_V4_REMOVEXATTR] = &rr_v4_removexattr,
	[RR_V4_LISTXATTRS] = &rr_v4_listxattrs,
};

const uint32_t rr_v4_procedure_count = sizeof(rr_v4_procedures) / sizeof(rr_v4_procedures[0]);

/* The sizes of results that are not those of version 3. */
static const size_t proc_sizes[RR_V4_PROCEDURES] = {
	[NFSPROC3_GETATTR] = sizeof(struct rr_nfs_found),
	[NFSPROC3_LOOKUP] = sizeof(struct rr_nfs_found),
	[NFSPROC3_CREATE] = sizeof(struct rr_nfs_found),
	[NFSPROC3_MKDIR] = sizeof(struct rr_nfs_found),
	[NFSPROC3_SYMLINK] = sizeof(struct rr_nfs_found),
	[NFSPROC3_MKNOD] = sizeof(struct rr_nfs_found),
	[NFSPROC3_READDIRPLUS] = sizeof(struct rr_nfs_list),
	[RR_V4_WALK] = sizeof(struct rr_nfs_found),
	[RR_V4_READ_ONCE] = sizeof(READ3res),
	[RR_V4_PUT] = sizeof(nfsstat3),
	[RR_V4_SEEK] = sizeof(struct rr_v4_seek_result),
	[RR_V4_COPY] = sizeof(struct rr_v4_copy_result),
	[RR_V4_CLONE] = sizeof(struct rr_v4_copy_result),
	[RR_V4_GETXATTR] = sizeof(struct rr_v4_xattr_result),
	[RR_V4_SETXATTR] = sizeof(struct rr_v4_xattr_result),
	[RR_V4_REMOVEXATTR] = sizeof(struct rr_v4_xattr_result),
	[RR_V4_LISTXATTRS] = sizeof(struct rr_v4_xattr_result),
};

size_t
rr_v4_result_size(uint32_t proc)
{
	return proc_sizes[proc] ? proc_sizes[proc] : NFS_V3_program.procedures[proc].result_size;
}
