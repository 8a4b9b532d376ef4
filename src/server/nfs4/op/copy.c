/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * COPY and CLONE within this server: RFC 7862, sections 15.2 and 15.13. A copy is always synchronous and
 * consecutive, and may end early where the storage stopped: the client goes on from there.
 */
#include <string.h>

#include "server/nfs4/ops.h"
#include "server/nfs4/support.h"

/* Runs when the storage has copied: fills the result of COPY. */
static uint32_t
copy_done(struct rr_nfs4_compound *c)
{
	COPY4resok *ok = &c->res.u.opcopy.u.cr_resok4;

	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	ok->cr_response.wr_count = c->vfs.copy.copied;
	/* The storage does not bring a copy to stable storage: the client has to send COMMIT. */
	ok->cr_response.wr_committed = UNSTABLE4;
	memcpy(ok->cr_response.wr_writeverf, &c->vfs.copy.verifier, sizeof(verifier4));
	ok->cr_requirements = (copy_requirements4){ true, true }; /* consecutive, synchronous */
	return NFS4_OK;
}

/* Runs when the storage has cloned: returns the status of CLONE. */
static uint32_t
op_clone_done(struct rr_nfs4_compound *c)
{
	return rr_nfs4_status(c->vfs_status);
}

/* Checks that both files are regular files, and gets the opens of both stateids: that of `from` into
 * c->opened[0], that of `to` into c->opened[1]. */
static nfsstat4
copy_check(struct rr_nfs4_compound *c, const stateid4 *from, const stateid4 *to)
{
	nfsstat4 status = rr_nfs4_regular_only(&c->saved);

	if (status == NFS4_OK)
		status = rr_nfs4_regular_only(&c->current);
	if (status == NFS4_OK)
		status = rr_nfs4_use_stateid(c, &c->saved, from, OPEN4_SHARE_ACCESS_READ, 0);
	if (status == NFS4_OK)
		status = rr_nfs4_use_stateid(c, &c->current, to, OPEN4_SHARE_ACCESS_WRITE, 1);
	return status;
}

/* Fills and returns the storage's structure for a copy or clone from the file of the saved filehandle to the
 * file of the current filehandle. */
static struct rr_vfs_copy *
copy_begin(struct rr_nfs4_compound *c, uint64_t from_offset, uint64_t to_offset, uint64_t length)
{
	struct rr_vfs_copy *copy = &rr_nfs4_vfs_begin(c)->copy;

	copy->from = rr_nfs4_object_as(c, &c->saved, 0);
	copy->to = rr_nfs4_object_as(c, &c->current, 1);
	copy->from_offset = from_offset;
	copy->to_offset = to_offset;
	copy->length = length;
	return copy;
}

/* Tells whether the saved and the current filehandle belong to the same file. */
static bool
copy_is_same(const struct rr_nfs4_compound *c)
{
	return rr_locks_is_same(&c->saved.attributes.id, &c->current.attributes.id);
}

/* Runs when the attributes of both files are known: checks stateids, files and range, and has the storage
 * copy. RFC 7862, 15.2.3: "If the source offset or the source offset plus count is greater than the size of
 * the source file, the operation MUST fail with NFS4ERR_INVAL." A copy from a file to the same file gets this
 * error, too. */
static uint32_t
copy_typed(struct rr_nfs4_compound *c)
{
	const COPY4args *args = &c->op->u.opcopy;
	struct rr_vfs *vfs = c->server->vfs;
	uint64_t size = c->saved.attributes.size;
	nfsstat4 status;

	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	status = copy_check(c, &args->ca_src_stateid, &args->ca_dst_stateid);
	if (status != NFS4_OK)
		return status;
	if (copy_is_same(c) || args->ca_src_offset > size || args->ca_count > size - args->ca_src_offset)
		return NFS4ERR_INVAL;
	return rr_nfs4_vfs(c,
		rr_vfs_copy(vfs, copy_begin(c, args->ca_src_offset, args->ca_dst_offset, args->ca_count)),
		copy_done);
}

/* Runs when the attributes of both files are known: checks stateids, files and range, and has the storage
 * clone. */
static uint32_t
op_clone_typed(struct rr_nfs4_compound *c)
{
	const CLONE4args *args = &c->op->u.opclone;
	struct rr_vfs *vfs = c->server->vfs;
	uint64_t size = c->saved.attributes.size;
	nfsstat4 status;

	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	status = copy_check(c, &args->cl_src_stateid, &args->cl_dst_stateid);
	if (status != NFS4_OK)
		return status;
	if (args->cl_src_offset > size || args->cl_count > size - args->cl_src_offset)
		return NFS4ERR_INVAL;
	return rr_nfs4_vfs(c,
		rr_vfs_clone(vfs, copy_begin(c, args->cl_src_offset, args->cl_dst_offset, args->cl_count)),
		op_clone_done);
}

/* Runs when the attributes of the source are known: reads the attributes of the target, the file of the
 * current filehandle. */
static uint32_t
copy_target(struct rr_nfs4_compound *c)
{
	rr_nfs4_step *then = c->op->argop == OP_COPY ? copy_typed : op_clone_typed;

	return c->vfs_status == RR_VFS_OK ? rr_nfs4_attributes(c, &c->current, then)
					  : rr_nfs4_status(c->vfs_status);
}

/* Begins COPY or CLONE: reads the attributes of the source, the file of the saved filehandle. If the saved
 * filehandle is a directory above the exports, NFS4ERR_WRONG_TYPE is returned. */
static uint32_t
copy_source(struct rr_nfs4_compound *c)
{
	if (c->saved.kind == RR_NFS4_FH_PSEUDO)
		return NFS4ERR_WRONG_TYPE;
	return rr_nfs4_attributes(c, &c->saved, copy_target);
}

/* Carries out COPY within this server. A copy from another server gets NFS4ERR_NOTSUPP: RFC 7862, 15.2.3,
 * gives this error to a server that does not support inter-server copies. */
uint32_t
rr_op_copy(struct rr_nfs4_compound *c)
{
	return c->op->u.opcopy.ca_source_server.count > 0 ? NFS4ERR_NOTSUPP : copy_source(c);
}

uint32_t
rr_op_clone(struct rr_nfs4_compound *c)
{
	return copy_source(c);
}

/* Answers OFFLOAD_STATUS and OFFLOAD_CANCEL (RFC 7862, 15.9 and 15.8) with NFS4ERR_BAD_STATEID: each copy is
 * over when COPY is answered, so no stateid names a copy under way. */
uint32_t
rr_op_offload(struct rr_nfs4_compound *c)
{
	(void)c;
	return NFS4ERR_BAD_STATEID;
}
