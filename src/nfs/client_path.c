/* SPDX-License-Identifier: BSD-3-Clause */
#include "nfs/client_private.h"

#include <stdio.h>
#include <string.h>

/* From names to objects. */

int
rr_nfs_lookup(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name,
	struct rr_nfs_object *object)
{
	LOOKUP3args args = { .what = { rr_nfs_fh(directory), rr_nfs_string(name) } };
	LOOKUP3res result;
	int error = rr_nfs_call(nfs, NFSPROC3_LOOKUP, &args, &result);

	if (error)
		return error;
	if (!rr_nfs_handle_set(&object->handle, result.u.resok.object.data))
		return rr_nfs_fail(nfs, -RPCRDMA_ERR_PEER, "the server gave an empty file handle");
	if (!result.u.resok.obj_attributes.attributes_follow)
		return rr_nfs_getattr(nfs, &object->handle, &object->attributes);
	object->attributes = result.u.resok.obj_attributes.u.attributes;
	return 0;
}

/* Where a walk is: the path still to go, in path[0], built in turns in the two buffers. */
struct walk {
	struct rpcrdma_nfs *nfs;
	struct rr_nfs_object here;
	char path[2][RR_NFS_PATH];
	unsigned turn, links;
	const char *rest;
};

/* Takes the next name off the rest; false at its end. */
static int
path_next_name(struct walk *walk, char name[RR_NFS_NAME + 1])
{
	size_t length;

	walk->rest += strspn(walk->rest, "/");
	length = strcspn(walk->rest, "/");
	if (length > RR_NFS_NAME)
		return rr_nfs_fail(
			walk->nfs, NFS3ERR_NAMETOOLONG, "%s", rpcrdma_nfs_status_text(NFS3ERR_NAMETOOLONG));
	memcpy(name, walk->rest, length);
	name[length] = '\0';
	walk->rest += length;
	return 0;
}

/* The part of an absolute target that is inside what is mounted, or NULL. */
static const char *
path_inside_export(const struct rpcrdma_nfs *nfs, const char *target)
{
	size_t length = strlen(nfs->export);

	if (strcmp(nfs->export, "/") == 0)
		return target;
	if (strncmp(target, nfs->export, length) != 0 || (target[length] != '/' && target[length] != '\0'))
		return NULL;
	return target + length;
}

static int
path_go_to_root(struct walk *walk)
{
	walk->here.handle = walk->nfs->root;
	return rr_nfs_getattr(walk->nfs, &walk->here.handle, &walk->here.attributes);
}

/* Puts the target of the link in front of the rest. walk->here stays the link's directory, unless it is
 * absolute. */
static int
path_follow_link(struct walk *walk, const struct rr_nfs_object *link)
{
	struct rpcrdma_nfs *nfs = walk->nfs;
	char target[RR_NFS_PATH], *into = walk->path[walk->turn ^= 1];
	const char *start = target;
	int error, length;

	if (++walk->links > RR_NFS_LINKS)
		return rr_nfs_fail(
			nfs, -RPCRDMA_ERR_LIMIT, "more than %d symbolic links in the path", RR_NFS_LINKS);
	error = rr_nfs_readlink(nfs, &link->handle, target);
	if (error)
		return error;
	if (target[0] == '/') {
		start = path_inside_export(nfs, target);
		if (!start)
			return rr_nfs_fail(nfs, -RPCRDMA_ERR_NOTSUP,
				"a symbolic link leads to %.100s on the server, which is outside of the "
				"export %.80s",
				target, nfs->export);
		error = path_go_to_root(walk);
		if (error)
			return error;
	}
	length = snprintf(into, RR_NFS_PATH, "%s/%s", start, walk->rest);
	if (length >= RR_NFS_PATH)
		return rr_nfs_fail(
			nfs, NFS3ERR_NAMETOOLONG, "%s", rpcrdma_nfs_status_text(NFS3ERR_NAMETOOLONG));
	walk->rest = into;
	return 0;
}

/* One name further. last: nothing comes behind it. */
static int
path_step(struct walk *walk, const char *name, bool follow)
{
	struct rr_nfs_object next;
	bool last = walk->rest[strspn(walk->rest, "/")] == '\0';
	int error;

	if (walk->here.attributes.type != NF3DIR)
		return rr_nfs_fail(walk->nfs, NFS3ERR_NOTDIR, "%s", rpcrdma_nfs_status_text(NFS3ERR_NOTDIR));
	if (strcmp(name, ".") == 0)
		return 0;
	error = rr_nfs_lookup(walk->nfs, &walk->here.handle, name, &next);
	if (error)
		return error;
	/* "link/" means what the link leads to, as POSIX has it. */
	if (next.attributes.type == NF3LNK && (!last || follow || walk->rest[0] == '/'))
		return path_follow_link(walk, &next);
	walk->here = next;
	return 0;
}

int
rr_nfs_walk(struct rpcrdma_nfs *nfs, const char *path, bool follow, struct rr_nfs_object *object)
{
	struct walk walk = { .nfs = nfs, .rest = path };
	char name[RR_NFS_NAME + 1];
	int error = path_go_to_root(&walk);

	while (!error) {
		error = path_next_name(&walk, name);
		if (!error && name[0] == '\0')
			break;
		if (!error)
			error = path_step(&walk, name, follow);
	}
	if (!error)
		*object = walk.here;
	return error;
}
