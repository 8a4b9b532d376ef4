/* SPDX-License-Identifier: BSD-3-Clause */
/* WRITE and COMMIT: RFC 8881, sections 18.32 and 18.3. */
#include <string.h>

#include "server/nfs4/errors.h"
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
