/* SPDX-License-Identifier: BSD-3-Clause */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "tool/cp/local.h"

/* Access lists of local files, as Linux has them in extended attributes: the version, and entries of 8
 * octets. All numbers are little-endian: see <linux/posix_acl_xattr.h>. */
#define LIST_ACCESS  "system.posix_acl_access"
#define LIST_DEFAULT "system.posix_acl_default"

enum { LIST_VERSION = 2, LIST_ROOM = 4 + RPCRDMA_NFS_ACL_MAX * 8 };

struct list_entry {
	uint16_t tag, perm;
	uint32_t id;
};

/* Only users and groups that are named have a number. */
static bool
list_has_id(uint32_t tag)
{
	return tag == RPCRDMA_NFS_ACL_USER || tag == RPCRDMA_NFS_ACL_GROUP;
}

/* Reads a list. Returns false if the octets are none. */
static bool
list_decode(const uint8_t *octets, size_t size, struct rpcrdma_nfs_acl *acl)
{
	uint32_t version;

	acl->count = 0;
	if (size < sizeof(version) || (size - sizeof(version)) % sizeof(struct list_entry) != 0)
		return false;
	memcpy(&version, octets, sizeof(version));
	if (le32toh(version) != LIST_VERSION)
		return false;
	for (size_t at = sizeof(version); at < size; at += sizeof(struct list_entry)) {
		struct list_entry entry;
		uint32_t tag;

		memcpy(&entry, octets + at, sizeof(entry));
		tag = le16toh(entry.tag);
		acl->entries[acl->count++] = (struct rpcrdma_nfs_acl_entry){ tag, le16toh(entry.perm),
			list_has_id(tag) ? le32toh(entry.id) : 0 };
	}
	return true;
}

static size_t
list_encode(const struct rpcrdma_nfs_acl *acl, uint8_t *octets)
{
	const uint32_t version = htole32(LIST_VERSION);
	size_t at = sizeof(version);

	memcpy(octets, &version, sizeof(version));
	for (uint32_t i = 0; i < acl->count; i++) {
		const struct rpcrdma_nfs_acl_entry *from = &acl->entries[i];
		const struct list_entry entry = { htole16((uint16_t)from->tag), htole16((uint16_t)from->perm),
			htole32(list_has_id(from->tag) ? from->id : UINT32_MAX) };

		memcpy(octets + at, &entry, sizeof(entry));
		at += sizeof(entry);
	}
	return at;
}

/* ---- What a list says ---- */

uint32_t
rr_cp_lists_mask(const struct rpcrdma_nfs_acl *acl)
{
	for (uint32_t i = 0; i < acl->count; i++)
		if (acl->entries[i].tag == RPCRDMA_NFS_ACL_MASK)
			return acl->entries[i].perm;
	return 7;
}

uint32_t
rr_cp_lists_group(const struct rpcrdma_nfs_acl *acl)
{
	for (uint32_t i = 0; i < acl->count; i++)
		if (acl->entries[i].tag == RPCRDMA_NFS_ACL_GROUP_OBJ)
			return acl->entries[i].perm & rr_cp_lists_mask(acl);
	return 0;
}

void
rr_cp_lists_of_mode(uint32_t mode, struct rpcrdma_nfs_acl *acl)
{
	acl->entries[0] = (struct rpcrdma_nfs_acl_entry){ RPCRDMA_NFS_ACL_USER_OBJ, mode >> 6 & 7, 0 };
	acl->entries[1] = (struct rpcrdma_nfs_acl_entry){ RPCRDMA_NFS_ACL_GROUP_OBJ, mode >> 3 & 7, 0 };
	acl->entries[2] = (struct rpcrdma_nfs_acl_entry){ RPCRDMA_NFS_ACL_OTHER, mode & 7, 0 };
	acl->count = RR_CP_LIST_LEAST;
}

/* ---- Whether there is one ---- */

/* Reads an extended attribute of `name` in the directory `at`, or of the open object `at` if name is NULL.
 * Returns its size; -1 if there is none, or with ERANGE if it has no room. */
static ssize_t
list_read(int at, const char *name, const char *attribute, uint8_t *data, size_t room)
{
	char path[32 + RR_NFS_NAME + 1];

	if (!name)
		return fgetxattr(at, attribute, data, room);
	if (at == AT_FDCWD)
		return getxattr(name, attribute, data, room);
	if ((size_t)snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", at, name) >= sizeof(path))
		return -1;
	return lgetxattr(path, attribute, data, room);
}

/* acl(5): "If the file has an ACL_MASK entry, ... the file group class permissions correspond to the
 * permissions of the ACL_MASK entry". */
void
rr_cp_local_narrow(const struct rr_side *side, int at, const char *name, struct rr_info *info)
{
	struct rpcrdma_nfs_acl_entry entries[RPCRDMA_NFS_ACL_MAX];
	struct rpcrdma_nfs_acl acl = { entries, RPCRDMA_NFS_ACL_MAX, 0 };
	uint8_t octets[LIST_ROOM];
	ssize_t size;

	if ((!side->source && !side->archive) || info->kind == RR_KIND_NONE || info->kind == RR_KIND_LINK)
		return;
	size = list_read(at, name, LIST_ACCESS, octets, sizeof(octets));
	info->listed = size >= 0 || errno == ERANGE;
	/* A list that cannot be read gives the group nothing. */
	if (info->listed && side->source) {
		list_decode(octets, size < 0 ? 0 : (size_t)size, &acl);
		info->mode = (info->mode & ~070u) | rr_cp_lists_group(&acl) << 3;
	}
	if (info->kind == RR_KIND_DIRECTORY && !info->listed)
		info->listed = list_read(at, name, LIST_DEFAULT, octets, 0) > 0;
}

/* ---- Reading and setting ---- */

/* Reads a list of an open object. Returns 0; 1 if the file system keeps none; 2 if the list cannot be read;
 * or a negative number. Without a list, acl->count is 0. */
static int
list_get(struct rr_side *side, int fd, const char *attribute, struct rpcrdma_nfs_acl *acl)
{
	uint8_t octets[LIST_ROOM];
	ssize_t size = fgetxattr(fd, attribute, octets, sizeof(octets));

	acl->count = 0;
	if (size >= 0)
		return list_decode(octets, (size_t)size, acl) ? 0 : 2;
	if (errno == ENODATA)
		return 0;
	if (errno == ENOTSUP)
		return 1;
	return errno == ERANGE ? 2 : rr_cp_local_fail(side);
}

int
rr_cp_local_get_lists(struct rr_side *side, const struct rr_directory *object, const struct rr_info *info,
	struct rr_cp_lists *lists)
{
	int result = list_get(side, object->fd, LIST_ACCESS, &lists->access);
	struct stat st;

	if (result == 0 && info->kind == RR_KIND_DIRECTORY)
		result = list_get(side, object->fd, LIST_DEFAULT, &lists->inherited);
	if (result != 0 || lists->access.count > 0)
		return result;
	if (fstat(object->fd, &st) < 0)
		return rr_cp_local_fail(side);
	rr_cp_lists_of_mode(st.st_mode, &lists->access);
	return 0;
}

/* Sets a list, or removes it if it has no entries. */
static int
list_set(int fd, const char *attribute, const struct rpcrdma_nfs_acl *acl)
{
	uint8_t octets[LIST_ROOM];

	if (acl->count == 0)
		return fremovexattr(fd, attribute) < 0 && errno != ENODATA ? -1 : 0;
	return fsetxattr(fd, attribute, octets, list_encode(acl, octets), 0);
}

int
rr_cp_local_set_lists(struct rr_side *side, const struct rr_directory *object, const struct rr_info *info,
	const struct rr_cp_lists *lists)
{
	if (list_set(object->fd, LIST_ACCESS, &lists->access) == 0 &&
		(info->kind != RR_KIND_DIRECTORY ||
			list_set(object->fd, LIST_DEFAULT, &lists->inherited) == 0))
		return 0;
	return errno == ENOTSUP ? 1 : rr_cp_local_fail(side);
}
