/* SPDX-License-Identifier: BSD-3-Clause */
/* This file implements opens and their share reservations (open.h). */
#include "vfs/posix/open.h"

#include <unistd.h>

#include "vfs/posix/shared.h"

struct rr_vfs_open *
rr_posix_open_new(struct rr_posix_shared *shared, const struct rr_object *object, int fd)
{
	struct rr_vfs_open *open = rr_alloc(shared->env, sizeof(*open));

	if (!open) {
		close(fd);
		return NULL;
	}
	rr_list_init(&open->link);
	rr_list_init(&open->lease.link);
	open->refs = 1;
	open->fd = fd;
	open->export = object->export;
	open->fsid = object->fsid;
	open->inode = object->st.stx_ino;
	open->place = object->place;
	open->local = object->local;
	open->memory = object->memory;
	atomic_fetch_add(&shared->open_count, 1);
	return open;
}

void
rr_posix_open_hold(struct rr_vfs_open *open)
{
	atomic_fetch_add(&open->refs, 1);
}

void
rr_posix_open_free(struct rr_posix_shared *shared, struct rr_vfs_open *open)
{
	if (open->fd >= 0)
		close(open->fd);
	atomic_fetch_sub(&shared->open_count, 1);
	rr_free(shared->env, open);
}

/* Returns the list of opens with reservations in which those of this object are. Other objects share the
 * list. */
static struct rr_list *
open_shard(struct rr_posix_shared *shared, uint64_t fsid, uint64_t inode)
{
	return &shared->opens[((fsid ^ inode) * UINT64_C(0x9e3779b97f4a7c15) >> 32) % RR_POSIX_LOCKS];
}

/* Tells whether the open "wanted" is compatible with all other opens of the same file that have a
 * reservation. The open "instead", which may be NULL, does not count. RFC 8881, 9.7: of two opens of one
 * file, neither may have an access that the other one denies. */
static bool
open_is_free(
	struct rr_posix_shared *shared, const struct rr_vfs_open *wanted, const struct rr_vfs_open *instead)
{
	struct rr_list *shard = open_shard(shared, wanted->fsid, wanted->inode);

	for (struct rr_list *link = shard->next; link != shard; link = link->next) {
		const struct rr_vfs_open *open = rr_container(link, struct rr_vfs_open, link);

		if (open == instead || open->inode != wanted->inode || open->fsid != wanted->fsid)
			continue;
		if (open->access & wanted->deny || open->deny & wanted->access)
			return false;
	}
	return true;
}

/* Puts the open into the list of opens that have a reservation (reserves is true), or takes it out of that
 * list, and keeps shared->denying up to date. The caller holds opens_lock. */
static void
open_set_reserves(struct rr_posix_shared *shared, struct rr_vfs_open *open, bool reserves)
{
	if (open->reserves == reserves)
		return;
	open->reserves = reserves;
	if (open->deny && reserves)
		atomic_fetch_add(&shared->denying, 1);
	else if (open->deny)
		atomic_fetch_sub(&shared->denying, 1);
	if (reserves)
		rr_list_append(open_shard(shared, open->fsid, open->inode), &open->link);
	else
		rr_list_remove(&open->link);
}

bool
rr_posix_reserve(struct rr_posix_shared *shared, struct rr_vfs_open *open, struct rr_vfs_open *instead)
{
	bool is_free;

	pthread_mutex_lock(&shared->opens_lock);
	is_free = open_is_free(shared, open, instead);
	if (is_free) {
		open_set_reserves(shared, open, true);
		if (instead)
			open_set_reserves(shared, instead, false);
	}
	pthread_mutex_unlock(&shared->opens_lock);
	return is_free;
}

void
rr_posix_unreserve(struct rr_posix_shared *shared, struct rr_vfs_open *open)
{
	pthread_mutex_lock(&shared->opens_lock);
	open_set_reserves(shared, open, false);
	pthread_mutex_unlock(&shared->opens_lock);
}

bool
rr_posix_is_denied(struct rr_posix_shared *shared, const struct rr_object *object, uint32_t access)
{
	const struct rr_vfs_open wanted = {
		.fsid = object->fsid, .inode = object->st.stx_ino, .access = access
	};
	bool is_free;

	/* Mostly no open denies anything, and then no lock is taken. */
	if (atomic_load_explicit(&shared->denying, memory_order_relaxed) == 0)
		return false;
	pthread_mutex_lock(&shared->opens_lock);
	is_free = open_is_free(shared, &wanted, NULL);
	pthread_mutex_unlock(&shared->opens_lock);
	return !is_free;
}
