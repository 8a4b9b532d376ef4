/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_MEMORY_MEMORY_PRIVATE_H
#define RR_VFS_MEMORY_MEMORY_PRIVATE_H

#include "base/map.h"
#include "memory.h"
#include "vfs/reserve.h"

/*
 * The storage owns the nodes. A node is freed when it has no name (links is 0) and no open holds it. A node
 * of a file has its pages, its extended attributes and a list of its opens; a directory has its entries. An
 * open belongs to the caller until close(), and then to the jobs that use it. A job is an operation that did
 * not end at once; it belongs to the provider that began it.
 */

enum { RR_MEMORY_PAGE = 4096, RR_MEMORY_QUOTAS = 8, RR_MEMORY_XATTR_MAX = 65536 };

/* A page of a file. data NULL: space is reserved, and no data was written. */
struct rr_memory_page {
	uint64_t index;
	uint8_t *data;
	/* Of a changed page: the data that comes back after a loss of power; NULL: zeros come back. */
	uint8_t *stable;
	enum {
		RR_MEMORY_SETTLED, /* a loss of power leaves the page as it is */
		RR_MEMORY_CHANGED, /* after a loss of power the page has the data "stable" */
		RR_MEMORY_FRESH    /* after a loss of power the page is gone */
	} state;
};

/* An extended attribute. */
struct rr_memory_xattr {
	struct rr_list link;
	uint32_t name_length, size;
	uint8_t octets[]; /* the name, then the value */
};

/* A node is an object of the storage: a file, a directory, a symbolic link or another type. */
struct rr_memory_node {
	struct rr_map_link by_number;
	struct rr_list all; /* in rr_memory.nodes */
	struct rr_vfs_attributes attributes;
	uint32_t export;
	uint32_t holders; /* opens that use the node */
	/* Members of a directory. */
	struct rr_memory_node *parent; /* of an export's root: itself */
	struct rr_list entries;        /* by cookie */
	uint64_t last_cookie;          /* the greatest cookie of an entry so far; 0: there was no entry yet */
	/* Members of a symbolic link. */
	char *target;
	uint32_t target_length;
	/* Members of a file. */
	struct rr_memory_page *pages;   /* by index */
	uint32_t page_count, page_room; /* pages in the array, and for how many it has memory */
	bool unstable;                  /* a loss of power would change the file */
	uint64_t stable_size;           /* if unstable: the size after a loss of power */
	struct rr_list opens;           /* rr_vfs_open.link: those that are not closed */
	/* Members of a file or a directory. */
	struct rr_list xattrs;
};

/* A name of a node in a directory. */
struct rr_memory_entry {
	struct rr_list link;
	struct rr_map_link by_name;
	struct rr_memory_node *directory, *node;
	uint64_t cookie;
	uint32_t length;
	char name[RR_VFS_NAME_MAX + 1];
};

/* A range of octets that an open has locked, from the first octet to the last one. */
struct rr_memory_range {
	struct rr_list link;
	enum rr_vfs_lock_kind kind;
	uint64_t first, last;
};

struct rr_memory_lease {
	struct rr_memory_vfs *vfs; /* the provider that was asked for the lease; NULL: there is no lease */
	void (*recall)(void *ctx);
	void *ctx;
	bool recalled; /* recall() was called, or is to be called */
};

struct rr_vfs_open {
	struct rr_reservation reservation;
	struct rr_list link; /* in its node's opens, until close() */
	struct rr_memory *memory;
	struct rr_memory_node *node;
	uint32_t jobs; /* operations under way that use the open */
	bool closed;
	struct rr_list ranges;
	struct rr_memory_lease lease;
	struct rr_list recalls; /* in rr_memory_vfs.recalls, until recall() of the lease was called */
};

/* The space of the whole storage, or the quota of a user. */
struct rr_memory_limit {
	uint32_t uid;                     /* of a quota */
	uint64_t octets, files;           /* the bounds */
	uint64_t octets_used, files_used; /* the octets and files in use */
};

struct rr_memory {
	const struct rr_env *env;
	struct rr_memory_config config;
	struct rr_memory_script script;
	struct rr_list vfss; /* the providers */
	uint8_t key[16];
	uint64_t dice;        /* the state of rr_memory_random() */
	uint64_t ticks;       /* the clock, in microseconds: goes on by one with each change */
	uint64_t last_number; /* the greatest number of an object so far */
	uint64_t free_number; /* of an object that was removed; 0: there is no such number */
	uint64_t verifier;
	/* Nodes by number, and entries by a hash of the directory and the name. */
	struct rr_map numbers, names;
	struct rr_list nodes;          /* all nodes */
	struct rr_memory_node **roots; /* of the exports */
	struct rr_memory_limit all, quotas[RR_MEMORY_QUOTAS];
	uint32_t quota_count;
	struct rr_reserve reserve;
};

/* A provider of the storage. */
struct rr_memory_vfs {
	struct rr_vfs vfs;
	struct rr_memory *memory;
	struct rr_list link;    /* in rr_memory.vfss */
	struct rr_list jobs;    /* in the order in which they began */
	struct rr_list recalls; /* opens whose lease is to be recalled */
	struct rr_timer timer;  /* for the next turn (rr_memory_turn()) */
};

/* An operation that is being executed. */
struct rr_memory_run {
	struct rr_memory *memory;
	struct rr_memory_vfs *vfs;
	struct rr_vfs_call *call;
	const struct rr_vfs_caller *caller;
	struct rr_memory_node *node, *second; /* the nodes of the operation's objects */
};

extern enum rr_vfs_status (*const rr_memory_runs[RR_VFS_OPERATIONS])(struct rr_memory_run *run);
extern const struct rr_vfs_ops rr_memory_ops;

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

/* ---- pages.c ---- */
/* Copies length octets from offset on to data. Holes are zeros. */
void rr_memory_pages_read(const struct rr_memory_node *node, uint64_t offset, uint8_t *data, uint32_t length);
/* Makes sure that the file has the page of this index. Where data is true, the page is about to be written:
 * it also gets memory for its data, and, while the file is unstable, keeps its stable content. Errors:
 * RR_VFS_NOSPC, RR_VFS_DQUOT, RR_VFS_BUSY. */
enum rr_vfs_status rr_memory_pages_make(
	struct rr_memory *memory, struct rr_memory_node *node, uint64_t index, bool data);
/* Writes as many octets as there is space for, and stores their number in *written. Returns an error only
 * where that number is 0. */
enum rr_vfs_status rr_memory_pages_write(struct rr_memory *memory, struct rr_memory_node *node,
	uint64_t offset, struct rpcrdma_bytes data, uint32_t *written);
/* Makes the octets from first up to (not including) end zero, and frees the pages that lie within. */
void rr_memory_pages_punch(
	struct rr_memory *memory, struct rr_memory_node *node, uint64_t first, uint64_t end);
/* Returns the position in node->pages of the first page with this index or a greater index, or page_count
 * where there is no such page. */
uint32_t rr_memory_pages_find(const struct rr_memory_node *node, uint64_t index);
/* Returns the first offset, at or behind offset, where there is data (data is true) or where there is none
 * (data is false). Where data is true and no data follows, returns UINT64_MAX. */
uint64_t rr_memory_pages_seek(const struct rr_memory_node *node, uint64_t offset, bool data);
void rr_memory_pages_free(struct rr_memory *memory, struct rr_memory_node *node);
/* Sets the size of the file, and frees the data behind that size. All data of the file is on stable storage
 * afterwards. */
void rr_memory_pages_resize(struct rr_memory *memory, struct rr_memory_node *node, uint64_t size);

/* ---- power.c ---- */
/* Keeps the stable content of a page that an unstable write is about to change. Does nothing where an earlier
 * write has changed or made the page since the last commit. Errors: RR_VFS_BUSY if there is no memory. */
enum rr_vfs_status rr_memory_keep_stable(struct rr_memory *memory, struct rr_memory_page *page);
/* Makes all data of the file stable. */
void rr_memory_settle(struct rr_memory *memory, struct rr_memory_node *node);

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

/* ---- open.c ---- */
/* Closes an open for the caller: ends its locks, its lease and its share reservation. open may be NULL. The
 * open is freed now, or when the last job that uses it ends. */
enum rr_vfs_status rr_memory_close(struct rr_vfs *vfs, struct rr_vfs_open *open, struct rr_vfs_call *call);
/* Frees the open if it is closed, and its node if that has no name and no other open. Does nothing where the
 * open is not closed. No job may use the open any more. */
void rr_memory_open_drop(struct rr_vfs_open *open);
/* Tells whether an open of the node denies others this access. */
bool rr_memory_denied(struct rr_memory *memory, const struct rr_memory_node *node, uint32_t access);

/* ---- lease.c ---- */
/* Recalls all leases of the node, except that of the open "except", which may be NULL. Returns RR_VFS_PENDING
 * where a lease is being recalled and was not given back yet, and RR_VFS_OK where there is no lease. */
enum rr_vfs_status rr_memory_recall(struct rr_memory_node *node, const struct rr_vfs_open *except);
/* Ends the lease of the open, if it has one. Where the lease was being recalled, the operations that wait for
 * leases try again in the next turn. */
void rr_memory_lease_end(struct rr_vfs_open *open);
/* Calls recall() of each lease that an operation wants back (vfs->recalls), and empties that list. The timer
 * of the provider calls this function in its turn, so that recall() is never called inside an operation. */
void rr_memory_recalls(struct rr_memory_vfs *vfs);

/* ---- lock.c ---- */
/* Removes all locks of the open. */
void rr_memory_unlock_all(struct rr_vfs_open *open);

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
