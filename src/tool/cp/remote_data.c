/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "tool/cp/remote.h"

/* The data of files on a server: pieces, and octets that are lost when the server restarts. The operations
 * are those of struct rr_side_ops: side.h says what each does and returns. */

/* Creates a file that only its owner may read and write. If one WRITE can hold all `size` octets, the file
 * will be written by a stable WRITE (FILE_SYNC), which needs no COMMIT. size may be RR_SIZE_UNKNOWN. Returns
 * 0; 1 if the name exists already; or a negative number. side->text has the reason if the result is not 0. */
int
rr_cp_remote_create(struct rr_side *side, const struct rr_directory *directory, const char *name,
	uint64_t size, struct rr_file *file)
{
	const struct rpcrdma_nfs_changes changes = rr_cp_remote_mode(0600);
	struct rpcrdma_nfs_object object = { .size = sizeof(object) };
	int error;

	side->unsure = false;
	if (size != RR_SIZE_UNKNOWN && size > rr_nfs_file_max(side->nfs))
		return rr_fail(&side->text, -RPCRDMA_ERR_LIMIT, "the file is larger than the server takes");
	error = rpcrdma_nfs_create(side->nfs, &directory->handle, name, &changes, &object, NULL);
	if (error)
		return rr_cp_remote_fail(side, error) < 0 && error == NFS3ERR_EXIST ? 1 : -RPCRDMA_ERR_SYSTEM;
	*file = (struct rr_file){
		.side = side,
		.handle = object.handle,
		.made.tv_sec = object.modified.seconds,
		.uid = object.uid,
		.gid = object.gid,
		.stable = size <= rr_nfs_write_max(side->nfs) ? FILE_SYNC : UNSTABLE,
	};
	return 0;
}

/* Fills in the arguments of the READ or WRITE that moves the piece. `done` is called when that operation has
 * ended. The caller sends the operation. */
static void
remote_start(struct rr_file *file, struct rr_cp_piece *piece, void (*done)(struct rr_nfs_io *io, int error))
{
	piece->file = file;
	piece->io.file = &file->handle;
	piece->io.data = piece->data;
	piece->io.offset = piece->offset;
	piece->io.length = piece->length;
	piece->io.stable = file->stable;
	piece->io.done = done;
	piece->io.ctx = piece;
}

/* Called when the READ of a piece has ended: calls done() of the piece. */
static void
remote_read_done(struct rr_nfs_io *io, int error)
{
	struct rr_cp_piece *piece = io->ctx;

	piece->moved = io->moved;
	piece->done(piece, error ? rr_cp_remote_fail(piece->file->side, error) : 0);
}

int
rr_cp_remote_read(struct rr_file *file, struct rr_cp_piece *piece)
{
	remote_start(file, piece, remote_read_done);
	rr_nfs_read(file->side->nfs, &piece->io);
	return 0;
}

static void
remote_raise(uint64_t *value, uint64_t least)
{
	if (*value < least)
		*value = least;
}

/* Notes the verifier that an unstable WRITE or a COMMIT has returned. If it differs from the verifier that
 * was noted before, the server has restarted, and all octets that were written before must be written again.
 * RFC 1813, section 3.3.21: "the client can use [verf] to determine whether the server has rebooted". */
static void
remote_note_verifier(struct rr_file *file, const uint8_t verifier[NFS3_WRITEVERFSIZE])
{
	if (file->has_verifier && memcmp(file->verifier, verifier, sizeof(file->verifier)) != 0)
		remote_raise(&file->lost_end, file->written_end);
	memcpy(file->verifier, verifier, sizeof(file->verifier));
	file->has_verifier = true;
}

void
rr_cp_remote_note_unstable(
	struct rr_file *file, const uint8_t verifier[NFS3_WRITEVERFSIZE], uint64_t end, bool changed)
{
	remote_note_verifier(file, verifier);
	remote_raise(&file->written_end, end);
	if (changed)
		remote_raise(&file->lost_end, end);
}

/* Called when the WRITE of a piece has ended. If the server has the data only in its memory, notes that. Then
 * calls done() of the piece. */
static void
remote_write_done(struct rr_nfs_io *io, int error)
{
	struct rr_cp_piece *piece = io->ctx;
	struct rr_file *file = piece->file;

	piece->moved = io->moved;
	if (!error && io->committed == UNSTABLE)
		rr_cp_remote_note_unstable(
			file, io->verifier, piece->offset + piece->length, io->verifier_changed);
	piece->done(piece, error ? rr_cp_remote_fail(file->side, error) : 0);
}

int
rr_cp_remote_write(struct rr_file *file, struct rr_cp_piece *piece)
{
	remote_start(file, piece, remote_write_done);
	rr_nfs_write(file->side->nfs, &piece->io);
	return 0;
}

void
rr_cp_remote_cancel(struct rr_cp_piece *piece)
{
	rr_nfs_io_cancel(&piece->io);
}

/* Sends a COMMIT, unless all WRITEs were stable. If the verifier in its reply differs from that of the
 * WRITEs, all unstable octets are lost. After the COMMIT no octets count as unstable or lost: those in *lost
 * are written again by the caller. */
int
rr_cp_remote_commit(struct rr_file *file, uint64_t *lost)
{
	uint8_t verifier[NFS3_WRITEVERFSIZE];
	int error;

	*lost = 0;
	if (!file->has_verifier) /* all WRITEs were stable */
		return 0;
	error = rpcrdma_nfs_commit(file->side->nfs, &file->handle, verifier, NULL);
	if (error)
		return rr_cp_remote_fail(file->side, error);
	remote_note_verifier(file, verifier);
	*lost = file->lost_end;
	file->has_verifier = false;
	file->written_end = file->lost_end = 0;
	return 0;
}
