/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_SYSTEM_H
#define RR_VFS_SYSTEM_H

#include <fcntl.h>

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
/* Returns the bits of a mode of stat(2) that stand for the type, or 0 for a number that is no type. */
uint32_t rr_vfs_mode_of(enum rr_vfs_type type);

/* Copies the target of a symbolic link into a string. Errors: NAME_TOO_LONG; INVAL if the target is empty or
 * has a NUL. */
enum rr_vfs_status rr_vfs_target(struct rpcrdma_bytes target, char text[RR_VFS_TARGET_MAX + 1]);

/* Copies the name of an extended attribute into a string, behind RR_VFS_XATTR_PREFIX. Errors: BAD_CHAR if the
 * name is empty or has a NUL; NAME_TOO_LONG. */
enum rr_vfs_status rr_vfs_xattr_name(struct rpcrdma_bytes name, char text[RR_VFS_NAME_MAX + 1]);

/* Copies those of the names of extended attributes that have the prefix, without it, to xattr->value, as far
 * as there is room, and sets xattr->length to the octets that all of them need. names has size octets; each
 * name ends with a zero octet. Errors: XATTR_SIZE if there is not room for all. */
enum rr_vfs_status rr_vfs_xattr_names(struct rr_vfs_xattr *xattr, const char *names, size_t size);

/* Translates the kind and the range of a lock into *range for fcntl(2). There the length 0 means "to the end
 * of the file"; in lock->length, UINT64_MAX means that. Errors: INVAL if the range is invalid. */
enum rr_vfs_status rr_vfs_lock_range(const struct rr_vfs_lock *lock, struct flock *range);

/* Translates the answer to F_GETLK. Returns RR_VFS_OK if no lock is in the way, else RR_VFS_LOCK, with that
 * lock in lock->conflict. */
enum rr_vfs_status rr_vfs_lock_conflict(struct rr_vfs_lock *lock, const struct flock *range);

#endif
