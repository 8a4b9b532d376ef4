/* SPDX-License-Identifier: BSD-3-Clause */
/* ALLOCATE, DEALLOCATE, SEEK, IO_ADVISE: RFC 7862, sections 15.1, 15.4, 15.11 and 15.5. */
#include "server/nfs4/ops.h"
#include "server/nfs4/support.h"

/* Runs when the storage has allocated or deallocated: returns the status of ALLOCATE or DEALLOCATE. */
static uint32_t
space_done(struct rr_nfs4_compound *c)
{
	return rr_nfs4_status(c->vfs_status);
}

/* ALLOCATE4args and DEALLOCATE4args have the same members in the same order. */
_Static_assert(sizeof(ALLOCATE4args) == sizeof(DEALLOCATE4args) &&
		       offsetof(ALLOCATE4args, aa_offset) == offsetof(DEALLOCATE4args, da_offset) &&
		       offsetof(ALLOCATE4args, aa_length) == offsetof(DEALLOCATE4args, da_length),
	"alike");

/* Runs when the attributes of the file are known: checks type and stateid, and has the storage allocate or
 * deallocate the range. */
static uint32_t
space_typed(struct rr_nfs4_compound *c)
{
	const ALLOCATE4args *args = &c->op->u.opallocate;
	struct rr_vfs *vfs = c->server->vfs;
	struct rr_vfs_space *space;
	nfsstat4 status;

	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	status = rr_nfs4_regular_only(&c->current);
	/* The arguments of DEALLOCATE have the same form as those of ALLOCATE. */
	if (status == NFS4_OK)
		status = rr_nfs4_use_stateid(c, &c->current, &args->aa_stateid, OPEN4_SHARE_ACCESS_WRITE, 0);
	if (status != NFS4_OK)
		return status;
	space = &rr_nfs4_vfs_begin(c)->space;
	space->object = rr_nfs4_object_as(c, &c->current, 0);
	space->offset = args->aa_offset;
	space->length = args->aa_length;
	if (c->op->argop == OP_ALLOCATE)
		return rr_nfs4_vfs(c, rr_vfs_allocate(vfs, space), space_done);
	return rr_nfs4_vfs(c, rr_vfs_deallocate(vfs, space), space_done);
}

/* Carries out ALLOCATE and DEALLOCATE, whose arguments are alike. A length of 0 gets NFS4ERR_INVAL, and a
 * range that no file can have gets NFS4ERR_FBIG: RFC 7862, 11.2, has these errors for both operations. */
uint32_t
rr_op_allocate(struct rr_nfs4_compound *c)
{
	const ALLOCATE4args *args = &c->op->u.opallocate;

	if (args->aa_length == 0)
		return NFS4ERR_INVAL;
	if (args->aa_offset > INT64_MAX || args->aa_length > INT64_MAX - args->aa_offset)
		return NFS4ERR_FBIG;
	return rr_nfs4_attributes(c, &c->current, space_typed);
}

uint32_t
rr_op_deallocate(struct rr_nfs4_compound *c)
{
	return rr_op_allocate(c);
}

/* Runs when the storage has found the next data or hole: fills the result of SEEK. */
static uint32_t
op_seek_done(struct rr_nfs4_compound *c)
{
	seek_res4 *ok = &c->res.u.opseek.u.resok4;

	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	ok->sr_offset = c->vfs.seek.found;
	ok->sr_eof = c->vfs.seek.eof;
	return NFS4_OK;
}

/* Runs when the attributes of the file are known: checks type and stateid, and has the storage look for the
 * next data or hole. */
static uint32_t
op_seek_typed(struct rr_nfs4_compound *c)
{
	const SEEK4args *args = &c->op->u.opseek;
	struct rr_vfs *vfs = c->server->vfs;
	struct rr_vfs_seek *seek;
	nfsstat4 status;

	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	status = rr_nfs4_regular(&c->current);
	if (status == NFS4_OK)
		status = rr_nfs4_use_stateid(c, &c->current, &args->sa_stateid, OPEN4_SHARE_ACCESS_READ, 0);
	/* An open for writing only is enough, as for lseek(2). RFC 8881, 9.1.2, lets a server allow as much
	 * to READ, whose rules SEEK has (RFC 7862, 15.11.3). */
	if (status == NFS4ERR_OPENMODE)
		status = rr_nfs4_use_stateid(c, &c->current, &args->sa_stateid, OPEN4_SHARE_ACCESS_WRITE, 0);
	if (status != NFS4_OK)
		return status;
	seek = &rr_nfs4_vfs_begin(c)->seek;
	seek->object = rr_nfs4_object_as(c, &c->current, 0);
	seek->offset = args->sa_offset;
	seek->data = args->sa_what == NFS4_CONTENT_DATA;
	return rr_nfs4_vfs(c, rr_vfs_seek(vfs, seek), op_seek_done);
}

/* Carries out SEEK, which looks for data or for a hole. RFC 7862, 15.11.3: any other sa_what gets
 * NFS4ERR_UNION_NOTSUPP, and an offset beyond the end of the file gets NFS4ERR_NXIO. */
uint32_t
rr_op_seek(struct rr_nfs4_compound *c)
{
	const SEEK4args *args = &c->op->u.opseek;

	if (args->sa_what != NFS4_CONTENT_DATA && args->sa_what != NFS4_CONTENT_HOLE)
		return NFS4ERR_UNION_NOTSUPP;
	if (args->sa_offset > INT64_MAX)
		return NFS4ERR_NXIO;
	return rr_nfs4_attributes(c, &c->current, op_seek_typed);
}

/* Runs when the attributes of the file are known: checks type and stateid. The advice itself is ignored. */
static uint32_t
op_advise_typed(struct rr_nfs4_compound *c)
{
	nfsstat4 status;

	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	status = rr_nfs4_regular(&c->current);
	return status == NFS4_OK
		       ? rr_nfs4_use_stateid(c, &c->current, &c->op->u.opio_advise.iaa_stateid, 0, 0)
		       : status;
}

/* Carries out IO_ADVISE. RFC 7862, 15.5.3: the result lists the hints that the server follows. This server
 * follows no hint and returns an empty list: the page cache reads ahead without hints. */
uint32_t
rr_op_io_advise(struct rr_nfs4_compound *c)
{
	return rr_nfs4_attributes(c, &c->current, op_advise_typed);
}
