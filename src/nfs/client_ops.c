/* SPDX-License-Identifier: BSD-3-Clause */
#include "nfs/client_private.h"

#include <string.h>

/* This file has functions that each make one call and wait for it. client.h describes how they handle answers
 * that were lost with a connection. */

/* The beginning of a call. The call may have been executed twice if rr_nfs_repeats() has changed since. */
struct attempt {
	struct rpcrdma_nfs *nfs;
	uint32_t reconnects; /* rr_nfs_repeats() at the beginning */
};

/* Called before a call that is not idempotent is sent: notes rr_nfs_repeats(), so that ops_repeated() can
 * tell later whether the call may have been executed twice. */
static struct attempt
ops_begin(struct rpcrdma_nfs *nfs)
{
	return (struct attempt){ nfs, rr_nfs_repeats(nfs) };
}

/* Tells whether the call may have been executed twice. */
static bool
ops_repeated(const struct attempt *attempt)
{
	return rr_nfs_repeats(attempt->nfs) != attempt->reconnects;
}

static diropargs3
ops_where(const struct rpcrdma_nfs_handle *directory, const char *name)
{
	return (diropargs3){ rr_nfs_fh(directory), rr_nfs_string(name) };
}

int
rr_nfs_getattr(
	struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle, struct rpcrdma_nfs_object *object)
{
	GETATTR3args args = { .object = rr_nfs_fh(handle) };
	struct rr_nfs_found result;
	int error = rr_nfs_call(nfs, NFSPROC3_GETATTR, &args, &result);

	if (error)
		return error;
	object->handle = *handle;
	rr_nfs_object_describe(object, &result.attributes);
	return 0;
}

int
rr_nfs_setattr(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle,
	const struct rpcrdma_nfs_changes *changes)
{
	struct rr_nfs_setattr_args args = { .object = rr_nfs_fh(handle) };
	SETATTR3res result;
	int error = rr_nfs_change_set(nfs, changes, &args.set);

	return error ? error : rr_nfs_call(nfs, NFSPROC3_SETATTR, &args, &result);
}

int
rr_nfs_access(
	struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle, uint32_t access, uint32_t *granted)
{
	ACCESS3args args = { .object = rr_nfs_fh(handle), .access = access };
	ACCESS3res result;
	int error = rr_nfs_call(nfs, NFSPROC3_ACCESS, &args, &result);

	if (!error)
		*granted = result.u.resok.access & access;
	return error;
}

int
rr_nfs_readlink(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle, char *target)
{
	READLINK3args args = { .symlink = rr_nfs_fh(handle) };
	READLINK3res result;
	/* The target is small, and Linux's servers use a Write chunk for it wrongly, so it may come in a
	 * Reply chunk. */
	struct rr_call call = {
		.proc = NFSPROC3_READLINK,
		.args = &args,
		.result = &result,
		.reply_max = RR_NFS_PATH,
		.keep = nfs->keep,
		.keep_size = sizeof(nfs->keep),
	};
	struct rpcrdma_bytes data;
	int error = rr_nfs_call_with(nfs, &call);

	if (error)
		return error;
	data = result.u.resok.data;
	if (data.length == 0 || data.length >= RR_NFS_PATH || memchr(data.data, 0, data.length))
		return rr_nfs_fail(nfs, -RPCRDMA_ERR_PEER, "the symbolic link has a target that is no path");
	memcpy(target, data.data, data.length);
	target[data.length] = '\0';
	return 0;
}

/* ---- Making ---- */

/* Handles the error of a call that makes an object. If the error is that the name exists, and the call was
 * sent twice, the call may itself have made the object: returns 0 and stores the object in *object if it has
 * the wanted type. If the server does not answer what the name is, returns that error, as the caller would
 * take EXIST for the object of somebody else. Otherwise returns error. */
static int
ops_made_before(const struct attempt *attempt, int error, const struct rpcrdma_nfs_handle *directory,
	const char *name, enum rr_vfs_type type, struct rpcrdma_nfs_object *object)
{
	/* LOOKUP may replace the error text, which must be that of the call if the call failed after all. */
	struct rr_text text = attempt->nfs->text;
	int found;

	if (error != NFS3ERR_EXIST || !ops_repeated(attempt))
		return error;
	found = rr_nfs_lookup(attempt->nfs, directory, name, object);
	if (found < 0 || (found == 0 && (int)object->type == (int)type))
		return found;
	attempt->nfs->text = text;
	return error;
}

/* Makes an object by the procedure proc; of args, all is set but the name and its directory. Stores the
 * object in *object, if that is not NULL. If the server did not send both the handle and the attributes of
 * the object, asks for them by LOOKUP. */
static int
ops_make(struct rpcrdma_nfs *nfs, uint32_t proc, struct rr_nfs_make_args args,
	const struct rpcrdma_nfs_handle *directory, const char *name, struct rpcrdma_nfs_object *object)
{
	struct attempt attempt = ops_begin(nfs);
	struct rpcrdma_nfs_object made;
	struct rr_nfs_found found;
	int error;

	args.where = ops_where(directory, name);
	error = rr_nfs_call(nfs, proc, &args, &found);
	if (error)
		return ops_made_before(&attempt, error, directory, name, args.type, object ? object : &made);
	if (!object)
		return 0;
	if (!found.known || !rr_nfs_handle_set(&object->handle, found.handle))
		return rr_nfs_lookup(nfs, directory, name, object);
	rr_nfs_object_describe(object, &found.attributes);
	return 0;
}

int
rr_nfs_create(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name,
	bool guarded, const struct rpcrdma_nfs_changes *changes, struct rpcrdma_nfs_object *object)
{
	struct rr_nfs_make_args args = { .type = RR_VFS_FILE, .unchecked = !guarded };
	int error = rr_nfs_change_set(nfs, changes, &args.set);

	return error ? error : ops_make(nfs, NFSPROC3_CREATE, args, directory, name, object);
}

int
rr_nfs_mkdir(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name,
	const struct rpcrdma_nfs_changes *changes, struct rpcrdma_nfs_object *object)
{
	struct rr_nfs_make_args args = { .type = RR_VFS_DIRECTORY };
	int error = rr_nfs_change_set(nfs, changes, &args.set);

	return error ? error : ops_make(nfs, NFSPROC3_MKDIR, args, directory, name, object);
}

int
rr_nfs_symlink(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name,
	const char *target)
{
	const struct rr_nfs_make_args args = { .type = RR_VFS_LINK, .target = rr_nfs_string(target) };

	return ops_make(nfs, NFSPROC3_SYMLINK, args, directory, name, NULL);
}

int
rr_nfs_mknod(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name,
	const struct rpcrdma_nfs_object *what, const struct rpcrdma_nfs_changes *changes)
{
	struct rr_nfs_make_args args = { .type = (enum rr_vfs_type)what->type,
		.device = { what->device_major, what->device_minor } };
	int error = rr_nfs_change_set(nfs, changes, &args.set);

	return error ? error : ops_make(nfs, NFSPROC3_MKNOD, args, directory, name, NULL);
}

/* ---- Names ---- */

/* Tells whether the name in the directory is that of the file. The attributes show it, because two handles of
 * one file need not be equal. RFC 1813, 2.6: "Fileid is a number which uniquely identifies the file within
 * its file system". */
static bool
ops_is_name_of(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *file,
	const struct rpcrdma_nfs_handle *directory, const char *name)
{
	struct rpcrdma_nfs_object found, named;

	return rr_nfs_lookup(nfs, directory, name, &found) == 0 && rr_nfs_getattr(nfs, file, &named) == 0 &&
	       rr_nfs_is_same(&found, &named);
}

/* If the name exists, and LINK may have been executed twice, LINK itself may have made the name: the result
 * is 0 if the name is now that of the file. Otherwise the error text stays that of LINK. */
int
rr_nfs_link(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *file,
	const struct rpcrdma_nfs_handle *directory, const char *name)
{
	LINK3args args = { .file = rr_nfs_fh(file), .link = ops_where(directory, name) };
	LINK3res result;
	struct attempt attempt = ops_begin(nfs);
	struct rr_text text;
	int error = rr_nfs_call(nfs, NFSPROC3_LINK, &args, &result);

	if (error != NFS3ERR_EXIST || !ops_repeated(&attempt))
		return error;
	text = nfs->text;
	if (ops_is_name_of(nfs, file, directory, name))
		return 0;
	nfs->text = text;
	return error;
}

/* If the name does not exist, and REMOVE may have been executed twice, REMOVE itself has removed it: the
 * result is 0. */
int
rr_nfs_remove(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name)
{
	REMOVE3args args = { .object = ops_where(directory, name) };
	REMOVE3res result;
	struct attempt attempt = ops_begin(nfs);
	int error = rr_nfs_call(nfs, NFSPROC3_REMOVE, &args, &result);

	return error == NFS3ERR_NOENT && ops_repeated(&attempt) ? 0 : error;
}

/* If the name does not exist, and RMDIR may have been executed twice, RMDIR itself has removed it: the result
 * is 0. */
int
rr_nfs_rmdir(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name)
{
	RMDIR3args args = { .object = ops_where(directory, name) };
	RMDIR3res result;
	struct attempt attempt = ops_begin(nfs);
	int error = rr_nfs_call(nfs, NFSPROC3_RMDIR, &args, &result);

	return error == NFS3ERR_NOENT && ops_repeated(&attempt) ? 0 : error;
}

/* If the old name does not exist, and RENAME may have been executed twice, RENAME itself may have taken the
 * name away: the result is 0 if the new name exists. Otherwise the error text stays that of RENAME. */
int
rr_nfs_rename(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *from, const char *from_name,
	const struct rpcrdma_nfs_handle *to, const char *to_name)
{
	RENAME3args args = { .from = ops_where(from, from_name), .to = ops_where(to, to_name) };
	RENAME3res result;
	struct attempt attempt = ops_begin(nfs);
	struct rpcrdma_nfs_object object;
	struct rr_text text;
	int error = rr_nfs_call(nfs, NFSPROC3_RENAME, &args, &result);

	if (error != NFS3ERR_NOENT || !ops_repeated(&attempt))
		return error;
	text = nfs->text;
	if (rr_nfs_lookup(nfs, to, to_name, &object) == 0)
		return 0;
	nfs->text = text;
	return error;
}

int
rr_nfs_commit(
	struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *file, uint8_t verifier[NFS3_WRITEVERFSIZE])
{
	/* RFC 1813, section 3.3.21: "If count is 0, a flush from offset to the end of file is
	 * done." */
	COMMIT3args args = { .file = rr_nfs_fh(file), .offset = 0, .count = 0 };
	COMMIT3res result;
	int error = rr_nfs_call(nfs, NFSPROC3_COMMIT, &args, &result);

	if (!error)
		memcpy(verifier, result.u.resok.verf, NFS3_WRITEVERFSIZE);
	return error;
}
