/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/checked.h"
#include "nfs/list.h"

/* READDIR: RFC 1813, section 3.3.16. */

struct names {
	struct rr_nfs_listing listing;
	entry3 *first, **next;
};

/* An export's root is its own parent, whatever lies above it on this machine. */
static uint64_t
parent_id(struct rr_nfs_listing *listing)
{
	struct rr_object parent;
	uint64_t id = listing->directory.st.stx_ino;

	if (rr_tree_lookup(listing->server->tree, &listing->directory, (filename3){ "..", 2 }, &parent) !=
		NFS3_OK)
		return id;
	id = parent.st.stx_ino;
	rr_object_put(listing->server->tree, &parent);
	return id;
}

static bool
add_name(struct rr_nfs_listing *listing, const struct dirent64 *given)
{
	struct names *names = rr_container(listing, struct names, listing);
	size_t length = strlen(given->d_name);
	entry3 *entry = rr_nfs_alloc(listing->request, sizeof *entry);

	if (!entry || !rr_nfs_list_name(listing, given->d_name, &entry->name) ||
		!rr_nfs_list_take(&listing->room, RR_NFS_ENTRY_SIZE + length + rr_pad((uint32_t)length)))
		return false;
	entry->fileid = strcmp(given->d_name, "..") == 0 ? parent_id(listing) : given->d_ino;
	entry->cookie = (uint64_t)given->d_off;
	*names->next = entry;
	names->next = &entry->nextentry;
	return true;
}

enum rr_handled
rr_proc_readdir(struct rr_nfs_server *server, struct rr_request *request, const void *args, void *result)
{
	const READDIR3args *read = args;
	READDIR3res *res = result;
	struct names names = { .listing = { .server = server, .request = request, .add = add_name } };
	post_op_attr attributes = { 0 };

	names.next = &names.first;
	res->status = rr_nfs_list(
		&names.listing, read->dir, read->cookie, read->cookieverf, read->count, &attributes);
	if (res->status != NFS3_OK) {
		res->u.resfail.dir_attributes = attributes;
		return RR_HANDLED;
	}
	res->u.resok.dir_attributes = attributes;
	res->u.resok.reply.entries = names.first;
	res->u.resok.reply.eof = names.listing.eof;
	return RR_HANDLED;
}
