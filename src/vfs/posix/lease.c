/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leases: F_SETLEASE of fcntl(2), on an open for reading. The kernel keeps back those who open the file for
 * writing or truncate it, local programs and this server alike, until the lease is given back, but not longer
 * than /proc/sys/fs/lease-break-time says (45 s). It does not keep back those who remove, rename or link the
 * file, or set its attributes.
 *
 * The kernel says by a signal that a lease is to be given back. A library has no signals of its own, so the
 * signal is set to SIGURG, which has no effect where nobody catches it, and the leases are looked at each
 * second: F_GETLEASE says what is to become of them.
 */
#include <fcntl.h>
#include <signal.h>

#include "vfs/posix/posix_private.h"
#include "vfs/posix/shared.h"

#define LEASE_LOOK_EVERY RR_SECOND

/* Leases that are looked at, each by a system call. */
enum { LEASE_MAX = 1024 };

/* recall() takes no lock that its caller holds while it closes an open or gives a lease back. */
static void
lease_look(struct rr_timer *timer)
{
	struct rr_posix *posix = rr_container(timer, struct rr_posix, lease_timer);

	pthread_mutex_lock(&posix->shared->leases_lock);
	rr_list_for_each (link, &posix->leases) {
		struct rr_vfs_open *open = rr_container(link, struct rr_vfs_open, lease.link);

		if (fcntl(open->fd, F_GETLEASE) == F_RDLCK)
			continue;
		rr_list_remove(link);
		posix->shared->lease_count--;
		open->lease.recall(open->lease.ctx);
	}
	if (!rr_list_empty(&posix->leases))
		rr_loop_arm(posix->vfs.loop, timer, LEASE_LOOK_EVERY);
	pthread_mutex_unlock(&posix->shared->leases_lock);
}

void
rr_posix_leases_init(struct rr_posix *posix)
{
	rr_list_init(&posix->leases);
	rr_timer_init(&posix->lease_timer, lease_look);
}

/* Nobody hears of those that are left. */
void
rr_posix_leases_end(struct rr_posix *posix)
{
	pthread_mutex_lock(&posix->shared->leases_lock);
	rr_list_for_each (link, &posix->leases) {
		rr_list_remove(link);
		posix->shared->lease_count--;
	}
	pthread_mutex_unlock(&posix->shared->leases_lock);
	if (posix->vfs.loop)
		rr_loop_disarm(posix->vfs.loop, &posix->lease_timer);
}

void
rr_posix_lease_end(struct rr_posix_shared *shared, struct rr_vfs_open *open)
{
	bool held;

	pthread_mutex_lock(&shared->leases_lock);
	held = open->lease.held;
	open->lease.held = false;
	if (!rr_list_empty(&open->lease.link))
		shared->lease_count--;
	rr_list_remove(&open->lease.link);
	pthread_mutex_unlock(&shared->leases_lock);
	if (held)
		(void)fcntl(open->fd, F_SETLEASE, F_UNLCK); /* closing would do the same, later */
}

/* The lock of the leases is held. */
static enum rr_vfs_status
lease_take(struct rr_posix *posix, const struct rr_vfs_lease *lease)
{
	struct rr_vfs_open *open = lease->open;

	if (open->lease.held)
		return RR_VFS_INVAL;
	/* Somebody writes it, the tree's own cached descriptor among them; or it is not ours, and we may not;
	 * or the file system has no leases. */
	if (posix->shared->lease_count == LEASE_MAX || fcntl(open->fd, F_SETSIG, SIGURG) < 0 ||
		fcntl(open->fd, F_SETLEASE, F_RDLCK) < 0)
		return RR_VFS_BUSY;
	open->lease.held = true;
	open->lease.recall = lease->recall;
	open->lease.ctx = lease->ctx;
	if (rr_list_empty(&posix->leases))
		rr_loop_arm(posix->vfs.loop, &posix->lease_timer, LEASE_LOOK_EVERY);
	rr_list_append(&posix->leases, &open->lease.link);
	posix->shared->lease_count++;
	return RR_VFS_OK;
}

/* Nothing of this waits for storage: the loop's thread does it. */
enum rr_vfs_status
rr_posix_lease(struct rr_vfs *vfs, struct rr_vfs_lease *lease)
{
	struct rr_posix *posix = rr_container(vfs, struct rr_posix, vfs);
	enum rr_vfs_status status;

	if (!vfs->loop)
		return RR_VFS_NOTSUPP;
	if (!lease->recall) {
		rr_posix_lease_end(posix->shared, lease->open);
		return RR_VFS_OK;
	}
	if (lease->open->access != RR_VFS_SHARE_READ)
		return RR_VFS_INVAL;
	pthread_mutex_lock(&posix->shared->leases_lock);
	status = lease_take(posix, lease);
	pthread_mutex_unlock(&posix->shared->leases_lock);
	return status;
}
