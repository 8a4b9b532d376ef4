/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/whole.h"
#include "tool/cp/local.h"
#include "tool/tool.h"

/*
 * The data of local files. Regular files are read and written at once, at any offset. A stream is read when
 * its descriptor is ready, so that a pipe does not hold up the connection; it is written in order, and each
 * write waits for the reader at the other end, as in cp(1). The operations are those of struct rr_side_ops:
 * side.h says what each does and returns.
 */

/* ---- Opening ---- */

/* Tells whether the name is "-", which stands for standard input or output. */
static bool
local_is_standard(const char *name)
{
	return strcmp(name, "-") == 0;
}

/* Sets *file for an opened descriptor, and notes whether it is a stream (no regular file). fd may also be
 * negative, after a failed open(): then *file counts as no stream. */
static void
local_set_fd(struct rr_side *side, int fd, struct rr_file *file)
{
	struct stat st;

	*file = (struct rr_file){ .side = side, .fd = fd, .watch.fd = -1 };
	file->stream = fd >= 0 && fstat(fd, &st) == 0 && !S_ISREG(st.st_mode);
}

/* Opens a file for reading; "-" is standard input if info describes a stream. info may be NULL, which means
 * no stream. If info describes a stream and the file is a named pipe, waits until the other end of the pipe
 * is open. All other files are opened without waiting, as a named pipe may have replaced a regular file
 * meanwhile. Returns 0, or a negative number. */
int
rr_cp_local_open(struct rr_side *side, const struct rr_directory *directory, const char *name,
	const struct rr_info *info, struct rr_file *file)
{
	bool stream = info && info->kind == RR_KIND_STREAM;
	int flags =
		O_RDONLY | O_CLOEXEC | O_NOCTTY | (directory ? O_NOFOLLOW : 0) | (stream ? 0 : O_NONBLOCK);

	if (stream && !directory && local_is_standard(name)) {
		local_set_fd(side, fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), file);
		file->stream = true;
	} else {
		local_set_fd(side, openat(rr_cp_local_at(directory), name, flags), file);
	}
	return file->fd < 0 ? rr_cp_local_fail(side) : 0;
}

int
rr_cp_local_create(struct rr_side *side, const struct rr_directory *directory, const char *name,
	uint64_t size, struct rr_file *file)
{
	int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;

	(void)size;
	local_set_fd(side, openat(directory->fd, name, flags, 0600), file);
	clock_gettime(CLOCK_REALTIME, &file->made);
	if (file->fd < 0 && errno == EEXIST)
		return 1;
	return file->fd < 0 ? rr_cp_local_fail(side) : 0;
}

/* Opens the existing object for writing; "-" is standard output if `there` is a stream. The old octets of a
 * regular file go only when the first new ones are written. Returns 0, never 1; or a negative number. */
int
rr_cp_local_overwrite(struct rr_side *side, const struct rr_directory *directory, const char *name,
	const struct rr_info *there, struct rr_file *file)
{
	int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | (directory ? O_NOFOLLOW : 0);

	if (there->kind == RR_KIND_STREAM && !directory && local_is_standard(name)) {
		local_set_fd(side, fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), file);
		file->stream = true;
	} else {
		local_set_fd(side, openat(rr_cp_local_at(directory), name, flags), file);
	}
	if (file->fd < 0)
		return rr_cp_local_fail(side);
	file->in_place = true;
	file->empty_first = !file->stream;
	return 0;
}

int
rr_cp_local_go_on(struct rr_side *side, const struct rr_directory *directory, const char *name,
	const struct rr_info *there, uint64_t kept, struct rr_file *file)
{
	(void)there;
	local_set_fd(side, openat(directory->fd, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), file);
	if (file->fd < 0)
		return rr_cp_local_fail(side);
	file->kept = kept;
	if (!file->stream && ftruncate(file->fd, (off_t)kept) == 0)
		return 0;
	if (file->stream)
		rr_cp_local_fail_because(side, "it is no regular file any more");
	else
		rr_cp_local_fail(side);
	close(file->fd);
	return -RPCRDMA_ERR_SYSTEM;
}

/* Finds the first octets of the file at or behind extent->offset that are in no hole, and stores their start
 * and end in *extent. If there are none, both are the size of the file. Returns 1, as the answer is there at
 * once; or a negative number. */
int
rr_cp_local_extent(struct rr_extent *extent)
{
	struct rr_file *file = extent->file;
	off_t from = lseek(file->fd, (off_t)extent->offset, SEEK_DATA), to;
	struct stat st;

	if (from < 0 && errno == ENXIO) {
		if (fstat(file->fd, &st) < 0)
			return rr_cp_local_fail(file->side);
		extent->start = extent->end = (uint64_t)st.st_size;
		return 1;
	}
	to = from < 0 ? -1 : lseek(file->fd, from, SEEK_HOLE);
	/* lseek(2): EINVAL: "whence is not valid": many files that a program makes as they are read. */
	extent->unknown = to < 0 && (errno == EINVAL || errno == EOPNOTSUPP);
	if (extent->unknown)
		return 1;
	if (to < 0)
		return rr_cp_local_fail(file->side);
	extent->start = (uint64_t)from;
	extent->end = (uint64_t)to;
	return 1;
}

/* Does nothing, as rr_cp_local_extent() always has the answer at once. */
void
rr_cp_local_cancel_extent(struct rr_extent *extent)
{
	(void)extent;
}

/* ---- Reading ---- */

/* Reads further octets of the piece from the stream by one read(2). Returns 1 if octets of the piece are
 * still missing; 0 if the piece is complete, or the stream has ended; or a negative number. */
static int
local_stream_read_some(struct rr_file *file, struct rr_cp_piece *piece)
{
	ssize_t got = read(file->fd, (uint8_t *)piece->data + piece->moved, piece->length - piece->moved);

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return rr_tool_interrupted(NULL) ? rr_cp_local_fail(file->side) : 1;
	if (got < 0)
		return rr_cp_local_fail(file->side);
	piece->moved += (uint32_t)got;
	return got > 0 && piece->moved < piece->length;
}

/* Called by the event loop when the stream has data: reads data into file->awaited, the piece that waits for
 * it. If the piece is complete, the stream has ended, or reading failed, stops waiting and calls the piece's
 * done(). Otherwise, as result is 1, waits for more data. */
static void
local_stream_ready(struct rr_watch *watch, unsigned events)
{
	struct rr_file *file = rr_container(watch, struct rr_file, watch);
	struct rr_cp_piece *piece = file->awaited;
	int result = local_stream_read_some(file, piece);

	(void)events;
	if (result == 1)
		return;
	rr_cp_local_cancel(piece);
	piece->done(piece, result);
}

/* Begins to read a piece of a stream. Returns 0 if the event loop will read it and call done(). Devices such
 * as /dev/zero, and a regular file that is standard input, cannot be waited for: this function reads the
 * piece from them at once, and returns 1, or a negative number. */
static int
local_stream_read(struct rr_file *file, struct rr_cp_piece *piece)
{
	int result;

	piece->moved = 0;
	piece->file = file;
	file->watch.ready = local_stream_ready;
	if (rr_loop_watch(file->side->loop, &file->watch, file->fd, RR_READABLE) == 0) {
		file->awaited = piece;
		return 0;
	}
	while ((result = local_stream_read_some(file, piece)) == 1)
		;
	return result < 0 ? result : 1;
}

/* Reads a piece of the file. If piece->moved is smaller than piece->length then, the file ends there. Returns
 * 1 if the piece was read; 0 for a stream, whose piece is read later and done() called; or a negative
 * number. */
int
rr_cp_local_read(struct rr_file *file, struct rr_cp_piece *piece)
{
	ssize_t got;

	if (file->stream)
		return local_stream_read(file, piece);
	got = rr_whole_read(file->fd, piece->data, piece->length, (int64_t)piece->offset);
	if (got < 0)
		return rr_cp_local_fail(file->side);
	piece->moved = (uint32_t)got;
	return 1;
}

/* ---- Writing ---- */

/* Removes the old octets of a file that is written in place, if it still has them. They are kept until the
 * first new octets are written. Returns 0, or a negative number. */
static int
local_empty(struct rr_file *file)
{
	if (file->empty_first && ftruncate(file->fd, 0) < 0)
		return rr_cp_local_fail(file->side);
	file->empty_first = false;
	return 0;
}

/* Writes the whole piece, at its offset, or as the next octets of a stream. Returns 1, as that is done at
 * once; or a negative number. */
int
rr_cp_local_write(struct rr_file *file, struct rr_cp_piece *piece)
{
	int error = local_empty(file);

	for (piece->moved = 0; !error && piece->moved < piece->length;) {
		const uint8_t *data = (const uint8_t *)piece->data + piece->moved;
		uint32_t left = piece->length - piece->moved;
		ssize_t put = file->stream
				      ? write(file->fd, data, left)
				      : pwrite(file->fd, data, left, (off_t)(piece->offset + piece->moved));

		if (put < 0 && errno == EINTR && !rr_tool_interrupted(NULL))
			continue;
		if (put < 0)
			return rr_cp_local_fail(file->side);
		piece->moved += (uint32_t)put;
	}
	return error ? error : 1;
}

/* Stops waiting for the data of a piece of a stream. Does nothing if the file does not wait for this
 * piece. */
void
rr_cp_local_cancel(struct rr_cp_piece *piece)
{
	struct rr_file *file = piece->file;

	if (!file || file->awaited != piece)
		return;
	rr_loop_unwatch(file->side->loop, &file->watch);
	file->awaited = NULL;
}

/* Stores 0 in *lost, as a local file system loses nothing, and does nothing else: the system decides when a
 * new file reaches the disk, as for cp(1). Returns 0. */
int
rr_cp_local_commit(struct rr_file *file, uint64_t *lost)
{
	(void)file;
	*lost = 0;
	return 0;
}

/* ---- The end ---- */

/* Sets the times of a file that was written in place. It is no error if this process may not set the times,
 * because the file belongs to another user. Returns 0, or a negative number. */
static int
local_set_times(struct rr_file *file, const struct rr_info *info)
{
	struct timespec times[2] = { info->atime, info->mtime };

	if (futimens(file->fd, times) == 0 || errno == EPERM)
		return 0;
	return rr_cp_local_fail(file->side);
}

/* A file that was written in place gets only new times: it keeps its mode and owner, unless with -a. A stream
 * gets nothing. An empty source has written no octets, so that old octets may still have to go here. */
int
rr_cp_local_finish(struct rr_file *file, const struct rr_info *info)
{
	int error;

	if (file->stream)
		return 0;
	error = local_empty(file);
	if (error)
		return error;
	if (file->short_end && ftruncate(file->fd, (off_t)info->size) < 0)
		return rr_cp_local_fail(file->side);
	return file->in_place && !file->side->archive ? local_set_times(file, info)
						      : rr_cp_local_set(file->side, file->fd, info);
}

int
rr_cp_local_describe_file(struct rr_file *file, struct rr_info *info)
{
	struct stat st;

	if (fstat(file->fd, &st) < 0)
		return rr_cp_local_fail(file->side);
	rr_cp_local_describe(&st, info);
	rr_cp_local_narrow(file->side, file->fd, NULL, info);
	return 0;
}

void
rr_cp_local_close(struct rr_file *file)
{
	close(file->fd);
}
