/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * This file implements leases by F_SETLEASE of fcntl(2), on an open for reading. The kernel makes a program
 * that opens the file for writing or truncates it wait until the lease is given back, but not longer than
 * /proc/sys/fs/lease-break-time says (45 s by default); this holds for local programs and for this server
 * alike. Programs that remove, rename or link the file, or set its attributes, do not wait.
 *
 * The kernel sends a signal when it wants a lease back. A library must not catch signals of its program. So
 * the signal is set to SIGURG, which is ignored by a program that does not catch it, and a timer looks at all
 * leases each second, by F_GETLEASE.
 */
#include <fcntl.h>
#include <signal.h>

#include "vfs/posix/posix_private.h"
#include "vfs/posix/shared.h"

#define LEASE_LOOK_EVERY RR_SECOND

/* The greatest number of leases. There is a bound because each costs a system call each second. */
enum { LEASE_MAX = 1024 };

/* Looks at the provider's leases, and calls recall() of each lease that the kernel wants back. Such a lease
 * is looked at no more, but is still held until it is given back. recall() is called with leases_lock held,
 * which another thread takes when it closes an open or gives a lease back. So recall() must not do either,
 * and must not take a lock that such a thread may hold meanwhile. */
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

/* Stops looking at the provider's leases, and disarms the timer for that. recall() of these leases is not
 * called any more. The leases are given back when their opens are closed. */
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
		(void)fcntl(open->fd, F_SETLEASE, F_UNLCK); /* closing would do the same, but later */
}

/* Gets a lease for an open from the kernel, and adds it to the list of leases at which the timer looks.
 * Returns RR_VFS_BUSY where there can be no lease now, and RR_VFS_INVAL where the open has a lease already.
 * The caller holds leases_lock. */
static enum rr_vfs_status
lease_take(struct rr_posix *posix, const struct rr_vfs_lease *lease)
{
	struct rr_vfs_open *open = lease->open;

	if (open->lease.held)
		return RR_VFS_INVAL;
	/* F_SETLEASE fails where the file is open for writing, be it by a descriptor in the tree's cache;
	 * where the file belongs to another user and this process lacks the privilege; and where the file
	 * system has no leases. */
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

/* Gets a lease for an open, or gives the open's lease back where lease->recall is NULL. Nothing here waits
 * for storage, so this is done at once in the loop's thread. */
enum rr_vfs_status
rr_posix_lease(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	struct rr_vfs_lease *lease = rr_container(call, struct rr_vfs_lease, call);
	struct rr_posix *posix = work->posix;
	enum rr_vfs_status status;

	if (!posix->vfs.loop)
		return RR_VFS_NOTSUPP;
	if (!lease->recall) {
		rr_posix_lease_end(posix->shared, lease->open);
		return RR_VFS_OK;
	}
	if (lease->open->reservation.access != RR_VFS_SHARE_READ)
		return RR_VFS_INVAL;
	pthread_mutex_lock(&posix->shared->leases_lock);
	status = lease_take(posix, lease);
	pthread_mutex_unlock(&posix->shared->leases_lock);
	return status;
}
