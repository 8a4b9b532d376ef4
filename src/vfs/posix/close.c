/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * This file closes opens (open.h), and descriptors of the tree that are far (tree/node.h). close(2) may take
 * long. A file system on a network or in user space hears of it, and may not answer. Any file system may free
 * the blocks of a file without a name then, or begin to write the data of a file. So a thread of the crew
 * calls close(2), in a job that counts for the file system of the open. The loop's thread closes only files
 * that are in memory and have a name.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vfs/posix/posix_private.h"
#include "vfs/posix/shared.h"
#include "vfs/posix/tree/node.h"

/* Tells whether closing the open ends at once: its file is in memory, and is not removed with this. */
static bool
close_is_quick(const struct rr_vfs_open *open)
{
	struct stat st;

	return open->memory && fstat(open->fd, &st) == 0 && st.st_nlink > 0;
}

/* Removes all locks of the open, where this waits for nobody, so that they are in nobody's way until fd is
 * closed. In a file system that is not local, they end with fd. */
static void
close_unlock(const struct rr_vfs_open *open)
{
	struct flock all = { .l_type = F_UNLCK, .l_whence = SEEK_SET };

	if (open->local && atomic_load(&open->locked))
		(void)fcntl(open->fd, F_OFD_SETLK, &all);
}

/* Does the job of an open, in a thread of the crew. */
static bool
close_run(struct rr_crew_job *job, void *member)
{
	struct rr_vfs_open *open = rr_container(job, struct rr_vfs_open, closing.job);

	(void)member;
	close(open->fd);
	open->fd = -1;
	return true;
}

/* Ends the job of an open: frees the open, and ends the call that waits for this, if there is one. */
static void
close_done(struct rr_crew_job *job)
{
	struct rr_vfs_open *open = rr_container(job, struct rr_vfs_open, closing.job);
	struct rr_posix *posix = open->closing.posix;
	struct rr_vfs_call *call = open->closing.call;

	rr_posix_open_free(posix->shared, open);
	rr_vfs_ended(&posix->vfs, call, RR_VFS_OK);
}

enum rr_vfs_status
rr_posix_open_release(struct rr_posix *posix, struct rr_vfs_open *open, struct rr_vfs_call *call)
{
	if (atomic_fetch_sub(&open->refs, 1) > 1)
		return RR_VFS_OK;
	if (!posix->crew || close_is_quick(open)) {
		rr_posix_open_free(posix->shared, open);
		return RR_VFS_OK;
	}
	close_unlock(open);
	open->closing.posix = posix;
	open->closing.call = call;
	open->closing.job = (struct rr_crew_job){ .place = open->place,
		.host = call ? call->host : 0,
		.owner = call ? call->owner : 0,
		.run = close_run,
		.done = close_done };
	rr_crew_add(posix->crew, &open->closing.job);
	return RR_VFS_PENDING;
}

/* Does the job of a descriptor in a file system that may not answer, in a thread of the crew. */
static bool
close_far_run(struct rr_crew_job *job, void *member)
{
	(void)member;
	close(rr_container(job, struct rr_far_fd, job)->fd);
	return true;
}

static void
close_far_done(struct rr_crew_job *job)
{
	struct rr_far_fd *far = rr_container(job, struct rr_far_fd, job);

	rr_free(far->env, far);
}

void
rr_posix_close_far(struct rr_posix *posix)
{
	struct rr_list *link;

	if (!posix->crew) {
		rr_far_close(&posix->far);
		return;
	}
	while ((link = rr_list_pop(&posix->far))) {
		struct rr_far_fd *far = rr_container(link, struct rr_far_fd, link);

		far->job.run = close_far_run;
		far->job.done = close_far_done;
		rr_crew_add(posix->crew, &far->job);
	}
}
