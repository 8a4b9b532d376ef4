/* SPDX-License-Identifier: BSD-3-Clause */
/* This file copies from file to file: copy and clone. Both leave holes where the source has holes. */
#include "base/checked.h"
#include "node.h"
#include "pages.h"
#include "run.h"

enum { COPY_PIECE = 65536 }; /* at most so many octets are copied in one step */

/* The operation copy stops early when it has copied so many octets of data, as vfs.h allows. */
static const uint64_t copy_most = UINT64_C(1) << 20;

struct memory_copy {
	struct rr_memory_run *run;
	struct rr_vfs_copy *copy;
	uint64_t length; /* octets to copy, at most up to the end of the source */
	uint64_t data;   /* octets copied so far, without holes */
};

/* Checks whether a copy or clone may be done (permissions, exports, sizes, no overlap), and computes
 * state->length, the number of octets to copy, at most up to the end of the source. Sets the verifier. */
static enum rr_vfs_status
copy_begin(struct memory_copy *state)
{
	struct rr_memory_run *run = state->run;
	struct rr_vfs_copy *copy = state->copy;
	uint64_t size, left, end;
	enum rr_vfs_status status = rr_memory_may_use(run, &copy->from, run->node, RR_VFS_SHARE_READ);

	copy->copied = 0;
	copy->verifier = run->memory->verifier;
	if (status == RR_VFS_OK)
		status = rr_memory_may_use(run, &copy->to, run->second, RR_VFS_SHARE_WRITE);
	if (status != RR_VFS_OK)
		return status;
	if (run->node->export != run->second->export)
		return RR_VFS_XDEV;
	size = run->node->attributes.size;
	left = copy->from_offset < size ? size - copy->from_offset : 0;
	state->length = copy->length == 0 ? left : (uint64_t)rr_min(copy->length, left);
	if (!rr_add_u64(copy->to_offset, state->length, &end) || end > run->memory->config.file_max)
		return RR_VFS_FBIG;
	if (run->node == run->second && copy->from_offset < end &&
		copy->to_offset < copy->from_offset + state->length)
		return RR_VFS_INVAL;
	return RR_VFS_OK;
}

/* Copies a hole of this length: makes a hole in the target at the position that the copy has reached, extends
 * the target to the end of the hole where it is shorter, and counts the octets as copied. */
static void
copy_hole(struct memory_copy *state, uint64_t length)
{
	struct rr_memory_node *node = state->run->second;
	uint64_t at = state->copy->to_offset + state->copy->copied;

	rr_memory_pages_punch(state->run->memory, node, at, at + length);
	if (at + length > node->attributes.size)
		node->attributes.size = at + length;
	state->copy->copied += length;
}

/* Copies the next octets of data, at most "length" and at most COPY_PIECE, and counts the octets that were
 * written. */
static enum rr_vfs_status
copy_data(struct memory_copy *state, uint64_t length)
{
	const struct rr_memory_run *run = state->run;
	struct rr_vfs_copy *copy = state->copy;
	uint8_t piece[COPY_PIECE];
	uint32_t part = (uint32_t)rr_min(length, sizeof(piece)), written;
	enum rr_vfs_status status;

	rr_memory_pages_read(run->node, copy->from_offset + copy->copied, piece, part);
	status = rr_memory_pages_write(run->memory, run->second, copy->to_offset + copy->copied,
		(struct rpcrdma_bytes){ piece, part }, &written);
	copy->copied += written;
	state->data += written;
	return status;
}

/* Copies the next part of the range: a whole hole, or data up to the next hole and at most COPY_PIECE octets.
 * Marks the target as unstable for data: a loss of power then undoes it, until a commit follows. */
static enum rr_vfs_status
copy_step(struct memory_copy *state)
{
	struct rr_vfs_copy *copy = state->copy;
	struct rr_memory_node *to = state->run->second;
	uint64_t at = copy->from_offset + copy->copied, left = state->length - copy->copied;
	uint64_t next = rr_memory_pages_seek(state->run->node, at, true);

	if (next > at) {
		copy_hole(state, rr_min(left, next - at));
		return RR_VFS_OK;
	}
	if (!to->unstable)
		to->stable_size = to->attributes.size;
	to->unstable = true;
	return copy_data(state, rr_min(left, rr_memory_pages_seek(state->run->node, at, false) - at));
}

/* Copies until the range ends, at least "most" octets of data were copied (holes do not count), or an error
 * occurs. An error is returned only where nothing was copied. */
static enum rr_vfs_status
copy_steps(struct memory_copy *state, uint64_t most)
{
	enum rr_vfs_status status = RR_VFS_OK;

	while (status == RR_VFS_OK && state->copy->copied < state->length && state->data < most)
		status = copy_step(state);
	if (state->copy->copied > 0)
		rr_memory_touch(state->run->memory, state->run->second, true);
	return state->copy->copied > 0 ? RR_VFS_OK : status;
}

/* Copies at most about copy_most octets of data in one call, and any holes between them. */
enum rr_vfs_status
rr_memory_copy(struct rr_memory_run *run)
{
	struct memory_copy state = { run, (struct rr_vfs_copy *)run->call, 0, 0 };
	enum rr_vfs_status status = copy_begin(&state);

	return status == RR_VFS_OK ? copy_steps(&state, copy_most) : status;
}

/* Checks that there is space for all pages of the source that a clone copies. The space of the target's pages
 * that the clone will replace is not counted as free. Returns RR_VFS_NOSPC or RR_VFS_DQUOT if there is not
 * enough space. */
static enum rr_vfs_status
copy_clone_space(const struct memory_copy *state)
{
	const struct rr_memory_node *from = state->run->node;
	uint32_t first = rr_memory_pages_find(from, state->copy->from_offset / RR_MEMORY_PAGE);
	uint32_t end = rr_memory_pages_find(
		from, (state->copy->from_offset + state->length + RR_MEMORY_PAGE - 1) / RR_MEMORY_PAGE);
	uint64_t octets = (uint64_t)(end - first) * RR_MEMORY_PAGE;
	uint32_t uid = state->run->second->attributes.uid;
	enum rr_vfs_status status = rr_memory_charge(state->run->memory, uid, octets, 0);

	if (status == RR_VFS_OK)
		rr_memory_discharge(state->run->memory, uid, octets, 0);
	return status;
}

/* A clone is a copy here, since files share no pages. It checks the range and the space first, because a
 * clone is to be done as a whole or not at all. Its data is on stable storage at the end. */
enum rr_vfs_status
rr_memory_clone(struct rr_memory_run *run)
{
	struct memory_copy state = { run, (struct rr_vfs_copy *)run->call, 0, 0 };
	struct rr_vfs_copy *clone = state.copy;
	enum rr_vfs_status status = copy_begin(&state);

	if (status != RR_VFS_OK)
		return status;
	/* The range must begin and end at boundaries of pages in both files, and lie within the source. It
	 * may end elsewhere only where the source ends there, and the target does not go on behind it. */
	if (clone->from_offset % RR_MEMORY_PAGE || clone->to_offset % RR_MEMORY_PAGE ||
		(clone->length != 0 && clone->length != state.length) ||
		(state.length % RR_MEMORY_PAGE &&
			(clone->from_offset + state.length != run->node->attributes.size ||
				clone->to_offset + state.length < run->second->attributes.size)))
		return RR_VFS_INVAL;
	status = copy_clone_space(&state);
	if (status != RR_VFS_OK)
		return status;
	status = copy_steps(&state, UINT64_MAX);
	rr_memory_settle(run->memory, run->second);
	return status;
}
