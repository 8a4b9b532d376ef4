/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/nfs3/list.h"

#include <string.h>

#include "base/checked.h"

bool
rr_nfs_list_take(uint32_t *left, uint64_t size)
{
	if (size > *left)
		return false;
	*left -= (uint32_t)size;
	return true;
}

bool
rr_nfs_list_name(struct rpcrdma_request *request, struct rpcrdma_bytes given, filename3 *name)
{
	char *copy = rr_nfs_alloc(request, given.length);

	if (!copy)
		return false;
	memcpy(copy, given.data, given.length);
	*name = (struct rpcrdma_bytes){ copy, given.length };
	return true;
}

enum rr_vfs_status
rr_nfs_list_begin(struct rr_nfs_work *work, nfs_fh3 directory, uint64_t cookie, const cookieverf3 verifier,
	uint32_t max)
{
	static const cookieverf3 zero;
	const struct rpcrdma_request *request = work->request;
	struct rr_nfs_listing *listing = &work->op.listing;
	struct rr_vfs *vfs = work->server->vfs;

	listing->next = &listing->first;
	listing->next_plus = &listing->first_plus;
	listing->readdir.directory = rr_nfs_object(directory);
	listing->readdir.cookie = cookie;
	/* The reply has room for stream_room octets, with the header of RPC and the status. */
	listing->room = (uint32_t)rr_min(max,
		request->stream_room - rr_min(request->stream_room, request->header + RR_NFS_STATUS_SIZE));
	/* This server gives out cookies with a verifier of zeroes only. */
	if (cookie != 0 && memcmp(verifier, zero, sizeof(zero)) != 0)
		return RR_VFS_BAD_COOKIE;
	/* If even a result without entries does not fit, no entry is taken, and rr_nfs_list_status() then
	 * returns NFS3ERR_TOOSMALL. */
	if (!rr_nfs_list_take(&listing->room, RR_NFS_LIST_SIZE))
		listing->room = 0;
	listing->readdir.room.reply.octets = listing->room;
	return rr_vfs_readdir(vfs, &listing->readdir);
}

nfsstat3
rr_nfs_list_status(const struct rr_nfs_work *work, enum rr_vfs_status status)
{
	const struct rr_vfs_readdir *readdir = &work->op.listing.readdir;

	if (status == RR_VFS_OK && readdir->count == 0 && !readdir->eof)
		return NFS3ERR_TOOSMALL;
	return rr_nfs_status(status);
}
