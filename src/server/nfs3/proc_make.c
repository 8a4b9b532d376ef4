/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "server/nfs3/attr.h"

/* This file has CREATE, MKDIR, SYMLINK and MKNOD: RFC 1813, sections 3.3.8 to 3.3.11. Each makes a new entry
 * of a directory. The functions ..._begin() begin the operation of the file system for a procedure, and the
 * functions ..._end() complete the result of the procedure when that operation has ended (proc.h). */

/* Begins the file system's operation create, which makes an object of this type and name. attributes is NULL
 * if no attributes are to be set. */
static enum rr_vfs_status
make_begin(struct rr_nfs_work *work, const diropargs3 *where, enum rr_vfs_type type, const sattr3 *attributes)
{
	struct rr_vfs_create *create = &work->op.create;
	struct rr_vfs *vfs = work->server->vfs;

	create->directory = rr_nfs_object(where->dir);
	create->name = where->name;
	create->type = type;
	if (attributes)
		rr_nfs_set(attributes, &create->set);
	return rr_vfs_create(vfs, create);
}

/* Translates the status of a procedure that makes an entry of a directory. The names "." and ".." get
 * NFS3ERR_EXIST, as RFC 1813, 3.3.9, says of them: "In this case, the server should return NFS3ERR_EXIST." */
static nfsstat3
make_status(enum rr_vfs_status status, const diropargs3 *where)
{
	return rr_nfs_entry_status(status, where->name, NFS3ERR_EXIST, NFS3ERR_EXIST);
}

/* The results that all four procedures have. */
struct make_made {
	post_op_fh3 obj;
	post_op_attr obj_attributes;
	wcc_data dir_wcc;
};

/* Returns what the results of CREATE, MKDIR, SYMLINK and MKNOD have in common: the change of the directory,
 * and if the status is NFS3_OK, the handle and the attributes of the new object. */
static struct make_made
make_result(struct rr_nfs_work *work, nfsstat3 status)
{
	const struct rr_vfs_create *create = &work->op.create;
	struct make_made made = { 0 };

	rr_nfs_wcc(&create->directory_change, &made.dir_wcc);
	if (status != NFS3_OK)
		return made;
	made.obj.handle_follows = rr_nfs_handle(work, &create->handle, &made.obj.u.handle);
	rr_nfs_post_op(&create->object_after, &made.obj_attributes);
	return made;
}

/* Begins CREATE. In the mode EXCLUSIVE the call has a verifier in place of attributes. */
static enum rr_vfs_status
proc_create_begin(struct rr_nfs_work *work)
{
	static const enum rr_vfs_how hows[] = {
		[UNCHECKED] = RR_VFS_UNCHECKED, [GUARDED] = RR_VFS_GUARDED, [EXCLUSIVE] = RR_VFS_EXCLUSIVE
	};
	const CREATE3args *args = work->args;
	const createhow3 *how = &args->how;

	_Static_assert((int)RR_VFS_VERIFIER == (int)NFS3_CREATEVERFSIZE, "all of it");
	work->op.create.how = hows[how->mode];
	if (how->mode != EXCLUSIVE)
		return make_begin(work, &args->where, RR_VFS_FILE, &how->u.obj_attributes);
	memcpy(work->op.create.verifier, how->u.verf, RR_VFS_VERIFIER);
	return make_begin(work, &args->where, RR_VFS_FILE, NULL);
}

static enum rpcrdma_handled
proc_create_end(struct rr_nfs_work *work, enum rr_vfs_status status)
{
	const CREATE3args *args = work->args;
	CREATE3res *res = work->result;
	struct make_made made;

	res->status = make_status(status, &args->where);
	made = make_result(work, res->status);
	if (res->status == NFS3_OK)
		res->u.resok = (CREATE3resok){ made.obj, made.obj_attributes, made.dir_wcc };
	else
		res->u.resfail.dir_wcc = made.dir_wcc;
	return RPCRDMA_HANDLED;
}

const struct rr_nfs_procedure rr_proc_create = { proc_create_begin, proc_create_end,
	sizeof(struct rr_vfs_create), true };

static enum rr_vfs_status
proc_mkdir_begin(struct rr_nfs_work *work)
{
	const MKDIR3args *args = work->args;

	return make_begin(work, &args->where, RR_VFS_DIRECTORY, &args->attributes);
}

static enum rpcrdma_handled
proc_mkdir_end(struct rr_nfs_work *work, enum rr_vfs_status status)
{
	const MKDIR3args *args = work->args;
	MKDIR3res *res = work->result;
	struct make_made made;

	res->status = make_status(status, &args->where);
	made = make_result(work, res->status);
	if (res->status == NFS3_OK)
		res->u.resok = (MKDIR3resok){ made.obj, made.obj_attributes, made.dir_wcc };
	else
		res->u.resfail.dir_wcc = made.dir_wcc;
	return RPCRDMA_HANDLED;
}

const struct rr_nfs_procedure rr_proc_mkdir = { proc_mkdir_begin, proc_mkdir_end,
	sizeof(struct rr_vfs_create), true };

static enum rr_vfs_status
proc_symlink_begin(struct rr_nfs_work *work)
{
	const SYMLINK3args *args = work->args;

	work->op.create.target = args->symlink.symlink_data;
	return make_begin(work, &args->where, RR_VFS_LINK, &args->symlink.symlink_attributes);
}

static enum rpcrdma_handled
proc_symlink_end(struct rr_nfs_work *work, enum rr_vfs_status status)
{
	const SYMLINK3args *args = work->args;
	SYMLINK3res *res = work->result;
	struct make_made made;

	res->status = make_status(status, &args->where);
	made = make_result(work, res->status);
	if (res->status == NFS3_OK)
		res->u.resok = (SYMLINK3resok){ made.obj, made.obj_attributes, made.dir_wcc };
	else
		res->u.resfail.dir_wcc = made.dir_wcc;
	return RPCRDMA_HANDLED;
}

const struct rr_nfs_procedure rr_proc_symlink = { proc_symlink_begin, proc_symlink_end,
	sizeof(struct rr_vfs_create), true };

static enum rr_vfs_status
proc_mknod_device(
	struct rr_nfs_work *work, const diropargs3 *where, enum rr_vfs_type type, const devicedata3 *device)
{
	work->op.create.device[0] = device->spec.specdata1;
	work->op.create.device[1] = device->spec.specdata2;
	return make_begin(work, where, type, &device->dev_attributes);
}

/* Begins MKNOD. A type that MKNOD must not make becomes the type 0, which the file system refuses with
 * RR_VFS_WRONG_TYPE. */
static enum rr_vfs_status
proc_mknod_begin(struct rr_nfs_work *work)
{
	const MKNOD3args *args = work->args;
	const mknoddata3 *what = &args->what;

	switch (what->type) {
	case NF3CHR: return proc_mknod_device(work, &args->where, RR_VFS_CHARACTER_DEVICE, &what->u.device);
	case NF3BLK: return proc_mknod_device(work, &args->where, RR_VFS_BLOCK_DEVICE, &what->u.device);
	case NF3FIFO: return make_begin(work, &args->where, RR_VFS_FIFO, &what->u.pipe_attributes);
	case NF3SOCK: return make_begin(work, &args->where, RR_VFS_SOCKET, &what->u.pipe_attributes);
	default: return make_begin(work, &args->where, (enum rr_vfs_type)0, NULL);
	}
}

static enum rpcrdma_handled
proc_mknod_end(struct rr_nfs_work *work, enum rr_vfs_status status)
{
	const MKNOD3args *args = work->args;
	MKNOD3res *res = work->result;
	struct make_made made;

	/* RFC 1813, 3.3.11: "NF3REG, NF3DIR, and NF3LNK are illegal types for MKNOD" */
	res->status = status == RR_VFS_WRONG_TYPE ? NFS3ERR_BADTYPE : make_status(status, &args->where);
	made = make_result(work, res->status);
	if (res->status == NFS3_OK)
		res->u.resok = (MKNOD3resok){ made.obj, made.obj_attributes, made.dir_wcc };
	else
		res->u.resfail.dir_wcc = made.dir_wcc;
	return RPCRDMA_HANDLED;
}

const struct rr_nfs_procedure rr_proc_mknod = { proc_mknod_begin, proc_mknod_end,
	sizeof(struct rr_vfs_create), true };
