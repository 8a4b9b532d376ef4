/* SPDX-License-Identifier: BSD-3-Clause */
/* The data of files. RFC 8267, 6.1, says that it may be placed by RDMA: "The opaque data field in the
 * WRITE4args structure", "... in the READ4resok structure". */
#include "base/checked.h"
#include "vfs/nfs/v4/provider_private.h"

static void data_read_next(struct rr_v4_job *job);
static void data_write_next(struct rr_v4_job *job);

/* Returns RR_VFS_OPEN_MODE where the call names an open that was not made for this, and RR_VFS_IO where it
 * has lost its locks. */
static enum rr_vfs_status
data_may(const struct rr_v4_job *job, uint32_t access)
{
	const struct rr_vfs_open *open = job->base.open;

	if (!open)
		return RR_VFS_OK;
	if (open->broken)
		return RR_VFS_IO;
	return open->remote.reservation.access & access ? RR_VFS_OK : RR_VFS_OPEN_MODE;
}

/* Returns the status of a READ or WRITE that failed. RFC 8881, 18.22.3 and 18.32.3: of an object that is no
 * regular file and no directory, NFS4ERR_INVAL, NFS4ERR_SYMLINK or NFS4ERR_WRONG_TYPE. */
static enum rr_vfs_status
data_status(enum rr_vfs_status status, const struct rr_vfs_known *known)
{
	return status == RR_VFS_SYMLINK ? RR_VFS_WRONG_TYPE : rr_remote_data_status(status, known);
}

/* ---- READ ---- */

void
rr_v4_read_op(struct rr_v4_slot *slot, stateid4 stateid)
{
	const struct rr_v4_job *job = rr_v4_job(slot);
	const struct rr_vfs_read *read = RR_V4_INPUT(job, read);

	rr_v4_op(slot, OP_READ, 8)->u.opread =
		(READ4args){ stateid, read->offset + job->base.moved, job->base.piece };
	slot->call.sink_count = 1;
	slot->call.sinks[0] =
		(struct rpcrdma_sink){ (uint8_t *)read->data + job->base.moved, job->base.piece };
}

/* The data is where it belongs already, or came inline. */
enum rr_vfs_status
rr_v4_read_take(const struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	struct rr_vfs_read *read = RR_V4_INPUT(job, read);
	const READ4resok *ok = &rr_v4_res(slot, OP_READ)->u.opread.u.resok4;
	uint8_t *at = (uint8_t *)read->data + job->base.moved;

	if (ok->data.length > job->base.piece || (ok->data.length == 0 && !ok->eof))
		return RR_VFS_IO;
	if (ok->data.data != at && ok->data.length > 0)
		memcpy(at, ok->data.data, ok->data.length);
	job->base.moved += ok->data.length;
	read->eof = ok->eof;
	return RR_VFS_OK;
}

static void
data_read_build(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	stateid4 stateid = rr_v4_stateid(slot, &RR_V4_INPUT(job, read)->object, 0, RR_VFS_SHARE_READ);

	rr_v4_put_object(slot, 0);
	job->at.object = rr_v4_ask_known(slot);
	rr_v4_read_op(slot, stateid);
}

static void
data_read_fail(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);

	if (!job->base.lean)
		rr_v4_take_known(slot, job->at.object, &RR_V4_INPUT(job, read)->object_after);
}

static int
data_read_take(struct rr_v4_slot *slot)
{
	data_read_fail(slot);
	rr_v4_job(slot)->verdict = rr_v4_read_take(slot);
	return 0;
}

const struct rr_v4_work rr_v4_work_read = { .build = data_read_build,
	.take = data_read_take,
	.fail = data_read_fail,
	.access = OPEN4_SHARE_ACCESS_READ,
	.result = sizeof(nfsstat4) };

/* RFC 8881, 18.22.3: the other server may return fewer octets than it was asked for. */
static void
data_read_then(struct rr_v4_job *job, enum rr_vfs_status status)
{
	struct rr_vfs_read *read = RR_V4_INPUT(job, read);

	if (status != RR_VFS_OK) {
		rr_v4_end(job, data_status(status, &read->object_after));
		return;
	}
	if (!read->eof && job->base.moved < read->size) {
		data_read_next(job);
		return;
	}
	read->length = job->base.moved;
	rr_v4_end(job, RR_VFS_OK);
}

/* Begins the READ of the next octets that are missing. */
static void
data_read_next(struct rr_v4_job *job)
{
	uint32_t left = RR_V4_INPUT(job, read)->size - job->base.moved;

	job->base.piece = (uint32_t)rr_min(left, job->base.vfs->shared->config.read_max);
	rr_v4_ask(job, &rr_v4_work_read, data_read_then);
}

enum rr_vfs_status
rr_v4_do_read(struct rr_v4_job *job)
{
	enum rr_vfs_status status = data_may(job, RR_VFS_SHARE_READ);

	if (status == RR_VFS_OK)
		status = rr_v4_read_memory(job);
	if (status != RR_VFS_OK)
		return status;
	data_read_next(job);
	return RR_VFS_PENDING;
}

/* ---- WRITE ---- */

static void
data_write_build(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	const struct rr_vfs_write *write = RR_V4_INPUT(job, write);
	stateid4 stateid = rr_v4_stateid(slot, &write->object, 0, RR_VFS_SHARE_WRITE);

	_Static_assert((int)UNSTABLE4 == (int)RR_VFS_UNSTABLE && (int)FILE_SYNC4 == (int)RR_VFS_FILE_SYNC,
		"the same");
	rr_v4_put_object(slot, 0);
	rr_v4_op(slot, OP_WRITE, 16)->u.opwrite =
		(WRITE4args){ stateid, write->offset + job->base.moved, (stable_how4)write->stable,
			{ (const uint8_t *)write->data + job->base.moved, job->base.piece } };
	job->at.after[0] = rr_v4_ask_known(slot);
}

/* Returns the number that a verifier stands for. */
static uint64_t
data_verifier(const verifier4 verifier)
{
	uint64_t number;

	memcpy(&number, verifier, sizeof(number));
	return number;
}

/* Notes what a WRITE has done. The verifier is that of the first WRITE: where the other server restarts
 * before the last one, that of a commit differs from it. RFC 8881, 18.32.3: "the server MUST" do at least
 * what stable asks. */
static int
data_write_take(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	struct rr_vfs_write *write = RR_V4_INPUT(job, write);
	const WRITE4resok *ok = &rr_v4_res(slot, OP_WRITE)->u.opwrite.u.resok4;

	if (!job->base.lean)
		rr_v4_take_change(slot, 0, job->at.after[0], NULL, &write->change);
	if (ok->count > job->base.piece || (ok->count == 0 && write->length > job->base.moved) ||
		ok->committed < (stable_how4)write->stable) {
		job->verdict = RR_VFS_IO;
		return 0;
	}
	job->base.verifier = data_verifier(ok->writeverf);
	if (job->base.moved == 0) {
		write->verifier = job->base.verifier;
		write->committed = (enum rr_vfs_stable)ok->committed;
	}
	write->committed = (enum rr_vfs_stable)rr_min(write->committed, ok->committed);
	job->base.moved += ok->count;
	return 0;
}

const struct rr_v4_work rr_v4_work_write = { .build = data_write_build,
	.take = data_write_take,
	.access = OPEN4_SHARE_ACCESS_WRITE,
	.result = sizeof(nfsstat4) };

/* What was written before an error counts. */
static void
data_write_then(struct rr_v4_job *job, enum rr_vfs_status status)
{
	struct rr_vfs_write *write = RR_V4_INPUT(job, write);

	if (status == RR_VFS_OK && job->base.moved < write->length) {
		data_write_next(job);
		return;
	}
	write->count = job->base.moved;
	rr_v4_end(job, job->base.moved > 0 ? RR_VFS_OK : data_status(status, &write->change.after));
}

static void
data_write_next(struct rr_v4_job *job)
{
	uint32_t left = RR_V4_INPUT(job, write)->length - job->base.moved;

	job->base.piece = (uint32_t)rr_min(left, job->base.vfs->shared->config.write_max);
	rr_v4_ask(job, &rr_v4_work_write, data_write_then);
}

enum rr_vfs_status
rr_v4_do_write(struct rr_v4_job *job)
{
	enum rr_vfs_status status = data_may(job, RR_VFS_SHARE_WRITE);

	if (status != RR_VFS_OK)
		return status;
	data_write_next(job);
	return RR_VFS_PENDING;
}

/* ---- COMMIT ---- */

/* RFC 8881, 18.3.3: "If the count is zero, a flush from the offset to the end of the file is done." */
static void
data_commit_build(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	const struct rr_vfs_commit *commit = RR_V4_INPUT(job, commit);
	uint32_t count = commit->length > UINT32_MAX ? 0 : (uint32_t)commit->length;

	rr_v4_put_object(slot, 0);
	rr_v4_op(slot, OP_COMMIT, NFS4_VERIFIER_SIZE)->u.opcommit = (COMMIT4args){ commit->offset, count };
	job->at.after[0] = rr_v4_ask_known(slot);
}

static int
data_commit_take(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	struct rr_vfs_commit *commit = RR_V4_INPUT(job, commit);

	rr_v4_take_change(slot, 0, job->at.after[0], NULL, &commit->change);
	commit->verifier = data_verifier(rr_v4_res(slot, OP_COMMIT)->u.opcommit.u.resok4.writeverf);
	return 0;
}

const struct rr_v4_work rr_v4_work_commit = {
	.build = data_commit_build, .take = data_commit_take, .result = sizeof(nfsstat4)
};
