/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FUSE_SILLY_H
#define RR_FUSE_SILLY_H

#include "fuse/request.h"

/*
 * A file whose last name is removed while it is open here stays readable: a server of NFS version 3 knows no
 * opens, so the file is renamed in its directory, to ".nfs" and a number, and removed when it is closed. The
 * kernel's NFS client does the same. Until then a directory with such a name in it is not empty.
 */
struct rr_fuse_silly {
	struct rr_vfs_handle directory;
	char name[32];
	uint32_t uid, gid;
};

/* For a request that is about to remove, or to replace, the name names[which] in the directory: if the name
 * is the last one of a file that is open here, renames it. Goes on with then(): RR_VFS_OK: the name is as it
 * was; RR_VFS_EXIST: the file has another name now; any other status: the renaming failed. */
void rr_fuse_silly_look(struct rr_fuse_request *request, const struct rr_fuse_node *directory, unsigned which,
	rr_fuse_step *then);

/* Removes the file, as nobody has it open any more. */
void rr_fuse_silly_remove(struct rr_fuse_node *node);

#endif
