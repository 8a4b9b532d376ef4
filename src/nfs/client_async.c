/* SPDX-License-Identifier: BSD-3-Clause */
#include "nfs/client_private.h"

#include <string.h>

/* The procedures of struct rr_nfs_op (LOOKUP, CREATE, SETATTR, COPY and others). They do not wait, so that a
 * program that handles many files has many of them under way at a time. */

/* Ends a procedure: notes in op->again whether its call may have been executed twice, and calls op->done()
 * with the error. */
static void
async_finish(struct rr_nfs_op *op, int error)
{
	struct rpcrdma_nfs *nfs = op->nfs;

	op->again = rr_nfs_repeats(nfs) != op->reconnects;
	op->nfs = NULL;
	op->done(op, error);
}

/* Copies into op->object the handle and the attributes that the server returned. Returns false if the server
 * did not send both, or if the handle is too long. */
static bool
async_take(struct rr_nfs_op *op)
{
	const struct rr_nfs_found *found = &op->result.found;

	if (!found->known || !rr_nfs_handle_set(&op->object.handle, found->handle))
		return false;
	rr_nfs_object_describe(&op->object, &found->attributes);
	return true;
}

/* Checks the result of a call that was answered. Copies into op->object the object that CREATE or LOOKUP
 * returned. A COPY must have copied and stored all octets. Returns 0, or the error with which the procedure
 * ends. */
static int
async_result(struct rr_nfs_op *op)
{
	if (op->result.status != NFS3_OK)
		return rr_nfs_fail(op->nfs, (int)op->result.status, "%s",
			rr_nfs_status_text(op->nfs, op->result.status));
	if (op->call.proc == NFSPROC3_CREATE && !async_take(op))
		return rr_nfs_fail(op->nfs, -RPCRDMA_ERR_NOTSUP, "the server does not say what it made");
	if (op->call.proc == NFSPROC3_LOOKUP && !async_take(op))
		return rr_nfs_fail(op->nfs, -RPCRDMA_ERR_NOTSUP, "the server does not say what it found");
	if (op->call.proc == RR_V4_COPY &&
		(op->result.copy.count != op->args.copy.length || op->result.copy.committed != FILE_SYNC))
		return rr_nfs_fail(
			op->nfs, -RPCRDMA_ERR_NOTSUP, "the server copied a part, or did not store it");
	return 0;
}

/* Called when the call of a procedure has ended: checks its result, and ends the procedure. */
static void
async_done(struct rr_call *call, int error)
{
	struct rr_nfs_op *op = call->ctx;

	if (error)
		rr_nfs_fail(op->nfs, error, "%s", rr_nfs_why(op->nfs));
	async_finish(op, error ? error : async_result(op));
}

/* Sends the call of the procedure proc with the arguments in op->args. async_done() is called when the call
 * ends. */
static void
async_call(struct rpcrdma_nfs *nfs, struct rr_nfs_op *op, uint32_t proc)
{
	op->nfs = nfs;
	op->reconnects = rr_nfs_repeats(nfs);
	op->call = (struct rr_call){
		.proc = proc,
		.args = &op->args,
		.result = &op->result,
		.reply_max = rr_nfs_reply_max(proc, &op->args),
		.keep = op->keep,
		.keep_size = sizeof(op->keep),
		.done = async_done,
		.ctx = op,
	};
	rr_nfs_send(nfs, &op->call);
}

void
rr_nfs_op_lookup(struct rpcrdma_nfs *nfs, struct rr_nfs_op *op, const struct rpcrdma_nfs_handle *directory,
	const char *name)
{
	op->args.lookup = (LOOKUP3args){ .what = { rr_nfs_fh(directory), rr_nfs_string(name) } };
	async_call(nfs, op, NFSPROC3_LOOKUP);
}

int
rr_nfs_op_create(struct rpcrdma_nfs *nfs, struct rr_nfs_op *op, const struct rpcrdma_nfs_handle *directory,
	const char *name, const struct rpcrdma_nfs_changes *changes)
{
	int error;

	op->args.create = (struct rr_nfs_make_args){ .where = { rr_nfs_fh(directory), rr_nfs_string(name) },
		.type = RR_VFS_FILE };
	error = rr_nfs_change_set(nfs, changes, &op->args.create.set);
	if (!error)
		async_call(nfs, op, NFSPROC3_CREATE);
	return error;
}

int
rr_nfs_op_setattr(struct rpcrdma_nfs *nfs, struct rr_nfs_op *op, const struct rpcrdma_nfs_handle *handle,
	const struct rpcrdma_nfs_changes *changes)
{
	int error;

	op->args.setattr = (struct rr_nfs_setattr_args){ .object = rr_nfs_fh(handle) };
	error = rr_nfs_change_set(nfs, changes, &op->args.setattr.set);
	if (!error)
		async_call(nfs, op, NFSPROC3_SETATTR);
	return error;
}

void
rr_nfs_op_rename(struct rpcrdma_nfs *nfs, struct rr_nfs_op *op, const struct rpcrdma_nfs_handle *directory,
	const char *from, const char *to)
{
	op->args.rename = (RENAME3args){
		.from = { rr_nfs_fh(directory), rr_nfs_string(from) },
		.to = { rr_nfs_fh(directory), rr_nfs_string(to) },
	};
	async_call(nfs, op, NFSPROC3_RENAME);
}

bool
rr_nfs_can_put(const struct rpcrdma_nfs *nfs)
{
	return nfs->v4 && rr_v4_can_put(nfs->v4);
}

int
rr_nfs_op_put(struct rpcrdma_nfs *nfs, struct rr_nfs_op *op, const struct rr_nfs_put *put)
{
	int error;

	op->args.put = (struct rr_v4_put_args){
		.directory = rr_nfs_fh(put->directory),
		.temporary = rr_nfs_string(put->temporary),
		.name = rr_nfs_string(put->name),
		.data = { put->data, put->length },
		.made = put->made,
	};
	error = rr_nfs_change_set(nfs, put->changes, &op->args.put.set);
	if (!error)
		async_call(nfs, op, RR_V4_PUT);
	return error;
}

void
rr_nfs_op_copy(struct rpcrdma_nfs *nfs, struct rr_nfs_op *op, const struct rpcrdma_nfs_handle *from,
	const struct rpcrdma_nfs_handle *to, uint64_t length)
{
	op->args.copy = (struct rr_v4_copy_args){
		.to = rr_nfs_fh(to), .from = rr_nfs_fh(from), .length = length, .commit = true
	};
	async_call(nfs, op, RR_V4_COPY);
}

/* Asks for the names of the extended attributes. The caller only needs to know whether there are any, so the
 * names are put into op->keep, where nobody reads them. */
void
rr_nfs_op_list_xattrs(struct rpcrdma_nfs *nfs, struct rr_nfs_op *op, const struct rpcrdma_nfs_handle *file)
{
	op->args.xattr = (struct rr_v4_xattr_args){
		.file = rr_nfs_fh(file), .value = op->keep, .size = sizeof(op->keep)
	};
	async_call(nfs, op, RR_V4_LISTXATTRS);
}

void
rr_nfs_op_cancel(struct rr_nfs_op *op)
{
	struct rpcrdma_nfs *nfs = op->nfs;

	op->nfs = NULL;
	if (nfs)
		rr_nfs_withdraw(nfs, &op->call);
}
