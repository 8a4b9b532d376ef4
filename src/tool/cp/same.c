/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "tool/ask.h"
#include "tool/cp/cp.h"

/* --update, --checksum and --resume: finds files, and beginnings of files, that the destination has already.
 * Also finds out whether an object of one side is the same as an object of the other side. */

/* ---- The same object on both sides ---- */

/* Another process, or a job of this copy, may change a directory between the looks at its two sides. The pair
 * of looks is then repeated, up to this number of times. */
enum { SAME_LOOKS = 16 };

static bool
same_is_same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool
rr_cp_same_object(const struct rr_info *a, const struct rr_info *b)
{
	if (a->kind != b->kind || (a->kind != RR_KIND_FILE && a->kind != RR_KIND_DIRECTORY))
		return false;
	return a->fileid == b->fileid && a->uid == b->uid &&
	       (a->kind == RR_KIND_DIRECTORY || a->size == b->size) &&
	       same_is_same_time(a->mtime, b->mtime) && same_is_same_time(a->ctime, b->ctime);
}

int
rr_cp_same_directory(struct rr_cp *cp, struct rr_side *side, const struct rr_directory *directory,
	const char *name, const char *path)
{
	struct rr_side *other = side == &cp->from ? &cp->to : &cp->from;
	struct rr_info a, b;

	for (unsigned looks = 0; looks < SAME_LOOKS; looks++) {
		if (side->ops->look(side, directory, name, &a) < 0)
			return rr_cp_fail(cp, side);
		if (other->ops->find(other, path, true, &b) < 0)
			return rr_cp_fail(cp, other);
		if (a.kind != RR_KIND_DIRECTORY || b.kind != RR_KIND_DIRECTORY || a.fileid != b.fileid)
			return 0;
		if (rr_cp_same_object(&a, &b))
			return 1;
	}
	return 0;
}

/* ---- Equal octets ---- */

enum { SAME_FROM, SAME_TO, SAME_SIDES };

/* Two files, one on each side, that are compared piece by piece. */
struct same {
	struct rr_cp *cp;
	struct rr_file files[SAME_SIDES];
	struct rr_cp_piece pieces[SAME_SIDES];
	bool awaited[SAME_SIDES]; /* the read of the side's piece is under way */
	bool failed;              /* a read has failed */
	uint32_t length;          /* of a piece */
	uint8_t *memory;          /* for a piece of each side */
};

/* Called when the read of a piece from one of the two files has ended. Notes that the file's piece is not
 * awaited any more, and whether the read failed. */
static void
same_was_read(struct rr_cp_piece *piece, int error)
{
	struct same *same = piece->ctx;

	same->awaited[piece - same->pieces] = false;
	same->failed |= error != 0;
}

/* Begins to read the piece at offset from one of the two files; side is SAME_FROM or SAME_TO. */
static void
same_begin(struct same *same, int side, uint64_t offset)
{
	struct rr_file *file = &same->files[side];
	int result;

	same->pieces[side] = (struct rr_cp_piece){
		.data = same->memory + (size_t)side * same->length,
		.offset = offset,
		.length = same->length,
		.done = same_was_read,
		.ctx = same,
	};
	same->awaited[side] = true;
	/* 1: the piece was read at once, and same_was_read() is not called; below 0: an error. */
	result = file->side->ops->read(file, &same->pieces[side]);
	if (result != 0)
		same->awaited[side] = false;
	same->failed |= result < 0;
}

/* Runs the event loop until the pieces of both files have been read. After an error or a signal, cancels the
 * reads, and sets same->failed without a message: the files then count as different, and the copy that
 * follows reports the failure. */
static void
same_wait(struct same *same)
{
	struct rr_loop *loop = same->cp->engine->loop;

	while (same->awaited[SAME_FROM] || same->awaited[SAME_TO]) {
		if (rr_loop_turn(loop, -1) >= 0 && !rr_tool_interrupted(NULL))
			continue;
		for (int side = 0; side < SAME_SIDES; side++) {
			if (same->awaited[side])
				same->files[side].side->ops->cancel(&same->pieces[side]);
			same->awaited[side] = false;
		}
		same->failed = true;
	}
}

/* Reads the piece at `offset` from both files, and tells whether both pieces have the same octets. `size` is
 * the end of the octets that are compared: a piece that would go beyond it counts only up to there. Returns
 * false also if a piece could not be read, or a file ends before. */
static bool
same_piece(struct same *same, uint64_t offset, uint64_t size)
{
	const struct rr_cp_piece *from = &same->pieces[SAME_FROM], *to = &same->pieces[SAME_TO];
	uint32_t wanted = (uint32_t)rr_min(size - offset, same->length);

	for (int side = 0; side < SAME_SIDES; side++)
		same_begin(same, side, offset);
	same_wait(same);
	return !same->failed && from->moved == wanted && to->moved == wanted &&
	       memcmp(from->data, to->data, wanted) == 0;
}

/* Returns the most octets of a piece that is read from this side. The piece_max of the destination is not
 * used: that is for writing, and here both files are read. */
static uint32_t
same_piece_max(const struct rr_side *side)
{
	return side->nfs ? rr_nfs_read_max(side->nfs) : RR_PUMP_PIECE;
}

/* Allocates memory for one piece of each file. Returns false if there is no memory. */
static bool
same_prepare(struct same *same)
{
	const struct rr_cp *cp = same->cp;

	same->length =
		(uint32_t)rr_min(RR_PUMP_PIECE, rr_min(same_piece_max(&cp->from), same_piece_max(&cp->to)));
	same->memory = malloc((size_t)SAME_SIDES * same->length);
	return same->memory != NULL;
}

/* Tells whether both open files have `size` octets, which are equal; that they have no more is read, too, as
 * the size of a file may be wrong. Returns false also if a file cannot be read. */
static bool
same_data(struct same *same, uint64_t size)
{
	bool equal = same_prepare(same);

	for (uint64_t offset = 0; offset <= size && equal; offset += same->length)
		equal = same_piece(same, offset, size);
	free(same->memory);
	return equal;
}

uint64_t
rr_cp_same_beginning(struct rr_cp *cp, const struct rr_file *from, const struct rr_cp_pair *pair,
	const struct rr_info *there)
{
	struct same same = { .cp = cp, .files[SAME_FROM] = *from };
	uint64_t equal = 0;

	if (cp->to.ops->open(&cp->to, pair->to, pair->to_name, there, &same.files[SAME_TO]) < 0)
		return 0;
	/* Only whole equal pieces count: the octets behind them are copied again. */
	if (same_prepare(&same))
		while (equal + same.length <= there->size && same_piece(&same, equal, equal + same.length))
			equal += same.length;
	free(same.memory);
	cp->to.ops->close(&same.files[SAME_TO]);
	return equal;
}

/* Tells whether the source and the file `there` of the destination have the same octets. Returns false also
 * if one of them cannot be read. If the command line names the source itself (cp->depth is 0), symbolic links
 * on the destination's path are followed. */
bool
rr_cp_same_contents(struct rr_cp *cp, const struct rr_cp_pair *pair, const struct rr_info *there)
{
	const struct rr_directory *to = cp->depth > 0 ? pair->to : NULL;
	struct same same = { .cp = cp };
	bool equal;

	if (pair->info->size != there->size)
		return false;
	if (cp->from.ops->open(&cp->from, pair->from, pair->name, pair->info, &same.files[SAME_FROM]) < 0)
		return false;
	if (cp->to.ops->open(&cp->to, to, to ? pair->to_name : cp->to_path, there, &same.files[SAME_TO]) <
		0) {
		cp->from.ops->close(&same.files[SAME_FROM]);
		return false;
	}
	equal = same_data(&same, there->size);
	cp->from.ops->close(&same.files[SAME_FROM]);
	cp->to.ops->close(&same.files[SAME_TO]);
	return equal;
}

static bool
same_is_older(struct timespec a, struct timespec b)
{
	return a.tv_sec < b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec < b.tv_nsec);
}

bool
rr_cp_is_kept(struct rr_cp *cp, const struct rr_cp_pair *pair)
{
	struct rr_info there;

	if ((!cp->keep && !cp->ask) || cp->fresh ||
		rr_cp_there_look(cp, pair->to, pair->to_name, &there) < 0 || there.kind == RR_KIND_NONE)
		return false;
	rr_progress_hide(&cp->progress);
	return cp->keep || !rr_ask(cp->tool, "write over %s%s", cp->to_name, cp->path);
}

bool
rr_cp_same(struct rr_cp *cp, const struct rr_cp_pair *pair)
{
	struct rr_info there;
	int error;

	if (!cp->update && !cp->checksum)
		return false;
	/* The path of a file that the command line names (depth 0) is followed through symbolic links. */
	error = cp->depth > 0 ? rr_cp_there_look(cp, pair->to, pair->to_name, &there)
			      : cp->to.ops->find(&cp->to, cp->to_path, true, &there);
	if (error < 0 || there.kind != RR_KIND_FILE)
		return false;
	if (cp->update && (!same_is_older(there.mtime, pair->info->mtime) ||
				  rr_cp_times_same(cp, pair->to, pair->info, &there)))
		return true;
	return cp->checksum && rr_cp_same_contents(cp, pair, &there);
}
