/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the operation readdir. vfs.h describes it, with its arguments and results. A thread collects
 * entries in the job's list, about as many as the caller asked for. The loop's thread passes them to take(),
 * and drops those for which take() has no room. */
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "base/checked.h"
#include "vfs/ceph/ceph_private.h"

/* An entry in the job's list. Its name follows, without a final zero. Then the next entry begins, at a
 * multiple of LIST_ROUND octets. */
struct list_entry {
	uint64_t cookie;
	struct ceph_statx st;
	uint32_t length;
};

/* LIST_LEAST, LIST_MOST: bounds for the octets of the reply that one call collects entries for. */
enum { LIST_LEAST = 1024, LIST_MOST = 65536, LIST_ROUND = 8 };

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

/* Copies a directory entry with its attributes to the end of the job's list. Returns false where the list has
 * no room for the entry. */
static bool
list_add(struct rr_ceph_job *job, const struct dirent *de, const struct ceph_statx *st)
{
	struct list_entry entry = { .cookie = list_cookie(de->d_off), .st = *st };
	uint32_t size;

	entry.length = (uint32_t)strlen(de->d_name);
	size = (uint32_t)(sizeof(entry) + entry.length + LIST_ROUND - 1) & ~(uint32_t)(LIST_ROUND - 1);
	if (job->list_room - job->list_size < size)
		return false;
	memcpy(job->list + job->list_size, &entry, sizeof(entry));
	memcpy(job->list + job->list_size + sizeof(entry), de->d_name, entry.length);
	job->list_size += size;
	return true;
}

/* Reads entries of the directory into the job's list, until no more of them are wanted or the list is full.
 * In an export's root, ".." is the root itself, whose attributes are "own": the caller must not see what lies
 * above. Returns 1 where the directory ended, 0 where it has more entries, or a negative errno. */
static int
list_collect(struct rr_ceph_job *job, struct ceph_dir_result *directory, const struct ceph_statx *own,
	struct rr_vfs_readdir_room room)
{
	const struct rr_ceph *ceph = job->ceph;
	bool root = rr_ceph_is_root(ceph, &job->object);

	for (;;) {
		struct dirent de;
		struct ceph_statx st;
		struct Inode *inode = NULL;
		int result = ceph->lib.readdirplus_r(
			ceph->mount, directory, &de, &st, CEPH_STATX_ALL_STATS, 0, &inode);

		if (inode)
			ceph->lib.ll_put(ceph->mount, inode);
		if (result <= 0)
			return result < 0 ? result : 1;
		if (!rr_vfs_readdir_wants(&room, (uint32_t)strlen(de.d_name)) ||
			!list_add(job, &de, root && strcmp(de.d_name, "..") == 0 ? own : &st))
			return 0;
	}
}

/* Collects entries in job->list, in a thread of the crew, as many as the caller wants, but at most LIST_MOST
 * octets of the reply. rr_ceph_readdir_end() passes them to take(). */
enum rr_vfs_status
rr_ceph_readdir(struct rr_ceph_job *job)
{
	struct rr_vfs_readdir *readdir = (struct rr_vfs_readdir *)job->call;
	const struct rr_ceph *ceph = job->ceph;
	uint32_t octets = (uint32_t)rr_min(readdir->room.reply.octets, LIST_MOST);
	struct ceph_dir_result *directory;
	struct ceph_statx st;
	enum rr_vfs_status status = rr_ceph_stat(job, job->object.inode, &st);
	int result;

	readdir->count = 0;
	readdir->eof = false;
	if (status != RR_VFS_OK)
		return status;
	if (!S_ISDIR(st.stx_mode))
		return RR_VFS_NOTDIR;
	if (!rr_ceph_may(&st, job->call->caller, 4))
		return RR_VFS_ACCESS;
	if (readdir->cookie > INT64_MAX)
		return RR_VFS_BAD_COOKIE;
	/* An entry of the list is larger than one of the reply, mostly by less than this factor. */
	job->list_room = 16 * (octets > LIST_LEAST ? octets : LIST_LEAST);
	job->list = rr_alloc(ceph->env, job->list_room);
	if (!job->list)
		return RR_VFS_BUSY;
	result = ceph->lib.ll_opendir(ceph->mount, job->object.inode, &directory, ceph->self);
	if (result < 0)
		return rr_ceph_status(result);
	if (readdir->cookie > 0)
		ceph->lib.seekdir(ceph->mount, directory, list_position(readdir->cookie));
	result = list_collect(job, directory, &st, readdir->room);
	ceph->lib.ll_releasedir(ceph->mount, directory);
	readdir->eof = result == 1;
	job->list_search = rr_ceph_may(&st, job->call->caller, 1);
	return rr_ceph_status(result);
}

/* Passes one entry of the job's list to the call's take() and counts it. Attributes and handle are passed
 * where the call wants them and the caller may search the directory. Returns false where take() refuses the
 * entry because it has no room. */
static bool
list_give(struct rr_ceph_job *job, const struct list_entry *entry, const char *name)
{
	struct rr_vfs_readdir *readdir = (struct rr_vfs_readdir *)job->call;
	struct rr_vfs_attributes attributes;
	struct rr_vfs_handle handle;
	struct rr_vfs_entry given = {
		.name = { name, entry->length }, .cookie = entry->cookie, .number = entry->st.stx_ino
	};

	given.status = readdir->attributes && !job->list_search ? RR_VFS_ACCESS : RR_VFS_OK;
	if (readdir->attributes && job->list_search) {
		rr_ceph_attributes(job->ceph, &entry->st, &attributes);
		rr_ceph_handle(job->ceph, job->object.export, &entry->st, job->object.snapshot, &handle);
		given.attributes = &attributes;
		given.handle = &handle;
	}
	if (!readdir->take(readdir, &given))
		return false;
	readdir->count++;
	return true;
}

void
rr_ceph_readdir_end(struct rr_ceph_job *job)
{
	struct rr_vfs_readdir *readdir = (struct rr_vfs_readdir *)job->call;
	uint32_t at = 0;

	while (at < job->list_size) {
		struct list_entry entry;
		const char *name = (const char *)job->list + at + sizeof(entry);

		memcpy(&entry, job->list + at, sizeof(entry));
		if (!list_give(job, &entry, name)) {
			readdir->eof = false;
			return;
		}
		at += (uint32_t)(sizeof(entry) + entry.length + LIST_ROUND - 1) & ~(uint32_t)(LIST_ROUND - 1);
	}
}
