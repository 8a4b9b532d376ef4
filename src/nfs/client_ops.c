/* SPDX-License-Identifier: BSD-3-Clause */
#include "nfs/client_private.h"

/* This file has functions that each make one call and wait for it, for walks along paths. */

int
rr_nfs_getattr(
	struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle, struct rpcrdma_nfs_object *object)
{
	object->size = sizeof(*object);
	return rpcrdma_nfs_stat(nfs, handle, object, NULL);
}

int
rr_nfs_lookup(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name,
	struct rpcrdma_nfs_object *object)
{
	LOOKUP3args args = { .what = { rr_nfs_fh(directory), rr_nfs_string(name) } };
	struct rr_nfs_found result;
	struct rpcrdma_nfs_handle handle;
	int error = rr_nfs_call(nfs, NFSPROC3_LOOKUP, &args, &result);

	if (error)
		return error;
	if (!rr_nfs_handle_set(&handle, result.handle))
		return rr_nfs_fail(nfs, -RPCRDMA_ERR_PEER, "the server gave an empty file handle");
	if (!result.known)
		return rr_nfs_getattr(nfs, &handle, object);
	object->handle = handle;
	rr_nfs_object_describe(object, &result.attributes);
	return 0;
}

int
rr_nfs_readlink(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle, char *target)
{
	return rpcrdma_nfs_readlink(nfs, handle, target, RR_NFS_PATH, NULL);
}
