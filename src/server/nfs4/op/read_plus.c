/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * READ_PLUS: RFC 7862, section 15.10. The answer is a hole, or the data up to the next hole; the client asks
 * on from there.
 *
 * RFC 8267, 6.1, has no item for READ_PLUS: its data is never in a Write chunk, but in the stream, which over
 * RDMA may be a Reply chunk.
 */
#include <stddef.h>

#include "base/checked.h"
#include "server/nfs4/ops.h"
#include "server/nfs4/size.h"
#include "server/nfs4/support.h"

/* PLUS_HEAD: octets of the result beside the data: number and status; eof; count; kind of content; offset;
 * and length, taken as eight octets as in a hole. PLUS_DATA_MAX: the most octets of data in an answer. */
enum { PLUS_HEAD = 8 + 4 + 4 + 4 + 8 + 8, PLUS_DATA_MAX = 24 << 10 };

/* Octets of the arena that the answer needs beside the data, with room to spare for alignment. */
enum { PLUS_BESIDE = PLUS_HEAD + 4 + sizeof(read_plus_content) + 4 * _Alignof(max_align_t) };

struct plus_work {
	uint64_t end;  /* offset behind the last octet asked for; at most the size of the file */
	uint8_t *data; /* memory of `size` octets for the data */
	uint32_t size;
};

/* Answers the READ_PLUS with a hole from the offset asked for to `until`, or to work->end, the end of the
 * range, if that comes first. As work->end lies within the file, a hole never reaches beyond the end of the
 * file. */
static uint32_t
plus_hole(struct rr_nfs4_compound *c, uint64_t until)
{
	const struct plus_work *work = c->op_memory;
	read_plus_res4 *ok = &c->res.u.opread_plus.u.rp_resok4;
	read_plus_content *content = rr_nfs4_alloc(c, sizeof(*content));
	uint64_t offset = c->op->u.opread_plus.rpa_offset;

	if (!content)
		return NFS4ERR_DELAY;
	content->rpc_content = NFS4_CONTENT_HOLE;
	content->u.rpc_hole.di_offset = offset;
	content->u.rpc_hole.di_length = rr_min(until, work->end) - offset;
	ok->rpr_eof = rr_min(until, work->end) >= c->current.attributes.size;
	ok->rpr_contents.count = 1;
	ok->rpr_contents.values = content;
	return NFS4_OK;
}

/* Runs when the storage has read: answers the READ_PLUS with the data. */
static uint32_t
plus_read(struct rr_nfs4_compound *c)
{
	const struct rr_vfs_read *read = &c->vfs.read;
	read_plus_res4 *ok = &c->res.u.opread_plus.u.rp_resok4;
	read_plus_content *content = rr_nfs4_alloc(c, sizeof(*content));

	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	if (!content)
		return NFS4ERR_DELAY;
	rr_gate_count(c->server->gate, &c->identity, (struct rr_gate_count){ .octets_read = read->length });
	content->rpc_content = NFS4_CONTENT_DATA;
	content->u.rpc_data.d_offset = c->op->u.opread_plus.rpa_offset;
	content->u.rpc_data.d_data = (struct rpcrdma_bytes){ read->data, read->length };
	ok->rpr_eof = read->eof;
	ok->rpr_contents.count = read->length > 0 ? 1 : 0;
	ok->rpr_contents.values = content;
	return NFS4_OK;
}

/* Has the storage read the data from the offset asked for up to work->end, but no more than the memory
 * work->data takes. */
static uint32_t
plus_data(struct rr_nfs4_compound *c)
{
	const struct plus_work *work = c->op_memory;
	struct rr_vfs_read *read = &rr_nfs4_vfs_begin(c)->read;
	struct rr_vfs *vfs = c->server->vfs;

	read->object = rr_nfs4_object_as(c, &c->current, 0);
	read->offset = c->op->u.opread_plus.rpa_offset;
	read->data = work->data;
	read->size = (uint32_t)rr_min(work->size, work->end - read->offset);
	return rr_nfs4_vfs(c, rr_vfs_read(vfs, read), plus_read);
}

/* Runs when the storage has said where the data ends, at the next hole: reads the data up to that hole. If
 * the storage cannot find the hole, or the hole lies behind work->end, reads up to work->end, the end of the
 * range that the client asks for. */
static uint32_t
plus_found_hole(struct rr_nfs4_compound *c)
{
	struct plus_work *work = c->op_memory;

	if (c->vfs_status == RR_VFS_OK && c->vfs.seek.found > c->op->u.opread_plus.rpa_offset)
		work->end = rr_min(work->end, c->vfs.seek.found);
	return plus_data(c);
}

/* Asks the storage where the next data (`data` is true) or the next hole (`data` is false) begins, from the
 * offset asked for on, and goes on with `then`. */
static uint32_t
plus_seek(struct rr_nfs4_compound *c, bool data, rr_nfs4_step *then)
{
	struct rr_vfs_seek *seek = &rr_nfs4_vfs_begin(c)->seek;
	struct rr_vfs *vfs = c->server->vfs;

	seek->object = rr_nfs4_object_as(c, &c->current, 0);
	seek->offset = c->op->u.opread_plus.rpa_offset;
	seek->data = data;
	return rr_nfs4_vfs(c, rr_vfs_seek(vfs, seek), then);
}

/* Runs when the storage has said where the next data is: answers with the hole in front of the data; if there
 * is no hole, looks for the end of the data. If the storage cannot find the data, the whole range is read as
 * data. */
static uint32_t
plus_found_data(struct rr_nfs4_compound *c)
{
	uint64_t offset = c->op->u.opread_plus.rpa_offset;

	if (c->vfs_status != RR_VFS_OK)
		return plus_data(c);
	if (c->vfs.seek.found > offset)
		return plus_hole(c, c->vfs.seek.found);
	return plus_seek(c, false, plus_found_hole);
}

/* Answers a READ_PLUS that reads no octet, as its count is 0 or its offset is not within the file.
 * c->vfs_status tells whether the caller may read. */
static uint32_t
plus_nothing(struct rr_nfs4_compound *c)
{
	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	c->res.u.opread_plus.u.rp_resok4.rpr_eof =
		c->op->u.opread_plus.rpa_offset >= c->current.attributes.size;
	return NFS4_OK;
}

/* Runs when the attributes of the file are known: checks type and stateid, and asks the storage for the first
 * data in the range. */
static uint32_t
plus_typed(struct rr_nfs4_compound *c)
{
	const READ_PLUS4args *args = &c->op->u.opread_plus;
	struct plus_work *work = c->op_memory;
	nfsstat4 status;

	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	status = rr_nfs4_regular(&c->current);
	if (status == NFS4_OK)
		status = rr_nfs4_use_stateid(c, &c->current, &args->rpa_stateid, OPEN4_SHARE_ACCESS_READ, 0);
	if (status != NFS4_OK)
		return status;
	if (args->rpa_count == 0 || args->rpa_offset >= c->current.attributes.size)
		return rr_nfs4_may_read(c, plus_nothing);
	work->end = rr_min(args->rpa_offset + args->rpa_count, c->current.attributes.size);
	return plus_seek(c, true, plus_found_data);
}

uint32_t
rr_op_read_plus(struct rr_nfs4_compound *c)
{
	uint32_t room = rr_nfs4_size_left(c);
	struct plus_work *work = c->op_memory = rr_nfs4_alloc(c, sizeof(*work));

	/* The reply must have room for at least some octets of data, so that the client makes progress. */
	if (room <= PLUS_HEAD + 4)
		return NFS4ERR_REP_TOO_BIG;
	if (!work)
		return NFS4ERR_DELAY;
	work->size = (uint32_t)rr_min(
		rr_min(PLUS_DATA_MAX, (room - PLUS_HEAD) & ~3u), c->op->u.opread_plus.rpa_count);
	/* The data is in the arena twice: where it is read to, and in the result. */
	if (rr_nfs4_left(c) <= PLUS_BESIDE + 8)
		return NFS4ERR_REP_TOO_BIG;
	work->size = (uint32_t)rr_min(work->size, (rr_nfs4_left(c) - PLUS_BESIDE) / 2 & ~3u);
	work->data = rr_nfs4_alloc(c, work->size);
	return work->data ? rr_nfs4_attributes(c, &c->current, plus_typed) : NFS4ERR_DELAY;
}
