/* SPDX-License-Identifier: BSD-3-Clause */
/* This file implements opens (open.h). */
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
	rr_list_init(&open->reservation.link);
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
