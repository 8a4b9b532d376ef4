/* SPDX-License-Identifier: BSD-3-Clause */
#include "nfs/make.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { MODE_BITS = 07777 };

/* The mode that is wanted; where the client does not say, the least that is of use. */
static uint32_t
wanted_mode(const struct rr_nfs_place *place, const struct rr_nfs_recipe *recipe)
{
	bool directory = recipe->type == S_IFDIR;
	uint32_t mode = directory ? S_IRWXU : S_IRUSR | S_IWUSR;

	if (recipe->attributes && recipe->attributes->mode.set_it)
		mode = recipe->attributes->mode.u.mode & MODE_BITS;
	/* A directory inherits this bit, and the client's mode does not take it away. */
	if (directory)
		mode |= place->directory->object.st.stx_mode & S_ISGID;
	return mode;
}

static int
make_entry(const struct rr_nfs_place *place, const struct rr_nfs_recipe *recipe, uint32_t mode)
{
	int directory = place->directory->object.fd;

	switch (recipe->type) {
	case S_IFDIR: return mkdirat(directory, place->text, mode);
	case S_IFLNK: return symlinkat(recipe->target, directory, place->text);
	default: return mknodat(directory, place->text, recipe->type | mode, recipe->device);
	}
}

static bool
has_default_acl(const struct rr_object *directory)
{
	char path[RR_NFS_PROC_PATH];

	rr_nfs_proc_path(directory->fd, path);
	return getxattr(path, "system.posix_acl_default", NULL, 0) > 0;
}

/* The mode as the client wants it where the umask interfered. What a default ACL took away stays away. */
static nfsstat3
adjust_mode(const struct rr_nfs_place *place, uint32_t wanted, const struct rr_object *object)
{
	if (S_ISLNK(object->st.stx_mode) || (object->st.stx_mode & MODE_BITS) == wanted)
		return NFS3_OK;
	return has_default_acl(&place->directory->object) ? NFS3_OK : rr_nfs_set_mode(object, wanted);
}

/* The attributes other than the mode. */
static nfsstat3
adjust_rest(const struct rr_nfs_place *place, const sattr3 *attributes, struct rr_object *object)
{
	nfsstat3 status = NFS3_OK;

	if (attributes->size.set_it && S_ISREG(object->st.stx_mode) && attributes->size.u.size > 0)
		status = rr_nfs_set_size(place->server, object, attributes->size.u.size);
	if (status == NFS3_OK && (attributes->uid.set_it || attributes->gid.set_it))
		status = rr_nfs_set_owner(object, attributes);
	/* Some clients name themselves in each creation; what they may not choose is as it is, and the reply
	 * shows it. */
	if (status == NFS3ERR_PERM)
		status = NFS3_OK;
	if (status == NFS3_OK &&
		(attributes->atime.set_it != DONT_CHANGE || attributes->mtime.set_it != DONT_CHANGE))
		status = rr_nfs_set_times(object, attributes);
	return status;
}

/* The owner before the mode, since that clears the set-id bits. */
static nfsstat3
adjust(const struct rr_nfs_place *place, const struct rr_nfs_recipe *recipe, uint32_t wanted,
	struct rr_object *object)
{
	nfsstat3 status = NFS3_OK;

	if (recipe->attributes)
		status = adjust_rest(place, recipe->attributes, object);
	if (status == NFS3_OK)
		status = rr_object_stat(object);
	return status == NFS3_OK ? adjust_mode(place, wanted, object) : status;
}

/* Takes back what could not be made as it was wanted. */
static void
unmake(const struct rr_nfs_place *place, const struct rr_nfs_recipe *recipe, const struct rr_object *object)
{
	int flags = recipe->type == S_IFDIR ? AT_REMOVEDIR : 0;

	if (unlinkat(place->directory->object.fd, place->text, flags) == 0)
		rr_tree_removed(place->server->tree, object, &place->directory->object, place->text);
	rr_nfs_after(&place->directory->object, &place->directory->wcc);
}

nfsstat3
rr_nfs_make(const struct rr_nfs_place *place, const struct rr_nfs_recipe *recipe, struct rr_object *object)
{
	struct rr_tree *tree = place->server->tree;
	uint32_t wanted = wanted_mode(place, recipe);
	nfsstat3 status;
	int error;

	rr_nfs_change_begin(place->server, place->directory, NULL);
	error = make_entry(place, recipe, wanted) < 0 ? errno : 0;
	rr_nfs_change_end(place->server, place->directory, NULL);
	if (error)
		return rr_nfs_status(error);
	status = rr_tree_lookup(tree, &place->directory->object, place->name, object);
	if (status != NFS3_OK)
		return status;
	status = adjust(place, recipe, wanted, object);
	if (status == NFS3_OK)
		return NFS3_OK;
	unmake(place, recipe, object);
	rr_object_put(tree, object);
	return status;
}

/* RFC 1813, 4.7: "any data associated with the request is now on stable storage" */
static void
finish(const struct rr_nfs_place *place, struct rr_object *object, struct rr_nfs_made *made)
{
	struct rr_nfs_server *server = place->server;

	/* Of a link or a device, only its directory can be stored; they go together. */
	if (S_ISREG(object->st.stx_mode) || S_ISDIR(object->st.stx_mode))
		rr_nfs_store(server, object);
	rr_nfs_store(server, &place->directory->object);
	made->obj.handle_follows = rr_nfs_handle(server, place->request, object, &made->obj.u.handle);
	rr_nfs_post_op(object, &made->obj_attributes);
}

void
rr_nfs_make_at(struct rr_nfs_server *server, struct rr_request *request, const diropargs3 *where,
	rr_nfs_maker *maker, const void *args, struct rr_nfs_made *made)
{
	char text[256];
	struct rr_nfs_subject directory;
	struct rr_object object;
	struct rr_nfs_place place = { server, request, &directory, where->name, text };

	*made = (struct rr_nfs_made){ .status = rr_tree_resolve(
					      server->tree, where->dir.data, &directory.object) };
	if (made->status != NFS3_OK)
		return;
	rr_nfs_unchanged(&directory.object, &directory.wcc);
	/* RFC 1813, 3.3.9, for "." and "..": "In this case, the server should return NFS3ERR_EXIST." */
	made->status = rr_nfs_entry_name(server, where->name, NFS3ERR_EXIST, NFS3ERR_EXIST, text);
	if (made->status == NFS3_OK)
		made->status = maker(&place, args, &object);
	if (made->status == NFS3_OK) {
		finish(&place, &object, made);
		rr_object_put(server->tree, &object);
	}
	made->dir_wcc = directory.wcc;
	rr_object_put(server->tree, &directory.object);
}
