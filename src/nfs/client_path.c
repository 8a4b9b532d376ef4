/* SPDX-License-Identifier: BSD-3-Clause */
#include "nfs/client_private.h"

#include <stdio.h>
#include <string.h>

/* This file looks up names and paths. */

/* The state of a walk along a path. root is the directory that the walk begins in, and root_path its path.
 * here is the object that was reached, rest the path that is left. After a symbolic link, rest lies in
 * path[turn]; the other one of the two memories is then free for the next link. at_root: here is the root,
 * which is taken for a directory, and its attributes were not fetched. by_name: names are looked up one at a
 * time. links: how many symbolic links were followed. below: the walk may not leave the root; depth: how many
 * directories lie between the root and here. */
struct path_walk {
	struct rpcrdma_nfs *nfs;
	const struct rpcrdma_nfs_handle *root;
	const char *root_path;
	struct rpcrdma_nfs_object here;
	bool at_root, by_name, below;
	unsigned depth;
	char path[2][RR_NFS_PATH];
	unsigned turn, links;
	const char *rest;
};

/* Copies the next name of the path into name, and moves walk->rest behind it. The name is empty at the end of
 * the path. Fails if the name is too long. */
static int
path_next_name(struct path_walk *walk, char name[RR_NFS_NAME + 1])
{
	size_t length;

	walk->rest += strspn(walk->rest, "/");
	length = strcspn(walk->rest, "/");
	if (length > RR_NFS_NAME)
		return rr_nfs_fail(walk->nfs, NFS3ERR_NAMETOOLONG, "%s",
			rr_nfs_status_text(walk->nfs, NFS3ERR_NAMETOOLONG));
	memcpy(name, walk->rest, length);
	name[length] = '\0';
	walk->rest += length;
	return 0;
}

/* Returns the part of an absolute path that follows the path of the walk's root, or NULL if the path is
 * outside of that. The path is target, the content of a symbolic link. */
static const char *
path_inside_root(const struct path_walk *walk, const char *target)
{
	size_t length = strlen(walk->root_path);

	/* The path is as the user wrote it, and may end in "/". */
	while (length > 0 && walk->root_path[length - 1] == '/')
		length--;
	if (strncmp(target, walk->root_path, length) != 0 ||
		(target[length] != '/' && target[length] != '\0'))
		return NULL;
	return target + length;
}

/* Goes on with the walk from its root. */
static void
path_go_to_root(struct path_walk *walk)
{
	walk->here = (struct rpcrdma_nfs_object){
		.handle = *walk->root, .type = RPCRDMA_NFS_DIRECTORY, .filesystem = walk->nfs->root_fsid
	}; /* if it is the mounted root */
	walk->at_root = true;
	walk->depth = 0;
}

/* Goes on with the walk from the object next. */
static void
path_go_on(struct path_walk *walk, const struct rpcrdma_nfs_object *next)
{
	walk->here = *next;
	walk->at_root = false;
}

/* Reads the symbolic link, and puts its target in front of the rest of the path. The walk goes on in the
 * directory of the link, or in the root of the walk if the target is absolute. Fails after too many links. */
static int
path_follow_link(struct path_walk *walk, const struct rpcrdma_nfs_object *link)
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
		start = path_inside_root(walk, target);
		if (!start)
			return rr_nfs_fail(nfs, -RPCRDMA_ERR_NOTSUP,
				"a symbolic link leads to %.100s on the server, which is outside of the "
				"%s %.80s",
				target, walk->below ? "directory" : "export", walk->root_path);
		path_go_to_root(walk);
	}
	length = snprintf(into, RR_NFS_PATH, "%s/%s", start, walk->rest);
	if (length >= RR_NFS_PATH)
		return rr_nfs_fail(
			nfs, NFS3ERR_NAMETOOLONG, "%s", rr_nfs_status_text(nfs, NFS3ERR_NAMETOOLONG));
	walk->rest = into;
	/* Behind the link, version 4 may again look up many names by one call. */
	walk->by_name = !nfs->v4;
	return 0;
}

/* Tells whether name leads to the directory itself: "." does, and in version 4 also ".." in the root. POSIX
 * says that ".." of the root is the root, but RFC 8881, 18.14.3, has NFS4ERR_NOENT there, so the server is
 * not asked. */
static bool
path_stays(const struct path_walk *walk, const char *name)
{
	const struct rpcrdma_nfs_handle *here = &walk->here.handle, *root = &walk->nfs->root;

	return strcmp(name, ".") == 0 ||
	       (walk->nfs->v4 && strcmp(name, "..") == 0 && here->length == root->length &&
		       memcmp(here->data, root->data, root->length) == 0);
}

/* Refuses a ".." that leads out of the root. */
static int
path_climbs_out(const struct path_walk *walk)
{
	return rr_nfs_fail(walk->nfs, walk->links == 0 ? -RPCRDMA_ERR_INVAL : -RPCRDMA_ERR_NOTSUP,
		"%s leads out of the directory %.100s", walk->links == 0 ? "the path" : "a symbolic link",
		walk->root_path);
}

/* Looks up one name in the present directory, and goes on from the object that is found. A symbolic link is
 * followed if a '/' or another name comes after it, or if follow is true. */
static int
path_step(struct path_walk *walk, const char *name, bool follow)
{
	bool last = walk->rest[strspn(walk->rest, "/")] == '\0', up = strcmp(name, "..") == 0;
	struct rpcrdma_nfs_object next;
	int error;

	if (walk->here.type != RPCRDMA_NFS_DIRECTORY)
		return rr_nfs_fail(
			walk->nfs, NFS3ERR_NOTDIR, "%s", rr_nfs_status_text(walk->nfs, NFS3ERR_NOTDIR));
	if (walk->below && up && walk->depth == 0)
		return path_climbs_out(walk);
	if (path_stays(walk, name))
		return 0;
	error = rr_nfs_lookup(walk->nfs, &walk->here.handle, name, &next);
	if (error)
		return error;
	/* "link/" means the object that the link leads to, as POSIX says. */
	if (next.type == RPCRDMA_NFS_SYMLINK && (!last || follow || walk->rest[0] == '/'))
		return path_follow_link(walk, &next);
	path_go_on(walk, &next);
	walk->depth = up ? walk->depth - (walk->depth > 0) : walk->depth + 1;
	return 0;
}

/* ---- Many names at a time, with version 4 ---- */

/* Tells whether a name of the given length is "." or "..". */
static bool
path_is_dots(const char *name, size_t length)
{
	return (length == 1 || length == 2) && name[0] == '.' && name[length - 1] == '.';
}

/* Gathers as many of the next names as one call can have, which are the octets up to the end of *names. Stops
 * before a name that the server is not asked for, or that is looked up by itself: ".", ".." or a name that is
 * too long. Returns the number of the names. */
static uint32_t
path_gather(const struct path_walk *walk, struct rpcrdma_bytes *names)
{
	uint32_t most = rr_v4_names_max(walk->nfs->v4), count;
	const char *rest = walk->rest + strspn(walk->rest, "/");

	names->data = rest;
	names->length = 0;
	for (count = 0; *rest && count < most; count++) {
		size_t length = strcspn(rest, "/");

		if (length > RR_NFS_NAME || path_is_dots(rest, length))
			break;
		rest += length;
		names->length = (uint32_t)(rest - (const char *)names->data);
		rest += strspn(rest, "/");
	}
	return count;
}

/* Looks up the next names by one call; if fewer than two names are left for that, does nothing, and
 * walk->rest stays as it is. The server follows no symbolic link, and does not say which name it refused.
 * So if the server refuses a name, or if the last name is a link, sets walk->by_name: the names will be
 * looked up again one by one. Returns 0 even then, or a negative error. */
static int
path_leap(struct path_walk *walk)
{
	struct rpcrdma_bytes names;
	uint32_t count = path_gather(walk, &names);
	struct rpcrdma_nfs_object next;
	int error;

	if (count < 2)
		return 0;
	error = rr_nfs_lookup_names(walk->nfs, &walk->here.handle, names, &next);
	walk->by_name = error != 0 || next.type == RPCRDMA_NFS_SYMLINK;
	if (walk->by_name)
		return error < 0 ? error : 0;
	path_go_on(walk, &next);
	walk->depth += count;
	walk->rest = (const char *)names.data + names.length;
	return 0;
}

/* Walks along the path from the root that walk has. */
static int
path_walk(struct path_walk *walk, const char *path, bool follow, struct rpcrdma_nfs_object *object)
{
	char name[RR_NFS_NAME + 1];
	int error = 0;

	walk->rest = path;
	walk->by_name = !walk->nfs->v4;
	path_go_to_root(walk);
	while (!error) {
		const char *before = walk->rest;

		/* If path_leap() has taken names, the next turn tries to take more. */
		error = walk->by_name ? 0 : path_leap(walk);
		if (error || walk->rest != before)
			continue;
		error = path_next_name(walk, name);
		if (!error && name[0] == '\0')
			break;
		if (!error)
			error = path_step(walk, name, follow);
	}
	if (!error && walk->at_root)
		error = rr_nfs_getattr(walk->nfs, walk->root, &walk->here);
	if (!error)
		*object = walk->here;
	return error;
}

int
rr_nfs_walk(struct rpcrdma_nfs *nfs, const char *path, bool follow, struct rpcrdma_nfs_object *object)
{
	struct path_walk walk = { .nfs = nfs, .root = &nfs->root, .root_path = nfs->export };
	int error = path_walk(&walk, path, follow, object);

	return error > 0 ? rr_nfs_refused(nfs, &walk.here, path, error) : error;
}

int
rr_nfs_reach(struct rpcrdma_nfs *nfs, const char *path, struct rpcrdma_nfs_object *last)
{
	struct path_walk walk = { .nfs = nfs, .root = &nfs->root, .root_path = nfs->export };
	int error = path_walk(&walk, path, true, last);

	if (error)
		*last = walk.here;
	return error;
}

int
rr_nfs_walk_below(struct rpcrdma_nfs *nfs, const char *path, bool follow, struct rpcrdma_nfs_object *object)
{
	struct path_walk walk = { .nfs = nfs, .root = &nfs->start, .root_path = nfs->path, .below = true };
	struct rpcrdma_nfs_object start;
	int error;

	if (nfs->start.length == 0) {
		error = rr_nfs_walk(nfs, rr_nfs_rest(nfs), true, &start);
		/* The object that the URL names is to exist: callers of the public interface report if it
		 * does not. */
		if (error) {
			(void)rr_nfs_explain(nfs);
			return error;
		}
		nfs->start = start.handle;
	}
	return path_walk(&walk, path, follow, object);
}
