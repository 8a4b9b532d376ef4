/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the public functions on names that change nothing. A function with _take_ in its name handles
 * the result of a call (take() in nfs_private.h). */
#include <string.h>

#include "base/config.h"
#include "nfs/nfs_private.h"

/* ---- Objects ---- */

/* Copies the handle in pending->handles[0] and the attributes of the object to the caller's structure, if the
 * caller gave one. If the object is not of the type pending->type (0: any type), returns NFS3ERR_EXIST: then
 * the call that found the name in use had not made the object itself. */
static int
name_give(struct rr_nfs_pending *pending, const struct rr_nfs_attributes *attributes)
{
	struct rpcrdma_nfs_object object = { .handle = pending->handles[0] };

	if (pending->type && attributes->vfs.type != pending->type)
		return NFS3ERR_EXIST; /* an object of another type has the name */
	rr_nfs_object_describe(&object, attributes);
	if (!pending->object || rr_nfs_object_give(pending->object, &object))
		return 0;
	return rr_nfs_fail(pending->nfs, -RPCRDMA_ERR_INVAL, "the object's size is less than it ever was");
}

struct rr_nfs_attributes
rr_nfs_pending_attributes(const struct rr_nfs_pending *pending, const struct rr_vfs_attributes *given)
{
	const struct rr_v4_job *job = &pending->job.v4;
	struct rr_nfs_attributes attributes = { .vfs = *given };

	if (pending->nfs->v4) {
		attributes.owner = job->owner;
		attributes.group = job->group;
	} else {
		attributes.vfs.change = 0; /* version 3 has none */
	}
	return attributes;
}

/* Handles the result of GETATTR: passes the object to the caller. */
static int
name_take_attributes(struct rr_nfs_pending *pending)
{
	const struct rr_nfs_attributes attributes =
		rr_nfs_pending_attributes(pending, &pending->op.getattr.attributes);

	return name_give(pending, &attributes);
}

static const struct rr_nfs_work name_getattr = { RR_VFS_OP_GETATTR, 1, &rr_v3_work_getattr,
	&rr_v4_work_getattr };

void
rr_nfs_pending_getattr(struct rr_nfs_pending *pending, unsigned number)
{
	pending->first = number;
	pending->take = name_take_attributes;
	pending->op.getattr = (struct rr_vfs_getattr){ 0 };
	rr_nfs_pending_ask(pending, &name_getattr);
}

/* Handles the result of LOOKUP: passes the object to the caller. If the server did not send the attributes,
 * asks for them by GETATTR first and returns PENDING_GOES_ON. */
static int
name_take_found(struct rr_nfs_pending *pending)
{
	const struct rr_nfs_attributes attributes =
		rr_nfs_pending_attributes(pending, &pending->op.lookup.attributes);

	rr_nfs_handle_set(&pending->handles[0], rr_remote_fh(&pending->job.base.objects[1]));
	if (pending->nfs->v4 || pending->job.v3.known)
		return name_give(pending, &attributes);
	rr_nfs_pending_getattr(pending, 0);
	return PENDING_GOES_ON;
}

static const struct rr_nfs_work name_lookup = { RR_VFS_OP_LOOKUP, 1, &rr_v3_work_lookup, &rr_v4_work_lookup };

/* Begins LOOKUP of a name, which has to stay, in pending->handles[number]. */
static void
name_look_up(struct rr_nfs_pending *pending, unsigned number, struct rpcrdma_bytes name)
{
	pending->first = number;
	pending->take = name_take_found;
	pending->repeated = NULL;
	pending->op.lookup = (struct rr_vfs_lookup){ .name = name };
	rr_nfs_pending_ask(pending, &name_lookup);
}

void
rr_nfs_pending_lookup(struct rr_nfs_pending *pending, unsigned number)
{
	name_look_up(pending, number, rr_nfs_string(pending->names[number]));
}

int
rr_nfs_lookup_names(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory,
	struct rpcrdma_bytes names, struct rpcrdma_nfs_object *object)
{
	struct rr_nfs_pending *pending;
	int error = rr_nfs_pending_on(nfs, directory, NULL, &pending);

	if (error)
		return error;
	object->size = sizeof(*object);
	pending->object = object;
	name_look_up(pending, 0, names);
	return rr_nfs_pending_wait(pending, NULL);
}

int
rr_nfs_lookup(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name,
	struct rpcrdma_nfs_object *object)
{
	return rr_nfs_lookup_names(nfs, directory, rr_nfs_string(name), object);
}

int
rpcrdma_nfs_lookup(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name,
	struct rpcrdma_nfs_object *object, const struct rpcrdma_nfs_then *then)
{
	struct rr_nfs_pending *pending;
	int error = object ? rr_nfs_pending_named(nfs, directory, name, then, &pending) : -RPCRDMA_ERR_INVAL;

	if (error)
		return error;
	pending->object = object;
	rr_nfs_pending_lookup(pending, 0);
	return rr_nfs_pending_wait(pending, then);
}

int
rpcrdma_nfs_stat(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle,
	struct rpcrdma_nfs_object *object, const struct rpcrdma_nfs_then *then)
{
	struct rr_nfs_pending *pending;
	int error = object ? rr_nfs_pending_on(nfs, handle, then, &pending) : -RPCRDMA_ERR_INVAL;

	if (error)
		return error;
	pending->object = object;
	rr_nfs_pending_getattr(pending, 0);
	return rr_nfs_pending_wait(pending, then);
}

int
rr_nfs_getattr(
	struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle, struct rpcrdma_nfs_object *object)
{
	object->size = sizeof(*object);
	return rpcrdma_nfs_stat(nfs, handle, object, NULL);
}

static int
name_take_rights(struct rr_nfs_pending *pending)
{
	*pending->granted = pending->op.access.granted;
	return 0;
}

static const struct rr_nfs_work name_access = { RR_VFS_OP_ACCESS, 1, &rr_v3_work_access, &rr_v4_work_access };

int
rpcrdma_nfs_access(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle, uint32_t asked,
	uint32_t *granted, const struct rpcrdma_nfs_then *then)
{
	struct rr_nfs_pending *pending;
	int error = granted ? rr_nfs_pending_on(nfs, handle, then, &pending) : -RPCRDMA_ERR_INVAL;

	_Static_assert((int)RPCRDMA_NFS_MAY_READ == (int)RR_VFS_MAY_READ &&
			       (int)RPCRDMA_NFS_MAY_EXECUTE == (int)RR_VFS_MAY_EXECUTE,
		"the same bits");
	if (error)
		return error;
	pending->granted = granted;
	pending->take = name_take_rights;
	pending->op.access = (struct rr_vfs_access){ .asked = asked };
	return rr_nfs_pending_begin(pending, &name_access, then);
}

/* Finds an object by the function `walk`, and copies it to the caller's structure. */
static int
name_find(struct rpcrdma_nfs *nfs, const char *path, bool follow, struct rpcrdma_nfs_object *object,
	int (*walk)(struct rpcrdma_nfs *, const char *, bool, struct rpcrdma_nfs_object *))
{
	struct rpcrdma_nfs_object found;
	int error;

	if (!nfs || !path || !object)
		return -RPCRDMA_ERR_INVAL;
	error = rr_engine_may_wait(nfs->engine, "rpcrdma_nfs_find", &nfs->text);
	if (!error)
		error = walk(nfs, path, follow, &found);
	if (!error && !rr_nfs_object_give(object, &found))
		error = rr_nfs_fail(nfs, -RPCRDMA_ERR_INVAL, "the object's size is less than it ever was");
	return error;
}

int
rpcrdma_nfs_find(struct rpcrdma_nfs *nfs, const char *path, bool follow, struct rpcrdma_nfs_object *object)
{
	return name_find(nfs, path, follow, object, rr_nfs_walk_below);
}

int
rr_nfs_find(struct rpcrdma_nfs *nfs, const char *path, bool follow, struct rpcrdma_nfs_object *object)
{
	return name_find(nfs, path, follow, object, rr_nfs_walk);
}

/* Handles the result of FSSTAT: copies it to the caller's structure, as far as the size that the caller has
 * set there reaches. Fails if that size is less than in the first version of this library. */
static int
name_take_space(struct rr_nfs_pending *pending)
{
	const struct rr_vfs_statfs *statfs = &pending->op.statfs;
	const struct rpcrdma_nfs_space mine = {
		.total = statfs->octets,
		.free = statfs->octets_free,
		.available = statfs->octets_for_all,
		.files = statfs->files,
		.files_free = statfs->files_free,
		.files_left = statfs->files_for_all,
	};

	if (rr_config_give(pending->space, &mine, sizeof(mine), sizeof(mine)) == 0)
		return 0;
	return rr_nfs_fail(pending->nfs, -RPCRDMA_ERR_INVAL, "the structure's size is less than it ever was");
}

static const struct rr_nfs_work name_statfs = { RR_VFS_OP_STATFS, 1, &rr_v3_work_statfs, &rr_v4_work_statfs };

int
rpcrdma_nfs_statfs(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle,
	struct rpcrdma_nfs_space *space, const struct rpcrdma_nfs_then *then)
{
	struct rr_nfs_pending *pending;
	int error = space ? rr_nfs_pending_on(nfs, handle, then, &pending) : -RPCRDMA_ERR_INVAL;

	if (error)
		return error;
	pending->space = space;
	pending->take = name_take_space;
	pending->op.statfs = (struct rr_vfs_statfs){ 0 };
	return rr_nfs_pending_begin(pending, &name_statfs, then);
}

/* ---- Symbolic links ---- */

/* Handles the result of READLINK: copies the target of the symbolic link to the caller's memory. Fails if the
 * target is no path, or is too long for that memory. */
static int
name_take_target(struct rr_nfs_pending *pending)
{
	uint32_t length = pending->op.readlink.length;

	if (length == 0 || length >= RR_NFS_PATH || memchr(pending->path, 0, length))
		return rr_nfs_fail(
			pending->nfs, -RPCRDMA_ERR_PEER, "the symbolic link has a target that is no path");
	if (length >= pending->target_size)
		return rr_nfs_fail(pending->nfs, -RPCRDMA_ERR_LIMIT,
			"the target of the symbolic link has %u octets, and there is room for %zu", length,
			pending->target_size);
	memcpy(pending->target, pending->path, length);
	pending->target[length] = '\0';
	return 0;
}

static const struct rr_nfs_work name_readlink = { RR_VFS_OP_READLINK, 1, &rr_v3_work_readlink,
	&rr_v4_work_readlink };

int
rpcrdma_nfs_readlink(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle, char *target,
	size_t size, const struct rpcrdma_nfs_then *then)
{
	struct rr_nfs_pending *pending;
	int error = target ? rr_nfs_pending_on(nfs, handle, then, &pending) : -RPCRDMA_ERR_INVAL;

	if (error)
		return error;
	pending->target = target;
	pending->target_size = size;
	pending->take = name_take_target;
	pending->op.readlink =
		(struct rr_vfs_readlink){ .target = pending->path, .size = sizeof(pending->path) };
	return rr_nfs_pending_begin(pending, &name_readlink, then);
}

int
rr_nfs_readlink(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle, char *target)
{
	return rpcrdma_nfs_readlink(nfs, handle, target, RR_NFS_PATH, NULL);
}

/* ---- Directories ---- */

int
rpcrdma_nfs_list(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory,
	int (*each)(void *ctx, const struct rpcrdma_nfs_entry *entry), void *ctx)
{
	int error;

	if (!nfs || !directory || !each)
		return -RPCRDMA_ERR_INVAL;
	error = rr_engine_may_wait(nfs->engine, __func__, &nfs->text);
	return error ? error : rr_nfs_readdir(nfs, directory, each, ctx);
}
