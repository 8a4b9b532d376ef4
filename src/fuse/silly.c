/* SPDX-License-Identifier: BSD-3-Clause */
#include "fuse/silly.h"

#include <stdio.h>
#include <string.h>

#include "fuse/fuse_private.h"

/* Runs when the file has its other name, or not. */
static void
silly_renamed(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	struct rr_fuse_node *node = request->silly;

	request->silly = NULL;
	if (status != RR_VFS_OK) {
		rr_free(request->fuse->env, node->silly);
		node->silly = NULL;
	} else if (!rr_fuse_file_is_open(node)) {
		rr_fuse_silly_remove(node);
	}
	rr_fuse_node_release(node);
	request->looked(request, status == RR_VFS_OK ? RR_VFS_EXIST : status);
}

/* Runs when it is known what has the name. */
static void
silly_found(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	struct rr_fuse *fuse = request->fuse;
	const struct rr_vfs_lookup *lookup = &request->vfs.lookup;
	const struct rr_vfs_object directory = lookup->directory;
	const struct rpcrdma_bytes name = lookup->name;
	struct rr_fuse_node *node =
		status == RR_VFS_OK ? rr_fuse_node_of(&fuse->nodes, &lookup->handle, &lookup->attributes)
				    : NULL;
	struct rr_vfs_rename *rename;

	if (!node || !rr_fuse_file_is_open(node) || node->type != RR_VFS_FILE ||
		lookup->attributes.links > 1 || node->silly) {
		request->looked(request, RR_VFS_OK);
		return;
	}
	node->silly = rr_alloc(fuse->env, sizeof(*node->silly));
	if (!node->silly) {
		request->looked(request, RR_VFS_BUSY);
		return;
	}
	memcpy(node->silly->directory.data, directory.handle.data, directory.handle.length);
	node->silly->directory.length = (uint32_t)directory.handle.length;
	node->silly->uid = request->caller.uid;
	node->silly->gid = request->caller.gid;
	snprintf(node->silly->name, sizeof(node->silly->name), ".nfs%016llx%08x",
		(unsigned long long)node->id.number, (unsigned)++fuse->silly);
	request->silly = rr_fuse_node_hold(node);
	rename = &RR_FUSE_ZERO(request)->rename;
	rename->from = rename->to = directory;
	rename->old_name = name;
	rename->new_name =
		(struct rpcrdma_bytes){ (const uint8_t *)node->silly->name, strlen(node->silly->name) };
	rr_fuse_begin(request, RR_VFS_OP_RENAME, silly_renamed);
}

void
rr_fuse_silly_look(struct rr_fuse_request *request, const struct rr_fuse_node *directory, unsigned which,
	rr_fuse_step *then)
{
	struct rr_vfs_lookup *lookup;

	request->looked = then;
	if (request->fuse->files.count == 0) {
		then(request, RR_VFS_OK);
		return;
	}
	lookup = &RR_FUSE_ZERO(request)->lookup;
	lookup->directory = rr_fuse_node_object(directory);
	lookup->name = rr_fuse_name(request, which);
	rr_fuse_begin(request, RR_VFS_OP_LOOKUP, silly_found);
}

static void
silly_removed(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	(void)status; /* nobody waits for it; the name stays, as it does when a client dies */
	rr_fuse_request_end(request);
}

void
rr_fuse_silly_remove(struct rr_fuse_node *node)
{
	struct rr_fuse *fuse = node->fuse;
	struct rr_fuse_silly *silly = node->silly;
	struct rr_fuse_request *request = fuse->ends ? NULL : rr_fuse_request_new(fuse, 0, 0);
	struct rr_vfs_remove *remove;

	node->silly = NULL;
	if (request) {
		rr_fuse_request_identify(request, silly->uid, silly->gid, 0);
		request->handle = silly->directory;
		memcpy(request->names[0], silly->name, sizeof(silly->name));
		remove = &RR_FUSE_ZERO(request)->remove;
		remove->directory.handle =
			(struct rpcrdma_bytes){ request->handle.data, request->handle.length };
		remove->name = rr_fuse_name(request, 0);
		remove->what = RR_VFS_REMOVE_FILE;
		rr_fuse_begin(request, RR_VFS_OP_REMOVE, silly_removed);
	}
	rr_free(fuse->env, silly);
}
