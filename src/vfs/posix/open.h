/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_OPEN_H
#define RR_VFS_POSIX_OPEN_H

#include <stdatomic.h>

#include "vfs/posix/tree.h"

/*
 * Open files, and their share reservations. They belong to no thread: any provider with the same struct
 * rr_posix_shared may use them. An open is there until it was closed and no operation uses it any more.
 */

struct rr_posix_shared;

struct rr_vfs_open {
	struct rr_list link; /* in a shard of the shared ones, while it has a reservation */
	_Atomic uint32_t refs;
	_Atomic bool reserves;
	uint32_t access, deny; /* RR_VFS_SHARE_* */
	int fd;
	const struct rr_tree_export *export; /* as in struct rr_object */
	uint64_t fsid, inode, place;
	bool local, memory;
	struct {
		struct rr_list link; /* in its provider's, while it is to be looked at */
		bool held;
		void (*recall)(void *ctx);
		void *ctx;
	} lease; /* lease.c's */
};

/* Takes fd over. NULL: no memory. */
struct rr_vfs_open *rr_posix_open_new(struct rr_posix_shared *shared, const struct rr_object *object, int fd);
void rr_posix_open_hold(struct rr_vfs_open *open);
void rr_posix_open_release(struct rr_posix_shared *shared, struct rr_vfs_open *open);

/*
 * The open has access and denies others deny from now on, unless others have or deny what is against that:
 * then false. instead: whose reservation ends with that, and is no obstacle; or NULL.
 */
bool rr_posix_reserve(struct rr_posix_shared *shared, struct rr_vfs_open *open, struct rr_vfs_open *instead);
void rr_posix_unreserve(struct rr_posix_shared *shared, struct rr_vfs_open *open);

/* Whether an open denies others this access. */
bool rr_posix_is_denied(struct rr_posix_shared *shared, const struct rr_object *object, uint32_t access);

/* lease.c: the lease of the open, if there is one, is given back; recall() does not come after that. */
void rr_posix_lease_end(struct rr_posix_shared *shared, struct rr_vfs_open *open);

#endif
