/* SPDX-License-Identifier: BSD-3-Clause */
/* GETATTR, VERIFY, NVERIFY, ACCESS: RFC 8881, sections 18.7, 18.31, 18.15 and 18.1. */
#include "server/nfs4/gather.h"
#include "server/nfs4/ops.h"
#include "server/nfs4/support.h"

/* Runs when the attributes are known: writes the whole result of GETATTR (number, status and attributes) into
 * the reply, so that compound.c does not encode it. */
static uint32_t
op_getattr_gathered(struct rr_nfs4_compound *c)
{
	struct rr_attr_mask mask = rr_attr_mask(&c->op->u.opgetattr.attr_request);

	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	rpcrdma_put_u32(&c->writer, OP_GETATTR);
	rpcrdma_put_u32(&c->writer, NFS4_OK);
	rr_attr_put(&c->writer, &mask, &c->own.gathered->source);
	c->encoded = true;
	return NFS4_OK;
}

uint32_t
rr_op_getattr(struct rr_nfs4_compound *c)
{
	struct rr_attr_mask mask = rr_attr_mask(&c->op->u.opgetattr.attr_request);

	/* RFC 8881, 5.5: "If a client attempts to ... get a set-only attributes, the server MUST return
	 * NFS4ERR_INVAL." */
	if (rr_attr_has_write_only(&mask, c->args->minor->number))
		return NFS4ERR_INVAL;
	return rr_nfs4_gather(c, &c->current, &mask, op_getattr_gathered);
}

/* Compares the attributes in the arguments with those of the object, for VERIFY and NVERIFY; both have
 * arguments of the same form. Returns NFS4ERR_SAME, NFS4ERR_NOT_SAME or another error. */
static nfsstat4
op_verify_compare(struct rr_nfs4_compound *c)
{
	const fattr4 *fattr = &c->op->u.opverify.obj_attributes;
	struct rr_attr_mask mask = rr_attr_mask(&fattr->attrmask);
	uint32_t size =
		rr_attr_size(&mask, c->args->minor->number) + (c->own.gathered->named ? RR_ATTR_NAMES : 0);
	void *memory = rr_nfs4_alloc(c, size);

	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	return memory ? rr_attr_compare(fattr, &c->own.gathered->source, memory, size) : NFS4ERR_DELAY;
}

/* Runs when the attributes of the object are known: VERIFY succeeds if they equal the attributes in its
 * arguments. */
static uint32_t
op_verify_gathered(struct rr_nfs4_compound *c)
{
	nfsstat4 status = op_verify_compare(c);

	return status == NFS4ERR_SAME ? NFS4_OK : status;
}

/* Runs when the attributes of the object are known: NVERIFY succeeds if they differ from the attributes in
 * its arguments. */
static uint32_t
op_nverify_gathered(struct rr_nfs4_compound *c)
{
	nfsstat4 status = op_verify_compare(c);

	return status == NFS4ERR_NOT_SAME ? NFS4_OK : status;
}

/* Checks that the attributes in the arguments of VERIFY or NVERIFY can be compared, reads the same attributes
 * of the object, and then runs `then`. */
static uint32_t
op_verify_begin(struct rr_nfs4_compound *c, rr_nfs4_step *then)
{
	const fattr4 *fattr = &c->op->u.opverify.obj_attributes;
	struct rr_attr_mask mask = rr_attr_mask(&fattr->attrmask);
	nfsstat4 status = rr_attr_comparable(fattr, c->args->minor->number);

	return status == NFS4_OK ? rr_nfs4_gather(c, &c->current, &mask, then) : status;
}

uint32_t
rr_op_verify(struct rr_nfs4_compound *c)
{
	return op_verify_begin(c, op_verify_gathered);
}

uint32_t
rr_op_nverify(struct rr_nfs4_compound *c)
{
	return op_verify_begin(c, op_nverify_gathered);
}

/* Runs when the storage has said which access the caller has: fills the result of ACCESS. */
static uint32_t
op_access_done(struct rr_nfs4_compound *c)
{
	ACCESS4resok *ok = &c->res.u.opaccess.u.resok4;

	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	ok->supported = c->vfs.access.supported;
	ok->access = c->vfs.access.granted;
	return NFS4_OK;
}

uint32_t
rr_op_access(struct rr_nfs4_compound *c)
{
	uint32_t asked = c->op->u.opaccess.access;
	ACCESS4resok *ok = &c->res.u.opaccess.u.resok4;
	struct rr_vfs *vfs = c->server->vfs;
	struct rr_vfs_access *access;

	if (asked & ~c->args->minor->access)
		return NFS4ERR_INVAL;
	/* All callers may read and search the directories above the exports; nobody may change them. */
	if (c->current.kind == RR_NFS4_FH_PSEUDO) {
		ok->supported = asked & (ACCESS4_READ | ACCESS4_LOOKUP | ACCESS4_MODIFY | ACCESS4_EXTEND |
						ACCESS4_DELETE);
		ok->access = asked & (ACCESS4_READ | ACCESS4_LOOKUP);
		return NFS4_OK;
	}
	/* The bits RR_VFS_MAY_* have the values of ACCESS4_*. */
	access = &rr_nfs4_vfs_begin(c)->access;
	access->object = rr_nfs4_object(&c->current);
	access->asked = asked;
	return rr_nfs4_vfs(c, rr_vfs_access(vfs, access), op_access_done);
}
