/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include <sys/stat.h>

#include "tool/cp/remote.h"

/* The remote end of a copy. Most functions are operations of struct rr_side_ops: side.h says what each
 * does and returns. All operations but find() use file handles. */

int
rr_cp_remote_fail(struct rr_side *side, int error)
{
	side->fatal = error < 0 || error == NFS3ERR_NOSPC || error == NFS3ERR_DQUOT ||
		      error == NFS3ERR_ROFS || error == NFS3ERR_IO;
	/* RFC 1813, 2.6: NFS3ERR_STALE: "The file referred to by that file handle no longer exists". */
	side->gone = error == NFS3ERR_NOENT || error == NFS3ERR_STALE;
	side->unsure = error < 0;
	/* An answer that makes no sense for a file does not end the copy of the other files. */
	if (error == -RPCRDMA_ERR_PEER || error == -RPCRDMA_ERR_NOTSUP || error == -RPCRDMA_ERR_LIMIT)
		side->fatal = false;
	rr_nfs_explain_change(side->nfs, error);
	return rr_fail(&side->text, error < 0 ? error : -RPCRDMA_ERR_SYSTEM, "%s", rr_nfs_explain(side->nfs));
}

/* Returns 0 if error is 0. Otherwise stores the text of the error in side->text, for rr_cp_fail(), and
 * returns a negative number. */
static int
remote_check(struct rr_side *side, int error)
{
	return error ? rr_cp_remote_fail(side, error) : 0;
}

/* Returns the type of a pipe, device or socket as struct rr_info has it; 0 for all other types. */
static uint32_t
remote_special_type(enum rpcrdma_nfs_type type)
{
	switch (type) {
	case RPCRDMA_NFS_BLOCK_DEVICE: return S_IFBLK;
	case RPCRDMA_NFS_CHARACTER_DEVICE: return S_IFCHR;
	case RPCRDMA_NFS_SOCKET: return S_IFSOCK;
	case RPCRDMA_NFS_FIFO: return S_IFIFO;
	default: return 0;
	}
}

/* Converts the NFS attributes of an object to *info, the form that both ends of a copy share. Users and
 * groups whom the server names have the numbers that they have here. */
static void
remote_describe_object(struct rr_side *side, const struct rpcrdma_nfs_object *object, struct rr_info *info)
{
	*info = (struct rr_info){
		.kind = object->type == RPCRDMA_NFS_FILE        ? RR_KIND_FILE
			: object->type == RPCRDMA_NFS_DIRECTORY ? RR_KIND_DIRECTORY
			: object->type == RPCRDMA_NFS_SYMLINK   ? RR_KIND_LINK
								: RR_KIND_OTHER,
		.mode = object->mode,
		.type = remote_special_type(object->type),
		.major = object->device_major,
		.minor = object->device_minor,
		.uid = object->owner[0] ? rr_owners_number(&side->owners, object->owner, false) : object->uid,
		.gid = object->group[0] ? rr_owners_number(&side->owners, object->group, true) : object->gid,
		.links = object->links,
		.size = object->length,
		.used = object->used,
		.fsid = object->filesystem,
		.fileid = object->number,
		.atime = { object->accessed.seconds, object->accessed.nanoseconds },
		.mtime = { object->modified.seconds, object->modified.nanoseconds },
		.ctime = { object->changed.seconds, object->changed.nanoseconds },
		.handle = object->handle,
	};
}

/* Fills in *info from the result of a LOOKUP: its error (0, a positive nfsstat3, or a negative number of this
 * library) and, without an error, the object that it found. If the name does not exist, info->kind becomes
 * RR_KIND_NONE, and that is no error. Returns 0, or a negative number. */
static int
remote_found(struct rr_side *side, int error, const struct rpcrdma_nfs_object *object, struct rr_info *info)
{
	info->kind = RR_KIND_NONE;
	if (error == NFS3ERR_NOENT)
		return 0;
	if (error)
		return rr_cp_remote_fail(side, error);
	remote_describe_object(side, object, info);
	return 0;
}

static int
remote_find(struct rr_side *side, const char *path, bool follow, struct rr_info *info)
{
	struct rpcrdma_nfs_object object = { .size = sizeof(object) };

	return remote_found(side, rr_nfs_find(side->nfs, path, follow, &object), &object, info);
}

static int
remote_look(
	struct rr_side *side, const struct rr_directory *directory, const char *name, struct rr_info *info)
{
	struct rpcrdma_nfs_object object = { .size = sizeof(object) };

	return remote_found(
		side, rpcrdma_nfs_lookup(side->nfs, &directory->handle, name, &object, NULL), &object, info);
}

static int
remote_examine(struct rr_side *side, const struct rr_directory *directory,
	const struct rr_catalog_entry *entry, struct rr_info *info)
{
	struct rpcrdma_nfs_object object;

	if (!entry->object)
		return remote_look(side, directory, entry->name, info);
	object = rr_catalog_object(entry);
	remote_describe_object(side, &object, info);
	return 0;
}

static int
remote_enter(struct rr_side *side, const struct rr_directory *directory, const char *name,
	const struct rr_info *info, struct rr_directory *into)
{
	(void)side, (void)directory, (void)name;
	*into = (struct rr_directory){ .fd = -1, .handle = info->handle };
	return 0;
}

/* Does nothing, as a file handle need not be closed; so do remote_leave() and remote_close(). */
static void
remote_park(struct rr_side *side, struct rr_directory *directory)
{
	(void)side, (void)directory;
}

static int
remote_leave(struct rr_side *side, struct rr_directory *directory, struct rr_directory *above)
{
	(void)side, (void)directory, (void)above;
	return 0;
}

static int
remote_list(struct rr_side *side, const struct rr_directory *directory, struct rr_catalog *catalog)
{
	return remote_check(side, rpcrdma_nfs_list(side->nfs, &directory->handle, rr_catalog_take, catalog));
}

static int
remote_read_link(struct rr_side *side, const struct rr_directory *directory, const char *name,
	const struct rr_info *info, char target[RR_NFS_PATH])
{
	(void)directory, (void)name;
	return remote_check(side, rpcrdma_nfs_readlink(side->nfs, &info->handle, target, RR_NFS_PATH, NULL));
}

static int
remote_make_directory(struct rr_side *side, const struct rr_directory *directory, const char *name,
	struct rr_directory *into)
{
	const struct rpcrdma_nfs_changes changes = rr_cp_remote_mode(0700);
	struct rpcrdma_nfs_object object = { .size = sizeof(object) };
	int error = rpcrdma_nfs_mkdir(side->nfs, &directory->handle, name, &changes, &object, NULL);

	if (!error)
		*into = (struct rr_directory){ .fd = -1, .handle = object.handle };
	return remote_check(side, error);
}

static int
remote_make_link(
	struct rr_side *side, const struct rr_directory *directory, const char *name, const char *target)
{
	struct rpcrdma_nfs_object link = { .size = sizeof(link) };
	int error = rpcrdma_nfs_symlink(side->nfs, &directory->handle, name, target, &link, NULL);

	/* remote_check() stores the text of any error. Returns 1 if the name exists already. */
	return remote_check(side, error) < 0 && error == NFS3ERR_EXIST ? 1 : error ? -RPCRDMA_ERR_SYSTEM : 0;
}

static int
remote_set(struct rr_side *side, const struct rr_directory *directory, const struct rr_info *info)
{
	return remote_check(
		side, rr_cp_remote_apply(side, &directory->handle, rr_cp_remote_attributes(side, info)));
}

static int
remote_rename(struct rr_side *side, const struct rr_directory *directory, const char *from, const char *to)
{
	return remote_check(
		side, rpcrdma_nfs_rename(side->nfs, &directory->handle, from, &directory->handle, to, NULL));
}

static int
remote_remove(struct rr_side *side, const struct rr_directory *directory, const char *name)
{
	int error;

	/* A signal ends the calls of this client. Between the two calls of rr_nfs_cleaning() it does not, so
	 * that a temporary file is removed after an interruption, too. */
	rr_nfs_cleaning(side->nfs, true);
	error = rpcrdma_nfs_remove(side->nfs, &directory->handle, name, NULL);
	rr_nfs_cleaning(side->nfs, false);
	return remote_check(side, error);
}

static int
remote_remove_directory(struct rr_side *side, const struct rr_directory *directory, const char *name)
{
	return remote_check(side, rpcrdma_nfs_rmdir(side->nfs, &directory->handle, name, NULL));
}

/* ---- Files ---- */

static int
remote_open(struct rr_side *side, const struct rr_directory *directory, const char *name,
	const struct rr_info *info, struct rr_file *file)
{
	(void)directory, (void)name;
	*file = (struct rr_file){ .side = side, .handle = info->handle };
	return 0;
}

/* Asks the server by ACCESS whether the user may write the file. If not, an empty SETATTR finds out why, such
 * as a read-only export. Returns 0 if the file may be written; otherwise a negative number, with the reason
 * in side->text. */
static int
remote_check_writable(struct rr_side *side, const struct rpcrdma_nfs_handle *handle)
{
	const struct rpcrdma_nfs_changes nothing = { .size = sizeof(nothing) };
	uint32_t granted = 0;
	int error = rpcrdma_nfs_access(side->nfs, handle, RPCRDMA_NFS_MAY_MODIFY, &granted, NULL);

	if (!error && !(granted & RPCRDMA_NFS_MAY_MODIFY))
		error = rpcrdma_nfs_change(side->nfs, handle, &nothing, NULL);
	if (error)
		return rr_cp_remote_fail(side, error);
	if (granted & RPCRDMA_NFS_MAY_MODIFY)
		return 0;
	side->fatal = side->gone = side->unsure = false;
	return rr_fail(&side->text, -RPCRDMA_ERR_SYSTEM, "%s", rr_nfs_status_text(side->nfs, NFS3ERR_ACCES));
}

/* Prepares to write over an existing file. Returns 1 if a new file should replace the old one: directory is
 * not NULL, and the file has no further hard links. Otherwise sets up *file to be written in place, empties
 * the file, and returns 0. directory is NULL if a symbolic link may have led to the file. Returns a negative
 * number after an error. */
static int
remote_overwrite(struct rr_side *side, const struct rr_directory *directory, const char *name,
	const struct rr_info *there, struct rr_file *file)
{
	const struct rpcrdma_nfs_changes empty = { .size = sizeof(empty), .set_length = true };
	int error = remote_check_writable(side, &there->handle);

	(void)name;
	if (error)
		return error;
	if (directory && there->links == 1)
		return 1;
	*file = (struct rr_file){
		.side = side,
		.in_place = true,
		.handle = there->handle,
		.stable = UNSTABLE,
	};
	return remote_check(side, rpcrdma_nfs_change(side->nfs, &file->handle, &empty, NULL));
}

/* Prepares to go on with a file that an interrupted copy has left: sets up *file, and cuts the file off
 * behind its first `kept` octets. Returns 0, or a negative number. */
static int
remote_go_on(struct rr_side *side, const struct rr_directory *directory, const char *name,
	const struct rr_info *there, uint64_t kept, struct rr_file *file)
{
	const struct rpcrdma_nfs_changes cut = { .size = sizeof(cut), .set_length = true, .length = kept };

	(void)directory, (void)name;
	*file = (struct rr_file){
		.side = side,
		.handle = there->handle,
		.uid = there->uid,
		.gid = there->gid,
		.stable = UNSTABLE,
		.kept = kept,
	};
	return remote_check(side, rpcrdma_nfs_change(side->nfs, &file->handle, &cut, NULL));
}

/* Sets the attributes of a file whose data has been copied. Without -a, a file that was written in place
 * keeps its mode. The server may refuse to set the times of such a file if it belongs to another user: that
 * is no error. Returns 0, or a negative number. */
static int
remote_finish(struct rr_file *file, const struct rr_info *info)
{
	struct rr_side *side = file->side;
	struct rpcrdma_nfs_changes changes = rr_cp_remote_attributes(side, info);
	int error;

	changes.set_mode = !file->in_place || side->archive;
	changes.set_length = file->short_end;
	changes.length = info->size;
	error = rr_cp_remote_apply(side, &file->handle, changes);
	/* A file that was written in place may belong to another user: then the server does not let its times
	 * be set. */
	if (error == NFS3ERR_PERM && file->in_place && !file->short_end)
		return 0;
	return remote_check(side, error);
}

static int
remote_describe(struct rr_file *file, struct rr_info *info)
{
	struct rpcrdma_nfs_object object = { .size = sizeof(object) };
	int error = rpcrdma_nfs_stat(file->side->nfs, &file->handle, &object, NULL);

	if (error)
		return rr_cp_remote_fail(file->side, error);
	remote_describe_object(file->side, &object, info);
	return 0;
}

static void
remote_close(struct rr_file *file)
{
	(void)file;
}

const struct rr_side_ops rr_side_remote = {
	.find = remote_find,
	.look = remote_look,
	.examine = remote_examine,
	.enter = remote_enter,
	.park = remote_park,
	.leave = remote_leave,
	.list = remote_list,
	.read_link = remote_read_link,
	.make_directory = remote_make_directory,
	.make_link = remote_make_link,
	.set = remote_set,
	.make_special = rr_cp_remote_make_special,
	.set_link = rr_cp_remote_set_link,
	.make_name = rr_cp_remote_make_name,
	.list_xattrs = rr_cp_remote_list_xattrs,
	.get_xattr = rr_cp_remote_get_xattr,
	.set_xattr = rr_cp_remote_set_xattr,
	.get_lists = rr_cp_remote_get_lists,
	.set_lists = rr_cp_remote_set_lists,
	.rename = remote_rename,
	.remove = remote_remove,
	.remove_directory = remote_remove_directory,
	.open = remote_open,
	.create = rr_cp_remote_create,
	.overwrite = remote_overwrite,
	.go_on = remote_go_on,
	.extent = rr_cp_remote_extent,
	.cancel_extent = rr_cp_remote_cancel_extent,
	.within = rr_cp_remote_within,
	.read = rr_cp_remote_read,
	.write = rr_cp_remote_write,
	.cancel = rr_cp_remote_cancel,
	.commit = rr_cp_remote_commit,
	.finish = remote_finish,
	.describe = remote_describe,
	.close = remote_close,
};
