/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on the names of a directory. */
#include <errno.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "fuse/fuse_private.h"
#include "fuse/ops.h"
#include "fuse/silly.h"

/* Answers with an entry; NULL: there is none of that name, which the kernel may keep. */
static void
name_answer(struct rr_fuse_request *request, const struct rr_vfs_handle *handle,
	const struct rr_vfs_attributes *attributes)
{
	struct rr_fuse_node *node = handle ? rr_fuse_node_make(request->fuse, handle, attributes) : NULL;
	struct fuse_entry_out out;

	if (handle && !node) {
		rr_fuse_answer(request, ENOMEM, NULL, 0);
		return;
	}
	rr_fuse_tell_entry(request->node, node, attributes, &out);
	if (!node) {
		rr_fuse_answer(request, 0, &out, sizeof(out));
		return;
	}
	node->lookups++;
	rr_fuse_node_hold(node);
	if (!rr_fuse_answer(request, 0, &out, sizeof(out)))
		node->lookups--;
	rr_fuse_node_release(node);
}

static void
name_lookup_done(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	struct rr_vfs_lookup *lookup = &request->vfs.lookup;
	const struct rr_vfs_attributes attributes = lookup->attributes;
	const struct rr_vfs_handle handle = lookup->handle;

	if (status == RR_VFS_OK)
		name_answer(request, &handle, &attributes);
	else if (status == RR_VFS_NOENT)
		name_answer(request, NULL, NULL);
	else
		rr_fuse_answer_status(request, status);
}

/* Also for operations that have made the name and do not know all about it. */
void
rr_fuse_op_lookup(struct rr_fuse_request *request)
{
	struct rr_vfs_lookup *lookup = &RR_FUSE_ZERO(request)->lookup;

	lookup->directory = rr_fuse_node_object(request->node);
	lookup->name = rr_fuse_name(request, 0);
	rr_fuse_begin(request, RR_VFS_OP_LOOKUP, name_lookup_done);
}

static void
name_create_done(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	const struct rr_vfs_create *create = &request->vfs.create;
	const struct rr_vfs_attributes attributes = create->object_after.attributes;
	const struct rr_vfs_handle handle = create->handle;

	if (status != RR_VFS_OK)
		rr_fuse_answer_status(request, status);
	else if (create->object_after.valid)
		name_answer(request, &handle, &attributes);
	else
		rr_fuse_op_lookup(request);
}

static struct rr_vfs_create *
name_create(struct rr_fuse_request *request, enum rr_vfs_type type, uint32_t mode)
{
	struct rr_vfs_create *create = &RR_FUSE_ZERO(request)->create;

	create->directory = rr_fuse_node_object(request->node);
	create->name = rr_fuse_name(request, 0);
	create->type = type;
	create->how = RR_VFS_GUARDED;
	create->set.mask = RR_VFS_SET_MODE;
	create->set.mode = mode & 07777;
	return create;
}

void
rr_fuse_op_mknod(struct rr_fuse_request *request)
{
	const struct fuse_mknod_in *in = RR_FUSE_ARGS_AS(request, fuse_mknod_in);
	struct rr_vfs_create *create;
	enum rr_vfs_type type;

	switch (in->mode & S_IFMT) {
	case 0:
	case S_IFREG: type = RR_VFS_FILE; break;
	case S_IFCHR: type = RR_VFS_CHARACTER_DEVICE; break;
	case S_IFBLK: type = RR_VFS_BLOCK_DEVICE; break;
	case S_IFIFO: type = RR_VFS_FIFO; break;
	case S_IFSOCK: type = RR_VFS_SOCKET; break;
	default: rr_fuse_answer(request, EINVAL, NULL, 0); return;
	}
	create = name_create(request, type, in->mode);
	create->device[0] = major(in->rdev);
	create->device[1] = minor(in->rdev);
	rr_fuse_begin(request, RR_VFS_OP_CREATE, name_create_done);
}

void
rr_fuse_op_mkdir(struct rr_fuse_request *request)
{
	name_create(request, RR_VFS_DIRECTORY, RR_FUSE_ARGS_AS(request, fuse_mkdir_in)->mode);
	rr_fuse_begin(request, RR_VFS_OP_CREATE, name_create_done);
}

void
rr_fuse_op_symlink(struct rr_fuse_request *request)
{
	const char *target = request->data;
	struct rr_vfs_create *create;

	if (!target || !memchr(target, '\0', request->size) || strlen(target) > RR_VFS_TARGET_MAX) {
		rr_fuse_answer(request, target ? ENAMETOOLONG : EINVAL, NULL, 0);
		return;
	}
	create = name_create(request, RR_VFS_LINK, 0777);
	create->set.mask = 0;
	create->target = (struct rpcrdma_bytes){ (const uint8_t *)target, strlen(target) };
	rr_fuse_begin(request, RR_VFS_OP_CREATE, name_create_done);
}

static void
name_link_done(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	if (status == RR_VFS_OK)
		rr_fuse_op_lookup(request);
	else
		rr_fuse_answer_status(request, status);
}

void
rr_fuse_op_link(struct rr_fuse_request *request)
{
	struct rr_vfs_link *link = &RR_FUSE_ZERO(request)->link;

	request->other =
		rr_fuse_node_find(&request->fuse->nodes, RR_FUSE_ARGS_AS(request, fuse_link_in)->oldnodeid);
	if (!request->other) {
		rr_fuse_answer(request, ESTALE, NULL, 0);
		return;
	}
	rr_fuse_node_hold(request->other);
	link->file = rr_fuse_node_object(request->other);
	link->directory = rr_fuse_node_object(request->node);
	link->name = rr_fuse_name(request, 0);
	rr_fuse_begin(request, RR_VFS_OP_LINK, name_link_done);
}

static void
name_remove(struct rr_fuse_request *request, enum rr_vfs_remove_what what)
{
	struct rr_vfs_remove *remove = &RR_FUSE_ZERO(request)->remove;

	remove->directory = rr_fuse_node_object(request->node);
	remove->name = rr_fuse_name(request, 0);
	remove->what = what;
	rr_fuse_begin(request, RR_VFS_OP_REMOVE, rr_fuse_answer_status);
}

/* Runs when it is known whether the file is open here. */
static void
name_unlink_looked(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	if (status == RR_VFS_OK)
		name_remove(request, RR_VFS_REMOVE_FILE);
	else
		rr_fuse_answer_status(request, status == RR_VFS_EXIST ? RR_VFS_OK : status);
}

void
rr_fuse_op_unlink(struct rr_fuse_request *request)
{
	rr_fuse_silly_look(request, request->node, 0, name_unlink_looked);
}

void
rr_fuse_op_rmdir(struct rr_fuse_request *request)
{
	name_remove(request, RR_VFS_REMOVE_DIRECTORY);
}

/* Runs when it is known whether what has the new name is open here. */
static void
name_rename_looked(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	struct rr_vfs_rename *rename;

	if (status != RR_VFS_OK && status != RR_VFS_EXIST) {
		rr_fuse_answer_status(request, status);
		return;
	}
	rename = &RR_FUSE_ZERO(request)->rename;
	rename->from = rr_fuse_node_object(request->node);
	rename->to = rr_fuse_node_object(request->other);
	rename->old_name = rr_fuse_name(request, 0);
	rename->new_name = rr_fuse_name(request, 1);
	rr_fuse_begin(request, RR_VFS_OP_RENAME, rr_fuse_answer_status);
}

static void
name_rename(struct rr_fuse_request *request, uint64_t directory)
{
	request->other = rr_fuse_node_find(&request->fuse->nodes, directory);
	if (!request->other) {
		rr_fuse_answer(request, ESTALE, NULL, 0);
		return;
	}
	rr_fuse_node_hold(request->other);
	/* A name that is renamed to itself stays: only another one is in the way. */
	if (request->node == request->other && strcmp(request->names[0], request->names[1]) == 0)
		name_rename_looked(request, RR_VFS_OK);
	else
		rr_fuse_silly_look(request, request->other, 1, name_rename_looked);
}

void
rr_fuse_op_rename(struct rr_fuse_request *request)
{
	name_rename(request, RR_FUSE_ARGS_AS(request, fuse_rename_in)->newdir);
}

/* No version of NFS has the flags of renameat2(2): the kernel's own client refuses them so. */
void
rr_fuse_op_rename2(struct rr_fuse_request *request)
{
	const struct fuse_rename2_in *in = RR_FUSE_ARGS_AS(request, fuse_rename2_in);

	if (in->flags)
		rr_fuse_answer(request, EINVAL, NULL, 0);
	else
		name_rename(request, in->newdir);
}
