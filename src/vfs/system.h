/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_SYSTEM_H
#define RR_VFS_SYSTEM_H

#include "vfs/vfs.h"

/* These functions translate between the system calls of a file system and the terms of vfs.h. They are for
 * providers whose storage has such calls or functions like them. */

/* Clients see the extended attributes of one name space, by names without its prefix (RFC 8276, section 5).
 */
#define RR_VFS_XATTR_PREFIX "user."

enum { RR_VFS_XATTR_PREFIX_SIZE = sizeof(RR_VFS_XATTR_PREFIX) - 1 };

/* Translates an errno into a status: 0 is RR_VFS_OK, an unknown errno is RR_VFS_IO. */
enum rr_vfs_status rr_vfs_errno(int error);

/* Returns the type that a mode of stat(2) contains. */
enum rr_vfs_type rr_vfs_type_of(uint32_t mode);

/* Copies the target of a symbolic link into a string. Errors: NAME_TOO_LONG; INVAL if the target is empty or
 * has a NUL. */
enum rr_vfs_status rr_vfs_target(struct rpcrdma_bytes target, char text[RR_VFS_TARGET_MAX + 1]);

/* Copies the name of an extended attribute into a string, behind RR_VFS_XATTR_PREFIX. Errors: BAD_CHAR if the
 * name is empty or has a NUL; NAME_TOO_LONG. */
enum rr_vfs_status rr_vfs_xattr_name(struct rpcrdma_bytes name, char text[RR_VFS_NAME_MAX + 1]);

#endif
