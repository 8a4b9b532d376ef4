/* SPDX-License-Identifier: BSD-3-Clause */
/* Listings of directories. The kernel asks for a page at a time: what the server has sent more is kept for
 * the next. */
#include <errno.h>
#include <linux/fuse.h>
#include <string.h>

#include "base/checked.h"
#include "fuse/fuse_private.h"
#include "fuse/ops.h"
#include "vfs/system.h"

enum { LIST_MOST = 65536 };

void
rr_fuse_op_opendir(struct rr_fuse_request *request)
{
	struct rr_fuse_file *file = rr_fuse_file_new(request->fuse, request->node, 0);
	struct fuse_open_out out = { 0 };

	if (!file) {
		rr_fuse_answer(request, ENOMEM, NULL, 0);
		return;
	}
	out.fh = file->number;
	if (!rr_fuse_answer(request, 0, &out, sizeof(out)))
		rr_fuse_file_release(file);
}

void
rr_fuse_op_releasedir(struct rr_fuse_request *request)
{
	rr_fuse_file_release(rr_fuse_file_find(
		request->fuse, RR_FUSE_ARGS_AS(request, fuse_release_in)->fh, request->node));
	rr_fuse_answer(request, 0, NULL, 0);
}

/* Every change of a directory is stable before it is answered. */
void
rr_fuse_op_fsyncdir(struct rr_fuse_request *request)
{
	rr_fuse_answer(request, 0, NULL, 0);
}

static bool
list_is_dot(const struct rr_fuse_listed *entry)
{
	return entry->name[0] == '.' && (entry->length == 1 || (entry->length == 2 && entry->name[1] == '.'));
}

/* Writes an entry into the answer; false: there is no room for it. The kernel counts an entry with a node as
 * a look-up. */
static bool
list_put(struct rr_fuse_request *request, const struct rr_fuse_listed *entry)
{
	bool plus = request->opcode == FUSE_READDIRPLUS;
	size_t head = plus ? FUSE_NAME_OFFSET_DIRENTPLUS : FUSE_NAME_OFFSET;
	size_t size = FUSE_DIRENT_ALIGN(head + entry->length);
	uint8_t *at = (uint8_t *)request->data + request->used;
	struct fuse_direntplus *with = (struct fuse_direntplus *)at;
	struct fuse_dirent *dirent = plus ? &with->dirent : (struct fuse_dirent *)at;
	struct rr_fuse_node *node;

	if (size > request->size - request->used)
		return false;
	memset(at, 0, size);
	dirent->ino = entry->number;
	dirent->off = entry->cookie;
	dirent->namelen = entry->length;
	dirent->type = entry->known ? rr_vfs_mode_of(entry->attributes.type) >> 12 : 0;
	memcpy(at + head, entry->name, entry->length);
	request->used += (uint32_t)size;
	if (!plus || !entry->known || list_is_dot(entry))
		return true;
	node = rr_fuse_node_make(request->fuse, &entry->handle, &entry->attributes);
	if (!node)
		return true;
	rr_fuse_tell_entry(request->node, node, &entry->attributes, &with->entry_out);
	node->lookups++;
	return true;
}

/* Takes back the look-ups of an answer that the kernel did not take. */
static void
list_forget(struct rr_fuse *fuse, const uint8_t *data, uint32_t size)
{
	for (uint32_t at = 0; at + FUSE_NAME_OFFSET_DIRENTPLUS <= size;) {
		const struct fuse_direntplus *with = (const struct fuse_direntplus *)(data + at);
		struct rr_fuse_node *node = rr_fuse_node_find(&fuse->nodes, with->entry_out.nodeid);

		if (node)
			rr_fuse_node_forget(node, 1);
		at += (uint32_t)FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET_DIRENTPLUS + with->dirent.namelen);
	}
}

/* Returns the index of the entry behind this cookie; -1: the cookie is not in what is kept, or there is no
 * more of it. */
static int
list_find(const struct rr_fuse_listing *listing, uint64_t from)
{
	uint64_t cookie = listing->from;

	for (uint32_t i = 0; i <= listing->count; i++) {
		if (cookie == from)
			return i < listing->count || listing->eof ? (int)i : -1;
		if (i < listing->count)
			cookie = listing->entries[i].cookie;
	}
	return -1;
}

/* Answers with what is kept of the listing from this cookie on. Returns false where nothing is. */
static bool
list_answer(struct rr_fuse_request *request, uint64_t from)
{
	const struct rr_fuse_listing *listing = request->file->listing;
	bool plus = request->opcode == FUSE_READDIRPLUS;
	struct rr_fuse *fuse = request->fuse;
	uint8_t *data = request->data;
	int next = listing ? list_find(listing, from) : -1;
	uint32_t used;

	if (next < 0)
		return false;
	for (uint32_t i = (uint32_t)next; i < listing->count && list_put(request, &listing->entries[i]); i++)
		;
	used = request->used;
	request->data = NULL;
	if (!rr_fuse_answer(request, 0, data, used) && plus)
		list_forget(fuse, data, used);
	rr_free(fuse->env, data);
	return true;
}

static bool
list_take(struct rr_vfs_readdir *readdir, const struct rr_vfs_entry *entry)
{
	const struct rr_fuse_request *request = rr_container(readdir, struct rr_fuse_request, vfs.readdir);
	struct rr_fuse_listing *listing = request->file->listing;
	struct rr_fuse_listed *listed = &listing->entries[listing->count];

	if (listing->count == RR_FUSE_LISTED || entry->name.length == 0 ||
		entry->name.length > sizeof(listed->name))
		return false;
	listed->cookie = entry->cookie;
	listed->number = entry->number;
	listed->known = entry->attributes && entry->handle;
	if (listed->known) {
		listed->attributes = *entry->attributes;
		listed->handle = *entry->handle;
	}
	listed->length = (uint32_t)entry->name.length;
	memcpy(listed->name, entry->name.data, entry->name.length);
	listing->count++;
	return true;
}

static void
list_done(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	uint64_t from = RR_FUSE_ARGS_AS(request, fuse_read_in)->offset;
	struct rr_fuse_listing *listing = request->file->listing;

	listing->fills = false;
	if (status != RR_VFS_OK) {
		listing->count = 0;
		listing->from = UINT64_MAX;
		rr_fuse_answer_status(request, status);
		return;
	}
	listing->eof = request->vfs.readdir.eof;
	if (!list_answer(request, from))
		rr_fuse_answer(request, EIO, NULL, 0);
}

/* Empties what was filled, as the operation of the storage begins again. */
static void
list_anew(struct rr_fuse_request *request)
{
	request->file->listing->count = 0;
}

/* FUSE_READDIR, and FUSE_READDIRPLUS, which has the attributes. */
void
rr_fuse_op_readdir(struct rr_fuse_request *request)
{
	const struct fuse_read_in *in = RR_FUSE_ARGS_AS(request, fuse_read_in);
	struct rr_fuse *fuse = request->fuse;
	struct rr_fuse_file *file = rr_fuse_file_find(fuse, in->fh, request->node);
	struct rr_vfs_readdir *readdir;

	request->size = rr_min(in->size, (uint32_t)LIST_MOST);
	request->data = file && file->access == 0 ? rr_alloc(fuse->env, request->size) : NULL;
	if (!request->data) {
		rr_fuse_answer(request, file ? ENOMEM : EBADF, NULL, 0);
		return;
	}
	request->file = rr_fuse_file_hold(file);
	if (file->listing && file->listing->fills) {
		rr_fuse_answer(request, EAGAIN, NULL, 0);
		return;
	}
	if (list_answer(request, in->offset))
		return;
	if (!file->listing)
		file->listing = rr_alloc(fuse->env, sizeof(*file->listing));
	if (!file->listing) {
		rr_fuse_answer(request, ENOMEM, NULL, 0);
		return;
	}
	file->listing->from = in->offset;
	file->listing->count = 0;
	file->listing->eof = false;
	file->listing->fills = true;
	readdir = &RR_FUSE_ZERO(request)->readdir;
	readdir->directory = rr_fuse_node_object(request->node);
	readdir->cookie = in->offset;
	readdir->attributes = request->opcode == FUSE_READDIRPLUS;
	readdir->room.names.octets = readdir->room.reply.octets = UINT32_MAX;
	readdir->take = list_take;
	request->anew = list_anew;
	rr_fuse_begin(request, RR_VFS_OP_READDIR, list_done);
}
