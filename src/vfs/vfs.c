/* SPDX-License-Identifier: BSD-3-Clause */
#include "vfs/vfs.h"

#include <string.h>

#include "base/checked.h"
#include "base/endian.h"

static const char *const status_texts[] = {
	[RR_VFS_OK] = "done",
	[RR_VFS_PENDING] = "under way",
	[RR_VFS_PERM] = "not the owner",
	[RR_VFS_ACCESS] = "permission denied",
	[RR_VFS_NOENT] = "no such file or directory",
	[RR_VFS_EXIST] = "it exists already",
	[RR_VFS_IO] = "the storage failed",
	[RR_VFS_NXIO] = "no such device or address",
	[RR_VFS_XDEV] = "not in the same file system or export",
	[RR_VFS_NODEV] = "no such device",
	[RR_VFS_NOTDIR] = "not a directory",
	[RR_VFS_ISDIR] = "a directory",
	[RR_VFS_SYMLINK] = "a symbolic link",
	[RR_VFS_WRONG_TYPE] = "an object of the wrong type",
	[RR_VFS_INVAL] = "an invalid argument",
	[RR_VFS_BAD_NAME] = "the name of no entry",
	[RR_VFS_BAD_CHAR] = "an invalid name",
	[RR_VFS_NAME_TOO_LONG] = "the name is too long",
	[RR_VFS_FBIG] = "the file would be too large",
	[RR_VFS_NOSPC] = "no space left",
	[RR_VFS_DQUOT] = "the quota is used up",
	[RR_VFS_ROFS] = "for reading only",
	[RR_VFS_MLINK] = "too many links",
	[RR_VFS_NOTEMPTY] = "the directory is not empty",
	[RR_VFS_TEXT_BUSY] = "in use",
	[RR_VFS_STALE] = "the object is gone",
	[RR_VFS_BAD_HANDLE] = "not a handle of this server",
	[RR_VFS_BAD_COOKIE] = "no position of this directory",
	[RR_VFS_NOT_SYNC] = "changed meanwhile",
	[RR_VFS_NOTSUPP] = "not supported",
	[RR_VFS_BUSY] = "not now",
	[RR_VFS_NO_BUFFER] = "no memory for the data",
	[RR_VFS_SHARE] = "an open of somebody else is in the way",
	[RR_VFS_LOCKED] = "an open of somebody else denies this",
	[RR_VFS_OPEN_MODE] = "not opened for this",
	[RR_VFS_LOCK] = "somebody else has a lock there",
	[RR_VFS_NO_XATTR] = "no such extended attribute",
	[RR_VFS_XATTR_SIZE] = "the extended attribute is too large",
	[RR_VFS_CANCELLED] = "cancelled",
	[RR_VFS_FAULT] = "a defect of the server",
};

const char *
rr_vfs_status_text(enum rr_vfs_status status)
{
	return status_texts[status];
}

enum rr_vfs_status
rr_vfs_name(struct rpcrdma_bytes name, char text[RR_VFS_NAME_MAX + 1])
{
	if (name.length == 0 || memchr(name.data, '/', name.length) || memchr(name.data, 0, name.length))
		return RR_VFS_BAD_CHAR;
	if (name.length > RR_VFS_NAME_MAX)
		return RR_VFS_NAME_TOO_LONG;
	memcpy(text, name.data, name.length);
	text[name.length] = 0;
	if (strcmp(text, ".") == 0 || strcmp(text, "..") == 0)
		return RR_VFS_BAD_NAME;
	return RR_VFS_OK;
}

/* Takes the octets of an entry off those that are left. */
static void
vfs_take_off(uint32_t *left, uint64_t size)
{
	*left -= (uint32_t)rr_min(*left, size);
}

bool
rr_vfs_readdir_wants(struct rr_vfs_readdir_room *left, uint32_t name)
{
	uint64_t padded = (uint64_t)name + rr_pad(name);

	if (left->names.octets == 0 || left->reply.octets == 0)
		return false;
	vfs_take_off(&left->names.octets, padded + left->names.entry);
	vfs_take_off(&left->reply.octets, padded + left->reply.entry);
	return true;
}

/* Returns the length of the export's name where path lies in the export, else 0. Path must begin with the
 * name, and a '/' or nothing must follow ("/srv" does not contain "/srv2"). The name "/" ends with that '/'
 * itself. */
static uint32_t
vfs_prefix(const struct rr_vfs_export *export, struct rpcrdma_bytes path)
{
	uint32_t length = (uint32_t)strlen(export->name);

	if (path.length < length || memcmp(path.data, export->name, length) != 0)
		return 0;
	if (length > 1 && path.length > length && ((const char *)path.data)[length] != '/')
		return 0;
	return length;
}

uint32_t
rr_vfs_find_export(const struct rr_vfs *vfs, struct rpcrdma_bytes path, struct rpcrdma_bytes *rest)
{
	uint32_t longest = 0, found = vfs->export_count;

	/* A client cuts the path of a file at the last slash and mounts what is before it: of "/file" it
	 * sends an empty path, and means "/". */
	if (path.length == 0)
		path = (struct rpcrdma_bytes){ "/", 1 };
	for (uint32_t i = 0; i < vfs->export_count; i++) {
		uint32_t length = vfs_prefix(&vfs->exports[i], path);

		if (length > longest) {
			longest = length;
			found = i;
		}
	}
	*rest = (struct rpcrdma_bytes){ (const char *)path.data + longest, path.length - longest };
	return found;
}

struct rpcrdma_bytes
rr_vfs_next_component(struct rpcrdma_bytes *path)
{
	const char *next = path->data, *end = next + path->length;
	struct rpcrdma_bytes name;

	while (next < end && *next == '/')
		next++;
	name.data = next;
	while (next < end && *next != '/')
		next++;
	name.length = (uint32_t)(next - (const char *)name.data);
	*path = (struct rpcrdma_bytes){ next, (uint32_t)(end - next) };
	return name;
}

/* A time with so many bits of seconds is not negative, and every file system can store it. */
enum { VERIFIER_SECONDS = 0x7fffffff };

/* The bit of each half that the seconds have no room for is in the nanoseconds, which are never 0, so that no
 * file that was made in another way has these times. Also a file system that keeps times in units of 10 ms
 * can store them. */
void
rr_vfs_verifier_times(const uint8_t verifier[RR_VFS_VERIFIER], struct rr_vfs_time times[2])
{
	for (int i = 0; i < 2; i++) {
		uint32_t half = rr_get_be32(verifier + 4 * i);

		times[i].seconds = half & VERIFIER_SECONDS;
		times[i].nanoseconds = (uint32_t)((half > VERIFIER_SECONDS ? 200 : 100) * RR_MILLISECOND);
	}
}
