/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/checked.h"
#include "server/nfs3/list.h"

/* This file has READDIR: RFC 1813, section 3.3.16. The functions ..._begin() begin the operation of the file
 * system for a procedure, and the functions ..._end() complete the result of the procedure when that
 * operation has ended (proc.h). */

/* Adds an entry to the result of READDIR. Returns false if the result or the request's memory has no room for
 * it. */
static bool
readdir_take(struct rr_vfs_readdir *readdir, const struct rr_vfs_entry *given)
{
	struct rr_nfs_work *work = rr_container(readdir, struct rr_nfs_work, op.listing.readdir);
	struct rr_nfs_listing *listing = &work->op.listing;
	entry3 *entry = rr_nfs_alloc(work->request, sizeof(*entry));

	if (!entry || !rr_nfs_list_name(work->request, given->name, &entry->name) ||
		!rr_nfs_list_take(
			&listing->room, RR_NFS_ENTRY_SIZE + given->name.length + rr_pad(given->name.length)))
		return false;
	entry->fileid = given->number;
	entry->cookie = given->cookie;
	*listing->next = entry;
	listing->next = &entry->nextentry;
	return true;
}

static enum rr_vfs_status
readdir_begin(struct rr_nfs_work *work)
{
	const READDIR3args *args = work->args;
	struct rr_nfs_listing *listing = &work->op.listing;

	listing->readdir.take = readdir_take;
	listing->readdir.room =
		(struct rr_vfs_readdir_room){ .names.octets = UINT32_MAX, .reply.entry = RR_NFS_ENTRY_SIZE };
	return rr_nfs_list_begin(work, args->dir, args->cookie, args->cookieverf, args->count);
}

/* Completes the result of READDIR. Its cookie verifier stays zero (list.h). */
static enum rpcrdma_handled
readdir_end(struct rr_nfs_work *work, enum rr_vfs_status status)
{
	const struct rr_nfs_listing *listing = &work->op.listing;
	READDIR3res *res = work->result;

	res->status = rr_nfs_list_status(work, status);
	if (res->status != NFS3_OK) {
		rr_nfs_post_op(&listing->readdir.directory_after, &res->u.resfail.dir_attributes);
		return RPCRDMA_HANDLED;
	}
	rr_nfs_post_op(&listing->readdir.directory_after, &res->u.resok.dir_attributes);
	res->u.resok.reply.entries = listing->first;
	res->u.resok.reply.eof = listing->readdir.eof;
	return RPCRDMA_HANDLED;
}

const struct rr_nfs_procedure rr_proc_readdir = { readdir_begin, readdir_end, sizeof(struct rr_nfs_listing) };
