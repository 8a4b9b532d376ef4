/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/cp/remote.h"

/* Abilities of servers of version 4.2: they tell where holes are, and copy by themselves. The operations are
 * those of struct rr_side_ops: side.h says what each does and returns. */

/* ---- Holes ---- */

/* Ends the search for octets in no hole, and calls done() of the search. If error is positive, the server
 * refused the search: that is no error of the copy, but sets extent->unknown. The copy then reads all octets
 * and looks for zeroes itself. */
static void
remote_extent_end(struct rr_extent *extent, int error)
{
	struct rr_side *side = extent->file->side;

	extent->unknown = error > 0;
	extent->done(extent, error < 0 ? rr_cp_remote_fail(side, error) : 0);
}

/* Called when SEEK has found the hole behind the data: stores the start of the hole as the end of the data.
 * If that end is not behind the start of the data, the file has changed meanwhile; then ends the search as if
 * the server had refused it. */
static void
remote_found_hole(void *ctx, int error)
{
	struct rr_extent *extent = ctx;

	extent->end = extent->found;
	/* The data ends where it began: the file changes meanwhile. */
	remote_extent_end(extent, !error && extent->end <= extent->start ? NFS3ERR_INVAL : error);
}

/* Called when SEEK has found the next data: notes its start, and searches for the hole behind it. If there is
 * no further data (NFS3ERR_NXIO), ends the search, with UINT64_MAX as start and end. */
static void
remote_found_data(void *ctx, int error)
{
	struct rr_extent *extent = ctx;
	struct rr_file *file = extent->file;
	const struct rpcrdma_nfs_then then = { remote_found_hole, extent };

	extent->start = extent->end = error ? UINT64_MAX : extent->found;
	if (!error)
		error = rpcrdma_nfs_seek(file->side->nfs, &file->handle, RPCRDMA_NFS_HOLE, extent->start,
			&extent->found, &then);
	if (error)
		remote_extent_end(extent, error == NFS3ERR_NXIO ? 0 : error);
}

/* Asks the server by SEEK for the next data. A server before version 4.2 has no SEEK: then the answer is that
 * it cannot tell (extent->unknown). */
int
rr_cp_remote_extent(struct rr_extent *extent)
{
	struct rr_file *file = extent->file;
	const struct rpcrdma_nfs_then then = { remote_found_data, extent };
	int error;

	extent->unknown = !rr_nfs_is_newer(file->side->nfs);
	if (extent->unknown)
		return 1;
	error = rpcrdma_nfs_seek(
		file->side->nfs, &file->handle, RPCRDMA_NFS_DATA, extent->offset, &extent->found, &then);
	return error ? rr_cp_remote_fail(file->side, error) : 0;
}

void
rr_cp_remote_cancel_extent(struct rr_extent *extent)
{
	struct rpcrdma_nfs *nfs = extent->file->side->nfs;

	rpcrdma_nfs_cancel(nfs, &(struct rpcrdma_nfs_then){ remote_found_data, extent });
	rpcrdma_nfs_cancel(nfs, &(struct rpcrdma_nfs_then){ remote_found_hole, extent });
}

/* ---- Copies within one server ---- */

int
rr_cp_remote_within(struct rr_file *from, struct rr_file *to, uint64_t offset, uint64_t length, bool clone)
{
	struct rpcrdma_nfs *nfs = to->side->nfs;
	struct rpcrdma_nfs_range range = { .size = sizeof(range),
		.from = from->handle,
		.to = to->handle,
		.from_offset = offset,
		.to_offset = offset,
		.length = length };
	int error = clone ? rpcrdma_nfs_clone(nfs, &range, NULL) : rpcrdma_nfs_copy(nfs, &range, NULL);

	if (error < 0)
		return rr_cp_remote_fail(to->side, error);
	if (error)
		return 1;
	if (range.stored == RPCRDMA_NFS_UNSTABLE)
		rr_cp_remote_note_unstable(to, range.verifier, offset + length, range.verifier_changed);
	return 0;
}
