/* SPDX-License-Identifier: BSD-3-Clause */
#include "nfs/client_private.h"

#include <string.h>

/* This file has functions that each make one call and wait for it, for walks along paths. */

int
rr_nfs_getattr(
	struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle, struct rpcrdma_nfs_object *object)
{
	GETATTR3args args = { .object = rr_nfs_fh(handle) };
	struct rr_nfs_found result;
	int error = rr_nfs_call(nfs, NFSPROC3_GETATTR, &args, &result);

	if (error)
		return error;
	object->handle = *handle;
	rr_nfs_object_describe(object, &result.attributes);
	return 0;
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
	READLINK3args args = { .symlink = rr_nfs_fh(handle) };
	READLINK3res result;
	/* The target is small, and Linux's servers use a Write chunk for it wrongly, so it may come in a
	 * Reply chunk. */
	struct rr_call call = {
		.proc = NFSPROC3_READLINK,
		.args = &args,
		.result = &result,
		.reply_max = RR_NFS_PATH,
		.keep = nfs->keep,
		.keep_size = sizeof(nfs->keep),
	};
	struct rpcrdma_bytes data;
	int error = rr_nfs_call_with(nfs, &call);

	if (error)
		return error;
	data = result.u.resok.data;
	if (data.length == 0 || data.length >= RR_NFS_PATH || memchr(data.data, 0, data.length))
		return rr_nfs_fail(nfs, -RPCRDMA_ERR_PEER, "the symbolic link has a target that is no path");
	memcpy(target, data.data, data.length);
	target[data.length] = '\0';
	return 0;
}
