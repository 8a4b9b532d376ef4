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
	/* An entry takes more octets of the arena than of the reply: what the arena has no room for is not
	 * looked up. */
	listing->room = (uint32_t)rr_min(
		listing->room, rr_min(RR_VFS_LISTING_MAX, request->arena.end - request->arena.next));
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

/* Returns the octets of the results of a listing that the client bounds by count. */
static uint32_t
list_max(uint32_t count)
{
	return (uint32_t)rr_min(count, RR_VFS_LISTING_MAX) + RR_NFS_STATUS_SIZE + RR_NFS_LIST_SIZE;
}

uint32_t
rr_nfs_readdir_max(const struct rpcrdma_request *request, const void *args)
{
	(void)request;
	return list_max(((const READDIR3args *)args)->count);
}

uint32_t
rr_nfs_readdirplus_max(const struct rpcrdma_request *request, const void *args)
{
	(void)request;
	return list_max(((const READDIRPLUS3args *)args)->maxcount);
}

/* Returns the octets of the arena for a listing that may have that many in the reply. */
static uint32_t
list_arena(uint32_t reply)
{
	return 2 * reply;
}

uint32_t
rr_nfs_readdir_arena(const struct rpcrdma_request *request, const void *args)
{
	return list_arena(rr_nfs_readdir_max(request, args));
}

uint32_t
rr_nfs_readdirplus_arena(const struct rpcrdma_request *request, const void *args)
{
	return list_arena(rr_nfs_readdirplus_max(request, args));
}
