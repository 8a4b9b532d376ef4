/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "nfs/attr.h"

/* REMOVE and RMDIR: RFC 1813, sections 3.3.12 and 3.3.13. */

struct removal {
	int flags;            /* of unlinkat(2) */
	nfsstat3 dot, dotdot; /* what these names get */
};

static nfsstat3
remove_entry(struct rr_nfs_server *server, struct rr_nfs_subject *directory, filename3 name,
	const struct removal *removal)
{
	char text[256];
	nfsstat3 status = rr_nfs_entry_name(server, name, removal->dot, removal->dotdot, text);
	struct rr_object removed;
	int error;

	if (status != NFS3_OK)
		return status;
	rr_tree_peek(server->tree, &directory->object, name, &removed);
	rr_nfs_change_begin(server, directory, NULL);
	error = unlinkat(directory->object.fd, text, removal->flags) < 0 ? errno : 0;
	rr_nfs_change_end(server, directory, NULL);
	if (!error)
		rr_tree_removed(server->tree, &removed, &directory->object, text);
	rr_object_put(server->tree, &removed);
	if (!error)
		rr_nfs_store(server, &directory->object);
	return rr_nfs_status(error);
}

static nfsstat3
remove_at(struct rr_nfs_server *server, const diropargs3 *where, const struct removal *removal, wcc_data *wcc)
{
	struct rr_nfs_subject directory;
	nfsstat3 status = rr_tree_resolve(server->tree, where->dir.data, &directory.object);

	if (status != NFS3_OK)
		return status;
	rr_nfs_unchanged(&directory.object, &directory.wcc);
	status = remove_entry(server, &directory, where->name, removal);
	*wcc = directory.wcc;
	rr_object_put(server->tree, &directory.object);
	return status;
}

enum rr_handled
rr_proc_remove(struct rr_nfs_server *server, struct rr_request *request, const void *args, void *result)
{
	static const struct removal removal = { 0, NFS3ERR_ISDIR, NFS3ERR_ISDIR };
	const REMOVE3args *remove = args;
	REMOVE3res *res = result;
	wcc_data wcc = { 0 };

	(void)request;
	res->status = remove_at(server, &remove->object, &removal, &wcc);
	if (res->status == NFS3_OK)
		res->u.resok.dir_wcc = wcc;
	else
		res->u.resfail.dir_wcc = wcc;
	return RR_HANDLED;
}

enum rr_handled
rr_proc_rmdir(struct rr_nfs_server *server, struct rr_request *request, const void *args, void *result)
{
	/* RFC 1813, 3.3.13, on "." and "..": "NFS3ERR_INVAL ... NFS3ERR_EXIST" */
	static const struct removal removal = { AT_REMOVEDIR, NFS3ERR_INVAL, NFS3ERR_EXIST };
	const RMDIR3args *rmdir = args;
	RMDIR3res *res = result;
	wcc_data wcc = { 0 };

	(void)request;
	res->status = remove_at(server, &rmdir->object, &removal, &wcc);
	if (res->status == NFS3_OK)
		res->u.resok.dir_wcc = wcc;
	else
		res->u.resfail.dir_wcc = wcc;
	return RR_HANDLED;
}
