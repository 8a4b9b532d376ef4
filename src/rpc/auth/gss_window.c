/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc/auth/gss_window.h"

#include <string.h>

/* Moves the window to number, which is above all others: the numbers between were not taken. */
static void
window_move(struct rr_gss_window *window, uint32_t number)
{
	if (!window->begun || number - window->newest >= RR_GSS_WINDOW) {
		memset(window->taken, 0, sizeof(window->taken));
	} else {
		for (uint32_t at = window->newest + 1; at != number + 1; at++)
			window->taken[at % RR_GSS_WINDOW / 64] &= ~(UINT64_C(1) << at % 64);
	}
	window->begun = true;
	window->newest = number;
}

/* RFC 2203, 5.3.3.1: "If the last sequence number seen is N, the server is prepared to receive requests with
 * sequence numbers in the range N through (N - seq_window + 1), both inclusive. If the sequence number
 * received falls below this range, it is silently discarded." "If the server determines that it has already
 * seen a sequence number within the window, the request is silently discarded." */
bool
rr_gss_window_take(struct rr_gss_window *window, uint32_t number)
{
	uint64_t *word = &window->taken[number % RR_GSS_WINDOW / 64], bit = UINT64_C(1) << number % 64;

	if (!window->begun || number > window->newest)
		window_move(window, number);
	else if (window->newest - number >= RR_GSS_WINDOW || *word & bit)
		return false;
	*word |= bit;
	return true;
}
