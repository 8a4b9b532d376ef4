/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_MEMORY_RUN_H
#define RR_VFS_MEMORY_RUN_H

#include "memory_private.h"

/* How operations are begun and executed, and the operations. */

extern enum rr_vfs_status (*const rr_memory_runs[RR_VFS_OPERATIONS])(struct rr_memory_run *run);

/* ---- job.c ---- */
/* Begins an operation. Returns its status, or RR_VFS_PENDING where it became a job. */
enum rr_vfs_status rr_memory_begin(
	struct rr_vfs *vfs, enum rr_vfs_operation operation, struct rr_vfs_call *call);
/* Cancels the operation of this call. Where the operation was not executed yet, it ends in the next turn with
 * RR_VFS_CANCELLED; while a script holds it, after rr_memory_release(). An operation that was executed ends
 * with its own status. */
void rr_memory_cancel(struct rr_vfs *vfs, struct rr_vfs_call *call);
/* Does one turn of the provider's jobs: the function of its timer. */
void rr_memory_turn(struct rr_timer *timer);
/* Lets operations that wait for a lease go on in the next turn. */
void rr_memory_wake(struct rr_memory *memory);

/* ---- run.c ---- */
/* Executes an operation. Returns its status, or RR_VFS_PENDING where a lease is being recalled and nothing
 * was done. */
enum rr_vfs_status rr_memory_run(
	struct rr_memory_vfs *vfs, enum rr_vfs_operation operation, struct rr_vfs_call *call);
/* Ends the operation with this status, which is not RR_VFS_OK, without executing it, and fills those members
 * of its output that are valid after a failure, too. Returns the status. */
enum rr_vfs_status rr_memory_skip(struct rr_memory_vfs *vfs, enum rr_vfs_operation operation,
	struct rr_vfs_call *call, enum rr_vfs_status status);

/* ---- set.c ---- */
/* Sets the size of a file. The caller's permission is not checked. */
enum rr_vfs_status rr_memory_set_size(struct rr_memory *memory, struct rr_memory_node *node, uint64_t size);
/* Sets the user and the group, as far as set->mask asks for them and the caller may set them, and adds their
 * bits to *applied. */
enum rr_vfs_status rr_memory_set_owner(struct rr_memory_run *run, struct rr_memory_node *node,
	const struct rr_vfs_set *set, uint32_t *applied);
/* Does the same for the mode. */
enum rr_vfs_status rr_memory_set_mode(struct rr_memory_run *run, struct rr_memory_node *node,
	const struct rr_vfs_set *set, uint32_t *applied);
/* Sets the times of access and modification for which set->mask asks, and adds their bits to *applied.
 * Returns RR_VFS_INVAL for a time with 10^9 nanoseconds or more, and an error where the caller may not set
 * them. "Now" is the change time, which this function advances. */
enum rr_vfs_status rr_memory_set_times(struct rr_memory_run *run, struct rr_memory_node *node,
	const struct rr_vfs_set *set, uint32_t *applied);

/* ---- the operations, each in the file of its kind ---- */
enum rr_vfs_status rr_memory_getattr(struct rr_memory_run *run);
enum rr_vfs_status rr_memory_setattr(struct rr_memory_run *run);
enum rr_vfs_status rr_memory_access(struct rr_memory_run *run);
enum rr_vfs_status rr_memory_readlink(struct rr_memory_run *run);
enum rr_vfs_status rr_memory_read(struct rr_memory_run *run);
enum rr_vfs_status rr_memory_write(struct rr_memory_run *run);
enum rr_vfs_status rr_memory_commit(struct rr_memory_run *run);
enum rr_vfs_status rr_memory_seek(struct rr_memory_run *run);
enum rr_vfs_status rr_memory_allocate(struct rr_memory_run *run);
enum rr_vfs_status rr_memory_deallocate(struct rr_memory_run *run);
enum rr_vfs_status rr_memory_copy(struct rr_memory_run *run);
enum rr_vfs_status rr_memory_clone(struct rr_memory_run *run);
enum rr_vfs_status rr_memory_open(struct rr_memory_run *run);
enum rr_vfs_status rr_memory_lock(struct rr_memory_run *run);
enum rr_vfs_status rr_memory_lease(struct rr_memory_run *run);
enum rr_vfs_status rr_memory_lookup(struct rr_memory_run *run);
enum rr_vfs_status rr_memory_create(struct rr_memory_run *run);
enum rr_vfs_status rr_memory_link(struct rr_memory_run *run);
enum rr_vfs_status rr_memory_remove(struct rr_memory_run *run);
enum rr_vfs_status rr_memory_rename(struct rr_memory_run *run);
enum rr_vfs_status rr_memory_readdir(struct rr_memory_run *run);
enum rr_vfs_status rr_memory_getxattr(struct rr_memory_run *run);
enum rr_vfs_status rr_memory_setxattr(struct rr_memory_run *run);
enum rr_vfs_status rr_memory_listxattr(struct rr_memory_run *run);
enum rr_vfs_status rr_memory_removexattr(struct rr_memory_run *run);
enum rr_vfs_status rr_memory_statfs(struct rr_memory_run *run);
enum rr_vfs_status rr_memory_limits(struct rr_memory_run *run);

#endif
