/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FUSE_OPS_H
#define RR_FUSE_OPS_H

#include "fuse/request.h"

/* The operations of the kernel's FUSE protocol. Each gets a request with its node, its arguments, its names
 * and its data, and answers it at once or later. */
typedef void rr_fuse_run(struct rr_fuse_request *request);

/* op_object.c */
rr_fuse_run rr_fuse_op_getattr, rr_fuse_op_setattr, rr_fuse_op_access, rr_fuse_op_readlink, rr_fuse_op_statfs;
/* op_xattr.c */
rr_fuse_run rr_fuse_op_getxattr, rr_fuse_op_setxattr, rr_fuse_op_listxattr, rr_fuse_op_removexattr;
/* Answers FUSE_GETXATTR or FUSE_LISTXATTR with a value, or with its length where the program has asked for
 * that by a size of 0. */
void rr_fuse_answer_value(struct rr_fuse_request *request, const void *value, uint32_t length);

/* op_acl.c: whether the attribute of the request is an access list, and the mount has these; and the
 * operations on them. */
bool rr_fuse_is_acl(const struct rr_fuse_request *request);
rr_fuse_run rr_fuse_acl_get, rr_fuse_acl_remove;
void rr_fuse_acl_set(struct rr_fuse_request *request, uint32_t size);
/* op_name.c */
rr_fuse_run rr_fuse_op_lookup, rr_fuse_op_mknod, rr_fuse_op_mkdir, rr_fuse_op_symlink, rr_fuse_op_link,
	rr_fuse_op_unlink, rr_fuse_op_rmdir, rr_fuse_op_rename, rr_fuse_op_rename2;
/* op_open.c */
rr_fuse_run rr_fuse_op_open, rr_fuse_op_create, rr_fuse_op_flush, rr_fuse_op_release;
/* op_data.c */
rr_fuse_run rr_fuse_op_read, rr_fuse_op_write, rr_fuse_op_lseek, rr_fuse_op_fallocate, rr_fuse_op_copy;
/* op_list.c */
rr_fuse_run rr_fuse_op_opendir, rr_fuse_op_readdir, rr_fuse_op_releasedir, rr_fuse_op_fsyncdir;
/* op_lock.c */
rr_fuse_run rr_fuse_op_getlk, rr_fuse_op_setlk;

#endif
