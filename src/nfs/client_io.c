/* SPDX-License-Identifier: BSD-3-Clause */
#include "nfs/client_private.h"

#include <string.h>

#include "base/checked.h"
#include "ulb/reply.h"

/* This file reads and writes pieces of file data, many at a time. For each piece, one call is under way at a
 * time, until all of the piece was moved. The memory is the caller's: the piece with its call, and the data,
 * which the call's sink points into. */

static void io_send_read(struct rr_nfs_io *io);
static void io_send_write(struct rr_nfs_io *io);

/* Tells whether the piece is read, by READ or RR_V4_READ_ONCE. Otherwise it is written. */
static bool
io_is_read(const struct rr_nfs_io *io)
{
	return io->call.proc != NFSPROC3_WRITE;
}

/* Ends the transfer of a piece. From done() on, the piece is the caller's again. */
static void
io_finish(struct rr_nfs_io *io, int error)
{
	io->nfs = NULL;
	io->done(io, error);
}

/* Sets the error text for an answer that makes no sense. Returns the error PEER. */
static int
io_broken(struct rr_nfs_io *io, const char *what)
{
	return rr_nfs_fail(io->nfs, -RPCRDMA_ERR_PEER, "the server's answer to %s makes no sense: %s",
		io_is_read(io) ? "READ" : "WRITE", what);
}

/* ---- READ and WRITE ---- */

/* Sends a READ or WRITE again, after the pause for a busy server (NFS3ERR_JUKEBOX). */
static void
io_again(struct rr_timer *timer)
{
	struct rr_nfs_io *io = rr_container(timer, struct rr_nfs_io, retry.later);

	io_is_read(io) ? io_send_read(io) : io_send_write(io);
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
	if (io->call.proc == RR_V4_READ_ONCE && status > NFS3ERR_JUKEBOX) {
		io->once = false;
		io_send_read(io);
		return true;
	}
	rr_nfs_fail(nfs, (int)status, "%s", rr_nfs_status_text(nfs, status));
	io_finish(io, (int)status);
	return true;
}

/* Prepares the transfer of a piece. The caller then sends the first call; done is called at the end of each
 * call. */
static void
io_start(struct rpcrdma_nfs *nfs, struct rr_nfs_io *io, uint32_t proc,
	void (*done)(struct rr_call *call, int error))
{
	io->nfs = nfs;
	io->moved = 0;
	io->answers = 0;
	io->eof = false;
	io->verifier_changed = false;
	rr_nfs_retry_init(nfs, &io->retry, io_again);
	io->call = (struct rr_call){
		.proc = proc,
		.args = &io->args,
		.result = &io->result,
		.done = done,
		.ctx = io,
	};
}

void
rr_nfs_io_cancel(struct rr_nfs_io *io)
{
	struct rpcrdma_nfs *nfs = io->nfs;

	if (!nfs)
		return;
	if (!rr_nfs_retry_cancel(nfs, &io->retry))
		rr_nfs_withdraw(nfs, &io->call);
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
	if (io->answers <= ANSWERS_FREE || io->moved >= (uint64_t)(io->answers - ANSWERS_FREE) * LEAST)
		return 0;
	return io_broken(io, "so few octets at a time that it would not come to an end");
}

/* ---- READ ---- */

/* Sends a READ of the next octets that are missing. In version 4, a file that is read only once is opened,
 * read and closed by this one call. */
static void
io_send_read(struct rr_nfs_io *io)
{
	uint32_t length = (uint32_t)rr_min(io->length - io->moved, io->nfs->read_max);

	io->call.proc = io->once && io->nfs->v4 ? RR_V4_READ_ONCE : NFSPROC3_READ;
	io->args.read = (READ3args){ rr_nfs_fh(io->file), io->offset + io->moved, length };
	io->call.sink_count = 1;
	io->call.sinks[0] = (struct rpcrdma_sink){ (uint8_t *)io->data + io->moved, length };
	io->call.reply_max = rr_ulb_nfs3_reply_max(NFSPROC3_READ, &io->args.read);
	rr_nfs_send(io->nfs, &io->call);
}

/* Checks the result of a READ, and copies the data to the caller's memory unless RDMA has placed it there
 * already. Returns 0 or an error. */
static int
io_take_read(struct rr_nfs_io *io)
{
	const READ3resok *ok = &io->result.read.u.resok;
	uint8_t *at = (uint8_t *)io->data + io->moved;

	if (ok->data.length > io->args.read.count)
		return io_broken(io, "more data than was asked for");
	if (ok->count != ok->data.length)
		return io_broken(io, "count is not the length of the data");
	if (ok->count == 0 && !ok->eof)
		return io_broken(io, "no data, and not the end of the file");
	if (ok->data.data != at && ok->data.length > 0)
		memcpy(at, ok->data.data, ok->data.length);
	io->moved += ok->data.length;
	io->eof = ok->eof;
	return io->eof ? 0 : io_check_progress(io);
}

/* Called when a READ ends: ends the transfer, or sends the next READ. */
static void
io_read_done(struct rr_call *call, int error)
{
	struct rr_nfs_io *io = call->ctx;

	if (io_ended(io, error, io->result.read.status))
		return;
	error = io_take_read(io);
	/* RFC 1813, section 3.3.6: a server may return fewer octets than requested. As this is not the end of
	 * the file, the rest is read by another call. */
	if (error || io->eof || io->moved == io->length)
		io_finish(io, error);
	else
		io_send_read(io);
}

void
rr_nfs_read(struct rpcrdma_nfs *nfs, struct rr_nfs_io *io)
{
	io_start(nfs, io, NFSPROC3_READ, io_read_done);
	io_send_read(io);
}

/* ---- WRITE ---- */

/* Sends a WRITE of the next octets that the server has not accepted yet. */
static void
io_send_write(struct rr_nfs_io *io)
{
	uint32_t length = (uint32_t)rr_min(io->length - io->moved, io->nfs->write_max);

	io->args.write = (WRITE3args){
		.file = rr_nfs_fh(io->file),
		.offset = io->offset + io->moved,
		.count = length,
		.stable = io->stable,
		.data = { (const uint8_t *)io->data + io->moved, length },
	};
	io->call.reply_max = rr_ulb_nfs3_reply_max(NFSPROC3_WRITE, &io->args.write);
	rr_nfs_send(io->nfs, &io->call);
}

/* Checks the result of a WRITE, and notes how many octets the server accepted, the lowest stability so far,
 * and whether the verifier changed. Returns 0 or an error. */
static int
io_take_write(struct rr_nfs_io *io)
{
	const WRITE3resok *ok = &io->result.write.u.resok;

	if (ok->count == 0 || ok->count > io->args.write.count)
		return io_broken(io, "count is 0, or more than was sent");
	/* RFC 1813, section 3.3.7: "the server ... can return a higher level of stability". A lower level is
	 * an error. */
	if (ok->committed < io->stable)
		return io_broken(io, "the data is less stable than was asked for");
	if (io->moved == 0 || ok->committed < io->committed)
		io->committed = ok->committed;
	if (io->moved > 0 && memcmp(io->verifier, ok->verf, sizeof(io->verifier)) != 0)
		io->verifier_changed = true;
	memcpy(io->verifier, ok->verf, sizeof(io->verifier));
	io->moved += ok->count;
	return io_check_progress(io);
}

/* Called when a WRITE ends: ends the transfer, or sends the next WRITE. */
static void
io_write_done(struct rr_call *call, int error)
{
	struct rr_nfs_io *io = call->ctx;

	if (io_ended(io, error, io->result.write.status))
		return;
	error = io_take_write(io);
	if (error || io->moved == io->length)
		io_finish(io, error);
	else
		io_send_write(io);
}

void
rr_nfs_write(struct rpcrdma_nfs *nfs, struct rr_nfs_io *io)
{
	io_start(nfs, io, NFSPROC3_WRITE, io_write_done);
	io_send_write(io);
}
