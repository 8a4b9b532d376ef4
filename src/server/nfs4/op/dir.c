/* SPDX-License-Identifier: BSD-3-Clause */
/* CREATE, REMOVE, RENAME, LINK: RFC 8881, sections 18.4, 18.25, 18.26 and 18.9. */
#include <string.h>

#include "server/nfs4/names.h"
#include "server/nfs4/ops.h"
#include "server/nfs4/support.h"

/* Returns the NFS status for the storage's `status`, in an operation that needs a directory: NFS4ERR_NOTDIR
 * if the storage met a symbolic link instead. RFC 8881, 15.4: CREATE, REMOVE and RENAME may not answer with
 * NFS4ERR_SYMLINK. */
static uint32_t
dir_status(enum rr_vfs_status status)
{
	return status == RR_VFS_SYMLINK ? NFS4ERR_NOTDIR : rr_nfs4_status(status);
}

/* Runs when the storage has created the object: it becomes the current filehandle, and the result of CREATE
 * lists the attributes that were set. */
static uint32_t
op_create_done(struct rr_nfs4_compound *c)
{
	const struct rr_vfs_create *create = &c->vfs.create;
	const CREATE4args *args = &c->op->u.opcreate;
	CREATE4resok *ok = &c->res.u.opcreate.u.resok4;
	struct rr_attr_mask set;

	if (c->vfs_status != RR_VFS_OK)
		return dir_status(c->vfs_status);
	rr_nfs4_change_info(&create->directory_change, &ok->cinfo);
	set = rr_attr_applied(&args->createattrs.attrmask, create->applied);
	/* The object is made: without memory for the list, the list is empty. */
	ok->attrset.values = rr_nfs4_alloc(c, sizeof(set.words));
	if (ok->attrset.values) {
		memcpy(ok->attrset.values, set.words, sizeof(set.words));
		ok->attrset.count = RR_ATTR_WORDS;
	}
	rr_nfs4_set_fh(&c->current, &create->handle);
	return NFS4_OK;
}

/* Sets the type of the object that CREATE makes, with the target of a link or the numbers of a device. A link
 * with an empty target gets NFS4ERR_INVAL. RFC 8881, 18.4.3: a type that CREATE does not make gets
 * "NFS4ERR_BADTYPE". */
static nfsstat4
op_create_type(const createtype4 *type, struct rr_vfs_create *create)
{
	switch (type->type) {
	case NF4DIR: create->type = RR_VFS_DIRECTORY; return NFS4_OK;
	case NF4SOCK: create->type = RR_VFS_SOCKET; return NFS4_OK;
	case NF4FIFO: create->type = RR_VFS_FIFO; return NFS4_OK;
	case NF4LNK:
		create->type = RR_VFS_LINK;
		create->target = type->u.linkdata;
		return type->u.linkdata.length == 0 ? NFS4ERR_INVAL : NFS4_OK;
	case NF4BLK:
	case NF4CHR:
		create->type = type->type == NF4BLK ? RR_VFS_BLOCK_DEVICE : RR_VFS_CHARACTER_DEVICE;
		create->device[0] = type->u.devdata.specdata1;
		create->device[1] = type->u.devdata.specdata2;
		return NFS4_OK;
	default: return NFS4ERR_BADTYPE;
	}
}

uint32_t
rr_op_create(struct rr_nfs4_compound *c)
{
	const CREATE4args *args = &c->op->u.opcreate;
	struct rr_vfs_create *create = &rr_nfs4_vfs_begin(c)->create;
	struct rr_vfs *vfs = c->server->vfs;
	uint32_t status = op_create_type(&args->objtype, create);

	if (status == NFS4_OK)
		status = rr_nfs4_name(args->objname);
	if (status == NFS4_OK)
		status = rr_nfs4_attr_get(c, &args->createattrs, NULL, &create->set, rr_op_create);
	/* Only regular files have a size, and OPEN makes those. */
	if (status == NFS4ERR_FBIG || (status == NFS4_OK && create->set.mask & RR_VFS_SET_SIZE))
		status = NFS4ERR_INVAL;
	if (status != NFS4_OK)
		return status;
	create->directory = rr_nfs4_object(&c->current);
	create->name = args->objname;
	create->how = RR_VFS_GUARDED;
	create->must_own = rr_nfs4_owner_differs(c, &create->set);
	return rr_nfs4_vfs(c, rr_vfs_create(vfs, create), op_create_done);
}

/* Runs when the storage has removed the name: the result of REMOVE says how the directory has changed. */
static uint32_t
op_remove_done(struct rr_nfs4_compound *c)
{
	if (c->vfs_status != RR_VFS_OK)
		return dir_status(c->vfs_status);
	rr_nfs4_change_info(&c->vfs.remove.directory_change, &c->res.u.opremove.u.resok4.cinfo);
	return NFS4_OK;
}

uint32_t
rr_op_remove(struct rr_nfs4_compound *c)
{
	struct rr_vfs_remove *remove = &rr_nfs4_vfs_begin(c)->remove;
	struct rr_vfs *vfs = c->server->vfs;
	nfsstat4 status = rr_nfs4_name(c->op->u.opremove.target);

	/* A file whose opens may still be reclaimed is not removed: its handle would no longer be found. */
	if (status == NFS4_OK)
		status = rr_nfs4_no_grace(c);
	if (status != NFS4_OK)
		return status;
	remove->directory = rr_nfs4_object(&c->current);
	remove->name = c->op->u.opremove.target;
	remove->what = RR_VFS_REMOVE_ANY;
	return rr_nfs4_vfs(c, rr_vfs_remove(vfs, remove), op_remove_done);
}

/* Runs when the storage has renamed the object: the result of RENAME says how both directories have
 * changed. */
static uint32_t
op_rename_done(struct rr_nfs4_compound *c)
{
	RENAME4resok *ok = &c->res.u.oprename.u.resok4;

	if (c->vfs_status != RR_VFS_OK)
		return dir_status(c->vfs_status);
	rr_nfs4_change_info(&c->vfs.rename.from_change, &ok->source_cinfo);
	rr_nfs4_change_info(&c->vfs.rename.to_change, &ok->target_cinfo);
	return NFS4_OK;
}

uint32_t
rr_op_rename(struct rr_nfs4_compound *c)
{
	const RENAME4args *args = &c->op->u.oprename;
	struct rr_vfs_rename *rename = &rr_nfs4_vfs_begin(c)->rename;
	struct rr_vfs *vfs = c->server->vfs;
	nfsstat4 status = rr_nfs4_name(args->oldname);

	if (status == NFS4_OK)
		status = rr_nfs4_name(args->newname);
	if (status == NFS4_OK && c->saved.kind == RR_NFS4_FH_PSEUDO)
		status = NFS4ERR_ROFS;
	/* A RENAME may remove a file whose opens may still be reclaimed: see rr_op_remove(). */
	if (status == NFS4_OK)
		status = rr_nfs4_no_grace(c);
	if (status != NFS4_OK)
		return status;
	rename->from = rr_nfs4_object(&c->saved);
	rename->to = rr_nfs4_object(&c->current);
	rename->old_name = args->oldname;
	rename->new_name = args->newname;
	return rr_nfs4_vfs(c, rr_vfs_rename(vfs, rename), op_rename_done);
}

/* Runs when the storage has made the link: the result of LINK says how the directory has changed. */
static uint32_t
op_link_done(struct rr_nfs4_compound *c)
{
	if (c->vfs_status != RR_VFS_OK)
		return dir_status(c->vfs_status);
	rr_nfs4_change_info(&c->vfs.link.directory_change, &c->res.u.oplink.u.resok4.cinfo);
	return NFS4_OK;
}

uint32_t
rr_op_link(struct rr_nfs4_compound *c)
{
	struct rr_vfs_link *link = &rr_nfs4_vfs_begin(c)->link;
	struct rr_vfs *vfs = c->server->vfs;
	nfsstat4 status = rr_nfs4_name(c->op->u.oplink.newname);

	/* A directory, such as one of the pseudo root, cannot be linked. RFC 8881, 15.2, has NFS4ERR_ISDIR
	 * for LINK. */
	if (status == NFS4_OK && c->saved.kind == RR_NFS4_FH_PSEUDO)
		status = NFS4ERR_ISDIR;
	if (status != NFS4_OK)
		return status;
	link->file = rr_nfs4_object(&c->saved);
	link->directory = rr_nfs4_object(&c->current);
	link->name = c->op->u.oplink.newname;
	return rr_nfs4_vfs(c, rr_vfs_link(vfs, link), op_link_done);
}
