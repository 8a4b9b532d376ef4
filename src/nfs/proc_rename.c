/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "nfs/attr.h"

/* RENAME and LINK: RFC 1813, sections 3.3.14 and 3.3.15. Both stay inside one export. */

/* RFC 1813, 3.3.14: "If they are not compatible or if the target is a directory but not empty, the server
 * should return the error, NFS3ERR_EXIST." */
static nfsstat3
rename_status(int error)
{
	switch (error) {
	case EEXIST:
	case ENOTEMPTY:
	case EISDIR:
	case ENOTDIR: return NFS3ERR_EXIST;
	default: return rr_nfs_status(error);
	}
}

static nfsstat3
rename_entry(struct rr_nfs_server *server, struct rr_object *from, filename3 from_name, struct rr_object *to,
	filename3 to_name)
{
	char old[256], new[256];
	nfsstat3 status;

	if (!S_ISDIR(from->st.stx_mode) || !S_ISDIR(to->st.stx_mode))
		return NFS3ERR_NOTDIR;
	/* RFC 1813, 3.3.14, on "." and "..": "These servers will return the error, NFS3ERR_INVAL" */
	status = rr_nfs_entry_name(server, from_name, NFS3ERR_INVAL, NFS3ERR_INVAL, old);
	if (status == NFS3_OK)
		status = rr_nfs_entry_name(server, to_name, NFS3ERR_INVAL, NFS3ERR_INVAL, new);
	if (status != NFS3_OK)
		return status;
	if (from->export != to->export)
		return NFS3ERR_XDEV;
	if (renameat(from->fd, old, to->fd, new) < 0)
		return rename_status(errno);
	rr_tree_renamed(server->tree, from, from_name, to, to_name);
	/* The new name first: after a crash between the two there are both, not none. */
	status = rr_nfs_sync(server, to);
	return status == NFS3_OK && from->st.stx_ino != to->st.stx_ino ? rr_nfs_sync(server, from) : status;
}

static nfsstat3
rename_from(struct rr_nfs_server *server, const RENAME3args *rename, struct rr_object *from, wcc_data *to_wcc)
{
	struct rr_object to;
	nfsstat3 status = rr_tree_resolve(server->tree, rename->to.dir.data, &to);

	if (status != NFS3_OK)
		return status;
	rr_nfs_before(&to, to_wcc);
	status = rename_entry(server, from, rename->from.name, &to, rename->to.name);
	rr_nfs_after(&to, to_wcc);
	rr_object_put(server->tree, &to);
	return status;
}

enum rr_handled
rr_proc_rename(struct rr_nfs_server *server, struct rr_request *request, const void *args, void *result)
{
	const RENAME3args *rename = args;
	RENAME3res *res = result;
	wcc_data from_wcc = { 0 }, to_wcc = { 0 };
	struct rr_object from;

	(void)request;
	res->status = rr_tree_resolve(server->tree, rename->from.dir.data, &from);
	if (res->status != NFS3_OK)
		return RR_HANDLED;
	rr_nfs_before(&from, &from_wcc);
	res->status = rename_from(server, rename, &from, &to_wcc);
	rr_nfs_after(&from, &from_wcc);
	rr_object_put(server->tree, &from);
	if (res->status == NFS3_OK)
		res->u.resok = (RENAME3resok){ from_wcc, to_wcc };
	else
		res->u.resfail = (RENAME3resfail){ from_wcc, to_wcc };
	return RR_HANDLED;
}

static nfsstat3
link_entry(struct rr_nfs_server *server, struct rr_object *file, struct rr_object *directory, filename3 name)
{
	char path[RR_NFS_PROC_PATH], text[256];
	nfsstat3 status = rr_nfs_entry_name(server, name, NFS3ERR_EXIST, NFS3ERR_EXIST, text);

	if (status != NFS3_OK)
		return status;
	if (S_ISDIR(file->st.stx_mode))
		return NFS3ERR_INVAL;
	if (file->export != directory->export)
		return NFS3ERR_XDEV;
	rr_nfs_proc_path(file->fd, path);
	if (linkat(AT_FDCWD, path, directory->fd, text, AT_SYMLINK_FOLLOW) < 0)
		return rr_nfs_status(errno);
	return rr_nfs_sync(server, directory);
}

static nfsstat3
link_file(struct rr_nfs_server *server, struct rr_object *file, const diropargs3 *link, wcc_data *wcc)
{
	struct rr_object directory;
	nfsstat3 status = rr_tree_resolve(server->tree, link->dir.data, &directory);

	if (status != NFS3_OK)
		return status;
	rr_nfs_before(&directory, wcc);
	status = link_entry(server, file, &directory, link->name);
	rr_nfs_after(&directory, wcc);
	rr_object_put(server->tree, &directory);
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
