/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the operation readdir. vfs.h describes it, with its arguments and results. */
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "vfs/ceph/ceph_private.h"

/* Makes the cookie of a directory entry from the entry's position in libcephfs. In these positions the upper
 * eight bits are all set or all zero, so the topmost bit can be left out, and a cookie is below 2^63. */
static uint64_t
list_cookie(int64_t position)
{
	return (uint64_t)position & INT64_MAX;
}

/* Returns the position in libcephfs from which list_cookie() made this cookie: the topmost bit is set again
 * where the bit below it is set. */
static int64_t
list_position(uint64_t cookie)
{
	return (int64_t)(cookie >> 62 ? cookie | UINT64_C(1) << 63 : cookie);
}

/* A listing under way. */
struct list_work {
	struct rr_ceph_job *job;
	struct rr_vfs_readdir *readdir;
	struct ceph_dir_result *directory;
	const struct ceph_statx *own; /* the attributes of the directory */
	bool search; /* the caller may search the directory, and so look at the objects in it */
};

/* Gathers a directory entry, with attributes and handle where the call wants them and the caller may search
 * the directory. Returns false where there is no room for the entry. */
static bool
list_add(const struct list_work *list, const struct dirent *de, const struct ceph_statx *st)
{
	struct rr_ceph_job *job = list->job;
	bool wanted = list->readdir->attributes;
	struct rr_vfs_entry entry = { .name = { de->d_name, (uint32_t)strlen(de->d_name) },
		.cookie = list_cookie(de->d_off),
		.number = st->stx_ino,
		.status = wanted && !list->search ? RR_VFS_ACCESS : RR_VFS_OK };
	struct rr_vfs_attributes attributes;
	struct rr_vfs_handle handle;

	if (wanted && list->search) {
		rr_ceph_attributes(job->ceph, st, &attributes);
		rr_ceph_handle(job->ceph, job->object.export, st, job->object.snapshot, &handle);
		entry.attributes = &attributes;
		entry.handle = &handle;
	}
	return rr_gather_add(job->base.gather, &entry);
}

/* Gathers entries of the directory, until no more of them are wanted or there is no room. In an export's
 * root,
 * ".." is the root itself: the caller must not see what lies above. Returns 1 where the directory ended, 0
 * where it has more entries, or a negative errno. */
static int
list_collect(const struct list_work *list)
{
	const struct rr_ceph *ceph = list->job->ceph;
	struct rr_vfs_readdir_room room = list->readdir->room;
	bool root = rr_ceph_is_root(ceph, &list->job->object);

	for (;;) {
		struct dirent de;
		struct ceph_statx st;
		struct Inode *inode = NULL;
		int result = ceph->lib.readdirplus_r(
			ceph->mount, list->directory, &de, &st, CEPH_STATX_ALL_STATS, 0, &inode);

		if (inode)
			ceph->lib.ll_put(ceph->mount, inode);
		if (result <= 0)
			return result < 0 ? result : 1;
		if (!rr_vfs_readdir_wants(&room, (uint32_t)strlen(de.d_name)) ||
			!list_add(list, &de, root && strcmp(de.d_name, "..") == 0 ? list->own : &st))
			return 0;
	}
}

enum rr_vfs_status
rr_ceph_readdir(struct rr_ceph_job *job)
{
	struct rr_vfs_readdir *readdir = (struct rr_vfs_readdir *)job->base.call;
	const struct rr_ceph *ceph = job->ceph;
	struct ceph_statx st;
	struct list_work list = { .job = job, .readdir = readdir, .own = &st };
	enum rr_vfs_status status = rr_ceph_stat(job, job->object.inode, &st);
	int result;

	if (status != RR_VFS_OK)
		return status;
	if (!S_ISDIR(st.stx_mode))
		return RR_VFS_NOTDIR;
	if (!rr_ceph_may(&st, job->base.call->caller, 4))
		return RR_VFS_ACCESS;
	if (readdir->cookie > INT64_MAX)
		return RR_VFS_BAD_COOKIE;
	result = ceph->lib.ll_opendir(ceph->mount, job->object.inode, &list.directory, ceph->self);
	if (result < 0)
		return rr_ceph_status(result);
	if (readdir->cookie > 0)
		ceph->lib.seekdir(ceph->mount, list.directory, list_position(readdir->cookie));
	list.search = rr_ceph_may(&st, job->base.call->caller, 1);
	result = list_collect(&list);
	ceph->lib.ll_releasedir(ceph->mount, list.directory);
	readdir->eof = result == 1;
	return rr_ceph_status(result);
}
