/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/cp/pump.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/checked.h"
#include "base/env.h"
#include "tool/tool.h"

/* The most rounds (pump.h) of a copy: after so many restarts in which the server forgot data, the copy is
 * given up. */
enum { ROUNDS = 16 };

static void pump_slot_advance(struct rr_pump *pump, struct rr_pump_slot *slot);
static void pump_read_on(struct rr_pump *pump);
static void pump_is_later(struct rr_timer *timer);

int
rr_pump_init(struct rr_pump *pump, struct rpcrdma_engine *engine, struct rr_progress *progress)
{
	size_t size = (size_t)RR_PUMP_PIECES * RR_PUMP_PIECE;

	*pump = (struct rr_pump){ .engine = engine, .progress = progress };
	rr_timer_init(&pump->later, pump_is_later);
	pump->memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pump->memory == MAP_FAILED) {
		pump->memory = NULL;
		return -RPCRDMA_ERR_NOMEM;
	}
	for (uint32_t i = 0; i < RR_PUMP_PIECES; i++) {
		pump->slots[i].pump = pump;
		pump->slots[i].memory = pump->memory + (size_t)i * RR_PUMP_PIECE;
	}
	return 0;
}

void
rr_pump_free(struct rr_pump *pump)
{
	if (pump->memory)
		munmap(pump->memory, (size_t)RR_PUMP_PIECES * RR_PUMP_PIECE);
}

/* Ends the copy with an error of `side`, a negative number whose text is in side->text already: stores the
 * error and the side in the pump. Does nothing if the pump has an earlier error. */
static void
pump_stop(struct rr_pump *pump, struct rr_side *side, int error)
{
	if (pump->error)
		return;
	pump->error = error;
	pump->failed = side;
}

/* Ends the copy with an error that does not come from an operation of a side: stores the error in the pump,
 * and its text, from format, in the side. fatal: going on with other files would be of no use. Does nothing
 * if the pump has an earlier error. */
static void __attribute__((format(printf, 5, 6)))
pump_stop_because(struct rr_pump *pump, struct rr_side *side, int error, bool fatal, const char *format, ...)
{
	va_list args;

	if (pump->error)
		return;
	va_start(args, format);
	vsnprintf(side->text.text, sizeof(side->text.text), format, args);
	va_end(args);
	side->fatal = fatal;
	pump_stop(pump, side, error);
}

/* Ends the copy with the error that the source changed its size while it was copied. Returns the error with
 * which the copy ends. */
static int
pump_changed(struct rr_pump *pump)
{
	pump_stop_because(pump, pump->from->side, -RPCRDMA_ERR_SYSTEM, false,
		"the file changed its size while it was copied; copy it again");
	return pump->error;
}

/* ---- The states of a slot: idle, reading, held if it must be, writing, idle ---- */

static void
pump_slot_free(struct rr_pump *pump, struct rr_pump_slot *slot)
{
	slot->state = RR_SLOT_IDLE;
	pump->busy--;
}

/* Ends the copy with the error of the slot's read or write, and frees the slot. The error of a read belongs
 * to the source, and the error of a write to the destination. */
static void
pump_slot_fail(struct rr_pump *pump, struct rr_pump_slot *slot, int error)
{
	pump_stop(pump, slot->state == RR_SLOT_READING ? pump->from->side : pump->to->side, error);
	pump_slot_free(pump, slot);
}

/* Called when the read or the write of a slot has ended: does the next steps of the slot, or ends the copy
 * after an error. */
static void
pump_slot_completed(struct rr_cp_piece *piece, int error)
{
	struct rr_pump_slot *slot = piece->ctx;

	if (error)
		pump_slot_fail(slot->pump, slot, error);
	else
		pump_slot_advance(slot->pump, slot);
}

/* Adds octets to the progress that the user sees. Does nothing in a further round, which copies octets that
 * were counted before. */
static void
pump_count(struct rr_pump *pump, uint64_t octets)
{
	if (!pump->again)
		rr_progress_add(pump->progress, octets);
}

/* ---- Holes of the source ---- */

/* Uses pump->extent, the answer of the source about its next octets that are in no hole: moves pump->next to
 * their start, or to the end of the file if there are none. If the server cannot tell its holes, all octets
 * will be read, and zeroes among them become holes. */
static void
pump_take_extent(struct rr_pump *pump)
{
	const struct rr_extent *extent = &pump->extent;
	uint64_t before = pump->next;

	if (extent->unknown) {
		pump->extents = false;
		pump->punch = true;
		return;
	}
	pump->next = extent->end <= before ? pump->end : rr_min(extent->start, pump->end);
	pump_count(pump, pump->next - before);
}

/* Called when the source has answered where its next octets in no hole are, or with an error, which ends the
 * copy. Idle slots then read on at these octets. */
static void
pump_found_extent(struct rr_extent *extent, int error)
{
	struct rr_pump *pump = extent->ctx;

	pump->seeking = false;
	pump->busy--;
	if (error)
		pump_stop(pump, pump->from->side, error);
	else
		pump_take_extent(pump);
	pump_read_on(pump);
}

/* Makes sure that pump->next is in no hole: at the end of pump->extent, asks the source for the next extent,
 * and moves pump->next to it. Does nothing if holes are not looked for (pump->extents). Returns true if the
 * octets at pump->next can be read now, unless this is the end of the file. Returns false if the source will
 * answer later, by pump_found_extent(), or if the copy has failed. */
static bool
pump_skip_hole(struct rr_pump *pump)
{
	struct rr_extent *extent = &pump->extent;
	int result;

	if (!pump->extents || pump->next < extent->end)
		return true;
	*extent = (struct rr_extent){
		.file = pump->from, .offset = pump->next, .done = pump_found_extent, .ctx = pump
	};
	result = pump->from->side->ops->extent(extent);
	if (result == 1)
		pump_take_extent(pump);
	if (result < 0)
		pump_stop(pump, pump->from->side, result);
	pump->seeking = result == 0;
	pump->busy += pump->seeking;
	return result == 1;
}

/* ---- The limit of --bwlimit ---- */

/* Tells whether the next piece, of so many octets, may be read now, and then takes its octets. If it has to
 * wait, arms the timer for its time. */
static bool
pump_take_time(struct rr_pump *pump, uint32_t octets)
{
	struct rr_loop *loop = pump->engine->loop;
	uint64_t now = pump->rate.limit > 0 ? rr_loop_clock(loop) : 0, wait = rr_rate_wait(&pump->rate, now);

	if (wait == 0) {
		rr_rate_take(&pump->rate, octets, now);
		return true;
	}
	rr_loop_arm(loop, &pump->later, wait);
	pump->waiting = true;
	pump->busy++;
	return false;
}

/* Called when the next piece has waited for its time: idle slots read on. */
static void
pump_is_later(struct rr_timer *timer)
{
	struct rr_pump *pump = rr_container(timer, struct rr_pump, later);

	pump->waiting = false;
	pump->busy--;
	pump_read_on(pump);
}

/* ---- Pieces ---- */

/* Whether a further piece may be read now: there are octets that were not read yet, and it is known where
 * they begin; no piece waits for its time; no other read is under way if the end is not known; and the window
 * has room. Pieces that are written in order may use all slots, as those that came early are held in theirs.
 */
static bool
pump_may_read(const struct rr_pump *pump)
{
	if (pump->error || pump->next == pump->end || pump->seeking || pump->waiting ||
		(pump->reading && pump->to_end))
		return false;
	return pump->in_order || pump->busy < pump->window.size;
}

/* Begins to read the next piece of the source into the slot. Returns 1 if the piece was read at once; 0 if
 * the read is under way; or a negative number. Also returns 0, and leaves the slot idle, if no piece can be
 * read now: the copy has failed, all pieces were read, the source is being asked for its holes, or it is a
 * stream of which another piece is being read, or the piece has to wait for its time. */
static int
pump_slot_read(struct rr_pump *pump, struct rr_pump_slot *slot)
{
	struct rr_cp_piece *piece = &slot->piece;
	uint32_t length;
	uint64_t end;

	if (!pump_may_read(pump))
		return 0;
	if (!pump_skip_hole(pump) || pump->next == pump->end)
		return 0;
	end = pump->extents ? rr_min(pump->end, pump->extent.end) : pump->end;
	length = (uint32_t)rr_min(pump->piece_size, end - pump->next);
	if (!pump_take_time(pump, length))
		return 0;
	slot->state = RR_SLOT_READING;
	pump->busy++;
	*piece = (struct rr_cp_piece){
		.data = slot->memory, .offset = pump->next, .done = pump_slot_completed
	};
	piece->length = length;
	piece->ctx = slot;
	/* The piece is the whole file: version 4 then opens, reads and closes the file by one call. */
	piece->io.once = piece->offset == 0 && piece->length == pump->end;
	slot->start = pump->next;
	slot->begun = rr_now(&rr_env_system);
	pump->next += piece->length;
	pump->reading = true;
	return pump->from->side->ops->read(pump->from, piece);
}

/* Searches the octets that were read into the slot, from the offset `at` in the slot's memory on. If `hole`
 * is false, returns the offset where the next octets to write begin; if `hole` is true, the offset where the
 * next hole begins; slot->filled if there is none. If pump->punch is set, each unit of zeroes is a hole.
 * Otherwise nothing is a hole, so the octets to write begin at `at`. A unit has the destination's hole_unit
 * octets, and is aligned in the file; the first and the last unit of the piece may be shorter. */
static uint32_t
pump_slot_find(const struct rr_pump *pump, const struct rr_pump_slot *slot, uint32_t at, bool hole)
{
	uint32_t unit = pump->to->side->hole_unit;

	while (pump->punch && at < slot->filled) {
		uint32_t length = rr_min(unit - ((slot->start + at) & (unit - 1)), slot->filled - at);
		const uint8_t *data = slot->memory + at;
		/* The first octet is zero, and each octet equals the next one. */
		bool zeroes = data[0] == 0 && memcmp(data, data + 1, length - 1) == 0;

		if (zeroes == hole)
			return at;
		at += length;
	}
	return pump->punch || hole ? slot->filled : at;
}

/* If a slot is in the state HELD and its piece is the next one to be written in order, goes on with this
 * slot: all octets in front of its piece have been written now. Used if one of the files is a stream. */
static void
pump_release(struct rr_pump *pump)
{
	for (uint32_t i = 0; i < RR_PUMP_PIECES; i++) {
		struct rr_pump_slot *slot = &pump->slots[i];

		if (slot->state == RR_SLOT_HELD && slot->start == pump->done) {
			pump_slot_advance(pump, slot);
			return;
		}
	}
}

/* Ends the slot's piece, whose octets are all written, and makes the slot idle. Returns 1, so that
 * pump_slot_advance() uses the slot for the next piece. With a stream, first goes on with the slot in the
 * state HELD that waits for this piece. That comes before this slot is idle, as a read begins in any idle
 * slot, and must not begin in this one, which pump_slot_advance() still works on. */
static int
pump_slot_finish(struct rr_pump *pump, struct rr_pump_slot *slot)
{
	pump_count(pump, slot->filled);
	if (pump->in_order) {
		pump->done = slot->start + slot->filled;
		pump_release(pump);
	} else if (slot->filled == pump->piece_size) {
		rr_window_moved(&pump->window, slot->begun, rr_now(&rr_env_system));
	}
	pump_slot_free(pump, slot);
	return 1;
}

/* Begins to write the next octets of the slot's piece that are in no hole; ends the piece if there are none
 * left. If one of the files is a stream and octets in front of the piece are not written yet, only sets the
 * state HELD. Returns 1 if the slot can do its next step at once; 0 if it has to wait; or a negative
 * number. */
static int
pump_slot_write(struct rr_pump *pump, struct rr_pump_slot *slot)
{
	struct rr_cp_piece *piece = &slot->piece;
	uint32_t start;

	if (pump->in_order && slot->start != pump->done) {
		slot->state = RR_SLOT_HELD;
		return 0;
	}
	start = pump_slot_find(pump, slot, slot->cursor, false);
	slot->cursor = pump_slot_find(pump, slot, start, true);
	slot->state = RR_SLOT_WRITING;
	if (start == slot->cursor)
		return pump_slot_finish(pump, slot);
	piece->data = slot->memory + start;
	piece->offset = slot->start + start;
	piece->length = slot->cursor - start;
	if (pump->last < slot->start + slot->cursor)
		pump->last = slot->start + slot->cursor;
	return pump->to->side->ops->write(pump->to, piece);
}

/* Begins to read pieces into free slots, as many as may be read now. */
static void
pump_read_on(struct rr_pump *pump)
{
	for (uint32_t i = 0; i < RR_PUMP_PIECES && pump_may_read(pump); i++)
		if (pump->slots[i].state == RR_SLOT_IDLE)
			pump_slot_advance(pump, &pump->slots[i]);
}

/* Notes what the piece that was read into the slot says about the end of the source. RFC 1813, 3.3.6: "eof:
 * If the read ended at the end-of-file (formally, in a correctly formed READ request, if READ3args.offset
 * plus READ3resok.count is equal to the size of the file), eof is returned as TRUE". Returns 0; or an error
 * if the source ends before the size that it should have: rr_pump_copy() then reads it to its end. */
static int
pump_note_end(struct rr_pump *pump, const struct rr_pump_slot *slot)
{
	uint64_t end = slot->start + slot->filled;

	if (slot->filled == slot->piece.length) {
		pump->at_end |= end == pump->end && pump->from->side->nfs && slot->piece.io.eof;
		return 0;
	}
	if (pump->to_end) {
		pump->next = pump->end = end;
		return 0;
	}
	pump->is_short = true;
	return pump_changed(pump);
}

/* Handles a piece that has been read into the slot, and begins to write it. Returns 1 if the slot can do its
 * next step at once; 0 if it has to wait; or a negative number. */
static int
pump_slot_take(struct rr_pump *pump, struct rr_pump_slot *slot)
{
	int error;

	slot->filled = slot->piece.moved;
	rr_rate_give(&pump->rate, slot->piece.length - slot->filled);
	slot->cursor = 0;
	pump->reading = false;
	error = pump_note_end(pump, slot);
	return error ? error : pump_slot_write(pump, slot);
}

/* Does the next step of a slot according to its state: begins to read a piece of the file into the slot, or
 * begins to write the piece that was read. Returns 1 if the slot can do a further step at once; 0 if it has
 * to wait; or a negative number. */
static int
pump_slot_step(struct rr_pump *pump, struct rr_pump_slot *slot)
{
	switch (slot->state) {
	case RR_SLOT_READING: return pump_slot_take(pump, slot);
	case RR_SLOT_HELD:
	case RR_SLOT_WRITING: return pump_slot_write(pump, slot);
	default: return pump_slot_read(pump, slot);
	}
}

/* Does steps of the slot until it has to wait. An error ends the copy. Then begins to read into free slots:
 * the window may have grown, or a stream may be read further. */
static void
pump_slot_advance(struct rr_pump *pump, struct rr_pump_slot *slot)
{
	int result;

	while ((result = pump_slot_step(pump, slot)) == 1)
		;
	if (result < 0)
		pump_slot_fail(pump, slot, result);
	pump_read_on(pump);
}

/* Ends the reads, the writes and the question for an extent that are under way. Their functions done() are
 * not called. Makes all slots idle, for the next round or the next file. */
static void
pump_cancel(struct rr_pump *pump)
{
	for (uint32_t i = 0; i < RR_PUMP_PIECES; i++) {
		struct rr_pump_slot *slot = &pump->slots[i];

		if (slot->state == RR_SLOT_READING)
			pump->from->side->ops->cancel(&slot->piece);
		if (slot->state == RR_SLOT_WRITING)
			pump->to->side->ops->cancel(&slot->piece);
		slot->state = RR_SLOT_IDLE;
	}
	if (pump->seeking)
		pump->from->side->ops->cancel_extent(&pump->extent);
	rr_loop_disarm(pump->engine->loop, &pump->later);
	pump->seeking = pump->waiting = false;
	pump->busy = 0;
}

/* ---- Running ---- */

/* Copies the octets of the file from `start` up to `end`, or to the end of the source, by reading and writing
 * them. Returns when all is written, or after an error or a signal: 0, or the error. */
static int
pump_run(struct rr_pump *pump, uint64_t start, uint64_t end)
{
	pump->next = pump->done = start;
	pump->extent.end = 0;
	pump->end = end;
	pump->reading = false;
	pump_read_on(pump);
	while (pump->busy > 0 && !pump->error && !rr_tool_interrupted(NULL)) {
		if (rr_loop_turn(pump->engine->loop, -1) < 0)
			pump_stop_because(
				pump, pump->to->side, -RPCRDMA_ERR_SYSTEM, true, "waiting for events failed");
		rr_progress_show(pump->progress);
	}
	if (rr_tool_interrupted(NULL))
		pump_stop_because(pump, pump->to->side, -RPCRDMA_ERR_CANCELLED, true, "interrupted");
	pump_cancel(pump);
	return pump->error;
}

/* Copies the first `size` octets of the file, or a stream to its end. If possible, the server copies them by
 * itself; otherwise this program reads and writes them. Returns 0, or the error. */
static int
pump_move(struct rr_pump *pump, uint64_t size)
{
	int result = pump->by_server ? rr_pump_within(pump, size) : 1;

	if (result < 0)
		pump_stop(pump, pump->to->side, result);
	return result == 1 ? pump_run(pump, pump->again ? 0 : pump->to->kept, size) : result;
}

/* Copies the octets from `start` to the end of the source, wherever that is, one piece after the other: many
 * files that are made while they are read, as those of /proc, can be read in no other way. Stores the end in
 * info->size. Returns 0, or the error. */
static int
pump_run_to_end(struct rr_pump *pump, uint64_t start, struct rr_info *info)
{
	const bool in_order = pump->in_order, extents = pump->extents;
	int error;

	pump->in_order = pump->to_end = true;
	pump->extents = false;
	error = pump_run(pump, start, RR_SIZE_UNKNOWN);
	pump->in_order = in_order;
	pump->to_end = pump->from->stream;
	pump->extents = extents;
	pump->unsized |= pump->end != info->size;
	info->size = pump->end;
	return error;
}

/* Copies the first `size` octets of the file; then what the source has behind them, as info->size may be
 * wrong. A source that is shorter is read anew; but only from where it was written into a stream, which takes
 * no octet back. Stores the size of what was copied in info->size. Returns 0, or the error. */
static int
pump_move_whole(struct rr_pump *pump, uint64_t size, struct rr_info *info)
{
	int error;

	pump->at_end = pump->is_short = false;
	error = pump_move(pump, size);
	if (pump->is_short && pump->error == -RPCRDMA_ERR_SYSTEM && !rr_tool_interrupted(NULL)) {
		pump->error = 0;
		pump->failed = NULL;
		pump->last = 0;
		return pump_run_to_end(pump, pump->to->stream ? pump->done : 0, info);
	}
	if (pump->from->stream)
		info->size = pump->end;
	if (error || pump->from->stream || pump->at_end || pump->again)
		return error;
	return pump_run_to_end(pump, size, info);
}

/* Checks that the source still has the size that it had at the beginning of the copy. A stream is not
 * checked, as it has no size. Returns 0, or the error with which the copy ends. */
static int
pump_check_size(struct rr_pump *pump, uint64_t size)
{
	struct rr_info now;
	int error;

	if (pump->from->stream)
		return 0;
	error = pump->from->side->ops->describe(pump->from, &now);
	if (error)
		pump_stop(pump, pump->from->side, error);
	else if (now.size != size)
		pump_changed(pump);
	return pump->error;
}

/* Prepares the copy of a file: decides whether holes are looked for in the source, whether zeroes become
 * holes, and whether the server copies the data by itself. */
static void
pump_begin(struct rr_pump *pump, struct rr_file *from, struct rr_file *to, const struct rr_info *info)
{
	bool holes = pump->sparse != RR_SPARSE_NEVER && !to->stream;
	bool sparse = !from->stream && info->used < info->size;

	pump->from = from;
	pump->to = to;
	pump->error = 0;
	pump->failed = NULL;
	pump->again = false;
	pump->last = to->kept;
	pump->copied_within = 0;
	pump->in_order = from->stream || to->stream;
	pump->to_end = from->stream;
	pump->unsized = false;
	pump->extents = holes && sparse;
	pump->punch = holes && pump->sparse == RR_SPARSE_ALWAYS;
	/* If zeroes have to be found, or written in place of holes, this side must see the data. */
	pump->by_server = pump->within && !pump->in_order && info->size > 0 && to->kept == 0 &&
			  (pump->sparse == RR_SPARSE_AUTO || (pump->sparse == RR_SPARSE_NEVER && !sparse));
	pump->piece_size =
		(uint32_t)rr_min(RR_PUMP_PIECE, rr_min(from->side->piece_max, to->side->piece_max));
	pump->piece_size = rr_rate_piece(&pump->rate, pump->piece_size);
	rr_window_begin(&pump->window, pump->piece_size, rr_now(&rr_env_system));
}

/* Called after the server has lost octets in a restart. Prepares a further round, which copies these octets
 * again. If the source is a stream, which cannot be read again, ends the copy with an error instead. Returns
 * 0, or that error. */
static int
pump_may_repeat(struct rr_pump *pump)
{
	if (pump->from->stream)
		pump_stop_because(pump, pump->to->side, -RPCRDMA_ERR_PEER, false,
			"the server restarted and forgot data, which cannot be read from here again");
	pump->again = true;
	return pump->error;
}

int
rr_pump_copy(struct rr_pump *pump, struct rr_file *from, struct rr_file *to, struct rr_info *info)
{
	uint64_t todo = from->stream ? RR_SIZE_UNKNOWN : info->size, told = info->size;
	int error = 0;

	pump_begin(pump, from, to, info);
	/* In the first round, todo is the whole file; then commit() sets it to the octets that were lost. */
	for (int round = 0; round < ROUNDS; round++) {
		if (pump_move_whole(pump, todo, info) || pump_check_size(pump, told))
			return pump->error;
		to->short_end = pump->unsized || pump->last < info->size;
		error = to->side->ops->commit(to, &todo);
		if (error)
			pump_stop(pump, to->side, error);
		if (error || todo == 0)
			return error;
		if (pump_may_repeat(pump))
			return pump->error;
	}
	pump_stop_because(pump, to->side, -RPCRDMA_ERR_PEER, true,
		"the server forgot unstable data %d times; look after it", ROUNDS);
	return pump->error;
}
