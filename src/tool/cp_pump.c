/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/cp_pump.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>

#include "base/checked.h"
#include "tool/tool.h"

/* How often a server may forget data in restarts before it is taken for one that never keeps any. */
enum { ROUNDS = 16 };

static void advance(struct rr_pump *pump, struct rr_pump_slot *slot);

int
rr_pump_init(struct rr_pump *pump, struct rr_engine *engine, struct rr_progress *progress)
{
	size_t size = (size_t)RR_PUMP_PIECES * RR_PUMP_PIECE;

	*pump = (struct rr_pump){ .engine = engine, .progress = progress };
	pump->memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pump->memory == MAP_FAILED) {
		pump->memory = NULL;
		return -RPCRDMA_ERR_NOMEM;
	}
	for (uint32_t i = 0; i < RR_PUMP_PIECES; i++) {
		pump->slots[i].pump = pump;
		pump->slots[i].piece.data = pump->memory + (size_t)i * RR_PUMP_PIECE;
	}
	return 0;
}

void
rr_pump_free(struct rr_pump *pump)
{
	if (pump->memory)
		munmap(pump->memory, (size_t)RR_PUMP_PIECES * RR_PUMP_PIECE);
}

static void
stop(struct rr_pump *pump, struct rr_side *side, int error)
{
	if (pump->error)
		return;
	pump->error = error;
	pump->failed = side;
}

/* The same for what no side found. */
static void __attribute__((format(printf, 5, 6)))
stop_because(struct rr_pump *pump, struct rr_side *side, int error, bool fatal, const char *format, ...)
{
	va_list args;

	if (pump->error)
		return;
	va_start(args, format);
	vsnprintf(side->text.text, sizeof(side->text.text), format, args);
	va_end(args);
	side->fatal = fatal;
	stop(pump, side, error);
}

static int
changed(struct rr_pump *pump)
{
	stop_because(pump, pump->from->side, -RPCRDMA_ERR_SYSTEM, false,
		"the file changed its size while it was copied; copy it again");
	return pump->error;
}

/* ---- A slot's way: idle, reading, writing, idle ---- */

static void
completed(struct rr_piece *piece, int error)
{
	struct rr_pump_slot *slot = piece->ctx;
	struct rr_pump *pump = slot->pump;

	if (error) {
		stop(pump, slot->state == RR_SLOT_READING ? pump->from->side : pump->to->side, error);
		slot->state = RR_SLOT_IDLE;
		pump->busy--;
		return;
	}
	advance(pump, slot);
}

static int
begin_read(struct rr_pump *pump, struct rr_pump_slot *slot)
{
	struct rr_piece *piece = &slot->piece;

	piece->offset = pump->next;
	piece->length = (uint32_t)rr_min(pump->piece_size, pump->end - pump->next);
	piece->done = completed;
	piece->ctx = slot;
	pump->next += piece->length;
	pump->busy++;
	slot->state = RR_SLOT_READING;
	return pump->from->side->ops->read(pump->from, piece);
}

static int
begin_write(struct rr_pump *pump, struct rr_pump_slot *slot)
{
	if (slot->piece.moved != slot->piece.length)
		return changed(pump);
	slot->state = RR_SLOT_WRITING;
	return pump->to->side->ops->write(pump->to, &slot->piece);
}

static void
end_write(struct rr_pump *pump, struct rr_pump_slot *slot)
{
	slot->state = RR_SLOT_IDLE;
	pump->busy--;
	if (!pump->again)
		rr_progress_add(pump->progress, slot->piece.length);
}

/* Takes the slot as far as it goes without waiting. */
static void
advance(struct rr_pump *pump, struct rr_pump_slot *slot)
{
	int result = 1;

	while (result == 1) {
		if (slot->state == RR_SLOT_WRITING)
			end_write(pump, slot);
		if (slot->state == RR_SLOT_IDLE && (pump->error || pump->next == pump->end))
			return;
		result = slot->state == RR_SLOT_IDLE ? begin_read(pump, slot) : begin_write(pump, slot);
	}
	if (result == 0)
		return;
	stop(pump, slot->state == RR_SLOT_READING ? pump->from->side : pump->to->side, result);
	slot->state = RR_SLOT_IDLE;
	pump->busy--;
}

static void
cancel_all(struct rr_pump *pump)
{
	for (uint32_t i = 0; i < RR_PUMP_PIECES; i++) {
		struct rr_pump_slot *slot = &pump->slots[i];

		if (slot->state == RR_SLOT_READING)
			pump->from->side->ops->cancel(&slot->piece);
		if (slot->state == RR_SLOT_WRITING)
			pump->to->side->ops->cancel(&slot->piece);
		slot->state = RR_SLOT_IDLE;
	}
	pump->busy = 0;
}

/* ---- A run ---- */

static int
run(struct rr_pump *pump, uint64_t size)
{
	pump->next = 0;
	pump->end = size;
	for (uint32_t i = 0; i < RR_PUMP_PIECES; i++)
		advance(pump, &pump->slots[i]);
	while (pump->busy > 0 && !pump->error && !rr_tool_interrupted(NULL)) {
		if (rr_loop_turn(pump->engine->loop, -1) < 0)
			stop_because(
				pump, pump->to->side, -RPCRDMA_ERR_SYSTEM, true, "waiting for events failed");
		rr_progress_show(pump->progress);
	}
	if (rr_tool_interrupted(NULL))
		stop_because(pump, pump->to->side, -RPCRDMA_ERR_CANCELLED, true, "interrupted");
	cancel_all(pump);
	return pump->error;
}

static int
check_size(struct rr_pump *pump, uint64_t size)
{
	struct rr_info now;
	int error = pump->from->side->ops->describe(pump->from, &now);

	if (error)
		stop(pump, pump->from->side, error);
	else if (now.size != size)
		changed(pump);
	return pump->error;
}

int
rr_pump_copy(struct rr_pump *pump, struct rr_file *from, struct rr_file *to, uint64_t size)
{
	uint64_t todo = size;
	int error = 0;

	pump->from = from;
	pump->to = to;
	pump->error = 0;
	pump->failed = NULL;
	pump->again = false;
	pump->piece_size =
		(uint32_t)rr_min(RR_PUMP_PIECE, rr_min(from->side->piece_max, to->side->piece_max));
	for (int round = 0; round < ROUNDS; round++) {
		if (run(pump, todo) || check_size(pump, size))
			return pump->error;
		error = to->side->ops->commit(to, &todo);
		if (error)
			stop(pump, to->side, error);
		if (error || todo == 0)
			return error;
		pump->again = true;
	}
	stop_because(pump, to->side, -RPCRDMA_ERR_PEER, true,
		"the server forgot unstable data %d times; look after it", ROUNDS);
	return pump->error;
}
