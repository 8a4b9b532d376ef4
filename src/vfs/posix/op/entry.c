/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the operations lookup, link, remove and rename. vfs.h describes what each of them does, with
 * its arguments and results. They stay inside one export. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "vfs/posix/posix_private.h"

enum rr_vfs_status
rr_posix_lookup(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	struct rr_vfs_lookup *lookup = rr_container(call, struct rr_vfs_lookup, call);
	struct rr_posix_subject directory;
	struct rr_object object;
	enum rr_vfs_status status = rr_posix_find(work, &lookup->directory, &directory);

	if (status != RR_VFS_OK)
		return status;
	status = rr_tree_lookup(work->tree, &directory.object, lookup->name, &object);
	if (status == RR_VFS_OK) {
		rr_tree_handle(work->tree, &object, &lookup->handle);
		rr_posix_attributes(work->posix, &object, &lookup->attributes);
		rr_object_put(work->tree, &object);
	}
	rr_posix_known(work->posix, &directory.object, &lookup->directory_after);
	rr_posix_put(work, &directory);
	return status;
}

/* Checks the arguments of a link call, makes the new name of file, and notes that the directory is to be
 * stored. */
static enum rr_vfs_status
op_link_entry(struct rr_posix_work *work, struct rr_object *file, struct rr_posix_subject *directory,
	struct rpcrdma_bytes name)
{
	char path[RR_POSIX_PATH], text[RR_VFS_NAME_MAX + 1];
	enum rr_vfs_status status = rr_vfs_name(name, text);
	int error;

	if (status != RR_VFS_OK)
		return status;
	if (S_ISDIR(file->st.stx_mode))
		return RR_VFS_ISDIR;
	if (file->export != directory->object.export)
		return RR_VFS_XDEV;
	/* AT_SYMLINK_FOLLOW follows the link in /proc to the object of fd, which may itself be a symbolic
	 * link: that one is not followed. */
	rr_posix_path(file->fd, path);
	rr_posix_change_begin(work->posix, directory, NULL);
	error = linkat(AT_FDCWD, path, directory->object.fd, text, AT_SYMLINK_FOLLOW) < 0 ? errno : 0;
	rr_posix_change_end(work->posix, directory, NULL, !error);
	if (!error)
		rr_posix_store(work, &directory->object);
	return rr_vfs_errno(error);
}

/* The attributes of the file are filled in after a failure, too. After success the file has changed: it has
 * one more name. */
enum rr_vfs_status
rr_posix_link(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	struct rr_vfs_link *link = rr_container(call, struct rr_vfs_link, call);
	struct rr_posix_subject file, directory = { .change = &link->directory_change };
	enum rr_vfs_status status = rr_posix_find(work, &link->file, &file);

	if (status != RR_VFS_OK)
		return status;
	status = rr_posix_find(work, &link->directory, &directory);
	if (status == RR_VFS_OK) {
		rr_posix_unchanged(work->posix, &directory.object, directory.change);
		status = op_link_entry(work, &file.object, &directory, link->name);
		rr_posix_put(work, &directory);
	}
	if (status == RR_VFS_OK)
		rr_posix_know_changed(work->posix, &file.object, &link->file_after);
	else
		rr_posix_know(work->posix, &file.object, &link->file_after);
	rr_posix_put(work, &file);
	return status;
}

/* Tells whether the object with the name "text" in the directory is itself a directory, for a call that
 * removes an entry of any type. Returns false if there is no such entry. */
static bool
op_remove_is_directory(const struct rr_posix_subject *directory, const char *text)
{
	struct stat st;

	return fstatat(directory->object.fd, text, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

/* Removes the entry that the call names, notes that in the tree, and notes that the directory is to be
 * stored. */
static enum rr_vfs_status
op_remove_entry(
	struct rr_posix_work *work, struct rr_posix_subject *directory, const struct rr_vfs_remove *remove)
{
	char text[RR_VFS_NAME_MAX + 1];
	enum rr_vfs_status status = rr_vfs_name(remove->name, text);
	struct rr_object removed;
	int error, flags = 0;

	if (status != RR_VFS_OK)
		return status;
	/* A file that a call names by an open has no node, which the tree wants of a directory. */
	if (!S_ISDIR(directory->object.st.stx_mode))
		return RR_VFS_NOTDIR;
	if (remove->what == RR_VFS_REMOVE_DIRECTORY ||
		(remove->what == RR_VFS_REMOVE_ANY && op_remove_is_directory(directory, text)))
		flags = AT_REMOVEDIR;
	rr_tree_peek(work->tree, &directory->object, remove->name, &removed);
	rr_posix_change_begin(work->posix, directory, NULL);
	error = unlinkat(directory->object.fd, text, flags) < 0 ? errno : 0;
	rr_posix_change_end(work->posix, directory, NULL, !error);
	if (!error)
		rr_tree_removed(work->tree, &removed, &directory->object, text);
	rr_object_put(work->tree, &removed);
	if (!error)
		rr_posix_store(work, &directory->object);
	return rr_vfs_errno(error);
}

enum rr_vfs_status
rr_posix_remove(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	struct rr_vfs_remove *remove = rr_container(call, struct rr_vfs_remove, call);
	struct rr_posix_subject directory = { .change = &remove->directory_change };
	enum rr_vfs_status status = rr_posix_find(work, &remove->directory, &directory);

	if (status != RR_VFS_OK)
		return status;
	rr_posix_unchanged(work->posix, &directory.object, directory.change);
	status = op_remove_entry(work, &directory, remove);
	rr_posix_put(work, &directory);
	return status;
}

/* A name as the call has it, and as a C string. */
struct entry_name {
	struct rpcrdma_bytes name;
	char text[RR_VFS_NAME_MAX + 1];
};

/* Translates an errno of rename(2) into a status. EEXIST means that the directory to be replaced has entries.
 * EISDIR and ENOTDIR mean that only one of the two objects is a directory, for which the status is
 * RR_VFS_EXIST. */
static enum rr_vfs_status
op_rename_status(int error)
{
	switch (error) {
	case EEXIST: return RR_VFS_NOTEMPTY;
	case EISDIR:
	case ENOTDIR: return RR_VFS_EXIST;
	default: return rr_vfs_errno(error);
	}
}

/* Renames the entry "old" of the directory "from" to "new" in the directory "to", by renameat(2), and notes
 * the renaming in the tree (tree.h). Both names have been checked. */
static enum rr_vfs_status
op_rename_change(struct rr_posix_work *work, const struct entry_name *old, const struct entry_name *new,
	struct rr_posix_subject *from, struct rr_posix_subject *to)
{
	struct rr_object moved, replaced;
	bool same;
	int error;

	rr_tree_peek(work->tree, &from->object, old->name, &moved);
	rr_tree_peek(work->tree, &to->object, new->name, &replaced);
	/* rename(2): "If oldpath and newpath are existing hard links referring to the same file, then
	 * rename() does nothing" */
	same = moved.node && moved.node == replaced.node;
	rr_posix_change_begin(work->posix, from, to);
	error = renameat(from->object.fd, old->text, to->object.fd, new->text) < 0 ? errno : 0;
	rr_posix_change_end(work->posix, from, to, !error && !same);
	if (!error)
		rr_tree_renamed(work->tree, &moved, &replaced, &to->object, new->text);
	rr_object_put(work->tree, &moved);
	rr_object_put(work->tree, &replaced);
	return op_rename_status(error);
}

/* Checks the arguments of a rename call, renames the entry, and notes that both directories are to be stored.
 */
static enum rr_vfs_status
op_rename_entry(struct rr_posix_work *work, const struct rr_vfs_rename *rename, struct rr_posix_subject *from,
	struct rr_posix_subject *to)
{
	struct entry_name old = { .name = rename->old_name }, new = { .name = rename->new_name };
	enum rr_vfs_status status;

	if (!S_ISDIR(from->object.st.stx_mode) || !S_ISDIR(to->object.st.stx_mode))
		return RR_VFS_NOTDIR;
	status = rr_vfs_name(old.name, old.text);
	if (status == RR_VFS_OK)
		status = rr_vfs_name(new.name, new.text);
	/* The lock of one file system must not be held while another file system, which may hang, is asked.
	 * op_rename_change() would do that here. */
	if (status == RR_VFS_OK && from->object.fsid != to->object.fsid)
		status = RR_VFS_XDEV;
	if (status == RR_VFS_OK)
		status = op_rename_change(work, &old, &new, from, to);
	if (status != RR_VFS_OK)
		return status;
	/* The directory of the new name is stored first: after a crash in between, the object has both names.
	 * In the other order, it might have none. */
	rr_posix_store(work, &to->object);
	if (from->object.node != to->object.node)
		rr_posix_store(work, &from->object);
	return RR_VFS_OK;
}

/* Finds the directory of the new name. Mostly the call names one directory twice: it is found once. */
static enum rr_vfs_status
op_rename_find_to(struct rr_posix_work *work, const struct rr_vfs_rename *rename,
	const struct rr_posix_subject *from, struct rr_posix_subject *to)
{
	const struct rr_vfs_object *one = &rename->from, *two = &rename->to;

	if (one->open || two->open || one->handle.length != two->handle.length ||
		memcmp(one->handle.data, two->handle.data, two->handle.length) != 0)
		return rr_posix_find(work, two, to);
	to->open = NULL;
	rr_object_again(work->tree, &from->object, &to->object);
	return RR_VFS_OK;
}

enum rr_vfs_status
rr_posix_rename(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	struct rr_vfs_rename *rename = rr_container(call, struct rr_vfs_rename, call);
	struct rr_posix_subject from = { .change = &rename->from_change },
				to = { .change = &rename->to_change };
	enum rr_vfs_status status = rr_posix_find(work, &rename->from, &from);

	if (status != RR_VFS_OK)
		return status;
	rr_posix_unchanged(work->posix, &from.object, from.change);
	status = op_rename_find_to(work, rename, &from, &to);
	if (status == RR_VFS_OK) {
		rr_posix_unchanged(work->posix, &to.object, to.change);
		status = rr_tree_may_move_to(work->tree, &to.object)
				 ? op_rename_entry(work, rename, &from, &to)
				 : RR_VFS_BUSY;
		rr_posix_put(work, &to);
	}
	rr_posix_put(work, &from);
	return status;
}
