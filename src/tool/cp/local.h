/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_CP_LOCAL_H
#define RR_TOOL_CP_LOCAL_H

#include <fcntl.h>
#include <sys/stat.h>

#include "tool/cp/side.h"

/* Functions that the files of the local end share; the operations are those of struct rr_side_ops. */

/* Returns the descriptor of the directory to which names are relative: that of `directory`, or AT_FDCWD (the
 * working directory) if directory is NULL. */
static inline int
rr_cp_local_at(const struct rr_directory *directory)
{
	return directory ? directory->fd : AT_FDCWD;
}

/* Writes the text for errno into side->text. Sets side->fatal to true if other files would fail, too, for
 * example because the disk is full, and otherwise to false; likewise side->gone, if the object does not exist
 * any more. Returns a negative number. */
int rr_cp_local_fail(struct rr_side *side);
/* Does the same for an error that no call has reported by errno, with the reason as text. Sets side->fatal
 * and side->gone to false. */
int rr_cp_local_fail_because(struct rr_side *side, const char *why);
/* Converts the result of fstat(2) to *info. */
void rr_cp_local_describe(const struct stat *st, struct rr_info *info);

/* local_lists.c: takes into account the access list of an object that info describes: it is `name` in the
 * directory `at`, or the open object `at` itself if name is NULL. Sets info->listed if it has an access list,
 * or a default one. With an access list, stat(2) shows its mask as the rights of the group: info->mode of an
 * object of the source gets the rights that the group really has. Does nothing at the destination without -a.
 */
void rr_cp_local_narrow(const struct rr_side *side, int at, const char *name, struct rr_info *info);

/* Gives the open object fd the mode and the times in info, and, with -a, also the owner and the group. It is
 * no error if owner or group cannot be set: the mode then comes without the set-user-ID and set-group-ID
 * bits, as it always does without -a. Returns 0, or a negative number. */
int rr_cp_local_set(struct rr_side *side, int fd, const struct rr_info *info);

int rr_cp_local_open(struct rr_side *side, const struct rr_directory *directory, const char *name,
	const struct rr_info *info, struct rr_file *file);
int rr_cp_local_create(struct rr_side *side, const struct rr_directory *directory, const char *name,
	uint64_t size, struct rr_file *file);
int rr_cp_local_overwrite(struct rr_side *side, const struct rr_directory *directory, const char *name,
	const struct rr_info *there, struct rr_file *file);
int rr_cp_local_go_on(struct rr_side *side, const struct rr_directory *directory, const char *name,
	const struct rr_info *there, uint64_t kept, struct rr_file *file);
int rr_cp_local_extent(struct rr_extent *extent);
void rr_cp_local_cancel_extent(struct rr_extent *extent);
int rr_cp_local_read(struct rr_file *file, struct rr_cp_piece *piece);
int rr_cp_local_write(struct rr_file *file, struct rr_cp_piece *piece);
void rr_cp_local_cancel(struct rr_cp_piece *piece);
int rr_cp_local_commit(struct rr_file *file, uint64_t *lost);
int rr_cp_local_finish(struct rr_file *file, const struct rr_info *info);
int rr_cp_local_describe_file(struct rr_file *file, struct rr_info *info);
void rr_cp_local_close(struct rr_file *file);

/* ---- local_archive.c ---- */
int rr_cp_local_make_special(struct rr_side *side, const struct rr_directory *directory, const char *name,
	const struct rr_info *info);
int rr_cp_local_set_link(struct rr_side *side, const struct rr_directory *directory, const char *name,
	const struct rr_info *info);
int rr_cp_local_make_name(struct rr_side *side, const struct rr_first *first,
	const struct rr_directory *directory, const char *name);
int rr_cp_local_list_xattrs(
	struct rr_side *side, const struct rr_directory *object, struct rpcrdma_nfs_value *names);
int rr_cp_local_get_xattr(struct rr_side *side, const struct rr_directory *object, const char *name,
	struct rpcrdma_nfs_value *value);
int rr_cp_local_set_xattr(struct rr_side *side, const struct rr_directory *object, const char *name,
	const struct rpcrdma_nfs_value *value);

/* ---- local_lists.c ---- */
int rr_cp_local_get_lists(struct rr_side *side, const struct rr_directory *object, const struct rr_info *info,
	struct rr_cp_lists *lists);
int rr_cp_local_set_lists(struct rr_side *side, const struct rr_directory *object, const struct rr_info *info,
	const struct rr_cp_lists *lists);

#endif
