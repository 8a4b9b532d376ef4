/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/checked.h"
#include "server/nfs3/list.h"

/* This file has READDIRPLUS: RFC 1813, section 3.3.17. The functions ..._begin() begin the operation of the
 * file system for a procedure, and the functions ..._end() complete the result of the procedure when that
 * operation has ended (proc.h). */

/* Adds the attributes and the handle to an entry, and returns the octets of XDR that they take. An object
 * that is gone by now, or that the caller may not reach, is listed without them: the entry then has only two
 * words, which say that they are missing. */
static uint32_t
readdirplus_describe(struct rr_nfs_work *work, const struct rr_vfs_entry *given, entryplus3 *entry)
{
	uint32_t size = 4 + 4;

	if (!given->attributes)
		return size;
	entry->name_attributes.attributes_follow = true;
	rr_nfs_fattr(given->attributes, &entry->name_attributes.u.attributes);
	size += RR_NFS_FATTR_SIZE;
	if (!rr_nfs_handle(work, given->handle, &entry->name_handle.u.handle))
		return size;
	entry->name_handle.handle_follows = true;
	return size + 4 + given->handle->length + rr_pad(given->handle->length);
}

/* Adds an entry to the result of READDIRPLUS. Returns false if there is no memory, if the result would have
 * more octets than the client's maxcount, or if the entries without attributes and handles would have more
 * octets than the client's dircount. RFC 1813, 3.3.17, of dircount: "This number should not include the size
 * of the attributes and file handle portions of the result." */
static bool
readdirplus_take(struct rr_vfs_readdir *readdir, const struct rr_vfs_entry *given)
{
	struct rr_nfs_work *work = rr_container(readdir, struct rr_nfs_work, op.listing.readdir);
	struct rr_nfs_listing *listing = &work->op.listing;
	uint64_t size = RR_NFS_ENTRY_SIZE + (uint64_t)given->name.length + rr_pad(given->name.length);
	entryplus3 *entry = rr_nfs_alloc(work->request, sizeof(*entry));

	if (!entry || !rr_nfs_list_name(work->request, given->name, &entry->name) ||
		!rr_nfs_list_take(&listing->names, size))
		return false;
	entry->fileid = given->number;
	entry->cookie = given->cookie;
	if (!rr_nfs_list_take(&listing->room, size + readdirplus_describe(work, given, entry)))
		return false;
	*listing->next_plus = entry;
	listing->next_plus = &entry->nextentry;
	return true;
}

/* Begins READDIRPLUS: dircount limits the octets of names and cookies, maxcount those of the whole result.
 * The handle of an entry is taken to be as long as that of the directory. */
static enum rr_vfs_status
readdirplus_begin(struct rr_nfs_work *work)
{
	const READDIRPLUS3args *args = work->args;
	struct rr_nfs_listing *listing = &work->op.listing;

	listing->readdir.take = readdirplus_take;
	listing->readdir.attributes = true;
	listing->names = args->dircount;
	listing->readdir.room.names.octets = args->dircount;
	listing->readdir.room.names.entry = RR_NFS_ENTRY_SIZE;
	listing->readdir.room.reply.entry = RR_NFS_ENTRY_SIZE + RR_NFS_PLUS_SIZE + args->dir.data.length +
					    rr_pad((uint32_t)args->dir.data.length);
	return rr_nfs_list_begin(work, args->dir, args->cookie, args->cookieverf, args->maxcount);
}

/* Completes the result of READDIRPLUS. Its cookie verifier stays zero (list.h). */
static enum rpcrdma_handled
readdirplus_end(struct rr_nfs_work *work, enum rr_vfs_status status)
{
	const struct rr_nfs_listing *listing = &work->op.listing;
	READDIRPLUS3res *res = work->result;

	res->status = rr_nfs_list_status(work, status);
	if (res->status != NFS3_OK) {
		rr_nfs_post_op(&listing->readdir.directory_after, &res->u.resfail.dir_attributes);
		return RPCRDMA_HANDLED;
	}
	rr_nfs_post_op(&listing->readdir.directory_after, &res->u.resok.dir_attributes);
	res->u.resok.reply.entries = listing->first_plus;
	res->u.resok.reply.eof = listing->readdir.eof;
	return RPCRDMA_HANDLED;
}

const struct rr_nfs_procedure rr_proc_readdirplus = { readdirplus_begin, readdirplus_end,
	sizeof(struct rr_nfs_listing) };
