/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_OPEN_H
#define RR_VFS_POSIX_OPEN_H

#include <stdatomic.h>

#include "base/crew_queue.h"
#include "vfs/door.h"
#include "vfs/posix/tree/tree.h"
#include "vfs/reserve.h"

/* These are opens: files that a caller of the provider has opened. An open
 * belongs to no thread: any provider with the same struct rr_posix_shared may use it. An open has one
 * reference for its caller, until the caller closes it, and one for each operation that uses it; it is freed
 * with the last one. */

struct rr_posix;
struct rr_posix_shared;

struct rr_vfs_open {
	struct rr_reservation reservation;
	_Atomic uint32_t refs;
	int fd;                              /* the open's own descriptor, for this access */
	const struct rr_tree_export *export; /* this and the members below: as in struct rr_object */
	uint64_t fsid, inode, place;
	bool local, memory;
	_Atomic bool locked; /* a lock of octets was set, and may stand */
	struct {
		/* In rr_posix.leases, while the timer looks at the lease: until recall() is called, or the
		 * lease is given back. */
		struct rr_list link;
		bool held; /* the kernel has granted the lease, and it was not given back */
		void (*recall)(void *ctx);
		void *ctx;
	} lease; /* used by lease.c only */
	struct {
		struct rr_crew_job job;
		struct rr_posix *posix;   /* the provider whose crew closes fd */
		struct rr_vfs_call *call; /* ends when fd is closed; may be NULL */
	} closing;                        /* used by close.c only */
};

/* Makes an open of object with one reference, without a reservation. fd belongs to the open from now
 * on. Returns NULL where there is no memory, with fd closed. */
struct rr_vfs_open *rr_posix_open_new(struct rr_posix_shared *shared, const struct rr_object *object, int fd);

/* Takes a reference to the open. */
void rr_posix_open_hold(struct rr_vfs_open *open);
/* Closes fd, which may wait for the file system, unless fd is -1; and frees the open. */
void rr_posix_open_free(struct rr_posix_shared *shared, struct rr_vfs_open *open);

/* close.c: gives a reference back, in the loop's thread. With the last reference, fd is closed and the open
 * is freed: by the crew of posix, where the file system may have to be waited for. call may be NULL. Returns
 * RR_VFS_PENDING where call ends later, with RR_VFS_OK, because the crew closes fd; else RR_VFS_OK. */
enum rr_vfs_status rr_posix_open_release(
	struct rr_posix *posix, struct rr_vfs_open *open, struct rr_vfs_call *call);

/* lease.c: gives the lease of the open back, if the open has one. recall() is not called after that. */
void rr_posix_lease_end(struct rr_posix_shared *shared, struct rr_vfs_open *open);

#endif
