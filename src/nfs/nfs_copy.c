/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has public functions that only version 4.2 has: holes, and copies within a server. A function
 * with _take_ in its name handles the result of a call (take() in nfs_private.h). */
#include <string.h>

#include "base/address.h"
#include "base/checked.h"
#include "base/config.h"
#include "nfs/nfs_private.h"

/* The most octets of one COPY, which a server may execute as a whole before it answers. */
#define COPY_PIECE (UINT64_C(64) << 20)

int
rr_nfs_newer_new(
	struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_then *then, struct rr_nfs_pending **pending)
{
	if (!rr_nfs_is_newer(nfs))
		return rr_nfs_fail(
			nfs, -RPCRDMA_ERR_NOTSUP, "NFS version 4.2 has this, and it is not spoken here");
	return rr_nfs_pending_new(nfs, then, pending);
}

/* ---- SEEK ---- */

/* Stores the offset that SEEK found in the caller's memory. */
static int
copy_take_seek(struct rr_nfs_pending *pending)
{
	*pending->found = pending->op.seek.found;
	return 0;
}

static const struct rr_nfs_work copy_seek = { RR_VFS_OP_SEEK, 1, NULL, &rr_v4_work_seek };

int
rpcrdma_nfs_seek(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *file,
	enum rpcrdma_nfs_content what, uint64_t offset, uint64_t *found, const struct rpcrdma_nfs_then *then)
{
	struct rr_nfs_pending *pending;
	int error;

	if (!nfs || !file || !found || (what != RPCRDMA_NFS_DATA && what != RPCRDMA_NFS_HOLE))
		return -RPCRDMA_ERR_INVAL;
	error = rr_nfs_newer_new(nfs, then, &pending);
	if (error)
		return error;
	pending->handles[0] = *file;
	pending->found = found;
	pending->take = copy_take_seek;
	pending->op.seek = (struct rr_vfs_seek){ .offset = offset, .data = what == RPCRDMA_NFS_DATA };
	return rr_nfs_pending_begin(pending, &copy_seek, then);
}

/* ---- COPY and CLONE ---- */

/* Checks the range that the caller wants to copy: the size of its structure, and that its ends are possible
 * offsets. Its length may be 0 only if may_be_empty is true. */
static int
copy_check(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_range *range, bool may_be_empty)
{
	if (range->size < offsetof(struct rpcrdma_nfs_range, stability))
		return rr_nfs_fail(nfs, -RPCRDMA_ERR_INVAL,
			"the size of struct rpcrdma_nfs_range is %zu, less than it ever was", range->size);
	if ((range->length == 0 && !may_be_empty) || range->from_offset > UINT64_MAX - range->length ||
		range->to_offset > UINT64_MAX - range->length)
		return rr_nfs_fail(nfs, -RPCRDMA_ERR_INVAL,
			"a range to be copied has no octets, or an end that no file can have");
	return 0;
}

static const struct rr_nfs_work copy_copy = { RR_VFS_OP_COPY, 2, NULL, &rr_v4_work_copy };
static const struct rr_nfs_work copy_clone = { RR_VFS_OP_CLONE, 2, NULL, &rr_v4_work_clone };

/* Sends a COPY of the next octets of the range, at most COPY_PIECE. */
static void
copy_send(struct rr_nfs_pending *pending)
{
	const struct rpcrdma_nfs_range *range = pending->range;

	pending->commit = range->size >= sizeof(*range) && range->stability != RPCRDMA_NFS_UNSTABLE;
	pending->op.copy = (struct rr_vfs_copy){
		.to_offset = range->to_offset + range->copied,
		.from_offset = range->from_offset + range->copied,
		.length = rr_min(range->length - range->copied, COPY_PIECE),
	};
	rr_nfs_pending_ask(pending, &copy_copy);
}

/* The least octets that a server must copy by each COPY except the last: a server that copies an octet at a
 * time would keep its client busy for ever. */
enum { COPY_LEAST = 512 };

/* Notes the result of a COPY in the range: the octets copied so far, the lowest stability, and whether the
 * verifier changed. If octets of the range are left, sends the next COPY and returns PENDING_GOES_ON. Fails
 * if octets are left and the server copied fewer than COPY_LEAST, as many COPYs would be needed. */
static int
copy_take_copy(struct rr_nfs_pending *pending)
{
	const struct rr_vfs_copy *copy = &pending->op.copy;
	const enum rpcrdma_nfs_stability stored = (enum rpcrdma_nfs_stability)pending->job.v4.committed;
	struct rpcrdma_nfs_range *range = pending->range;

	if (range->copied > 0 && memcmp(range->verifier, &copy->verifier, sizeof(range->verifier)) != 0)
		range->verifier_changed = true;
	if (range->copied == 0 || stored < range->stored)
		range->stored = stored;
	memcpy(range->verifier, &copy->verifier, sizeof(range->verifier));
	range->copied += copy->copied;
	if (range->copied == range->length)
		return 0;
	if (copy->copied < COPY_LEAST)
		return rr_nfs_fail(pending->nfs, -RPCRDMA_ERR_PEER,
			"the server copies so few octets at a time that it would not come to an end");
	copy_send(pending);
	return PENDING_GOES_ON;
}

/* Checks the range, and makes a new operation on it, for CLONE if clone is true, else for COPY. The range may
 * be empty for CLONE only. Stores the operation in *pending. Sends nothing yet. */
static int
copy_start(struct rpcrdma_nfs *nfs, struct rpcrdma_nfs_range *range, bool clone,
	const struct rpcrdma_nfs_then *then, struct rr_nfs_pending **pending)
{
	int error = nfs && range ? copy_check(nfs, range, clone) : -RPCRDMA_ERR_INVAL;

	if (!error)
		error = rr_nfs_newer_new(nfs, then, pending);
	if (error)
		return error;
	range->copied = 0;
	range->verifier_changed = false;
	(*pending)->range = range;
	(*pending)->handles[0] = range->from;
	(*pending)->handles[1] = range->to;
	return 0;
}

int
rpcrdma_nfs_copy(
	struct rpcrdma_nfs *nfs, struct rpcrdma_nfs_range *range, const struct rpcrdma_nfs_then *then)
{
	struct rr_nfs_pending *pending;
	int error = copy_start(nfs, range, false, then, &pending);

	if (error)
		return error;
	pending->take = copy_take_copy;
	copy_send(pending);
	return rr_nfs_pending_wait(pending, then);
}

/* Notes the success of CLONE in the range: all octets are copied, and on stable storage. */
static int
copy_take_clone(struct rr_nfs_pending *pending)
{
	pending->range->copied = pending->range->length;
	pending->range->stored = RPCRDMA_NFS_FILE_SYNC;
	return 0;
}

int
rpcrdma_nfs_clone(
	struct rpcrdma_nfs *nfs, struct rpcrdma_nfs_range *range, const struct rpcrdma_nfs_then *then)
{
	struct rr_nfs_pending *pending;
	int error = copy_start(nfs, range, true, then, &pending);

	if (error)
		return error;
	pending->take = copy_take_clone;
	pending->op.copy = (struct rr_vfs_copy){
		.to_offset = range->to_offset,
		.from_offset = range->from_offset,
		.length = range->length,
	};
	return rr_nfs_pending_begin(pending, &copy_clone, then);
}

/* ---- One server ---- */

/* Tells whether both clients are connected to the same address and port. */
static bool
copy_is_same_address(const struct rpcrdma_nfs *a, const struct rpcrdma_nfs *b)
{
	const struct sockaddr *x = (const struct sockaddr *)&a->config.rpc.address,
			      *y = (const struct sockaddr *)&b->config.rpc.address;
	uint8_t here[16], there[16];

	return rr_address_octets(x, here) && rr_address_octets(y, there) &&
	       memcmp(here, there, sizeof(here)) == 0 && rr_address_port(x) == rr_address_port(y);
}

/* Tells whether both clients, with version 4.2, use one server: their servers say so, and both clients are
 * connected to the same address. RFC 8881, 2.10.5.1: "the client does not have to trust the servers' claims".
 * Without the check of the address, a server that falsely claims to be another server could make that other
 * server copy a file. */
bool
rpcrdma_nfs_is_same_server(const struct rpcrdma_nfs *a, const struct rpcrdma_nfs *b)
{
	return a && b && rr_nfs_is_newer(a) && rr_nfs_is_newer(b) && rr_v4_is_same_server(a->v4, b->v4) &&
	       copy_is_same_address(a, b);
}
