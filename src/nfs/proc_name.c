/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "nfs/attr.h"

/* LOOKUP and READLINK: RFC 1813, sections 3.3.3 and 3.3.5. */

static nfsstat3
find(struct rr_nfs_server *server, struct rr_request *request, const struct rr_object *directory,
	filename3 name, LOOKUP3resok *found)
{
	struct rr_object object;
	nfsstat3 status = rr_tree_lookup(server->tree, directory, name, &object);

	if (status != NFS3_OK)
		return status;
	if (!rr_nfs_handle(server, request, &object, &found->object))
		status = NFS3ERR_SERVERFAULT;
	rr_nfs_attributes(&object, &found->obj_attributes);
	rr_object_put(server->tree, &object);
	return status;
}

enum rr_handled
rr_proc_lookup(struct rr_nfs_server *server, struct rr_request *request, const void *args, void *result)
{
	const LOOKUP3args *lookup = args;
	LOOKUP3res *res = result;
	LOOKUP3resok found = { 0 };
	struct rr_object directory;

	res->status = rr_tree_resolve(server->tree, lookup->what.dir.data, &directory);
	if (res->status != NFS3_OK)
		return RR_HANDLED;
	res->status = find(server, request, &directory, lookup->what.name, &found);
	rr_nfs_attributes(&directory, &found.dir_attributes);
	rr_object_put(server->tree, &directory);
	if (res->status == NFS3_OK)
		res->u.resok = found;
	else
		res->u.resfail.dir_attributes = found.dir_attributes;
	return RR_HANDLED;
}

static nfsstat3
read_link(struct rr_request *request, const struct rr_object *object, nfspath3 *target)
{
	ssize_t length;
	char *text;

	/* RFC 1813, 3.3.5: "should return the error, NFS3ERR_INVAL, if the object is not of type, NF3LNK" */
	if (!S_ISLNK(object->st.stx_mode))
		return NFS3ERR_INVAL;
	text = rr_nfs_alloc(request, PATH_MAX);
	if (!text)
		return NFS3ERR_SERVERFAULT;
	length = readlinkat(object->fd, "", text, PATH_MAX);
	if (length < 0)
		return rr_nfs_status(errno);
	*target = (struct rpcrdma_bytes){ text, (uint32_t)length };
	return NFS3_OK;
}

enum rr_handled
rr_proc_readlink(struct rr_nfs_server *server, struct rr_request *request, const void *args, void *result)
{
	const READLINK3args *read = args;
	READLINK3res *res = result;
	READLINK3resok link = { 0 };
	struct rr_object object;

	res->status = rr_tree_resolve(server->tree, read->symlink.data, &object);
	if (res->status != NFS3_OK)
		return RR_HANDLED;
	res->status = read_link(request, &object, &link.data);
	rr_nfs_post_op(&object, &link.symlink_attributes);
	rr_object_put(server->tree, &object);
	if (res->status == NFS3_OK)
		res->u.resok = link;
	else
		res->u.resfail.symlink_attributes = link.symlink_attributes;
	return RR_HANDLED;
}
