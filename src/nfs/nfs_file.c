/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the public functions on file data. A function with _take_ in its name handles the result of a
 * call (take() in nfs_private.h). */
#include <string.h>

#include "nfs/nfs_private.h"

/* Copies to the caller's structure the results of a read or a write that has ended. */
static void
file_give(struct rpcrdma_nfs_io *io, const struct rr_nfs_io *data)
{
	_Static_assert((int)RPCRDMA_NFS_VERIFIER == (int)NFS3_WRITEVERFSIZE, "the same verifier");
	_Static_assert((int)RPCRDMA_NFS_FILE_SYNC == (int)FILE_SYNC, "the same stability");
	io->moved = data->moved;
	io->eof = data->eof;
	io->stored = (enum rpcrdma_nfs_stability)data->committed;
	io->verifier_changed = data->verifier_changed;
	memcpy(io->verifier, data->verifier, sizeof(io->verifier));
}

/* Called when a read or a write has ended: passes its results to the caller, and ends the operation. */
static void
file_done(struct rr_nfs_io *data, int error)
{
	struct rr_nfs_pending *pending = data->ctx;

	file_give(pending->io, data);
	rr_nfs_pending_finish(pending, error);
}

/* Checks the caller's structure for a read or a write: its size, the memory and the length of the data, the
 * offset, and the stability. Sets the error text if one of these is wrong. */
static int
file_check(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_io *io)
{
	if (io->size < offsetof(struct rpcrdma_nfs_io, once))
		return rr_nfs_fail(nfs, -RPCRDMA_ERR_INVAL,
			"the size of struct rpcrdma_nfs_io is %zu, less than it ever was", io->size);
	if (io->length == 0 || !io->data || io->offset > UINT64_MAX - io->length)
		return rr_nfs_fail(nfs, -RPCRDMA_ERR_INVAL,
			"a piece of file data has no octets, no memory, "
			"or an end that no file can have");
	if (io->stability > RPCRDMA_NFS_FILE_SYNC)
		return rr_nfs_fail(nfs, -RPCRDMA_ERR_INVAL, "there is no stability %d", (int)io->stability);
	return 0;
}

/* Makes a new operation, and starts its read or write by start(). If then is NULL, waits for the end, and
 * returns the result. */
static int
file_start(struct rpcrdma_nfs *nfs, struct rpcrdma_nfs_io *io, const struct rpcrdma_nfs_then *then,
	void (*start)(struct rpcrdma_nfs *nfs, struct rr_nfs_io *data))
{
	struct rr_nfs_pending *pending;
	int error = nfs && io ? file_check(nfs, io) : -RPCRDMA_ERR_INVAL;

	if (!error)
		error = rr_nfs_pending_new(nfs, then, &pending);
	if (error)
		return error;
	pending->io = io;
	/* Each member behind these is set before it is used. */
	memset(&pending->data, 0, offsetof(struct rr_nfs_io, nfs));
	pending->data.file = &io->file;
	pending->data.data = io->data;
	pending->data.offset = io->offset;
	pending->data.length = io->length;
	pending->data.stable = (stable_how)io->stability;
	pending->data.once = io->size >= sizeof(*io) && io->once;
	pending->data.done = file_done;
	pending->data.ctx = pending;
	start(nfs, &pending->data);
	return rr_nfs_pending_wait(pending, then);
}

int
rpcrdma_nfs_read(struct rpcrdma_nfs *nfs, struct rpcrdma_nfs_io *io, const struct rpcrdma_nfs_then *then)
{
	return file_start(nfs, io, then, rr_nfs_read);
}

int
rpcrdma_nfs_write(struct rpcrdma_nfs *nfs, struct rpcrdma_nfs_io *io, const struct rpcrdma_nfs_then *then)
{
	return file_start(nfs, io, then, rr_nfs_write);
}

static int
file_take_commit(struct rr_nfs_pending *pending)
{
	_Static_assert(sizeof(pending->op.commit.verifier) == RPCRDMA_NFS_VERIFIER, "the same verifier");
	memcpy(pending->verifier, &pending->op.commit.verifier, RPCRDMA_NFS_VERIFIER);
	return 0;
}

static const struct rr_nfs_work file_commit = { RR_VFS_OP_COMMIT, 1, &rr_v3_work_commit, &rr_v4_work_commit };

int
rpcrdma_nfs_commit(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *file, uint8_t *verifier,
	const struct rpcrdma_nfs_then *then)
{
	struct rr_nfs_pending *pending;
	int error = verifier ? rr_nfs_pending_on(nfs, file, then, &pending) : -RPCRDMA_ERR_INVAL;

	if (error)
		return error;
	pending->verifier = verifier;
	pending->take = file_take_commit;
	pending->op.commit = (struct rr_vfs_commit){ 0 };
	return rr_nfs_pending_begin(pending, &file_commit, then);
}
