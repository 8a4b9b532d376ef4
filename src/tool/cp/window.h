/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_CP_WINDOW_H
#define RR_TOOL_CP_WINDOW_H

#include <stdint.h>

/*
 * How many pieces of a file are moved at a time. A distant server needs many, so that pieces are under way
 * while the answers to others come back. With a near server a copy is not faster with many, but slower: the
 * data of all of them no longer fit into the processor's caches, from which they are written.
 *
 * The window follows what it measures. The first pieces are moved alone, which gives the time that a piece
 * takes at least. By Little's law, rate * time pieces are under way as long as no piece waits for another
 * one. The window is twice that, and one more: so it grows as long as a larger window makes the copy faster.
 */

/* The most pieces that are moved at a time. */
enum { RR_WINDOW_MOST = 32 };

/* The caller sets a window to zeroes before the first copy between two sides. */
struct rr_window {
	uint32_t size;     /* the most pieces that are to be moved at a time now */
	uint32_t least;    /* the window is not smaller once the first pieces were moved alone */
	uint32_t alone;    /* pieces that were moved alone */
	uint32_t count;    /* pieces that have ended since the time `since` */
	uint64_t since;    /* ns */
	uint64_t shortest; /* ns: the shortest time that a piece took */
};

/* Called when the copy of a file begins, with the most octets of a piece and the time (ns): the time between
 * two files does not count. */
void rr_window_begin(struct rr_window *window, uint32_t piece_size, uint64_t now);

/* Called when a piece of the most octets has been moved: its reading began at the time `begun`, and it was
 * written at the time `now` (ns). Each time that as many pieces were moved as the window has, sets the size
 * anew. */
void rr_window_moved(struct rr_window *window, uint64_t begun, uint64_t now);

#endif
