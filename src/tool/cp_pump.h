/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_CP_PUMP_H
#define RR_TOOL_CP_PUMP_H

#include "tool/cp_side.h"
#include "tool/progress.h"

/*
 * Moves the data of one file at a time from one side to the other: a window of pieces, each read and then
 * written, in any order among them. Holes are neither read nor written. Where one of the files is a stream,
 * one piece is read at a time, and pieces are written in their order. Where both sides are one server that
 * copies by itself (cp_within.c), no data moves by way of here.
 */

enum { RR_PUMP_PIECES = 16, RR_PUMP_PIECE = 1 << 20 };

/* --sparse: what becomes of zeroes. */
enum rr_sparse {
	RR_SPARSE_AUTO,   /* holes where the source has some */
	RR_SPARSE_ALWAYS, /* holes wherever there are enough zeroes */
	RR_SPARSE_NEVER
};

struct rr_pump;

/*
 * A slot is READING the piece that begins at start, then, for each run of octets in it that are no hole,
 * WRITING; HELD while pieces in front of it are to be written first.
 */
struct rr_pump_slot {
	struct rr_pump *pump;
	struct rr_piece piece; /* the whole piece, then one run of it after the other */
	uint8_t *memory;
	uint64_t start;
	uint32_t filled, cursor; /* octets of the piece: that were read, and that are done with */
	enum { RR_SLOT_IDLE, RR_SLOT_READING, RR_SLOT_HELD, RR_SLOT_WRITING } state;
};

struct rr_pump {
	struct rpcrdma_engine *engine;
	struct rr_progress *progress;
	enum rr_sparse sparse;
	uint8_t *memory; /* one page-aligned buffer for each piece, for the pump's life */
	struct rr_pump_slot slots[RR_PUMP_PIECES];

	/* Of the run in progress. */
	struct rr_file *from, *to;
	uint64_t next, end;      /* what is to be read; end shrinks when a stream's end is seen */
	struct rr_extent extent; /* of the source: octets that are in no hole */
	uint64_t done;           /* in order: what lies in front of this was written */
	uint64_t last;           /* the end of what was written */
	uint32_t piece_size, busy;
	bool extents;   /* the source's holes are known, and left out */
	bool seeking;   /* the next extent is being asked for */
	bool punch;     /* zeroes are not written */
	bool in_order;  /* one of the files is a stream */
	bool by_server; /* the server copies by itself */
	bool reading;   /* a piece of the stream is being read */
	bool again;     /* octets of this run were counted before */
	int error;
	struct rr_side *failed; /* whose text says why */

	/* Of all runs between two sides. */
	bool within, clones;    /* both sides are one server, which copies, or clones, as far as is known */
	bool within_proved;     /* the server did it once */
	uint64_t copied_within; /* octets of the last run that the server copied by itself */
};

/* -RPCRDMA_ERR_NOMEM. */
int rr_pump_init(struct rr_pump *pump, struct rpcrdma_engine *engine, struct rr_progress *progress);
void rr_pump_free(struct rr_pump *pump);

/*
 * Copies info->size octets, or up to the end where from is a stream, and has the receiving side commit them;
 * what that lost in a restart is read and written again. Afterwards the file that was read must still have
 * that size. info->size then is what was copied. Nothing is outstanding when it returns. pump->failed is the
 * side whose file and text tell of an error.
 */
int rr_pump_copy(struct rr_pump *pump, struct rr_file *from, struct rr_file *to, struct rr_info *info);

/* cp_within.c: has the server copy the file. 1: the server does not do that, and the data goes by way of
 * here; or negative. */
int rr_pump_within(struct rr_pump *pump, uint64_t size);

#endif
