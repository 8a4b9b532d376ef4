/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the operation readdir. vfs.h describes it, with its arguments and results. A cookie is the
 * position that the file system gives with an entry (d_off): it is valid as long as the directory exists. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "vfs/posix/posix_private.h"

enum { BUFFER_SIZE = 8192 }; /* of directory entries in one system call */

/* Copies a directory entry into work->gather; or, where there is none, passes it to take(). Returns false
 * where there is no room for the entry. */
static bool
readdir_hand_over(
	struct rr_posix_work *work, struct rr_vfs_readdir *readdir, const struct rr_vfs_entry *entry)
{
	return work->gather ? rr_gather_add(work->gather, entry) : readdir->take(readdir, entry);
}

/* Returns the inode number of a directory entry. The number of ".." is that of the directory above, as
 * clients see it: in an export's root the number of the root itself, whatever lies above the root on this
 * machine. */
static uint64_t
readdir_number(struct rr_posix_work *work, const struct rr_object *directory, const struct dirent64 *entry)
{
	struct rr_object parent;
	uint64_t number = directory->st.stx_ino;

	if (strcmp(entry->d_name, "..") != 0)
		return entry->d_ino;
	if (rr_tree_lookup(work->tree, directory, (struct rpcrdma_bytes){ "..", 2 }, &parent) != RR_VFS_OK)
		return number;
	number = parent.st.stx_ino;
	rr_object_put(work->tree, &parent);
	return number;
}

/* Tells whether the object of a directory entry lies in another file system, which is mounted on the entry.
 * The number that the directory has for the entry is then that of the directory below the mount. ".." may
 * lead into another file system, too, but nothing is mounted there. */
static bool
readdir_is_mounted(
	const struct rr_object *directory, const struct rr_object *object, const struct dirent64 *entry)
{
	return object->place != directory->place && strcmp(entry->d_name, "..") != 0;
}

/* Passes the directory entry "given" on (readdir_hand_over()), with attributes and handle where the call
 * wants them. An object that is gone by now (entry.status is then RR_VFS_OK), or that the caller may not
 * reach (entry.status says why), is listed without these. Returns false where there is no room for the entry,
 * before the object is looked up where that can be known.
 */
static bool
readdir_take(struct rr_posix_work *work, const struct rr_object *directory, struct rr_vfs_readdir *readdir,
	const struct dirent64 *given)
{
	struct rr_vfs_entry entry = {
		.name = { given->d_name, (uint32_t)strlen(given->d_name) },
		.cookie = (uint64_t)given->d_off,
	};
	struct rr_vfs_attributes attributes;
	struct rr_vfs_handle handle;
	struct rr_object object;
	enum rr_vfs_status status;

	if (!rr_vfs_readdir_wants(&work->room, entry.name.length))
		return false;
	if (!readdir->attributes) {
		entry.number = readdir_number(work, directory, given);
		return readdir_hand_over(work, readdir, &entry);
	}
	entry.number = given->d_ino;
	/* A file system that is mounted on this entry may hang, unless it is local, and the listing must not
	 * hang with it. */
	rr_tree_stay(work->tree, directory->local);
	status = rr_tree_entry(work->tree, directory, entry.name, &object);
	entry.status = status == RR_VFS_NOENT || status == RR_VFS_STALE ? RR_VFS_OK : status;
	if (status == RR_VFS_OK) {
		rr_posix_attributes(work->posix, &object, &attributes);
		if (readdir_is_mounted(directory, &object, given))
			attributes.mounted_on = given->d_ino;
		rr_tree_handle(work->tree, &object, &handle);
		rr_object_put(work->tree, &object);
		entry.attributes = &attributes;
		entry.handle = &handle;
		entry.number = attributes.mounted_on;
	}
	rr_tree_stay(work->tree, false);
	return readdir_hand_over(work, readdir, &entry);
}

/* Passes the directory entries that one getdents64(2) wrote to buffer on, and counts them in readdir->count.
 * Returns false where there is no room for an entry, so that the listing ends in front of it. */
static bool
readdir_take_all(struct rr_posix_work *work, const struct rr_object *directory,
	struct rr_vfs_readdir *readdir, const char *buffer, size_t size)
{
	for (size_t at = 0; at < size;) {
		const struct dirent64 *entry = (const void *)(buffer + at);

		if (!readdir_take(work, directory, readdir, entry))
			return false;
		readdir->count++;
		at += entry->d_reclen;
	}
	return true;
}

/* Reads the directory of fd from the call's cookie (a position) on, and passes its entries on, until the
 * directory ends (readdir->eof is then true) or there is no room for an entry. Returns RR_VFS_STALE where the
 * directory was removed. */
static enum rr_vfs_status
readdir_read(
	struct rr_posix_work *work, const struct rr_object *directory, struct rr_vfs_readdir *readdir, int fd)
{
	_Alignas(struct dirent64) char buffer[BUFFER_SIZE];
	ssize_t size;

	if (lseek(fd, (off_t)readdir->cookie, SEEK_SET) < 0)
		return RR_VFS_BAD_COOKIE;
	do {
		size = getdents64(fd, (void *)buffer, sizeof(buffer));
		if (size < 0)
			return errno == ENOENT ? RR_VFS_STALE : rr_vfs_errno(errno);
		readdir->eof = size == 0;
	} while (size > 0 && readdir_take_all(work, directory, readdir, buffer, (size_t)size));
	return RR_VFS_OK;
}

/* Lists a directory by a descriptor of its own, because other calls may list the same directory from other
 * positions. */
static enum rr_vfs_status
readdir_list(struct rr_posix_work *work, struct rr_object *directory, struct rr_vfs_readdir *readdir)
{
	enum rr_vfs_status status;
	int fd;

	if (!S_ISDIR(directory->st.stx_mode))
		return RR_VFS_NOTDIR;
	status = rr_tree_open_apart(work->tree, directory, O_RDONLY, &fd);
	if (status != RR_VFS_OK)
		return status;
	status = readdir_read(work, directory, readdir, fd);
	close(fd);
	return status;
}

enum rr_vfs_status
rr_posix_readdir(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	struct rr_vfs_readdir *readdir = rr_container(call, struct rr_vfs_readdir, call);
	struct rr_posix_subject directory;
	enum rr_vfs_status status = rr_posix_find(work, &readdir->directory, &directory);

	if (status != RR_VFS_OK)
		return status;
	work->room = readdir->room;
	status = readdir_list(work, &directory.object, readdir);
	rr_posix_know(work->posix, &directory.object, &readdir->directory_after);
	rr_posix_put(work, &directory);
	return status;
}
