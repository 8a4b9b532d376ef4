/* SPDX-License-Identifier: BSD-3-Clause */
#include "nfs/client_private.h"

#include <string.h>

#include "base/checked.h"

/* This file reads and writes pieces of file data, many at a time. For each piece, one call of a work is under
 * way at a time, until all of the piece was moved. The memory is the caller's: the piece with its job, and
 * the data, which the call's sink points into. */

static void io_send(struct rr_nfs_io *io);

static bool
io_is_read(const struct rr_nfs_io *io)
{
	return io->job.base.operation == RR_VFS_OP_READ;
}

/* Ends the transfer of a piece. From done() on, the piece is the caller's again. */
static void
io_finish(struct rr_nfs_io *io, int error)
{
	io->nfs = NULL;
	io->done(io, error);
}

/* Sets the error text for an answer that makes no sense; what says more, or is "". Returns the error PEER. */
static int
io_broken(struct rr_nfs_io *io, const char *what)
{
	return rr_nfs_fail(io->nfs, -RPCRDMA_ERR_PEER, "the server's answer to %s makes no sense%s",
		io_is_read(io) ? "READ" : "WRITE", what);
}

/* Sends a READ or WRITE again, after the pause for a busy server (NFS3ERR_JUKEBOX). */
static void
io_again(struct rr_timer *timer)
{
	io_send(rr_container(timer, struct rr_nfs_io, retry.later));
}

/* Handles the error or the status with which a READ or WRITE ended. Returns false if the call succeeded and
 * its result is to be used; true if the transfer has ended with an error, or the call is sent again. */
static bool
io_ended(struct rr_nfs_io *io, int error, nfsstat3 status)
{
	struct rpcrdma_nfs *nfs = io->nfs;

	if (error) {
		rr_nfs_fail(nfs, error, "%s", rr_nfs_why(nfs));
		io_finish(io, error);
		return true;
	}
	if (status == NFS3_OK)
		return false;
	if (rr_nfs_retry_later(nfs, &io->retry, status))
		return true;
	/* The status is not one of version 3, so it may come from opening the file: the data is read by READ
	 * instead. */
	if (io->once && status > NFS3ERR_JUKEBOX) {
		io->once = false;
		io_send(io);
		return true;
	}
	rr_nfs_fail(nfs, (int)status, "%s", rr_nfs_status_text(nfs, status));
	io_finish(io, (int)status);
	return true;
}

/* Prepares the transfer of a piece. The caller then fills in io->op, and sends the first call. */
static void
io_start(struct rpcrdma_nfs *nfs, struct rr_nfs_io *io, enum rr_vfs_operation operation)
{
	struct rr_remote_job *job = &io->job.base;

	io->nfs = nfs;
	io->moved = 0;
	io->answers = 0;
	io->eof = false;
	io->verifier_changed = false;
	io->once = io->once && nfs->v4 && operation == RR_VFS_OP_READ;
	rr_nfs_retry_init(nfs, &io->retry, io_again);
	job->call = &io->op.call;
	job->operation = operation;
	job->lean = true;
	job->moved = 0;
	rr_remote_keep(&job->objects[0], 0, rr_nfs_fh(io->file).data);
	io->opened = rr_remote_fh(&job->objects[0]);
}

void
rr_nfs_io_cancel(struct rr_nfs_io *io)
{
	struct rpcrdma_nfs *nfs = io->nfs;

	if (!nfs)
		return;
	if (!rr_nfs_retry_cancel(nfs, &io->retry))
		rr_nfs_withdraw(nfs, &io->job.base.rpc);
	io->nfs = NULL;
}

/* The least octets that an answer must move on average, after the first ANSWERS_FREE answers of a piece. A
 * server that returns an octet at a time would keep its client busy for ever. */
enum { LEAST = 512, ANSWERS_FREE = 64 };

/* Checks that the server moves at least LEAST octets with each answer on average, so that the transfer comes
 * to an end. The first ANSWERS_FREE answers are not counted. */
static int
io_check_progress(struct rr_nfs_io *io)
{
	io->answers++;
	if (io->answers <= ANSWERS_FREE ||
		io->job.base.moved >= (uint64_t)(io->answers - ANSWERS_FREE) * LEAST)
		return 0;
	return io_broken(io, ": so few octets at a time that it would not come to an end");
}

/* ---- The works ---- */

/* Copies to the caller's members what the answers said so far. The verifier changed if that of the last WRITE
 * is not that of the first. */
static void
io_give(struct rr_nfs_io *io)
{
	const struct rr_remote_job *job = &io->job.base;

	io->moved = job->moved;
	if (io_is_read(io)) {
		io->eof = io->op.read.eof;
		return;
	}
	io->committed = (stable_how)io->op.write.committed;
	io->verifier_changed |= job->verifier != io->op.write.verifier;
	memcpy(io->verifier, &job->verifier, sizeof(io->verifier));
}

/* Called when a READ or WRITE ends: ends the transfer, or sends the next one. RFC 1813, sections 3.3.6 and
 * 3.3.7: a server may return or write fewer octets than it was asked for. */
static void
io_answered(struct rr_call *call, int error)
{
	struct rr_nfs_io *io = rr_container(call, struct rr_nfs_io, job.base.rpc);
	const struct rr_v4_job *v4 = &io->job.v4;
	struct rr_v3_job *v3 = &io->job.v3;
	bool is_4 = io->nfs->v4;
	enum rr_vfs_status verdict;

	if (io_ended(io, error, is_4 ? (nfsstat3)v4->status : v3->result.status))
		return;
	verdict = is_4 ? v4->verdict : v3->work->take(v3, RR_VFS_OK);
	if (verdict != RR_VFS_OK) {
		io_finish(io, io_broken(io, ""));
		return;
	}
	io_give(io);
	error = io->eof ? 0 : io_check_progress(io);
	if (error || io->eof || io->moved == io->length)
		io_finish(io, error);
	else
		io_send(io);
}

/* Fills in the call of a work of version 4. A file that is read only once is opened, read and closed by one
 * call. */
static void
io_prepare_4(struct rr_nfs_io *io)
{
	struct rr_v4_job *job = &io->job.v4;

	job->work = io->once ? &rr_v4_read_once : io_is_read(io) ? &rr_v4_work_read : &rr_v4_work_write;
	job->verdict = RR_VFS_OK;
	memset(&job->at, 0, sizeof(job->at));
	job->base.rpc =
		(struct rr_call){ .proc = RR_V4_OPERATION, .args = &io->opened, .result = &job->status };
}

/* Fills in the call of a work of version 3. */
static void
io_prepare_3(struct rr_nfs_io *io)
{
	io->job.base.rpc.sink_count = 0;
	rr_v3_prepare(&io->job.v3, io_is_read(io) ? &rr_v3_work_read : &rr_v3_work_write);
}

/* Sends a READ or a WRITE of the next octets that are missing. */
static void
io_send(struct rr_nfs_io *io)
{
	struct rpcrdma_nfs *nfs = io->nfs;
	struct rr_remote_job *job = &io->job.base;

	job->piece =
		(uint32_t)rr_min(io->length - job->moved, io_is_read(io) ? nfs->read_max : nfs->write_max);
	nfs->v4 ? io_prepare_4(io) : io_prepare_3(io);
	job->rpc.done = io_answered;
	job->rpc.ctx = job;
	rr_nfs_send(nfs, &job->rpc);
}

void
rr_nfs_read(struct rpcrdma_nfs *nfs, struct rr_nfs_io *io)
{
	io_start(nfs, io, RR_VFS_OP_READ);
	io->op.read.offset = io->offset;
	io->op.read.data = io->data;
	io_send(io);
}

void
rr_nfs_write(struct rpcrdma_nfs *nfs, struct rr_nfs_io *io)
{
	io_start(nfs, io, RR_VFS_OP_WRITE);
	io->op.write.offset = io->offset;
	io->op.write.data = io->data;
	io->op.write.length = io->length;
	io->op.write.stable = (enum rr_vfs_stable)io->stable;
	io_send(io);
}
