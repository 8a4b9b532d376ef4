/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_DOOR_H
#define RR_VFS_DOOR_H

#include "vfs/vfs.h"

/*
 * The front door of vfs.h: all callers go through it, and what it does need not be done by providers. It
 * knows each operation from one table: which objects its call names, what its output tells, and what it
 * changes. For each call, it
 *   - checks that the caller has kept the rules of vfs.h (a call that breaks them is a defect of this
 *     program);
 *   - marks the outputs that count after a failure, too, as not valid, for operations that fail early;
 *   - refuses what changes anything with RR_VFS_ROFS, where the provider or the caller is read-only. The
 *     provider still finds the objects and their attributes, because servers tell them after a failure, too;
 *   - refuses access lists with RR_VFS_NOTSUPP, likewise, for a caller who is not to see any;
 *   - counts it, until it ends. It also ends the share reservation of an open that is closed (reserve.h).
 */

/* Bits of what an operation does. */
enum {
	RR_VFS_CHANGES = 1,  /* is refused where the provider or the caller is read-only */
	RR_VFS_ENTRIES = 2,  /* changes the entries of the directories that have a change in its output */
	RR_VFS_WRITES = 4,   /* a commit that begins later covers the operation */
	RR_VFS_COMMITS = 8,  /* is a commit */
	RR_VFS_INEXACT = 16, /* rr_vfs_change.exact is never true in its output */
	RR_VFS_FETCHES = 32, /* wants memory from the call's memory() (struct rr_vfs_read) */
	RR_VFS_LISTS = 64,   /* passes entries to the call's take() (struct rr_vfs_readdir) */
	RR_VFS_CUTS = 128    /* may set the size of a file (struct rr_vfs_setattr) */
};

/* A row of the table: what there is to know of an operation. Offsets are into the operation's structure; 0:
 * there is no such member. */
struct rr_vfs_row {
	const char *name;
	uint16_t objects[2]; /* struct rr_vfs_object: what the call names */
	uint16_t open;       /* struct rr_vfs_open *: of calls that name an open, and no object */
	uint16_t known;      /* struct rr_vfs_known, of the first object */
	uint16_t changes[2]; /* struct rr_vfs_change, of each object */
	uint16_t flags;
	/* Sets further outputs to what they are where the operation fails early, and checks what only this
	 * operation has as input. Returns RR_VFS_OK, or the status with which the operation is refused. NULL:
	 * there is nothing to do. */
	enum rr_vfs_status (*prepare)(const struct rr_vfs *vfs, struct rr_vfs_call *call);
};

extern const struct rr_vfs_row rr_vfs_rows[RR_VFS_OPERATIONS];

/* Returns the member at this offset of an operation's structure, or NULL where offset is 0. */
static inline void *
rr_vfs_member(struct rr_vfs_call *call, uint16_t offset)
{
	return offset ? (char *)call + offset : NULL;
}

/* Tells whether nothing may be changed: the provider or the caller is read-only. */
static inline bool
rr_vfs_is_read_only(const struct rr_vfs *vfs, const struct rr_vfs_call *call)
{
	return vfs->read_only || call->caller->read_only;
}

/* ---- for callers ---- */

/* Begins an operation. call is the first member of the operation's structure. Returns as vfs.h says: its
 * status, or RR_VFS_PENDING. */
enum rr_vfs_status rr_vfs_begin(
	struct rr_vfs *vfs, enum rr_vfs_operation operation, struct rr_vfs_call *call);

/* Defines rr_vfs_NAME(), which begins the operation of this name. type is that of its structure, struct
 * rr_vfs_TYPE. */
#define RR_VFS_BEGINS(name, type, operation)                                                                 \
	static inline enum rr_vfs_status rr_vfs_##name(struct rr_vfs *vfs, struct rr_vfs_##type *input)      \
	{                                                                                                    \
		return rr_vfs_begin(vfs, operation, &input->call);                                           \
	}

RR_VFS_BEGINS(getattr, getattr, RR_VFS_OP_GETATTR)
RR_VFS_BEGINS(setattr, setattr, RR_VFS_OP_SETATTR)
RR_VFS_BEGINS(access, access, RR_VFS_OP_ACCESS)
RR_VFS_BEGINS(readlink, readlink, RR_VFS_OP_READLINK)
RR_VFS_BEGINS(read, read, RR_VFS_OP_READ)
RR_VFS_BEGINS(write, write, RR_VFS_OP_WRITE)
RR_VFS_BEGINS(commit, commit, RR_VFS_OP_COMMIT)
RR_VFS_BEGINS(seek, seek, RR_VFS_OP_SEEK)
RR_VFS_BEGINS(allocate, space, RR_VFS_OP_ALLOCATE)
RR_VFS_BEGINS(deallocate, space, RR_VFS_OP_DEALLOCATE)
RR_VFS_BEGINS(copy, copy, RR_VFS_OP_COPY)
RR_VFS_BEGINS(clone, copy, RR_VFS_OP_CLONE)
RR_VFS_BEGINS(open, opening, RR_VFS_OP_OPEN)
RR_VFS_BEGINS(lock, lock, RR_VFS_OP_LOCK)
RR_VFS_BEGINS(lease, lease, RR_VFS_OP_LEASE)
RR_VFS_BEGINS(lookup, lookup, RR_VFS_OP_LOOKUP)
RR_VFS_BEGINS(create, create, RR_VFS_OP_CREATE)
RR_VFS_BEGINS(link, link, RR_VFS_OP_LINK)
RR_VFS_BEGINS(remove, remove, RR_VFS_OP_REMOVE)
RR_VFS_BEGINS(rename, rename, RR_VFS_OP_RENAME)
RR_VFS_BEGINS(readdir, readdir, RR_VFS_OP_READDIR)
RR_VFS_BEGINS(getxattr, xattr, RR_VFS_OP_GETXATTR)
RR_VFS_BEGINS(setxattr, xattr, RR_VFS_OP_SETXATTR)
RR_VFS_BEGINS(listxattr, xattr, RR_VFS_OP_LISTXATTR)
RR_VFS_BEGINS(removexattr, xattr, RR_VFS_OP_REMOVEXATTR)
RR_VFS_BEGINS(getacl, getacl, RR_VFS_OP_GETACL)
RR_VFS_BEGINS(setacl, setacl, RR_VFS_OP_SETACL)
RR_VFS_BEGINS(statfs, statfs, RR_VFS_OP_STATFS)
RR_VFS_BEGINS(quota, quota, RR_VFS_OP_QUOTA)
RR_VFS_BEGINS(limits, limits, RR_VFS_OP_LIMITS)

/* Ends an open at once for the caller, with its share reservation and its lease; operations that are under
 * way on the open go on. Its locks end with the last of these operations at the latest. The storage may take
 * long to close the file, or may not answer: this is waited for outside of the loop's thread. Where the
 * caller wants to know when the file is closed, it gives a call, which ends as that of any other operation,
 * with RR_VFS_OK; where other operations on the open are under way, the last of them closes the file, and the
 * call does not wait for that. The call has no effect but this, and cannot be cancelled. open and call may be
 * NULL. */
enum rr_vfs_status rr_vfs_close(struct rr_vfs *vfs, struct rr_vfs_open *open, struct rr_vfs_call *call);

/* Cancels an operation that is under way: see the top of vfs.h. This has no effect where the operation cannot
 * be cancelled any more. */
void rr_vfs_cancel(struct rr_vfs *vfs, struct rr_vfs_call *call);

/* Waits for the operations under way, calls done() for each, and frees the provider. A caller that must not
 * wait first asks rr_vfs_counters() whether any operations are under way. Every open must have been closed,
 * unless a provider of the same kin remains, which can close the open. */
void rr_vfs_destroy(struct rr_vfs *vfs);
void rr_vfs_counters(const struct rr_vfs *vfs, struct rr_vfs_counters *counters);

/* Writes the handle of the root of an export, by its number in rr_vfs.exports. */
void rr_vfs_root(struct rr_vfs *vfs, uint32_t number, struct rr_vfs_handle *handle);
/* Returns the number of the export that a handle says it lies in, or rr_vfs.export_count where it lies in no
 * export of this server. A forged handle is not detected here: operations do that. */
uint32_t rr_vfs_export_of(const struct rr_vfs *vfs, struct rpcrdma_bytes handle);

/* ---- for providers ---- */

/* Counts something that goes on without a call: the file of an open that is being closed. It ends by
 * rr_vfs_ended() with the call NULL. */
void rr_vfs_goes_on(struct rr_vfs *vfs);

/* Ends an operation that was pending, in the loop's thread: counts that, sets the status of the call, and
 * calls its done(). done() may destroy the provider, which must not be used after this. */
void rr_vfs_ended(struct rr_vfs *vfs, struct rr_vfs_call *call, enum rr_vfs_status status);

#endif
