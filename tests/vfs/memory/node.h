/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_MEMORY_NODE_H
#define RR_VFS_MEMORY_NODE_H

#include "memory_private.h"

/* Objects of the storage: how they are found and made, what they take, who may use them, and their names. */

/* ---- handle.c ---- */
/* Writes a handle of the node to *handle. Each call writes a different handle, because an object may have
 * several. */
void rr_memory_handle(
	struct rr_memory *memory, const struct rr_memory_node *node, struct rr_vfs_handle *handle);
/* Returns the number of the export that a handle names, or export_count if it names no export of this
 * storage. A forged handle is not detected here. */
uint32_t rr_memory_export_of(const struct rr_memory *memory, struct rpcrdma_bytes handle);
/* Finds the node of an object by its open or by its handle. Errors: RR_VFS_BAD_HANDLE, RR_VFS_STALE. */
enum rr_vfs_status rr_memory_resolve(
	struct rr_memory *memory, const struct rr_vfs_object *object, struct rr_memory_node **node);
uint64_t rr_memory_random(struct rr_memory *memory);

/* ---- node.c ---- */
/* The attributes of a new node. */
struct rr_memory_make {
	enum rr_vfs_type type;
	uint32_t export, mode, uid, gid;
};

/* Makes a node without a name. Errors: RR_VFS_NOSPC, RR_VFS_DQUOT, RR_VFS_BUSY. */
enum rr_vfs_status rr_memory_node_new(
	struct rr_memory *memory, const struct rr_memory_make *make, struct rr_memory_node **node);
/* Frees the node where it has no name and no open uses it. */
void rr_memory_node_drop(struct rr_memory *memory, struct rr_memory_node *node);
/* Frees the node in any case, with its entries, its data and its extended attributes. A directory that has
 * entries is only freed with the whole storage. */
void rr_memory_node_free(struct rr_memory *memory, struct rr_memory_node *node);
/* Returns the time of the storage's clock. Each call advances this clock. */
struct rr_vfs_time rr_memory_now(struct rr_memory *memory);
/* Notes a change of the node in its change number and its change time, and where data is true, in its
 * modification time as well. */
void rr_memory_touch(struct rr_memory *memory, struct rr_memory_node *node, bool data);

/* ---- space.c ---- */
/* Counts octets and files as used by this user. Errors: RR_VFS_NOSPC, RR_VFS_DQUOT, with nothing counted. */
enum rr_vfs_status rr_memory_charge(struct rr_memory *memory, uint32_t uid, uint64_t octets, uint64_t files);
/* Undoes rr_memory_charge(): these octets and files are not used any more. */
void rr_memory_discharge(struct rr_memory *memory, uint32_t uid, uint64_t octets, uint64_t files);
/* Counts the space and the object of node as used by the user uid, not by its present owner any more,
 * whatever the quota of uid is. */
void rr_memory_recharge(struct rr_memory *memory, struct rr_memory_node *node, uint32_t uid);

/* ---- may.c ---- */
enum { RR_MEMORY_EXECUTE = 1, RR_MEMORY_WRITE_BIT = 2, RR_MEMORY_READ_BIT = 4 };
/* Tells whether the caller has these permissions on the node (RR_MEMORY_READ_BIT, ...). */
bool rr_memory_may(const struct rr_memory_node *node, const struct rr_vfs_caller *caller, unsigned bits);
/* Tells whether the group gid is one of the caller's groups. */
bool rr_memory_in_group(const struct rr_vfs_caller *caller, uint32_t gid);
/* Tells whether the caller has the rights of the node's owner: the caller is the owner, or user 0. */
bool rr_memory_is_owner(const struct rr_memory_node *node, const struct rr_vfs_caller *caller);
/* Returns RR_VFS_OK where the caller may change the entries of a directory, else RR_VFS_ACCESS. */
enum rr_vfs_status rr_memory_may_change(
	const struct rr_memory_node *directory, const struct rr_vfs_caller *caller);
/* Returns RR_VFS_OK where the caller may remove the node's entry from the directory; else RR_VFS_ACCESS, or
 * RR_VFS_PERM in a directory whose sticky bit is set. */
enum rr_vfs_status rr_memory_may_delete(const struct rr_memory_node *directory,
	const struct rr_memory_node *node, const struct rr_vfs_caller *caller);
/* Returns RR_VFS_OK where the caller may read or write the data of an object (access: RR_VFS_SHARE_*),
 * because of the object's open or by permission; else the status that says why not. Returns RR_VFS_PENDING
 * where a lease is being recalled. */
enum rr_vfs_status rr_memory_may_use(struct rr_memory_run *run, const struct rr_vfs_object *object,
	struct rr_memory_node *node, uint32_t access);

/* ---- entry.c ---- */
/* Returns the entry of a name in a directory, or NULL if there is none. */
struct rr_memory_entry *rr_memory_entry_find(
	const struct rr_memory *memory, const struct rr_memory_node *directory, struct rpcrdma_bytes name);
/* Adds a name of node to the directory, and sets the parent of a node that is a directory. Errors:
 * RR_VFS_BUSY. */
enum rr_vfs_status rr_memory_entry_add(struct rr_memory *memory, struct rr_memory_node *directory,
	struct rpcrdma_bytes name, struct rr_memory_node *node);
/* Takes the entry out of its directory and puts it under this name into "directory", which has no such name.
 */
void rr_memory_entry_move(struct rr_memory *memory, struct rr_memory_entry *entry,
	struct rr_memory_node *directory, struct rpcrdma_bytes name);
/* Removes the entry, and frees its node as well where the entry was the node's last name and no open uses the
 * node. */
void rr_memory_entry_remove(struct rr_memory *memory, struct rr_memory_entry *entry);

#endif
