/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/cp/cp.h"

/* The parts of files that cp -a keeps beside data, modes and times: hard links within the tree, and extended
 * attributes. */

/* ---- Hard links ---- */

/* A file with several names that was copied under one of them. */
struct archive_file {
	struct rpcrdma_nfs_filesystem fsid; /* of the source, as the number */
	uint64_t fileid;
	struct rr_first first; /* the copy; first.path points into `path` */
	char path[];           /* of the copy, below the top: "/name/name" */
};

/* Orders files by file system and number, for tsearch(3). */
static int
archive_compare(const void *a, const void *b)
{
	const struct archive_file *x = a, *y = b;

	if (x->fsid.major != y->fsid.major)
		return x->fsid.major < y->fsid.major ? -1 : 1;
	if (x->fsid.minor != y->fsid.minor)
		return x->fsid.minor < y->fsid.minor ? -1 : 1;
	return x->fileid < y->fileid ? -1 : x->fileid > y->fileid;
}

/* Tells whether later entries of the tree may be further names (hard links) of the same file. That is so with
 * -a if the file has several links, unless the command line names the file itself (cp->depth is 0). */
static bool
archive_has_names(const struct rr_cp *cp, const struct rr_info *info)
{
	return cp->archive && cp->depth > 0 && info->links > 1;
}

void
rr_cp_archive_note(
	struct rr_cp *cp, const struct rr_info *info, const struct rr_directory *to, const char *to_name)
{
	size_t size = strlen(cp->path) + 1;
	struct archive_file *file;
	struct rr_info made;
	void *found;

	if (!archive_has_names(cp, info) || cp->to.ops->look(&cp->to, to, to_name, &made) < 0 ||
		made.kind != RR_KIND_FILE)
		return;
	/* Beyond the bounds, further names become copies. The system takes no longer path of a local file. */
	if (size > PATH_MAX && !cp->to.nfs)
		return;
	if (cp->archived_size + sizeof(*file) + size > RR_CATALOG_MAX)
		return;
	file = malloc(sizeof(*file) + size);
	if (!file)
		return;
	*file = (struct archive_file){ .fsid = info->fsid, .fileid = info->fileid };
	memcpy(file->path, cp->path, size);
	file->first = (struct rr_first){ .top = cp->to_top,
		.path = file->path + 1, /* without the slash: relative to the top */
		.handle = made.handle,
		.fsid = made.fsid,
		.fileid = made.fileid };
	found = tsearch(file, &cp->archived, archive_compare);
	/* There was no memory, or the source file has been noted before. */
	if (!found || *(struct archive_file **)found != file)
		free(file);
	else
		cp->archived_size += sizeof(*file) + size;
}

void
rr_cp_archive_end(struct rr_cp *cp)
{
	tdestroy(cp->archived, free);
	cp->archived = NULL;
	cp->archived_size = 0;
}

/* Makes a hard link to the first copy of a file, and gives it the name to_name. A link cannot replace an
 * existing file, but rename can: so the link is made under a temporary name, the first that is free, and then
 * renamed. Returns 0; -1 after an error, which was reported. */
static int
archive_make_name(
	struct rr_cp *cp, const struct rr_first *first, const struct rr_directory *to, const char *to_name)
{
	char temporary[RR_CP_TEMPORARY];
	unsigned number = 0;
	int error;

	do {
		rr_cp_temporary(to_name, number, temporary);
		error = cp->to.ops->make_name(&cp->to, first, to, temporary);
	} while (error == 1 && ++number < RR_CP_NUMBERS);
	if (error)
		return rr_cp_fail_temporary(cp, to, temporary, error);
	if (cp->to.ops->rename(&cp->to, to, temporary, to_name) == 0)
		return 0;
	rr_cp_fail(cp, &cp->to);
	rr_cp_remove_temporary(cp, to, temporary);
	return -1;
}

int
rr_cp_archive_link(
	struct rr_cp *cp, const struct rr_info *info, const struct rr_directory *to, const char *to_name)
{
	const struct archive_file key = { .fsid = info->fsid, .fileid = info->fileid };
	struct rr_info there;
	const struct rr_first *first;
	void *found;

	if (!archive_has_names(cp, info))
		return 1;
	found = tfind(&key, &cp->archived, archive_compare);
	if (!found)
		return 1;
	first = &(*(struct archive_file **)found)->first;
	if (cp->to.ops->look(&cp->to, to, to_name, &there) < 0)
		return rr_cp_fail(cp, &cp->to);
	if (there.kind == RR_KIND_DIRECTORY)
		return rr_cp_fail_because(
			cp, &cp->to, "there is a directory of this name, which will not be replaced");
	if (there.kind == RR_KIND_FILE && there.fileid == first->fileid &&
		rr_trail_is_on(there.fsid, first->fsid))
		return 0;
	if (archive_make_name(cp, first, to, to_name) < 0)
		return -1;
	cp->sums.names++;
	rr_cp_say_done(cp, "link");
	return 0;
}

/* ---- Extended attributes ---- */

/* Warns that the destination does not support extended attributes, so that those of this file and of later
 * files are left out. Gives the warning only once in a copy. Returns 0. */
static int
archive_cannot(struct rr_cp *cp)
{
	if (!cp->no_xattrs)
		rr_cp_warn(cp, &cp->from,
			"its extended attributes are left out, as the destination takes none; so are those "
			"of others");
	cp->no_xattrs = true;
	return 0;
}

/* Copies the extended attribute `name` of the file or directory `from` to `to`. If the destination takes no
 * extended attributes, leaves it out, with a warning. Returns 0 in both cases; -1 after an error, which was
 * reported. */
static int
archive_xattr(
	struct rr_cp *cp, const struct rr_directory *from, const struct rr_directory *to, const char *name)
{
	struct rpcrdma_nfs_value value = { .data = cp->xattr_value, .room = RPCRDMA_NFS_XATTR_MAX };
	int result = cp->from.ops->get_xattr(&cp->from, from, name, &value);

	if (result < 0)
		return rr_cp_fail(cp, &cp->from);
	result = cp->to.ops->set_xattr(&cp->to, to, name, &value);
	if (result < 0)
		return rr_cp_fail(cp, &cp->to);
	return result == 1 ? archive_cannot(cp) : 0;
}

int
rr_cp_archive_xattrs(struct rr_cp *cp, const struct rr_directory *from, const struct rr_directory *to)
{
	struct rpcrdma_nfs_value names = { .data = cp->xattr_names, .room = sizeof(cp->xattr_names) };
	int result = 0;

	if (!cp->archive || cp->no_xattrs)
		return 0;
	if (cp->from.ops->list_xattrs(&cp->from, from, &names) < 0)
		return rr_cp_fail(cp, &cp->from);
	for (uint32_t at = 0; at < names.length && result == 0 && !cp->no_xattrs;) {
		const char *name = cp->xattr_names + at;

		result = archive_xattr(cp, from, to, name);
		at += (uint32_t)strlen(name) + 1;
	}
	return result;
}
