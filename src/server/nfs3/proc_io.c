/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/checked.h"
#include "server/nfs3/attr.h"
#include "ulb/limits.h"

/*
 * This file has READ, WRITE and COMMIT: RFC 1813, sections 3.3.6, 3.3.7 and 3.3.21. The functions ..._begin()
 * begin the operation of the file system for a procedure, and the functions ..._end() complete the result of
 * the procedure when that operation has ended (proc.h).
 *
 * The data of a READ lies in a buffer of the pool, which belongs to the request and goes back to the pool
 * when the reply was sent. The data of a WRITE stays where the transport put it.
 */

/* Returns how many octets of data the reply to a READ can carry: in the chunk that the client gave for the
 * data, or, if there is none, within the reply message itself. */
static uint32_t
proc_read_room(const struct rpcrdma_request *request)
{
	uint32_t beside = request->header + RR_NFS_STATUS_SIZE + XDR_MAX_READ3resok;

	if (request->item_room > 0)
		return request->item_room;
	return request->stream_room > beside ? request->stream_room - beside : 0;
}

/* The octets that a READ gets at once where memory is short, if its client holds no memory, so that the
 * client need not wait for the clients that hold the rest. RFC 1813, 3.3.6: "it is possible for the server to
 * return fewer than count bytes of data." */
enum { READ_SHORT = 64 << 10 };

/* Called by the file system as soon as it knows that a READ has at most size octets of data: gets memory for
 * the data from the pool, and returns it, or NULL if there is none. Where memory is short, the pool may give
 * READ_SHORT octets instead of size: the READ is then shortened to them. The memory belongs to the request
 * from then on. */
static void *
proc_read_memory(struct rr_vfs_read *read, uint32_t size)
{
	struct rr_nfs_work *work = rr_container(read, struct rr_nfs_work, op.read);
	struct rpcrdma_request *request = work->request;
	size_t some = size;

	request->payload = rr_pool_get_some(work->server->pool, request->party, &some, READ_SHORT);
	read->size = (uint32_t)rr_min(read->size, some);
	return request->payload;
}

static enum rr_vfs_status
proc_read_begin(struct rr_nfs_work *work)
{
	const READ3args *args = work->args;
	struct rr_vfs_read *read = &work->op.read;
	struct rr_vfs *vfs = work->server->vfs;
	uint32_t room = proc_read_room(work->request);

	/* If the reply has no room for data, the READ fails: to an answer without data, the client would
	 * repeat the READ for ever. */
	if (args->count > 0 && room == 0)
		return RR_VFS_FAULT;
	read->object = rr_nfs_object(args->file);
	read->offset = args->offset;
	read->size = (uint32_t)rr_min(rr_min(args->count, RR_NFS_IO_MAX), room);
	read->memory = proc_read_memory;
	read->data = NULL;
	return rr_vfs_read(vfs, read);
}

/* Translates the status of READ, WRITE and COMMIT. A directory gets NFS3ERR_INVAL; RFC 1813, 3.3.6, on a file
 * that is no regular file: "The correct return value for the NFS version 3 protocol is NFS3ERR_INVAL." */
static nfsstat3
proc_data_status(enum rr_vfs_status status)
{
	return status == RR_VFS_ISDIR ? NFS3ERR_INVAL : rr_nfs_status(status);
}

/* Completes the result of READ. If the pool had no memory for the data, returns RPCRDMA_HANDLE_LATER: the
 * procedure is begun again when there is memory. */
static enum rpcrdma_handled
proc_read_end(struct rr_nfs_work *work, enum rr_vfs_status status)
{
	const struct rr_vfs_read *read = &work->op.read;
	READ3res *res = work->result;

	if (status == RR_VFS_NO_BUFFER)
		return RPCRDMA_HANDLE_LATER;
	res->status = proc_data_status(status);
	if (status != RR_VFS_OK) {
		rr_nfs_post_op(&read->object_after, &res->u.resfail.file_attributes);
		return RPCRDMA_HANDLED;
	}
	rr_gate_count(
		work->server->gate, &work->identity, (struct rr_gate_count){ .octets_read = read->length });
	rr_nfs_post_op(&read->object_after, &res->u.resok.file_attributes);
	res->u.resok.count = read->length;
	res->u.resok.data = (struct rpcrdma_bytes){ read->data, read->length };
	res->u.resok.eof = read->eof;
	return RPCRDMA_HANDLED;
}

const struct rr_nfs_procedure rr_proc_read = { proc_read_begin, proc_read_end, sizeof(struct rr_vfs_read) };

/* Tells whether the count of a WRITE is the length of its data. If it is not, nothing is written, and the
 * reply has only a status and the attributes of the file. */
static bool
proc_write_makes_sense(const WRITE3args *args)
{
	return args->count == args->data.length;
}

/* Begins the file system's operation write. If the count of the call is not the length of its data, begins
 * getattr instead, because the reply then has only the file's attributes. */
static enum rr_vfs_status
proc_write_begin(struct rr_nfs_work *work)
{
	static const enum rr_vfs_stable stables[] = {
		[UNSTABLE] = RR_VFS_UNSTABLE, [DATA_SYNC] = RR_VFS_DATA_SYNC, [FILE_SYNC] = RR_VFS_FILE_SYNC
	};
	const WRITE3args *args = work->args;
	struct rr_vfs_write *write = &work->op.write;
	struct rr_vfs *vfs = work->server->vfs;

	if (!proc_write_makes_sense(args)) {
		work->op.getattr.object = rr_nfs_object(args->file);
		return rr_vfs_getattr(vfs, &work->op.getattr);
	}
	write->object = rr_nfs_object(args->file);
	write->offset = args->offset;
	write->data = args->data.data;
	write->length = (uint32_t)rr_min(args->data.length, RR_NFS_IO_MAX);
	write->stable = stables[args->stable];
	return rr_vfs_write(vfs, write);
}

static void
proc_put_verifier(uint64_t value, writeverf3 verifier)
{
	_Static_assert(sizeof(value) == NFS3_WRITEVERFSIZE, "all of it");
	memcpy(verifier, &value, sizeof(value));
}

/* Completes the result of WRITE. If the count of the call is not the length of its data, nothing was written:
 * the operation was getattr, the status is NFS3ERR_INVAL, and the result has the file's attributes. */
static enum rpcrdma_handled
proc_write_end(struct rr_nfs_work *work, enum rr_vfs_status status)
{
	static const stable_how stables[] = {
		[RR_VFS_UNSTABLE] = UNSTABLE, [RR_VFS_DATA_SYNC] = DATA_SYNC, [RR_VFS_FILE_SYNC] = FILE_SYNC
	};
	const struct rr_vfs_write *write = &work->op.write;
	post_op_attr *after;
	WRITE3res *res = work->result;

	if (status == RR_VFS_OK && !proc_write_makes_sense(work->args)) {
		res->status = NFS3ERR_INVAL;
		after = &res->u.resfail.file_wcc.after;
		after->attributes_follow = true;
		rr_nfs_fattr(&work->op.getattr.attributes, &after->u.attributes);
		return RPCRDMA_HANDLED;
	}
	res->status = proc_data_status(status);
	if (status != RR_VFS_OK) {
		rr_nfs_wcc(&write->change, &res->u.resfail.file_wcc);
		return RPCRDMA_HANDLED;
	}
	rr_gate_count(work->server->gate, &work->identity,
		(struct rr_gate_count){ .octets_written = write->count });
	rr_nfs_wcc(&write->change, &res->u.resok.file_wcc);
	res->u.resok.count = write->count;
	res->u.resok.committed = stables[write->committed];
	proc_put_verifier(write->verifier, res->u.resok.verf);
	return RPCRDMA_HANDLED;
}

const struct rr_nfs_procedure rr_proc_write = { proc_write_begin, proc_write_end,
	sizeof(struct rr_vfs_write) };

static enum rr_vfs_status
proc_commit_begin(struct rr_nfs_work *work)
{
	const COMMIT3args *args = work->args;
	struct rr_vfs *vfs = work->server->vfs;

	work->op.commit.object = rr_nfs_object(args->file);
	work->op.commit.offset = args->offset;
	work->op.commit.length = args->count;
	return rr_vfs_commit(vfs, &work->op.commit);
}

static enum rpcrdma_handled
proc_commit_end(struct rr_nfs_work *work, enum rr_vfs_status status)
{
	const struct rr_vfs_commit *commit = &work->op.commit;
	COMMIT3res *res = work->result;

	res->status = proc_data_status(status);
	if (status != RR_VFS_OK) {
		rr_nfs_wcc(&commit->change, &res->u.resfail.file_wcc);
		return RPCRDMA_HANDLED;
	}
	rr_nfs_wcc(&commit->change, &res->u.resok.file_wcc);
	proc_put_verifier(commit->verifier, res->u.resok.verf);
	return RPCRDMA_HANDLED;
}

const struct rr_nfs_procedure rr_proc_commit = { proc_commit_begin, proc_commit_end,
	sizeof(struct rr_vfs_commit) };
