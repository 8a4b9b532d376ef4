/* SPDX-License-Identifier: BSD-3-Clause */
/* READ and READLINK: RFC 8881, sections 18.22 and 18.24. RFC 8267, section 6.1, says how their data is
 * placed. */
#include <string.h>

#include "base/checked.h"
#include "base/share/pool.h"
#include "server/nfs4/ops.h"
#include "server/nfs4/size.h"
#include "server/nfs4/support.h"

/*
 * READ_SHORT: octets that a READ gets when the pool has no memory for more. READ_BESIDE: octets of the result
 * beside the data: number, status, eof, length. READ_MAX: the most octets of a READ.
 */
enum { READ_SHORT = 64 << 10, READ_BESIDE = 16, READ_MAX = 1 << 20 };

/* Returns the number of READs and READLINKs in front of this operation. RFC 8267, 6.4.1: each of them may use
 * a Write chunk for its data, so this number is the index of the Write chunk for this operation. */
static uint32_t
read_place(const struct rr_nfs4_compound *c)
{
	uint32_t place = 0;

	for (uint32_t i = 0; i < c->index; i++)
		place += c->args->ops[i].argop == OP_READ || c->args->ops[i].argop == OP_READLINK;
	return place;
}

/* Returns how many octets of data the reply can still take: in a Write chunk if there is one for this
 * operation, else in the stream. */
static uint32_t
read_room(const struct rr_nfs4_compound *c)
{
	const struct rpcrdma_request *request = c->request;
	uint32_t room = rr_nfs4_size_left(c);

	room = room > READ_BESIDE ? (room - READ_BESIDE) & ~3u : 0;
	if (request->places && read_place(c) < request->exchange->write_chunks)
		return (uint32_t)rr_min(room, request->item_room);
	return (uint32_t)rr_min(room, request->stream_room);
}

/* Returns the size of the buffer that the first READ with data takes from the pool. All READs of the compound
 * share this buffer: it has room for `size` octets and for the READs that follow, but no more than READ_MAX
 * octets unless `size` is larger. */
static uint32_t
read_wanted(const struct rr_nfs4_compound *c, uint32_t size)
{
	uint64_t wanted = size;

	for (uint32_t i = c->index + 1; i < c->args->decoded; i++) {
		if (c->args->ops[i].argop == OP_READ)
			/* 8: read_memory() rounds the beginning of each READ's part up. */
			wanted += rr_min(c->args->ops[i].u.opread.count, READ_MAX) + 8;
	}
	return (uint32_t)rr_min(wanted, size > READ_MAX ? size : READ_MAX);
}

/* Returns memory for `size` octets of data, when the storage asks for it: the next part of the compound's
 * buffer, which the first READ takes from the pool. Returns NULL if there is too little memory. */
static void *
read_memory(struct rr_vfs_read *read, uint32_t size)
{
	struct rr_nfs4_compound *c = rr_container(read, struct rr_nfs4_compound, vfs.read);
	struct rpcrdma_request *request = c->request;
	uint32_t at = c->payload_used;

	if (!request->payload) {
		uint32_t wanted = read_wanted(c, size);

		request->payload = rr_pool_get(c->server->pool, request->party, wanted);
		c->payload_size = request->payload ? wanted : 0;
		at = 0;
	}
	if (!request->payload || c->payload_size - at < size)
		return NULL;
	c->payload_used = (uint32_t)rr_min(c->payload_size, at + (((uint64_t)size + 7) & ~UINT64_C(7)));
	return (uint8_t *)request->payload + at;
}

static uint32_t read_begin(struct rr_nfs4_compound *c);

/* Runs when the pool has memory again: begins the READ again. */
static void
read_wake(struct rr_pool_waiter *waiter)
{
	struct rr_nfs4_compound *c = rr_container(waiter, struct rr_nfs4_compound, waiter);

	rr_nfs4_resume_with(c, read_begin(c));
}

/* Handles a READ for whose data there is no memory: begins it again with fewer octets, as many as the rest of
 * the compound's buffer has, or READ_SHORT if there is no buffer yet. If the pool has no memory even for
 * these, the READ waits until other calls give memory back. Returns NFS4ERR_REP_TOO_BIG if the READs in front
 * have used up the largest buffer that a compound gets, and NFS4ERR_DELAY if they have used up a smaller one,
 * or if the whole pool is free and still too small. */
static uint32_t
read_without_memory(struct rr_nfs4_compound *c)
{
	uint32_t left = c->payload_size - c->payload_used;

	if (c->request->payload) {
		if (left == 0 || c->own.read.size <= left)
			return c->payload_size < READ_MAX ? NFS4ERR_DELAY : NFS4ERR_REP_TOO_BIG;
		c->own.read.size = left;
		return read_begin(c);
	}
	if (c->own.read.size > READ_SHORT) {
		c->own.read.size = READ_SHORT;
		return read_begin(c);
	}
	if (rr_pool_is_idle(c->server->pool))
		return NFS4ERR_DELAY;
	c->waiter.wake = read_wake;
	rr_pool_wait(c->server->pool, c->request->party, &c->waiter);
	return RR_NFS4_PENDING;
}

/* Runs when the storage has read: fills the result of the READ. Without memory for the data,
 * read_without_memory() goes on. */
static uint32_t
read_done(struct rr_nfs4_compound *c)
{
	const struct rr_vfs_read *read = &c->vfs.read;
	READ4resok *ok = &c->res.u.opread.u.resok4;

	if (c->vfs_status == RR_VFS_NO_BUFFER)
		return read_without_memory(c);
	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	rr_gate_count(c->server->gate, &c->identity, (struct rr_gate_count){ .octets_read = read->length });
	ok->eof = read->eof;
	ok->data = (struct rpcrdma_bytes){ read->data, read->length };
	return NFS4_OK;
}

/* Has the storage read up to c->own.read.size octets at the offset of the READ, by the open in c->opened[0]
 * if there is one, and goes on with read_done(). The storage gets memory for the data from read_memory(). */
static uint32_t
read_begin(struct rr_nfs4_compound *c)
{
	const READ4args *args = &c->op->u.opread;
	struct rr_vfs_read *read = &rr_nfs4_vfs_begin_of(c, sizeof(*read))->read;
	struct rr_vfs *vfs = c->server->vfs;

	read->object = rr_nfs4_object_as(c, &c->current, 0);
	read->offset = args->offset;
	read->size = c->own.read.size;
	read->memory = read_memory;
	return rr_nfs4_vfs(c, rr_vfs_read(vfs, read), read_done);
}

/* Runs when the storage has said whether the caller may read the file: stores the answer in c->vfs_status,
 * and goes on with c->own.read.then. */
static uint32_t
read_asked(struct rr_nfs4_compound *c)
{
	if (c->vfs_status == RR_VFS_OK && !(c->vfs.access.granted & RR_VFS_MAY_READ))
		c->vfs_status = RR_VFS_ACCESS;
	return c->own.read.then(c);
}

uint32_t
rr_nfs4_may_read(struct rr_nfs4_compound *c, rr_nfs4_step *then)
{
	struct rr_vfs *vfs = c->server->vfs;
	struct rr_vfs_access *access;

	c->vfs_status = RR_VFS_OK;
	if (c->opened[0])
		return then(c);
	c->own.read.then = then;
	access = &rr_nfs4_vfs_begin(c)->access;
	access->object = rr_nfs4_object(&c->current);
	access->asked = RR_VFS_MAY_READ;
	return rr_nfs4_vfs(c, rr_vfs_access(vfs, access), read_asked);
}

/* Answers a READ that reads no octet, as its count is 0 or its offset is beyond the end of any file.
 * c->vfs_status tells whether the caller may read. */
static uint32_t
read_nothing(struct rr_nfs4_compound *c)
{
	const READ4args *args = &c->op->u.opread;

	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	c->res.u.opread.u.resok4 = (READ4resok){
		.eof = c->current.known && args->offset >= c->current.attributes.size,
	};
	return NFS4_OK;
}

/* Runs when the attributes of the file are known: checks type and stateid, and begins to read. */
static uint32_t
read_typed(struct rr_nfs4_compound *c)
{
	const READ4args *args = &c->op->u.opread;
	nfsstat4 status;

	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	status = rr_nfs4_regular(&c->current);
	if (status == NFS4_OK)
		status = rr_nfs4_use_stateid(c, &c->current, &args->stateid, OPEN4_SHARE_ACCESS_READ, 0);
	if (status != NFS4_OK)
		return status;
	/* RFC 8881, 18.22.3: at or beyond the end, no octet and eof; and of a count of 0: "the READ succeeds
	 * and returns zero bytes of data again subject to access permissions checking". The storage knows
	 * the end of the file, but takes no offset beyond INT64_MAX. */
	if (args->count == 0 || args->offset > INT64_MAX)
		return rr_nfs4_may_read(c, read_nothing);
	return read_begin(c);
}

uint32_t
rr_op_read(struct rr_nfs4_compound *c)
{
	const READ4args *args = &c->op->u.opread;

	c->own.read.size = (uint32_t)rr_min(rr_min(args->count, READ_MAX), read_room(c));
	/* A READ without room for any data fails: an answer of no octets would have the client ask again for
	 * ever. */
	if (args->count > 0 && c->own.read.size == 0)
		return NFS4ERR_REP_TOO_BIG;
	/* If the stateid was given for this very filehandle, its open says that the file is regular: the
	 * attributes are not needed. Else the attributes say to which file the filehandle belongs, and
	 * read_typed() looks at the stateid again. */
	if (!c->current.known && args->count > 0 && args->offset <= INT64_MAX &&
		rr_nfs4_use_stateid(c, &c->current, &args->stateid, OPEN4_SHARE_ACCESS_READ, 0) == NFS4_OK &&
		c->opened[0])
		return read_begin(c);
	return rr_nfs4_attributes(c, &c->current, read_typed);
}

/* Runs when the storage has read the target of the link: the target becomes the result of READLINK. */
static uint32_t
op_readlink_done(struct rr_nfs4_compound *c)
{
	struct rr_vfs_readlink *readlink = &c->vfs.readlink;

	/* For an object that is no link, the storage answers RR_VFS_WRONG_TYPE. RFC 8881, 18.24.4: "The
	 * server should return the error NFS4ERR_WRONG_TYPE if the object is not of type NF4LNK." */
	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	c->res.u.opreadlink.u.resok4.link = (struct rpcrdma_bytes){ readlink->target, readlink->length };
	return NFS4_OK;
}

/* Carries out READLINK. The target may be sent by RDMA from where it lies, so it stays at its place, at the
 * end of the arena, until the reply is sent: c->arena_end keeps that part of the arena. */
uint32_t
rr_op_readlink(struct rr_nfs4_compound *c)
{
	struct rr_vfs *vfs = c->server->vfs;
	struct rr_vfs_readlink *readlink;
	char *target = rr_nfs4_alloc(c, RR_VFS_TARGET_MAX + 1);

	if (!target)
		return NFS4ERR_REP_TOO_BIG;
	c->arena_end = (uint8_t *)target;
	readlink = &rr_nfs4_vfs_begin(c)->readlink;
	readlink->object = rr_nfs4_object(&c->current);
	readlink->target = target;
	readlink->size = RR_VFS_TARGET_MAX;
	return rr_nfs4_vfs(c, rr_vfs_readlink(vfs, readlink), op_readlink_done);
}
