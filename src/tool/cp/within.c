/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/checked.h"
#include "tool/cp/pump.h"
#include "tool/tool.h"

/*
 * A copy from a server to the same server, which the server makes by itself: as a clone of the whole file, or
 * else extent by extent, so that holes stay holes. If the server refuses, the whole file passes through this
 * program: the octets that the server copied until then are written again.
 */

/* The octets of a COPY, by which the progress bar moves. */
#define WITHIN_PIECE (UINT64_C(64) << 20)

/* A search for the next octets in no hole. */
struct within_search {
	bool over;
	int error;
};

/* Called when the search for the next octets in no hole has ended: notes that it is over, and its error. */
static void
within_found(struct rr_extent *extent, int error)
{
	struct within_search *search = extent->ctx;

	search->over = true;
	search->error = error;
}

/* Finds the first octets of the source at or behind offset that are in no hole, and waits for the answer.
 * Returns 0; or a negative number after an error or a signal. */
static int
within_extent(struct rr_pump *pump, uint64_t offset, struct rr_extent *extent)
{
	struct within_search search = { .over = false };
	int result;

	*extent = (struct rr_extent){
		.file = pump->from, .offset = offset, .done = within_found, .ctx = &search
	};
	/* 0: the answer comes later, by within_found(); 1: it is there at once. */
	result = pump->from->side->ops->extent(extent);
	while (result == 0 && !search.over) {
		if (rr_loop_turn(pump->engine->loop, -1) >= 0 && !rr_tool_interrupted(NULL))
			continue;
		pump->from->side->ops->cancel_extent(extent);
		return -RPCRDMA_ERR_CANCELLED;
	}
	return result < 0 ? result : search.error;
}

/* Adds octets to the progress that the user sees. Does nothing if the octets are copied a second time
 * (pump->again), as the server has forgotten them in a restart: they were counted before. Notes how many
 * octets were added: if the server refuses to go on, rr_pump_within() takes them back. */
static void
within_count(struct rr_pump *pump, uint64_t octets)
{
	if (pump->again)
		return;
	pump->counted_within += octets;
	rr_progress_add(pump->progress, octets);
}

/* Makes the server copy one piece of the file by itself, and waits until that is done. Returns 0; 1 if the
 * server does not copy by itself; or a negative number. */
static int
within_piece(struct rr_pump *pump, uint64_t offset, uint64_t length)
{
	int result = pump->to->side->ops->within(pump->from, pump->to, offset, length, false);

	if (result != 0)
		return result;
	pump->copied_within += pump->again ? 0 : length;
	pump->last = offset + length;
	within_count(pump, length);
	rr_progress_show(pump->progress);
	return 0;
}

/* Makes the server copy the octets from offset to end, in pieces of at most WITHIN_PIECE octets. Returns as
 * within_piece() does. */
static int
within_range(struct rr_pump *pump, uint64_t offset, uint64_t end)
{
	int result = 0;

	while (offset < end && result == 0) {
		/* The last piece of a file of nearly 2^64 octets ends before the offset would wrap around. */
		uint64_t piece = rr_min(end - offset, WITHIN_PIECE);

		result = within_piece(pump, offset, piece);
		offset += piece;
	}
	return result;
}

/* Makes the server copy all octets of the file that are in no hole; the octets of holes are only added to the
 * progress. Returns 0; 1 if the server does not copy by itself, or cannot tell the holes of the file; or a
 * negative number after an error or a signal. */
static int
within_extents(struct rr_pump *pump, uint64_t size)
{
	struct rr_extent extent;
	int result = 0;

	for (uint64_t at = 0; at < size && result == 0; at = extent.end) {
		result = within_extent(pump, at, &extent);
		if (result != 0 || extent.unknown)
			return result < 0 ? result : 1;
		/* No octets in no hole follow. */
		if (extent.end <= at)
			break;
		within_count(pump, rr_min(extent.start, size) - at);
		result = within_range(pump, extent.start, rr_min(extent.end, size));
	}
	return result;
}

/* Makes the server clone the whole file, so that both files share their storage. Returns 0; 1 if the server
 * does not clone files; or a negative number after an error. After 1, pump->clones is false: the server is
 * not asked to clone later files. */
static int
within_clone(struct rr_pump *pump, uint64_t size)
{
	int result = pump->clones ? pump->to->side->ops->within(pump->from, pump->to, 0, 0, true) : 1;

	pump->clones = result != 1;
	if (result != 0)
		return result;
	pump->last = size;
	pump->copied_within += pump->again ? 0 : size;
	within_count(pump, size);
	return 0;
}

int
rr_pump_within(struct rr_pump *pump, uint64_t size)
{
	int result;

	pump->counted_within = 0;
	result = within_clone(pump, size);
	if (result == 1)
		result = pump->extents ? within_extents(pump, size) : within_range(pump, 0, size);
	pump->within_proved |= result == 0;
	if (result != 1)
		return result;
	/* A server that has copied another file may refuse only this file. If it has copied none yet, it is
	 * not asked for later files, either. */
	pump->within = pump->within_proved;
	pump->by_server = false;
	pump->last = 0;
	/* This program writes the first `size` octets of the file: of these, the server has copied none. They
	 * are counted when they are written. */
	pump->copied_within -= rr_min(pump->copied_within, size);
	pump->progress->total -= pump->counted_within;
	return 1;
}
