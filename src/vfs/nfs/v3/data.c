/* SPDX-License-Identifier: BSD-3-Clause */
/* The data of files, and opens, of which version 3 knows nothing. */
#include <string.h>

#include "base/checked.h"
#include "vfs/nfs/v3/v3_private.h"

#define INPUT(job, type) rr_container((job)->base.call, struct rr_vfs_##type, call)

/* Returns RR_VFS_OPEN_MODE where the call names an open that was not made for this; RR_VFS_IO where its locks
 * were lost, as another client may have changed what they covered. */
static enum rr_vfs_status
data_may(const struct rr_v3_job *job, uint32_t access)
{
	if (job->base.open && job->base.open->owner && job->base.open->owner->broken)
		return RR_VFS_IO;
	return job->base.open && !(job->base.open->remote.reservation.access & access) ? RR_VFS_OPEN_MODE
										       : RR_VFS_OK;
}

/* ---- READ ---- */

static void
data_read_build(struct rr_v3_job *job)
{
	const struct rr_vfs_read *read = INPUT(job, read);
	struct rr_call *call = &job->base.rpc;

	job->args.read = (READ3args){ rr_v3_fh(&job->base.objects[0]), read->offset + job->base.moved,
		job->base.piece };
	call->sink_count = 1;
	call->sinks[0] = (struct rpcrdma_sink){ (uint8_t *)read->data + job->base.moved, job->base.piece };
}

/* Takes the data of a READ, which is where it belongs already, or came inline. Returns RR_VFS_IO where the
 * result makes no sense. */
static enum rr_vfs_status
data_read_keep(struct rr_v3_job *job)
{
	struct rr_vfs_read *read = INPUT(job, read);
	const READ3resok *ok = &job->result.read.u.resok;
	uint8_t *at = (uint8_t *)read->data + job->base.moved;

	if (ok->data.length > job->args.read.count || ok->count != ok->data.length ||
		(ok->count == 0 && !ok->eof))
		return RR_VFS_IO;
	if (ok->data.data != at && ok->data.length > 0)
		memcpy(at, ok->data.data, ok->data.length);
	job->base.moved += ok->data.length;
	read->eof = ok->eof;
	return RR_VFS_OK;
}

static enum rr_vfs_status
data_read_take(struct rr_v3_job *job, enum rr_vfs_status status)
{
	struct rr_vfs_read *read = INPUT(job, read);

	if (!job->base.lean)
		rr_v3_known(&job->result.read.u.resok.file_attributes, &read->object_after);
	return status == RR_VFS_OK ? data_read_keep(job) : status;
}

const struct rr_v3_work rr_v3_work_read = { NFSPROC3_READ, 0, data_read_build, data_read_take };

static void data_read_then(struct rr_v3_job *job, enum rr_vfs_status status);

/* Begins the READ of the next octets that are missing. */
static enum rr_vfs_status
data_read_next(struct rr_v3_job *job)
{
	uint32_t left = INPUT(job, read)->size - job->base.moved;

	job->base.piece = (uint32_t)rr_min(left, job->base.vfs->shared->config.read_max);
	return rr_v3_ask(job, &rr_v3_work_read, data_read_then);
}

/* RFC 1813, 3.3.6: the other server may return fewer octets than it was asked for. */
static void
data_read_then(struct rr_v3_job *job, enum rr_vfs_status status)
{
	struct rr_vfs_read *read = INPUT(job, read);

	if (status != RR_VFS_OK) {
		/* RFC 1813, 3.3.6: NFS3ERR_INVAL if the object is no regular file. */
		rr_remote_end(&job->base, rr_remote_data_status(status, &read->object_after));
		return;
	}
	if (!read->eof && job->base.moved < read->size) {
		data_read_next(job);
		return;
	}
	read->length = job->base.moved;
	rr_remote_end(&job->base, RR_VFS_OK);
}

enum rr_vfs_status
rr_v3_read(struct rr_v3_job *job)
{
	struct rr_vfs_read *read = INPUT(job, read);
	enum rr_vfs_status status = data_may(job, RR_VFS_SHARE_READ);

	if (status == RR_VFS_OK && !read->data && read->size > 0) {
		read->data = read->memory(read, read->size);
		if (!read->data)
			status = RR_VFS_NO_BUFFER;
	}
	return status == RR_VFS_OK ? data_read_next(job) : status;
}

/* ---- WRITE and COMMIT ---- */

static uint64_t
data_verifier(const writeverf3 verifier)
{
	uint64_t value;

	memcpy(&value, verifier, sizeof(value));
	return value;
}

static void
data_write_build(struct rr_v3_job *job)
{
	const struct rr_vfs_write *write = INPUT(job, write);

	job->args.write = (WRITE3args){
		.file = rr_v3_fh(&job->base.objects[0]),
		.offset = write->offset + job->base.moved,
		.count = job->base.piece,
		.stable = (stable_how)write->stable,
		.data = { (const uint8_t *)write->data + job->base.moved, job->base.piece },
	};
}

/* Notes the result of a WRITE. Returns RR_VFS_IO where it makes no sense. The verifier is that of the first
 * WRITE: if the other server lost data since, that of a commit differs from it. RFC 1813, 3.3.7: "the server
 * ... can return a higher level of stability"; a lower one makes no sense. */
static enum rr_vfs_status
data_write_keep(struct rr_v3_job *job)
{
	struct rr_vfs_write *write = INPUT(job, write);
	const WRITE3resok *ok = &job->result.write.u.resok;

	if (ok->count > job->args.write.count || (ok->count == 0 && write->length > job->base.moved) ||
		ok->committed < (stable_how)write->stable)
		return RR_VFS_IO;
	job->base.verifier = data_verifier(ok->verf);
	if (job->base.moved == 0) {
		write->verifier = job->base.verifier;
		write->committed = (enum rr_vfs_stable)ok->committed;
	}
	write->committed = (enum rr_vfs_stable)rr_min(write->committed, ok->committed);
	job->base.moved += ok->count;
	return RR_VFS_OK;
}

static enum rr_vfs_status
data_write_take(struct rr_v3_job *job, enum rr_vfs_status status)
{
	struct rr_vfs_write *write = INPUT(job, write);

	if (!job->base.lean) {
		rr_v3_change(&job->result.write.u.resok.file_wcc, &write->change);
		write->change.exact = false;
	}
	return status == RR_VFS_OK ? data_write_keep(job) : status;
}

const struct rr_v3_work rr_v3_work_write = { NFSPROC3_WRITE, 0, data_write_build, data_write_take };

static void data_write_then(struct rr_v3_job *job, enum rr_vfs_status status);

/* Begins the WRITE of the next octets that the other server has not taken yet. */
static enum rr_vfs_status
data_write_next(struct rr_v3_job *job)
{
	uint32_t left = INPUT(job, write)->length - job->base.moved;

	job->base.piece = (uint32_t)rr_min(left, job->base.vfs->shared->config.write_max);
	return rr_v3_ask(job, &rr_v3_work_write, data_write_then);
}

/* RFC 1813, 3.3.7: the other server may write fewer octets than it was given. What was written before an
 * error counts. */
static void
data_write_then(struct rr_v3_job *job, enum rr_vfs_status status)
{
	struct rr_vfs_write *write = INPUT(job, write);

	if (status == RR_VFS_OK && job->base.moved < write->length) {
		data_write_next(job);
		return;
	}
	write->count = job->base.moved;
	rr_remote_end(&job->base,
		job->base.moved > 0 ? RR_VFS_OK : rr_remote_data_status(status, &write->change.after));
}

enum rr_vfs_status
rr_v3_write(struct rr_v3_job *job)
{
	enum rr_vfs_status status = data_may(job, RR_VFS_SHARE_WRITE);

	return status == RR_VFS_OK ? data_write_next(job) : status;
}

/* RFC 1813, 3.3.21: "If count is 0, a flush from offset to the end of file is done." */
static void
data_commit_build(struct rr_v3_job *job)
{
	const struct rr_vfs_commit *commit = INPUT(job, commit);
	uint32_t count = commit->length > UINT32_MAX ? 0 : (uint32_t)commit->length;

	job->args.commit = (COMMIT3args){ rr_v3_fh(&job->base.objects[0]), commit->offset, count };
}

static enum rr_vfs_status
data_commit_take(struct rr_v3_job *job, enum rr_vfs_status status)
{
	struct rr_vfs_commit *commit = INPUT(job, commit);

	rr_v3_change(&job->result.commit.u.resok.file_wcc, &commit->change);
	if (status == RR_VFS_OK)
		commit->verifier = data_verifier(job->result.commit.u.resok.verf);
	return status;
}

const struct rr_v3_work rr_v3_work_commit = { NFSPROC3_COMMIT, 0, data_commit_build, data_commit_take };

/* ---- Opens ---- */

/* The owner of a file may open it whatever its mode says; RFC 1813, 4.4: "the server should allow the owner
 * of the file to access the file regardless of the permission setting". */
static void
data_open_may(struct rr_v3_job *job, enum rr_vfs_status status)
{
	struct rr_vfs_opening *opening = INPUT(job, opening);
	const ACCESS3resok *ok = &job->result.access.u.resok;
	const struct rr_vfs_known *known = &opening->object_after;

	rr_v3_known(&ok->obj_attributes, &opening->object_after);
	if (status == RR_VFS_OK && !known->valid)
		status = RR_VFS_IO;
	if (status == RR_VFS_OK)
		status = rr_remote_openable(known->attributes.type);
	if (status == RR_VFS_OK && job->args.access.access & ~ok->access &&
		known->attributes.uid != job->base.user.uid)
		status = RR_VFS_ACCESS;
	if (status == RR_VFS_OK)
		status = rr_remote_open_new(&job->base, sizeof(struct rr_vfs_open));
	if (status == RR_VFS_OK)
		opening->open->users = 1;
	rr_remote_end(&job->base, status);
}

enum rr_vfs_status
rr_v3_open(struct rr_v3_job *job)
{
	const struct rr_vfs_opening *opening = INPUT(job, opening);
	uint32_t access = 0;

	/* The rights that an earlier open of the file gives are not checked again. */
	if (opening->access & RR_VFS_SHARE_READ &&
		!(job->base.open && job->base.open->remote.reservation.access & RR_VFS_SHARE_READ))
		access |= ACCESS3_READ;
	if (opening->access & RR_VFS_SHARE_WRITE &&
		!(job->base.open && job->base.open->remote.reservation.access & RR_VFS_SHARE_WRITE))
		access |= ACCESS3_MODIFY;
	job->args.access = (ACCESS3args){ rr_v3_fh(&job->base.objects[0]), access };
	return rr_v3_call(job, NFSPROC3_ACCESS, data_open_may);
}
