/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/checked.h"
#include "nfs/list.h"

/* READDIRPLUS: RFC 1813, section 3.3.17. */

struct entries {
	struct rr_nfs_listing listing;
	/* Octets of names and cookies that are left. RFC 1813, 3.3.17: "This number should not include the
	 * size of the attributes and file handle portions of the result." */
	uint32_t names;
	entryplus3 *first, **next;
};

/* Attributes and handle, and their octets of XDR. An object that is gone by now, or that the caller may not
 * reach, is listed without them; the discriminants remain. */
static uint32_t
describe(struct rr_nfs_listing *listing, entryplus3 *entry)
{
	struct rr_object object;
	uint32_t size = 4 + 4;

	if (rr_tree_lookup(listing->server->tree, &listing->directory, entry->name, &object) != NFS3_OK)
		return size;
	rr_nfs_attributes(&object, &entry->name_attributes);
	entry->fileid = object.st.stx_ino;
	size += RR_NFS_FATTR_SIZE;
	if (rr_nfs_handle(listing->server, listing->request, &object, &entry->name_handle.u.handle)) {
		entry->name_handle.handle_follows = true;
		size += 4 + entry->name_handle.u.handle.data.length;
		size += rr_pad(entry->name_handle.u.handle.data.length);
	}
	rr_object_put(listing->server->tree, &object);
	return size;
}

static bool
add_entry(struct rr_nfs_listing *listing, const struct dirent64 *given)
{
	struct entries *entries = rr_container(listing, struct entries, listing);
	size_t length = strlen(given->d_name);
	uint64_t size = RR_NFS_ENTRY_SIZE + length + rr_pad((uint32_t)length);
	entryplus3 *entry = rr_nfs_alloc(listing->request, sizeof *entry);

	if (!entry || !rr_nfs_list_name(listing, given->d_name, &entry->name) ||
		!rr_nfs_list_take(&entries->names, size))
		return false;
	entry->fileid = given->d_ino;
	entry->cookie = (uint64_t)given->d_off;
	if (!rr_nfs_list_take(&listing->room, size + describe(listing, entry)))
		return false;
	*entries->next = entry;
	entries->next = &entry->nextentry;
	return true;
}

enum rr_handled
rr_proc_readdirplus(struct rr_nfs_server *server, struct rr_request *request, const void *args, void *result)
{
	const READDIRPLUS3args *read = args;
	READDIRPLUS3res *res = result;
	struct entries entries = { .listing = { .server = server, .request = request, .add = add_entry } };
	post_op_attr attributes = { 0 };

	entries.names = read->dircount;
	entries.next = &entries.first;
	res->status = rr_nfs_list(
		&entries.listing, read->dir, read->cookie, read->cookieverf, read->maxcount, &attributes);
	if (res->status != NFS3_OK) {
		res->u.resfail.dir_attributes = attributes;
		return RR_HANDLED;
	}
	res->u.resok.dir_attributes = attributes;
	res->u.resok.reply.entries = entries.first;
	res->u.resok.reply.eof = entries.listing.eof;
	return RR_HANDLED;
}
