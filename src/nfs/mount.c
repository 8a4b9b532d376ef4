/* SPDX-License-Identifier: BSD-3-Clause */
#include "nfs/mount.h"

#include <string.h>

/* Those statuses that both protocols have are numbered alike. */
static mountstat3
mount_status(nfsstat3 status)
{
	switch (status) {
	case NFS3_OK: return MNT3_OK;
	case NFS3ERR_PERM: return MNT3ERR_PERM;
	case NFS3ERR_NOENT: return MNT3ERR_NOENT;
	case NFS3ERR_IO: return MNT3ERR_IO;
	case NFS3ERR_ACCES: return MNT3ERR_ACCES;
	case NFS3ERR_NOTDIR: return MNT3ERR_NOTDIR;
	case NFS3ERR_INVAL: return MNT3ERR_INVAL;
	case NFS3ERR_NAMETOOLONG: return MNT3ERR_NAMETOOLONG;
	default: return MNT3ERR_SERVERFAULT;
	}
}

static bool
mount_list_flavors(struct rpcrdma_request *request, mountres3_ok *ok)
{
	uint32_t count = 0;

	while (rr_auth_served[count])
		count++;
	ok->auth_flavors.values = rr_nfs_alloc(request, count * sizeof(int32_t));
	if (!ok->auth_flavors.values)
		return false;
	ok->auth_flavors.count = count;
	for (uint32_t i = 0; i < count; i++)
		ok->auth_flavors.values[i] = (int32_t)rr_auth_served[i]->flavor;
	return true;
}

static void
mount_skip_slashes(struct rpcrdma_bytes *path)
{
	while (path->length > 0 && *(const char *)path->data == '/')
		*path = (struct rpcrdma_bytes){ (const char *)path->data + 1, path->length - 1 };
}

/* Looks up the next component of the path. */
static enum rr_vfs_status
mount_step(struct rr_nfs_work *work)
{
	struct rr_nfs_walk *walk = &work->op.walk;
	struct rr_vfs *vfs = work->server->vfs;

	walk->lookup.directory = (struct rr_vfs_object){ .handle = { walk->at.data, walk->at.length } };
	walk->lookup.name = rr_vfs_next_component(&walk->rest);
	mount_skip_slashes(&walk->rest);
	return vfs->ops->lookup(vfs, &walk->lookup);
}

/* The root of an export is everybody's to have. A directory below it is looked up as its caller would do it
 * by LOOKUP: one that the caller may not reach is not given to it, and whether it exists is not said. */
static enum rr_vfs_status
mnt_begin(struct rr_nfs_work *work)
{
	const dirpath *path = work->args;
	struct rr_nfs_walk *walk = &work->op.walk;
	struct rr_vfs *vfs = work->server->vfs;
	uint32_t number = rr_vfs_find_export(vfs, *path, &walk->rest);

	if (number == vfs->export_count)
		return RR_VFS_NOENT;
	vfs->ops->root(vfs, number, &walk->at);
	mount_skip_slashes(&walk->rest);
	if (walk->rest.length > 0)
		return mount_step(work);
	walk->lookup.handle = walk->at;
	walk->lookup.attributes.type = RR_VFS_DIRECTORY;
	return RR_VFS_OK;
}

static enum rpcrdma_handled
mnt_end(struct rr_nfs_work *work, enum rr_vfs_status status)
{
	struct rr_nfs_walk *walk = &work->op.walk;
	mountres3 *res = work->result;
	mountres3_ok *ok = &res->u.mountinfo;
	nfs_fh3 handle;

	while (status == RR_VFS_OK && walk->rest.length > 0) {
		walk->at = walk->lookup.handle;
		status = mount_step(work);
	}
	if (status == RR_VFS_PENDING)
		return RPCRDMA_HANDLE_KEPT;
	if (status == RR_VFS_OK && walk->lookup.attributes.type != RR_VFS_DIRECTORY)
		status = RR_VFS_NOTDIR;
	if (status == RR_VFS_OK && (!mount_list_flavors(work->request, ok) ||
					   !rr_nfs_handle(work, &walk->lookup.handle, &handle)))
		status = RR_VFS_FAULT;
	res->fhs_status = mount_status(rr_nfs_status(status));
	if (status == RR_VFS_OK)
		ok->fhandle = handle.data;
	return RPCRDMA_HANDLED;
}

const struct rr_nfs_procedure rr_proc_mnt = { mnt_begin, mnt_end, sizeof(struct rr_nfs_walk) };

/* Each export, for everybody. */
enum rpcrdma_handled
rr_proc_export(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	const struct rr_vfs *vfs = ((const struct rr_nfs_server *)ctx)->vfs;
	exports *next = result;

	(void)args;
	for (uint32_t i = 0; i < vfs->export_count; i++) {
		const char *path = vfs->exports[i].name;
		struct exportnode *node = rr_nfs_alloc(request, sizeof(*node));

		if (!node)
			return RPCRDMA_HANDLE_SYSTEM_ERR;
		node->ex_dir = (struct rpcrdma_bytes){ path, (uint32_t)strlen(path) };
		*next = node;
		next = &node->ex_next;
	}
	return RPCRDMA_HANDLED;
}
