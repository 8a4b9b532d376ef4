/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "nfs/attr.h"

/* RENAME and LINK: RFC 1813, sections 3.3.14 and 3.3.15. Both stay inside one export. */

/*
 * RFC 1813, 3.3.14: "If they are not compatible or if the target is a directory but not empty, the server
 * should return the error, NFS3ERR_EXIST." Of a directory that is not empty, NFS3ERR_NOTEMPTY says more: it
 * is among the errors of RENAME, and programs know ENOTEMPTY from their local file systems.
 */
static nfsstat3
rename_status(int error)
{
	switch (error) {
	case EEXIST:
	case ENOTEMPTY: return NFS3ERR_NOTEMPTY;
	case EISDIR:
	case ENOTDIR: return NFS3ERR_EXIST;
	default: return rr_nfs_status(error);
	}
}

/* A name as the call has it, and as a C string. */
struct entry_name {
	filename3 name;
	char text[256];
};

/* Both names are checked. */
static nfsstat3
rename_change(struct rr_nfs_server *server, const struct entry_name *old, const struct entry_name *new,
	struct rr_nfs_subject *from, struct rr_nfs_subject *to)
{
	struct rr_object moved, replaced;
	int error;

	rr_tree_peek(server->tree, &from->object, old->name, &moved);
	rr_tree_peek(server->tree, &to->object, new->name, &replaced);
	rr_nfs_change_begin(server, from, to);
	error = renameat(from->object.fd, old->text, to->object.fd, new->text) < 0 ? errno : 0;
	rr_nfs_change_end(server, from, to);
	if (!error)
		rr_tree_renamed(server->tree, &moved, &replaced, &to->object, new->text);
	rr_object_put(server->tree, &moved);
	rr_object_put(server->tree, &replaced);
	return rename_status(error);
}

static nfsstat3
rename_entry(struct rr_nfs_server *server, const RENAME3args *rename, struct rr_nfs_subject *from,
	struct rr_nfs_subject *to)
{
	struct entry_name old = { .name = rename->from.name }, new = { .name = rename->to.name };
	nfsstat3 status;

	if (!S_ISDIR(from->object.st.stx_mode) || !S_ISDIR(to->object.st.stx_mode))
		return NFS3ERR_NOTDIR;
	/* RFC 1813, 3.3.14, on "." and "..": "These servers will return the error, NFS3ERR_INVAL" */
	status = rr_nfs_entry_name(server, old.name, NFS3ERR_INVAL, NFS3ERR_INVAL, old.text);
	if (status == NFS3_OK)
		status = rr_nfs_entry_name(server, new.name, NFS3ERR_INVAL, NFS3ERR_INVAL, new.text);
	if (status == NFS3_OK && from->object.export != to->object.export)
		status = NFS3ERR_XDEV;
	if (status == NFS3_OK)
		status = rename_change(server, &old, &new, from, to);
	if (status != NFS3_OK)
		return status;
	/* The new name first: after a crash between the two there are both, not neither. */
	rr_nfs_store(server, &to->object);
	if (from->object.node != to->object.node)
		rr_nfs_store(server, &from->object);
	return NFS3_OK;
}

static nfsstat3
rename_from(struct rr_nfs_server *server, const RENAME3args *rename, struct rr_nfs_subject *from,
	struct rr_nfs_subject *to)
{
	nfsstat3 status = rr_tree_resolve(server->tree, rename->to.dir.data, &to->object);

	if (status != NFS3_OK)
		return status;
	rr_nfs_unchanged(&to->object, &to->wcc);
	status = rename_entry(server, rename, from, to);
	rr_object_put(server->tree, &to->object);
	return status;
}

enum rr_handled
rr_proc_rename(struct rr_nfs_server *server, struct rr_request *request, const void *args, void *result)
{
	const RENAME3args *rename = args;
	RENAME3res *res = result;
	struct rr_nfs_subject from = { 0 }, to = { 0 };

	(void)request;
	res->status = rr_tree_resolve(server->tree, rename->from.dir.data, &from.object);
	if (res->status != NFS3_OK)
		return RR_HANDLED;
	rr_nfs_unchanged(&from.object, &from.wcc);
	res->status = rename_from(server, rename, &from, &to);
	rr_object_put(server->tree, &from.object);
	if (res->status == NFS3_OK)
		res->u.resok = (RENAME3resok){ from.wcc, to.wcc };
	else
		res->u.resfail = (RENAME3resfail){ from.wcc, to.wcc };
	return RR_HANDLED;
}

static nfsstat3
link_entry(struct rr_nfs_server *server, struct rr_object *file, struct rr_nfs_subject *directory,
	filename3 name)
{
	char path[RR_NFS_PROC_PATH], text[256];
	nfsstat3 status = rr_nfs_entry_name(server, name, NFS3ERR_EXIST, NFS3ERR_EXIST, text);
	int error;

	if (status != NFS3_OK)
		return status;
	if (S_ISDIR(file->st.stx_mode))
		return NFS3ERR_INVAL;
	if (file->export != directory->object.export)
		return NFS3ERR_XDEV;
	rr_nfs_proc_path(file->fd, path);
	rr_nfs_change_begin(server, directory, NULL);
	error = linkat(AT_FDCWD, path, directory->object.fd, text, AT_SYMLINK_FOLLOW) < 0 ? errno : 0;
	rr_nfs_change_end(server, directory, NULL);
	if (!error)
		rr_nfs_store(server, &directory->object);
	return rr_nfs_status(error);
}

static nfsstat3
link_file(struct rr_nfs_server *server, struct rr_object *file, const diropargs3 *link, wcc_data *wcc)
{
	struct rr_nfs_subject directory;
	nfsstat3 status = rr_tree_resolve(server->tree, link->dir.data, &directory.object);

	if (status != NFS3_OK)
		return status;
	rr_nfs_unchanged(&directory.object, &directory.wcc);
	status = link_entry(server, file, &directory, link->name);
	*wcc = directory.wcc;
	rr_object_put(server->tree, &directory.object);
	return status;
}

enum rr_handled
rr_proc_link(struct rr_nfs_server *server, struct rr_request *request, const void *args, void *result)
{
	const LINK3args *link = args;
	LINK3res *res = result;
	LINK3resok ok = { 0 };
	struct rr_object file;

	(void)request;
	res->status = rr_tree_resolve(server->tree, link->file.data, &file);
	if (res->status != NFS3_OK)
		return RR_HANDLED;
	res->status = link_file(server, &file, &link->link, &ok.linkdir_wcc);
	rr_nfs_post_op(&file, &ok.file_attributes);
	rr_object_put(server->tree, &file);
	if (res->status == NFS3_OK)
		res->u.resok = ok;
	else
		res->u.resfail = (LINK3resfail){ ok.file_attributes, ok.linkdir_wcc };
	return RR_HANDLED;
}
