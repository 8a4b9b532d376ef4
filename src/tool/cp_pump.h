/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_CP_PUMP_H
#define RR_TOOL_CP_PUMP_H

#include "tool/cp_side.h"
#include "tool/progress.h"

/*
 * Moves the data of one file at a time from one side to the other: a window of
 * pieces, each read and then written, in any order among them.
 */

enum { RR_PUMP_PIECES = 16, RR_PUMP_PIECE = 1 << 20 };

struct rr_pump;

struct rr_pump_slot {
	struct rr_pump *pump;
	struct rr_piece piece;
	enum { RR_SLOT_IDLE, RR_SLOT_READING, RR_SLOT_WRITING } state;
};

struct rr_pump {
	struct rr_engine *engine;
	struct rr_progress *progress;
	uint8_t *memory; /* one page-aligned buffer for each piece, for the pump's life */
	struct rr_pump_slot slots[RR_PUMP_PIECES];

	/* Of the run in progress. */
	struct rr_file *from, *to;
	uint64_t next, end;
	uint32_t piece_size, busy;
	bool again; /* octets of this run were counted before */
	int error;
	struct rr_side *failed; /* whose text says why */
};

/* -RPCRDMA_ERR_NOMEM. */
int rr_pump_init(struct rr_pump *pump, struct rr_engine *engine, struct rr_progress *progress);
void rr_pump_free(struct rr_pump *pump);

/*
 * Copies size octets and has the receiving side commit them; what that lost in a restart is read and written
 * again. Afterwards the file that was read must still have that size. Nothing is outstanding when it returns.
 * pump->failed is the side whose file and text tell of an error.
 */
int rr_pump_copy(struct rr_pump *pump, struct rr_file *from, struct rr_file *to, uint64_t size);

#endif
