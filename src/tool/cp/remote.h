/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_CP_REMOTE_H
#define RR_TOOL_CP_REMOTE_H

#include "tool/cp/side.h"

/* Functions that the files of the remote end share; the operations are those of struct rr_side_ops. */

/* Stores the client's text of an error in side->text. error is a negative number of this library, or a
 * positive nfsstat3. Sets side->fatal to true if other files would fail, too, as without a connection or
 * without space at the server, and otherwise to false; likewise side->gone, if the object does not exist any
 * more. Returns a negative number. */
int rr_cp_remote_fail(struct rr_side *side, int error);

/* Returns the attributes of info that are to be set: mode and times, and with -a owner and group as long as
 * the server lets them be set. The set-user-ID and set-group-ID bits are set only together with owner and
 * group. A time that cannot be set is left out: rr_cp_times_check() reports it. */
struct rpcrdma_nfs_changes rr_cp_remote_attributes(const struct rr_side *side, const struct rr_info *info);

/* Returns changes that set the mode alone. */
struct rpcrdma_nfs_changes rr_cp_remote_mode(uint32_t mode);

/* Sets the attributes of a file: the owner, the group and the size in front of a mode with set-user-ID or
 * set-group-ID bits and of the times, as many servers clear these bits when they set the others. If the
 * server refuses them and they have an owner, tries without the owner, and without the set-user-ID and
 * set-group-ID bits, and leaves out the owner of all later files, too (side->keep_uid); then likewise with
 * the group. Returns 0, or the error of the last SETATTR. */
int rr_cp_remote_apply(
	struct rr_side *side, const struct rpcrdma_nfs_handle *handle, struct rpcrdma_nfs_changes changes);

int rr_cp_remote_create(struct rr_side *side, const struct rr_directory *directory, const char *name,
	uint64_t size, struct rr_file *file);
int rr_cp_remote_read(struct rr_file *file, struct rr_cp_piece *piece);
int rr_cp_remote_write(struct rr_file *file, struct rr_cp_piece *piece);
void rr_cp_remote_cancel(struct rr_cp_piece *piece);
int rr_cp_remote_extent(struct rr_extent *extent);
void rr_cp_remote_cancel_extent(struct rr_extent *extent);
int rr_cp_remote_within(
	struct rr_file *from, struct rr_file *to, uint64_t offset, uint64_t length, bool clone);

/* Notes that octets in front of `end` were written that the server may forget in a restart. If changed is
 * true, the server has restarted meanwhile, so these octets must be written again. */
void rr_cp_remote_note_unstable(
	struct rr_file *file, const uint8_t verifier[NFS3_WRITEVERFSIZE], uint64_t end, bool changed);
int rr_cp_remote_commit(struct rr_file *file, uint64_t *lost);

/* ---- remote_archive.c ---- */
int rr_cp_remote_make_special(struct rr_side *side, const struct rr_directory *directory, const char *name,
	const struct rr_info *info);
int rr_cp_remote_set_link(struct rr_side *side, const struct rr_directory *directory, const char *name,
	const struct rr_info *info);
int rr_cp_remote_make_name(struct rr_side *side, const struct rr_first *first,
	const struct rr_directory *directory, const char *name);
int rr_cp_remote_list_xattrs(
	struct rr_side *side, const struct rr_directory *object, struct rpcrdma_nfs_value *names);
int rr_cp_remote_get_xattr(struct rr_side *side, const struct rr_directory *object, const char *name,
	struct rpcrdma_nfs_value *value);
int rr_cp_remote_set_xattr(struct rr_side *side, const struct rr_directory *object, const char *name,
	const struct rpcrdma_nfs_value *value);

int rr_cp_remote_get_lists(struct rr_side *side, const struct rr_directory *object,
	const struct rr_info *info, struct rr_cp_lists *lists);
int rr_cp_remote_set_lists(struct rr_side *side, const struct rr_directory *object,
	const struct rr_info *info, const struct rr_cp_lists *lists);

#endif
