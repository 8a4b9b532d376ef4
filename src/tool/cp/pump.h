/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_CP_PUMP_H
#define RR_TOOL_CP_PUMP_H

#include "tool/cp/rate.h"
#include "tool/cp/side.h"
#include "tool/cp/window.h"
#include "tool/progress.h"

/*
 * The pump moves the data of one file at a time from one side to the other: a window of pieces, each read and
 * then written, in any order. Holes are neither read nor written. If one of the files is a stream, pieces are
 * read one at a time, and written in order. If both sides are the same server and it copies by itself
 * (within.c), no data passes through this program.
 *
 * A copy takes one round, in which all data is written and then committed. If the server has restarted and
 * forgot data until then, a further round writes the beginning of the file again, up to the end of that data.
 */

/* The most pieces that are moved at a time; the most octets of a piece. */
enum { RR_PUMP_PIECES = RR_WINDOW_MOST, RR_PUMP_PIECE = 1 << 19 };

/* The choices of --sparse. */
enum rr_sparse {
	RR_SPARSE_AUTO,   /* holes are made where the source has holes */
	RR_SPARSE_ALWAYS, /* holes wherever there are enough zeroes */
	RR_SPARSE_NEVER
};

struct rr_pump;

/*
 * A slot of the pump holds a piece of the data. It is READING the piece; then WRITING, once for each run of
 * octets between holes; and HELD while pieces in front of it have to be written first.
 */
struct rr_pump_slot {
	struct rr_pump *pump;
	struct rr_cp_piece piece; /* is read as a whole, and then written run by run */
	uint8_t *memory;
	uint64_t start;          /* offset of the piece in the file */
	uint64_t begun;          /* when the read of the piece began, ns */
	uint32_t filled, cursor; /* octets of the piece that were read; that were written, or are a hole */
	enum { RR_SLOT_IDLE, RR_SLOT_READING, RR_SLOT_HELD, RR_SLOT_WRITING } state;
};

struct rr_pump {
	struct rpcrdma_engine *engine;
	struct rr_progress *progress;
	enum rr_sparse sparse;
	uint8_t *memory; /* a page-aligned buffer for each piece, for the pump's life */
	struct rr_pump_slot slots[RR_PUMP_PIECES];

	/* The members of the copy in progress. */
	struct rr_file *from, *to;
	uint64_t next, end;      /* octets that are still to be read; end shrinks at the end of a stream */
	struct rr_extent extent; /* of the source: the last octets in no hole that were asked for */
	uint64_t done;           /* if in_order: the octets in front of this were written */
	uint64_t last;           /* the highest end of octets that were written: behind it is a hole */
	struct rr_window
		window; /* how many slots may be in use; not asked where pieces are written in order */
	/* The most octets of a piece; the number of slots that are not idle, of questions for an
	 * extent, and of waits for the next piece. */
	uint32_t piece_size, busy;
	bool extents;   /* the source's holes are known, and left out */
	bool seeking;   /* the next extent is being asked for */
	bool waiting;   /* the timer `later` is armed: the next piece has to wait for its time */
	bool punch;     /* zeroes are not written */
	bool in_order;  /* one of the files is a stream, or to_end is set */
	bool to_end;    /* the end of the source is not known: it is read piece by piece up to there */
	bool at_end;    /* the server said that the octets in front of `end` are all */
	bool is_short;  /* the source ended before the size that it should have */
	bool unsized;   /* the source had not as many octets as its size says */
	bool by_server; /* the server copies by itself */
	bool reading;   /* a piece is being read; only looked at if to_end is set */
	bool again;     /* octets that the server lost in a restart are copied again: they were counted */
	int error;
	struct rr_side *failed; /* its text has the reason of the error */

	/* The members for all copies between two sides. */
	struct rr_rate rate; /* octets that a server copies by itself are not taken from it */
	struct rr_timer later;
	bool within, clones; /* both sides are one server, which copies, or clones, as far as this is known */
	bool within_proved;  /* the server has copied or cloned a whole file */
	uint64_t copied_within;  /* octets of the file that the server copied by itself */
	uint64_t counted_within; /* octets of this file that rr_pump_within() has added to the progress */
};

/* Sets up the pump and makes its buffers. Returns 0, or -RPCRDMA_ERR_NOMEM. */
int rr_pump_init(struct rr_pump *pump, struct rpcrdma_engine *engine, struct rr_progress *progress);
void rr_pump_free(struct rr_pump *pump);

/*
 * Copies all octets of `from`, and has the receiving side commit them; octets that the server lost in a
 * restart are read and written again. info->size, of a file, may be wrong, as that of the files of /proc is:
 * the file is read up to its end. It is an error if the source says another size at the end of the copy than
 * it said before. Stores the number of octets copied in info->size. No read or write is under way when the
 * function returns. Returns 0; or an error, whose text is that of the side pump->failed.
 */
int rr_pump_copy(struct rr_pump *pump, struct rr_file *from, struct rr_file *to, struct rr_info *info);

/* within.c: makes the server of both files copy the first `size` octets of the file by itself. Returns 0;
 * 1 if the server does not do that, so that the data must pass through this program; or a negative number. */
int rr_pump_within(struct rr_pump *pump, uint64_t size);

#endif
