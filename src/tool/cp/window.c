/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/cp/window.h"

#include "base/checked.h"

enum {
	LEAST_OCTETS = 1 << 20, /* of the pieces of the smallest window: a processor's own cache has room */
	LEAST_PIECES = 2,
	ALONE = 2 /* the first piece takes longer than later ones: memory is new, and TCP begins slowly */
};

void
rr_window_begin(struct rr_window *window, uint32_t piece_size, uint64_t now)
{
	uint64_t pieces = piece_size ? LEAST_OCTETS / piece_size : RR_WINDOW_MOST;

	window->least = pieces < LEAST_PIECES ? LEAST_PIECES : (uint32_t)rr_min(pieces, RR_WINDOW_MOST);
	if (window->alone < ALONE)
		window->size = 1;
	else if (window->size < window->least)
		window->size = window->least;
	window->count = 0;
	window->since = now;
}

/* Returns the size that the window is to have, by the rate since window->since and the shortest time that a
 * piece took. */
static uint32_t
window_wanted(const struct rr_window *window, uint64_t now)
{
	uint64_t elapsed = now > window->since ? now - window->since : 1;
	uint64_t shortest = rr_min(window->shortest, UINT32_MAX); /* 4 s: so the product stays below 2^64 */
	uint64_t wanted = 1 + (2 * shortest * window->count + elapsed - 1) / elapsed;

	return wanted < window->least ? window->least : (uint32_t)rr_min(wanted, RR_WINDOW_MOST);
}

void
rr_window_moved(struct rr_window *window, uint64_t begun, uint64_t now)
{
	uint64_t took = now > begun ? now - begun : 1;

	if (!window->shortest || took < window->shortest)
		window->shortest = took;
	window->count++;
	if (window->alone < ALONE) {
		window->alone++;
		window->size = window->alone == ALONE ? window->least : 1;
	} else if (window->count >= window->size) {
		window->size = window_wanted(window, now);
	} else {
		return;
	}
	window->count = 0;
	window->since = now;
}
