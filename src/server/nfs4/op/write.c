/* SPDX-License-Identifier: BSD-3-Clause */
/* WRITE, COMMIT, SETATTR: RFC 8881, sections 18.32, 18.3 and 18.30. */
#include <string.h>

#include "server/nfs4/errors.h"
#include "server/nfs4/names.h"
#include "server/nfs4/ops.h"
#include "server/nfs4/support.h"

static const enum rr_vfs_stable write_stable[] = {
	[UNSTABLE4] = RR_VFS_UNSTABLE,
	[DATA_SYNC4] = RR_VFS_DATA_SYNC,
	[FILE_SYNC4] = RR_VFS_FILE_SYNC,
};

stable_how4
rr_nfs4_committed(enum rr_vfs_stable stable)
{
	static const stable_how4 committed[] = {
		[RR_VFS_UNSTABLE] = UNSTABLE4,
		[RR_VFS_DATA_SYNC] = DATA_SYNC4,
		[RR_VFS_FILE_SYNC] = FILE_SYNC4,
	};

	return committed[stable];
}

/* Runs when the storage has written: fills the result of WRITE. */
static uint32_t
write_done(struct rr_nfs4_compound *c)
{
	const struct rr_vfs_write *write = &c->vfs.write;
	WRITE4resok *ok = &c->res.u.opwrite.u.resok4;

	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	rr_gate_count(
		c->server->gate, &c->identity, (struct rr_gate_count){ .octets_written = write->count });
	c->after = &write->change.after;
	ok->count = write->count;
	ok->committed = rr_nfs4_committed(write->committed);
	memcpy(ok->writeverf, &write->verifier, sizeof(ok->writeverf));
	return NFS4_OK;
}

/* Has the storage write the data of the WRITE, by the open in c->opened[0] if there is one, and goes on with
 * write_done(). */
static uint32_t
write_begin(struct rr_nfs4_compound *c)
{
	const WRITE4args *args = &c->op->u.opwrite;
	struct rr_vfs_write *write = &rr_nfs4_vfs_begin_of(c, sizeof(*write))->write;
	struct rr_vfs *vfs = c->server->vfs;

	write->object = rr_nfs4_object_as(c, &c->current, 0);
	write->offset = args->offset;
	write->data = args->data.data;
	write->length = args->data.length;
	write->stable = write_stable[args->stable];
	return rr_nfs4_vfs(c, rr_vfs_write(vfs, write), write_done);
}

/* Runs when the attributes of the file are known: checks type and stateid, and begins to write. */
static uint32_t
write_typed(struct rr_nfs4_compound *c)
{
	const WRITE4args *args = &c->op->u.opwrite;
	nfsstat4 status;

	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	status = rr_nfs4_regular(&c->current);
	if (status == NFS4_OK)
		status = rr_nfs4_use_stateid(c, &c->current, &args->stateid, OPEN4_SHARE_ACCESS_WRITE, 0);
	return status == NFS4_OK ? write_begin(c) : status;
}

uint32_t
rr_op_write(struct rr_nfs4_compound *c)
{
	const WRITE4args *args = &c->op->u.opwrite;

	/* The largest offset that a file of the storage can have is INT64_MAX. */
	if (args->offset > (uint64_t)INT64_MAX - args->data.length)
		return NFS4ERR_FBIG;
	/* If the stateid was given for this very filehandle, its open says that the file is regular: the
	 * attributes are not needed. Else write_typed() looks at the stateid again. */
	if (!c->current.known &&
		rr_nfs4_use_stateid(c, &c->current, &args->stateid, OPEN4_SHARE_ACCESS_WRITE, 0) == NFS4_OK &&
		c->opened[0])
		return write_begin(c);
	return rr_nfs4_attributes(c, &c->current, write_typed);
}

/* Runs when the storage has committed the data: fills the result of COMMIT. */
static uint32_t
op_commit_done(struct rr_nfs4_compound *c)
{
	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	memcpy(c->res.u.opcommit.u.resok4.writeverf, &c->vfs.commit.verifier, sizeof(verifier4));
	return NFS4_OK;
}

/* Runs when the attributes of the file are known: checks that it is a regular file, and has the storage
 * commit the range. */
static uint32_t
op_commit_typed(struct rr_nfs4_compound *c)
{
	const COMMIT4args *args = &c->op->u.opcommit;
	struct rr_vfs *vfs = c->server->vfs;
	struct rr_vfs_commit *commit;
	nfsstat4 status;

	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	status = rr_nfs4_regular(&c->current);
	if (status != NFS4_OK)
		return status;
	commit = &rr_nfs4_vfs_begin(c)->commit;
	commit->object = rr_nfs4_object(&c->current);
	commit->offset = args->offset;
	commit->length = args->count;
	return rr_nfs4_vfs(c, rr_vfs_commit(vfs, commit), op_commit_done);
}

uint32_t
rr_op_commit(struct rr_nfs4_compound *c)
{
	return rr_nfs4_attributes(c, &c->current, op_commit_typed);
}

/* Runs when the storage has answered: writes the whole result of SETATTR into the reply. After an error, too,
 * the result lists the attributes that were set. RFC 8881, 18.30.3: "On either success or failure of the
 * operation, the server will return the attrsset bitmask". */
static uint32_t
op_setattr_done(struct rr_nfs4_compound *c)
{
	const bitmap4 *asked = &c->op->u.opsetattr.obj_attributes.attrmask;
	struct rr_attr_mask set = rr_attr_applied(asked, c->vfs.setattr.applied);
	nfsstat4 status = rr_nfs4_status_for(OP_SETATTR, rr_nfs4_status(c->vfs_status));

	c->after = &c->vfs.setattr.change.after;
	/* A failure has this result, too; compound.c would write the status alone. */
	rpcrdma_put_u32(&c->writer, OP_SETATTR);
	rpcrdma_put_u32(&c->writer, status);
	rr_attr_put_mask(&c->writer, &set);
	c->encoded = true;
	return status;
}

/* Runs when the attributes of the object are known: checks the stateid, which must allow writing if the size
 * is to be set, and has the storage set the attributes. */
static uint32_t
op_setattr_typed(struct rr_nfs4_compound *c)
{
	const SETATTR4args *args = &c->op->u.opsetattr;
	uint32_t access = c->own.setattr.mask & RR_VFS_SET_SIZE ? OPEN4_SHARE_ACCESS_WRITE : 0;
	struct rr_vfs *vfs = c->server->vfs;
	struct rr_vfs_setattr *setattr;
	nfsstat4 status = NFS4_OK;

	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	/* Only regular files have a size to be set. RFC 8881, 15.2, has no NFS4ERR_ISDIR for SETATTR. */
	if (access != 0 && c->current.attributes.type != RR_VFS_FILE)
		return NFS4ERR_INVAL;
	status = rr_nfs4_use_stateid(c, &c->current, &args->stateid, access, 0);
	if (status != NFS4_OK)
		return status;
	setattr = &rr_nfs4_vfs_begin(c)->setattr;
	/* An open that may write sets the size. For other attributes the storage asks for the caller's rights
	 * all the same; it only need not find the object of the filehandle. */
	setattr->object = rr_nfs4_object_as(c, &c->current, 0);
	setattr->set = c->own.setattr;
	return rr_nfs4_vfs(c, rr_vfs_setattr(vfs, setattr), op_setattr_done);
}

uint32_t
rr_op_setattr(struct rr_nfs4_compound *c)
{
	uint32_t status =
		rr_nfs4_attr_get(c, &c->op->u.opsetattr.obj_attributes, &c->own.setattr, rr_op_setattr);

	/* RFC 8275, 4.2: mode_umask is only for objects that are being made. */
	if (status == NFS4_OK && c->own.setattr.mask & RR_VFS_SET_UMASK)
		status = NFS4ERR_INVAL;
	return status == NFS4_OK ? rr_nfs4_attributes(c, &c->current, op_setattr_typed) : status;
}
