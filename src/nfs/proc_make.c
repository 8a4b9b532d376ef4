/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "nfs/make.h"

/* MKDIR, SYMLINK, MKNOD: RFC 1813, sections 3.3.9 to 3.3.11. */

static nfsstat3
make_directory(const struct rr_nfs_place *place, const void *args, struct rr_object *object)
{
	const MKDIR3args *mkdir = args;
	struct rr_nfs_recipe recipe = { S_IFDIR, .attributes = &mkdir->attributes };

	return rr_nfs_make(place, &recipe, object);
}

enum rr_handled
rr_proc_mkdir(struct rr_nfs_server *server, struct rr_request *request, const void *args, void *result)
{
	const MKDIR3args *mkdir = args;
	MKDIR3res *res = result;
	struct rr_nfs_made made;

	rr_nfs_make_at(server, request, &mkdir->where, make_directory, args, &made);
	res->status = made.status;
	if (made.status == NFS3_OK)
		res->u.resok = (MKDIR3resok){ made.obj, made.obj_attributes, made.dir_wcc };
	else
		res->u.resfail.dir_wcc = made.dir_wcc;
	return RR_HANDLED;
}

static nfsstat3
make_link(const struct rr_nfs_place *place, const void *args, struct rr_object *object)
{
	const SYMLINK3args *symlink = args;
	nfspath3 data = symlink->symlink.symlink_data;
	char target[PATH_MAX];
	struct rr_nfs_recipe recipe = { S_IFLNK, &symlink->symlink.symlink_attributes, .target = target };

	if (data.length >= PATH_MAX)
		return NFS3ERR_NAMETOOLONG;
	if (data.length == 0 || memchr(data.data, 0, data.length))
		return NFS3ERR_INVAL;
	memcpy(target, data.data, data.length);
	target[data.length] = 0;
	return rr_nfs_make(place, &recipe, object);
}

enum rr_handled
rr_proc_symlink(struct rr_nfs_server *server, struct rr_request *request, const void *args, void *result)
{
	const SYMLINK3args *symlink = args;
	SYMLINK3res *res = result;
	struct rr_nfs_made made;

	rr_nfs_make_at(server, request, &symlink->where, make_link, args, &made);
	res->status = made.status;
	if (made.status == NFS3_OK)
		res->u.resok = (SYMLINK3resok){ made.obj, made.obj_attributes, made.dir_wcc };
	else
		res->u.resfail.dir_wcc = made.dir_wcc;
	return RR_HANDLED;
}

static nfsstat3
make_device(
	const struct rr_nfs_place *place, uint32_t type, const devicedata3 *device, struct rr_object *object)
{
	struct rr_nfs_recipe recipe = {
		type,
		.attributes = &device->dev_attributes,
		.device = makedev(device->spec.specdata1, device->spec.specdata2),
	};

	return rr_nfs_make(place, &recipe, object);
}

static nfsstat3
make_special(const struct rr_nfs_place *place, const void *args, struct rr_object *object)
{
	const mknoddata3 *what = &((const MKNOD3args *)args)->what;
	struct rr_nfs_recipe recipe = { S_IFSOCK, .attributes = &what->u.pipe_attributes };

	switch (what->type) {
	case NF3CHR: return make_device(place, S_IFCHR, &what->u.device, object);
	case NF3BLK: return make_device(place, S_IFBLK, &what->u.device, object);
	case NF3FIFO: recipe.type = S_IFIFO; return rr_nfs_make(place, &recipe, object);
	case NF3SOCK: return rr_nfs_make(place, &recipe, object);
	/* RFC 1813, 3.3.11: "NF3REG, NF3DIR, and NF3LNK are illegal types for MKNOD" */
	default: return NFS3ERR_BADTYPE;
	}
}

enum rr_handled
rr_proc_mknod(struct rr_nfs_server *server, struct rr_request *request, const void *args, void *result)
{
	const MKNOD3args *mknod = args;
	MKNOD3res *res = result;
	struct rr_nfs_made made;

	rr_nfs_make_at(server, request, &mknod->where, make_special, args, &made);
	res->status = made.status;
	if (made.status == NFS3_OK)
		res->u.resok = (MKNOD3resok){ made.obj, made.obj_attributes, made.dir_wcc };
	else
		res->u.resfail.dir_wcc = made.dir_wcc;
	return RR_HANDLED;
}
