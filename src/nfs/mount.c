/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "nfs/proc.h"
#include "ulb/mount3.h"

/*
 * The MOUNT protocol: RFC 1813, appendix I. No list of mounts is kept, so that
 * DUMP has nothing to tell: nothing depends on that list, and clients that go
 * away leave their entries in it for ever.
 */

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
list_flavors(struct rr_request *request, mountres3_ok *ok)
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

/* The root of an export is everybody's to have. A directory below it is looked up as its caller would do it
 * by LOOKUP: one that the caller may not reach is not given to it, and whether it exists is not told. */
enum rr_handled
rr_proc_mnt(struct rr_nfs_server *server, struct rr_request *request, const void *args, void *result)
{
	const dirpath *path = args;
	mountres3 *res = result;
	mountres3_ok *ok = &res->u.mountinfo;
	struct rr_object object;
	nfs_fh3 handle;
	nfsstat3 status;

	status = rr_tree_mount(server->tree, *path, &object);
	if (status == NFS3_OK) {
		if (!list_flavors(request, ok) || !rr_nfs_handle(server, request, &object, &handle))
			status = NFS3ERR_SERVERFAULT;
		rr_object_put(server->tree, &object);
	}
	res->fhs_status = mount_status(status);
	if (status != NFS3_OK)
		return RR_HANDLED;
	ok->fhandle = handle.data;
	return RR_HANDLED;
}

enum rr_handled
rr_proc_dump(struct rr_nfs_server *server, struct rr_request *request, const void *args, void *result)
{
	(void)server, (void)request, (void)args, (void)result;
	return RR_HANDLED;
}

enum rr_handled
rr_proc_umnt(struct rr_nfs_server *server, struct rr_request *request, const void *args, void *result)
{
	(void)server, (void)request, (void)args, (void)result;
	return RR_HANDLED;
}

enum rr_handled
rr_proc_umntall(struct rr_nfs_server *server, struct rr_request *request, const void *args, void *result)
{
	(void)server, (void)request, (void)args, (void)result;
	return RR_HANDLED;
}

/* Each export, for everybody. */
enum rr_handled
rr_proc_export(struct rr_nfs_server *server, struct rr_request *request, const void *args, void *result)
{
	const struct rr_tree_config *config = rr_tree_config(server->tree);
	exports *next = result;

	(void)args;
	for (uint32_t i = 0; i < config->export_count; i++) {
		const char *path = config->exports[i].name;
		struct exportnode *node = rr_nfs_alloc(request, sizeof *node);

		if (!node)
			return RR_HANDLE_SYSTEM_ERR;
		node->ex_dir = (struct rpcrdma_bytes){ path, (uint32_t)strlen(path) };
		*next = node;
		next = &node->ex_next;
	}
	return RR_HANDLED;
}
